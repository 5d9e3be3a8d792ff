"""Hooks that feed each run, and that fetch something at the end."""

from __future__ import annotations

from typing import Any

from everflow import errors
from everflow.api import public
from everflow.platform import logging
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook


@public("train.FeedFnHook", "estimator.FeedFnHook")
class FeedFnHook(SessionRunHook):
    """Feeds each run with what a function gives."""

    def __init__(self, feed_fn: Any) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context: Any) -> Any:
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())


@public("train.FinalOpsHook", "estimator.FinalOpsHook")
class FinalOpsHook(SessionRunHook):
    """Runs ops when the session ends."""

    def __init__(self, final_ops: Any, final_ops_feed_dict: Any = None) -> None:
        self._final_ops = final_ops
        self._final_ops_feed_dict = final_ops_feed_dict
        self._final_ops_values: Any = None

    @property
    def final_ops_values(self) -> Any:
        return self._final_ops_values

    def end(self, session: Any) -> None:
        if self._final_ops is None:
            return
        try:
            self._final_ops_values = session.run(self._final_ops, feed_dict=self._final_ops_feed_dict)
        except (errors.OutOfRangeError, StopIteration):
            logging.warning(
                "The ops of FinalOpsHook ran out of input: they have a dependency back to some input source, which should not "
                "happen. Of a metric's two ops pass the value op here, which only reads variables; the update op, which "
                "reads another batch, belongs to the steps."
            )
            raise
