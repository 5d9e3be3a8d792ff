"""Reductions over axes, their gradients and errors."""

import numpy as np
import pytest

import everflow as tf
from running import run

X = np.array([[[1.0, -2.0, 3.0], [0.5, 2.5, -1.0]], [[4.0, 0.2, -0.3], [1.5, -1.5, 2.0]]])
REDUCTIONS = {"sum": np.sum, "mean": np.mean, "prod": np.prod, "max": np.max, "min": np.min}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (2, 1), ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions_are_numpys(name, axis, keepdims):
    given = np.array(axis, np.int32) if isinstance(axis, tuple) else axis
    found = run(getattr(tf, "reduce_" + name)(X, given, keepdims=keepdims))
    np.testing.assert_allclose(found, REDUCTIONS[name](X, axis=axis, keepdims=keepdims), rtol=1e-12)


@pytest.mark.parametrize("name", [*REDUCTIONS, "logsumexp"])
@pytest.mark.parametrize("axis", [None, 1, [0, 2]])
@pytest.mark.parametrize("known", [True, False])
def test_gradients_are_those_of_finite_differences(name, axis, known):
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant(X) if known else tf.placeholder_with_default(X, None)
        y = getattr(tf, "reduce_" + name)(x, axis)
        shape = np.sum(X, axis=tuple(axis) if isinstance(axis, list) else axis).shape
        assert tf.test.compute_gradient_error(x, X.shape, y, shape, x_init_value=X, delta=1e-5) < 1e-6


def test_the_gradient_of_a_product_does_not_mind_zeros():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([[2.0, 0.0, 3.0], [0.0, 0.0, 5.0]])
        assert session.run(tf.gradients(tf.reduce_prod(x, 1), x)[0]).tolist() == [[0, 6, 0], [0, 0, 0]]


def test_equal_extremes_share_the_gradient():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([1.0, 3.0, 3.0])
        assert session.run(tf.gradients(tf.reduce_max(x), x)[0]).tolist() == [0, 0.5, 0.5]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "int64"])
def test_integers_stay_what_they_are(dtype):
    x = np.array([[1, 2], [3, 5]], dtype)
    for name, expected in (("sum", 11), ("prod", 30), ("max", 5), ("min", 1), ("mean", 2)):
        found = run(getattr(tf, "reduce_" + name)(x))
        assert found == expected and found.dtype == dtype


def test_the_mean_of_negative_integers_is_rounded_towards_zero():
    assert run(tf.reduce_mean([-1, -2, -4])) == -2


def test_reducing_nothing():
    nothing = np.zeros((0, 3), np.float32)
    assert run(tf.reduce_sum(nothing, 0)).tolist() == [0, 0, 0]
    assert run(tf.reduce_prod(nothing, 0)).tolist() == [1, 1, 1]
    assert run(tf.reduce_max(nothing, 0)).tolist() == [-np.inf] * 3
    assert run(tf.reduce_min(nothing.astype(np.int32), 0)).tolist() == [2**31 - 1] * 3
    assert run(tf.reduce_max(nothing, 1)).shape == (0,)


def test_booleans():
    x = np.array([[True, False], [True, True]])
    assert run(tf.reduce_all(x, 1)).tolist() == [False, True]
    assert run(tf.reduce_any(~x, 0)).tolist() == [False, True]


def test_logsumexp_neither_overflows_nor_loses_infinities():
    assert run(tf.reduce_logsumexp([1000.0, 1000.0])) == pytest.approx(1000 + np.log(2))
    assert run(tf.reduce_logsumexp([-np.inf, -np.inf])) == -np.inf


def test_norm_variance_and_counts():
    assert run(tf.math.reduce_euclidean_norm([3.0, 4.0])) == 5
    np.testing.assert_allclose(run(tf.math.reduce_variance(X, 0)), X.var(0))
    np.testing.assert_allclose(run(tf.math.reduce_std(X)), X.std())
    assert run(tf.count_nonzero([[0, 3], [1, 1]], axis=1)).tolist() == [1, 2]
    assert run(tf.count_nonzero(["", "a", "b"])) == 2


def test_axes_that_are_not_there():
    with pytest.raises(ValueError, match="Invalid reduction dimension 2 for input with 2 dimensions"):
        tf.reduce_sum(tf.zeros([2, 2]), 2)
    with tf.Graph().as_default(), tf.Session() as session:
        axis = tf.placeholder(tf.int32)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Invalid reduction dimension \(-3 for input with 2 dimension"):
            session.run(tf.reduce_sum(tf.zeros([2, 2]), axis), {axis: [-3]})


def test_static_shapes():
    x = tf.placeholder(tf.float32, [None, 3])
    assert tf.reduce_sum(x, 0).shape.as_list() == [3]
    assert tf.reduce_sum(x, 1, keepdims=True).shape.as_list() == [None, 1]
    assert tf.reduce_sum(x, tf.placeholder(tf.int32), keepdims=True).shape.as_list() == [None, None]
    assert tf.reduce_sum(tf.placeholder(tf.float32)).shape.as_list() == []


def test_old_argument_names_still_work_but_not_beside_the_new():
    assert run(tf.reduce_sum([[1, 2]], reduction_indices=1, keep_dims=True)).tolist() == [[3]]
    with pytest.raises(ValueError, match="Cannot specify both 'reduction_indices' and 'axis'"):
        tf.reduce_sum([1], axis=0, reduction_indices=0)


def test_a_reduction_over_all_axes_makes_two_ops():
    with tf.Graph().as_default() as graph:
        tf.reduce_mean(tf.placeholder(tf.float32, [2, 3], name="x"))
    assert [(op.name, op.type) for op in graph.get_operations()] == [("x", "Placeholder"), ("Const", "Const"), ("Mean", "Mean")]
