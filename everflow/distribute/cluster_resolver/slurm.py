"""A cluster of the tasks of a Slurm job step."""

from __future__ import annotations

import collections
import os
import subprocess
from collections.abc import Mapping

from everflow.api import public
from everflow.distribute.cluster_resolver.resolvers import ClusterResolver, format_master_url
from everflow.distribute.cluster_spec import ClusterSpec


@public("distribute.cluster_resolver.SlurmClusterResolver", "contrib.cluster_resolver.SlurmClusterResolver")
class SlurmClusterResolver(ClusterResolver):
    """Gives the tasks that srun started to jobs, in their order: `SlurmClusterResolver({"ps": 1, "worker": 3})`.

    Tasks of one node have ports from `port_base` on; with `auto_set_gpu` each sees only the GPUs that are its own.
    """

    def __init__(
        self,
        jobs: Mapping[str, int],
        port_base: int = 8888,
        gpus_per_node: int = 1,
        gpus_per_task: int = 1,
        tasks_per_node: int | None = None,
        auto_set_gpu: bool = True,
        rpc_layer: str = "grpc",
    ) -> None:
        self._rank = self._from_slurm("SLURM_PROCID")
        started = self._from_slurm("SLURM_NTASKS")
        if tasks_per_node is None:
            if "SLURM_NTASKS_PER_NODE" not in os.environ:
                raise RuntimeError('Neither `tasks_per_node` or "SLURM_NTASKS_PER_NODE" is set.')
            tasks_per_node = int(os.environ["SLURM_NTASKS_PER_NODE"])
        self._jobs = collections.OrderedDict(sorted(jobs.items()))
        self._port_base, self._gpus_per_node, self._gpus_per_task = port_base, gpus_per_node, gpus_per_task
        self._tasks_per_node, self._auto_set_gpu = tasks_per_node, auto_set_gpu
        self.task_type: str | None = None
        self.task_id: int | None = None
        self.rpc_layer = rpc_layer
        if gpus_per_task * tasks_per_node > gpus_per_node:
            raise RuntimeError("Requested more GPUs per node then available.")
        if sum(self._jobs.values()) != started:
            raise RuntimeError("Requested more tasks then assigned tasks.")

    @staticmethod
    def _from_slurm(variable: str) -> int:
        if variable not in os.environ:
            raise RuntimeError(f"{variable} is not set: this is no task that srun started.")
        return int(os.environ[variable])

    def _resolve_hostnames(self) -> list[str]:
        """The nodes of the job, as scontrol spells them out."""
        return subprocess.check_output(["scontrol", "show", "hostname"]).decode().split()

    def cluster_spec(self) -> ClusterSpec:
        """The cluster. This task's job, number and GPUs are set on the way."""
        places = [
            (f"{host}:{self._port_base + i}", range(i * self._gpus_per_task, (i + 1) * self._gpus_per_task))
            for host in self._resolve_hostnames()
            for i in range(self._tasks_per_node)
        ]
        cluster: dict[str, list[str]] = {}
        rank = 0
        for job, count in self._jobs.items():
            cluster[job] = [address for address, _ in places[rank : rank + count]]
            if rank <= self._rank < rank + count:
                self.task_type, self.task_id = job, self._rank - rank
                if self._auto_set_gpu:
                    os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, places[self._rank][1]))
            rank += count
        return ClusterSpec(cluster)

    def get_task_info(self) -> tuple[str | None, int | None]:
        """This task's job and number."""
        return self.task_type, self.task_id

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The target of a task, "" where none is named or known."""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        if task_type is None or task_id is None:
            return ""
        return format_master_url(self.cluster_spec().task_address(task_type, task_id), rpc_layer or self.rpc_layer)
