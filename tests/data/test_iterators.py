"""Iterators, optionals, and the types of datasets and of their elements; values are those of TensorFlow 1.15.5."""

import os
import tempfile

import numpy as np
import pytest
from pipelines import elements, goes_on, read, size
from plain import computed, plain

import everflow as tf
from everflow import internals

D, E, C = tf.data.Dataset, tf.data.experimental, tf.contrib.data
dataset_ops, iterator_ops, optional_ops, devices, distribute_options = (
    internals.module(f"python.data.ops.{name}")
    for name in ("dataset_ops", "iterator_ops", "optional_ops", "multi_device_iterator_ops", "dataset_ops")
)
structure, nest, sparse, options_of = (internals.module(f"python.data.util.{name}") for name in ("structure", "nest", "sparse", "options"))
random_seed = internals.module("python.data.util.random_seed")
raw = tf.raw_ops


def seen(value):
    """What a test can write down."""
    if isinstance(value, (list, tuple)) and not hasattr(value, "dense_shape"):
        return [seen(v) for v in value]
    return computed(value)


def steps(*fetches, feeds=None):
    with tf.Session() as session:
        return [plain(session.run(f, feeds)) for f in fetches]


def handled(handle, kind=tf.int64, dims=()):
    iterator = tf.data.Iterator.from_string_handle(handle, kind, tf.TensorShape(dims))
    return steps(iterator.get_next())


def handle_of(dataset, session):
    iterator = tf.data.make_initializable_iterator(dataset)
    session.run(iterator.initializer)
    return session.run(iterator.string_handle())


def read_by_handle(dataset, kind, dims):
    with tf.Session() as session:
        handle = handle_of(dataset, session)
        return plain(session.run(tf.data.Iterator.from_string_handle(handle, kind, dims).get_next()))


def optional(*components):
    return raw.OptionalFromValue(components=[tf.constant(c) for c in components])


def value_of(variant, kinds, dims):
    return raw.OptionalGetValue(optional=variant, output_types=kinds, output_shapes=[tf.TensorShape(d) for d in dims])


def added(a, b, kinds=(tf.int32,), dims=((),)):
    return value_of(tf.add_n([a, b]), list(kinds), list(dims))


def shared(first, second):
    """Two iterators of one name."""
    iterators = [tf.data.Iterator.from_structure(*kind, shared_name="one") for kind in (first, second)]
    return steps(*[i.string_handle() for i in iterators])


def across(dataset, count=2, **kwargs):
    return devices.MultiDeviceIterator(dataset, [f"/cpu:{i}" for i in range(count)], **kwargs)


def dealt(iterator, *which):
    following = {w: iterator.get_next(w) if w else iterator.get_next() for w in which}
    found = []
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 3})) as session:
        session.run(iterator.initializer)
        for w in which:
            try:
                found.append(plain(session.run(following[w])))
            except tf.errors.OutOfRangeError:
                found.append("end")
    return found


def spec(*element):
    return dataset_ops.DatasetSpec(structure.type_spec_from_value(element[0] if len(element) == 1 else element))


