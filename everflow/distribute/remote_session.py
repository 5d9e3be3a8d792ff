"""Sessions whose server is in another process: their graph and their steps go over the wire."""

from __future__ import annotations

import threading
import time
from typing import Any

from everflow import errors
from everflow.distribute.failures import told
from everflow.distribute.messages import Pieces, field, fields, joined, name_and_tensor
from everflow.distribute.tensors import decoded, encoded_with_name
from everflow.distribute.wire import Method, Service, channel
from everflow.graph.graph import Graph
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.proto import graph_pb2, master_pb2, master_service_pb2
from everflow.runtime import feeds as feeding
from everflow.runtime.context import Context
from everflow.runtime.devices import DeviceAttributes
from everflow.runtime.fetches import Fetches
from everflow.runtime.options import ConfigProto, RunMetadata
from everflow.runtime.runner import fetch_converter

RUN_STEP = "/tensorflow.MasterService/RunStep"
_SERVICE = master_service_pb2.DESCRIPTOR.services_by_name["MasterService"]


class RemoteContext(Context):
    """Stands for a server: it hands steps out that the server runs."""

    def __init__(self, address: str, graph: Graph, config: Any) -> None:
        super().__init__(graph, config)
        self._address = address
        self._master = Service(channel(address), _SERVICE)
        self._run_step = Method(channel(address), RUN_STEP)
        self.handle = ""
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
        found = self._master.ListDevices(master_pb2.ListDevicesRequest(session_handle=self.handle), self.timeout)
        return [DeviceAttributes(d.name, d.device_type, d.memory_limit, d.incarnation) for d in (*found.local_device, *found.remote_device)]

    def step(
        self,
        fetches: Any,
        targets: Any,
        feeds: Any,
        is_body: bool = False,
        host: Any = ((), ()),
        dims: Any = None,
        any_shape: bool = False,
        carried: int = 0,
        known: Any = None,
        own: Any = (),
    ) -> Any:
        """A step that the server runs, of a graph that it knows by then."""
        self._extend()
        return RemoteStep(self, fetches, targets, feeds)

    def partial_run(self, session: Any, fetches: Any, feeds: Any) -> Any:
        """A run on the server whose feeds and fetches come piece by piece."""
        self._extend()
        return RemotePartialRun(self, session, fetches, feeds)

    def _extend(self) -> None:
        """Tells the server about the nodes and functions that it does not know yet."""
        with self._extending:
            new = self._news()
            if not self.handle:
                request = master_pb2.CreateSessionRequest(
                    graph_def=new, config=self.config or ConfigProto(), target=f"grpc://{self._address}"
                )
                created = self._master.CreateSession(request, self.timeout)
                self.handle, self._version = created.session_handle, created.graph_version
            elif new.node or new.library.function:
                request = master_pb2.ExtendSessionRequest(session_handle=self.handle, graph_def=new, current_graph_version=self._version)
                self._version = self._master.ExtendSession(request, self.timeout, waits=False).new_graph_version
            self._sent.update(n.name for n in new.node)
            self._functions_sent.update(f.signature.name for f in new.library.function)

    def _news(self) -> Any:
        whole = self.graph.as_graph_def()
        new = graph_pb2.GraphDef(versions=whole.versions)
        new.node.extend(n for n in whole.node if n.name not in self._sent)
        new.library.function.extend(f for f in whole.library.function if f.signature.name not in self._functions_sent)
        new.library.gradient.extend(whole.library.gradient if new.library.function else ())
        return new

    def set_up(self, fetches: list[str], targets: list[str], feeds: list[str]) -> str:
        """What the server calls a partial run."""
        request = master_pb2.PartialRunSetupRequest(session_handle=self.handle, fetch=fetches, target=targets, feed=feeds)
        return self._master.PartialRunSetup(request, self.timeout, waits=False).partial_run_handle

    def run_step(self, head: bytes, feeds: Pieces, metadata: Any = None) -> dict[str, memoryview]:
        """The tensors with which the server answers a RunStepRequest that begins with `head`, which the feeds follow."""
        answer = self._run_step([head, *feeds], self.timeout)
        found: dict[str, memoryview] = {}
        code, message = 0, ""
        for number, value in fields(answer):
            if number == 1:
                name, tensor = name_and_tensor(value)
                found[name] = tensor
            elif number == 2 and metadata is not None:
                metadata.CopyFrom(RunMetadata.FromString(bytes(value)))
            elif number == 3:
                code = value
            elif number == 4:
                message = str(value, "utf-8")
        if code:
            raise told(self.graph, message, code)
        return found

    def close(self) -> None:
        """Ends the session on the server. A server that does not answer has nothing left to end."""
        self.cancelled.set()
        if self.handle:
            request = master_pb2.CloseSessionRequest(session_handle=self.handle)
            try:
                self._master.CloseSession(request, self.timeout or 10, waits=False)
            except (errors.AbortedError, errors.UnavailableError, errors.DeadlineExceededError):
                pass


