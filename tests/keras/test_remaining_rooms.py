"""Random features, frozen normalization, cells and wrappers in seldom used ways; values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest

import everflow as tf
from everflow.keras.kernels_of_vectors import exact_gaussian_kernel, exact_laplacian_kernel, inner_product
from everflow.keras.layers.kernelized import RandomFourierFeatures

K, L, keras = tf.keras.backend, tf.keras.layers, tf.keras


def test_weights_of_random_features(graph):
    tf.set_random_seed(1)
    layer = RandomFourierFeatures(3, name="r")
    features = layer(tf.constant([[1.0, 2.0]]))
    assert [w.name for w in layer.weights] == ["r/random_features_scale:0", "r/unscaled_random_features:0", "r/random_features_bias:0"]
    assert layer.get_config() == {
        "name": "r",
        "trainable": False,
        "dtype": "float32",
        "output_dim": 3,
        "kernel_initializer": "gaussian",
        "scale": 1.0,
    }
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(features), [[-0.874005, 0.7931204, -0.9447118]], rtol=1e-5)


@pytest.mark.parametrize("kernel, exact", [("gaussian", exact_gaussian_kernel), ("laplacian", exact_laplacian_kernel)])
def test_products_of_random_features_come_near_to_the_kernel(eager, kernel, exact):
    np.random.seed(1)
    tf.set_random_seed(1)
    x, y = (tf.constant(np.random.rand(4, 3), tf.float32) for _ in range(2))
    layer = RandomFourierFeatures(4000, kernel, scale=5.0)
    np.testing.assert_allclose(inner_product(layer(x), layer(y)) * 2 / 4000, exact(x, y, 5.0), atol=0.05)


@pytest.mark.parametrize(
    "made, why",
    [
        (lambda: RandomFourierFeatures(0), "`output_dim` should be a positive integer. Given: 0."),
        (lambda: RandomFourierFeatures(3, "x"), r"Unsupported kernel type: 'x'. Supported kernel types: \['gaussian', 'laplacian'\]."),
        (lambda: RandomFourierFeatures(3, scale=0.0), "When provided, `scale` should be a positive float. Given: 0.0."),
        (lambda: RandomFourierFeatures(3)(tf.ones((2, 2, 2))), "The rank of the input tensor should be 2. Got 3 instead."),
        (
            lambda: RandomFourierFeatures(3).compute_output_shape((3, None)),
            "The innermost dimension of input shape must be defined. Given: ",
        ),
    ],
)
def test_random_features_that_are_refused(made, why):
    with pytest.raises(ValueError, match=why):
        made()


def test_normalization_that_is_frozen_later_stays_as_it_is(eager):
    normalization = tf.compat.v2.keras.layers.BatchNormalization(input_shape=(3,))
    model = keras.Sequential([normalization])
    x, y = np.random.RandomState(0).rand(2, 10, 3).astype(np.float32)
    for trainable in (True, False, True):
        normalization.trainable = trainable
        model.compile("sgd", "mse")
        tested, before = model.test_on_batch(x, y), normalization.moving_mean.numpy()
        assert bool(abs(model.train_on_batch(x, y) - tested) < 1e-5) is not trainable
        assert bool((normalization.moving_mean.numpy() == before).all()) is not trainable


class Sums:
    """A cell that is no layer."""

    state_size = output_size = 2

    def call(self, x, states):
        total = states[0] + x
        return total, [total]


def test_cells_that_are_no_layers():
    x = keras.Input((None, 2))
    model = keras.Model(x, L.RNN(Sums())(x))
    assert model.predict(np.ones((1, 3, 2))).tolist() == [[3, 3]]


class Pair(L.Layer):
    """A cell with two inputs and states."""

    state_size = output_size = (tf.TensorShape([2]), tf.TensorShape([3]))

    def build(self, shapes):
        assert [list(s) for s in shapes] == [[None, 2], [None, 3]]
        super().build(shapes)

    def call(self, inputs, states):
        sums = tuple(x + s for x, s in zip(inputs, states))
        return sums, sums


def test_nested_inputs_with_states_that_layers_made():
    x, y, a, b = keras.Input((5, 2)), keras.Input((5, 3)), keras.Input((2,)), keras.Input((3,))
    model = keras.Model([x, y, a, b], L.RNN(Pair())((x, y), initial_state=(a, b)))
    found = model.predict([np.ones((1, 5, 2)), np.ones((1, 5, 3)), np.ones((1, 2)), np.zeros((1, 3))])
    assert [f.tolist() for f in found] == [[[6, 6]], [[5, 5, 5]]]


def test_cells_with_constants_are_built_for_a_step():
    seen = []

    class Cell(L.Layer):
        state_size = 3

        def build(self, shape):
            seen.append(tuple(shape))
            super().build(shape)

        def call(self, x, states, constants):
            return states[0] + constants[0], [states[0] + constants[0]]

    L.RNN(Cell())(keras.Input((None, 4)), constants=keras.Input((3,)))
    assert seen == [(None, 4)]


def test_both_directions_regularize_what_they_give():
    x = keras.Input((3, 2))
    layer = L.Bidirectional(L.SimpleRNN(3, kernel_regularizer="l1", activity_regularizer="l1"))
    layer(x)
    assert [len(layer.losses), len(layer.get_losses_for(x))] == [4, 2]


def test_layers_in_steps_have_masks_of_their_own():
    x = keras.Input((5, 3))
    assert L.TimeDistributed(L.Masking()).compute_mask(x).shape.as_list()[:2] == [None, 5]
    assert L.TimeDistributed(L.Masking()).compute_mask(tf.ones((2, 5, 3))) is None


def test_models_that_need_more_than_inputs():
    class Sum(keras.Model):
        def call(self, x, y, z=None):
            return x + y

    model = Sum()
    model.compile("sgd", "mse")
    for method in ("fit", "evaluate", "train_on_batch", "test_on_batch"):
        with pytest.raises(ValueError, match=rf"Models passed to `{method}` can only have `training` .*, found: \['y'\]."):
            getattr(model, method)(np.ones((2, 1)), np.ones((2, 1)))
    with pytest.raises(ValueError, match="Currently, you cannot build your model if it has positional"):
        model.build((2, 3))


def test_models_that_want_numbers_of_rows_cannot_be_built_from_shapes():
    class Rows(keras.Model):
        def call(self, x):
            return tf.gather(tf.ones((5, 2)), x)

    with pytest.raises(ValueError, match="if your layers do not support float type inputs"):
        Rows().build((2, 3))


def test_weights_without_a_name():
    class Scaled(keras.Model):
        def build(self, shape):
            self.w = self.add_weight(shape=shape[-1:], initializer="ones")

        def call(self, x):
            return x * self.w

    model = Scaled()
    model(keras.Input((10,)))
    assert [w.name for w in model.weights] == ["scaled/Variable:0"]


@pytest.mark.parametrize("name", ["BatchNormalizationV1", "BatchNormalizationV2"])
def test_models_of_earlier_versions_name_layers_otherwise(name):
    assert type(L.deserialize({"class_name": name, "config": {"momentum": 0.5}})) is L.BatchNormalization
