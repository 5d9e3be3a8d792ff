"""ProfileContext: profiles the steps of all sessions within a block, some of them or as it sees fit."""

from __future__ import annotations

import os
import random
import threading
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.profiler.analyzer import Profiler
from everflow.runtime.options import RunMetadata, RunOptions
from everflow.runtime.session import BaseSession

# How many traced steps are kept, and how many steps may be traced by chance.
WARM_UP_STEPS = 10
MAX_TRACED_STEPS = 100


@public("contrib.tfprof.ProfileContext", "contrib.tfprof.model_analyzer.ProfileContext")
@internal("profiler.profile_context.ProfileContext")
class ProfileContext:
    """Within `with ProfileContext(folder) as context:`, steps are traced, profiled and dumped to the folder."""

    def __init__(
        self, profile_dir: str, trace_steps: Any = None, dump_steps: Any = None, enabled: bool = True, debug: bool = False
    ) -> None:
        self._enabled, self._debug = enabled, debug
        if not enabled:
            return
        if not profile_dir:
            raise ValueError("Must have a directory for profile.\n")
        self._folder = profile_dir
        self._trace_steps = None if trace_steps is None else set(trace_steps)
        self._dump_steps = None if dump_steps is None else set(dump_steps)
        self._step = 0
        self._traced = 0
        self._trace_next = self._dump_next = False
        self._graph: Any = None
        self._profiler: Profiler | None = None
        self._automatic: list[tuple[str, dict[str, Any], set[int]]] = []
        self._views: dict[str, dict[int, Any]] = {}
        self._lock = threading.Lock()
        self._busy = False

    def add_auto_profiling(self, cmd: str, options: dict[str, Any], profile_steps: Any) -> None:
        """Has a view be made of some steps."""
        if self._enabled:
            self._automatic.append((cmd, options, set(profile_steps)))

    @property
    def profiler(self) -> Profiler | None:
        """The tf.profiler.Profiler that the steps go to."""
        if not self._enabled:
            return None
        if self._profiler is None and self._graph is not None:
            self._profiler = Profiler(self._graph)
        return self._profiler

    def get_profiles(self, cmd: str) -> dict[int, Any]:
        """{step: view} of the views that were made automatically."""
        if cmd not in self._views:
            raise ValueError(f"No autoprofiler for command: {cmd}, was run")
        return self._views[cmd]

    def trace_next_step(self) -> None:
        """Has the next step be traced."""
        self._trace_next = self._enabled

    def dump_next_step(self) -> None:
        """Has the profile be written after the next step."""
        self._dump_next = self._enabled

    def _wants_trace(self) -> bool:
        if self._trace_next or self._step in {s for *_, steps in self._automatic for s in steps}:
            return True
        if self._trace_steps is not None:
            return self._step in self._trace_steps
        # After some steps to warm up one is traced at once, others by chance.
        if self._step <= WARM_UP_STEPS or self._traced >= MAX_TRACED_STEPS:
            return False
        return self._traced == 0 or random.random() < 1 / MAX_TRACED_STEPS

    def run(self, plain: Any, session: Any, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any) -> Any:
        """Runs a step of a session, traced where it should be."""
        with self._lock:
            if self._busy:
                return plain(session, fetches, feed_dict, options, run_metadata)
            self._busy = True
        try:
            if self._graph is not session.graph:
                self._graph, self._profiler = session.graph, None
            traced = self._wants_trace()
            metadata = run_metadata if run_metadata is not None else RunMetadata()
            if traced:
                given = RunOptions()
                given.CopyFrom(options or RunOptions())
                given.trace_level = RunOptions.FULL_TRACE
                found = plain(session, fetches, feed_dict, given, metadata)
            else:
                found = plain(session, fetches, feed_dict, options, run_metadata)
            self._after(traced, metadata)
            return found
        finally:
            self._busy = False

    def _after(self, traced: bool, metadata: Any) -> None:
        step = self._step
        if traced and self.profiler is not None:
            self._traced += 1
            self.profiler.add_step(step, metadata)
            if self._debug:
                self._write(f"run_meta_{step}", metadata.SerializeToString())
        for kind, options, steps in self._automatic:
            if step in steps and self.profiler is not None:
                methods = {
                    "graph": self.profiler.profile_graph,
                    "scope": self.profiler.profile_name_scope,
                    "op": self.profiler.profile_operations,
                    "code": self.profiler.profile_python,
                }
                if kind not in methods:
                    raise ValueError(f"Unknown cmd: {kind}\n")
                self._views.setdefault(kind, {})[step] = methods[kind](options)
        wanted = step in self._dump_steps if self._dump_steps is not None else step == 100
        if (wanted or self._dump_next) and self.profiler is not None:
            self._write(f"profile_{step}", self.profiler.serialize_to_string())
            self._dump_next = False
        self._trace_next = False
        self._step += 1

    def _write(self, name: str, contents: bytes) -> None:
        tf.gfile.MakeDirs(self._folder)
        with tf.gfile.Open(os.path.join(self._folder, name), "wb") as file:
            file.write(contents)

    def __enter__(self) -> ProfileContext:
        if self._enabled:
            self._plain = plain = BaseSession.run
            context = self

            def run(self: Any, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
                return context.run(plain, self, fetches, feed_dict, options, run_metadata)

            BaseSession.run = run  # type: ignore[method-assign]
            BaseSession.profile_context = self  # type: ignore[attr-defined]
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, exc_tb: Any) -> None:
        if self._enabled:
            BaseSession.run = self._plain  # type: ignore[method-assign]
            del BaseSession.profile_context  # type: ignore[attr-defined]
