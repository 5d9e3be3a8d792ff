"""A part of a step that talks to other tasks while it runs: each op runs as soon as what it needs is there.

Steps of one process are straight-line code, because nothing comes from outside while they run. Here tensors do, in an order that only the
other tasks know, and a branch or a loop may have ends in several tasks: what is not taken goes over the wire as a dead tensor, and what
belongs to a round of a loop has the round in its key. So the ops of version 1 control flow run as they stand.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from everflow import _native
from everflow.distribute.rendezvous import Parcel, key_of
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.control_flow.frame_op_types import BACK_EDGES, ENTERS, EXITS, MERGES, SWITCHES
from everflow.ops.core.node import Node, Value, kernel_of
from everflow.runtime.failures import explained
from everflow.runtime.plan import reads_of
from everflow.values.resources import Storage, copied
from everflow.values.tensors import without_autograd

SENDS = ("_Send", "_HostSend")
RECEIVES = ("_Recv", "_HostRecv")
DEAD = object()
_CONTROL = -1


class Place:
    """An op of the part, with its kernel and with who waits for it."""

    __slots__ = (
        "after",
        "back",
        "control_after",
        "entries",
        "frame_name",
        "is_constant",
        "kernel",
        "needed",
        "node",
        "op",
        "role",
        "waits",
    )

    def __init__(self, op: Operation, node: Node) -> None:
        self.op = op
        self.node = node
        self.role = _ROLES.get(op.type, "kernel")
        self.after: list[list[tuple[Place, int]]] = [[] for _ in op.outputs]
        self.control_after: list[Place] = []
        self.needed = len(op.inputs) + len(op.control_inputs)
        # Which inputs of a Merge come from the round before.
        self.back = frozenset(i for i, t in enumerate(op.inputs) if t.op.type in BACK_EDGES)
        self.frame_name = _text(op.attr("frame_name")) if self.role == "enter" else ""
        self.is_constant = self.role == "enter" and bool(op.attr("is_constant"))
        self.entries = 0
        self.kernel: Callable[..., Any] | None = None
        meaning = node.meaning
        self.waits = meaning is not None and meaning.waits


_ROLES = {
    **dict.fromkeys(SWITCHES, "switch"),
    **dict.fromkeys(MERGES, "merge"),
    **dict.fromkeys(ENTERS, "enter"),
    **dict.fromkeys(EXITS, "exit"),
    **dict.fromkeys(BACK_EDGES, "next"),
    **dict.fromkeys(SENDS, "send"),
    **dict.fromkeys(RECEIVES, "receive"),
    "ControlTrigger": "trigger",
}


class Dataflow:
    """The ops of a part, made ready to run many times."""

    def __init__(self, context: Any, ops: Iterable[Operation]) -> None:
        self._context = context
        ops = list(ops)
        values: dict[Any, Value] = {}
        places: dict[Operation, Place] = {}
        for op in ops:
            node = Node(op.type, op.name, op.attrs, [], op, context)
            for t in op.outputs:
                values[t] = node.add_output(t.dtype, t.dims)
            places[op] = Place(op, node)
        self._entries: dict[str, int] = {}
        for op, place in places.items():
            place.node.inputs = [values[t] for t in op.inputs]
            place.node.reads = reads_of(op, place.node)
            for i, t in enumerate(op.inputs):
                places[t.op].after[t.value_index].append((place, i))
            for before in op.control_inputs:
                places[before].control_after.append(place)
            if place.role == "enter":
                self._entries[place.frame_name] = self._entries.get(place.frame_name, 0) + 1
        self._places = list(places.values())
        for place in self._places:
            if place.role == "kernel":
                place.kernel = self._kernel(place.node)
        self._first = [p for p in self._places if p.needed == 0]

    def _kernel(self, node: Node) -> Callable[..., Any]:
        meaning = node.meaning
        if node.is_constant:
            constant = self._context.constant(node)
            return lambda: constant
        if meaning is not None and meaning.kind == "nothing":
            return lambda *_: ()
        kernel = kernel_of(node)
        if meaning is not None and meaning.views_variable:
            return lambda *inputs: copied(kernel(*inputs))
        return kernel

    def run(self, meeting: Any, fetch_from: Callable[[str, str, Any, Any], Any], elsewhere: Any, is_local: Callable[[str], bool]) -> None:
        """Runs the part once. `meeting` is the step's rendezvous here, `fetch_from(device, key, dtype, done)` gets a tensor of
        another task, and `elsewhere(call)` runs what may wait in a thread of its own."""
        _Run(self, meeting, fetch_from, elsewhere, is_local).finish()


class _Frame:
    """A loop that is under way, or the step itself."""

    __slots__ = ("active", "constants", "entered", "exits", "id", "name", "outer", "rounds", "text")

    def __init__(self, text: str, outer: _Round | None, name: str) -> None:
        self.text = text
        self.name = name
        self.outer = outer
        self.id = _hash64(text) if outer is not None else 0
        self.rounds: dict[int, _Round] = {}
        self.constants: list[tuple[Place, Any]] = []
        self.exits: dict[Place, bool] = {}
        self.entered = 0
        # How many ops and inner loops of it are not over.
        self.active = 0

    def round(self, number: int) -> _Round:
        found = self.rounds.get(number)
        if found is None:
            found = self.rounds[number] = _Round(self, number)
        return found


class _Round:
    """One round of a loop: what its ops wait for, and the loops inside it."""

    __slots__ = ("frame", "frames", "inputs", "is_dead", "number", "waiting")

    def __init__(self, frame: _Frame, number: int) -> None:
        self.frame = frame
        self.number = number
        self.frames: dict[str, _Frame] = {}
        self.waiting: dict[Place, int] = {}
        self.inputs: dict[Place, list[Any]] = {}
        self.is_dead: set[Place] = set()


class _Run:
    """One run of a part."""

    def __init__(self, flow: Dataflow, meeting: Any, fetch_from: Any, elsewhere: Any, is_local: Any) -> None:
        self._flow = flow
        self._meeting = meeting
        self._fetch_from = fetch_from
        self._elsewhere = elsewhere
        self._is_local = is_local
        # What other threads have finished.
        self._events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._under_way = 0
        self._ready: list[tuple[Place, _Round, list[Any], bool]] = []
        self._calls: list[Any] = []

    def finish(self) -> None:
        """Runs until nothing is left to do."""
        root = _Frame("", None, "")
        start = root.round(0)
        root.active = 1
        for place in self._flow._first:
            self._enqueue(place, start, [], False)
        try:
            while True:
                while self._ready:
                    self._advance(*self._ready.pop())
                if not self._under_way:
                    return
                place, at, outputs, error = self._events.get()
                self._under_way -= 1
                if error is not None:
                    raise error
                self._done(place, at, outputs)
        finally:
            for call in self._calls:
                call.cancel()

    def _enqueue(self, place: Place, at: _Round, inputs: list[Any], is_dead: bool) -> None:
        at.frame.active += 1
        if place.waits and not is_dead:
            # It may wait for what others of this step bring.
            self._ready.insert(0, (place, at, inputs, is_dead))
        else:
            self._ready.append((place, at, inputs, is_dead))

    def _advance(self, place: Place, at: _Round, inputs: list[Any], is_dead: bool) -> None:
        role = place.role
        if role == "receive":
            self._receive(place, at)
        elif role == "send":
            key = key_of(place.op.attr, at.frame.id, at.number)
            dtype = place.op.inputs[0].dtype.base_dtype
            value = None if is_dead else _read(place, inputs)[0]
            self._meeting.leave(key, Parcel(value, dtype, is_dead))
            self._done(place, at, [])
        elif is_dead and role != "trigger":
            self._done(place, at, [DEAD] * len(place.op.outputs), True)
        elif role == "kernel":
            self._compute(place, at, inputs)
        elif role == "switch":
            inputs = _read(place, inputs)
            taken = bool(_number(inputs[1]))
            self._done(place, at, [DEAD, inputs[0]] if taken else [inputs[0], DEAD])
        elif role == "merge":
            inputs = _read(place, inputs)
            index = next(i for i, value in enumerate(inputs) if value is not None and value is not DEAD)
            self._done(place, at, [inputs[index], torch.tensor(index, dtype=torch.int32)][: len(place.op.outputs)])
        else:
            self._done(place, at, _read(place, inputs)[: len(place.op.outputs)])

    def _receive(self, place: Place, at: _Round) -> None:
        attr = place.op.attr
        key = key_of(attr, at.frame.id, at.number)
        self._under_way += 1

        def taken(found: Any) -> None:
            if isinstance(found, Parcel):
                self._events.put((place, at, [DEAD if found.is_dead else found.value], None))
            else:
                self._events.put((place, at, None, found))

        device = _text(attr("send_device"))
        if attr("client_terminated") or self._is_local(device):
            self._meeting.take(key, taken)
        else:
            self._calls.append(self._fetch_from(device, key, place.op.outputs[0].dtype, taken))

    def _compute(self, place: Place, at: _Round, inputs: list[Any]) -> None:
        if not place.waits:
            self._done(place, at, _computed(place, inputs))
            return
        self._under_way += 1

        def compute() -> None:
            try:
                self._events.put((place, at, _computed(place, inputs), None))
            except Exception as error:
                self._events.put((place, at, None, error))

        self._elsewhere(compute)

    def _done(self, place: Place, at: _Round, outputs: list[Any], is_dead: bool = False) -> None:
        """Hands on what an op gave."""
        role, frame = place.role, at.frame
        if role == "enter":
            at = self._entered(place, at, outputs[0])
        elif role == "exit":
            if is_dead:
                frame.exits.setdefault(place, False)
                self._settle(frame)
                return
            frame.exits[place] = True
            at = frame.outer  # type: ignore[assignment]
        elif role == "next":
            if is_dead:
                self._settle(frame)
                return
            at = self._next_round(at)
        for consumers, value in zip(place.after, outputs):
            for consumer, slot in consumers:
                self._arrive(consumer, at, slot, value)
        if role == "receive" and outputs[0] is DEAD:
            is_dead = True
        for consumer in place.control_after:
            self._arrive(consumer, at, _CONTROL, DEAD if is_dead else None)
        if role == "enter":
            self._settle(at.frame)
        self._settle(frame)

    def _entered(self, place: Place, at: _Round, value: Any) -> _Round:
        text = f"{at.frame.text};{at.number};{place.frame_name}"
        frame = at.frames.get(place.frame_name)
        if frame is None:
            frame = at.frames[place.frame_name] = _Frame(text, at, place.frame_name)
            at.frame.active += 1
        frame.entered += 1
        frame.active += 1
        if place.is_constant:
            frame.constants.append((place, value))
            for number in list(frame.rounds):
                if number:
                    self._give_constant(place, value, frame.round(number))
        return frame.round(0)

    def _next_round(self, at: _Round) -> _Round:
        frame = at.frame
        if at.number + 1 not in frame.rounds:
            new = frame.round(at.number + 1)
            for place, value in frame.constants:
                self._give_constant(place, value, new)
        return frame.round(at.number + 1)

    def _give_constant(self, place: Place, value: Any, at: _Round) -> None:
        for consumer, slot in place.after[0]:
            self._arrive(consumer, at, slot, value)
        for consumer in place.control_after:
            self._arrive(consumer, at, _CONTROL, DEAD if value is DEAD else None)

    def _settle(self, frame: _Frame) -> None:
        """One thing less is under way in a loop. When nothing is, the exits that no value left by are dead."""
        frame.active -= 1
        if frame.active or frame.outer is None or frame.entered < self._flow._entries[frame.name]:
            return
        outer = frame.outer
        for place, is_alive in frame.exits.items():
            if not is_alive:
                for consumer, slot in place.after[0]:
                    self._arrive(consumer, outer, slot, DEAD)
                for consumer in place.control_after:
                    self._arrive(consumer, outer, _CONTROL, DEAD)
        outer.frames.pop(frame.name, None)
        self._settle(outer.frame)

    def _arrive(self, place: Place, at: _Round, slot: int, value: Any) -> None:
        """An op has one input more, and runs if that was the last, or if it is a Merge and its first."""
        if place.role == "merge" and place in at.is_dead:
            # It has run.
            return
        inputs = at.inputs.get(place)
        if inputs is None:
            inputs = at.inputs[place] = [None] * len(place.op.inputs)
            at.waiting[place] = place.needed
        if slot != _CONTROL:
            inputs[slot] = value
        if place.role == "merge":
            self._arrive_at_merge(place, at, slot, inputs)
            return
        if value is DEAD:
            at.is_dead.add(place)
        at.waiting[place] -= 1
        if not at.waiting[place]:
            del at.inputs[place], at.waiting[place]
            self._enqueue(place, at, inputs, place in at.is_dead)

    def _arrive_at_merge(self, place: Place, at: _Round, slot: int, inputs: list[Any]) -> None:
        if slot == _CONTROL:
            at.waiting[place] -= 1
        controls_left = at.waiting[place] - len(place.op.inputs)
        is_alive = any(v is not None and v is not DEAD for v in inputs)
        expected = [v for i, v in enumerate(inputs) if (i in place.back) == (at.number > 0) or not place.back]
        if not controls_left and (is_alive or all(v is DEAD for v in expected)):
            at.is_dead.add(place)
            del at.inputs[place], at.waiting[place]
            self._enqueue(place, at, inputs, not is_alive)


def _computed(place: Place, inputs: list[Any]) -> list[Any]:
    guard = without_autograd()
    try:
        result = place.kernel(*_read(place, inputs))  # type: ignore[misc]
    except Exception as e:
        raise explained(e, place.node) from None
    finally:
        del guard
    if len(place.op.outputs) == 1:
        return [result]
    return list(result) if place.op.outputs else []


def _read(place: Place, inputs: list[Any]) -> list[Any]:
    """The inputs, with the values of variables in the place of those that the op takes by value."""
    reads = place.node.reads
    if not reads:
        return inputs
    return [copied(value.read()) if i in reads and isinstance(value, Storage) else value for i, value in enumerate(inputs)]


def _number(value: Any) -> Any:
    return (value.read() if isinstance(value, Storage) else value).item()


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _hash64(text: str) -> int:
    """TensorFlow's hash of a text, by which tasks call a loop. The hash comes modulo a number: of two such, it can be told."""
    texts = np.array([text.encode()], object)
    low, other = np.zeros(1, np.int64), np.zeros(1, np.int64)
    _native.murmur_buckets(texts, low, 2**62)
    _native.murmur_buckets(texts, other, 2**62 - 1)
    return int(low[0]) + (int(other[0]) - int(low[0])) % (2**62 - 1) * 2**62
