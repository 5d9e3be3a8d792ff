"""Hooks that follow the global step: stop at one, wait for one, and tell how fast they go."""

from __future__ import annotations

import time
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.keys import GraphKeys
from everflow.platform import logging
from everflow.train.global_step import get_global_step, get_or_create_read
from everflow.train.hooks_timing import SecondOrStepTimer
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook


@internal("training.basic_session_run_hooks.get_or_create_steps_per_run_variable")
def get_or_create_steps_per_run_variable() -> Any:
    """The variable that holds how many training steps one `run` makes; one for each graph."""
    graph = tf.get_default_graph()
    collection = "hooks_steps_per_run"
    found = graph.get_collection(collection)
    if len(found) > 1:
        raise RuntimeError(f"Multiple steps_per_run variables found in collection {collection}.")
    if found:
        return found[0]
    with tf.variable_scope("hooks", reuse=tf.AUTO_REUSE):
        return tf.get_variable(
            "steps_per_run",
            initializer=tf.ones_initializer(),
            shape=[],
            dtype=tf.int32,
            trainable=False,
            collections=[collection, GraphKeys.LOCAL_VARIABLES],
            use_resource=True,
        )


@public("train.StopAtStepHook", "estimator.StopAtStepHook")
class StopAtStepHook(SessionRunHook):
    """Stops after so many steps (`num_steps`) or when the global step is there (`last_step`)."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps = num_steps
        self._last_step = last_step

    def begin(self) -> None:
        self._global_step_tensor = get_global_step()
        if self._global_step_tensor is None:
            raise RuntimeError("Global step should be created to use StopAtStepHook.")

    def after_create_session(self, session: Any, coord: Any) -> None:
        if self._last_step is None:
            assert self._num_steps is not None
            self._last_step = session.run(self._global_step_tensor) + self._num_steps

    def before_run(self, run_context: Any) -> Any:
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        assert self._last_step is not None
        # What was fetched may be from before the step; read it again when it may be the last.
        if run_values.results + 1 >= self._last_step and run_context.session.run(self._global_step_tensor) >= self._last_step:
            run_context.request_stop()


@public("train.StepCounterHook", "estimator.StepCounterHook")
class StepCounterHook(SessionRunHook):
    """Logs and writes to a summary how many steps are made in a second."""

    def __init__(
        self, every_n_steps: int | None = 100, every_n_secs: float | None = None, output_dir: Any = None, summary_writer: Any = None
    ) -> None:
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_steps=every_n_steps, every_secs=every_n_secs)
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._last_global_step: int | None = None
        self._steps_per_run = 1
        self._unchanged = 0

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = tf.summary.FileWriterCache.get(self._output_dir)
        self._global_step_tensor = get_or_create_read()
        if self._global_step_tensor is None:
            raise RuntimeError("Global step should be created to use StepCounterHook.")
        self._summary_tag = get_global_step().op.name + "/sec"

    def before_run(self, run_context: Any) -> Any:
        return SessionRunArgs(self._global_step_tensor)

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        steps_per_sec = elapsed_steps / elapsed_time
        if self._summary_writer is not None:
            summary = tf.Summary(value=[tf.Summary.Value(tag=self._summary_tag, simple_value=steps_per_sec)])
            self._summary_writer.add_summary(summary, global_step)
        logging.info("%s: %g", self._summary_tag, steps_per_sec)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        before = run_values.results
        if self._timer.should_trigger_for_step(before + self._steps_per_run):
            global_step = run_context.session.run(self._global_step_tensor)
            if self._timer.should_trigger_for_step(global_step):
                elapsed_time, elapsed_steps = self._timer.update_last_triggered_step(global_step)
                if elapsed_time is not None:
                    self._log_and_record(elapsed_steps, elapsed_time, global_step)
        if before == self._last_global_step:
            # Another worker may be late; twenty times in a row nobody counts.
            self._unchanged += 1
            if self._unchanged >= 20:
                self._unchanged = 0
                logging.log_first_n(
                    logging.WARN,
                    "It seems that global step (tf.train.get_global_step) has not been increased. Current value (could be "
                    "stable): %s vs previous value: %s. You could increase the global step by passing tf.train.get_global_step() to "
                    "Optimizer.apply_gradients or Optimizer.minimize.",
                    5,
                    before,
                    self._last_global_step,
                )
        else:
            self._unchanged = 0
        self._last_global_step = before


@public("train.GlobalStepWaiterHook", "estimator.GlobalStepWaiterHook")
class GlobalStepWaiterHook(SessionRunHook):
    """Makes a worker wait until the global step is there."""

    def __init__(self, wait_until_step: int) -> None:
        self._wait_until_step = wait_until_step

    def begin(self) -> None:
        self._worker_is_started = False
        self._global_step_tensor = get_or_create_read()
        if self._global_step_tensor is None:
            raise RuntimeError("Global step should be created to use _GlobalStepWaiterHook.")

    def before_run(self, run_context: Any) -> Any:
        if self._worker_is_started:
            return
        if self._wait_until_step <= 0:
            self._worker_is_started = True
            return
        logging.info("Waiting for global step %d before starting training.", self._wait_until_step)
        last_logged_step = 0
        while True:
            current = run_context.session.run(self._global_step_tensor)
            if current >= self._wait_until_step:
                self._worker_is_started = True
                return
            if current - last_logged_step > 1000:
                logging.info("Waiting for global step %d before starting training. Current step is %d.", self._wait_until_step, current)
                last_logged_step = current
            time.sleep(0.5)
