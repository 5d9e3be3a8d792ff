"""Clusters of programs that run ops at once: connecting to servers, on whose devices ops can then be placed."""

from __future__ import annotations

from typing import Any

from everflow import errors
from everflow.api import internal, public
from everflow.distribute.cluster_spec import ClusterSpec, ServerDef
from everflow.distribute.targets import SCHEME
from everflow.eager.context import set_server_def
from everflow.eager.devices import CHOOSER, PLACEMENT, REMOTE
from everflow.eager.remote_devices import RemoteServer, place_of


@public("config.experimental_connect_to_host", "contrib.eager.connect_to_remote_host")
@internal("eager.remote.connect_to_remote_host")
def connect_to_remote_host(remote_host: Any = None, job_name: str = "worker") -> None:
    """Connects to a server, or to several; their devices are those of the tasks of a job."""
    if not remote_host:
        raise ValueError("Must provide at least one remote_host")
    hosts = [remote_host] if isinstance(remote_host, str) else list(remote_host)
    connect_to_cluster(ClusterSpec({job_name: [h[len(SCHEME) :] if h.startswith(SCHEME) else h for h in hosts]}))


@public("config.experimental_connect_to_cluster")
@internal("eager.remote.connect_to_cluster")
def connect_to_cluster(
    cluster_spec_or_resolver: Any, job_name: str = "localhost", task_index: int = 0, protocol: str | None = None
) -> None:
    """Connects to the servers of a cluster; this process is the named task, or else one of its own beside them."""
    if isinstance(cluster_spec_or_resolver, ClusterSpec):
        spec = cluster_spec_or_resolver
    elif hasattr(cluster_spec_or_resolver, "cluster_spec"):
        spec = cluster_spec_or_resolver.cluster_spec()
    else:
        raise ValueError("`cluster_spec_or_resolver` must be a `ClusterSpec` or a `ClusterResolver`.")
    definition = ServerDef(cluster=spec.as_cluster_def(), job_name=job_name, task_index=task_index, protocol=protocol or "grpc")
    if job_name not in spec.jobs:
        definition.cluster.job.add(name=job_name).tasks[task_index] = "localhost:0"
    set_server_def(definition)


def join(server_def: Any) -> None:
    """Makes this process a task of a cluster and connects to the servers of the others, in place of those it knew."""
    if not server_def:
        raise ValueError("server_def is None.")
    spec = ClusterSpec(server_def.cluster)
    own = server_def.job_name, server_def.task_index
    if own[0] not in spec.jobs:
        raise errors.InvalidArgumentError(None, None, f'Job "{own[0]}" was not defined in cluster')
    if own[1] not in spec.task_indices(own[0]):
        raise errors.InvalidArgumentError(None, None, f'Task {own[1]} was not defined in job "{own[0]}"')
    found = {}
    for job in spec.jobs:
        for index in spec.task_indices(job):
            if (job, index) != own:
                server = RemoteServer(spec.task_address(job, index), f"/job:{job}/replica:0/task:{index}")
                found.update({d.name: d for d in server.devices})
    REMOTE.clear()
    REMOTE.update(found)
    CHOOSER.use(remote=place_of)
    PLACEMENT.choose(local=f"/job:{own[0]}/replica:0/task:{own[1]}")
