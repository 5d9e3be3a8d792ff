"""gRPC as the cluster's protocol uses it: channels without size limits, errors as status codes."""

from __future__ import annotations

import contextlib
import functools
import queue
import threading
from collections.abc import Callable
from concurrent import futures
from typing import Any

import grpc
from google.protobuf import message_factory

from everflow import errors
from everflow.errors import from_code

NO_SIZE_LIMITS = (("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1))
# A task that comes back is found within a second or two, however long it was away.
_RECONNECTING = (
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 5000),
    ("grpc.max_reconnect_backoff_ms", 1000),
)
_STATUS = {code.value[0]: code for code in grpc.StatusCode}


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


def answering(handler: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    """A service's method whose errors reach the caller as a status."""

    @functools.wraps(handler)
    def handle(self: Any, request: Any, context: Any) -> Any:
        with failing(context):
            return handler(self, request)

    return handle


@contextlib.contextmanager
def failing(context: Any) -> Any:
    """Within the block, what is raised becomes the status of a call."""
    try:
        yield
    except errors.OpError as e:
        code, text = _STATUS[e.error_code], e.message
    except (ValueError, TypeError) as e:
        code, text = grpc.StatusCode.INVALID_ARGUMENT, str(e)
    except Exception as e:
        # A mistake of ours: callers do better with an error than by asking again.
        code, text = grpc.StatusCode.INTERNAL, f"{type(e).__name__}: {e}"
    else:
        return
    context.abort(code, text)


def add_service(listener: Any, service: Any, servant: Any, plain: tuple[str, ...] = ()) -> None:
    """Has `servant` answer a service: each method that it has, those named `plain` from bytes to bytes."""
    handlers = {}
    for method in service.methods:
        answer = getattr(servant, method.name, None)
        if answer is None:
            continue
        if method.name in plain:
            handlers[method.name] = grpc.unary_unary_rpc_method_handler(answer)
        else:
            asked = message_factory.GetMessageClass(method.input_type)
            handlers[method.name] = grpc.unary_unary_rpc_method_handler(
                answer, request_deserializer=asked.FromString, response_serializer=_serialized
            )
    listener.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service.full_name, handlers),))
    listener.add_registered_method_handlers(service.full_name, handlers)


def _serialized(message: Any) -> bytes:
    return message.SerializeToString()


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
