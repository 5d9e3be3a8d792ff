"""Supervisor: the older way to train with checkpoints, summaries and several workers."""
from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.keys import GraphKeys
from everflow.platform import logging
from everflow.platform.deprecation import deprecated
from everflow.train.checkpoints.saver import Saver
from everflow.train.coordinator import Coordinator, LooperThread
from everflow.train.global_step import global_step as step_value
from everflow.train.metagraphs.files import write_graph
from everflow.train.session_manager import SessionManager
from everflow.train.supervisor_threads import SVStepCounterThread, SVSummaryThread, SVTimerCheckpointThread

_USE_DEFAULT = 0


def _is_default(value: Any) -> bool:
    return isinstance(value, int) and value == _USE_DEFAULT


@public("train.Supervisor")
class Supervisor:
    """Prepares a session, keeps saving and summarizing in threads, and stops all of them together.

    >>> sv = tf.train.Supervisor(logdir="/tmp/model")
    >>> with sv.managed_session() as sess:
    ...     while not sv.should_stop():
    ...         sess.run(train_op)
    """

    USE_DEFAULT = _USE_DEFAULT

    @deprecated(None, "Please switch to tf.train.MonitoredTrainingSession")
    def __init__(self, graph: Any = None, ready_op: Any = USE_DEFAULT, ready_for_local_init_op: Any = USE_DEFAULT, is_chief: bool = True,
                 init_op: Any = USE_DEFAULT, init_feed_dict: Any = None, local_init_op: Any = USE_DEFAULT, logdir: Any = None,
                 summary_op: Any = USE_DEFAULT, saver: Any = USE_DEFAULT, global_step: Any = USE_DEFAULT,
                 save_summaries_secs: float = 120, save_model_secs: float = 600, recovery_wait_secs: float = 30,
                 stop_grace_secs: float = 120, checkpoint_basename: str = "model.ckpt", session_manager: Any = None,
                 summary_writer: Any = USE_DEFAULT, init_fn: Any = None, local_init_run_options: Any = None) -> None:
        if tf.executing_eagerly():
            raise RuntimeError("Supervisors are compatible with eager execution.")
        self._graph = tf.get_default_graph() if graph is None else graph
        self._is_chief = is_chief
        self._coord = Coordinator()
        self._recovery_wait_secs = recovery_wait_secs
        self._stop_grace_secs = stop_grace_secs
        self._init_fn = init_fn
        self._local_init_run_options = local_init_run_options
        with self._graph.as_default():
            self._init_ready_op(ready_op, ready_for_local_init_op)
            self._init_init_op(init_op, init_feed_dict)
            self._init_local_init_op(local_init_op)
            self._init_saver(saver)
            self._init_summary_op(summary_op)
            self._init_global_step(global_step)
        # A worker other than the chief saves nothing.
        self._logdir = logdir if is_chief else None
        self._save_summaries_secs = save_summaries_secs if is_chief else None
        self._save_model_secs = save_model_secs if is_chief else None
        self._save_path = os.path.join(logdir, checkpoint_basename) if is_chief and logdir else None
        self._summary_writer = None
        if is_chief:
            if not _is_default(summary_writer):
                self._summary_writer = summary_writer
            elif logdir:
                self._summary_writer = tf.summary.FileWriter(logdir)
            self._graph_added_to_summary = False
        self._init_session_manager(session_manager)
        self._verify_setup()
        self._graph.finalize()

    def _init_session_manager(self, session_manager: Any) -> None:
        self._session_manager = session_manager or SessionManager(
            local_init_op=self._local_init_op, ready_op=self._ready_op, ready_for_local_init_op=self._ready_for_local_init_op,
            graph=self._graph, recovery_wait_secs=self._recovery_wait_secs, local_init_run_options=self._local_init_run_options)

    def _first_of(self, key: str) -> Any:
        found = self._graph.get_collection(key)
        return found[0] if found else None

    def _first_or_new(self, key: str, make: Any) -> Any:
        """The first item of a collection, or a new one, which is added."""
        found = self._first_of(key)
        if found is None:
            found = make()
            if found is not None:
                tf.add_to_collection(key, found)
        return found

    def _init_ready_op(self, ready_op: Any, ready_for_local_init_op: Any) -> None:
        self._ready_op = (
            self._first_or_new(GraphKeys.READY_OP, tf.report_uninitialized_variables) if _is_default(ready_op) else ready_op)
        self._ready_for_local_init_op = (
            self._first_of(GraphKeys.READY_FOR_LOCAL_INIT_OP) if _is_default(ready_for_local_init_op) else ready_for_local_init_op)

    def _init_init_op(self, init_op: Any, init_feed_dict: Any) -> None:
        self._init_op = self._first_or_new(GraphKeys.INIT_OP, tf.global_variables_initializer) if _is_default(init_op) else init_op
        self._init_feed_dict = init_feed_dict

    def _init_local_init_op(self, local_init_op: Any) -> None:
        def initialize_local() -> Any:
            ops = [tf.local_variables_initializer(), tf.tables_initializer()]
            return tf.group(*ops)

        self._local_init_op = (
            self._first_or_new(GraphKeys.LOCAL_INIT_OP, initialize_local) if _is_default(local_init_op) else local_init_op)

    def _init_saver(self, saver: Any) -> None:
        self._saver = (self._first_or_new(GraphKeys.SAVERS, lambda: Saver() if tf.global_variables() else None)
                       if _is_default(saver) else saver)

    def _init_summary_op(self, summary_op: Any) -> None:
        self._summary_op = self._first_or_new(GraphKeys.SUMMARY_OP, tf.summary.merge_all) if _is_default(summary_op) else summary_op

    def _init_global_step(self, global_step: Any) -> None:
        self._global_step = (
            self._first_or_new(GraphKeys.GLOBAL_STEP, self._tensor_named_global_step) if _is_default(global_step) else global_step)

    def _tensor_named_global_step(self) -> Any:
        try:
            found = self._graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
        if found.dtype.base_dtype.is_integer:
            return found
        logging.warning("Found 'global_step' is not an int type: %s", found.dtype)
        return None

    def _verify_setup(self) -> None:
        """Variables of a worker must be where the other workers find them."""
        if self._is_chief:
            return
        for op in self._graph.get_operations():
            if op.type in ("Variable", "VariableV2") and not op.device:
                raise ValueError("When using replicas, all Variables must have their device set: "
                                 f"{op.node_def}")

    @property
    def is_chief(self) -> bool:
        return self._is_chief

    @property
    def session_manager(self) -> Any:
        return self._session_manager

    @property
    def coord(self) -> Coordinator:
        return self._coord

    @property
    def init_op(self) -> Any:
        return self._init_op

    @property
    def init_feed_dict(self) -> Any:
        return self._init_feed_dict

    @property
    def ready_op(self) -> Any:
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        return self._ready_for_local_init_op

    @property
    def summary_writer(self) -> Any:
        return self._summary_writer

    @property
    def summary_op(self) -> Any:
        return self._summary_op

    @property
    def save_summaries_secs(self) -> Any:
        return self._save_summaries_secs

    @property
    def global_step(self) -> Any:
        return self._global_step

    @property
    def saver(self) -> Any:
        return self._saver

    @property
    def save_model_secs(self) -> Any:
        return self._save_model_secs

    @property
    def save_path(self) -> Any:
        return self._save_path

    def _write_graph(self) -> None:
        """Writes the graph to a file and to the events."""
        if self._logdir:
            write_graph(self._graph.as_graph_def(add_shapes=True), self._logdir, "graph.pbtxt")
        if self._summary_writer and not self._graph_added_to_summary:
            from everflow.train.metagraphs.exporting import create_meta_graph_def

            self._summary_writer.add_graph(self._graph)
            saver_def = self._saver.saver_def if self._saver else None
            self._summary_writer.add_meta_graph(
                create_meta_graph_def(graph_def=self._graph.as_graph_def(add_shapes=True), saver_def=saver_def))
            self._graph_added_to_summary = True

    def start_standard_services(self, sess: Any) -> list[LooperThread] | None:
        """Starts the threads that summarize, count steps and save."""
        if not self._is_chief:
            raise RuntimeError("Only chief supervisor can start standard services. Because only chief supervisors can write events.")
        if not self._logdir:
            logging.warning("Standard services need a 'logdir' passed to the SessionManager")
            return None
        if self._global_step is not None and self._summary_writer:
            # Events of a run before this one that came after this step are no longer true.
            self._summary_writer.add_session_log(
                tf.SessionLog(status=tf.SessionLog.START), step_value(sess, self._global_step))
        threads: list[LooperThread] = []
        if self._save_summaries_secs and self._summary_writer:
            if self._summary_op is not None:
                threads.append(SVSummaryThread(self, sess))
            if self._global_step is not None:
                threads.append(SVStepCounterThread(self, sess))
        if self.saver and self._save_model_secs:
            threads.append(SVTimerCheckpointThread(self, sess))
        for thread in threads:
            thread.start()
        return threads

    def prepare_or_wait_for_session(self, master: str = "", config: Any = None, wait_for_checkpoint: bool = False,
                                    max_wait_secs: float = 7200, start_standard_services: bool = True) -> Any:
        """A session that is ready: the chief makes its model so, others wait for it."""
        # Threads of a session before this one are over.
        self._coord.clear_stop()
        if self._summary_writer:
            self._summary_writer.reopen()
        if self._is_chief:
            sess = self._session_manager.prepare_session(
                master, init_op=self.init_op, saver=self.saver, checkpoint_dir=self._logdir, wait_for_checkpoint=wait_for_checkpoint,
                max_wait_secs=max_wait_secs, config=config, init_feed_dict=self._init_feed_dict, init_fn=self._init_fn)
            self._write_graph()
            if start_standard_services:
                logging.info("Starting standard services.")
                self.start_standard_services(sess)
        else:
            sess = self._session_manager.wait_for_session(master, config=config, max_wait_secs=max_wait_secs)
        if start_standard_services:
            logging.info("Starting queue runners.")
            self.start_queue_runners(sess)
        return sess

    def start_queue_runners(self, sess: Any, queue_runners: Any = None) -> list[Any]:
        """Starts the threads of queue runners, those of the graph unless given."""
        if tf.executing_eagerly():
            raise RuntimeError("Queues are not compatible with eager execution.")
        if queue_runners is None:
            queue_runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        return [thread for runner in queue_runners for thread in runner.create_threads(sess, coord=self._coord, daemon=True, start=True)]

    def loop(self, timer_interval_secs: float | None, target: Any, args: Any = None, kwargs: Any = None) -> LooperThread:
        """Calls a function again and again in a thread."""
        looper = LooperThread(self._coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        looper.start()
        return looper

    def stop(self, threads: Any = None, close_summary_writer: bool = True, ignore_live_threads: bool = False) -> None:
        """Stops the threads and closes the summary writer."""
        self._coord.request_stop()
        try:
            self._coord.join(threads, stop_grace_period_secs=self._stop_grace_secs, ignore_live_threads=ignore_live_threads)
        finally:
            if close_summary_writer and self._summary_writer:
                self._summary_writer.add_session_log(tf.SessionLog(status=tf.SessionLog.STOP))
                self._summary_writer.close()
                self._graph_added_to_summary = False

    def request_stop(self, ex: Any = None) -> None:
        """Asks all threads to stop."""
        self._coord.request_stop(ex=ex)

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._coord.should_stop()

    def stop_on_exception(self) -> Any:
        """A context in which an exception requests a stop."""
        return self._coord.stop_on_exception()

    def wait_for_stop(self) -> None:
        """Waits until a stop is requested."""
        self._coord.wait_for_stop()

    def summary_computed(self, sess: Any, summary: Any, global_step: Any = None) -> None:
        """Writes a summary that the program computed."""
        if not self._summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self.global_step is not None:
            global_step = step_value(sess, self.global_step)
        self._summary_writer.add_summary(summary, global_step)

    @contextlib.contextmanager
    def managed_session(self, master: str = "", config: Any = None, start_standard_services: bool = True,
                        close_summary_writer: bool = True) -> Iterator[Any]:
        """A session whose end stops everything; what a thread raised is raised here."""
        sess = None
        try:
            sess = self.prepare_or_wait_for_session(master=master, config=config, start_standard_services=start_standard_services)
            yield sess
        except Exception as e:
            self.request_stop(e)
        finally:
            try:
                # Queue runners may wait in the session, so it is closed only when they had their time; what they raised comes first.
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                if sess is not None:
                    with contextlib.suppress(Exception):
                        sess.close()

    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed
