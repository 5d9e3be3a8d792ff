"""TPUEstimator on processors: programs written for TPUs run here without one, their shards on one machine."""

from __future__ import annotations

import collections
import contextlib
import copy
import enum
import re
from collections.abc import Callable, Iterator
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.estimator import arguments
from everflow.estimator.estimator import Estimator
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.run_config import RunConfig, TaskType
from everflow.estimator.spec import EstimatorSpec
from everflow.estimator.tpu_shards import HostCallHook, joined_batches, joined_inputs, shards_as_one
from everflow.graph.scopes import device
from everflow.train.global_step import create_global_step


@public("estimator.tpu.InputPipelineConfig", "contrib.tpu.InputPipelineConfig")
class InputPipelineConfig(enum.IntEnum):
    """How a TPU pod is fed."""

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


# How many cores may hold parts of one model.
_CORES = (1, 2, 4, 8, 16, 32, 64, 128)
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
_RESERVED = ["batch_size", "context"]

IterationsPerLoopCounter: Any = internal("estimator.tpu.util.IterationsPerLoopCounter")(
    collections.namedtuple("IterationsPerLoopCounter", ["value", "unit"])
)


@internal("estimator.tpu.util.parse_iterations_per_loop")
def parse_iterations_per_loop(iterations_per_loop: Any) -> Any:
    """How many steps, or for how many seconds ("90s", "5m", "1h"), a TPU would train without a word to its host."""
    found = re.fullmatch(r"([1-9]\d*)([hms]?)", str(iterations_per_loop))
    if not found:
        raise ValueError(
            "Invalid TPUConfig `iterations_per_loop` value. Value must be positive integer value or time-based value `<N><s|m|h>` where "
            "<N> is anypositive integer and `s`, `m`, `h` are unit of time in seconds, minutes, hours respectively. Examples of valid "
            "values: `3600s`, `60m`, `1h`."
        )
    return IterationsPerLoopCounter(int(found[1]) * _UNITS[found[2]], "seconds" if found[2] else "count")


@public("estimator.tpu.TPUConfig", "contrib.tpu.TPUConfig")
class TPUConfig(
    collections.namedtuple(
        "TPUConfig",
        [
            "iterations_per_loop",
            "num_shards",
            "num_cores_per_replica",
            "per_host_input_for_training",
            "tpu_job_name",
            "initial_infeed_sleep_secs",
            "input_partition_dims",
            "eval_training_input_configuration",
            "experimental_host_call_every_n_steps",
        ],
    )
):
    """What a TPU would be told; a processor trains one step after the other whatever it says."""

    def __new__(
        cls,
        iterations_per_loop: int = 2,
        num_shards: Any = None,
        num_cores_per_replica: Any = None,
        per_host_input_for_training: Any = True,
        tpu_job_name: Any = None,
        initial_infeed_sleep_secs: Any = None,
        input_partition_dims: Any = None,
        eval_training_input_configuration: Any = InputPipelineConfig.PER_HOST_V1,
        experimental_host_call_every_n_steps: int = 1,
    ) -> TPUConfig:
        parse_iterations_per_loop(iterations_per_loop)
        if num_shards is not None and num_shards <= 0:
            raise ValueError(f"TPUConfig num_shards must be positive, got {num_shards}")
        if num_cores_per_replica is not None and num_cores_per_replica not in _CORES:
            raise ValueError(f"num_cores_per_replica must be {', '.join(map(str, _CORES))}; got {num_cores_per_replica}")
        if isinstance(per_host_input_for_training, bool):
            per_host_input_for_training = (
                InputPipelineConfig.PER_HOST_V1 if per_host_input_for_training else InputPipelineConfig.PER_SHARD_V1
            )
        return super().__new__(
            cls,
            iterations_per_loop,
            num_shards,
            num_cores_per_replica,
            per_host_input_for_training,
            tpu_job_name,
            initial_infeed_sleep_secs,
            input_partition_dims,
            eval_training_input_configuration,
            experimental_host_call_every_n_steps,
        )


