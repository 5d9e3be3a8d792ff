"""Examples in buckets: a batch holds examples of one bucket only."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.errors import CancelledError, OutOfRangeError
from everflow.graph import dtypes
from everflow.graph.constants import constant_value
from everflow.graph.scopes import name_scope
from everflow.ops.queues.queue_functions import FIFOQueue, PaddingFIFOQueue
from everflow.runtime.smart_conditionals import smart_constant_value
from everflow.train.batching import as_given, as_tensor_list, checked_tensors, element_shapes, keys_of
from everflow.train.queue_runners import QueueRunner, add_queue_runner
from everflow.train.stored_sparse import restore_sparse, store_sparse


@public("contrib.training.bucket")
def bucket(
    tensors: Any,
    which_bucket: Any,
    batch_size: Any,
    num_buckets: int,
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Any = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The number of a bucket and a batch of its examples. Each bucket has a queue; those that are full enough go to the last one."""
    sizes = list(batch_size) if isinstance(batch_size, (list, tuple)) else [batch_size] * num_buckets
    if len(sizes) != num_buckets:
        raise ValueError(
            f"If batch_size is a list it must have exactly num_buckets={num_buckets} elements, instead has {len(sizes)} elements: {sizes}"
        )
    capacities = list(bucket_capacities) if bucket_capacities is not None else [capacity] * num_buckets
    if len(capacities) != num_buckets:
        raise ValueError(f"The list bucket_capacities ({capacities}) must have exactly num_buckets={num_buckets} elements")
    keys, listed = keys_of(tensors), as_tensor_list(tensors)
    with name_scope(name, "bucket", listed) as scope:
        listed = checked_tensors(listed)
        keep_input = tf.convert_to_tensor(keep_input, dtype=dtypes.bool)
        listed, places = store_sparse(listed, False, keep_input)
        types = [t.dtype.base_dtype for t in listed]
        shapes = element_shapes([listed], shapes, False)
        sizes = [tf.convert_to_tensor(size, dtype=dtypes.int32, name="batch_size") for size in sizes]
        make = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        queues = [
            make(
                capacity=capacities[i],
                dtypes=types,
                shapes=shapes,
                shared_name=None if shared_name is None else f"{shared_name}_{i}",
                name=f"bucket_queue_{i}",
            )
            for i in range(num_buckets)
        ]
        lengths = [None if allow_smaller_final_batch or not _is_same(sizes) else constant_value(sizes[0])]
        batch_shapes = [tf.TensorShape(lengths).concatenate(s) for s in shapes]
        top = PaddingFIFOQueue(
            capacity=capacity,
            dtypes=[dtypes.int32, *types],
            shapes=[tf.TensorShape([]), *batch_shapes],
            shared_name=shared_name,
            name="top_queue",
        )

        def enqueue() -> Any:
            return tf.group(
                *(
                    tf.cond(tf.equal(which_bucket, i), lambda queue=queue: queue.enqueue(listed), tf.no_op)
                    for i, queue in enumerate(queues)
                ),
                name="group_enqueues",
            )

        kept = smart_constant_value(keep_input)
        entering = enqueue() if kept else tf.cond(keep_input, enqueue, tf.no_op)
        moves = [_moved(queue, top, i, size, allow_smaller_final_batch) for i, (queue, size) in enumerate(zip(queues, sizes))]
        closed = (OutOfRangeError, CancelledError)
        close_all = tf.group(*(queue.close() for queue in queues))
        cancel_all = tf.group(*(queue.close(cancel_pending_enqueues=True) for queue in queues))
        add_queue_runner(
            QueueRunner(queues[0], [entering] * num_threads, close_op=close_all, cancel_op=cancel_all, queue_closed_exception_types=closed)
        )
        add_queue_runner(
            QueueRunner(
                top, moves, close_op=top.close(), cancel_op=top.close(cancel_pending_enqueues=True), queue_closed_exception_types=closed
            )
        )
        for queue in queues:
            tf.summary.scalar(f"bucket/{queue.name}/size", tf.cast(top.size(), dtypes.float32))
        tf.summary.scalar(f"bucket/{top.name}/fraction_of_{capacity}_full", tf.cast(top.size(), dtypes.float32) * (1.0 / capacity))
        which, *found = top.dequeue(name=f"{scope}dequeue_top")
        return which, as_given(restore_sparse(found, places), keys)


def _is_same(sizes: list[Any]) -> bool:
    known = [constant_value(size) for size in sizes]
    return all(size is not None and size == known[0] for size in known)


def _moved(queue: Any, top: Any, number: int, size: Any, is_smaller_allowed: bool) -> Any:
    """An op that takes a batch of a bucket to the last queue."""
    take = queue.dequeue_up_to if is_smaller_allowed else queue.dequeue_many
    found = take(size, name=f"read_bucket_{number}")
    batch = found if isinstance(found, (list, tuple)) else [found]
    return top.enqueue([tf.constant(number), *batch], name=f"enqueue_from_bucket_{number}")


@public("contrib.training.bucket_by_sequence_length")
def bucket_by_sequence_length(
    input_length: Any,
    tensors: Any,
    batch_size: Any,
    bucket_boundaries: Any,
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Any = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The lengths and a batch of sequences that are about equally long: bucket i has those below the i-th boundary."""
    keys, listed = keys_of(tensors), as_tensor_list(tensors)
    if not isinstance(bucket_boundaries, (list, tuple)):
        raise TypeError(f"bucket_boundaries must be a list or tuple, but received: {bucket_boundaries}")
    if not bucket_boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    for lower, upper in zip(bucket_boundaries[:-1], bucket_boundaries[1:]):
        if not isinstance(lower, int) or not isinstance(upper, int):
            raise TypeError(f"bucket boundaries must be integers, but saw: {lower} and {upper}")
        if lower >= upper:
            raise ValueError(f"Buckets must contain sequential increasing lengths, but saw: {lower} before {upper}")
    count = len(bucket_boundaries) + 1
    if isinstance(batch_size, (list, tuple)) and len(batch_size) != count:
        raise ValueError(
            f"If batch_size is a list it must have exactly num_buckets={count} elements, "
            f"instead has {len(batch_size)} elements: {batch_size}"
        )
    with name_scope(name, "bucket_by_sequence_length", [*listed, input_length]):
        input_length = tf.convert_to_tensor(input_length, dtype=dtypes.int32, name="input_length")
        lengths_of = [0, *bucket_boundaries], [*bucket_boundaries, dtypes.int32.max]
        inside = tf.logical_and(tf.less_equal(lengths_of[0], input_length), tf.less(input_length, lengths_of[1]))
        which = tf.reduce_min(tf.cast(tf.where(inside), dtypes.int32))
        if shapes is not None:
            shapes = [tf.TensorShape([]), *shapes]
        _, found = bucket(
            tensors=[input_length, *listed],
            which_bucket=which,
            batch_size=batch_size,
            num_buckets=count,
            num_threads=num_threads,
            capacity=capacity,
            bucket_capacities=bucket_capacities,
            shapes=shapes,
            dynamic_pad=dynamic_pad,
            allow_smaller_final_batch=allow_smaller_final_batch,
            keep_input=keep_input,
            shared_name=shared_name,
        )
        return found[0], as_given(found[1:], keys)
