"""Sending stacks and sources to debug servers: which lines of the program made the ops that they see."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Iterator
from typing import Any

import grpc

from everflow.api import internal
from everflow.debug.run_keys import GRPC_URL_PREFIX
from everflow.debug.source_lines import guess_is_tensorflow_py_library
from everflow.platform import logging
from everflow.proto import debug_pb2, debug_service_pb2, debug_service_pb2_grpc, tfprof_log_pb2

NO_LIMITS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


class _Texts(dict[str, int]):
    """Numbers for texts, in the order in which they are first seen."""

    def __missing__(self, text: str) -> int:
        self[text] = len(self)
        return self[text]


def _add_traces(code_def: Any, calls: Iterable[Any], texts: _Texts) -> None:
    for file, line, function, text in calls:
        code_def.traces.add(file_id=texts[file], lineno=line or 0, function_id=texts[function], line_id=texts[text or ""])


def _traceback_message(origin_stack: Any, graph: Any, call_key: str | None) -> tuple[Any, list[str]]:
    """A CallTraceback, and the files that are named in it."""
    texts, files = _Texts(), _Texts()
    is_eager = graph is None
    kinds = debug_service_pb2.CallTraceback
    message = debug_service_pb2.CallTraceback(
        call_type=kinds.EAGER_EXECUTION if is_eager else kinds.GRAPH_EXECUTION, call_key=call_key or ""
    )
    origin = [tuple(entry)[:4] for entry in origin_stack]
    _add_traces(message.origin_stack, origin, texts)
    for text, number in texts.items():
        message.origin_id_to_string[number] = text
    for file, *_ in origin:
        files[os.path.abspath(file)]
    if graph is not None:
        message.graph_version = graph.version
        names = _Texts()
        for op in graph.get_operations():
            entry = message.graph_traceback.log_entries.add()
            entry.CopyFrom(tfprof_log_pb2.OpLogEntry(name=op.name))
            calls = op.traceback
            _add_traces(entry.code_def, calls, names)
            for file, *_ in calls:
                files[os.path.abspath(file)]
        for text, number in names.items():
            message.graph_traceback.id_to_string[number] = text
    return message, list(files)


def _sources(files: Iterable[str]) -> Iterator[Any]:
    """The program's own files that can be read, each as a message."""
    for path in files:
        try:
            if guess_is_tensorflow_py_library(path) or not os.path.isfile(path):
                continue
            with open(path, encoding="utf-8") as file:
                lines = file.read().splitlines()
        except (ValueError, OSError):
            continue
        status = os.stat(path)
        one = debug_pb2.DebuggedSourceFile(
            host=socket.gethostname(), file_path=path, last_modified=int(status.st_mtime * 1e6), bytes=status.st_size, lines=lines
        )
        yield debug_pb2.DebuggedSourceFiles(source_files=[one])


def _send(destinations: Any, message: Any, files: list[str], send_source: bool) -> None:
    for destination in [destinations] if isinstance(destinations, str) else destinations:
        address = destination.removeprefix(GRPC_URL_PREFIX).partition("/")[0]
        with grpc.insecure_channel(address, options=NO_LIMITS) as channel:
            server = debug_service_pb2_grpc.EventListenerStub(channel)  # type: ignore[no-untyped-call]
            server.SendTracebacks(message, wait_for_ready=True)
            for one in _sources(files) if send_source else ():
                try:
                    server.SendSourceFiles(one)
                except grpc.RpcError as problem:
                    logging.warn("A debug server did not take the source %s: %s", one.source_files[0].file_path, problem)


@internal("debug.lib.source_remote.send_graph_tracebacks")
def send_graph_tracebacks(destinations: Any, run_key: str, origin_stack: Any, graph: Any, send_source: bool = True) -> None:
    """Sends servers the stack of a run and those of a graph's ops, and the program's files that are named there."""
    _send(destinations, *_traceback_message(origin_stack, graph, run_key), send_source)


@internal("debug.lib.source_remote.send_eager_tracebacks")
def send_eager_tracebacks(destinations: Any, origin_stack: Any, send_source: bool = True) -> None:
    """Sends servers the stack of an op that runs at once, and the program's files that are named there."""
    _send(destinations, *_traceback_message(origin_stack, None, None), send_source)
