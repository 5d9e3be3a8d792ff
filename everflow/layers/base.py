"""tf.layers.Layer: the layer that finds and shares its variables through variable scopes."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.eager.context import executing_eagerly
from everflow.graph import dtypes
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import get_collection_ref, name_scope
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.keras.input_spec import InputSpec
from everflow.keras.layer import Layer as KerasLayer
from everflow.keras.layer_variables import trained_where_synchronized
from everflow.keras.naming import to_snake_case, unique_object_name
from everflow.ops.variables import variable_scope as scopes
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.ops.variables.variables import VariableAggregation, VariableSynchronization

_keras_style = False


@public("layers.experimental.keras_style_scope")
@contextlib.contextmanager
def keras_style_scope() -> Iterator[None]:
    """Layers and cells made in this `with` block name and keep their variables as Keras layers do."""
    global _keras_style
    before, _keras_style = _keras_style, True
    try:
        yield
    finally:
        _keras_style = before


@public("layers.experimental.set_keras_style")
def set_keras_style() -> None:
    """Layers and cells made from now on name and keep their variables as Keras layers do."""
    global _keras_style
    _keras_style = True


@public("layers.Layer")
class Layer(KerasLayer):
    """A layer named by its variable scope: `dense/kernel`, and `dense_1/kernel` for the next one."""

    _is_legacy_layer = True
    _graph: Any
    _scope: Any
    _current_scope: Any
    _use_resource_variables: bool

    _keras_style: bool

    def __init__(self, trainable: bool = True, name: str | None = None, dtype: dtypes.DTypeLike | None = None, **kwargs: Any) -> None:
        scope = kwargs.pop("_scope", None)
        self.__dict__.update(_keras_style=_keras_style, _graph=None, _current_scope=None, _scope=None)
        self._reuse = kwargs.pop("_reuse", None)
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        if self._keras_style:
            if scope is not None or self._reuse is not None:
                raise ValueError(
                    "The following arguments are not valid when using keras-style layers: _scope, _reuse. Instead, reuse a layer instance"
                )
            return
        if scope:
            with scopes.variable_scope(scope) as captured:
                self._scope = captured

    @property
    def graph(self) -> Any:
        """The graph that the layer was first called in."""
        if executing_eagerly():
            raise RuntimeError("Layer.graph not supported when executing eagerly.")
        return self._graph

    @property
    def scope_name(self) -> str:
        """The name of the layer's variable scope, which is found at the first call."""
        if not self._scope:
            raise ValueError(
                f'No name available for layer scope because the layer "{self._name}" has not been used yet. The scope name  is determined '
                "the first time the layer instance is called. You must therefore call the layer before querying `scope_name`."
            )
        return self._scope.name

    def _init_set_name(self, name: str | None, zero_based: bool = True) -> None:
        if self._keras_style:
            super()._init_set_name(name, zero_based)
            return
        base = name or to_snake_case(type(self).__name__)
        self._base_name = base
        self._name = name or unique_object_name(base)

    def _name_scope(self) -> str:
        if self._keras_style:
            return super()._name_scope()
        return self._current_scope.original_name_scope

    def _set_scope(self, scope: Any = None) -> None:
        if self._scope is not None:
            return
        if self._reuse:
            block = scopes.variable_scope(scope if scope is not None else self._base_name)
        else:
            block = scopes.variable_scope(scope, default_name=self._base_name)
        with block as captured:
            self._scope = captured

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses, which go to the collection of regularization losses too."""
        tensors, functions = len(self._losses), len(self._callable_losses)
        super().add_loss(losses, inputs=inputs)
        if executing_eagerly() or self._keras_style:
            return
        added = list(self._losses[tensors:])
        added += [loss for loss in (function() for function in self._callable_losses[functions:]) if loss is not None]
        _collect(added, GraphKeys.REGULARIZATION_LOSSES)

    def add_weight(  # type: ignore[override]
        self,
        name: str,
        shape: Any,
        dtype: dtypes.DTypeLike | None = None,
        initializer: Any = None,
        regularizer: Callable[..., Any] | None = None,
        trainable: Any = None,
        constraint: Callable[..., Any] | None = None,
        use_resource: bool | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        partitioner: Callable[..., Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Adds a variable, or finds it where the layer's scope is shared."""
        for keyword in kwargs:
            if keyword != "experimental_autocast":
                raise TypeError("Unknown keyword argument:", keyword)
        if self._keras_style:
            return super().add_weight(
                name=name,
                shape=shape,
                dtype=dtype,
                initializer=initializer,
                regularizer=regularizer,
                trainable=bool(trained_where_synchronized(trainable, synchronization) and self.trainable),
                constraint=constraint,
                use_resource=use_resource,
                synchronization=synchronization,
                aggregation=aggregation,
                partitioner=partitioner,
                **kwargs,
            )
        trainable = trained_where_synchronized(trainable, synchronization)
        dtype = dtypes.as_dtype(dtype if dtype is not None else self.dtype or "float32")
        self._set_scope(None)
        existing = {id(v) for v in tf.global_variables()}
        count = len(self._trainable_weights)
        with scopes.variable_scope(self._scope, reuse=self.built or self._reuse, auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            with name_scope(self._name_scope()):
                variable = super().add_weight(
                    name,
                    shape,
                    dtype=dtype,
                    initializer=scope.initializer if initializer is None else initializer,
                    trainable=trainable and self.trainable,
                    constraint=constraint,
                    partitioner=partitioner,
                    use_resource=use_resource or self._use_resource_variables or scope.use_resource,
                    synchronization=synchronization,
                    aggregation=aggregation,
                    getter=scopes.get_variable,
                    **kwargs,
                )
                if regularizer and _is_new(variable, existing):
                    for part in variable if isinstance(variable, PartitionedVariable) else [variable]:
                        self._handle_weight_regularization(name, part, regularizer)
                if trainable and self.trainable and not executing_eagerly() and not _is_trained(variable):
                    # A custom getter thought otherwise.
                    self._non_trainable_weights.extend(self._trainable_weights[count:])
                    del self._trainable_weights[count:]
        return variable

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        scope = kwargs.pop("scope", None)
        if self._keras_style:
            if scope is not None:
                raise ValueError(f"scope argument not allowed when keras style layers are enabled, but saw: {scope}")
            return super().__call__(inputs, *args, **kwargs)
        self._set_scope(scope)
        if not executing_eagerly() and self._graph is None:
            self._graph = get_default_graph()
        with self._scope_of_call() as current:
            self._current_scope = current
            if self._call_takes("scope"):
                kwargs["scope"] = current
            outputs = super().__call__(inputs, *args, **kwargs)
        if not executing_eagerly():
            _collect(self.updates, GraphKeys.UPDATE_OPS)
        return outputs

    def _scope_of_call(self) -> Any:
        if not self.built:
            return scopes.variable_scope(self._scope, reuse=self._reuse, auxiliary_name_scope=False)
        if "_always_reuse_variable_scope" not in self.__dict__:
            self.__dict__["_always_reuse_variable_scope"] = scopes.variable_scope(self._scope, reuse=True, auxiliary_name_scope=False)
        return self.__dict__["_always_reuse_variable_scope"]

    def __setattr__(self, name: str, value: Any) -> None:
        # Attributes are no dependencies: variables are found by the names of their scopes.
        object.__setattr__(self, name, value)

    def __deepcopy__(self, memo: Any) -> Any:
        other = type(self).__new__(type(self))
        memo[id(self)] = other
        for key, value in self.__dict__.items():
            if key == "_graph" or isinstance(value, Tensor):
                other.__dict__[key] = value
            elif key in ("_scope", "_always_reuse_variable_scope"):
                other.__dict__[key] = copy.copy(value)
            else:
                other.__dict__[key] = copy.deepcopy(value, memo)
        return other


internal("layers.base.InputSpec")(InputSpec)


def _collect(elements: Any, key: str) -> None:
    """Adds to a collection what is not in it yet."""
    held = get_collection_ref(key)
    known = {id(e) for e in held}
    for element in elements:
        if id(element) not in known:
            known.add(id(element))
            held.append(element)


def _is_new(variable: Any, existing: set[int]) -> bool:
    parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
    return not any(id(part) in existing for part in parts)


def _is_trained(variable: Any) -> bool:
    return any(variable is v for v in tf.trainable_variables())
