"""Edges of pipelines: sizes of nought and one, numbers that make no sense; values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from pipelines import read, shown
from plain import plain

import everflow as tf
from everflow import internals

D, E, C = tf.data.Dataset, tf.data.experimental, tf.contrib.data
S = tf.TensorSpec
dataset_ops = internals.module("python.data.ops.dataset_ops")
distribute = internals.module("python.data.experimental.ops.distribute")
sleep = internals.module("python.data.experimental.ops.sleep").sleep


def fed(value, dtype=tf.int64):
    """A tensor of which nothing is known before a run."""
    return tf.placeholder_with_default(np.array(value, dtype.as_numpy_dtype), None)


def gen(values, types=tf.int32, shapes=None):
    return D.from_generator(lambda: iter(values), types, shapes)


def py(x):
    return tf.py_func(lambda v: v + 1, [x], tf.int64)


def ending(x):
    """A function that finds a queue at its end at the third element."""
    queue = tf.FIFOQueue(1, tf.int64)
    with tf.control_dependencies([tf.cond(x < 2, tf.no_op, queue.close)]):
        return tf.cond(x < 2, lambda: x, queue.dequeue)


def run(tensors):
    with tf.Session() as session:
        return plain(session.run(tensors))


def one():
    return D.range(3)


def nothing(*_):
    return None


def bad(*_):
    return object


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: D.range(4).apply(E.map_and_batch(py, 2, drop_remainder=True)), [[1, 2], [3, 4]]),
        (lambda: D.range(5).apply(E.map_and_batch(py, 2, drop_remainder=True)), [[1, 2], [3, 4]]),
        (lambda: D.range(5).apply(E.map_and_batch(py, 2)), [[1, 2], [3, 4], [5]]),
        (lambda: D.range(3).apply(E.map_and_batch(lambda x: x, 2, num_parallel_calls=-1)), [[0, 1], [2]]),
        (
            lambda: D.range(3).apply(E.map_and_batch(lambda x: x, 2, num_parallel_calls=-2)),
            "InvalidArgumentError: num_parallel_calls must be greater than zero.",
        ),
        (
            lambda: gen([[1], [1, 2], [3]], tf.int32, [None]).apply(E.map_and_batch(lambda x: x, 2)),
            ["InvalidArgumentError: Cannot add tensor to the batch: number of elements does not match. Shapes are: [tensor]: [", [[3]]],
        ),
        (
            lambda: E.map_and_batch(lambda x: x, 2, 2, num_parallel_calls=2),
            "ValueError: The `num_parallel_batches` and `num_parallel_calls` arguments are mutually exclusive.",
        ),
        (
            lambda: D.from_tensor_slices(np.zeros((3, 0), np.float32)).apply(E.dense_to_sparse_batch(2, [0])),
            [{"indices": [], "values": [], "dense_shape": [2, 0]}, {"indices": [], "values": [], "dense_shape": [1, 0]}],
        ),
        (
            lambda: D.range(3).apply(E.dense_to_sparse_batch(2, [])),
            [{"indices": [[0], [1]], "values": [0, 1], "dense_shape": [2]}, {"indices": [[0]], "values": [2], "dense_shape": [1]}],
        ),
        (
            lambda: D.from_tensor_slices([["a", "b"], ["c", ""]]).apply(E.dense_to_sparse_batch(3, [3])),
            [{"indices": [[0, 0], [0, 1], [1, 0], [1, 1]], "values": [b"a", b"b", b"c", b""], "dense_shape": [2, 3]}],
        ),
        (
            lambda: D.from_tensors([[1]]).apply(E.dense_to_sparse_batch(2, [4])),
            ["InvalidArgumentError: Input element had shape ([1,1]) that is incompatible with the row shape ([4])."],
        ),
        (
            lambda: D.from_tensors([1, 2, 3]).apply(E.dense_to_sparse_batch(2, [2])),
            ["DataLossError: Input element had shape ([3]) that is larger than the row shape ([2])."],
        ),
        (lambda: D.from_tensors([1]).apply(E.dense_to_sparse_batch(2, [-1])), "ValueError: Dimension -1 must be >= 0"),
        (
            lambda: D.from_tensors([1]).apply(E.dense_to_sparse_batch(2, [None])),
            [{"indices": [[0, 0]], "values": [1], "dense_shape": [1, 1]}],
        ),
        (lambda: D.from_tensors([1]).apply(E.dense_to_sparse_batch(0, [2])), "InvalidArgumentError: Batch size must be greater than zero."),
        (
            lambda: E.from_variant(
                tf.raw_ops.DenseToSparseBatchDataset(
                    input_dataset=E.to_variant(D.from_tensors((1, 2))),
                    batch_size=2,
                    row_shape=[2],
                    output_types=[tf.variant],
                    output_shapes=[[None]],
                ),
                S([], tf.variant),
            ),
            "InvalidArgumentError: DenseToSparseBatchDataset only supports inputs with a single component.",
        ),
        (
            lambda: E.from_variant(
                tf.raw_ops.PaddedBatchDatasetV2(
                    input_dataset=E.to_variant(D.range(3)),
                    batch_size=2,
                    padded_shapes=[np.zeros(0, np.int64)],
                    padding_values=[fed([1])],
                    drop_remainder=False,
                    output_shapes=[[None]],
                ),
                S([None], tf.int64),
            ),
            "InvalidArgumentError: All padding values must be scalars",
        ),
        (
            lambda: E.from_variant(
                tf.raw_ops.PaddedBatchDatasetV2(
                    input_dataset=E.to_variant(D.range(3)),
                    batch_size=2,
                    padded_shapes=[fed([-2])],
                    padding_values=[np.int64(0)],
                    drop_remainder=False,
                    output_shapes=[[None]],
                ),
                S([None], tf.int64),
            ),
            "InvalidArgumentError: Dimension -2 must be >= -1",
        ),
        (
            lambda: gen([[1], [[1]]]).padded_batch(2, [None]),
            ["InvalidArgumentError: All elements in a batch must have the same rank as the padded shape for component0: expect"],
        ),
        (
            lambda: gen([[[1]]]).padded_batch(2, [3]),
            ["InvalidArgumentError: All elements in a batch must have the same rank as the padded shape for component0: expect"],
        ),
        (lambda: gen([[[1, 2]], [[3], [4]]]).padded_batch(2, [None, 3], -1), [[[[1, 2, -1], [-1, -1, -1]], [[3, -1, -1], [4, -1, -1]]]]),
        (lambda: D.range(3).padded_batch(2, []), [[0, 1], [2]]),
        (lambda: D.from_tensor_slices([["a"], ["b"]]).padded_batch(2, [2], "x"), [[[b"a", b"x"], [b"b", b"x"]]]),
        (lambda: gen([[1.0], [2.0, 3.0]], tf.float32, [None]).padded_batch(2, [3]), [[[1.0, 0.0, 0.0], [2.0, 3.0, 0.0]]]),
        (lambda: gen([[1.0], [2.0, 3.0]], tf.float32, [None]).padded_batch(2, [None]), [[[1.0, 0.0], [2.0, 3.0]]]),
        (lambda: gen([[], []], tf.float32, [None]).padded_batch(2, [None]), [[[], []]]),
        (lambda: D.range(3).padded_batch(0, []), "InvalidArgumentError: Batch size must be greater than zero."),
        (lambda: D.range(3).window(0), "InvalidArgumentError: Window size must be greater than zero."),
        (lambda: D.range(3).window(1, 0), "InvalidArgumentError: Window shift must be greater than zero."),
        (lambda: D.range(3).window(1, 1, 0), "InvalidArgumentError: Window stride must be greater than zero."),
        (
            lambda: D.range(3).apply(C.sliding_window_batch(0, window_shift=1)),
            "InvalidArgumentError: Window size must be greater than zero.",
        ),
        (
            lambda: D.range(3).apply(C.sliding_window_batch(1, window_shift=0)),
            "InvalidArgumentError: Window shift must be greater than zero.",
        ),
        (
            lambda: D.range(3).apply(C.sliding_window_batch(1, window_shift=1, window_stride=0)),
            "InvalidArgumentError: window_stride must be greater than zero.",
        ),
        (
            lambda: D.range(3).apply(C.sliding_window_batch(1, stride=1, window_shift=1)),
            "ValueError: Cannot specify both `stride` and `window_shift`",
        ),
        (lambda: D.range(7).apply(C.sliding_window_batch(2, window_shift=3, window_stride=2)), [[0, 2], [3, 5]]),
        (lambda: D.range(7).apply(C.sliding_window_batch(3, stride=2)), [[0, 1, 2], [2, 3, 4], [4, 5, 6]]),
        (lambda: D.range(7).window(2, 3).flat_map(lambda w: w.batch(2)), [[0, 1], [3, 4], [6]]),
        (lambda: D.from_tensor_slices(["a", "b", "c"]).window(2).flat_map(lambda w: w.batch(2)), [[b"a", b"b"], [b"c"]]),
        (
            lambda: D.zip((D.range(3), D.range(3))).window(2).flat_map(lambda a, b: D.zip((a.batch(2), b.batch(2)))),
            [[[0, 1], [0, 1]], [[2], [2]]],
        ),
        (
            lambda: gen([1, [2]]).apply(E.unbatch()),
            ["InvalidArgumentError: Input element must have a non-scalar value in each component.", 2],
        ),
        (
            lambda: gen([([1, 2], [3]), ([1], [2])], (tf.int32, tf.int32), ([None], [None])).apply(E.unbatch()),
            ["InvalidArgumentError: Input element must have the same batch size in each component. Component 0 had size 2 but", [1, 2]],
        ),
        (lambda: gen([[], [1]], tf.int32, [None]).apply(E.unbatch()), [1]),
        (lambda: D.range(3).batch(0), "InvalidArgumentError: Batch size must be greater than zero."),
        (lambda: D.range(2).batch(1), [[0], [1]]),
        (lambda: D.range(0).batch(1), []),
        (
            lambda: gen([[1], [1, 2]], tf.int32, [None]).batch(2),
            ["InvalidArgumentError: Cannot batch tensors with different shapes in component 0. First element had shape [1] and"],
        ),
        (
            lambda: gen([[1], [1, 2], [3]], tf.int32, [None]).batch(2, True),
            ["InvalidArgumentError: Cannot batch tensors with different shapes in component 0. First element had shape [1] and"],
        ),
        (lambda: D.range(3).filter(lambda x: tf.py_func(lambda v: np.array([v > 1]), [x], tf.bool)), [2]),
        (lambda: D.range(3).filter(lambda x: tf.py_func(lambda v: v > 1, [x], tf.bool)), [2]),
        (
            lambda: D.range(3).filter(lambda x: x),
            "ValueError: `predicate` return type must be convertible to a scalar boolean tensor. Was TensorSpec(sha",
        ),
        (
            lambda: D.range(3).filter(lambda x: tf.expand_dims(x > 1, 0)),
            "ValueError: `predicate` return type must be convertible to a scalar boolean tensor. Was TensorSpec(sha",
        ),
        (lambda: D.range(3).apply(E.take_while(lambda x: x)), "ValueError: `predicate` must return a scalar boolean tensor."),
        (lambda: D.range(5).apply(E.take_while(lambda x: tf.py_func(lambda v: v < 2, [x], tf.bool))), [0, 1]),
        (
            lambda: D.from_tensors(1.0).apply(E.unique()),
            "TypeError: `tf.data.experimental.unique()` only supports inputs with a single `tf.int32`, `tf.int64`,",
        ),
        (lambda: D.from_tensor_slices(["a", "b", "a"]).apply(E.unique()), [b"a", b"b"]),
        (lambda: D.from_tensor_slices([[1, 2], [1, 2], [2, 1]]).apply(E.unique()), [[1, 2], [2, 1]]),
        (
            lambda: D.range(3).apply(E.group_by_window(lambda x: tf.py_func(lambda v: np.array([v]), [x], tf.int64), lambda k, w: w, 2)),
            [0, 1, 2],
        ),
        (
            lambda: D.range(3).apply(E.group_by_window(lambda x: [x], lambda k, w: w, 2)),
            "ValueError: `key_func` must return a single tf.int64 scalar tensor.",
        ),
        (
            lambda: D.range(3).apply(E.group_by_window(lambda x: x, lambda k, w: w, window_size_func=lambda k: [k])),
            "ValueError: `window_size_func` must return a single tf.int64 scalar tensor.",
        ),
        (
            lambda: D.range(3).apply(
                E.group_by_window(
                    lambda x: x, lambda k, w: w, window_size_func=lambda k: tf.py_func(lambda v: np.array([v]), [k], tf.int64)
                )
            ),
            ["InvalidArgumentError: Window size must be greater than zero, but got 0.", 1, 2],
        ),
        (
            lambda: D.range(3).apply(E.group_by_window(lambda x: x, lambda k, w: k, 2)),
            "TypeError: `reduce_func` must return a `Dataset` object.",
        ),
        (
            lambda: E.group_by_window(lambda x: x, lambda k, w: w, 2, lambda k: 2),
            "ValueError: Must pass either window_size or window_size_func.",
        ),
        (lambda: E.group_by_window(lambda x: x, lambda k, w: w), "ValueError: Must pass either window_size or window_size_func."),
        (
            lambda: D.range(3).apply(
                E.group_by_reducer(
                    lambda x: tf.py_func(lambda v: np.array([v]), [x], tf.int64), E.Reducer(lambda k: k, lambda s, x: s, lambda s: s)
                )
            ),
            [[0], [1], [2]],
        ),
        (
            lambda: D.range(3).apply(
                E.group_by_reducer(lambda x: tf.cast(x, tf.int32), E.Reducer(lambda k: k, lambda s, x: s, lambda s: s))
            ),
            "ValueError: `key_func` must return a single tf.int64 tensor. Got type=<dtype: 'int32'> and shape=()",
        ),
        (
            lambda: D.range(5).apply(
                E.group_by_reducer(
                    lambda x: x % 2, E.Reducer(lambda k: tf.zeros([0], tf.int64), lambda s, x: tf.concat([s, [x]], 0), lambda s: s)
                )
            ),
            [[0, 2, 4], [1, 3]],
        ),
        (
            lambda: D.range(5).apply(E.group_by_reducer(lambda x: x % 2, E.Reducer(lambda k: 0, lambda s, x: x, lambda s: s))),
            "TypeError: The element types for the new state must match the initial state. Expected <dtype: 'int32'",
        ),
        (
            lambda: D.range(-3, 3).apply(E.group_by_reducer(lambda x: x, E.Reducer(lambda k: k, lambda s, x: s + x, lambda s: s * 10))),
            [-60, -40, -20, 0, 20, 40],
        ),
        (
            lambda: str(
                E.get_structure(
                    D.range(5).apply(
                        E.group_by_reducer(
                            lambda x: x % 2, E.Reducer(lambda k: tf.zeros([0], tf.int64), lambda s, x: tf.concat([s, [x]], 0), lambda s: s)
                        )
                    )
                )
            ),
            "TensorSpec(shape=(?,), dtype=tf.int64, name=None)",
        ),
        (
            lambda: E.bucket_by_sequence_length(tf.size, [3], [2]),
            "ValueError: len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1",
        ),
        (
            lambda: (
                D.range(6)
                .map(lambda x: tf.fill([x], x))
                .apply(E.bucket_by_sequence_length(tf.size, [3, 6], [2, 2, 2], pad_to_bucket_boundary=True))
            ),
            [[[0, 0], [1, 0]], [[3, 3, 3, 0, 0], [4, 4, 4, 4, 0]], [[2, 2]], [[5, 5, 5, 5, 5]]],
        ),
        (
            lambda: (
                D.range(6).map(lambda x: tf.fill([x % 2 + 1], x)).apply(E.bucket_by_sequence_length(tf.size, [2], [2, 1], no_padding=True))
            ),
            [[[1, 1]], [[0], [2]], [[3, 3]], [[5, 5]], [[4]]],
        ),
        (
            lambda: (
                D.range(5)
                .map(lambda x: tf.fill([x % 2 + 1], x))
                .apply(E.bucket_by_sequence_length(tf.size, [2], [2, 3], drop_remainder=True))
            ),
            [[[0], [2]]],
        ),
        (
            lambda: (
                D.range(1, 4)
                .map(lambda x: tf.fill([x], x))
                .apply(E.bucket_by_sequence_length(tf.size, [9], [3, 3], padding_values=np.int64(-1), padded_shapes=[4]))
            ),
            [[[1, -1, -1, -1], [2, 2, -1, -1], [3, 3, 3, -1]]],
        ),
    ],
)
def test_batches_windows_and_groups(made, expected):
    assert shown(made) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: D.range(3).filter(lambda x: tf.py_func(lambda v: np.array([v > 1, True]), [x], tf.bool)),
            [
                "InvalidArgumentError: Filter predicate `f` must return a scalar bool.",
                "InvalidArgumentError: Filter predicate `f` must return a scalar bool.",
            ],
        ),
        (
            lambda: D.range(3).filter(lambda x: tf.py_func(lambda v: np.zeros(0, bool), [x], tf.bool)),
            [
                "InvalidArgumentError: Filter predicate `f` must return a scalar bool.",
                "InvalidArgumentError: Filter predicate `f` must return a scalar bool.",
            ],
        ),
        (
            lambda: D.range(3).apply(E.group_by_window(lambda x: tf.py_func(lambda v: np.array([v, v]), [x], tf.int64), lambda k, w: w, 2)),
            [
                "InvalidArgumentError: `key_func` must return a scalar int64.",
                "InvalidArgumentError: `key_func` must return a scalar int64.",
            ],
        ),
        (
            lambda: D.range(3).apply(
                E.group_by_window(
                    lambda x: x, lambda k, w: w, window_size_func=lambda k: tf.py_func(lambda v: np.array([v, v]), [k], tf.int64)
                )
            ),
            [
                "InvalidArgumentError: `window_size_func` must return a scalar int64.",
                "InvalidArgumentError: `window_size_func` must return a scalar int64.",
            ],
        ),
        (
            lambda: D.range(3).apply(
                E.group_by_reducer(
                    lambda x: tf.py_func(lambda v: np.array([v, v]), [x], tf.int64), E.Reducer(lambda k: k, lambda s, x: s, lambda s: s)
                )
            ),
            [
                "InvalidArgumentError: `key_func` must return a scalar int64.",
                "InvalidArgumentError: `key_func` must return a scalar int64.",
            ],
        ),
        (lambda: D.range(4).map(ending), [0, 1]),
        (lambda: D.range(4).map(ending, 2), [0, 1]),
        (
            lambda: D.range(4).apply(E.map_and_batch(ending, 2)),
            [[0, 1], "InvalidArgumentError: Function invocation produced OutOfRangeError: FIFOQueue '' is closed and has insufficient"],
        ),
        (
            lambda: run(D.range(4).reduce(np.int64(0), lambda s, x: s + ending(x))),
            "OutOfRangeError: FIFOQueue '' is closed and has insufficient elements (requested 1, current size 0)",
        ),
        (lambda: one().map(nothing), "TypeError: Unsupported return value from function passed to Dataset.map(): None."),
        (lambda: one().map(nothing, 2), "TypeError: Unsupported return value from function passed to Dataset.map(): None."),
        (lambda: one().flat_map(nothing), "TypeError: Unsupported return value from function passed to Dataset.flat_map(): None."),
        (lambda: one().filter(nothing), "TypeError: Unsupported return value from function passed to Dataset.filter(): None."),
        (lambda: one().interleave(nothing), "TypeError: Unsupported return value from function passed to Dataset.interleave(): None."),
        (
            lambda: one().interleave(nothing, 2, 1, 2),
            "TypeError: Unsupported return value from function passed to Dataset.interleave(): None.",
        ),
        (
            lambda: one().apply(E.parallel_interleave(nothing, 2)),
            "TypeError: Unsupported return value from function passed to tf.data.experimental.parallel_interleave(",
        ),
        (
            lambda: one().apply(E.scan(0, nothing)),
            "TypeError: Unsupported return value from function passed to tf.data.experimental.scan(): None.",
        ),
        (
            lambda: one().apply(E.map_and_batch(nothing, 2)),
            "TypeError: Unsupported return value from function passed to tf.data.experimental.map_and_batch(): Non",
        ),
        (
            lambda: one().apply(E.take_while(nothing)),
            "TypeError: Unsupported return value from function passed to tf.data.experimental.take_while(): None.",
        ),
        (
            lambda: one().apply(E.group_by_reducer(nothing, E.Reducer(nothing, nothing, nothing))),
            "TypeError: Unsupported return value from function passed to tf.data.experimental.group_by_reducer():",
        ),
        (lambda: one().reduce(0, nothing), "TypeError: Unsupported return value from function passed to reduce(): None."),
        (
            lambda: one().apply(E.group_by_reducer(lambda x: x, E.Reducer(nothing, nothing, nothing))),
            "TypeError: Unsupported return value from function passed to tf.data.experimental.group_by_reducer():",
        ),
        (
            lambda: one().map_with_legacy_function(nothing),
            "TypeError: Unsupported return value from function passed to Dataset.map(): None.",
        ),
        (
            lambda: one().filter_with_legacy_function(nothing),
            "TypeError: Unsupported return value from function passed to Dataset.filter(): None.",
        ),
        (lambda: one().map(bad), "TypeError: Unsupported return value from function passed to Dataset.map(): <class 'object'>."),
        (lambda: one().map(bad, 2), "TypeError: Unsupported return value from function passed to Dataset.map(): <class 'object'>."),
        (lambda: one().flat_map(bad), "TypeError: Unsupported return value from function passed to Dataset.flat_map(): <class 'object'>."),
        (lambda: one().filter(bad), "TypeError: Unsupported return value from function passed to Dataset.filter(): <class 'object'>."),
        (
            lambda: one().interleave(bad),
            "TypeError: Unsupported return value from function passed to Dataset.interleave(): <class 'object'>.",
        ),
        (
            lambda: one().interleave(bad, 2, 1, 2),
            "TypeError: Unsupported return value from function passed to Dataset.interleave(): <class 'object'>.",
        ),
        (
            lambda: one().apply(E.parallel_interleave(bad, 2)),
            "TypeError: Unsupported return value from function passed to tf.data.experimental.parallel_interleave(",
        ),
        (
            lambda: one().apply(E.scan(0, bad)),
            "TypeError: Unsupported return value from function passed to tf.data.experimental.scan(): <class 'obje",
        ),
        (
            lambda: one().apply(E.map_and_batch(bad, 2)),
            "TypeError: Unsupported return value from function passed to tf.data.experimental.map_and_batch(): <cl",
        ),
        (
            lambda: one().apply(E.take_while(bad)),
            "TypeError: Unsupported return value from function passed to tf.data.experimental.take_while(): <class",
        ),
        (
            lambda: one().apply(E.group_by_reducer(bad, E.Reducer(bad, bad, bad))),
            "TypeError: Unsupported return value from function passed to tf.data.experimental.group_by_reducer():",
        ),
        (
            lambda: one().apply(E.group_by_window(lambda x: x, bad, 2)),
            "TypeError: Unsupported return value from function passed to tf.data.experimental.group_by_window(): <",
        ),
        (lambda: one().reduce(0, bad), "TypeError: Unsupported return value from function passed to reduce(): <class 'object'>."),
    ],
)
def test_functions_that_return_something_else(made, expected):
    assert shown(made) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: one().filter(lambda x: x),
            "ValueError: `predicate` return type must be convertible to a scalar boolean tensor. Was TensorSpec(sha",
        ),
        (lambda: D.range(3).interleave(lambda x: D.range(x, x + 2), 0), "InvalidArgumentError: cycle_length must be greater than zero."),
        (lambda: D.range(3).interleave(lambda x: D.range(x, x + 2), 2, 0), "InvalidArgumentError: block_length must be greater than zero."),
        (
            lambda: D.range(3).interleave(lambda x: D.range(x, x + 2), 2, 1, 0),
            "InvalidArgumentError: num_parallel_calls must be greater than zero.",
        ),
        (
            lambda: D.range(3).interleave(lambda x: D.range(x, x + 2), 2, 1, 3),
            "InvalidArgumentError: num_parallel_calls must less than or equal to cycle_length.",
        ),
        (lambda: D.range(3).apply(E.parallel_interleave(lambda x: D.range(2), 0)), "InvalidArgumentError: `cycle_length` must be > 0"),
        (lambda: D.range(3).apply(E.parallel_interleave(lambda x: D.range(2), 1, 0)), "InvalidArgumentError: `block_length` must be > 0"),
        (
            lambda: D.range(3).apply(E.parallel_interleave(lambda x: D.range(2), 1, 1, buffer_output_elements=0)),
            "InvalidArgumentError: `buffer_output_elements` must be > 0",
        ),
        (
            lambda: D.range(3).apply(E.parallel_interleave(lambda x: D.range(2), 1, 1, prefetch_input_elements=-1)),
            "InvalidArgumentError: `prefetch_input_elements` must be >= 0",
        ),
        (lambda: D.range(3).map(lambda x: x, 0), "InvalidArgumentError: num_parallel_calls must be greater than zero."),
        (lambda: D.range(3).map(lambda x: x, -2), "InvalidArgumentError: num_parallel_calls must be greater than zero."),
        (lambda: D.range(3).prefetch(-2), "InvalidArgumentError: buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning"),
        (lambda: D.range(3).prefetch(0), [0, 1, 2]),
        (lambda: D.range(3).prefetch(None), [0, 1, 2]),
        (lambda: D.range(3).shuffle(0), "InvalidArgumentError: buffer_size must be greater than zero."),
        (lambda: D.range(3).shuffle(-1), "InvalidArgumentError: buffer_size must be greater than zero."),
        (lambda: D.range(3).shuffle(1), [0, 1, 2]),
        (lambda: D.range(3).repeat(0), []),
        (lambda: D.range(3).repeat(-2).take(4), [0, 1, 2, 0]),
        (lambda: D.range(6).shuffle(3, seed=5), [1, 3, 4, 5, 0, 2]),
        (lambda: D.range(6).shuffle(np.int64(3), seed=np.int64(5)), [1, 3, 4, 5, 0, 2]),
        (lambda: D.range(4).shuffle(4, seed=5).repeat(2), [3, 0, 2, 1, 0, 2, 3, 1]),
        (lambda: D.range(4).shuffle(4, seed=5, reshuffle_each_iteration=False).repeat(2), [3, 0, 2, 1, 3, 0, 2, 1]),
        (lambda: D.range(4).apply(E.shuffle_and_repeat(3, 2, seed=5)), [1, 3, 2, 0, 2, 0, 3, 1]),
        (lambda: D.range(0).shuffle(3), []),
        (lambda: D.range(3).shuffle(100, seed=2), [2, 0, 1]),
        (lambda: D.range(), "ValueError: Invalid arguments to RangeDataset: ()"),
        (lambda: D.range(1, 2, 3, 4), "ValueError: Invalid arguments to RangeDataset: (1, 2, 3, 4)"),
        (lambda: D.range(2.5), "TypeError: Expected int64, got 2.5 of type 'float' instead."),
        (lambda: D.zip(D.range(2)), [0, 1]),
        (
            lambda: D.zip([D.range(2)]),
            "TypeError: The argument to `Dataset.zip()` must be a nested structure of `Dataset` objects. Nested st",
        ),
        (lambda: D.zip((D.range(2), 3)), "TypeError: The argument to `Dataset.zip()` must be a nested structure of `Dataset` objects."),
        (lambda: D.zip(()), "ValueError: List argument 'input_datasets' to 'ZipDataset' Op with length 0 shorter than minimum lengt"),
        (
            lambda: D.range(2).concatenate(D.from_tensors(1.0)),
            "TypeError: Two datasets to concatenate have different types <dtype: 'int64'> and <dtype: 'float32'>",
        ),
        (lambda: D.from_tensors([1]).concatenate(D.from_tensors([1, 2])), [[1], [1, 2]]),
        (
            lambda: D.from_tensors([1]).concatenate(D.from_tensors(([1], [1]))),
            "TypeError: Two datasets to concatenate have different types <dtype: 'int32'> and (tf.int32, tf.int32)",
        ),
        (lambda: D.range(2).apply(lambda d: 3), "TypeError: `transformation_func` must return a Dataset. Got 3."),
        (lambda: D.range(3).shard(2, -1), "InvalidArgumentError: Index must be between 0 and 1 (currently index = -1)."),
        (lambda: D.range(3).shard(2, 2), "InvalidArgumentError: Index must be between 0 and 1 (currently index = 2)."),
        (lambda: D.range(3).shard(0, 0), "InvalidArgumentError: Number of shards must be greater than zero (currently num_shards = 0)."),
        (lambda: D.range(2).enumerate(np.int64(7)), [[7, 0], [8, 1]]),
        (lambda: E.Counter(1, 2, tf.int32).take(3), [1, 3, 5]),
        (lambda: E.RandomDataset(3).take(3), [3534849767, 279844183, 888998500]),
        (lambda: E.RandomDataset(3).batch(2).take(2), [[3534849767, 279844183], [888998500, 1099633400]]),
        (lambda: str(E.get_structure(gen([[1]]).apply(C.assert_element_shape([1])))), "TensorSpec(shape=(1,), dtype=tf.int32, name=None)"),
        (lambda: gen([(1, [2])], (tf.int32, tf.int32)).apply(C.assert_element_shape(([], [1]))), [[1, [2]]]),
        (lambda: D.range(5).apply(C.batch_and_drop_remainder(2)), [[0, 1], [2, 3]]),
        (
            lambda: D.range(5).map(lambda x: tf.fill([x], x)).apply(C.padded_batch_and_drop_remainder(2, [None])),
            [[[0], [1]], [[2, 2, 0], [3, 3, 3]]],
        ),
        (
            lambda: D.range(6).apply(E.rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.5, 0.5], [0.5, 0.5], seed=2)),
            [[0, 0], [1, 1], [0, 2], [1, 3], [0, 4], [1, 5]],
        ),
        (
            lambda: D.range(6).apply(E.rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [1.0, 0.0], [0.5, 0.5], seed=2)),
            [[0, 0], [0, 2], [0, 4]],
        ),
        (
            lambda: str(
                E.get_structure(D.range(6).apply(E.rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.5, 0.5], [0.5, 0.5], seed=2)))
            ),
            "(TensorSpec(shape=(), dtype=tf.int32, name=None), TensorSpec(shape=(), dtype=tf.int64, name=None))",
        ),
        (lambda: iter(D.range(2)), "RuntimeError: __iter__() is only supported inside of tf.function or when eager execution is enabled."),
        (lambda: bool(D.range(2)), True),
        (lambda: len(D.range(2)), "TypeError: object of type 'DatasetV1Adapter' has no len()"),
    ],
)
def test_numbers_and_orders(made, expected):
    assert shown(made) == expected


def two_rounds(dataset):
    """What an iterator gives that is started twice."""
    iterator, found = tf.data.make_initializable_iterator(dataset), []
    following = iterator.get_next()
    with tf.Session() as session:
        for _ in range(2):
            session.run(iterator.initializer)
            found.append(read(session, following))
    return found


def optional_loop():
    iterator = tf.data.make_initializable_iterator(D.range(2))
    optional = E.get_next_as_optional(iterator)
    has_value, value = optional.has_value(), optional.get_value()
    with tf.Session() as session:
        session.run(iterator.initializer)
        found = [session.run([has_value, value]), session.run([has_value, value]), session.run(has_value)]
        return plain([*found, shown(lambda: session.run(value))])


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (optional_loop, [[True, 0], [True, 1], False, "InvalidArgumentError: The given optional does not have a value."]),
        (lambda: two_rounds(D.range(5).shuffle(3, seed=4)), [[1, 0, 4, 3, 2], [1, 0, 4, 3, 2]]),
        (lambda: two_rounds(D.range(5).shuffle(3, seed=4, reshuffle_each_iteration=False)), [[1, 3, 2, 4, 0], [1, 3, 2, 4, 0]]),
        (lambda: two_rounds(E.RandomDataset(3).take(2)), [[3534849767, 279844183], [3534849767, 279844183]]),
        (lambda: two_rounds(D.range(3).apply(E.shuffle_and_repeat(2, 2, seed=4))), [[1, 2, 0, 1, 2, 0], [1, 2, 0, 1, 2, 0]]),
        (
            lambda: two_rounds(D.range(9).filter(lambda x: x % 2 < 1).shuffle(3, seed=4).repeat(2)),
            [[2, 6, 4, 8, 0, 0, 4, 8, 2, 6], [2, 6, 4, 8, 0, 0, 4, 8, 2, 6]],
        ),
        (lambda: two_rounds(D.range(3).shuffle(3, seed=1).cache()), [[1, 2, 0], [1, 2, 0]]),
    ],
)
def test_iterators_started_again(made, expected):
    assert shown(made) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: D.range(9).map(lambda x: x * 2).shuffle(4, seed=1), [0, 8, 10, 2, 4, 14, 6, 12, 16]),
        (lambda: D.from_tensor_slices(["a", "b", "c"]).shuffle(2, seed=1), [b"a", b"c", b"b"]),
        (lambda: D.range(9).shuffle(4, seed=1).batch(4), [[0, 4, 5, 1], [2, 7, 3, 6], [8]]),
        (lambda: D.range(9).filter(lambda x: x > 1).shuffle(4, seed=1).batch(4), [[2, 6, 7, 3], [4, 5, 8]]),
        (lambda: D.from_tensor_slices(([1, 2, 3], ["a", "b", "c"])).shuffle(2, seed=1).batch(2), [[[1, 3], [b"a", b"c"]], [[2], [b"b"]]]),
        (lambda: distribute._AutoShardDataset(D.range(4).flat_map(lambda x: D.from_tensors(x).repeat(2)), 2, 1), [0, 1, 2, 3]),
        (lambda: distribute._AutoShardDataset(D.zip((D.range(4), D.range(4))), 2, 1), [[1, 1], [3, 3]]),
        (lambda: distribute._AutoShardDataset(D.range(2).concatenate(D.range(7, 9)), 2, 1), [1, 8]),
        (lambda: run(E.cardinality(distribute._AutoShardDataset(D.range(5), 2, 1))), 2),
        (lambda: D.range(2).apply(sleep(1)), [0, 1]),
        (lambda: D.range(3).take(-1), [0, 1, 2]),
        (lambda: D.range(3).take(-3).batch(2), [[0, 1], [2]]),
        (lambda: D.range(2).apply(sleep(1)), [0, 1]),
        (lambda: D.range(3).take(-1), [0, 1, 2]),
        (lambda: D.range(3).take(-3).batch(2), [[0, 1], [2]]),
        (lambda: D.range(3).skip(-1), []),
        (lambda: D.range(3).take(0), []),
        (lambda: D.range(3).skip(0).batch(2), [[0, 1], [2]]),
        (lambda: D.zip((D.range(3), D.range(5))).batch(2), [[[0, 1], [0, 1]], [[2], [2]]]),
        (lambda: D.range(3).concatenate(D.range(5, 7)).batch(2), [[0, 1], [2, 5], [6]]),
        (lambda: D.range(3).repeat(2).batch(4), [[0, 1, 2, 0], [1, 2]]),
        (lambda: D.range(7).shard(2, 1).batch(2), [[1, 3], [5]]),
        (lambda: D.range(7).take(3).batch(2), [[0, 1], [2]]),
        (
            lambda: gen([[1]], tf.int32, [None]).concatenate(gen([[1, 2]], tf.int32, [None])).batch(2),
            ["InvalidArgumentError: Cannot batch tensors with different shapes in component 0. First element had shape [1] and"],
        ),
        (
            lambda: D.from_tensor_slices([[1]]).concatenate(D.from_tensor_slices([[1, 2]])).batch(2),
            ["InvalidArgumentError: Cannot batch tensors with different shapes in component 0. First element had shape [1] and"],
        ),
        (lambda: D.from_tensor_slices([[1]]).concatenate(D.from_tensor_slices([[2], [3]])).batch(2), [[[1], [2]], [[3]]]),
        (lambda: D.from_tensor_slices(["a"]).concatenate(D.from_tensor_slices(["b", "c"])).batch(2), [[b"a", b"b"], [b"c"]]),
        (
            lambda: D.from_tensor_slices(tf.SparseTensor([[0, 1], [2, 0]], [1, 2], [3, 2])).batch(2),
            [{"indices": [[0, 1]], "values": [1], "dense_shape": [2, 2]}, {"indices": [[0, 0]], "values": [2], "dense_shape": [1, 2]}],
        ),
        (
            lambda: D.from_tensor_slices(tf.ragged.constant([[1], [2, 3], []])).batch(2).map(lambda r: r.to_tensor()),
            [[[1, 0], [2, 3]], [[]]],
        ),
        (
            lambda: D.from_tensors(tf.SparseTensor([[0, 1], [2, 0]], [1, 2], [3, 2])).apply(E.unbatch()),
            [
                {"indices": [[1]], "values": [1], "dense_shape": [2]},
                {"indices": [], "values": [], "dense_shape": [2]},
                {"indices": [[0]], "values": [2], "dense_shape": [2]},
            ],
        ),
        (lambda: D.from_tensors([["a", "b"], ["c", "d"]]).apply(E.unbatch()), [[b"a", b"b"], [b"c", b"d"]]),
        (lambda: D.from_tensors(([1, 2], ["a", "b"])).apply(E.unbatch()), [[1, b"a"], [2, b"b"]]),
        (
            lambda: D.range(4).apply(E.scan((np.int64(0), "a"), lambda s, x: ((s[0] + x, s[1] + "b"), (s[1], s[0])))),
            [[b"a", 0], [b"ab", 0], [b"abb", 1], [b"abbb", 3]],
        ),
        (lambda: D.range(3).apply(E.scan(tf.zeros([0], tf.int64), lambda s, x: (tf.concat([s, [x]], 0), s))), [[], [0], [0, 1]]),
        (lambda: D.range(0).apply(E.scan(0, lambda s, x: (s, x))), []),
        (lambda: D.range(3).interleave(lambda x: D.range(x), 1), [0, 0, 1]),
        (lambda: D.range(4).interleave(lambda x: D.range(10 * x, 10 * x + 3), 2, 2), [0, 1, 10, 11, 2, 12, 20, 21, 30, 31, 22, 32]),
        (lambda: D.range(4).interleave(lambda x: D.range(10 * x, 10 * x + 3), 2, 2, 2), [0, 1, 10, 11, 2, 12, 20, 21, 30, 31, 22, 32]),
        (
            lambda: D.range(4).apply(E.parallel_interleave(lambda x: D.range(10 * x, 10 * x + 3), 2, 2)),
            [0, 1, 10, 11, 2, 12, 20, 21, 30, 31, 22, 32],
        ),
        (
            lambda: D.from_tensor_slices([1.0, 0.0, 2.0]).interleave(lambda x: D.from_tensors(tf.check_numerics(1.0 / x, "bad")), 2),
            [1.0, "InvalidArgumentError: bad : Tensor had Inf values", 0.5],
        ),
        (
            lambda: D.from_tensor_slices([1.0, 0.0, 2.0]).interleave(lambda x: D.from_tensors(tf.check_numerics(1.0 / x, "bad")), 2, 1, 2),
            [1.0, "InvalidArgumentError: bad : Tensor had Inf values", 0.5],
        ),
        (
            lambda: D.from_tensor_slices([1.0, 0.0, 2.0]).flat_map(lambda x: D.from_tensors(tf.check_numerics(1.0 / x, "bad"))),
            [1.0, "InvalidArgumentError: bad : Tensor had Inf values", 0.5],
        ),
        (lambda: D.range(4).interleave(lambda x: D.range(0), 2), []),
        (
            lambda: D.range(3).interleave(lambda x: D.from_tensors(tf.py_func(lambda v: v, [x], tf.int64)).repeat(2), 2, 1, 2),
            [0, 1, 0, 1, 2, 2],
        ),
        (
            lambda: (
                D.from_tensor_slices([1.0, 0.0, 2.0])
                .map(lambda x: tf.check_numerics(1.0 / x, "bad"))
                .interleave(lambda x: D.from_tensors(tf.py_func(lambda v: v, [x], tf.float32)), 2, 1, 2)
            ),
            [1.0, "InvalidArgumentError: bad : Tensor had Inf values", 0.5],
        ),
        (lambda: E.sample_from_datasets([D.range(3), D.range(10, 13)], D.from_tensors([0.5, 0.5]).repeat(), seed=1), [10, 0, 1, 2, 11, 12]),
        (lambda: E.choose_from_datasets([D.range(2), D.range(10, 12)], D.from_tensor_slices(np.int64([0, 1, 0, 0, 1]))), [0, 10, 1, 11]),
        (lambda: E.choose_from_datasets([], D.range(1)), "IndexError: list index out of range"),
    ],
)
def test_pipelines_of_all_kinds(made, expected):
    assert shown(made) == expected
