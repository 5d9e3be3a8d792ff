"""Running totals and positions of extremes."""

import numpy as np
import pytest

import everflow as tf
from running import run

X = np.array([[1.0, 2.0, 3.0], [4.0, -5.0, 0.5]])


@pytest.mark.parametrize(
    "exclusive, reverse, expected", [(False, False, [1, 3, 6]), (True, False, [0, 1, 3]), (False, True, [6, 5, 3]), (True, True, [5, 3, 0])]
)
def test_sums_may_leave_out_the_element_and_run_backwards(exclusive, reverse, expected):
    assert run(tf.cumsum([1, 2, 3], 0, exclusive, reverse)).tolist() == expected


def test_products_and_logarithms_of_sums():
    assert run(tf.cumprod([2, 3, 4], exclusive=True)).tolist() == [1, 2, 6]
    np.testing.assert_allclose(run(tf.math.cumulative_logsumexp(X, 1)), np.log(np.cumsum(np.exp(X), 1)))


@pytest.mark.parametrize(
    "scan, exclusive",
    [(tf.cumsum, False), (tf.cumsum, True), (tf.cumprod, False), (tf.cumprod, True), (tf.math.cumulative_logsumexp, False)],
)
@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("reverse", [False, True])
def test_gradients_are_those_of_finite_differences(scan, exclusive, axis, reverse):
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant(X)
        y = scan(x, axis, exclusive, reverse)
        assert tf.test.compute_gradient_error(x, X.shape, y, X.shape, x_init_value=X, delta=1e-5) < 1e-6


def test_the_logarithm_of_an_empty_sum_is_the_lowest_number():
    assert run(tf.math.cumulative_logsumexp([1.0, 2.0], exclusive=True)).tolist() == [np.finfo("float32").min, 1]


def test_an_axis_that_is_not_there():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected scan axis in the range \[-2, 2\), but got 2"):
        run(tf.cumsum(X, 2))


def test_positions_of_extremes_are_those_of_the_first():
    x = [[1, 7, 7], [9, 0, 0]]
    assert run(tf.argmax(x, 1)).tolist() == [1, 0]
    assert run(tf.argmin(x, 1)).tolist() == [0, 1]
    assert run(tf.argmax(x)).tolist() == [1, 0, 0]
    found = run(tf.arg_max(x, 0, output_type=tf.int32))
    assert found.dtype == np.int32


def test_argmax_of_nothing_or_of_an_axis_that_is_not_there():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Reduction axis 0 is empty in shape \[0,2\]"):
        run(tf.argmax(np.zeros((0, 2)), 0))
    with pytest.raises(ValueError, match=r"Dimension \(2\) must be in the range \[-2, 2\)"):
        tf.argmax(tf.zeros([1, 1]), 2)
    with pytest.raises(ValueError, match="Cannot specify both 'dimension' and 'axis'"):
        tf.argmax([1], axis=0, dimension=0)


def test_the_largest_and_the_smallest_number_are_no_nan():
    x = np.array([[np.nan, 1.0, -2.0], [np.nan, np.nan, np.nan], [3.0, np.nan, np.nan]], np.float32)
    assert run(tf.argmax(x, 1)).tolist() == [1, 0, 0]
    assert run(tf.argmin(x, 1)).tolist() == [2, 0, 0]
    assert run(tf.argmin(x, 0)).tolist() == [2, 0, 0]
