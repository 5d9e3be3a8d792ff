"""Instructions on the rows of matrices as programs of native code; see everflow.ops.core.rows.

A thread takes its rows through all instructions, and waits for nobody.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from everflow._native import RowLoop
from everflow.graph import dtypes
from everflow.lazy import torch
from everflow.ops.core.node import Node, Value, kernel_of
from everflow.ops.core.registry import fused_op
from everflow.ops.core.rows import Apply, Choose, Copy, Fill, Instruction, Product, columns, operands, row_operands

# What takes more multiplications than this is shared among threads.
LARGE = 1 << 18
# So many numbers of rows are remembered.
MOST_SHAPES = 16


class Program:
    """Instructions for so many rows. What they work on has slots, each with the shape that must come there."""

    def __init__(self, rows: int, instructions: Sequence[Instruction]) -> None:
        self.slots: dict[Value, tuple[int, ...]] = {}
        self.results: list[Value] = []
        self.matrices: dict[tuple[Value, bool, int, int], int] = {}
        # How many multiplications there are.
        self.work = 0
        for one in instructions:
            takes, gives = operands(one)
            if isinstance(one, Apply):
                for i, v in enumerate(takes):
                    self.slots.setdefault(v, one.chain.expected(i, (rows, one.chain.dims[1])))
            for v in (*takes, *gives):
                if v.dtype is dtypes.bool:
                    self.slots.setdefault(v, (rows,))
                self.slots.setdefault(v, v.dims if len(v.dims or ()) == 1 else (rows, columns(v)))  # type: ignore[arg-type]
            self.results.extend(v for v in gives if v not in self.results)
        # Rows of what comes from elsewhere may lie apart.
        self._loose = {v for one in instructions for v in row_operands(one)} - set(self.results)
        self.places = {v: i for i, v in enumerate(self.slots)}
        self._native = RowLoop(rows, [dims[-1] if dims else 1 for dims in self.slots.values()])
        for one in instructions:
            self._add(rows, one)

    def _add(self, rows: int, one: Instruction) -> None:
        native, places = self._native, self.places
        if isinstance(one, Product):
            depth, width = columns(one.a) or 0, columns(one.c) or 0
            self.work += rows * depth * width
            matrix = self.matrices.setdefault((one.matrix, one.turned, one.start, width), len(self.matrices))
            native.multiply(places[one.a], matrix, -1 if one.bias is None else places[one.bias], places[one.c], one.adds)
        elif isinstance(one, Copy):
            native.copy(places[one.source], one.source_column, places[one.to], one.to_column, one.width)
        elif isinstance(one, Choose):
            native.choose(places[one.condition], places[one.one], places[one.other], places[one.to])
        elif isinstance(one, Fill):
            native.fill(places[one.to], one.number)
        else:
            chain = one.chain.native((rows, one.chain.dims[1]), by_row=True)
            native.apply(chain, [places[v] for v in (*one.inputs, *one.results)])

    def pitch(self, value: Value, x: Any) -> int | None:
        """How far apart the rows of a tensor are, where it can be taken as it is."""
        if x.is_contiguous():
            return x.shape[-1] if x.dim() else 1
        return x.stride(0) if value in self._loose and x.stride(1) == 1 else None

    def run(self, steps: int, table: Any, pitches: list[tuple[int, int]], find: Callable[[Value], Any]) -> None:
        """Runs the instructions so many times on what an array of addresses names, which the caller keeps alive: a row of it for each slot,
        an address for each time. `pitches`: (slot, how far apart its rows are) where they lie apart. `find` gives matrices."""
        matrices = []
        for matrix, turned, start, _ in self.matrices:
            x = find(matrix)
            down, right = (x.stride(1), x.stride(0)) if turned else (x.stride(0), x.stride(1))
            matrices.append((x.data_ptr() + 4 * start * right, down, right))
        threads = torch.get_num_threads() if self.work * steps > LARGE else 1
        self._native.run(threads, steps, table.ctypes.data, matrices, pitches)


def needed(instructions: Sequence[Instruction], asked: set[Value]) -> list[Instruction]:
    """Those whose results are asked for, or taken by such as are."""
    found, asked = [], set(asked)
    for one in reversed(instructions):
        takes, gives = operands(one)
        if any(v in asked for v in gives):
            found.append(one)
            asked.update(takes)
    return found[::-1]


class Region:
    """Nodes that compute rows, as one program. `piles` are the results that others use: those of a pile have one shape, and come to lie
    in memory one below the other."""

    def __init__(self, members: list[Node], instructions: Sequence[Instruction], piles: list[list[Value]]) -> None:
        self.members, self.piles = members, piles
        self.results = [v for pile in piles for v in pile]
        self.instructions = needed(instructions, set(self.results))
        given = {v for node in members for v in node.outputs}
        taken = dict.fromkeys(v for node in members for v in node.inputs if v not in given)
        self.constants = [v for v in taken if v.node.is_constant]
        self.inputs = [v for v in taken if not v.node.is_constant]
        rows = {v for one in self.instructions for v in row_operands(one)}
        # The input that tells how many rows there are.
        self.leader = next((i for i, v in enumerate(self.inputs) if v in rows), None)

    def kernel(self) -> Callable[..., Any]:
        """What computes all members: natively for the shapes that they are meant for, else node by node."""
        ready: dict[Any, Any] = {}
        one_by_one, leader = self._one_by_one(), self.leader
        constants = {v: v.node.context.constant(v.node) for v in self.constants}

        def prepared(shapes: Any) -> Any:
            rows = shapes[leader][0] if shapes[leader] else 0
            program = Program(rows, self.instructions) if rows else None
            return None if program is None or not self._fits(program, shapes, constants) else self._for_program(program, constants)

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

    def _fits(self, program: Program, shapes: Sequence[Any], constants: dict[Value, Any]) -> bool:
        """Whether these are the shapes of inputs that the program takes."""
        came = [*zip(self.inputs, shapes), *((v, x.shape) for v, x in constants.items())]
        matrices = {matrix for matrix, *_ in program.matrices}
        return all(tuple(shape) == program.slots[v] for v, shape in came if v in program.slots) and all(
            tuple(shape) == v.dims for v, shape in came if v in matrices
        )

    def _for_program(self, program: Program, constants: dict[Value, Any]) -> Callable[..., Any]:
        slots, places = program.slots, program.places
        inputs = {v: i for i, v in enumerate(self.inputs)}
        taken = [(places[v], v, inputs[v]) for v in slots if v in inputs]
        fixed = [(places[v], x.contiguous()) for v, x in constants.items() if v in slots]
        piles = [
            (
                (len(pile), *slots[pile[0]]),
                np.array([places[v] for v in pile]),
                np.arange(len(pile), dtype=np.uint64) * np.uint64(4 * math.prod(slots[pile[0]])),
            )
            for pile in self.piles
        ]
        room, between = self._between(slots)
        inside = np.array([places[v] for v in between], dtype=np.intp)
        offsets = np.array(list(between.values()), dtype=np.uint64) * np.uint64(4)

        def compute(*xs: Any) -> Any:
            table = np.empty(len(slots), np.uint64)
            pitches, held, found = [], [], []
            for slot, v, i in taken:
                x = xs[i]
                if not x.is_contiguous():
                    pitch = program.pitch(v, x)
                    if pitch is None:
                        x = x.contiguous()
                        held.append(x)
                    else:
                        pitches.append((slot, pitch))
                table[slot] = x.data_ptr()
            for slot, x in fixed:
                table[slot] = x.data_ptr()
            memory = torch.empty(room)
            table[inside] = np.uint64(memory.data_ptr()) + offsets
            for dims, at, distances in piles:
                pile = torch.empty(dims)
                table[at] = np.uint64(pile.data_ptr()) + distances
                found.extend(pile.unbind())
            program.run(1, table, pitches, lambda v: xs[inputs[v]] if v in inputs else constants[v])
            return found if len(found) > 1 else found[0]

        return compute

    def _between(self, slots: dict[Value, tuple[int, ...]]) -> tuple[int, dict[Value, int]]:
        """Where in a piece of memory what only the members use comes to lie, and how large that is: what is needed no more makes room."""
        outside = {*self.results, *self.inputs, *self.constants}
        last = {v: k for k, one in enumerate(self.instructions) for part in operands(one) for v in part if v not in outside}
        found: dict[Value, int] = {}
        free: dict[int, list[int]] = {}
        room = 0
        for k, one in enumerate(self.instructions):
            takes, gives = operands(one)
            for v in gives:
                if v in last and v not in found:
                    # Whole lines of the cache.
                    size = -(-math.prod(slots[v]) // 16) * 16
                    if free.get(size):
                        found[v] = free[size].pop()
                    else:
                        found[v] = room
                        room += size
            for v in dict.fromkeys((*takes, *gives)):
                if last.get(v) == k:
                    free.setdefault(-(-math.prod(slots[v]) // 16) * 16, []).append(found[v])
        return room, found

    def _one_by_one(self) -> Callable[..., Any]:
        """The same by the kernels of the nodes. What is a view of an input is copied: the program would have done so."""
        calls = [(node, kernel_of(node)) for node in self.members]
        constants = {v: v.node.context.constant(v.node) for v in self.constants}
        last = {v: node for node in self.members for v in node.inputs}
        dropped = {node: [v for v in dict.fromkeys(node.inputs) if last[v] is node and v not in self.results] for node in self.members}

        def run(*xs: Any) -> Any:
            known = {**constants, **dict(zip(self.inputs, xs))}
            for node, kernel in calls:
                found = kernel(*[known[v] for v in node.inputs])
                known.update(zip(node.outputs, found) if len(node.outputs) > 1 else [(node.outputs[0], found)])
                for v in dropped[node]:
                    del known[v]
            given = {x.untyped_storage().data_ptr() for x in xs}
            results = [x.clone() if x.untyped_storage().data_ptr() in given else x for x in (known[v] for v in self.results)]
            return results if len(results) > 1 else results[0]

        return run


fused_op("_RowProgram", kernel=lambda node: node.attr("region").kernel())
