"""tf.contrib.learn.graph_actions: training, evaluation and inference of graphs, by supervisors and monitors."""

from __future__ import annotations

import contextlib
import itertools
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import everflow as tf
from everflow.contrib.learn.monitors.watching import NanLossDuringTrainingError
from everflow.contrib.learn.monitors.writing import get_default_monitors
from everflow.contrib.learn.publishing import learn
from everflow.graph.keys import GraphKeys
from everflow.graph.tensor import Tensor
from everflow.ops.variables import resource_sets
from everflow.platform import logging
from everflow.proto.tensorflow.core.framework import summary_pb2
from everflow.train import coordinator
from everflow.train.checkpoints.reader import load_variable
from everflow.train.checkpoints.saver import Saver
from everflow.train.global_step import assert_or_get_global_step
from everflow.train.queue_runners import start_queue_runners
from everflow.train.session_manager import SessionManager
from everflow.train.supervisor import Supervisor

_MODULE = "graph_actions"
# Programs watch the coordinators of evaluations by the module that makes them.
learn(_MODULE, "coordinator")(coordinator)
# How long threads may take to stop.
_GRACE_SECONDS = 120


@learn(_MODULE, "clear_summary_writers")
def clear_summary_writers() -> None:
    """Closes the writers of all folders."""
    tf.summary.FileWriterCache.clear()


@learn(_MODULE, "get_summary_writer")
def get_summary_writer(logdir: Any) -> Any:
    """The writer of a folder, the same each time."""
    return tf.summary.FileWriterCache.get(logdir)


def _saver(graph: Any, keep_checkpoint_max: int = 5) -> Any:
    saved = graph.get_collection(GraphKeys.GLOBAL_VARIABLES) + graph.get_collection(GraphKeys.SAVEABLE_OBJECTS)
    return Saver(saved, sharded=True, max_to_keep=keep_checkpoint_max) if saved else None


def _restore(session: Any, graph: Any, checkpoint_path: Any, saver: Any = None) -> None:
    logging.info("Loading model from checkpoint: %s.", checkpoint_path)
    saver = saver or _saver(graph)
    if saver:
        saver.restore(session, checkpoint_path)
    else:
        logging.info("No variables found in graph, not creating Saver() object.")


def _run_with_monitors(session: Any, step: int, tensors: list[Any], feed_dict: Any, monitors: Any) -> tuple[dict[str, Any], bool]:
    """A step with what the monitors ask for: its values by name, and whether one of them says stop."""
    wanted = list(tensors)
    for monitor in monitors:
        wanted += monitor.step_begin(step)
    wanted = list(dict.fromkeys(wanted))
    values = session.run(wanted, feed_dict=feed_dict)
    outputs = {tensor.name if isinstance(tensor, Tensor) else tensor: value for tensor, value in zip(wanted, values)}
    return outputs, any([monitor.step_end(step, outputs) for monitor in monitors])


