"""Which values of a version 1 graph are alive: where they are in frames, and on which branches of which Switch they depend."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from everflow import errors
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.ops.control_flow.frame_op_types import BACK_EDGES, ENTERS, EXITS, MANY_WAYS, MERGES, SWITCHES


class Token(NamedTuple):
    """A condition under which a value is alive: a predicate is true (or false), or a tensor is itself alive (`branch` None)."""

    tensor: Tensor
    branch: bool | None


Life = frozenset[Token]
ALWAYS: Life = frozenset()


class Frame:
    """The ops of a loop, or of anything else between Enter and Exit ops with one frame name."""

    def __init__(self, name: str, parent: Frame | None) -> None:
        self.name = name
        self.parent = parent
        self.enters: list[Operation] = []
        self.exits: list[Operation] = []
        # In an order in which they can run, those of frames inside included.
        self.ops: list[Operation] = []

    @property
    def outermost(self) -> Frame:
        return self if self.parent is None else self.parent.outermost

    @property
    def depth(self) -> int:
        return 0 if self.parent is None else self.parent.depth + 1


def frames_of(order: Iterable[Operation], fed: Any = ()) -> dict[Operation, Frame]:
    """The frame of each op that is in one, found by going forward in an order in which the ops can run.

    An Enter op belongs to the frame that it enters, an Exit op to the frame that it leaves to.
    """
    home: dict[Operation, Frame] = {}
    known: dict[tuple[Frame | None, str], Frame] = {}
    for op in order:
        around = _frame_around(op, home, fed)
        if op.type in ENTERS:
            name = op.attr("frame_name")
            frame = known.setdefault((around, name), Frame(name, around))
            frame.enters.append(op)
            around = frame
        elif op.type in EXITS and around is not None:
            around.exits.append(op)
            around = around.parent
        if around is not None:
            home[op] = around
            inside: Frame | None = around
            while inside is not None:
                inside.ops.append(op)
                inside = inside.parent
    return home


def _frame_around(op: Operation, home: dict[Operation, Frame], fed: Any) -> Frame | None:
    inputs = [t.op for t in op.inputs if t not in fed and t.op.type not in BACK_EDGES]
    found = {home.get(o): o for o in inputs}
    if len(found) > 1:
        (one, a), (other, b) = list(found.items())[:2]
        raise errors.InvalidArgumentError(
            None,
            op,
            f"{{{{node {op.name}}}}} has inputs from different frames. The input {{{{node {a.name}}}}} is in frame "
            f"'{one.name if one else ''}'. The input {{{{node {b.name}}}}} is in frame '{other.name if other else ''}'.",
        )
    if found:
        return next(iter(found))
    deepest: Frame | None = None
    for frame in map(home.get, op.control_inputs):
        if frame is not None and (deepest is None or frame.depth > deepest.depth):
            deepest = frame
    return deepest


class Lives:
    """The lives of ops and tensors of one frame (or of none), asked for in an order in which the ops can run."""

    def __init__(self, fed: Any = ()) -> None:
        self.fed = fed
        self.ops: dict[Operation, Life] = {}
        self.tensors: dict[Tensor, Life] = {}

    def of(self, tensors: Iterable[Tensor]) -> Life:
        """The life of a value that needs all of these."""
        return ALWAYS.union(*(self.tensors.get(t, ALWAYS) for t in tensors))

    def add(self, op: Operation) -> Life:
        """Finds the life of an op and of its outputs."""
        if op.type == "ControlTrigger":
            life = ALWAYS
        elif op.type in MERGES:
            life = self._merged(op)
        else:
            life = self.of(op.inputs).union(*(self.ops.get(c, ALWAYS) for c in op.control_inputs))
        self.ops[op] = life
        if op.type in SWITCHES:
            for branch, t in enumerate(op.outputs):
                self.tensors[t] = life | {Token(predicate(op, self.fed), bool(branch))}
        elif op.type == MANY_WAYS:
            for t in op.outputs:
                self.tensors[t] = life | {Token(t, None)}
        elif life:
            for t in op.outputs:
                self.tensors[t] = life
        return life

    def _merged(self, op: Operation) -> Life:
        pair = complement(*(self.tensors.get(t, ALWAYS) for t in op.inputs))
        return frozenset((Token(op.outputs[0], None),)) if pair is None else pair[0]


def predicate(switch: Operation, fed: Any = ()) -> Tensor:
    """What a Switch goes by: a conditional hands its predicate on to each of its Switch ops in another way."""
    found = switch.inputs[1]
    while found not in fed and (found.op.type in SWITCHES or (found.op.type == "Identity" and not found.op.inputs[0].dtype._is_ref_dtype)):
        found = found.op.inputs[0]
    return found


def complement(*lives: Life) -> tuple[Life, Token | None] | None:
    """The life of what is merged from values of which one is alive always: what the values have in common, and the token on which
    the second of two depends. None where it may be that no value is alive."""
    if ALWAYS in lives:
        return ALWAYS, None
    if len(lives) == 1:
        return lives[0], None
    if len(lives) != 2:
        return None
    one, other = lives
    if len(one - other) == 1 and len(other - one) == 1:
        (a,), (b,) = one - other, other - one
        if a.tensor is b.tensor and a.branch is not None and a.branch is not b.branch:
            return one & other, b
    return None
