"""tf.contrib.summary: summaries that are written as they are computed, in graphs and eagerly."""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.graph import Graph
from everflow.graph.messages import GraphDef
from everflow.graph.scopes import get_name_scope, name_scope
from everflow.ops.core.registry import apply
from everflow.runtime.smart_conditionals import smart_cond
from everflow.summary.messages import SummaryMetadata
from everflow.summary.naming import summary_scope
from everflow.train.global_step import get_or_create_global_step

_WRITERS = internal("ops.summary_ops_v2._SUMMARY_WRITER_INIT_COLLECTION_NAME")("_SUMMARY_WRITER_V2")
_SUMMARIES = "_SUMMARY_V2"


class _State(threading.local):
    writer: Any = None
    # None where nobody said anything; tf.contrib.summary then writes nothing, `write` does.
    is_recording: Any = None
    step: Any = None


_state = _State()


def defaults() -> tuple[Any, Any, Any]:
    """(writer, whether it records, step) of summaries that say nothing else."""
    return _state.writer, _state.is_recording, _state.step


def set_defaults(writer: Any, is_recording: Any, step: Any) -> None:
    """Sets them, for this thread."""
    _state.writer, _state.is_recording, _state.step = writer, is_recording, step


@public("contrib.summary.SummaryWriter")
@internal("ops.summary_ops_v2.SummaryWriter", "ops.summary_ops_v2.ResourceSummaryWriter")
class SummaryWriter:
    """A writer of events. Summaries go to the one that is the default where they are made."""

    def __init__(self, shared_name: str, create: Callable[[Any], Any], name: str | None = None) -> None:
        self._resource = apply("SummaryWriter", shared_name=shared_name, name=name)
        self._create = create
        self._closed = False
        self._init_op: Any = create(self._resource)
        if not tf.executing_eagerly():
            tf.add_to_collection(_WRITERS, self._init_op)

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("SummaryWriter is already closed")

    def set_as_default(self) -> None:
        """Makes this the default writer of the thread."""
        self._check_open()
        _state.writer = self

    @contextlib.contextmanager
    def as_default(self) -> Iterator[SummaryWriter]:
        """Makes this the default writer within a block, and flushes at its end."""
        self._check_open()
        outer, _state.writer = _state.writer, self
        try:
            yield self
            self.flush()
        finally:
            _state.writer = outer

    def init(self) -> Any:
        """An op that opens the file."""
        self._check_open()
        return self._create(self._resource) if tf.executing_eagerly() else self._init_op

    def flush(self) -> Any:
        """An op that writes all events that wait."""
        return None if self._closed else apply("FlushSummaryWriter", self._resource)

    def close(self) -> Any:
        """An op that writes everything and closes the file."""
        if self._closed:
            return None
        with tf.control_dependencies([self.flush()]):
            closed = apply("CloseSummaryWriter", self._resource)
        # In a graph, another run may open the file again.
        self._closed = tf.executing_eagerly()
        return closed


@internal("ops.summary_ops_v2.NoopSummaryWriter")
class NoopSummaryWriter(SummaryWriter):
    """A writer that writes nothing."""

    def __init__(self) -> None:
        self._resource = None

    def set_as_default(self) -> None:
        """Nothing changes."""

    @contextlib.contextmanager
    def as_default(self) -> Iterator[SummaryWriter]:
        """Nothing changes within the block."""
        yield self

    def init(self) -> Any:
        """Nothing to open."""

    def flush(self) -> Any:
        """Nothing to write."""

    def close(self) -> Any:
        """Nothing to close."""


@public("contrib.summary.create_file_writer")
@internal("ops.summary_ops_v2.create_file_writer")
def create_file_writer(
    logdir: Any, max_queue: Any = None, flush_millis: Any = None, filename_suffix: Any = None, name: str | None = None
) -> SummaryWriter:
    """A writer to a new file in a folder; without a folder one that writes nothing."""
    if logdir is None:
        return NoopSummaryWriter()
    logdir = os.fspath(logdir) if not isinstance(logdir, tf.Tensor) else logdir
    with tf.device("cpu:0"):
        max_queue = tf.constant(10) if max_queue is None else max_queue
        flush_millis = tf.constant(2 * 60 * 1000) if flush_millis is None else flush_millis
        filename_suffix = tf.constant(".v2") if filename_suffix is None else filename_suffix
        if name is None:
            name = f"logdir:{logdir}"
        return SummaryWriter(
            name, lambda resource: apply("CreateSummaryFileWriter", resource, logdir, max_queue, flush_millis, filename_suffix)
        )


_NAMES = re.compile(r"^[^\x00-\x1F<>]{0,256}$")
_USERS = re.compile(r"^([a-z]([-a-z0-9]{0,29}[a-z0-9])?)?$", re.IGNORECASE)


