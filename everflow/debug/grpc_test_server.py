"""A debug server for tests, which keeps what it is sent, or dumps it to a folder."""

from __future__ import annotations

import functools
import json
import os
import socket
import tempfile
import threading
import time
from typing import Any

import grpc

from everflow.api import internal
from everflow.debug import dump_files
from everflow.debug.destinations import Folder, graph_hash
from everflow.debug.events import graph_event
from everflow.debug.grpc_server import EventListenerBaseServicer, EventListenerBaseStreamHandler
from everflow.proto import debug_service_pb2


@internal("debug.lib.grpc_debug_test_server.EventListenerTestStreamHandler")
class EventListenerTestStreamHandler(EventListenerBaseStreamHandler):
    """Takes the events of a run, for a folder or, where there is none, for the server."""

    def __init__(self, dump_dir: str | None, event_listener_servicer: Any) -> None:
        self._server = event_listener_servicer
        self._folder = dump_dir
        self._graphs: list[tuple[Any, str, int]] = []

    def on_core_metadata_event(self, event: Any) -> Any:
        """Has the run's files go to the folder that its address names."""
        if self._server.toggles:
            self._server.toggle_watch()
        self._server.core_metadata_json_strings.append(event.log_message.message)
        if self._folder is not None:
            known = json.loads(event.log_message.message)
            self._folder = os.path.join(self._folder, known.get("grpc_path", ""))
            name = f"{dump_files.METADATA_FILE_PREFIX}{dump_files.CORE_METADATA_TAG}sessionrun{known['session_run_index']:014d}"
            self._write(f"{name}_{int(event.wall_time)}", event)
            for graph_def, device, at in self._graphs:
                self._write_graph(graph_def, device, at)
        return debug_service_pb2.EventReply()

    def on_graph_def(self, graph_def: Any, device_name: Any, wall_time: Any) -> None:
        """Keeps a graph: where it goes is known when the metadata has come."""
        self._server.partition_graph_defs.append(graph_def)
        if self._folder is not None:
            self._graphs.append((graph_def, device_name, int(wall_time)))

    def on_value_event(self, event: Any) -> Any:
        """Keeps a tensor; a run that waits at a breakpoint goes on."""
        (value,) = event.summary.value
        if self._folder is not None:
            place = json.loads(value.metadata.plugin_data.content)
            node, slot, debug_op = value.node_name.rsplit(":", 2)
            folder = dump_files.device_name_to_device_path(place["device"])
            self._write(os.path.join(folder, f"{node}_{slot}_{debug_op}_{int(event.wall_time)}"), event)
        else:
            tensor = dump_files.load_tensor_from_event(event)
            self._server.debug_tensor_values.setdefault(value.node_name, []).append(tensor)
        node, slot, debug_op = value.node_name.rsplit(":", 2)
        is_awaited = (node, int(slot), debug_op) in self._server.breakpoints
        return debug_service_pb2.EventReply() if is_awaited else None

    def _write_graph(self, graph_def: Any, device: str, at: int) -> None:
        content = graph_def.SerializeToString(deterministic=True)
        name = f"{dump_files.METADATA_FILE_PREFIX}{dump_files.GRAPH_FILE_TAG}{dump_files.HASH_TAG}{graph_hash(content)}_{at}"
        self._write(os.path.join(dump_files.device_name_to_device_path(device), name), graph_event(content, at))

    def _write(self, name: str, event: Any) -> None:
        assert self._folder is not None
        Folder(self._folder)._write(os.path.join(self._folder, name), event)


