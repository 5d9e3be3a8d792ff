"""A gRPC server whose threads take turns at its queue: who takes a request from it answers it, while another waits for the next.

The server of Python's gRPC has one thread for the queue and others for the work, who wait for it in each call. Calls of a cluster are too
many and too short for that, so this one is built on what that server is built on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from google.protobuf import message_factory

from everflow import errors  # type: ignore[no-redef]
from everflow.distribute.wire import NO_SIZE_LIMITS, cygrpc
from everflow.platform import logging

# What answers a call: the request's bytes and the call, to the answer's bytes.
Answer = Callable[[bytes, "Call"], bytes]

_NO_FLAGS = 0
_NOTHING: tuple[Any, ...] = ()
# How many threads stay to wait for requests.
_KEPT = 8


class Call:
    """A request that is being answered."""

    __slots__ = ("_call", "_watch")

    def __init__(self, call: Any) -> None:
        self._call = call
        # Whoever takes it asks for the end of the call: that can be asked for once.
        self._watch = threading.Lock()

    def on_leave(self, leave: Callable[[], None]) -> None:
        """Has `leave()` called when who asked goes away."""
        if self._watch.acquire(blocking=False):

            def closed(event: Any) -> None:
                if event.batch_operations[0].cancelled():
                    leave()

            self._call.start_server_batch((cygrpc.ReceiveCloseOnServerOperation(_NO_FLAGS),), closed)

    def finish(self, code: int, text: bytes, answer: bytes | None) -> None:
        """Sends the status, and the answer if there is one."""
        operations = [
            cygrpc.SendInitialMetadataOperation(_NOTHING, _NO_FLAGS),
            cygrpc.SendStatusFromServerOperation(_NOTHING, code, text, _NO_FLAGS),
        ]
        if answer is not None:
            operations.append(cygrpc.SendMessageOperation(answer, _NO_FLAGS))
        if self._watch.acquire(blocking=False):
            operations.append(cygrpc.ReceiveCloseOnServerOperation(_NO_FLAGS))
        self._call.start_server_batch(operations, _sent)


def _sent(event: Any) -> None:
    """Nothing follows an answer."""


class Listener:
    """`Listener().add("/package.Service/Method", answer)`, then `bind` and `start`."""

    def __init__(self) -> None:
        self._queue = cygrpc.CompletionQueue()
        self._server = cygrpc.Server((*NO_SIZE_LIMITS, ("grpc.so_reuseport", 0)), False)
        self._server.register_completion_queue(self._queue)
        self._answers: dict[bytes, Answer] = {}
        self._lock = threading.Lock()
        self._waiting = 0

    def add(self, method: str, answer: Answer) -> None:
        """Has a method answered, from bytes to bytes."""
        self._answers[method.encode()] = answer

    def add_service(self, service: Any, servant: Any, plain: tuple[str, ...] = ()) -> None:
        """Has `servant` answer a service: each method that it has, from message to message; those named `plain` from bytes to bytes,
        with the call."""
        for method in service.methods:
            answer = getattr(servant, method.name, None)
            if answer is not None:
                read = message_factory.GetMessageClass(method.input_type).FromString
                self.add(f"/{service.full_name}/{method.name}", answer if method.name in plain else _of_messages(read, answer))

    def bind(self, address: str) -> int:
        """Listens at an address; returns the port."""
        port = self._server.add_http2_port(address.encode())
        if not port:
            raise errors.UnknownError(None, None, "Could not start gRPC server")
        return port

    def start(self) -> None:
        """Begins to answer."""
        self._server.start()
        self._expect()
        self._join()

    def _expect(self) -> None:
        self._server.request_call(self._queue, self._queue, None)

    def _join(self) -> None:
        self._waiting += 1
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            event = self._queue.poll()
            if event.completion_type == cygrpc.CompletionType.queue_shutdown:
                return
            follow = event.tag
            if follow is None:
                self._begin(event)
            elif follow is _sent:
                pass
            else:
                try:
                    follow(event)
                except Exception as e:
                    logging.error("The end of a call could not be told: %s", e)
            # A call lives as long as what was told of it, and must not outlive the next wait.
            del event, follow
            if self._waiting > _KEPT and self._leave():
                return

    def _begin(self, event: Any) -> None:
        """A call has come: its message is asked for, and the next call."""
        self._expect()
        call = event.call
        answer = self._answers.get(event.call_details.method)
        if answer is None:
            Call(call).finish(cygrpc.StatusCode.unimplemented, b"Method not found!", None)
            return

        def come(event: Any) -> None:
            request = event.batch_operations[0].message()
            if request is None:
                Call(call).finish(cygrpc.StatusCode.unimplemented, b"A request has one message.", None)
            else:
                self._work(answer, request, Call(call))

        call.start_server_batch((cygrpc.ReceiveMessageOperation(_NO_FLAGS),), come)

    def _work(self, answer: Answer, request: bytes, call: Call) -> None:
        with self._lock:
            self._waiting -= 1
            if not self._waiting:
                # Somebody has to be there for the next call, which may be what this one waits for.
                self._join()
        code, text, found = 0, b"", None
        try:
            found = answer(request, call)
        except errors.OpError as e:
            code, text = e.error_code, e.message.encode()
        except (ValueError, TypeError) as e:
            code, text = errors.INVALID_ARGUMENT, str(e).encode()
        except Exception as e:
            # A mistake of ours: callers do better with an error than by asking again.
            code, text = errors.INTERNAL, f"{type(e).__name__}: {e}".encode()
        call.finish(code, text, found)
        with self._lock:
            self._waiting += 1

    def _leave(self) -> bool:
        with self._lock:
            is_spare = self._waiting > _KEPT
            self._waiting -= is_spare
            return is_spare


def _of_messages(read: Callable[[bytes], Any], answer: Callable[[Any], Any]) -> Answer:
    return lambda request, call: answer(read(request)).SerializeToString()
