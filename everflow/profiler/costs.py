"""What a recorded program cost: where the time of its steps goes, by op, by line and by name scope."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Iterable, Iterator
from typing import Any

from everflow.profiler.places import Place, place_of_op
from everflow.profiler.recorder import AtOnce, Elsewhere, Event, Kind, Recorder, TracedStep

# The parts of a step, in the order in which they come; the first is what the program does since the step before.
PARTS = ("Python", "feeds", "kernels", "between kernels", "fetches")
KERNELS = PARTS.index("kernels")
# A traced step that took so many times as long as most was held up by something else on the machine, and does not count.
HELD_UP = 1.5


@dataclasses.dataclass(frozen=True)
class Op:
    """What ran: an op of a graph, or one that ran at once, at a line of the program."""

    name: str
    type: str
    place: Place | None
    dims: str = ""


@dataclasses.dataclass
class Cost:
    """What an op took in all traced steps, in nanoseconds: itself, and with what ran inside of it; and how often it ran."""

    op: Op
    own: int = 0
    total: int = 0
    runs: int = 0


@dataclasses.dataclass
class Scope:
    """A name scope, or an op at the end of one, with what it took."""

    name: str
    nanoseconds: int = 0
    inside: dict[str, Scope] = dataclasses.field(default_factory=dict)

    def at(self, path: Iterable[str]) -> Scope:
        """The scope below this one with a path of names."""
        found = self
        for name in path:
            found = found.inside.setdefault(name, Scope(name))
        return found

    def total(self) -> int:
        """What it took with all that is inside."""
        return self.nanoseconds + sum(scope.total() for scope in self.inside.values())


@dataclasses.dataclass
class Ran:
    """An event with those that happened inside of it."""

    event: Event
    op: Op
    depth: int
    inside: int = 0

    @property
    def took(self) -> int:
        """Nanoseconds from its beginning to its end."""
        return self.event.ended - self.event.began


@dataclasses.dataclass
class Steps:
    """A kind of step, and what is known of it."""

    title: str
    place: Place | None
    runs: int
    # How many of the runs were traced, and whether those were the first ones, before all was warm.
    traced: list[TracedStep]
    is_cold: bool
    is_at_once: bool
    # Nanoseconds of each part of one step, and of all runs together.
    parts: tuple[int, ...]
    nanoseconds: int
    costs: list[Cost]
    scopes: Scope
    ran_in_each: list[list[Ran]]
    # The traced step to look at: the one of middle length.
    middle: int

    @property
    def shown(self) -> TracedStep:
        """The traced step to look at."""
        return self.traced[self.middle]

    @property
    def ran(self) -> list[Ran]:
        """What ran in the step to look at."""
        return self.ran_in_each[self.middle]

    @property
    def whole(self) -> int:
        """Nanoseconds of a step with the Python before it."""
        return sum(self.parts)

    @property
    def outside(self) -> float:
        """The share of a step that lies outside of kernels."""
        return 1 - self.parts[KERNELS] / self.whole if self.whole else 0.0

    def by_line(self) -> list[tuple[Place, int]]:
        """What the ops of each line of the program took in all traced steps, most first."""
        found: dict[Place, int] = {}
        for cost in self.costs:
            if cost.op.place is not None:
                found[cost.op.place] = found.get(cost.op.place, 0) + cost.own
        return sorted(found.items(), key=lambda entry: -entry[1])


class Costs:
    """What a recorder saw, summed up: kinds of steps, those that took most first."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._ops: dict[Any, Op] = {}
        self.nanoseconds = recorder.ended - recorder.began
        self.planning = recorder.planning
        kinds = [kind for kind in recorder.kinds.values() if kind.first is not None or kind.traced]
        self.runs = sum(kind.runs for kind in recorder.kinds.values())
        self.in_steps = sum(kind.nanoseconds for kind in recorder.kinds.values())
        self.kinds = [self._of_kind(kind) for kind in kinds]
        if recorder.at_once.kept():
            self.kinds.append(self._at_once())
        self.kinds.sort(key=lambda steps: -steps.nanoseconds)

    def _of_kind(self, kind: Kind) -> Steps:
        traced: list[Any] = _usual(kind.traced) or [kind.first]
        ran = [self._nested(step.events, kind) for step in traced]
        kernels = round(statistics.median(_on_top(found, step.thread) for found, step in zip(ran, traced)))
        if kind.times:
            before, feeds, step, fetches = (round(statistics.median(column)) for column in zip(*kind.times))
        else:
            before, feeds, step, fetches = (
                0,
                *(round(statistics.median(column)) for column in zip(*((t.fed - t.began, t.ran - t.fed, t.ended - t.ran) for t in traced))),
            )
        kernels = min(kernels, step)
        parts = before, feeds, kernels, step - kernels, fetches
        title = ", ".join(name.removesuffix(":0") for name in kind.fetches)
        return self._steps(title, kind.place, kind.runs, traced, not kind.traced, False, parts, kind.nanoseconds, ran)

    def _at_once(self) -> Steps:
        """Ops that ran at once; a step of them ends where variables have been trained."""
        kept = self._recorder.at_once.kept()
        traced, ran, parts = [], [], []
        for events, own in kept:
            began, ended = min(e.began for e in events), max(e.ended for e in events)
            found = self._nested(events, None)
            threads = {r.event.thread: 0 for r in found}
            main = max(threads, key=lambda thread: _on_top(found, thread))
            kernels = _on_top(found, main)
            traced.append(TracedStep(main, began, began, ended, ended, events))  # type: ignore[arg-type]
            ran.append(found)
            parts.append((max(ended - began - own, kernels) - kernels, kernels))
        python, kernels = (round(statistics.median(column)) for column in zip(*parts))
        whole = sum(step.ended - step.began for step in traced)
        is_cold = len(self._recorder.at_once.steps) <= self._recorder.warm_up
        return self._steps("ops that run at once", None, len(traced), traced, is_cold, True, (python, 0, kernels, 0, 0), whole, ran)

    def _steps(
        self,
        title: str,
        place: Place | None,
        runs: int,
        traced: list[TracedStep],
        is_cold: bool,
        is_at_once: bool,
        parts: tuple[int, ...],
        nanoseconds: int,
        ran: list[list[Ran]],
    ) -> Steps:
        costs: dict[Op, Cost] = {}
        scopes = Scope(title)
        for found in ran:
            for path, r in _with_paths(found):
                cost = costs.setdefault(r.op, Cost(r.op))
                cost.own += r.took - r.inside
                cost.total += r.took
                cost.runs += 1
                scopes.at(path).nanoseconds += r.took - r.inside
        middle = sorted(range(len(traced)), key=lambda i: traced[i].ended - traced[i].began)[len(traced) // 2]
        ordered = sorted(costs.values(), key=lambda cost: -cost.own)
        return Steps(title, place, runs, traced, is_cold, is_at_once, parts, nanoseconds, ordered, scopes, ran, middle)

    def _nested(self, events: list[Event], kind: Kind | None) -> list[Ran]:
        """What ran, each thread by itself and in the order of beginnings, with what ran inside of what."""
        found: list[Ran] = []
        around: dict[Any, list[Ran]] = {}
        for event in sorted(events, key=lambda e: (e.began, -e.ended)):
            stack = around.setdefault(event.thread, [])
            while stack and stack[-1].event.ended <= event.began:
                stack.pop()
            ran = Ran(event, self._op(event.what, kind), len(stack))
            if stack:
                stack[-1].inside += min(ran.took, stack[-1].event.ended - event.began)
            stack.append(ran)
            found.append(ran)
        return found

    def _op(self, what: Any, kind: Kind | None) -> Op:
        found = self._ops.get(what)
        if found is None:
            if isinstance(what, AtOnce):
                found = Op(what.name, what.type, what.place)
            elif isinstance(what, Elsewhere):
                op = kind.graph._nodes_by_name.get(what.name) if kind is not None else None
                found = Op(what.name, what.type, place_of_op(op) if op is not None else None)
            else:
                op = what.op
                if op is None and kind is not None:
                    op = kind.graph._nodes_by_name.get(what.name)
                dims = ", ".join(_dims(d) for d in self._recorder.dims.get(what, ()) if d is not None)
                found = Op(what.name, what.type, place_of_op(op) if op is not None else None, dims)
            self._ops[what] = found
        return found


def _usual(traced: list[TracedStep]) -> list[TracedStep]:
    """The traced steps without those that were held up."""
    lengths = [step.ended - step.began for step in traced]
    return [step for step, length in zip(traced, lengths) if length <= HELD_UP * statistics.median(lengths)]


def _on_top(ran: list[Ran], thread: Any) -> int:
    """What the outermost ops of a step took, those of its own thread; where all ran in other processes, of the busiest."""
    totals: dict[Any, int] = {}
    for r in ran:
        if r.depth == 0:
            totals[r.event.thread] = totals.get(r.event.thread, 0) + r.took
    elsewhere = [total for name, total in totals.items() if isinstance(name, str)]
    return totals[thread] if thread in totals else max(elsewhere, default=0)


def _with_paths(ran: list[Ran]) -> Iterator[tuple[list[str], Ran]]:
    """What ran, with its place in the tree of names: below what it ran inside of, in its name scopes."""
    above: dict[Any, list[list[str]]] = {}
    for r in ran:
        paths = above.setdefault(r.event.thread, [])
        del paths[r.depth :]
        if isinstance(r.event.what, AtOnce):
            own = [str(r.op.place), r.op.name] if r.op.place is not None and not paths else [r.op.name]
        else:
            own = r.op.name.split("/")
        path = [*(paths[-1] if paths else ()), *own]
        paths.append(path)
        yield path, r


def _dims(dims: tuple[int, ...]) -> str:
    return "×".join(map(str, dims)) or "scalar"
