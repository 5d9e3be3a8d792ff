"""What a program runs: the steps of all sessions are timed, and of each kind of step some are traced, node by node.

A traced step runs the code that it always runs, with a clock between its lines, so kernels see the memory and the threads that they
see otherwise; so do the bodies of its loops, branches and functions. Ops that run at once are traced from the first on, until
enough is known. Nothing of this is loaded unless `everflow profile` starts the program.
"""

from __future__ import annotations

import collections
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from everflow.eager import execute
from everflow.errors import OpError
from everflow.graph.graph import Graph
from everflow.profiler.places import Place, calling_place
from everflow.runtime import codegen
from everflow.runtime.codegen import Step
from everflow.runtime.failures import explained
from everflow.runtime.options import RunMetadata, RunOptions
from everflow.runtime.plan import Node
from everflow.runtime.runner import Runner
from everflow.runtime.session import BaseSession
from everflow.runtime.threads import use
from everflow.values.tensors import without_autograd

# How many steps of a kind that are not traced are kept to know what such a step takes.
MOST_TIMES = 1000
# Where ops run at once there may be no steps to count; so many ops are traced at most.
MOST_OPS_AT_ONCE = 50_000

now = time.time_ns


class AtOnce(NamedTuple):
    """An op or function that ran at once, and the line of the program that called it."""

    type: str
    name: str
    place: Place | None


class Elsewhere(NamedTuple):
    """An op that ran in another process, by what its trace says."""

    type: str
    name: str
    device: str


class Event(NamedTuple):
    """Something that ran in a thread, from one time to another (in nanoseconds)."""

    thread: int | str
    began: int
    ended: int
    what: Node | AtOnce | Elsewhere


class Times(NamedTuple):
    """Where the time of a step went: Python since the step before, feeds, the step itself, fetches."""

    before: int
    feeds: int
    step: int
    fetches: int


class TracedStep(NamedTuple):
    """A step with what ran in it."""

    thread: int
    began: int
    fed: int
    ran: int
    ended: int
    events: list[Event]


class Kind:
    """A kind of step: what a session does for certain fetches and feeds."""

    def __init__(self, fetches: list[str], graph: Graph, place: Place | None) -> None:
        self.fetches = fetches
        self.graph = graph
        self.place = place
        self.runs = 0
        self.nanoseconds = 0
        self.times: collections.deque[Times] = collections.deque(maxlen=MOST_TIMES)
        self.traced: list[TracedStep] = []
        # The first run, for kinds that do not run often enough.
        self.first: TracedStep | None = None


class _Thread(threading.local):
    """How far a thread is with its run."""

    began = fed = ended = 0
    runner: Any = None
    kind: Kind | None = None
    traced: list[Event] | None = None


class Timed:
    """A step's function, which notes when each of its nodes ran while something is traced."""

    __slots__ = ("__code__", "_clocked", "_plain", "_recorder", "_step")

    def __init__(self, step: Step, recorder: Recorder) -> None:
        self._step, self._recorder = step, recorder
        self._plain: Any = step.call
        self._clocked: Any = None
        # By its code a step knows the line in which an exception began.
        self.__code__ = self._plain.__code__

    def __call__(self, *arguments: Any) -> Any:
        if not self._recorder.tracing:
            return self._plain(*arguments)
        if self._clocked is None:
            self._clocked = clocked(self._step, self._plain, self._recorder.note)
        try:
            return self._clocked(*arguments)
        except Exception as e:
            error = explained(e, self._culprit(e))
            raise error from (None if error is e or isinstance(e, OpError) else e)

    def _culprit(self, error: Exception) -> Node | None:
        found, trace = None, error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code is self._clocked.__code__:
                found = self._step.lines[trace.tb_lineno]
            trace = trace.tb_next
        return found


def clocked(step: Step, plain: Any, note: Callable[..., None]) -> Any:
    """A step's function with a clock before and after each node, on the same lines."""
    head, *body, last = step.source.split("\n")
    space = {**plain.__globals__, "now": now, "note": note}
    lines = [head]
    for i, (call, line) in enumerate(zip(step.calls, body, strict=True)):
        space[f"n{i}"] = call.node
        work, _, dead = line.partition("; del ")
        given = work.partition(" = ")[0].strip() + "," if call.node.outputs else ""
        lines.append(f" began = now();{work}; note(n{i}, began, now(), ({given}))" + (f"; del {dead}" if dead else ""))
    exec(compile("\n".join([*lines, last]), "<everflow step>", "exec"), space)
    return space["step"]


