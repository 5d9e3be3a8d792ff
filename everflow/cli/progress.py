"""`everflow run --progress`: a live line with the step, the loss and the speed of a training loop.

Nothing of this is loaded without the option, so that sessions don't pay for it.
"""

from __future__ import annotations

import atexit
import collections
import os
import sys
import threading
import time
from typing import Any

from everflow.graph.graph import Graph

SECONDS_BETWEEN_DRAWS = 0.1
SECONDS_OF_SPEED = 3.0
ERASE = "\r\x1b[K"


class Line:
    """A line at the bottom of a terminal, that what the program prints pushes down."""

    def __init__(self, terminal: Any) -> None:
        self._terminal = terminal
        self._lock = threading.RLock()
        self._shown = False
        self.program_is_within_a_line = False

    def draw(self, text: str) -> None:
        """Shows a text in place of the last one, unless the program has not ended its own line."""
        with self._lock:
            if not self.program_is_within_a_line:
                self._terminal.write(ERASE + text[: self._width()])
                self._terminal.flush()
                self._shown = True

    def erase(self) -> None:
        """Makes room for what the program prints."""
        with self._lock:
            if self._shown:
                self._terminal.write(ERASE)
                self._terminal.flush()
                self._shown = False

    def end(self) -> None:
        """Leaves the last text where it is."""
        with self._lock:
            if self._shown:
                self._terminal.write("\n")
                self._terminal.flush()
                self._shown = False

    def _width(self) -> int:
        try:
            return os.get_terminal_size(self._terminal.fileno()).columns or 80
        except OSError:
            return 80


class Above:
    """An output of the program, on the same terminal: what it writes takes the place of the line."""

    def __init__(self, stream: Any, line: Line) -> None:
        self._stream = stream
        self._line = line

    def write(self, text: str) -> int:
        """Writes where the line was."""
        self._line.erase()
        if text:
            self._line.program_is_within_a_line = not text.endswith(("\n", "\r"))
        return self._stream.write(text)

    def writelines(self, lines: Any) -> None:
        """Writes several texts."""
        for text in lines:
            self.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Seen:
    """What is known of a graph: the loss that an optimizer was given last, and for fetches, if they train and which is a loss."""

    def __init__(self) -> None:
        self.minimized: Any = None
        self.kinds: dict[Any, tuple[bool, int | None]] = {}

    @classmethod
    def of(cls, graph: Graph) -> Seen:
        """Kept with the graph, so that it goes with it."""
        return vars(graph).setdefault("_seen_by_progress", cls())


