"""A piece of a graph that a server of another process is asked to run, with tensors that come and go with each call."""

from __future__ import annotations

import contextlib
import secrets
import threading
from typing import Any

from everflow import errors
from everflow.distribute.held_objects import OBJECTS
from everflow.distribute.messages import Pieces, fields, name_and_tensor, named, number_field
from everflow.distribute.rendezvous import key_of
from everflow.distribute.wire import Begun, Method, Service
from everflow.distribute.worker_service import RUN_GRAPH, SERVICE
from everflow.errors import from_code
from everflow.graph import attrs as attr_values
from everflow.graph.dtypes import DTypeLike
from everflow.proto import graph_pb2, worker_pb2


class RemotePart:
    """The piece is registered with the server at its first run; `device` is what the server calls the place of its ends."""

    def __init__(
        self, channel: Any, device: str, incarnation: int, session: str = "", is_ours: bool = False, is_known: bool = False
    ) -> None:
        self.device = device
        self.graph_def = graph_pb2.GraphDef()
        self.incoming_types: list[Any] = []
        # What the server calls the session that the piece is of, and whether it was told of that session before.
        self._session, self._is_known = session, is_known
        self._worker = Service(channel, SERVICE)
        self._run = Method(channel, RUN_GRAPH)
        self._incarnation = incarnation
        # Everflow's servers keep nothing of a step but objects that can't travel; TensorFlow's have to be told when one is over.
        self._leaves_something = not is_ours
        self._incoming: list[str] = []
        self._outgoing: list[str] = []
        self._head = b""
        self._handle = ""
        self._is_released = False
        self._lock = threading.Lock()

    def receive(self, dtype: DTypeLike) -> str:
        """Adds what takes a tensor from here; returns what its consumers call it."""
        name, key = self._end("_Recv", f"wire.in.{len(self._incoming)}", "tensor_type", dtype)
        self._incoming.append(key)
        self.incoming_types.append(dtype)
        return f"{name}:0"

    def send(self, source: str, dtype: DTypeLike) -> None:
        """Adds what gives a tensor back."""
        _, key = self._end("_Send", f"wire.out.{len(self._outgoing)}", "T", dtype, source)
        self._outgoing.append(key)
        self._leaves_something = self._leaves_something or dtype in OBJECTS

    def _end(self, kind: str, name: str, type_attr: str, dtype: Any, *inputs: str) -> tuple[str, str]:
        incarnation = self._incarnation
        settings = {
            "tensor_name": name,
            "send_device": self.device,
            "recv_device": self.device,
            "client_terminated": True,
            "send_device_incarnation": incarnation - 2**64 if incarnation >= 2**63 else incarnation,
        }
        entry = self.graph_def.node.add(name=name, op=kind, device=self.device, input=inputs)
        entry.attr[type_attr].type = dtype.as_datatype_enum
        for attr, value in settings.items():
            entry.attr[attr].CopyFrom(attr_values.to_proto(value, None))
        return name, key_of(settings.__getitem__)

    def begin(self, tensors: list[Pieces], timeout: float | None) -> tuple[int, Begun]:
        """Has the server start to run the piece: the number of the step, which the caller has to finish, and the call under way."""
        step, request = self._request(tensors)
        return step, self._run.begin(request, timeout)

    def call(self, tensors: list[Pieces], timeout: float | None) -> tuple[int, list[memoryview]]:
        """Runs the piece with tensors: the number of the step, which the caller has to finish, and the results."""
        step, request = self._request(tensors)
        return step, self._results(step, self._run(request, timeout))

    def end(self, step: int, call: Begun) -> list[memoryview]:
        """The results of a call that was begun."""
        return self._results(step, call.result())

    def _request(self, tensors: list[Pieces]) -> tuple[int, Pieces]:
        if not self._handle:
            self._register()
        if self._is_released:
            raise errors.CancelledError(None, None, "RunGraph was cancelled: its session is closed")
        step = secrets.randbits(56)
        pieces = [self._head, number_field(2, step), number_field(11, secrets.randbits(62))]
        for key, tensor in zip(self._incoming, tensors, strict=True):
            pieces += named(3, key, tensor)
        return step, pieces

    def _register(self) -> None:
        with self._lock:
            if self._handle or self._is_released:
                return
            request = worker_pb2.RegisterGraphRequest(
                graph_def=self.graph_def, session_handle=self._session, create_worker_session_called=self._is_known
            )
            handle = self._worker.RegisterGraph(request, waits=False).graph_handle
            self._head = worker_pb2.RunGraphRequest(
                session_handle=self._session,
                create_worker_session_called=self._is_known,
                graph_handle=handle,
                store_errors_in_response_body=True,
                recv_key=self._outgoing,
            ).SerializeToString()
            self._handle = handle

    def _results(self, step: int, answer: memoryview) -> list[memoryview]:
        found: dict[str, memoryview] = {}
        code, message = 0, ""
        for number, value in fields(answer):
            if number == 1:
                name, tensor = name_and_tensor(value)
                found[name] = tensor
            elif number == 5:
                code = value
            elif number == 6:
                message = str(value, "utf-8")
        if code:
            self.finish(step)
            if self._is_released and code == errors.ABORTED:
                raise errors.CancelledError(None, None, message)
            raise self.failed(message, code)
        return [found[key] for key in self._outgoing]

    def failed(self, message: str, code: int) -> errors.OpError:
        """The error that the server answered with."""
        return from_code(None, None, message, code)

    def finish(self, step: int) -> None:
        """Lets the server forget what it keeps of a step, without waiting for its answer."""
        if self._leaves_something:
            self._worker.tell_CleanupGraph(worker_pb2.CleanupGraphRequest(step_id=step))

    def release(self) -> None:
        """Lets the server forget the piece, which ends runs of it under way."""
        with self._lock:
            self._is_released = True
        if self._handle:
            with contextlib.suppress(errors.OpError):
                request = worker_pb2.DeregisterGraphRequest(
                    graph_handle=self._handle, session_handle=self._session, create_worker_session_called=self._is_known
                )
                self._worker.DeregisterGraph(request, timeout=5, waits=False)
