"""tf.train.Server: a task of a cluster, to which sessions connect."""

from __future__ import annotations

import collections
import socket
import sys
import threading
import weakref
from typing import Any

from everflow import errors
from everflow.api import internal, public
from everflow.distribute.cluster_spec import ClusterSpec, ServerDef
from everflow.distribute.collective_group import ProcessGroup, new_meeting_place
from everflow.distribute.master_service import listen
from everflow.distribute.remote_task import RemoteTask
from everflow.distribute.server_context import ServerContext
from everflow.distribute.targets import SCHEME
from everflow.graph.devices import DeviceSpec
from everflow.graph.graph import Graph
from everflow.runtime.tasks import Task, served
from everflow.values.resources import Resources

internal("training.server_lib")(sys.modules[__name__])


@public("train.Server", "distribute.Server")
class Server:
    """`Server({"worker": ["host0:2222", "host1:2222"]}, job_name="worker", task_index=0)` serves one task of a cluster."""

    def __init__(
        self,
        server_or_cluster_def: Any,
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: Any = None,
        start: bool = True,
    ) -> None:
        self._server_def = _server_def(server_or_cluster_def, job_name, task_index, protocol, config)
        definition = self._server_def
        if definition.protocol != "grpc":
            raise errors.NotFoundError(
                None,
                None,
                f"No server factory registered for the given ServerDef: {definition}\nThe available server factories are: [ GRPC_SERVER ]",
            )
        self.spec = ClusterSpec(definition.cluster)
        tasks = self.spec._jobs.get(definition.job_name)
        if tasks is None:
            raise errors.InternalError(None, None, f'Job "{definition.job_name}" was not defined in cluster')
        if definition.task_index not in tasks:
            raise errors.InvalidArgumentError(None, None, f'Task {definition.task_index} was not defined in job "{definition.job_name}"')
        self._address = tasks[definition.task_index]
        self.task = Task(definition.job_name, definition.task_index, definition.default_session_config)
        self._contexts: weakref.WeakSet[ServerContext] = weakref.WeakSet()
        # How many parts there are here of each session of another master.
        self._parts_of: collections.Counter[str] = collections.Counter()
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._is_started = False
        self._meeting_place: Any = None
        self._group: ProcessGroup | None = None
        self._listener, self._port = listen(self, _port(self._address))
        if start:
            self.start()

    @staticmethod
    def create_local_server(config: Any = None, start: bool = True) -> Server:
        """A server that is a cluster of its own, at a free port of this machine."""
        return Server({"local": ["localhost:0"]}, protocol="grpc", config=config, start=start)

    def start(self) -> None:
        """Begins to serve, unless it does already."""
        with self._lock:
            if self._is_started:
                return
            self._is_started = True
        self._listener.start()
        host = self._address.rpartition(":")[0]
        for name in ("localhost", "127.0.0.1", socket.gethostname(), host):
            served.setdefault(f"{name}:{self._port}", self)

    def join(self) -> None:
        """Waits until the server is shut down: for ever."""
        self._stopped.wait()

    @property
    def server_def(self) -> Any:
        """What the server serves, as a ServerDef."""
        return self._server_def

    @property
    def target(self) -> str:
        """What a session that connects to this server is given."""
        return f"{SCHEME}localhost:{self._port}"

    def new_context(self, graph: Graph, config: Any) -> ServerContext:
        """The context of a new session that this server is the master of."""
        if config is None and self._server_def.HasField("default_session_config"):
            config = self._server_def.default_session_config
        given = config is not None and len(config.cluster_def.job) > 0
        shares = not given or config.experimental.share_session_state_in_clusterspec_propagation
        is_isolated = (config is not None and config.isolate_session_state) or not shares
        limit = config.operation_timeout_in_ms / 1000 if config is not None and config.operation_timeout_in_ms > 0 else None
        tasks = self._tasks(ClusterSpec(config.cluster_def) if given else self.spec, list(config.device_filters) if config else [], limit)
        if is_isolated or given:
            tasks = [t.known_as(t.job, t.index, Resources(t.job) if is_isolated else t.resources) for t in tasks]
        context = ServerContext(self, graph, config, tasks, is_isolated)
        self._contexts.add(context)
        if is_isolated or given:
            definition = ServerDef(cluster=(ClusterSpec(config.cluster_def) if given else self.spec).as_cluster_def(), protocol="grpc")
            for task in tasks:
                if task.is_remote:
                    task.begin_session(context.handle, definition, is_isolated)  # type: ignore[attr-defined]
        return context

    def part_context(self, graph: Graph, config: Any, task: Task, master: str) -> ServerContext:
        """The context of a part that a master in another process has registered here for one of its sessions."""
        tasks = [task, *self._tasks(self.spec, list(config.device_filters))[1:]]
        self._parts_of[master] += 1

        def over() -> bool:
            self._parts_of[master] -= 1
            return bool(master) and self._parts_of[master] <= 0

        context = ServerContext(self, graph, config, tasks, False, master, over)
        self._contexts.add(context)
        return context

    def reset(self, containers: list[str], device_filters: list[str]) -> None:
        """Clears containers (all default ones if none is named) in the cluster, and aborts the sessions of this server."""
        for task in self._tasks(self.spec, device_filters):
            task.resources.clear(containers or [task.resources.default_container])
        for context in list(self._contexts):
            context.is_aborted = True
            context.close()

    def process_group(self) -> ProcessGroup | None:
        """The workers of the cluster, with whom this task's ops reduce values; None for a task that is no worker."""
        if self._group is None and self.task.job in ("chief", "worker"):
            with self._lock:
                self._group = self._group or ProcessGroup(self.spec, self.task.job, self.task.index)
        return self._group

    def meeting_place(self) -> Any:
        """Where the workers of the cluster find each other, if this is the first of them."""
        with self._lock:
            if self._meeting_place is None:
                self._meeting_place = new_meeting_place()
            return self._meeting_place

    def _tasks(self, spec: ClusterSpec, filters: list[str], timeout: float | None = None) -> list[Task]:
        """The tasks of a cluster as far as filters let them be seen; this server's own comes first."""
        found = [self.task]
        for job, addresses in spec._jobs.items():
            for index, address in addresses.items():
                server = served.get(address)
                if server is self or (spec is self.spec and (job, index) == (self.task.job, self.task.index)):
                    found[0] = self.task if spec is self.spec else self.task.known_as(job, index, self.task.resources)
                elif _passes(filters, job, index):
                    task = server.task if server is not None else RemoteTask(address, job, index, timeout)
                    found.append(task if spec is self.spec else task.known_as(job, index, task.resources))
        return found


