"""Every transformation of tf.data, element by element."""

import numpy as np
import pytest

import everflow as tf

D, E = tf.data.Dataset, tf.data.experimental


def elements(dataset, most=50):
    """The first elements, as lists."""
    as_list = lambda x: (
        {k: as_list(v) for k, v in x.items()}
        if isinstance(x, dict)
        else tuple(map(as_list, x))
        if type(x) is tuple
        else x.tolist()
        if hasattr(x, "tolist")
        else x
    )
    following = tf.data.make_initializable_iterator(dataset)
    element = following.get_next()
    found = []
    with tf.Session() as session:
        session.run(following.initializer)
        try:
            while len(found) < most:
                found.append(as_list(session.run(element)))
        except tf.errors.OutOfRangeError:
            pass
    return found


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: D.range(3), [0, 1, 2]),
        (lambda: D.range(1, 7, 2), [1, 3, 5]),
        (lambda: D.range(3, 0, -1), [3, 2, 1]),
        (lambda: D.from_tensors([1, 2]), [[1, 2]]),
        (lambda: D.from_tensor_slices([[1], [2]]), [[1], [2]]),
        (lambda: D.zip((D.range(2), D.range(5, 9))), [(0, 5), (1, 6)]),
        (lambda: D.zip({"a": D.range(1)}), [{"a": 0}]),
        (lambda: D.range(2).concatenate(D.range(5, 7)), [0, 1, 5, 6]),
        (lambda: D.range(2).repeat(2), [0, 1, 0, 1]),
        (lambda: D.range(2).repeat(0), []),
        (lambda: D.range(5).skip(3), [3, 4]),
        (lambda: D.range(5).skip(-1), []),
        (lambda: D.range(5).take(2), [0, 1]),
        (lambda: D.range(3).take(-1), [0, 1, 2]),
        (lambda: D.range(7).shard(3, 1), [1, 4]),
        (lambda: D.range(3).map(lambda x: x * 2), [0, 2, 4]),
        (lambda: D.range(3).map(lambda x: (x, x + 1), num_parallel_calls=2), [(0, 1), (1, 2), (2, 3)]),
        (lambda: D.range(6).filter(lambda x: tf.equal(x % 2, 0)), [0, 2, 4]),
        (lambda: D.range(3).flat_map(lambda x: D.range(x)), [0, 0, 1]),
        (
            lambda: D.range(1, 4).interleave(lambda x: D.from_tensors(x).repeat(3), cycle_length=2, block_length=2),
            [1, 1, 2, 2, 1, 2, 3, 3, 3],
        ),
        (lambda: D.range(1, 4).interleave(lambda x: D.from_tensors(x).repeat(2), cycle_length=3, num_parallel_calls=2), [1, 2, 3, 1, 2, 3]),
        (lambda: D.range(5).batch(2), [[0, 1], [2, 3], [4]]),
        (lambda: D.range(5).batch(2, True), [[0, 1], [2, 3]]),
        (
            lambda: D.range(1, 4).map(lambda x: tf.fill([x], x)).padded_batch(2, [None], tf.constant(-1, tf.int64)),
            [[[1, -1], [2, 2]], [[3, 3, 3]]],
        ),
        (lambda: D.range(1, 3).map(lambda x: tf.fill([x], x)).padded_batch(2, [3]), [[[1, 0, 0], [2, 2, 0]]]),
        (lambda: D.range(3).prefetch(1), [0, 1, 2]),
        (lambda: D.range(3).cache().repeat(2), [0, 1, 2, 0, 1, 2]),
        (lambda: D.range(5).window(2).flat_map(lambda w: w.batch(2)), [[0, 1], [2, 3], [4]]),
        (lambda: D.range(5).window(3, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(3)), [[0, 1, 2], [1, 2, 3], [2, 3, 4]]),
        (lambda: D.range(6).window(2, stride=2, shift=3).flat_map(lambda w: w.batch(2)), [[0, 2], [3, 5]]),
        (lambda: D.range(3).apply(lambda d: d.skip(1)), [1, 2]),
        (lambda: D.range(3).shuffle(1), [0, 1, 2]),
        (lambda: D.range(4).with_options(tf.data.Options()), [0, 1, 2, 3]),
        (lambda: D.range(4).batch(3).apply(E.unbatch()), [0, 1, 2, 3]),
        (lambda: D.range(4).apply(E.enumerate_dataset(5)), [(5, 0), (6, 1), (7, 2), (8, 3)]),
        (lambda: D.range(5).apply(E.scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s + x))), [0, 1, 3, 6, 10]),
        (lambda: D.range(9).apply(E.take_while(lambda x: x < 3)), [0, 1, 2]),
        (lambda: D.from_tensor_slices([1, 1, 2, 1]).apply(E.unique()), [1, 2]),
        (lambda: D.range(5).apply(E.map_and_batch(lambda x: x * x, 2)), [[0, 1], [4, 9], [16]]),
        (lambda: D.range(5).apply(E.map_and_batch(lambda x: x * x, 2, drop_remainder=True)), [[0, 1], [4, 9]]),
        (lambda: D.range(6).apply(E.group_by_window(lambda x: x % 2, lambda k, w: w.batch(2), 2)), [[0, 2], [1, 3], [4], [5]]),
        (
            lambda: D.range(5).apply(
                E.group_by_reducer(lambda x: x % 2, E.Reducer(lambda k: np.int64(0), lambda s, x: s + x, lambda s: s))
            ),
            [6, 4],
        ),
        (
            lambda: (
                D.from_tensor_slices([1, 5, 2, 7])
                .map(lambda n: tf.fill([n], n))
                .apply(E.bucket_by_sequence_length(lambda t: tf.shape(t)[0], [4], [2, 2]))
            ),
            [[[1, 0], [2, 2]], [[5] * 5 + [0] * 2, [7] * 7]],
        ),
        (lambda: D.range(1), [0]),
        (lambda: E.choose_from_datasets([D.range(3), D.range(10, 13)], D.from_tensor_slices(np.array([1, 0, 1], np.int64))), [10, 0, 11]),
        (lambda: E.sample_from_datasets([D.range(2), D.range(9)], [1.0, 0.0]).take(2), [0, 1]),
        (lambda: E.Counter(3, 2).take(3), [3, 5, 7]),
        (lambda: D.range(3).apply(E.ignore_errors()), [0, 1, 2]),
        (
            lambda: D.from_tensor_slices([1.0, 0.0, 2.0]).map(lambda x: tf.check_numerics(1.0 / x, "bad")).apply(E.ignore_errors()),
            [1.0, 0.5],
        ),
        (lambda: D.range(3).apply(E.copy_to_device("/cpu:0")), [0, 1, 2]),
        (lambda: D.range(4).apply(E.parallel_interleave(lambda x: D.from_tensors(x), 2)), [0, 1, 2, 3]),
        (lambda: D.from_generator(lambda: iter([(1, [2.0]), (3, [])]), (tf.int32, tf.float32), ([], [None])), [(1, [2.0]), (3, [])]),
        (lambda: D.from_generator(lambda n: iter(range(n)), tf.int32, args=(3,)), [0, 1, 2]),
        (lambda: D.from_tensor_slices(tf.SparseTensor([[0, 1], [1, 0]], [5, 6], [2, 2])).map(tf.sparse.to_dense), [[0, 5], [6, 0]]),
    ],
)
def test_elements_are_those_of_python(made, expected):
    assert elements(made()) == expected


