"""Plans of graphs with control flow of version 1: Switch and Merge, and frames of loops.

A Switch costs nothing: its outputs are its input, and what depends on them runs only while the tokens of its life are alive. A
conditional is a chain of such nodes that ends in a Merge. A frame is one node, which runs its body as long as it asks for it.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from typing import Any

from everflow import errors
from everflow.errors import invalid_argument
from everflow.graph import dtypes
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.lazy import torch
from everflow.ops.control_flow.bodies import truth
from everflow.ops.control_flow.frame_bodies import Loop, Rounds, as_loop, as_rounds
from everflow.ops.control_flow.frame_lives import Frame, Life, Lives, Token, complement, frames_of
from everflow.ops.control_flow.frame_op_types import EXITS, IDENTITY, MANY_WAYS, MERGES, SWITCHES
from everflow.ops.core.node import kernel_of
from everflow.ops.core.registry import Meaning, kind_of
from everflow.runtime.plan import Node, Plan, Value, reads_of


class Dead:
    """Stands where a value is dead; reading or copying it leaves it dead."""

    def read(self) -> Dead:
        return self

    clone = copy = read

    def __repr__(self) -> str:
        return "DEAD"


DEAD = Dead()


def add_nodes(
    plan: Plan, order: list[Operation], values: dict[Tensor, Value], fetches: list[Tensor], body_of_frame: str | None
) -> dict[Operation, Node]:
    """Adds the nodes of a graph with version 1 control flow; fetches of dead values fail, or are DEAD where the body of
    a frame hands them on."""
    builder = _Builder(plan, values, body_of_frame is not None)
    if body_of_frame == "rounds":
        for t in list(values):
            builder.lives.tensors[t] = frozenset((Token(t, None),))
    for unit in in_order(order, values):
        if isinstance(unit, Frame):
            builder.add_frame(unit)
        else:
            builder.add(unit)
    plan.fetches = [builder.fetched(t, i) for i, t in enumerate(fetches)]
    return builder.nodes


def in_order(order: list[Operation], fed: Any) -> list[Operation | Frame]:
    """The ops outside of frames and the outermost frames, in the order of creation wherever edges allow it."""
    home = frames_of(order, fed)

    def unit_of(op: Operation) -> Operation | Frame:
        if op.type in EXITS and op not in home:
            return exits_of[op]
        return home[op].outermost if op in home else op

    exits_of = {e: f for f in {h.outermost for h in home.values()} for e in f.exits}
    units: dict[Operation | Frame, set[Any]] = {}
    number: dict[Operation | Frame, int] = {}
    for op in order:
        unit = unit_of(op)
        before = units.setdefault(unit, set())
        number[unit] = min(number.get(unit, op._id), op._id)
        for b in (*(t.op for t in op.inputs if t not in fed), *op.control_inputs):
            other = unit_of(b)
            if other is not unit:
                before.add(other)
    after: dict[Any, list[Any]] = {}
    waiting = {}
    for unit, before in units.items():
        waiting[unit] = len(before)
        for b in before:
            after.setdefault(b, []).append(unit)
    serial = {unit: i for i, unit in enumerate(units)}
    ready = [(number[u], serial[u], u) for u, n in waiting.items() if not n]
    heapq.heapify(ready)
    found: list[Operation | Frame] = []
    while ready:
        unit = heapq.heappop(ready)[2]
        found.append(unit)
        for a in after.get(unit, ()):
            waiting[a] -= 1
            if not waiting[a]:
                heapq.heappush(ready, (number[a], serial[a], a))
    if len(found) < len(units):
        raise errors.InvalidArgumentError(None, None, f"Graph is invalid, contains a cycle with {len(units) - len(found)} nodes")
    return found


class _Builder:
    """Makes the nodes of a plan, each guarded by the tokens of its life."""

    def __init__(self, plan: Plan, values: dict[Tensor, Value], in_frame: bool) -> None:
        self.plan = plan
        self.in_frame = in_frame
        self.values = values
        self.nodes: dict[Operation, Node] = {}
        self.lives = Lives(frozenset(values))
        self._tokens: dict[Token, Value] = {}

    def add(self, op: Operation) -> None:
        life = self.lives.add(op)
        if op.type in SWITCHES:
            data = self.values[op.inputs[0]] if op.op_def_.takes_refs else self._plain(op, op.inputs[0], life)
            for t in op.outputs:
                self.values.setdefault(t, data)
            return
        if op.type in MERGES:
            self._add_merge(op, life)
            return
        if op.type == MANY_WAYS:
            data, index = self._plain(op, op.inputs[0], life), self.values[op.inputs[1]]
            node = made("_Ways", lambda n: ways(len(op.outputs)), op, self.plan.context, [data, index])
            node.fused.view, node.fused.folds = True, False  # type: ignore[union-attr]
            self._place(node, op, op.outputs, life)
            return
        if life and kind_of(op.type) == "nothing":
            return
        node = Node(op.type, op.name, op.attrs, [self.values[t] for t in op.inputs], op, self.plan.context)
        self._place(node, op, op.outputs, life)

    def _place(self, node: Node, op: Operation, outputs: list[Tensor], life: Life) -> None:
        for t in outputs:
            value = node.add_output(t.dtype, t.dims)
            self.values.setdefault(t, value)
        node.reads = reads_of(op, node)
        if life and not _is_there_anyway(node):
            node = guarded(node, self._tokens_of(life))
        self.plan.nodes.append(node)
        self.nodes[op] = node

    def _plain(self, op: Operation, tensor: Tensor, life: Life) -> Value:
        """A value for an op that takes no reference: of a variable, what is read of it then."""
        value = self.values[tensor]
        if not value.dtype._is_ref_dtype:
            return value
        node = Node(IDENTITY, op.name, {"T": value.dtype.base_dtype}, [value], op, self.plan.context)
        node.reads = frozenset((0,))
        found = node.add_output(value.dtype.base_dtype, value.dims)
        self.plan.nodes.append(guarded(node, self._tokens_of(life)) if life else node)
        return found

    def _tokens_of(self, life: Life) -> list[Value]:
        return [self._token(t) for t in sorted(life, key=_token_order)]

    def _token(self, token: Token) -> Value:
        """The value that is DEAD where a token is."""
        if token.branch is None:
            return self.values[token.tensor]
        found = self._tokens.get(token)
        if found is None:
            pred = self.values[token.tensor]
            node = made("_Branches", lambda n: _branches, token.tensor.op, self.plan.context, [pred])
            for branch in (False, True):
                # What is not a number is left alone by all passes.
                self._tokens[Token(token.tensor, branch)] = node.add_output(dtypes.resource, ())
            life = self.lives.of([token.tensor])
            self.plan.nodes.append(guarded(node, self._tokens_of(life)) if life else node)
            found = self._tokens[token]
        return found

    def _add_merge(self, op: Operation, life: Life) -> None:
        """A choice by the token on which the two inputs differ, or else of the first input that is alive."""
        lives = [self.lives.of([t]) for t in op.inputs]
        inputs = [self.values[t] if op.op_def_.takes_refs else self._plain(op, t, a) for t, a in zip(op.inputs, lives)]
        pair = complement(*lives)
        context = self.plan.context
        if pair is None:
            tokens = [self._tokens_of(v) for v in lives]
            flat = [t for group in tokens for t in group]
            node = made("_Merge", _first_alive(len(inputs), [len(group) for group in tokens]), op, context, [*inputs, *flat])
        elif pair[1] is None:
            alive = next((i for i, v in enumerate(lives) if not v), 0)
            node = made("_Merge", _fixed(alive), op, context, [inputs[alive]])
        else:
            node = made("_Merge", lambda n: _chosen, op, context, [*inputs, self._token(pair[1])])
        node.fused.view = True  # type: ignore[union-attr]
        for t in op.outputs:
            self.values.setdefault(t, node.add_output(t.dtype, t.dims))
        if pair is not None and life:
            node = guarded(node, self._tokens_of(life))
        self.plan.nodes.append(node)
        self.nodes[op] = node

    def add_frame(self, frame: Frame) -> None:
        """One node for all ops of a frame, and of the frames inside it."""
        lives = self.lives
        life = lives.of(t for e in frame.enters for t in e.inputs)
        outside = [c for o in frame.ops for c in o.control_inputs if c in lives.ops]
        life = life.union(*(lives.ops[c] for c in outside))
        context = self.plan.context
        loop = as_loop(frame)
        rounds = as_rounds(frame) if loop is None else None
        form: Any = loop or rounds
        kernel: Any = _looping(loop) if loop is not None else _in_rounds(rounds)  # type: ignore[arg-type]
        op = frame.exits[0] if frame.exits else frame.enters[0]
        node = made("_Frame", kernel, op, context, [self.values[e.inputs[0]] for e in form.enters])
        node.reads = frozenset(i for i, e in enumerate(form.enters) if not e.op_def_.takes_refs and node.inputs[i].dtype._is_ref_dtype)
        node.fused.view = node.fused.writes = True  # type: ignore[union-attr]
        node.asked_for = True
        for e in frame.exits:
            t = e.outputs[0]
            self.values.setdefault(t, node.add_output(t.dtype, t.dims))
            lives.tensors[t] = life if rounds is None else life | {Token(t, None)}
            lives.ops[e] = lives.tensors[t]
            self.nodes[e] = node
        self.plan.nodes.append(guarded(node, self._tokens_of(life)) if life else node)

    def fetched(self, tensor: Tensor, index: int) -> Value:
        """What is fetched for a tensor: its value, if it is alive. A frame hands references on as they are."""
        life = self.lives.of([tensor])
        value = self.values[tensor]
        if not life and not (self.in_frame and value.dtype._is_ref_dtype):
            return value
        kernel = _or_dead if self.in_frame else _or_fail(index)
        node = made("_Fetched", lambda n: kernel, tensor.op, self.plan.context, [value, *self._tokens_of(life)])
        node.fused.view = True  # type: ignore[union-attr]
        found = node.add_output(tensor.dtype.base_dtype if self.in_frame else tensor.dtype, tensor.dims)
        self.plan.nodes.append(node)
        return found


def ways(count: int) -> Callable[..., Any]:
    """A kernel that hands a value to one of its outputs, the last one where the number is none of theirs; the others are DEAD."""

    def run(data: Any, index: Any) -> Any:
        chosen = int(index)
        found: list[Any] = [DEAD] * count
        found[chosen if 0 <= chosen < count else -1] = data
        return found if count > 1 else data

    return run


def _is_there_anyway(node: Node) -> bool:
    """Whether a node gives what is known, fed or found before the step runs."""
    known = node.meaning
    return node.is_constant or known is not None and (known.bound or known.fed and not node.inputs)


def _token_order(token: Token) -> tuple[int, str, bool]:
    return token.tensor.op._id, token.tensor.name, bool(token.branch)


def made(name: str, kernel: Callable[[Node], Any], op: Operation, context: Any, inputs: list[Value]) -> Node:
    """A node that has no op of its own; errors name `op`."""
    node = Node(name, op.name, {}, inputs, op, context)
    node.fused = Meaning(name, __name__)
    node.fused.kernel = kernel
    return node


def guarded(node: Node, tokens: list[Value]) -> Node:
    """A node that runs only if none of the tokens is DEAD. No pass knows it by its type."""
    count, reads = len(node.inputs), node.reads

    def factory(found: Node) -> Any:
        node.inputs = found.inputs[:count]
        node.reads = frozenset()
        return _if_alive(kernel_of(node), count, len(found.inputs), reads, len(node.outputs))

    result = Node(f"_Guarded{node.type}", node.name, node.attrs, [*node.inputs, *tokens], node.op, node.context)
    result.fused = Meaning(result.type, __name__)
    result.fused.kernel = factory
    meaning = node.meaning
    # A read of a variable is copied, since what is read here is not watched.
    result.fused.view = meaning is None or meaning.view
    result.fused.writes = meaning is None or meaning.writes
    result.asked_for = node.asked_for
    result.outputs = node.outputs
    node.outputs = [Value(node, v.index, v.dtype, v.dims) for v in result.outputs]
    for v in result.outputs:
        v.node = result
    return result


def _if_alive(kernel: Callable[..., Any], count: int, total: int, reads: frozenset[int], outputs: int) -> Callable[..., Any]:
    nothing: Any = DEAD if outputs == 1 else (DEAD,) * outputs

    def read(arguments: tuple[Any, ...]) -> Any:
        return [_copied(v.read()) if i in reads else v for i, v in enumerate(arguments[:count])]

    if total == count + 1 and not reads:
        return lambda *arguments: nothing if arguments[count] is DEAD else kernel(*arguments[:count])

    def run(*arguments: Any) -> Any:
        for token in arguments[count:]:
            if token is DEAD:
                return nothing
        return kernel(*(read(arguments) if reads else arguments[:count]))

    return run


def _copied(value: Any) -> Any:
    return value.clone() if hasattr(value, "clone") else value.copy()


def _branches(pred: Any) -> tuple[Any, Any]:
    return (DEAD, None) if truth(pred) else (None, DEAD)


def _index(i: int) -> Any:
    return torch.tensor(i, dtype=torch.int32)


def _chosen(first: Any, second: Any, token: Any) -> tuple[Any, Any]:
    return (first, _index(0)) if token is DEAD else (second, _index(1))


def _fixed(i: int) -> Callable[[Node], Any]:
    return lambda node: lambda value: (value, _index(i))


def _first_alive(count: int, groups: list[int]) -> Callable[[Node], Any]:
    def run(*arguments: Any) -> tuple[Any, Any]:
        position = count
        for i, size in enumerate(groups):
            if all(t is not DEAD for t in arguments[position : position + size]):
                return arguments[i], _index(i)
            position += size
        return DEAD, DEAD

    return lambda node: run


def _or_dead(value: Any, *tokens: Any) -> Any:
    return DEAD if any(t is DEAD for t in tokens) else value


def _or_fail(index: int) -> Callable[..., Any]:
    def run(value: Any, *tokens: Any) -> Any:
        if any(t is DEAD for t in tokens):
            raise invalid_argument(f"Retval[{index}] does not have value")
        return value

    return run


# -- frames


def _looping(loop: Loop) -> Callable[[Node], Any]:
    """A loop with a condition and a body: like a While node."""

    def factory(node: Node) -> Any:
        run = node.context.loop(loop.condition, loop.body)
        exits, single = loop.exits, len(loop.exits) == 1

        def call(*values: Any) -> Any:
            last = run(*values)
            return last[exits[0]] if single else tuple(last[k] for k in exits)

        return call

    return factory


def _in_rounds(rounds: Rounds) -> Callable[[Node], Any]:
    """Any frame: rounds as long as one hands something to the next."""

    def factory(node: Node) -> Any:
        step, context = node.context.compile(rounds.body), node.context
        back, stays, single = rounds.back_edges, rounds.stays, len(node.outputs) == 1

        def call(*entered: Any) -> Any:
            exits = [DEAD] * len(node.outputs)
            given = [*entered, *[DEAD] * back]
            deadline = context.deadline
            while True:
                found = step(*given)
                for j, value in enumerate(found[back:]):
                    if value is not DEAD:
                        exits[j] = value
                following = found[:back]
                if all(v is DEAD for v in following):
                    return exits[0] if single else tuple(exits)
                given = [*(v if s else DEAD for v, s in zip(entered, stays)), *following]
                if context.cancelled.is_set():
                    raise errors.CancelledError(None, None, "Loop execution was cancelled.")
                if deadline is not None and time.monotonic() > deadline:
                    raise errors.DeadlineExceededError(None, None, "Timed out waiting for notification")

        return call

    return factory
