"""gRPC as the cluster's protocol uses it: channels without size limits, errors as status codes."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from concurrent import futures
from typing import Any

import grpc

from everflow import errors
from everflow.errors import from_code

NO_SIZE_LIMITS = (("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1))
_STATUS = {code.value[0]: code for code in grpc.StatusCode}


@functools.cache
def channel(address: str) -> Any:
    """The channel to a server, shared by all who talk to it."""
    return grpc.insecure_channel(address, options=NO_SIZE_LIMITS)


def called(method: Any, request: Any, timeout: float | None = None, waits: bool = True) -> Any:
    """Calls a remote method, waiting for its server to come up if it should; a failure is raised as an error of `tf.errors`."""
    try:
        return method(request, timeout=timeout, wait_for_ready=waits)
    except grpc.RpcError as e:
        raise from_code(None, None, e.details(), e.code().value[0]) from e


def answering(handler: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    """A service's method whose errors reach the caller as a status."""

    @functools.wraps(handler)
    def handle(self: Any, request: Any, context: Any) -> Any:
        try:
            return handler(self, request)
        except errors.OpError as e:
            context.abort(_STATUS[e.error_code], e.message)
        except (ValueError, TypeError) as e:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(e))

    return handle


class DaemonThreads(futures.Executor):
    """A thread for each call. Steps may wait for long, and one that does must not keep the program from ending."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> futures.Future[Any]:
        """Starts a call."""
        future: futures.Future[Any] = futures.Future()

        def run() -> None:
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as e:
                future.set_exception(e)

        threading.Thread(target=run, daemon=True).start()
        return future