class Recorder:
    """Counts what runs within `with recorder.watching():`, and traces `steps` steps of each kind after the first `warm_up`."""

    def __init__(self, steps: int, warm_up: int) -> None:
        self.steps, self.warm_up = steps, warm_up
        self.kinds: dict[Any, Kind] = {}
        self.planning = 0
        self.began = self.ended = now()
        self.dims: dict[Any, tuple[Any, ...]] = {}
        self.at_once = _AtOnceSteps(self)
        # How many traces are under way: while there is one, all that runs is noted.
        self.tracing = 0
        self._events: list[Event] = []
        self._thread = _Thread()
        self._lock = threading.Lock()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Within the block, what runs is recorded."""
        generate, prepared, finished = codegen.generate, Runner.prepared, Runner.finished
        call, find_runner = BaseSession._call, BaseSession._find_runner
        recorder, thread = self, self._thread

        def timed_generate(plan: Any, *words: Any) -> Step:
            step = generate(plan, *words)
            step.call = Timed(step, recorder)
            return step

        def timed_prepared(runner: Any, feed_dict: Any) -> Any:
            thread.began, thread.runner, thread.kind = now(), runner, None
            found = prepared(runner, feed_dict)
            thread.fed = now()
            return found

        def timed_call(session: Any, step: Any, arguments: list[Any]) -> Any:
            kind = recorder.kinds.get(step)
            if kind is None:
                fetches = [element.name for element in thread.runner.fetches.elements]
                kind = recorder.kinds[step] = Kind(fetches, session.graph, calling_place())
            thread.kind, thread.traced = kind, None
            kind.runs += 1
            return recorder._trace(kind, step, arguments) if recorder._wants(kind) else call(session, step, arguments)

        def timed_finished(runner: Any, found: Any) -> Any:
            ran = now()
            result = finished(runner, found)
            if thread.kind is not None:
                recorder._finish(thread, ran, now())
            return result

        def timed_find_runner(session: Any, *arguments: Any) -> Any:
            began = now()
            try:
                return find_runner(session, *arguments)
            finally:
                recorder.planning += now() - began

        places = (codegen, "generate"), (Runner, "prepared"), (Runner, "finished"), (BaseSession, "_call"), (BaseSession, "_find_runner")
        for (owner, name), timed in zip(places, (timed_generate, timed_prepared, timed_finished, timed_call, timed_find_runner)):
            setattr(owner, name, timed)
        self.began = now()
        self.at_once.start()
        try:
            yield
        finally:
            self.at_once.stop()
            self.ended = now()
            for (owner, name), plain in zip(places, (generate, prepared, finished, call, find_runner)):
                setattr(owner, name, plain)

    def note(self, node: Node, began: int, ended: int, outputs: tuple[Any, ...]) -> None:
        """A node that ran."""
        if node not in self.dims:
            self.dims[node] = tuple(tuple(v.shape) if hasattr(v, "shape") else None for v in outputs)
        self._events.append(Event(threading.get_ident(), began, ended, node))
        if self.at_once.runs:
            self.at_once.see(node.type, began, ended)

    def _wants(self, kind: Kind) -> bool:
        """Whether to trace a run: the first, and after the warm-up every other, until there are enough. Those between are timed."""
        later = kind.runs - 1 - self.warm_up
        return kind.runs == 1 or later > 0 and later % 2 == 1 and len(kind.traced) < self.steps

    def _trace(self, kind: Kind, step: Any, arguments: list[Any]) -> Any:
        with self._lock:
            if not self.tracing:
                self._events = []
            events, start = self._events, len(self._events)
            self.tracing += 1
        try:
            found = self._run(step, arguments, events)
        finally:
            with self._lock:
                self.tracing -= 1
        self._thread.traced = events[start:]
        return found

    def _run(self, step: Any, arguments: list[Any], events: list[Event]) -> Any:
        if step.is_remote:
            metadata = RunMetadata()
            found = step.run(arguments, RunOptions(trace_level=RunOptions.FULL_TRACE), metadata)
            events.extend(_events_elsewhere(metadata))
            return found
        guard = without_autograd()
        try:
            # A step that still tries how many threads are best is not to learn from a run with clocks.
            use(step.tuning.choice or 1 if step.tuning is not None else step.threads)
            return step.call(*arguments)
        finally:
            del guard

    def _finish(self, thread: _Thread, ran: int, ended: int) -> None:
        kind: Any = thread.kind
        kind.nanoseconds += ended - thread.began
        if thread.traced is not None:
            traced = TracedStep(threading.get_ident(), thread.began, thread.fed, ran, ended, thread.traced)
            if kind.runs == 1:
                kind.first = traced
            else:
                kind.traced.append(traced)
        elif kind.runs > self.warm_up and not self.tracing:
            before = thread.began - thread.ended if thread.ended else 0
            kind.times.append(Times(before, thread.fed - thread.began, ran - thread.fed, ended - ran))
        thread.ended, thread.kind = ended, None


class _AtOnceSteps:
    """Ops that run at once, as steps: one ends when variables have been trained."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.runs = False
        self._most = recorder.warm_up + recorder.steps
        # Nanoseconds that the trace itself took, by step.
        self.own: list[int] = [0]
        self.steps: list[list[Event]] = [[]]
        self._count = 0
        self._trained_until = 0

    def start(self) -> None:
        """Ops are traced from now on."""
        execute.TRACES.append(self._note)

    def stop(self) -> None:
        """Ops run as they always do."""
        if self._note in execute.TRACES:
            execute.TRACES.remove(self._note)
        if self.runs:
            self.runs = False
            self._recorder.tracing -= 1

    def see(self, type: str, began: int, ended: int) -> None:
        """An op ran, at once or inside a function."""
        if "Apply" in type:
            self._trained_until = ended

    def _note(self, type: str, name: str | None, began: int, ended: int) -> None:
        recorder = self._recorder
        if not self.runs:
            if recorder.tracing:
                # A Python function inside a step.
                return
            recorder._events = []
            recorder.tracing += 1
            self.runs = True
        if self._trained_until and began >= self._trained_until and "Apply" not in type:
            self._next_step()
            if not self.runs:
                return
        self.see(type, began, ended)
        is_function = name == "FunctionRun"
        what = AtOnce("function" if is_function else type, _function_name(type) if is_function else type, calling_place())
        # What ran inside a function was noted before it.
        inside, recorder._events[:] = recorder._events[:], []
        self.steps[-1] += [*inside, Event(threading.get_ident(), began, ended, what)]
        self._count += 1 + len(inside)
        self.own[-1] += now() - ended
        if self._count >= MOST_OPS_AT_ONCE:
            self.stop()

    def _next_step(self) -> None:
        self._trained_until = 0
        if len(self.steps) == self._most:
            self.stop()
            return
        self.steps.append([])
        self.own.append(0)

    def kept(self) -> list[tuple[list[Event], int]]:
        """The steps after the warm-up, or all if there are no more, with what the trace itself took in each."""
        found = list(zip(self.steps, self.own))
        if len(found) > 1 and not self.runs and not found[-1][0]:
            found.pop()
        later = found[self._recorder.warm_up :]
        return [step for step in later or found if step[0]]


def _function_name(name: str) -> str:
    """The Python name of a traced function: `__inference_train_step_42` was `train_step`."""
    for prefix in ("__inference_", "__forward_", "__backward_"):
        if name.startswith(prefix):
            stem, _, number = name.removeprefix(prefix).rpartition("_")
            return stem if number.isdigit() else name
    return name


def _events_elsewhere(metadata: Any) -> Iterator[Event]:
    for device in metadata.step_stats.dev_stats:
        for stats in device.node_stats:
            began = stats.all_start_nanos or stats.all_start_micros * 1000
            took = stats.all_end_rel_nanos or stats.all_end_rel_micros * 1000
            op_type = stats.timeline_label.partition(" = ")[2].partition("(")[0] or stats.node_name
            yield Event(device.device, began, began + took, Elsewhere(op_type, stats.node_name, device.device))