@public("estimator.tpu.RunConfig", "contrib.tpu.RunConfig")
class TPURunConfig(RunConfig):
    """RunConfig with what a TPU would be told."""

    def __init__(
        self, tpu_config: Any = None, evaluation_master: Any = None, master: Any = None, cluster: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._tpu_config = tpu_config or TPUConfig()
        self._cluster = cluster
        # A worker of a TPU talks to it, not to parameter servers: there are no devices to leave out.
        if "session_config" not in kwargs and self._cluster_spec:
            self._session_config = None
        if master is not None and cluster is not None:
            raise ValueError("Both master and cluster are set.")
        if master is not None:
            self._master = master
        if evaluation_master is not None:
            self._evaluation_master = evaluation_master
        elif not self._evaluation_master and self.task_type != TaskType.EVALUATOR:
            self._evaluation_master = self._master

    @property
    def tpu_config(self) -> Any:
        """What a TPU would be told."""
        return self._tpu_config

    @property
    def cluster(self) -> Any:
        """Where the TPU would be."""
        return self._cluster

    def replace(self, **kwargs: Any) -> Any:
        """A copy with some properties changed."""
        given = kwargs.pop("tpu_config", None)
        changed: Any = super().replace(**kwargs)
        if given is not None:
            changed._tpu_config = given
        return changed


@public("estimator.tpu.TPUEstimatorSpec", "contrib.tpu.TPUEstimatorSpec")
@internal("estimator.model_fn._TPUEstimatorSpec")
class TPUEstimatorSpec(
    collections.namedtuple(
        "TPUEstimatorSpec",
        [
            "mode",
            "predictions",
            "loss",
            "train_op",
            "eval_metrics",
            "export_outputs",
            "scaffold_fn",
            "host_call",
            "training_hooks",
            "evaluation_hooks",
            "prediction_hooks",
        ],
    )
):
    """The ops of a model in one mode, with metrics and summaries as functions of tensors, which a host can call."""

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metrics: Any = None,
        export_outputs: Any = None,
        scaffold_fn: Any = None,
        host_call: Any = None,
        training_hooks: Any = None,
        evaluation_hooks: Any = None,
        prediction_hooks: Any = None,
    ) -> TPUEstimatorSpec:
        for name, pair in (("eval_metrics", eval_metrics), ("host_call", host_call)):
            if pair is None:
                continue
            if not isinstance(pair, (tuple, list)):
                raise ValueError(f"{name} should be tuple or list")
            if len(pair) != 2:
                raise ValueError(f"{name} should have two elements.")
            if not callable(pair[0]):
                raise TypeError(f"{name}[0] should be callable.")
            if not isinstance(pair[1], (tuple, list, dict)):
                raise ValueError(f"{name}[1] should be tuple or list, or dict.")
            taken = len(arguments.parameters_of(pair[0]))
            if isinstance(pair[1], (tuple, list)) and len(pair[1]) != taken and not arguments.has_any(pair[0]):
                raise RuntimeError(
                    f"In TPUEstimatorSpec.{name}, length of tensors {len(pair[1])} does not match method args of the function, which takes "
                    f"{taken}."
                )
        return super().__new__(
            cls,
            mode,
            predictions,
            loss,
            train_op,
            eval_metrics,
            export_outputs,
            scaffold_fn,
            host_call,
            tuple(training_hooks or ()),
            tuple(evaluation_hooks or ()),
            tuple(prediction_hooks or ()),
        )

    def as_estimator_spec(self) -> Any:
        """The same for a processor: the functions called at once."""
        metrics = _called(self.eval_metrics) if self.eval_metrics is not None else None
        hooks = () if self.host_call is None else (HostCallHook(_called(self.host_call)),)
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=metrics,
            export_outputs=self.export_outputs,
            scaffold=self.scaffold_fn() if self.scaffold_fn else None,
            training_hooks=self.training_hooks + hooks,
            evaluation_hooks=self.evaluation_hooks + hooks,
            prediction_hooks=self.prediction_hooks + hooks,
        )


def _called(pair: Any) -> Any:
    function, tensors = pair
    return function(**tensors) if isinstance(tensors, dict) else function(*tensors)


