"""What is known of each op of a graph: what it is, where it was made, and what each of its runs cost."""

from __future__ import annotations

import collections
import dataclasses
import math
from typing import Any

from everflow.proto import tfprof_log_pb2

# What is counted, by the names of the profile's messages.
STATS = (
    "exec_micros", "accelerator_exec_micros", "cpu_exec_micros", "requested_bytes", "peak_bytes", "residual_bytes", "output_bytes",
    "parameters", "float_ops", "run_count", "definition_count",
)  # fmt: skip
Stats = collections.Counter[str]
# The mark of devices whose times an accelerator itself has measured.
ACCELERATOR = "stream:all"


@dataclasses.dataclass(frozen=True)
class Frame:
    """A line of Python that was running when an op was made."""

    file: str
    line: int
    function: str
    text: str
    start: int


@dataclasses.dataclass
class OpNode:
    """An op, with what its runs cost by step."""

    name: str
    op: str
    number: int
    inputs: dict[int, str] = dataclasses.field(default_factory=dict)
    # Which output of the op that it comes from an input is.
    input_slots: dict[int, int] = dataclasses.field(default_factory=dict)
    # The static shape of the attribute `shape`, which variables and placeholders have; a scalar's is (1,).
    shape: tuple[int, ...] = ()
    output_shapes: dict[int, tuple[int, ...]] = dataclasses.field(default_factory=dict)
    attrs: dict[str, Any] = dataclasses.field(default_factory=dict)
    types: set[str] = dataclasses.field(default_factory=set)
    float_ops: int = 0
    frames: list[Frame] = dataclasses.field(default_factory=list)
    device: str = ""
    runs: dict[int, Any] = dataclasses.field(default_factory=dict)

    @property
    def parameters(self) -> int:
        """How many elements its shape has, if that is known."""
        return math.prod(self.shape) if self.shape and min(self.shape) >= 0 else 0

    def stats(self, step: int) -> Stats:
        """What the op cost in a step, or on average where `step` is -1."""
        steps = [step] if step >= 0 else sorted(self.runs)
        total: Stats = collections.Counter()
        for run in (self.runs[s] for s in steps if s in self.runs):
            accelerator, cpu = _micros(run.accelerator_execs), _micros(run.cpu_execs)
            total["exec_micros"] += accelerator + cpu
            total["accelerator_exec_micros"] += accelerator
            total["cpu_exec_micros"] += cpu
            total["run_count"] += run.run_count
            for memory in run.memory_execs:
                for key in ("requested_bytes", "peak_bytes", "residual_bytes", "output_bytes"):
                    total[key] += getattr(memory, key)
        for key in total:
            total[key] //= max(1, len(steps))
        total["parameters"] = self.parameters
        total["float_ops"] = self.float_ops * max(1, total["run_count"])
        total["definition_count"] = 1
        return total

    def executed(self, step: int) -> bool:
        """Whether the op ran in a step, or ever."""
        return step in self.runs if step >= 0 else bool(self.runs)


def _micros(executions: Any) -> int:
    return sum(time.int64_values[1] for device in executions.values() for time in device.times)


def _dims(shape: Any) -> tuple[int, ...] | None:
    """A shape message as sizes; None where the rank is unknown."""
    return None if shape.unknown_rank else tuple(d.size for d in shape.dim) or (1,)


