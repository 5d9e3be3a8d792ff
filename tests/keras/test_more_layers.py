"""Locally connected layers and attention."""

import numpy as np
import pytest

import everflow as tf
from everflow.keras.backend.values import is_placeholder
from everflow.keras.kernel_masks import conv_kernel_mask

pytestmark = pytest.mark.usefixtures("session")

layers = tf.keras.layers


def value(t):
    tf.get_default_session().run(tf.global_variables_initializer())
    return tf.get_default_session().run(t)


@pytest.mark.parametrize("implementation", [1, 2, 3])
@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_each_place_has_its_own_kernel(implementation, data_format):
    x = np.arange(10, dtype=np.float32).reshape(1, 5, 2)
    layer = layers.LocallyConnected1D(3, 2, strides=3, implementation=implementation, data_format=data_format, kernel_initializer="ones")
    y = value(layer(tf.constant(x if data_format == "channels_last" else x.transpose(0, 2, 1))))
    assert (y if data_format == "channels_last" else y.transpose(0, 2, 1)).tolist() == [[[6.0] * 3, [30.0] * 3]]
    assert {1: (2, 4, 3), 3: (24,)}.get(implementation, (0,))[0] in (0, layer.kernel.shape.as_list()[0])


def test_windows_of_images_do_not_share():
    layer = layers.LocallyConnected2D(1, 2, implementation=1, use_bias=False)
    y = layer(tf.ones([1, 3, 3, 1]))
    value(y)
    kernel = np.arange(16, dtype=np.float32).reshape(4, 4, 1)
    layer.set_weights([kernel])
    assert tf.get_default_session().run(y).ravel().tolist() == kernel.sum(axis=(1, 2)).tolist()
    with pytest.raises(ValueError, match='only "valid" is supported if implementation is 1'):
        layers.LocallyConnected2D(1, 2, padding="same")
    with pytest.raises(ValueError, match="should be fully-defined"):
        layers.LocallyConnected2D(1, 2)(tf.placeholder(tf.float32, [None, None, 3, 1]))


def test_masks_say_which_inputs_an_output_sees():
    assert conv_kernel_mask((4,), 3, 1, "valid").astype(int).T.tolist() == [[1, 1, 1, 0], [0, 1, 1, 1]]
    assert conv_kernel_mask((3,), 3, 2, "same").astype(int).T.tolist() == [[1, 1, 0], [0, 1, 1]]
    with pytest.raises(NotImplementedError, match="Padding type full not supported"):
        conv_kernel_mask((4,), 3, 1, "full")


def test_attention_weighs_values():
    q, v = np.array([[[1.1]]], np.float32), np.array([[[1.6], [0.7], [-0.8]]], np.float32)
    weights = np.exp([1.76, 0.77]) / np.exp([1.76, 0.77]).sum()
    y = layers.Attention()([tf.constant(q), tf.constant(v)], mask=[None, tf.constant([[True, True, False]])])
    assert value(y).ravel() == pytest.approx([weights @ [1.6, 0.7]], rel=1e-5)
    additive = layers.AdditiveAttention(use_scale=False)([tf.constant(q), tf.constant(v)])
    scores = np.exp(np.tanh(1.1 + v.ravel()))
    assert value(additive).ravel() == pytest.approx([scores @ v.ravel() / scores.sum()], rel=1e-5)


def test_causal_attention_sees_the_past():
    x = tf.constant(np.eye(3, dtype=np.float32)[None])
    layer = layers.Attention(causal=True, use_scale=True)
    y = value(layer([x, x]))[0]
    assert y[0].tolist() == [1.0, 0.0, 0.0] and y[1][2] == 0.0 and (y[2] > 0).all()
    assert layer.get_config()["causal"] is True and layer.weights[0].name == "attention/scale:0"
    with pytest.raises(ValueError, match="accepts inputs list of length 2 or 3"):
        layer([x])


def test_variables_of_a_function_belong_to_its_layer():
    layer = layers.Lambda(lambda x: x * tf.Variable(2.0, name="factor"))
    y = layer(tf.ones([1])) + layer(tf.ones([1]))
    assert [w.name for w in layer.trainable_weights] == ["lambda/factor:0"] and value(y).tolist() == [4.0]


def test_functions_may_say_shapes_and_masks():
    two = layers.Lambda(lambda x: x, output_shape=[(3,), (4,)])
    assert [s.as_list() for s in two.compute_output_shape([(5, 1), (5, 2)])] == [[5, 3], [5, 4]]
    same = layers.Lambda(lambda x: x, output_shape=lambda s: s, mask=lambda x, m: m)
    assert [s.as_list() for s in same.compute_output_shape([(5, 1), (5, 2)])] == [[5, 1], [5, 2]]
    again = layers.Lambda.from_config(same.get_config())
    assert again.mask(1, "seen") == "seen" and again.supports_masking


def test_what_only_subclasses_know():
    merge = type("Merge", (layers.Add.__mro__[1],), {})
    with pytest.raises(NotImplementedError):
        merge()([tf.keras.Input((2,)), tf.keras.Input((2,))])


def test_tensors_that_are_fed_are_known():
    assert is_placeholder(tf.keras.backend.placeholder((2,))) and not is_placeholder(tf.zeros(2)) and not is_placeholder(3)
