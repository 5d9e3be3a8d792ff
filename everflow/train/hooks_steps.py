"""Hooks that follow the global step: stop at one, wait for one, and tell how fast they go."""

from __future__ import annotations

import time
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.keys import GraphKeys
from everflow.platform import logging
from everflow.train.global_step import get_global_step
from everflow.train.hooks_timing import SecondOrStepTimer, due_step, required_step
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


def check_one_limit(num_steps: int | None, last_step: int | None) -> None:
    """Raises unless it was said in one way when to stop."""
    if num_steps is None and last_step is None:
        raise ValueError("One of num_steps or last_step must be specified.")
    if None not in (num_steps, last_step):
        raise ValueError("Only one of num_steps or last_step can be specified.")


@public("train.StopAtStepHook", "estimator.StopAtStepHook")
class StopAtStepHook(SessionRunHook):
    """Stops after so many steps (`num_steps`) or when the global step is there (`last_step`)."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        check_one_limit(num_steps, last_step)
        self._num_steps, self._last_step = num_steps, last_step

    def begin(self) -> None:
        self._global_step_tensor = required_step("StopAtStepHook", get_global_step)

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


def tell_speed(writer: Any, tag: str, steps_per_sec: float, step: int) -> None:
    """Writes how many steps are made in a second, if there is a writer, and logs it."""
    if writer:
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag=tag, simple_value=steps_per_sec)]), step)
    logging.info("%s: %g", tag, steps_per_sec)


@public("train.StepCounterHook", "estimator.StepCounterHook")
class StepCounterHook(SessionRunHook):
    """Logs and writes to a summary how many steps are made in a second."""

    def __init__(
        self, every_n_steps: int | None = 100, every_n_secs: float | None = None, output_dir: Any = None, summary_writer: Any = None
    ) -> None:
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_n_secs, every_n_steps)
        self._output_dir, self._summary_writer = output_dir, summary_writer
        self._set_steps_per_run(1)
        # The last step that was fetched, and how often in a row.
        self._last_global_step: int | None = None
        self._unchanged = 0

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = tf.summary.FileWriterCache.get(self._output_dir)
        self._global_step_tensor = required_step("StepCounterHook")
        self._summary_tag = get_global_step().op.name + "/sec"

    def before_run(self, run_context: Any) -> Any:
        return SessionRunArgs(self._global_step_tensor)

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        tell_speed(self._summary_writer, self._summary_tag, elapsed_steps / elapsed_time, global_step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        fetched = run_values.results
        step = due_step(self._timer, run_context.session, self._global_step_tensor, fetched + self._steps_per_run)
        if step is not None:
            secs, steps = self._timer.update_last_triggered_step(step)
            if secs is not None:
                self._log_and_record(steps, secs, step)
        self._unchanged = self._unchanged + 1 if fetched == self._last_global_step else 0
        # Another worker may be late; twenty times in a row nobody counts.
        if self._unchanged == 20:
            self._unchanged = 0
            logging.log_first_n(
                logging.WARN,
                "It seems that global step (tf.train.get_global_step) has not been increased. Current value (could be "
                "stable): %s vs previous value: %s. You could increase the global step by passing tf.train.get_global_step() to "
                "Optimizer.apply_gradients or Optimizer.minimize.",
                5,
                fetched,
                self._last_global_step,
            )
        self._last_global_step = fetched


@public("train.GlobalStepWaiterHook", "estimator.GlobalStepWaiterHook")
class GlobalStepWaiterHook(SessionRunHook):
    """Makes a worker wait until the global step is there."""

    def __init__(self, wait_until_step: int) -> None:
        self._wait_until_step = wait_until_step

    def begin(self) -> None:
        self._worker_is_started = self._wait_until_step <= 0
        self._global_step_tensor = required_step("_GlobalStepWaiterHook")

    def before_run(self, run_context: Any) -> Any:
        if not self._worker_is_started:
            self._wait(run_context.session)
            self._worker_is_started = True

    def _wait(self, session: Any) -> None:
        waiting = "Waiting for global step %d before starting training."
        logging.info(waiting, self._wait_until_step)
        told = 0
        while (step := session.run(self._global_step_tensor)) < self._wait_until_step:
            if step > told + 1000:
                logging.info(waiting + " Current step is %d.", self._wait_until_step, step)
                told = step
            time.sleep(0.5)
