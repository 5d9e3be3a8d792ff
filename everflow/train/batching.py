"""Batches by queues: tf.train.batch, shuffle_batch, and their forms with several sources and with a filter."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import as_shape
from everflow.graph.sparse_tensor import SparseTensor
from everflow.ops.queues.queue_functions import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue
from everflow.platform.deprecation import deprecated
from everflow.runtime.smart_conditionals import smart_cond
from everflow.train.input_producers import refuse_eager
from everflow.train.queue_runners import QueueRunner, add_queue_runner
from everflow.train.stored_sparse import restore_sparse, store_sparse

_REPLACED = "Queue-based input pipelines have been replaced by `tf.data`. Use "


def keys_of(tensors: Any) -> Any:
    """The keys of a dictionary in an order that does not depend on where it comes from."""
    return sorted(tensors, key=str) if isinstance(tensors, dict) else None


@internal("training.input._as_tensor_list")
def as_tensor_list(tensors: Any) -> list[Any]:
    """Tensors as a list, those of a dictionary in the order of its keys."""
    keys = keys_of(tensors)
    return list(tensors) if keys is None else [tensors[key] for key in keys]


@internal("training.input._as_original_type")
def _as_original_type(original_tensors: Any, tensor_list: list[Any]) -> Any:
    """Tensors in the form in which the caller gave his."""
    return as_given(tensor_list, keys_of(original_tensors))


def _listed(tensors: Any) -> tuple[list[Any], Any]:
    return as_tensor_list(tensors), keys_of(tensors)


def as_given(tensors: list[Any], keys: Any) -> Any:
    """Tensors in a dictionary with these keys, in a list, or one by itself."""
    if keys is not None:
        return dict(zip(keys, tensors))
    return tensors[0] if len(tensors) == 1 else tensors


def checked_tensors(tensors: list[Any]) -> list[Any]:
    """The tensors of what was given, at least one."""
    if not tensors:
        raise ValueError("Expected at least one tensor in batch().")
    return [t if isinstance(t, SparseTensor) else convert_to_tensor(t) for t in tensors]


def _checked_sources(tensors_list: Any) -> tuple[list[list[Any]], Any]:
    """Several lists of tensors that are alike, and their keys."""
    if not tensors_list:
        raise ValueError("Expected at least one set of tensors")
    if isinstance(tensors_list[0], dict):
        keys = set(tensors_list[0])
        if any(set(other) != keys for other in tensors_list[1:]):
            raise ValueError("All dictionaries in tensors_list must have the same keys")
    listed = [_listed(tensors) for tensors in tensors_list]
    sources = [checked_tensors(tensors) for tensors, _ in listed]
    first = [isinstance(t, SparseTensor) for t in sources[0]]
    for other in sources[1:]:
        if [isinstance(t, SparseTensor) for t in other][: len(first)] != first[: len(other)]:
            raise ValueError(f"Inconsistent SparseTensors list: {sources[0]} vs. {other}")
    return sources, listed[0][1]


def _checked_filter(keep_input: Any, enqueue_many: bool) -> Any:
    keep_input = convert_to_tensor(keep_input)
    rank = keep_input.shape.ndims
    if rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if rank > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    if not enqueue_many and rank == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    return keep_input


def _types(sources: list[list[Any]]) -> list[Any]:
    types = [t.dtype.base_dtype for t in sources[0]]
    for other in sources[1:]:
        for mine, its in zip(types, other):
            if mine != its.dtype.base_dtype:
                raise TypeError(f"Expected types to be consistent: {mine.name} vs. {its.dtype.base_dtype.name}.")
    return types


def element_shapes(sources: list[list[Any]], shapes: Any, enqueue_many: bool) -> list[Any]:
    """The shapes of elements: those given, or the first source's, with which the others' must agree."""
    if shapes is not None:
        return [as_shape(s) for s in shapes] if isinstance(shapes, (list, tuple)) else shapes
    found = []
    for i in range(len(sources[0])):
        each = [source[i].shape for source in sources]
        if any(s.ndims is None for s in each):
            unknown = next(source[i] for source in sources if source[i].shape.ndims is None)
            raise ValueError(f"Cannot infer Tensor's rank: {unknown}")
        if enqueue_many:
            each = [s.with_rank_at_least(1)[1:] for s in each]
        for s in each[1:]:
            each[0].merge_with(s)
        found.append(each[0])
    return found


def _enqueues(queue: Any, sources: list[list[Any]], threads: int, enqueue_many: bool, keep_input: Any) -> None:
    """Adds the threads that fill a queue: one for each source, or several for the only one."""
    many = enqueue_many

    def enqueue(tensors: list[Any]) -> Any:
        if many and keep_input.shape.ndims == 1:
            kept = [tf.dynamic_partition(t, chosen, 2)[1] for t in tensors]
            return queue.enqueue_many(kept)
        return smart_cond(keep_input, lambda: queue.enqueue_many(tensors) if many else queue.enqueue(tensors), tf.no_op)

    chosen = tf.cast(keep_input, dtypes.int32) if many and keep_input.shape.ndims == 1 else None
    ops = [enqueue(tensors) for tensors in sources]
    add_queue_runner(QueueRunner(queue, ops * threads if len(ops) == 1 else ops))


def _queue(types: list[Any], shapes: list[Any], capacity: int, shared_name: str | None, dynamic_pad: bool) -> Any:
    if dynamic_pad:
        return PaddingFIFOQueue(capacity=capacity, dtypes=types, shapes=shapes, shared_name=shared_name)
    return FIFOQueue(capacity=capacity, dtypes=types, shapes=shapes, shared_name=shared_name)


def _taken(queue: Any, batch_size: Any, is_smaller_allowed: bool, places: Any, keys: Any, scope: str) -> Any:
    take = queue.dequeue_up_to if is_smaller_allowed else queue.dequeue_many
    found = take(batch_size, name=scope)
    tensors = found if isinstance(found, list) else [found]
    return as_given(restore_sparse(tensors, places), keys)


def _stored(sources: list[list[Any]], enqueue_many: bool, keep_input: Any) -> tuple[list[list[Any]], Any]:
    """The sources with handles of sparse tensors; all sources use the same maps."""
    first, places = store_sparse(sources[0], enqueue_many, keep_input)
    return [first, *(store_sparse(other, enqueue_many, keep_input, places)[0] for other in sources[1:])], places


def _batch(
    sources: list[list[Any]],
    keys: Any,
    batch_size: Any,
    keep_input: Any,
    threads: int,
    capacity: int,
    enqueue_many: bool,
    shapes: Any,
    dynamic_pad: bool,
    is_smaller_allowed: bool,
    shared_name: str | None,
    name: str | None,
    label: str,
) -> Any:
    refuse_eager()
    with name_scope(name, label, [*(t for source in sources for t in source), keep_input]) as scope:
        keep_input = _checked_filter(keep_input, enqueue_many)
        sources, places = _stored(sources, enqueue_many, keep_input)
        types = _types(sources)
        queue = _queue(types, element_shapes(sources, shapes, enqueue_many), capacity, shared_name, dynamic_pad)
        _enqueues(queue, sources, threads, enqueue_many, keep_input)
        tf.summary.scalar(f"fraction_of_{capacity}_full", tf.cast(queue.size(), dtypes.float32) * (1.0 / capacity))
        return _taken(queue, batch_size, is_smaller_allowed, places, keys, scope)


def _shuffle_batch(
    sources: list[list[Any]],
    keys: Any,
    batch_size: Any,
    capacity: int,
    stay: int,
    keep_input: Any,
    threads: int,
    seed: int | None,
    enqueue_many: bool,
    shapes: Any,
    is_smaller_allowed: bool,
    shared_name: str | None,
    name: str | None,
    label: str,
) -> Any:
    refuse_eager()
    with name_scope(name, label, [*(t for source in sources for t in source), keep_input]) as scope:
        if capacity <= stay:
            raise ValueError(f"capacity {capacity} must be bigger than min_after_dequeue {stay}.")
        keep_input = _checked_filter(keep_input, enqueue_many)
        sources, places = _stored(sources, enqueue_many, keep_input)
        types = _types(sources)
        queue = RandomShuffleQueue(
            capacity=capacity,
            min_after_dequeue=stay,
            seed=seed,
            dtypes=types,
            shapes=element_shapes(sources, shapes, enqueue_many),
            shared_name=shared_name,
        )
        _enqueues(queue, sources, threads, enqueue_many, keep_input)
        full = tf.cast(tf.maximum(0, queue.size() - stay), dtypes.float32) * (1.0 / (capacity - stay))
        tf.summary.scalar(f"fraction_over_{stay}_of_{capacity - stay}_full", full)
        return _taken(queue, batch_size, is_smaller_allowed, places, keys, scope)


@public("train.batch")
@deprecated(None, _REPLACED + "`tf.data.Dataset.batch(batch_size)` (or `padded_batch(...)` if `dynamic_pad=True`).")
def batch(
    tensors: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of what `tensors` give, step after step."""
    listed, keys = _listed(tensors)
    return _batch(
        [checked_tensors(listed)],
        keys,
        batch_size,
        True,
        num_threads,
        capacity,
        enqueue_many,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
        "batch",
    )


