"""Clipping of values and norms."""

import numpy as np
import pytest

import everflow as tf
from running import run


def test_values_stay_between_bounds_that_may_broadcast():
    assert run(tf.clip_by_value([-5, 0, 5], -1, 2)).tolist() == [-1, 0, 2]
    assert run(tf.clip_by_value([[1.0, 5.0], [3.0, 4.0]], 2.0, [3.0, 9.0])).tolist() == [[2, 5], [3, 4]]
    with pytest.raises(ValueError, match=r"Shapes \(2,\) and \(2, 2\) are not compatible|are incompatible"):
        tf.clip_by_value(tf.zeros([2]), tf.zeros([2, 2]), 1.0)


def test_norms_are_scaled_down_only():
    assert run(tf.clip_by_norm([3.0, 4.0], 1.0)) == pytest.approx([0.6, 0.8])
    assert run(tf.clip_by_norm([0.3, 0.4], 1.0)) == pytest.approx([0.3, 0.4])
    np.testing.assert_allclose(run(tf.clip_by_norm([[3.0, 4.0], [0.0, 0.5]], 1.0, axes=[1])), [[0.6, 0.8], [0, 0.5]], rtol=1e-6)
    assert run(tf.clip_by_average_norm([3.0, 4.0], 1.0)) == pytest.approx([1.2, 1.6])


def test_a_norm_of_zero_has_a_finite_gradient():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([0.0, 0.0])
        assert np.isfinite(session.run(tf.gradients(tf.clip_by_norm(x, 1.0), x)[0])).all()


def test_a_list_is_scaled_by_its_global_norm():
    with tf.Graph().as_default(), tf.Session() as session:
        slices = tf.IndexedSlices(tf.constant([[4.0]]), tf.constant([2]))
        clipped, norm = tf.clip_by_global_norm([tf.constant([3.0]), None, slices], 2.5)
        assert clipped[1] is None and isinstance(clipped[2], tf.IndexedSlices)
        found = session.run([clipped[0], clipped[2].values, norm])
    assert [f.tolist() for f in found] == [[1.5], [[2.0]], 5.0]


def test_an_infinite_global_norm_shows():
    clipped, norm = run(tf.clip_by_global_norm([tf.constant([np.inf])], 1.0))
    assert np.isnan(clipped[0]).all() and np.isinf(norm)


def test_a_single_tensor_is_no_list():
    with pytest.raises(TypeError, match="t_list should be a sequence"):
        tf.global_norm(tf.constant([1.0]))
