"""A piece of a graph that a server of another process is asked to run, with tensors that come and go with each call."""

from __future__ import annotations

import contextlib
import secrets
import threading
from typing import Any

from everflow import errors
from everflow.distribute.wire import called
from everflow.distribute.worker_service import rendezvous_key
from everflow.errors import from_code
from everflow.graph import attrs as attr_values
from everflow.graph.dtypes import DTypeLike
from everflow.proto import graph_pb2, worker_pb2


class RemotePart:
    """The piece is registered with the server at its first run; `device` is what the server calls the place of its ends."""

    def __init__(self, worker: Any, device: str, incarnation: int, waits_for_server: bool = True) -> None:
        self.device = device
        self.graph_def = graph_pb2.GraphDef()
        self.incoming_types: list[Any] = []
        self._worker = worker
        self._incarnation = incarnation
        self._waits = waits_for_server
        self._incoming: list[str] = []
        self._outgoing: list[str] = []
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
        return name, rendezvous_key(settings.__getitem__)

    def call(self, tensors: list[Any], timeout: float | None) -> tuple[int, list[Any]]:
        """Runs the piece with TensorProtos: the number of the step, which the caller has to finish, and the results."""
        with self._lock:
            if not self._handle and not self._is_released:
                request = worker_pb2.RegisterGraphRequest(graph_def=self.graph_def)
                self._handle = called(self._worker.RegisterGraph, request, waits=self._waits).graph_handle
        if self._is_released:
            raise errors.CancelledError(None, None, "RunGraph was cancelled: its session is closed")
        step = secrets.randbits(56)
        request = worker_pb2.RunGraphRequest(
            graph_handle=self._handle,
            step_id=step,
            store_errors_in_response_body=True,
            recv_key=self._outgoing,
            request_id=secrets.randbits(62),
        )
        for key, tensor in zip(self._incoming, tensors, strict=True):
            request.send.add(name=key).tensor.CopyFrom(tensor)
        response = called(self._worker.RunGraph, request, timeout, self._waits)
        if response.status_code:
            self.finish(step)
            if self._is_released and response.status_code == errors.ABORTED:
                raise errors.CancelledError(None, None, response.status_error_message)
            raise from_code(None, None, response.status_error_message, response.status_code)
        found = {t.name: t.tensor for t in response.recv}
        return step, [found[key] for key in self._outgoing]

    def finish(self, step: int) -> None:
        """Lets the server forget what it keeps of a step."""
        called(self._worker.CleanupGraph, worker_pb2.CleanupGraphRequest(step_id=step), waits=self._waits)

    def release(self) -> None:
        """Lets the server forget the piece, which ends runs of it under way."""
        with self._lock:
            self._is_released = True
        if self._handle:
            with contextlib.suppress(errors.OpError):
                request = worker_pb2.DeregisterGraphRequest(graph_handle=self._handle)
                called(self._worker.DeregisterGraph, request, timeout=5, waits=self._waits)
