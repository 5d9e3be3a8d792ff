"""Element-wise ops on tensors of one shape as the instructions of one native loop; see everflow.runtime.passes.elementwise_groups."""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable, Iterable
from typing import Any

from everflow._native import ELEMENTWISE, ElementwiseChain
from everflow.graph import dtypes
from everflow.lazy import torch
from everflow.ops.core.node import Node, Value, kernel_of
from everflow.ops.core.registry import fused_op
from everflow.ops.core.rows import Apply
from everflow.values.tensors import torch_dtype

# What takes more operations than this is shared among threads.
LARGE = 1 << 16


# So many shapes are remembered of tensors whose sizes are not known before running.
MOST_SHAPES = 64

# What gives one number for many.
SUMS = ("Sum", "Mean", "Max")
# What takes no longer than reading its result from memory would.
CHEAP = frozenset(
    """
    Abs Add AddV2 Cast Ceil Equal Floor Greater GreaterEqual LeakyRelu Less LessEqual LogicalAnd LogicalNot LogicalOr Maximum Minimum Mul
    Neg NotEqual OnesLike RealDiv Relu Rint Round Select SelectV2 Sign Square SquaredDifference Sub ZerosLike
    """.split()
)

# Numbers that are attributes are operands like constants.
ATTRIBUTES = {"LeakyRelu": "alpha", "LeakyReluGrad": "alpha"}
# Powers that are sooner computed otherwise: what is done to the base, then to the base and the result.
POWERS = {-1.0: ("Reciprocal",), 0.5: ("_Root",), 2.0: ("Square",), 3.0: ("Square", "Mul")}

# The operands that may be single numbers, of ops that don't broadcast.
SINGLE_OPERANDS = {"Select": (0,), "ClipByValue": (1, 2)}

Shape = Callable[[Value], Any]
# What is done to which three operands; those that are not needed repeat another.
Instruction = tuple[str, int, int, int]


def may_be_elementwise(node: Node) -> bool:
    """Whether a node is an instruction wherever its operands have the right shapes."""
    if (node.type not in ELEMENTWISE and not (node.type == "AddN" and len(node.inputs) > 1)) or node.reads or node.asked_for:
        return False
    if node.type == "Cast" and node.inputs[0].dtype is not dtypes.bool:
        return False
    return all(v.dtype is dtypes.float32 or v.dtype is dtypes.bool for v in (*node.inputs, *node.outputs))


def has_numbers(nodes: Iterable[Node]) -> bool:
    """Whether not all that nodes take and give are truths."""
    return any(v.dtype is dtypes.float32 for node in nodes for v in (*node.inputs, *node.outputs))


def is_elementwise(node: Node, shape: Shape, dims: Any = None) -> bool:
    """Whether a node can be an instruction, for tensors of this shape if one is given.

    `shape` gives the sizes of a value, with tokens for those that are not known before running."""
    if not may_be_elementwise(node):
        return False
    found = shape(node.outputs[0])
    if not found or (dims is not None and found != dims) or 0 in found:
        return False
    return all(_broadcasts(node, i, own := shape(v), found) and _is_operand(node, v, own, found) for i, v in enumerate(node.inputs))


def is_static(dims: Any) -> bool:
    """Whether all sizes are known before running."""
    return all(isinstance(size, int) for size in dims)


def _broadcasts(node: Node, i: int, own: Any, dims: Any) -> bool:
    """Whether an op takes an operand of this shape where it gives a result of that shape, if such shapes broadcast."""
    singles = SINGLE_OPERANDS.get(node.type)
    return singles is None or own == dims or (own == () and i in singles)


def _is_operand(node: Node, value: Value, own: Any, dims: Any) -> bool:
    """A tensor of the shape, one that must turn out to have it, a row for all rows, a number for each row or for all, or a constant."""
    if own in (dims, dims[-1:], (*dims[:-1], 1)) or _is_single(own, dims) or _number(value, dims) is not None:
        return True
    return is_static(dims) and _must_fit(node, value)


def numbers_of_rows(dims: Any) -> Any:
    """The shape of one number for each row of a tensor; None where that is the tensor's own."""
    return (*dims[:-1], 1) if len(dims) > 1 and dims[-1] != 1 else None


def is_of_rows(node: Node, shape: Shape, dims: Any) -> bool:
    """Whether a node computes one number for each row of a tensor of this shape, of such numbers."""
    numbers = numbers_of_rows(dims)
    if numbers is None or not may_be_elementwise(node) or shape(node.outputs[0]) != numbers:
        return False
    return all(
        _broadcasts(node, i, own := shape(v), numbers) and (own == numbers or _is_single(own, dims) or _number(v, dims) is not None)
        for i, v in enumerate(node.inputs)
    )


