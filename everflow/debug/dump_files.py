"""The files of a dump: how they are called, and what is in them.

    ROOT/_tfdbg_core_metadata_sessionrun00000000000003_TIME           which run it was, as JSON
    ROOT/_tfdbg_fetches_info_TIME, ROOT/_tfdbg_feed_keys_info_TIME    what was fetched and fed
    ROOT/_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0/  a folder for each device
        _tfdbg_graph_hashHASH_TIME                                    its graph
        NAME/OF/NODE_SLOT_DEBUGOP_TIME                                a tensor

Each holds one Event message. TIME is in microseconds; a second file of the same name and time ends in `-1`, and so on.
"""

from __future__ import annotations

import collections
import json
import os
import re
from typing import Any

import numpy as np

from everflow.api import internal
from everflow.debug import node_names
from everflow.graph.tensor_proto import make_ndarray
from everflow.internals import module as internal_module
from everflow.io.file_io import FileIO
from everflow.proto import event_pb2, graph_pb2, types_pb2


def _fact(name: str, value: str) -> str:
    return internal("debug.lib.debug_data." + name)(value)


METADATA_FILE_PREFIX = _fact("METADATA_FILE_PREFIX", "_tfdbg_")
CORE_METADATA_TAG = _fact("CORE_METADATA_TAG", "core_metadata_")
GRAPH_FILE_TAG = _fact("GRAPH_FILE_TAG", "graph_")
DEVICE_TAG = _fact("DEVICE_TAG", "device_")
HASH_TAG = _fact("HASH_TAG", "hash")
FETCHES_INFO_FILE_TAG = _fact("FETCHES_INFO_FILE_TAG", "fetches_info_")
FEED_KEYS_INFO_FILE_TAG = _fact("FEED_KEYS_INFO_FILE_TAG", "feed_keys_info_")

CoreMetadata = collections.namedtuple(
    "CoreMetadata", ["global_step", "session_run_index", "executor_step_index", "input_names", "output_names", "target_nodes"]
)

# NAME_SLOT_DEBUGOP_TIME, in which the time may be followed by `-1`.
_DUMPED = re.compile(r"(?P<node>.+)_(?P<slot>\d+)_(?P<op>[^_]+)_(?P<time>[^_-]+)(?P<again>-\d+)?", re.DOTALL)


@internal("debug.lib.debug_data.InconvertibleTensorProto")
class InconvertibleTensorProto:
    """Stands for a dumped tensor that is no array: a resource, or what was never initialized."""

    def __init__(self, tensor_proto: Any, initialized: bool = True) -> None:
        self._tensor_proto = tensor_proto
        self._initialized = initialized

    def __str__(self) -> str:
        return ("" if self._initialized else "Uninitialized tensor:\n") + str(self._tensor_proto)

    @property
    def initialized(self) -> bool:
        """Whether the tensor had a value."""
        return self._initialized


def read_event(path: str) -> Any:
    """The Event in a file."""
    with FileIO(path, "rb") as file:
        return event_pb2.Event.FromString(file.read())


@internal("debug.lib.debug_data.load_tensor_from_event_file")
def load_tensor_from_event_file(event_file_path: str) -> Any:
    """The tensor in a file of a dump: an array, or an InconvertibleTensorProto."""
    return load_tensor_from_event(read_event(event_file_path))


@internal("debug.lib.debug_data.load_tensor_from_event")
def load_tensor_from_event(event: Any) -> Any:
    """The tensor in an Event: an array, or an InconvertibleTensorProto."""
    tensor = event.summary.value[0].tensor
    is_empty = any(d.size == 0 for d in tensor.tensor_shape.dim)
    if not (tensor.tensor_content or tensor.string_val or is_empty):
        return InconvertibleTensorProto(tensor, False)
    if tensor.dtype == types_pb2.DT_RESOURCE:
        return InconvertibleTensorProto(tensor)
    try:
        return make_ndarray(tensor)
    except (KeyError, TypeError):
        return InconvertibleTensorProto(tensor)


@internal("debug.lib.debug_data._load_graph_def_from_event_file")
def load_graph_def(path: str) -> Any:
    """The graph in a file of a dump."""
    return graph_pb2.GraphDef.FromString(read_event(path).graph_def)


@internal("debug.lib.debug_data._load_log_message_from_event_file")
def load_message(path: str) -> str:
    """The text in a file of a dump."""
    return read_event(path).log_message.message


@internal("debug.lib.debug_data.extract_core_metadata_from_event_proto")
def extract_core_metadata_from_event_proto(event: Any) -> Any:
    """What an Event says of its run: its numbers, and the names of what was fed, fetched and run."""
    known = json.loads(event.log_message.message)
    return CoreMetadata(**{field: known[field] for field in CoreMetadata._fields})


