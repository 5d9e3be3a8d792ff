"""The MasterService of a server: sessions of other processes."""

from __future__ import annotations

import threading
from typing import Any

import grpc

from everflow import errors  # type: ignore[no-redef]
from everflow.distribute.tensors import array_of
from everflow.distribute.wire import NO_SIZE_LIMITS, DaemonThreads, answering
from everflow.distribute.worker_service import Worker
from everflow.graph.graph import Graph
from everflow.graph.importer import extend_graph
from everflow.graph.tensor_proto import make_tensor_proto
from everflow.proto import device_attributes_pb2, master_pb2, master_service_pb2_grpc, worker_service_pb2_grpc
from everflow.runtime.options import ConfigProto, RunMetadata
from everflow.runtime.session import BaseSession


def listen(server: Any, port: int) -> tuple[Any, int]:
    """A gRPC server for `server`, bound to the port (or to a free one, if it is 0) but not started; and the port."""
    listener = grpc.server(DaemonThreads(), options=(*NO_SIZE_LIMITS, ("grpc.so_reuseport", 0)))  # type: ignore[arg-type]
    master_service_pb2_grpc.add_MasterServiceServicer_to_server(Master(server), listener)
    worker_service_pb2_grpc.add_WorkerServiceServicer_to_server(Worker(server), listener)
    try:
        return listener, listener.add_insecure_port(f"0.0.0.0:{port}")
    except RuntimeError as e:
        raise errors.UnknownError(None, None, "Could not start gRPC server") from e


class Master(master_service_pb2_grpc.MasterServiceServicer):  # type: ignore[name-defined]
    """Answers what remote sessions ask of a server."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._sessions: dict[str, _ServedSession] = {}

    @answering
    def CreateSession(self, request: Any) -> Any:
        """Makes a session with a first graph."""
        session = _ServedSession(self._server.target, request.config)
        version = session.extend(request.graph_def)
        self._sessions[session.handle] = session
        return master_pb2.CreateSessionResponse(session_handle=session.handle, graph_version=version)

    @answering
    def ExtendSession(self, request: Any) -> Any:
        """Adds nodes to a session's graph."""
        session = self._session(request)
        if request.current_graph_version != session.version:
            raise errors.AbortedError(
                None, None, f"Version mismatch: the session's graph is at version {session.version}, not {request.current_graph_version}"
            )
        return master_pb2.ExtendSessionResponse(new_graph_version=session.extend(request.graph_def))

    @answering
    def RunStep(self, request: Any) -> Any:
        """Runs a step of a session."""
        session = self._session(request)
        try:
            return session.run(request)
        except errors.OpError as e:
            if not request.store_errors_in_response_body:
                raise
            return master_pb2.RunStepResponse(status_code=e.error_code, status_error_message=e.message)

    @answering
    def CloseSession(self, request: Any) -> Any:
        """Ends a session."""
        self._session(request).close()
        del self._sessions[request.session_handle]
        return master_pb2.CloseSessionResponse()

    @answering
    def ListDevices(self, request: Any) -> Any:
        """The devices of the server's cluster, those of the server itself apart."""
        context = self._session(request)._context if request.session_handle else self._server.new_context(None, None)
        own, *others = (
            [
                device_attributes_pb2.DeviceAttributes(
                    name=d.name, device_type=d.device_type, memory_limit=d.memory_limit_bytes, incarnation=d.incarnation
                )
                for d in task.devices()
            ]
            for task in context.placer.tasks
        )
        return master_pb2.ListDevicesResponse(local_device=own, remote_device=[d for devices in others for d in devices])

    @answering
    def Reset(self, request: Any) -> Any:
        """Clears containers and ends all sessions."""
        self._server.reset(list(request.container), list(request.device_filters))
        self._sessions.clear()
        return master_pb2.ResetResponse()

    def _session(self, request: Any) -> _ServedSession:
        found = self._sessions.get(request.session_handle)
        if found is None:
            raise errors.AbortedError(None, None, f"Session {request.session_handle} is not found.")
        return found


class _ServedSession(BaseSession):
    """A session whose graph comes, and whose steps are asked for, over the wire."""

    def __init__(self, target: str, config: Any) -> None:
        own = ConfigProto()
        own.CopyFrom(config)
        own.rpc_options.use_rpc_for_inprocess_master = False
        super().__init__(target, Graph(), own)
        self.handle: str = self._context.handle  # type: ignore[attr-defined]
        self.version = 0
        self._extending = threading.Lock()

    def extend(self, graph_def: Any) -> int:
        """Adds nodes; returns the graph's new version."""
        with self._extending:
            if graph_def.node or graph_def.library.function:
                extend_graph(self._graph, graph_def)
            self.version += 1
            return self.version

    def run(self, request: Any) -> Any:  # type: ignore[override]
        """The answer to a RunStepRequest."""
        graph = self._graph
        feeds = {graph.as_graph_element(f.name): array_of(f.tensor) for f in request.feed}
        fetches = [graph.as_graph_element(name) for name in request.fetch]
        targets = [graph.as_graph_element(name) for name in request.target]
        metadata = RunMetadata()
        options = request.options if request.HasField("options") else None
        found = super().run([*fetches, *targets], feeds, options, metadata if options is not None else None)
        response = master_pb2.RunStepResponse(metadata=metadata)
        for tensor, value in zip(fetches, found):
            response.tensor.add(name=tensor.name).tensor.CopyFrom(make_tensor_proto(value, tensor.dtype.base_dtype))
        return response
