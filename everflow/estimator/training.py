"""train_and_evaluate: training with evaluations in between, in one process or as part of a cluster."""

from __future__ import annotations

import collections
import json
import os
import time
from collections.abc import Callable, Iterable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.distribute import server as server_lib
from everflow.estimator import clustered
from everflow.estimator.estimator import Estimator
from everflow.estimator.exporters import Exporter
from everflow.estimator.run_config import TaskType
from everflow.platform import logging
from everflow.train import hooks_timing as timing
from everflow.train.hooks_saving import CheckpointSaverListener
from everflow.train.session_run_hook import SessionRunHook

# A worker waits so long for each worker before it.
_DELAY_PER_WORKER = 5
_MAX_DELAY = 60
_SECS_BETWEEN_WARNINGS = 600


def _checked_hooks(hooks: Any) -> tuple[Any, ...]:
    hooks = tuple(hooks or ())
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be `SessionRunHook` instances, given: {hook}")
    return hooks


def _checked_input_fn(input_fn: Callable[..., Any]) -> None:
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn}")


@public("estimator.TrainSpec")
class TrainSpec(collections.namedtuple("TrainSpec", ["input_fn", "max_steps", "hooks"])):
    """What to train with, and for how long."""

    def __new__(cls, input_fn: Callable[..., Any], max_steps: Any = None, hooks: Any = None) -> TrainSpec:
        _checked_input_fn(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        return super().__new__(cls, input_fn=input_fn, max_steps=max_steps, hooks=_checked_hooks(hooks))


def _checked_exporters(exporters: Any) -> tuple[Any, ...]:
    if not exporters:
        return ()
    exporters = (exporters,) if isinstance(exporters, Exporter) else exporters
    names: set[str] = set()
    found = tuple(exporters) if isinstance(exporters, Iterable) else (None,)
    if not all(isinstance(e, Exporter) for e in found):
        raise TypeError(f"`exporters` must be an Exporter, an iterable of Exporter, or `None`, found {exporters}.")
    for exporter in found:
        if exporter.name and not isinstance(exporter.name, str):
            raise ValueError(f"An Exporter must have a string name. Given: {type(exporter.name)}")
        if not exporter.name:
            raise ValueError(f"An Exporter cannot have a name that is `None` or empty. All exporter names: {[e.name for e in found]}")
        if exporter.name in names:
            raise ValueError(
                f"`exporters` must have unique names. Such a name cannot be `None`. All exporter names: {[e.name for e in found]}"
            )
        names.add(exporter.name)
    return found


@public("estimator.EvalSpec")
class EvalSpec(
    collections.namedtuple("EvalSpec", ["input_fn", "steps", "name", "hooks", "exporters", "start_delay_secs", "throttle_secs"])
):
    """What to evaluate with, how often, and what to export then."""

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        steps: Any = 100,
        name: str | None = None,
        hooks: Any = None,
        exporters: Any = None,
        start_delay_secs: Any = 120,
        throttle_secs: Any = 600,
    ) -> EvalSpec:
        _checked_input_fn(input_fn)
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name}")
        if start_delay_secs < 0:
            raise ValueError(f"Must specify start_delay_secs >= 0, given: {start_delay_secs}")
        if throttle_secs < 0:
            raise ValueError(f"Must specify throttle_secs >= 0, given: {throttle_secs}")
        return super().__new__(
            cls,
            input_fn=input_fn,
            steps=steps,
            name=name,
            hooks=_checked_hooks(hooks),
            exporters=_checked_exporters(exporters),
            start_delay_secs=start_delay_secs,
            throttle_secs=throttle_secs,
        )


