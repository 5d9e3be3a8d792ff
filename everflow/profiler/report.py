"""Views as text and as messages."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from everflow.profiler.model import STATS, Model, OpNode
from everflow.profiler.options import Options
from everflow.profiler.views import ROOT, Entry
from everflow.proto import tfprof_output_pb2

VIEW_DOCS = {
    "scope": "scope: The nodes in the model graph are organized by their names, which is hierarchical like filesystem.",
    "graph": "scope: The nodes in the model graph are organized by their names, which is hierarchical like filesystem.",
    "op": "op: The nodes are operation kernel type, such as MatMul, Conv2D. Graph nodes belonging to the same type are aggregated "
    "together.",
    "code": "code: When python trace is available, the nodes are python lines and their are organized by the python call stack.",
}
_CPU = (
    "cpu execution time: The time from the start to the end of the operation. It's the sum of actual cpu run time plus the time that it "
    "spends waiting if part of computation is launched asynchronously."
)
_ACCELERATOR = (
    "accelerator execution time: Time spent executing on the accelerator. This is normally measured by the actual hardware library."
)
_TOTAL = "total execution time: Sum of accelerator execution time and cpu execution time."
SELECT_DOCS = {
    "bytes": "requested bytes: The memory requested by the operation, accumulatively.",
    "peak_bytes": "peak bytes: The peak amount of memory that the operation is holding at some point.",
    "residual_bytes": "residual bytes: The memory not de-allocated after the operation finishes.",
    "output_bytes": "output bytes: The memory that is output from the operation (not necessarilty allocated by the operation)",
    "micros": "\n".join((_TOTAL, _CPU, _ACCELERATOR)),
    "accelerator_micros": _ACCELERATOR,
    "cpu_micros": _CPU,
    "params": "param: Number of parameters (in the Variable).",
    "float_ops": "flops: Number of float operations. Note: Please read the implementation for the math behind it.",
    "tensor_value": "tensor_value: Not supported now.",
    "device": "device: which device is placed on.",
    "op_types": "op_types: The attributes of the operation, includes the Kernel name device placed on and user-defined strings.",
    "occurrence": "occurrence: The number of times it occurs",
    "input_shapes": "input shape: The shape of input tensors",
}
NAME_WIDTH, VALUE_WIDTH, OCCURRENCE_WIDTH = 25, 30, 10


def number(n: int) -> str:
    """41418 as 41.42k."""
    for size, unit in ((10**9, "b"), (10**6, "m"), (10**3, "k")):
        if n >= size:
            return f"{n / size:.2f}{unit}"
    return str(n)


def time(micros: int) -> str:
    """65164 as 65.16ms."""
    for size, unit in ((10**6, "sec"), (10**3, "ms")):
        if micros >= size:
            return f"{micros / size:.2f}{unit}"
    return f"{micros}us"


def memory(size: int) -> str:
    """524288 as 524.29KB."""
    for least, unit in ((10**6, "MB"), (10**3, "KB")):
        if size >= least:
            return f"{size / least:.2f}{unit}"
    return f"{size}B"


class Column:
    """A count that reports show: its title, and how its values are written."""

    def __init__(self, title: str, counted: str, write: Callable[[int], str], unit: str = "", op_unit: str = "") -> None:
        self.title, self.counted, self._write, self._unit, self._op_unit = title, counted, write, unit, op_unit

    def of_tree(self, entry: Entry) -> str:
        """An entry's own count and its total."""
        own = self._write(entry.own[self.counted]) if entry.accounted else "--"
        return f"{own}/{self._write(entry.total[self.counted])}{self._unit}"

    def of_kind(self, entry: Entry, root: Entry) -> str:
        """A kind's own count, and which part of all it is with those that follow and alone."""
        whole, own = root.total[self.counted], entry.own[self.counted]
        following = 0.0 if not whole or not own and not self._op_unit else 100 * entry.total[self.counted] / whole
        alone = 100 * own / whole if whole else 0.0
        return f"{self._write(own)}{self._op_unit} ({following:.2f}%, {alone:.2f}%)".rjust(VALUE_WIDTH)


_BYTES = {
    "bytes": Column("requested bytes", "requested_bytes", memory),
    "peak_bytes": Column("peak bytes", "peak_bytes", memory),
    "residual_bytes": Column("residual bytes", "residual_bytes", memory),
    "output_bytes": Column("output bytes", "output_bytes", memory),
}
_MICROS = {
    "micros": Column("total execution time", "exec_micros", time),
    "accelerator_micros": Column("accelerator execution time", "accelerator_exec_micros", time),
    "cpu_micros": Column("cpu execution time", "cpu_exec_micros", time),
}
_COUNTS = {
    "params": Column("# parameters", "parameters", number, " params", " params"),
    "float_ops": Column("# float_ops", "float_ops", number, " flops", " float_ops"),
}


def columns(kind: str, select: list[str]) -> dict[str, Column]:
    """The counts that were selected, in the order in which a view shows them."""
    wanted = {*select, *(_MICROS if "micros" in select else ())}
    order = {**_COUNTS, **_BYTES, **_MICROS} if kind in ("scope", "graph") else {**_BYTES, **_MICROS, **_COUNTS}
    return {key: column for key, column in order.items() if key in wanted}


