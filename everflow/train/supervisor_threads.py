"""The threads of a Supervisor: summaries, step counts and checkpoints at fixed times."""

from __future__ import annotations

import time
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.platform import logging
from everflow.train.coordinator import LooperThread
from everflow.train.global_step import global_step as step_value


@internal("training.supervisor.SVSummaryThread")
class SVSummaryThread(LooperThread):
    """Computes and writes the summaries."""

    def __init__(self, sv: Any, sess: Any) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv = sv
        self._sess = sess

    def run_loop(self) -> None:
        if self._sv.global_step is not None:
            summaries, step = self._sess.run([self._sv.summary_op, self._sv.global_step])
        else:
            summaries, step = self._sess.run(self._sv.summary_op), None
        if self._sv.summary_writer:
            logging.info("Recording summary at step %s.", step)
            self._sv.summary_writer.add_summary(summaries, step)


@internal("training.supervisor.SVStepCounterThread")
class SVStepCounterThread(LooperThread):
    """Writes how many steps are made in a second."""

    def __init__(self, sv: Any, sess: Any, step_counter: Any = None) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv = sv
        self._sess = sess
        self._last_time = 0.0
        self._last_step = 0
        self._step_counter = sv.global_step if step_counter is None else step_counter
        self._summary_tag = f"{self._step_counter.op.name}/sec"

    def start_loop(self) -> None:
        self._last_time = time.time()
        self._last_step = step_value(self._sess, self._step_counter)

    def run_loop(self) -> None:
        current = step_value(self._sess, self._step_counter)
        now = time.time()
        added_steps, self._last_step = current - self._last_step, current
        elapsed, self._last_time = now - self._last_time, now
        steps_per_sec = added_steps / elapsed if elapsed > 0 else float("inf")
        if self._sv.summary_writer:
            summary = tf.Summary(value=[tf.Summary.Value(tag=self._summary_tag, simple_value=steps_per_sec)])
            self._sv.summary_writer.add_summary(summary, current)
        logging.info("%s: %g", self._summary_tag, steps_per_sec)


@internal("training.supervisor.SVTimerCheckpointThread")
class SVTimerCheckpointThread(LooperThread):
    """Writes checkpoints."""

    def __init__(self, sv: Any, sess: Any) -> None:
        super().__init__(sv.coord, sv.save_model_secs)
        self._sv = sv
        self._sess = sess

    def run_loop(self) -> None:
        logging.info("Saving checkpoint to path %s", self._sv.save_path)
        self._sv.saver.save(self._sess, self._sv.save_path, global_step=self._sv.global_step)
        if self._sv.summary_writer and self._sv.global_step is not None:
            self._sv.summary_writer.add_session_log(
                tf.SessionLog(status=tf.SessionLog.CHECKPOINT, checkpoint_path=self._sv.save_path),
                step_value(self._sess, self._sv.global_step),
            )
