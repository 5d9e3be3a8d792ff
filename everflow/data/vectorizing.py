"""Functions of elements as functions of batches, where the result is known to be the same.

A function qualifies if its elements have known shapes and all its ops work element by element, or only rearrange. Each op then
runs once for a whole batch, whose first dimension counts the elements. What fails that way is done again element by element, so
that errors are those of the element that is to blame.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from everflow.data.elements import Element, dims_of, rows_of, stack
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.lazy import torch
from everflow.runtime.codegen import kernel_of
from everflow.runtime.plan import Node
from everflow.runtime.values import from_numpy

Compute = Callable[..., Any]
Rule = Callable[[Any, Operation, "list[bool]"], "Compute | None"]

UNARY = frozenset((
    "Abs", "Cast", "Ceil", "Cos", "Cosh", "DecodeRaw", "Elu", "Erf", "Exp", "Expm1", "Floor", "Identity", "IsFinite", "IsInf", "IsNan",
    "Log", "Log1p", "LogicalNot", "Neg", "OnesLike", "Reciprocal", "Relu", "Relu6", "Rint", "Round", "Rsqrt", "Sigmoid", "Sign", "Sin",
    "Sinh", "Snapshot", "Softplus", "Softsign", "Sqrt", "Square", "StopGradient", "StringToNumber", "Tan", "Tanh", "ZerosLike",
))
BINARY = frozenset((
    "Add", "AddV2", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "FloorDiv", "FloorMod", "Greater", "GreaterEqual", "Less",
    "LessEqual", "LogicalAnd", "LogicalOr", "Maximum", "Minimum", "Mul", "NotEqual", "Pow", "RealDiv", "SquaredDifference", "Sub",
    "TruncateDiv", "TruncateMod",
))
# Ops that keep the order of the numbers: with known shapes, all are reshapes.
RESHAPING = frozenset(("ExpandDims", "Reshape", "Squeeze"))
# Reductions whose result does not depend on the order in which elements are taken.
EXACT_REDUCTIONS = frozenset(("All", "Any", "Max", "Min"))


def _node(context: Any, op: Operation) -> Node:
    """The op for batches: nothing is said of its inputs' shapes but of those that are constant."""
    inputs = []
    for t in op.inputs:
        constant = t.op.type == "Const"
        source = Node("Const" if constant else "_Feed", t.op.name, {"value": t.op.attrs["value"]} if constant else {}, [], None, context)
        inputs.append(source.add_output(t.dtype.base_dtype, t.dims if constant else None))
    node = Node(op.type, op.name, op.attrs, inputs, None, context)
    for t in op.outputs:
        node.add_output(t.dtype, None)
    return node