def test_shuffles_hold_everything_and_follow_their_seed():
    once = elements(D.range(10).shuffle(4, seed=3))
    assert sorted(once) == list(range(10))
    assert once != list(range(10))
    assert once[0] < 4
    assert elements(D.range(10).shuffle(4, seed=3)) == once
    twice = elements(D.range(10).shuffle(10, seed=3).repeat(2))
    assert twice[:10] != twice[10:]
    assert sorted(twice[:10]) == sorted(twice[10:]) == list(range(10))
    fixed = elements(D.range(10).shuffle(10, seed=3, reshuffle_each_iteration=False).repeat(2))
    assert fixed[:10] == fixed[10:]
    both = elements(D.range(5).apply(E.shuffle_and_repeat(5, 2, seed=1)))
    assert sorted(both) == sorted([*range(5)] * 2)


def test_structures_say_shapes_types_and_sizes():
    dataset = D.from_tensor_slices({"a": np.zeros((4, 2), np.float32), "b": [1, 2, 3, 4]}).batch(3)
    assert tf.data.get_output_types(dataset) == {"a": tf.float32, "b": tf.int32}
    assert {k: s.as_list() for k, s in tf.data.get_output_shapes(dataset).items()} == {"a": [None, 2], "b": [None]}
    assert tf.data.get_output_shapes(D.range(4).batch(2, drop_remainder=True)).as_list() == [2]
    assert tf.data.get_output_classes(D.range(1)) is tf.Tensor
    sizes = [
        dataset,
        D.range(3).repeat(),
        D.range(10).batch(3),
        D.range(10).batch(3, True),
        D.range(5).filter(lambda x: x > 2),
        D.range(3).concatenate(D.range(2)),
        D.range(9).take(4),
        D.range(9).skip(4),
        D.range(7).shard(3, 0),
        D.zip((D.range(2), D.range(5))),
    ]
    with tf.Session() as session:
        assert session.run([E.cardinality(d) for d in sizes]) == [2, -1, 4, 3, -2, 5, 4, 5, 3, 2]
        assert session.run(D.range(5).reduce(np.int64(10), lambda s, x: s + x)) == 20
        assert session.run(E.get_single_element(D.range(3, 4))) == 3


