"""Ops between layers: a functional model holds each op that a program put there as a layer of its own."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import everflow as tf
from everflow import nest
from everflow.api import internal
from everflow.eager.context import executing_eagerly
from everflow.graph.dtypes import DTypeLike
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.keras.layer import Layer


@internal("keras.engine.base_layer.TensorFlowOpLayer")
class TensorFlowOpLayer(Layer):
    """One op, with the inputs that are constant."""

    node_def: Any
    constants: dict[int, Any]

    def __init__(
        self, node_def: Any, name: str | None = None, constants: Any = None, trainable: bool = True, dtype: DTypeLike | None = None
    ) -> None:
        node = _node(node_def)
        super().__init__(
            name="tf_op_layer_" + (name or node.name).replace("/", "_") if not str(name).startswith("tf_op_layer_") else name,
            trainable=trainable,
            dtype=dtype,
        )
        self.__dict__.update(node_def=node, constants={int(i): c for i, c in (constants or {}).items()})
        self.built = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        if executing_eagerly():
            traced = self.__dict__.get("_traced")
            if traced is None:
                traced = self.__dict__["_traced"] = tf.function(self._op)
            return traced(inputs)
        return self._op(inputs)

    def _op(self, inputs: Any) -> Any:
        given = list(nest.flatten(inputs))
        for index, value in sorted(self.constants.items()):
            given.insert(index, value if isinstance(value, Tensor) else tf.constant(value))
        graph = get_default_graph()
        op = graph.create_op(self.node_def.op, given, name=graph.unique_name(self.node_def.name), attrs=dict(self.node_def.attr))
        outputs = op.outputs
        return outputs[0] if len(outputs) == 1 else list(outputs)

    def get_config(self) -> dict[str, Any]:
        from google.protobuf import json_format

        constants = {i: c for i, c in self.constants.items() if not isinstance(c, Tensor)}
        return {
            **super().get_config(),
            "name": self.name,
            "node_def": json.loads(json_format.MessageToJson(self.node_def)),
            "constants": constants,
        }


def _node(node_def: Any) -> Any:
    if not isinstance(node_def, dict):
        made = tf.NodeDef()
        made.CopyFrom(node_def)
        return made
    from google.protobuf import json_format

    return json_format.ParseDict(node_def, tf.NodeDef())


def _follows_from_layers(tensor: Any) -> bool:
    """Whether a tensor was computed from what layers gave."""
    seen: set[Any] = set()
    stack = [tensor]
    while stack:
        t = stack.pop()
        if hasattr(t, "_keras_history"):
            return True
        if t in seen:
            continue
        seen.add(t)
        stack.extend(t.op.inputs)
    return False


@internal("keras.engine.base_layer_utils.needs_keras_history")
def needs_keras_history(tensors: Any) -> bool:
    """Whether ops stand between tensors and the layers that they come from."""
    flat = [t for t in nest.flatten(tensors) if isinstance(t, Tensor) and not t.is_eager]
    missing = [t for t in flat if not hasattr(t, "_keras_history") and not getattr(t, "_keras_history_checked", False)]
    if not missing:
        return False
    needed = False
    for t in missing:
        if _follows_from_layers(t):
            needed = True
        else:
            t.__dict__["_keras_history_checked"] = True
    return needed


@internal("keras.engine.base_layer_utils.create_keras_history")
def create_keras_history(tensors: Any) -> None:
    """Makes layers of the ops between tensors and layers."""
    for tensor in nest.flatten(tensors):
        if not isinstance(tensor, Tensor) or tensor.is_eager:
            continue
        stack = [tensor]
        while stack:
            t = stack[-1]
            if hasattr(t, "_keras_history"):
                stack.pop()
                continue
            before = [x for x in t.op.inputs if not hasattr(x, "_keras_history") and _follows_from_layers(x)]
            if before:
                stack.extend(before)
                continue
            _add_layer(t.op)
            stack.pop()


def _add_layer(op: Any) -> None:
    if not any(hasattr(x, "_keras_history") for x in op.inputs):
        return
    constants = {i: _constant(x) for i, x in enumerate(op.inputs) if not hasattr(x, "_keras_history")}
    given = [x for x in op.inputs if hasattr(x, "_keras_history")]
    layer = TensorFlowOpLayer(op.node_def, constants=constants, name=op.name)
    outputs = list(op.outputs)
    layer._add_inbound_node(given[0] if len(given) == 1 else given, outputs[0] if len(outputs) == 1 else outputs, {})


def _constant(tensor: Any) -> Any:
    """The value of an input that does not follow from layers; what has no array stays a tensor."""
    if tensor.dtype in (tf.resource, tf.variant):
        return tensor
    value = tf.get_static_value(tensor)
    if value is None:
        from everflow.keras.backend.functions import function

        value = function([], tensor)([])
    return np.asarray(value)
