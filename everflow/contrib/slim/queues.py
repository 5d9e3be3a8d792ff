"""Queue runners for as long as a block of code."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import everflow as tf
from everflow.api import public

_running = threading.Lock()


@public("contrib.slim.python.slim.queues.NestedQueueRunnerError", "contrib.slim.queues.NestedQueueRunnerError")
class NestedQueueRunnerError(Exception):
    """Said of a block of queue runners in another one."""


@public("contrib.slim.python.slim.queues.QueueRunners", "contrib.slim.queues.QueueRunners")
@contextlib.contextmanager
def QueueRunners(session: Any) -> Iterator[None]:
    """Starts the graph's queue runners, and stops them at the end of the block."""
    if not _running.acquire(blocking=False):
        raise NestedQueueRunnerError("QueueRunners cannot be nested")
    try:
        coordinator, threads = tf.train.Coordinator(), []
        for runner in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS):
            threads += runner.create_threads(session, coord=coordinator, daemon=True, start=True)
        try:
            yield
        finally:
            coordinator.request_stop()
            try:
                coordinator.join(threads, stop_grace_period_secs=120)
            except RuntimeError:
                session.close()
    finally:
        _running.release()