def _server_def(given: Any, job_name: str | None, task_index: int | None, protocol: str | None, config: Any) -> Any:
    """A complete ServerDef from what a server is made from."""
    definition = ServerDef()
    if isinstance(given, ServerDef):
        definition.CopyFrom(given)
        if job_name is not None:
            definition.job_name = job_name
        if task_index is not None:
            definition.task_index = task_index
        if protocol is not None:
            definition.protocol = protocol
        definition.protocol = definition.protocol or "grpc"
    else:
        try:
            spec = ClusterSpec(given)
        except TypeError as e:
            raise TypeError("Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` or `tf.train.ClusterSpec`.") from e
        if job_name is None:
            if len(spec.jobs) != 1:
                raise ValueError("Must specify an explicit `job_name`.")
            job_name = spec.jobs[0]
        if task_index is None:
            indices = spec.task_indices(job_name)
            if len(indices) != 1:
                raise ValueError("Must specify an explicit `task_index`.")
            task_index = indices[0]
        definition.cluster.CopyFrom(spec.as_cluster_def())
        definition.job_name, definition.task_index, definition.protocol = job_name, task_index, protocol or "grpc"
    if config is not None:
        definition.default_session_config.MergeFrom(config)
    return definition


def _port(address: str) -> int:
    _, colon, port = address.rpartition(":")
    if not colon or not port.isdigit():
        raise errors.InvalidArgumentError(None, None, f'Could not parse port for local server from "{address}".')
    return int(port)


def _passes(filters: list[str], job: str, index: int) -> bool:
    """Whether a task is among those that a session's device filters name."""
    specs = [DeviceSpec.from_string(f) for f in filters]
    return not specs or any(s.job in (None, job) and s.task in (None, index) for s in specs)
