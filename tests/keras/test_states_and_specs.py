"""States of recurrent layers that are reset, and inputs that layers say they take; values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest

import everflow as tf

layers = tf.keras.layers


def test_resetting_a_layer_for_both_directions_resets_each():
    keras = tf.keras.backend
    layer = layers.Bidirectional(layers.SimpleRNN(2, stateful=True))
    layer(layers.Input(batch_shape=(1, 2, 1)))
    states = [direction.states[0] for direction in (layer.forward_layer, layer.backward_layer)]
    for state in states:
        keras.set_value(state, np.full((1, 2), 5.0))
    layer.reset_states()
    assert [keras.get_value(state).tolist() for state in states] == [[[0.0, 0.0]]] * 2


class Picky(layers.Layer):
    """A layer that takes one shape only."""

    def __init__(self, shape):
        super().__init__(name="picky")
        self.input_spec = tf.keras.layers.InputSpec(shape=shape)

    def call(self, inputs):
        return inputs


@pytest.mark.parametrize("shape", [(None, 3), tf.TensorShape([None, 3])])
def test_a_shape_that_a_layer_asks_for_is_held(shape):
    assert Picky(shape)(tf.zeros([2, 3])).shape.as_list() == [2, 3]
    with pytest.raises(ValueError, match=r"Input 0 is incompatible with layer picky: expected shape=.*3.*, found shape=\[2, 4\]"):
        Picky(shape)(tf.zeros([2, 4]))


@pytest.mark.parametrize("call", ["fit", "evaluate"])
def test_models_with_states_take_whole_batches_only(call):
    x = layers.Input(batch_shape=(2, 2, 1))
    model = tf.keras.Model(x, layers.SimpleRNN(1, stateful=True)(x))
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="In a stateful network, you should only pass inputs with a number of samples"):
        getattr(model, call)(np.zeros((3, 2, 1)), np.zeros((3, 1)), batch_size=2, verbose=0)