def nested():
    """Datasets as elements."""
    return D.from_tensors(D.range(3)).map(lambda d: d).flat_map(lambda d: d)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: added(optional(1), optional(5)), [6]),
        (lambda: added(optional(1, 2.5), optional(5, 1.0), [tf.int32, tf.float32], [(), ()]), [6, 3.5]),
        (lambda: raw.OptionalHasValue(optional=tf.add_n([raw.OptionalNone(), raw.OptionalNone()])), False),
        (lambda: value_of(tf.zeros_like(optional([3, 4])), [tf.int32], [[2]]), [[0, 0]]),
        (lambda: raw.OptionalHasValue(optional=tf.zeros_like(raw.OptionalNone())), False),
        (lambda: value_of(optional(1, "a"), [tf.int32, tf.string], [(), None]), [1, b"a"]),
        (lambda: read_by_handle(D.range(3), tf.int64, []), 0),
        (lambda: read_by_handle(D.range(3).batch(2), tf.int64, [None]), [0, 1]),
        (
            lambda: read_by_handle(D.from_tensors({"a": 1, "b": "x"}), {"a": tf.int32, "b": tf.string}, {"a": [], "b": []}),
            {"a": 1, "b": b"x"},
        ),
        (lambda: len(set(shared((tf.int64, []), (tf.int64, [])))), 1),
        (lambda: dealt(across(D.range(5)), None, None, None), [[0, 1], [2, 3], "end"]),
        (lambda: dealt(across(D.range(7), 3), None, "/cpu:2", "/cpu:0"), [[0, 1, 2], 5, 3]),
        (lambda: dealt(across(D.from_tensors({"a": 1, "b": "x"}).repeat(2)), None), [[{"a": 1, "b": b"x"}, {"a": 1, "b": b"x"}]]),
        (lambda: repr(across(D.range(5)).element_spec), "TensorSpec(shape=(), dtype=tf.int64, name=None)"),
        (
            lambda: repr(structure.type_spec_from_value(D.range(3))),
            "DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))",
        ),
        (lambda: spec(1).is_compatible_with(spec(2)), True),
        (lambda: spec(1).is_compatible_with(spec("a")), False),
        (lambda: spec(1).is_compatible_with(tf.TensorSpec([], tf.int32)), False),
        (lambda: spec(1) == spec(2), True),
        (lambda: spec(1) == spec([1, 2]), False),
        (lambda: spec(1) == 3, False),
        (lambda: hash(spec(1)) == hash(spec(2)), True),
        (lambda: spec(1).most_specific_compatible_type(spec(2)) == spec(1), True),
        (
            lambda: repr(spec([1, 2]).most_specific_compatible_type(spec([1, 2, 3]))),
            "DatasetSpec(TensorSpec(shape=(?,), dtype=tf.int32, name=None), TensorShape([]))",
        ),
        (lambda: spec(1).value_type.__name__, "_VariantDataset"),
        (lambda: repr(spec(1)._batch(3)._dataset_shape), "TensorShape([Dimension(3)])"),
        (lambda: repr(spec(1)._batch(3)._unbatch()._dataset_shape), "TensorShape([])"),
        (lambda: repr(spec(1)._component_specs), "TensorSpec(shape=(), dtype=tf.variant, name=None)"),
        (lambda: elements(nested()), [0, 1, 2]),
        (lambda: elements(D.range(4).window(2).flat_map(lambda w: w)), [0, 1, 2, 3]),
        (lambda: elements(D.range(4).window(2).batch(2).flat_map(lambda w: D.from_tensors(1))), [1]),
        (lambda: optional_ops.OptionalSpec(tf.TensorSpec([], tf.int32)).value_type.__name__, "_OptionalImpl"),
        (
            lambda: repr(structure.type_spec_from_value(E.Optional.from_value((1, "a")))),
            "OptionalSpec((TensorSpec(shape=(), dtype=tf.int32, name=None), TensorSpec(shape=(), dtype=tf.string, name=None)),)",
        ),
        (lambda: size(D.range(8).apply(E.group_by_window(lambda x: x % 2, lambda k, w: w.batch(2), 2))), -2),
        (lambda: size(D.range(8).apply(E.rejection_resample(lambda x: x, [0.5, 0.5]))), -2),
        (lambda: size(D.range(8).apply(C.sliding_window_batch(3))), 8),
        (lambda: size(D.range(8).apply(E.parallel_interleave(lambda x: D.range(x), 2))), -2),
        (lambda: size(D.range(8).batch(3).batch(2)), 2),
        (lambda: size(D.range(8).repeat().batch(2)), -1),
        (lambda: size(D.range(8).filter(lambda x: x > 1).batch(2)), -2),
        (lambda: size(D.range(8).filter(lambda x: x > 1).shard(2, 0)), -2),
        (lambda: size(D.range(8).filter(lambda x: x > 1).skip(1)), -2),
        (lambda: size(D.range(8).filter(lambda x: x > 1).take(1)), -2),
        (lambda: size(D.range(8).filter(lambda x: x > 1).repeat(2)), -2),
        (lambda: size(D.range(8).filter(lambda x: x > 1).repeat()), -1),
        (lambda: size(D.range(8).take(-1)), -1),
        (lambda: size(D.range(8).repeat().window(2)), -1),
        (lambda: size(D.range(8).repeat().shard(2, 0)), -1),
        (lambda: size(D.zip((D.range(8).filter(lambda x: x > 1), D.range(2)))), -2),
        (lambda: size(D.range(8).concatenate(D.range(8).filter(lambda x: x > 1))), -2),
        (lambda: size(D.from_sparse_tensor_slices(tf.SparseTensor([[0, 1]], [5], [3, 2]))), 3),
        (lambda: E.INFINITE_CARDINALITY, -1),
        (lambda: E.UNKNOWN_CARDINALITY, -2),
        (lambda: [c.__name__ for c in sparse.get_classes((tf.constant(1), tf.SparseTensor([[0]], [1], [2])))], ["Tensor", "SparseTensor"]),
        (lambda: [t.name for t in sparse.as_dense_types((tf.int32, tf.float32), (tf.Tensor, tf.SparseTensor))], ["int32", "variant"]),
        (
            lambda: sparse.deserialize_sparse_tensors(
                sparse.serialize_sparse_tensors((tf.constant(1), tf.SparseTensor([[0]], [5], [2]))),
                (tf.int32, tf.int32),
                (tf.TensorShape([]), tf.TensorShape([2])),
                (tf.Tensor, tf.SparseTensor),
            ),
            [1, {"indices": [[0]], "values": [5], "dense_shape": [2]}],
        ),
        (lambda: sparse.serialize_many_sparse_tensors((tf.SparseTensor([[0, 1]], [5], [2, 2]),))[0].shape, [None, 3]),
        (lambda: random_seed.get_seed(3), [87654321, 3]),
        (lambda: random_seed.get_seed(0), [87654321, 0]),
        (lambda: random_seed.get_seed(None), [0, 0]),
        (lambda: (tf.set_random_seed(4), random_seed.get_seed(None))[1], [4, 0]),
        (lambda: (tf.set_random_seed(4), random_seed.get_seed(7))[1], [4, 7]),
        (lambda: (tf.set_random_seed(0), random_seed.get_seed(0))[1], [0, 2147483647]),
        (lambda: [t.dtype for t in structure.to_tensor_list(structure.type_spec_from_value((1, "a")), (2, "b"))], ["int32", "string"]),
        (lambda: structure.to_batched_tensor_list(structure.type_spec_from_value([1, 2]), tf.constant([1, 2])), [[1, 2]]),
        (
            lambda: repr(structure.get_flat_tensor_specs(structure.type_spec_from_value((1, tf.SparseTensor([[0]], [1], [2]))))),
            "[TensorSpec(shape=(), dtype=tf.int32, name=None), TensorSpec(shape=<unknown>, dtype=tf.variant, name=None)]",
        ),
        (
            lambda: [t.name for t in structure.get_flat_tensor_types(structure.type_spec_from_value((1, "a", D.range(2))))],
            ["int32", "string", "variant"],
        ),
        (
            lambda: repr(
                structure.convert_legacy_structure(
                    {"a": tf.int32, "b": tf.string},
                    {"a": tf.TensorShape([2]), "b": tf.TensorShape(None)},
                    {"a": tf.SparseTensor, "b": tf.Tensor},
                )
            ),
            "{'a': SparseTensorSpec(TensorShape([Dimension(2)]), tf.int32), 'b': TensorSpec(shape=<unknown>, dtype=tf.string, name=None)}",
        ),
    ],
)
def test_iterators_and_types(made, expected):
    assert seen(made()) == expected