def test_iterators_start_again_and_change_datasets():
    iterator = tf.data.Iterator.from_structure(tf.int64, tf.TensorShape([]))
    element = iterator.get_next()
    first, second = iterator.make_initializer(D.range(2)), iterator.make_initializer(D.range(10, 11))
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="initialized"):
            session.run(element)
        for start, expected in ((first, [0, 1]), (second, [10]), (first, [0, 1])):
            session.run(start)
            assert [session.run(element) for _ in expected] == expected
            with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
                session.run(element)
    with pytest.raises(TypeError, match="output types|Expected output"):
        iterator.make_initializer(D.from_tensors(1.0))


def test_files_are_read_in_order(tmp_path):
    paths = []
    for name in "ba":
        path = tmp_path / f"{name}.txt"
        path.write_text(f"{name}1\n{name}2\n")
        paths.append(str(path))
    assert elements(tf.data.TextLineDataset(paths)) == [b"b1", b"b2", b"a1", b"a2"]
    assert elements(D.list_files(str(tmp_path / "*.txt"), shuffle=False)) == [p.encode() for p in sorted(paths)]
    with tf.io.TFRecordWriter(str(tmp_path / "r"), tf.io.TFRecordOptions("GZIP")) as writer:
        for record in (b"x", b"yy"):
            writer.write(record)
    assert elements(tf.data.TFRecordDataset(str(tmp_path / "r"), "GZIP")) == [b"x", b"yy"]
    (tmp_path / "fixed").write_bytes(b"hAABBCCf")
    assert elements(tf.data.FixedLengthRecordDataset(str(tmp_path / "fixed"), 2, header_bytes=1, footer_bytes=1)) == [b"AA", b"BB", b"CC"]
    (tmp_path / "t.csv").write_text("a,b,c\n1,x,2.5\n3,,\n")
    dataset = E.CsvDataset(str(tmp_path / "t.csv"), [tf.int32, ["none"], [0.5]], header=True)
    assert elements(dataset) == [(1, b"x", 2.5), (3, b"none", 0.5)]
    assert elements(E.CsvDataset(str(tmp_path / "t.csv"), [tf.int32], header=True, select_cols=[0])) == [(1,), (3,)]
    cached = D.range(3).cache(str(tmp_path / "cache"))
    assert elements(cached) == elements(cached) == [0, 1, 2]
    assert list(tmp_path.glob("cache*"))
    with tf.Session() as session:
        session.run(E.TFRecordWriter(str(tmp_path / "w")).write(D.from_tensor_slices(["p", "q"])))
    assert elements(tf.data.TFRecordDataset(str(tmp_path / "w"))) == [b"p", b"q"]


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (lambda: D.range(3).filter(lambda x: x), (ValueError, TypeError), "bool"),
        (lambda: D.range(3).flat_map(lambda x: x), TypeError, "must return a `Dataset`"),
        (lambda: D.zip([D.range(1)]), TypeError, "must not be a list|nest"),
        (lambda: D.range(2).concatenate(D.from_tensors(1.0)), TypeError, "different types|Two datasets"),
        (lambda: D.range(), ValueError, "Invalid arg"),
        (lambda: D.from_generator([1], tf.int32), TypeError, "must be callable"),
        (lambda: D.range(3).padded_batch(2, [2]), ValueError, "rank|not compatible"),
        (lambda: D.range(2).interleave(lambda x: x), TypeError, "must return a `Dataset`"),
    ],
)
def test_mistakes_are_named(made, error, message):
    with pytest.raises(error, match=message):
        made()


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: D.range(3).batch(0), "greater than zero"),
        (lambda: D.range(3).shuffle(0), "greater than zero"),
        (lambda: D.range(3).window(2, shift=0), "greater than zero"),
        (lambda: D.range(0, 3, 0), "step must be a non-zero"),
        (lambda: D.range(2).map(lambda x: tf.fill([x + 5], 1)).padded_batch(2, [3]), "Attempted to pad to a smaller size"),
    ],
)
def test_wrong_numbers_are_errors_when_elements_are_read(made, message):
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.DataLossError), match=message):
        elements(made())
