"""Trees and statistics as parts of a graph: made by its initializers, saved by its checkpoints."""

from __future__ import annotations

import functools
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.eager.context import executing_eagerly
from everflow.graph.scopes import add_to_collection, name_scope
from everflow.ops.core.registry import apply
from everflow.ops.variables.resource_sets import register_resource
from everflow.train.checkpoints.saveable import SaveableObject, SaveSpec
from everflow.train.tracking.autotracking import TrackableResource

BELOW = "contrib.tensor_forest.python.ops."


class _Saveable(SaveableObject):
    """A serialized resource in a checkpoint."""

    def __init__(self, handle: Any, serialized: Any, deserialize: str, params: Any, create_op: Any, name: str) -> None:
        super().__init__(handle, [SaveSpec(serialized, "", name)], name)
        self.params = params
        self._handle, self._deserialize, self._create_op = handle, deserialize, create_op

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        del restored_shapes
        with tf.control_dependencies([self._create_op]):
            return apply(self._deserialize, self._handle, restored_tensors[0], params=self.params.serialized_params_proto)


@public(BELOW + "model_ops.TreeVariableSavable")
class TreeVariableSavable(_Saveable):
    """A tree in a checkpoint."""

    def __init__(self, params: Any, tree_handle: Any, stats_handle: Any, create_op: Any, name: str) -> None:
        del stats_handle
        super().__init__(tree_handle, apply("TreeSerialize", tree_handle), "TreeDeserialize", params, create_op, name)


@public(BELOW + "stats_ops.FertileStatsVariableSavable")
class FertileStatsVariableSavable(_Saveable):
    """Statistics in a checkpoint."""

    def __init__(self, params: Any, stats_handle: Any, create_op: Any, name: str) -> None:
        serialized = apply("FertileStatsSerialize", stats_handle, params=params.serialized_params_proto)
        super().__init__(stats_handle, serialized, "FertileStatsDeserialize", params, create_op, name)


class _ForestVariable(TrackableResource):
    """A resource by a handle."""

    _kind = _handle_op = _create_op = _is_made_op = ""

    def __init__(self, params: Any, config: Any, name: str, container: str | None = None) -> None:
        self._params, self._config, self._name, self._container = params, config, name, container
        self._init_op: Any = None
        super().__init__()
        self._resource_handle = self._create_resource()

    def _create_resource(self) -> Any:
        shared = f"{self._kind}_{id(self)}" if executing_eagerly() else self._name
        return apply(self._handle_op, container=self._container or "", shared_name=shared, name=self._name)

    def _initialize(self) -> Any:
        return apply(self._create_op, self.resource_handle, self._config, params=self._params.serialized_params_proto)

    @property
    def initializer(self) -> Any:
        """The op that makes the resource."""
        if self._init_op is None:
            self._init_op = self._initialize()
        return self._init_op

    def is_initialized(self) -> Any:
        """Whether the resource was made."""
        return apply(self._is_made_op, self.resource_handle)


@public(BELOW + "model_ops.TreeVariable")
class TreeVariable(_ForestVariable):
    """A tree."""

    _kind, _handle_op = "tree_variable", "DecisionTreeResourceHandleOp"
    _create_op, _is_made_op = "CreateTreeVariable", "TreeIsInitializedOp"

    def __init__(self, params: Any, tree_config: Any, stats_handle: Any, name: str, container: str | None = None) -> None:
        self._stats_handle = stats_handle
        super().__init__(params, tree_config, name, container)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        saveable = functools.partial(
            TreeVariableSavable,
            params=self._params,
            tree_handle=self.resource_handle,
            stats_handle=self._stats_handle,
            create_op=self.initializer,
        )
        return {"tree_variable": saveable}


@public(BELOW + "stats_ops.FertileStatsVariable")
class FertileStatsVariable(_ForestVariable):
    """The statistics of a tree's leaves."""

    _kind, _handle_op = "fertile_stats_variable", "FertileStatsResourceHandleOp"
    _create_op, _is_made_op = "CreateFertileStatsVariable", "FertileStatsIsInitializedOp"

    def __init__(self, params: Any, stats_config: Any, name: str, container: str | None = None) -> None:
        super().__init__(params, stats_config, name, container)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        saveable = functools.partial(
            FertileStatsVariableSavable, params=self._params, stats_handle=self.resource_handle, create_op=self.initializer
        )
        return {"fertile_stats_variable": saveable}


def _registered(variable: _ForestVariable) -> Any:
    handle = variable.resource_handle
    create, is_made = variable.initializer, variable.is_initialized()
    (saveable,) = variable._gather_saveables_for_checkpoint().values()
    add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, saveable(name=handle.name))
    register_resource(handle, create, is_made)
    return handle


@public(BELOW + "model_ops.tree_variable")
def tree_variable(params: Any, tree_config: Any, stats_handle: Any, name: str, container: str | None = None) -> Any:
    """The handle of a tree that the graph's initializers make and its checkpoints hold."""
    with name_scope(name, "TreeVariable") as scope:
        return _registered(TreeVariable(params, tree_config, stats_handle, scope, container))


@public(BELOW + "stats_ops.fertile_stats_variable")
def fertile_stats_variable(params: Any, stats_config: Any, name: str, container: str | None = None) -> Any:
    """The handle of statistics that the graph's initializers make and its checkpoints hold."""
    with name_scope(name, "FertileStatsVariable") as scope:
        return _registered(FertileStatsVariable(params, stats_config, scope, container))
