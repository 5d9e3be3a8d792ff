"""Elements chosen by what they are, numbered, marked, sorted and partitioned."""

import numpy as np
import pytest

import everflow as tf
from running import run


def test_where_lists_the_places_that_are_true():
    assert run(tf.where([[True, False], [True, True]])).tolist() == [[0, 0], [1, 0], [1, 1]]
    assert run(tf.where(tf.constant(True))).shape == (1, 0)


@pytest.mark.parametrize(
    "mask, axis", [([True, False], None), ([[True, False, True], [False, False, True]], None), ([False, True, True], 1)]
)
def test_boolean_mask_and_its_gradient(mask, axis):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    mask = np.array(mask)
    expected = x[mask] if axis is None else x[:, mask]
    with tf.Graph().as_default(), tf.Session() as session:
        t = tf.constant(x)
        y = tf.boolean_mask(t, mask, axis=axis)
        found, dx = session.run([y, tf.gradients(y * y, t)[0]])
    wanted = np.zeros_like(x)
    if axis is None:
        wanted[mask] = 2 * x[mask]
    else:
        wanted[:, mask] = 2 * x[:, mask]
    assert found.tolist() == expected.tolist() and (dx == wanted).all()


def test_boolean_mask_needs_a_mask_of_known_rank_that_fits():
    with pytest.raises(ValueError, match="Number of mask dimensions must be specified"):
        run(tf.boolean_mask([1, 2], tf.placeholder(tf.bool)))
    with pytest.raises(ValueError, match="mask cannot be scalar"):
        run(tf.boolean_mask([1, 2], True))
    with pytest.raises(ValueError, match="incompatible"):
        run(tf.boolean_mask([1, 2, 3], [True, False]))


@pytest.mark.parametrize(
    "values", [[4, 2, 4, 1, 2], [-3, 5, -3, -4], [7, 10**12, -7, 7], ["b", "a", "b"], [2.5, 1.5, 2.5], [True, False, True]]
)
def test_unique_keeps_the_order_of_first_occurrence(values):
    found = run(tf.unique_with_counts(values, out_idx=tf.int64))
    distinct = list(dict.fromkeys(values))
    decoded = [v.decode() if isinstance(v, bytes) else v for v in found.y.tolist()]
    assert decoded == distinct
    assert found.idx.tolist() == [distinct.index(v) for v in values] and found.idx.dtype == np.int64
    assert found.count.tolist() == [values.count(v) for v in distinct]


def test_every_nan_is_unique():
    assert run(tf.unique([np.nan, 1.0, np.nan])).idx.tolist() == [0, 1, 2]


def test_unique_wants_a_vector():
    with pytest.raises(ValueError, match="Shape must be rank 1 but is rank 2"):
        run(tf.unique([[1]]))


def test_setdiff1d_keeps_order_and_repetitions():
    found = run(tf.setdiff1d([5, 1, 5, 2, 3], [1, 3]))
    assert found.out.tolist() == [5, 5, 2] and found.idx.tolist() == [0, 2, 3]
    assert run(tf.setdiff1d(["a", "b"], ["a"])).out.tolist() == [b"b"]


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(side):
    rows, values = np.array([[1, 3, 3, 9], [0, 2, 4, 6]]), np.array([[3, 0, 10], [4, 5, -1]])
    expected = [np.searchsorted(r, v, side).tolist() for r, v in zip(rows, values)]
    assert run(tf.searchsorted(rows, values, side=side)).tolist() == expected
    assert run(tf.searchsorted(rows.astype(np.float32), values.astype(np.float32), side=side, out_type=tf.int64)).tolist() == expected


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_one_hot_marks_the_index_and_nothing_where_it_is_outside(axis):
    indices = np.array([[0, 2], [-1, 5]])
    marked = (indices[..., None] == np.arange(3)).astype(np.float32)
    expected = np.moveaxis(marked, -1, axis if axis >= 0 else 2)
    assert (run(tf.one_hot(indices, 3, axis=axis)) == expected).all()


def test_one_hot_values_and_their_types():
    assert run(tf.one_hot([1], 3, on_value=5, off_value=-1)).tolist() == [[-1, 5, -1]]
    assert run(tf.one_hot([1], 2, "yes", "no")).tolist() == [[b"no", b"yes"]]
    assert run(tf.one_hot([1], 2, dtype=tf.uint16)).dtype == np.uint16
    with pytest.raises(TypeError, match="of on_value does not match dtype"):
        tf.one_hot([1], 2, on_value=1.0, off_value=1)


