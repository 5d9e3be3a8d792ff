"""The frames and conditionals of a version 1 graph as bodies of functions: what a frame runs as, and what is differentiated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from everflow.graph import shapes
from everflow.graph.func_graph import FuncGraph
from everflow.graph.operation import InputList, Operation
from everflow.graph.tensor import Tensor
from everflow.ops.control_flow.bodies import WITHOUT_EFFECT, merged_dims
from everflow.ops.control_flow.frame_lives import Frame
from everflow.ops.control_flow.frame_op_types import BACK_EDGES, ENTERS, EXITS, MERGES, SWITCHES

# How often the shapes of a loop's variables are widened before they are left unknown.
ROUNDS = 4


class Loop(NamedTuple):
    """A frame that is a loop with one condition: what goes in, its condition and body, which variable each Exit takes."""

    enters: list[Operation]
    condition: FuncGraph
    body: FuncGraph
    exits: list[int]


class Rounds(NamedTuple):
    """Any other frame. Its body takes what enters, then what comes back; it returns what goes back, then what exits.

    `stays` says which of the inputs are there in every round, not only in the first one.
    """

    enters: list[Operation]
    body: FuncGraph
    back_edges: int
    stays: list[bool]


class _Parts:
    """The ops of a frame by the part that they play in it, not those of frames inside."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        entered = {e.outputs[0] for e in frame.enters}
        loops = [o for o in frame.ops if o.type in MERGES and any(t.op.type in BACK_EDGES for t in o.inputs)]
        self.merges = [o for o in loops if any(t in entered for t in o.inputs)]
        self.back_edges = [next(t.op for t in o.inputs if t.op.type in BACK_EDGES) for o in self.merges]


class Copier:
    """Copies ops into a body, with tensors of the body in the place of some that they use."""

    def __init__(self, body: FuncGraph, tensors: dict[Tensor, Tensor], infers: bool = False) -> None:
        self.body = body
        # Whether more may be known of shapes in the body than was where the ops come from.
        self.infers = infers
        self.tensors = tensors
        self.copies: dict[Operation, Operation] = {}

    def copy(self, operations: Iterable[Operation]) -> None:
        """Copies ops, given in an order in which they can run."""
        late: list[tuple[Operation, Operation]] = []
        for op in operations:
            inputs = [self.tensors.get(t) for t in op.inputs]
            if any(t is None for t in inputs):
                # The back edge of a loop inside.
                first = next(t for t in inputs if t is not None)
                late.append((op, self._add(op, tuple(first if t is None else t for t in inputs))))
            else:
                self._add(op, tuple(inputs))  # type: ignore[arg-type]
        for op, copied in late:
            for t in copied.inputs:
                t._consumers.remove(copied)
            copied.inputs = InputList(self.tensors[t] for t in op.inputs)
            for t in copied.inputs:
                t._consumers.append(copied)

    def _add(self, op: Operation, inputs: tuple[Tensor, ...]) -> Operation:
        types = [t.dtype for t in op.outputs]
        copied = self.body.add(op.op_def_, op.name, inputs, dict(op.attrs), types, infer_shapes=self.infers)
        copied._device, copied._site = op._device, op._site
        copied.__dict__.update(op.__dict__)
        copied.control_inputs = [self.copies[c] for c in op.control_inputs if c in self.copies]
        for waited in copied.control_inputs:
            waited._control_outputs.append(copied)
        self.copies[op] = copied
        for t, c in zip(op.outputs, copied.outputs):
            c.dims = shapes.merge(c.dims, t.dims) if self.infers else t.dims
            c.handle_data = t.handle_data
            self.tensors[t] = c
        return copied

    def keep_effects(self) -> None:
        """What has effects runs, although no output may need it."""
        self.body.control_outputs = [o for o in self.copies.values() if has_effect(o)]


def has_effect(op: Operation) -> bool:
    """Whether running an op does more than compute its outputs."""
    if op.type in WITHOUT_EFFECT or op.type in (*SWITCHES, *MERGES, *ENTERS, *EXITS, *BACK_EDGES, "RefIdentity"):
        return False
    return op.op_def_.is_stateful or any(a.is_ref for a in op.op_def_.inputs)


def new_body(outer: Any, name: str, body_of_frame: str | None) -> FuncGraph:
    """An empty body that calls the functions of the graph around it, and may be handed what only frames hand on."""
    with outer.as_default():
        body = FuncGraph(name)
    body._functions = outer._functions
    body.control_flow_v2 = False
    body.__dict__["body_of_frame"] = body_of_frame
    return body


def as_loop(frame: Frame) -> Loop | None:
    """A frame as a loop, where it is one: Enter, Merge and Switch by one LoopCond for each variable, and Exit from the Switch."""
    parts = _Parts(frame)
    conditions = [o for o in frame.ops if o.type == "LoopCond" and _is_own(o, parts)]
    if len(conditions) != 1 or not parts.merges:
        return None
    holds = conditions[0].outputs[0]
    variable: dict[Tensor, int] = {}
    starts: list[Tensor] = []
    for k, m in enumerate(parts.merges):
        if len(m.inputs) != 2 or m.outputs[1]._consumers or m.inputs[0].op.type not in ENTERS or m.inputs[0].op.attr("is_constant"):
            return None
        variable[m.outputs[0]] = k
        starts.append(m.inputs[0])
    switches = [o for o in frame.ops if o.type in SWITCHES and o.inputs[1] is holds]
    if any(o.inputs[0] not in variable for o in switches):
        return None
    exits = []
    for e in frame.exits:
        source = e.inputs[0]
        if source.op not in switches or source.value_index:
            return None
        exits.append(variable[source.op.inputs[0]])
    leaving = {o.outputs[0] for o in switches}
    if any(c.type not in EXITS and c in _set(frame) for t in leaving for c in t._consumers):
        return None
    others = [e for e in frame.enters if e.outputs[0] not in starts]
    if any(not e.attr("is_constant") for e in others) or any(len(_users(t, frame)) > 1 for t in starts):
        return None
    return _loop(frame, parts, holds, variable, switches, starts, others, exits)


