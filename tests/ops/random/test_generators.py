"""Random numbers whose state is a variable, and other random ops."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf
from everflow.ops.random.truncated_normals import parameterized_truncated_normal


def numbers(*make):
    with tf.Graph().as_default(), tf.Session() as session:
        g = tf.random.experimental.Generator.from_seed(7)
        session.run(tf.global_variables_initializer())
        return [session.run(m(g)) for m in make], session.run(g.state)


def test_the_numbers_are_those_of_tensorflow():
    (one, three, uniform, integers, full), state = numbers(
        lambda g: g.normal([]),
        lambda g: g.normal([3]),
        lambda g: g.uniform([2], dtype=tf.float64),
        lambda g: g.uniform([2], minval=1, maxval=100, dtype=tf.int32),
        lambda g: g.uniform_full_int([1]),
    )
    np.testing.assert_allclose(one, -1.3240395784, rtol=1e-6)
    np.testing.assert_allclose(three, [-0.8142256737, -0.5233668089, 0.5289494396], rtol=1e-6)
    assert uniform.shape == (2,) and ((integers >= 1) & (integers < 100)).all() and full.dtype == np.uint64
    assert state.tolist() == [7 + 256 * 9, 0, 0]


def test_a_generator_goes_on_and_can_go_back():
    with tf.Graph().as_default(), tf.Session() as session:
        g = tf.random.experimental.Generator.from_seed(3)
        draw = g.uniform([4])
        session.run(tf.global_variables_initializer())
        first, second = session.run(draw), session.run(draw)
        assert (first != second).any()
        session.run(g.reset_from_seed(3).op)
        np.testing.assert_array_equal(session.run(draw), first)
        session.run(g.reset_from_seed(3).op)
        session.run(g.skip(4))
        np.testing.assert_array_equal(session.run(draw), second)


def test_binomial_numbers_have_their_mean():
    (drawn,), _ = numbers(lambda g: g.binomial([20000], counts=10.0, probs=0.3))
    assert drawn.dtype == np.int32 and abs(drawn.mean() - 3.0) < 0.06 and drawn.max() <= 10


def test_what_is_no_state():
    with pytest.raises(ValueError, match=r"Shapes \(2,\) and \[3\] are incompatible"):
        tf.random.experimental.Generator.from_state([1, 2], alg=1)
    with pytest.raises(ValueError, match="Unsupported algorithm id: 123"):
        tf.random.experimental.Generator.from_seed(1, alg=123)


@pytest.mark.parametrize(("low", "high"), [(-2.0, 2.0), (4.0, np.inf), (-np.inf, -4.0), (40.0, 41.0), (0.05, 0.1)])
def test_normal_numbers_between_bounds(low, high):
    from scipy import stats

    with tf.Session() as session:
        drawn = session.run(parameterized_truncated_normal([20000], 0.0, 1.0, low, high, dtype=tf.float64, seed=1))
    assert drawn.min() >= low and drawn.max() <= high
    if low < 40:
        assert stats.kstest(drawn, stats.truncnorm(low, high).cdf).pvalue > 1e-4


def test_random_integers_need_something_to_choose_from():
    with tf.Session() as session:
        assert session.run(tf.random_uniform([3, 0], 0, 0, tf.int32)).shape == (3, 0)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Need minval < maxval, got 0 >= 0"):
            session.run(tf.random_uniform([1], 0, 0, tf.int32))
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
        tf.random_uniform([1], [1, 2], 3, tf.int32)
