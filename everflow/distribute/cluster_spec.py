"""What a cluster is made of: jobs, their tasks, and the tasks' addresses."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.proto import cluster_pb2, tensorflow_server_pb2

ClusterDef = public("train.ClusterDef")(cluster_pb2.ClusterDef)
JobDef = public("train.JobDef")(cluster_pb2.JobDef)
ServerDef = public("train.ServerDef")(tensorflow_server_pb2.ServerDef)


@public("train.ClusterSpec")
class ClusterSpec:
    """`ClusterSpec({"ps": ["ps0:2222"], "worker": {0: "worker0:2222", 3: "worker3:2222"}})`: the addresses of every job's tasks."""

    def __init__(self, cluster: Any) -> None:
        if isinstance(cluster, ClusterSpec):
            self._jobs = {job: dict(tasks) for job, tasks in cluster._jobs.items()}
        elif isinstance(cluster, ClusterDef):
            self._jobs = {job.name: dict(sorted(job.tasks.items())) for job in cluster.job}
        elif isinstance(cluster, dict):
            self._jobs = {_text(job, "Job name"): _addresses(job, tasks) for job, tasks in cluster.items()}
        else:
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network addresses, or a `ClusterDef` "
                "protocol buffer"
            )

    def as_dict(self) -> dict[str, Any]:
        """The jobs as a dictionary: a list of addresses each, or a dictionary where indices are left out."""
        return {
            job: list(tasks.values()) if self.task_indices(job) == list(range(len(tasks))) else dict(tasks)
            for job, tasks in self._jobs.items()
        }

    def as_cluster_def(self) -> Any:
        """The cluster as a ClusterDef."""
        return ClusterDef(job=[JobDef(name=job, tasks=self._jobs[job]) for job in sorted(self._jobs)])

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._jobs)

    def num_tasks(self, job_name: str) -> int:
        """How many tasks a job has."""
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The indices of a job's tasks, in order."""
        return sorted(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The address of a task."""
        tasks = self._job(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses of a job's tasks, with None where an index is left out."""
        tasks = self._job(job_name)
        return [tasks.get(i) for i in range(max(tasks, default=-1) + 1)]

    def _job(self, name: str) -> dict[int, str]:
        if name not in self._jobs:
            raise ValueError(f"No such job in cluster: {name!r}")
        return self._jobs[name]

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        # A dict of {job: {index: address}} is equal too.
        return self._jobs == (other._jobs if isinstance(other, ClusterSpec) else other)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        jobs = self.as_dict()
        return "ClusterSpec({" + ", ".join(f"{job!r}: {jobs[job]!r}" for job in sorted(jobs)) + "})"


def _text(value: Any, what: str) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, str):
        raise TypeError(f"{what} {value!r} must be bytes or unicode")
    return value


def _addresses(job: Any, tasks: Any) -> dict[int, str]:
    """The addresses of a job's tasks by their indices."""
    if isinstance(tasks, (list, tuple)):
        tasks = dict(enumerate(tasks))
    elif not isinstance(tasks, dict):
        raise TypeError(f"The tasks for job {job!r} must be a list or a dictionary from integers to strings.")
    for index in tasks:
        if not isinstance(index, int):
            raise TypeError(f"{index!r} has type {type(index).__name__}, but expected one of: int")
    return {index: _text(address, "Task address") for index, address in sorted(tasks.items())}
