"""Where a watched run sends what it finds: folders (`file://`) and servers that listen (`grpc://`)."""

from __future__ import annotations

import abc
import hashlib
import os
import queue
import threading
import time
from collections.abc import Iterator
from typing import Any

from everflow.debug import disk_usage, events
from everflow.debug.dump_files import CORE_METADATA_TAG, GRAPH_FILE_TAG, HASH_TAG, METADATA_FILE_PREFIX, device_name_to_device_path
from everflow.debug.events import Seen
from everflow.errors import failed_precondition, invalid_argument, unavailable

FILE = "file://"
GRPC = "grpc://"
# How many bytes of a tensor or graph go into one message, and how long a server may take to start.
CHUNK = 4000 * 1024
PATIENCE = 60.0

DISABLED, READ_ONLY, READ_WRITE = 1, 2, 3


def now() -> int:
    """The time in microseconds."""
    return time.time_ns() // 1000


def graph_hash(graph_def: bytes) -> int:
    """A number that tells graphs apart."""
    return int.from_bytes(hashlib.blake2b(graph_def, digest_size=8).digest(), "little")


class Destination(abc.ABC):
    """Takes what one run finds."""

    @abc.abstractmethod
    def graph(self, device: str, graph_def: bytes) -> None:
        """Takes what runs on a device."""

    @abc.abstractmethod
    def metadata(self, metadata: dict[str, Any]) -> None:
        """Takes what there is to know of the run."""

    def wants(self, node_name: str, slot: int, debug_op: str, is_gated: bool) -> bool:
        """Whether a debug op is to look at an output."""
        return True

    @abc.abstractmethod
    def tensor(self, seen: Seen, node_name: str, slot: int, debug_op: str, device: str, is_gated: bool) -> None:
        """Takes what a debug op gave for an output."""

    @abc.abstractmethod
    def close(self) -> None:
        """Ends the run."""


def open_destination(url: str) -> Destination:
    """The destination that a URL names."""
    if url.startswith(FILE):
        return Folder(url.removeprefix(FILE))
    if url.startswith(GRPC):
        return Listener(url)
    raise invalid_argument(f"Unsupported scheme in the debug URL {url}: it must start with {FILE} or {GRPC}")


class Folder(Destination):
    """Writes files."""

    def __init__(self, root: str) -> None:
        self.root = root

    def _write(self, path: str, event: Any) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        content = event.SerializeToString()
        for again in range(1 << 30):
            try:
                with open(f"{path}-{again}" if again else path, "xb") as file:
                    file.write(content)
                return
            except FileExistsError:
                continue

    def graph(self, device: str, graph_def: bytes) -> None:
        folder = os.path.join(self.root, device_name_to_device_path(device))
        name = f"{METADATA_FILE_PREFIX}{GRAPH_FILE_TAG}{HASH_TAG}{graph_hash(graph_def)}_"
        if not os.path.isdir(folder) or not any(entry.startswith(name) for entry in os.listdir(folder)):
            self._write(os.path.join(folder, f"{name}{now()}"), events.graph_event(graph_def, now()))

    def metadata(self, metadata: dict[str, Any]) -> None:
        at = now()
        name = f"{METADATA_FILE_PREFIX}{CORE_METADATA_TAG}sessionrun{metadata['session_run_index']:014d}_{at}"
        self._write(os.path.join(self.root, name), events.message_event(events.compact(metadata), at))

    def tensor(self, seen: Seen, node_name: str, slot: int, debug_op: str, device: str, is_gated: bool) -> None:
        disk_usage.take(seen.size)
        at = now()
        path = os.path.join(self.root, device_name_to_device_path(device), f"{node_name}_{slot}_{debug_op}_{at}")
        self._write(path, events.tensor_event(seen, node_name, slot, debug_op, device, at))

    def close(self) -> None:
        """There is nothing to end: each file is written at once."""


class Listener(Destination):
    """Streams events to a server of TensorFlow's EventListener service, such as TensorBoard's debugger.

    The server answers the graphs and the metadata, and with that says which gated debug ops it wants from then on: to see what
    they give, or to hold the run until it has answered (a breakpoint).
    """

    # {URL: {watch: what the server said of it last}}, which lasts longer than a run.
    _states: dict[str, dict[tuple[str, int, str], int]] = {}
    _lock = threading.Lock()

    def __init__(self, url: str) -> None:
        import grpc

        from everflow.proto import debug_service_pb2_grpc

        self._url = url
        address, _, self._path = url.removeprefix(GRPC).partition("/")
        with self._lock:
            self._state = self._states.setdefault(url, {})
        self._channel = grpc.insecure_channel(address, options=(("grpc.max_receive_message_length", -1),))
        ready = grpc.channel_ready_future(self._channel)
        # The second time is short, for a process that was stopped while it waited.
        for patience in (PATIENCE, PATIENCE / 10):
            try:
                ready.result(timeout=patience)
                break
            except grpc.FutureTimeoutError:
                continue
        else:
            self._channel.close()
            raise failed_precondition(f"Channel at the following gRPC stream URL is not ready: {url}")
        self._sent: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._replies = debug_service_pb2_grpc.EventListenerStub(self._channel).SendEvents(iter(self._sent.get, None))  # type: ignore[no-untyped-call]

    def _exchange(self, event: Any) -> None:
        """Sends an event and waits for the answer."""
        self._sent.put(event)
        self._take(self._replies)

    def _take(self, replies: Iterator[Any]) -> None:
        import grpc

        try:
            reply = next(replies, None)
        except grpc.RpcError as error:
            raise unavailable(f"The debug server at {self._url} is gone: {error}") from None
        for change in reply.debug_op_state_changes if reply is not None else ():
            self._state[change.node_name, change.output_slot, change.debug_op] = change.state

    def graph(self, device: str, graph_def: bytes) -> None:
        at = now()
        head = f"{graph_hash(graph_def)},{device},{at}|"
        parts = [graph_def[i : i + CHUNK] for i in range(0, len(graph_def), CHUNK)] or [b""]
        for index, part in enumerate(parts):
            event = events.graph_event(f"{head}{index}|{len(parts)}|".encode() + part, at)
            if index + 1 < len(parts):
                self._sent.put(event)
            else:
                self._exchange(event)

    def metadata(self, metadata: dict[str, Any]) -> None:
        self._exchange(events.message_event(events.compact({**metadata, "grpc_path": self._path}), now()))

    def wants(self, node_name: str, slot: int, debug_op: str, is_gated: bool) -> bool:
        return not is_gated or self._state.get((node_name, slot, debug_op), DISABLED) != DISABLED

    def tensor(self, seen: Seen, node_name: str, slot: int, debug_op: str, device: str, is_gated: bool) -> None:
        event = events.tensor_event(seen, node_name, slot, debug_op, device, now())
        for part in events.split(event, device, CHUNK):
            self._sent.put(part)
        if is_gated and self._state.get((node_name, slot, debug_op)) == READ_WRITE:
            self._take(self._replies)

    def close(self) -> None:
        import grpc

        self._sent.put(None)
        try:
            # The server has seen all when it ends the stream too.
            for reply in self._replies:
                for change in reply.debug_op_state_changes:
                    self._state[change.node_name, change.output_slot, change.debug_op] = change.state
        except grpc.RpcError:
            pass
        finally:
            self._channel.close()
