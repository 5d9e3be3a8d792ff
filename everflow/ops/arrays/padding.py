"""Tensors made larger at their edges: pad, with a value or with what lies inside."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.constants import constant_value, known
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import is_text, shown
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op

Kernel = Callable[..., Any]


def _paddings(value: Any, dims: Any) -> list[list[int]]:
    """Run-time paddings as pairs, checked against the shape that is padded."""
    if value.ndim != 2 or value.shape[1] != 2:
        raise invalid_argument(f"paddings must be a matrix with 2 columns: {shown(value.shape)}")
    pairs = value.tolist()
    if len(pairs) != len(dims):
        raise invalid_argument(f"The first dimension of paddings must be the rank of inputs{shown(value.shape)} {shown(dims)}")
    for before, after in pairs:
        if before < 0 or after < 0:
            raise invalid_argument(f"Paddings must be non-negative: {before} {after}")
    return pairs


def _flat(pairs: list[list[int]]) -> list[int]:
    """The order that torch pads in: last dimension first."""
    return [n for pair in reversed(pairs) for n in pair]


def _pad(node: Node) -> Kernel:
    text = is_text(node)
    pad = torch.constant_pad_nd
    paddings, dims = node.constant(1), node.inputs[0].dims
    if len(node.inputs) == 2 and paddings is not None and dims is not None and not text:
        flat = _flat(_paddings(paddings, dims))
        return lambda x, paddings: pad(x, flat)

    def run(x: Any, paddings: Any, value: Any = None) -> Any:
        pairs = _paddings(paddings, x.shape)
        if text:
            return np.pad(x, pairs, constant_values=b"" if value is None else value[()]) if x.ndim else x
        if value is None:
            return pad(x, _flat(pairs))
        if x.dtype.is_complex or x.dtype.is_signed is False or x.dtype is torch.int64:
            # A float can't stand for every such value.
            found = value.expand([b + n + a for (b, a), n in zip(pairs, x.shape)]).clone()
            found[tuple(slice(b, b + n) for (b, _), n in zip(pairs, x.shape))] = x
            return found
        return pad(x, _flat(pairs), value.item())

    return run


def _padded_dims(o: Operation) -> Any:
    dims, paddings = o.inputs[0].dims, o.inputs[1].dims
    shapes.with_rank(paddings, 2)
    if paddings is not None and paddings[1] not in (None, 2):
        raise ValueError(f"Dimension must be 2 but is {paddings[1]}")
    count = None if paddings is None else paddings[0]
    pairs = known(o.inputs[1])
    if pairs is None:
        if dims is not None and count is not None:
            shapes.with_rank(dims, count)
        return (None,) * count if count is not None else None if dims is None else (None,) * len(dims)
    if (pairs < 0).any():
        raise ValueError("Paddings must be non-negative")
    dims = shapes.with_rank(dims, len(pairs))
    found = tuple(None if d is None else d + before + after for d, (before, after) in zip(dims, pairs.tolist()))
    if math.prod(d for d in found if d is not None) >= 1 << 63:
        raise ValueError(f"Shape {shapes.describe(found)} would have more than 2**63 - 1 elements")
    return found


def _inner(o: Operation, dy: Any) -> Any:
    """The part of dy that was the input."""
    x, paddings = o.inputs[0], o.inputs[1]
    column = tf.slice(paddings, [0, 0], tf.stack([tf.rank(x), 1]))
    found = tf.slice(dy, tf.reshape(column, [-1]), tf.shape(x))
    return [found] + [None] * (len(o.inputs) - 1)


def _border(node: Node) -> Any:
    """The zeros around pictures, where nothing else is padded."""
    amounts = node.constant(1)
    if amounts is None or amounts.shape != (4, 2) or amounts[0].any() or amounts[3].any() or (amounts < 0).any():
        return None
    return int(amounts[1, 0]), int(amounts[1, 1]), int(amounts[2, 0]), int(amounts[2, 1])


op("Pad", kernel=_pad, shape=_padded_dims, gradient=_inner, border=_border, strided=True)
op("PadV2", kernel=_pad, shape=_padded_dims, gradient=_inner)


def _mirrored_index(size: int, before: int, after: int, offset: int) -> Any:
    """Which elements of a dimension its mirrored form shows. offset 1: the edge itself is not repeated."""
    if offset and (before >= size or after >= size):
        raise invalid_argument(f"paddings must be less than the dimension size: {before}, {after} not less than {size}")
    if before > size or after > size:
        raise invalid_argument(f"paddings must be no greater than the dimension size: {before}, {after} greater than {size}")
    numbers = np.arange(size)
    return np.concatenate([numbers[offset : before + offset][::-1], numbers, numbers[::-1][offset : after + offset]])


def _offset(node: Node) -> int:
    mode = node.attr("mode")
    return 1 if (mode.decode() if isinstance(mode, bytes) else mode) == "REFLECT" else 0


def _mirror_pad(node: Node) -> Kernel:
    offset, text = _offset(node), is_text(node)

    def run(x: Any, paddings: Any) -> Any:
        for axis, (before, after) in enumerate(_paddings(paddings, x.shape)):
            if before or after:
                index = _mirrored_index(x.shape[axis], before, after, offset)
                x = np.take(x, index, axis) if text else x.index_select(axis, torch.from_numpy(index).to(x.device))
        return x

    return run


op(
    "MirrorPad",
    kernel=_mirror_pad,
    shape=_padded_dims,
    view=True,
    gradient=lambda o, dy: [apply("MirrorPadGrad", dy, o.inputs[1], mode=o.attr("mode")), None],
)


def _mirror_pad_grad(node: Node) -> Kernel:
    offset = _offset(node)

    def run(dy: Any, paddings: Any) -> Any:
        for axis, (before, after) in enumerate(_paddings(paddings, dy.shape)):
            if before or after:
                size = dy.shape[axis] - before - after
                index = torch.from_numpy(_mirrored_index(size, before, after, offset)).to(dy.device)
                sizes = list(dy.shape)
                sizes[axis] = size
                dy = dy.new_zeros(sizes).index_add_(axis, index, dy)
        return dy

    return run


def _mirror_pad_grad_shape(o: Operation) -> Any:
    shapes.with_rank(o.inputs[1].dims, 2)
    dims, pairs = o.inputs[0].dims, known(o.inputs[1])
    if pairs is None:
        return None if dims is None else (None,) * len(dims)
    if (pairs < 0).any():
        raise ValueError("Paddings must be non-negative")
    dims = shapes.with_rank(dims, len(pairs))
    return tuple(None if d is None else d - before - after for d, (before, after) in zip(dims, pairs.tolist()))


op(
    "MirrorPadGrad",
    kernel=_mirror_pad_grad,
    shape=_mirror_pad_grad_shape,
    view=True,
    gradient=lambda o, dy: [apply("MirrorPad", dy, o.inputs[1], mode=o.attr("mode")), None],
)


@public("pad")
def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", name: str | None = None, constant_values: Any = 0) -> Any:
    """The tensor with elements before and after each dimension: a constant, or a mirror image of what lies inside."""
    mode = mode.upper()
    if mode == "CONSTANT":
        # Zeros are the older op's; a tensor is never known to be zero.
        if not tf.contrib.framework.is_tensor(constant_values) and constant_values == 0:
            found = apply("Pad", tensor, paddings, name=name)
        else:
            found = apply("PadV2", tensor, paddings, constant_values, name=name)
    elif mode in ("REFLECT", "SYMMETRIC"):
        found = apply("MirrorPad", tensor, paddings, mode=mode, name=name)
    else:
        raise ValueError(f"Unknown padding mode: {mode}")
    _learn_shape(found)
    return found


def _learn_shape(padded: Any) -> None:
    """Sizes may be known where only some of the paddings are."""
    if shapes.is_fully_defined(padded.dims):
        return
    x, paddings = padded.op.inputs[:2]
    if x.dims is None:
        return
    pairs = constant_value(paddings, partial=True)
    if pairs is None:
        return
    dims = []
    for size, pair in zip(x.dims, pairs):
        open_ = size is None or pair is None or any(n is None for n in pair)
        dims.append(None if open_ else size + int(sum(pair)))
    padded.set_shape(dims)
