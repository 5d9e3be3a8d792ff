"""Quantized pictures: normalized and resized to TensorFlow's levels."""

import numpy as np

import everflow as tf
from everflow.ops.core.registry import apply
from running import run

PICTURE = np.uint8([0, 50, 100, 250, 7, 30]).reshape(1, 2, 3, 1)


def quantized(levels, dtype=tf.quint8):
    return tf.bitcast(tf.constant(levels), dtype)


def one(level):
    return quantized(np.uint8([level]))


def test_a_picture_is_normalized_by_its_own_statistics():
    y, low, high = apply("QuantizedInstanceNorm", quantized(PICTURE), -1.0, 3.0)
    assert run(tf.bitcast(y, tf.uint8)).reshape(-1).tolist() == [0, 51, 102, 255, 7, 30]
    np.testing.assert_allclose(run([low, high]), [-0.84934235, 2.0660203], rtol=1e-6)


def test_the_range_of_a_normalized_picture_can_be_given_and_has_a_least_width():
    flat = quantized(np.full_like(PICTURE, 7))
    assert [float(v) for v in run(apply("QuantizedInstanceNorm", flat, 0.0, 1.0, min_separation=0.5)[1:])] == [0, 0.5]
    given = apply("QuantizedInstanceNorm", flat, 0.0, 1.0, output_range_given=True, given_y_min=-1.0, given_y_max=2.0)
    assert [float(v) for v in run(given[1:])] == [-1, 2]


def test_a_picture_is_normalized_by_given_statistics():
    attrs = {"variance_epsilon": 0.01, "scale_after_normalization": True, "out_type": tf.qint32}
    statistics = (one(128), -1.0, 1.0, one(200), 0.0, 2.0, one(30), 0.0, 1.0, one(255), 0.0, 2.0)
    y, low, high = apply("QuantizedBatchNormWithGlobalNormalization", quantized(PICTURE), -1.0, 3.0, *statistics, **attrs)
    assert run(tf.bitcast(y, tf.int32)).reshape(-1).tolist() == [-3057, -501, 2056, 9725, -2699, -1523]
    assert run([low, high]) == [-(1 << 20), 1 << 20]


def test_pictures_are_resized_in_fixed_point():
    y, low, high = apply("QuantizedResizeBilinear", quantized(PICTURE), [3, 4], 0.0, 1.0)
    assert y.shape == (1, 3, 4, 1) and run([low, high]) == [0, 1]
    assert run(tf.bitcast(y, tf.uint8)).reshape(3, 4).tolist() == [[0, 38, 75, 100], [166, 57, 38, 54], [250, 68, 19, 30]]
    wide = quantized(np.int32([-1000000007, 5, 2000000011, -77]).reshape(1, 2, 2, 1), tf.qint32)
    y = apply("QuantizedResizeBilinear", wide, [3, 3], 0.0, 1.0)[0]
    rows = [[-999999999, -333333309, 5], [1000000060, 333333300, -49], [2000000000, 666666576, -76]]
    assert run(tf.bitcast(y, tf.int32)).reshape(3, 3).tolist() == rows