PIPELINES = [
    (lambda: D.range(9).skip(2).batch(3), [[2, 3, 4], [5, 6, 7], [8]]),
    (lambda: D.range(9).skip(0).batch(4), [[0, 1, 2, 3], [4, 5, 6, 7], [8]]),
    (lambda: D.range(9).skip(20).batch(4), []),
    (lambda: D.range(9).take(5).batch(3), [[0, 1, 2], [3, 4]]),
    (lambda: D.range(9).take(-1).batch(5), [[0, 1, 2, 3, 4], [5, 6, 7, 8]]),
    (lambda: D.range(9).take(0).batch(5), []),
    (lambda: D.range(4).repeat(3).batch(5), [[0, 1, 2, 3, 0], [1, 2, 3, 0, 1], [2, 3]]),
    (lambda: D.range(4).repeat(3).skip(2).take(7).batch(4), [[2, 3, 0, 1], [2, 3, 0]]),
    (lambda: D.zip((D.range(7), D.range(10, 15))).batch(3), [[[0, 1, 2], [10, 11, 12]], [[3, 4], [13, 14]]]),
    (
        lambda: D.zip((D.from_tensor_slices(["a", "b", "c"]), D.range(10, 15).map(lambda x: x))).batch(2),
        [[[b"a", b"b"], [10, 11]], [[b"c"], [12]]],
    ),
    (lambda: D.zip((D.range(7), D.range(10, 15))).shuffle(4, seed=2).batch(3), [[[0, 2, 4], [10, 12, 14]], [[1, 3], [11, 13]]]),
    (lambda: D.range(3).concatenate(D.range(10, 14)).batch(4), [[0, 1, 2, 10], [11, 12, 13]]),
    (
        lambda: D.range(3).concatenate(D.range(10, 14)).concatenate(D.range(20, 22)).repeat(2),
        [0, 1, 2, 10, 11, 12, 13, 20, 21, 0, 1, 2, 10, 11, 12, 13, 20, 21],
    ),
    (lambda: D.range(9).shard(2, 1).batch(3), [[1, 3, 5], [7]]),
    (lambda: D.range(9).shard(4, 3).repeat(2), [3, 7, 3, 7]),
    (lambda: D.range(9).prefetch(2).batch(4).prefetch(1), [[0, 1, 2, 3], [4, 5, 6, 7], [8]]),
    (lambda: D.range(9).cache().batch(4).repeat(2), [[0, 1, 2, 3], [4, 5, 6, 7], [8], [0, 1, 2, 3], [4, 5, 6, 7], [8]]),
    (lambda: D.range(9).shuffle(3, seed=1).batch(4).repeat(2), [[1, 3, 0, 5], [2, 6, 7, 4], [8], [1, 3, 0, 5], [4, 6, 8, 2], [7]]),
    (
        lambda: D.range(9).shuffle(20, seed=1, reshuffle_each_iteration=False).repeat(2).batch(6),
        [[0, 8, 7, 2, 6, 3], [4, 1, 5, 0, 8, 7], [2, 6, 3, 4, 1, 5]],
    ),
    (lambda: D.range(6).shuffle(3, seed=1).skip(2).take(3).repeat(2), [0, 5, 2, 0, 5, 4]),
    (lambda: D.range(6).repeat(2).shuffle(4, seed=9), [0, 3, 5, 2, 1, 1, 4, 4, 0, 5, 2, 3]),
    (lambda: D.from_tensor_slices(np.arange(12).reshape(6, 2)).batch(4).map(lambda x: tf.reduce_sum(x)), [28, 38]),
    (
        lambda: D.from_tensor_slices((np.arange(4), [["a", "b"], ["c", "d"], ["e", "f"], ["g", "h"]])).batch(3),
        [[[0, 1, 2], [[b"a", b"b"], [b"c", b"d"], [b"e", b"f"]]], [[3], [[b"g", b"h"]]]],
    ),
    (lambda: D.from_tensors([[1, 2], [3, 4]]).apply(E.unbatch()).batch(1), [[[1, 2]], [[3, 4]]]),
    (lambda: D.range(6).map(lambda x: (x, tf.as_string(x))).batch(4).apply(E.unbatch()).skip(3), [[3, b"3"], [4, b"4"], [5, b"5"]]),
    (lambda: D.range(7).map(lambda x: x * 2, num_parallel_calls=2).batch(3), [[0, 2, 4], [6, 8, 10], [12]]),
    (
        lambda: D.range(7).map(lambda x: tf.cond(x > 5, lambda: x, lambda: -x), num_parallel_calls=3).skip(2).batch(2),
        [[-2, -3], [-4, -5], [6]],
    ),
    (
        lambda: D.range(7).interleave(lambda x: D.from_tensors(x).repeat(2), 3, 2, num_parallel_calls=2).batch(4),
        [[0, 0, 1, 1], [2, 2, 3, 3], [4, 4, 5, 5], [6, 6]],
    ),
    (lambda: D.range(7).filter(lambda x: x % 2 < 1).batch(3).repeat(2), [[0, 2, 4], [6], [0, 2, 4], [6]]),
    (lambda: D.range(9).window(3, 2).flat_map(lambda w: w.batch(2)), [[0, 1], [2], [2, 3], [4], [4, 5], [6], [6, 7], [8], [8]]),
    (lambda: D.range(6).apply(E.scan(np.int64(0), lambda s, x: (s + x, s + x))).batch(4), [[0, 1, 3, 6], [10, 15]]),
    (
        lambda: D.range(9).apply(E.group_by_window(lambda x: x % 3, lambda k, w: w.batch(4), 4)).apply(E.unbatch()).batch(5),
        [[0, 3, 6, 1, 4], [7, 2, 5, 8]],
    ),
    (
        lambda: E.sample_from_datasets([D.range(4), D.range(10, 14).repeat()], [0.5, 0.5], seed=2).take(9).batch(3),
        [[10, 0, 11], [1, 12, 2], [3, 13, 10]],
    ),
    (lambda: E.choose_from_datasets([D.range(4), D.range(10, 14)], D.range(2).repeat(3)).batch(4), [[0, 10, 1, 11], [2, 12]]),
    (
        lambda: D.range(5).map(lambda x: tf.SparseTensor([[x]], [x * 2], [5])).batch(2).map(lambda s: tf.sparse.to_dense(s)),
        [[[0, 0, 0, 0, 0], [0, 2, 0, 0, 0]], [[0, 0, 4, 0, 0], [0, 0, 0, 6, 0]], [[0, 0, 0, 0, 8]]],
    ),
    (lambda: D.range(4).map(lambda x: tf.ragged.range(x)).map(lambda r: r.to_tensor()), [[[]], [[0]], [[0, 1]], [[0, 1, 2]]]),
    (
        lambda: D.range(8).apply(E.map_and_batch(lambda x: (x, tf.as_string(x)), 3, num_parallel_calls=2)).skip(1),
        [[[3, 4, 5], [b"3", b"4", b"5"]], [[6, 7], [b"6", b"7"]]],
    ),
    (lambda: D.range(5).apply(E.enumerate_dataset(3)).batch(2), [[[3, 4], [0, 1]], [[5, 6], [2, 3]], [[7], [4]]]),
    (lambda: D.from_generator(lambda: iter(range(5)), tf.int64, []).batch(2).repeat(2), [[0, 1], [2, 3], [4], [0, 1], [2, 3], [4]]),
    (
        lambda: D.range(6).map(lambda x: tf.range(x)).padded_batch(4, [None], np.int64(-1)).repeat(2).take(3),
        [
            [[-1, -1, -1], [0, -1, -1], [0, 1, -1], [0, 1, 2]],
            [[0, 1, 2, 3, -1], [0, 1, 2, 3, 4]],
            [[-1, -1, -1], [0, -1, -1], [0, 1, -1], [0, 1, 2]],
        ],
    ),
    (
        lambda: D.range(6).map(lambda x: tf.as_string(tf.range(x))).padded_batch(3, [6]),
        [
            [[b"", b"", b"", b"", b"", b""], [b"0", b"", b"", b"", b"", b""], [b"0", b"1", b"", b"", b"", b""]],
            [[b"0", b"1", b"2", b"", b"", b""], [b"0", b"1", b"2", b"3", b"", b""], [b"0", b"1", b"2", b"3", b"4", b""]],
        ],
    ),
]


