"""Supervisor: the older way to train with checkpoints, summaries and several workers."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.graph import Graph
from everflow.graph.keys import GraphKeys
from everflow.platform import logging
from everflow.platform.deprecation import deprecated
from everflow.train.checkpoints.saver import Saver
from everflow.train.coordinator import Coordinator, LooperThread
from everflow.train.global_step import global_step as step_value
from everflow.train.metagraphs.exporting import create_meta_graph_def
from everflow.train.metagraphs.files import write_graph
from everflow.train.session_manager import SessionManager
from everflow.train.supervisor_threads import SVStepCounterThread, SVSummaryThread, SVTimerCheckpointThread

_USE_DEFAULT = 0


def _chosen(given: Any, key: str, make: Callable[[], Any]) -> Any:
    """What was given; else the first item of a collection; else a new item, which is added."""
    if not _is_default(given):
        return given
    for found in tf.get_collection(key):
        return found
    made = make()
    if made is not None:
        tf.add_to_collection(key, made)
    return made


def _is_default(value: Any) -> bool:
    return isinstance(value, int) and value == _USE_DEFAULT


def _nothing() -> None:
    """For what is used only where the program made it."""


def _initializer_of_local_state() -> Any:
    return tf.group(tf.local_variables_initializer(), tf.tables_initializer())


def _saver_of_variables() -> Any:
    return Saver() if tf.global_variables() else None


def _tensor_named_global_step() -> Any:
    try:
        found = tf.get_default_graph().get_tensor_by_name("global_step:0")
    except KeyError:
        return None
    if found.dtype.base_dtype.is_integer:
        return found
    logging.warning("Found 'global_step' is not an int type: %s", found.dtype)
    return None


def _check_devices_of_variables(graph: Graph) -> None:
    """Variables of a worker must be where the other workers find them."""
    for op in graph.get_operations():
        if op.type in ("Variable", "VariableV2") and not op.device:
            raise ValueError(f"When using replicas, all Variables must have their device set: {op.node_def}")


def _close_quietly(sess: Any) -> None:
    with contextlib.suppress(Exception):
        sess.close()


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
    def __init__(
        self,
        graph: Graph | None = None,
        ready_op: Any = USE_DEFAULT,
        ready_for_local_init_op: Any = USE_DEFAULT,
        is_chief: bool = True,
        init_op: Any = USE_DEFAULT,
        init_feed_dict: Any = None,
        local_init_op: Any = USE_DEFAULT,
        logdir: Any = None,
        summary_op: Any = USE_DEFAULT,
        saver: Any = USE_DEFAULT,
        global_step: Any = USE_DEFAULT,
        save_summaries_secs: float = 120,
        save_model_secs: float = 600,
        recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120,
        checkpoint_basename: str = "model.ckpt",
        session_manager: Any = None,
        summary_writer: Any = USE_DEFAULT,
        init_fn: Any = None,
        local_init_run_options: Any = None,
    ) -> None:
        if tf.executing_eagerly():
            raise RuntimeError("Supervisors are compatible with eager execution.")
        self._graph = graph = tf.get_default_graph() if graph is None else graph
        self._is_chief = is_chief
        self._coord = Coordinator()
        self._stop_grace_secs = stop_grace_secs
        with graph.as_default():
            self._ready_op = _chosen(ready_op, GraphKeys.READY_OP, tf.report_uninitialized_variables)
            self._ready_for_local_init_op = _chosen(ready_for_local_init_op, GraphKeys.READY_FOR_LOCAL_INIT_OP, _nothing)
            self._init_op = _chosen(init_op, GraphKeys.INIT_OP, tf.global_variables_initializer)
            local_init_op = _chosen(local_init_op, GraphKeys.LOCAL_INIT_OP, _initializer_of_local_state)
            self._saver = _chosen(saver, GraphKeys.SAVERS, _saver_of_variables)
            self._summary_op = _chosen(summary_op, GraphKeys.SUMMARY_OP, tf.summary.merge_all)
            self._global_step = _chosen(global_step, GraphKeys.GLOBAL_STEP, _tensor_named_global_step)
        self._init_feed_dict = init_feed_dict
        self._init_fn = init_fn
        self._logdir = self._save_path = self._summary_writer = self._save_summaries_secs = self._save_model_secs = None
        self._graph_is_written = False
        if is_chief:
            self._logdir = logdir
            self._save_path = os.path.join(logdir, checkpoint_basename) if logdir else None
            self._save_summaries_secs, self._save_model_secs = save_summaries_secs, save_model_secs
            self._summary_writer = summary_writer
            if _is_default(summary_writer):
                self._summary_writer = tf.summary.FileWriter(logdir) if logdir else None
        else:
            # Others than the chief save nothing.
            _check_devices_of_variables(graph)
        self._session_manager = session_manager or SessionManager(
            local_init_op=local_init_op,
            ready_op=self._ready_op,
            ready_for_local_init_op=self._ready_for_local_init_op,
            graph=graph,
            recovery_wait_secs=recovery_wait_secs,
            local_init_run_options=local_init_run_options,
        )
        graph.finalize()

    is_chief = property(attrgetter("_is_chief"))
    session_manager = property(attrgetter("_session_manager"))
    coord = property(attrgetter("_coord"))
    init_op = property(attrgetter("_init_op"))
    init_feed_dict = property(attrgetter("_init_feed_dict"))
    ready_op = property(attrgetter("_ready_op"))
    ready_for_local_init_op = property(attrgetter("_ready_for_local_init_op"))
    summary_writer = property(attrgetter("_summary_writer"))
    summary_op = property(attrgetter("_summary_op"))
    save_summaries_secs = property(attrgetter("_save_summaries_secs"))
    global_step = property(attrgetter("_global_step"))
    saver = property(attrgetter("_saver"))
    save_model_secs = property(attrgetter("_save_model_secs"))
    save_path = property(attrgetter("_save_path"))

    def _write_graph(self) -> None:
        """Writes the graph to a file and to the events."""
        if self._logdir:
            write_graph(self._graph.as_graph_def(add_shapes=True), self._logdir, "graph.pbtxt")
        if self._summary_writer and not self._graph_is_written:
            self._summary_writer.add_graph(self._graph)
            saver_def = self._saver.saver_def if self._saver else None
            self._summary_writer.add_meta_graph(
                create_meta_graph_def(graph_def=self._graph.as_graph_def(add_shapes=True), saver_def=saver_def)
            )
            self._graph_is_written = True

    def start_standard_services(self, sess: Any) -> list[LooperThread] | None:
        """Starts the threads that summarize, count steps and save."""
        if not self._is_chief:
            raise RuntimeError("Only chief supervisor can start standard services. Because only chief supervisors can write events.")
        if not self._logdir:
            logging.warning("Standard services need a 'logdir' passed to the SessionManager")
            return None
        counts = self._global_step is not None
        if counts and self._summary_writer:
            # Events of a run before this one that came after this step are no longer true.
            self._summary_writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), step_value(sess, self._global_step))
        summarizes = bool(self._save_summaries_secs and self._summary_writer)
        services: dict[type[Any], bool] = {
            SVSummaryThread: summarizes and self._summary_op is not None,
            SVStepCounterThread: summarizes and counts,
            SVTimerCheckpointThread: bool(self._saver and self._save_model_secs),
        }
        threads: list[LooperThread] = [service(self, sess) for service, wanted in services.items() if wanted]
        for thread in threads:
            thread.start()
        return threads

    def prepare_or_wait_for_session(
        self,
        master: str = "",
        config: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        start_standard_services: bool = True,
    ) -> Any:
        """A session that is ready: the chief makes its model so, others wait for it."""
        # Threads of a session before this one are over.
        self._coord.clear_stop()
        if self._summary_writer:
            self._summary_writer.reopen()
        wanted: dict[str, Any] = {"config": config, "max_wait_secs": max_wait_secs}
        if not self._is_chief:
            sess = self._session_manager.wait_for_session(master, **wanted)
        else:
            wanted |= {"wait_for_checkpoint": wait_for_checkpoint, "checkpoint_dir": self._logdir}
            beginnings = {name: getattr(self, "_" + name) for name in ("init_op", "init_feed_dict", "init_fn", "saver")}
            sess = self._session_manager.prepare_session(master, **wanted, **beginnings)
            self._write_graph()
        services: dict[str, Callable[[Any], Any]] = {"queue runners": self.start_queue_runners}
        if self._is_chief:
            services = {"standard services": self.start_standard_services, **services}
        for what, start in services.items() if start_standard_services else ():
            logging.info("Starting %s.", what)
            start(sess)
        return sess

    def start_queue_runners(self, sess: Any, queue_runners: Any = None) -> list[Any]:
        """Starts the threads of queue runners, those of the graph unless given."""
        if tf.executing_eagerly():
            raise RuntimeError("Queues are not compatible with eager execution.")
        runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS) if queue_runners is None else queue_runners
        return list(itertools.chain.from_iterable(r.create_threads(sess, coord=self._coord, daemon=True, start=True) for r in runners))

    def loop(self, timer_interval_secs: float | None, target: Any, args: Any = None, kwargs: Any = None) -> LooperThread:
        """Calls a function again and again in a thread."""
        looper = LooperThread(self._coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        looper.start()
        return looper

    def stop(self, threads: Any = None, close_summary_writer: bool = True, ignore_live_threads: bool = False) -> None:
        """Stops the threads and closes the summary writer."""
        with contextlib.ExitStack() as afterwards:
            if close_summary_writer and self._summary_writer:
                afterwards.callback(self._close_writer, self._summary_writer)
            self._coord.request_stop()
            self._coord.join(threads, self._stop_grace_secs, ignore_live_threads)

    def _close_writer(self, writer: Any) -> None:
        writer.add_session_log(tf.SessionLog(status=tf.SessionLog.STOP))
        writer.close()
        self._graph_is_written = False

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
    def managed_session(
        self, master: str = "", config: Any = None, start_standard_services: bool = True, close_summary_writer: bool = True
    ) -> Iterator[Any]:
        """A session whose end stops everything; what a thread raised is raised here."""
        # Queue runners may wait in the session, so it is closed only when they had their time; what they raised comes first.
        with contextlib.ExitStack() as at_last:
            try:
                sess = self.prepare_or_wait_for_session(master, config, start_standard_services=start_standard_services)
                at_last.callback(_close_quietly, sess)
                yield sess
            except Exception as e:
                self.request_stop(e)
            finally:
                self.stop(close_summary_writer=close_summary_writer)

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
