"""Older forms of functions, options, eager iteration and devices; values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import computed, plain

import everflow as tf
from everflow import internals
from everflow.eager.context import eager_mode

D, E, C = tf.data.Dataset, tf.data.experimental, tf.contrib.data


def elements(dataset, most=30):
    iterator = tf.data.make_initializable_iterator(dataset)
    following = iterator.get_next()
    found = []
    with tf.Session() as session:
        session.run([iterator.initializer, tf.tables_initializer()])
        while len(found) < most:
            try:
                found.append(plain(session.run(following)))
            except tf.errors.OutOfRangeError:
                break
            except tf.errors.OpError as e:
                found.append(type(e).__name__)
    return found


def spread(x):
    return D.from_tensors(x).repeat(3)


def shapes(d):
    return tf.data.get_output_shapes(d)


def types(d):
    return tf.data.get_output_types(d)


nest = internals.module("python.data.util.nest")


def legacy(name, *args):
    return elements(getattr(D.range(4), name)(*args))


def eagerly(made):
    with eager_mode():
        return plain([[v.numpy() for v in nest.flatten(e)] for e in made()])


def devices(dataset, count):
    m = internals.module("python.data.ops.multi_device_iterator_ops").MultiDeviceIterator(dataset, ["/cpu:0", "/cpu:0"][:count])
    following = m.get_next()
    with tf.Session() as session:
        session.run(m.initializer)
        return [plain(session.run(following)) for _ in range(2)]


def tuned(**kwargs):
    options = tf.data.Options()
    for name, value in kwargs.items():
        owner = options
        *path, last = name.split("__")
        for part in path:
            owner = getattr(owner, part)
        setattr(owner, last, value)
    return elements(D.range(6).map(lambda x: x + 1).batch(2).map(lambda x: x * 2).with_options(options))


def resampled(n, *args, **kwargs):
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        return elements(D.range(n).apply(E.rejection_resample(lambda x: tf.cast(x % 2, tf.int32), *args, seed=1, **kwargs)))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: legacy("map_with_legacy_function", lambda x: x * 2), [0, 2, 4, 6]),
        (lambda: legacy("map_with_legacy_function", lambda x: x * 2, 2), [0, 2, 4, 6]),
        (lambda: legacy("filter_with_legacy_function", lambda x: x > 1), [2, 3]),
        (lambda: elements(D.range(4).apply(E.map_and_batch_with_legacy_function(lambda x: x * 2, 2))), [[0, 2], [4, 6]]),
        (lambda: elements(D.range(4).map(lambda x: x * 2, num_parallel_calls=E.AUTOTUNE if hasattr(E, "AUTOTUNE") else 1)), [0, 2, 4, 6]),
        (
            lambda: elements(D.range(4).interleave(spread, cycle_length=2, num_parallel_calls=tf.data.experimental.AUTOTUNE)),
            [0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3],
        ),
        (lambda: elements(D.range(4).prefetch(tf.data.experimental.AUTOTUNE)), [0, 1, 2, 3]),
        (lambda: elements(D.range(5).apply(C.sloppy_interleave(lambda x: D.from_tensors(x), 1))), [0, 1, 2, 3, 4]),
        (lambda: elements(D.range(4).apply(E.parallel_interleave(lambda x: D.range(x), 2, sloppy=False))), [0, 0, 1, 0, 1, 2]),
        (
            lambda: elements(
                D.range(3).apply(E.map_and_batch(lambda x: (x, tf.range(3)), 2, num_parallel_calls=tf.data.experimental.AUTOTUNE))
            ),
            [[[0, 1], [[0, 1, 2], [0, 1, 2]]], [[2], [[0, 1, 2]]]],
        ),
        (lambda: [int(r[0]) for r in resampled(6, [0.0, 1.0], [0.5, 0.5])], [1, 1, 1]),
        (lambda: [int(r[0]) for r in resampled(6, [1.0, 0.0], [0.5, 0.5])], [0, 0, 0]),
        (lambda: [r for r in resampled(6, [0.5, 0.5], [0.5, 0.5])], [[0, 0], [1, 1], [0, 2], [1, 3], [0, 4], [1, 5]]),
        (lambda: shapes(D.range(6).apply(E.rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.0, 1.0]))), [[], []]),
        (lambda: tuned(experimental_optimization__map_and_batch_fusion=True), [[2, 4], [6, 8], [10, 12]]),
        (lambda: tuned(experimental_optimization__map_vectorization__enabled=True), [[2, 4], [6, 8], [10, 12]]),
        (lambda: tuned(experimental_optimization__map_parallelization=True), [[2, 4], [6, 8], [10, 12]]),
        (lambda: tuned(experimental_optimization__apply_default_optimizations=False), [[2, 4], [6, 8], [10, 12]]),
        (
            lambda: tuned(experimental_optimization__noop_elimination=True, experimental_optimization__map_fusion=True),
            [[2, 4], [6, 8], [10, 12]],
        ),
        (lambda: tuned(experimental_optimization__autotune=False), [[2, 4], [6, 8], [10, 12]]),
        (lambda: tuned(experimental_threading__private_threadpool_size=2), [[2, 4], [6, 8], [10, 12]]),
        (lambda: tuned(experimental_threading__max_intra_op_parallelism=1), [[2, 4], [6, 8], [10, 12]]),
        (lambda: tuned(experimental_deterministic=False, experimental_slack=False), [[2, 4], [6, 8], [10, 12]]),
    ],
)
def test_older_forms_of_functions_do_the_same(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: eagerly(lambda: D.range(3)), [[0], [1], [2]]),
        (lambda: eagerly(lambda: D.range(5).batch(2).map(lambda x: (x, x + 1))), [[[0, 1], [1, 2]], [[2, 3], [3, 4]], [[4], [5]]]),
        (lambda: eagerly(lambda: D.from_tensor_slices({"a": [1, 2], "b": [3, 4]})), [[1, 3], [2, 4]]),
        (lambda: eagerly(lambda: [D.range(4).reduce(np.int64(0), lambda a, b: a + b)]), [[6]]),
        (lambda: eagerly(lambda: tf.data.make_one_shot_iterator(D.range(2))), [[0], [1]]),
        (lambda: eagerly(lambda: [tf.data.make_one_shot_iterator(D.range(2)).get_next()]), [[0]]),
        (lambda: eagerly(lambda: [E.get_single_element(D.range(1))]), [[0]]),
        (lambda: eagerly(lambda: [E.cardinality(D.range(7))]), [[7]]),
        (lambda: eagerly(lambda: D.range(4).shuffle(4, seed=3)), [[0], [1], [2], [3]]),
        (
            lambda: eagerly(
                lambda: [E.from_variant(E.to_variant(D.range(3)), E.get_structure(D.range(3))).reduce(np.int64(0), lambda a, b: a + b)]
            ),
            [[3]],
        ),
    ],
)
def test_eager_programs_walk_over_datasets(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"), [(lambda: devices(D.range(6), 2), [[0, 1], [2, 3]]), (lambda: devices(D.range(6), 1), [[0], [1]])]
)
def test_several_devices_take_turns(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: repr(tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))),
            "DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))",
        ),
        (lambda: tf.data.DatasetSpec(tf.TensorSpec([], tf.int64)).is_compatible_with(D.range(2)), True),
        (lambda: tf.data.DatasetSpec(tf.TensorSpec([], tf.int32)).is_compatible_with(D.range(2)), False),
        (lambda: tf.data.DatasetSpec(tf.TensorSpec([], tf.int64)) == tf.data.DatasetSpec(tf.TensorSpec([], tf.int64)), True),
        (lambda: elements(D.from_tensors(D.range(3)).flat_map(lambda d: d)), [0, 1, 2]),
        (lambda: elements(D.from_tensors((D.range(3), 5)).flat_map(lambda d, n: d.map(lambda x: x + tf.cast(n, tf.int64)))), [5, 6, 7]),
        (lambda: repr(D.range(3)), "<DatasetV1Adapter shapes: (), types: tf.int64>"),
        (lambda: repr(D.range(3).batch(2)), "<DatasetV1Adapter shapes: (?,), types: tf.int64>"),
        (lambda: str(D.from_tensors({"a": 1})), "<DatasetV1Adapter shapes: {a: ()}, types: {a: tf.int32}>"),
        (
            lambda: repr(tf.data.DatasetSpec.from_value(D.range(2))) if hasattr(tf.data.DatasetSpec, "from_value") else 0,
            "DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))",
        ),
        (lambda: D.range(2) == D.range(2), False),
        (lambda: bool(D.range(2)), True),
    ],
)
def test_specs_tell_datasets_and_iterators_apart(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (lambda: tuned(experimental_threading__private_threadpool_size=-1), tf.errors.InvalidArgumentError, "`num_threads` must be >="),
        (
            lambda: eagerly(lambda: tf.data.make_initializable_iterator(D.range(2))),
            RuntimeError,
            "dataset.make_initializable_iterator is not supported when eager",
        ),
        (
            lambda: eagerly(lambda: [list(iter(D.from_generator(lambda: iter([1, 2]), tf.int32)))]),
            AttributeError,
            "'list' object has no attribute 'numpy'",
        ),
        (lambda: list(D.range(2)), RuntimeError, "__iter__() is only supported inside of tf.function or when eager"),
        (lambda: len(D.range(2)), TypeError, "object of type 'DatasetV1Adapter' has no len()"),
    ],
)
def test_mistakes_are_refused(made, error, message):
    with pytest.raises(error) as caught:
        computed(made())
    assert message in str(caught.value)
