"""The MasterService of a server: sessions of other processes."""

from __future__ import annotations

import itertools
import threading
from typing import Any

import numpy as np

from everflow import errors  # type: ignore[no-redef]
from everflow.distribute.listener import Call, Listener
from everflow.distribute.messages import field, fields, name_and_tensor, number_field
from everflow.distribute.tensors import array_in, encoded, encoded_with_name
from everflow.distribute.wire import Outgoing
from everflow.distribute.worker_service import PLAIN, SERVICE, Worker, attributes_of
from everflow.graph.graph import Graph
from everflow.graph.importer import extend_graph
from everflow.proto import master_pb2, master_service_pb2
from everflow.runtime.options import ConfigProto, RunMetadata, RunOptions
from everflow.runtime.session import BaseSession
from everflow.values import tensors as values


def listen(server: Any, port: int) -> tuple[Listener, int]:
    """A gRPC server for `server`, bound to the port (or to a free one, if it is 0) but not started; and the port."""
    listener = Listener()
    listener.add_service(master_service_pb2.DESCRIPTOR.services_by_name["MasterService"], Master(server), ("RunStep", "RunCallable"))
    listener.add_service(SERVICE, Worker(server), PLAIN)
    return listener, listener.bind(f"0.0.0.0:{port}")


class Master:
    """Answers what remote sessions ask of a server."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._sessions: dict[str, _ServedSession] = {}

    def CreateSession(self, request: Any) -> Any:
        """Makes a session with a first graph."""
        session = _ServedSession(self._server.target, request.config)
        version = session.extend(request.graph_def)
        self._sessions[session.handle] = session
        return master_pb2.CreateSessionResponse(session_handle=session.handle, graph_version=version)

    def ExtendSession(self, request: Any) -> Any:
        """Adds nodes to a session's graph."""
        session = self._session(request.session_handle)
        if request.current_graph_version != session.version:
            raise errors.AbortedError(
                None, None, f"Version mismatch: the session's graph is at version {session.version}, not {request.current_graph_version}"
            )
        return master_pb2.ExtendSessionResponse(new_graph_version=session.extend(request.graph_def))

    def PartialRunSetup(self, request: Any) -> Any:
        """Begins a run whose feeds and fetches come piece by piece."""
        session = self._session(request.session_handle)
        handle = session.partial_run_setup([*request.fetch, *request.target], list(request.feed))
        return master_pb2.PartialRunSetupResponse(partial_run_handle=handle)

    def RunStep(self, data: memoryview, call: Call) -> Outgoing:
        """Runs a step of a session."""
        asked = _RunStepRequest(data)
        session = self._session(asked.session)
        try:
            return session.answer(asked)
        except (errors.OpError, ValueError, TypeError) as e:
            if not asked.stores_errors:
                raise
            code, text = (e.error_code, e.message) if isinstance(e, errors.OpError) else (errors.INVALID_ARGUMENT, str(e))
            if isinstance(e, errors.OpError) and e.op is not None:
                text = f"From {self._server.task.name}:\n{text}"
            return [number_field(3, code), *field(4, [text.encode()])]

    def MakeCallable(self, request: Any) -> Any:
        """Settles what a callable is fed and fetches."""
        return master_pb2.MakeCallableResponse(handle=self._session(request.session_handle).add_callable(request.options))

    def RunCallable(self, data: memoryview, call: Call) -> Outgoing:
        """Calls one."""
        session, handle, feeds = "", 0, []
        for number, value in fields(data):
            if number == 1:
                session = str(value, "utf-8")
            elif number == 2:
                handle = value
            elif number == 3:
                feeds.append(value)
        return self._session(session).answer_call(handle, feeds)

    def ReleaseCallable(self, request: Any) -> Any:
        """Forgets one."""
        self._session(request.session_handle).callables.pop(request.handle, None)
        return master_pb2.ReleaseCallableResponse()

    def CloseSession(self, request: Any) -> Any:
        """Ends a session."""
        self._session(request.session_handle).close()
        del self._sessions[request.session_handle]
        return master_pb2.CloseSessionResponse()

    def ListDevices(self, request: Any) -> Any:
        """The devices of the server's cluster, those of the server itself apart."""
        handle = request.session_handle
        context = self._session(handle)._context if handle else self._server.new_context(None, None)
        own, *others = (attributes_of(task) for task in context.placer.tasks)
        return master_pb2.ListDevicesResponse(local_device=own, remote_device=[d for devices in others for d in devices])

    def Reset(self, request: Any) -> Any:
        """Clears containers and ends all sessions."""
        self._server.reset(list(request.container), list(request.device_filters))
        self._sessions.clear()
        return master_pb2.ResetResponse()

    def _session(self, handle: str) -> _ServedSession:
        found = self._sessions.get(handle)
        if found is None:
            raise errors.AbortedError(None, None, f"Session {handle} is not found.")
        return found


