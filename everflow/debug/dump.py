"""A dump as a whole: what was dumped in a run, and the graphs that the run executed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from everflow.api import internal
from everflow.debug import dump_files, graph_walk
from everflow.debug.dump_files import DebugTensorDatum, device_path_to_device_name, is_graph_file
from everflow.debug.node_names import get_node_name, parse_node_or_tensor_name, watch_key
from everflow.debug.origins import Origins
from everflow.debug.partition_graphs import DebugGraph
from everflow.io.gfile import file_exists

Predicate = Callable[[DebugTensorDatum, Any], bool]


@internal("debug.lib.debug_data.WatchKeyDoesNotExistInDebugDumpDirError")
class WatchKeyDoesNotExistInDebugDumpDirError(ValueError):
    """Nothing was dumped for a watch."""


class _Device:
    """What was dumped of one device, in the order of time, and the graph that ran there."""

    def __init__(self, data: list[DebugTensorDatum]) -> None:
        self.data = data
        self.graph_defs: list[Any] = []
        self.graph: DebugGraph | None = None
        self.by_key: dict[str, list[DebugTensorDatum]] = {}
        for datum in data:
            self.by_key.setdefault(datum.watch_key, []).append(datum)

    def dumped_keys(self, node_name: str) -> list[str]:
        """The watches of a node for which there are dumps."""
        found = {(d.output_slot, d.debug_op): d.watch_key for d in self.data if d.node_name == node_name}
        return [found[place] for place in sorted(found)]


@internal("debug.lib.debug_data.DebugDumpDir")
class DebugDumpDir:
    """What a debugged run left in a folder. See docs/debugger.md.

    `partition_graphs` are the graphs of the run's RunMetadata; those in the folder serve where they are not given. `validate`
    has the dumps compared with the graphs: each must be of a known node, and not older than what the node computed it from.
    """

    def __init__(self, dump_root: str, partition_graphs: Any = None, validate: bool = True) -> None:
        if not file_exists(dump_root):
            raise OSError(f"Dump root directory {dump_root} does not exist")
        self._dump_root = dump_root
        self._python_graph: Any = None
        self._origins: Origins | None = None
        self._core_metadata = [
            dump_files.extract_core_metadata_from_event_proto(dump_files.read_event(path))
            for path in dump_files.matching(dump_root, dump_files.CORE_METADATA_TAG)
        ]
        self._fetches_info = [dump_files.load_message(p) for p in dump_files.matching(dump_root, dump_files.FETCHES_INFO_FILE_TAG)]
        self._feeds_info = [dump_files.load_message(p) for p in dump_files.matching(dump_root, dump_files.FEED_KEYS_INFO_FILE_TAG)]
        self._devices: dict[str, _Device] = {}
        for folder in dump_files.matching(dump_root, dump_files.DEVICE_TAG):
            self._load_device(folder)
        self._load_graphs(partition_graphs, validate)

    def _load_device(self, folder: str) -> None:
        data, graphs = [], []
        for place, _, names in os.walk(folder):
            for name in sorted(names):
                path = os.path.join(place, name)
                if is_graph_file(name):
                    graphs.append(path)
                elif not name.startswith(dump_files.METADATA_FILE_PREFIX):
                    data.append(DebugTensorDatum(self._dump_root, os.path.relpath(path, self._dump_root)))
        data.sort(key=lambda datum: (datum.order, datum.watch_key))
        device = self._devices[device_path_to_device_name(folder)] = _Device(data)
        # Of several runs' graphs the oldest describes the device.
        device.graph_defs = [dump_files.load_graph_def(path) for path in sorted(graphs, key=_time_of)]

    def _load_graphs(self, given: Any, validate: bool) -> None:
        """Finds each device's graph: among those given, or in its folder."""
        if given:
            for graph_def in given:
                graph = DebugGraph(graph_def)
                if graph.device_name in self._devices:
                    self._devices[graph.device_name].graph = graph
        for name, device in self._devices.items():
            if device.graph is None and device.graph_defs:
                device.graph = DebugGraph(device.graph_defs[0], device_name=name)
            if device.graph is not None and validate:
                _check_nodes(name, device)
                _check_times(device)

    def _graphs(self, lacking: str = "No partition graphs have been loaded.") -> dict[str, DebugGraph]:
        found = {name: device.graph for name, device in self._devices.items() if device.graph is not None}
        if not found:
            raise LookupError(lacking)
        return found

    def _device_with(self, device_name: str | None, node_name: str) -> str:
        """The device that is named, or else the only one that has the node."""
        if device_name is not None:
            return device_name
        having = [n for n, d in self._devices.items() if d.graph is not None and node_name in d.graph.node_inputs]
        if not having:
            raise ValueError(f"None of the {len(self._devices)} device(s) has a node named '{node_name}'.")
        if len(having) > 1:
            raise ValueError(f"There are multiple ({len(having)}) devices with nodes named '{node_name}' but device_name is not specified.")
        return having[0]

    def _graph_with(self, device_name: str | None, node_name: str, what: str) -> DebugGraph:
        graphs = self._graphs(f"{what} are not loaded from partition graphs yet.")
        return graphs[self._device_with(device_name, node_name)]

    def set_python_graph(self, python_graph: Any) -> None:
        """Gives the `tf.Graph` from which the run was made, for the places where its ops were created."""
        self._origins = Origins(python_graph) if python_graph else None
        self._python_graph = python_graph

    @property
    def python_graph(self) -> Any:
        """The `tf.Graph` that was set, or None."""
        return self._python_graph

    @property
    def core_metadata(self) -> Any:
        """Which run it was, a CoreMetadata; a list of them if there were several."""
        return self._core_metadata[0] if len(self._core_metadata) == 1 else self._core_metadata

    @property
    def dumped_tensor_data(self) -> list[DebugTensorDatum]:
        """All dumps, device by device in the order of time."""
        if len(self._devices) == 1:
            return next(iter(self._devices.values())).data
        return sorted((datum for device in self._devices.values() for datum in device.data), key=lambda datum: datum.order)

    @property
    def t0(self) -> int | None:
        """When the first tensor was dumped, in microseconds."""
        return min((device.data[0].timestamp for device in self._devices.values() if device.data), default=None)

    @property
    def size(self) -> int:
        """How many tensors were dumped."""
        return sum(len(device.data) for device in self._devices.values())

    def loaded_partition_graphs(self) -> bool:
        """Whether the graphs of the run are known."""
        return any(device.graph is not None for device in self._devices.values())

    def partition_graphs(self) -> list[Any]:
        """The graphs of the run, as they ran."""
        return [graph.debug_graph_def for graph in self._graphs().values()]

    def reconstructed_non_debug_partition_graphs(self) -> dict[str, Any]:
        """{device: its graph as it would have run without the debugger}."""
        return {name: d.graph.non_debug_graph_def for name, d in self._devices.items() if d.graph is not None}

    @property
    def run_fetches_info(self) -> Any:
        """What the run fetched, as text; a list if there were several runs."""
        return self._fetches_info[0] if len(self._fetches_info) == 1 else self._fetches_info

    @property
    def run_feed_keys_info(self) -> Any:
        """What the run was fed, as text; a list if there were several runs."""
        return self._feeds_info[0] if len(self._feeds_info) == 1 else self._feeds_info

    def nodes(self, device_name: str | None = None) -> Any:
        """The names of the nodes that ran, of one device or of all."""
        graphs = self._graphs()
        if device_name is None:
            return [node for graph in graphs.values() for node in graph.node_inputs]
        if device_name not in graphs:
            raise ValueError(f"Invalid device name: {device_name}")
        return graphs[device_name].node_inputs.keys()

    def node_attributes(self, node_name: str, device_name: str | None = None) -> Mapping[str, Any]:
        """The attributes of a node: {name: AttrValue}."""
        return self._graphs()[self._device_with(device_name, node_name)].node_attributes[node_name]

    def node_inputs(self, node_name: str, is_control: bool = False, device_name: str | None = None) -> list[str]:
        """The inputs of a node, or the nodes that it waits for."""
        graph = self._graph_with(device_name, node_name, "Node inputs")
        return (graph.node_ctrl_inputs if is_control else graph.node_inputs)[node_name]

    def transitive_inputs(
        self, node_name: str, include_control: bool = True, include_reversed_ref: bool = False, device_name: str | None = None
    ) -> list[str]:
        """All that a node is computed from, depth first; loops are not followed past their Merge."""
        graph = self._graph_with(device_name, node_name, "Node inputs")
        tracer = graph_walk.DFSGraphTracer(_edges(graph, include_control, include_reversed_ref), _merges(graph))
        tracer.trace(node_name)
        return tracer.inputs()

    def find_some_path(
        self,
        src_node_name: str,
        dst_node_name: str,
        include_control: bool = True,
        include_reversed_ref: bool = False,
        device_name: str | None = None,
    ) -> list[str] | None:
        """The nodes on some way from one node to another; None if there is no way."""
        source = self._device_with(device_name, src_node_name)
        device_name = self._device_with(device_name, dst_node_name)
        if source != device_name:
            return None
        graph = self._graphs()[device_name]
        if src_node_name == dst_node_name:
            return [src_node_name]
        edges = _edges(graph, include_control, include_reversed_ref)
        tracer = graph_walk.DFSGraphTracer(edges, _merges(graph), destination_node_name=src_node_name)
        return graph_walk.path_to_destination(tracer, dst_node_name, src_node_name)

    def node_recipients(self, node_name: str, is_control: bool = False, device_name: str | None = None) -> list[str]:
        """The nodes that take a node's outputs, or that wait for it."""
        graph = self._graph_with(device_name, node_name, "Node recipients")
        return (graph.node_ctrl_recipients if is_control else graph.node_recipients)[node_name]

    def devices(self) -> list[str]:
        """The names of the devices."""
        return list(self._devices)

    def node_exists(self, node_name: str, device_name: str | None = None) -> bool:
        """Whether a node ran, on one device or on any."""
        graphs = self._graphs("Nodes have not been loaded from partition graphs yet.")
        if device_name is not None and device_name not in graphs:
            raise ValueError(f"The specified device_name '{device_name}' cannot be found.")
        return any(node_name in graph.node_inputs for name, graph in graphs.items() if device_name in (None, name))

    def node_device(self, node_name: str) -> Any:
        """The device of a node; a list where several have a node of this name."""
        graphs = self._graphs("Node devices are not loaded from partition graphs yet.")
        found = sorted({str(device) for graph in graphs.values() for device in graph.node_devices.get(node_name, ())})
        if not found:
            raise ValueError(f"Node '{node_name}' does not exist in partition graphs.")
        return found[0] if len(found) == 1 else found

    def node_op_type(self, node_name: str, device_name: str | None = None) -> str:
        """The type of a node's op."""
        return self._graph_with(device_name, node_name, "Node op types").node_op_types[node_name]

    def debug_watch_keys(self, node_name: str, device_name: str | None = None) -> list[str]:
        """The watches of a node for which there are dumps."""
        try:
            device_name = self._device_with(device_name, node_name)
        except ValueError:
            return []
        return self._devices[device_name].dumped_keys(node_name)

    def watch_key_to_data(self, debug_watch_key: str, device_name: str | None = None) -> list[DebugTensorDatum]:
        """The dumps of a watch, in the order of time."""
        if device_name is not None:
            return self._devices[device_name].by_key.get(debug_watch_key, [])
        having = [name for name, device in self._devices.items() if debug_watch_key in device.by_key]
        if len(having) > 1:
            raise ValueError(f"The key '{debug_watch_key}' is dumped by multiple ({len(having)}) devices but device_name is not specified.")
        return self._devices[having[0]].by_key[debug_watch_key] if having else []

    def find(
        self, predicate: Predicate, first_n: int = 0, device_name: str | None = None, exclude_node_names: str | None = None
    ) -> list[DebugTensorDatum]:
        """The dumps for which a predicate of a datum and its tensor holds: all, or the first few of them.

        `exclude_node_names` is a regular expression; the nodes whose names it matches are passed over.
        """
        devices: Iterable[_Device] = self._devices.values() if device_name is None else [self._devices[device_name]]
        excluded = re.compile(exclude_node_names) if exclude_node_names else None
        found: list[DebugTensorDatum] = []
        for device in devices:
            for datum in device.data:
                if excluded is not None and excluded.match(datum.node_name):
                    continue
                if predicate(datum, datum.get_tensor()):
                    found.append(datum)
                    if len(found) == first_n:
                        return found
        return found

    def _dumps(self, node_name: str, output_slot: int, debug_op: str, device_name: str | None) -> list[DebugTensorDatum]:
        key = watch_key(node_name, output_slot, debug_op)
        device_name = self._device_with(device_name, node_name)
        found = self._devices[device_name].by_key.get(key)
        if found is None:
            raise WatchKeyDoesNotExistInDebugDumpDirError(f'Watch key "{key}" does not exist in the debug dump of device {device_name}')
        return found

    def get_tensor_file_paths(self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None) -> list[str]:
        """The files of a watch's dumps."""
        return [datum.file_path for datum in self._dumps(node_name, output_slot, debug_op, device_name)]

    def get_tensors(self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None) -> list[Any]:
        """What a watch dumped: arrays, in the order of time."""
        key = watch_key(node_name, output_slot, debug_op)
        try:
            data = self._dumps(node_name, output_slot, debug_op, device_name)
        except (KeyError, ValueError) as error:
            if isinstance(error, WatchKeyDoesNotExistInDebugDumpDirError):
                raise
            raise WatchKeyDoesNotExistInDebugDumpDirError(
                f'Watch key "{key}" does not exist in the debug dump of device {device_name}'
            ) from None
        return [datum.get_tensor() for datum in data]

    def get_rel_timestamps(self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None) -> list[int]:
        """When a watch's dumps were made, in microseconds after the first of all dumps."""
        start = self.t0 or 0
        return [datum.timestamp - start for datum in self._dumps(node_name, output_slot, debug_op, device_name)]

    def get_dump_sizes_bytes(self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None) -> list[int | None]:
        """How large the files of a watch's dumps are."""
        return [datum.dump_size_bytes for datum in self._dumps(node_name, output_slot, debug_op, device_name)]

    def node_traceback(self, element_name: str) -> Any:
        """Where the program created a node: tuples of file, line, function and text."""
        if self._origins is None:
            raise LookupError("Python graph is not available for traceback lookup")
        node = get_node_name(element_name)
        found = self._origins.traceback(node)
        if found is None:
            raise KeyError(f'Cannot find node "{node}" in Python graph')
        return found

    def python_nodes(self) -> list[tuple[str, int]]:
        """The nodes of the `tf.Graph` that was set, with the number of their outputs; of its loops and branches, those that ran."""
        executed = {n: kind for d in self._devices.values() if d.graph is not None for n, kind in d.graph.node_op_types.items()}
        return list(self._origins.nodes(executed)) if self._origins is not None else []


