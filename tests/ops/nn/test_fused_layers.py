"""Layers as TensorFlow's graph optimizer leaves them in graphs."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.core.registry import apply
from running import run

IMAGES = np.arange(32, dtype=np.float32).reshape(1, 4, 4, 2) - 16
FILTER = (np.arange(24, dtype=np.float32).reshape(2, 2, 2, 3) - 12) / 8
VECTOR = np.array([1, 2, 3], np.float32)


def convolved(fused_ops, *args, **attrs):
    return apply("_FusedConv2D", IMAGES, FILTER, args, strides=[1, 2, 2, 1], padding="SAME", fused_ops=fused_ops, name="layer", **attrs)


def test_a_fused_product_adds_its_bias_and_rectifies():
    product = apply("_FusedMatMul", [[1.0, 2.0]], [[1.0, -3.0], [2.0, -1.0]], [[1.0, 2.0]], fused_ops=["BiasAdd", "Relu"], name="layer")
    assert product.shape == (1, 2) and run(product).tolist() == [[6, 0]]


@pytest.mark.parametrize("name, function", [("Relu", tf.nn.relu), ("Relu6", tf.nn.relu6), ("Elu", tf.nn.elu)])
def test_a_fused_convolution_is_what_its_parts_are(name, function):
    plain = tf.nn.conv2d(IMAGES, FILTER, [1, 2, 2, 1], "SAME")
    normalized = (plain - VECTOR) * tf.rsqrt(VECTOR + 0.01) * VECTOR + VECTOR
    with_bias, batch_norm = convolved(["BiasAdd", name], VECTOR), convolved(["FusedBatchNorm", name], *[VECTOR] * 4, epsilon=0.01)
    assert with_bias.shape == plain.shape
    np.testing.assert_allclose(run(with_bias), run(function(plain + VECTOR)), rtol=1e-5)
    np.testing.assert_allclose(run(batch_norm), run(function(normalized)), rtol=1e-4, atol=1e-4)


def test_what_tensorflow_does_not_fuse_is_refused():
    with pytest.raises(tf.errors.UnimplementedError, match=r"Fusion is not implemented: \[BiasAdd,Tanh\]\n.*node layer"):
        run(convolved(["BiasAdd", "Tanh"], VECTOR))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Fused Conv2D with BiasAdd must have one extra argument: bias"):
        run(convolved(["BiasAdd"], VECTOR, VECTOR))


def test_a_normalized_batch_takes_what_is_added_and_rectifies():
    ones, nothing = np.ones(2, np.float32), np.zeros(0, np.float32)
    plain = tf.nn.fused_batch_norm(IMAGES, ones, ones)[0]
    found = apply("_FusedBatchNormEx", IMAGES, ones, ones, nothing, nothing, [IMAGES], activation_mode="Relu", epsilon=0.001, name="layer")
    np.testing.assert_allclose(run(found[0]), np.maximum(run(plain) + IMAGES, 0), rtol=1e-5)
