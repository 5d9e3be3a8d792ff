"""Queues of examples read from files, and of their parsed features."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.input_pipeline import seek_next
from everflow.contrib.learn.publishing import learn
from everflow.graph.tensor import Tensor
from everflow.internals import module as internal_module
from everflow.train.queue_runners import QueueRunner, add_queue_runner

_MODULE = "learn_io.graph_io"
# Where a parsed example keeps the key of its record.
KEY_FEATURE_NAME = learn(_MODULE, "KEY_FEATURE_NAME")("__key__")


@learn(_MODULE, "read_batch_examples", shown=True)
def read_batch_examples(
    file_pattern: Any,
    batch_size: Any,
    reader: Any,
    randomize_input: bool = True,
    num_epochs: Any = None,
    queue_capacity: Any = 10000,
    num_threads: Any = 1,
    read_batch_size: Any = 1,
    parse_fn: Any = None,
    name: str | None = None,
    seed: Any = None,
) -> Any:
    """Batches of records of files."""
    return read_keyed_batch_examples(
        file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, num_threads, read_batch_size, parse_fn, name, seed
    )[1]


@learn(_MODULE, "read_keyed_batch_examples", shown=True)
def read_keyed_batch_examples(
    file_pattern: Any,
    batch_size: Any,
    reader: Any,
    randomize_input: bool = True,
    num_epochs: Any = None,
    queue_capacity: Any = 10000,
    num_threads: Any = 1,
    read_batch_size: Any = 1,
    parse_fn: Any = None,
    name: str | None = None,
    seed: Any = None,
) -> Any:
    """Batches of keys and records of files."""
    return _read(
        file_pattern,
        batch_size,
        reader,
        randomize_input,
        num_epochs,
        queue_capacity,
        num_threads,
        read_batch_size,
        None,
        parse_fn,
        False,
        name,
        seed,
    )


@learn(_MODULE, "read_keyed_batch_examples_shared_queue", shown=True)
def read_keyed_batch_examples_shared_queue(
    file_pattern: Any,
    batch_size: Any,
    reader: Any,
    randomize_input: bool = True,
    num_epochs: Any = None,
    queue_capacity: Any = 10000,
    num_threads: Any = 1,
    read_batch_size: Any = 1,
    parse_fn: Any = None,
    name: str | None = None,
    seed: Any = None,
) -> Any:
    """Batches of keys and records of files, each of which one worker of a cluster reads."""
    return _read(
        file_pattern,
        batch_size,
        reader,
        randomize_input,
        num_epochs,
        queue_capacity,
        num_threads,
        read_batch_size,
        None,
        parse_fn,
        True,
        name,
        seed,
    )


@learn(_MODULE, "_get_file_names")
def _files(file_pattern: Any, randomize_input: bool) -> list[Any]:
    # Programs replace functions of this module.
    glob = internal_module("python.platform.gfile").Glob  # type: ignore[union-attr]
    if isinstance(file_pattern, list):
        if not file_pattern:
            raise ValueError("No files given to dequeue_examples.")
        found = [file for pattern in file_pattern for file in glob(pattern)]
    else:
        found = list(glob(file_pattern))
    if not found:
        raise ValueError(f"No files match {file_pattern}.")
    return found if randomize_input else sorted(found)


def _check(batch_size: Any, num_epochs: Any, queue_capacity: Any, num_threads: Any, read_batch_size: Any) -> None:
    if not queue_capacity or queue_capacity <= 0:
        raise ValueError(f"Invalid queue_capacity {queue_capacity}.")
    if batch_size is None or (not isinstance(batch_size, Tensor) and not 0 < batch_size < queue_capacity):
        raise ValueError(f"Invalid batch_size {batch_size}, with queue_capacity {queue_capacity}.")
    if read_batch_size is None or (not isinstance(read_batch_size, Tensor) and read_batch_size <= 0):
        raise ValueError(f"Invalid read_batch_size {read_batch_size}.")
    if not num_threads or num_threads <= 0:
        raise ValueError(f"Invalid num_threads {num_threads}.")
    if num_epochs is not None and num_epochs <= 0:
        raise ValueError(f"Invalid num_epochs {num_epochs}.")


def _file_queue(files: list[Any], shuffle: bool, num_epochs: Any, shared: bool, scope: str, seed: Any) -> Any:
    if not shared:
        return tf.train.string_input_producer(
            tf.constant(files, name="input"), shuffle=shuffle, num_epochs=num_epochs, name=scope, seed=seed
        )
    queue = tf.FIFOQueue(capacity=1, dtypes=[tf.string], shapes=[[]])
    following = seek_next(files, shuffle=shuffle, num_epochs=num_epochs, seed=seed)
    add_queue_runner(QueueRunner(queue, [queue.enqueue(following)]))
    return queue


def _examples(files: Any, reader: Any, threads: int, count: Any, filter_fn: Any, parse_fn: Any) -> list[Any]:
    """What each thread reads: keys with records, or a dict of features with the keys among them."""
    found: list[Any] = []
    with tf.name_scope("read"):
        for _ in range(threads):
            if isinstance(count, Tensor) or count > 1:
                keys, records = reader().read_up_to(files, count)
            else:
                keys, records = reader().read(files)
            if filter_fn:
                mask = filter_fn(keys, records)
                keys, records = tf.boolean_mask(keys, mask), tf.boolean_mask(records, mask)
            parsed = parse_fn(records) if parse_fn else records
            if parse_fn and isinstance(parsed, dict):
                parsed[KEY_FEATURE_NAME] = keys
                found.append(parsed)
            else:
                found.append((keys, parsed))
    return found


@learn(_MODULE, "_read_keyed_batch_examples_helper")
def _read(
    file_pattern: Any,
    batch_size: Any,
    reader: Any,
    randomize_input: bool = True,
    num_epochs: Any = None,
    queue_capacity: Any = 10000,
    num_threads: Any = 1,
    read_batch_size: Any = 1,
    filter_fn: Any = None,
    parse_fn: Any = None,
    setup_shared_queue: bool = False,
    name: str | None = None,
    seed: Any = None,
) -> Any:
    files = _files(file_pattern, randomize_input)
    _check(batch_size, num_epochs, queue_capacity, num_threads, read_batch_size)
    with tf.name_scope(name, "read_batch_examples", [file_pattern]) as scope:
        with tf.name_scope("file_name_queue") as queue_scope:
            file_queue = _file_queue(files, randomize_input, num_epochs, setup_shared_queue, queue_scope, seed)
        examples = _examples(file_queue, reader, num_threads, read_batch_size, filter_fn, parse_fn)
        settings: dict[str, Any] = {
            "capacity": queue_capacity,
            "enqueue_many": isinstance(read_batch_size, Tensor) or read_batch_size > 1,
            "name": scope,
            # Without epochs there is no last batch.
            "allow_smaller_final_batch": num_epochs is not None,
        }
        if randomize_input:
            at_least = int(queue_capacity * 0.4) if isinstance(batch_size, Tensor) else max(queue_capacity - 3 * batch_size, batch_size)
            batch = tf.train.shuffle_batch_join(examples, batch_size, min_after_dequeue=at_least, seed=seed, **settings)
        else:
            batch = tf.train.batch_join(examples, batch_size, **settings)
    if parse_fn and isinstance(batch, dict):
        return batch.pop(KEY_FEATURE_NAME), batch
    return batch


@learn(_MODULE, "read_keyed_batch_features", shown=True)
def read_keyed_batch_features(
    file_pattern: Any,
    batch_size: Any,
    features: Any,
    reader: Any,
    randomize_input: bool = True,
    num_epochs: Any = None,
    queue_capacity: Any = 10000,
    reader_num_threads: Any = 1,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    parse_fn: Any = None,
    name: str | None = None,
    read_batch_size: Any = None,
) -> Any:
    """Batches of keys and parsed features of files."""
    with tf.name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples(
            file_pattern,
            batch_size,
            reader,
            randomize_input,
            num_epochs,
            queue_capacity,
            reader_num_threads,
            batch_size if read_batch_size is None else read_batch_size,
            parse_fn,
            scope,
        )
        parsed = tf.parse_example(examples, features)
        return queue_parsed_features(parsed, keys, feature_queue_capacity, num_enqueue_threads, scope)


@learn(_MODULE, "read_keyed_batch_features_shared_queue", shown=True)
def read_keyed_batch_features_shared_queue(
    file_pattern: Any,
    batch_size: Any,
    features: Any,
    reader: Any,
    randomize_input: bool = True,
    num_epochs: Any = None,
    queue_capacity: Any = 10000,
    reader_num_threads: Any = 1,
    feature_queue_capacity: int = 100,
    num_queue_runners: int = 2,
    parse_fn: Any = None,
    name: str | None = None,
) -> Any:
    """Batches of keys and parsed features of files, each of which one worker of a cluster reads."""
    with tf.name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples_shared_queue(
            file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, reader_num_threads, batch_size, parse_fn, scope
        )
        parsed = tf.parse_example(examples, features)
        return queue_parsed_features(parsed, keys, feature_queue_capacity, num_queue_runners, scope)


@learn(_MODULE, "queue_parsed_features")
def queue_parsed_features(
    parsed_features: dict[str, Any],
    keys: Any = None,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    name: str | None = None,
) -> tuple[Any, dict[str, Any]]:
    """The same features, dequeued from a queue that threads fill ahead of time."""
    with tf.name_scope(name, "queue_parsed_features", [*parsed_features.values(), *([] if keys is None else [keys])]):
        names = sorted(parsed_features)
        tensors: list[Any] = []
        for key in names:
            feature = parsed_features[key]
            is_sparse = isinstance(feature, tf.SparseTensor)
            tensors.extend([feature.indices, feature.values, feature.dense_shape] if is_sparse else [feature])
        tensors.extend([] if keys is None else [keys])
        queue = tf.FIFOQueue(feature_queue_capacity, [tensor.dtype for tensor in tensors])
        tf.summary.scalar(
            f"queue/parsed_features/{queue.name}/fraction_of_{feature_queue_capacity}_full",
            tf.cast(queue.size(), tf.float32) * (1.0 / feature_queue_capacity),
        )
        enqueue_ops = [queue.enqueue(tensors) for _ in range(num_enqueue_threads)]
        ends = (tf.errors.OutOfRangeError, tf.errors.CancelledError)
        add_queue_runner(QueueRunner(queue, enqueue_ops, queue_closed_exception_types=ends))
        dequeued = queue.dequeue()
        dequeued = dequeued if isinstance(dequeued, list) else [dequeued]
        for tensor, original in zip(dequeued, tensors):
            tensor.set_shape(original.get_shape())
        following = iter(dequeued)
        found: dict[str, Any] = {}
        for key in names:
            if isinstance(parsed_features[key], tf.SparseTensor):
                found[key] = tf.SparseTensor(next(following), next(following), next(following))
            else:
                found[key] = next(following)
        return None if keys is None else next(following), found


@learn(_MODULE, "read_batch_features", shown=True)
def read_batch_features(
    file_pattern: Any,
    batch_size: Any,
    features: Any,
    reader: Any,
    randomize_input: bool = True,
    num_epochs: Any = None,
    queue_capacity: Any = 10000,
    feature_queue_capacity: int = 100,
    reader_num_threads: Any = 1,
    num_enqueue_threads: int = 2,
    parse_fn: Any = None,
    name: str | None = None,
    read_batch_size: Any = None,
) -> dict[str, Any]:
    """Batches of parsed features of files."""
    return read_keyed_batch_features(
        file_pattern,
        batch_size,
        features,
        reader,
        randomize_input,
        num_epochs,
        queue_capacity,
        reader_num_threads,
        feature_queue_capacity,
        num_enqueue_threads,
        parse_fn,
        name,
        read_batch_size,
    )[1]


@learn(_MODULE, "read_batch_record_features", shown=True)
def read_batch_record_features(
    file_pattern: Any,
    batch_size: Any,
    features: Any,
    randomize_input: bool = True,
    num_epochs: Any = None,
    queue_capacity: Any = 10000,
    reader_num_threads: Any = 1,
    name: str = "dequeue_record_examples",
) -> dict[str, Any]:
    """Batches of parsed features of files of records."""
    return read_batch_features(
        file_pattern,
        batch_size,
        features,
        tf.TFRecordReader,
        randomize_input,
        num_epochs,
        queue_capacity,
        reader_num_threads=reader_num_threads,
        name=name,
    )
