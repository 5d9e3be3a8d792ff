"""A task of a cluster as a program of its own, for trying out how sessions on clusters are debugged.

python -m everflow.debug.cluster_task --cluster_spec='worker|localhost:2222;localhost:2223,ps|localhost:2224' --job_name=worker --task_id=0
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import everflow as tf
from everflow.api import internal


@internal("debug.lib.grpc_tensorflow_server.parse_cluster_spec")
def parse_cluster_spec(cluster_spec: str, cluster: Any, verbose: bool = False) -> None:
    """Adds the jobs of a text such as `worker|host:1;host:2,ps|host:3` to a ClusterDef."""
    for text in cluster_spec.split(","):
        name, bar, tasks = text.partition("|")
        if not bar or "|" in tasks:
            raise ValueError(f"Not exactly one instance of '|' in cluster_spec: {text}")
        if not name:
            raise ValueError(f"Empty job_name in cluster_spec: {text}")
        job = cluster.job.add(name=name)
        for number, address in enumerate(tasks.split(";")):
            if not address:
                raise ValueError(f"Empty task string at position {number}")
            job.tasks[number] = address
            if verbose:
                tf.logging.info("Added task %d of job %s: %s", number, name, address)


@internal("debug.lib.grpc_tensorflow_server.main")
def main(unused_args: Any = None) -> None:
    """Runs a task as the command line says, until it is stopped."""
    parser = argparse.ArgumentParser(description="Runs a task of a cluster.")
    parser.add_argument("--cluster_spec", required=True, help="JOB|HOST:PORT;HOST:PORT,JOB|HOST:PORT")
    parser.add_argument("--job_name", required=True)
    parser.add_argument("--task_id", type=int, default=0)
    parser.add_argument("--verbose", action="store_true")
    given, _ = parser.parse_known_args(sys.argv[1:])
    cluster = tf.train.ClusterDef()
    parse_cluster_spec(given.cluster_spec, cluster, given.verbose)
    if given.job_name not in [job.name for job in cluster.job]:
        raise ValueError(f"There is no job {given.job_name} in the cluster spec {given.cluster_spec}")
    server = tf.train.ServerDef(cluster=cluster, job_name=given.job_name, task_index=given.task_id, protocol="grpc")
    tf.train.Server(server).join()


if __name__ == "__main__":
    main()
