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
        except (errors.OutOfRangeError, StopIteration) as e:
            logging.warning("An OutOfRangeError or StopIteration exception is raised by the code in FinalOpsHook. This typically means the "
                            "Ops running by the FinalOpsHook have a dependency back to some input source, which should not happen. For "
                            "example, for metrics in tf.estimator.Estimator, all metrics functions return two Ops: `value_op` and  "
                            "`update_op`. Estimator.evaluate calls the `update_op` for each batch of the data in input source and, once it "
                            "is exhausted, it call the `value_op` to get the metric values. The `value_op` here should have dependency back "
                            "to variables reading only, rather than reading another batch from input. Otherwise, the `value_op`, executed "
                            "by `FinalOpsHook`, triggers another data reading, which ends OutOfRangeError/StopIteration. Please fix that.")
            raise e
