"""QueueRunner: threads that fill a queue by running its enqueue ops."""

from __future__ import annotations

import sys
import threading
import weakref
from typing import Any

from everflow import errors
from everflow.api import public
from everflow.eager.context import executing_eagerly
from everflow.graph import stacks
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import add_to_collection, get_collection, prepend_name_scope, strip_name_scope
from everflow.platform import logging
from everflow.platform.deprecation import deprecated
from everflow.proto import queue_runner_pb2
from everflow.runtime.session import SessionInterface

# How long a thread may keep the interpreter while others wait for it. Python's own 5 milliseconds would be added to each batch that a
# step waits for.
_TURN = 0.001
_INSTEAD = "To construct input pipelines, use the `tf.data` module."


def _run_quietly(sess: Any, op: Any) -> None:
    """Runs an op that ends a queue, which may have ended already."""
    try:
        sess.run(op)
    except Exception as e:
        logging.vlog(1, "Ignored exception: %s", e)


@public("train.QueueRunner", "train.queue_runner.QueueRunner")
class QueueRunner:
    """Runs each enqueue op in a thread of its own until the queue is closed, and closes the queue when all are done."""

    @deprecated(None, _INSTEAD)
    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Any = None,
        close_op: Any = None,
        cancel_op: Any = None,
        queue_closed_exception_types: Any = None,
        queue_runner_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        self._lock = threading.Lock()
        # How many threads run, by session.
        self._runs_per_session: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._exceptions_raised: list[Exception] = []
        if queue_runner_def is not None:
            if queue is not None or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._find(queue_runner_def, import_scope)
            return
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        self._queue = queue
        self._enqueue_ops = enqueue_ops
        self._close_op = queue.close() if close_op is None else close_op
        self._cancel_op = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        if queue_closed_exception_types is None:
            queue_closed_exception_types = (errors.OutOfRangeError,)
        elif not (
            isinstance(queue_closed_exception_types, tuple)
            and queue_closed_exception_types
            and all(isinstance(t, type) and issubclass(t, errors.OpError) for t in queue_closed_exception_types)
        ):
            raise TypeError(
                f"queue_closed_exception_types, when provided, must be a tuple of tf.error types, but saw: {queue_closed_exception_types}"
            )
        self._queue_closed_exception_types = queue_closed_exception_types

    def _find(self, queue_runner_def: Any, import_scope: str | None) -> None:
        """Takes the ops that a QueueRunnerDef names from the graph."""
        graph = stacks.get_default_graph()

        def found(name: str) -> Any:
            return graph.as_graph_element(prepend_name_scope(name, import_scope))

        self._queue = found(queue_runner_def.queue_name)
        self._enqueue_ops = [found(name) for name in queue_runner_def.enqueue_op_name]
        self._close_op = found(queue_runner_def.close_op_name)
        self._cancel_op = found(queue_runner_def.cancel_op_name)
        codes = queue_runner_def.queue_closed_exception_types
        self._queue_closed_exception_types = tuple(errors.exception_type_from_error_code(code) for code in codes) or (
            errors.OutOfRangeError,
        )

    @property
    def queue(self) -> Any:
        return self._queue

    @property
    def enqueue_ops(self) -> Any:
        return self._enqueue_ops

    @property
    def close_op(self) -> Any:
        return self._close_op

    @property
    def cancel_op(self) -> Any:
        return self._cancel_op

    @property
    def queue_closed_exception_types(self) -> Any:
        """The errors that say that there is nothing more to enqueue."""
        return self._queue_closed_exception_types

    @property
    def exceptions_raised(self) -> list[Exception]:
        """What went wrong in threads that have no coordinator to report it to."""
        return self._exceptions_raised

    @property
    def name(self) -> str:
        return self._queue.name

    def _enqueuer(self, sess: Any, enqueue_op: Any) -> Any:
        """What a thread calls again and again."""
        return sess.make_callable(enqueue_op)

    def _run(self, sess: Any, enqueue_op: Any, coord: Any = None) -> None:
        """What a thread does."""
        ran_out = False
        try:
            enqueue = self._enqueuer(sess, enqueue_op)
            while not (coord and coord.should_stop()):
                enqueue()
        except self._queue_closed_exception_types:
            ran_out = True
        except Exception as error:
            self._report(error, coord)
        finally:
            with self._lock:
                self._runs_per_session[sess] -= 1
                if ran_out and not self._runs_per_session[sess]:
                    _run_quietly(sess, self._close_op)

    def _report(self, error: Exception, coord: Any) -> None:
        """Tells the coordinator of an error; without one it is kept and goes on."""
        if coord:
            coord.request_stop(error)
            return
        logging.error("Exception in QueueRunner: %s", error)
        with self._lock:
            self._exceptions_raised.append(error)
        raise error

    def _close_on_stop(self, sess: Any, cancel_op: Any, coord: Any) -> None:
        """Waits for the coordinator's stop and cancels what is being enqueued."""
        coord.wait_for_stop()
        _run_quietly(sess, cancel_op)

    def create_threads(self, sess: Any, coord: Any = None, daemon: bool = False, start: bool = False) -> list[threading.Thread]:
        """Threads that run the enqueue ops in a session; none if such threads run already."""
        with self._lock:
            if self._runs_per_session.get(sess, 0) > 0:
                return []
            self._runs_per_session[sess] = len(self._enqueue_ops)
            self._exceptions_raised = []
        sys.setswitchinterval(min(sys.getswitchinterval(), _TURN))
        threads = [
            threading.Thread(target=self._run, args=(sess, op, coord), name=f"QueueRunnerThread-{self.name}-{op.name}")
            for op in self._enqueue_ops
        ]
        if coord:
            threads.append(
                threading.Thread(
                    target=self._close_on_stop, args=(sess, self._cancel_op, coord), name=f"QueueRunnerThread-{self.name}-close_on_stop"
                )
            )
        for thread in threads:
            if coord:
                coord.register_thread(thread)
            if daemon:
                thread.daemon = True
            if start:
                thread.start()
        return threads

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The QueueRunnerDef, or None for a queue outside of the scope."""
        if export_scope is not None and not self.queue.name.startswith(export_scope):
            return None
        definition = queue_runner_pb2.QueueRunnerDef()
        definition.queue_name = strip_name_scope(self.queue.name, export_scope)
        definition.enqueue_op_name.extend(strip_name_scope(op.name, export_scope) for op in self._enqueue_ops)
        definition.close_op_name = strip_name_scope(self._close_op.name, export_scope)
        definition.cancel_op_name = strip_name_scope(self._cancel_op.name, export_scope)
        definition.queue_closed_exception_types.extend(errors.error_code_from_exception_type(t) for t in self._queue_closed_exception_types)
        return definition

    @staticmethod
    def from_proto(queue_runner_def: Any, import_scope: str | None = None) -> QueueRunner:
        """The QueueRunner for ops that are in the graph."""
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)


@public("train.add_queue_runner", "train.queue_runner.add_queue_runner")
@deprecated(None, _INSTEAD)
def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Adds a QueueRunner to those that `start_queue_runners` starts."""
    add_to_collection(collection, qr)


