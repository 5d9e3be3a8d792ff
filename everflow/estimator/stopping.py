"""Hooks that stop training early, by what evaluations found, and one that evaluates while training."""

from __future__ import annotations

import collections
import operator
import os
import time
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.estimator.estimator import Estimator, checked_hooks, saved_step
from everflow.estimator.running import write_results
from everflow.platform import logging
from everflow.train.evaluation import StopAfterNEvalsHook, evaluate_once
from everflow.train.global_step import get_global_step, get_or_create_read
from everflow.train.hooks_steps import StopAtStepHook
from everflow.train.hooks_timing import SecondOrStepTimer
from everflow.train.scaffold import Scaffold
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook

_STOP_SCOPE, _STOP_NAME = "signal_early_stopping", "STOP"


@internal("estimator.early_stopping._get_or_create_stop_var")
def _stop_variable() -> Any:
    """A flag that all workers see."""
    with tf.variable_scope(_STOP_SCOPE, reuse=tf.AUTO_REUSE):
        return tf.get_variable(
            name=_STOP_NAME,
            shape=[],
            dtype=tf.bool,
            initializer=tf.constant_initializer(False),
            collections=[tf.GraphKeys.GLOBAL_VARIABLES],
            trainable=False,
        )


@internal("estimator.early_stopping._StopOnPredicateHook")
class _StopOnPredicateHook(SessionRunHook):
    """Asks a function from time to time whether to stop."""

    def __init__(self, should_stop_fn: Any, run_every_secs: Any = 60, run_every_steps: Any = None) -> None:
        if not callable(should_stop_fn):
            raise TypeError("`should_stop_fn` must be callable.")
        self._should_stop_fn = should_stop_fn
        self._timer = SecondOrStepTimer(every_secs=run_every_secs, every_steps=run_every_steps)

    def begin(self) -> None:
        self._step = get_global_step()
        self._stop_var = _stop_variable()
        self._set_stop = tf.assign(self._stop_var, True)

    def before_run(self, run_context: Any) -> Any:
        del run_context
        return SessionRunArgs(self._step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        step = run_values.results
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._should_stop_fn():
                logging.info("Requesting early stopping at global step %d", step)
                run_context.session.run(self._set_stop)
                run_context.request_stop()


@internal("estimator.early_stopping._CheckForStoppingHook")
class _CheckForStoppingHook(SessionRunHook):
    """Stops when another worker set the flag."""

    def begin(self) -> None:
        self._stop_var = _stop_variable()

    def before_run(self, run_context: Any) -> Any:
        del run_context
        return SessionRunArgs(self._stop_var)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results:
            logging.info("Early stopping requested, suspending run.")
            run_context.request_stop()


@public("estimator.experimental.make_early_stopping_hook")
def make_early_stopping_hook(estimator: Any, should_stop_fn: Any, run_every_secs: Any = 60, run_every_steps: Any = None) -> Any:
    """A hook that stops training when a function says so."""
    if not isinstance(estimator, Estimator):
        raise TypeError(f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}")
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set.")
    if estimator.config.is_chief:
        return _StopOnPredicateHook(should_stop_fn, run_every_secs, run_every_steps)
    return _CheckForStoppingHook()


@internal("estimator.early_stopping.read_eval_metrics")
def read_eval_metrics(eval_dir: Any) -> Any:
    """What evaluations wrote, by step."""
    found: dict[int, dict[str, float]] = {}
    # Before the first evaluation there is no folder.
    for path in sorted(tf.gfile.Glob(os.path.join(eval_dir, "*.tfevents.*"))) if tf.gfile.Exists(eval_dir) else ():
        for event in tf.train.summary_iterator(path):  # type: ignore[attr-defined]
            values = {v.tag: v.simple_value for v in event.summary.value if v.HasField("simple_value")}
            if values:
                found[event.step] = values
    return collections.OrderedDict(sorted(found.items()))


def _threshold_hook(
    estimator: Any,
    metric_name: str,
    threshold: float,
    eval_dir: Any,
    min_steps: int,
    run_every_secs: Any,
    run_every_steps: Any,
    beyond: Any,
    words: str,
) -> Any:
    eval_dir = eval_dir or estimator.eval_dir()

    def should_stop() -> bool:
        for step, metrics in read_eval_metrics(eval_dir).items():
            if step < min_steps:
                continue
            value = metrics[metric_name]
            if beyond(value, threshold):
                logging.info(
                    'At step %s, metric "%s" has value %s which is %s the configured threshold (%s) for early stopping.',
                    step,
                    metric_name,
                    value,
                    words,
                    threshold,
                )
                return True
        return False

    return make_early_stopping_hook(estimator, should_stop, run_every_secs, run_every_steps)


def _no_improvement_hook(
    estimator: Any,
    metric_name: str,
    max_steps_without: int,
    eval_dir: Any,
    min_steps: int,
    run_every_secs: Any,
    run_every_steps: Any,
    better: Any,
    word: str,
) -> Any:
    eval_dir = eval_dir or estimator.eval_dir()

    def should_stop() -> bool:
        best: Any = None
        best_step: Any = None
        for step, metrics in read_eval_metrics(eval_dir).items():
            if step < min_steps:
                continue
            value = metrics[metric_name]
            if best is None or better(value, best):
                best, best_step = value, step
            elif step - best_step >= max_steps_without:
                logging.info(
                    'No %s in metric "%s" for %s steps, which is greater than or equal to max steps (%s) configured for early stopping.',
                    word,
                    metric_name,
                    step - best_step,
                    max_steps_without,
                )
                return True
        return False

    return make_early_stopping_hook(estimator, should_stop, run_every_secs, run_every_steps)


@public("estimator.experimental.stop_if_higher_hook")
def stop_if_higher_hook(
    estimator: Any,
    metric_name: str,
    threshold: float,
    eval_dir: Any = None,
    min_steps: int = 0,
    run_every_secs: Any = 60,
    run_every_steps: Any = None,
) -> Any:
    """Stops when a metric is higher than a threshold."""
    return _threshold_hook(
        estimator, metric_name, threshold, eval_dir, min_steps, run_every_secs, run_every_steps, operator.gt, "higher than"
    )


@public("estimator.experimental.stop_if_lower_hook")
def stop_if_lower_hook(
    estimator: Any,
    metric_name: str,
    threshold: float,
    eval_dir: Any = None,
    min_steps: int = 0,
    run_every_secs: Any = 60,
    run_every_steps: Any = None,
) -> Any:
    """Stops when a metric is lower than a threshold."""
    return _threshold_hook(
        estimator, metric_name, threshold, eval_dir, min_steps, run_every_secs, run_every_steps, operator.lt, "lower than"
    )


@public("estimator.experimental.stop_if_no_increase_hook")
def stop_if_no_increase_hook(
    estimator: Any,
    metric_name: str,
    max_steps_without_increase: int,
    eval_dir: Any = None,
    min_steps: int = 0,
    run_every_secs: Any = 60,
    run_every_steps: Any = None,
) -> Any:
    """Stops when a metric no longer grows."""
    return _no_improvement_hook(
        estimator, metric_name, max_steps_without_increase, eval_dir, min_steps, run_every_secs, run_every_steps, operator.gt, "increase"
    )


@public("estimator.experimental.stop_if_no_decrease_hook")
def stop_if_no_decrease_hook(
    estimator: Any,
    metric_name: str,
    max_steps_without_decrease: int,
    eval_dir: Any = None,
    min_steps: int = 0,
    run_every_secs: Any = 60,
    run_every_steps: Any = None,
) -> Any:
    """Stops when a metric no longer falls."""
    return _no_improvement_hook(
        estimator, metric_name, max_steps_without_decrease, eval_dir, min_steps, run_every_secs, run_every_steps, operator.lt, "decrease"
    )


@internal("estimator.hooks.hooks._StopAtCheckpointStepHook")
class _StopAtCheckpointStepHook(SessionRunHook):
    """Stops a worker once a checkpoint has reached the last step."""

    def __init__(self, model_dir: str, last_step: int, wait_after_file_check_secs: float = 30) -> None:
        if last_step is None:
            raise ValueError("last_step must be specified.")
        if model_dir is None:
            raise ValueError("model_dir must be specified.")
        self._model_dir, self._last_step, self._wait = model_dir, last_step, wait_after_file_check_secs

    def begin(self) -> None:
        self._step = get_or_create_read()
        if self._step is None:
            raise RuntimeError("Global step should be created to use StopAtCheckpointStepHook.")

    def before_run(self, run_context: Any) -> Any:
        return SessionRunArgs(self._step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results + 1 < self._last_step:
            return
        if saved_step(self._model_dir) < self._last_step:
            time.sleep(self._wait)
        else:
            run_context.request_stop()


@public("estimator.experimental.make_stop_at_checkpoint_step_hook")
def make_stop_at_checkpoint_step_hook(estimator: Any, last_step: int, wait_after_file_check_secs: float = 30) -> Any:
    """A hook that stops at a step: the chief by its own count, others by the checkpoint."""
    if estimator.config.is_chief:
        return StopAtStepHook(last_step=last_step)
    return _StopAtCheckpointStepHook(estimator.model_dir, last_step, wait_after_file_check_secs)


@public("estimator.experimental.InMemoryEvaluatorHook", "contrib.estimator.InMemoryEvaluatorHook")
class InMemoryEvaluatorHook(SessionRunHook):
    """Evaluates the model that is being trained, without a checkpoint in between."""

    def __init__(
        self,
        estimator: Any,
        input_fn: Callable[..., Any],
        steps: Any = None,
        hooks: Any = None,
        name: str | None = None,
        every_n_iter: int = 100,
    ) -> None:
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if estimator.config.num_ps_replicas > 0 or estimator.config.num_worker_replicas > 1:
            raise ValueError("InMemoryEvaluator supports only single machine (aka Local) setting.")
        self._estimator, self._input_fn, self._name = estimator, input_fn, name
        self._hooks = checked_hooks(hooks)
        if steps:
            self._hooks.append(StopAfterNEvalsHook(num_evals=steps))
        self._every_n_iter = every_n_iter

    def begin(self) -> None:
        self._count = 0
        self._graph = tf.Graph()
        with self._graph.as_default():
            found = self._estimator._evaluation_graph(self._input_fn, self._hooks, None, self._graph)
            self._scaffold, self._update, self._metrics, self._all_hooks = found
            for custom in ("saver", "init_fn"):
                if getattr(self._scaffold, custom) is not None:
                    raise ValueError(f"InMemoryEvaluator does not support custom {custom}")
            self._evaluated = {v.name: v for v in tf.global_variables()}

    def after_create_session(self, session: Any, coord: Any) -> None:
        if tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS):
            raise ValueError("InMemoryEvaluator does not support saveables other than global variables.")
        self._trained = {v.name: v for v in tf.global_variables() if v.name in self._evaluated}
        self._evaluate(session)

    def _evaluate(self, session: Any) -> None:
        values = session.run(self._trained)

        def load(_: Any, target: Any) -> None:
            for name, value in values.items():
                self._evaluated[name].load(value, target)

        with self._graph.as_default():
            results = evaluate_once(
                None,
                master=self._estimator.config.evaluation_master,
                scaffold=Scaffold(init_fn=load, copy_from_scaffold=self._scaffold),
                eval_ops=self._update,
                final_ops=self._metrics,
                hooks=self._all_hooks,
                config=self._estimator._session_config,
            )
        write_results(self._estimator.eval_dir(self._name), results, results["global_step"])

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._count += 1
        if self._count % self._every_n_iter == 0:
            self._evaluate(run_context.session)

    def end(self, session: Any) -> None:
        self._evaluate(session)
