"""Counting integers, histograms, buckets."""

import numpy as np
import pytest

import everflow as tf
from running import run


def test_bincount_counts_or_sums_weights():
    assert run(tf.bincount([1, 1, 3])).tolist() == [0, 2, 0, 1]
    assert run(tf.bincount([1, 1, 3], weights=[0.5, 1.0, 2.0], minlength=5)).tolist() == [0, 1.5, 0, 2, 0]
    assert run(tf.bincount([1, 1, 3], maxlength=2, dtype=tf.float64)).tolist() == [0, 2]
    assert run(tf.bincount(np.zeros(0, np.int32))).tolist() == []
    with pytest.raises(tf.errors.InvalidArgumentError, match="Input arr must be non-negative!"):
        run(tf.bincount([-1, 1]))


def test_histograms_count_what_is_outside_with_the_nearest_bin():
    values, bounds = [-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0]
    assert run(tf.histogram_fixed_width(values, bounds, nbins=5)).tolist() == [2, 1, 1, 0, 2]
    assert run(tf.histogram_fixed_width_bins(values, bounds, nbins=5)).tolist() == [0, 0, 1, 2, 4, 4]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"value_range\[0\] < value_range\[1\], but got '\[5, 0\]'"):
        run(tf.histogram_fixed_width(values, [5.0, 0.0]))
    with pytest.raises(ValueError, match="Requires nbins > 0: -5"):
        tf.histogram_fixed_width(values, bounds, nbins=-5)


def test_buckets_are_closed_on_the_left():
    from everflow.ops.math.counting import bucketize

    assert run(bucketize([-1.0, 1.0, 1.5, 2.0, 9.0], [1.0, 2.0])).tolist() == [0, 1, 1, 2, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected sorted boundaries"):
        run(bucketize([1.0], [2.0, 1.0]))
