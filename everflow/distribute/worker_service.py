"""The WorkerService of a server: its part of steps that a master in another process runs."""

from __future__ import annotations

import itertools
from typing import Any

from everflow import errors  # type: ignore[no-redef]
from everflow.distribute.held_objects import HeldObjects
from everflow.distribute.wire import answering
from everflow.graph.devices import DeviceSpec
from everflow.graph.graph import Graph
from everflow.graph.importer import extend_graph
from everflow.proto import device_attributes_pb2, worker_pb2, worker_service_pb2_grpc
from everflow.runtime.options import ConfigProto
from everflow.runtime.session import BaseSession


def rendezvous_key(node_attr: Any) -> str:
    """What a tensor that is sent or received is called on the wire."""
    incarnation = node_attr("send_device_incarnation") & (2**64 - 1)
    sender, receiver, name = (_text(node_attr(a)) for a in ("send_device", "recv_device", "tensor_name"))
    return f"{sender};{incarnation:016x};{receiver};{name};0:0"


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else value


class Worker(worker_service_pb2_grpc.WorkerServiceServicer):  # type: ignore[name-defined]
    """Runs registered graphs for masters. Tensors come and go with the call that runs a graph."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._parts: dict[str, _Part] = {}
        self._held = HeldObjects(server.task)
        self._numbers = itertools.count(1)

    @answering
    def GetStatus(self, request: Any) -> Any:
        """The devices of the task."""
        return worker_pb2.GetStatusResponse(
            device_attributes=[
                device_attributes_pb2.DeviceAttributes(
                    name=d.name, device_type=d.device_type, memory_limit=d.memory_limit_bytes, incarnation=d.incarnation
                )
                for d in self._server.task.devices()
            ]
        )

    @answering
    def RegisterGraph(self, request: Any) -> Any:
        """Takes a part of a master's graph."""
        handle = f"{next(self._numbers):016x}"
        self._parts[handle] = _Part(self._server, request.graph_def)
        return worker_pb2.RegisterGraphResponse(graph_handle=handle)

    @answering
    def DeregisterGraph(self, request: Any) -> Any:
        """Forgets a part."""
        part = self._parts.pop(request.graph_handle, None)
        if part is not None:
            part.close()
        return worker_pb2.DeregisterGraphResponse()

    @answering
    def RunGraph(self, request: Any) -> Any:
        """Runs a part."""
        part = self._parts.get(request.graph_handle)
        try:
            if part is None:
                raise errors.AbortedError(None, None, f"Graph handle is not found: {request.graph_handle}")
            return part.answer(request, self._held)
        except errors.OpError as e:
            if not request.store_errors_in_response_body:
                raise
            message = f"From {self._server.task.name}:\n{e.message}"
            return worker_pb2.RunGraphResponse(status_code=e.error_code, status_error_message=message)

    @answering
    def CleanupGraph(self, request: Any) -> Any:
        """A step is over; what was kept of it is let go."""
        self._held.let_go(request.step_id)
        return worker_pb2.CleanupGraphResponse()

    @answering
    def CleanupAll(self, request: Any) -> Any:
        """Clears containers."""
        resources = self._server.task.resources
        resources.clear(list(request.container) or [resources.default_container])
        return worker_pb2.CleanupAllResponse()


class _Part(BaseSession):
    """A registered graph: all of it runs, from the tensors that come with the call to those that go back with the answer."""

    def __init__(self, server: Any, graph_def: Any) -> None:
        graph = Graph()
        extend_graph(graph, graph_def)
        # A part is the task's own, unless functions that it calls go elsewhere: other tasks may be gone, or not there yet.
        elsewhere = {n.device for f in graph_def.library.function for n in f.node_def if DeviceSpec.from_string(n.device).job}
        super().__init__(server.target, graph, ConfigProto(device_filters=[server.task.name, *sorted(elsewhere)]))
        ops = graph.get_operations()
        ends = [op for op in ops if op.type in ("_Recv", "_Send")]
        if not all(op.attr("client_terminated") for op in ends):
            raise errors.UnimplementedError(None, None, "Everflow's workers take tensors from their master, not from each other.")
        self._incoming = {rendezvous_key(op.attr): op.outputs[0] for op in ends if op.type == "_Recv"}
        self._outgoing = {rendezvous_key(op.attr): op.inputs[0] for op in ends if op.type == "_Send"}
        self._work = [op for op in ops if op not in ends]
        self._step: Any = None

    def answer(self, request: Any, held: HeldObjects) -> Any:
        """The answer to a RunGraphRequest."""
        with self._lock:
            if self._step is None:
                self._context.placer.place_graph(self._graph)
                self._step = self._context.step(self._outgoing.values(), self._work, self._incoming.values())
        sent = {t.name: t.tensor for t in request.send}
        arguments = [held.taken(sent[key]) for key in self._incoming]
        found = self._call(self._step, arguments)
        response = worker_pb2.RunGraphResponse()
        for (key, tensor), value in zip(self._outgoing.items(), found):
            response.recv.add(name=key).tensor.CopyFrom(held.given(value, tensor.dtype.base_dtype, request.step_id, key))
        return response
