"""Where the variables of columns live: state managers."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph import dtypes
from everflow.graph.trackable import no_automatic_dependency_tracking_scope


@internal("feature_column.feature_column_v2.StateManager")
class StateManager:
    """Keeps variables and other resources by column and name."""

    def create_variable(
        self,
        feature_column: Any,
        name: str,
        shape: Any,
        dtype: dtypes.DTypeLike | None = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        """Makes a variable for a column."""
        raise NotImplementedError("StateManager.create_variable")

    def add_variable(self, feature_column: Any, var: Any) -> None:
        """Keeps a variable that was made elsewhere."""
        raise NotImplementedError("StateManager.add_variable")

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """The variable of a column."""
        raise NotImplementedError("StateManager.get_variable")

    def add_resource(self, feature_column: Any, name: str, resource: Any) -> None:
        """Keeps a resource of a column."""
        raise NotImplementedError("StateManager.add_resource")

    def has_resource(self, feature_column: Any, name: str) -> bool:
        """Whether a column has a resource."""
        raise NotImplementedError("StateManager.has_resource")

    def get_resource(self, feature_column: Any, name: str) -> Any:
        """The resource of a column."""
        raise NotImplementedError("StateManager.get_resource")


@internal("feature_column.feature_column_v2._StateManagerImpl")
class LayerState(StateManager):
    """Keeps variables of columns among the weights of a layer."""

    _getter: Any = staticmethod(tf.get_variable)

    def __init__(self, layer: Any, trainable: bool) -> None:
        self._layer, self._trainable = layer, trainable
        self._variables: dict[Any, dict[str, Any]] = {}
        self._resources: dict[Any, dict[str, Any]] = {}

    def create_variable(
        self,
        feature_column: Any,
        name: str,
        shape: Any,
        dtype: dtypes.DTypeLike | None = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        """Makes a weight of the layer."""
        named = self._variables.setdefault(feature_column, {})
        if name in named:
            raise ValueError("Variable already exists.")
        getter = {} if self._getter is None else {"getter": self._getter}
        with no_automatic_dependency_tracking_scope(self._layer):
            named[name] = self._layer.add_weight(
                name=name,
                shape=shape,
                dtype=dtype or dtypes.float32,
                initializer=initializer,
                trainable=self._trainable and trainable,
                use_resource=use_resource,
                **getter,
            )
        return named[name]

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """The variable of a column."""
        if name not in self._variables.get(feature_column, {}):
            raise ValueError("Variable does not exist.")
        return self._variables[feature_column][name]

    def add_resource(self, feature_column: Any, name: str, resource: Any) -> None:
        """Keeps a resource of a column."""
        self._resources.setdefault(feature_column, {})[name] = resource

    def has_resource(self, feature_column: Any, name: str) -> bool:
        """Whether a column has a resource."""
        return name in self._resources.get(feature_column, {})

    def get_resource(self, feature_column: Any, name: str) -> Any:
        """The resource of a column."""
        if not self.has_resource(feature_column, name):
            raise ValueError("Resource does not exist.")
        return self._resources[feature_column][name]


@internal("feature_column.dense_features_v2._StateManagerImplV2")
class PlainLayerState(LayerState):
    """Makes variables without regard to variable scopes."""

    _getter = None