def test_sequence_mask():
    assert run(tf.sequence_mask([1, 3, 0], 4)).tolist() == [[True, False, False, False], [True, True, True, False], [False] * 4]
    assert run(tf.sequence_mask([[1], [2]], dtype=tf.float32)).tolist() == [[[1.0, 0.0]], [[1.0, 1.0]]]
    with tf.Graph().as_default():
        assert tf.sequence_mask([0, 1, 4]).shape.as_list() == [3, 4]


def test_partition_and_stitch_undo_each_other():
    x, numbers = np.arange(10, dtype=np.float32).reshape(5, 2), np.array([2, 0, 2, 1, 0])
    with tf.Graph().as_default(), tf.Session() as session:
        t = tf.constant(x)
        parts = tf.dynamic_partition(t, numbers, 4)
        places = tf.dynamic_partition(tf.range(5), numbers, 4)
        found, whole, dx = session.run([parts, tf.dynamic_stitch(places, parts), tf.gradients([p * p for p in parts], t)[0]])
    assert [p.tolist() for p in found] == [x[numbers == i].tolist() for i in range(4)]
    assert (whole == x).all() and (dx == 2 * x).all()


def test_later_parts_win_in_a_stitch():
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = tf.constant([1.0, 2.0]), tf.constant([[3.0]])
        y = tf.dynamic_stitch([[0, 2], [[2]]], [a, b])
        found, da, db = session.run([y, *tf.gradients(y, [a, b])])
    assert found.tolist() == [1.0, 0.0, 3.0] and da.tolist() == [1.0, 1.0] and db.tolist() == [[1.0]]


def test_partition_numbers_must_be_in_range():
    with tf.Graph().as_default(), tf.Session() as session:
        n = tf.placeholder(tf.int32, [2])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"partitions\[1\] = 2 is not in \[0, 2\)"):
            session.run(tf.dynamic_partition([1, 2], n, 2), {n: [0, 2]})


def test_invert_permutation():
    assert run(tf.invert_permutation([3, 0, 2, 1])).tolist() == [1, 3, 2, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="1 is duplicated in the input"):
        run(tf.invert_permutation([1, 1]))


def test_unravel_index():
    assert run(tf.unravel_index([22, 41, 37], [7, 6])).tolist() == [[3, 6, 6], [4, 5, 1]]


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("direction", ["ASCENDING", "DESCENDING"])
def test_sort_and_argsort(axis, direction):
    x = np.random.RandomState(0).permutation(12).reshape(3, 4).astype(np.float32)
    expected = np.sort(x, axis) if direction == "ASCENDING" else -np.sort(-x, axis)
    order = np.argsort(x if direction == "ASCENDING" else -x, axis)
    # Which axis is the last is not known without a rank.
    for static in ((3, 4), (None, None), *([None] if axis != 1 else [])):
        with tf.Graph().as_default(), tf.Session() as session:
            t = tf.placeholder(tf.float32, static)
            found, places = session.run([tf.sort(t, axis, direction), tf.argsort(t, axis, direction)], {t: x})
        assert (found == expected).all() and (places == order).all() and places.dtype == np.int32
    with pytest.raises(ValueError, match="should be one of ASCENDING, DESCENDING"):
        tf.sort([1.0], direction="UP")


def test_edit_distance():
    def sequences(rows):
        indices = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
        return tf.SparseTensorValue(indices, [c for row in rows for c in row], [len(rows), max(map(len, rows))])

    hypothesis, truth = sequences(["kitten", "ab", "abc"]), sequences(["sitting", "ab", "x"])
    assert run(tf.edit_distance(hypothesis, truth, normalize=False)).tolist() == [3.0, 0.0, 3.0]
    np.testing.assert_allclose(run(tf.edit_distance(hypothesis, truth)), [3 / 7, 0, 3])
    empty = tf.SparseTensorValue(np.zeros((0, 2), np.int64), np.zeros(0, object), [3, 1])
    assert run(tf.edit_distance(sequences(["a", "b", "c"]), empty)).tolist() == [np.inf] * 3
    with pytest.raises(TypeError, match="Truth must be a SparseTensor"):
        tf.edit_distance(hypothesis, [1])


def test_texts_are_distinct_along_an_axis_too():
    texts = [[b"a", b"b", b"a"], [b"c", b"c", b"c"]]
    found, numbers, counts = run(tf.raw_ops.UniqueWithCountsV2(x=texts, axis=[1]))
    assert (found.tolist(), numbers.tolist(), counts.tolist()) == ([[b"a", b"b"], [b"c", b"c"]], [0, 1, 0], [2, 1])
