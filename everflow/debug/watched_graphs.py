"""What runs while it is watched: the graph of each device, with the nodes that copy watched outputs and look at the copies."""

from __future__ import annotations

from typing import Any

from everflow.debug import node_names
from everflow.debug.debug_options import Watch, Watches
from everflow.graph import dtypes
from everflow.runtime.executed_graphs import as_taken, device_of, executed_graphs, set_attrs
from everflow.runtime.lowering import Edge, Lowered

# What is copied by the host, where it lies on all devices.
_ON_HOST = (dtypes.string, dtypes.resource, dtypes.variant)


def watched_outputs(lowered: Lowered, watches: Watches) -> dict[Edge, Watch]:
    """{output: what looks at it}."""
    found: dict[Edge, Watch] = {}
    for unit in lowered.units:
        for slot, value in enumerate(unit.node.outputs):
            watch = watches.of(unit.name, slot, value.dtype)
            if watch is not None:
                found[unit, slot] = watch
    return found


def watched_graphs(lowered: Lowered, watched: dict[Edge, Watch]) -> dict[str, Any]:
    """{device: what runs there}."""

    def taken(edge: Edge) -> tuple[str, list[str]]:
        """Copies are taken where there are any, but for variables, and what takes one waits until it has been looked at."""
        name, _ = as_taken(edge)
        watch = watched.get(edge)
        if watch is None:
            return name, []
        source, slot = edge
        if not source.node.outputs[slot].dtype._is_ref_dtype:
            name = node_names.copy_node_name(source.name, slot)
        return name, [debug_op.node_name for debug_op in watch.debug_ops]

    graphs = executed_graphs(lowered, taken)
    for (unit, slot), watch in watched.items():
        device = device_of(unit.node)
        dtype = unit.node.outputs[slot].dtype.base_dtype
        copy, kind = node_names.copy_node_name(unit.name, slot), "CopyHost" if dtype in _ON_HOST else "Copy"
        entry = graphs[device].node.add(name=copy, op=kind, input=[as_taken((unit, slot))[0]])
        set_attrs(entry, kind, {"T": dtype, "tensor_name": "", "debug_ops_spec": watch.specs})
        for debug_op in watch.debug_ops:
            entry = graphs[device].node.add(name=debug_op.node_name, op=debug_op.kind, input=[copy])
            own = {"T": dtype, "device_name": device, "debug_urls": list(debug_op.urls)}
            set_attrs(entry, debug_op.kind, {**debug_op.attrs, **own})
    return graphs