class Watch:
    """Looks at the runs of sessions: which of them train, at what step they are and what the loss is."""

    def __init__(self, line: Line, clock: Any = time.monotonic) -> None:
        self._line = line
        self._clock = clock
        self._runs = 0
        self._start: tuple[int, int] | None = None
        self._loss: float | None = None
        self._next_draw = 0.0
        self._last_told = (0, 0)
        self._history: collections.deque[tuple[float, int]] = collections.deque()

    def install(self) -> None:
        """Puts itself around the sessions' `run` and the optimizers' `compute_gradients`."""
        from everflow.runtime.session import BaseSession
        from everflow.train.optimizer import Optimizer

        plain_run, plain_gradients = BaseSession.run, Optimizer.compute_gradients

        def run(session: Any, fetches: Any, feed_dict: dict[Any, Any] | None = None, options: Any = None, run_metadata: Any = None) -> Any:
            trains, loss_at = self._kind(session.graph, fetches)
            if not trains:
                return plain_run(session, fetches, feed_dict, options, run_metadata)
            due = self._clock() >= self._next_draw
            minimized = Seen.of(session.graph).minimized
            if due and loss_at is None and minimized is not None:
                found, loss = plain_run(session, (fetches, minimized), feed_dict, options, run_metadata)
            else:
                found = plain_run(session, fetches, feed_dict, options, run_metadata)
                loss = None if loss_at is None else _flat(found)[loss_at]
            self._runs += 1
            if due:
                self._tell(self._step(session, plain_run), loss)
            return found

        def compute_gradients(optimizer: Any, loss: Any, *args: Any, **kwargs: Any) -> Any:
            if getattr(loss, "graph", None) is not None and loss.shape.rank == 0:
                Seen.of(loss.graph).minimized = loss
            return plain_gradients(optimizer, loss, *args, **kwargs)

        BaseSession.run = run  # type: ignore[method-assign, assignment]
        Optimizer.compute_gradients = compute_gradients  # type: ignore[method-assign, assignment]

    def _kind(self, graph: Graph, fetches: Any) -> tuple[bool, int | None]:
        """Whether a run of these fetches trains, and which of them is a loss."""
        from everflow.runtime.runner import fetch_key

        seen, key = Seen.of(graph), fetch_key(fetches)
        found = seen.kinds.get(key)
        if found is None:
            elements = [_graph_element(graph, fetch) for fetch in _flat(fetches)]
            found = seen.kinds[key] = _trains(graph, elements), _place_of_loss(elements, seen.minimized)
        return found

    def _step(self, session: Any, plain_run: Any) -> int:
        """The global step, where there is one that grows, and else the number of runs that trained."""
        from everflow.errors import FailedPreconditionError
        from everflow.train.global_step import get_global_step

        counted = get_global_step(session.graph)
        if counted is None:
            return self._runs
        try:
            step = int(plain_run(session, counted))
        except FailedPreconditionError:
            return self._runs
        if self._start is None:
            self._start = step, self._runs
        grows = step != self._start[0] or self._runs == self._start[1]
        return step if grows else self._runs

    def _tell(self, step: int, loss: Any) -> None:
        now = self._clock()
        self._next_draw = now + SECONDS_BETWEEN_DRAWS
        self._last_told = (step, self._runs)
        if loss is not None:
            self._loss = float(loss)
        if self._history and step < self._history[-1][1]:
            # Another training began.
            self._history.clear()
        self._history.append((now, step))
        while now - self._history[0][0] > SECONDS_OF_SPEED and len(self._history) > 2:
            self._history.popleft()
        (before, first), last = self._history[0], step
        speed = f"  {(last - first) / (now - before):.1f} steps/s" if now > before else ""
        shown = "" if self._loss is None else f"  loss {self._loss:.4g}"
        self._line.draw(f"step {step}{shown}{speed}")

    def end(self) -> None:
        """Tells of the last run too, and leaves the line where it is."""
        step, runs = self._last_told
        if self._runs > runs:
            self._tell(step + self._runs - runs, None)
        self._line.end()


def _flat(structure: Any) -> list[Any]:
    import everflow as tf

    return tf.nest.flatten(structure)


def _graph_element(graph: Graph, fetch: Any) -> Any:
    try:
        return graph.as_graph_element(fetch)
    except (TypeError, ValueError, KeyError):
        # A sparse tensor or the like; the session knows what to do with it.
        return None


def _trains(graph: Graph, elements: list[Any]) -> bool:
    """Whether an op that an optimizer made is needed for the elements."""
    from everflow.graph.keys import GraphKeys

    train_ops = {getattr(item, "op", item) for item in graph.get_collection(GraphKeys.TRAIN_OP)}
    waiting = [getattr(element, "op", element) for element in elements if element is not None]
    seen = set(waiting)
    while waiting:
        op = waiting.pop()
        if op in train_ops or op.type.startswith(("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply")):
            return True
        for before in (*(tensor.op for tensor in op.inputs), *op.control_inputs):
            if before not in seen:
                seen.add(before)
                waiting.append(before)
    return False


def _place_of_loss(elements: list[Any], minimized: Any) -> int | None:
    """Which fetch is what is minimized, or a number whose name speaks of a loss."""
    scalars = [
        i
        for i, element in enumerate(elements)
        if getattr(element, "dtype", None) is not None and element.dtype.is_floating and element.shape.rank == 0
    ]
    for i in scalars:
        if elements[i] is minimized:
            return i
    return next((i for i in scalars if any(word in elements[i].name.lower() for word in ("loss", "cost"))), None)


def install() -> None:
    """Shows the line from now on, if standard error is a terminal."""
    if not sys.stderr.isatty():
        return
    line = Line(sys.stderr)
    sys.stderr = Above(sys.stderr, line)  # type: ignore[assignment]
    if sys.stdout.isatty():
        sys.stdout = Above(sys.stdout, line)  # type: ignore[assignment]
    watch = Watch(line)
    watch.install()
    atexit.register(watch.end)
