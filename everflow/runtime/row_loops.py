"""Loops whose bodies compute each row of a batch from that row alone, as recurrent networks do.

Such a body is cut into three. What knows nothing of the rows (counters, reads of sequences) runs first, for many iterations; native code
then takes the rows through them, each thread its own; what needs their results and gives nothing back (writes of sequences) runs last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.lazy import torch
from everflow.ops.core.node import Node, Value
from everflow.ops.core.rows import Apply, Choose, Copy, Fill, Instruction, Product, columns, operands
from everflow.ops.linalg.row_programs import Program, needed
from everflow.ops.math.elementwise_chains import alone
from everflow.runtime import codegen
from everflow.runtime.plan import Plan, fused, remade

# So many iterations are prepared and computed before the next: what they keep and how long they can't be cancelled is bounded.
MOST_STEPS = 512


class Cut:
    """A body in its three parts. `states` are the loop variables that are computed row by row, `late` those that are computed last."""

    def __init__(self, plan: Plan, carried: int) -> None:
        self.plan, self.carried = plan, carried
        self.rows = next((v.dims[0] for i, v in enumerate(plan.feeds[:carried]) if self._may_be_state(i) and v.dims), 0) or 0
        self.fixed = {v for i, v in enumerate(plan.feeds[:carried]) if plan.fetches[i] is v} | set(plan.fed_ahead)
        for node in plan.nodes:
            if (
                node.is_constant
                or not node.is_feed
                and not node.has_effects
                and not node.reads
                and all(v in self.fixed for v in node.inputs)
            ):
                self.fixed.update(node.outputs)
        self.instructions = {node: found for node in plan.nodes if self.rows and (found := self._by_rows(node))}
        self.given = {v for found in self.instructions.values() for one in found for v in operands(one)[1]}
        self.states: set[int] = set()
        self.late: set[int] = set()
        self.before: list[Node] = []
        self.after: list[Node] = []
        self.fits = bool(self.instructions) and self._settle() and self._keeps_order()

    def _may_be_state(self, i: int) -> bool:
        before, after = self.plan.feeds[i], self.plan.fetches[i]
        return before is not after and before.dtype is dtypes.float32 and len(before.dims or ()) == 2 and None not in (before.dims or ())

    def _by_rows(self, node: Node) -> list[Instruction] | None:
        """The instructions that compute a node row by row, if that can be."""
        if node.is_feed or node.reads or node.has_effects or any(v in self.fixed for v in node.outputs):
            return None
        if any(v.dtype is not dtypes.float32 or v.dims is None or len(v.dims) != 2 or v.dims[0] != self.rows for v in node.outputs):
            return None
        meaning = node.meaning
        found: list[Instruction] | None = None
        if meaning is not None and meaning.rows is not None:
            found = meaning.rows(node)
        elif len(node.outputs) == 1:
            chain = alone(_plain(node))
            found = None if chain is None else [Apply(chain, chain.inputs, node.outputs)]
        return found if found and all(map(self._is_possible, found)) else None

    def _is_possible(self, one: Instruction) -> bool:
        if isinstance(one, Apply):
            return len(one.chain.dims) == 2 and shapes.is_fully_defined(one.chain.dims)
        if isinstance(one, Copy):
            return self._has_rows(one.source) and self._has_rows(one.to)
        if isinstance(one, Choose):
            return all(map(self._has_rows, (one.one, one.other, one.to))) and one.condition.dims in ((None,), (self.rows,))
        if isinstance(one, Fill):
            return self._has_rows(one.to)
        matrix = one.matrix.dims
        if one.matrix not in self.fixed or matrix is None or None in matrix:
            return False
        if not self._has_rows(one.a) or not self._has_rows(one.c) or len(matrix) != 2 or matrix[one.turned] != columns(one.a):
            return False
        return one.bias is None or (one.bias in self.fixed and one.bias.dims == (columns(one.c),))

    def _has_rows(self, value: Value) -> bool:
        dims = value.dims
        return dims is not None and len(dims) == 2 and dims[0] in (None, self.rows) and bool(dims[1])

    def _settle(self) -> bool:
        """Finds out which loop variables are computed when. False where rows need what is computed after them."""
        plan = self.plan
        while True:
            rows = self.given | {plan.feeds[i] for i in self.states}
            behind = {plan.feeds[i] for i in self.late}
            self.before, self.after = [], []
            for node in plan.nodes:
                if node in self.instructions:
                    if any(v in behind for v in node.inputs):
                        return False
                elif any(v in rows or v in behind for v in node.inputs):
                    self.after.append(node)
                    behind.update(node.outputs)
                else:
                    self.before.append(node)
            states = {i for i in range(self.carried) if plan.fetches[i] in rows}
            late = {i for i in range(self.carried) if plan.fetches[i] in behind}
            if (states, late) == (self.states, self.late):
                break
            self.states, self.late = states, late
        # A variable that takes another's value of before would need that one's value of two iterations ago. And two that become the same
        # differ at first.
        found = {plan.fetches[i] for i in states}
        if not states or len(found) < len(states) or not found <= self.given:
            return False
        return all(plan.feeds[i].dims == plan.fetches[i].dims for i in states)

    def _keeps_order(self) -> bool:
        """Whether nobody can tell that what comes before the rows is done for many iterations at once."""
        acting = [n for n in (*self.before, *self.after) if n.reads or (n.has_effects and not n.is_feed)]
        if not all(n.type.startswith("TensorArray") and not n.reads for n in acting):
            return False
        read, written = ({_array_of(n) for n in acting if n in part and "Grad" not in n.type} for part in (self.before, self.after))
        self.arrays = [(a, b) for a in read for b in written]
        return all(a in self.plan.feeds[: self.carried] for a in read | written) and not read & written


def _plain(node: Node) -> Node:
    """The node, or one in its place that does not write over its input."""
    if node.fused is None or node.op is None or node.type != f"_{node.op.type}Over":
        return node
    found = remade(node, node.inputs)
    found.type, found.outputs = node.op.type, node.outputs
    return found


def _array_of(node: Node) -> Value:
    """The handle of the array that a node reads or writes, or of that whose gradient it is."""
    handle = node.inputs[0]
    while handle.node.inputs and (handle.node.is_identity or handle.node.type.startswith("TensorArrayGrad")):
        handle = handle.node.inputs[0]
    return handle


def _has_many(node: Node) -> bool:
    """Whether a node can do its work of many iterations at once."""
    return node.meaning is not None and bool(node.meaning.many) and not any(v.node.is_constant for v in node.inputs[1:-1])


def _of_many(node: Node) -> Node:
    """The node that does the same in many iterations at once."""
    assert node.meaning is not None
    found = fused(node.meaning.many, node, node.inputs)
    found.outputs = node.outputs
    return found


class Part:
    """Some nodes of a body as a step of their own. `many`: of those that do their work of many iterations at once."""

    def __init__(self, plan: Plan, nodes: Sequence[Node], results: set[Value], many: bool = False) -> None:
        inside = {v for n in nodes for v in n.outputs if not n.is_feed}
        self.takes = [v for v in dict.fromkeys(v for n in nodes for v in n.inputs if not v.node.is_constant) if v not in inside]
        self.gives = [v for n in nodes for v in n.outputs if v in inside and v in results]
        part = Plan(plan.context)
        part.is_body = True
        part.feeds, part.fetches = self.takes, self.gives
        part.nodes = [n for n in plan.nodes if n.is_feed and n.outputs[0] in self.takes or n.is_constant or n in nodes and not n.is_feed]
        if many:
            part.nodes = [_of_many(n) if n in nodes else n for n in part.nodes]
        self.nodes = nodes
        # What is taken of each iteration.
        self.lists = {v for n in nodes for v in n.inputs[1:-1]}
        self.step = codegen.generate(part)
        self.call = self.step.call


class RowBody:
    """A body that runs row by row: its instructions, and where what they work on comes from."""

    def __init__(self, cut: Cut) -> None:
        plan = self.plan = cut.plan
        self.rows, self.carried = cut.rows, cut.carried
        self.feeds = {v: i for i, v in enumerate(plan.feeds)}
        self.states = {i: plan.fetches[i] for i in sorted(cut.states)}
        self.late = {i: plan.fetches[i] for i in sorted(cut.late)}
        self.arrays = [(self.feeds[a], self.feeds[b]) for a, b in cut.arrays]
        asked = {*plan.fetches, *(v for n in cut.after for v in n.inputs)}
        instructions = needed([one for node in plan.nodes for one in cut.instructions.get(node, ())], asked)
        taken = {v for one in instructions for v in (*operands(one)[0], *([one.matrix] if isinstance(one, Product) else []))}
        reads = self._reads(cut)
        self.reads = Part(plan, reads, asked | taken, many=True)
        self.before = Part(plan, [n for n in cut.before if n not in reads], asked | taken | set(self.reads.takes))
        self.writes_many = self._writes_many(cut)
        self.after = Part(plan, cut.after, set(plan.fetches), self.writes_many)
        # Lists of which these, or loop variables, take items are taken from item by item.
        self.one_by_one = {*self.before.takes, *self.reads.takes, *self.after.takes, *plan.fetches[: self.carried]}
        self.whole = Part(plan, [n for n in plan.nodes if n in cut.instructions or n in cut.after], {*plan.fetches, *self.states.values()})
        self.takes = [self.feeds[v] for v in self.before.takes]
        # Loop variables that change before the rows: to what the first part gives, or to what another one was.
        self.moved = [
            (i, v in self.feeds, self.feeds[v] if v in self.feeds else self.before.gives.index(v))
            for i, v in enumerate(plan.fetches[: self.carried])
            if v is not plan.feeds[i] and i not in cut.states and i not in cut.late
        ]
        # What is asked for of each iteration, and not only of the last.
        each = {*plan.fetches[self.carried :], *self.after.takes}
        self.kept = {v for v in cut.given if v in each} | {v for i, v in self.states.items() if plan.feeds[i] in each}
        self.fixed = cut.fixed
        self.program = Program(self.rows, instructions)

    def may_take(self, values: Sequence[Any]) -> bool:
        """Whether these loop variables can be taken through iterations here."""
        if any(values[a] is values[b] for a, b in self.arrays):
            return False
        return all(values[i].shape == v.dims and values[i].is_cpu for i, v in self.states.items())

    def _reads(self, cut: Cut) -> list[Node]:
        """What reads arrays before the rows, and only rows and what comes after them use: it can be read for all iterations at once."""
        used = {v for n in cut.before for v in n.inputs} | set(cut.plan.fetches[: self.carried])
        return [n for n in cut.before if _has_many(n) and _array_of(n) in cut.fixed and not used & set(n.outputs)]

    def _writes_many(self, cut: Cut) -> bool:
        """Whether what comes after the rows writes arrays and does nothing else: it can be written for all iterations at once."""
        flows = {cut.plan.feeds[i] for i in cut.late} | {v for n in cut.after for v in n.outputs}
        asked = set(cut.plan.fetches[self.carried :])
        return not flows & asked and all(_has_many(n) and n.inputs[0] in cut.fixed and not flows & set(n.inputs[:-1]) for n in cut.after)

    def takes_whole(self, i: int) -> bool:
        """Whether nobody takes items one by one from a list that is left to the iterations."""
        return self.plan.feeds[self.carried + i] not in self.one_by_one

    def located(self, where: Any) -> Node | None:
        """The node in which an exception began."""
        parts = (self.before, self.reads, self.after, self.whole)
        return next((node for part in parts if (node := part.step.culprit(where)) is not None), None)


class Iterations:
    """Some iterations of one run of a row body, with what each of them takes and gives.

    What is kept of them lies in memory one after the other; where lists are taken from at their ends, in the order of these lists.
    """

    def __init__(self, body: RowBody, values: list[Any], left: list[Any], ahead: Sequence[Any]) -> None:
        self.body, self.values, self.left, self.ahead = body, values, left, ahead
        # What is there for all iterations, in memory's order: first, what is taken of lists that nobody takes item by item.
        self.kept: dict[Value, Any] = {}
        self.cutting = [i for i, items in enumerate(left) if not isinstance(items, list)]
        self.is_backward = bool(self.cutting)
        self.popping = [(body.carried + i, items) for i, items in enumerate(left) if isinstance(items, list)]
        self.initial = {v: values[i].contiguous() for i, v in body.states.items()}
        self.fed: list[list[Any]] = []
        self.found: list[tuple[Any, ...]] = []
        self.columns: dict[Value, list[Any]] = {}
        self.steps = 0

    def gather(self, goes_on: Callable[[list[Any]], Any]) -> bool:
        """Runs what comes before the rows; False where there are no more iterations."""
        values, fed, found, popping = self.values, self.fed, self.found, self.popping
        before, takes, moved = self.body.before.call, self.body.takes, self.body.moved
        room = [*[None] * len(self.left), *self.ahead]
        while len(fed) < MOST_STEPS and goes_on(values):
            now = [*values, *room]
            for i, items in popping:
                if not items:
                    raise _nothing_left()
                now[i] = items.pop()
            got = before(*[now[i] for i in takes])
            fed.append(now)
            found.append(got)
            for i, is_fed, k in moved:
                values[i] = now[k] if is_fed else got[k]
        steps = self.steps = len(fed)
        for i in self.cutting if steps else ():
            whole = self.left[i]
            if len(whole) < steps:
                raise _nothing_left()
            self.left[i], self.kept[self.body.plan.feeds[self.body.carried + i]] = whole.split((len(whole) - steps, steps))
        if steps and self.body.reads.step.calls:
            self._read()
        return bool(steps)

    def _read(self) -> None:
        """Reads arrays for all iterations."""
        reads = self.body.reads
        given = [self._of_all(v, reads) for v in reads.takes]
        for v, found in zip(reads.gives, reads.call(*given)):
            if isinstance(found, list):
                self.columns[v] = found
                continue
            index = self.items(next(n for n in reads.nodes if v in n.outputs).inputs[1])
            if (index[0] > index[-1]) == self.is_backward or self.steps == 1:
                self.kept[v] = found
            else:
                rows = list(found.unbind())
                self.columns[v] = rows[::-1] if index[0] > index[-1] else rows

    def _of_all(self, value: Value, part: Part) -> Any:
        """What nodes that do their work of many iterations at once take."""
        if value not in part.lists:
            return self.items(value)[0]
        return self.items(value) if self.is_backward or value not in self.kept else self.kept[value]

    def run(self) -> None:
        """Computes the rows and what comes after them."""
        body, values = self.body, self.values
        pitches: list[tuple[int, int]] = []
        table, memory = self._table(pitches)
        if table is None:
            # What came has other shapes than those that the instructions are for: the same by the kernels of the nodes.
            self._run_part(body.whole, {**body.states, **body.late})
            return
        body.program.run(self.steps, table, pitches, self._fixed)
        for i, v in body.states.items():
            values[i] = self.kept[v][0 if self.is_backward else -1].clone() if v in self.kept else memory[v][(self.steps - 1) % 2]
        if body.after.step.calls:
            (self._write if body.writes_many else self._run_part)(body.after, body.late)

    def _write(self, part: Part, changing: dict[int, Value]) -> None:
        """Writes arrays for all iterations."""
        values = self.values
        before = {self.body.plan.feeds[i]: i for i in changing}
        got = part.call(*[values[before[v]] if v in before else self._of_all(v, part) for v in part.takes])
        for i, v in changing.items():
            values[i] = got[part.gives.index(v)]

    def _run_part(self, part: Part, changing: dict[int, Value]) -> None:
        """Runs some nodes in all iterations; loop variables that they change come from the iteration before."""
        values, feeds = self.values, self.body.plan.feeds
        before = {feeds[i]: i for i in changing}
        taken = [(before.get(v), [] if v in before else self.items(v)) for v in part.takes]
        later = [(i, part.gives.index(v)) for i, v in changing.items()]
        seen: list[list[Any]] = [[] for _ in before]
        given: list[list[Any]] = [[] for _ in part.gives]
        for step in range(self.steps):
            for column, i in zip(seen, changing):
                column.append(values[i])
            got = part.call(*[column[step] if i is None else values[i] for i, column in taken])
            for i, k in later:
                values[i] = got[k]
            for column, value in zip(given, got):
                column.append(value)
        self.columns.update(zip(before, seen))
        self.columns.update(zip(part.gives, given))

    def _table(self, pitches: list[tuple[int, int]]) -> tuple[Any, dict[Value, Any]]:
        """The address of each slot in each iteration, and the memory there; no table where something has another shape than expected.
        Adds how far apart rows are where they don't follow each other."""
        body, steps, kept = self.body, self.steps, dict(self.kept)
        program, slots = body.program, body.program.slots
        turns = np.arange(steps, dtype=np.uint64)
        order = turns[::-1] if self.is_backward else turns
        states = {v: body.plan.feeds[i] for i, v in body.states.items()}
        memory: dict[Value, Any] = {}
        addresses: dict[Value, Any] = {}

        def lie(v: Value, at: Any) -> None:
            addresses[v] = np.uint64(memory[v].data_ptr()) + at * np.uint64(memory[v].element_size() * memory[v].stride(0))

        for v in program.results:
            dims = slots[v]
            if v not in body.kept:
                memory[v] = torch.empty((2 if v in states else 1, *dims))
                lie(v, turns % np.uint64(len(memory[v])))
                continue
            room = torch.empty((steps + (v in states), *dims))
            if v in states:
                # What a state was at first goes with what it becomes.
                before, after = (room[1:], room[:-1]) if self.is_backward else (room[:-1], room[1:])
                before[-1 if self.is_backward else 0].copy_(self.initial[v])
                kept[states[v]], room = before, after
            memory[v] = kept[v] = room
            lie(v, order)
        for v, dims in slots.items():
            if v in addresses:
                continue
            if v in kept:
                if tuple(kept[v].shape[1:]) != dims:
                    return None, memory
                pitch = program.pitch(v, kept[v][0])
                memory[v] = kept[v].contiguous() if pitch is None else kept[v]
                if pitch is not None:
                    pitches.append((program.places[v], pitch))
                lie(v, order)
            elif (i := body.feeds.get(v)) is not None and i in body.states:
                first = self.initial[body.states[i]]
                addresses[v] = [first.data_ptr(), *addresses[body.states[i]][:-1]]
            elif v in body.fixed:
                memory[v] = self._fixed(v).contiguous()
                if tuple(memory[v].shape) != dims:
                    return None, memory
                addresses[v] = memory[v].data_ptr()
            else:
                found = self.items(v)
                if any(x.shape != dims for x in found):
                    return None, memory
                apart = {program.pitch(v, x) for x in found}
                if len(apart) == 1 and (pitch := apart.pop()) is not None:
                    memory[v] = found
                    pitches.append((program.places[v], pitch))
                else:
                    memory[v] = [x.contiguous() for x in found]
                addresses[v] = [x.data_ptr() for x in memory[v]]
        table = np.empty((len(slots), steps), np.uint64)
        for k, v in enumerate(slots):
            table[k] = addresses[v]
        self.kept = kept
        return table, memory

    def _fixed(self, value: Value) -> Any:
        """What stays the same in all iterations."""
        if value.node.is_constant:
            return value.node.context.constant(value.node)
        i = self.body.feeds.get(value)
        return self.found[0][self.body.before.gives.index(value)] if i is None else self.fed[0][i]

    def items(self, value: Value) -> list[Any]:
        """What a value is in each iteration."""
        found = self.columns.get(value)
        if found is None:
            found = self.columns[value] = self._items(value)
        return found

    def _items(self, value: Value) -> list[Any]:
        body = self.body
        if value in self.kept:
            found = list(self.kept[value].unbind())
            return found[::-1] if self.is_backward else found
        if value in body.feeds:
            i = body.feeds[value]
            return [now[i] for now in self.fed]
        k = body.before.gives.index(value)
        return [got[k] for got in self.found]

    def whole(self, value: Value) -> Any:
        """The tensor whose rows are what a value is in each iteration; None where there is no such."""
        return None if self.is_backward else self.kept.get(value)

    def joined(self, value: Value) -> Any:
        """What a value is in all iterations, one below the other, in memory's order."""
        if value in self.kept:
            return self.kept[value].flatten(0, 1)
        found = self.items(value)
        return torch.cat(found[::-1] if self.is_backward else found)


def _nothing_left() -> Exception:
    return invalid_argument("Trying to pop from an empty list.")


def rows_in(plan: Plan, condition: Plan, carried: int) -> RowBody | None:
    """The body of a loop as one that runs row by row, where it is such a body, and whether to go on does not depend on the rows."""
    cut = Cut(plan, carried)
    if not cut.fits:
        return None
    looked_at = {v for n in condition.nodes for v in n.inputs} | set(condition.fetches)
    return None if any(condition.feeds[i] in looked_at for i in cut.states | cut.late) else RowBody(cut)
