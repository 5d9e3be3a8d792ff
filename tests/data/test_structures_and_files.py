"""Structures, optionals, iterators, options and files of tf.data; values are those of TensorFlow 1.15.5."""

import gzip
import os
import sqlite3
import tempfile
import zlib

import numpy as np
import pytest
from pipelines import elements, shapes, types
from plain import computed, plain

import everflow as tf
from everflow import internals

D, E, C = tf.data.Dataset, tf.data.experimental, tf.contrib.data


nest = internals.module("python.data.util.nest")
structure = internals.module("python.data.util.structure")
sparse = internals.module("python.data.util.sparse")
convert = internals.module("python.data.util.convert")


def file(content, name="file", how=open):
    path = os.path.join(tempfile.mkdtemp(), name)
    with how(path, "wb") as f:
        f.write(content)
    return path


def text(*lines):
    return file("\n".join(lines).encode() + b"\n")


def packed(content):
    return file(zlib.compress(content))


def records(*contents, **kwargs):
    path = os.path.join(tempfile.mkdtemp(), "records")
    with tf.io.TFRecordWriter(path, **kwargs) as writer:
        for c in contents:
            writer.write(c)
    return path


def example(**features):
    def feature(v):
        v = v if isinstance(v, list) else [v]
        if isinstance(v[0], bytes):
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=v))
        if isinstance(v[0], float):
            return tf.train.Feature(float_list=tf.train.FloatList(value=v))
        return tf.train.Feature(int64_list=tf.train.Int64List(value=v))

    return tf.train.Example(features=tf.train.Features(feature={k: feature(v) for k, v in features.items()})).SerializeToString()


def database():
    path = os.path.join(tempfile.mkdtemp(), "data.sqlite")
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (name TEXT, age INTEGER, height REAL)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [("a", 3, 1.5), ("b", 4, 2.5)])
    return path


def steps(iterator, *fetches, **kwargs):
    with tf.Session() as session:
        return [plain(session.run(f)) for f in fetches]


def csv(*lines, **kwargs):
    return E.make_csv_dataset(text(*lines), **dict(dict(batch_size=2, num_epochs=1, shuffle=False), **kwargs))


def written(dataset, **kwargs):
    path = os.path.join(tempfile.mkdtemp(), "out")
    with tf.Session() as session:
        session.run(E.TFRecordWriter(path, **kwargs).write(dataset))
    return path


def handles():
    a, b = (tf.data.make_initializable_iterator(d) for d in (D.range(3), D.range(10, 13)))
    handle = tf.placeholder(tf.string, [])
    following = tf.data.Iterator.from_string_handle(handle, tf.data.get_output_types(a), tf.data.get_output_shapes(a)).get_next()
    with tf.Session() as session:
        session.run([a.initializer, b.initializer])
        names = session.run([a.string_handle(), b.string_handle()])
        return [int(session.run(following, {handle: names[i]})) for i in (0, 1, 1, 0)]


def switched():
    iterator = tf.data.Iterator.from_structure(tf.int64, [])
    following, first, second = iterator.get_next(), iterator.make_initializer(D.range(2)), iterator.make_initializer(D.range(7, 9))
    with tf.Session() as session:
        return [plain(session.run(f)) for f in (first, following, second, following, following)]


def optional(value):
    return E.Optional.from_value(value)


def option(name, value):
    options = tf.data.Options()
    setattr(options, name, value)
    return getattr(options, name)


def merged(first, second):
    a, b = tf.data.Options(), tf.data.Options()
    for o, given in ((a, first), (b, second)):
        for k, v in given.items():
            setattr(o, k, v)
    o = a.merge(b)
    return (
        [o.experimental_deterministic, o.experimental_slack, o.experimental_external_state_policy]
        if hasattr(o, "experimental_external_state_policy")
        else [o.experimental_deterministic, o.experimental_slack]
    )


