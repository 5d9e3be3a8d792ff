"""What all resolvers share, and those that need no other system: one of a given cluster, and one of several others."""

from __future__ import annotations

import abc
import collections
import re
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.distribute.cluster_spec import ClusterSpec
from everflow.eager import context
from everflow.runtime.session import Session

_DEVICE = re.compile(r"/job:(?P<job>[^/]+).*/task:(?P<task>\d+).*/device:(?P<kind>\w+):\d+")
_HOME = "distribute.cluster_resolver.cluster_resolver."


@internal(_HOME + "format_master_url")
def format_master_url(master: str, rpc_layer: str | None = None) -> str:
    """`host:port` as a session's target."""
    return f"{rpc_layer}://{master}" if rpc_layer else master


@internal(_HOME + "get_accelerator_devices")
def get_accelerator_devices(master: str, config_proto: Any) -> list[Any]:
    """The devices that a target has."""
    if tf.executing_eagerly():
        return list(context.list_devices())
    with tf.Graph().as_default(), Session(master, config=config_proto) as session:
        return session.list_devices()


class ClusterResolver(abc.ABC):
    """Says which tasks a cluster has and where they are reached. Subclasses tell `cluster_spec` and `master`."""

    @abc.abstractmethod
    def cluster_spec(self) -> ClusterSpec:
        """The cluster as it is now."""
        raise NotImplementedError

    @abc.abstractmethod
    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The target that sessions of a task use."""
        raise NotImplementedError

    def num_accelerators(self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None) -> dict[str, int]:
        """{kind: how many} of the accelerators of a task, or of all."""
        master = self.master(task_type, task_id)
        counts: collections.Counter[str] = collections.Counter()
        for device in get_accelerator_devices(master, config_proto):
            parts = _DEVICE.match(getattr(device, "name", device))
            if parts is None or parts["kind"] in ("CPU", "XLA_CPU") or parts["kind"].startswith("XLA"):
                continue
            if task_type is not None and parts["job"] != task_type or task_id is not None and int(parts["task"]) != task_id:
                continue
            counts[parts["kind"]] += 1
        return dict(counts)

    @property
    def environment(self) -> str:
        """Where the cluster runs: "google", or "" where nothing needs to be known."""
        return ""


class SimpleClusterResolver(ClusterResolver):
    """A resolver of a cluster that is known."""

    def __init__(
        self,
        cluster_spec: ClusterSpec,
        master: str = "",
        task_type: str | None = None,
        task_id: int | None = None,
        environment: str = "",
        num_accelerators: dict[str, int] | None = None,
        rpc_layer: str | None = None,
    ) -> None:
        super().__init__()
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a ClusterSpec.")
        self._cluster_spec, self._master = cluster_spec, master
        self._task_type, self._task_id, self._rpc_layer = task_type, task_id, rpc_layer
        self._environment, self._num_accelerators = environment, num_accelerators

    def cluster_spec(self) -> ClusterSpec:
        """The cluster."""
        return self._cluster_spec

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The target of a task, or the one that was given."""
        if task_type is not None and task_id is not None:
            address = self.cluster_spec().task_address(task_type, task_id)
        else:
            address = self._master
        return format_master_url(address, rpc_layer or self._rpc_layer)

    @property
    def task_type(self) -> str | None:
        """The job of this task."""
        return self._task_type

    @task_type.setter
    def task_type(self, task_type: str) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> int | None:
        """The number of this task in its job."""
        return self._task_id

    @task_id.setter
    def task_id(self, task_id: int) -> None:
        self._task_id = task_id

    @property
    def environment(self) -> str:
        """Where the cluster runs."""
        return self._environment

    @property
    def rpc_layer(self) -> str | None:
        """What stands before addresses, such as "grpc"."""
        return self._rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: str) -> None:
        self._rpc_layer = rpc_layer

    def num_accelerators(self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None) -> dict[str, int]:
        """The accelerators that were given."""
        return {} if self._num_accelerators is None else self._num_accelerators


class UnionClusterResolver(ClusterResolver):
    """A resolver of the clusters of several others together; what is not of the cluster itself is that of the first."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self._rpc_layer, self._task_type, self._task_id = (kwargs.pop(key, None) for key in ("rpc_layer", "task_type", "task_id"))
        if kwargs:
            raise ValueError(f"Unexpected kwargs provided {kwargs!r}")
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        for resolver in args:
            if not isinstance(resolver, ClusterResolver):
                raise TypeError("All arguments must be a sub-class of `ClusterResolver.`")
        self._resolvers = args

    def cluster_spec(self) -> ClusterSpec:
        """All jobs. Tasks of a job that several have follow each other if they are lists, and must differ if they are numbered."""
        jobs: dict[str, list[Any]] = {}
        for resolver in self._resolvers:
            for job, tasks in resolver.cluster_spec().as_dict().items():
                jobs.setdefault(job, []).append(tasks)
        merged: dict[str, Any] = {}
        for job, parts in jobs.items():
            if all(isinstance(tasks, list) for tasks in parts):
                merged[job] = [task for tasks in parts for task in tasks]
                continue
            merged[job] = {}
            for tasks in parts:
                numbered = dict(enumerate(tasks)) if isinstance(tasks, list) else tasks
                if taken := sorted(merged[job].keys() & numbered.keys()):
                    raise KeyError(f"Duplicate keys detected when merging two ClusterSpecs: {', '.join(map(repr, taken))}")
                merged[job].update(numbered)
        return ClusterSpec(merged)

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The target of a task; that of the first resolver where none is named."""
        if task_type is not None and task_id is not None:
            return format_master_url(self.cluster_spec().task_address(task_type, task_id), rpc_layer or self._rpc_layer)
        return self._resolvers[0].master(rpc_layer=rpc_layer)

    @property
    def task_type(self) -> str | None:
        """The job of this task."""
        return self._task_type or self._resolvers[0].task_type

    @task_type.setter
    def task_type(self, task_type: str) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> int | None:
        """The number of this task in its job."""
        return self._task_id or self._resolvers[0].task_id

    @task_id.setter
    def task_id(self, task_id: int) -> None:
        self._task_id = task_id

    @property
    def environment(self) -> str:
        """Where the first cluster runs."""
        return self._resolvers[0].environment

    @property
    def rpc_layer(self) -> str | None:
        """What stands before addresses."""
        return self._rpc_layer or self._resolvers[0].rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: str) -> None:
        self._rpc_layer = rpc_layer

    def num_accelerators(self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None) -> dict[str, int]:
        """The accelerators of the first resolver."""
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)


_SPACES = ("distribute.cluster_resolver.", "contrib.cluster_resolver.")
for _resolver in (ClusterResolver, SimpleClusterResolver):
    public(*(space + _resolver.__name__ for space in _SPACES))(_resolver)
    internal(_HOME + _resolver.__name__)(_resolver)
public("distribute.cluster_resolver.UnionResolver", "contrib.cluster_resolver.UnionClusterResolver")(UnionClusterResolver)
internal(_HOME + "UnionClusterResolver")(UnionClusterResolver)
