"""Crops as graphs of TensorFlow's first versions drew them."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.core.registry import apply

IMAGE = np.arange(60, dtype=np.float32).reshape(5, 4, 3)


def test_random_crops_are_tensorflows(session):
    crop = apply("RandomCrop", IMAGE, tf.constant([2, 2], tf.int64), seed=1, seed2=2)
    assert crop.shape == (2, 2, 3)
    assert [session.run(crop)[0, 0, 0] for _ in range(6)] == [42, 30, 42, 42, 12, 27]
    rows = apply("RandomCrop", IMAGE, tf.constant([2, 4], tf.int64), seed=1, seed2=2)
    assert [session.run(rows)[0, 0, 0] / 12 for _ in range(6)] == [3, 3, 1, 2, 0, 3]


def test_a_crop_is_no_larger_than_the_image(session):
    with pytest.raises(tf.errors.FailedPreconditionError, match="height must be >= target_height: height = 5, target_height = 6"):
        session.run(apply("RandomCrop", IMAGE, tf.constant([6, 4], tf.int64)))
