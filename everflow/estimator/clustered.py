"""Estimators whose strategy spans a cluster: each task's estimator knows its place, and the coordinator says who does what."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from everflow.distribute.cluster_workers import normalize_cluster_spec
from everflow.distribute.coordinator import CoordinatorMode, run_distribute_coordinator
from everflow.distribute.worker_context import get_current_worker_context


def spans_a_cluster(config: Any) -> bool:
    """Whether workers of a cluster are to run under the strategies of a RunConfig, and none of them does so here yet."""
    return getattr(config, "_distribute_coordinator_mode", None) is not None and get_current_worker_context() is None


def run(config: Any, train: Callable[[Any], Any], evaluate: Callable[[Any], Any] | None = None) -> Any:
    """Runs a function for each worker, given its strategy, and another for the evaluator: those of a whole cluster, or this task's part."""
    return run_distribute_coordinator(
        train,
        config.train_distribute,
        eval_fn=evaluate,
        eval_strategy=config.eval_distribute,
        mode=config._distribute_coordinator_mode,
        # A task of a cluster learns from TF_CONFIG which one it is.
        cluster_spec=config.cluster_spec if config._distribute_coordinator_mode == CoordinatorMode.STANDALONE_CLIENT else None,
        session_config=copy.deepcopy(config.session_config),
    )


def for_worker(estimator: Any, strategy: Any, is_training: bool) -> Any:
    """The estimator of the worker that the code here runs for."""
    context = get_current_worker_context()
    own = copy.copy(estimator)
    config = own._config = copy.copy(estimator._config)
    cluster = context.cluster_spec
    jobs = {} if cluster is None else normalize_cluster_spec(cluster).as_dict()
    config._cluster_spec = normalize_cluster_spec(cluster or {})
    if context.task_type is not None:
        config._task_type, config._task_id = context.task_type, context.task_id
    config._is_chief = context.is_chief
    config._master = context.master_target
    config._num_ps_replicas = len(jobs.get("ps", ()))
    config._num_worker_replicas = context.num_workers
    config._session_config = context.session_config
    own._session_config = context.session_config or estimator._session_config
    if is_training:
        config._train_distribute = own._train_distribution = strategy
    else:
        config._eval_distribute = own._eval_distribution = strategy
    return own