def _set(frame: Frame) -> set[Operation]:
    found: set[Operation] | None = frame.__dict__.get("members")
    if found is None:
        found = frame.__dict__["members"] = set(frame.ops)
    return found


def _users(tensor: Tensor, frame: Frame) -> list[Operation]:
    members = _set(frame)
    return [c for c in tensor._consumers if c in members]


def _is_own(condition: Operation, parts: _Parts) -> bool:
    """Whether a LoopCond is the frame's own, not that of a frame inside: then one of the frame's Merges is switched by it."""
    own = {m.outputs[0] for m in parts.merges}
    return any(c.type in SWITCHES and c.inputs[0] in own for c in condition.outputs[0]._consumers)


def _loop(
    frame: Frame,
    parts: _Parts,
    holds: Tensor,
    variable: dict[Tensor, int],
    switches: list[Operation],
    starts: list[Tensor],
    others: list[Operation],
    exits: list[int],
) -> Loop:
    skipped = {*frame.enters, *parts.merges, *parts.back_edges, *switches}
    # The body is what depends on a variable that is still in the loop.
    in_body: set[Operation] = set()
    for op in frame.ops:
        if op not in skipped and (
            any(t.op in in_body or (t.op in switches and t.value_index) for t in op.inputs) or any(c in in_body for c in op.control_inputs)
        ):
            in_body.add(op)
    rest = [o for o in frame.ops if o not in skipped and o not in in_body and o is not holds.op and o not in frame.exits]
    arguments = [*(m.outputs[0] for m in parts.merges), *(e.outputs[0] for e in others)]
    needed = [o for o in frame.ops if o in in_body]
    before = _ancestors(needed, set(rest))
    graph = holds.graph

    def condition_for(dims: list[Any], infers: bool) -> FuncGraph:
        condition = new_body(graph, f"{frame.name}_cond", "loop")
        copier = Copier(condition, _as_inputs(condition, arguments, dims), infers)
        copier.copy(rest)
        copier.keep_effects()
        condition.outputs = [copier.tensors[holds.op.inputs[0]]]
        return condition

    def body_for(dims: list[Any], infers: bool) -> FuncGraph:
        body = new_body(graph, f"{frame.name}_body", "loop")
        copier = Copier(body, _as_inputs(body, arguments, dims), infers)
        for o in switches:
            copier.tensors[o.outputs[1]] = copier.tensors[o.inputs[0]]
        copier.copy([o for o in rest if o in before])
        copier.copies.clear()
        copier.copy(needed)
        copier.keep_effects()
        body.outputs = [*(copier.tensors[b.inputs[0]] for b in parts.back_edges), *body.inputs[len(parts.merges) :]]
        return body

    enters = [*(t.op for t in starts), *others]
    dims = [e.inputs[0].dims for e in enters]
    try:
        for _ in range(ROUNDS):
            # A shape with which the variables enter is theirs for good if the body, given it, returns it.
            body = body_for(dims, infers=True)
            wider = [merged_dims([d, t.dims]) for d, t in zip(dims, body.outputs)]
            if wider == dims:
                return Loop(enters, condition_for(dims, infers=True), body, exits)
            dims = wider
    except ValueError:
        pass
    dims = [t.dims for t in arguments]
    return Loop(enters, condition_for(dims, infers=False), body_for(dims, infers=False), exits)


def _ancestors(operations: list[Operation], among: set[Operation]) -> set[Operation]:
    """The ops among some that others need."""
    found: set[Operation] = set()
    stack = [t.op for o in operations for t in o.inputs]
    while stack:
        op = stack.pop()
        if op in among and op not in found:
            found.add(op)
            stack.extend(t.op for t in op.inputs)
    return found


def _as_inputs(body: FuncGraph, tensors: list[Tensor], dims: list[Any]) -> dict[Tensor, Tensor]:
    return {t: body.add_input(t.dtype, d, "argument", t.handle_data) for t, d in zip(tensors, dims)}


def as_rounds(frame: Frame) -> Rounds:
    """A frame as a body that is run in rounds, on values that may be dead."""
    parts = _Parts(frame)
    body = new_body(frame.enters[0].graph, f"{frame.name}_round", "rounds")
    back = [b.outputs[0] for b in parts.back_edges]
    arguments = [*(e.outputs[0] for e in frame.enters), *back]
    copier = Copier(body, _as_inputs(body, arguments, [t.dims for t in arguments]))
    skipped = {*frame.enters, *parts.back_edges, *frame.exits}
    copier.copy([o for o in frame.ops if o not in skipped])
    copier.keep_effects()
    body.outputs = [*(copier.tensors[b.inputs[0]] for b in parts.back_edges), *(copier.tensors[e.inputs[0]] for e in frame.exits)]
    return Rounds(frame.enters, body, len(back), [bool(e.attr("is_constant")) for e in frame.enters])
