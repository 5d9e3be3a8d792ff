"""Hooks that tell what happens: values of tensors, and losses that are no numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.platform import logging
from everflow.train.hooks_timing import NeverTriggerTimer, SecondOrStepTimer
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook


@internal("training.basic_session_run_hooks._as_graph_element")
def graph_element(obj: Any) -> Any:
    """The tensor, operation or variable that an object or a name stands for."""
    graph = tf.get_default_graph()
    if not isinstance(obj, str):
        if not hasattr(obj, "graph") or obj.graph is not graph:
            raise ValueError(f"Passed {obj} should have graph attribute that is equal to current graph {graph}.")
        return obj
    if ":" in obj:
        return graph.as_graph_element(obj)
    element = graph.as_graph_element(obj + ":0")
    try:
        graph.as_graph_element(obj + ":1")
    except (KeyError, ValueError):
        return element
    raise ValueError(f"Name {obj} is ambiguous, as this `Operation` has multiple outputs (at least 2).")


@public("train.LoggingTensorHook", "estimator.LoggingTensorHook")
class LoggingTensorHook(SessionRunHook):
    """Logs the values of tensors every so many steps or seconds, or at the end.

    `LoggingTensorHook({"loss": loss}, every_n_iter=100)` logs `loss = 0.25 (1.234 sec)`.
    """

    def __init__(
        self, tensors: Any, every_n_iter: int | None = None, every_n_secs: float | None = None, at_end: bool = False, formatter: Any = None
    ) -> None:
        rhythms = (every_n_iter is not None) + (every_n_secs is not None)
        if rhythms > 1 or not (rhythms or at_end):
            raise ValueError("either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.")
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        tagged = isinstance(tensors, dict)
        self._tag_order = sorted(tensors) if tagged else tensors
        self._tensors = tensors if tagged else dict(zip(tensors, tensors))
        self._timer: Any = SecondOrStepTimer(every_n_secs, every_n_iter) if rhythms else NeverTriggerTimer()
        self._formatter, self._log_at_end = formatter, at_end

    def begin(self) -> None:
        self._timer.reset()
        self._iter_count = 0
        self._current_tensors = {tag: graph_element(tensor) for tag, tensor in self._tensors.items()}

    def before_run(self, run_context: Any) -> Any:
        self._should_trigger = self._timer.should_trigger_for_step(self._iter_count)
        return SessionRunArgs(self._current_tensors) if self._should_trigger else None

    def _log_tensors(self, tensor_values: Any) -> None:
        with np.printoptions(suppress=True):
            elapsed_secs, _ = self._timer.update_last_triggered_step(self._iter_count)
            if self._formatter:
                logging.info(self._formatter(tensor_values))
                return
            shown = ", ".join(f"{tag} = {tensor_values[tag]!s}" for tag in self._tag_order)
            if elapsed_secs is not None:
                logging.info("%s (%.3f sec)", shown, elapsed_secs)
            else:
                logging.info("%s", shown)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if self._should_trigger:
            self._log_tensors(run_values.results)
        self._iter_count += 1

    def end(self, session: Any) -> None:
        if self._log_at_end:
            self._log_tensors(session.run(self._current_tensors))


@public("train.NanLossDuringTrainingError", "estimator.NanLossDuringTrainingError")
class NanLossDuringTrainingError(RuntimeError):
    """A loss became NaN."""

    def __str__(self) -> str:
        return "NaN loss during training."


@public("train.NanTensorHook", "estimator.NanTensorHook")
class NanTensorHook(SessionRunHook):
    """Stops training, by an error or quietly, when a loss is NaN."""

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True) -> None:
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def before_run(self, run_context: Any) -> Any:
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if not np.isnan(run_values.results):
            return
        failure = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            logging.error(failure)
            raise NanLossDuringTrainingError
        logging.warning(failure)
        run_context.request_stop()
