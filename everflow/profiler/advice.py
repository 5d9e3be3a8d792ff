"""What a profile suggests: the checkers of tf.profiler.advise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.profiler.model import Model
from everflow.profiler.options import Options, ProfileOptionBuilder
from everflow.profiler.report import time
from everflow.profiler.views import VIEWS, Entry
from everflow.proto import tfprof_output_pb2

# An accelerator that works less than this part of the time waits for something else.
LOW_UTILIZATION = 0.5
# What takes less than this part of the time is no news.
NEWSWORTHY = 0.01


def _view(model: Model, kind: str) -> Entry:
    options = ProfileOptionBuilder(ProfileOptionBuilder.time_and_memory(min_bytes=0)).with_empty_output().build()
    return VIEWS[kind](model, Options.of(options)).shown()


def _costs(stats: Any) -> str:
    return (
        f"cpu: {time(stats['cpu_exec_micros'])}, accelerator: {time(stats['accelerator_exec_micros'])}, total: {time(stats['exec_micros'])}"
    )


def _expensive_operations(model: Model) -> list[str]:
    """The costliest kinds of ops, names and lines of Python."""
    if not model.steps:
        return []
    reports = []
    kinds = _view(model, "op")
    whole, kind = kinds.total["exec_micros"], kinds
    lines: list[str] = []
    while kind.children and len(lines) < 3:
        kind = kind.children[0]
        share = 100 * kind.own["exec_micros"] / whole if whole else 0.0
        lines.append(f"top {len(lines) + 1} operation type: {kind.name}, {_costs(kind.own)} ({share:.2f}%)")
    reports.append("\n".join(lines))
    names = [child for child in _view(model, "scope").children if child.total["exec_micros"] > NEWSWORTHY * whole][:3]
    reports.append("\n".join(f"top {i} graph node: {child.name}, {_costs(child.own)}" for i, child in enumerate(names, 1)))
    if model.has_frames:
        lines_of_code = [child for child in _view(model, "code").children if child.total["exec_micros"] > NEWSWORTHY * whole][:3]
        reports.append("\n".join(f"{child.name}, {_costs(child.total)}" for child in lines_of_code))
    return reports


def _accelerator_utilization(model: Model) -> list[str]:
    """How busy each accelerator was between its first op and its last."""
    spans: dict[str, tuple[int, int, int]] = {}
    for node in model.nodes.values():
        for run in node.runs.values():
            for device, execution in run.accelerator_execs.items():
                # `/job:.../device:gpu:0/stream:all` is all that one accelerator did.
                if not device.startswith("/job:"):
                    continue
                for started, took in (t.int64_values for t in execution.times):
                    first, last, busy = spans.get(device, (started, started, 0))
                    spans[device] = min(first, started), max(last, started + took), busy + took
    reports = []
    for device, (first, last, busy) in sorted(spans.items()):
        utilization = busy / (last - first) if last > first else 0.0
        reports.append(f"device: {device} {'low ' if utilization < LOW_UTILIZATION else ''}utilization: {utilization:.2f}")
    return reports


def _operations(model: Model) -> list[str]:
    """Ops that could run in a better way."""
    for node in model.nodes.values():
        if "gpu" in node.device and "data_format" in node.attrs and node.attrs["data_format"].s == b"NHWC":
            return ["Found operation using NHWC data_format on GPU. Maybe NCHW is faster."]
    return []


CHECKERS: dict[str, Callable[[Model], list[str]]] = {
    "ExpensiveOperationChecker": _expensive_operations,
    "OperationChecker": _operations,
    "AcceleratorUtilizationChecker": _accelerator_utilization,
}


def advise(model: Model, wanted: dict[str, Any]) -> Any:
    """Runs the checkers that are wanted (all if none is named), prints what they say and returns it as an AdviceProto."""
    advice = tfprof_output_pb2.AdviceProto()
    for name, check in CHECKERS.items():
        if wanted and name not in wanted:
            continue
        reports = check(model)
        advice.checkers[name].reports.extend(reports)
        print(f"\n{name}:", *reports, sep="\n", flush=True)
    return advice
