"""RunConfig of tf.contrib.learn: an older reading of TF_CONFIG, and the arguments of old."""

from __future__ import annotations

import json
import os
from typing import Any

from everflow.contrib.learn.publishing import learn
from everflow.distribute.cluster_spec import ClusterSpec
from everflow.estimator.run_config import RunConfig as NewRunConfig
from everflow.platform import logging
from everflow.proto.tensorflow.core.protobuf import config_pb2

_MODULE = "estimators.run_config"
# What may differ between the configuration that a program gets and the one that it gives to its estimator.
_FREE = (
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "session_config",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
)
_FROM_STEPS = 0


@learn(_MODULE, "Environment")
class Environment:
    """Where a program runs."""

    CLOUD = "cloud"
    GOOGLE = "google"
    LOCAL = "local"


@learn(_MODULE, "TaskType", shown=True)
class TaskType:
    """The parts that a process can play in a cluster."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"


def _said() -> dict[str, Any]:
    return json.loads(os.environ.get("TF_CONFIG") or "{}")


@learn(_MODULE, "ClusterConfig")
class ClusterConfig:
    """What TF_CONFIG says of the cluster, and the place of this process in it."""

    def __init__(self, master: str | None = None, evaluation_master: str | None = None) -> None:
        said = _said()
        self._task_type = said.get("task", {}).get("type")
        self._task_id = self.get_task_id()
        self._cluster_spec = ClusterSpec(said.get("cluster", {}))
        self._master = _address(self._cluster_spec, self._task_type, self._task_id) if master is None else master
        jobs = self._cluster_spec.as_dict()
        self._num_ps_replicas = len(jobs.get(TaskType.PS, ()))
        self._num_worker_replicas = len(jobs.get(TaskType.WORKER, ())) + len(jobs.get(TaskType.MASTER, ()))
        self._environment = said.get("environment", Environment.LOCAL)
        chief = TaskType.MASTER if self._environment == Environment.CLOUD else TaskType.WORKER
        self._is_chief = self._task_type in (None, chief) and self._task_id == 0
        self._evaluation_master = evaluation_master or ""

    @property
    def cluster_spec(self) -> Any:
        """The cluster."""
        return self._cluster_spec

    @property
    def environment(self) -> str:
        """Where the program runs."""
        return self._environment

    @property
    def evaluation_master(self) -> str:
        """The address of the master for evaluations."""
        return self._evaluation_master

    @property
    def is_chief(self) -> bool:
        """Whether this process saves checkpoints."""
        return self._is_chief

    @property
    def master(self) -> str:
        """The address of the session's master."""
        return self._master

    @property
    def num_ps_replicas(self) -> int:
        """How many parameter servers there are."""
        return self._num_ps_replicas

    @property
    def num_worker_replicas(self) -> int:
        """How many workers there are, the master included."""
        return self._num_worker_replicas

    @property
    def task_id(self) -> int:
        """The number of this process among those of its type."""
        return self._task_id

    @property
    def task_type(self) -> Any:
        """The part that this process plays."""
        return self._task_type

    @staticmethod
    def get_task_id() -> int:
        """The number of this process, as TF_CONFIG says it."""
        return int(_said().get("task", {}).get("index") or 0)


def _address(cluster: Any, task_type: Any, task_id: int) -> str:
    jobs = cluster.as_dict()
    if not jobs or not task_type or (len(jobs) == 1 and len(cluster.job_tasks(next(iter(jobs)))) == 1):
        return ""
    source = "may be coming from the TF_CONFIG environment variable."
    if task_type not in jobs:
        raise ValueError(f"{task_type} is not a valid task_type in the cluster_spec:\n{cluster}\n\nNote that these values {source}")
    addresses = cluster.job_tasks(task_type)
    if not 0 <= task_id < len(addresses):
        raise ValueError(
            f"{task_id} is not a valid task_id for task_type {task_type} in the cluster_spec:\n{cluster}\n\nNote that these value {source}"
        )
    return "grpc://" + addresses[task_id]


def _folder(model_dir: str | None) -> Any:
    said = _said().get("model_dir")
    if said is None:
        return model_dir
    if model_dir is not None and model_dir != said:
        raise ValueError(
            "`model_dir` provided in RunConfig construct, if set, must have the same value as the model_dir in TF_CONFIG. "
            f'model_dir: {model_dir}\nTF_CONFIG["model_dir"]: {said}.\n'
        )
    logging.info("Using model_dir in TF_CONFIG: %s", said)
    return model_dir or said


@learn(_MODULE, "RunConfig", shown=True)
class RunConfig(ClusterConfig, NewRunConfig):
    """How an estimator runs, with the arguments of old."""

    _USE_DEFAULT = _FROM_STEPS

    def __init__(
        self,
        master: Any = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1,
        tf_random_seed: Any = None,
        save_summary_steps: Any = 100,
        save_checkpoints_secs: Any = _FROM_STEPS,
        save_checkpoints_steps: Any = None,
        keep_checkpoint_max: Any = 5,
        keep_checkpoint_every_n_hours: Any = 10000,
        log_step_count_steps: Any = 100,
        protocol: Any = None,
        evaluation_master: str = "",
        model_dir: str | None = None,
        session_config: Any = None,
        session_creation_timeout_secs: Any = 7200,
    ) -> None:
        ClusterConfig.__init__(self, master=master, evaluation_master=evaluation_master)
        if save_checkpoints_secs == _FROM_STEPS:
            save_checkpoints_secs = 600 if save_checkpoints_steps is None else None
        self._tf_config = config_pb2.ConfigProto(
            log_device_placement=log_device_placement,
            inter_op_parallelism_threads=num_cores,
            intra_op_parallelism_threads=num_cores,
            gpu_options=config_pb2.GPUOptions(per_process_gpu_memory_fraction=gpu_memory_fraction),
        )
        self._train_distribute = self._eval_distribute = self._device_fn = None
        self._experimental_distribute = self._experimental_max_worker_delay_secs = None
        self._tf_random_seed = tf_random_seed
        self._save_summary_steps = save_summary_steps
        self._save_checkpoints_secs, self._save_checkpoints_steps = save_checkpoints_secs, save_checkpoints_steps
        self._log_step_count_steps = log_step_count_steps
        self._protocol = protocol
        self._session_config = session_config
        self._keep_checkpoint_max, self._keep_checkpoint_every_n_hours = keep_checkpoint_max, keep_checkpoint_every_n_hours
        self._model_dir = _folder(model_dir)
        self._session_creation_timeout_secs = session_creation_timeout_secs

    def uid(self, whitelist: Any = None) -> str:
        """A text that two configurations share if they differ in nothing but what programs may change."""
        free = {"_" + name for name in (_FREE if whitelist is None else whitelist)}
        # Our own record of a strategy is no part of TensorFlow's configuration.
        state = {key: value for key, value in vars(self).items() if key not in free and key != "_experimental_distribute"}
        if "_cluster_spec" in state:
            state["_cluster_spec"] = dict(sorted(state["_cluster_spec"].as_dict().items()))
        return ", ".join(f"{key}={value!r}" for key, value in sorted(state.items()))

    @property
    def tf_config(self) -> Any:
        """How the servers of a cluster are configured."""
        return self._tf_config
