"""tf.compat.v2.summary.trace_on and its kin: what a piece of a program runs, for the pages of graphs and profiles."""

from __future__ import annotations

import threading
from typing import Any

from everflow.api import internal, public
from everflow.eager import profiler as profiles
from everflow.eager.collected_graphs import disable_run_metadata, enable_run_metadata, export_run_metadata
from everflow.graph.scopes import is_eager_outside
from everflow.platform import logging
from everflow.summary.writing import run_metadata, run_metadata_graphs


class _Asked:
    """What is traced, if anything: graphs, profiles."""

    lock = threading.Lock()
    traced: tuple[bool, bool] | None = None


@public("compat.v2.summary.trace_on")
@internal("ops.summary_ops_v2.trace_on")
def trace_on(graph: bool = True, profiler: bool = False) -> None:
    """Begins to keep the graphs of functions that run for the first time, and a profile of what runs."""
    if not is_eager_outside():
        logging.warn("Must enable trace in eager mode.")
        return
    with _Asked.lock:
        if _Asked.traced:
            logging.warn("Trace already enabled")
            return
        if graph or profiler:
            enable_run_metadata()
        if profiler:
            profiles.start()
        _Asked.traced = (graph, profiler)


@public("compat.v2.summary.trace_export")
@internal("ops.summary_ops_v2.trace_export")
def trace_export(name: str, step: Any = None, profiler_outdir: str | None = None) -> None:
    """Ends a trace: graphs go to the default writer, the profile to a folder."""
    if not is_eager_outside():
        logging.warn("Can only export trace while executing eagerly.")
        return
    with _Asked.lock:
        if _Asked.traced is None:
            raise ValueError("Must enable trace before export.")
        graph, profiler = _Asked.traced
        if profiler and profiler_outdir is None:
            raise ValueError("Required profiler_outdir is not specified")
    write = run_metadata_graphs if graph and not profiler else run_metadata
    write(name, export_run_metadata(), step)
    if profiler and profiler_outdir is not None:
        profiles.save(profiler_outdir, profiles.stop())
    trace_off()


@public("compat.v2.summary.trace_off")
@internal("ops.summary_ops_v2.trace_off")
def trace_off() -> None:
    """Ends a trace; nothing is written."""
    with _Asked.lock:
        _Asked.traced = None
    disable_run_metadata()
    try:
        profiles.stop()
    except profiles.ProfilerNotRunningError:
        pass
