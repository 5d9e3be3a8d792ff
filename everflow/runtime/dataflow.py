"""The form of a step that runs op by op: nothing is merged, left out or put together.

Tensors flow as tokens: an op runs when its inputs have come, and once for each iteration of the loop that it is in. A token may
be dead, as one of the two that a Switch gives is; an op with a dead input gives dead outputs, but for Merge, which takes what is
alive. That makes every output of every op visible, those of Switch, Enter and their like among them, and is slow: it is for
runs that somebody looks at.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable
from typing import Any

from everflow import errors
from everflow.errors import invalid_argument
from everflow.lazy import torch
from everflow.ops.control_flow.bodies import truth
from everflow.ops.control_flow.frame_op_types import BACK_EDGES, ENTERS, EXITS, FRAME_OPS, MANY_WAYS, MERGES, SWITCHES
from everflow.ops.core.node import kernel_of
from everflow.ops.core.registry import kind_of, meaning
from everflow.runtime.failures import explained
from everflow.runtime.frames import DEAD, ways
from everflow.runtime.lowering import Lowered, Unit
from everflow.values.tensors import without_autograd

# Told each unit that ran, when it began and ended (in nanoseconds), and its outputs, DEAD where a Switch gave nothing.
Observer = Callable[[Unit, int, int, list[Any]], None]


class Dataflow:
    """Units ready to be run any number of times."""

    def __init__(self, lowered: Lowered) -> None:
        self.lowered = lowered
        brings = any((known := meaning(unit.type)) is not None and known.brings for unit in lowered.units)
        self.calls = [_Call(unit, brings) for unit in lowered.units]
        self._calls = {call.unit: call for call in self.calls}
        self.enters: dict[str, int] = {}
        for call in self.calls:
            for place, (source, slot) in enumerate(call.unit.inputs):
                self._calls[source].takers.append((slot, call, place))
            for before in call.unit.controls:
                self._calls[before].waiters.append(call)
            if call.unit.type in ENTERS:
                name = call.unit.node.attr("frame_name")
                self.enters[name] = self.enters.get(name, 0) + 1
        self.exits = {name: [self._calls[unit] for unit in units] for name, units in lowered.exits.items()}
        self.feeds = [self._calls[unit] for unit in lowered.feeds]

    def run(self, arguments: list[Any], observe: Observer, deadline: float | None = None) -> tuple[Any, ...]:
        """Runs all units; returns the fetched run-time values."""
        return _Run(self, arguments, observe, deadline).results()


class _Call:
    """A unit with its kernel, its rank in the order of running, and those who take its outputs."""

    def __init__(self, unit: Unit, brings: bool) -> None:
        self.unit = unit
        self.takers: list[tuple[int, _Call, int]] = []
        self.waiters: list[_Call] = []
        known = meaning(unit.type)
        # What may wait for others comes last, if there are others that it may wait for.
        self.is_late = brings and known is not None and known.waits
        self.is_merge = unit.type in MERGES
        self.back_edges = sum(source.type in BACK_EDGES for source, _ in unit.inputs) if self.is_merge else 0
        self._kernel: Callable[..., Any] | None = None

    def outputs(self, taken: list[Any]) -> list[Any]:
        """What the unit gives for its inputs, none of which is dead."""
        kind, node = self.unit.type, self.unit.node
        if kind == "ControlTrigger" or kind_of(kind) == "nothing":
            return []
        guard = without_autograd()
        try:
            arguments = [self.argument(i, value) for i, value in enumerate(taken)]
            if kind in SWITCHES:
                return [DEAD, arguments[0]] if truth(arguments[1]) else [arguments[0], DEAD]
            if kind == MANY_WAYS:
                return ways(len(node.outputs))(*arguments) if len(node.outputs) > 1 else arguments[:1]
            if kind in FRAME_OPS or (node.is_identity and (node.reads or node.op is None or node.op.type != kind)):
                return arguments
            return self._computed(arguments)
        except Exception as e:
            error = explained(e, node)
            raise error from (None if error is e or isinstance(e, errors.OpError) else e)
        finally:
            del guard

    def _computed(self, arguments: list[Any]) -> list[Any]:
        node = self.unit.node
        if node.is_constant:
            return [node.context.constant(node)]
        if self._kernel is None:
            self._kernel = kernel_of(node)
        found = self._kernel(*arguments)
        given = [found] if len(node.outputs) == 1 else list(found or ()) if node.outputs else []
        known = node.meaning
        if known is not None and known.views_variable:
            return [_copied(value) for value in given]
        if known is None or (known.view and not known.forwards):
            return [_apart(value, arguments) for value in given]
        return given

    def argument(self, place: int, value: Any) -> Any:
        """An input as the kernel takes it: of a variable, what it holds now."""
        return _copied(value.read()) if place in self.unit.node.reads else value


def _copied(value: Any) -> Any:
    return value.clone() if hasattr(value, "clone") else value.copy()


def _apart(value: Any, arguments: list[Any]) -> Any:
    """A view of an argument as memory of its own: what is written to the one must not show in the other."""
    if not isinstance(value, torch.Tensor):
        return value
    memory = value.untyped_storage().data_ptr()
    if any(isinstance(a, torch.Tensor) and a.untyped_storage().data_ptr() == memory for a in arguments):
        return value.clone()
    return value


class _Frame:
    """One execution of a loop: the tokens that wait in each of its iterations."""

    def __init__(self, name: str, parent: _Frame | None, parent_iteration: int, expected: int) -> None:
        self.name = name
        self.parent = parent
        self.parent_iteration = parent_iteration
        # How many Enter ops are still to come, and how many ops and inner loops are under way.
        self.expected = expected
        self.busy = 0
        self.waiting: list[dict[_Call, _Inputs]] = [{}]
        self.children: dict[tuple[str, int], _Frame] = {}
        self.constants: list[tuple[_Call, Any]] = []
        self.left: set[_Call] = set()
        self.path: tuple[int, ...] = (*parent.path, parent_iteration) if parent is not None else ()


class _Inputs:
    """What has come for a unit in one iteration."""

    __slots__ = ("controls", "dead", "is_chosen", "missing", "taken")

    def __init__(self, call: _Call, iteration: int) -> None:
        count = len(call.unit.inputs)
        if call.back_edges:
            # The first iteration gets its values from outside of the loop, the others from the iteration before.
            count = call.back_edges if iteration else count - call.back_edges
        self.taken: list[Any] = [None] * len(call.unit.inputs)
        self.missing = count
        self.controls = len(call.unit.controls)
        self.dead = False
        # Whether a Merge has its input: what comes afterwards is not needed.
        self.is_chosen = False


class _Run:
    """One run of a dataflow."""

    def __init__(self, flow: Dataflow, arguments: list[Any], observe: Observer, deadline: float | None) -> None:
        self.flow = flow
        self.observe = observe
        self.deadline = deadline
        self.known: dict[tuple[Unit, int], Any] = {}
        self.root = _Frame("", None, 0, 0)
        self._serial = itertools.count()
        self._ready: list[tuple[Any, ...]] = []
        fed = set(flow.feeds)
        for call, argument in zip(flow.feeds, arguments):
            now = time.time_ns()
            observe(call.unit, now, now, [argument])
            self._deliver(call, self.root, 0, [argument], False)
        for call in flow.calls:
            if not call.unit.inputs and not call.unit.controls and call not in fed:
                self._schedule(call, self.root, 0, _Inputs(call, 0))
        while self._ready:
            self._advance()

    def results(self) -> tuple[Any, ...]:
        """What was fetched."""
        lowered = self.flow.lowered
        found = []
        for place, (edge, is_ref) in enumerate(zip(lowered.fetches, lowered.fetches_refs)):
            token = self.known.get(edge, DEAD)
            if token is DEAD:
                raise invalid_argument(f"Retval[{place}] does not have value")
            found.append(token.read() if is_ref else token)
        return tuple(found)

    def _inputs(self, call: _Call, frame: _Frame, iteration: int) -> _Inputs:
        found = frame.waiting[iteration].get(call)
        if found is None:
            found = frame.waiting[iteration][call] = _Inputs(call, iteration)
        return found

    def _schedule(self, call: _Call, frame: _Frame, iteration: int, inputs: _Inputs) -> None:
        frame.busy += 1
        unit = call.unit
        order = (call.is_late, unit.place, (*frame.path, iteration), unit.position, next(self._serial))
        heapq.heappush(self._ready, (*order, call, frame, iteration, inputs))

    def _advance(self) -> None:
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise errors.DeadlineExceededError(None, None, "Timed out waiting for the step to finish")
        call, frame, iteration, inputs = heapq.heappop(self._ready)[5:]
        if not call.is_merge:
            frame.waiting[iteration].pop(call, None)
        is_dead = inputs.dead and call.unit.type != "ControlTrigger"
        if is_dead:
            given = [DEAD] * len(call.unit.node.outputs)
        else:
            began = time.time_ns()
            given = inputs.taken if call.is_merge else call.outputs(inputs.taken)
            self.observe(call.unit, began, time.time_ns(), given)
        self._hand_on(call, frame, iteration, given, is_dead)
        frame.busy -= 1
        self._finish(frame)

    def _hand_on(self, call: _Call, frame: _Frame, iteration: int, given: list[Any], is_dead: bool) -> None:
        kind = call.unit.type
        if kind in ENTERS:
            self._enter(call, frame, iteration, given, is_dead)
        elif kind in EXITS and frame.parent is not None:
            if not is_dead:
                frame.left.add(call)
                self._deliver(call, frame.parent, frame.parent_iteration, given, False)
        elif kind in BACK_EDGES:
            if not is_dead:
                if iteration + 1 == len(frame.waiting):
                    frame.waiting.append({})
                    for enter, value in frame.constants:
                        self._deliver(enter, frame, iteration + 1, [value], value is DEAD)
                self._deliver(call, frame, iteration + 1, given, False)
        else:
            self._deliver(call, frame, iteration, given, is_dead)

    def _enter(self, call: _Call, frame: _Frame, iteration: int, given: list[Any], is_dead: bool) -> None:
        name = call.unit.node.attr("frame_name")
        child = frame.children.get((name, iteration))
        if child is None:
            child = frame.children[name, iteration] = _Frame(name, frame, iteration, self.flow.enters[name])
            frame.busy += 1
        child.expected -= 1
        if call.unit.node.attr("is_constant"):
            child.constants.append((call, given[0]))
            for i in range(len(child.waiting)):
                self._deliver(call, child, i, given, is_dead)
        else:
            self._deliver(call, child, 0, given, is_dead)
        self._finish(child)

    def _deliver(self, call: _Call, frame: _Frame, iteration: int, given: list[Any], is_dead: bool) -> None:
        if frame is self.root:
            self.known.update(((call.unit, slot), token) for slot, token in enumerate(given))
        for slot, taker, place in call.takers:
            self._take(taker, frame, iteration, place, given[slot])
        for waiter in call.waiters:
            inputs = self._inputs(waiter, frame, iteration)
            inputs.controls -= 1
            inputs.dead |= is_dead
            self._run_if_complete(waiter, frame, iteration, inputs)

    def _take(self, call: _Call, frame: _Frame, iteration: int, place: int, token: Any) -> None:
        inputs = self._inputs(call, frame, iteration)
        inputs.missing -= 1
        if not call.is_merge:
            inputs.taken[place] = token
            inputs.dead |= token is DEAD
        elif inputs.is_chosen:
            return
        elif token is not DEAD:
            inputs.taken = [call.argument(place, token), torch.tensor(place, dtype=torch.int32)]
            inputs.missing, inputs.is_chosen = 0, True
        elif inputs.missing == 0:
            inputs.dead = True
        self._run_if_complete(call, frame, iteration, inputs)

    def _run_if_complete(self, call: _Call, frame: _Frame, iteration: int, inputs: _Inputs) -> None:
        if inputs.missing == 0 and inputs.controls == 0:
            inputs.controls = -1
            self._schedule(call, frame, iteration, inputs)

    def _finish(self, frame: _Frame) -> None:
        """Ends a loop in which nothing more can happen. Exits through which nothing has come are dead."""
        parent = frame.parent
        if parent is None or frame.busy or frame.expected or (frame.name, frame.parent_iteration) not in parent.children:
            return
        del parent.children[frame.name, frame.parent_iteration]
        for leaving in self.flow.exits.get(frame.name, ()):
            if leaving not in frame.left:
                self._deliver(leaving, parent, frame.parent_iteration, [DEAD], True)
        parent.busy -= 1
        self._finish(parent)
