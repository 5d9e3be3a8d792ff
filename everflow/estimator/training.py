"""train_and_evaluate: training with evaluations in between, in one process or as part of a cluster."""

from __future__ import annotations

import collections
import os
import time
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.distribute.server import Server
from everflow.estimator.estimator import Estimator
from everflow.estimator.exporters import Exporter
from everflow.platform import logging
from everflow.train.hooks_saving import CheckpointSaverListener
from everflow.train.session_run_hook import SessionRunHook

# A worker waits so long for each worker before it.
_DELAY_PER_WORKER = 5
_MAX_DELAY = 60


def _checked_hooks(hooks: Any) -> tuple[Any, ...]:
    hooks = tuple(hooks or ())
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be `SessionRunHook` instances, given: {hook}")
    return hooks


def _checked_input_fn(input_fn: Any) -> None:
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn}")


@public("estimator.TrainSpec")
class TrainSpec(collections.namedtuple("TrainSpec", ["input_fn", "max_steps", "hooks"])):
    """What to train with, and for how long."""

    def __new__(cls, input_fn: Any, max_steps: Any = None, hooks: Any = None) -> TrainSpec:
        _checked_input_fn(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        return super().__new__(cls, input_fn=input_fn, max_steps=max_steps, hooks=_checked_hooks(hooks))


def _checked_exporters(exporters: Any) -> tuple[Any, ...]:
    if not exporters:
        return ()
    exporters = (exporters,) if isinstance(exporters, Exporter) else exporters
    names: set[str] = set()
    try:
        exporters = tuple(exporters)
    except TypeError as e:
        raise TypeError(f"`exporters` must be an Exporter, an iterable of Exporter, or `None`, found {exporters}.") from e
    for exporter in exporters:
        if not isinstance(exporter, Exporter):
            raise TypeError(f"`exporters` must be an Exporter, an iterable of Exporter, or `None`, found {exporters}.")
        if not exporter.name:
            raise ValueError(f"An Exporter cannot have a name that is `None` or empty. All exporter names: {[e.name for e in exporters]}")
        if exporter.name in names:
            raise ValueError(
                f"`exporters` must have unique names. Such a name cannot be `None`. All exporter names: {[e.name for e in exporters]}"
            )
        names.add(exporter.name)
    return exporters


@public("estimator.EvalSpec")
class EvalSpec(
    collections.namedtuple("EvalSpec", ["input_fn", "steps", "name", "hooks", "exporters", "start_delay_secs", "throttle_secs"])
):
    """What to evaluate with, how often, and what to export then."""

    def __new__(
        cls,
        input_fn: Any,
        steps: Any = 100,
        name: Any = None,
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
    if not isinstance(estimator, Estimator):
        raise TypeError(f"`estimator` must have type `tf.estimator.Estimator`, given {type(estimator)}")
    config = estimator.config
    executor = TrainingExecutor(estimator, train_spec, eval_spec)
    if config.task_type == "evaluator" and config.task_id > 0:
        raise ValueError(
            f"For distributed training, there can only be one `evaluator` task (with task id 0).  Given task id {config.task_id}"
        )
    return executor.run()


@internal("estimator.training._TrainingExecutor")
class TrainingExecutor:
    """Runs the part that this process plays."""

    def __init__(self, estimator: Any, train_spec: Any, eval_spec: Any, train_hooks: Any = None) -> None:
        if not isinstance(estimator, Estimator):
            raise TypeError(f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}")
        if train_spec is not None and not isinstance(train_spec, TrainSpec):
            raise TypeError(f"`train_spec` must have type `tf.estimator.TrainSpec`. Got: {type(train_spec)}")
        if eval_spec is not None and not isinstance(eval_spec, EvalSpec):
            raise TypeError(f"`eval_spec` must have type `tf.estimator.EvalSpec`. Got: {type(eval_spec)}")
        self._estimator = estimator
        self._train_spec: Any = train_spec
        self._eval_spec: Any = eval_spec
        self._train_hooks = _checked_hooks(train_hooks)

    @property
    def estimator(self) -> Any:
        """The estimator."""
        return self._estimator

    def run(self) -> Any:
        """Does what this task does."""
        config = self._estimator.config
        if not config.cluster_spec.jobs and config.task_type != "evaluator":
            logging.info("Not using Distribute Coordinator.")
            logging.info("Running training and evaluation locally (non-distributed).")
            return self.run_local()
        logging.info("Not using Distribute Coordinator.")
        tasks = {
            "chief": self.run_chief,
            "worker": self.run_worker,
            "ps": self.run_ps,
            "evaluator": self.run_evaluator,
            "master": self.run_master,
        }
        if config.task_type not in tasks:
            raise ValueError(f"Task type {config.task_type} is not supported. Supported task types are {sorted(tasks)}.")
        return tasks[config.task_type]()

    def run_local(self) -> Any:
        """Trains, and evaluates at checkpoints."""
        logging.info(
            "Start train and evaluate loop. The evaluate will happen after every checkpoint. Checkpoint frequency is determined "
            "based on RunConfig arguments: save_checkpoints_steps %s or save_checkpoints_secs %s.",
            self._estimator.config.save_checkpoints_steps,
            self._estimator.config.save_checkpoints_secs,
        )
        evaluator = _Evaluator(self._estimator, self._eval_spec, self._train_spec.max_steps)
        listener = _EvaluationListener(evaluator, self._eval_spec.throttle_secs)
        self._estimator.train(
            input_fn=self._train_spec.input_fn,
            max_steps=self._train_spec.max_steps,
            hooks=[*self._train_spec.hooks, *self._train_hooks],
            saving_listeners=[listener],
        )
        # No checkpoint, no evaluation: there was nothing left to train.
        return (listener.result.metrics, listener.result.exports) if listener.result else (None, None)

    def _train(self, saving_listeners: Any = None) -> Any:
        self._start_server()
        return self._estimator.train(
            input_fn=self._train_spec.input_fn,
            max_steps=self._train_spec.max_steps,
            hooks=[*self._train_spec.hooks, *self._train_hooks],
            saving_listeners=saving_listeners,
        )

    def _start_server(self) -> Any:
        config = self._estimator.config
        if not config.cluster_spec.jobs or not config.master and config.task_type != "ps":
            return None
        logging.info("Start Tensorflow server.")
        return Server(
            config.cluster_spec,
            job_name=config.task_type,
            task_index=config.task_id,
            config=tf.ConfigProto(log_device_placement=False),
            start=True,
            protocol=config.protocol,
        )

    def run_chief(self) -> Any:
        """Trains as the chief, which saves."""
        return self._train()

    def run_worker(self) -> Any:
        """Trains as a worker, a little later than the chief."""
        config = self._estimator.config
        longest = _MAX_DELAY if config.experimental_max_worker_delay_secs is None else config.experimental_max_worker_delay_secs
        delay = min(longest, (config.task_id + 1) * _DELAY_PER_WORKER)
        if delay > 0:
            logging.info("Waiting %d secs before starting training.", delay)
            time.sleep(delay)
        return self._train()

    def run_master(self) -> Any:
        """Trains as the chief, and evaluates at checkpoints."""
        evaluator = _Evaluator(self._estimator, self._eval_spec, self._train_spec.max_steps)
        listener = _EvaluationListener(evaluator, self._eval_spec.throttle_secs)
        self._train(saving_listeners=[listener])
        # No checkpoint, no evaluation: there was nothing left to train.
        return (listener.result.metrics, listener.result.exports) if listener.result else (None, None)

    def run_ps(self) -> None:
        """Serves variables for ever."""
        self._start_server().join()

    def run_evaluator(self) -> Any:
        """Evaluates checkpoints as they come, until the last step of training."""
        if self._eval_spec.start_delay_secs:
            logging.info("Waiting %f secs before starting eval.", self._eval_spec.start_delay_secs)
            time.sleep(self._eval_spec.start_delay_secs)
        evaluator = _Evaluator(self._estimator, self._eval_spec, self._train_spec.max_steps)
        result = None
        while not (result and result.is_final):
            began = time.time()
            found = evaluator.evaluate_and_export()
            if found.status == _EVALUATED:
                result = found
            if result and result.is_final:
                break
            rest = self._eval_spec.throttle_secs - (time.time() - began)
            if rest > 0:
                logging.info("Waiting %f secs before starting next eval run.", rest)
                time.sleep(rest)
            elif self._eval_spec.throttle_secs == 0 and found.status != _EVALUATED:
                logging.warning(
                    "EvalSpec.throttle_secs is set as 0. This might overload the job before finding (next) new checkpoint. "
                    "Please consider to increase it."
                )
        return (result.metrics, result.exports) if result else (None, None)


_EVALUATED, _MISSING, _OLD = "evaluated", "missing checkpoint", "no new checkpoint"
_Result = collections.namedtuple("_Result", ["status", "metrics", "exports", "is_final"])


class _Evaluator:
    """Evaluates each checkpoint once, and exports."""

    def __init__(self, estimator: Any, eval_spec: Any, max_steps: Any) -> None:
        self._estimator, self._eval_spec, self._max_steps = estimator, eval_spec, max_steps
        self._seen: Any = None
        self._warned = 0.0
        self._exported_last = False

    @property
    def is_final(self) -> bool:
        """Whether the last export was made."""
        return self._exported_last

    def evaluate_and_export(self) -> Any:
        """Evaluates the latest checkpoint, unless that was done."""
        latest = self._estimator.latest_checkpoint()
        if not latest:
            if time.time() - self._warned > 600:
                logging.warning("Estimator is not trained yet. Will start an evaluation when a checkpoint is ready.")
                self._warned = time.time()
            return _Result(_MISSING, None, None, False)
        if latest == self._seen:
            logging.warning(
                "No new checkpoint ready for evaluation. Skip the current evaluation pass as evaluation results are expected "
                "to be same for the same checkpoint."
            )
            return _Result(_OLD, None, None, False)
        metrics = self._estimator.evaluate(
            input_fn=self._eval_spec.input_fn,
            steps=self._eval_spec.steps,
            name=self._eval_spec.name,
            checkpoint_path=latest,
            hooks=self._eval_spec.hooks,
        )
        if not metrics:
            raise RuntimeError(f"Estimator.evaluate should return non-empty result. Given: {metrics}")
        if "global_step" not in metrics:
            raise ValueError(f"Internal error: `Estimator.evaluate` result should have `global_step` in result. Given {metrics}")
        is_final = bool(self._max_steps and metrics["global_step"] >= self._max_steps)
        exports = self._export(metrics, latest, is_final)
        if is_final:
            self._exported_last = True
        self._seen = latest
        return _Result(_EVALUATED, metrics, exports, is_final)

    def _export(self, metrics: Any, checkpoint_path: Any, is_final: bool) -> list[Any]:
        results = []
        for exporter in self._eval_spec.exporters:
            results.append(
                exporter.export(
                    estimator=self._estimator,
                    export_path=os.path.join(str(self._estimator.model_dir), "export", str(exporter.name)),
                    checkpoint_path=checkpoint_path,
                    eval_result=metrics,
                    is_the_final_export=is_final,
                )
            )
        return results


class _EvaluationListener(CheckpointSaverListener):
    """Evaluates after checkpoints, not more often than the spec says."""

    def __init__(self, evaluator: _Evaluator, throttle_secs: Any) -> None:
        self._evaluator, self._throttle_secs = evaluator, throttle_secs
        self._last: float | None = None
        self._result: Any = None
        self._first = False

    @property
    def result(self) -> Any:
        """What the last evaluation gave."""
        return self._result

    def begin(self) -> None:
        self._last = time.time()
        self._first = False

    def after_save(self, session: Any, global_step_value: Any) -> Any:
        # The first save is that of the start.
        if not self._first:
            self._first = True
            return None
        if self._last is not None and time.time() - self._last < self._throttle_secs:
            logging.info("Skip the current checkpoint eval due to throttle secs (%s secs).", self._throttle_secs)
            return None
        self._evaluate()
        return None

    def end(self, session: Any, global_step_value: Any) -> None:
        # A checkpoint that was not evaluated yet.
        if self._result is None or self._result.status != _EVALUATED or not self._evaluator.is_final:
            self._evaluate(at_end=True)

    def _evaluate(self, at_end: bool = False) -> None:
        found = self._evaluator.evaluate_and_export()
        self._last = time.time()
        if found.status == _EVALUATED:
            self._result = found
        elif not at_end:
            raise RuntimeError(f"There was no new checkpoint after the training. Eval status: {found.status}")