@learn(_MODULE, "train", shown=True)
def train(
    graph: Any,
    output_dir: Any,
    train_op: Any,
    loss_op: Any,
    global_step_tensor: Any = None,
    init_op: Any = None,
    init_feed_dict: Any = None,
    init_fn: Any = None,
    log_every_steps: int = 10,
    supervisor_is_chief: bool = True,
    supervisor_master: str = "",
    supervisor_save_model_secs: Any = 600,
    keep_checkpoint_max: int = 5,
    supervisor_save_summaries_steps: int = 100,
    feed_fn: Any = None,
    steps: Any = None,
    fail_on_nan_loss: bool = True,
    monitors: Any = None,
    max_steps: Any = None,
) -> Any:
    """Trains until the input ends, a monitor says stop, or so many steps are done. The last loss."""
    if steps is not None and max_steps is not None:
        raise ValueError("Can not provide both steps and max_steps.")
    if not output_dir:
        raise ValueError(f"Output directory should be non-empty {output_dir}.")
    if train_op is None:
        raise ValueError("Missing train_op.")
    if loss_op is None:
        raise ValueError("Missing loss_op.")
    while True:
        with graph.as_default():
            step = assert_or_get_global_step(graph, global_step_tensor)
            if step is None:
                raise ValueError('No "global_step" was provided or found in the graph.')
            writer = get_summary_writer(output_dir) if supervisor_is_chief else None
            watching = _monitors(monitors, loss_op, supervisor_save_summaries_steps, writer, supervisor_is_chief)
            last = max_steps
            if last is None and steps:
                last = _saved_step(output_dir, step) + steps
            for monitor in watching:
                monitor.begin(max_steps=last)
        supervisor = Supervisor(
            graph,
            init_op=init_op or Supervisor.USE_DEFAULT,
            init_feed_dict=init_feed_dict,
            is_chief=supervisor_is_chief,
            logdir=output_dir,
            saver=_saver(graph, keep_checkpoint_max),
            global_step=step,
            summary_op=None,
            summary_writer=writer,
            save_model_secs=supervisor_save_model_secs,
            init_fn=init_fn,
        )
        try:
            session = supervisor.PrepareSession(master=supervisor_master, start_standard_services=True)
            supervisor.StartQueueRunners(session)
            with session:
                loop = _Loop(supervisor, session, step, watching, last, log_every_steps, fail_on_nan_loss, supervisor_is_chief)
                return loop.run(train_op, loss_op, feed_fn)
        except tf.errors.AbortedError:
            logging.warning("Training got Aborted error. Keep training.")


def _monitors(monitors: Any, loss_op: Any, save_summaries_steps: int, writer: Any, is_chief: bool) -> list[Any]:
    if not is_chief:
        return [monitor for monitor in monitors or () if monitor.run_on_all_workers]
    if monitors:
        return monitors
    return get_default_monitors(loss_op, _summary_op(), save_summaries_steps, summary_writer=writer)


def _summary_op() -> Any:
    """The op of all summaries, made once for each graph."""
    found = tf.get_collection(GraphKeys.SUMMARY_OP)
    if found and found[0] is not None:
        return found[0]
    merged = tf.summary.merge_all()
    if merged is not None:
        tf.add_to_collection(GraphKeys.SUMMARY_OP, merged)
    return merged


def _saved_step(output_dir: Any, step: Any) -> int:
    try:
        return int(load_variable(output_dir, step.name))
    except (tf.errors.NotFoundError, ValueError):
        return 0


class _Loop:
    """Steps of training under a supervisor."""

    def __init__(
        self,
        supervisor: Any,
        session: Any,
        step: Any,
        monitors: list[Any],
        max_steps: Any,
        log_every_steps: int,
        fail_on_nan_loss: bool,
        is_chief: bool,
    ) -> None:
        self._supervisor, self._session, self._step, self._monitors = supervisor, session, step, monitors
        self._max_steps, self._log_every_steps = max_steps, log_every_steps
        self._fail_on_nan_loss, self._is_chief = fail_on_nan_loss, is_chief

    def run(self, train_op: Any, loss_op: Any, feed_fn: Any) -> Any:
        """Runs the steps, then saves. An error of a step is raised after that."""
        self._loss: Any = None
        try:
            self._steps(train_op, loss_op, feed_fn)
        except tf.errors.OutOfRangeError as error:
            logging.warning("Got exception during tf.learn training loop possibly due to exhausted input queue %s.", error)
        except StopIteration:
            logging.info("Exhausted input iterarator.")
        finally:
            self._finish()
        return self._loss

    def _steps(self, train_op: Any, loss_op: Any, feed_fn: Any) -> None:
        last = logged = self._session.run(self._step)
        logging.info("Training steps [%d,%s)", last, "inf" if self._max_steps is None else str(self._max_steps))
        while not self._supervisor.ShouldStop() and (self._max_steps is None or last < self._max_steps):
            start = time.time()
            fed = feed_fn() if feed_fn is not None else None
            outputs, stops = _run_with_monitors(self._session, last + 1, [train_op, loss_op], fed, self._monitors)
            self._loss = outputs[loss_op.name]
            self._check_loss()
            if stops:
                return
            now = self._session.run(self._step)
            if now <= last:
                logging.error("Global step was not incremented by train op at step %s: new step %d", last, now)
            last = now
            if last - logged >= self._log_every_steps or (self._max_steps is not None and last >= self._max_steps):
                logging.info("training step %d, loss = %.5f (%.3f sec/batch).", last, self._loss, time.time() - start)
                logged = last

    def _check_loss(self) -> None:
        if not np.isnan(self._loss):
            return
        message = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            logging.error(message)
            raise NanLossDuringTrainingError
        logging.warning(message)

    def _finish(self) -> None:
        failed = sys.exc_info()[0] is not None
        try:
            self._supervisor.Stop(close_summary_writer=False)
            last = self._session.run(self._step)
            if self._is_chief:
                path = self._supervisor.save_path
                logging.info("Saving checkpoint for step %d to checkpoint: %s.", last, path)
                self._supervisor.saver.save(self._session, path, global_step=last)
                for monitor in self._monitors:
                    monitor.end()
        except tf.errors.OutOfRangeError as error:
            logging.warning(
                "OutOfRangeError in tf.learn final checkpoint possibly due to exhausted input queue. Note: summary_op is not expected to "
                "trigger dequeues. %s.",
                error,
            )
        except BaseException as error:
            if not failed:
                raise
            logging.error("Got exception during tf.learn final checkpoint %s.", error)