@pytest.mark.parametrize(("made", "expected"), PIPELINES)
def test_elements_come_in_order(made, expected):
    assert elements(made()) == expected


@pytest.mark.parametrize(("made", "expected"), PIPELINES)
def test_reading_goes_on_where_it_was_saved(made, expected):
    assert goes_on(made(), expected)


def compute(fetch):
    with tf.Session() as session:
        return session.run(fetch)


def reading(dataset):
    following = tf.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as session:
        for _ in range(9):
            session.run(following)


def cached(name, *steps):
    """What comes of reading a cached dataset for some steps, again and again."""
    found = []
    for count in steps:
        tf.reset_default_graph()
        iterator = tf.data.make_initializable_iterator(D.range(4).map(lambda x: x * 2).cache(name))
        following = iterator.get_next()
        with tf.Session() as session:
            session.run(iterator.initializer)
            found.append(read(session, following, count))
    return found


@pytest.mark.parametrize(("steps", "expected"), [((9, 9), [[0, 2, 4, 6]] * 2), ((2, 9), [[0, 2], [0, 2, 4, 6]])])
def test_files_of_a_cache_are_written_whole(steps, expected):
    assert cached(os.path.join(tempfile.mkdtemp(), "cache"), *steps) == expected


def test_a_cache_has_one_writer_and_many_readers():
    dataset = D.range(4).cache(os.path.join(tempfile.mkdtemp(), "cache"))
    first, second = (tf.data.make_initializable_iterator(dataset) for _ in range(2))
    writing, refused = first.get_next(), second.get_next()
    with tf.Session() as session:
        session.run([first.initializer, second.initializer])
        assert read(session, writing, 2) == [0, 1]
        assert read(session, refused, 2) == ["AlreadyExistsError"] * 2
        assert read(session, writing) == [2, 3]
        session.run(second.initializer)
        assert read(session, refused) == [0, 1, 2, 3]
    assert goes_on(dataset, [0, 1, 2, 3])


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (lambda: handled("none"), tf.errors.InvalidArgumentError, "Could not parse string_handle as a valid ResourceHandle"),
        (lambda: handled(["a", "b"]), tf.errors.InvalidArgumentError, "string_handle must be a scalar"),
        (
            lambda: read_by_handle(D.range(3), tf.string, []),
            tf.errors.InvalidArgumentError,
            "Data type mismatch at component 0: expected string but got int64.",
        ),
        (
            lambda: read_by_handle(D.range(3), (tf.int64, tf.int64), ([], [])),
            tf.errors.InvalidArgumentError,
            "Number of components does not match: expected 2 types but got 1.",
        ),
        (
            lambda: read_by_handle(D.range(3), tf.int64, [2]),
            tf.errors.InvalidArgumentError,
            "Incompatible shapes at component 0: expected [2] but got [].",
        ),
        (
            lambda: compute(added(optional(1), raw.OptionalNone())),
            tf.errors.InvalidArgumentError,
            "Cannot add optionals because one has a value and the other doesn't.",
        ),
        (
            lambda: compute(added(optional(1), optional(1, 2))),
            tf.errors.InvalidArgumentError,
            "Cannot add optionals because they have different numbers of components (1 vs. 2).",
        ),
        (
            lambda: compute(value_of(optional(1), [tf.int32, tf.int32], [(), ()])),
            tf.errors.InvalidArgumentError,
            "The given optional has 1 components, expected 2",
        ),
        (
            lambda: compute(value_of(optional([1, 2]), [tf.int32], [(3,)])),
            tf.errors.InvalidArgumentError,
            "The given optional does not match the expected shape for component 0. Expected: [3].",
        ),
        (
            lambda: compute(
                value_of(
                    tf.raw_ops.RangeDataset(
                        start=tf.constant(0, tf.int64),
                        stop=tf.constant(1, tf.int64),
                        step=tf.constant(1, tf.int64),
                        output_types=[tf.int64],
                        output_shapes=[()],
                    ),
                    [tf.int32],
                    [()],
                )
            ),
            tf.errors.InvalidArgumentError,
            "Input to OptionalHasValue must be an OptionalVariant object.",
        ),
        (
            lambda: spec(1).most_specific_compatible_type(tf.TensorSpec([], tf.int32)),
            ValueError,
            "No TypeSpec is compatible with both DatasetSpec(TensorSpec(shape=(), dtype=tf.int32,",
        ),
        (
            lambda: spec(1).most_specific_compatible_type(spec("a")),
            ValueError,
            "Types are not compatible: TensorSpec(shape=(), dtype=tf.int32, name=None) vs",
        ),
        (lambda: spec(1)._unbatch(), ValueError, "Unbatching a dataset is only supported for rank >= 1"),
        (
            lambda: iterator_ops.Iterator(None, None, tf.int32, None, tf.Tensor),
            ValueError,
            "If `structure` is not specified, all of `output_types`, `output_shapes`, and",
        ),
        (lambda: iterator_ops.IteratorV2(), ValueError, "Either `dataset` or both `components` and"),
        (
            lambda: structure.to_batched_tensor_list(structure.type_spec_from_value(D.range(2)), D.range(2)),
            ValueError,
            "Unbatching a dataset is only supported for rank >= 1",
        ),
        (
            lambda: structure.to_tensor_list(structure.type_spec_from_value((1, 2)), (1, 2, 3)),
            ValueError,
            "The two structures don't have the same nested structure.",
        ),
        (
            lambda: structure.from_compatible_tensor_list(structure.type_spec_from_value((1, 2)), [tf.constant(1)] * 3),
            ValueError,
            "Expected 2 tensors but got 3.",
        ),
        (
            lambda: dataset_ops.get_structure(3),
            TypeError,
            "`dataset_or_iterator` must be a Dataset or Iterator object, but got <class 'int'>.",
        ),
        (lambda: options_of.merge_options(), ValueError, "At least one options should be provided"),
        (lambda: options_of.merge_options(tf.data.Options(), E.OptimizationOptions()), TypeError, "Incompatible options type: <class"),
        (lambda: options_of.merge_options(1, 2), TypeError, "The inputs should inherit from `OptionsBase`"),
        (
            lambda: D.from_tensors(tf.SparseTensor([[0]], [1], [2])).padded_batch(2, [None]),
            TypeError,
            "Batching of padded sparse tensors is not currently supported",
        ),
        (
            lambda: D.range(3).padded_batch(2, tf.constant([1, 2])),
            TypeError,
            'Padded shape Tensor("Const:0", shape=(2,), dtype=int32) must be a 1-D tensor of tf.int64',
        ),
        (
            lambda: D.range(3).padded_batch(2, tf.constant([[1]], tf.int64)),
            ValueError,
            'Padded shape Tensor("Const:0", shape=(1, 1), dtype=int64) must be a 1-D tensor of',
        ),
        (
            lambda: D.range(3).padded_batch(2, "a"),
            ValueError,
            "Padded shape a must be a 1-D tensor of tf.int64 values, but its shape was ().",
        ),
        (
            lambda: reading(D.range(3).map(lambda x: tf.range(x)).map(lambda x: x).batch(2)),
            tf.errors.InvalidArgumentError,
            "Cannot add tensor to the batch: number of elements does not match. Shapes are: [tensor]:",
        ),
        (
            lambda: reading(D.from_tensor_slices([["a"], ["b"]]).concatenate(D.from_tensors(["a", "b"])).batch(3)),
            tf.errors.InvalidArgumentError,
            "Cannot batch tensors with different shapes in component 0. First element had shape [1]",
        ),
        (
            lambda: reading(D.range(3).map(lambda x: tf.placeholder_with_default(x, None)).apply(E.unbatch())),
            tf.errors.InvalidArgumentError,
            "Input element must have a non-scalar value in each component.",
        ),
        (
            lambda: reading(
                D.from_tensors((tf.placeholder_with_default([1], None), tf.placeholder_with_default([1, 2], None))).apply(E.unbatch())
            ),
            tf.errors.InvalidArgumentError,
            "Input element must have the same batch size in each component. Component 0 had size 1 but",
        ),
        (
            lambda: reading(D.range(3).apply(E.parallel_interleave(lambda x: D.range(x), 2, buffer_output_elements=0))),
            tf.errors.InvalidArgumentError,
            "`buffer_output_elements` must be > 0",
        ),
        (
            lambda: reading(D.range(3).apply(E.parallel_interleave(lambda x: D.range(x), 2, prefetch_input_elements=-1))),
            tf.errors.InvalidArgumentError,
            "`prefetch_input_elements` must be >= 0",
        ),
        (
            lambda: reading(D.range(3).interleave(lambda x: D.range(x), 2, num_parallel_calls=0)),
            tf.errors.InvalidArgumentError,
            "num_parallel_calls must be greater than zero.",
        ),
        (
            lambda: reading(D.range(3).map(lambda x: x, num_parallel_calls=0)),
            tf.errors.InvalidArgumentError,
            "num_parallel_calls must be greater than zero.",
        ),
        (lambda: reading(D.range(3).shard(2, 2)), tf.errors.InvalidArgumentError, "Index must be between 0 and 1 (currently index = 2)."),
        (lambda: reading(D.range(3).shard(2, -1)), tf.errors.InvalidArgumentError, "Index must be between 0 and 1 (currently index = -1)."),
        (
            lambda: reading(D.range(3).shard(0, 0)),
            tf.errors.InvalidArgumentError,
            "Number of shards must be greater than zero (currently num_shards = 0).",
        ),
        (lambda: reading(D.range(3).shard(5, 4)), tf.errors.OutOfRangeError, "End of sequence"),
        (
            lambda: reading(D.range(3).apply(E.shuffle_and_repeat(2, 0))),
            tf.errors.InvalidArgumentError,
            "count must be greater than zero or equal to -1.",
        ),
        (
            lambda: reading(D.range(3).apply(E.shuffle_and_repeat(0))),
            tf.errors.InvalidArgumentError,
            "buffer_size must be greater than zero.",
        ),
        (
            lambda: D.range(3).apply(E.group_by_window(lambda x: tf.cast(x, tf.int32), lambda k, w: w, 1)),
            ValueError,
            "Tensor conversion requested dtype int64 for Tensor with dtype int32",
        ),
        (
            lambda: D.range(3).apply(E.group_by_window(lambda x: x, lambda k, w: w, window_size_func=lambda k: "a")),
            TypeError,
            "Expected int64, got 'a' of type 'str' instead.",
        ),
        (lambda: D.from_tensors(1).apply(E.unbatch()), ValueError, "Cannot unbatch an input with scalar components."),
        (lambda: D.from_tensors([1]).apply(E.dense_to_sparse_batch(2, [-1])), ValueError, "Dimension -1 must be >= 0"),
        (
            lambda: reading(D.from_tensors([[1]]).apply(E.dense_to_sparse_batch(2, [2]))),
            tf.errors.InvalidArgumentError,
            "Input element had shape ([1,1]) that is incompatible with the row shape ([2]).",
        ),
        (lambda: E.sample_from_datasets([D.range(2), D.from_tensors("a")]), TypeError, "All datasets must have the same type and class."),
        (
            lambda: reading(D.from_sparse_tensor_slices(tf.SparseTensor([[1, 0], [0, 0]], [1, 2], [2, 2]))),
            tf.errors.UnimplementedError,
            "The SparseTensor must be ordered in the batch dimension; handling arbitrarily",
        ),
        (
            lambda: reading(D.from_generator(lambda: iter(["a"]), tf.int32)),
            tf.errors.InvalidArgumentError,
            "TypeError: `generator` yielded an element that could not be converted to the expected",
        ),
        (
            lambda: reading(D.from_generator(lambda: iter([[1, 2]]), tf.int32, [3])),
            tf.errors.InvalidArgumentError,
            "ValueError: `generator` yielded an element of shape (2,) where an element of shape (3,)",
        ),
        (
            lambda: D.range(3).map(lambda x: object()),
            TypeError,
            "Unsupported return value from function passed to Dataset.map(): <object object at",
        ),
        (lambda: D.range(3).map(lambda x: {1, 2}), TypeError, "Unsupported return value from function passed to Dataset.map(): {1, 2}."),
        (
            lambda: tf.data.make_one_shot_iterator(3),
            AttributeError,
            "'int' object has no attribute '_variant_tensor': A likely cause of this error is that the",
        ),
        (
            lambda: dataset_ops.StructuredFunctionWrapper(lambda x: x, "f"),
            ValueError,
            "Either `dataset`, `input_structure` or all of `input_classes`, `input_shapes`, and",
        ),
    ],
)
def test_mistakes_are_refused(made, error, message):
    with pytest.raises(error) as caught:
        made()
    assert message in str(caught.value)


