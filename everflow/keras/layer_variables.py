"""The variables of layers: how they are made, in which order they are listed, and how attributes lead to them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow import nest
from everflow.api import internal
from everflow.graph import dtypes
from everflow.graph.scopes import init_scope, name_scope
from everflow.graph.shapes import TensorShape, as_shape
from everflow.graph.stacks import get_default_graph
from everflow.keras import config, constraints, initializers, regularizers
from everflow.keras.backend.session import batch_get_value, batch_set_value, track_variable
from everflow.keras.mixed_precision.policy import with_input_dtype
from everflow.keras.serialization import validate_kwargs
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.ops.variables.resource_variables import EagerWritten, UnreadVariable
from everflow.ops.variables.variables import Variable, VariableAggregation, VariableSynchronization, VariableV1
from everflow.train.tracking.autotracking import delete_tracking
from everflow.train.tracking.data_structures import TrackableDataStructure, sticky_attribute_assignment


@internal("keras.engine.base_layer_utils.make_variable")
def make_variable(
    name: str | None,
    shape: Any = None,
    dtype: Any = dtypes.float32,
    initializer: Any = None,
    trainable: bool | None = None,
    caching_device: Any = None,
    validate_shape: bool = True,
    constraint: Callable[..., Any] | None = None,
    use_resource: bool | None = None,
    collections: Any = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
    partitioner: Callable[..., Any] | None = None,
) -> Any:
    """A variable, without regard to variable scopes."""
    value, value_type = initializer, None
    if callable(initializer):
        made: Any = initializer
        with init_scope():
            if inspect.isclass(initializer):
                made = made(dtype=dtype)
            value = functools.partial(made, shape, dtype=dtype)
            value_type = dtype.base_dtype
    given = as_shape(shape)
    return VariableV1(
        initial_value=value,
        name=name,
        trainable=trainable,
        caching_device=caching_device,
        dtype=value_type,
        validate_shape=validate_shape,
        constraint=constraint,
        use_resource=True if use_resource is None else use_resource,
        collections=collections,
        synchronization=synchronization,
        aggregation=aggregation,
        shape=given if given.ndims != 0 and shape is not None else None,
    )


def _autocast(getter: Callable[..., Any]) -> Callable[..., Any]:
    """What makes variables that read as what the layer computes in."""
    from everflow.keras.mixed_precision.autocast_variable import create_autocast_variable

    return lambda *args, **kwargs: create_autocast_variable(getter(*args, **kwargs))


def holds_weights(value: Any) -> bool:
    """Whether something lists its weights as layers do."""
    return hasattr(type(value), "trainable_weights") and hasattr(type(value), "non_trainable_weights")


def flat_layers(layers: Any) -> list[Any]:
    """Layers and those in lists and mappings among them, each once."""
    found: dict[int, Any] = {}
    for layer in layers:
        for each in flat_layers(layer._layers) if isinstance(layer, TrackableDataStructure) else [layer]:
            found.setdefault(id(each), each)
    return list(found.values())


class LayerVariables:
    """The part of Layer that keeps variables."""

    name: str
    built: bool
    dtype: Any
    _dtype_policy: Any
    _trainable: bool
    _trainable_weights: list[Any]
    _non_trainable_weights: list[Any]
    _layers: list[Any]

    # Attributes

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_self_setattr_tracking" or not self.__dict__.get("_self_setattr_tracking", True):
            object.__setattr__(self, name, value)
            return
        if hasattr(type(self), name) and isinstance(inspect.getattr_static(type(self), name), property):
            object.__setattr__(self, name, value)
            return
        if name in self.__dict__ and self.__dict__[name] is not value and self._is_tracked(self.__dict__[name]):
            self.__delattr__(name)
        value = sticky_attribute_assignment(trackable=self, value=value, name=name)
        self._track_value(value)
        object.__setattr__(self, name, value)

    def _is_tracked(self, value: Any) -> bool:
        return isinstance(value, (Variable, TrackableDataStructure)) or holds_weights(value)

    def _track_value(self, value: Any) -> None:
        """Counts the layers and variables in a value among those of this layer."""
        books = self.__dict__
        if holds_weights(value):
            self._hold_layer(value)
        for item in nest.flatten(value) if isinstance(value, (list, tuple, dict)) else (value,):
            if not isinstance(item, Variable) or isinstance(item, (UnreadVariable, EagerWritten)):
                continue
            track_variable(item)
            trained = books.setdefault("_trainable_weights", [])
            frozen = books.setdefault("_non_trainable_weights", [])
            if not any(item is w for w in trained + frozen):
                (trained if item.trainable else frozen).append(item)

    def _hold_layer(self, layer: Any) -> None:
        """Counts a layer among those of this layer."""
        layers = self.__dict__.setdefault("_layers", [])
        if not any(layer is known for known in layers):
            layers.append(layer)
            if hasattr(layer, "_use_resource_variables"):
                # What is reached through attributes is saved by object, which resource variables are for.
                layer._use_resource_variables = True

    def __delattr__(self, name: str) -> None:
        value = self.__dict__.get(name)
        self._maybe_initialize_trackable()  # type: ignore[attr-defined]
        delete_tracking(self, name)
        object.__delattr__(self, name)
        if any(value is other for other in self.__dict__.values()):
            return
        books = self.__dict__
        books["_layers"] = [layer for layer in books.get("_layers", ()) if layer is not value]
        for kind in ("_trainable_weights", "_non_trainable_weights"):
            if kind in books:
                books[kind] = [w for w in books[kind] if w is not value]

    # Making variables

    def add_weight(
        self,
        name: str | None = None,
        shape: Any = None,
        dtype: dtypes.DTypeLike | None = None,
        initializer: Any = None,
        regularizer: Callable[..., Any] | None = None,
        trainable: Any = None,
        constraint: Callable[..., Any] | None = None,
        partitioner: Callable[..., Any] | None = None,
        use_resource: bool | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        **kwargs: Any,
    ) -> Any:
        """Adds a variable to the layer."""
        validate_kwargs(kwargs, ("getter", "collections", "experimental_autocast", "caching_device"), "Unknown keyword argument:")
        shape = () if shape is None else shape
        dtype = dtypes.as_dtype(dtype if dtype is not None else self.dtype or config.floatx())
        if self._dtype_policy.compute_dtype is None:
            self.__dict__["_dtype_policy"] = with_input_dtype(self._dtype_policy, dtype.base_dtype)
        initializer = initializers.get(initializer)
        regularizer = regularizers.get(regularizer)
        constraint = constraints.get(constraint)
        trainable = trained_where_synchronized(trainable, synchronization)
        if initializer is None:
            initializer = _default_initializer(name, dtype, self.name)
        getter = kwargs.get("getter") or make_variable
        if kwargs.get("experimental_autocast", True) and self._dtype_policy.should_cast_variables and dtype.is_floating:
            getter = _autocast(getter)
        variable = self._add_variable_with_custom_getter(  # type: ignore[attr-defined]
            name=name,
            shape=shape,
            getter=getter,
            overwrite=True,
            initializer=initializer,
            dtype=dtype,
            constraint=constraint,
            trainable=trainable,
            partitioner=partitioner,
            use_resource=use_resource,
            collections=kwargs.get("collections"),
            synchronization=synchronization,
            aggregation=aggregation,
            caching_device=kwargs.get("caching_device"),
        )
        if regularizer is not None:
            for part in variable if isinstance(variable, PartitionedVariable) else [variable]:
                self._handle_weight_regularization(part.name.partition(":")[0], part, regularizer)
        for part in variable if isinstance(variable, PartitionedVariable) else [variable]:
            track_variable(part)
        (self._trainable_weights if trainable else self._non_trainable_weights).append(variable)
        return variable

    def add_variable(self, *args: Any, **kwargs: Any) -> Any:
        """An older name of `add_weight`."""
        return self.add_weight(*args, **kwargs)

    def _handle_weight_regularization(self, name: str, variable: Any, regularizer: Any) -> None:
        def penalty() -> Any:
            with get_default_graph()._enable_auto_casting_variables(None), name_scope(name + "/Regularizer"):
                return regularizer(variable)

        self.add_loss(penalty)  # type: ignore[attr-defined]

    # Listing them

    @property
    def trainable(self) -> bool:
        """Whether training changes the layer's variables."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.__dict__["_trainable"] = value
        for layer in self.__dict__.get("_layers", ()):
            layer.trainable = value

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables that training changes."""
        if not self.trainable:
            return []
        return self._trainable_weights + self._of_layers("trainable_weights")

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The variables that training leaves alone."""
        if self.trainable:
            return self._non_trainable_weights + self._of_layers("non_trainable_weights")
        return self._trainable_weights + self._non_trainable_weights + self._of_layers("weights")

    @property
    def weights(self) -> list[Any]:
        """All variables: those that are trained first."""
        return self.trainable_weights + self.non_trainable_weights

    @property
    def variables(self) -> list[Any]:
        """The same as `weights`."""
        return self.weights

    @property
    def trainable_variables(self) -> list[Any]:
        """The same as `trainable_weights`."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The same as `non_trainable_weights`."""
        return self.non_trainable_weights

    def _of_layers(self, attribute: str) -> list[Any]:
        """What the layers in this one have of something, in order."""
        # Templates are among them, which have weights but neither losses nor updates.
        layers = (layer for layer in flat_layers(self.__dict__.get("_layers", ())) if hasattr(type(layer), attribute))
        return [item for layer in layers for item in getattr(layer, attribute)]

    # Their values

    def get_weights(self) -> list[Any]:
        """The values of all variables."""
        return batch_get_value(self.weights)

    def set_weights(self, weights: Any) -> None:
        """Sets all variables, in the order of `weights`."""
        variables = self.weights
        check_weights(self.name, variables, weights)
        batch_set_value(list(zip(variables, weights)))

    def count_params(self) -> int:
        """How many numbers the variables hold."""
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built. You can build it manually via: "
                f"`{self.name}.build(batch_input_shape)`."
            )
        return int(sum(TensorShape(w.shape).num_elements() or 0 for w in self.weights))