def _collected(key: str, make: Any) -> Any:
    """The first of a collection; where there is none, what a function makes is added."""
    found = tf.get_collection(key)
    if found:
        return found[0]
    made = make()
    if made is not None:
        tf.add_to_collection(key, made)
    return made


def _in_words(results: dict[str, Any]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in sorted(results.items()))


def _write_results(output_dir: Any, results: dict[str, Any], step: Any) -> None:
    logging.info("Saving evaluation summary for step %d: %s", step, _in_words(results))
    written = summary_pb2.Summary()
    for key, value in results.items():
        if value is None:
            continue
        part = written.value.add(tag=key)
        if isinstance(value, (np.float32, float)):
            part.simple_value = float(value)
        else:
            logging.warning("Skipping summary for %s, must be a float or np.float32.", key)
    writer = get_summary_writer(output_dir)
    writer.add_summary(written, step)
    writer.flush()


@learn(_MODULE, "evaluate", shown=True)
def evaluate(
    graph: Any,
    output_dir: Any,
    checkpoint_path: Any,
    eval_dict: Any,
    update_op: Any = None,
    global_step_tensor: Any = None,
    supervisor_master: str = "",
    log_every_steps: int = 10,
    feed_fn: Any = None,
    max_steps: Any = None,
) -> tuple[Any, Any]:
    """Values after so many updates, or after all of the input, and the step of the checkpoint."""
    if not output_dir:
        raise ValueError(f"Output directory should be non-empty {output_dir}.")
    with graph.as_default():
        step = assert_or_get_global_step(graph, global_step_tensor)
        saver = _collected(GraphKeys.SAVERS, lambda: Saver() if tf.global_variables() else None)
        manager = SessionManager(
            local_init_op=_collected(GraphKeys.LOCAL_INIT_OP, lambda: tf.group(tf.local_variables_initializer(), tf.tables_initializer())),
            ready_op=_collected(GraphKeys.READY_OP, tf.report_uninitialized_variables),
            ready_for_local_init_op=_collected(GraphKeys.READY_FOR_LOCAL_INIT_OP, lambda: None),
        )
        session, initialized = manager.recover_session(master=supervisor_master, saver=saver, checkpoint_dir=checkpoint_path)
        threads_of = coordinator.Coordinator()
        threads = start_queue_runners(session, threads_of)
    with session:
        if not initialized:
            logging.warning("Failed to initialize from %s.", checkpoint_path)
            session.run(_initializer(graph))
            if checkpoint_path:
                _restore(session, graph, checkpoint_path, saver)
        current = session.run(step)
        logging.info("Eval steps [%d,%s) for training step %d.", 0, "inf" if max_steps is None else str(max_steps), current)
        results = _evaluated(session, eval_dict, update_op, feed_fn, max_steps, log_every_steps, threads_of, threads)
    _write_results(output_dir, results, current)
    return results, current


