"""Checkpoints of input pipelines beside those of a model: training goes on with the element after the last one."""

from __future__ import annotations

import os
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.data.iterators import GLOBAL_ITERATORS
from everflow.data.saving import iterator_saveable
from everflow.train.hooks_saving import CheckpointSaverHook
from everflow.train.session_run_hook import SessionRunHook


@public("data.experimental.CheckpointInputPipelineHook", "contrib.data.CheckpointInputPipelineHook")
class CheckpointInputPipelineHook(SessionRunHook):
    """Saves the positions of all iterators as often as the estimator saves its model, under names of their own in its folder, and goes
    back to them when a session begins. Each worker has its own: `input` for the chief, `input_1` and so on for the others."""

    def __init__(self, estimator: Any) -> None:
        config = estimator.config
        worker = getattr(config, "task_id", 0) or 0 if getattr(config, "task_type", "worker") == "worker" else 0
        self._prefix = f"input_{worker}" if worker else "input"
        self._folder = estimator.model_dir
        self._hook = CheckpointSaverHook(
            estimator.model_dir,
            save_secs=config.save_checkpoints_secs,
            save_steps=config.save_checkpoints_steps,
            checkpoint_basename=self._prefix + ".ckpt",
        )

    def begin(self) -> None:
        if self._hook._saver is None:
            handles = tf.get_collection(GLOBAL_ITERATORS)
            if not handles:
                raise ValueError("there is no iterator in this graph whose position could be saved")
            saveables = [iterator_saveable(handle, handle.name) for handle in handles]
            self._hook._saver = _PipelineSaver(saveables, self._prefix)
        self._hook.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        latest = tf.train.latest_checkpoint(self._folder, latest_filename=self._prefix)
        if latest:
            self._hook._saver.restore(session, latest)
            self._hook._timer.update_last_triggered_step(session.run(self._hook._global_step_tensor))
        else:
            self._hook.after_create_session(session, coord)

    def before_run(self, run_context: Any) -> Any:
        return self._hook.before_run(run_context)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._hook.after_run(run_context, run_values)

    def end(self, session: Any) -> None:
        self._hook.end(session)


class _PipelineSaver(tf.train.Saver):  # type: ignore[name-defined, misc]
    """A saver whose list of checkpoints does not mix with the model's."""

    def __init__(self, saveables: list[Any], prefix: str) -> None:
        super().__init__(saveables, sharded=False)
        self._prefix = prefix

    def save(self, sess: Any, save_path: Any, global_step: Any = None, latest_filename: Any = None, *rest: Any, **options: Any) -> Any:
        return super().save(sess, os.fspath(save_path), global_step, latest_filename or self._prefix, *rest, **options)
