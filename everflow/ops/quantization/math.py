"""Arithmetic on quantized tensors: products, sums, concatenation. Results carry their own range."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.constants import known
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, meaning, op
from everflow.ops.core.shape_rules import ranked
from everflow.ops.quantization.conversions import scalar
from everflow.ops.quantization.levels import Levels, product_range
from everflow.values.tensors import torch_dtype

Kernel = Callable[..., Any]


def _two(node: Node, out_attr: str) -> tuple[Levels, Levels, Levels, Any]:
    out = node.attr(out_attr)
    return Levels.of(node.inputs[0].dtype), Levels.of(node.inputs[1].dtype), Levels.of(out), torch_dtype(out)


def centered(x: Any, levels: Levels, low: Any, high: Any) -> Any:
    """Levels counted from the one that stands for zero, as doubles, which hold their products exactly."""
    return x.double() - levels.place(0.0, float(low), float(high))


def _mat_mul(node: Node) -> Kernel:
    a_levels, b_levels, out, kind = _two(node, "Toutput")
    flip_a, flip_b = node.attr("transpose_a"), node.attr("transpose_b")

    def run(a: Any, b: Any, low_a: Any, high_a: Any, low_b: Any, high_b: Any) -> Any:
        a, b = (a.t() if flip_a else a), (b.t() if flip_b else b)
        if a.shape[1] != b.shape[0]:
            raise invalid_argument(f"Matrix size-incompatible: In[0]: {list(a.shape)}, In[1]: {list(b.shape)}")
        product = centered(a, a_levels, low_a, high_a) @ centered(b, b_levels, low_b, high_b)
        low, high = product_range(a_levels, float(low_a), float(high_a), b_levels, float(low_b), float(high_b), out)
        return product.clamp(out.lowest, out.highest).long().to(kind), scalar(low), scalar(high)

    return run


def _mul(node: Node) -> Kernel:
    x_levels, y_levels, out, kind = _two(node, "Toutput")

    def run(x: Any, y: Any, low_x: Any, high_x: Any, low_y: Any, high_y: Any) -> Any:
        product = centered(x, x_levels, low_x, high_x) * centered(y, y_levels, low_y, high_y)
        low, high = product_range(x_levels, float(low_x), float(high_x), y_levels, float(low_y), float(high_y), out)
        return product.clamp(out.lowest, out.highest).long().to(kind), scalar(low), scalar(high)

    return run


def sum_range(low_x: float, high_x: float, low_y: float, high_y: float, bits_to_spare: int) -> tuple[Any, Any]:
    """A range for sums: wide enough for both terms, with room for many additions, and symmetric."""
    most = max(abs(low_x), abs(high_x), abs(low_y), abs(high_y))
    wide = np.float32(np.float32(most) * np.float32(1 << bits_to_spare))
    return -wide, wide


def _sum(out_attr: str, bits_to_spare: int) -> Callable[[Any], Kernel]:
    def make(node: Node) -> Kernel:
        x_levels, y_levels, out, kind = _two(node, out_attr)

        def run(x: Any, y: Any, low_x: Any, high_x: Any, low_y: Any, high_y: Any) -> Any:
            low, high = sum_range(float(low_x), float(high_x), float(low_y), float(high_y), bits_to_spare)
            terms = (
                levels.to_floats(v, float(first), float(last))
                for v, levels, first, last in ((x, x_levels, low_x, high_x), (y, y_levels, low_y, high_y))
            )
            levels = [out.from_floats(term, float(low), float(high)) for term in terms]
            return (levels[0] + levels[1]).clamp(out.lowest, out.highest).to(kind), scalar(low), scalar(high)

        return run

    return make


def _concat(node: Node) -> Kernel:
    count, dtype = node.attr("N"), node.attr("T")
    levels, kind = Levels.of(dtype), torch_dtype(dtype)
    symmetric = dtypes.as_dtype(dtype).name.startswith("qint")

    def run(axis: Any, *rest: Any) -> Any:
        values, lows, highs = rest[:count], rest[count : 2 * count], rest[2 * count :]
        low, high = min(0.0, *(float(v) for v in lows)), max(float(v) for v in highs)
        rank = values[0].ndim
        if not 0 <= int(axis) < rank:
            raise invalid_argument(f"ConcatOp : Expected concatenating dimensions in the range [0, {rank}), but got {int(axis)}")
        if symmetric:
            low, high = -max(-low, high), max(-low, high)
        parts = [
            v if (float(a), float(b)) == (low, high) else levels.from_floats(levels.to_floats(v, float(a), float(b)), low, high).to(kind)
            for v, a, b in zip(values, lows, highs)
        ]
        return torch.cat(parts, int(axis)), scalar(low), scalar(high)

    return run


def _concat_shape(o: Operation) -> Any:
    count = o.attr("N")
    for one in (o.inputs[0], *o.inputs[1 + count :]):
        shapes.with_rank(one.dims, 0)
    axis = known(o.inputs[0])
    parts = [t.dims for t in o.inputs[1 : 1 + count] if t.dims is not None]
    if axis is None or len(parts) < count:
        return [None, (), ()]
    if any(not p for p in parts):
        raise ValueError("Can't concatenate scalars (use tf.stack instead)")
    place = int(axis) % len(parts[0])
    sizes = tuple(p[place] for p in parts)
    total = sum(sizes) if shapes.is_fully_defined(sizes) else None
    merged: shapes.Dims = parts[0][:place] + (None,) + parts[0][place + 1 :]
    for p in parts[1:]:
        merged = shapes.merge(merged, p[:place] + (None,) + p[place + 1 :])
    return [None if merged is None else merged[:place] + (total,) + merged[place + 1 :], (), ()]


def _mat_mul_shape(o: Operation) -> Any:
    a, b = shapes.with_rank(o.inputs[0].dims, 2), shapes.with_rank(o.inputs[1].dims, 2)
    a, b = (a[::-1] if o.attr("transpose_a") else a), (b[::-1] if o.attr("transpose_b") else b)
    shapes.merge_size(a[1], b[0])
    return [(a[0], b[1]), (), ()]


def _broadcast(o: Operation) -> Any:
    return [shapes.broadcast(o.inputs[0].dims, o.inputs[1].dims), (), ()]


def _reshape_shape(o: Operation) -> Any:
    found = meaning("Reshape")
    assert found is not None and found.shape is not None
    return [found.shape(o), (), ()]


def _reshape(node: Node) -> Kernel:
    return lambda x, dims, low, high: (x.reshape(dims.tolist()), low, high)


op("QuantizedMatMul", kernel=_mat_mul, shape=_mat_mul_shape)
op("QuantizedMul", kernel=_mul, shape=_broadcast)
op("QuantizedAdd", kernel=_sum("Toutput", 14), shape=ranked(_broadcast, None, None, 0, 0, 0, 0))
op("QuantizedBiasAdd", kernel=_sum("out_type", 17), shape=ranked(lambda o: [o.inputs[0].dims, (), ()], None, 1, 0, 0, 0, 0))
op("QuantizedConcat", kernel=_concat, shape=_concat_shape)
op("QuantizedReshape", kernel=_reshape, shape=ranked(_reshape_shape, None, 1, 0, 0), view=True)


@public("quantization.quantized_concat", "quantized_concat")
def quantized_concat(concat_dim: Any, values: Any, input_mins: Any, input_maxes: Any, name: str | None = None) -> Any:
    """Quantized tensors one after the other, in a range that holds all of them."""
    return apply("QuantizedConcat", concat_dim, values, input_mins, input_maxes, name=name)
