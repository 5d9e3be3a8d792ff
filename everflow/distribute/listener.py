"""A gRPC server whose threads take turns: who takes a request answers it, while another waits for the next."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from google.protobuf import message_factory

from everflow import errors  # type: ignore[no-redef]
from everflow._native import ServedCall as Call
from everflow._native import WireServer
from everflow.distribute.wire import Outgoing
from everflow.platform import logging

# What answers a call: the request's memory and the call, to the answer.
Answer = Callable[[memoryview, Call], Outgoing]

# How many threads stay to wait for requests.
_KEPT = 8


class Listener:
    """`Listener().add("/package.Service/Method", answer)`, then `bind` and `start`."""

    def __init__(self) -> None:
        self._server = WireServer()
        self._answers: dict[str, Answer] = {}
        self._lock = threading.Lock()
        self._waiting = 0

    def add(self, method: str, answer: Answer) -> None:
        """Has a method answered, from memory to memory."""
        self._answers[method] = answer

    def add_service(self, service: Any, servant: Any, plain: tuple[str, ...] = ()) -> None:
        """Has `servant` answer a service: each method that it has, from message to message; those named `plain` from memory to
        memory, with the call."""
        for method in service.methods:
            answer = getattr(servant, method.name, None)
            if answer is not None:
                read = message_factory.GetMessageClass(method.input_type).FromString
                self.add(f"/{service.full_name}/{method.name}", answer if method.name in plain else _of_messages(read, answer))

    def bind(self, address: str) -> int:
        """Listens at an address; returns the port."""
        port = self._server.bind(address)
        if not port:
            raise errors.UnknownError(None, None, "Could not start gRPC server")
        return port

    def start(self) -> None:
        """Begins to answer."""
        self._server.start()
        self._join()

    def _join(self) -> None:
        self._waiting += 1
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        take = self._server.next
        while True:
            event = take()
            if type(event) is Call:
                self._work(event)
            else:
                try:
                    event()
                except Exception as e:
                    logging.error("The end of a call could not be told: %s", e)
            # A call must not outlive the next wait.
            del event
            if self._waiting > _KEPT and self._leave():
                return

    def _work(self, call: Call) -> None:
        with self._lock:
            self._waiting -= 1
            if not self._waiting:
                # Somebody has to be there for the next call, which may be what this one waits for.
                self._join()
        code = 0
        try:
            call.finish(0, "", self._answered(call))
        except errors.OpError as e:
            code, text = e.error_code, e.message
        except (ValueError, TypeError) as e:
            code, text = errors.INVALID_ARGUMENT, str(e)
        except Exception as e:
            # A mistake of ours: callers do better with an error than by asking again.
            code, text = errors.INTERNAL, f"{type(e).__name__}: {e}"
        if code:
            call.finish(code, text, None)
        with self._lock:
            self._waiting += 1

    def _answered(self, call: Call) -> Outgoing:
        answer = self._answers.get(call.path())
        if answer is None:
            raise errors.UnimplementedError(None, None, "Method not found!")
        request = call.request()
        if request is None:
            raise errors.UnimplementedError(None, None, "A request has one message, which is not compressed.")
        return answer(request, call)

    def _leave(self) -> bool:
        with self._lock:
            is_spare = self._waiting > _KEPT
            self._waiting -= is_spare
            return is_spare


def _of_messages(read: Callable[[bytes], Any], answer: Callable[[Any], Any]) -> Answer:
    return lambda request, call: answer(read(bytes(request))).SerializeToString()