def check_weights(name: str, variables: Any, weights: Any) -> None:
    """Refuses values that are not those of a layer's or model's variables."""
    if len(variables) != len(weights):
        raise ValueError(
            f'You called `set_weights(weights)` on layer "{name}" with a  weight list of length {len(weights)}, but the layer was '
            f"expecting {len(variables)} weights. Provided weights: {str(weights)[:50]}..."
        )
    for variable, value in zip(variables, weights):
        if tuple(variable.shape.as_list()) != np.shape(value):
            raise ValueError(f"Layer weight shape {variable.shape} not compatible with provided weight shape {np.shape(value)}")


def trained_where_synchronized(trainable: bool, synchronization: Any) -> bool:
    """Whether a variable is trained: by default, unless each device keeps its own."""
    if synchronization is not VariableSynchronization.ON_READ:
        return True if trainable is None else trainable
    if trainable:
        raise ValueError(
            "Synchronization value can be set to VariableSynchronization.ON_READ only for non-trainable variables. You have specified "
            "trainable=True and synchronization=VariableSynchronization.ON_READ."
        )
    return False


def _default_initializer(name: str | None, dtype: Any, layer_name: str) -> Any:
    if dtype.is_floating:
        return tf.initializers.glorot_uniform()
    if dtype.is_integer or dtype.is_unsigned or dtype.is_bool:
        return tf.initializers.zeros()
    raise ValueError(f"An initializer for variable {name} of type {dtype.base_dtype} is required for layer {layer_name}")
