"""tf.contrib.slim.learning.train: the training loop of slim."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import everflow as tf
from everflow import errors
from everflow.api import public
from everflow.graph.graph import Graph
from everflow.platform import logging
from everflow.runtime.timeline import Timeline
from everflow.train.checkpoints.saver import Saver
from everflow.train.global_step import get_or_create_global_step
from everflow.train.supervisor import Supervisor

_USE_DEFAULT = 0


def _is_default(value: Any) -> bool:
    return isinstance(value, int) and value == _USE_DEFAULT


@public("contrib.slim.learning.train_step", "contrib.slim.python.slim.learning.train_step")
def train_step(sess: Any, train_op: Any, global_step: Any, train_step_kwargs: Any) -> tuple[Any, bool]:
    """Makes one step, logs and traces it as the arguments say; gives the loss and whether to stop."""
    start = time.time()
    trace: dict[str, Any] = {}
    if "should_trace" in train_step_kwargs:
        if "logdir" not in train_step_kwargs:
            raise ValueError("logdir must be present in train_step_kwargs when should_trace is present")
        if sess.run(train_step_kwargs["should_trace"]):
            trace = {"options": tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), "run_metadata": tf.RunMetadata()}
    total_loss, step = sess.run([train_op, global_step], **trace)
    elapsed = time.time() - start
    if trace:
        _write_trace(trace["run_metadata"], step, train_step_kwargs)
    if "should_log" in train_step_kwargs and sess.run(train_step_kwargs["should_log"]):
        logging.info("global step %d: loss = %.4f (%.3f sec/step)", step, total_loss, elapsed)
    should_stop = sess.run(train_step_kwargs["should_stop"]) if "should_stop" in train_step_kwargs else False
    return total_loss, should_stop


def _write_trace(run_metadata: Any, step: int, train_step_kwargs: Any) -> None:
    path = os.path.join(train_step_kwargs["logdir"], f"tf_trace-{step}.json")
    logging.info("Writing trace to %s", path)
    with tf.gfile.Open(path, "w") as file:
        file.write(Timeline(run_metadata.step_stats).generate_chrome_trace_format())
    if train_step_kwargs.get("summary_writer"):
        train_step_kwargs["summary_writer"].add_run_metadata(run_metadata, f"run_metadata-{step}")


def _wait_for_step(sess: Any, global_step: Any, step: int) -> None:
    """Waits until another worker has brought the global step there."""
    while sess.run(global_step) < step:
        time.sleep(1)


def _default_step_arguments(
    global_step: Any, number_of_steps: int | None, log_every_n_steps: int, trace_every_n_steps: int | None, is_chief: bool, logdir: Any
) -> dict[str, Any]:
    with tf.name_scope("train_step"):
        found: dict[str, Any] = {}
        found["should_stop"] = tf.greater_equal(global_step, number_of_steps) if number_of_steps else tf.constant(False)
        if log_every_n_steps > 0:
            found["should_log"] = tf.equal(tf.mod(global_step, log_every_n_steps), 0)
        if is_chief and trace_every_n_steps:
            found["should_trace"] = tf.equal(tf.mod(global_step, trace_every_n_steps), 0)
            found["logdir"] = logdir
    return found


def _wrapped(sess: Any, session_wrapper: Any) -> Any:
    if session_wrapper is None:
        return sess
    logging.info("Wrapping session with wrapper function: %s", session_wrapper)
    return session_wrapper(sess)


@public("contrib.slim.learning.train", "contrib.slim.python.slim.learning.train")
def train(
    train_op: Any,
    logdir: Any,
    train_step_fn: Any = train_step,
    train_step_kwargs: Any = _USE_DEFAULT,
    log_every_n_steps: int = 1,
    graph: Graph | None = None,
    master: str = "",
    is_chief: bool = True,
    global_step: Any = None,
    number_of_steps: int | None = None,
    init_op: Any = _USE_DEFAULT,
    init_feed_dict: Any = None,
    local_init_op: Any = _USE_DEFAULT,
    init_fn: Any = None,
    ready_op: Any = _USE_DEFAULT,
    summary_op: Any = _USE_DEFAULT,
    save_summaries_secs: float = 600,
    summary_writer: Any = _USE_DEFAULT,
    startup_delay_steps: int = 0,
    saver: Any = None,
    save_interval_secs: float = 600,
    sync_optimizer: Any = None,
    session_config: Any = None,
    session_wrapper: Any = None,
    trace_every_n_steps: int | None = None,
    ignore_live_threads: bool = False,
) -> Any:
    """Runs a train op until the steps or the input are used up, with a Supervisor; gives the last loss."""
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    if logdir is None:
        if not _is_default(summary_op) and summary_op is not None:
            raise ValueError("Cannot provide summary_op because logdir=None")
        if saver is not None:
            raise ValueError("Cannot provide saver because logdir=None")
        if trace_every_n_steps is not None:
            raise ValueError("Cannot provide trace_every_n_steps because logdir=None")
    sync_optimizers = (
        [] if sync_optimizer is None else list(sync_optimizer) if isinstance(sync_optimizer, (list, tuple)) else [sync_optimizer]
    )
    if sync_optimizers and startup_delay_steps > 0:
        raise ValueError("startup_delay_steps must be zero when sync_optimizer is supplied.")
    if number_of_steps is not None and number_of_steps <= 0:
        raise ValueError("`number_of_steps` must be either None or a positive number.")
    graph = graph or tf.get_default_graph()
    with graph.as_default():
        if global_step is None:
            global_step = get_or_create_global_step()
        saver = saver or Saver()
        with tf.name_scope("init_ops"):
            if _is_default(init_op):
                init_op = tf.global_variables_initializer()
            if _is_default(ready_op):
                ready_op = tf.report_uninitialized_variables()
            if _is_default(local_init_op):
                local_init_op = tf.group(tf.local_variables_initializer(), tf.tables_initializer())
            ready_for_local_init_op = None
            for optimizer in sync_optimizers:
                with tf.control_dependencies([local_init_op] if local_init_op is not None else []):
                    local_init_op = optimizer.chief_init_op if is_chief else optimizer.local_step_init_op
                ready_for_local_init_op = optimizer.ready_for_local_init_op
        if _is_default(summary_op):
            summary_op = tf.summary.merge_all()
        if _is_default(summary_writer):
            summary_writer = Supervisor.USE_DEFAULT
        sync_runners = []
        if is_chief:
            for optimizer in sync_optimizers:
                sync_runners.append(optimizer.get_chief_queue_runner())
        if _is_default(train_step_kwargs):
            train_step_kwargs = _default_step_arguments(
                global_step, number_of_steps, log_every_n_steps, trace_every_n_steps, is_chief, logdir
            )
    supervisor = Supervisor(
        graph=graph,
        is_chief=is_chief,
        logdir=logdir,
        init_op=init_op,
        init_feed_dict=init_feed_dict,
        local_init_op=local_init_op,
        ready_for_local_init_op=ready_for_local_init_op,
        ready_op=ready_op,
        summary_op=summary_op,
        summary_writer=summary_writer,
        global_step=global_step,
        saver=saver,
        save_summaries_secs=save_summaries_secs,
        save_model_secs=save_interval_secs,
        init_fn=init_fn,
    )
    if summary_writer is not None:
        train_step_kwargs["summary_writer"] = supervisor.summary_writer
    total_loss = None
    while True:
        try:
            with supervisor.managed_session(master, start_standard_services=False, config=session_config) as sess:
                logging.info("Starting Session.")
                sess = _wrapped(sess, session_wrapper)
                if is_chief and logdir:
                    supervisor.start_standard_services(sess)
                elif startup_delay_steps > 0 and not is_chief:
                    _wait_for_step(sess, global_step, min(startup_delay_steps, number_of_steps or sys.maxsize))
                threads = supervisor.start_queue_runners(sess)
                logging.info("Starting Queues.")
                if sync_runners:
                    threads.extend(supervisor.start_queue_runners(sess, sync_runners))
                try:
                    while not supervisor.should_stop():
                        total_loss, should_stop = train_step_fn(sess, train_op, global_step, train_step_kwargs)
                        if should_stop:
                            logging.info("Stopping Training.")
                            supervisor.request_stop()
                            break
                except errors.OutOfRangeError as e:
                    logging.info("Caught OutOfRangeError. Stopping Training. %s", e)
                if logdir and supervisor.is_chief:
                    logging.info("Finished training! Saving model to disk.")
                    supervisor.saver.save(sess, supervisor.save_path, global_step=supervisor.global_step)
                supervisor.stop(threads, close_summary_writer=True, ignore_live_threads=ignore_live_threads)
            return total_loss
        except errors.AbortedError:
            logging.info("Retrying training!")
