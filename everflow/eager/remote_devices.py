"""Devices of other processes: an op that is placed on one runs as a step of its own on that process's server."""

from __future__ import annotations

import collections
import secrets
import time
import weakref
from typing import Any

from everflow import errors
from everflow.distribute.held_objects import NAMELESS, OBJECTS
from everflow.distribute.remote_part import RemotePart
from everflow.distribute.tensors import decoded, encoded
from everflow.distribute.wire import Service, channel
from everflow.distribute.worker_service import SERVICE
from everflow.eager.devices import CURRENT
from everflow.eager.tensor import EagerTensor
from everflow.graph import attrs as attr_values
from everflow.graph import dtypes, opdefs
from everflow.graph.attrs import FunctionName
from everflow.graph.functions import LIBRARY, with_called
from everflow.graph.shapes import Dims
from everflow.proto import tensor_pb2, worker_pb2

# How long a server may take to answer for the first time.
PATIENCE = 20.0
# The shared name of resources that no two programs mean to share.
NOBODYS = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"


class RemoteServer:
    """A server that runs eager ops for this process."""

    def __init__(self, address: str, name: str) -> None:
        host, colon, port = address.rpartition(":")
        if not (host and colon and port.isdigit()):
            raise errors.InvalidArgumentError(None, None, f'Could not interpret "{address}" as a host-port pair.')
        self.name = name
        self.channel = channel(address)
        self.worker = Service(self.channel, SERVICE)
        # Steps whose results nobody holds any more. Their last holders may go at any time, and no call can be made then.
        self.over: collections.deque[int] = collections.deque()
        self.devices = [RemoteDevice(self, d) for d in _status(self.worker, address).device_attributes]

    def clean_up(self) -> None:
        """Tells the server which steps are over, without waiting for an answer."""
        while self.over:
            self.worker.tell_CleanupGraph(worker_pb2.CleanupGraphRequest(step_id=self.over.popleft()))


def _status(worker: Any, address: str) -> Any:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return worker.GetStatus(worker_pb2.GetStatusRequest(), PATIENCE, waits=False)
        except errors.UnavailableError as error:
            if time.monotonic() > until:
                raise errors.UnavailableError(None, None, f"The server at {address} does not answer: {error.message}") from error
            time.sleep(0.1)


class RemoteObject:
    """A resource or variant that a server holds for this process; it goes with the last tensor that names it."""

    __slots__ = ("__weakref__", "device", "proto", "step")

    def __init__(self, device: RemoteDevice, proto: Any, step: _Step) -> None:
        self.device = device
        self.proto = proto
        self.step = step


class _Step:
    """A step whose results the server keeps as long as this is held."""

    __slots__ = ("__weakref__",)

    def __init__(self, server: RemoteServer, number: int) -> None:
        weakref.finalize(self, server.over.append, number).atexit = False


