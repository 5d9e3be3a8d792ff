"""gRPC as the cluster's protocol uses it: calls from memory to memory, without limits of size; errors as those of `tf.errors`.

The protocol itself is in native/grpc.cpp. A call is made and waited for in the thread that asks for it.
"""

from __future__ import annotations

import functools
import queue
import threading
from collections.abc import Callable
from concurrent import futures
from typing import Any

from google.protobuf import message_factory

from everflow import errors
from everflow._native import WireChannel
from everflow.errors import from_code

# A message on its way out: memory, or pieces of it that follow each other.
Outgoing = Any


@functools.cache
def channel(address: str) -> WireChannel:
    """The channel to a server, shared by all who talk to it."""
    return WireChannel(address)


class Method:
    """A method of a server, from memory to memory: called, or begun. A call that `waits` waits for its server to come up."""

    def __init__(self, channel: WireChannel, name: str) -> None:
        self._channel_call, self._channel_begin = channel.call, channel.begin
        self._name = name

    def __call__(self, request: Outgoing, timeout: float | None = None, waits: bool = False) -> memoryview:
        found = self._channel_call(self._name, request, timeout, waits)
        if type(found) is tuple:
            raise _failure(self._name, *found)
        return found

    def begin(self, request: Outgoing, timeout: float | None = None) -> Begun:
        """A call under way."""
        return Begun(self._channel_begin(self._name, request, timeout, False), self._name)

    def tell(self, request: Outgoing) -> None:
        """Calls without waiting for an answer."""
        self._channel_begin(self._name, request, None, False).forget()


class Begun:
    """A call under way."""

    def __init__(self, call: Any, name: str) -> None:
        self._call = call
        self._name = name
        self._found: Any = None
        self._lock = threading.Lock()

    def result(self) -> memoryview:
        """What it comes back with."""
        with self._lock:
            if self._found is None:
                self._found = self._call.result()
        if type(self._found) is tuple:
            raise _failure(self._name, *self._found)
        return self._found

    def then(self, done: Callable[[Begun], None]) -> None:
        """Has `done` called with this when it is over, in another thread."""

        def wait() -> None:
            with self._lock:
                self._found = self._call.result()
            done(self)

        _threads.submit(wait)

    def cancel(self) -> None:
        """Gives it up, unless it is over."""
        self._call.cancel()


def _failure(method: str, code: int, message: str) -> errors.OpError:
    if code == errors.CANCELLED:
        message = f"{method.rpartition('/')[2]} was cancelled"
    return from_code(None, None, message, code)


class Service:
    """The methods of a service, from message to message: `Service(channel, descriptor).GetStatus(request, timeout)`.

    They wait for their server to come up, unless they are told not to.
    """

    def __init__(self, channel: WireChannel, service: Any) -> None:
        for method in service.methods:
            ask = Method(channel, f"/{service.full_name}/{method.name}")
            setattr(self, method.name, _of_messages(ask, message_factory.GetMessageClass(method.output_type).FromString))
            setattr(self, f"tell_{method.name}", functools.partial(_told, ask))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        raise AttributeError(name)


def _of_messages(ask: Method, read: Callable[[Any], Any]) -> Callable[..., Any]:
    def call(request: Any, timeout: float | None = None, waits: bool = True) -> Any:
        return read(bytes(ask(request.SerializeToString(), timeout, waits)))

    return call


def _told(ask: Method, request: Any) -> None:
    ask.tell(request.SerializeToString())


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


_threads = DaemonThreads()
