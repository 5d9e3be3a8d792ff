"""Sessions whose server is in another process: their graph and their steps go over the wire."""

from __future__ import annotations

import threading
import time
from typing import Any

from everflow import errors
from everflow.distribute.tensors import packed, unpacked
from everflow.distribute.wire import called, channel
from everflow.errors import from_code
from everflow.graph.graph import Graph
from everflow.proto import graph_pb2, master_pb2, master_service_pb2_grpc
from everflow.runtime.context import Context
from everflow.runtime.devices import DeviceAttributes
from everflow.runtime.options import ConfigProto


class RemoteContext(Context):
    """Stands for a server: it hands steps out that the server runs."""

    def __init__(self, address: str, graph: Graph, config: Any) -> None:
        super().__init__(graph, config)
        self._address = address
        self._master = master_service_pb2_grpc.MasterServiceStub(channel(address))
        self._handle = ""
        self._version = 0
        self._sent: set[str] = set()
        self._functions_sent: set[str] = set()
        self._extending = threading.Lock()
        self.placer = _RemotePlaces(self)  # type: ignore[assignment]

    @property
    def timeout(self) -> float | None:
        """How long a call may take."""
        if self.deadline is not None:
            return max(0.001, self.deadline - time.monotonic())
        limit = self.config.operation_timeout_in_ms if self.config is not None else 0
        return limit / 1000 if limit > 0 else None

    def list_devices(self) -> list[DeviceAttributes]:
        """The devices that the server's sessions see."""
        found = called(self._master.ListDevices, master_pb2.ListDevicesRequest(session_handle=self._handle), self.timeout)
        return [DeviceAttributes(d.name, d.device_type, d.memory_limit, d.incarnation) for d in (*found.local_device, *found.remote_device)]

    def step(
        self, fetches: Any, targets: Any, feeds: Any, is_body: bool = False, host: Any = ((), ()), dims: Any = None, any_shape: bool = False
    ) -> Any:
        """A step that the server runs, of a graph that it knows by then."""
        self._extend()
        return RemoteStep(self, fetches, targets, feeds)

    def _extend(self) -> None:
        """Tells the server about the nodes and functions that it does not know yet."""
        with self._extending:
            new = self._news()
            if not self._handle:
                request = master_pb2.CreateSessionRequest(
                    graph_def=new, config=self.config or ConfigProto(), target=f"grpc://{self._address}"
                )
                created = called(self._master.CreateSession, request, self.timeout)
                self._handle, self._version = created.session_handle, created.graph_version
            elif new.node or new.library.function:
                request = master_pb2.ExtendSessionRequest(session_handle=self._handle, graph_def=new, current_graph_version=self._version)
                self._version = called(self._master.ExtendSession, request, self.timeout).new_graph_version
            self._sent.update(n.name for n in new.node)
            self._functions_sent.update(f.signature.name for f in new.library.function)

    def _news(self) -> Any:
        whole = self.graph.as_graph_def()
        new = graph_pb2.GraphDef(versions=whole.versions)
        new.node.extend(n for n in whole.node if n.name not in self._sent)
        new.library.function.extend(f for f in whole.library.function if f.signature.name not in self._functions_sent)
        new.library.gradient.extend(whole.library.gradient if new.library.function else ())
        return new

    def run_step(self, request: Any) -> Any:
        """The server's answer to a RunStepRequest."""
        request.session_handle = self._handle
        response = called(self._master.RunStep, request, self.timeout)
        if response.status_code:
            raise from_code(None, None, response.status_error_message, response.status_code)
        return response

    def close(self) -> None:
        """Ends the session on the server. A server that does not answer has nothing left to end."""
        self.cancelled.set()
        if self._handle:
            try:
                called(self._master.CloseSession, master_pb2.CloseSessionRequest(session_handle=self._handle), self.timeout or 10)
            except (errors.AbortedError, errors.UnavailableError, errors.DeadlineExceededError):
                pass


class RemoteStep:
    """What computes certain fetches from certain feeds, on the server."""

    is_remote = True
    threads = 1
    tuning = None

    def __init__(self, context: RemoteContext, fetches: Any, targets: Any, feeds: Any) -> None:
        self._context = context
        self._fetches = [t.name for t in fetches]
        self._targets = [op.name for op in targets]
        self._feeds = list(feeds)
        self.fetches_fresh = [True] * len(self._fetches)

    def call(self, *arguments: Any) -> tuple[Any, ...]:
        """Runs the step."""
        return self.run(arguments, None, None)

    def run(self, arguments: Any, options: Any, run_metadata: Any) -> tuple[Any, ...]:
        """Runs the step with options."""
        request = master_pb2.RunStepRequest(fetch=self._fetches, target=self._targets, store_errors_in_response_body=True)
        for tensor, value in zip(self._feeds, arguments, strict=True):
            request.feed.add(name=tensor.name).tensor.CopyFrom(packed(value, tensor.dtype.base_dtype))
        if options is not None:
            request.options.CopyFrom(options)
        response = self._context.run_step(request)
        if run_metadata is not None:
            run_metadata.CopyFrom(response.metadata)
        found = {t.name: t.tensor for t in response.tensor}
        return tuple(unpacked(found[name]) for name in self._fetches)

    def culprit(self, traceback: Any) -> None:
        """Which node a failure is of: the server has said it in the message."""


class _RemotePlaces:
    """The server places ops itself; what it has to offer can be asked."""

    def __init__(self, context: RemoteContext) -> None:
        self.tasks = [self]
        self.devices = context.list_devices

    def place_graph(self, graph: Graph) -> None:
        """Leaves placing to the server."""


def reset_remote(address: str, containers: list[str], config: Any) -> None:
    """Clears containers of a server in another process, and ends its sessions."""
    master = master_service_pb2_grpc.MasterServiceStub(channel(address))
    limit = config.operation_timeout_in_ms if config is not None else 0
    request = master_pb2.ResetRequest(container=containers, device_filters=config.device_filters if config is not None else ())
    called(master.Reset, request, limit / 1000 if limit > 0 else None)