def _is_single(own: Any, dims: Any) -> bool:
    """Whether a shape is that of one number for all."""
    return own is not None and len(own) <= len(dims) and all(size == 1 for size in own)


def _must_fit(node: Node, value: Value) -> bool:
    return node.type == "AddN" and value.dims is not None and None in value.dims


def _number(value: Value, dims: Any) -> float | None:
    """The number that a constant is, or with which a tensor is filled whose shape is known."""
    meaning = value.node.meaning
    if (
        meaning is not None
        and meaning.fills is not None
        and not value.node.reads
        and is_static(dims)
        and None not in (value.dims or (None,))
    ):
        source = value.node.constant(meaning.fills)
        return float(source.reshape(())) if source is not None and source.size == 1 else None
    return float(value.constant.reshape(())) if _is_single(value.dims, dims) and value.constant is not None else None


def joined(node: Node, dims: Any) -> list[Value]:
    """What a node puts beside each other, along the last axis of tensors of this shape; nothing where it does no such thing."""
    if node.type != "ConcatV2" or len(node.inputs) < 3 or len(dims) < 2 or node.reads or node.asked_for:
        return []
    if node.outputs[0].dtype is not dtypes.float32:
        return []
    axis = node.constant(len(node.inputs) - 1)
    if axis is None or int(axis.reshape(())) not in (-1, len(dims) - 1) or (node.outputs[0].dims or (None,))[-1] is None:
        return []
    parts = node.inputs[:-1]
    return parts if all(v.node.type != "ConcatV2" for v in parts) else []


def summed(node: Node, dims: Any) -> str:
    """Which sums or means of a tensor of this shape a node is: of its "rows", of its "columns" or of "all" of it; nothing where of none.
    The largest numbers of rows are found as their sums are."""
    if node.type not in SUMS or node.reads or node.asked_for or node.outputs[0].dtype is not dtypes.float32:
        return ""
    axes = node.constant(1)
    if axes is None:
        return ""
    rank = len(dims)
    found = {int(axis) % rank for axis in axes.reshape(-1)}
    if found == {rank - 1} and rank > 1:
        return "rows"
    return "" if not found or node.type == "Max" else "all" if len(found) == rank else "columns" if found == {*range(rank - 1)} else ""