@public("estimator.train_and_evaluate")
def train_and_evaluate(estimator: Any, train_spec: Any, eval_spec: Any) -> Any:
    """Trains, evaluates and exports, as the configuration of the estimator says: here, or as one of a cluster's tasks."""
    _check_eval_spec(eval_spec)
    executor = TrainingExecutor(estimator=estimator, train_spec=train_spec, eval_spec=eval_spec)
    config = estimator.config
    if config.task_type == TaskType.EVALUATOR and config.task_id > 0:
        raise ValueError(
            f"For distributed training, there can only be one `evaluator` task (with task id 0).  Given task id {config.task_id}"
        )
    if clustered.spans_a_cluster(config):
        return _run_on_cluster(estimator, train_spec, eval_spec)
    return executor.run()


def _run_on_cluster(estimator: Any, train_spec: Any, eval_spec: Any) -> None:
    """The workers train under the strategy; checkpoints are evaluated where the cluster has an evaluator."""

    def train(strategy: Any) -> None:
        own = clustered.for_worker(estimator, strategy, is_training=True)
        own.train(input_fn=train_spec.input_fn, max_steps=train_spec.max_steps, hooks=list(train_spec.hooks))

    def evaluate(strategy: Any) -> None:
        own = clustered.for_worker(estimator, strategy, is_training=False)
        TrainingExecutor(estimator=own, train_spec=train_spec, eval_spec=eval_spec).run_evaluator()

    clustered.run(estimator._config, train, evaluate)


def _check_eval_spec(eval_spec: Any) -> None:
    if not isinstance(eval_spec, EvalSpec):
        raise TypeError(f"`eval_spec` must have type `tf.estimator.EvalSpec`. Got: {type(eval_spec)}")


@internal("estimator.training._StopAtSecsHook")
class StopAtSecsHook(SessionRunHook):
    """Stops after so many seconds."""

    def __init__(self, stop_after_secs: float) -> None:
        self._stop_after_secs = stop_after_secs

    def begin(self) -> None:
        self._started = time.time()

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if time.time() - self._started >= self._stop_after_secs:
            run_context.request_stop()


@internal("estimator.training._EvalStatus")
class EvalStatus:
    """What an attempt to evaluate came to."""

    EVALUATED = "evaluated"
    MISSING_CHECKPOINT = "missing checkpoint"
    NO_NEW_CHECKPOINT = "no new checkpoint"


@internal("estimator.training._EvalResult")
class EvalResult(collections.namedtuple("EvalResult", ["status", "metrics", "checkpoint_path"])):
    """What an attempt to evaluate found."""

    def __new__(cls, status: str, metrics: Any = None, checkpoint_path: Any = None) -> EvalResult:
        if status != EvalStatus.EVALUATED:
            if metrics:
                raise ValueError(f"metrics must be `None` if status is not evaluated; got status {status}, metrics {metrics}")
            return super().__new__(cls, status, metrics, checkpoint_path)
        if not metrics:
            raise ValueError("Internal error: `Estimator.evaluate` should never return empty metrics.")
        if not isinstance(metrics, dict):
            raise TypeError(f"`Estimator.evaluate` should return dict. Given {type(metrics)}.")
        if "global_step" not in metrics:
            raise ValueError(f"Internal error: `Estimator.evaluate` result should have `global_step` in result. Given {metrics}")
        if not checkpoint_path:
            raise ValueError("Internal error: `checkpoint_path` should never be empty.")
        return super().__new__(cls, status, metrics, checkpoint_path)


@internal("estimator.training._ContinuousEvalListener")
class ContinuousEvalListener:
    """Is asked before and after each evaluation whether to go on."""

    def before_eval(self) -> bool:
        """Whether to evaluate."""
        return True

    def after_eval(self, eval_result: EvalResult) -> bool:
        """Whether to go on after this."""
        del eval_result
        return True


