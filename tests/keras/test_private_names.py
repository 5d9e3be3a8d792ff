"""Programs keep what they like in attributes that begin with one underscore."""

import numpy as np

import everflow as tf


class Layer(tf.keras.layers.Layer):
    def __init__(self, **others):
        super().__init__(**others)
        self._arguments, self._called, self._track, self._hold, self._at, self._only = {}, 1, 2, 3, 4, 5

    def build(self, shape):
        self.w = self.add_weight("w", shape=np.array([int(shape[-1]), 2]))
        self.b = self.add_weight("b", shape=np.array([], np.int32))
        super().build(shape)

    def call(self, x):
        return tf.matmul(x, self.w) + self.b


def test_layers_and_models_do_not_use_names_that_programs_do():
    model = tf.keras.Sequential([Layer(input_shape=[3])])
    model._step = 1
    model.compile("sgd", "mse")
    assert list(model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0).history) == ["loss"]
    assert [w.shape.as_list() for w in model.weights] == [[3, 2], []]
