"""Layers that learn from data before training."""

import numpy as np
import pytest

import everflow as tf
from everflow.keras.adapting import Combiner, CombinerPreprocessingLayer, PreprocessingLayer


class Largest(Combiner):
    """The largest number seen."""

    def compute(self, batch_values, accumulator=None):
        found = np.max(batch_values)
        return found if accumulator is None else self.merge([found, accumulator])

    def merge(self, accumulators):
        return max(accumulators)

    def extract(self, accumulator):
        return {"top": [accumulator]}

    def restore(self, output):
        return output["top"][0]


class Scaled(CombinerPreprocessingLayer):
    """Inputs divided by the largest number of the data."""

    def __init__(self):
        super().__init__(combiner=Largest())

    def build(self, input_shape):
        super().build(input_shape)
        self.top = self._add_state_variable("top", (1,), tf.float32, tf.ones_initializer)

    def call(self, inputs):
        return inputs / self.top


@pytest.fixture(params=["graph", "eager"])
def mode(request):
    with tf.Graph().as_default() if request.param == "graph" else tf.python.eager.context.eager_mode():
        yield request.param


def test_arrays_and_datasets_give_the_state(mode):
    layer = Scaled()
    layer.adapt(np.array([1.0, 8.0, 3.0]))
    assert layer.built and layer.get_weights()[0].tolist() == [8]
    layer.adapt(tf.data.Dataset.from_tensor_slices(np.array([[2.0], [4.0]])))
    assert layer.get_weights()[0].tolist() == [4]


def test_a_model_uses_the_state_that_is_adapted_after_it_was_made(mode):
    layer = Scaled()
    inputs = tf.keras.Input(shape=(1,))
    model = tf.keras.Model(inputs, layer(inputs))
    assert model.predict(np.array([[8.0]])).tolist() == [[8]]
    layer.adapt(np.array([4.0]))
    assert model.predict(np.array([[8.0]])).tolist() == [[2]]
    layer.adapt(np.array([1.0]), reset_state=False)
    assert model.predict(np.array([[8.0]])).tolist() == [[2]]
    assert layer.trainable_weights == []


def test_what_cannot_be_adapted_to_is_said(mode):
    layer = Scaled()
    with pytest.raises(ValueError, match="requires a Dataset or a Numpy array as input, got <class 'list'>"):
        layer.adapt([1, 2])
    with pytest.raises(ValueError, match="has an infinite number of elements"):
        layer.adapt(tf.data.Dataset.range(3).repeat())
    with pytest.raises(RuntimeError, match="must be called after build"):
        layer._set_state_variables({"top": [1]})
    layer.build((1,))
    with pytest.raises(KeyError, match="bottom"):
        layer._set_state_variables({"bottom": [1]})


def test_the_first_batch_of_a_dataset_says_what_is_built(mode):
    class Noting(Scaled):
        def build(self, input_shape):
            super().build(input_shape)
            self.shape = input_shape

    layer = Noting()
    layer.adapt(tf.data.Dataset.from_tensor_slices(np.ones((3, 2), np.float32)).batch(2))
    assert tuple(layer.shape) == (2, 2)


def test_a_layer_without_combiner_takes_no_notice():
    assert PreprocessingLayer().adapt(1) is None
    with pytest.raises(NotImplementedError, match="compute"):
        Combiner().compute(1)
    assert repr(Largest()) == "<Largest>"
