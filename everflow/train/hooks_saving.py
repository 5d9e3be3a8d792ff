"""Hooks that save: checkpoints, summaries and profiles of steps."""

from __future__ import annotations

import os
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.keys import GraphKeys
from everflow.platform import logging
from everflow.runtime.timeline import Timeline
from everflow.train.global_step import get_or_create_read
from everflow.train.hooks_timing import SecondOrStepTimer
from everflow.train.metagraphs.exporting import create_meta_graph_def
from everflow.train.metagraphs.files import write_graph
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook


def _global_step_read(hook: str) -> Any:
    step = get_or_create_read()
    if step is None:
        raise RuntimeError(f"Global step should be created to use {hook}.")
    return step


@public("train.CheckpointSaverListener", "estimator.CheckpointSaverListener")
class CheckpointSaverListener:
    """What a `CheckpointSaverHook` calls around each checkpoint; `after_save` may return True to stop training."""

    def begin(self) -> None:
        """Called once, while the graph can still be changed."""

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Called before a checkpoint is written."""

    def after_save(self, session: Any, global_step_value: int) -> Any:
        """Called after a checkpoint was written."""

    def end(self, session: Any, global_step_value: int) -> None:
        """Called at the end."""


@public("train.CheckpointSaverHook", "estimator.CheckpointSaverHook")
class CheckpointSaverHook(SessionRunHook):
    """Writes a checkpoint at the beginning, every so many steps or seconds, and at the end."""

    def __init__(
        self,
        checkpoint_dir: Any,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
        listeners: Any = None,
    ) -> None:
        logging.info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver = saver
        self._checkpoint_dir = checkpoint_dir
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._listeners = listeners or []
        self._steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        self._summary_writer = tf.summary.FileWriterCache.get(self._checkpoint_dir)
        self._global_step_tensor = _global_step_read("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        global_step = session.run(self._global_step_tensor)
        graph = tf.get_default_graph()
        graph_def = graph.as_graph_def(add_shapes=True)
        write_graph(graph_def, self._checkpoint_dir, "graph.pbtxt")
        saver = self._get_saver()
        self._summary_writer.add_graph(graph)
        self._summary_writer.add_meta_graph(_meta_graph(graph_def, saver.saver_def if saver else None))
        self._save(session, global_step)
        self._timer.update_last_triggered_step(global_step)

    def before_run(self, run_context: Any) -> Any:
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if self._timer.should_trigger_for_step(run_values.results + self._steps_per_run):
            # The fetch may be from before the step.
            global_step = run_context.session.run(self._global_step_tensor)
            if self._timer.should_trigger_for_step(global_step):
                self._timer.update_last_triggered_step(global_step)
                if self._save(run_context.session, global_step):
                    run_context.request_stop()

    def end(self, session: Any) -> None:
        last_step = session.run(self._global_step_tensor)
        if last_step != self._timer.last_triggered_step():
            self._save(session, last_step)
        for listener in self._listeners:
            listener.end(session, last_step)

    def _save(self, session: Any, step: int) -> bool:
        """Writes a checkpoint; whether a listener wants to stop."""
        logging.info("Saving checkpoints for %d into %s.", step, self._save_path)
        for listener in self._listeners:
            listener.before_save(session, step)
        self._get_saver().save(session, self._save_path, global_step=step)
        self._summary_writer.add_session_log(tf.SessionLog(status=tf.SessionLog.CHECKPOINT, checkpoint_path=self._save_path), step)
        should_stop = False
        for listener in self._listeners:
            if listener.after_save(session, step):
                logging.info("A CheckpointSaverListener requested that training be stopped. listener: %s", listener)
                should_stop = True
        return should_stop

    def _get_saver(self) -> Any:
        if self._saver is not None:
            return self._saver
        if self._scaffold is not None:
            return self._scaffold.saver
        savers = tf.get_collection(GraphKeys.SAVERS)
        if not savers:
            raise RuntimeError(
                f"No items in collection {GraphKeys.SAVERS}. Please add a saver to the collection or provide a saver or scaffold."
            )
        if len(savers) > 1:
            raise RuntimeError(
                f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one to use by passing it to the constructor."
            )
        self._saver = savers[0]
        return self._saver


def _meta_graph(graph_def: Any, saver_def: Any) -> Any:
    return create_meta_graph_def(graph_def=graph_def, saver_def=saver_def)


@public("train.SummarySaverHook", "estimator.SummarySaverHook")
class SummarySaverHook(SessionRunHook):
    """Writes summaries every so many steps or seconds."""

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: Any = None,
        summary_writer: Any = None,
        scaffold: Any = None,
        summary_op: Any = None,
    ) -> None:
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op = summary_op
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = tf.summary.FileWriterCache.get(self._output_dir)
        self._next_step: int | None = None
        self._global_step_tensor = _global_step_read("SummarySaverHook")

    def before_run(self, run_context: Any) -> Any:
        self._request_summary = self._next_step is None or self._timer.should_trigger_for_step(self._next_step)
        requests = {"global_step": self._global_step_tensor}
        if self._request_summary and self._get_summary_op() is not None:
            requests["summary"] = self._get_summary_op()
        return SessionRunArgs(requests)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if not self._summary_writer:
            return
        stale = run_values.results["global_step"]
        step = stale + 1
        if self._next_step is None or self._request_summary:
            step = run_context.session.run(self._global_step_tensor)
        if self._next_step is None:
            self._summary_writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), step)
        if self._request_summary:
            self._timer.update_last_triggered_step(step)
            for summary in run_values.results.get("summary", ()):
                self._summary_writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session: Any = None) -> None:
        if self._summary_writer:
            self._summary_writer.flush()

    def _get_summary_op(self) -> Any:
        """A list of summaries to fetch, or None."""
        summary_op = self._summary_op
        if summary_op is None and self._scaffold is not None:
            summary_op = self._scaffold.summary_op
        if summary_op is None:
            return None
        return summary_op if isinstance(summary_op, list) else [summary_op]


@public("train.ProfilerHook", "estimator.ProfilerHook")
class ProfilerHook(SessionRunHook):
    """Writes a timeline of a step, for chrome://tracing, every so many steps or seconds."""

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str = "",
        show_dataflow: bool = True,
        show_memory: bool = False,
    ) -> None:
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._output_file = os.path.join(output_dir, "timeline-{}.json")
        self._file_writer = tf.summary.FileWriterCache.get(output_dir)
        self._show_dataflow = show_dataflow
        self._show_memory = show_memory

    def begin(self) -> None:
        self._next_step: int | None = None
        self._global_step_tensor = _global_step_read("ProfilerHook")

    def before_run(self, run_context: Any) -> Any:
        self._request_summary = self._next_step is not None and self._timer.should_trigger_for_step(self._next_step)
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE) if self._request_summary else None
        return SessionRunArgs({"global_step": self._global_step_tensor}, options=options)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        step = run_values.results["global_step"] + 1
        if self._next_step is None:
            # Counting starts with the first step.
            self._timer.update_last_triggered_step(step - 1)
        if self._request_summary:
            step = run_context.session.run(self._global_step_tensor)
            self._timer.update_last_triggered_step(step)
            self._save(step, run_values.run_metadata.step_stats)
            self._file_writer.add_run_metadata(run_values.run_metadata, f"step_{step}")
        self._next_step = step + 1

    def _save(self, step: int, step_stats: Any) -> None:
        path = self._output_file.format(step)
        logging.info("Saving timeline for %d into '%s'.", step, path)
        with tf.gfile.Open(path, "w") as file:
            file.write(Timeline(step_stats).generate_chrome_trace_format(show_dataflow=self._show_dataflow, show_memory=self._show_memory))