class Model:
    """The ops of a graph, by name."""

    def __init__(self) -> None:
        self.nodes: dict[str, OpNode] = {}
        self.steps: set[int] = set()
        self.has_frames = False

    def add_graph(self, graph_def: Any) -> None:
        """Adds the ops of a GraphDef that are not known yet."""
        for node in graph_def.node:
            if node.name in self.nodes:
                continue
            known = self.nodes[node.name] = OpNode(node.name, node.op, len(self.nodes), types={node.op})
            for i, source in enumerate(node.input):
                name, _, slot = source.removeprefix("^").partition(":")
                known.inputs[i], known.input_slots[i] = name, int(slot or 0)
            for key, value in node.attr.items():
                known.attrs[key] = value
                if key == "shape" and value.HasField("shape"):
                    known.shape = _dims(value.shape) or ()
                if key == "_output_shapes":
                    shapes = [_dims(s) for s in value.list.shape]
                    known.output_shapes = {slot: shape for slot, shape in enumerate(shapes) if shape is not None}

    def add_op_log(self, log: Any) -> None:
        """Adds what an op log says of ops."""
        text = log.id_to_string
        for entry in log.log_entries:
            if (node := self.nodes.get(entry.name)) is None:
                continue
            node.types.update(entry.types)
            node.float_ops = entry.float_ops or node.float_ops
            if entry.code_def.traces:
                self.has_frames = True
                node.frames = [_frame(trace, text) for trace in entry.code_def.traces]

    def add_step(self, step: int, run_meta: Any) -> None:
        """Adds what the RunMetadata of a step says of runs."""
        self.steps.add(step)
        for stats in run_meta.step_stats.dev_stats:
            device = stats.device.lower()
            on_accelerator = ACCELERATOR in device
            for execution in stats.node_stats:
                name, _, detail = execution.node_name.partition(":")
                if detail and not on_accelerator:
                    continue
                if name not in self.nodes:
                    # What rewrites of the graph put there.
                    self.nodes[name] = OpNode(name, name, len(self.nodes), types={name})
                node = self.nodes[name]
                run = node.runs.setdefault(step, tfprof_log_pb2.ExecProfile())
                times = (run.accelerator_execs if on_accelerator else run.cpu_execs)[device].times
                started, took = execution.all_start_micros, max(1, execution.op_end_rel_micros)
                times.add(int64_values=[started, took])
                run.all_start_micros = min(run.all_start_micros or started, started)
                run.latest_end_micros = max(run.latest_end_micros, started + took)
                if device not in run.devices:
                    run.devices.append(device)
                if not on_accelerator:
                    run.run_count += 1
                    node.device = device
                    node.types.add(device)
                    _add_memory(run.memory_execs.add(memory_micros=started), execution)

    def input_shapes(self, node: OpNode) -> dict[int, tuple[int, ...] | None]:
        """The static shapes of an op's inputs, in order; None for one that is not known."""
        found: dict[int, tuple[int, ...] | None] = {}
        for i, source in sorted(node.inputs.items()):
            origin = self.nodes.get(source)
            found[i] = origin.output_shapes.get(node.input_slots.get(i, 0)) if origin is not None else None
        return found

    def to_proto(self) -> Any:
        """All of it as a ProfileProto."""
        proto, strings = tfprof_log_pb2.ProfileProto(has_trace=self.has_frames, steps=sorted(self.steps)), {"none": 0}
        for node in self.nodes.values():
            saved = proto.nodes[node.number]
            saved.name, saved.op, saved.id, saved.float_ops = node.name, node.op, node.number, node.float_ops
            saved.shape.extend(node.shape)
            saved.op_types.extend(sorted(node.types))
            saved.canonical_device = saved.host_device = node.device
            for i, source in node.inputs.items():
                if source in self.nodes:
                    saved.inputs[i] = self.nodes[source].number
                    saved.src_output_index[self.nodes[source].number] = node.input_slots[i]
            for slot, shape in node.output_shapes.items():
                saved.output_shapes[slot].int64_values.extend(shape)
            for key, value in node.attrs.items():
                saved.attrs[key].CopyFrom(value)
            for step, run in node.runs.items():
                saved.execs[step].CopyFrom(run)
            for frame in node.frames:
                file, function, line = (strings.setdefault(s, len(strings)) for s in (frame.file, frame.function, frame.text))
                saved.trace.traces.add(file_id=file, function_id=function, line_id=line, lineno=frame.line, func_start_line=frame.start)
        for text, number in strings.items():
            proto.id_to_string[number] = text
        return proto

    @classmethod
    def from_proto(cls, proto: Any) -> Model:
        """What a ProfileProto says."""
        model = cls()
        model.steps, model.has_frames = set(proto.steps), proto.has_trace
        for number, saved in sorted(proto.nodes.items()):
            node = model.nodes[saved.name] = OpNode(saved.name, saved.op, number)
            node.inputs = {i: proto.nodes[source].name for i, source in saved.inputs.items()}
            node.input_slots = {i: saved.src_output_index[source] for i, source in saved.inputs.items()}
            node.shape, node.float_ops, node.device = tuple(saved.shape), saved.float_ops, saved.canonical_device
            node.types = set(saved.op_types)
            node.output_shapes = {slot: tuple(shape.int64_values) for slot, shape in saved.output_shapes.items()}
            node.attrs, node.runs = dict(saved.attrs), dict(saved.execs)
            node.frames = [_frame(trace, proto.id_to_string) for trace in saved.trace.traces]
        return model


def _frame(trace: Any, text: Any) -> Frame:
    return Frame(
        trace.file or text[trace.file_id],
        trace.lineno,
        trace.function or text[trace.function_id],
        trace.line or text[trace.line_id],
        trace.func_start_line,
    )


def _add_memory(memory: Any, execution: Any) -> None:
    for used in execution.memory:
        memory.requested_bytes += used.total_bytes
        memory.peak_bytes += used.peak_bytes
        memory.residual_bytes += used.live_bytes
    for output in execution.output:
        allocation = output.tensor_description.allocation_description
        memory.output_bytes += allocation.allocated_bytes
        memory.output_memory[output.slot].bytes = allocation.allocated_bytes
        memory.output_memory[output.slot].ptr = allocation.ptr