class _RunStepRequest:
    """A RunStepRequest, of which the tensors stay where they came."""

    def __init__(self, data: memoryview) -> None:
        self.session = self.partial_run = ""
        self.feeds: dict[str, memoryview] = {}
        self.fetches: list[str] = []
        self.targets: list[str] = []
        self.options: Any = None
        self.stores_errors = False
        for number, value in fields(data):
            if number == 2:
                name, tensor = name_and_tensor(value)
                self.feeds[name] = tensor
            elif number == 3:
                self.fetches.append(str(value, "utf-8"))
            elif number == 4:
                self.targets.append(str(value, "utf-8"))
            elif number == 1:
                self.session = str(value, "utf-8")
            elif number == 5:
                self.options = RunOptions.FromString(bytes(value))
            elif number == 6:
                self.partial_run = str(value, "utf-8")
            elif number == 7:
                self.stores_errors = bool(value)


class _ServedSession(BaseSession):
    """A session whose graph comes, and whose steps are asked for, over the wire."""

    def __init__(self, target: str, config: Any) -> None:
        own = ConfigProto()
        own.CopyFrom(config)
        own.rpc_options.use_rpc_for_inprocess_master = False
        graph = Graph()
        graph.from_elsewhere = True
        super().__init__(target, graph, own)
        self.handle: str = self._context.handle  # type: ignore[attr-defined]
        self.version = 0
        self.callables: dict[int, Any] = {}
        self._asked: dict[Any, tuple[list[Any], list[Any], Any]] = {}
        self._numbers = itertools.count(1)
        self._extending = threading.Lock()

    def extend(self, graph_def: Any) -> int:
        """Adds nodes; returns the graph's new version."""
        with self._extending:
            if graph_def.node or graph_def.library.function:
                extend_graph(self._graph, graph_def)
            self.version += 1
            return self.version

    def answer(self, asked: _RunStepRequest) -> Outgoing:
        """The answer to a RunStepRequest."""
        if self._closed:
            raise errors.CancelledError(None, None, "Session has been closed.")
        if asked.partial_run:
            return self._answer_partly(asked)
        key = (*asked.fetches, None, *asked.targets, None, *asked.feeds, self._graph._edits)
        known = self._asked.get(key)
        if known is None:
            known = self._asked[key] = self._looked_up(asked)
        fetches, feeds, runner = known
        given = dict(zip(feeds, (array_in(tensor)[0] for tensor in asked.feeds.values())))
        if asked.options is not None and asked.options.ByteSize():
            metadata = RunMetadata()
            found = self.run(runner.fetches.elements, given, asked.options, metadata)
            tail = field(2, [metadata.SerializeToString()])
            return [*_tensors(fetches, [values.from_numpy(*_as_fed(v, t)) for v, t in zip(found, fetches)]), *tail]
        return _tensors(fetches, self._call(runner.step, runner.prepared(given)), runner.step.fetches_fresh)

    def _looked_up(self, asked: _RunStepRequest) -> tuple[list[Any], list[Any], Any]:
        element = self._graph.as_graph_element
        fetches = [element(name) for name in asked.fetches]
        feeds = [element(name, allow_operation=False) for name in asked.feeds]
        return fetches, feeds, self._runner([*fetches, *(element(name) for name in asked.targets)], dict.fromkeys(feeds))

    def _answer_partly(self, asked: _RunStepRequest) -> Outgoing:
        fetches = [self._graph.as_graph_element(name) for name in asked.fetches]
        found = self.partial_run(
            asked.partial_run, [*fetches, *asked.targets], {name: array_in(tensor)[0] for name, tensor in asked.feeds.items()}
        )
        return _tensors(fetches, [values.from_numpy(*_as_fed(v, t)) for v, t in zip(found, fetches)])

    def add_callable(self, options: Any) -> int:
        """The number of a callable for CallableOptions."""
        number = next(self._numbers)
        fetches = [self._graph.as_graph_element(name) for name in options.fetch]
        self.callables[number] = fetches, self._make_callable_from_options(options)
        return number

    def answer_call(self, number: int, feeds: list[memoryview]) -> Outgoing:
        """What a callable gives, as a RunCallableResponse."""
        if number not in self.callables:
            raise errors.InvalidArgumentError(None, None, f"No such callable handle: {number}")
        fetches, call = self.callables[number]
        found = call(*(array_in(tensor)[0] for tensor in feeds))
        return [piece for v, t in zip(found, fetches) for piece in field(1, encoded(values.from_numpy(*_as_fed(v, t)), t.dtype.base_dtype))]


def _tensors(fetches: list[Any], found: Any, are_ours: Any = itertools.repeat(False)) -> list[Any]:
    """The fetched tensors of a RunStepResponse."""
    return [p for t, v, is_ours in zip(fetches, found, are_ours) for p in encoded_with_name(1, t.name, v, t.dtype.base_dtype, is_ours)]


def _as_fed(value: Any, tensor: Any) -> tuple[Any, Any]:
    return np.asarray(value, None if hasattr(value, "dtype") else object), tensor.dtype
