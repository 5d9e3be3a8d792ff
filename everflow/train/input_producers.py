"""Where queue-based input begins: queues that are filled with the elements of a tensor, epoch after epoch."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.eager.context import executing_eagerly
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import control_dependencies, name_scope
from everflow.graph.tensor import TensorLike
from everflow.ops.queues.queue_functions import FIFOQueue
from everflow.platform.deprecation import deprecated
from everflow.train.queue_runners import QueueRunner, add_queue_runner

_REPLACED = "Queue-based input pipelines have been replaced by `tf.data`. Use "


def refuse_eager() -> None:
    """Queues have no place where ops run at once."""
    if executing_eagerly():
        raise RuntimeError(
            "Input pipelines based on Queues are not supported when eager execution is enabled. Please use tf.data to "
            "ingest data into your model instead."
        )


def _local_variable(value: Any, name: str, **how: Any) -> Any:
    """A variable of this process alone, which no checkpoint holds."""
    return tf.Variable(value, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], name=name, use_resource=False, **how)


def _fullness(capacity: int) -> str:
    """What the summary of how full a queue is is called."""
    return f"fraction_of_{capacity}_full"


@public("train.match_filenames_once", "io.match_filenames_once")
def match_filenames_once(pattern: Any, name: str | None = None) -> Any:
    """A local variable with the names of the files that match a pattern when it is initialized."""
    with name_scope(name, "matching_filenames", [pattern]) as scope:
        return _local_variable(tf.matching_files(pattern), scope, validate_shape=False)


@public("train.limit_epochs")
@deprecated(None, _REPLACED + "`tf.data.Dataset.from_tensors(tensor).repeat(num_epochs)`.")
def limit_epochs(tensor: Any, num_epochs: int | None = None, name: str | None = None) -> Any:
    """The tensor, so many times; then an OutOfRangeError."""
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as scope:
        epoch = _local_variable(tf.constant(0, dtype=dtypes.int64), "epochs")
        with control_dependencies([epoch.count_up_to(num_epochs)]):
            return tf.identity(tensor, name=scope)


@public("train.input_producer")
@deprecated(
    None,
    _REPLACED + "`tf.data.Dataset.from_tensor_slices(input_tensor).shuffle(tf.shape(input_tensor, out_type=tf.int64)[0])."
    "repeat(num_epochs)`. If `shuffle=False`, omit the `.shuffle(...)`.",
)
def input_producer(
    input_tensor: Any,
    element_shape: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> Any:
    """A queue that gets the rows of a tensor, in each epoch in another order."""
    refuse_eager()
    with name_scope(name, "input_producer", [input_tensor]):
        rows = convert_to_tensor(input_tensor, name="input_tensor")
        row_shape = rows.shape[1:].merge_with(element_shape)
        if not row_shape.is_fully_defined():
            raise ValueError("Either `input_tensor` must have a fully defined shape or `element_shape` must be specified")
        epoch = limit_epochs(tf.random_shuffle(rows, seed=seed) if shuffle else rows, num_epochs)
        queue = FIFOQueue(capacity, [rows.dtype.base_dtype], [row_shape], shared_name=shared_name, name=name)
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([epoch])], cancel_op=cancel_op))
        if summary_name is not None:
            tf.summary.scalar(summary_name, tf.cast(queue.size(), dtypes.float32) * (1.0 / capacity))
        return queue


@public("train.string_input_producer")
@deprecated(
    None,
    _REPLACED + "`tf.data.Dataset.from_tensor_slices(string_tensor).shuffle(tf.shape(input_tensor, out_type=tf.int64)[0])."
    "repeat(num_epochs)`. If `shuffle=False`, omit the `.shuffle(...)`.",
)
def string_input_producer(
    string_tensor: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> Any:
    """A queue that gets strings, such as names of files."""
    empty = "string_input_producer requires a non-null input tensor"
    if not (isinstance(string_tensor, TensorLike) or string_tensor):
        raise ValueError(empty)
    with name_scope(name, "input_producer", [string_tensor]) as scope:
        given = convert_to_tensor(string_tensor, dtype=dtypes.string)
        with control_dependencies([tf.Assert(tf.size(given) > 0, [empty])]):
            strings = tf.identity(given)
        return input_producer(strings, [], num_epochs, shuffle, seed, capacity, shared_name, _fullness(capacity), scope, cancel_op)


@public("train.range_input_producer")
@deprecated(
    None, _REPLACED + "`tf.data.Dataset.range(limit).shuffle(limit).repeat(num_epochs)`. If `shuffle=False`, omit the `.shuffle(...)`."
)
def range_input_producer(
    limit: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """A queue that gets the integers from 0 up to a limit."""
    with name_scope(name, "input_producer", [limit]) as scope:
        return input_producer(tf.range(limit), [], num_epochs, shuffle, seed, capacity, shared_name, _fullness(capacity), scope)


@public("train.slice_input_producer")
@deprecated(
    None,
    _REPLACED + "`tf.data.Dataset.from_tensor_slices(tuple(tensor_list)).shuffle(tf.shape(input_tensor, out_type=tf.int64)"
    "[0]).repeat(num_epochs)`. If `shuffle=False`, omit the `.shuffle(...)`.",
)
def slice_input_producer(
    tensor_list: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[Any]:
    """One row of each tensor in a list; the next step gives the next row."""
    with name_scope(name, "input_producer", tensor_list):
        tensors = [convert_to_tensor(t) for t in tensor_list]
        if not tensors:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        queue = range_input_producer(
            tf.shape(tensors[0])[0], num_epochs=num_epochs, shuffle=shuffle, seed=seed, capacity=capacity, shared_name=shared_name
        )
        index = queue.dequeue()
        return [tf.gather(t, index) for t in tensors]
