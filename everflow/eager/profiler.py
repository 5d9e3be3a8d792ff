"""Traces of what runs: which ops and functions, when and for how long, for TensorBoard's profile plugin."""

from __future__ import annotations

import datetime
import os
import threading
import time
from typing import Any

from everflow.api import internal
from everflow.eager import execute
from everflow.io import gfile
from everflow.io.events import EventsWriter
from everflow.platform import logging
from everflow.proto import trace_events_pb2
from everflow.runtime.tracing import observed

# TensorBoard looks for profiles only beside a file of events.
_EMPTY = ".profile-empty"
_FOLDER = os.path.join("plugins", "profile")


@internal("eager.profiler.ProfilerAlreadyRunningError")
class ProfilerAlreadyRunningError(Exception):
    """A second profile was asked for while one was being made."""


@internal("eager.profiler.ProfilerNotRunningError")
class ProfilerNotRunningError(Exception):
    """The end of a profile was asked for that nobody had begun."""


class Profile:
    """What ran since its beginning."""

    def __init__(self) -> None:
        self._began = time.time_ns()
        self._events: list[tuple[str, str, int, int, int]] = []
        execute.TRACES.append(self.note)
        self._observing = observed(lambda node, began, ended, _: self.note(node.type, node.name, began, ended))
        self._observing.__enter__()

    def note(self, kind: str, name: str | None, began: int, ended: int) -> None:
        """An op or function that ran."""
        self._events.append((kind, f"{name or kind}:{kind}", threading.get_ident() & 0x7FFFFFFF, began, ended))

    def end(self) -> Any:
        """The trace, as a message."""
        execute.TRACES.remove(self.note)
        self._observing.__exit__(None, None, None)
        trace = trace_events_pb2.Trace()
        host = trace.devices[0]
        host.name = "/host:CPU"
        for kind, name, thread, began, ended in self._events:
            host.resources[thread].name = "python"
            host.resources[thread].resource_id = thread
            trace.trace_events.add(
                resource_id=thread,
                name=kind,
                timestamp_ps=max(began - self._began, 0) * 1000,
                duration_ps=(ended - began) * 1000,
                args={"long name": name},
            )
        return trace


class _Running:
    lock = threading.Lock()
    profile: Profile | None = None


@internal("eager.profiler.start")
def start() -> None:
    """Begins a profile."""
    with _Running.lock:
        if _Running.profile is not None:
            raise ProfilerAlreadyRunningError("Another profiler is running.")
        _Running.profile = Profile()


@internal("eager.profiler.stop")
def stop() -> bytes:
    """Ends the profile; returns its trace, serialized."""
    return stop_trace().SerializeToString()


def stop_trace() -> Any:
    """The same, as a message."""
    with _Running.lock:
        if _Running.profile is None:
            raise ProfilerNotRunningError("Cannot stop profiling. No profiler is running.")
        profile, _Running.profile = _Running.profile, None
    return profile.end()


@internal("eager.profiler.maybe_create_event_file")
def maybe_create_event_file(logdir: str) -> None:
    """Writes the file of events by which TensorBoard finds profiles, unless there is one."""
    if not any(name.endswith(_EMPTY) for name in gfile.list_directory_v2(logdir)):
        writer = EventsWriter(os.path.join(logdir, "events"))
        writer.InitWithSuffix(_EMPTY)
        writer.Close()


def write_trace(logdir: str, session: str, host: str, trace: bytes) -> None:
    """Puts a host's trace where TensorBoard looks for it."""
    folder = os.path.join(logdir, _FOLDER, session)
    gfile.recursive_create_dir_v2(folder)
    maybe_create_event_file(logdir)
    with gfile.GFile(os.path.join(folder, host + ".trace"), "wb") as out:
        out.write(trace)


def new_session() -> str:
    """A name for a profile: when it was made."""
    return datetime.datetime.now().strftime("%Y-%m-%d_%H-%M-%S")


@internal("eager.profiler.save")
def save(logdir: str, result: bytes) -> None:
    """Writes a trace for TensorBoard."""
    write_trace(logdir, new_session(), "local", result)


@internal("eager.profiler.Profiler")
class Profiler:
    """`with Profiler(logdir):` writes a profile of what runs inside."""

    def __init__(self, logdir: str) -> None:
        self._logdir = logdir

    def __enter__(self) -> None:
        start()

    def __exit__(self, *_: Any) -> None:
        save(self._logdir, stop())


class _ServersOfProcess:
    # Servers last as long as the process.
    kept: list[Any] = []


@internal("eager.profiler.start_profiler_server")
def start_profiler_server(port: int) -> None:
    """Lets other processes ask for profiles of this one."""
    from everflow.distribute.profiler_service import serve

    _ServersOfProcess.kept.append(serve(port))
    logging.info("Profiling server listening on 0.0.0.0:%d", port)
