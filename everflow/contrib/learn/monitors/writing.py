"""Monitors that write: summaries, checkpoints, exports, the pace of training."""

from __future__ import annotations

import os
import time
from typing import Any

import everflow as tf
from everflow.contrib.learn.monitors.base import MODULE, BaseMonitor, EveryN, value_of
from everflow.contrib.learn.monitors.watching import PrintTensor
from everflow.contrib.learn.publishing import learn
from everflow.estimator.estimator import Estimator
from everflow.platform import logging
from everflow.proto.tensorflow.core.framework.summary_pb2 import Summary
from everflow.proto.tensorflow.core.util.event_pb2 import SessionLog
from everflow.train.checkpoints import management


@learn(MODULE, "SummarySaver")
class SummarySaver(EveryN):
    """Writes summaries."""

    def __init__(
        self, summary_op: Any, save_steps: int = 100, output_dir: Any = None, summary_writer: Any = None, scaffold: Any = None
    ) -> None:
        super().__init__(every_n_steps=save_steps)
        self._summary_op, self._summary_writer, self._scaffold = summary_op, summary_writer, scaffold
        if summary_writer is None and output_dir:
            self._summary_writer = tf.summary.FileWriter(output_dir)

    def set_estimator(self, estimator: Any) -> None:
        """Writes into the folder of the estimator where none was given."""
        super().set_estimator(estimator)
        if self._summary_writer is None:
            self._summary_writer = tf.summary.FileWriter(estimator.model_dir)

    def every_n_step_begin(self, step: int) -> Any:
        """Asks for the summaries."""
        super().every_n_step_begin(step)
        if self._summary_op is None and self._scaffold is not None:
            self._summary_op = self._scaffold.summary_op
        return [] if self._summary_op is None else [self._summary_op]

    def every_n_step_end(self, step: int, outputs: Any) -> Any:
        """Writes them."""
        super().every_n_step_end(step, outputs)
        if self._summary_op is not None and self._summary_writer:
            self._summary_writer.add_summary(value_of(outputs, self._summary_op), step)
        return False

    def end(self, session: Any = None) -> None:
        """Brings all to the file."""
        super().end(session=session)
        if self._summary_writer:
            self._summary_writer.flush()


@learn(MODULE, "StepCounter")
class StepCounter(EveryN):
    """Writes how many steps a second takes."""

    def __init__(self, every_n_steps: int = 100, output_dir: Any = None, summary_writer: Any = None) -> None:
        super().__init__(every_n_steps=every_n_steps)
        self._last_reported_step: int | None = None
        self._last_reported_time = 0.0
        self._summary_writer = summary_writer
        if summary_writer is None and output_dir:
            self._summary_writer = tf.summary.FileWriterCache.get(output_dir)

    def set_estimator(self, estimator: Any) -> None:
        """Writes into the folder of the estimator where none was given."""
        super().set_estimator(estimator)
        if self._summary_writer is None:
            self._summary_writer = tf.summary.FileWriterCache.get(estimator.model_dir)

    def every_n_step_end(self, current_step: int, outputs: Any) -> Any:
        """Writes the pace since the time before."""
        now = time.time()
        if self._last_reported_step is not None and self._summary_writer:
            pace = (current_step - self._last_reported_step) / (now - self._last_reported_time)
            self._summary_writer.add_summary(Summary(value=[Summary.Value(tag="global_step/sec", simple_value=pace)]), current_step)
        self._last_reported_step, self._last_reported_time = current_step, now


