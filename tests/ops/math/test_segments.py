"""Reductions of groups of rows."""

import numpy as np
import pytest

import everflow as tf
from running import run

D = np.arange(12, dtype=np.float64).reshape(4, 3) - 5


@pytest.mark.parametrize(
    "name, reduce, empty", [("sum", np.sum, 0), ("mean", np.mean, 0), ("prod", np.prod, 1), ("max", np.max, 0), ("min", np.min, 0)]
)
def test_sorted_segments_may_have_gaps(name, reduce, empty):
    expected = [reduce(D[:2], 0), [empty] * 3, reduce(D[2:], 0)]
    np.testing.assert_allclose(run(getattr(tf, "segment_" + name)(D, [0, 0, 2, 2])), expected)


@pytest.mark.parametrize(
    "name, reduce, empty",
    [
        ("sum", np.sum, 0),
        ("mean", np.mean, 0),
        ("prod", np.prod, 1),
        ("max", np.max, np.finfo("float64").min),
        ("min", np.min, np.finfo("float64").max),
        ("sqrt_n", lambda x, axis: x.sum(axis) / np.sqrt(len(x)), 0),
    ],
)
def test_unsorted_segments_leave_out_negative_ids(name, reduce, empty):
    expected = [reduce(D[[1, 3]], 0), [empty] * 3, reduce(D[:1], 0)]
    np.testing.assert_allclose(run(getattr(tf, "unsorted_segment_" + name)(D, [2, 0, -1, 0], 3)), expected)


def test_unsorted_ids_of_higher_rank_group_elements():
    ids = [[2, 0, -1], [0, 1, 2], [0, 0, 0], [1, 1, 1]]
    assert run(tf.unsorted_segment_sum(D, ids, 4)).tolist() == [0, 14, -5, 0]


@pytest.mark.parametrize("width", [(), (1,), (3,), (2, 40), (600,)])
@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_sums_of_floats_in_segments(width, kind):
    random = np.random.RandomState(0)
    rows, ids = random.randn(30, *width).astype(np.float32), random.randint(-1, 5, 30).astype(kind)
    expected = np.zeros((6, *width), np.float32)
    np.add.at(expected, ids[ids >= 0], rows[ids >= 0])
    np.testing.assert_allclose(run(tf.unsorted_segment_sum(rows, ids, 6)), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        run(tf.unsorted_segment_sum(rows.reshape(5, 6, *width), ids.reshape(5, 6), 6)), expected, rtol=1e-5, atol=1e-6
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"segment_ids\[29\] = 6 is out of range \[0, 6\)"):
        run(tf.unsorted_segment_sum(rows, np.append(ids[:-1], 6).astype(kind), 6))


@pytest.mark.parametrize("name, scale", [("sum", 1), ("mean", 2), ("sqrt_n", np.sqrt(2))])
@pytest.mark.parametrize("count", [None, 4])
def test_sparse_segments_pick_rows(name, scale, count):
    found = run(getattr(tf, "sparse_segment_" + name)(D, [0, 3, 1], [0, 0, 2], num_segments=count))
    assert len(found) == (count or 3)
    np.testing.assert_allclose(found[:3], [(D[0] + D[3]) / scale, [0] * 3, D[1]])


@pytest.mark.parametrize(
    "build",
    [
        lambda x: tf.segment_sum(x, [0, 0, 2, 2]),
        lambda x: tf.segment_mean(x, [0, 0, 0, 2]),
        lambda x: tf.segment_max(x, [0, 0, 1, 1]),
        lambda x: tf.segment_min(x, [0, 0, 1, 1]),
        lambda x: tf.unsorted_segment_sum(x, [2, 0, -1, 0], 3),
        lambda x: tf.unsorted_segment_prod(x, [2, 0, -1, 0], 3),
        lambda x: tf.unsorted_segment_max(x, [1, 0, -1, 0], 2),
        lambda x: tf.unsorted_segment_mean(x, [2, 0, -1, 0], 3),
        lambda x: tf.sparse_segment_sum(x, [0, 3, 1], [0, 0, 2]),
        lambda x: tf.sparse_segment_mean(x, [0, 3, 1], [0, 0, 2]),
        lambda x: tf.sparse_segment_sqrt_n(x, [0, 3, 1], [0, 0, 2], num_segments=4),
    ],
)
def test_gradients_are_those_of_finite_differences(build):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(D)
        y = build(x)
        shape = session.run(y).shape
        assert tf.test.compute_gradient_error(x, D.shape, y, shape, x_init_value=D, delta=1e-5) < 1e-6


@pytest.mark.parametrize(
    "build, message",
    [
        (lambda: tf.segment_sum(D, [0, 2, 1, 1]), "segment ids are not increasing"),
        (
            lambda: tf.segment_sum(D, [0, 1, 2, 0]),
            r"Segment id 1 out of range \[0, 1\), possibly because 'segment_ids' input is not sorted",
        ),
        (lambda: tf.unsorted_segment_sum(D, [0, 5, 1, 1], 4), r"segment_ids\[1\] = 5 is out of range \[0, 4\)"),
        (lambda: tf.sparse_segment_sum(D, [0, 7, 1], [0, 0, 2]), r"Bad: indices\[1\] == 7 out of range \[0, 4\)"),
        (lambda: tf.sparse_segment_sum(D, [0, 1], [0, 2], num_segments=2), "segment ids must be < num_segments"),
    ],
)
def test_ids_that_make_no_sense(build, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(build())


def test_static_shapes():
    assert tf.segment_sum(D, [0, 0, 1, 1]).shape.as_list() == [None, 3]
    assert tf.unsorted_segment_sum(tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [None]), 2).shape.as_list() == [2, 3]
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 4 and 3"):
        tf.unsorted_segment_sum(D, [0, 1, 2], 3)