@internal("debug.lib.grpc_debug_test_server.EventListenerTestServicer")
class EventListenerTestServicer(EventListenerBaseServicer):
    """Keeps graphs, tensors, stacks and sources. `toggle_watch_on_core_metadata`: watches that each run turns on or off again."""

    def __init__(self, server_port: int, dump_dir: str | None, toggle_watch_on_core_metadata: Any = None) -> None:
        super().__init__(server_port, functools.partial(EventListenerTestStreamHandler, dump_dir, self))
        self.toggles: list[tuple[str, int, str]] = list(toggle_watch_on_core_metadata or [])
        self._is_on = False
        self.core_metadata_json_strings: list[str] = []
        self.partition_graph_defs: list[Any] = []
        self.debug_tensor_values: dict[str, list[Any]] = {}
        self.clear_data()

    def toggle_watch(self) -> None:
        """Turns the watches that change with each run on or off."""
        self._is_on = not self._is_on
        for watch in self.toggles:
            (self.request_watch if self._is_on else self.request_unwatch)(*watch)

    def clear_data(self) -> None:
        """Forgets what it was sent."""
        self.core_metadata_json_strings = []
        self.partition_graph_defs = []
        self.debug_tensor_values = {}
        self._tracebacks: list[Any] = []
        self._files: dict[str, list[str]] = {}

    def SendTracebacks(self, request: Any, context: Any) -> Any:
        """Keeps stacks."""
        self._tracebacks.append(request)
        return debug_service_pb2.EventReply()

    def SendSourceFiles(self, request: Any, context: Any) -> Any:
        """Keeps sources."""
        self._files.update((file.file_path, list(file.lines)) for file in request.source_files)
        return debug_service_pb2.EventReply()

    def query_op_traceback(self, op_name: str) -> list[tuple[str, int, str]]:
        """The stack of an op: (file, line, function), outermost first."""
        for message in self._tracebacks:
            for entry in message.graph_traceback.log_entries:
                if entry.name == op_name:
                    return _calls(entry.code_def, message.graph_traceback.id_to_string)
        raise ValueError(f"Op '{op_name}' does not exist in the tracebacks received by the debug server.")

    def query_origin_stack(self) -> list[list[tuple[str, int, str]]]:
        """The stacks of the runs."""
        return [_calls(message.origin_stack, message.origin_id_to_string) for message in self._tracebacks]

    def query_call_types(self) -> list[int]:
        """What sort of runs they were."""
        return [message.call_type for message in self._tracebacks]

    def query_call_keys(self) -> list[str]:
        """The keys of the runs."""
        return [message.call_key for message in self._tracebacks]

    def query_graph_versions(self) -> list[int]:
        """The versions of the runs' graphs."""
        return [message.graph_version for message in self._tracebacks]

    def query_source_file_line(self, file_path: str, lineno: int) -> str:
        """A line of a source."""
        if not self._files:
            raise ValueError("This debug server has not received any source file contents yet.")
        if file_path not in self._files:
            raise ValueError(f"Source file at path {file_path} has not been received by the debug server")
        return self._files[file_path][lineno - 1]


def _calls(code_def: Any, texts: Any) -> list[tuple[str, int, str]]:
    return [(texts[trace.file_id], trace.lineno, texts[trace.function_id]) for trace in code_def.traces]


def _free_port() -> int:
    with socket.socket(socket.AF_INET6 if socket.has_ipv6 else socket.AF_INET) as found:
        found.bind(("", 0))
        return found.getsockname()[1]


def _wait_for(port: int, thread: threading.Thread, server: EventListenerTestServicer) -> None:
    """Waits until the server answers, as long as there is hope that it will."""
    with grpc.insecure_channel(f"localhost:{port}") as channel:
        ready = grpc.channel_ready_future(channel)
        while True:
            try:
                return ready.result(timeout=10)
            except grpc.FutureTimeoutError:
                if not (thread.is_alive() or server._is_started):
                    raise


@internal("debug.lib.grpc_debug_test_server.start_server_on_separate_thread")
def start_server_on_separate_thread(
    dump_to_filesystem: bool = True,
    server_start_delay_sec: float = 0.0,
    poll_server: bool = False,
    blocking: bool = True,
    toggle_watch_on_core_metadata: Any = None,
) -> tuple[int, str, str | None, threading.Thread, EventListenerTestServicer]:
    """Starts a server in a thread; returns its port, URL and folder, the thread and the server."""
    port = _free_port()
    folder = tempfile.mkdtemp(prefix="tfdbg_") if dump_to_filesystem else None
    server = EventListenerTestServicer(port, folder, toggle_watch_on_core_metadata)

    def start() -> None:
        time.sleep(server_start_delay_sec)
        server.run_server(blocking=blocking)

    thread = threading.Thread(target=start, daemon=True)
    thread.start()
    if poll_server:
        _wait_for(port, thread, server)
    return port, f"grpc://localhost:{port}", folder, thread, server
