"""Version 1 control flow becomes functional before it is differentiated: frames become While nodes, conditionals If nodes.

The ops that the program knows stay: an Exit hands on what the While node gives, a Merge what the If node gives.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import Any

from everflow.graph import opdefs
from everflow.graph.attrs import FunctionName
from everflow.graph.func_graph import FuncGraph
from everflow.graph.functions import add_body
from everflow.graph.graph import Graph
from everflow.graph.operation import InputList, Operation
from everflow.graph.tensor import Tensor
from everflow.ops.control_flow import bodies
from everflow.ops.control_flow.conditionals import add_choice
from everflow.ops.control_flow.frame_bodies import Copier, Loop, as_loop, new_body
from everflow.ops.control_flow.frame_lives import Frame, Lives, Token, complement, frames_of, predicate
from everflow.ops.control_flow.frame_op_types import BACK_EDGES, EXITS, MERGES, SWITCHES
from everflow.ops.control_flow.frames import has_frames
from everflow.ops.core.registry import apply


def lift(graph: Graph, ys: Iterable[Tensor]) -> None:
    """Makes the version 1 control flow that tensors of a graph depend on functional, as far as it has the usual form."""
    ys = list(ys)
    if not has_frames(graph):
        return
    # With all that leaves a frame: what else uses it must not run it a second time.
    exits = [o.outputs[0] for o in graph._ops if o.type in EXITS]
    home = frames_of(_needed([*ys, *exits]))
    lifted: set[Operation] = set()
    made: list[Operation] = []
    for frame in dict.fromkeys(home[op].outermost for op in _needed(ys) if op in home):
        loop = as_loop(frame)
        if loop is not None and not any(e.type == "RefEnter" for e in loop.enters):
            made.append(_add_while(graph, frame, loop))
            lifted.update(frame.ops)
    _lift_conditionals(graph, ys, lifted, made)
    if isinstance(graph, FuncGraph):
        _leave_out(graph, lifted, made)
    graph._changed()


def _leave_out(body: FuncGraph, lifted: set[Operation], made: list[Operation]) -> None:
    """A body runs all that has effects: what has been lifted goes, and what was made of it is run in its place."""
    body.control_outputs = [o for o in body.control_outputs if o not in lifted] + [o for o in made if o.op_def_.is_stateful]
    body._remove(lifted - body._needed())


def _needed(ys: list[Tensor]) -> list[Operation]:
    """The ops that tensors depend on, in an order in which they can run; back edges of loops are not waited for."""
    before: dict[Operation, set[Operation]] = {}
    stack = [y.op for y in ys]
    while stack:
        op = stack.pop()
        if op not in before:
            needs = [*(t.op for t in op.inputs), *op.control_inputs]
            before[op] = {b for b in needs if b.type not in BACK_EDGES}
            stack.extend(needs)
    after: dict[Operation, list[Operation]] = {}
    for op, needed in before.items():
        for b in needed:
            after.setdefault(b, []).append(op)
    waiting = {op: len(needed) for op, needed in before.items()}
    ready = [(op._id, op.name, op) for op, n in waiting.items() if not n]
    heapq.heapify(ready)
    found = []
    while ready:
        op = heapq.heappop(ready)[2]
        found.append(op)
        for a in after.get(op, ()):
            waiting[a] -= 1
            if not waiting[a]:
                heapq.heappush(ready, (a._id, a.name, a))
    return found


def _add_while(graph: Graph, frame: Frame, loop: Loop) -> Operation:
    for body in (loop.condition, loop.body):
        lift(body, body.outputs)
        body.__dict__["body_of_frame"] = None
    kind = "While" if bodies.is_stateful([loop.condition, loop.body]) else "StatelessWhile"
    members = set(frame.ops)
    waited = dict.fromkeys(c for e in frame.enters for c in e.control_inputs if c not in members)
    with graph.as_default(), graph.name_scope(None), graph.waiting_for_nothing(), graph.control_dependencies(list(waited)):
        outputs = apply(
            kind,
            [e.inputs[0] for e in loop.enters],
            cond=FunctionName(add_body(graph, loop.condition, loop.condition.name).name),
            body=FunctionName(add_body(graph, loop.body, loop.body.name).name),
            output_shapes=[t.dims for t in loop.body.inputs],
            name=f"{frame.name}/While",
        )
    for e, k in zip(frame.exits, loop.exits):
        identity = opdefs.find("Identity")
        assert identity is not None
        e.op_def_, e.type = identity, identity.name
        _take(e, [outputs[k]])
    return outputs[0].op


def _take(op: Operation, inputs: list[Tensor]) -> None:
    """Gives an op other inputs."""
    for t in op.inputs:
        t._consumers.remove(op)
    op.inputs = InputList(inputs)
    for t in inputs:
        t._consumers.append(op)


def _lift_conditionals(graph: Graph, ys: list[Tensor], lifted: set[Operation], made: list[Operation]) -> None:
    order = _needed(ys)
    inside = frames_of(order)
    lives = Lives()
    groups: dict[Tensor, list[Operation]] = {}
    for op in order:
        if op in inside:
            continue
        lives.add(op)
        if op.type in MERGES and len(op.inputs) == 2 and not op.outputs[1]._consumers:
            pair = complement(*(lives.of([t]) for t in op.inputs))
            if pair is not None and pair[1] is not None and not pair[0]:
                groups.setdefault(pair[1].tensor, []).append(op)
    for pred, merges in groups.items():
        branches = [_branch(graph, order, lives, Token(pred, chosen), merges, lifted) for chosen in (False, True)]
        with graph.as_default(), graph.name_scope(None), graph.waiting_for_nothing():
            outputs = add_choice(pred, branches, "If", f"{merges[0].name}/If")
        made.append(outputs[0].op)
        for op, t in zip(merges, outputs):
            _take(op, [t, t])


def _branch(graph: Graph, order: list[Operation], lives: Lives, token: Token, merges: list[Operation], lifted: set[Operation]) -> FuncGraph:
    """What the Merges of a conditional take on one branch, computed in a body of its own."""
    results = [next(t for t in m.inputs if token in lives.of([t])) for m in merges]
    wanted: set[Operation] = set()
    stack = [t.op for t in results]
    while stack:
        op = stack.pop()
        if op not in wanted and not _is_entry(op, token) and token in lives.ops.get(op, ()):
            wanted.add(op)
            stack.extend([*(t.op for t in op.inputs), *op.control_inputs])
    lifted |= wanted
    body = new_body(graph, f"{merges[0].name}_{'true' if token.branch else 'false'}", None)
    with body.as_default():
        copier = Copier(body, {})

        def enter(t: Tensor) -> None:
            if t.op not in wanted and t not in copier.tensors:
                copier.tensors[t] = body.own(t.op.inputs[0] if _is_entry(t.op, token) else t)

        copied = [op for op in order if op in wanted]
        for op in copied:
            for t in op.inputs:
                if t.op.type not in BACK_EDGES:
                    enter(t)
        for t in results:
            enter(t)
        copier.copy(copied)
        copier.keep_effects()
        body.outputs = [bodies.as_output(copier.tensors[t], _no_operation) for t in results]
    lift(body, body.outputs)
    return body


def _is_entry(op: Operation, token: Token) -> bool:
    """Whether an op is a Switch through which values come to a branch."""
    return op.type in SWITCHES and predicate(op) is token.tensor


def _no_operation(operation: Operation) -> Any:
    raise TypeError(f"Operation {operation.name} can't be the value of a tensor.")
