"""Which tensors of a graph are rounded: weights of layers, their results, sums and products of those."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.contrib.quantize.fake_quantization import LastValueQuantize, MovingAvgQuantize
from everflow.contrib.quantize.folding import LAYERS
from everflow.contrib.quantize.rewiring import CreateOrGetQuantizationStep, DropStringPrefix, RerouteTensor, context_of, of_type, within

_VARIABLES = ("VariableV2", "Variable", "VarHandleOp")
_ADDS = ("Add", "AddV2")
_RECTIFIERS = ("Relu", "Relu6")
_ACTIVATIONS = (*_RECTIFIERS, "Identity")
_QUANTIZERS = ("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVarsPerChannel")
# Ops whose results need no rounding where what they are given is rounded, and those that rounding may wait behind.
_KEEPS_VALUES = ("Identity", "Reshape", "MaxPool", "SpaceToBatchND", "BatchToSpaceND")
_SAME_VALUES = ("Identity", "Reshape")


@dataclasses.dataclass
class _Layer:
    """A layer, the op that ends its linear part, and what comes after it."""

    op: Any
    weights: Any
    linear: Any
    has_bias: bool
    activation: Any = None
    bypass: Any = None


def _is_read(op: Any) -> bool:
    """Whether an op gives the value of a variable."""
    return op.type == "ReadVariableOp" or (op.type == "Identity" and op.inputs[0].op.type in _VARIABLES)


def _are_weights(tensor: Any) -> bool:
    """Whether a tensor is a variable, in parts or not, or was folded together with a normalization."""
    op = tensor.op
    if op.type == "Mul" or _is_read(op):
        return True
    if op.type != "Identity":
        return False
    inner = op.inputs[0].op
    return _is_read(inner) or (inner.type == "ConcatV2" and all(_is_read(part.op) for part in inner.inputs[:-1]))


def _consumers(op: Any) -> list[Any]:
    return op.outputs[0].consumers()


def _linear_part(op: Any) -> tuple[Any, bool]:
    """The last op of a layer before its activation, and whether something was added on the way."""
    last = of_type(_consumers(op), "BatchToSpaceND") or op
    corrected = next((c for c in _consumers(last) if c.type == "Mul" and c.name.endswith("post_conv_mul")), None)
    if corrected is not None:
        last = of_type(_consumers(corrected), *_ADDS) or last
    bias = of_type(_consumers(last), "BiasAdd", *_ADDS)
    return (last, False) if bias is None else (bias, True)


def _layers(graph: Any) -> list[_Layer]:
    """The layers that can be rounded, those with activations first."""
    ops = graph.get_operations()
    known = [_Layer(op, op.inputs[1], *_linear_part(op)) for op in ops if op.type in LAYERS and _are_weights(op.inputs[1])]
    by_end = {layer.linear: layer for layer in known}
    found: list[_Layer] = []
    for op in ops:
        if op.type not in _ACTIVATIONS:
            continue
        source = op.inputs[0].op
        layer, bypass = by_end.get(source), None
        if layer is None and source.type in _ADDS:
            layer, bypass = next((by_end[g.op] for g in source.inputs if g.op in by_end and by_end[g.op].has_bias), None), source
        # A normalization that was not folded stands where the activation would.
        is_normalized = op.type == "Identity" and any(c.type.startswith("FusedBatchNorm") for c in _consumers(op))
        if layer is not None and layer.activation is None and not is_normalized:
            layer.activation, layer.bypass = op, bypass
            found.append(layer)
    for layer in known:
        leads_on = layer.op.type == "DepthwiseConv2dNative" and of_type(_consumers(layer.linear), *LAYERS) is not None
        if layer.activation is None and (layer.has_bias or leads_on):
            layer.activation = layer.linear
            found.append(layer)
    return found


def _is_rounded(tensor: Any) -> bool:
    """Whether rounding follows, at once or behind ops that change no value."""
    consumers = tensor.consumers()
    return any(c.type in _QUANTIZERS or (c.type in _SAME_VALUES and _is_rounded(c.outputs[0])) for c in consumers)


class _Quantizer:
    """Rounds tensors of a graph as it was told, and knows which it has rounded."""

    def __init__(
        self, is_training: bool, symmetric: bool, ema_decay: float, quant_delay: int | None, vars_collection: Any, scope: str | None
    ) -> None:
        self._settings: dict[str, Any] = {"is_training": is_training, "symmetric": symmetric, "vars_collection": vars_collection}
        self._decay = ema_decay
        self._delay = quant_delay
        self._scope = scope.rstrip("/") + "/" if scope else ""
        self._rounded: set[Any] = set()

    def concerns(self, op: Any) -> bool:
        return op.name.startswith(self._scope)

    def weights(self, layer: _Layer, bits: int) -> None:
        self._insert(layer.weights, within(context_of(layer.op), "weights_quant"), bits, -6.0, follows=False)

    def values(self, op: Any, name: str, bits: int, low: float = -6.0) -> None:
        """Rounds the results of an op between ends that follow them."""
        if self.concerns(op):
            self._insert(op.outputs[0], name, bits, low, follows=True)

    def _insert(self, tensor: Any, name: str, bits: int, low: float, follows: bool) -> None:
        if _is_rounded(tensor):
            return
        takers = tensor.consumers()
        current = tf.get_default_graph().get_name_scope()
        name = DropStringPrefix(name, current + "/") if current else name
        settings = {**self._settings, "init_min": low, "init_max": 6.0, "num_bits": bits, "name_prefix": name}
        if follows:
            made = MovingAvgQuantize(tensor, ema_decay=self._decay, **settings)
        else:
            made = LastValueQuantize(tensor, narrow_range=True, **settings)
        if self._delay:
            active = tf.greater_equal(CreateOrGetQuantizationStep(), self._delay, name=f"{name}/activate_quant")
            made = tf.cond(active, lambda rounded=made: rounded, lambda: tensor, name=f"{name}/delayed_quant")  # type: ignore[misc]
        RerouteTensor(made, tensor, can_modify=takers)
        if follows:
            self._rounded.add(made)

    def comes_from_rounded(self, tensor: Any) -> bool:
        """Whether a tensor holds only values that are rounded already."""
        while tensor not in self._rounded and tensor.op.type in _KEEPS_VALUES and tensor.op.inputs:
            tensor = tensor.op.inputs[0]
        return tensor in self._rounded


@internal("contrib.quantize.python.quantize.Quantize")
def Quantize(
    graph: Any,
    is_training: bool,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    ema_decay: float = 0.999,
    quant_delay: int | None = None,
    vars_collection: Any = tf.GraphKeys.GLOBAL_VARIABLES,
    scope: str | None = None,
) -> None:
    """Rounds weights and results of the layers of a graph, in place."""
    with graph.as_default():
        quantizer = _Quantizer(is_training, symmetric, ema_decay, quant_delay, vars_collection, scope)
        for layer in _layers(graph):
            if quantizer.concerns(layer.op):
                _quantize_layer(quantizer, layer, weight_bits, activation_bits)
        for op in _sums_and_products(graph):
            consumers = _consumers(op)
            # An activation that follows at once is computed together with it.
            is_fused = bool(consumers) and all(c.type in _RECTIFIERS for c in consumers)
            if not is_fused and any(quantizer.comes_from_rounded(given) for given in op.inputs):
                quantizer.values(op, f"{op.name}/activation_{op.type}_quant", activation_bits)


def _sums_and_products(graph: Any) -> Iterable[Any]:
    return [op for op in graph.get_operations() if op.type in (*_ADDS, "Mul")]


def _quantize_layer(quantizer: _Quantizer, layer: _Layer, weight_bits: int, activation_bits: int) -> None:
    context = context_of(layer.op)
    quantizer.weights(layer, weight_bits)
    after = context if layer.bypass is None else context_of(layer.bypass)
    total = _sum_after(layer.activation)
    quantizer.values(layer.activation, within(after, "act_quant"), activation_bits, low=0.0)
    if layer.bypass is not None:
        quantizer.values(layer.linear, within(context, "conv_quant"), activation_bits)
    if total is not None:
        quantizer.values(total, within(context_of(total), "post_activation_bypass_quant"), activation_bits)


def _sum_after(activation: Any) -> Any:
    """The first sum that takes the results of an activation, unless another activation follows it."""
    total = of_type(_consumers(activation), *_ADDS) if activation.type in _ACTIVATIONS else None
    return None if total is None or of_type(_consumers(total), *_RECTIFIERS) is not None else total
