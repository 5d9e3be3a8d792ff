"""Experiments: an estimator with its inputs, and the schedules by which it is trained, evaluated and exported."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from everflow.contrib.learn.estimator import Evaluable, Trainable
from everflow.contrib.learn.export_strategies import ExportStrategy
from everflow.contrib.learn.monitors.hooks import replace_monitors_with_hooks
from everflow.contrib.learn.monitors.validation import ValidationMonitor
from everflow.contrib.learn.publishing import learn
from everflow.contrib.learn.run_config import Environment, RunConfig
from everflow.distribute import server as server_lib
from everflow.estimator.arguments import parameters_of
from everflow.estimator.estimator import Estimator
from everflow.estimator.tpu import TPUEstimator
from everflow.graph.keys import GraphKeys
from everflow.platform import logging
from everflow.train.checkpoints import management
from everflow.train.hooks_saving import CheckpointSaverHook, CheckpointSaverListener
from everflow.train.hooks_steps import GlobalStepWaiterHook

# A worker starts some seconds after the one before it, or after so many steps.
_SECONDS_A_WORKER, _MOST_SECONDS, _STEPS_A_WORKER = 5, 60, 8000.0
# Waiting for a checkpoint is mentioned every ten minutes.
_WARNING_SECONDS = 600


def _predicate(function: Any) -> Any:
    """A function of results and checkpoint_path that says whether to go on; programs may leave out the second."""
    if function is None:
        return lambda eval_results, checkpoint_path: True
    if not callable(function):
        raise ValueError("`continuous_eval_predicate_fn` must be a callable, or None.")
    if "checkpoint_path" in parameters_of(function):
        return function
    return lambda eval_results, checkpoint_path: function(eval_results)


class _EvalAndExportListener(CheckpointSaverListener):
    """Evaluates and exports each new checkpoint."""

    def __init__(self, eval_fn: Callable[..., Any], export_fn: Callable[..., Any], model_dir: str) -> None:
        self._eval_fn, self._export_fn, self._model_dir = eval_fn, export_fn, model_dir
        self._latest_path: Any = None
        self.eval_result: Any = None
        self.export_results: Any = None

    def after_save(self, session: Any, global_step_value: Any) -> None:
        """Evaluates what was saved."""
        logging.info("Checking for checkpoint in %s", self._model_dir)
        newest = management.latest_checkpoint(self._model_dir)
        if newest and newest != self._latest_path:
            self._latest_path = newest
            self.eval_result = self._eval_fn(name="intermediate_export", checkpoint_path=newest)
            self.export_results = self._export_fn(self.eval_result, checkpoint_path=newest)
            return
        why = f"due to same latest checkpoint {newest}." if newest else "and export since model has not been saved yet."
        logging.warning("Skipping evaluation %s", why)


@learn("experiment", "Experiment", shown=True)
class Experiment:
    """What to train and evaluate, and how long."""

    def __init__(
        self,
        estimator: Any,
        train_input_fn: Any,
        eval_input_fn: Any,
        eval_metrics: Any = None,
        train_steps: Any = None,
        eval_steps: Any = 100,
        train_monitors: Any = None,
        eval_hooks: Any = None,
        local_eval_frequency: Any = None,
        eval_delay_secs: Any = 120,
        continuous_eval_throttle_secs: Any = 60,
        min_eval_frequency: Any = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: Any = None,
        train_steps_per_iteration: Any = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Any = None,
        check_interval_secs: Any = 5,
    ) -> None:
        self._core_estimator_used = isinstance(estimator, Estimator)
        if self._core_estimator_used:
            if eval_metrics is not None:
                raise ValueError(
                    "`eval_metrics` must be `None` with `tf.estimator.Estimator`. Use `eval_metric_ops` in "
                    "`tf.estimator.EstimatorSpec` instead."
                )
        else:
            if not isinstance(estimator, Evaluable):
                raise ValueError("`estimator` must implement `tf.contrib.learn.Evaluable` or `tf.estimator.Estimator`.")
            if not isinstance(estimator, Trainable):
                raise ValueError("`estimator` must implement `tf.contrib.learn.Trainable`or `tf.estimator.`Estimator`.")
            if saving_listeners is not None:
                raise ValueError("`saving_listeners` must be `None` with `tf.contrib.learn.Estimator`.")
        if isinstance(estimator, TPUEstimator):
            logging.warning(
                "`Experiment` class cannot work with `tf.contrib.tpu.TPUEstimator`. Please call `TPUEstimator` train/evaluate directly. \n"
                "Details: `Experiment` class is designed for between-graph distributed training, while `TPUEstimator` is working in "
                "in-graph distributed mode. Use with care."
            )
        if train_steps_per_iteration is not None and not isinstance(train_steps_per_iteration, int):
            raise ValueError("`train_steps_per_iteration` must be an integer.")
        self._estimator, self._train_input_fn, self._eval_input_fn = estimator, train_input_fn, eval_input_fn
        self._eval_metrics, self._train_steps, self._eval_steps = eval_metrics, train_steps, eval_steps
        self._train_monitors, self._eval_hooks = list(train_monitors or ()), list(eval_hooks or ())
        self._local_eval_frequency = local_eval_frequency
        self._min_eval_frequency = 1 if min_eval_frequency is None else min_eval_frequency
        self._eval_delay_secs, self._continuous_eval_throttle_secs = eval_delay_secs, continuous_eval_throttle_secs
        self._check_interval_secs = check_interval_secs
        self._delay_workers_by_global_step = delay_workers_by_global_step
        self._checkpoint_and_export, self._saving_listeners = checkpoint_and_export, saving_listeners
        self._train_steps_per_iteration = train_steps_per_iteration
        self._set_export_strategies(export_strategies)

    @property
    def estimator(self) -> Any:
        """The estimator."""
        return self._estimator

    @property
    def eval_metrics(self) -> Any:
        """The metrics that evaluations are asked for."""
        return self._eval_metrics

    @property
    def train_steps(self) -> Any:
        """How many steps to train in all."""
        return self._train_steps

    @property
    def eval_steps(self) -> Any:
        """How many batches an evaluation takes."""
        return self._eval_steps

    def _set_export_strategies(self, values: Any) -> None:
        strategies = [values] if isinstance(values, ExportStrategy) else list(values or ())
        for value in strategies:
            if not isinstance(value, ExportStrategy):
                raise ValueError(f"`export_strategies` must be an ExportStrategy, an iterable of ExportStrategy, or `None`, found {value}.")
        self._export_strategies = tuple(strategies)

    def extend_train_hooks(self, additional_hooks: Any) -> None:
        """Adds hooks for training."""
        self._train_monitors.extend(additional_hooks)

    def reset_export_strategies(self, new_export_strategies: Any = None) -> Any:
        """Changes the export strategies, and gives those before."""
        old = self._export_strategies
        self._set_export_strategies(new_export_strategies)
        return old

    # Schedules

    def train(self, delay_secs: Any = None) -> Any:
        """Trains; workers of a cluster begin one after the other."""
        self._prepare_cluster()
        hooks = list(self._train_monitors)
        if delay_secs is None:
            task_id = self._estimator.config.task_id or 0
            if self._delay_workers_by_global_step:
                hooks.append(GlobalStepWaiterHook(int(_STEPS_A_WORKER * math.log(task_id + 1))))
                delay_secs = 0
            else:
                delay_secs = min(_MOST_SECONDS, task_id * _SECONDS_A_WORKER)
        if delay_secs > 0:
            logging.info("Waiting %d secs before starting training.", delay_secs)
            time.sleep(delay_secs)
        return self._call_train(
            input_fn=self._train_input_fn, max_steps=self._train_steps, hooks=hooks, saving_listeners=self._saving_listeners
        )

    def _prepare_cluster(self) -> None:
        """Starts this process's server, where the configuration is one of a cluster."""
        config = self._estimator.config
        if not (config.cluster_spec and config.master):
            return
        if not isinstance(config, RunConfig):
            raise ValueError(
                f"For distributed runtime, Experiment class only works with tf.contrib.learn.RunConfig for now, but provided {type(config)}"
            )
        if config.environment == Environment.LOCAL:
            logging.warning(
                "ClusterSpec and master are provided, but environment is set to 'local'. Set environment to 'cloud' if you intend to use "
                "the distributed runtime."
            )
        elif config.environment != Environment.GOOGLE:
            self._start_server()

    def evaluate(self, delay_secs: Any = None, name: str | None = None) -> Any:
        """Evaluates once."""
        delay_secs = self._eval_delay_secs if delay_secs is None else delay_secs
        if delay_secs:
            logging.info("Waiting %d secs before starting eval.", delay_secs)
            time.sleep(delay_secs)
        return self._evaluate_checkpoint(name=name or "one_pass")

    def local_run(self) -> Any:
        """Trains and evaluates in this process, as often as `local_eval_frequency` says."""
        with _kept(self, "_min_eval_frequency"):
            self._min_eval_frequency = self._local_eval_frequency
            return self.train_and_evaluate()

    def continuous_eval(
        self,
        delay_secs: Any = None,
        throttle_delay_secs: Any = None,
        evaluate_checkpoint_only_once: bool = True,
        continuous_eval_predicate_fn: Any = None,
        name: str = "continuous",
    ) -> None:
        """Evaluates and exports new checkpoints, until training is over or a function says so."""
        self._continuous_eval(
            self._eval_input_fn, name, delay_secs, throttle_delay_secs, evaluate_checkpoint_only_once, continuous_eval_predicate_fn
        )

    def continuous_eval_on_train_data(
        self,
        delay_secs: Any = None,
        throttle_delay_secs: Any = None,
        continuous_eval_predicate_fn: Any = None,
        name: str = "continuous_on_train_data",
    ) -> None:
        """Evaluates new checkpoints with what they are trained with."""
        self._continuous_eval(
            self._train_input_fn,
            name,
            delay_secs,
            throttle_delay_secs,
            continuous_eval_predicate_fn=continuous_eval_predicate_fn,
            export=False,
        )

    def _continuous_eval(
        self,
        input_fn: Any,
        name: str,
        delay_secs: Any,
        throttle_delay_secs: Any,
        evaluate_checkpoint_only_once: bool = True,
        continuous_eval_predicate_fn: Any = None,
        export: bool = True,
    ) -> None:
        goes_on = _predicate(continuous_eval_predicate_fn)
        delay_secs = self._eval_delay_secs if delay_secs is None else delay_secs
        throttle_delay_secs = self._continuous_eval_throttle_secs if throttle_delay_secs is None else throttle_delay_secs
        if delay_secs:
            logging.info("Waiting %f secs before starting eval.", delay_secs)
            time.sleep(delay_secs)
        previous: Any = None
        result: Any = None
        warned = 0.0
        while goes_on(result, checkpoint_path=previous):
            if self._has_training_stopped(result):
                logging.info("Exiting continuous eval, global_step=%s >= train_step=%s", result[GraphKeys.GLOBAL_STEP], self._train_steps)
                return
            start = time.time()
            latest = management.latest_checkpoint(self._estimator.model_dir)
            missing = None
            if not latest:
                missing = "Estimator is not fitted yet. Will start an evaluation when a checkpoint is ready."
            elif evaluate_checkpoint_only_once and latest == previous:
                missing = "No new checkpoint ready for evaluation."
            if missing is not None:
                result = {}
                if time.time() - warned > _WARNING_SECONDS:
                    logging.warning(missing)
                    warned = time.time()
            else:
                result = self._evaluate_checkpoint(input_fn=input_fn, name=name, checkpoint_path=latest) or {}
                if export:
                    self._maybe_export(result, checkpoint_path=latest)
                warned, previous = 0.0, latest
            rest = throttle_delay_secs - (time.time() - start)
            if rest > 0:
                logging.info("Waiting %f secs before starting next eval run.", rest)
                time.sleep(rest)

    def _has_training_stopped(self, eval_result: Any) -> bool:
        step = (eval_result or {}).get(GraphKeys.GLOBAL_STEP)
        return bool(step and self._train_steps and step >= self._train_steps)

    def train_and_evaluate(self) -> Any:
        """Trains with evaluations in between, then evaluates and exports; or does both with each checkpoint."""
        config = self._estimator.config
        listener: Any = None
        with _kept(self, "_train_monitors"):
            self._train_monitors = list(self._train_monitors or ())
            if self._checkpoint_and_export and (config.save_checkpoints_secs or config.save_checkpoints_steps):
                listener = _EvalAndExportListener(self._evaluate_checkpoint, self._maybe_export, self._estimator.model_dir)
                saving = CheckpointSaverHook(
                    checkpoint_dir=self._estimator.model_dir,
                    save_secs=config.save_checkpoints_secs,
                    save_steps=config.save_checkpoints_steps,
                    listeners=[listener],
                )
                self._train_monitors.append(saving)
            elif self._min_eval_frequency:
                validation = ValidationMonitor(
                    input_fn=self._eval_input_fn,
                    eval_steps=self._eval_steps,
                    metrics=self._eval_metrics,
                    every_n_steps=self._min_eval_frequency,
                    check_interval_secs=self._check_interval_secs,
                    hooks=self._eval_hooks,
                )
                self._train_monitors.append(validation)
            self.train(delay_secs=0)
        if listener is not None:
            return listener.eval_result, listener.export_results
        result = self._evaluate_checkpoint(name=None)
        return result, self._maybe_export(result)

    def continuous_train_and_eval(self, continuous_eval_predicate_fn: Any = None) -> Any:
        """Trains for some steps and evaluates by turns."""
        goes_on = _predicate(continuous_eval_predicate_fn)
        steps = 1000 if self._train_steps is None else int(self._train_steps / 10)
        steps = steps if self._train_steps_per_iteration is None else self._train_steps_per_iteration
        result: Any = None
        exports: Any = None
        latest: Any = None
        while goes_on(result, checkpoint_path=latest if result else None):
            if self._has_training_stopped(result):
                logging.info("Stop training model as max steps reached")
                break
            logging.info("Training model for %s steps", steps)
            self._call_train(
                input_fn=self._train_input_fn, steps=steps, hooks=self._train_monitors, saving_listeners=self._saving_listeners
            )
            logging.info("Evaluating model now.")
            latest = management.latest_checkpoint(self._estimator.model_dir)
            result = self._evaluate_checkpoint(name="one_pass", checkpoint_path=latest)
            exports = self._maybe_export(result)
        return result, exports

    def run_std_server(self) -> None:
        """Serves as a part of the cluster, for ever."""
        self._start_server().join()

    def test(self) -> Any:
        """One step of training, an evaluation of one batch, and an export."""
        training = {"hooks": self._train_monitors, "saving_listeners": self._saving_listeners}
        self._call_train(input_fn=self._train_input_fn, steps=1, **training)
        found = self._call_evaluate(input_fn=self._eval_input_fn, metrics=self._eval_metrics, steps=1, name="one_pass")
        self._maybe_export(found)
        return found

    # How it is done

    def _maybe_export(self, eval_result: Any, checkpoint_path: Any = None) -> list[Any]:
        base = os.path.join(os.fsencode(self._estimator.model_dir), b"export")
        return [
            strategy.export(
                self._estimator, os.path.join(base, os.fsencode(strategy.name)), checkpoint_path=checkpoint_path, eval_result=eval_result
            )
            for strategy in self._export_strategies
        ]

    def _start_server(self) -> Any:
        told = self._estimator.config
        needed = (told.cluster_spec, told.task_type, told.master, told.task_id is not None)
        if not all(needed):
            raise ValueError(
                "Could not start server; be sure to specify cluster_spec, task_type, master, and task in RunConfig or set the TF_CONFIG "
                "environment variable."
            )
        place = {"job_name": told.task_type, "task_index": told.task_id}
        server = server_lib.Server(told.cluster_spec, config=told.tf_config, start=False, **place)
        server.start()
        return server

    def _evaluate_checkpoint(self, name: Any, input_fn: Any = None, checkpoint_path: Any = None) -> Any:
        return self._call_evaluate(
            input_fn=input_fn or self._eval_input_fn,
            steps=self._eval_steps,
            metrics=self._eval_metrics,
            name=name,
            checkpoint_path=checkpoint_path,
            hooks=self._eval_hooks,
        )

    def _call_train(
        self,
        _sentinel: Any = None,
        input_fn: Any = None,
        steps: Any = None,
        hooks: Any = None,
        max_steps: Any = None,
        saving_listeners: Any = None,
    ) -> Any:
        if _sentinel is not None:
            raise ValueError("_call_train should be called with keyword args only")
        hooks = replace_monitors_with_hooks(hooks, self._estimator)
        if not self._core_estimator_used:
            return self._estimator.fit(input_fn=input_fn, steps=steps, max_steps=max_steps, monitors=hooks)
        return self._estimator.train(input_fn=input_fn, steps=steps, max_steps=max_steps, hooks=hooks, saving_listeners=saving_listeners)

    def _call_evaluate(
        self,
        _sentinel: Any = None,
        input_fn: Any = None,
        steps: Any = None,
        metrics: Any = None,
        name: Any = None,
        checkpoint_path: Any = None,
        hooks: Any = None,
    ) -> Any:
        if _sentinel is not None:
            raise ValueError("_call_evaluate should be called with keyword args only")
        given = {"input_fn": input_fn, "steps": steps, "name": name, "checkpoint_path": checkpoint_path, "hooks": hooks}
        if not self._core_estimator_used:
            return self._estimator.evaluate(metrics=metrics, **given)
        if metrics is not None:
            raise ValueError("`eval_metrics` must be `None` with `tf.estimator.Estimator`")
        return self._estimator.evaluate(**given)


@contextlib.contextmanager
def _kept(holder: Any, name: str) -> Iterator[None]:
    """An attribute is afterwards what it was before."""
    before = getattr(holder, name)
    try:
        yield
    finally:
        setattr(holder, name, before)