def batched(function, *columns):
    return elements(D.from_tensor_slices(columns or ([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0], [2.0, 2.0, 0.0]],)).map(function).batch(2))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: batched(lambda x: (tf.abs(x), tf.floor(x), tf.sign(x), tf.square(x), tf.nn.relu(x), tf.tanh(x), -x)),
            [
                [
                    [[1.0, 2.0, 3.0], [0.5, 4.0, 1.0]],
                    [[1.0, -2.0, 3.0], [0.0, 4.0, -1.0]],
                    [[1.0, -1.0, 1.0], [1.0, 1.0, -1.0]],
                    [[1.0, 4.0, 9.0], [0.25, 16.0, 1.0]],
                    [[1.0, 0.0, 3.0], [0.5, 4.0, 0.0]],
                    [[0.76159, -0.96403, 0.99505], [0.46212, 0.99933, -0.76159]],
                    [[-1.0, 2.0, -3.0], [-0.5, -4.0, 1.0]],
                ],
                [
                    [[2.0, 2.0, 0.0]],
                    [[2.0, 2.0, 0.0]],
                    [[1.0, 1.0, 0.0]],
                    [[4.0, 4.0, 0.0]],
                    [[2.0, 2.0, 0.0]],
                    [[0.96403, 0.96403, 0.0]],
                    [[-2.0, -2.0, -0.0]],
                ],
            ],
        ),
        (
            lambda: batched(
                lambda x: (
                    tf.reduce_sum(x),
                    tf.reduce_mean(x, 0),
                    tf.reduce_max(x),
                    tf.reduce_min(x, keepdims=True),
                    tf.reduce_prod(x),
                    tf.reduce_any(x > 3),
                    tf.reduce_all(x > -2),
                )
            ),
            [
                [[2.0, 3.5], [0.66667, 1.1667], [3.0, 4.0], [[-2.0], [-1.0]], [-6.0, -2.0], [False, True], [False, True]],
                [[4.0], [1.3333], [2.0], [[0.0]], [0.0], [False], [True]],
            ],
        ),
        (
            lambda: batched(lambda x: (tf.argmax(x), tf.argmin(x), tf.nn.softmax(x), tf.cumsum(x), tf.nn.l2_loss(x))),
            [
                [
                    [2, 1],
                    [1, 2],
                    [[0.1185, 0.0058998, 0.8756], [0.029122, 0.96438, 0.0064979]],
                    [[1.0, -1.0, 2.0], [0.5, 4.5, 3.5]],
                    [7.0, 8.625],
                ],
                [[0], [2], [[0.46831, 0.46831, 0.063379]], [[2.0, 4.0, 4.0]], [4.0]],
            ],
        ),
        (
            lambda: batched(
                lambda x: (
                    tf.concat([x, [9.0]], 0),
                    tf.concat([[9.0], x[:1], x], 0),
                    tf.stack([x, x]),
                    tf.stack([x, x * 2], axis=1),
                    tf.stack([x[0], 5.0]),
                )
            ),
            [
                [
                    [[1.0, -2.0, 3.0, 9.0], [0.5, 4.0, -1.0, 9.0]],
                    [[9.0, 1.0, 1.0, -2.0, 3.0], [9.0, 0.5, 0.5, 4.0, -1.0]],
                    [[[1.0, -2.0, 3.0], [1.0, -2.0, 3.0]], [[0.5, 4.0, -1.0], [0.5, 4.0, -1.0]]],
                    [[[1.0, 2.0], [-2.0, -4.0], [3.0, 6.0]], [[0.5, 1.0], [4.0, 8.0], [-1.0, -2.0]]],
                    [[1.0, 5.0], [0.5, 5.0]],
                ],
                [
                    [[2.0, 2.0, 0.0, 9.0]],
                    [[9.0, 2.0, 2.0, 2.0, 0.0]],
                    [[[2.0, 2.0, 0.0], [2.0, 2.0, 0.0]]],
                    [[[2.0, 4.0], [2.0, 4.0], [0.0, 0.0]]],
                    [[2.0, 5.0]],
                ],
            ],
        ),
        (
            lambda: batched(lambda x: (x[0], x[-1], x[1:], x[:2], x[::2], x[::-1], x[None], x[..., None], x[1:2], x[0:1, None])),
            [
                [
                    [1.0, 0.5],
                    [3.0, -1.0],
                    [[-2.0, 3.0], [4.0, -1.0]],
                    [[1.0, -2.0], [0.5, 4.0]],
                    [[1.0, 3.0], [0.5, -1.0]],
                    [[3.0, -2.0, 1.0], [-1.0, 4.0, 0.5]],
                    [[[1.0, -2.0, 3.0]], [[0.5, 4.0, -1.0]]],
                    [[[1.0], [-2.0], [3.0]], [[0.5], [4.0], [-1.0]]],
                    [[-2.0], [4.0]],
                    [[[1.0]], [[0.5]]],
                ],
                [
                    [2.0],
                    [0.0],
                    [[2.0, 0.0]],
                    [[2.0, 2.0]],
                    [[2.0, 0.0]],
                    [[0.0, 2.0, 2.0]],
                    [[[2.0, 2.0, 0.0]]],
                    [[[2.0], [2.0], [0.0]]],
                    [[2.0]],
                    [[[2.0]]],
                ],
            ],
        ),
        (
            lambda: batched(
                lambda x: (
                    tf.transpose(tf.reshape(x, [1, 3])),
                    tf.reshape(x, [-1, 1]),
                    tf.squeeze(tf.reshape(x, [1, 3, 1]), [0]),
                    tf.expand_dims(x, 1),
                    tf.expand_dims(x, -2),
                )
            ),
            [
                [
                    [[[1.0], [-2.0], [3.0]], [[0.5], [4.0], [-1.0]]],
                    [[[1.0], [-2.0], [3.0]], [[0.5], [4.0], [-1.0]]],
                    [[[1.0], [-2.0], [3.0]], [[0.5], [4.0], [-1.0]]],
                    [[[1.0], [-2.0], [3.0]], [[0.5], [4.0], [-1.0]]],
                    [[[1.0, -2.0, 3.0]], [[0.5, 4.0, -1.0]]],
                ],
                [[[[2.0], [2.0], [0.0]]], [[[2.0], [2.0], [0.0]]], [[[2.0], [2.0], [0.0]]], [[[2.0], [2.0], [0.0]]], [[[2.0, 2.0, 0.0]]]],
            ],
        ),
        (
            lambda: batched(
                lambda x: (
                    tf.pad(x, [[1, 0]]),
                    tf.pad(x, [[0, 2]], constant_values=7),
                    tf.tile(x, [2]),
                    tf.reverse(x, [0]),
                    tf.slice(x, [1], [1]),
                    tf.slice(x, [0], [-1]),
                )
            ),
            [
                [
                    [[0.0, 1.0, -2.0, 3.0], [0.0, 0.5, 4.0, -1.0]],
                    [[1.0, -2.0, 3.0, 7.0, 7.0], [0.5, 4.0, -1.0, 7.0, 7.0]],
                    [[1.0, -2.0, 3.0, 1.0, -2.0, 3.0], [0.5, 4.0, -1.0, 0.5, 4.0, -1.0]],
                    [[3.0, -2.0, 1.0], [-1.0, 4.0, 0.5]],
                    [[-2.0], [4.0]],
                    [[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]],
                ],
                [
                    [[0.0, 2.0, 2.0, 0.0]],
                    [[2.0, 2.0, 0.0, 7.0, 7.0]],
                    [[2.0, 2.0, 0.0, 2.0, 2.0, 0.0]],
                    [[0.0, 2.0, 2.0]],
                    [[2.0]],
                    [[2.0, 2.0, 0.0]],
                ],
            ],
        ),
        (
            lambda: batched(
                lambda x: (
                    tf.where(x > 0, x, tf.zeros_like(x)),
                    tf.clip_by_value(x, -1.0, 2.0),
                    tf.maximum(x, 1.0),
                    tf.minimum(x, [0.0, 1.0, 2.0]),
                    x / 2.0,
                    2.0 / (x + 10.0),
                    x**2.0,
                )
            ),
            [
                [
                    [[1.0, 0.0, 3.0], [0.5, 4.0, 0.0]],
                    [[1.0, -1.0, 2.0], [0.5, 2.0, -1.0]],
                    [[1.0, 1.0, 3.0], [1.0, 4.0, 1.0]],
                    [[0.0, -2.0, 2.0], [0.0, 1.0, -1.0]],
                    [[0.5, -1.0, 1.5], [0.25, 2.0, -0.5]],
                    [[0.18182, 0.25, 0.15385], [0.19048, 0.14286, 0.22222]],
                    [[1.0, 4.0, 9.0], [0.25, 16.0, 1.0]],
                ],
                [
                    [[2.0, 2.0, 0.0]],
                    [[2.0, 2.0, 0.0]],
                    [[2.0, 2.0, 1.0]],
                    [[0.0, 1.0, 0.0]],
                    [[1.0, 1.0, 0.0]],
                    [[0.16667, 0.16667, 0.2]],
                    [[4.0, 4.0, 0.0]],
                ],
            ],
        ),
        (
            lambda: batched(
                lambda x: (tf.fill([2], x[0]), tf.zeros([2]), tf.shape(x), tf.size(x), tf.rank(x), tf.constant([1, 2]), tf.range(2))
            ),
            [
                [[[1.0, 1.0], [0.5, 0.5]], [[0.0, 0.0], [0.0, 0.0]], [[3], [3]], [3, 3], [1, 1], [[1, 2], [1, 2]], [[0, 1], [0, 1]]],
                [[[2.0, 2.0]], [[0.0, 0.0]], [[3]], [3], [1], [[1, 2]], [[0, 1]]],
            ],
        ),
        (
            lambda: batched(lambda x: (tf.matmul(tf.reshape(x, [1, 3]), tf.reshape(x, [3, 1])), tf.tensordot(x, x, 1), tf.nn.top_k(x, 2))),
            [
                [[[[14.0]], [[17.25]]], [14.0, 17.25], [[[3.0, 1.0], [4.0, 0.5]], [[2, 0], [1, 0]]]],
                [[[[8.0]]], [8.0], [[[2.0, 2.0]], [[0, 1]]]],
            ],
        ),
        (
            lambda: batched(
                lambda i: (
                    tf.one_hot(i, 3),
                    tf.one_hot(i, 2, on_value=5, off_value=1),
                    tf.one_hot([i, 1], 3, axis=0),
                    tf.gather([10, 20, 30], i),
                    tf.gather([[1, 2], [3, 4], [5, 6]], [i, 0]),
                ),
                [0, 2, 1],
            ),
            [
                [
                    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
                    [[5, 1], [1, 1]],
                    [[[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]],
                    [10, 30],
                    [[[1, 2], [1, 2]], [[5, 6], [1, 2]]],
                ],
                [[[0.0, 1.0, 0.0]], [[1, 5]], [[[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]], [20], [[[3, 4], [1, 2]]]],
            ],
        ),
        (
            lambda: batched(
                lambda x, i: (tf.gather(x, i), tf.gather(x, [i, 0]), x[i], tf.equal(x, tf.cast(i, tf.float32))),
                [[1.0, -2.0, 3.0], [0.5, 4.0, -1.0], [2.0, 2.0, 0.0]],
                [0, 2, 1],
            ),
            [
                [[1.0, -1.0], [[1.0, 1.0], [-1.0, 0.5]], [1.0, -1.0], [[False, False, False], [False, False, False]]],
                [[2.0], [[2.0, 2.0]], [2.0], [[False, False, False]]],
            ],
        ),
        (
            lambda: batched(
                lambda s: (
                    tf.strings.length(s),
                    tf.strings.join([s, "x"]),
                    tf.strings.substr(s, 0, 1),
                    tf.strings.to_hash_bucket_fast(s, 10),
                    tf.strings.regex_replace(s, "a", "b"),
                    tf.strings.strip(s),
                    tf.strings.lower(s),
                ),
                ["ab ", "B", "ca"],
            ),
            [
                [[3, 1], [b"ab x", b"Bx"], [b"a", b"B"], [2, 8], [b"bb ", b"B"], [b"ab", b"B"], [b"ab ", b"b"]],
                [[2], [b"cax"], [b"c"], [2], [b"cb"], [b"ca"], [b"ca"]],
            ],
        ),
        (
            lambda: batched(
                lambda s: (tf.strings.to_number(s), tf.strings.to_number(s, tf.int32), tf.decode_raw(s, tf.uint8)), ["1", "2", "3"]
            ),
            [[[1.0, 2.0], [1, 2], [[49], [50]]], [[3.0], [3], [[51]]]],
        ),
        (lambda: batched(lambda s: tf.string_split([s], ",").values[0], ["1,2", "3", "4,5,6"]), [[b"1", b"3"], [b"4"]]),
        (lambda: batched(lambda x: tf.cond(x > 1, lambda: x * 2, lambda: x - 1), [1, 2, 3]), [[0, 4], [6]]),
        (lambda: batched(lambda x: tf.while_loop(lambda i: i < 10, lambda i: i + x, [x]), [1, 4, 20]), [[10, 12], [20]]),
        (lambda: batched(lambda x: tf.logical_and(x > 1, tf.logical_not(x > 2)), [1, 2, 3]), [[False, True], [False]]),
        (
            lambda: batched(lambda x: {"a": x, "b": (x, x + 1)}, [1, 2, 3]),
            [{"a": [1, 2], "b": [[1, 2], [2, 3]]}, {"a": [3], "b": [[3], [4]]}],
        ),
        (
            lambda: batched(
                lambda x: tf.io.parse_single_example(
                    x, {"a": tf.io.FixedLenFeature([2], tf.int64), "b": tf.io.FixedLenFeature([], tf.string, "d")}
                ),
                [example(a=[1, 2], b=b"x"), example(a=[3, 4])],
            ),
            [{"a": [[1, 2], [3, 4]], "b": [b"x", b"d"]}],
        ),
    ],
)
def test_functions_give_for_batches_what_they_give_for_elements(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: nest.flatten((1, {"b": 2, "a": 3}, [4, 5])), [1, 3, 2, [4, 5]]),
        (lambda: nest.flatten({"b": (1, 2), "a": 3}), [3, 1, 2]),
        (lambda: nest.is_sequence([1]), False),
        (lambda: nest.is_sequence((1,)), True),
        (lambda: nest.is_sequence({"a": 1}), True),
        (lambda: nest.is_sequence("a"), False),
        (lambda: nest.pack_sequence_as(({"b": 0, "a": 0}, 0), [1, 2, 3]), [{"b": 2, "a": 1}, 3]),
        (lambda: nest.pack_sequence_as((0, (0, 0)), [1, 2, 3]), [1, [2, 3]]),
        (lambda: nest.pack_sequence_as(0, [5]), 5),
        (lambda: nest.map_structure(lambda a, b: a + b, (1, {"x": 2}), (10, {"x": 20})), [11, {"x": 22}]),
        (lambda: nest.map_structure(lambda a: a * 2, 4), 8),
        (lambda: nest.flatten_up_to((0, 0), ((1, 2), 3)), [[1, 2], 3]),
        (lambda: nest.flatten_up_to(0, (1, 2)), [[1, 2]]),
        (lambda: nest.map_structure_up_to((0, 0), lambda a, b: (a, b), (1, (2, 3)), (4, 5)), [[1, 4], [[2, 3], 5]]),
        (lambda: nest.assert_same_structure((1, 2), (3, 4)), None),
        (lambda: nest.assert_shallow_structure((0, 0), (1, (2, 3))), None),
    ],
)
def test_structures_of_elements_are_tuples_and_dicts(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: repr(structure.type_spec_from_value((1, "a"))),
            "(TensorSpec(shape=(), dtype=tf.int32, name=None), TensorSpec(shape=(), dtype=tf.string, name=None))",
        ),
        (
            lambda: repr(structure.type_spec_from_value({"a": np.zeros((2, 3))})),
            "{'a': TensorSpec(shape=(2, 3), dtype=tf.float64, name=None)}",
        ),
        (
            lambda: repr(structure.type_spec_from_value(tf.SparseTensor([[0]], [1], [2]))),
            "SparseTensorSpec(TensorShape([Dimension(2)]), tf.int32)",
        ),
        (
            lambda: repr(structure.type_spec_from_value(tf.ragged.constant([[1], [2, 3]]))),
            "RaggedTensorSpec(TensorShape([Dimension(2), Dimension(None)]), tf.int32, 1, tf.int64)",
        ),
        (
            lambda: repr(structure.type_spec_from_value(tf.TensorArray(tf.int32, 2, element_shape=[3]))),
            "TensorArraySpec(TensorShape([Dimension(3)]), tf.int32, False, True)",
        ),
        (
            lambda: repr(structure.type_spec_from_value(D.range(2))),
            "DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))",
        ),
        (
            lambda: structure.get_flat_tensor_shapes(structure.type_spec_from_value((1, tf.SparseTensor([[0]], [1], [2]), [1, 2]))),
            [[], None, [2]],
        ),
        (lambda: structure.are_compatible(structure.type_spec_from_value(1), structure.type_spec_from_value(2)), True),
        (lambda: structure.are_compatible(structure.type_spec_from_value(1), structure.type_spec_from_value("a")), False),
        (lambda: structure.are_compatible(structure.type_spec_from_value((1, 2)), structure.type_spec_from_value(1)), False),
        (lambda: structure.are_compatible(structure.type_spec_from_value({"a": 1}), structure.type_spec_from_value({"b": 1})), False),
        (lambda: structure.are_compatible(structure.type_spec_from_value([1, 2]), structure.type_spec_from_value([1, 2, 3])), False),
        (
            lambda: repr(structure.convert_legacy_structure(tf.int32, tf.TensorShape([2]), tf.Tensor)),
            "TensorSpec(shape=(2,), dtype=tf.int32, name=None)",
        ),
        (
            lambda: repr(
                structure.convert_legacy_structure(
                    (tf.int32, tf.string), (tf.TensorShape([2]), tf.TensorShape([2, 3])), (tf.Tensor, tf.SparseTensor)
                )
            ),
            "(TensorSpec(shape=(2,), dtype=tf.int32, name=None), SparseTensorSpec(TensorShape([Dimension(2), Dimension(3)]), tf.string))",
        ),
        (lambda: [t.dtype for t in nest.flatten(structure.normalize_element((1, [2.0, 3.0])))], ["int32", "float32"]),
        (
            lambda: structure.normalize_element((1, tf.SparseTensorValue([[0]], [5], [2])))[1],
            {"indices": [[0]], "values": [5], "dense_shape": [2]},
        ),
        (lambda: structure.from_tensor_list(structure.type_spec_from_value((1, 2)), [tf.constant(3), tf.constant(4)]), [3, 4]),
        (lambda: sparse.any_sparse((tf.Tensor, tf.SparseTensor)), True),
        (lambda: sparse.any_sparse((tf.Tensor,)), False),
        (lambda: sparse.as_dense_shapes((tf.TensorShape([1]), tf.TensorShape([2])), (tf.Tensor, tf.SparseTensor)), [[1], None]),
        (lambda: [c.__name__ for c in sparse.get_classes((tf.constant(1), tf.SparseTensor([[0]], [1], [2])))], ["Tensor", "SparseTensor"]),
        (lambda: convert.partial_shape_to_tensor([1, None, 3]), [1, -1, 3]),
        (lambda: convert.partial_shape_to_tensor(tf.TensorShape([2, None])), [2, -1]),
        (lambda: convert.partial_shape_to_tensor(tf.constant([1, 2], tf.int64)), [1, 2]),
        (lambda: convert.optional_param_to_tensor("a", None, 7), 7),
        (lambda: convert.optional_param_to_tensor("a", 3, 7).dtype, "int64"),
    ],
)
def test_types_of_elements_describe_tensors_of_all_kinds(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: optional(5).get_value(), 5),
        (lambda: optional((1, "a")).get_value(), [1, b"a"]),
        (lambda: optional(5).has_value(), True),
        (lambda: E.Optional.none_from_structure(structure.type_spec_from_value(1)).has_value(), False),
        (lambda: repr(optional([1, 2]).value_structure), "TensorSpec(shape=(2,), dtype=tf.int32, name=None)"),
        (lambda: repr(structure.type_spec_from_value(optional(1))), "OptionalSpec(TensorSpec(shape=(), dtype=tf.int32, name=None),)"),
        (lambda: elements(D.range(3).map(lambda x: optional(x)).map(lambda o: o.get_value() + 1)), [1, 2, 3]),
        (
            lambda: (lambda i: steps(i, *[[o.has_value()] for o in [E.get_next_as_optional(i)] * 3]))(
                tf.data.make_one_shot_iterator(D.range(2))
            ),
            [[True], [True], [False]],
        ),
        (
            lambda: (lambda o: steps(0, [o.has_value(), o.get_value()]))(
                E.get_next_as_optional(tf.data.make_one_shot_iterator(D.range(5, 7)))
            ),
            [[True, 5]],
        ),
    ],
)
def test_optionals_may_be_empty(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: handles(), [0, 10, 11, 1]),
        (lambda: switched(), [None, 0, None, 7, 8]),
        (lambda: tf.data.Iterator.from_structure((tf.int64, tf.string), ([], [None])).output_shapes, [[], [None]]),
        (lambda: tf.data.Iterator.from_structure(tf.int64).output_shapes, None),
        (lambda: tf.data.Iterator.from_structure(tf.int64, []).output_types, "int64"),
        (lambda: tf.data.Iterator.from_structure(tf.int64, []).output_classes.__name__, "Tensor"),
        (lambda: tf.data.Iterator.from_structure(tf.int64, [], shared_name="s")._iterator_resource.op.get_attr("shared_name"), b"s"),
        (lambda: tf.data.make_initializable_iterator(D.range(2), shared_name="s")._iterator_resource.op.get_attr("shared_name"), b"s"),
        (lambda: tf.data.make_initializable_iterator(D.range(2)).make_initializer(D.range(2), name="i").name, "i"),
        (lambda: tf.data.make_initializable_iterator(D.range(2)).get_next(name="n").name, "n:0"),
        (lambda: tf.data.make_initializable_iterator(D.range(2)).get_next().name, "IteratorGetNext:0"),
        (lambda: tf.data.make_initializable_iterator(D.range(2)).string_handle(name="h").name, "h:0"),
    ],
)
def test_iterators_are_handed_on_and_started_anew(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: option("experimental_deterministic", False), False),
        (lambda: option("experimental_slack", True), True),
        (lambda: merged({"experimental_deterministic": False}, {"experimental_slack": True})[:2], [False, True]),
        (lambda: merged({"experimental_slack": True}, {})[:2], [None, True]),
        (lambda: tf.data.Options() == tf.data.Options(), True),
        (lambda: tf.data.Options() != tf.data.Options(), False),
        (lambda: (lambda a: (setattr(a, "experimental_slack", True), a == tf.data.Options())[1])(tf.data.Options()), False),
        (lambda: D.range(2).options().experimental_slack, None),
        (
            lambda: (
                lambda o: (
                    setattr(o, "experimental_slack", True),
                    D.range(2).with_options(o).map(lambda x: x).options().experimental_slack,
                )[1]
            )(tf.data.Options()),
            True,
        ),
        (lambda: tf.data.experimental.OptimizationOptions().map_fusion, None),
        (lambda: (lambda o: [setattr(o, "map_fusion", True), o.map_fusion])(tf.data.experimental.OptimizationOptions()), [None, True]),
        (lambda: tf.data.experimental.ThreadingOptions().private_threadpool_size, None),
        (lambda: repr(tf.data.experimental.StatsOptions().prefix), "''"),
        (lambda: tf.data.experimental.StatsOptions().latency_all_edges, None),
        (
            lambda: (
                tf.data.experimental.DistributeOptions().auto_shard
                if hasattr(tf.data.experimental.DistributeOptions(), "auto_shard")
                else 0
            ),
            True,
        ),
    ],
)
def test_options_are_kept_and_merged(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: elements(tf.data.TextLineDataset(text("a", "", "b c"))), [b"a", b"", b"b c"]),
        (lambda: elements(tf.data.TextLineDataset([text("a"), text("b")])), [b"a", b"b"]),
        (lambda: elements(tf.data.TextLineDataset(file(b"a\r\nb\r\nc"))), [b"a", b"b", b"c"]),
        (lambda: elements(tf.data.TextLineDataset(packed(b"x\ny\n"), compression_type="ZLIB")), [b"x", b"y"]),
        (lambda: elements(tf.data.TextLineDataset(file(b"x\ny\n", how=gzip.open), "GZIP")), [b"x", b"y"]),
        (lambda: elements(tf.data.TextLineDataset(file(b"x\ny\n" * 3), buffer_size=2)), [b"x", b"y", b"x", b"y", b"x", b"y"]),
        (lambda: elements(tf.data.TextLineDataset(file(b""))), []),
        (
            lambda: elements(tf.data.TextLineDataset("/none/such")),
            [
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
                "NotFoundError",
            ],
        ),
        (lambda: elements(tf.data.TextLineDataset(text("a"), compression_type="no")), ["InvalidArgumentError"]),
        (lambda: elements(tf.data.FixedLengthRecordDataset(file(b"abcdef"), 2)), [b"ab", b"cd", b"ef"]),
        (lambda: elements(tf.data.FixedLengthRecordDataset(file(b"Habcdef"), 3, header_bytes=1)), [b"abc", b"def"]),
        (lambda: elements(tf.data.FixedLengthRecordDataset(file(b"HabcdefFF"), 2, header_bytes=1, footer_bytes=2)), [b"ab", b"cd", b"ef"]),
        (
            lambda: elements(tf.data.FixedLengthRecordDataset(file(b"abcde"), 2)),
            [
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
                "InvalidArgumentError",
            ],
        ),
        (lambda: elements(tf.data.FixedLengthRecordDataset([file(b"ab"), file(b"cd")], 1)), [b"a", b"b", b"c", b"d"]),
        (lambda: elements(tf.data.FixedLengthRecordDataset(packed(b"abcdef"), 3, compression_type="ZLIB")), [b"abc", b"def"]),
        (
            lambda: elements(
                tf.data.FixedLengthRecordDataset(packed(b"HabcdefF"), 3, header_bytes=1, footer_bytes=1, compression_type="ZLIB")
            ),
            [b"abc", b"def"],
        ),
        (lambda: elements(tf.data.FixedLengthRecordDataset(file(b"abcdef"), 0)), ["InvalidArgumentError"]),
        (lambda: elements(tf.data.TFRecordDataset(records(b"a", b"bc"))), [b"a", b"bc"]),
        (lambda: elements(tf.data.TFRecordDataset([records(b"a"), records(b"b", b"c")])), [b"a", b"b", b"c"]),
        (lambda: elements(tf.data.TFRecordDataset([records(b"a"), records(b"b", b"c")], num_parallel_reads=2)), [b"a", b"b", b"c"]),
        (lambda: elements(tf.data.TFRecordDataset(D.from_tensors(records(b"a")))), [b"a"]),
        (lambda: elements(tf.data.TFRecordDataset(records(b"a", b"bc", options="GZIP"), "GZIP")), [b"a", b"bc"]),
        (lambda: elements(tf.data.TFRecordDataset(records(b"a", b"bc", options="ZLIB"), compression_type="ZLIB")), [b"a", b"bc"]),
        (lambda: elements(tf.data.TFRecordDataset(file(b"this is no record at all")), 1), ["DataLossError"]),
        (lambda: elements(tf.data.TFRecordDataset(file(b""))), []),
        (lambda: elements(tf.data.TFRecordDataset(records(b"a"), buffer_size=0)), [b"a"]),
        (
            lambda: elements(
                D.list_files(os.path.join(os.path.dirname(text("a")), "f*"), shuffle=False).map(
                    lambda p: tf.strings.regex_replace(p, ".*/", "")
                )
            ),
            [b"file"],
        ),
        (lambda: elements(tf.data.TFRecordDataset(written(D.from_tensor_slices(["x", "y"])))), [b"x", b"y"]),
        (
            lambda: elements(tf.data.TFRecordDataset(written(D.from_tensor_slices(["x", "y"]), compression_type="GZIP"), "GZIP")),
            [b"x", b"y"],
        ),
        (
            lambda: elements(E.SqlDataset("sqlite", database(), "SELECT name, age, height FROM t", (tf.string, tf.int32, tf.float64))),
            [[b"a", 3, 1.5], [b"b", 4, 2.5]],
        ),
        (lambda: elements(E.SqlDataset("sqlite", database(), "SELECT age FROM t ORDER BY age DESC", tf.int64)), [4, 3]),
        (lambda: elements(E.SqlDataset("sqlite", database(), "SELECT name FROM none", (tf.string,)), 1), ["UnknownError"]),
    ],
)
def test_files_hold_lines_and_records(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: elements(E.CsvDataset(text("1,a", "2,b"), [tf.int32, tf.string])), [[1, b"a"], [2, b"b"]]),
        (
            lambda: elements(E.CsvDataset(text("1;2;3", "4;5;6"), [tf.int32, tf.int32], field_delim=";", select_cols=[0, 2])),
            [[1, 3], [4, 6]],
        ),
        (
            lambda: elements(E.CsvDataset(text('"a,b","c""d"', 'e,"f'), [tf.string, tf.string]), 3),
            [[b"a,b", b'c"d'], "InvalidArgumentError"],
        ),
        (lambda: elements(E.CsvDataset(text('"a",b'), [tf.string, tf.string], use_quote_delim=False)), [[b'"a"', b"b"]]),
        (lambda: elements(E.CsvDataset(text("NA,1", "2,NA"), [5, 6], na_value="NA")), [[5, 1], [2, 6]]),
        (lambda: elements(E.CsvDataset(text("1,2", "3"), [tf.int32, tf.int32]), 3), [[1, 2], "InvalidArgumentError"]),
        (lambda: elements(E.CsvDataset(text("1,a"), [tf.int32, tf.int32]), 1), ["InvalidArgumentError"]),
        (lambda: elements(E.CsvDataset(text(",1"), [tf.int32, tf.int32]), 1), ["InvalidArgumentError"]),
        (lambda: elements(E.CsvDataset(text("1,2,3"), [tf.int32, tf.int32]), 1), ["InvalidArgumentError"]),
        (lambda: elements(E.CsvDataset(packed(b"1\n2\n"), [tf.int64], compression_type="ZLIB")), [[1], [2]]),
        (lambda: elements(E.CsvDataset([text("1"), text("2")], [tf.int64])), [[1], [2]]),
        (lambda: elements(E.CsvDataset(file(b"1,2\r\n3,4"), [tf.int64, tf.float64])), [[1, 2.0], [3, 4.0]]),
        (lambda: elements(csv("a,b", "1,x", "2,y", "3,z")), [{"a": [1, 2], "b": [b"x", b"y"]}, {"a": [3], "b": [b"z"]}]),
        (lambda: elements(csv("a,b", "1,x", "2,y", "3,z", label_name="b")), [[{"a": [1, 2]}, [b"x", b"y"]], [{"a": [3]}, [b"z"]]]),
        (lambda: elements(csv("a,b", "1,x", "2,y", column_names=["p", "q"])), [{"p": [1, 2], "q": [b"x", b"y"]}]),
        (lambda: elements(csv("1,x", "2,y", column_names=["p", "q"], header=False)), [{"p": [1, 2], "q": [b"x", b"y"]}]),
        (lambda: elements(csv("a,b,c", "1,x,2.5", select_columns=["c", "a"])), [{"a": [1], "c": [2.5]}]),
        (lambda: elements(csv("a,b,c", "1,x,2.5", select_columns=[0, 2])), [{"a": [1], "c": [2.5]}]),
        (lambda: elements(csv("a,b", "1,x", "2,y", column_defaults=[tf.float32, "d"])), [{"a": [1.0, 2.0], "b": [b"x", b"y"]}]),
        (lambda: elements(csv("a;b", "1;x", field_delim=";")), [{"a": [1], "b": [b"x"]}]),
        (lambda: elements(csv("a,b", "NA,x", "3,y", na_value="NA")), [{"a": [0, 3], "b": [b"x", b"y"]}]),
        (lambda: elements(csv("a", "1", "2", "3", num_epochs=2)), [{"a": [1, 2]}, {"a": [3, 1]}, {"a": [2, 3]}]),
        (lambda: elements(csv("a", "1", "2", "3", batch_size=3, shuffle=True, shuffle_seed=4, shuffle_buffer_size=3)), [{"a": [2, 3, 1]}]),
        (lambda: types(csv("a,b,c", "1,x,2.5", "9999999999,1,1")), {"a": "int64", "b": "string", "c": "float32"}),
        (lambda: types(csv("a,b", "1,x", "1.5,2", num_rows_for_inference=1)), {"a": "int32", "b": "string"}),
        (lambda: shapes(csv("a,b", "1,x", batch_size=3)), {"a": [None], "b": [None]}),
    ],
)
def test_csv_files_become_columns(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: elements(
                D.from_tensors([example(a=1), example(a=2)]).apply(
                    E.parse_example_dataset({"a": tf.io.FixedLenFeature([], tf.int64)}, num_parallel_calls=2)
                )
            ),
            [{"a": [1, 2]}],
        ),
        (
            lambda: elements(
                E.make_batched_features_dataset(
                    records(example(a=1), example(a=2), example(a=3)),
                    2,
                    {"a": tf.io.FixedLenFeature([], tf.int64)},
                    num_epochs=1,
                    shuffle=False,
                )
            ),
            [{"a": [1, 2]}, {"a": [3]}],
        ),
        (
            lambda: elements(
                E.make_batched_features_dataset(
                    records(example(a=1, l=b"x"), example(a=2, l=b"y")),
                    2,
                    {"a": tf.io.FixedLenFeature([], tf.int64), "l": tf.io.FixedLenFeature([], tf.string)},
                    label_key="l",
                    num_epochs=1,
                    shuffle=False,
                )
            ),
            [[{"a": [1, 2]}, [b"x", b"y"]]],
        ),
        (
            lambda: elements(
                E.make_batched_features_dataset(
                    records(example(a=1), example(a=2), example(a=3)),
                    2,
                    {"a": tf.io.FixedLenFeature([], tf.int64)},
                    num_epochs=1,
                    shuffle=False,
                    drop_final_batch=True,
                )
            ),
            [{"a": [1, 2]}],
        ),
        (
            lambda: elements(
                E.make_batched_features_dataset(
                    records(example(a=1), example(a=2), example(a=3)),
                    3,
                    {"a": tf.io.FixedLenFeature([], tf.int64)},
                    num_epochs=2,
                    shuffle_seed=3,
                    shuffle_buffer_size=3,
                )
            ),
            [{"a": [3, 1, 2]}, {"a": [3, 1, 2]}],
        ),
    ],
)
def test_serialized_examples_are_parsed(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (lambda: nest.assert_same_structure((1, 2), (3, (4, 5))), ValueError, "The two structures don't have the same nested structure."),
        (lambda: nest.assert_same_structure((1, 2), [3, 4]), ValueError, "The two structures don't have the same nested structure."),
        (lambda: nest.assert_same_structure(1, (1,)), ValueError, "The two structures don't have the same nested structure."),
        (lambda: nest.assert_same_structure({"a": 1}, {"b": 1}), ValueError, "The two structures don't have the same nested structure."),
        (lambda: nest.assert_same_structure((1, 2), (1, 2, 3)), ValueError, "The two structures don't have the same nested structure."),
        (lambda: nest.assert_shallow_structure((0, 0), 1), TypeError, "If shallow structure is a sequence, input must also be a sequence."),
        (
            lambda: nest.assert_shallow_structure((0, 0), (1, 2, 3)),
            ValueError,
            "The two structures don't have the same sequence length. Input",
        ),
        (
            lambda: nest.assert_shallow_structure({"a": 0}, {"b": 1}),
            ValueError,
            "The two structures don't have the same keys. Input structure has keys",
        ),
        (
            lambda: nest.assert_shallow_structure((0, 0), {"a": 1, "b": 2}),
            TypeError,
            "The two structures don't have the same sequence type. Input structure",
        ),
        (
            lambda: nest.pack_sequence_as((0, 0), [1, 2, 3]),
            ValueError,
            "Could not pack sequence. Structure had 2 elements, but flat_sequence",
        ),
        (lambda: nest.pack_sequence_as(0, [1, 2]), ValueError, "Structure is a scalar but len(flat_sequence) == 2 > 1"),
        (lambda: nest.pack_sequence_as((0, 0), 3), TypeError, "flat_sequence must be a sequence"),
        (lambda: nest.map_structure(3, (1, 2)), TypeError, "func must be callable, got: 3"),
        (lambda: nest.map_structure(lambda a: a), ValueError, "Must provide at least one structure"),
        (lambda: nest.map_structure(lambda a: a, (1, 2), wrong=3), ValueError, "Only valid keyword argument is check_types"),
        (
            lambda: structure.convert_legacy_structure(tf.int32, tf.TensorShape([2]), int),
            TypeError,
            "Could not build a structure for output class",
        ),
        (lambda: structure.type_spec_from_value(object()), TypeError, "Could not build a TypeSpec for <object object at"),
        (
            lambda: structure.from_tensor_list(structure.type_spec_from_value((1, 2)), [tf.constant(3)]),
            ValueError,
            "Expected 2 tensors but got 1.",
        ),
        (
            lambda: structure.from_tensor_list(structure.type_spec_from_value((1, 2)), [tf.constant(3), tf.constant("a")]),
            ValueError,
            "Incompatible input:",
        ),
        (
            lambda: structure.from_tensor_list(structure.type_spec_from_value((1, [2, 3])), [tf.constant(3), tf.constant([1])]),
            ValueError,
            "Incompatible input:",
        ),
        (
            lambda: convert.partial_shape_to_tensor(tf.constant([1, 2])),
            TypeError,
            'The given shape Tensor("Const:0", shape=(2,), dtype=int32) must be a',
        ),
        (
            lambda: E.Optional.none_from_structure(structure.type_spec_from_value(1)).get_value(),
            tf.errors.InvalidArgumentError,
            "The given optional does not have a value.",
        ),
        (lambda: tf.data.make_one_shot_iterator(D.range(2)).initializer, ValueError, "Iterator does not have an initializer."),
        (lambda: tf.data.Iterator.from_structure(tf.int64, []).initializer, ValueError, "Iterator does not have an initializer."),
        (
            lambda: tf.data.Iterator.from_structure(tf.int64, []).make_initializer(D.from_tensors("a")),
            TypeError,
            "Expected output types tf.int64 but got dataset with output types",
        ),
        (
            lambda: tf.data.Iterator.from_structure(tf.int64, [2]).make_initializer(D.range(3)),
            TypeError,
            "Expected output shapes compatible with TensorShape([Dimension(2)])",
        ),
        (
            lambda: tf.data.Iterator.from_structure((tf.int64, tf.int64), ([], [])).make_initializer(D.range(3)),
            ValueError,
            "The two structures don't have the same nested structure.",
        ),
        (
            lambda: tf.data.Iterator.from_structure(tf.int64, [], output_classes=tf.SparseTensor).make_initializer(D.range(3)),
            TypeError,
            "Expected output classes <class",
        ),
        (
            lambda: tf.data.Iterator.from_structure(tf.int64, ([], [])),
            TypeError,
            "int() argument must be a string, a bytes-like object or a",
        ),
        (
            lambda: steps(0, tf.data.make_initializable_iterator(D.range(2)).get_next()),
            tf.errors.FailedPreconditionError,
            "GetNext() failed because the iterator has not been initialized.",
        ),
        (
            lambda: tf.data.make_one_shot_iterator(D.from_tensors(tf.get_variable("v", []))),
            ValueError,
            "Failed to create a one-shot iterator for a dataset.",
        ),
        (lambda: next(iter(D.range(2))), RuntimeError, "__iter__() is only supported inside of tf.function or when eager"),
        (
            lambda: option("experimental_deterministic", "a"),
            TypeError,
            "Property \"experimental_deterministic\" must be of type <class 'bool'>,",
        ),
        (
            lambda: option("experimental_deterministik", True),
            AttributeError,
            "Cannot set the property experimental_deterministik on Options.",
        ),
        (lambda: option("experimental_optimization", 3), TypeError, 'Property "experimental_optimization" must be of type <class'),
        (
            lambda: merged({"experimental_slack": True}, {"experimental_slack": False})[:2],
            ValueError,
            "Cannot merge incompatible values (True and False) of option:",
        ),
        (
            lambda: (lambda o: setattr(o, "private_threadpool_size", "a"))(tf.data.experimental.ThreadingOptions()),
            TypeError,
            "Property \"private_threadpool_size\" must be of type <class 'int'>,",
        ),
        (lambda: tf.data.TFRecordDataset(3), TypeError, "Expected string, got 3 of type 'int' instead."),
        (
            lambda: E.TFRecordWriter("p").write(D.range(2)),
            TypeError,
            "`dataset` must produce scalar `DT_STRING` tensors whereas it produces",
        ),
        (lambda: E.TFRecordWriter("p").write(3), TypeError, "`dataset` must be a `tf.data.Dataset` object."),
        (
            lambda: elements(E.SqlDataset("mysql", database(), "SELECT name FROM t", (tf.string,)), 1),
            tf.errors.InvalidArgumentError,
            "The database type, mysql, is not supported by SqlDataset. The set of",
        ),
        (
            lambda: elements(E.CsvDataset(text("1,2"), [tf.int32, tf.int32], select_cols=[1, 0]), 1),
            tf.errors.InvalidArgumentError,
            "select_cols should be strictly increasing indices",
        ),
        (lambda: csv("a,b", "1,x", label_name="z"), ValueError, "`label_name` provided must be one of the columns."),
        (lambda: csv("a,a", "1,x"), ValueError, "Cannot have duplicate column names."),
        (lambda: csv("a,b", "1,x", select_columns=["z"]), ValueError, "Value 'z'"),
        (lambda: csv("a,b", "1,x", select_columns=["a", "a"]), ValueError, "select_columns contains duplicate columns"),
        (
            lambda: D.from_tensors([1]).apply(E.parse_example_dataset({"a": tf.io.FixedLenFeature([], tf.int64)})),
            TypeError,
            "Input dataset should be a dataset of vectors of strings",
        ),
        (lambda: D.from_tensors(["a"]).apply(E.parse_example_dataset(None)), ValueError, "Missing: features was None."),
        (
            lambda: E.make_batched_features_dataset(records(example(a=1)), 2, {"a": tf.io.FixedLenFeature([], tf.int64)}, label_key="z"),
            ValueError,
            "The `label_key` provided ('z') must be one of the `features` keys.",
        ),
        (
            lambda: elements(
                C.read_batch_features(
                    records(example(a=1), example(a=2)), 2, {"a": tf.io.FixedLenFeature([], tf.int64)}, num_epochs=1, randomize_input=False
                )
            ),
            AttributeError,
            "'dict' object has no attribute '_variant_tensor': A likely cause of",
        ),
    ],
)
def test_mistakes_are_refused(made, error, message):
    with pytest.raises(error) as caught:
        computed(made())
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("made", "shapes"),
    [
        (lambda: tf.data.TFRecordDataset([["a"]]), "()"),
        (lambda: D.list_files("/none/such/*"), "()"),
        (lambda: E.CsvDataset("a", [tf.int32], select_cols=[0, 1]), "(TensorShape([]),)"),
        (lambda: csv("a,b", "1,x", column_defaults=[1]), "OrderedDict([('a', TensorShape([Dimension(None)]))])"),
    ],
)
def test_these_are_taken_until_elements_are_asked_for(made, shapes):
    found = tf.data.get_output_shapes(made())
    # Python 3.12 shows ordered dictionaries otherwise.
    shown = f"OrderedDict({list(found.items())!r})" if isinstance(found, dict) else str(found)
    assert shown == shapes