def test_an_iterator_is_an_argument_and_a_value(eager):
    iterator = iter(D.range(5))
    assert repr(iterator.element_spec) == "TensorSpec(shape=(), dtype=tf.int64, name=None)"
    assert (iterator.output_types, iterator.output_shapes, iterator.output_classes) == (tf.int64, tf.TensorShape([]), tf.Tensor)
    spec = iterator._type_spec
    assert spec.value_type is type(iterator) and spec == iterator_ops.IteratorSpec.from_value(iterator)

    @tf.function
    def two(it):
        return next(it) if False else it.get_next(), it.get_next()

    assert [int(v) for v in two(iterator)] == [0, 1]
    assert [int(v) for v in iterator] == [2, 3, 4]
    with pytest.raises(StopIteration):
        next(iterator)
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()


def test_a_dataset_is_an_argument(eager):
    @tf.function
    def total(dataset):
        return dataset.reduce(np.int64(0), lambda s, x: s + x)

    assert int(total(D.range(5))) == 10
    assert int(total(D.range(7).filter(lambda x: x > 3))) == 15


def test_an_eager_iterator_of_the_older_name(eager):
    iterator = tf.contrib.eager.Iterator(D.range(3))
    assert int(iterator.next()) == 0
    assert [int(v) for v in iterator] == [1, 2]
    with pytest.raises(StopIteration):
        iterator.next()


def test_positions_of_iterators_are_in_checkpoints(eager, tmp_path):
    iterator = iter(D.range(9))
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    next(iterator)
    next(iterator)
    path = checkpoint.save(str(tmp_path / "c"))
    assert [int(next(iterator)) for _ in range(3)] == [2, 3, 4]
    checkpoint.restore(path)
    assert [int(v) for v in iterator] == [2, 3, 4, 5, 6, 7, 8]


def test_a_dataset_of_another_graph_is_refused():
    dataset = D.range(3)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="graph"):
        tf.data.make_initializable_iterator(dataset)


def test_too_many_calls_of_get_next_are_told():
    iterator = tf.data.make_one_shot_iterator(D.range(3))
    for _ in range(32):
        iterator.get_next()
    with pytest.warns(UserWarning, match="An unusually high number of `Iterator.get_next"):
        iterator.get_next()


def test_a_function_asks_for_elements_one_by_one(eager):
    @tf.function(autograph=False)
    def first_three(numbers):
        iterator = iter(numbers)
        return [next(iterator) for _ in range(3)]

    assert [int(n) for n in first_three(D.range(5))] == [0, 1, 2]
