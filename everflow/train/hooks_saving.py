"""Hooks that save: checkpoints, summaries and profiles of steps."""

from __future__ import annotations

import os
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.keys import GraphKeys
from everflow.platform import logging
from everflow.runtime.timeline import Timeline
from everflow.train.hooks_timing import SecondOrStepTimer, due_step, required_step
from everflow.train.metagraphs.exporting import create_meta_graph_def
from everflow.train.metagraphs.files import write_graph
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook


def note_checkpoint(writer: Any, path: str, step: int) -> None:
    """Writes an event that says where a checkpoint is."""
    writer.add_session_log(tf.SessionLog(status=tf.SessionLog.CHECKPOINT, checkpoint_path=path), step)


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
        if not (saver is None or scaffold is None):
            raise ValueError("You cannot provide both saver and scaffold.")
        logging.info("Create CheckpointSaverHook.")
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._checkpoint_dir, self._save_path = checkpoint_dir, os.path.join(checkpoint_dir, checkpoint_basename)
        self._saver, self._scaffold = saver, scaffold
        self._listeners = listeners or []
        self._set_steps_per_run(1)

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        self._summary_writer = tf.summary.FileWriterCache.get(self._checkpoint_dir)
        self._global_step_tensor = required_step("CheckpointSaverHook")
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
        session = run_context.session
        step = due_step(self._timer, session, self._global_step_tensor, run_values.results + self._steps_per_run)
        if step is not None:
            self._timer.update_last_triggered_step(step)
            if self._save(session, step):
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
        note_checkpoint(self._summary_writer, self._save_path, step)
        satisfied = [listener for listener in self._listeners if listener.after_save(session, step)]
        for listener in satisfied:
            logging.info("A CheckpointSaverListener requested that training be stopped. listener: %s", listener)
        return bool(satisfied)

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


class _SamplingHook(SessionRunHook):
    """Looks closer at some of the runs: at those that its timer picks for the step that they are expected to make."""

    _timer: SecondOrStepTimer
    _hook: str
    # Whether the first run, of which nobody knows the step, is one of them.
    _takes_the_first: bool

    def begin(self) -> None:
        self._next_step: int | None = None
        self._global_step_tensor = required_step(self._hook)

    def _choose(self) -> bool:
        """Whether the run that comes is to be looked at."""
        expected = self._next_step
        self._request_summary = self._takes_the_first if expected is None else self._timer.should_trigger_for_step(expected)
        return self._request_summary

    def after_run(self, run_context: Any, run_values: Any) -> None:
        before = run_values.results["global_step"]
        step = run_context.session.run(self._global_step_tensor) if self._request_summary else before + 1
        if self._next_step is None:
            self._started(before, step)
        if self._request_summary:
            self._timer.update_last_triggered_step(step)
            self._look(step, run_values)
        self._next_step = step + 1

    def _started(self, before: int, step: int) -> None:
        """Called after the first run, with the steps before and after it."""
        raise NotImplementedError

    def _look(self, step: int, run_values: Any) -> None:
        """Called after a run that was looked at."""
        raise NotImplementedError


@public("train.SummarySaverHook", "estimator.SummarySaverHook")
class SummarySaverHook(_SamplingHook):
    """Writes summaries every so many steps or seconds."""

    _hook = "SummarySaverHook"
    _takes_the_first = True

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
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._summary_op, self._scaffold = summary_op, scaffold
        self._summary_writer, self._output_dir = summary_writer, output_dir

    def begin(self) -> None:
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = tf.summary.FileWriterCache.get(self._output_dir)
        super().begin()

    def before_run(self, run_context: Any) -> Any:
        wanted = {"global_step": self._global_step_tensor}
        summaries = self._get_summary_op() if self._choose() else None
        return SessionRunArgs(wanted if summaries is None else {**wanted, "summary": summaries})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if self._summary_writer:
            super().after_run(run_context, run_values)

    def _started(self, before: int, step: int) -> None:
        self._summary_writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), step)

    def _look(self, step: int, run_values: Any) -> None:
        for summary in run_values.results.get("summary", ()):
            self._summary_writer.add_summary(summary, step)

    def end(self, session: Any = None) -> None:
        if self._summary_writer:
            self._summary_writer.flush()

    def _get_summary_op(self) -> Any:
        """A list of summaries to fetch, or None."""
        found = self._summary_op
        if found is None and self._scaffold is not None:
            found = self._scaffold.summary_op
        return found if found is None or isinstance(found, list) else [found]


@public("train.ProfilerHook", "estimator.ProfilerHook")
class ProfilerHook(_SamplingHook):
    """Writes a timeline of a step, for chrome://tracing, every so many steps or seconds."""

    _hook = "ProfilerHook"
    _takes_the_first = False

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str = "",
        show_dataflow: bool = True,
        show_memory: bool = False,
    ) -> None:
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._file_writer = tf.summary.FileWriterCache.get(output_dir)
        self._output_file = os.path.join(output_dir, "timeline-{}.json")
        self._shown = {"show_dataflow": show_dataflow, "show_memory": show_memory}

    def before_run(self, run_context: Any) -> Any:
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE) if self._choose() else None
        return SessionRunArgs({"global_step": self._global_step_tensor}, options=options)

    def _started(self, before: int, step: int) -> None:
        self._timer.update_last_triggered_step(before)

    def _look(self, step: int, run_values: Any) -> None:
        self._save(step, run_values.run_metadata.step_stats)
        self._file_writer.add_run_metadata(run_values.run_metadata, f"step_{step}")

    def _save(self, step: int, step_stats: Any) -> None:
        path = self._output_file.format(step)
        logging.info("Saving timeline for %d into '%s'.", step, path)
        with tf.gfile.Open(path, "w") as file:
            file.write(Timeline(step_stats).generate_chrome_trace_format(**self._shown))
