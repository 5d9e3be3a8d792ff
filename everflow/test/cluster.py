"""A cluster of in-process servers for tests."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.platform.ports import free_ports


@public("test.create_local_cluster")
@internal("framework.test_util.create_local_cluster")
def create_local_cluster(
    num_workers: int, num_ps: int, protocol: str = "grpc", worker_config: Any = None, ps_config: Any = None
) -> tuple[list[Any], list[Any]]:
    """Starts servers on free local ports; returns those of the workers and those of the parameter servers."""
    jobs = {"worker": (num_workers, worker_config), "ps": (num_ps, ps_config)}
    free = iter(free_ports(num_workers + num_ps))
    spec = tf.train.ClusterSpec({job: [f"localhost:{next(free)}" for _ in range(count)] for job, (count, _) in jobs.items()})
    server = tf.train.Server
    workers, parameter_servers = (
        [server(spec, job_name=job, protocol=protocol, task_index=task, config=config, start=True) for task in range(count)]
        for job, (count, config) in jobs.items()
    )
    return workers, parameter_servers
