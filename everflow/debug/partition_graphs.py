"""Graphs as they ran, with and without what the debugger added to them."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.debug import node_names
from everflow.debug.node_names import get_node_name, is_copy_node, is_debug_node
from everflow.graph import opdefs
from everflow.platform import logging
from everflow.proto import graph_pb2


@internal("debug.lib.debug_graphs.DebugGraph")
class DebugGraph:
    """One device's graph: who takes what from whom, without the nodes that copy and look at watched tensors."""

    def __init__(self, debug_graph_def: Any, device_name: str | None = None) -> None:
        self._debug_graph_def = debug_graph_def
        self._plain_graph_def: Any = None
        self._device_name = device_name if device_name else device_of_graph(debug_graph_def)
        self._attributes: dict[str, Any] = {}
        self._op_types: dict[str, str] = {}
        self._devices: dict[str, set[str | None]] = {}
        self._inputs: dict[str, list[str]] = {}
        self._control_inputs: dict[str, list[str]] = {}
        self._reversed_refs: dict[str, list[str]] = {}
        self._recipients: dict[str, list[str]] = {}
        self._control_recipients: dict[str, list[str]] = {}
        self._watches: dict[str, dict[int, list[str]]] = {}
        sources = _copied_tensors(debug_graph_def)
        for node in debug_graph_def.node:
            if is_debug_node(node.name):
                watched, slot, _, debug_op = node_names.parse_debug_node_name(node.name)
                seen = self._watches.setdefault(watched, {}).setdefault(slot, [])
                if debug_op not in seen:
                    seen.append(debug_op)
            elif not is_copy_node(node.name):
                self._add(node, sources)
        for name in self._inputs:
            self._recipients.setdefault(name, [])
            self._control_recipients.setdefault(name, [])
        for name, elements in self._inputs.items():
            for element in elements:
                self._recipients.setdefault(get_node_name(element), []).append(name)
            for before in self._control_inputs[name]:
                self._control_recipients.setdefault(get_node_name(before), []).append(name)

    def _add(self, node: Any, sources: dict[str, str]) -> None:
        if node.name in self._inputs:
            raise ValueError(f"Duplicate node name on device {self._device_name}: '{node.name}'")
        self._attributes[node.name] = node.attr
        self._op_types[node.name] = node.op
        self._devices[node.name] = {node.device or self._device_name}
        taken = [sources.get(i, i) for i in node.input if not i.startswith("^")]
        self._inputs[node.name] = taken
        self._control_inputs[node.name] = [i[1:] for i in node.input if i.startswith("^") and not is_debug_node(i[1:])]
        for place in _written_inputs(node):
            self._reversed_refs.setdefault(get_node_name(taken[place]), []).append(node.name)

    @property
    def device_name(self) -> str | None:
        """The device of the graph."""
        return self._device_name

    @property
    def debug_graph_def(self) -> Any:
        """The graph as it ran."""
        return self._debug_graph_def

    @property
    def non_debug_graph_def(self) -> Any:
        """The graph as it would have run without the debugger."""
        if self._plain_graph_def is None:
            self._plain_graph_def = self._without_debugger()
        return self._plain_graph_def

    def _without_debugger(self) -> Any:
        plain = graph_pb2.GraphDef(versions=self._debug_graph_def.versions)
        for node in self._debug_graph_def.node:
            if is_copy_node(node.name) or is_debug_node(node.name):
                continue
            kept = plain.node.add()
            kept.CopyFrom(node)
            del kept.input[:]
            kept.input.extend(self._inputs[node.name])
            kept.input.extend("^" + before for before in self._control_inputs[node.name])
        return plain

    @property
    def node_devices(self) -> dict[str, set[str | None]]:
        """{node: its devices}."""
        return self._devices

    @property
    def node_op_types(self) -> dict[str, str]:
        """{node: the type of its op}."""
        return self._op_types

    @property
    def node_attributes(self) -> dict[str, Any]:
        """{node: its attributes}."""
        return self._attributes

    @property
    def node_inputs(self) -> dict[str, list[str]]:
        """{node: the names of its inputs}, where the first output of a node is called by the node's name alone."""
        return self._inputs

    @property
    def node_ctrl_inputs(self) -> dict[str, list[str]]:
        """{node: the nodes that it waits for}."""
        return self._control_inputs

    @property
    def node_reversed_ref_inputs(self) -> dict[str, list[str]]:
        """{node: the nodes that write through a reference that it gives}."""
        return self._reversed_refs

    @property
    def node_recipients(self) -> dict[str, list[str]]:
        """{node: the nodes that take its outputs}, once for each edge."""
        return self._recipients

    @property
    def node_ctrl_recipients(self) -> dict[str, list[str]]:
        """{node: the nodes that wait for it}."""
        return self._control_recipients

    @property
    def watches(self) -> dict[str, dict[int, list[str]]]:
        """{node: {output slot: the debug ops that look at it}}."""
        return self._watches


def _copied_tensors(graph_def: Any) -> dict[str, str]:
    """{how other nodes take a copy: the name of what was copied}."""
    found = {}
    for node in graph_def.node:
        if is_copy_node(node.name) and node.input:
            found[node.name] = found[node.name + ":0"] = node.input[0]
    return found


def _written_inputs(node: Any) -> list[int]:
    """The inputs through which a node changes a variable."""
    definition = opdefs.find(node.op)
    if definition is None or not definition.takes_refs:
        return []
    # Ops with references take no lists before them, so that an argument's place is the input's.
    return [i for i, arg in enumerate(definition.inputs) if arg.is_ref and i < len(node.input)]


def device_of_graph(graph_def: Any) -> str | None:
    """The device that the nodes of a graph name."""
    for node in graph_def.node:
        if node.device:
            return node.device
    logging.warn("Failed to infer device name from partition GraphDef: none of the nodes of the GraphDef has a non-empty device name.")
    return None


internal("debug.lib.debug_graphs._infer_device_name")(device_of_graph)


@internal("debug.lib.debug_graphs.reconstruct_non_debug_graph_def")
def reconstruct_non_debug_graph_def(debug_graph_def: Any) -> Any:
    """A graph as it would have run without the debugger."""
    return DebugGraph(debug_graph_def).non_debug_graph_def
