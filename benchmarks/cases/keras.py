"""Epochs of small Keras models on data like MNIST."""

import numpy as np
from timing import case, tf, timed


def images(number=2048):
    rng = np.random.RandomState(0)
    return rng.rand(number, 28, 28, 1).astype(np.float32), rng.randint(0, 10, number)


def epoch(layers, batch_size):
    """The time of one epoch of `fit`."""
    model = tf.keras.Sequential(layers)
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    x, y = images()
    return timed(lambda: model.fit(x, y, batch_size=batch_size, verbose=0), warm=1)


@case
def keras_mlp_epoch():
    """An epoch of a perceptron with one hidden layer of 128: 2048 images, batch 32."""
    L = tf.keras.layers
    return epoch(
        [L.Flatten(input_shape=(28, 28, 1)), L.Dense(128, activation="relu"), L.Dropout(0.2), L.Dense(10, activation="softmax")], 32
    )


@case
def keras_cnn_epoch():
    """An epoch of a convolutional network: 2048 images, batch 64."""
    L = tf.keras.layers
    return epoch(
        [
            L.Conv2D(32, 3, activation="relu", input_shape=(28, 28, 1)),
            L.MaxPooling2D(),
            L.Conv2D(32, 3, activation="relu"),
            L.MaxPooling2D(),
            L.Flatten(),
            L.Dense(64, activation="relu"),
            L.Dense(10, activation="softmax"),
        ],
        64,
    )


@case
def keras_predict():
    """The outputs of the perceptron for 2048 images, batch 32."""
    L = tf.keras.layers
    model = tf.keras.Sequential([L.Flatten(input_shape=(28, 28, 1)), L.Dense(128, activation="relu"), L.Dense(10, activation="softmax")])
    x, _ = images()
    return timed(lambda: model.predict(x), warm=1)
