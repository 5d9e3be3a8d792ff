"""Where optimizers go; numbers are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import computed, plain

import everflow as tf

K, keras = tf.keras.backend, tf.keras


def some(*shape):
    return np.sin(np.arange(np.prod(shape))).reshape(shape).astype(np.float32)


def c(*shape):
    return tf.constant(some(*shape))


def digest(x):
    x = np.asarray(x)
    return [list(x.shape), float(f"{(np.asarray(x, np.float64).ravel() * np.cos(np.arange(x.size))).sum():.3g}")]


def d(t):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        value = session.run(t)
    return [digest(v) for v in value] if isinstance(value, (list, tuple)) else digest(value)


Y, P = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], np.float32), np.array([[0.2, 0.7, 0.1], [0.3, 0.3, 0.4]], np.float32)
SIGNS, GUESS = np.array([[1.0], [-1.0], [1.0]], np.float32), np.array([[0.3], [0.2], [-2.0]], np.float32)


def loss(f, y=Y, p=P, **kwargs):
    return f(tf.constant(y), tf.constant(p), **kwargs)


def trained(optimizer, steps=4, sparse=False, **kwargs):
    x = tf.Variable([1.0, -2.0, 3.0], use_resource=True)
    loss = tf.reduce_sum(tf.square(tf.gather(x, [0, 2]))) if sparse else tf.reduce_sum(tf.square(x) * [1.0, 0.5, 2.0])
    update = optimizer.get_updates(loss, [x]) if hasattr(optimizer, "get_updates") else optimizer.minimize(loss, [x])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([w.initializer for w in optimizer.weights])
        for _ in range(steps):
            session.run(update)
        return plain(session.run(x), 4)


class Toy:
    def __init__(self):
        self.stop_training, self.optimizer, self.weights = False, keras.optimizers.SGD(0.1), [1]

    def get_weights(self):
        return self.weights

    def set_weights(self, w):
        self.weights = w


seq, text = keras.preprocessing.sequence, keras.preprocessing.text


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: trained(keras.optimizers.SGD(0.1)), [0.4096, -1.312, 0.3888]),
        (lambda: trained(keras.optimizers.SGD(0.1, momentum=0.9)), [-0.3086, -0.4536, -2.43]),
        (lambda: trained(keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True)), [-0.3248, -0.1878, -1.05]),
        (lambda: trained(keras.optimizers.SGD(0.1, decay=0.5)), [0.5741, -1.532, 0.887]),
        (lambda: trained(keras.optimizers.SGD(0.1, clipnorm=1.0)), [0.9335, -1.933, 2.611]),
        (lambda: trained(keras.optimizers.SGD(0.1, clipvalue=0.5)), [0.8, -1.8, 2.8]),
        (lambda: trained(keras.optimizers.SGD(0.1, momentum=0.9), sparse=True), [-0.3086, -2.0, -0.9258]),
        (lambda: trained(keras.optimizers.Adam(0.1)), [0.6039, -1.602, 2.601]),
        (lambda: trained(keras.optimizers.Adam(0.1, beta_1=0.5, beta_2=0.9, epsilon=0.1)), [0.6539, -1.647, 2.611]),
        (lambda: trained(keras.optimizers.Adam(0.1, amsgrad=True)), [0.6039, -1.602, 2.601]),
        (lambda: trained(keras.optimizers.Adam(0.1), sparse=True), [0.6039, -2.0, 2.601]),
        (lambda: trained(keras.optimizers.Adamax(0.1)), [0.631, -1.615, 2.61]),
        (lambda: trained(keras.optimizers.Adamax(0.1), sparse=True), [0.631, -2.0, 2.61]),
        (lambda: trained(keras.optimizers.Nadam(0.1)), [0.6877, -1.678, 2.675]),
        (lambda: trained(keras.optimizers.Nadam(0.1), sparse=True), [0.6877, -2.0, 2.675]),
        (lambda: trained(keras.optimizers.RMSprop(0.1)), [0.2728, -1.17, 2.141]),
        (lambda: trained(keras.optimizers.RMSprop(0.1, rho=0.5, momentum=0.5, centered=True)), [-0.05763, -0.6158, 1.502]),
        (lambda: trained(keras.optimizers.RMSprop(0.1), sparse=True), [0.2728, -2.0, 2.141]),
        (lambda: trained(keras.optimizers.Adagrad(0.1)), [0.7382, -1.731, 2.726]),
        (lambda: trained(keras.optimizers.Adagrad(0.1, initial_accumulator_value=1.0), sparse=True), [0.7537, -2.0, 2.728]),
        (lambda: trained(keras.optimizers.Adadelta(1.0)), [0.9943, -1.994, 2.994]),
        (lambda: trained(keras.optimizers.Adadelta(1.0, rho=0.5), sparse=True), [0.9979, -2.0, 2.998]),
        (
            lambda: trained(keras.optimizers.Ftrl(0.1, l1_regularization_strength=0.1, l2_regularization_strength=0.1)),
            [0.5874, -1.414, 2.644],
        ),
        (lambda: trained(keras.optimizers.Ftrl(0.1), sparse=True), [0.5972, -2.0, 2.572]),
        (lambda: trained(keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5))), [0.5745, -1.533, 0.8867]),
        (
            lambda: trained(keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5, staircase=True))),
            [0.5184, -1.462, 0.6912],
        ),
        (
            lambda: trained(keras.optimizers.SGD(keras.optimizers.schedules.PiecewiseConstantDecay([1, 2], [0.1, 0.05, 0.01]))),
            [0.5645, -1.524, 0.8294],
        ),
        (lambda: trained(keras.optimizers.SGD(keras.optimizers.schedules.PolynomialDecay(0.1, 3, 0.01, 2.0))), [0.6774, -1.659, 1.272]),
        (lambda: trained(keras.optimizers.SGD(keras.optimizers.schedules.InverseTimeDecay(0.1, 1, 0.5))), [0.5741, -1.532, 0.887]),
        (lambda: d(K.resize_images(c(1, 2, 3, 2), 2, 2, "channels_last", interpolation="bilinear")), [[1, 4, 6, 2], 3.38]),
        (
            lambda: [
                K.ndim(c(2, 3)),
                K.int_shape(c(2, 3)),
                K.dtype(c(2)),
                K.epsilon(),
                K.floatx(),
                K.image_data_format(),
                K.is_sparse(c(2)),
            ],
            [2, [2, 3], "float32", 1e-07, "float32", "channels_last", False],
        ),
    ],
)
def test_optimizers_walk_down(made, expected):
    assert computed(made()) == expected