@public("contrib.summary.create_db_writer")
@internal("ops.summary_ops_v2.create_db_writer")
def create_db_writer(
    db_uri: Any, experiment_name: Any = None, run_name: Any = None, user_name: Any = None, name: str | None = None
) -> SummaryWriter:
    """A writer to a database of SQLite. Names that are not given are the day, the time and the user's; empty ones are left out."""
    now = time.localtime()
    experiment = _named("experiment", _NAMES, time.strftime("%Y-%m-%d", now) if experiment_name is None else experiment_name)
    run = _named("run", _NAMES, time.strftime("%H:%M:%S", now) if run_name is None else run_name)
    user = _named("user", _USERS, getpass.getuser() if user_name is None else user_name)
    with tf.device("cpu:0"):
        names = (db_uri if isinstance(db_uri, tf.Tensor) else os.fspath(db_uri), experiment, run, user)
        return SummaryWriter(name or "db:" + ":".join(map(str, names)), lambda resource: apply("CreateSummaryDbWriter", resource, *names))


def _named(what: str, pattern: re.Pattern[str], given: Any) -> Any:
    if isinstance(given, str) and not pattern.match(given):
        raise ValueError(f"{what} name must match regex {pattern.pattern}: {given!r}")
    return given


@public("contrib.summary.create_summary_file_writer")
@internal("ops.summary_ops_v2.create_summary_file_writer")
def create_summary_file_writer(*args: Any, **kwargs: Any) -> SummaryWriter:
    """The first name of create_file_writer."""
    return create_file_writer(*args, **kwargs)


@public("contrib.summary.should_record_summaries")
@internal("ops.summary_ops_v2.should_record_summaries")
def should_record_summaries() -> Any:
    """Whether summaries that are made here are written."""
    return is_recording(by_default=False)


def is_recording(by_default: bool) -> Any:
    """Whether summaries that are made here are written, where nobody said so as by default."""
    wanted = by_default if _state.is_recording is None else _state.is_recording
    return tf.logical_and(True, wanted() if callable(wanted) else wanted)


@public("compat.v2.summary.record_if")
@internal("ops.summary_ops_v2.record_if")
@contextlib.contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """Within the block, summaries are written if a condition holds: a bool, a tensor, or a function that gives one."""
    outer, _state.is_recording = _state.is_recording, condition
    try:
        yield
    finally:
        _state.is_recording = outer


@public("contrib.summary.always_record_summaries")
@internal("ops.summary_ops_v2.always_record_summaries")
def always_record_summaries() -> Any:
    """Within the block, all summaries are written."""
    return record_if(True)


@public("contrib.summary.never_record_summaries")
@internal("ops.summary_ops_v2.never_record_summaries")
def never_record_summaries() -> Any:
    """Within the block, no summaries are written."""
    return record_if(False)


@public("contrib.summary.record_summaries_every_n_global_steps")
@internal("ops.summary_ops_v2.record_summaries_every_n_global_steps")
def record_summaries_every_n_global_steps(n: int, global_step: Any = None) -> Any:
    """Within the block, summaries of every n-th step are written."""
    if global_step is None:
        global_step = get_or_create_global_step()

    def is_due() -> Any:
        with tf.device("cpu:0"):
            return tf.equal(global_step % n, 0)

    return record_if(is_due if tf.executing_eagerly() else is_due())


def _step(step: Any) -> Any:
    if step is None:
        return get_or_create_global_step()
    return step if isinstance(step, tf.Tensor) else tf.convert_to_tensor(step, dtypes.int64)


@internal("ops.summary_ops_v2.summary_writer_function")
def _written(name: str, tensor: Any, function: Callable[[str, str], Any], family: str | None = None) -> Any:
    # The condition, if there is one, adds nothing to tags.
    outside = get_name_scope()

    def record() -> Any:
        with (
            name_scope(outside and f"{outside}/"),
            summary_scope(name, family, values=[tensor]) as (tag, scope),
            tf.control_dependencies([function(tag, scope)]),
        ):
            return tf.constant(True)

    if _state.writer is None:
        return tf.no_op()
    with tf.device("cpu:0"):
        found = smart_cond(should_record_summaries(), record, lambda: tf.constant(False), name="")
        if not tf.executing_eagerly():
            tf.add_to_collection(_SUMMARIES, found)
    return found


@public("contrib.summary.generic")
@internal("ops.summary_ops_v2.generic")
def generic(name: str, tensor: Any, metadata: Any = None, family: str | None = None, step: Any = None) -> Any:
    """Writes any tensor, for a plugin of TensorBoard that the metadata names."""

    def function(tag: str, scope: str) -> Any:
        if metadata is None:
            serialized: Any = tf.constant("")
        else:
            serialized = metadata.SerializeToString() if isinstance(metadata, SummaryMetadata) else metadata
        return apply("WriteSummary", _state.writer._resource, _step(step), tf.identity(tensor), tag, serialized, name=scope)

    return _written(name, tensor, function, family)