@internal("estimator.training._TrainingExecutor")
class TrainingExecutor:
    """Runs the part that this process plays."""

    def __init__(
        self, estimator: Any, train_spec: Any, eval_spec: Any, train_hooks: Any = None, continuous_eval_listener: Any = None
    ) -> None:
        if not isinstance(estimator, Estimator):
            raise TypeError(f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}")
        if not isinstance(train_spec, TrainSpec):
            raise TypeError(f"`train_spec` must have type `tf.estimator.TrainSpec`. Got: {type(train_spec)}")
        if eval_spec is not None and not isinstance(eval_spec, EvalSpec):
            raise TypeError(f"`eval_spec` must be either `None` or have type `tf.estimator.EvalSpec`. Got: {type(eval_spec)}")
        if continuous_eval_listener and not isinstance(continuous_eval_listener, ContinuousEvalListener):
            raise TypeError("`continuous_eval_listener` must have type `_ContinuousEvalListener`.")
        self._estimator = estimator
        self._train_spec: Any = train_spec
        self._eval_spec: Any = eval_spec
        self._train_hooks = _checked_hooks(train_hooks)
        self._listener = continuous_eval_listener or ContinuousEvalListener()

    @property
    def estimator(self) -> Any:
        """The estimator."""
        return self._estimator

    def run(self) -> Any:
        """Does what this task does."""
        config = self._estimator.config
        if not config.cluster_spec and config.task_type != TaskType.EVALUATOR:
            logging.info("Running training and evaluation locally (non-distributed).")
            return self.run_local()
        if not config.task_type:
            raise ValueError("`estimator.config` must have task_type set. This usually means TF_CONFIG environment is not set correctly.")
        if config.task_type == "local":
            raise ValueError(
                "`task.type` in TF_CONFIG cannot be `local`. Leaving `cluster` and `task` properties in TF_CONFIG absent triggers train "
                "and evaluate `Estimator` locally (non-distributed)."
            )
        supported = [name.removeprefix("run_") for name in dir(self) if name.startswith("run_") and name != "run_local"]
        task = getattr(self, f"run_{config.task_type}", None) if config.task_type in supported else None
        if not callable(task):
            known = [name for name in supported if callable(getattr(self, "run_" + name))]
            raise ValueError(f"Task type {config.task_type} is not supported. Supported task types are {known}")
        return task()

    def run_local(self) -> Any:
        """Trains, and evaluates at checkpoints."""
        _check_eval_spec(self._eval_spec)
        hooks = list(self._train_spec.hooks) + list(self._train_hooks)
        logging.info(
            "Start train and evaluate loop. The evaluate will happen after every checkpoint. Checkpoint frequency is determined "
            "based on RunConfig arguments: save_checkpoints_steps %s or save_checkpoints_secs %s.",
            self._estimator.config.save_checkpoints_steps,
            self._estimator.config.save_checkpoints_secs,
        )
        listener = self._evaluating_listener()
        self._estimator.train(
            input_fn=self._train_spec.input_fn, max_steps=self._train_spec.max_steps, hooks=hooks, saving_listeners=[listener]
        )
        result = listener.result
        return (result.metrics, listener.exports) if result is not None else (None, None)

    def _evaluating_listener(self) -> Any:
        evaluator = self._Evaluator(self._estimator, self._eval_spec, self._train_spec.max_steps)
        return NewCheckpointListener(evaluator, self._eval_spec.throttle_secs, self._listener)

    def run_chief(self) -> None:
        """Trains as the chief, which saves."""
        self._start_distributed_training()

    def run_worker(self) -> None:
        """Trains as a worker, a little later than the chief."""
        self._start_distributed_training()

    def run_master(self) -> None:
        """Trains as the chief, and evaluates at checkpoints."""
        _check_eval_spec(self._eval_spec)
        listener = self._evaluating_listener()
        self._start_distributed_training(saving_listeners=[listener])

    def _start_distributed_training(self, saving_listeners: Any = None) -> None:
        config = self._estimator.config
        # On some platforms a server runs already.
        if not _has_server():
            self._start_std_server(config)
        self._wait_for_chief(config)
        self._estimator.train(
            input_fn=self._train_spec.input_fn,
            max_steps=self._train_spec.max_steps,
            hooks=list(self._train_spec.hooks) + list(self._train_hooks),
            saving_listeners=saving_listeners,
        )

    def _wait_for_chief(self, config: Any) -> None:
        """Workers start one after the other."""
        if config.task_type != TaskType.WORKER:
            return
        longest = _MAX_DELAY
        if config.experimental_max_worker_delay_secs is not None:
            longest = int(config.experimental_max_worker_delay_secs)
        delay = min(longest, (config.task_id + 1) * _DELAY_PER_WORKER)
        if delay > 0:
            logging.info("Waiting %d secs before starting training.", delay)
            time.sleep(delay)

    def _start_std_server(self, config: Any) -> Any:
        if not config.cluster_spec or not config.task_type or config.task_id is None:
            raise RuntimeError(
                "Could not start server; be sure to specify cluster_spec, task_type, and task in RunConfig or set the TF_CONFIG "
                "environment variable."
            )
        if not config.master:
            # A lone chief or worker trains in its own process.
            is_alone = sum(len(hosts) for hosts in config.cluster_spec.as_dict().values()) == 1
            if is_alone and config.task_type in (TaskType.CHIEF, TaskType.MASTER, TaskType.WORKER):
                logging.info("Skip starting Tensorflow server as there is only one node in the cluster.")
                return None
            raise RuntimeError("Could not start server; be sure to specify master in RunConfig or set the TF_CONFIG environment variable.")
        logging.info("Start Tensorflow server.")
        session_config = config.session_config or tf.ConfigProto(log_device_placement=False)
        # What a session may see is no matter of the server's.
        server_config = tf.ConfigProto(log_device_placement=session_config.log_device_placement, gpu_options=session_config.gpu_options)
        server = server_lib.Server(
            config.cluster_spec,
            job_name=config.task_type,
            task_index=config.task_id,
            config=server_config,
            start=False,
            protocol=config.protocol,
        )
        server.start()
        return server

    def run_ps(self) -> None:
        """Serves variables for ever."""
        self._start_std_server(self._estimator.config).join()

    def run_evaluator(self) -> None:
        """Evaluates checkpoints as they come, until the last step of training."""
        _check_eval_spec(self._eval_spec)
        delay = self._eval_spec.start_delay_secs
        if delay:
            logging.info("Waiting %f secs before starting eval.", delay)
            time.sleep(delay)
        evaluator = self._Evaluator(self._estimator, self._eval_spec, self._train_spec.max_steps)
        while self._listener.before_eval():
            began = time.time()
            result, _ = evaluator.evaluate_and_export()
            if not self._listener.after_eval(result):
                break
            passed = time.time() - began
            rest = max(0, self._eval_spec.throttle_secs - passed)
            if rest:
                logging.info("Waiting %f secs before starting next eval run. Eval status: %s", rest, result.status)
                time.sleep(rest)
            elif self._eval_spec.throttle_secs == 0 and result.status != EvalStatus.EVALUATED:
                logging.warning(
                    "EvalSpec.throttle_secs is set as 0. This might overload the job before finding (next) new checkpoint. "
                    "Please consider to increase it."
                )
            if evaluator.is_final_export_triggered:
                step = result.metrics["global_step"]
                logging.info("Exiting evaluation, global_step=%s >= train max_steps=%s", step, self._train_spec.max_steps)
                break

    class _Evaluator:
        """Evaluates each checkpoint once, and exports."""

        def __init__(self, estimator: Any, eval_spec: Any, max_training_steps: Any) -> None:
            self._estimator, self._eval_spec, self._max_steps = estimator, eval_spec, max_training_steps
            _check_eval_spec(eval_spec)
            self._seen: Any = None
            self._warned: float | None = None
            self._exported_last = False

        @property
        def is_final_export_triggered(self) -> bool:
            """Whether the last export was made."""
            return self._exported_last

        def evaluate_and_export(self) -> tuple[EvalResult, list[Any]]:
            """Evaluates the latest checkpoint, unless that was done; what was found, and what exporters gave."""
            latest = self._estimator.latest_checkpoint()
            if not latest:
                self._warn("Estimator is not trained yet. Will start an evaluation when a checkpoint is ready.")
                return EvalResult(EvalStatus.MISSING_CHECKPOINT), []
            if latest == self._seen:
                self._warn(
                    "No new checkpoint ready for evaluation. Skip the current evaluation pass as evaluation results are expected "
                    "to be same for the same checkpoint."
                )
                return EvalResult(EvalStatus.NO_NEW_CHECKPOINT), []
            metrics = self._estimator.evaluate(
                input_fn=self._eval_spec.input_fn,
                steps=self._eval_spec.steps,
                name=self._eval_spec.name,
                checkpoint_path=latest,
                hooks=self._eval_spec.hooks,
            )
            result = EvalResult(EvalStatus.EVALUATED, metrics, latest)
            is_final = bool(self._max_steps and metrics["global_step"] >= self._max_steps)
            exports = self._export(result, is_final)
            self._exported_last = self._exported_last or is_final
            self._warned, self._seen = None, latest
            return result, exports

        def _warn(self, message: str) -> None:
            """Says so, but not again and again."""
            now = time.time()
            if self._warned is None or now - self._warned > _SECS_BETWEEN_WARNINGS:
                logging.warning(message)
                self._warned = now

        def _export(self, result: EvalResult, is_final: bool) -> list[Any]:
            found = []
            for exporter in self._eval_spec.exporters:
                path = os.path.join(tf.compat.as_str_any(self._estimator.model_dir), "export", tf.compat.as_str_any(exporter.name))
                found.append(
                    exporter.export(
                        estimator=self._estimator,
                        export_path=path,
                        checkpoint_path=result.checkpoint_path,
                        eval_result=result.metrics,
                        is_the_final_export=is_final,
                    )
                )
            return found


