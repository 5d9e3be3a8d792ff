"""Writers of summaries that ops reach: events go to a file as a step computes them."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

from google.protobuf.message import DecodeError

from everflow.errors import data_loss, invalid_argument, not_found
from everflow.graph import dtypes
from everflow.io import gfile
from everflow.io.events import EventsWriter
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op
from everflow.ops.summaries.event_database import EventDatabase
from everflow.ops.summaries.messages import add_sounds, fill_tensor, histogram_summary, image_summary, tag_of
from everflow.proto import event_pb2
from everflow.values.tensors import to_numpy

Kernel = Callable[..., Any]

# What TensorFlow calls a resource that has no name: each one is another.
_NOBODYS_NAME = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"


def _text(value: Any) -> str:
    return value.item().decode("utf-8", "replace")


class _Writer:
    """A writer that exists from its first use on, and has a file from when it is created."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.RLock()
        self._file: Any = None
        self._waiting: list[Any] = []
        self._most = 0
        self._seconds = 0.0
        self._last = 0.0
        # Whether scalars are written in the type they have.
        self.keeps_types = False

    def create(self, logdir: Any, max_queue: Any, flush_millis: Any, suffix: Any) -> None:
        """Opens the file; a writer that has one keeps it."""
        for value in (logdir, max_queue, flush_millis, suffix):
            if value.ndim:
                raise invalid_argument("The arguments of a summary writer must be scalars")
        with self._lock:
            if self._file is not None:
                return
            folder = _text(logdir)
            if not gfile.is_directory(folder):
                gfile.recursive_create_dir(folder)
            self._most, self._seconds = int(max_queue), int(flush_millis) / 1000.0
            self._file = EventsWriter(os.path.join(folder, "events"))
            self._file.InitWithSuffix(_text(suffix))
            self._last = time.monotonic()

    def create_database(self, uri: Any, experiment: Any, run: Any, user: Any) -> None:
        """Opens a database; a writer that has one keeps it."""
        with self._lock:
            if self._file is None:
                self._file = EventDatabase(*(_text(given) for given in (uri, experiment, run, user)))
                self.keeps_types = True

    def _opened(self) -> Any:
        if self._file is None:
            raise not_found(f"Resource localhost/{self._name}/N10tensorflow22SummaryWriterInterfaceE does not exist.")
        return self._file

    def add(self, event: Any) -> None:
        """Keeps an event until enough others wait too, or for a time."""
        with self._lock:
            self._opened()
            self._waiting.append(event)
            if len(self._waiting) > self._most or time.monotonic() - self._last > self._seconds:
                self.flush()

    def flush(self) -> None:
        """Writes all events that wait."""
        with self._lock:
            file = self._opened()
            for event in self._waiting:
                file.WriteEvent(event)
            self._waiting.clear()
            file.Flush()
            self._last = time.monotonic()

    def dispose(self) -> None:
        """Writes everything and closes the file."""
        with self._lock:
            if self._file is not None:
                self.flush()
                self._file.Close()
                self._file = None


def _event(step: Any = None) -> Any:
    event = event_pb2.Event(wall_time=time.time())
    if step is not None:
        event.step = int(step)
    return event


def _writer(node: Node) -> Kernel:
    name = node.attr("shared_name") or node.name
    if name == _NOBODYS_NAME:
        return lambda: _Writer(name)
    found = node.context.resources.get(node.attr("container"), "summary writer", name, lambda: _Writer(name))
    return lambda: found


def _close(node: Node) -> Kernel:
    return lambda writer: writer.dispose()


op("SummaryWriter", kernel=_writer, shape=lambda o: ())
op("CreateSummaryFileWriter", kernel=lambda node: lambda writer, *settings: writer.create(*settings), shape=lambda o: [], writes=True)
op("CreateSummaryDbWriter", kernel=lambda node: lambda writer, *names: writer.create_database(*names), shape=lambda o: [], writes=True)
op("FlushSummaryWriter", kernel=lambda node: lambda writer: writer.flush(), shape=lambda o: [], writes=True)
op("CloseSummaryWriter", kernel=_close, shape=lambda o: [], writes=True)


def _scalar(node: Node) -> Kernel:
    dtype = node.inputs[3].dtype.base_dtype

    def run(writer: Any, step: Any, tag: Any, value: Any) -> None:
        event = _event(step)
        if writer.keeps_types:
            found = event.summary.value.add(tag=_text(tag))
            found.metadata.plugin_data.plugin_name = "scalars"
            fill_tensor(found.tensor, value, dtype)
        else:
            event.summary.value.add(tag=_text(tag), simple_value=to_numpy(value, dtype).item())
        writer.add(event)

    return run


def _histogram(node: Node) -> Kernel:
    name = node.name

    def run(writer: Any, step: Any, tag: Any, values: Any) -> None:
        event = _event(step)
        event.summary.ParseFromString(histogram_summary(tag_of(tag), values, name))
        writer.add(event)

    return run


def _image(node: Node) -> Kernel:
    most = node.attr("max_images")

    def run(writer: Any, step: Any, tag: Any, images: Any, bad_color: Any) -> None:
        event = _event(step)
        event.summary.ParseFromString(image_summary(tag_of(tag), images, most, to_numpy(bad_color, dtypes.uint8)))
        writer.add(event)

    return run


def _audio(node: Node) -> Kernel:
    most = node.attr("max_outputs")

    def run(writer: Any, step: Any, tag: Any, sounds: Any, rate: Any) -> None:
        event = _event(step)
        add_sounds(event.summary, _text(tag), to_numpy(sounds, dtypes.float32), rate.item(), most)
        writer.add(event)

    return run


def _tensor(node: Node) -> Kernel:
    dtype = node.inputs[2].dtype.base_dtype

    def run(writer: Any, step: Any, tensor: Any, tag: Any, metadata: Any) -> None:
        event = _event(step)
        value = event.summary.value.add(tag=_text(tag))
        fill_tensor(value.tensor, tensor, dtype)
        if metadata.item():
            value.metadata.ParseFromString(metadata.item())
        writer.add(event)

    return run


def _raw(node: Node) -> Kernel:
    def run(writer: Any, step: Any, serialized: Any) -> None:
        event = _event(step)
        for i, text in enumerate(serialized.ravel().tolist()):
            try:
                event.summary.MergeFromString(text)
            except DecodeError:
                raise data_loss(f"Bad tf.compat.v1.Summary binary proto tensor string at index {i}") from None
        writer.add(event)

    return run


def _graph(node: Node) -> Kernel:
    def run(writer: Any, step: Any, serialized: Any) -> None:
        event = _event(step)
        event.graph_def = serialized.item()
        writer.add(event)

    return run


def _whole_event(node: Node) -> Kernel:
    def run(writer: Any, serialized: Any) -> None:
        writer.add(event_pb2.Event.FromString(serialized.item()))

    return run


for _name, _kernel in {
    "WriteScalarSummary": _scalar,
    "WriteHistogramSummary": _histogram,
    "WriteImageSummary": _image,
    "WriteAudioSummary": _audio,
    "WriteSummary": _tensor,
    "WriteRawProtoSummary": _raw,
    "WriteGraphSummary": _graph,
    "ImportEvent": _whole_event,
}.items():
    op(_name, kernel=_kernel, shape=lambda o: [], writes=True)