def _unary(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    return kernel_of(_node(context, op))


def _binary(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    """Elements of lower rank get dimensions after the first, so that both broadcast as single elements do."""
    kernel = kernel_of(_node(context, op))
    ranks = [len(t.dims or ()) for t in op.inputs]
    most = max(ranks)
    missing = [most - rank if is_batched else 0 for rank, is_batched in zip(ranks, batched)]
    if not any(missing):
        return kernel

    def aligned(value: Any, count: int) -> Any:
        return value.reshape(value.shape[0], *[1] * count, *value.shape[1:]) if count else value

    return lambda x, y: kernel(aligned(x, missing[0]), aligned(y, missing[1]))


def _reshaped(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    dims = op.outputs[0].dims or ()
    return (lambda x, *_: x.reshape(x.shape[0], *dims)) if batched[0] and not any(batched[1:]) else None


def _one_hot(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    return kernel_of(_node(context, op)) if op.attr("axis") == -1 and batched[0] and not any(batched[1:]) else None


def _constant(t: Tensor) -> Any:
    return t.op.attrs["value"] if t.op.type == "Const" else None


def _transposed(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    order = _constant(op.inputs[1])
    if order is None or not batched[0]:
        return None
    axes = [0, *(int(axis) % len(order) + 1 for axis in order)]
    return lambda x, _: np.transpose(x, axes) if isinstance(x, np.ndarray) else x.permute(axes)


def _reduced(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    axes = _constant(op.inputs[1])
    rank = len(op.inputs[0].dims or ())
    if axes is None or not batched[0]:
        return None
    moved = torch.tensor([int(a) % rank + 1 for a in np.reshape(axes, -1)], dtype=torch.int64)
    node = _node(context, op)
    # The constant axes are those of single elements.
    node.inputs[1].node.type = "_Feed"
    kernel = kernel_of(node)
    return lambda x, _: kernel(x, moved)


def _packed(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    if not all(batched):
        return None
    rank = len(op.inputs[0].dims or ()) + 1
    axis = op.attr("axis") % rank + 1
    return lambda *parts: np.stack(parts, axis) if isinstance(parts[0], np.ndarray) else torch.stack(parts, axis)


def _parsed(context: Any, op: Operation, batched: list[bool]) -> Compute | None:
    """Single examples without sparse features are parsed together."""
    from everflow.ops.parsing_kernels import _example_parser

    defaults = [_constant(t) for t in op.inputs[1:]]
    if op.attr("num_sparse") or not batched[0] or any(d is None for d in defaults):
        return None
    keys = [k.encode() if isinstance(k, str) else k for k in op.attr("dense_keys")]
    parser = _example_parser([], [], keys, op.attr("Tdense"), op.attr("dense_shapes"), defaults)
    single = len(op.outputs) == 1

    def parse(serialized: Any, *_: Any) -> Any:
        found = tuple(a if a.dtype == object else torch.from_numpy(a) for a in parser.parse(serialized, None, torch.get_num_threads()))
        return found[0] if single else found

    return parse


RULES: dict[str, Rule] = {
    **dict.fromkeys(UNARY, _unary), **dict.fromkeys(BINARY, _binary), **dict.fromkeys(RESHAPING, _reshaped),
    **dict.fromkeys(EXACT_REDUCTIONS, _reduced), "OneHot": _one_hot, "Transpose": _transposed, "Pack": _packed,
    "ParseSingleExample": _parsed,
}


class _Program:
    """The ops of a function, each with what computes it for a batch."""

    def __init__(self, steps: list[tuple[Compute, list[int], list[int]]], constants: dict[int, Any], outputs: list[tuple[int, bool]],
                 size: int, inputs: int) -> None:
        self.steps, self.constants, self.outputs, self.size, self.inputs = steps, constants, outputs, size, inputs

    def run(self, arguments: Sequence[Any]) -> Element:
        known: list[Any] = [None] * self.size
        known[:len(arguments)] = arguments
        for place, value in self.constants.items():
            known[place] = value
        for compute, taken, given in self.steps:
            found = compute(*[known[i] for i in taken])
            if len(given) == 1:
                known[given[0]] = found
            else:
                for place, value in zip(given, found):
                    known[place] = value
        rows = dims_of(arguments[0])[0]
        return tuple(known[i] if is_batched else _repeated(known[i], rows) for i, is_batched in self.outputs)


def _repeated(value: Any, rows: int) -> Any:
    return np.stack([value] * rows) if isinstance(value, np.ndarray) else value.expand(rows, *value.shape)


def _compiled(context: Any, body: Any, count: int) -> _Program | None:
    """The program of a body whose first `count` inputs are batches; None where an op has no rule."""
    places: dict[Tensor, int] = {t: i for i, t in enumerate(body.inputs)}
    batched = {t: i < count for i, t in enumerate(body.inputs)}
    constants: dict[int, Any] = {}
    steps = []
    for op in _needed(body):
        if op.type == "Placeholder":
            continue
        for t in op.outputs:
            places[t] = len(places)
        if op.type == "Const":
            t = op.outputs[0]
            constants[places[t]] = from_numpy(op.attrs["value"], t.dtype)
            batched[t] = False
            continue
        if op.op_def_.is_stateful or op.control_inputs or any(t.dtype.name in ("resource", "variant") for t in (*op.inputs, *op.outputs)):
            return None
        is_batched = [batched[t] for t in op.inputs]
        if any(is_batched):
            rule = RULES.get(op.type)
            known = all(shapes.is_fully_defined(t.dims) for t in (*op.inputs, *op.outputs))
            compute = rule(context, op, is_batched) if rule is not None and known else None
            if compute is None:
                return None
        else:
            compute = kernel_of(_node(context, op))
        for t in op.outputs:
            batched[t] = any(is_batched)
        steps.append((compute, [places[t] for t in op.inputs], [places[t] for t in op.outputs]))
    outputs = [(places[t], batched[t]) for t in body.outputs]
    if not any(is_batched for _, is_batched in outputs):
        return None
    return _Program(steps, constants, outputs, len(places), count)


def _needed(body: Any) -> list[Operation]:
    """The ops that the outputs need, in order."""
    found: set[Operation] = set()
    waiting = [t.op for t in body.outputs]
    while waiting:
        op = waiting.pop()
        if op not in found:
            found.add(op)
            waiting.extend(t.op for t in op.inputs)
    return [op for op in body.get_operations() if op in found]


def batched_form(context: Any, entry: Any, dims: Sequence[Any], captured: Sequence[Any],
                 function: Callable[..., Element], types: Sequence[Any]) -> Callable[..., Element] | None:
    """The function for many stacked elements at once, or None where it must be called for each."""
    if entry is None or not all(shapes.is_fully_defined(d) for d in dims) or any(d is None for d in dims):
        return None
    body = entry.graph
    if any(op.op_def_.is_stateful and op.type != "Placeholder" for op in body.get_operations()):
        return None
    key = ("batched", entry.name)
    if key not in context._op_state:
        # Shapes are those that the body was built for.
        context._op_state[key] = (_compiled(context, body, len(dims)),)
    program = context._op_state[key][0]
    if program is None:
        return None
    extra = tuple(captured)

    def run(*columns: Any) -> Element:
        try:
            return program.run((*columns, *extra))
        except Exception:  # whatever it is, it belongs to one of the elements
            return stack([function(*element) for element in zip(*map(rows_of, columns))], types)

    return run
