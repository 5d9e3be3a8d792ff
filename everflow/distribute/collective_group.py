"""The processes that reduce values with each other, over torch.distributed with Gloo."""

from __future__ import annotations

import atexit
import datetime
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from everflow.distribute.cluster_spec import ClusterSpec
from everflow.distribute.cluster_workers import id_in_cluster, worker_count
from everflow.distribute.wire import Service, channel
from everflow.errors import failed_precondition, unavailable
from everflow.proto import worker_pb2, worker_service_pb2
from everflow.runtime.tasks import served

_MERGES = {"Add": dist.ReduceOp.SUM, "Mul": dist.ReduceOp.PRODUCT, "Min": dist.ReduceOp.MIN, "Max": dist.ReduceOp.MAX}
# The same for two tensors.
MERGED: dict[str, Callable[[Any, Any], torch.Tensor]] = {"Add": torch.add, "Mul": torch.mul, "Min": torch.minimum, "Max": torch.maximum}
_SERVICE = worker_service_pb2.DESCRIPTOR.services_by_name["WorkerService"]


class ProcessGroup:
    """The workers of a cluster: each is a process, and they meet at the first of them.

    Where tasks run servers, the first one's server says at which port; else they meet at its address itself.
    """

    def __init__(self, cluster_spec: ClusterSpec, task_type: str, task_id: int) -> None:
        self.size = worker_count(cluster_spec, task_type)
        self.rank = id_in_cluster(cluster_spec, task_type, task_id)
        leader = "chief" if "chief" in cluster_spec.jobs else "worker"
        self.address = cluster_spec.task_address(leader, 0)
        self._own_address = cluster_spec.task_address(task_type, task_id)
        self._lock = threading.Lock()
        self._group: Any = None

    def _connected(self) -> Any:
        with self._lock:
            if self._group is None:
                patience = _patience()
                try:
                    store = self._store(patience)
                    self._group = dist.ProcessGroupGloo(dist.PrefixStore("everflow", store), self.rank, self.size, patience)
                    # Its threads end with it, and must before Python does.
                    atexit.register(_leave, weakref.ref(self))
                except RuntimeError as error:
                    raise unavailable(f"The workers did not meet at {self.address}: {error}") from None
            return self._group

    def _store(self, patience: datetime.timedelta) -> Any:
        """Where the members find each other."""
        host, _, port = self.address.rpartition(":")
        server = served.get(self._own_address)
        if server is None:
            return dist.TCPStore(host, int(port), self.size, is_master=self.rank == 0, timeout=patience)
        if self.rank == 0:
            return server.meeting_place()
        leader = Service(channel(self.address), _SERVICE)
        # The key names the place; it is opaque to all but the members.
        answer = leader.CompleteGroup(worker_pb2.CompleteGroupRequest(group_size=self.size), patience.total_seconds())
        return dist.TCPStore(host, int(answer.communicator_key), self.size, is_master=False, timeout=patience)

    def leave(self) -> None:
        """Ends the connections."""
        with self._lock:
            self._group = None

    def _done(self, what: str, start: Callable[[Any], Any]) -> None:
        group = self._connected()
        try:
            start(group).wait()
        except RuntimeError as error:
            raise unavailable(f"{what} with {self.size - 1} other workers failed: {error}") from None

    def reduced(self, value: torch.Tensor, merge: str) -> torch.Tensor:
        """The values of all workers, merged."""
        total = value.detach().clone().contiguous()
        options = dist.AllreduceOptions()
        options.reduceOp = _MERGES[merge]
        self._done("An all-reduce", lambda group: group.allreduce([total], options))
        return total

    def gathered(self, value: torch.Tensor) -> torch.Tensor:
        """The values of all workers, one below the other."""
        own = value.detach().contiguous()
        parts = [torch.empty_like(own) for _ in range(self.size)]
        self._done("An all-gather", lambda group: group.allgather([parts], [own]))
        return torch.cat(parts)

    def broadcast(self, value: torch.Tensor, is_sender: bool) -> torch.Tensor:
        """The sender's value. The others add zeros to it, so that nobody needs to know who the sender is."""
        return self.reduced(value if is_sender else torch.zeros_like(value), "Add")

    def barrier(self) -> None:
        """Waits for the others."""
        self._done("Waiting", lambda group: group.barrier())


def _leave(group: Any) -> None:
    if (found := group()) is not None:
        found.leave()


def _patience() -> datetime.timedelta:
    return datetime.timedelta(seconds=float(os.environ.get("EVERFLOW_COLLECTIVE_TIMEOUT", "600")))


def new_meeting_place() -> Any:
    """A store at a free port of this machine, for the members of a group to find each other."""
    return dist.TCPStore("localhost", 0, is_master=True, wait_for_workers=False, timeout=_patience())


class _Current:
    group: ProcessGroup | None = None


_current = _Current()


def join(cluster_spec: ClusterSpec, task_type: str, task_id: int) -> None:
    """Makes this process a worker of a cluster; they meet when the first of them reduces something."""
    found = ProcessGroup(cluster_spec, task_type, task_id)
    known = _current.group
    if known is not None and (known.size, known.rank, known.address) == (found.size, found.rank, found.address):
        return
    _current.group = found


def process_group(processes: int, context: Any = None, members: int = 1) -> ProcessGroup:
    """The group that an op belongs to whose members are in this many processes, so many in each: its server's, where a server runs it."""
    server = getattr(context, "server", None)
    group = _current.group if server is None else server.process_group()
    if group is None or group.size != processes:
        known = "no cluster" if group is None else f"a cluster of {group.size}"
        raise failed_precondition(
            f"A collective of {processes * members} members, in a process that is a worker of {known}, and in a step that has {members}. "
            "Make a MultiWorkerMirroredStrategy where TF_CONFIG names the workers, or run the members on all devices in one step."
        )
    return group
