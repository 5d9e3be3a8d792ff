"""RunConfig: where and how an estimator runs, and what TF_CONFIG says about the cluster around it."""

from __future__ import annotations

import copy
import json
import numbers
import os
from typing import Any

from everflow.api import internal, public
from everflow.distribute.cluster_spec import ClusterSpec
from everflow.estimator.arguments import parameters_of
from everflow.platform import logging
from everflow.proto.tensorflow.core.protobuf import config_pb2, rewriter_config_pb2

_UNSET = object()
_REPLACEABLE = (
    "model_dir",
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "session_config",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
    "train_distribute",
    "device_fn",
    "protocol",
    "eval_distribute",
    "experimental_distribute",
    "experimental_max_worker_delay_secs",
    "session_creation_timeout_secs",
)


@internal("estimator.run_config.TaskType")
class TaskType:
    """The parts that a process can play in a cluster."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"


@internal("estimator.run_config.get_default_session_config")
def default_session_config() -> Any:
    """What sessions are made with unless a program says otherwise."""
    rewriting = rewriter_config_pb2.RewriterConfig(meta_optimizer_iterations=rewriter_config_pb2.RewriterConfig.ONE)
    return config_pb2.ConfigProto(allow_soft_placement=True, graph_options=config_pb2.GraphOptions(rewrite_options=rewriting))


# The jobs that a task of each type talks to; a worker sees itself only.
_SEEN_BY = {
    TaskType.MASTER: ["/job:ps", "/job:master"],
    TaskType.CHIEF: ["/job:ps", "/job:chief"],
    TaskType.WORKER: ["/job:ps", "/job:worker/task:{}"],
    TaskType.PS: ["/job:ps", "/job:worker", "/job:chief", "/job:master"],
}


class _Cluster:
    """What the environment variable TF_CONFIG says."""

    def __init__(self, text: dict[str, Any]) -> None:
        self.text = text
        self.service = text.get("service")
        if self.service is not None and not isinstance(self.service, dict):
            raise TypeError(f'If "service" is set in TF_CONFIG, it must be a dict. Given {type(self.service)}')
        self.spec = ClusterSpec(text.get("cluster", {}))
        task = text.get("task", {})
        jobs = self.spec.as_dict()
        self.type = task.get("type")
        self.id = int(task.get("index", 0)) if task else 0
        self.workers, self.servers = 1, 0
        if jobs:
            self._check_cluster(jobs, task)
            self.servers = len(jobs.get(TaskType.PS, []))
            self.workers = len(jobs.get(TaskType.WORKER, [])) + sum(1 for kind in (TaskType.CHIEF, TaskType.MASTER) if kind in jobs)
        else:
            self.type = self.type or TaskType.WORKER
            if self.type != TaskType.WORKER:
                raise ValueError('If "cluster" is not set in TF_CONFIG, task type must be WORKER.')
            if self.id != 0:
                raise ValueError('If "cluster" is not set in TF_CONFIG, task index must be 0.')
        self.is_evaluator = self.type == TaskType.EVALUATOR
        self.is_chief = self.type in (TaskType.CHIEF, TaskType.MASTER) if jobs else True
        self.number = self._number(jobs)

    def _check_cluster(self, jobs: Any, task: Any) -> None:
        if TaskType.CHIEF not in jobs and TaskType.MASTER not in jobs:
            raise ValueError('If "cluster" is set in TF_CONFIG, it must have one "chief" node.')
        if TaskType.CHIEF in jobs and TaskType.MASTER in jobs:
            raise ValueError("If `master` node exists in `cluster`, job `chief` is not supported.")
        if TaskType.MASTER in jobs and self.type == TaskType.EVALUATOR:
            raise ValueError("If `master` node exists in `cluster`, task_type `evaluator` is not supported.")
        for kind in (TaskType.CHIEF, TaskType.MASTER):
            if len(jobs.get(kind, ())) > 1:
                raise ValueError(f'The "cluster" in TF_CONFIG must have only one "{kind}" node.')
        if not self.type:
            raise ValueError('If "cluster" is set in TF_CONFIG, task type must be set.')
        if "index" not in task:
            raise ValueError('If "cluster" is set in TF_CONFIG, task index must be set.')
        if self.id < 0:
            raise ValueError("Task index must be non-negative number.")
        if self.type != TaskType.EVALUATOR:
            if self.type not in jobs:
                raise ValueError(
                    f"{self.type} is not a valid task_type in the cluster_spec:\n{self.spec}\n\nNote that these values may "
                    "be coming from the TF_CONFIG environment variable."
                )
            if self.id >= len(jobs[self.type]):
                raise ValueError(
                    f"{self.id} is not a valid task_id for task_type {self.type} in the cluster_spec:\n{self.spec}\n\nNote that these "
                    "values may be coming from the TF_CONFIG environment variable."
                )

    def _number(self, jobs: Any) -> int | None:
        """The place of this task among all, the chief's first; an evaluator has none."""
        if not jobs:
            return 0
        if self.type == TaskType.EVALUATOR:
            return None
        first = [kind for kind in (TaskType.CHIEF, TaskType.MASTER) if kind in jobs]
        last = [TaskType.PS] if TaskType.PS in jobs else []
        order = [*first, *sorted(set(jobs) - {*first, *last}), *last]
        before = order[: order.index(self.type)]
        return sum(len(jobs[kind]) for kind in before) + self.id

    def master(self) -> str:
        """The address of the session's master."""
        jobs = self.spec.as_dict()
        if "session_master" in self.text:
            return self.text["session_master"]
        if not jobs or self.is_evaluator:
            return ""
        # A lone chief trains in its own process.
        if len(jobs) == 1 and len(next(iter(jobs.values()))) == 1:
            return ""
        return "grpc://" + jobs[self.type][self.id]


