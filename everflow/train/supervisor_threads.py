"""The threads of a Supervisor: summaries, step counts and checkpoints at fixed times."""

from __future__ import annotations

import time
from typing import Any

from everflow.api import internal
from everflow.platform import logging
from everflow.train.coordinator import LooperThread
from everflow.train.global_step import global_step as step_value
from everflow.train.hooks_saving import note_checkpoint
from everflow.train.hooks_steps import tell_speed


class _ServiceThread(LooperThread):
    """Does something with a supervisor's session every so many seconds."""

    def __init__(self, sv: Any, sess: Any, every_secs: float) -> None:
        super().__init__(sv.coord, every_secs)
        self._sv = sv
        self._sess = sess


@internal("training.supervisor.SVSummaryThread")
class SVSummaryThread(_ServiceThread):
    """Computes and writes the summaries."""

    def __init__(self, sv: Any, sess: Any) -> None:
        super().__init__(sv, sess, sv.save_summaries_secs)

    def run_loop(self) -> None:
        sv = self._sv
        counted = [] if sv.global_step is None else [sv.global_step]
        summaries, *steps = self._sess.run([sv.summary_op, *counted])
        step = steps[0] if steps else None
        if sv.summary_writer:
            logging.info("Recording summary at step %s.", step)
            sv.summary_writer.add_summary(summaries, step)


@internal("training.supervisor.SVStepCounterThread")
class SVStepCounterThread(_ServiceThread):
    """Writes how many steps are made in a second."""

    def __init__(self, sv: Any, sess: Any, step_counter: Any = None) -> None:
        super().__init__(sv, sess, sv.save_summaries_secs)
        self._step_counter = sv.global_step if step_counter is None else step_counter
        self._summary_tag = f"{self._step_counter.op.name}/sec"
        self._last = 0, 0.0

    def _note(self) -> tuple[int, float]:
        """The step and the time, which are kept for the next turn."""
        self._last = step_value(self._sess, self._step_counter), time.time()
        return self._last

    def start_loop(self) -> None:
        self._note()

    def run_loop(self) -> None:
        last_step, last_time = self._last
        step, now = self._note()
        speed = (step - last_step) / (now - last_time) if now > last_time else float("inf")
        tell_speed(self._sv.summary_writer, self._summary_tag, speed, step)


@internal("training.supervisor.SVTimerCheckpointThread")
class SVTimerCheckpointThread(_ServiceThread):
    """Writes checkpoints."""

    def __init__(self, sv: Any, sess: Any) -> None:
        super().__init__(sv, sess, sv.save_model_secs)

    def run_loop(self) -> None:
        sv, path, step = self._sv, self._sv.save_path, self._sv.global_step
        logging.info("Saving checkpoint to path %s", path)
        sv.saver.save(self._sess, path, global_step=step)
        if sv.summary_writer and step is not None:
            note_checkpoint(sv.summary_writer, path, step_value(self._sess, step))