@public("train.start_queue_runners", "train.queue_runner.start_queue_runners")
@deprecated(None, _INSTEAD)
def start_queue_runners(
    sess: Any = None, coord: Any = None, daemon: bool = True, start: bool = True, collection: str = GraphKeys.QUEUE_RUNNERS
) -> list[threading.Thread]:
    """Starts the threads of all QueueRunners of the graph."""
    if executing_eagerly():
        raise RuntimeError("Queues are not compatible with eager execution.")
    if sess is None:
        sess = stacks.get_default_session()
        if not sess:
            raise ValueError(
                "Cannot start queue runners: No default session is registered. Use `with sess.as_default()` or pass an "
                "explicit session to tf.start_queue_runners(sess=sess)"
            )
    if not isinstance(sess, SessionInterface):
        # Sessions that look after their queue runners themselves.
        if type(sess).__name__ in ("MonitoredSession", "SingularMonitoredSession"):
            return []
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {sess.__class__}")
    runners = get_collection(collection)
    if not runners:
        logging.warning(
            "`tf.train.start_queue_runners()` was called when no queue runners were defined. You can safely remove the call "
            "to this deprecated function."
        )
    with sess.graph.as_default():
        return [thread for runner in runners for thread in runner.create_threads(sess, coord=coord, daemon=daemon, start=start)]
