"""Who is who among the workers of a cluster."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.distribute.cluster_spec import ClusterDef, ClusterSpec
from everflow.distribute.worker_context import get_current_worker_context

WORKERS = "distribute.multi_worker_util."


@internal(WORKERS + "normalize_cluster_spec")
def normalize_cluster_spec(cluster_spec: Any) -> ClusterSpec:
    """A cluster, however it was described."""
    if isinstance(cluster_spec, (dict, ClusterDef)):
        return ClusterSpec(cluster_spec)
    if not isinstance(cluster_spec, ClusterSpec):
        raise ValueError("`cluster_spec' should be dict or a `tf.train.ClusterSpec` or a `tf.train.ClusterDef` object")
    return cluster_spec


def _checked(cluster_spec: Any, task_type: str | None, task_id: int | None) -> dict[str, Any]:
    jobs = normalize_cluster_spec(cluster_spec).as_dict()
    if task_type not in ("chief", "worker", "evaluator", "ps"):
        raise ValueError(f'Unrecognized task_type: {task_type!r}, valid task types are: "chief", "worker", "evaluator" and "ps".')
    if task_type not in jobs and task_type != "evaluator":
        raise ValueError(f"`task_type` {task_type!r} not found in cluster_spec.")
    if len(jobs.get("chief", ())) > 1:
        raise ValueError("There must be at most one 'chief' job.")
    if len(jobs.get("evaluator", ())) > 1:
        raise ValueError("There must be at most one 'evaluator' job.")
    if task_type in jobs and task_id is not None and task_id >= len(jobs[task_type]):
        raise ValueError(f"The `task_id` {task_id} exceeds the maximum id of {task_type}.")
    return jobs


@internal(WORKERS + "is_chief")
def is_chief(cluster_spec: Any = None, task_type: str | None = None, task_id: int | None = None) -> bool:
    """Whether a task leads the others: the chief does, else the first worker; an evaluator leads itself."""
    if has_worker_context():
        context = get_current_worker_context()
        cluster_spec, task_type, task_id = context.cluster_spec, context.task_type, context.task_id
    jobs = _checked(cluster_spec, task_type, task_id)
    return task_type in ("chief", "evaluator") or "chief" not in jobs and task_type == "worker" and task_id == 0


@internal(WORKERS + "collective_leader")
def collective_leader(cluster_spec: Any, task_type: str | None, task_id: int | None) -> str:
    """The device of the task that leads collectives; empty where there is nobody to be led."""
    spec = normalize_cluster_spec(cluster_spec)
    if not spec.jobs:
        return ""
    jobs = _checked(spec, task_type, task_id)
    if task_type == "evaluator":
        return ""
    return "/job:chief/replica:0/task:0" if "chief" in jobs else "/job:worker/replica:0/task:0"


@internal(WORKERS + "worker_count")
def worker_count(cluster_spec: Any, task_type: str | None) -> int:
    """How many tasks train beside a task of this kind; evaluators are counted by themselves."""
    jobs = _checked(cluster_spec, task_type, 0)
    if task_type not in ("chief", "worker", "evaluator"):
        raise ValueError(f"Unexpected `task_type` {task_type!r}")
    if task_type == "evaluator":
        return len(jobs.get("evaluator", ()))
    return len(jobs.get("chief", ())) + len(jobs.get("worker", ()))


@internal(WORKERS + "id_in_cluster")
def id_in_cluster(cluster_spec: Any, task_type: str | None, task_id: int) -> int:
    """A task's number among those that train; the chief is the first."""
    jobs = _checked(cluster_spec, task_type, task_id)
    if task_type == "chief":
        return 0
    if task_type == "worker":
        return task_id + len(jobs.get("chief", ()))
    if task_type == "evaluator":
        return task_id
    raise ValueError(f"There is no id for task_type {task_type!r}")


@internal(WORKERS + "has_worker_context")
def has_worker_context() -> bool:
    """Whether the code here runs for one worker of a cluster."""
    return get_current_worker_context() is not None


@internal(WORKERS + "should_save_checkpoint")
def should_save_checkpoint() -> bool:
    """Whether this worker saves."""
    return get_current_worker_context().should_checkpoint


@internal(WORKERS + "should_load_checkpoint")
def should_load_checkpoint() -> bool:
    """Whether this worker loads."""
    return get_current_worker_context().experimental_should_init


@internal(WORKERS + "wait_for_other_workers")
def wait_for_other_workers() -> Any:
    """Waits until the others are here too."""
    return get_current_worker_context().wait_for_other_workers()
