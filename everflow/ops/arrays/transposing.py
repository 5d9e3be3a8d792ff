"""The order of dimensions and elements: transpose, reverse, roll."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.errors import OpError, invalid_argument
from everflow.graph import shapes
from everflow.graph.constants import known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import flipped, is_text, renamed_argument
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.shape_rules import same_as_input

Kernel = Callable[..., Any]


def _check_permutation(perm: list[int], rank: int) -> list[int]:
    if len(perm) != rank:
        raise invalid_argument(f"transpose expects a vector of size {rank}. But input(1) is a vector of size {len(perm)}")
    found = [p + rank if p < 0 else p for p in perm]
    for p, q in zip(perm, found):
        if not 0 <= q < rank:
            raise invalid_argument(f"{p} is out of range [0 .. {rank})")
    for i in range(rank):
        if i not in found:
            raise invalid_argument(f"{i} is missing from {{{','.join(map(str, found))}}}.")
    return found


def _transpose(conjugate: bool) -> Callable[[Any], Kernel]:
    def make(node: Node) -> Kernel:
        text = is_text(node)
        conj = conjugate and node.inputs[0].dtype.is_complex

        def run(x: Any, perm: Any) -> Any:
            order = _check_permutation(perm.tolist(), x.ndim)
            if text:
                return x.transpose(order)
            return x.permute(order).conj() if conj else x.permute(order)

        perm, dims = node.constant(1), node.inputs[0].dims
        if perm is None or dims is None or text:
            return run
        order = tuple(perm.tolist())
        if sorted(p % len(dims) for p in order) != list(range(len(dims))):
            return run
        if conj:
            return lambda x, perm: x.permute(order).conj()
        return lambda x, perm: x.permute(order)

    return make


def _transpose_shape(o: Operation) -> Any:
    dims, perm = o.inputs[0].dims, known(o.inputs[1])
    if perm is None:
        count = len(dims) if dims is not None else (o.inputs[1].dims or (None,))[0]
        return None if count is None else (None,) * count
    if perm.ndim != 1:
        raise ValueError(f"Shape must be rank 1 but is rank {perm.ndim}")
    if dims is None:
        # A single element permutes a scalar as well as a vector.
        return (None,) * len(perm) if len(perm) > 1 else None
    if len(perm) != len(dims):
        raise ValueError(f"Dimension must be {len(dims)} but is {len(perm)}")
    for p in perm.tolist():
        if not -len(dims) <= p < len(dims):
            raise ValueError(f"perm dim {p} is out of range of input rank {len(dims)}")
    return tuple(dims[p] for p in perm.tolist())


op(
    "Transpose",
    kernel=_transpose(False),
    shape=_transpose_shape,
    view=True,
    gradient=lambda o, dy: [transpose(dy, tf.invert_permutation(o.inputs[1])), None],
)
op(
    "ConjugateTranspose",
    kernel=_transpose(True),
    shape=_transpose_shape,
    view=True,
    gradient=lambda o, dy: [transpose(dy, tf.invert_permutation(o.inputs[1]), conjugate=True), None],
)


@public("transpose")
def transpose(a: Any, perm: Any = None, name: str = "transpose", conjugate: bool = False) -> Any:
    """The tensor with its dimensions in another order: reversed unless `perm` says otherwise."""
    with name_scope(name, "transpose", [a]) as scope:
        a = convert_to_tensor(a, name="a")
        if perm is None:
            if a.dims:
                perm = np.arange(len(a.dims) - 1, -1, -1, dtype=np.int32)
            else:
                last = apply("Rank", a)
                perm = (last - 1) - apply("Range", 0, last, 1)
        return apply("ConjugateTranspose" if conjugate and a.dtype.is_complex else "Transpose", a, perm, name=scope)


@public("matrix_transpose", "linalg.matrix_transpose", "linalg.transpose")
def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Any:
    """The tensor with its last two dimensions exchanged."""
    with name_scope(name, values=[a]):
        a = convert_to_tensor(a, name="a")
        if a.dims is not None:
            if len(a.dims) < 2:
                raise ValueError(f"Argument 'a' should be a (batch) matrix, with rank >= 2.  Found: {a.get_shape()}")
            order = [*range(len(a.dims) - 2), len(a.dims) - 1, len(a.dims) - 2]
            return transpose(a, order, conjugate=conjugate)
        count = tf.rank(a)
        order = tf.concat((apply("Range", 0, count - 2, 1), [count - 1, count - 2]), 0)
        return transpose(a, order, conjugate=conjugate)


def _check_axes(axes: list[int], rank: int) -> tuple[int, ...]:
    found: list[int] = []
    for i, axis in enumerate(axes):
        at = axis + rank if axis < 0 else axis
        if not 0 <= at < rank:
            raise invalid_argument(f"'axis'[{i}] = {axis} is out of valid range [0, {rank - 1}")
        if at in found:
            raise invalid_argument(f"axis {at} specified more than once.")
        found.append(at)
    return tuple(found)


def _reverse_v2(node: Node) -> Kernel:
    text = is_text(node)
    axes, dims = node.constant(1), node.inputs[0].dims
    if axes is not None and dims is not None and not text:
        fixed = tuple(axes.tolist())
        return lambda x, axis: flipped(x, fixed)

    def run(x: Any, axis: Any) -> Any:
        if not x.ndim:
            return x
        at = _check_axes(axis.tolist(), x.ndim)
        return (np.flip(x, at) if at else x) if text else flipped(x, at)

    return run


def _reverse_v2_shape(o: Operation) -> Any:
    dims, axes = o.inputs[0].dims, known(o.inputs[1])
    shapes.with_rank(o.inputs[1].dims, 1)
    if dims is not None and len(dims) > 8:
        raise ValueError("reverse does not work on tensors with more than 8 dimensions")
    if axes is not None and dims is not None:
        try:
            _check_axes(axes.tolist(), len(dims))
        except OpError as e:
            raise ValueError(e.message) from None
    return dims


def _reverse(node: Node) -> Kernel:
    text = is_text(node)

    def run(x: Any, dims: Any) -> Any:
        if not x.ndim:
            return x
        if dims.numel() != x.ndim:
            raise invalid_argument(
                f"'dims' must have the same number of values as 'input' has dimensions. 'input' has "
                f"{x.ndim}'dims' has {dims.numel()} values"
            )
        at = tuple(i for i, chosen in enumerate(dims.tolist()) if chosen)
        return (np.flip(x, at) if at else x) if text else flipped(x, at)

    return run


op("Reverse", kernel=_reverse, shape=same_as_input, gradient=lambda o, dy: [apply("Reverse", dy, o.inputs[1]), None])
op("ReverseV2", kernel=_reverse_v2, shape=_reverse_v2_shape, gradient=lambda o, dy: [reverse(dy, o.inputs[1]), None])


@public("reverse", "reverse_v2", "manip.reverse")
def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """The tensor with the order of elements reversed along these axes."""
    return apply("ReverseV2", tensor, axis, name=name)


def _reverse_sequence(node: Node) -> Kernel:
    along, batch = node.attr("seq_dim"), node.attr("batch_dim")
    text = is_text(node)

    def run(x: Any, lengths: Any) -> Any:
        if batch == along:
            raise invalid_argument(f"batch_dim == seq_dim == {along}")
        for label, at in (("seq_dim", along), ("batch_dim", batch)):
            if at >= x.ndim:
                raise invalid_argument(f"{label} must be < input rank ( {at} vs. {x.ndim})")
        if len(lengths) != x.shape[batch]:
            raise invalid_argument(f"len(seq_lens) != input.dims({batch}), ({len(lengths)} vs. {x.shape[batch]})")
        size = x.shape[along]
        for i, n in enumerate(lengths.tolist()):
            if n < 0:
                raise invalid_argument(f"seq_lens({i}) < 0")
            if n > size:
                raise invalid_argument(f"seq_lens({i}) > input.dims({along})")
        ends = lengths.long().unsqueeze(1)
        numbers = torch.arange(size, device=ends.device)
        places = torch.where(numbers < ends, ends - 1 - numbers, numbers)
        rows = torch.arange(len(lengths), device=ends.device).unsqueeze(1)
        if text:
            return np.moveaxis(np.moveaxis(x, (batch, along), (0, 1))[rows.numpy(), places.numpy()], (0, 1), (batch, along))
        return x.movedim((batch, along), (0, 1))[rows, places].movedim((0, 1), (batch, along))

    return run


def _reverse_sequence_shape(o: Operation) -> Any:
    dims, lengths = o.inputs[0].dims, shapes.with_rank(o.inputs[1].dims, 1)
    along, batch = o.attr("seq_dim"), o.attr("batch_dim")
    if dims is None:
        return None
    if batch >= len(dims):
        raise ValueError(f"batch_dim must be < input rank: {batch} vs. {len(dims)}")
    if along >= len(dims):
        raise ValueError(f"seq_dim must be < input rank: {along} vs. {len(dims)}")
    size = shapes.merge_size(dims[batch], lengths[0])
    return (*dims[:batch], size, *dims[batch + 1 :])


op(
    "ReverseSequence",
    kernel=_reverse_sequence,
    shape=_reverse_sequence_shape,
    view=True,
    gradient=lambda o, dy: [apply("ReverseSequence", dy, o.inputs[1], seq_dim=o.attr("seq_dim"), batch_dim=o.attr("batch_dim")), None],
)


@public("reverse_sequence")
def reverse_sequence(
    input: Any,
    seq_lengths: Any,
    seq_axis: Any = None,
    batch_axis: Any = None,
    name: str | None = None,
    seq_dim: Any = None,
    batch_dim: Any = None,
) -> Any:
    """Reverses, for each entry of the batch, only its first `seq_lengths` elements along a dimension."""
    along = renamed_argument("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch = renamed_argument("batch_axis", batch_axis, "batch_dim", batch_dim)
    return apply("ReverseSequence", input, seq_lengths, seq_dim=along, batch_dim=0 if batch is None else batch, name=name)


def _roll(node: Node) -> Kernel:
    text = is_text(node)

    def run(x: Any, shift: Any, axis: Any) -> Any:
        if not x.ndim:
            raise invalid_argument("input must be 1-D or higher")
        shifts, axes = shift.reshape(-1).tolist(), axis.reshape(-1).tolist()
        if shift.ndim > 1:
            raise invalid_argument(f"shift must be a scalar or a 1-D vector. Found: [{','.join(map(str, shift.shape))}]")
        if axis.ndim > 1:
            raise invalid_argument(f"axis must be a scalar or a 1-D vector. Found: [{','.join(map(str, axis.shape))}]")
        if len(shifts) != len(axes):
            raise invalid_argument("shift and axis must have the same size")
        for at in axes:
            if not -x.ndim <= at < x.ndim:
                raise invalid_argument(f"axis {at} is out of range")
        return np.roll(x, shifts, axes) if text else x.roll(shifts, axes)

    return run


def _roll_shape(o: Operation) -> Any:
    shapes.with_rank_at_least(o.inputs[0].dims, 1)
    shapes.with_rank_at_most(o.inputs[1].dims, 1)
    shapes.with_rank_at_most(o.inputs[2].dims, 1)
    shapes.merge(o.inputs[1].dims, o.inputs[2].dims)
    return o.inputs[0].dims


op("Roll", kernel=_roll, shape=_roll_shape, gradient=lambda o, dy: [roll(dy, -o.inputs[1], o.inputs[2]), None, None])


@public("roll", "manip.roll")
def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Any:
    """The tensor with its elements moved along axes; what falls off one end comes in at the other."""
    return apply("Roll", input, shift, axis, name=name)