class Strategies:
    """The strategies that a RunConfig is given, and the mode in which the workers of a cluster run under them."""

    def __init__(self, text: dict[str, Any], train: Any, evaluation: Any, both: Any) -> None:
        self.train, self.eval = train, evaluation
        self.mode: str | None = None
        self.cluster: Any = None
        self.are_given = any(given is not None for given in (train, evaluation, both))
        if not self.are_given:
            return
        logging.info("Initializing RunConfig with distribution strategies.")
        remote = None
        if both is not None:
            if both.train_distribute is not None:
                if train is not None:
                    raise ValueError("Either `train_distribute` or`experimental_distribute.train_distribute` can be set.")
                self.train = both.train_distribute
            if both.eval_distribute is not None:
                if evaluation is not None:
                    raise ValueError("Either `eval_distribute` or`experimental_distribute.eval_distribute` can be set.")
                self.eval = both.eval_distribute
            remote = both.remote_cluster
        own = text.get("cluster") or {}
        if own and remote:
            raise ValueError('Cannot set both "cluster_spec" of TF_CONFIG and `experimental_distribute.remote_cluster`')
        self.cluster = remote or ClusterSpec(own)
        if self.train is None or not (own or remote):
            logging.info("Not using Distribute Coordinator.")
            return
        self.mode = "standalone_client" if remote else "independent_worker"
        logging.info("RunConfig initialized for Distribute Coordinator with %s mode", self.mode.upper())


