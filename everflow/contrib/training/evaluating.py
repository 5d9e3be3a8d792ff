"""Evaluation of checkpoints as they appear, and summaries at its end."""

from __future__ import annotations

import time
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.platform import logging
from everflow.train.checkpoints.waiting import checkpoints_iterator
from everflow.train.evaluation import counted, get_or_create_eval_step, watch_steps
from everflow.train.global_step import get_or_create_global_step
from everflow.train.global_step import global_step as step_value
from everflow.train.hooks_feeding import FinalOpsHook
from everflow.train.monitored_session import ChiefSessionCreator, MonitoredSession
from everflow.train.session_run_hook import SessionRunHook


@public("contrib.training.SummaryAtEndHook")
class SummaryAtEndHook(SessionRunHook):
    """Writes summaries once, when a session ends."""

    def __init__(
        self, log_dir: Any = None, summary_writer: Any = None, summary_op: Any = None, feed_dict: dict[Any, Any] | None = None
    ) -> None:
        if log_dir is None and summary_writer is None:
            raise ValueError("One of log_dir or summary_writer should be used.")
        self._log_dir, self._summary_writer = log_dir, summary_writer
        self._summary_op, self._replace_summary_op = summary_op, summary_op is None
        self._feed_dict = feed_dict

    def begin(self) -> None:
        if self._replace_summary_op:
            # Summaries may have been added since the time before.
            self._summary_op = tf.summary.merge_all()
        self._global_step = get_or_create_global_step()

    def after_create_session(self, session: Any, coord: Any) -> None:
        if self._summary_writer is None and self._log_dir:
            self._summary_writer = tf.summary.FileWriterCache.get(self._log_dir)

    def end(self, session: Any) -> None:
        if self._summary_op is not None:
            step = step_value(session, self._global_step)
            summary = session.run(self._summary_op, self._feed_dict)
            if self._summary_writer:
                self._summary_writer.add_summary(summary, step)
        if self._summary_writer:
            self._summary_writer.flush()


def _tell(what: str) -> None:
    logging.info(f"{what} evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime()))


@public("contrib.training.evaluate_repeatedly")
def evaluate_repeatedly(
    checkpoint_dir: Any,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: dict[Any, Any] | None = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    eval_interval_secs: float = 60,
    hooks: Any = None,
    config: Any = None,
    max_number_of_evaluations: int | None = None,
    timeout: float | None = None,
    timeout_fn: Any = None,
) -> Any:
    """Evaluates each new checkpoint and gives the values of the final ops of the last one."""
    get_or_create_eval_step()
    hooks = list(hooks or [])
    if eval_ops is not None:
        eval_ops = counted(eval_ops)
        watch_steps(hooks, eval_ops)
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    hooks.append(final)
    evaluations = 0
    for path in checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn):
        creator = ChiefSessionCreator(scaffold=scaffold, checkpoint_filename_with_path=path, master=master, config=config)
        with MonitoredSession(session_creator=creator, hooks=hooks) as session:
            _tell("Starting")
            if eval_ops is not None:
                while not session.should_stop():
                    session.run(eval_ops, feed_dict)
            _tell("Finished")
        evaluations += 1
        if max_number_of_evaluations is not None and evaluations >= max_number_of_evaluations:
            break
    return final.final_ops_values
