"""tf.contrib.layers: names, values, collections and what scopes give."""

import numpy as np
import pytest

import everflow as tf
from running import run

layers = tf.contrib.layers
IMAGES = np.random.RandomState(0).rand(2, 8, 8, 3).astype(np.float32)


def names(variables):
    return [v.name for v in variables]


def test_a_network_has_tensorflows_names():
    with tf.Graph().as_default():
        regularizer = layers.l2_regularizer(0.1)
        with tf.contrib.framework.arg_scope([layers.conv2d], normalizer_fn=layers.batch_norm, weights_regularizer=regularizer):
            net = layers.conv2d(IMAGES, 4, [3, 3], scope="first", outputs_collections="points")
            net = layers.repeat(net, 2, layers.conv2d, 5, 3, scope="more")
        net = layers.max_pool2d(net, 2)
        net = layers.fully_connected(layers.flatten(net), 6, activation_fn=None)
        assert names(tf.trainable_variables()) == [
            "first/weights:0",
            "first/BatchNorm/beta:0",
            "more/more_1/weights:0",
            "more/more_1/BatchNorm/beta:0",
            "more/more_2/weights:0",
            "more/more_2/BatchNorm/beta:0",
            "fully_connected/weights:0",
            "fully_connected/biases:0",
        ]
        assert len(tf.losses.get_regularization_losses()) == 3 and len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 6
        assert list(tf.contrib.layers.python.layers.utils.convert_collection_to_dict("points")) == ["first"]
        assert tf.get_collection(tf.GraphKeys.MODEL_VARIABLES)[2].name == "first/BatchNorm/moving_mean:0"
        assert run(net).shape == (2, 6)


def test_scopes_are_reused():
    with tf.Graph().as_default():
        first = layers.fully_connected(np.ones((1, 2), np.float32), 3, scope="same")
        again = layers.fully_connected(np.ones((1, 2), np.float32), 3, scope="same", reuse=True)
        assert len(tf.trainable_variables()) == 2
        assert np.array_equal(*run([first, again]))


@pytest.mark.parametrize("shape", [(6, 3), (2, 3, 3), (2, 4, 4, 3)])
def test_batch_norm_normalizes_and_keeps_averages(shape):
    x = np.random.RandomState(1).randn(*shape).astype(np.float32) * 3 + 5
    with tf.Graph().as_default(), tf.Session() as session:
        y = layers.batch_norm(x, decay=0.5, updates_collections=None, scope="bn")
        fixed = layers.batch_norm(x, decay=0.5, is_training=False, scope="bn", reuse=True)
        session.run(tf.global_variables_initializer())
        found = session.run(y).reshape(-1, 3)
        assert np.allclose(found.mean(0), 0, atol=1e-4) and np.allclose(found.std(0), 1, atol=1e-2)
        mean = session.run(tf.global_variables()[1])
        assert np.allclose(mean, 0.5 * x.reshape(-1, 3).mean(0), rtol=1e-4)
        assert not np.allclose(session.run(fixed).reshape(-1, 3).mean(0), 0, atol=0.1)


def test_normalizations_within_examples():
    with tf.Graph().as_default():
        by_layer, by_instance = layers.layer_norm(IMAGES), layers.instance_norm(IMAGES)
        by_group = layers.group_norm(np.tile(IMAGES, [1, 1, 1, 2]), groups=2)
        unit = layers.unit_norm(tf.constant(IMAGES), 3)
        a, b, c, d = run([by_layer, by_instance, by_group, unit])
    assert np.allclose(a.mean((1, 2, 3)), 0, atol=1e-5) and np.allclose(b.mean((1, 2)), 0, atol=1e-5)
    assert np.allclose(c[..., :3].mean((1, 2, 3)), 0, atol=1e-5) and np.allclose((d**2).sum(-1), 1, atol=1e-5)


def test_regularizers():
    x = tf.constant([3.0, -4.0])
    with tf.Session() as session:
        assert session.run(layers.l1_regularizer(0.5)(x)) == 3.5 and session.run(layers.l2_regularizer(0.5)(x)) == 6.25
        assert session.run(layers.l1_l2_regularizer(1.0, 0.5)(x)) == 13.25
        assert session.run(layers.apply_regularization(layers.l2_regularizer(0.5), [x, x])) == 12.5
    assert layers.l2_regularizer(0.0)(x) is None
    with pytest.raises(ValueError, match="scale cannot be an integer"):
        layers.l2_regularizer(1)


def test_shapes_of_other_convolutions():
    with tf.Graph().as_default():
        assert layers.conv2d_transpose(IMAGES, 4, 3, 2).get_shape().as_list() == [2, 16, 16, 4]
        assert layers.separable_conv2d(IMAGES, 5, 3, 2).get_shape().as_list() == [2, 8, 8, 5]
        assert layers.separable_conv2d(IMAGES, None, 3, 2, stride=2).get_shape().as_list() == [2, 4, 4, 6]
        assert layers.conv2d(IMAGES, 4, 3, rate=2, padding="VALID").get_shape().as_list() == [2, 4, 4, 4]
        with pytest.raises(ValueError, match="Convolution expects input with rank 4, got 2"):
            layers.conv2d(np.ones((2, 2), np.float32), 4, 3)


def test_dropout_only_while_training():
    with tf.Graph().as_default():
        training = tf.placeholder(tf.bool, [])
        y = layers.dropout(np.ones((100,), np.float32), 0.5, is_training=training)
        assert set(run(y, {training: True}).tolist()) == {0.0, 2.0} and run(y, {training: False}).min() == 1