def _time_of(path: str) -> tuple[int, str]:
    digits = re.search(r"_(\d+)(?:-\d+)?$", path)
    return (int(digits[1]) if digits else 0), path


def _edges(graph: DebugGraph, include_control: bool, include_reversed_ref: bool) -> list[dict[str, list[str]]]:
    found = [graph.node_inputs]
    if include_control:
        found.append(graph.node_ctrl_inputs)
    if include_reversed_ref:
        found.append(graph.node_reversed_ref_inputs)
    return found


def _merges(graph: DebugGraph) -> list[str]:
    return [node for node, op_type in graph.node_op_types.items() if op_type in ("Merge", "RefMerge")]


def _check_nodes(name: str, device: _Device) -> None:
    assert device.graph is not None
    for datum in device.data:
        if datum.node_name not in device.graph.node_inputs:
            raise ValueError(f"Node name '{datum.node_name}' is not found in partition graphs of device {name}.")


def _check_times(device: _Device) -> None:
    """No node's first dump is older than the first dumps of what it was computed from. A Merge may take what comes first."""
    assert device.graph is not None
    merges = set(_merges(device.graph))
    first: dict[tuple[str, int], int] = {}
    for datum in device.data:
        first.setdefault((datum.node_name, datum.output_slot), datum.timestamp)
    for datum in device.data:
        if datum.node_name in merges:
            continue
        taken = [(node, slot or 0) for node, slot in map(parse_node_or_tensor_name, device.graph.node_inputs[datum.node_name])]
        late = [element for element in dict.fromkeys(taken) if first.get(element, 0) > datum.timestamp]
        if late:
            raise ValueError(
                "Causality violated in timing relations of debug dumps: "
                f"{datum.node_name} ({datum.timestamp}): these input(s) are not satisfied: {late}"
            )
