"""Where ops run: the device that each asks for must exist, and may be told to the user."""
from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from everflow import errors
from everflow.graph.devices import DeviceSpec
from everflow.graph.interpolation import described
from everflow.graph.operation import Operation
from everflow.runtime.devices import GPU, device_counts, list_devices


class Placer:
    """Places the ops of a session's graph, each once."""

    default_device = "/job:localhost/replica:0/task:0/device:CPU:0"

    def __init__(self, config: Any) -> None:
        self._config = config
        self._is_soft = config is not None and config.allow_soft_placement
        self._logs = config is not None and config.log_device_placement
        self._only_what_runs = config is not None and config.graph_options.place_pruned_graph
        self._graph_ops_placed = 0
        self._placed: set[Operation] = set()
        self._counts: dict[str, int] = {}

    def place_graph(self, graph: Any) -> None:
        """Places what was added to the graph, needed or not, unless the session is to look only at what it runs."""
        if not self._only_what_runs:
            added = graph._ops[self._graph_ops_placed:]
            self.place(added)
            self._graph_ops_placed += len(added)

    def place(self, ops: Iterable[Operation]) -> None:
        """Raises for an op that asks for a device this session does not have, unless soft placement allows another."""
        for op in ops:
            if op in self._placed or not (op._device or self._logs):
                continue
            device = self.device_of(op)
            self._placed.add(op)
            if self._logs:
                self._log(op, device)

    def device_of(self, op: Operation) -> str:
        """The full name of the device that an op runs on."""
        counts = self._counts = self._counts or device_counts(self._config)
        spec = DeviceSpec.from_string(op._device)
        kind, index = (spec.device_type or "CPU").upper(), spec.device_index or 0
        is_here = spec.job in (None, "localhost") and spec.task in (None, 0) and spec.replica in (None, 0)
        if is_here and index < counts.get(kind, 0):
            return f"/job:localhost/replica:0/task:0/device:{kind}:{index}"
        if is_here and self._is_soft:
            return self.default_device
        available = ", ".join(d.name for d in list_devices(self._config))
        hint = " The requested device appears to be a GPU, but CUDA is not enabled." if kind == GPU and not counts[GPU] else ""
        raise errors.InvalidArgumentError(
            op.node_def, op,
            f"Cannot assign a device for operation {op.name}: {described(op)} was explicitly assigned to {op._device} but available "
            f"devices are [ {available} ]. Make sure the device specification refers to a valid device.{hint}\n\t [[{op.name}]]")

    def _log(self, op: Operation, device: str) -> None:
        if len(self._placed) == 1:
            print("Device mapping:", *(d.name for d in list_devices(self._config)), sep="\n", file=sys.stderr)
        print(f"{op.name}: ({op.type}): {device}", file=sys.stderr)