def _initializer(graph: Any) -> Any:
    with graph.as_default():
        return tf.global_variables_initializer()


def _evaluated(
    session: Any, eval_dict: Any, update_op: Any, feed_fn: Any, max_steps: Any, log_every_steps: int, threads_of: Any, threads: Any
) -> Any:
    results: Any = None
    done = measured = 0
    fed: Any = None
    try:
        try:
            while max_steps is None or done < max_steps:
                done += 1
                start = time.time()
                fed = feed_fn() if feed_fn is not None else None
                if update_op is not None:
                    session.run(update_op, feed_dict=fed)
                else:
                    results, measured = session.run(eval_dict, feed_dict=fed), done
                if done % log_every_steps == 0:
                    if measured != done:
                        results, measured = session.run(eval_dict, feed_dict=fed), done
                    pace = time.time() - start
                    logging.info("Results after %d steps (%.3f sec/batch): %s.", done, pace, _in_words(results))
        finally:
            if results is None or measured != done:
                results = session.run(eval_dict, feed_dict=fed)
            session.close()
            try:
                threads_of.request_stop()
                threads_of.join(threads, stop_grace_period_secs=_GRACE_SECONDS)
            except (RuntimeError, tf.errors.CancelledError) as error:
                logging.warning("Coordinator didn't stop cleanly: %s", error)
    except (tf.errors.OutOfRangeError, StopIteration) as error:
        kind = "iterator" if isinstance(error, StopIteration) else "queue"
        if max_steps is None:
            logging.info(f"Input {kind} is exhausted.")
        else:
            logging.warning(f"Input {kind} is exhausted: %s.", error)
    return results


@learn(_MODULE, "run_n", shown=True)
def run_n(output_dict: Any, feed_dict: Any = None, restore_checkpoint_path: Any = None, n: int = 1) -> list[Any]:
    """The values of outputs, so many times."""
    return run_feeds(output_dict, itertools.repeat(feed_dict, n), restore_checkpoint_path)


@contextlib.contextmanager
def _queues_filled(session: Any) -> Iterator[None]:
    """Queue runners run inside the `with` block."""
    together = coordinator.Coordinator()
    threads = None
    try:
        threads = start_queue_runners(session, coord=together)
        yield
    finally:
        together.request_stop()
        if threads:
            together.join(threads, stop_grace_period_secs=_GRACE_SECONDS)


@learn(_MODULE, "run_feeds_iter")
def run_feeds_iter(output_dict: Any, feed_dicts: Any, restore_checkpoint_path: Any = None) -> Iterator[Any]:
    """The values of outputs for each of some feeds."""
    for what, value in {"output_dict": output_dict, "feed_dicts": feed_dicts}.items():
        if not value:
            raise ValueError(f"{what} is invalid: {value}.")
    graph = tf.contrib.framework.get_graph_from_inputs(output_dict.values())
    with graph.as_default(), tf.Session("") as session:
        session.run(resource_sets.initialize_resources(resource_sets.shared_resources() + resource_sets.local_resources()))
        if restore_checkpoint_path:
            _restore(session, graph, restore_checkpoint_path)
        else:
            session.run(tf.global_variables_initializer())
        for initializer in (tf.local_variables_initializer, tf.tables_initializer):
            session.run(initializer())
        with _queues_filled(session):
            for feed in feed_dicts:
                yield session.run(output_dict, feed)


@learn(_MODULE, "run_feeds", shown=True)
def run_feeds(*args: Any, **kwargs: Any) -> list[Any]:
    """The values of outputs for all of some feeds."""
    return list(run_feeds_iter(*args, **kwargs))


@learn(_MODULE, "infer", shown=True)
def infer(restore_checkpoint_path: Any, output_dict: Any, feed_dict: Any = None) -> Any:
    """The values of outputs of a checkpoint."""
    return run_feeds(output_dict, [feed_dict], restore_checkpoint_path)[0]