class RemoteStep:
    """What computes certain fetches from certain feeds, on the server."""

    is_remote = True
    threads = 1
    tuning = None
    pace = None
    special = None
    settling = None

    def __init__(self, context: RemoteContext, fetches: Any, targets: Any, feeds: Any) -> None:
        self._context = context
        self._fetches = [t.name for t in fetches]
        self._feeds = [(t.name, t.dtype.base_dtype) for t in feeds]
        self._head = master_pb2.RunStepRequest(
            session_handle=context.handle, fetch=self._fetches, target=[op.name for op in targets], store_errors_in_response_body=True
        ).SerializeToString()
        self.fetches_fresh = [True] * len(self._fetches)

    def call(self, *arguments: Any) -> tuple[Any, ...]:
        """Runs the step."""
        return self.run(arguments, None, None)

    def run(self, arguments: Any, options: Any, run_metadata: Any) -> tuple[Any, ...]:
        """Runs the step with options."""
        feeds: Pieces = []
        for (name, dtype), value in zip(self._feeds, arguments, strict=True):
            feeds += encoded_with_name(2, name, value, dtype, True)
        head = self._head if options is None else joined([self._head, *field(5, [options.SerializeToString()])])
        limit = options.timeout_in_ms / 1000 if options is not None and options.timeout_in_ms > 0 else None
        if limit is None:
            found = self._context.run_step(head, feeds, run_metadata)
        else:
            # The server knows the limit too; it is given the time to say so itself.
            with self._context.until(time.monotonic() + limit + 1):
                found = self._context.run_step(head, feeds, run_metadata)
        return tuple(decoded(found[name]) for name in self._fetches)

    def culprit(self, traceback: Any) -> None:
        """Which node a failure is of: the server has said it in the message."""


class RemotePartialRun:
    """A partial run that the server keeps."""

    def __init__(self, context: RemoteContext, session: Any, fetches: Any, feeds: Any) -> None:
        graph = session.graph
        wanted = Fetches(graph, list(fetches) if isinstance(fetches, (list, tuple)) else [fetches])
        if not wanted.elements:
            raise errors.InvalidArgumentError(None, None, "Must specify at least one target to fetch or execute.")
        self._context = context
        self._session = session
        tensors = [t for key in feeds or [] for t in feeding.feed_tensors(graph, key)]
        self.handle = context.set_up([t.name for t in wanted.tensors], [op.name for op in wanted.operations], [t.name for t in tensors])

    def advance(self, fetches: Any, feed_dict: dict[Any, Any] | None) -> Any:
        """Feeds some of the feeds and computes some of the fetches."""
        graph = self._session.graph
        wanted = Fetches(graph, fetches)
        feeds: Pieces = []
        for t, value in feeding.flattened(graph, feed_dict or {}).items():
            feeds += encoded_with_name(2, t.name, feeding.feed_converter(t)(value), t.dtype.base_dtype)
        head = master_pb2.RunStepRequest(
            session_handle=self._context.handle,
            partial_run_handle=self.handle,
            fetch=[t.name for t in wanted.tensors],
            target=[op.name for op in wanted.operations],
            store_errors_in_response_body=True,
        )
        found = self._context.run_step(head.SerializeToString(), feeds)
        return wanted.build([self._value(found, e) for e in wanted.elements])

    def _value(self, found: dict[str, memoryview], element: Tensor | Operation) -> Any:
        return fetch_converter(element, True)(decoded(found[element.name])) if isinstance(element, Tensor) else None


class _RemotePlaces:
    """The server places ops itself; what it has to offer can be asked."""

    def __init__(self, context: RemoteContext) -> None:
        self.tasks = [self]
        self.devices = context.list_devices

    def place_graph(self, graph: Graph) -> None:
        """Leaves placing to the server."""


def reset_remote(address: str, containers: list[str], config: Any) -> None:
    """Clears containers of a server in another process, and ends its sessions."""
    master = Service(channel(address), _SERVICE)
    limit = config.operation_timeout_in_ms if config is not None else 0
    request = master_pb2.ResetRequest(container=containers, device_filters=config.device_filters if config is not None else ())
    master.Reset(request, limit / 1000 if limit > 0 else None)