@internal("debug.lib.debug_data._is_graph_file")
def is_graph_file(file_name: str) -> bool:
    """Whether a file of this name holds a graph."""
    return file_name.startswith(METADATA_FILE_PREFIX + GRAPH_FILE_TAG)


@internal("debug.lib.debug_data.device_name_to_device_path")
def device_name_to_device_path(device_name: str) -> str:
    """The folder of a device: `/job:ps/cpu:0` is `_tfdbg_device_,job_ps,cpu_0`."""
    return METADATA_FILE_PREFIX + DEVICE_TAG + device_name.replace(":", "_").replace("/", ",")


@internal("debug.lib.debug_data.device_path_to_device_name")
def device_path_to_device_name(device_dir: str) -> str:
    """The device of a folder."""
    folder = os.path.basename(device_dir).removeprefix(METADATA_FILE_PREFIX + DEVICE_TAG)
    return folder.replace(",", "/").replace("_", ":")


def matching(root: str, tag: str) -> list[str]:
    """The paths in a dump's root whose names start with a tag, in the order of their names."""
    glob = internal_module("python.platform.gfile").Glob  # type: ignore[union-attr]
    return sorted(glob(os.path.join(root, METADATA_FILE_PREFIX + tag + "*")))


@internal("debug.lib.debug_data.DebugTensorDatum")
class DebugTensorDatum:
    """One dumped tensor: which output it was, what looked at it, when, and where the file is."""

    def __init__(self, dump_root: str, debug_dump_rel_path: str) -> None:
        folder, *above = debug_dump_rel_path.split("/")
        self._device_name = device_path_to_device_name(folder) if above else ""
        name = "/".join(above) or debug_dump_rel_path
        found = _DUMPED.fullmatch(name)
        if found is None:
            raise ValueError(f"Dump file path does not conform to the naming pattern: {os.path.basename(name)}")
        self._file_path = os.path.join(dump_root, debug_dump_rel_path)
        self._node_name: str = found["node"]
        self._output_slot = int(found["slot"])
        self._debug_op: str = found["op"]
        self._timestamp = int(found["time"])
        self._again: str = found["again"] or ""
        self._dump_size_bytes = os.path.getsize(self._file_path) if os.path.isfile(self._file_path) else None

    def __str__(self) -> str:
        return f"{{DebugTensorDatum ({self.device_name}) {self.node_name}:{self.output_slot} @ {self.debug_op} @ {self.timestamp}}}"

    __repr__ = __str__

    def get_tensor(self) -> Any:
        """The tensor: an array, or an InconvertibleTensorProto."""
        return load_tensor_from_event_file(self._file_path)

    @property
    def timestamp(self) -> int:
        """When it was dumped, in microseconds."""
        return self._timestamp

    @property
    def extended_timestamp(self) -> str:
        """The time with what tells dumps of the same microsecond apart."""
        return f"{self._timestamp}{self._again}"

    @property
    def order(self) -> tuple[int, int]:
        """What puts dumps in the order of their making."""
        return self._timestamp, int(self._again[1:] or 0)

    @property
    def debug_op(self) -> str:
        """The debug op that looked at the tensor."""
        return self._debug_op

    @property
    def device_name(self) -> str:
        """The device that the tensor was on."""
        return self._device_name

    @property
    def node_name(self) -> str:
        """The node that gave the tensor."""
        return self._node_name

    @property
    def output_slot(self) -> int:
        """The place of the tensor among the node's outputs."""
        return self._output_slot

    @property
    def tensor_name(self) -> str:
        """The name of the tensor."""
        return node_names.tensor_name(self._node_name, self._output_slot)

    @property
    def watch_key(self) -> str:
        """The name of the tensor and of the debug op: `w:0:DebugIdentity`."""
        return node_names.watch_key(self._node_name, self._output_slot, self._debug_op)

    @property
    def file_path(self) -> str:
        """Where the file is."""
        return self._file_path

    @property
    def dump_size_bytes(self) -> int | None:
        """How large the file is; None if there is none."""
        return self._dump_size_bytes


@internal("debug.lib.debug_data.has_inf_or_nan")
def has_inf_or_nan(datum: Any, tensor: Any) -> bool:
    """Whether a tensor holds infinities or what is not a number; what can't hold any does not."""
    del datum
    if not isinstance(tensor, (np.ndarray, np.generic)) or tensor.dtype.kind not in "fcV":
        return False
    if tensor.dtype.kind == "V":
        # Numpy lacks types such as bfloat16: they have a kind of their own, as have records.
        if tensor.dtype.names is not None:
            return False
        tensor = tensor.astype(np.float32)
    return not bool(np.isfinite(tensor).all())
