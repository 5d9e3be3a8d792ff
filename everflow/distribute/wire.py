"""gRPC as the cluster's protocol uses it: channels without size limits, calls from bytes to bytes, errors as status codes."""

from __future__ import annotations

import functools
import queue
import threading
import time
from collections.abc import Callable
from concurrent import futures
from typing import Any

import everflow.distribute.polling  # noqa: F401

# isort: split
import grpc
from grpc._cython import cygrpc

from everflow import errors
from everflow.errors import from_code

NO_SIZE_LIMITS = (("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1))
# A task that comes back is found within a second or two, however long it was away.
_RECONNECTING = (
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 5000),
    ("grpc.max_reconnect_backoff_ms", 1000),
)
_NO_FLAGS = 0


@functools.cache
def channel(address: str) -> Any:
    """The channel to a server, shared by all who talk to it."""
    return grpc.insecure_channel(address, options=(*NO_SIZE_LIMITS, *_RECONNECTING))


def called(method: Any, request: Any, timeout: float | None = None, waits: bool = True) -> Any:
    """Calls a remote method, waiting for its server to come up if it should; a failure is raised as an error of `tf.errors`."""
    try:
        return method(request, timeout=timeout, wait_for_ready=waits)
    except grpc.RpcError as e:
        raise failure(e) from e


def failure(error: Any) -> errors.OpError:
    """The error of `tf.errors` that a failed call stands for."""
    return from_code(None, None, error.details(), error.code().value[0])


class Method:
    """A method of a server, from bytes to bytes: called, or begun with `future`. A call is waited for in the thread that makes it."""

    def __init__(self, channel: Any, name: str) -> None:
        self._call = channel._channel.segregated_call
        self._name = name.encode()
        self._future = channel.unary_unary(name).future

    def __call__(self, request: bytes, timeout: float | None = None) -> bytes:
        until = None if timeout is None else time.time() + timeout
        answer = cygrpc.ReceiveMessageOperation(_NO_FLAGS)
        status = cygrpc.ReceiveStatusOnClientOperation(_NO_FLAGS)
        operations = (
            cygrpc.SendInitialMetadataOperation(None, _NO_FLAGS),
            cygrpc.SendMessageOperation(request, _NO_FLAGS),
            cygrpc.SendCloseFromClientOperation(_NO_FLAGS),
            cygrpc.ReceiveInitialMetadataOperation(_NO_FLAGS),
            answer,
            status,
        )
        defaults = cygrpc.PropagationConstants.GRPC_PROPAGATE_DEFAULTS
        self._call(defaults, self._name, None, until, None, None, ((operations, None),), None, None).next_event()
        if status.code():
            raise from_code(None, None, status.details(), status.code())
        return answer.message()

    def future(self, request: bytes, timeout: float | None = None) -> Any:
        """A call under way."""
        return self._future(request, timeout=timeout)


def result(call: Any, name: str) -> bytes:
    """What a call that was begun came back with."""
    try:
        return call.result()
    except grpc.RpcError as e:
        raise failure(e) from e
    except grpc.FutureCancelledError as e:
        raise errors.CancelledError(None, None, f"{name} was cancelled") from e


class DaemonThreads(futures.Executor):
    """A thread for each call under way, kept for the next. Steps may wait for long, and one that does must not keep the program
    from ending."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> futures.Future[Any]:
        """Starts a call."""
        future: futures.Future[Any] = futures.Future()
        with self._lock:
            is_new = self._idle == 0
            self._idle -= not is_new
        self._work.put((future, fn, args, kwargs))
        if is_new:
            threading.Thread(target=self._serve, daemon=True).start()
        return future

    def _serve(self) -> None:
        while True:
            future, fn, args, kwargs = self._work.get()
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as e:
                future.set_exception(e)
            del future, fn, args, kwargs
            with self._lock:
                self._idle += 1