@public("estimator.RunConfig")
@internal("estimator.run_config.RunConfig")
class RunConfig:
    """How an estimator trains: its folder, seeds, how often it saves and logs, and its place in a cluster."""

    _session_config: Any
    # In which mode the workers of a cluster run under a strategy, if they do.
    _distribute_coordinator_mode: str | None
    model_dir: Any

    def __init__(
        self,
        model_dir: str | None = None,
        tf_random_seed: Any = None,
        save_summary_steps: Any = 100,
        save_checkpoints_steps: Any = _UNSET,
        save_checkpoints_secs: Any = _UNSET,
        session_config: Any = None,
        keep_checkpoint_max: Any = 5,
        keep_checkpoint_every_n_hours: Any = 10000,
        log_step_count_steps: Any = 100,
        train_distribute: Any = None,
        device_fn: Any = None,
        protocol: Any = None,
        eval_distribute: Any = None,
        experimental_distribute: Any = None,
        experimental_max_worker_delay_secs: Any = None,
        session_creation_timeout_secs: Any = 7200,
    ) -> None:
        if save_checkpoints_steps is _UNSET and save_checkpoints_secs is _UNSET:
            save_checkpoints_steps, save_checkpoints_secs = None, 600
        elif save_checkpoints_secs is _UNSET:
            save_checkpoints_secs = None
        elif save_checkpoints_steps is _UNSET:
            save_checkpoints_steps = None
        elif save_checkpoints_steps is not None and save_checkpoints_secs is not None:
            raise ValueError("`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set.")
        text = json.loads(os.environ.get("TF_CONFIG") or "{}")
        if text:
            logging.info("TF_CONFIG environment variable: %s", text)
        strategies = Strategies(text, train_distribute, eval_distribute, experimental_distribute)
        train_distribute, eval_distribute = strategies.train, strategies.eval
        # Where a strategy knows the cluster, the tasks are told who they are when they run.
        cluster = _Cluster({} if strategies.mode else text)
        model_dir = _joined_model_dir(text, model_dir)
        if session_config is None and cluster.spec and cluster.type in _SEEN_BY:
            session_config = default_session_config()
            session_config.device_filters.extend(seen.format(cluster.id) for seen in _SEEN_BY[cluster.type])
        given = {
            "model_dir": model_dir,
            "tf_random_seed": tf_random_seed,
            "save_summary_steps": save_summary_steps,
            "save_checkpoints_steps": save_checkpoints_steps,
            "save_checkpoints_secs": save_checkpoints_secs,
            "session_config": session_config,
            "keep_checkpoint_max": keep_checkpoint_max,
            "keep_checkpoint_every_n_hours": keep_checkpoint_every_n_hours,
            "log_step_count_steps": log_step_count_steps,
            "train_distribute": train_distribute,
            "device_fn": device_fn,
            "protocol": protocol,
            "eval_distribute": eval_distribute,
            "experimental_distribute": experimental_distribute,
            "experimental_max_worker_delay_secs": experimental_max_worker_delay_secs,
            "session_creation_timeout_secs": session_creation_timeout_secs,
        }
        _check(given)
        # With underscores: programs and the log line of an estimator show vars(config).
        self.__dict__.update({"_" + key: value for key, value in given.items()})
        self._service = cluster.service
        self._cluster_spec = cluster.spec
        self._task_type, self._task_id, self._global_id_in_cluster = cluster.type, cluster.id, cluster.number
        self._master = cluster.master()
        self._evaluation_master = cluster.text.get("eval_session_master", "")
        self._is_chief = cluster.is_chief
        self._num_ps_replicas, self._num_worker_replicas = cluster.servers, cluster.workers
        if cluster.is_evaluator:
            self._num_ps_replicas = self._num_worker_replicas = 0
            self._cluster_spec = ClusterSpec({})
        if strategies.are_given:
            self._distribute_coordinator_mode = strategies.mode
            if strategies.mode:
                self._cluster_spec = strategies.cluster

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {vars(self)}>"

    def replace(self, **kwargs: Any) -> RunConfig:
        """A copy with some properties changed."""
        changed = copy.copy(self)
        for name in kwargs:
            if name not in _REPLACEABLE:
                raise ValueError(f"Replacing {name} is not supported. Allowed properties are {list(_REPLACEABLE)}.")
        if kwargs.get("save_checkpoints_secs") and kwargs.get("save_checkpoints_steps"):
            raise ValueError("`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set.")
        if "save_checkpoints_secs" in kwargs and "save_checkpoints_steps" not in kwargs:
            kwargs["save_checkpoints_steps"] = None
        if "save_checkpoints_steps" in kwargs and "save_checkpoints_secs" not in kwargs:
            kwargs["save_checkpoints_secs"] = None
        changed.__dict__.update({"_" + name: value for name, value in kwargs.items()})
        _check({name: getattr(changed, "_" + name) for name in _REPLACEABLE})
        return changed

    @property
    def cluster_spec(self) -> Any:
        """The cluster."""
        return self._cluster_spec

    @property
    def master(self) -> str:
        """The address of the session's master."""
        return self._master

    @property
    def evaluation_master(self) -> str:
        """The address of the master for evaluations."""
        return self._evaluation_master

    @property
    def is_chief(self) -> bool:
        """Whether this process saves checkpoints."""
        return self._is_chief

    @property
    def num_ps_replicas(self) -> int:
        """How many parameter servers there are."""
        return self._num_ps_replicas

    @property
    def num_worker_replicas(self) -> int:
        """How many workers there are, the chief included."""
        return self._num_worker_replicas

    @property
    def task_type(self) -> Any:
        """The part that this process plays."""
        return self._task_type

    @property
    def task_id(self) -> int:
        """The number of this process among those of its type."""
        return self._task_id

    @property
    def global_id_in_cluster(self) -> Any:
        """The number of this process among all."""
        return self._global_id_in_cluster

    @property
    def service(self) -> Any:
        """What the platform says about itself."""
        return self._service


