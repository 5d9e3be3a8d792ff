"""Models: layers that follow each other, layers that are connected, and programs' own."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.context import eager_mode

layers = tf.keras.layers


def table_of(model):
    lines = []
    model.summary(print_fn=lines.append)
    return lines


def test_layers_follow_each_other():
    model = tf.keras.Sequential([layers.Dense(3, input_shape=(4,), activation="relu"), layers.Dense(2)])
    assert [w.name for w in model.weights] == ["dense/kernel:0", "dense/bias:0", "dense_1/kernel:0", "dense_1/bias:0"]
    assert model.output_shape == (None, 2) and [layer.name for layer in model.layers] == ["dense", "dense_1"]
    y = model(tf.placeholder(tf.float32, [5, 4]))
    assert y.shape == (5, 2) and y.name == "sequential/dense_1/BiasAdd:0"
    lines = table_of(model)
    assert lines[0] == 'Model: "sequential"' and lines[4] == "dense (Dense)                (None, 3)                 15        "
    assert "Total params: 23" in lines
    model.pop()
    assert model.output_shape == (None, 3)


def test_without_a_shape_variables_come_with_the_first_call():
    model = tf.keras.Sequential([layers.Dense(3), layers.Dense(2)])
    with pytest.raises(ValueError, match="Weights for model sequential have not yet been created"):
        assert model.weights
    assert model(tf.ones([1, 4])).shape == (1, 2) and len(model.weights) == 4


def test_layers_are_connected():
    a = tf.keras.Input((4,))
    b, c = layers.Dense(3, name="x")(a), layers.Dense(3, name="y")(a)
    model = tf.keras.Model(a, [layers.Dense(1)(b), c])
    assert [layer.name for layer in model.layers] == ["input_1", "x", "dense", "y"]
    outputs = model(tf.ones([2, 4]))
    assert [t.shape.as_list() for t in outputs] == [[2, 1], [2, 3]]
    lines = table_of(model)
    assert lines[4].split() == ["input_1", "(InputLayer)", "[(None,", "4)]", "0"]
    assert lines[6].split() == ["x", "(Dense)", "(None,", "3)", "15", "input_1[0][0]"]
    again = tf.keras.Model.from_config(model.get_config())
    assert [layer.name for layer in again.layers] == ["input_1", "x", "dense", "y"] and again.get_config() == model.get_config()


def test_a_model_is_a_layer_of_another():
    inner = tf.keras.Sequential([layers.Dense(3, input_shape=(4,))])
    x = tf.keras.Input((4,))
    outer = tf.keras.Model(x, layers.Dense(1)(inner(x)))
    assert [layer.name for layer in outer.layers] == ["input_1", "sequential", "dense_1"] and len(outer.trainable_weights) == 4


def test_mistakes():
    x, y = tf.keras.Input((4,)), tf.keras.Input((4,))
    with pytest.raises(ValueError, match="Graph disconnected"):
        tf.keras.Model(x, layers.Dense(1)(y))
    with pytest.raises(TypeError, match="must be an instance of class Layer"):
        tf.keras.Sequential([3])
    with pytest.raises(ValueError, match="No such layer: z"):
        tf.keras.Model(x, layers.Dense(1)(x)).get_layer("z")


def test_models_run_at_once():
    with eager_mode():
        model = tf.keras.Sequential([layers.Dense(3, input_shape=(4,)), layers.Dense(2)])
        assert model(tf.ones([2, 4])).numpy().shape == (2, 2)

        class Scaled(tf.keras.Model):
            def __init__(self):
                super().__init__()
                self.factor = tf.Variable(2.0)
                self.dense = layers.Dense(1, kernel_initializer="ones")

            def call(self, x):
                return self.dense(x) * self.factor

        scaled = Scaled()
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(scaled(tf.ones([1, 3])))
        assert float(y) == 6.0 and len(scaled.trainable_variables) == 3
        assert float(tape.gradient(y, scaled.factor)) == 3.0


def test_inputs_of_batches_that_differ_make_no_model():
    one, other, any_size = (tf.keras.Input((10,), batch_size=size) for size in (2, 3, None))
    joined = layers.Concatenate(axis=0)
    with pytest.raises(ValueError, match=r"batch sizes of the Input Layers are incompatible. Found batch sizes: \[2, 3\]$"):
        tf.keras.Model([other, one], joined([other, one]))
    assert tf.keras.Model([one, any_size], joined([one, any_size])).inputs == [one, any_size]


def test_layers_that_ran_as_python_tell_the_shape_they_were_built_for():
    with eager_mode():
        model = tf.keras.Sequential([layers.Dense(3), layers.Dense(2)])
        model.compile("sgd", "mse", run_eagerly=True)
        model.train_on_batch(np.ones((5, 4)), np.ones((5, 2)))
        config = model.get_config()
        assert config["build_input_shape"] == (None, 4)
        assert len(tf.keras.Sequential.from_config(config).weights) == 4
