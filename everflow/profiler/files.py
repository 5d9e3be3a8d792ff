"""Views as files for other programs: timelines for Chrome, profiles for pprof."""

from __future__ import annotations

import gzip
import json
import os
import sys
from typing import Any

import everflow as tf
from everflow.profiler.model import ACCELERATOR, Frame, Model
from everflow.profiler.options import Options
from everflow.profiler.report import SELECT_DOCS
from everflow.profiler.views import COUNTED, Entry
from everflow.proto import profile_pb2

# What pprof can show, with its unit.
PPROF_UNITS = {
    "bytes": "bytes", "peak_bytes": "bytes", "residual_bytes": "bytes", "output_bytes": "bytes", "micros": "microseconds",
    "accelerator_micros": "microseconds", "cpu_micros": "microseconds", "params": "count", "float_ops": "count",
}  # fmt: skip


def write_timeline(kind: str, root: Entry, model: Model, options: Options) -> None:
    """Writes a step for chrome://tracing: when ops ran, or, of scopes and code, how the time adds up."""
    if options.step < 0:
        sys.stderr.write("Must set -step for timeline output.\n")
        return
    events = _op_events(root, options.step) if kind == "graph" else _nested_events(root)
    path = f"{options.outfile}_{options.step}"
    with tf.gfile.Open(path, "w") as file:
        file.write(json.dumps({"traceEvents": events}, separators=(",", ":")))
    stars = "*" * 54
    print(f"\n{stars}\nTimeline file is written to {path}.")
    print(f"Open a Chrome browser, enter URL chrome://tracing and load the timeline file.\n{stars}", flush=True)


def _process(number: int, name: str) -> dict[str, Any]:
    return {"args": {"name": name}, "name": "process_name", "ph": "M", "pid": number}


def _op_events(root: Entry, step: int) -> list[dict[str, Any]]:
    """A row for each device, with an event for each run of an op."""
    devices: dict[str, list[dict[str, Any]]] = {}
    for entry in root.walk():
        for op in entry.ops:
            run = op.runs.get(step)
            for device, execution in [*run.cpu_execs.items(), *run.accelerator_execs.items()] if run is not None else ():
                for started, took in (t.int64_values for t in execution.times):
                    event = {"args": {"name": op.name}, "cat": "Op", "dur": took, "name": op.name, "ph": "X", "ts": started}
                    devices.setdefault(device, []).append(event)
    headers, events = [], []
    for number, (device, own) in enumerate(sorted(devices.items(), key=lambda item: (ACCELERATOR in item[0], item[0]))):
        what = "execution" if ACCELERATOR in device else "scheduling"
        headers.append(_process(number, f"Op {what} threads: {device}"))
        # Runs that overlap go to rows of their own.
        free: list[int] = []
        for event in sorted(own, key=lambda e: e["ts"]):
            row = next((i for i, until in enumerate(free) if until <= event["ts"]), len(free))
            free[row : row + 1] = [event["ts"] + event["dur"]]
            events.append({**event, "pid": number, "tid": row})
    return headers + events


def _nested_events(root: Entry) -> list[dict[str, Any]]:
    """A row for each depth, with an event for each entry, as long as all that it holds took."""
    rows: list[list[dict[str, Any]]] = []

    def add(entry: Entry, depth: int, start: int) -> None:
        if depth == len(rows):
            rows.append([_process(depth, f"Scope:{depth}")])
        names = {"name": entry.name, "op": entry.name}
        rows[depth].append(
            {
                "args": names,
                "cat": "Op",
                "dur": entry.total["exec_micros"],
                "name": entry.name,
                "ph": "X",
                "pid": depth,
                "tid": 0,
                "ts": start,
            }
        )
        for child in entry.children:
            if child.total["exec_micros"]:
                add(child, depth + 1, start)
                start += child.total["exec_micros"]

    add(root, 0, 0)
    return [event for row in rows for event in row]


def write_pprof(kind: str, root: Entry, options: Options) -> None:
    """Writes the code view for pprof."""
    if kind != "code":
        sys.stderr.write("Only 'code' view supports pprof output now.\n")
    elif len(options.select) != 1:
        sys.stderr.write("Can only select 1 attribute for pprof output.\n")
    elif options.select[0] not in PPROF_UNITS:
        sys.stderr.write(f"pprof doesn't support -select={options.select[0]}\n")
    else:
        with tf.gfile.Open(options.outfile, "wb") as file:
            file.write(gzip.compress(_Pprof(options.select[0], root).profile.SerializeToString()))
        print(f"\nRun pprof -png --nodecount=100 --sample_index=1 <{options.outfile}>", flush=True)


class _Pprof:
    """A pprof profile of the code view: a sample for each op, at the lines that made it."""

    def __init__(self, selected: str, root: Entry) -> None:
        self.profile = profile_pb2.Profile()
        self._strings: dict[str, int] = {"": 0}
        self._functions: dict[tuple[str, str, int], int] = {}
        self._locations: dict[tuple[Frame, str], int] = {}
        self._counted = COUNTED[selected]
        self._add(root, [])
        count, unit = self._string("count"), self._string(PPROF_UNITS[selected])
        self.profile.sample_type.add(type=count, unit=count)
        self.profile.sample_type.add(type=self._string(selected), unit=unit)
        self.profile.comment.append(self._string(SELECT_DOCS[selected].splitlines()[0].partition(": ")[2]))
        self.profile.string_table.extend(self._strings)

    def _string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings))

    def _add(self, entry: Entry, above: list[int]) -> None:
        if entry.frame is not None:
            above = [self._location(entry.frame, entry.name), *above]
        for op in entry.ops:
            sample = self.profile.sample.add(location_id=above, value=[1, op.stats(-1)[self._counted]])
            sample.label.add(key=self._string("graph node:"), str=self._string(op.name))
        for child in entry.children:
            self._add(child, above)

    def _location(self, frame: Frame, name: str) -> int:
        mark = " (gradient)" if name.endswith(" (gradient)") else ""
        if (frame, mark) not in self._locations:
            self._locations[frame, mark] = number = len(self._locations) + 1
            self.profile.location.add(id=number).line.add(function_id=self._function(frame, mark), line=frame.line)
        return self._locations[frame, mark]

    def _function(self, frame: Frame, mark: str) -> int:
        shown = f"{os.path.splitext(os.path.basename(frame.file))[0]}:{frame.function}{mark}"
        key = (frame.file, shown, frame.start)
        if key not in self._functions:
            self._functions[key] = number = len(self._functions) + 1
            name, file = self._string(shown), self._string(frame.file)
            self.profile.function.add(id=number, name=name, filename=file, start_line=max(0, frame.start))
        return self._functions[key]