@public("contrib.summary.scalar")
@internal("ops.summary_ops_v2.scalar")
def scalar(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Writes a number."""
    return _written(
        name,
        tensor,
        lambda tag, scope: apply("WriteScalarSummary", _state.writer._resource, _step(step), tag, tf.identity(tensor), name=scope),
        family,
    )


@public("contrib.summary.histogram")
@internal("ops.summary_ops_v2.histogram")
def histogram(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Writes how values are distributed."""
    return _written(
        name,
        tensor,
        lambda tag, scope: apply("WriteHistogramSummary", _state.writer._resource, _step(step), tag, tf.identity(tensor), name=scope),
        family,
    )


@public("contrib.summary.image")
@internal("ops.summary_ops_v2.image")
def image(name: str, tensor: Any, bad_color: Any = None, max_images: int = 3, family: str | None = None, step: Any = None) -> Any:
    """Writes the first images of a batch."""

    def function(tag: str, scope: str) -> Any:
        color = tf.constant([255, 0, 0, 255], dtype=dtypes.uint8) if bad_color is None else bad_color
        return apply(
            "WriteImageSummary", _state.writer._resource, _step(step), tag, tf.identity(tensor), color, max_images=max_images, name=scope
        )

    return _written(name, tensor, function, family)


@public("contrib.summary.audio")
@internal("ops.summary_ops_v2.audio")
def audio(name: str, tensor: Any, sample_rate: Any, max_outputs: int, family: str | None = None, step: Any = None) -> Any:
    """Writes the first sounds of a batch."""
    return _written(
        name,
        tensor,
        lambda tag, scope: apply(
            "WriteAudioSummary",
            _state.writer._resource,
            _step(step),
            tag,
            tf.identity(tensor),
            sample_rate,
            max_outputs=max_outputs,
            name=scope,
        ),
        family,
    )


@public("contrib.summary.graph")
@internal("ops.summary_ops_v2.graph")
def graph(param: Any, step: Any = None, name: str | None = None) -> Any:
    """Writes a graph: its bytes, or eagerly the graph itself."""
    if not tf.executing_eagerly() and not isinstance(param, tf.Tensor):
        raise TypeError(f"graph() needs a tf.Tensor (e.g. tf.placeholder) in graph mode, but was: {type(param)}")
    if _state.writer is None:
        return tf.no_op()
    with tf.device("cpu:0"):
        data = _serialized(param) if isinstance(param, (tf.Graph, GraphDef)) else param
        return apply("WriteGraphSummary", _state.writer._resource, _step(step), tf.convert_to_tensor(data, dtypes.string), name=name)


# `initialize` has an argument of the same name.
_graph_of = graph


def _serialized(described: Any) -> bytes:
    return (described.as_graph_def(add_shapes=True) if isinstance(described, tf.Graph) else described).SerializeToString()


@public("contrib.summary.import_event")
@internal("ops.summary_ops_v2.import_event")
def import_event(tensor: Any, name: str | None = None) -> Any:
    """Writes an event that is given as its bytes."""
    return apply("ImportEvent", _state.writer._resource, tensor, name=name)


@public("contrib.summary.flush")
@internal("ops.summary_ops_v2.flush")
def flush(writer: Any = None, name: str | None = None) -> Any:
    """An op that writes all events that wait."""
    writer = _state.writer if writer is None else writer
    if writer is None:
        return tf.no_op()
    with tf.device("cpu:0"):
        return apply("FlushSummaryWriter", writer._resource if isinstance(writer, SummaryWriter) else writer, name=name)


@public("contrib.summary.eval_dir")
@internal("ops.summary_ops_v2.eval_dir")
def eval_dir(model_dir: str, name: str | None = None) -> str:
    """The folder of the summaries of an evaluation."""
    return os.path.join(model_dir, "eval" if not name else "eval_" + name)


@public("contrib.summary.all_summary_ops", "summary.all_v2_summary_ops")
@internal("ops.summary_ops_v2.all_v2_summary_ops")
def all_v2_summary_ops() -> Any:
    """The ops of all summaries of the graph; None when executing eagerly."""
    return None if tf.executing_eagerly() else tf.get_collection(_SUMMARIES)


@public("contrib.summary.summary_writer_initializer_op")
@internal("ops.summary_ops_v2.summary_writer_initializer_op")
def summary_writer_initializer_op() -> Any:
    """The ops that open the files of all writers of the graph."""
    if tf.executing_eagerly():
        raise RuntimeError("tf.contrib.summary.summary_writer_initializer_op is only supported in graph mode.")
    return tf.get_collection(_WRITERS)


@public("contrib.summary.initialize", "summary.initialize")
@internal("ops.summary_ops_v2.initialize")
def initialize(graph: Graph | None = None, session: Any = None) -> None:
    """Opens the files of all writers of the graph in a session, and writes a graph."""
    if tf.executing_eagerly():
        return
    if _state.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    session = session or tf.get_default_session()
    if session is None:
        raise ValueError("Argument `session must be passed if no default session exists")
    session.run(summary_writer_initializer_op())
    if graph is not None:
        data = tf.placeholder(dtypes.string)
        session.run(_graph_of(data, 0), feed_dict={data: _serialized(graph)})