class RemoteDevice:
    """A device of a server: `name` is what this process calls it, `own_name` what the server does."""

    def __init__(self, server: RemoteServer, attributes: Any) -> None:
        self.own_name: str = attributes.name
        self.name = f"{server.name}/device:{attributes.name.rpartition('/device:')[2]}"
        self._incarnation: int = attributes.incarnation
        self._server = server
        self._parts: dict[Any, RemotePart] = {}

    def run(self, kernel: Any, inputs: list[EagerTensor]) -> list[EagerTensor]:
        """Runs an op there."""
        return self._run(kernel, kernel.definition, kernel.attrs, kernel.types, inputs)

    def make_variable(self, dtype: dtypes.DTypeLike, dims: Dims) -> EagerTensor:
        """The handle of a new variable there, which nothing was assigned to yet."""
        attrs = {"dtype": dtype, "shape": dims, "container": "", "shared_name": ""}
        return self._run(None, opdefs.find("VarHandleOp"), attrs, [dtypes.resource], [])[0]

    def _run(self, key: Any, definition: Any, attrs: dict[str, Any], types: list[Any], inputs: list[EagerTensor]) -> list[EagerTensor]:
        self._server.clean_up()
        is_nameless = "shared_name" in attrs and attrs["shared_name"] in ("", b"", NOBODYS, NOBODYS.encode())
        if is_nameless:
            attrs = {**attrs, "shared_name": secrets.token_hex(8), "container": NAMELESS}
        part = None if is_nameless else self._parts.get(key)
        if part is None:
            part = self._part(definition, attrs, [t.dtype for t in inputs], types)
            if not is_nameless:
                self._parts[key] = part
        number, found = part.call([self._packed(t, definition.name) for t in inputs], None)
        step = _Step(self._server, number)
        if is_nameless:
            part.release()
        return [self._unpacked(data, dtype, step) for data, dtype in zip(found, types)]

    def _part(self, definition: Any, attrs: dict[str, Any], input_types: list[Any], types: list[Any]) -> RemotePart:
        ends = self.own_name.rpartition("/device:")[0] + "/device:CPU:0"
        part = RemotePart(self._server.channel, ends, self._incarnation)
        part.graph_def.library.function.extend(_functions(attrs.values()))
        for function in part.graph_def.library.function:
            for node in function.node_def:
                # The server has names of its own for its devices, and runs all of a function that it was asked to run.
                node.device = next((d.own_name for d in self._server.devices if d.name == node.device), self.own_name)
        inputs = [part.receive(t) for t in input_types]
        node = part.graph_def.node.add(name=definition.name, op=definition.name, device=self.own_name, input=inputs)
        for name, value in attrs.items():
            known = definition.attrs.get(name)
            node.attr[name].CopyFrom(attr_values.to_proto(value, known.type if known is not None else None))
        for i, dtype in enumerate(types):
            part.send(f"{definition.name}:{i}", dtype)
        return part

    def _packed(self, tensor: EagerTensor, op: str) -> Any:
        value = tensor.value
        if type(value) is RemoteObject:
            if value.device._server is not self._server:
                raise errors.InvalidArgumentError(
                    None, None, f"Cannot run {op} with resources of two processes: {value.device.name} and {self.name}."
                )
            return [value.proto.SerializeToString()]
        if tensor.dtype in OBJECTS:
            raise errors.InvalidArgumentError(None, None, f"Cannot run {op} on {self.name}: it takes a resource of this process.")
        return encoded(value, tensor.dtype)

    def _unpacked(self, data: memoryview, dtype: dtypes.DTypeLike, step: _Step) -> EagerTensor:
        if dtype not in OBJECTS:
            return self.named(EagerTensor(decoded(data), dtype))
        proto = tensor_pb2.TensorProto.FromString(bytes(data))
        found = self.named(EagerTensor(RemoteObject(self, proto, step), dtype))
        for entry in proto.resource_handle_val[0].dtypes_and_shapes:
            dims = None if entry.shape.unknown_rank else tuple(None if d.size < 0 else d.size for d in entry.shape.dim)
            found.handle_data = dims, dtypes.as_dtype(entry.dtype)
        return found

    def named(self, tensor: EagerTensor) -> EagerTensor:
        """A tensor that says that it is here."""
        tensor.__dict__["place"] = self.name
        return tensor


def _functions(values: Any) -> list[Any]:
    """The definitions of the functions that attributes name, and of all that those call."""
    names = [v for value in values for v in (value if isinstance(value, (list, tuple)) else (value,)) if isinstance(v, FunctionName)]
    found = with_called([LIBRARY._get_function(n.name) for n in names])
    return [entry.definition for entry in found.values()]


def place_of(inputs: list[EagerTensor]) -> RemoteDevice | None:
    """Where an op runs that may have to run elsewhere: where its resources are, or else where the program says."""
    place = CURRENT.place
    chosen = place if type(place) is RemoteDevice else None
    for t in inputs:
        if t.dtype in OBJECTS:
            if type(t.value) is RemoteObject:
                # Where both are on one server, the device that was asked for is as good.
                return chosen if chosen is not None and chosen._server is t.value.device._server else t.value.device
            chosen = None
    return chosen
