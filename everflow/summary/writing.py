"""tf.compat.v2.summary: tensors written under tags that are given in full, at a step that is given or set before."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.eager.context import eager_mode, shared_name
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import get_name_scope, is_eager_outside, name_scope
from everflow.graph.stacks import get_default_graph
from everflow.ops.core.registry import apply
from everflow.platform import logging
from everflow.runtime.smart_conditionals import smart_cond
from everflow.summary.messages import SummaryMetadata
from everflow.summary.recording import _SUMMARIES, NoopSummaryWriter, SummaryWriter, _state, is_recording

_serial_number = itertools.count(1)


@public("compat.v2.summary.create_file_writer")
@internal("ops.summary_ops_v2.create_file_writer_v2")
def create_file_writer(
    logdir: Any, max_queue: Any = None, flush_millis: Any = None, filename_suffix: Any = None, name: str | None = None
) -> SummaryWriter:
    """A writer to a file of its own in a folder; where ops run at once, the file is closed when the writer is no longer used."""
    if logdir is None:
        raise ValueError("logdir cannot be None")
    if is_eager_outside():
        given = {"logdir": logdir, "max_queue": max_queue, "flush_millis": flush_millis, "filename_suffix": filename_suffix}
        for key, value in given.items():
            if isinstance(value, tf.Tensor) and not hasattr(value, "numpy"):
                raise ValueError(f'Invalid graph Tensor argument "{key}={value}" to eagerly executed create_file_writer().')
    with tf.init_scope(), tf.device("cpu:0"), name_scope(name, "create_file_writer") as scope:
        logdir = tf.convert_to_tensor(logdir if isinstance(logdir, tf.Tensor) else os.fspath(logdir), dtypes.string)
        max_queue = tf.convert_to_tensor(10 if max_queue is None else max_queue, dtypes.int32)
        flush_millis = tf.convert_to_tensor(2 * 60 * 1000 if flush_millis is None else flush_millis, dtypes.int32)
        suffix = tf.convert_to_tensor(".v2" if filename_suffix is None else filename_suffix, dtypes.string)
        # Two writers of one second and folder must not share a file.
        suffix = tf.constant(f".{os.getpid()}.{next(_serial_number)}") + suffix
        own_name = shared_name() or scope.strip("/")
        writer = SummaryWriter(
            own_name, lambda resource: apply("CreateSummaryFileWriter", resource, logdir, max_queue, flush_millis, suffix)
        )
        if tf.executing_eagerly():
            weakref.finalize(writer, _close_file, writer._resource).atexit = False
    return writer


def _close_file(resource: Any) -> None:
    with eager_mode():
        apply("CloseSummaryWriter", resource)


@public("compat.v2.summary.create_noop_writer")
@internal("ops.summary_ops_v2.create_noop_writer")
def create_noop_writer() -> SummaryWriter:
    """A writer that writes nothing."""
    return NoopSummaryWriter()


@public("compat.v2.summary.experimental.get_step")
@internal("ops.summary_ops_v2.get_step")
def get_step() -> Any:
    """The step of summaries that are given none, or None."""
    return _state.step


@public("compat.v2.summary.experimental.set_step")
@internal("ops.summary_ops_v2.set_step")
def set_step(step: Any) -> None:
    """Sets the step of summaries that are given none, for this thread."""
    _state.step = step


_NOT_IN_SCOPES = internal("ops.summary_ops_v2._INVALID_SCOPE_CHARACTERS")(re.compile(r"[^-_/.A-Za-z0-9]"))


@public("compat.v2.summary.experimental.summary_scope")
@internal("ops.summary_ops_v2.summary_scope")
@contextlib.contextmanager
def summary_scope(name: str | None, default_name: str = "summary", values: Any = None) -> Iterator[tuple[str, str]]:
    """(tag, scope) of a summary. The tag is the name as it is, in the scope around it; the scope has no characters that are not allowed."""
    name = name or default_name
    around = get_name_scope()
    tag = f"{around}/{name}" if around else name
    with name_scope(_NOT_IN_SCOPES.sub("", name) or None, default_name, values) as scope:
        yield tag, scope


def _write(op_name: str, step: Any, name: str | None, default_name: str, arguments: Callable[[], tuple[Any, ...]]) -> Any:
    """Whether the op wrote: False where there is no writer or recording is off."""
    with name_scope(name, default_name) as scope:
        if _state.writer is None:
            return tf.constant(False)
        if step is None:
            step = get_step()
            if step is None:
                raise ValueError("No step set via 'step' argument or tf.summary.experimental.set_step()")

        def record() -> Any:
            written = apply(op_name, _state.writer._resource, tf.cast(step, dtypes.int64), *arguments(), name=scope)
            with tf.control_dependencies([written]):
                return tf.constant(True)

        with tf.device("cpu:0"):
            found = smart_cond(is_recording(by_default=True), record, lambda: tf.constant(False), name="summary_cond")
            if not tf.executing_eagerly():
                tf.add_to_collection(_SUMMARIES, found)
    return found


@public("compat.v2.summary.write")
@internal("ops.summary_ops_v2.write")
def write(tag: str, tensor: Any, step: Any = None, metadata: Any = None, name: str | None = None) -> Any:
    """Writes a tensor, for the plugin of TensorBoard that the metadata name."""
    if metadata is None:
        metadata = b""
    elif hasattr(metadata, "SerializeToString"):
        metadata = metadata.SerializeToString()
    if _state.writer is None and step is None and (unwritten := getattr(get_default_graph(), "unwritten", None)) is not None:
        unwritten.append((tag, convert_to_tensor(tensor), metadata))
    return _write("WriteSummary", step, name, "write_summary", lambda: (tf.identity(tensor), tag, metadata))


@public("compat.v2.summary.experimental.write_raw_pb")
@internal("ops.summary_ops_v2.write_raw_pb")
def write_raw_pb(tensor: Any, step: Any = None, name: str | None = None) -> Any:
    """Writes summaries that are given as their bytes, as one event."""
    return _write("WriteRawProtoSummary", step, name, "write_raw_pb", lambda: (tf.identity(tensor),))


def _for_plugin(plugin: str, name: str, default_name: str, data: Any, step: Any) -> Any:
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=plugin, content=b"1"))
    with summary_scope(name, default_name, [data, step]) as (tag, _):
        return write(tag, tf.constant(data, dtypes.string), step=step, metadata=metadata)


@internal("ops.summary_ops_v2.run_metadata")
def run_metadata(name: str, data: Any, step: Any = None) -> Any:
    """Writes what was recorded of a run."""
    return _for_plugin("graph_run_metadata", name, "graph_run_metadata_summary", data.SerializeToString(), step)


@internal("ops.summary_ops_v2.run_metadata_graphs")
def run_metadata_graphs(name: str, data: Any, step: Any = None) -> Any:
    """Writes the graphs that were recorded of a run."""
    graphs = tf.RunMetadata(function_graphs=data.function_graphs, partition_graphs=data.partition_graphs)
    return _for_plugin("graph_run_metadata_graph", name, "graph_run_metadata_graph_summary", graphs.SerializeToString(), step)


@internal("ops.summary_ops_v2.keras_model")
def keras_model(name: str, data: Any, step: Any = None) -> Any:
    """Writes the layers of a Keras model; False for one that can't be described as JSON."""
    try:
        described = data.to_json()
    except Exception as e:
        # A model that can't be described is no reason to stop a training.
        logging.warn("Model failed to serialize as JSON. Ignoring... %s", e)
        return False
    return _for_plugin("graph_keras_model", name, "graph_keras_model", described, step)
