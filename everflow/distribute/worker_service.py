"""The WorkerService of a server: its part of steps that a master in another process runs."""

from __future__ import annotations

import contextlib
import itertools
import secrets
import threading
import time
from typing import Any

from everflow import errors  # type: ignore[no-redef]
from everflow.distribute.cluster_spec import ClusterSpec
from everflow.distribute.dataflow import RECEIVES, SENDS, Dataflow
from everflow.distribute.held_objects import HeldObjects
from everflow.distribute.listener import Call
from everflow.distribute.messages import field, fields, name_and_tensor, named, number_field
from everflow.distribute.rendezvous import Meetings, Parcel, Rendezvous, key_of
from everflow.distribute.tensors import decoded
from everflow.distribute.wire import Begun, DaemonThreads, Method, Outgoing, channel
from everflow.errors import from_code
from everflow.graph import dtypes
from everflow.graph.devices import DeviceSpec
from everflow.graph.graph import Graph
from everflow.graph.importer import extend_graph
from everflow.proto import device_attributes_pb2, worker_pb2, worker_service_pb2
from everflow.runtime.options import ConfigProto
from everflow.runtime.session import BaseSession
from everflow.values.resources import Resources
from everflow.values.waiting import running

# How our tasks describe their devices to those who ask.
OURS = "everflow"
# Calls that carry tensors take and give bytes.
PLAIN = ("RunGraph", "RecvTensor")
SERVICE = worker_service_pb2.DESCRIPTOR.services_by_name["WorkerService"]
RUN_GRAPH = "/tensorflow.WorkerService/RunGraph"
RECV_TENSOR = "/tensorflow.WorkerService/RecvTensor"
# What TensorFlow's masters know a failure by that only follows from another.
DERIVED = "[_Derived_]"


def attributes_of(task: Any) -> list[Any]:
    """The devices of a task, as DeviceAttributes."""
    return [
        device_attributes_pb2.DeviceAttributes(
            name=d.name, device_type=d.device_type, memory_limit=d.memory_limit_bytes, incarnation=d.incarnation, physical_device_desc=OURS
        )
        for d in task.devices()
    ]