def report(kind: str, root: Entry, model: Model, options: Options) -> str:
    """What a view looks like: a legend and a line for each entry."""
    shown = columns(kind, options.select)
    counting = "op count (run|defined)" if kind in ("scope", "graph") else "op occurrence (run|defined)"
    titles = {"device": "assigned devices", "op_types": "op types", "occurrence": counting, "input_shapes": "input shapes"}
    header = [*(column.title for column in shown.values()), *(title for key, title in titles.items() if key in options.select)]
    docs = [VIEW_DOCS[kind], *(SELECT_DOCS.get(s, f"Unknown select: {s}") for s in options.select)]
    lines = ["", "Doc:", *docs, "", "Profile:", "node name | " + " | ".join(header)]
    if kind == "op":
        entry = root
        while entry.children:
            entry = entry.children[0]
            lines.append(_kind_line(entry, root, shown, model, options))
    else:
        describe = _code_line if kind == "code" else _node_line
        pending = [(root, 0)]
        while pending:
            entry, depth = pending.pop()
            lines.append("  " * depth + f"{entry.name} ({', '.join(describe(entry, shown, model, options))})")
            pending += [(child, depth + 1) for child in reversed(entry.children)]
    return "\n".join(lines) + "\n"


def _node_line(entry: Entry, shown: dict[str, Column], model: Model, options: Options) -> list[str]:
    """What the scope and graph views say of an op."""
    node = entry.ops[0] if entry.ops else None
    parts = [column.of_tree(entry) for column in shown.values()]
    if "params" in shown and node is not None and node.shape:
        parts[0] = f"{_sizes(node.shape)}, {parts[0]}"
    if "device" in options.select and node is not None and node.device:
        parts.append(node.device)
    if "op_types" in options.select:
        parts.append("|".join(sorted(entry.types)))
    if "occurrence" in options.select:
        run, defined = (str(entry.own[k]) if entry.accounted else "--" for k in ("run_count", "definition_count"))
        parts.append(f"{run}/{entry.total['run_count']}|{defined}/{entry.total['definition_count']}")
    if "input_shapes" in options.select:
        parts.append("|".join(_input_shapes(node, model)) if node is not None else "")
    return parts


def _code_line(entry: Entry, shown: dict[str, Column], model: Model, options: Options) -> list[str]:
    """What the code view says of a line of Python."""
    parts = [column.of_tree(entry) for column in shown.values()]
    if "device" in options.select:
        parts.append(_devices(entry))
    if "op_types" in options.select and entry.types:
        parts.append("|".join(sorted(entry.types)))
    return parts + [f"{s} N/A in code view" for s in ("occurrence", "input_shapes") if s in options.select]


def _kind_line(entry: Entry, root: Entry, shown: dict[str, Column], model: Model, options: Options) -> str:
    """What the op view says of a kind of op."""
    parts = [column.of_kind(entry, root) for column in shown.values()]
    if "device" in options.select:
        parts.append(_devices(entry))
    if "op_types" in options.select:
        parts.append("|".join(sorted(entry.types)))
    if "occurrence" in options.select:
        parts.append(f"{entry.own['run_count']}|{len(entry.ops)}".rjust(OCCURRENCE_WIDTH))
    line = entry.name.ljust(NAME_WIDTH) + ", ".join(parts)
    if "input_shapes" not in options.select:
        return line
    groups: dict[str, collections.Counter[str]] = {}
    for op in entry.ops:
        groups.setdefault(",\t".join(_input_shapes(op, model)), collections.Counter()).update(op.stats(options.step))
    ordered = sorted(sorted(groups.items()), key=lambda item: -item[1]["exec_micros"])
    details = [
        f"input_type: {shapes}\t(run*{c['run_count']}|defined*{c['definition_count']})\texec_time: {time(c['exec_micros'])}"
        for shapes, c in ordered
    ]
    return "\n".join((line, "", *details, ""))


def _devices(entry: Entry) -> str:
    return "|".join(sorted({op.device for op in entry.ops}))


def _sizes(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def _input_shapes(node: OpNode, model: Model) -> list[str]:
    shapes = model.input_shapes(node)
    return [f"{i}:{_sizes(shape) if shape else 'unknown'}" for i, shape in shapes.items()]


def to_proto(kind: str, root: Entry, model: Model, options: Options) -> Any:
    """A view as the message that `profile` returns."""
    if kind in ("scope", "graph"):
        proto = tfprof_output_pb2.GraphNodeProto()
        _fill_graph_node(proto, root, model)
        return proto
    proto = tfprof_output_pb2.MultiGraphNodeProto()
    pending = [(proto, root)]
    while pending:
        target, entry = pending.pop()
        target.name = entry.name
        _set_counts(target, entry, [s for s in STATS if s not in ("run_count", "definition_count")])
        for op in entry.ops:
            alone = Entry(op.name, ops=[op], own=op.stats(options.step))
            alone.sum_up()
            _fill_graph_node(target.graph_nodes.add(), alone, model)
        pending += [(target.children.add(), child) for child in entry.children]
    return proto


def _fill_graph_node(proto: Any, root: Entry, model: Model) -> None:
    pending = [(proto, root)]
    while pending:
        target, entry = pending.pop()
        target.name = entry.name
        _set_counts(target, entry, STATS)
        for node in entry.ops:
            if node.device:
                target.devices.append(node.device)
            for i, shape in model.input_shapes(node).items():
                for size in shape or ():
                    target.input_shapes[i].dim.add(size=size)
        pending += [(target.children.add(), child) for child in entry.children]


def _set_counts(target: Any, entry: Entry, counted: Any) -> None:
    for key in counted:
        if key != "definition_count" and entry.name != ROOT and entry.accounted:
            setattr(target, key, entry.own[key])
        setattr(target, "total_" + key, entry.total[key])