def _has_server() -> bool:
    return json.loads(os.environ.get("TF_CONFIG") or "{}").get("environment") == "google"


class NewCheckpointListener(CheckpointSaverListener):
    """Evaluates after checkpoints, not more often than the spec says."""

    def __init__(self, evaluator: Any, throttle_secs: Any, listener: ContinuousEvalListener) -> None:
        self._evaluator, self._throttle_secs, self._listener = evaluator, throttle_secs, listener
        self.result: Any = None
        self.exports: Any = None

    def begin(self) -> None:
        self._timer = timing.SecondOrStepTimer(every_secs=self._throttle_secs)
        self._is_first_run = True

    def after_save(self, session: Any, global_step_value: Any) -> Any:
        del session
        # The first save is that of the start.
        if self._is_first_run:
            self._is_first_run = False
            return None
        if not self._listener.before_eval():
            logging.info("Exiting training and evaluation loop, as requested by _ContinuousEvalListener.before_eval.")
            return True
        if self._timer.should_trigger_for_step(global_step_value):
            self._evaluate(global_step_value)
            if not self._listener.after_eval(self.result):
                logging.info("Exiting evaluation, as requested by _ContinuousEvalListener.after_eval.")
                return True
        else:
            logging.info("Skip the current checkpoint eval due to throttle secs (%s secs).", self._throttle_secs)
        return None

    def end(self, session: Any, global_step_value: Any) -> None:
        # A checkpoint that was not evaluated yet.
        if self._listener.before_eval() and self._timer.last_triggered_step() != global_step_value:
            self._evaluate(global_step_value)
            self._listener.after_eval(self.result)

    def _evaluate(self, global_step_value: Any) -> None:
        self._timer.update_last_triggered_step(global_step_value)
        self.result, self.exports = self._evaluator.evaluate_and_export()
        if self.result.status != EvalStatus.EVALUATED:
            raise RuntimeError(f"There was no new checkpoint after the training. Eval status: {self.result.status}")