class Worker:
    """Runs registered graphs for masters."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._parts: dict[str, _Part] = {}
        self._sessions: dict[str, _WorkerSession] = {}
        self._held = HeldObjects(server.task)
        self._numbers = itertools.count(1)
        self._meetings = Meetings()
        self._partial: dict[int, _PartialRun] = {}
        self._threads = DaemonThreads()
        self._lock = threading.Lock()

    def GetStatus(self, request: Any) -> Any:
        """The devices of the task."""
        return worker_pb2.GetStatusResponse(device_attributes=attributes_of(self._server.task))

    def CreateWorkerSession(self, request: Any) -> Any:
        """A master tells of a session that has a cluster, or a state, of its own."""
        with self._lock:
            self._sessions[request.session_handle] = _WorkerSession(self._server, request.server_def, request.isolate_session_state)
        return worker_pb2.CreateWorkerSessionResponse()

    def DeleteWorkerSession(self, request: Any) -> Any:
        """Such a session is over."""
        with self._lock:
            session = self._sessions.pop(request.session_handle, None)
        if session is not None:
            session.close()
        return worker_pb2.DeleteWorkerSessionResponse()

    def RegisterGraph(self, request: Any) -> Any:
        """Takes a part of a master's graph."""
        session = self._session(request)
        handle = f"{next(self._numbers):016x}"
        self._parts[handle] = _Part(session, request.graph_def, request.session_handle)
        return worker_pb2.RegisterGraphResponse(graph_handle=handle)

    def DeregisterGraph(self, request: Any) -> Any:
        """Forgets a part."""
        part = self._parts.pop(request.graph_handle, None)
        if part is None:
            raise _restarted("DeregisterGraph", request.graph_handle)
        part.close()
        return worker_pb2.DeregisterGraphResponse()

    def RunGraph(self, request: memoryview, call: Call) -> Outgoing:
        """Runs a part. Who asked for it may go away meanwhile, which ends the step here."""
        asked = _RunGraphRequest(request)
        part = self._parts.get(asked.graph)
        scope = StepScope(self._server.task, call)
        try:
            if part is None:
                raise _restarted("RunGraph", asked.graph)
            if asked.is_partial:
                return self._run_partially(part, asked, scope)
            if part.is_closed_in_itself:
                return part.answer(asked, self._held, scope)
            meeting = self._meetings.of(asked.step)
            for key, tensor in asked.sent.items():
                value = self._held.taken(tensor)
                meeting.leave(key, Parcel(value, None))
            self._flow(part, asked.step, meeting, scope)
            return self._handed_over(asked, meeting, scope)
        except errors.OpError as e:
            if not asked.stores_errors:
                raise
            return [number_field(5, e.error_code), *field(6, [e.message.encode()])]
        finally:
            scope.is_over = True

    def _flow(self, part: _Part, step: int, meeting: Rendezvous, scope: StepScope) -> None:
        try:
            part.flow(meeting, step, scope, self._threads)
        except errors.OpError as error:
            meeting.fail(error)
            raise

    def _run_partially(self, part: _Part, asked: _RunGraphRequest, scope: StepScope) -> Outgoing:
        """A run whose tensors come and go with several calls: it goes on in a thread of its own."""
        with self._lock:
            run = self._partial.get(asked.step)
            is_new = run is None
            if run is None:
                run = self._partial[asked.step] = _PartialRun(StepScope(self._server.task))
        meeting = self._meetings.of(asked.step)
        for key, tensor in asked.sent.items():
            meeting.leave(key, Parcel(self._held.taken(tensor), None))
        if is_new:
            started = run

            def flow() -> None:
                try:
                    self._flow(part, asked.step, meeting, started.scope)
                except errors.OpError as error:
                    started.error = error
                finally:
                    started.over.set()

            self._threads.submit(flow)
        answer = self._handed_over(asked, meeting, scope)
        if asked.is_last:
            run.over.wait()
            self._partial.pop(asked.step, None)
            if run.error is not None:
                raise run.error
        return answer

    def _handed_over(self, asked: _RunGraphRequest, meeting: Rendezvous, scope: StepScope) -> Outgoing:
        """The answer with the tensors that the master asked for."""
        answer: list[Any] = []
        for key in asked.wanted:
            parcel = scope.taken(meeting, key)
            if parcel.is_dead:
                raise errors.InvalidArgumentError(None, None, "The tensor returned for " + key.split(";")[3] + " was not valid.")
            answer += named(1, key, self._held.given(parcel.value, parcel.dtype, asked.step, key))
        return answer

    def RecvTensor(self, request: memoryview, call: Call) -> Outgoing:
        """Hands a tensor of a step to another task."""
        asked = dict(fields(request))
        key = str(asked.get(2, b""), "utf-8")
        step = _signed(asked.get(1, 0))
        try:
            parcel = StepScope(self._server.task, call).taken(self._meetings.of(step), key)
        except errors.OpError as e:
            # Who made the tensor tells the master itself, which is not to take this for a second failure.
            raise from_code(None, None, DERIVED + e.message, e.error_code) from None
        now = number_field(3, time.time_ns() // 1000)
        if parcel.is_dead:
            return [*field(1, [number_field(1, parcel.dtype.as_datatype_enum)]), number_field(2, 1), now]
        return [*field(1, self._held.given(parcel.value, parcel.dtype, step, key)), now]

    def CleanupGraph(self, request: Any) -> Any:
        """A step is over; what was kept of it is let go."""
        self._held.let_go(request.step_id)
        self._meetings.end(request.step_id)
        with self._lock:
            run = self._partial.pop(request.step_id, None)
        if run is not None:
            run.scope.leave()
        return worker_pb2.CleanupGraphResponse()

    def CleanupAll(self, request: Any) -> Any:
        """Clears containers."""
        resources = self._server.task.resources
        resources.clear(list(request.container) or [resources.default_container])
        return worker_pb2.CleanupAllResponse()

    def CompleteGroup(self, request: Any) -> Any:
        """Tells a member of a group where the members meet."""
        place = self._server.meeting_place()
        return worker_pb2.CompleteGroupResponse(
            group_key=request.group_key, group_size=request.group_size, communicator_key=str(place.port).encode()
        )

    def Logging(self, request: Any) -> Any:
        """Calls are not logged: there is nothing to tell."""
        return worker_pb2.LoggingResponse()

    def Tracing(self, request: Any) -> Any:
        """Traces are made by RunOptions; there is no profiler of the task to start."""
        return worker_pb2.TracingResponse()

    def MarkRecvFinished(self, request: Any) -> Any:
        """A tensor has come; nothing is kept of those that were sent."""
        return worker_pb2.MarkRecvFinishedResponse()

    def _session(self, request: Any) -> _WorkerSession:
        handle = request.session_handle if request.create_worker_session_called else ""
        with self._lock:
            found = self._sessions.get(handle)
            if found is None and handle:
                raise errors.AbortedError(None, None, f"Session handle is not found: {handle}. Possibly this worker just restarted.")
            if found is None:
                found = self._sessions[""] = _WorkerSession(self._server, None, False)
        return found


def _restarted(call: str, graph: str) -> errors.OpError:
    return errors.AbortedError(None, None, f"{call}: graph handle is not found: {graph}. Possibly, this worker just restarted.")


class _RunGraphRequest:
    """A RunGraphRequest, of which the tensors stay where they came."""

    def __init__(self, data: memoryview) -> None:
        self.graph = ""
        self.step = 0
        self.sent: dict[str, memoryview] = {}
        self.wanted: list[str] = []
        self.is_partial = self.is_last = self.stores_errors = False
        for number, value in fields(data):
            if number == 3:
                name, tensor = name_and_tensor(value)
                self.sent[name] = tensor
            elif number == 4:
                self.wanted.append(str(value, "utf-8"))
            elif number == 1:
                self.graph = str(value, "utf-8")
            elif number == 2:
                self.step = _signed(value)
            elif number == 6:
                self.is_partial = bool(value)
            elif number == 7:
                self.is_last = bool(value)
            elif number == 9:
                self.stores_errors = bool(value)


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


class StepScope:
    """What waits during a call looks at: whether its caller still wants it. A step that never waits never asks."""

    deadline = None

    def __init__(self, task: Any, call: Call | None = None) -> None:
        self.is_over = False
        self._cancelled = threading.Event()
        self._task = task
        self._call = call
        self._takers: list[Any] = []

    @property
    def cancelled(self) -> threading.Event:
        """Is set when the caller has gone away."""
        if self._call is not None:
            self._call.on_leave(self.leave)
        return self._cancelled

    def leave(self) -> None:
        """The caller is gone, or has its answer."""
        if self.is_over or self._cancelled.is_set():
            return
        self._cancelled.set()
        self._task.resources.wake()
        for taker in self._takers:
            taker(errors.CancelledError(None, None, "RunGraph was cancelled"))

    def taken(self, meeting: Rendezvous, key: str) -> Parcel:
        """A tensor of a step, waited for."""
        there = threading.Event()
        found: list[Any] = []

        def take(parcel: Any) -> None:
            found.append(parcel)
            there.set()

        self._takers.append(take)
        meeting.take(key, take)
        if not found and self.cancelled.is_set():
            take(errors.CancelledError(None, None, "RunGraph was cancelled"))
        there.wait()
        self._takers.remove(take)
        if isinstance(found[0], Exception):
            raise found[0]
        return found[0]


class _PartialRun:
    """A run that several calls feed."""

    def __init__(self, scope: StepScope) -> None:
        self.scope = scope
        self.over = threading.Event()
        self.error: errors.OpError | None = None


class _WorkerSession:
    """Where parts are registered: the cluster and the state that a session's masters mean. Most share those of the server."""

    def __init__(self, server: Any, server_def: Any, is_isolated: bool) -> None:
        self.server = server
        given = server_def is not None and len(server_def.cluster.job) > 0
        self._spec = ClusterSpec(server_def.cluster) if given else server.spec
        self.task = server.task
        if given or is_isolated:
            job, index = (server_def.job_name, server_def.task_index) if given else (server.task.job, server.task.index)
            resources = Resources(job) if is_isolated else server.task.resources
            self.task = server.task.known_as(job or server.task.job, index, resources)
        self._is_isolated = is_isolated

    def is_local(self, device: str) -> bool:
        """Whether a device is one of this task."""
        spec = DeviceSpec.from_string(device)
        return spec.job == self.task.job and (spec.task or 0) == self.task.index

    def address_of(self, device: str) -> str:
        """Where the server of a device's task listens."""
        spec = DeviceSpec.from_string(device)
        try:
            return self._spec._jobs[spec.job][spec.task or 0]
        except KeyError:
            raise errors.InvalidArgumentError(None, None, f"No worker known as /job:{spec.job}/replica:0/task:{spec.task or 0}") from None

    def close(self) -> None:
        """Lets go of what was the session's alone."""
        if self._is_isolated:
            self.task.resources.clear()


class _Part(BaseSession):
    """A registered graph. Where tensors only come with the call and go back with the answer, it is a step like any other."""

    def __init__(self, session: _WorkerSession, graph_def: Any, master: str) -> None:
        graph = Graph()
        graph.from_elsewhere = True
        extend_graph(graph, graph_def)
        self._home = session
        self._master = master
        # A part is the task's own, unless functions that it calls go elsewhere: other tasks may be gone, or not there yet.
        inside = [n for f in graph_def.library.function for n in f.node_def]
        elsewhere = {n.device for n in inside if DeviceSpec.from_string(n.device).job}
        config = ConfigProto(device_filters=[session.task.name, *sorted(elsewhere)])
        if any(n.op == "RemoteCall" for n in (*graph_def.node, *inside)):
            # Where it leads is known only when it runs.
            del config.device_filters[:]
        super().__init__(session.server.target, graph, config)
        ops = graph.get_operations()
        ends = [op for op in ops if op.type in SENDS or op.type in RECEIVES]
        self.is_closed_in_itself = all(op.attr("client_terminated") for op in ends)
        self._incoming = {key_of(op.attr): op.outputs[0] for op in ends if op.type in RECEIVES}
        self._outgoing = {key_of(op.attr): op.inputs[0] for op in ends if op.type in SENDS}
        self._work = [op for op in ops if op not in ends]
        self._step: Any = None
        self._dataflow: Dataflow | None = None
        self._scopes: set[StepScope] = set()

    def close(self) -> None:
        """Ends the runs under way."""
        super().close()
        for scope in list(self._scopes):
            scope.leave()

    @contextlib.contextmanager
    def _within(self, scope: StepScope) -> Any:
        """Whatever waits in this thread looks at the scope of the call."""
        self._scopes.add(scope)
        try:
            with self._context.until(None):
                running.context = scope
                yield
        finally:
            self._scopes.discard(scope)

    def _connected(self, target: str) -> Any:
        return self._home.server.part_context(self._graph, self._config, self._home.task, self._master)

    def answer(self, asked: _RunGraphRequest, held: HeldObjects, scope: StepScope) -> Outgoing:
        """The answer to a RunGraphRequest."""
        if self._step is None:
            with self._lock:
                if self._step is None:
                    self._context.placer.place_graph(self._graph)
                    self._step = self._context.step(self._outgoing.values(), self._work, self._incoming.values())
        sent = asked.sent
        arguments = [held.taken(sent[key]) for key in self._incoming]
        with self._within(scope):
            found = BaseSession._call(self, self._step, arguments)
        answer: list[Any] = []
        for (key, tensor), value, is_fresh in zip(self._outgoing.items(), found, self._step.fetches_fresh):
            answer += named(1, key, held.given(value, tensor.dtype.base_dtype, asked.step, key, is_fresh))
        return answer

    def flow(self, meeting: Rendezvous, step: int, scope: StepScope, threads: DaemonThreads) -> None:
        """Runs the part while it exchanges tensors with other tasks."""
        if self._dataflow is None:
            with self._lock:
                if self._dataflow is None:
                    self._context.placer.place_graph(self._graph)
                    self._dataflow = Dataflow(self._context, self._graph.get_operations())

        def fetch(device: str, key: str, dtype: Any, done: Any) -> Any:
            ask = Method(channel(self._home.address_of(device)), RECV_TENSOR)
            request = worker_pb2.RecvTensorRequest(step_id=step, rendezvous_key=key, request_id=secrets.randbits(62))
            call = ask.begin(request.SerializeToString())
            call.then(lambda call: done(_received(call, dtype)))
            return call

        def elsewhere(compute: Any) -> None:
            def run() -> None:
                with self._within(scope):
                    compute()

            threads.submit(run)

        with self._within(scope):
            self._dataflow.run(meeting, fetch, elsewhere, self._home.is_local)


def _received(call: Begun, dtype: Any) -> Any:
    """What a call for a tensor came back with."""
    try:
        answer = dict(fields(call.result()))
    except errors.OpError as e:
        return e
    if answer.get(2):
        return Parcel(None, dtype, is_dead=True)
    try:
        return Parcel(decoded(answer.get(1, b"")), dtypes.as_dtype(dtype))
    except (ValueError, TypeError) as e:
        return errors.InternalError(None, None, f"What another task sent can't be read: {e}")