def _plain_property(name: str) -> Any:
    return property(lambda self: getattr(self, "_" + name), doc=f"The `{name}` that was given.")


for _name in _REPLACEABLE:
    if _name != "experimental_distribute":
        setattr(RunConfig, _name, _plain_property(_name))


def _check(given: dict[str, Any]) -> None:
    """Raises for values that make no sense."""
    for name in ("save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs", "keep_checkpoint_max"):
        value = given[name]
        if value is not None and value < 0:
            raise ValueError(f"{name} should be >= 0")
    for name in ("keep_checkpoint_every_n_hours", "log_step_count_steps", "session_creation_timeout_secs"):
        value = given[name]
        if value is not None and value <= 0:
            raise ValueError(f"{name} should be > 0")
    if given["session_config"] is not None and not isinstance(given["session_config"], config_pb2.ConfigProto):
        raise ValueError("session_config must be instance of ConfigProto")
    if given["tf_random_seed"] is not None and not isinstance(given["tf_random_seed"], numbers.Integral):
        raise ValueError("tf_random_seed must be integer.")
    delay = given["experimental_max_worker_delay_secs"]
    if delay is not None and not isinstance(delay, int):
        raise ValueError("experimental_max_worker_delay_secs must be an integer if set.")
    if given["device_fn"] is not None and (not callable(given["device_fn"]) or set(parameters_of(given["device_fn"])) != {"op"}):
        raise ValueError('device_fn must be callable with exactly one argument "op".')
    if given["model_dir"] is not None and not given["model_dir"]:
        raise ValueError("model_dir should be non-empty")


def _joined_model_dir(text: dict[str, Any], model_dir: str | None) -> Any:
    """The folder as given or as TF_CONFIG says; both have to agree."""
    if model_dir is not None and model_dir == "":
        raise ValueError("model_dir should be non-empty.")
    if model_dir is not None and hasattr(model_dir, "__fspath__"):
        model_dir = os.fspath(model_dir)
    said = text.get("model_dir")
    if said is None:
        return model_dir
    if said == "":
        raise ValueError("model_dir in TF_CONFIG should be non-empty.")
    if model_dir is not None and model_dir != said:
        raise ValueError(
            "`model_dir` provided in RunConfig construct, if set, must have the same value as the model_dir in TF_CONFIG. "
            f'model_dir: {model_dir}\nTF_CONFIG["model_dir"]: {said}.\n'
        )
    return said