@public("train.maybe_batch")
@deprecated(None, _REPLACED + "`tf.data.Dataset.filter(...).batch(batch_size)` (or `padded_batch(...)` if `dynamic_pad=True`).")
def maybe_batch(
    tensors: Any,
    keep_input: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of what is kept of what `tensors` give."""
    listed, keys = _listed(tensors)
    return _batch(
        [checked_tensors(listed)],
        keys,
        batch_size,
        keep_input,
        num_threads,
        capacity,
        enqueue_many,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
        "batch",
    )


@public("train.batch_join")
@deprecated(None, _REPLACED + "`tf.data.Dataset.interleave(...).batch(batch_size)` (or `padded_batch(...)` if `dynamic_pad=True`).")
def batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of what several lists of tensors give, each in a thread of its own."""
    sources, keys = _checked_sources(tensors_list)
    return _batch(
        sources,
        keys,
        batch_size,
        True,
        1,
        capacity,
        enqueue_many,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
        "batch_join",
    )


@public("train.maybe_batch_join")
@deprecated(
    None, _REPLACED + "`tf.data.Dataset.interleave(...).filter(...).batch(batch_size)` (or `padded_batch(...)` if `dynamic_pad=True`)."
)
def maybe_batch_join(
    tensors_list: Any,
    keep_input: Any,
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of what is kept of what several lists of tensors give."""
    sources, keys = _checked_sources(tensors_list)
    return _batch(
        sources,
        keys,
        batch_size,
        keep_input,
        1,
        capacity,
        enqueue_many,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
        "batch_join",
    )


@public("train.shuffle_batch")
@deprecated(None, _REPLACED + "`tf.data.Dataset.shuffle(min_after_dequeue).batch(batch_size)`.")
def shuffle_batch(
    tensors: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of what `tensors` give, in random order."""
    listed, keys = _listed(tensors)
    return _shuffle_batch(
        [checked_tensors(listed)],
        keys,
        batch_size,
        capacity,
        min_after_dequeue,
        True,
        num_threads,
        seed,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
        "shuffle_batch",
    )


@public("train.maybe_shuffle_batch")
@deprecated(None, _REPLACED + "`tf.data.Dataset.filter(...).shuffle(min_after_dequeue).batch(batch_size)`.")
def maybe_shuffle_batch(
    tensors: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of what is kept of what `tensors` give, in random order."""
    listed, keys = _listed(tensors)
    return _shuffle_batch(
        [checked_tensors(listed)],
        keys,
        batch_size,
        capacity,
        min_after_dequeue,
        keep_input,
        num_threads,
        seed,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
        "shuffle_batch",
    )


@public("train.shuffle_batch_join")
@deprecated(None, _REPLACED + "`tf.data.Dataset.interleave(...).shuffle(min_after_dequeue).batch(batch_size)`.")
def shuffle_batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of what several lists of tensors give, in random order."""
    sources, keys = _checked_sources(tensors_list)
    return _shuffle_batch(
        sources,
        keys,
        batch_size,
        capacity,
        min_after_dequeue,
        True,
        1,
        seed,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
        "shuffle_batch_join",
    )


@public("train.maybe_shuffle_batch_join")
@deprecated(None, _REPLACED + "`tf.data.Dataset.interleave(...).filter(...).shuffle(min_after_dequeue).batch(batch_size)`.")
def maybe_shuffle_batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of what is kept of what several lists of tensors give, in random order."""
    sources, keys = _checked_sources(tensors_list)
    return _shuffle_batch(
        sources,
        keys,
        batch_size,
        capacity,
        min_after_dequeue,
        keep_input,
        1,
        seed,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
        "shuffle_batch_join",
    )