class Chain:
    """The instructions of a group: what they take, and where they leave what is used afterwards."""

    def __init__(self, dims: Any, members: list[Node], results: list[Value], is_body: bool, shape: Shape) -> None:
        self.dims, self.members, self.results, self.is_body, self._shape = dims, members, results, is_body, shape
        # The input that the result is written over.
        self._over: int | None = None
        # In a body, results live about as long as each other: one allocation serves all that have the same shape.
        self.shares_memory = is_body and all(shape(v) == dims and v.dtype is dtypes.float32 for v in results)
        self.inputs: list[Value] = []
        self.checked: list[int] = []
        self._places: list[tuple[int, int, int | None, bool]] = []
        self._operands: dict[Value | Node, int] = {}
        self._constants: list[float] = []
        own = {v for node in members for v in node.outputs}
        numbers: dict[Value, float] = {}
        for node in members:
            for v in node.inputs if node.type in ELEMENTWISE or node.type == "AddN" else node.inputs[:-1]:
                if v not in own and v not in self._operands and v not in numbers:
                    number = _number(v, dims)
                    if number is None:
                        self._take(node, v)
                    else:
                        numbers[v] = number
        for v, number in numbers.items():
            self._operands[v] = len(self._operands)
            self._constants.append(number)
        for node in members:
            if node.type in ATTRIBUTES:
                self._operands[node] = len(self._operands)
                self._constants.append(node.attr(ATTRIBUTES[node.type]))

    @property
    def truths(self) -> list[int]:
        """Which of the tensors that it takes and gives hold truths."""
        return [i for i, v in enumerate((*self.inputs, *self.results)) if v.dtype is dtypes.bool]

    @property
    def knows_its_shape(self) -> bool:
        """Whether it is known, or an input that has it, or a part of which has it, will tell."""
        return is_static(self.dims) or any(_tells_shape(place) for place in self._places)

    def _take(self, node: Node, value: Value) -> None:
        """An input of the chain; of a part of a split tensor, the whole. A stride of None is that of whole rows."""
        source, offset, stride, spread = value, 0, None, False
        split, columns = value.node, self.dims[-1]
        if split.type == "Split" and len(self.dims) > 1 and not split.reads and isinstance(columns, int):
            axis = split.constant(0)
            whole = split.inputs[1]
            if (
                axis is not None
                and int(axis.reshape(())) in (-1, len(self.dims) - 1)
                and whole.dims is not None
                and whole.dims[-1] is not None
            ):
                source, offset, stride = whole, value.index * columns, _width(whole)
        own = self._shape(value)
        if own == self.dims[-1:] != self.dims:
            stride = 0
        elif own != self.dims and (_is_single(own, self.dims) or own == (*self.dims[:-1], 1)):
            stride, spread = int(not _is_single(own, self.dims)), True
        if source not in self.inputs:
            self.inputs.append(source)
            if None in (source.dims or (None,)):
                self.checked.append(self.inputs.index(source))
        self._operands[value] = len(self._operands)
        self._places.append((self.inputs.index(source), offset, stride, spread))

    def kernel_over(self, i: int) -> Callable[..., Any] | None:
        """What computes all members at once and writes the one large result over an input that is taken element by element."""
        if self.is_body or not is_static(self.dims) or math.prod(self.dims) < LARGE or len(self.results) > 1:
            return None
        if any(summed(node, self.dims) or node.type == "ConcatV2" for node in self.members):
            return None
        if self.results[0].dtype is not dtypes.float32 or i in self.truths:
            return None
        if [place for place in self._places if place[0] == i] != [(i, 0, None, False)]:
            return None
        chain = copy.copy(self)
        chain._over = i
        return chain.kernel()

    def kernel(self) -> Callable[..., Any]:
        """What computes all members at once."""
        one_by_one = self._one_by_one()
        if not is_static(self.dims):
            return self._for_any_shape(one_by_one)
        checked = [(i, self.expected(i, self.dims)) for i in self.checked]
        compute = self._for_shape(self.dims)

        def run(*xs: Any) -> Any:
            for i, dims in checked:
                if xs[i].shape != dims:
                    return one_by_one(*xs)
            return one_by_one(*xs) if xs and not xs[0].is_cpu else compute(*xs)

        return run

    def _for_any_shape(self, one_by_one: Callable[..., Any]) -> Callable[..., Any]:
        """Looks at the shapes that come: what is compiled for them, or node by node where they are not as they seemed to be."""
        ready: dict[Any, Any] = {}
        leader, _, stride, _ = next(place for place in self._places if _tells_shape(place))
        count = len(self.inputs)

        def prepared(shapes: Any) -> Any:
            dims = tuple(shapes[leader]) if stride is None else (*shapes[leader][:-1], self.dims[-1])
            fits = all(tuple(shapes[i]) == self.expected(i, dims) for i in range(count)) and math.prod(dims)
            return self._for_shape(dims) if fits else None

        def run(*xs: Any) -> Any:
            shapes = tuple([x.shape for x in xs])
            try:
                compute = ready[shapes]
            except KeyError:
                if len(ready) >= MOST_SHAPES:
                    ready.clear()
                compute = ready[shapes] = prepared(shapes)
            return one_by_one(*xs) if compute is None or not xs[0].is_cpu else compute(*xs)

        return run

    def expected(self, i: int, dims: tuple[int, ...]) -> tuple[int, ...]:
        """The shape that an input must have where the chain's is this one."""
        stride, spread = next((stride, spread) for tensor, _, stride, spread in self._places if tensor == i)
        if spread:
            return (*dims[:-1], 1) if stride else self._shape(self.inputs[i])
        return dims if stride is None else dims[-1:] if stride == 0 else (*dims[:-1], stride)

    def native(self, dims: tuple[int, ...], by_row: bool = False) -> ElementwiseChain:
        """The native loop for tensors of this shape: its inputs, then its results. Asked for row by row, its rows are those of the shape;
        else tensors may be taken for one long row."""
        joins = {v: (node, i) for node in self.members if node.type == "ConcatV2" for i, v in enumerate(node.inputs[:-1])}
        instructions: list[Instruction] = []
        places: list[tuple[int, int, int, bool]] = []
        first = len(self.inputs)
        rows, columns = math.prod(dims[:-1]), dims[-1]

        def place(value: Value) -> tuple[int, int, int, bool]:
            if value in joins:
                node, i = joins[value]
                return first + self.results.index(node.outputs[0]), sum(map(_width, node.inputs[:i])), _width(node.outputs[0]), False
            of_rows = self._is_of_rows(value.node)
            return (
                (first + self.results.index(value), 0, 1 if of_rows else columns, of_rows) if value in self.results else (-1, 0, 0, of_rows)
            )

        operands = dict(self._operands)
        count = len(operands)
        sums: list[tuple[int, str, int, float]] = []
        for node in self.members:
            if node.type == "ConcatV2":
                continue
            over = summed(node, self.dims)
            if over in ("columns", "all"):
                divisor = math.prod(dims) / math.prod(_summed_shape(node, dims)) if node.type == "Mean" else 1.0
                sums.append((operands[node.inputs[0]], over, first + self.results.index(node.outputs[0]), divisor))
                continue
            if node.outputs[0] not in joins and (same := self._unchanged(node)) is not None:
                operands[node.outputs[0]] = operands[same]
                continue
            taken = [operands[v] for v in (node.inputs[:1] if over else node.inputs)]
            steps = self._steps(node, taken, count + len(instructions))
            instructions.extend(steps)
            places.extend([(-1, 0, 0, self._is_of_rows(node))] * (len(steps) - 1))
            places.append(place(node.outputs[0]))
            operands[node.outputs[0]] = count + len(instructions) - 1
        if self._over is not None:
            # Loops do not write over what they read: a block is copied when it is complete.
            _, *where = places.pop()
            places += [(-1, 0, 0, False), (self._over, *where)]  # type: ignore[list-item]
            last = count + len(instructions) - 1
            instructions.append(_instruction("_Copy", last))
        taken_from = [(tensor, offset, columns if stride is None else stride, spread) for tensor, offset, stride, spread in self._places]
        whole = all(stride == columns and not spread or (spread and not stride) for _, _, stride, spread in taken_from)
        whole = whole and all(not of_rows and (tensor < 0 or stride == columns) for tensor, _, stride, of_rows in places)
        if not by_row and whole and all(over == "all" for _, over, _, _ in sums):
            rows, columns = 1, rows * columns
        return ElementwiseChain(rows, columns, taken_from, self._constants, instructions, places, sums, self.truths)

    def _steps(self, node: Node, taken: list[int], result: int) -> list[Instruction]:
        """The instructions that compute a member, the first of which has the number `result`."""
        if node.type == "AddN":
            return _sum(taken, result)
        if node.type == "Pow" and (exponent := _number(node.inputs[1], self.dims)) in POWERS:
            first, *rest = POWERS[exponent]
            return [_instruction(first, taken[0]), *[_instruction(name, taken[0], result) for name in rest]]
        return [_instruction(node.type, *taken, *([self._operands[node]] if node in self._operands else []))]

    def _is_of_rows(self, node: Node) -> bool:
        """Whether a member gives one number for each row."""
        if over := summed(node, self.dims):
            return over == "rows"
        return node.type != "ConcatV2" and self._shape(node.outputs[0]) == numbers_of_rows(self.dims)

    def _unchanged(self, node: Node) -> Value | None:
        """What a member gives on as it is: a factor of one is what the gradients of sums begin with, a power of one those of squares.
        A truth is the number that it is cast to."""
        if node.type not in ("Cast", "Mul", "RealDiv", "Pow") or node.outputs[0] in self.results:
            return None
        if node.type == "Cast":
            return node.inputs[0]
        a, b = node.inputs
        kept = a if _number(b, self.dims) == 1.0 else b if node.type == "Mul" and _number(a, self.dims) == 1.0 else None
        return kept if kept is not None and self._shape(kept) == self._shape(node.outputs[0]) else None

    def _result_shape(self, node: Node, dims: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of what a member gives."""
        if node.type == "ConcatV2":
            return (*dims[:-1], _width(node.outputs[0]))
        if summed(node, self.dims):
            return _summed_shape(node, dims)
        return (*dims[:-1], 1) if self._is_of_rows(node) else dims

    def _for_shape(self, dims: tuple[int, ...]) -> Callable[..., Any]:
        """What computes tensors of this shape, written out: small ones take less time than loops over their inputs would."""
        inputs = [f"x{i}" for i in range(len(self.inputs))]
        results = [f"y{i}" for i in range(len(self.results))]
        lines = [f"if not {x}.is_contiguous(): {x} = {x}.contiguous()" for x in inputs]
        shapes = [self._result_shape(v.node, dims) for v in self.results]
        if self.shares_memory and len(results) > 1:
            lines.append(f"{', '.join(results)} = empty({(len(results), *dims)}).unbind()")
        else:
            # Like another tensor is sooner said than how large.
            truths = self.truths
            like = next((x for i, x in enumerate(inputs) if i not in truths and self.expected(i, dims) == dims), None)
            made = [
                f"empty({shape}, dtype=truth)" if i in truths else f"empty_like({like})" if like and shape == dims else f"empty({shape})"
                for i, shape in enumerate(shapes, len(inputs))
            ]
            if self._over is not None:
                results, made = [f"x{self._over}"], []
            lines += [f"{y} = {value}" for y, value in zip(results, made)]
        threads = "threads()" if math.prod(dims) * len(self.members) > LARGE else "1"
        lines.append(f"run({', '.join([threads, *(f'{t}.data_ptr()' for t in dict.fromkeys((*inputs, *results)))])})")
        lines.append(f"return {results[0]}" if len(results) == 1 else f"return [{', '.join(results)}]")
        names = {"run": self.native(dims).run, "threads": torch.get_num_threads, "empty": torch.empty, "empty_like": torch.empty_like}
        names["truth"] = torch.bool
        exec("\n ".join([f"def compute({', '.join(inputs)}):", *lines]), names)
        return names["compute"]

    def _one_by_one(self) -> Callable[..., Any]:
        """The same by the kernels of the nodes, for tensors that are elsewhere or do not fit."""
        members, inputs, results = self.members, self.inputs, self.results
        kernels = [kernel_of(node) for node in members]
        own = {v for node in members for v in node.outputs}
        outside = list(dict.fromkeys(v for node in members for v in node.inputs if v not in own))
        splits = list(dict.fromkeys(v.node for v in outside if v not in inputs and v.node.type == "Split"))
        constants = {v: v.node.context.constant(v.node) for v in (*outside, *(n.inputs[0] for n in splits)) if v.node.is_constant}
        for v in outside:
            if v not in constants and v not in inputs and (number := _number(v, self.dims)) is not None:
                constants[v] = torch.full(v.dims or (), number, dtype=torch_dtype(v.dtype))
        cut = [(node, kernel_of(node)) for node in splits]

        def run(*xs: Any) -> Any:
            known = {**constants, **dict(zip(inputs, xs))}
            for node, kernel in (*cut, *zip(members, kernels)):
                found = kernel(*[known[v] for v in node.inputs])
                known.update(zip(node.outputs, found) if len(node.outputs) > 1 else [(node.outputs[0], found)])
            return known[results[0]] if len(results) == 1 else [known[v] for v in results]

        return run


def _summed_shape(node: Node, dims: tuple[int, ...]) -> tuple[int, ...]:
    over, last = summed(node, dims), len(dims) - 1
    kept = [over != "all" and (i == last) == (over == "columns") for i in range(len(dims))]
    return tuple(size if keep else 1 for size, keep in zip(dims, kept) if keep or node.attr("keep_dims"))


def _tells_shape(place: tuple[int, int, int | None, bool]) -> bool:
    """Whether the shape of such an input is the chain's but for how wide a row is."""
    return place[2] != 0 and not place[3]


def _width(value: Value) -> int:
    """How many elements a row has."""
    assert value.dims is not None and value.dims[-1] is not None
    return value.dims[-1]


def _instruction(name: str, *operands: int) -> Instruction:
    a, b, c = (*operands, *operands[-1:] * (3 - len(operands)))
    return name, a, b, c


def _sum(operands: list[int], result: int) -> list[Instruction]:
    """The instructions that add operands up, the first of which has the number `result`."""
    total = operands[0]
    found = []
    for operand in operands[1:]:
        found.append(_instruction("Add", total, operand))
        total = result + len(found) - 1
    return found


def alone(node: Node) -> Chain | None:
    """A single op that gives a matrix as a chain. Sizes of inputs that are not known are taken to be those of the result."""
    dims = node.outputs[0].dims
    if dims is None or len(dims) != 2 or any(v.dtype is dtypes.bool for v in (*node.inputs, *node.outputs)):
        return None

    def shape(v: Value) -> Any:
        return dims if v.dims is not None and len(v.dims) == 2 and v.dims[0] is None and v.dims[1] in (None, dims[1]) else v.dims

    return Chain(dims, [node], [node.outputs[0]], False, shape) if is_elementwise(node, shape, dims) else None


def _by_rows(node: Node) -> list[Apply] | None:
    chain = node.attr("chain")
    return (
        None if chain.truths or any(summed(member, chain.dims) for member in chain.members) else [Apply(chain, node.inputs, node.outputs)]
    )


# Chains have few inputs of the size of their result.
MOST_OVER = 8


def _over(i: int, node: Node) -> Callable[..., Any] | None:
    return node.attr("chain").kernel_over(i)


fused_op(
    "_Elementwise",
    kernel=lambda node: node.attr("chain").kernel(),
    rows=_by_rows,
    fresh=True,
    over={i: functools.partial(_over, i) for i in range(MOST_OVER)},
)