@public("estimator.tpu.TPUEstimator", "contrib.tpu.TPUEstimator")
class TPUEstimator(Estimator):
    """An Estimator whose functions get the batch size in their params."""

    def __init__(
        self,
        model_fn: Any = None,
        model_dir: str | None = None,
        config: Any = None,
        params: Any = None,
        use_tpu: bool = True,
        train_batch_size: Any = None,
        eval_batch_size: Any = None,
        predict_batch_size: Any = None,
        batch_axis: Any = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        export_to_cpu: bool = True,
        warm_start_from: Any = None,
        embedding_config_spec: Any = None,
        export_saved_model_api_version: Any = None,
    ) -> None:
        if config is None or not isinstance(config, TPURunConfig):
            raise ValueError("`config` must be provided with type `tpu_config.RunConfig`")
        if params is not None and any(key in params for key in _RESERVED):
            raise ValueError(f"{_RESERVED} are reserved keys but existed in params {params}.")
        self._shards = 1
        if use_tpu:
            self._check_batch_sizes(config, train_batch_size, eval_batch_size, predict_batch_size)
            self._shards = config.tpu_config.num_shards or 1
        self._uses_shards, self._evaluates_on_shards = use_tpu, use_tpu and eval_on_tpu
        self._batch_axis = batch_axis
        self._batch_sizes = {ModeKeys.TRAIN: train_batch_size, ModeKeys.EVAL: eval_batch_size, ModeKeys.PREDICT: predict_batch_size}
        self._given_model_fn = model_fn
        arguments.check_model_fn(model_fn, params)
        super().__init__(
            model_fn=self._as_plain_model_fn, model_dir=model_dir, config=config, params=params, warm_start_from=warm_start_from
        )

    def _create_global_step(self, graph: Any) -> Any:
        # On TPUs variables are resources; its step is one wherever the estimator runs, which the seeds of later ops depend on.
        with graph.as_default(), tf.variable_scope("", use_resource=True):
            return create_global_step(graph)

    @staticmethod
    def _check_batch_sizes(config: Any, train: Any, evaluation: Any, predict: Any) -> None:
        """Batches must be such that every shard gets the same share."""
        if train is None:
            raise ValueError("`train_batch_size` cannot be `None`")
        arguments.check_positive_integer(train, "train_batch_size")
        shards = config.tpu_config.num_shards or 1
        per_shard = config.tpu_config.per_host_input_for_training is InputPipelineConfig.PER_SHARD_V1
        if per_shard and config.tpu_config.num_cores_per_replica:
            raise ValueError(
                "Model parallelism only supports per host input for training. Please adjust TPURunconfig.per_host_input_for_training."
            )
        for what, size in (("train", train), ("eval", evaluation), ("predict", predict)):
            if size is None:
                continue
            arguments.check_positive_integer(size, f"{what}_batch_size")
            if size % shards:
                raise ValueError(f"{what} batch size {size} must be divisible by number of replicas {shards}")

    # What is exported runs as one piece.
    _is_exporting = False

    @contextlib.contextmanager
    def _exporting(self) -> Iterator[None]:
        self._is_exporting = True
        try:
            yield
        finally:
            self._is_exporting = False

    def _on_shards(self, mode: str) -> bool:
        if self._is_exporting:
            return False
        return self._evaluates_on_shards if mode == ModeKeys.EVAL else self._uses_shards

    def _size_of_batch(self, mode: str) -> Any:
        """The batch size of a mode; on shards, evaluation and prediction need one."""
        size = self._batch_sizes[mode]
        if size is None and self._on_shards(mode):
            what = "eval" if mode == ModeKeys.EVAL else "predict"
            method = "evaluate" if mode == ModeKeys.EVAL else "predict"
            raise ValueError(f"{what}_batch_size in TPUEstimator constructor cannot be `None` if .{method} is running on TPU.")
        return size

    def _params_for(self, mode: str, shards: int = 1) -> Any:
        """The parameters with the batch size of a mode, or of one of its shards."""
        params = copy.deepcopy(self._params)
        size = self._size_of_batch(mode)
        if size is not None:
            params["batch_size"] = size // shards
        return params

    def _as_plain_model_fn(self, features: Any, labels: Any, mode: str, params: Any, config: Any) -> Any:
        shards = self._shards if self._on_shards(mode) else 1
        if shards > 1:
            return shards_as_one(self._called_model_fn, features, labels, mode, config, shards, self._batch_axis)
        spec = self._called_model_fn(features, labels, mode, config, 1)
        return spec.as_estimator_spec() if isinstance(spec, TPUEstimatorSpec) else spec

    def _called_model_fn(self, features: Any, labels: Any, mode: str, config: Any, shards: int) -> Any:
        taken = arguments.parameters_of(self._given_model_fn)
        given = {"labels": labels, "mode": mode, "params": self._params_for(mode, shards), "config": config}
        return self._given_model_fn(features, **{name: value for name, value in given.items() if name in taken})

    def _call_input_fn(self, input_fn: Callable[..., Any], mode: str, input_context: Any = None) -> Any:
        taken = arguments.parameters_of(input_fn)
        if "params" not in taken:
            raise ValueError(
                f"input_fn ({input_fn}) does not include params argument, required by TPUEstimator to pass batch size as "
                "params['batch_size']"
            )
        shards = self._shards if self._on_shards(mode) else 1
        how = self.config.tpu_config.per_host_input_for_training if mode == ModeKeys.TRAIN else InputPipelineConfig.PER_HOST_V1
        if shards == 1:
            how = InputPipelineConfig.PER_HOST_V1
        # Hosts are fed whole batches, or shards theirs.
        own = 1 if how is InputPipelineConfig.PER_HOST_V1 else shards
        given = {"mode": mode, "params": self._params_for(mode, own), "config": self.config, "input_context": input_context}

        def called() -> Any:
            with device("/cpu:0"):
                return input_fn(**{name: value for name, value in given.items() if name in taken})

        if how is InputPipelineConfig.PER_HOST_V1:
            return called()
        if how is InputPipelineConfig.PER_SHARD_V1:
            return joined_inputs([called() for _ in range(shards)])
        return joined_batches(called(), shards)
