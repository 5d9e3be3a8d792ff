"""Running totals and positions of extremes."""
import numpy as np
import pytest

import everflow as tf

X = np.array([[1.0, 2.0, 3.0], [4.0, -5.0, 0.5]])


def run(build):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build())


@pytest.mark.parametrize("exclusive, reverse, expected", [
    (False, False, [1, 3, 6]), (True, False, [0, 1, 3]), (False, True, [6, 5, 3]), (True, True, [5, 3, 0])])
def test_sums_may_leave_out_the_element_and_run_backwards(exclusive, reverse, expected):
    assert run(lambda: tf.cumsum([1, 2, 3], 0, exclusive, reverse)).tolist() == expected


def test_products_and_logarithms_of_sums():
    assert run(lambda: tf.cumprod([2, 3, 4], exclusive=True)).tolist() == [1, 2, 6]
    np.testing.assert_allclose(run(lambda: tf.math.cumulative_logsumexp(X, 1)), np.log(np.cumsum(np.exp(X), 1)))


@pytest.mark.parametrize("scan", [tf.cumsum, tf.cumprod, tf.math.cumulative_logsumexp])
@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_gradients_are_those_of_finite_differences(scan, axis, exclusive, reverse):
    if scan is tf.math.cumulative_logsumexp and exclusive:
        pytest.skip("the first element is -inf")
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant(X)
        assert tf.test.compute_gradient_error(x, X.shape, scan(x, axis, exclusive, reverse), X.shape, x_init_value=X, delta=1e-5) < 1e-6


def test_an_axis_that_is_not_there():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected scan axis in the range \[-2, 2\), but got 2"):
        run(lambda: tf.cumsum(X, 2))


def test_positions_of_extremes_are_those_of_the_first():
    x = [[1, 7, 7], [9, 0, 0]]
    assert run(lambda: tf.argmax(x, 1)).tolist() == [1, 0]
    assert run(lambda: tf.argmin(x, 1)).tolist() == [0, 1]
    assert run(lambda: tf.argmax(x)).tolist() == [1, 0, 0]
    found = run(lambda: tf.arg_max(x, 0, output_type=tf.int32))
    assert found.dtype == np.int32


def test_argmax_of_nothing_or_of_an_axis_that_is_not_there():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Reduction axis 0 is empty in shape \[0,2\]"):
        run(lambda: tf.argmax(np.zeros((0, 2)), 0))
    with pytest.raises(ValueError, match=r"Dimension \(2\) must be in the range \[-2, 2\)"):
        tf.argmax(tf.zeros([1, 1]), 2)
    with pytest.raises(ValueError, match="Cannot specify both 'dimension' and 'axis'"):
        tf.argmax([1], axis=0, dimension=0)
