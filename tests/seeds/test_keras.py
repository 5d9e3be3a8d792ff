"""Keras programs of people who come from tf.train: its optimizers, kept weights, models inside models."""

import numpy as np
import pytest

import everflow as tf

keras = tf.keras


@pytest.fixture(autouse=True)
def fresh():
    keras.backend.clear_session()
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda: tf.train.AdamOptimizer(0.05),
        lambda: tf.train.RMSPropOptimizer(0.05),
        lambda: tf.train.AdagradOptimizer(0.5),
        lambda: tf.train.MomentumOptimizer(0.05, 0.5),
        lambda: tf.train.GradientDescentOptimizer(0.2),
    ],
)
def test_optimizers_of_train_fit_a_model(optimizer):
    rng = np.random.RandomState(0)
    x = rng.rand(64, 3)
    y = x @ [[1.0], [-2.0], [0.5]]
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(3,))])
    model.compile(optimizer=optimizer(), loss="mse", metrics=["mae"])
    losses = model.fit(x, y, epochs=15, batch_size=16, verbose=0).history["loss"]
    assert losses[-1] < 0.5 * losses[0]


def test_compiling_again_starts_the_new_optimizer_and_keeps_the_weights():
    model = keras.Sequential([keras.layers.Dense(2, input_shape=(3,))])
    x, y = np.ones((8, 3)), np.zeros((8, 2))
    model.compile(optimizer=tf.train.AdamOptimizer(0.1), loss="mse")
    model.fit(x, y, verbose=0)
    before = model.get_weights()
    model.compile(optimizer=tf.train.RMSPropOptimizer(0.1), loss="mse")
    np.testing.assert_array_equal(model.get_weights()[0], before[0])
    model.fit(x, y, verbose=0)
    assert not np.array_equal(model.get_weights()[0], before[0])


def test_a_model_made_of_calls_trains_from_a_dataset_and_predicts():
    class Two(keras.Model):
        def __init__(self):
            super().__init__(name="two")
            self.inner, self.outer = keras.layers.Dense(4, activation="relu"), keras.layers.Dense(3, activation="softmax")

        def call(self, inputs):
            return self.outer(self.inner(inputs))

    x, y = np.random.RandomState(1).rand(24, 5).astype("float32"), np.eye(3, dtype="float32")[np.arange(24) % 3]
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(8).repeat()
    model = Two()
    model.compile(optimizer=tf.train.RMSPropOptimizer(0.01), loss="categorical_crossentropy", metrics=["accuracy"])
    history = model.fit(data, epochs=2, steps_per_epoch=3, validation_data=data, validation_steps=1, verbose=0).history
    assert set(history) >= {"loss", "val_loss"} and len(history["loss"]) == 2
    np.testing.assert_allclose(model.predict(x).sum(1), 1, rtol=1e-5)
