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


@public("train.match_filenames_once", "io.match_filenames_once")
def match_filenames_once(pattern: Any, name: str | None = None) -> Any:
    """A local variable with the names of the files that match a pattern when it is initialized."""
    with name_scope(name, "matching_filenames", [pattern]) as scope:
        return tf.Variable(
            initial_value=tf.matching_files(pattern),
            trainable=False,
            validate_shape=False,
            name=scope,
            collections=[GraphKeys.LOCAL_VARIABLES],
            use_resource=False,
        )


@public("train.limit_epochs")
@deprecated(None, _REPLACED + "`tf.data.Dataset.from_tensors(tensor).repeat(num_epochs)`.")
def limit_epochs(tensor: Any, num_epochs: int | None = None, name: str | None = None) -> Any:
    """The tensor, so many times; then an OutOfRangeError."""
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as scope:
        zero = tf.constant(0, dtype=dtypes.int64)
        epochs = tf.Variable(zero, name="epochs", trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], use_resource=False)
        counter = epochs.count_up_to(num_epochs)
        with control_dependencies([counter]):
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
        input_tensor = convert_to_tensor(input_tensor, name="input_tensor")
        element_shape = input_tensor.shape[1:].merge_with(element_shape)
        if not element_shape.is_fully_defined():
            raise ValueError("Either `input_tensor` must have a fully defined shape or `element_shape` must be specified")
        if shuffle:
            input_tensor = tf.random_shuffle(input_tensor, seed=seed)
        input_tensor = limit_epochs(input_tensor, num_epochs)
        queue = FIFOQueue(
            capacity=capacity, dtypes=[input_tensor.dtype.base_dtype], shapes=[element_shape], shared_name=shared_name, name=name
        )
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([input_tensor])], cancel_op=cancel_op))
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
    if not isinstance(string_tensor, TensorLike) and not string_tensor:
        raise ValueError(empty)
    with name_scope(name, "input_producer", [string_tensor]) as scope:
        string_tensor = convert_to_tensor(string_tensor, dtype=dtypes.string)
        with control_dependencies([tf.Assert(tf.greater(tf.size(string_tensor), 0), [empty])]):
            string_tensor = tf.identity(string_tensor)
        return input_producer(
            string_tensor,
            element_shape=[],
            num_epochs=num_epochs,
            shuffle=shuffle,
            seed=seed,
            capacity=capacity,
            shared_name=shared_name,
            name=scope,
            summary_name=f"fraction_of_{capacity}_full",
            cancel_op=cancel_op,
        )


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
        return input_producer(tf.range(limit), [], num_epochs, shuffle, seed, capacity, shared_name, f"fraction_of_{capacity}_full", scope)


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
