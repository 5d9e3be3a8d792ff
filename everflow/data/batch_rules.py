"""How single ops of an element's function compute a whole batch at once.

A rule takes the op and which of its inputs are batches (they have a further first dimension), and returns what computes the op for
the batch, or None where it can't. Results are those of the elements one by one, to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.data.elements import rows_of, stacker
from everflow.graph.constants import known
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.lazy import torch
from everflow.ops.core.node import kernel_of
from everflow.ops.parsing.example_ops import _example_parser
from everflow.runtime.plan import Node
from everflow.values.tensors import from_numpy

Compute = Callable[..., Any]
Rule = Callable[[Any, Operation, "list[bool]"], "Compute | None"]

UNARY = frozenset(
    (
        "Abs",
        "AsString",
        "Atan",
        "Cast",
        "Ceil",
        "Cos",
        "Cosh",
        "DecodeBase64",
        "DecodeRaw",
        "Elu",
        "EncodeBase64",
        "Erf",
        "Exp",
        "Expm1",
        "Floor",
        "Identity",
        "Invert",
        "IsFinite",
        "IsInf",
        "IsNan",
        "LeakyRelu",
        "Log",
        "Log1p",
        "LogicalNot",
        "Neg",
        "OnesLike",
        "Reciprocal",
        "Relu",
        "Relu6",
        "Rint",
        "Round",
        "Rsqrt",
        "Selu",
        "Sigmoid",
        "Sign",
        "Sin",
        "Sinh",
        "Snapshot",
        "Softplus",
        "Softsign",
        "Sqrt",
        "Square",
        "StopGradient",
        "StringLength",
        "StringStrip",
        "StringToHashBucketFast",
        "StringToHashBucketStrong",
        "StringToNumber",
        "Tan",
        "Tanh",
        "ZerosLike",
    )
)
BINARY = frozenset(
    (
        "Add",
        "AddV2",
        "Atan2",
        "BitwiseAnd",
        "BitwiseOr",
        "BitwiseXor",
        "Div",
        "Equal",
        "FloorDiv",
        "FloorMod",
        "Greater",
        "GreaterEqual",
        "Less",
        "LessEqual",
        "LogicalAnd",
        "LogicalOr",
        "Maximum",
        "Minimum",
        "Mul",
        "NotEqual",
        "Pow",
        "RealDiv",
        "SelectV2",
        "SquaredDifference",
        "Sub",
        "TruncateDiv",
        "TruncateMod",
        "Xdivy",
        "Xlogy",
    )
)
# Ops that keep the order of the numbers: with known shapes, all are reshapes.
RESHAPING = frozenset(("ExpandDims", "Reshape", "Squeeze"))
# Reductions whose result does not depend on the order in which elements are taken.
EXACT_REDUCTIONS = frozenset(("All", "Any", "Max", "Min"))
ROUNDED_REDUCTIONS = frozenset(("Mean", "Prod", "Sum"))
# Ops that work along the last dimension of an element, each row by itself.
LAST_DIMENSION = frozenset(("BiasAdd", "LogSoftmax", "Softmax"))
# An element with more numbers than this may be summed in parts by several threads, when it stands alone.
SUMMED_AT_ONCE = 1 << 14


# Ops with rules that refuse some values; division and powers refuse some integers.
_PARTIAL = frozenset(("DecodeBase64", "DecodeRaw", "GatherV2", "ParseSingleExample", "StringToNumber"))
_PARTIAL_FOR_INTEGERS = frozenset(("Div", "FloorDiv", "FloorMod", "Pow", "TruncateDiv", "TruncateMod"))


def may_fail(op: Operation) -> bool:
    """Whether the values of its inputs, of the right type and shape, can make an op fail."""
    return op.type in _PARTIAL or (op.type in _PARTIAL_FOR_INTEGERS and op.inputs[0].dtype.is_integer)


def node_for(
    context: Any, op: Operation, constants: dict[int, np.ndarray] | None = None, attrs: dict[str, Any] | None = None, dims: bool = False
) -> Node:
    """The op with other constants and attributes. Nothing is said of the shapes of inputs that are not constant, unless asked."""
    inputs = []
    for i, t in enumerate(op.inputs):
        value = constants[i] if constants and i in constants else known(t)
        source = Node("_Feed" if value is None else "Const", t.op.name, {} if value is None else {"value": value}, [], None, context)
        inputs.append(source.add_output(t.dtype.base_dtype, (t.dims if dims else None) if value is None else np.shape(value)))
    node = Node(op.type, op.name, {**op.attrs, **(attrs or {})}, inputs, None, context)
    for t in op.outputs:
        node.add_output(t.dtype, t.dims if dims else None)
    return node


def _plain(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    return kernel_of(node_for(context, op))


def _broadcast(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    """Elements of lower rank get dimensions after the first, so that all broadcast as single elements do."""
    kernel = kernel_of(node_for(context, op))
    ranks = [len(t.dims or ()) for t in op.inputs]
    most = max(ranks)
    missing = [most - rank if is_batched else 0 for rank, is_batched in zip(ranks, batched)]
    if not any(missing):
        return kernel

    def aligned(value: Any, count: int) -> Any:
        return value.reshape(value.shape[0], *[1] * count, *value.shape[1:]) if count else value

    return lambda *values: kernel(*[aligned(value, count) for value, count in zip(values, missing)])


def _reshaped(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    dims = op.outputs[0].dims or ()
    return (lambda x, *_: x.reshape(x.shape[0], *dims)) if batched[0] and not any(batched[1:]) else None


def _one_hot(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    return kernel_of(node_for(context, op)) if op.attr("axis") == -1 and batched[0] and not any(batched[1:]) else None


def _transposed(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    order = known(op.inputs[1])
    if order is None or not batched[0]:
        return None
    axes = [0, *(int(axis) % len(order) + 1 for axis in order)]
    return lambda x, _: np.transpose(x, axes) if isinstance(x, np.ndarray) else x.permute(axes)


def _rank(t: Tensor) -> int:
    return len(t.dims or ())


def with_constants(
    place: Callable[[Operation, int, np.ndarray], np.ndarray | None],
    *indices: int,
    data: int = 0,
    attrs: Callable[[Operation], dict[str, Any]] | None = None,
) -> Rule:
    """A rule for an op whose constant inputs speak of dimensions: `place` says the same of a batch's."""

    def rule(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
        wanted = [i % len(op.inputs) for i in indices]
        moved: dict[int, np.ndarray] = {}
        for i in wanted:
            value = known(op.inputs[i])
            if value is None:
                return None
            changed = place(op, i, np.asarray(value))
            if changed is None:
                return None
            moved[i] = changed.astype(np.asarray(value).dtype)
        if any(is_batched != (i == data) for i, is_batched in enumerate(batched)):
            return None
        kernel = kernel_of(node_for(context, op, moved, attrs(op) if attrs is not None else None))
        values = {i: from_numpy(value, op.inputs[i].dtype) for i, value in moved.items()}
        return lambda *given: kernel(*[values.get(i, value) for i, value in enumerate(given)])

    return rule


def _axes(data: int) -> Callable[[Operation, int, np.ndarray], np.ndarray]:
    return lambda op, i, value: value % _rank(op.inputs[data]) + 1


def _after(first: Any) -> Callable[[Operation, int, np.ndarray], np.ndarray]:
    """What stands for the batch's own dimension is put in front."""
    return lambda op, i, value: np.concatenate([np.array([first], value.dtype), value])


def _slice_masks(op: Operation) -> dict[str, Any]:
    found = {name: int(op.attr(name)) << 1 for name in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")}
    return {**found, **{name: int(op.attr(name)) << 1 | 1 for name in ("begin_mask", "end_mask")}}


def _slice_bounds(op: Operation, i: int, value: np.ndarray) -> np.ndarray:
    return np.concatenate([np.array([1 if i == 3 else 0], value.dtype), value])


_exactly_reduced = with_constants(_axes(0), 1)


def _reduced(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    """Sums of floats depend on the order: the same is taken for all rows where an element's last dimensions are summed and it is small."""
    axes = known(op.inputs[1])
    x = op.inputs[0]
    rank, kind = _rank(x), x.dtype.base_dtype
    if axes is None:
        return None
    fast = _exactly_reduced(context, op, batched)
    if kind.is_integer and op.type != "Mean":
        return fast
    chosen = sorted(int(a) % rank for a in np.reshape(axes, -1))
    trailing = chosen == list(range(rank - len(chosen), rank)) and chosen
    slow = by_rows(context, op, batched)
    if fast is None or not trailing or math.prod(d or 0 for d in x.dims or ()) > SUMMED_AT_ONCE:
        return slow
    return lambda x, axes: fast(x, axes) if x.is_contiguous() else slow(x, axes)


def _packed(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    if not all(batched):
        return None
    axis = op.attr("axis") % (_rank(op.inputs[0]) + 1) + 1
    return lambda *parts: np.stack(parts, axis) if isinstance(parts[0], np.ndarray) else torch.stack(parts, axis)


def _unpacked(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    return kernel_of(node_for(context, op, attrs={"axis": op.attr("axis") % _rank(op.inputs[0]) + 1}))


def _concatenated(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    where = known(op.inputs[-1])
    if where is None or batched[-1]:
        return None
    axis = int(where) % _rank(op.inputs[0]) + 1

    def join(*parts: Any) -> Any:
        rows = next(len(part) for part, is_batched in zip(parts, batched) if is_batched)
        whole = [part if is_batched else repeated(part, rows) for part, is_batched in zip(parts[:-1], batched)]
        return np.concatenate(whole, axis) if isinstance(whole[0], np.ndarray) else torch.cat(whole, axis)

    return join


def _gathered(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    """Rows of a fixed table by each element's indices."""
    axis = known(op.inputs[2])
    is_plain = axis is not None and int(axis) == 0 and not op.attr("batch_dims")
    return kernel_of(node_for(context, op)) if is_plain and batched == [False, True, False] else None


def _filled(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    """A number for each element, repeated."""
    dims = op.outputs[0].dims or ()
    if batched != [False, True] or op.outputs[0].dtype.name == "string":
        return None
    return lambda _, value: value.view(-1, *[1] * len(dims)).expand(-1, *dims).contiguous()


def _selected(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    if not all(batched) or len({t.dims for t in op.inputs}) > 1:
        return None
    return kernel_of(node_for(context, op))


def _clipped(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    is_plain = batched == [True, False, False] and not any(_rank(t) for t in op.inputs[1:])
    return kernel_of(node_for(context, op)) if is_plain else None


def _all_batched(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    return kernel_of(node_for(context, op)) if all(batched) else None


def _along_last(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    is_plain = batched[0] and not any(batched[1:]) and _rank(op.inputs[0])
    return kernel_of(node_for(context, op)) if is_plain and op.attrs.get("data_format") in (None, b"NHWC", "NHWC") else None


def _parsed(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    """Single examples without sparse features are parsed together."""
    defaults = [known(t) for t in op.inputs[1:]]
    if op.attr("num_sparse") or not batched[0] or any(d is None for d in defaults):
        return None
    keys = [k.encode() if isinstance(k, str) else k for k in op.attr("dense_keys")]
    parser = _example_parser([], [], keys, op.attr("Tdense"), op.attr("dense_shapes"), defaults)
    single = len(op.outputs) == 1

    def parse(serialized: Any, *_: Any) -> Any:
        found = tuple(a if a.dtype == object else torch.from_numpy(a) for a in parser.parse(serialized, None, torch.get_num_threads()))
        return found[0] if single else found

    return parse


def by_rows(context: Any, op: Operation, batched: list[bool]) -> Compute:
    """The op for each row, and the results stacked: what any op without state can do."""
    kernel = kernel_of(node_for(context, op, dims=True))
    stackers = [stacker(t.dtype) for t in op.outputs]
    single = len(stackers) == 1

    def run(*values: Any) -> Any:
        count = next(len(value) for value, is_batched in zip(values, batched) if is_batched)
        columns = [rows_of(value) if is_batched else [value] * count for value, is_batched in zip(values, batched)]
        found = [kernel(*row) for row in zip(*columns)]
        if single:
            return stackers[0](found)
        return tuple(stack(column) for stack, column in zip(stackers, zip(*found)))

    return run


def repeated(value: Any, rows: int) -> Any:
    """A batch in which all elements are the same."""
    return np.stack([value] * rows) if isinstance(value, np.ndarray) else value.expand(rows, *value.shape)


RULES: dict[str, Rule] = {
    **dict.fromkeys(UNARY, _plain),
    **dict.fromkeys(BINARY, _broadcast),
    **dict.fromkeys(RESHAPING, _reshaped),
    **dict.fromkeys(EXACT_REDUCTIONS, _exactly_reduced),
    **dict.fromkeys(ROUNDED_REDUCTIONS, _reduced),
    **dict.fromkeys(LAST_DIMENSION, _along_last),
    "AddN": _all_batched,
    "ArgMax": with_constants(_axes(0), 1),
    "ArgMin": with_constants(_axes(0), 1),
    "ClipByValue": _clipped,
    "ConcatV2": _concatenated,
    "Fill": _filled,
    "GatherV2": _gathered,
    "OneHot": _one_hot,
    "Pack": _packed,
    "Pad": with_constants(_after([0, 0]), 1),
    "PadV2": with_constants(_after([0, 0]), 1),
    "ParseSingleExample": _parsed,
    "ReverseV2": with_constants(_axes(0), 1),
    "Select": _selected,
    "Slice": with_constants(lambda op, i, value: _after(0 if i == 1 else -1)(op, i, value), 1, 2),
    "Split": with_constants(_axes(1), 0, data=1),
    "SplitV": with_constants(_axes(0), 2),
    "StridedSlice": with_constants(_slice_bounds, 1, 2, 3, attrs=_slice_masks),
    "StringJoin": _all_batched,
    "Tile": with_constants(_after(1), 1),
    "Transpose": _transposed,
    "Unpack": _unpacked,
}
