"""The server's side of a debugger: takes the events of watched runs, and says what it wants to see."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any, NamedTuple

import grpc

from everflow.api import internal
from everflow.debug import node_names
from everflow.debug.destinations import DISABLED, READ_ONLY, READ_WRITE
from everflow.platform import logging
from everflow.proto import debug_service_pb2, debug_service_pb2_grpc, graph_pb2

NO_LIMITS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]

for _name in ("EventListenerServicer", "EventListenerStub", "add_EventListenerServicer_to_server"):
    internal(f"debug.lib.debug_service_pb2_grpc.{_name}")(getattr(debug_service_pb2_grpc, _name))


@internal("debug.lib.grpc_debug_server.DebugWatch")
class DebugWatch(NamedTuple):
    """A debug op on an output."""

    node_name: str
    output_slot: int
    debug_op: str


@internal("debug.lib.grpc_debug_server.EventListenerBaseStreamHandler")
class EventListenerBaseStreamHandler:
    """Takes the events of one run. One is made for each."""

    def __init__(self) -> None:
        pass

    def on_core_metadata_event(self, event: Any) -> Any:
        """Takes what there is to know of the run; may return an EventReply."""
        raise NotImplementedError("on_core_metadata_event() is not implemented in the base servicer class")

    def on_graph_def(self, graph_def: Any, device_name: Any, wall_time: Any) -> None:
        """Takes the graph of a device."""
        raise NotImplementedError("on_graph_def() is not implemented in the base servicer class")

    def on_value_event(self, event: Any) -> Any:
        """Takes a tensor; may return an EventReply, for which a run waits at a breakpoint."""
        raise NotImplementedError("on_value_event() is not implemented in the base servicer class")


@internal("debug.lib.grpc_debug_server.EventListenerBaseServicer")
class EventListenerBaseServicer(debug_service_pb2_grpc.EventListenerServicer):  # type: ignore[name-defined]
    """A debug server at a port. `stream_handler_class()` makes what takes the events of a run."""

    def __init__(self, server_port: int, stream_handler_class: Callable[[], EventListenerBaseStreamHandler]) -> None:
        self._server_port = server_port
        self._stream_handler_class = stream_handler_class
        self._lock = threading.Lock()
        self._server: Any = None
        self._is_started = False
        self._stopped = threading.Event()
        self._changes: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._gated: dict[DebugWatch, None] = {}
        self._breakpoints: set[tuple[str, int, str]] = set()

    def SendEvents(self, request_iterator: Any, context: Any) -> Iterator[Any]:
        """Takes the events of a run, and answers the graphs, the metadata and what the handler has an answer to."""
        handler: Any = None
        graphs: dict[str, list[bytes]] = {}
        tensors: dict[tuple[str, float], list[Any]] = {}
        for event in request_iterator:
            if handler is None:
                handler = self._stream_handler_class()
            kind = event.WhichOneof("what")
            if kind == "graph_def":
                head, index, count, content = event.graph_def.split(b"|", 3)
                parts = graphs.setdefault(head.decode(), [b""] * int(count))
                parts[int(index)] = content
                if int(index) + 1 == int(count):
                    _, device, time = _head(head.decode())
                    graph_def = graph_pb2.GraphDef.FromString(b"".join(graphs.pop(head.decode())))
                    self._note_gated(graph_def)
                    handler.on_graph_def(graph_def, device, int(time))
                    yield self._with_changes(debug_service_pb2.EventReply(), False)
            elif kind == "log_message":
                reply = handler.on_core_metadata_event(event)
                yield self._with_changes(reply or debug_service_pb2.EventReply(), True)
            elif kind == "summary":
                whole = _joined(event, tensors)
                if whole is not None:
                    reply = handler.on_value_event(whole)
                    if reply is not None:
                        yield self._with_changes(reply, True)

    def _note_gated(self, graph_def: Any) -> None:
        for node in graph_def.node:
            if node_names.is_debug_node(node.name) and node.attr["gated_grpc"].b:
                watched, slot, _, debug_op = node_names.parse_debug_node_name(node.name)
                self._gated[DebugWatch(watched, slot, debug_op)] = None

    def _with_changes(self, reply: Any, takes_all: bool) -> Any:
        """A reply that also says what was asked for meanwhile."""
        while takes_all and not self._changes.empty():
            change = self._changes.get()
            reply.debug_op_state_changes.add().CopyFrom(change)
            watch = (change.node_name, change.output_slot, change.debug_op)
            if change.state == READ_WRITE:
                self._breakpoints.add(watch)
            else:
                self._breakpoints.discard(watch)
        return reply

    def run_server(self, blocking: bool = True) -> None:
        """Starts the server; returns when it is stopped, or at once where `blocking` is false."""
        with self._lock:
            if self._stopped.is_set():
                raise ValueError("Server has already stopped")
            if self._is_started:
                raise ValueError("Server has already started running")
            self._server = grpc.server(futures.ThreadPoolExecutor(max_workers=10), options=NO_LIMITS)
            debug_service_pb2_grpc.add_EventListenerServicer_to_server(self, self._server)  # type: ignore[no-untyped-call]
            self._server.add_insecure_port(f"[::]:{self._server_port}")
            self._server.start()
            self._is_started = True
        if blocking:
            self._stopped.wait()

    def stop_server(self, grace: float = 1.0) -> threading.Event:
        """Stops the server; the returned event is set when it has."""
        with self._lock:
            if not self._is_started or self._stopped.is_set():
                raise ValueError("Server has already stopped" if self._stopped.is_set() else "Server has not started yet")
            found = self._server.stop(grace=grace)
            self._stopped.set()
            return found

    def request_watch(self, node_name: str, output_slot: int, debug_op: str, breakpoint: bool = False) -> None:
        """Asks for what a gated debug op gives from the next run on; at a breakpoint runs wait for an answer."""
        self._change(node_name, output_slot, debug_op, READ_WRITE if breakpoint else READ_ONLY)

    def request_unwatch(self, node_name: str, output_slot: int, debug_op: str) -> None:
        """Asks no more for what a gated debug op gives."""
        self._change(node_name, output_slot, debug_op, DISABLED)

    def _change(self, node_name: str, output_slot: int, debug_op: str, state: int) -> None:
        kind = debug_service_pb2.EventReply.DebugOpStateChange
        self._changes.put(kind(state=state, node_name=node_name, output_slot=output_slot, debug_op=debug_op))

    @property
    def breakpoints(self) -> set[tuple[str, int, str]]:
        """Where runs wait: (node, output slot, debug op)."""
        return self._breakpoints

    def gated_grpc_debug_watches(self) -> list[DebugWatch]:
        """The gated debug ops of all graphs that were seen."""
        return list(self._gated)

    def SendTracebacks(self, request: Any, context: Any) -> Any:
        """Takes the stacks of a run and of a graph's ops."""
        logging.vlog(1, "The debug server takes no stacks.")
        return debug_service_pb2.EventReply()

    def SendSourceFiles(self, request: Any, context: Any) -> Any:
        """Takes files of the program."""
        logging.vlog(1, "The debug server takes no sources.")
        return debug_service_pb2.EventReply()


def _head(text: str) -> tuple[str, str, str]:
    """The parts of `HASH,DEVICE,TIME`."""
    first, _, rest = text.partition(",")
    device, _, time = rest.rpartition(",")
    return first, device, time


def _joined(event: Any, waiting: dict[tuple[str, float], list[Any]]) -> Any:
    """A tensor's event put together from its parts; None as long as some of them have not come."""
    (value,) = event.summary.value
    place = json.loads(value.metadata.plugin_data.content or b"{}")
    count, index = int(place.get("numChunks", 1)), int(place.get("chunkIndex", 0))
    if count < 2:
        return event
    key = (value.node_name, event.wall_time)
    parts = waiting.setdefault(key, [None] * count)
    parts[index] = value.tensor
    if any(part is None for part in parts):
        return None
    del waiting[key]
    whole = parts[0]
    if whole.string_val:
        for part in parts[1:]:
            whole.string_val.extend(part.string_val)
    else:
        whole.tensor_content = b"".join(part.tensor_content for part in parts)
    value.tensor.CopyFrom(whole)
    value.metadata.plugin_data.content = json.dumps({**place, "numChunks": 1, "chunkIndex": 0}).encode()
    return event