@learn(MODULE, "CheckpointSaver")
class CheckpointSaver(BaseMonitor):
    """Saves checkpoints after the first step, at the end, and every so many steps or seconds."""

    def __init__(
        self,
        checkpoint_dir: Any,
        save_secs: Any = None,
        save_steps: Any = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
    ) -> None:
        logging.info("Create CheckpointSaver.")
        super().__init__()
        self._saver, self._scaffold = saver, scaffold
        self._summary_writer = tf.summary.FileWriterCache.get(checkpoint_dir)
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._save_secs, self._save_steps = save_secs, save_steps
        if save_steps is None and save_secs is None:
            raise ValueError("Either save_steps or save_secs should be provided")
        if save_steps is not None and save_secs is not None:
            raise ValueError("Can not provide both save_steps and save_secs.")
        self._forget()

    def _forget(self) -> None:
        self._last_saved_time: float | None = None
        self._last_begin_step: int | None = None
        self._last_saved_step: int | None = None

    def begin(self, max_steps: int | None = None) -> None:
        """Nothing is saved yet."""
        super().begin(max_steps)
        self._forget()

    def step_begin(self, step: int) -> Any:
        """Notes the step."""
        super().step_begin(step)
        self._last_begin_step = step

    def post_step(self, step: int, session: Any) -> None:
        """Saves where it is time."""
        super().post_step(step, session)
        if self._is_time(step):
            self._save(step, session)

    def _is_time(self, step: int) -> bool:
        if self._last_saved_time is None or self._last_saved_step is None:
            return True
        if self._save_steps is None:
            return time.time() >= self._last_saved_time + self._save_secs
        return step >= self._last_saved_step + self._save_steps

    def end(self, session: Any = None) -> None:
        """Saves the last step."""
        super().end(session)
        self._save(self._last_begin_step, session)

    def _save(self, step: Any, session: Any) -> None:
        if step == self._last_saved_step:
            return
        logging.info("Saving checkpoints for %d into %s.", step, self._save_path)
        self._last_saved_time, self._last_saved_step = time.time(), step
        saver = self._scaffold.saver if self._saver is None else self._saver
        saver.save(session, self._save_path, global_step=step)
        log = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._save_path)
        self._summary_writer.add_session_log(log, step)


@learn(MODULE, "ExportMonitor")
class ExportMonitor(EveryN):
    """Exports the model of an estimator as a session bundle."""

    def __init__(
        self,
        every_n_steps: int,
        export_dir: Any,
        input_fn: Any = None,
        input_feature_key: Any = None,
        exports_to_keep: Any = 5,
        signature_fn: Any = None,
        default_batch_size: Any = 1,
    ) -> None:
        super().__init__(every_n_steps=every_n_steps)
        self._export_dir, self._exports_to_keep, self._signature_fn = export_dir, exports_to_keep, signature_fn
        self._input_fn, self._input_feature_key = input_fn, input_feature_key
        self._default_batch_size = default_batch_size
        self._last_export_dir: Any = None

    @property
    def export_dir(self) -> Any:
        """Where exports go."""
        return self._export_dir

    @property
    def exports_to_keep(self) -> Any:
        """How many stay."""
        return self._exports_to_keep

    @property
    def signature_fn(self) -> Any:
        """What makes the signatures."""
        return self._signature_fn

    @property
    def last_export_dir(self) -> Any:
        """The newest export."""
        return self._last_export_dir

    def _export(self, skipped: str) -> None:
        if isinstance(self._estimator, Estimator):
            raise ValueError(
                "ExportMonitor does not support `tf.estimator.Estimator. `. Please pass an ExportStrategy to Experiment instead."
            )
        try:
            self._last_export_dir = self._estimator.export(
                self.export_dir,
                exports_to_keep=self.exports_to_keep,
                signature_fn=self.signature_fn,
                input_fn=self._input_fn,
                default_batch_size=self._default_batch_size,
                input_feature_key=self._input_feature_key,
                use_deprecated_input_fn=self._input_fn is None,
            )
        except RuntimeError:
            logging.info(skipped)

    def every_n_step_end(self, step: int, outputs: Any) -> Any:
        """Exports the latest checkpoint, unless it was."""
        super().every_n_step_end(step, outputs)
        self._export("Skipping exporting because the existing checkpoint has already been exported. Consider exporting less frequently.")

    def end(self, session: Any = None) -> None:
        """Exports the last checkpoint, if there is one."""
        super().end(session=session)
        if management.latest_checkpoint(self._estimator.model_dir) is None:
            logging.info("Skipping export at the end since model has not been saved yet.")
            return
        self._export("Skipping exporting for the same step.")


@learn(MODULE, "get_default_monitors")
def get_default_monitors(
    loss_op: Any = None, summary_op: Any = None, save_summary_steps: int = 100, output_dir: Any = None, summary_writer: Any = None
) -> list[Any]:
    """Monitors that log the loss and write summaries."""
    found: list[Any] = []
    if loss_op is not None:
        found.append(PrintTensor(tensor_names={"loss": loss_op.name}))
    if summary_op is not None:
        found.append(SummarySaver(summary_op, save_summary_steps, output_dir, summary_writer))
    return found
