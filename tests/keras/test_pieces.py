"""Functions of the backend, losses, metrics, initializers, callbacks and preprocessing; numbers are those of TensorFlow 1.15.5."""

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


MASK = np.array([[True, True, False], [True, True, True]])


def step(x, states):
    return x + states[0] * 0.5, [x + states[0] * 0.5]


Y, P = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], np.float32), np.array([[0.2, 0.7, 0.1], [0.3, 0.3, 0.4]], np.float32)
SIGNS, GUESS = np.array([[1.0], [-1.0], [1.0]], np.float32), np.array([[0.3], [0.2], [-2.0]], np.float32)


def loss(f, y=Y, p=P, **kwargs):
    return f(tf.constant(y), tf.constant(p), **kwargs)


def metric(m, *batches):
    updates = [m.update_state(*[tf.constant(a) if not isinstance(a, list) else tf.constant(a, tf.float32) for a in b]) for b in batches]
    with tf.Session() as session:
        session.run([v.initializer for v in m.variables])
        for u in updates:
            session.run(u)
        return float(f"{session.run(m.result()):.4g}") if np.ndim(session.run(m.result())) == 0 else plain(session.run(m.result()), 4)


def trained(optimizer, steps=4, sparse=False, **kwargs):
    x = tf.Variable([1.0, -2.0, 3.0])
    loss = tf.reduce_sum(tf.square(tf.gather(x, [0, 2]))) if sparse else tf.reduce_sum(tf.square(x) * [1.0, 0.5, 2.0])
    update = optimizer.get_updates(loss, [x]) if hasattr(optimizer, "get_updates") else optimizer.minimize(loss, [x])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([w.initializer for w in optimizer.weights])
        for _ in range(steps):
            session.run(update)
        return plain(session.run(x), 4)


def config(thing):
    return sorted(
        (k, v if isinstance(v, (int, str, bool, type(None), list)) else float(f"{v:.4g}") if isinstance(v, float) else str(v))
        for k, v in thing.get_config().items()
        if k != "name"
    )


def initial(initializer, *shape):
    return d(initializer(shape or (3, 4)))


class Toy:
    def __init__(self):
        self.stop_training, self.optimizer, self.weights = False, keras.optimizers.SGD(0.1), [1]

    def get_weights(self):
        return self.weights

    def set_weights(self, w):
        self.weights = w


def stopped(callback, *values, **kwargs):
    model = Toy()
    callback.set_model(model)
    callback.set_params({})
    callback.on_train_begin()
    for i, v in enumerate(values):
        model.weights = [i]
        callback.on_epoch_begin(i)
        callback.on_epoch_end(i, {kwargs.get("key", "val_loss"): v})
        if model.stop_training:
            return [i, model.weights]
    return [None, model.weights]


def rates(callback, *values):
    model = Toy()
    callback.set_model(model)
    callback.on_train_begin()
    found = []
    with tf.Session() as session:
        K.set_session(session)
        K.get_value(model.optimizer.lr)
        for i, v in enumerate(values):
            callback.on_epoch_begin(i)
            callback.on_epoch_end(i, {"val_loss": v})
            found.append(float(f"{K.get_value(model.optimizer.lr):.4g}"))
    K.clear_session()
    return found


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: d(K.dot(c(2, 3), c(3, 4))), [[2, 4], 2.25]),
        (lambda: d(K.dot(c(2, 3, 4), c(4, 5))), [[2, 3, 5], 1.59]),
        (lambda: d(K.dot(c(2, 3, 4), c(5, 4, 2))), [[2, 3, 5, 2], 4.77]),
        (lambda: d(K.batch_dot(c(2, 3, 4), c(2, 4, 5))), [[2, 3, 5], 10.9]),
        (lambda: d(K.batch_dot(c(2, 3), c(2, 3), axes=1)), [[2, 1], 2.35]),
        (lambda: d(K.batch_dot(c(2, 3, 4), c(2, 5, 4), axes=2)), [[2, 3, 5], 1.98]),
        (lambda: d(K.batch_dot(c(2, 3, 4), c(2, 3, 5), axes=(1, 1))), [[2, 4, 5], -9.87]),
        (lambda: d(K.batch_dot(c(2, 3, 4), c(2, 4), axes=(2, 1))), [[2, 3], -0.527]),
        (lambda: d(K.transpose(c(2, 3))), [[3, 2], -0.391]),
        (lambda: d(K.permute_dimensions(c(2, 3, 4), (2, 0, 1))), [[4, 2, 3], 1.3]),
        (lambda: d(K.concatenate([c(2, 3), c(2, 1)])), [[2, 4], -0.517]),
        (lambda: d(K.concatenate([c(2, 3), c(1, 3)], axis=0)), [[3, 3], 0.661]),
        (lambda: d(K.repeat(c(2, 3), 4)), [[2, 4, 3], -0.0891]),
        (lambda: d(K.repeat_elements(c(2, 3), 2, 1)), [[2, 6], 0.322]),
        (lambda: d(K.tile(c(2, 3), [1, 2])), [[2, 6], -0.00918]),
        (lambda: d(K.tile(c(3), 2)), [[6], -0.216]),
        (lambda: d(K.flatten(c(2, 3))), [[6], 0.159]),
        (lambda: d(K.batch_flatten(c(2, 3, 2))), [[2, 6], 0.319]),
        (lambda: d(K.expand_dims(c(2, 3), 1)), [[2, 1, 3], 0.159]),
        (lambda: d(K.squeeze(c(2, 1, 3), 1)), [[2, 3], 0.159]),
        (lambda: d(K.reshape(c(2, 3), (3, -1))), [[3, 2], 0.159]),
        (lambda: d(K.stack([c(2), c(2)], axis=1)), [[2, 2], -1.18]),
        (lambda: d(K.reverse(c(2, 3), 1)), [[2, 3], 2.85]),
        (lambda: d(K.reverse(c(2, 3), [0, 1])), [[2, 3], -2.88]),
        (lambda: d(K.one_hot(tf.constant([1, 0]), 3)), [[2, 3], -0.45]),
        (lambda: d(K.gather(c(4, 3), tf.constant([2, 0]))), [[2, 3], -0.628]),
        (lambda: d(K.arange(5)), [[5], -5.88]),
        (lambda: d(K.arange(1, 7, 2, dtype="float32")), [[3], 0.54]),
        (lambda: d(K.arange(-3)), [[0], 0.0]),
        (lambda: d(K.eye(3)), [[3, 3], 0.201]),
        (lambda: d(K.zeros((2, 3))), [[2, 3], 0.0]),
        (lambda: d(K.ones((2, 3))), [[2, 3], -0.236]),
        (lambda: d(K.zeros_like(c(2, 3))), [[2, 3], 0.0]),
        (lambda: d(K.ones_like(c(2, 3), dtype="int32")), [[2, 3], -0.236]),
        (lambda: d(K.temporal_padding(c(2, 3, 4), (1, 2))), [[2, 6, 4], 5.85]),
        (lambda: d(K.spatial_2d_padding(c(2, 3, 4, 2), ((1, 0), (2, 1)))), [[2, 4, 7, 2], 16.0]),
        (lambda: d(K.spatial_2d_padding(c(2, 3, 4, 2), ((1, 0), (2, 1)), "channels_first")), [[2, 3, 5, 5], -1.1]),
        (lambda: d(K.spatial_3d_padding(c(1, 2, 3, 4, 2), ((1, 0), (2, 1), (0, 1)))), [[1, 3, 6, 5, 2], -0.216]),
        (lambda: d(K.resize_images(c(1, 2, 3, 2), 2, 3, "channels_last")), [[1, 4, 9, 2], -0.161]),
        (lambda: d(K.resize_images(c(1, 2, 3, 2), 2, 3, "channels_first")), [[1, 2, 6, 6], -1.89]),
        (lambda: d(K.resize_volumes(c(1, 2, 3, 2, 2), 2, 1, 3, "channels_last")), [[1, 4, 3, 6, 2], -0.123]),
        (lambda: d(K.sum(c(2, 3), axis=1, keepdims=True)), [[2, 1], 0.9]),
        (lambda: d(K.sum(c(2, 3))), [[], 0.176]),
        (lambda: d(K.prod(c(2, 3), axis=0)), [[3], 0.0188]),
        (lambda: d(K.cumsum(c(2, 3), axis=1)), [[2, 3], -0.458]),
        (lambda: d(K.cumprod(c(2, 3))), [[2, 3], 0.245]),
        (lambda: d(K.mean(c(2, 3), axis=[0, 1])), [[], 0.0294]),
        (lambda: d(K.mean(c(2, 3) > 0, axis=1)), [[2], 0.847]),
        (lambda: d(K.var(c(2, 3), axis=1)), [[2], 0.295]),
        (lambda: d(K.std(c(2, 3), axis=0, keepdims=True)), [[1, 3], 0.114]),
        (lambda: d(K.max(c(2, 3), axis=1)), [[2], 0.986]),
        (lambda: d(K.min(c(2, 3), axis=-1, keepdims=True)), [[2, 1], -0.518]),
        (lambda: d(K.any(c(2, 3) > 0.8, axis=1)), [[2], 1.0]),
        (lambda: d(K.all(c(2, 3) > -0.9, axis=1)), [[2], 1.0]),
        (lambda: d(K.argmax(c(2, 3))), [[2], 2.0]),
        (lambda: d(K.argmin(c(2, 3), axis=0)), [[3], 0.124]),
        (lambda: d(K.clip(c(2, 3), -0.2, 0.3)), [[2, 3], -0.0285]),
        (lambda: d(K.clip(c(2, 3), 0.3, -0.2)), [[2, 3], -0.0707]),
        (lambda: d(K.square(c(3))), [[3], 0.0385]),
        (lambda: d(K.sqrt(c(3))), [[3], 0.0988]),
        (lambda: d(K.pow(c(3), 2)), [[3], 0.0385]),
        (lambda: d(K.sign(c(3))), [[3], 0.124]),
        (lambda: d(K.round(c(3) * 3)), [[3], 0.372]),
        (lambda: d(K.abs(c(5))), [[5], -0.558]),
        (lambda: d(K.exp(c(3))), [[3], 1.22]),
        (lambda: d(K.log(c(3) + 2)), [[3], 0.813]),
        (lambda: d(K.sin(c(3))), [[3], 0.0745]),
        (lambda: d(K.cos(c(3))), [[3], 1.1]),
        (lambda: d(K.maximum(c(3), 0.5)), [[3], 0.576]),
        (lambda: d(K.minimum(c(3), [0.5, 0.1, 2.0])), [[3], -0.324]),
        (
            lambda: d(
                [
                    K.equal(c(3), 0.0),
                    K.not_equal(c(3), 0.0),
                    K.greater(c(3), 0.1),
                    K.greater_equal(c(3), 0.0),
                    K.less(c(3), 0.1),
                    K.less_equal(c(3), 0.0),
                ]
            ),
            [[[3], 1.0], [[3], 0.124], [[3], 0.124], [[3], 1.12], [[3], 1.0], [[3], 1.0]],
        ),
        (lambda: d(K.relu(c(6), alpha=0.1, max_value=0.5, threshold=0.2)), [[6], 0.0776]),
        (lambda: d(K.relu(c(6) * 9, max_value=6)), [[6], -0.512]),
        (lambda: d(K.relu(c(6), threshold=0.2)), [[6], 0.0762]),
        (lambda: d(K.relu(c(6), alpha=0.3)), [[6], 0.00334]),
        (lambda: d(K.elu(c(6), 0.5)), [[6], 0.0226]),
        (lambda: d(K.softmax(c(2, 3))), [[2, 3], -0.457]),
        (lambda: d(K.softmax(c(2, 3), axis=0)), [[2, 3], -0.0482]),
        (lambda: d(K.softplus(c(3))), [[3], 0.822]),
        (lambda: d(K.softsign(c(3))), [[3], 0.0487]),
        (lambda: d(K.sigmoid(c(3))), [[3], 0.581]),
        (lambda: d(K.hard_sigmoid(c(3) * 4)), [[3], 0.624]),
        (lambda: d(K.tanh(c(3))), [[3], 0.071]),
        (lambda: d(K.l2_normalize(c(2, 3), axis=1)), [[2, 3], 0.129]),
        (lambda: d(K.in_top_k(c(2, 3), tf.constant([2, 0]), 2)), [[2], 1.54]),
        (lambda: d(K.dropout(c(2, 3), 0.5, seed=3)), [[2, 3], 0.233]),
        (lambda: d(K.binary_crossentropy(tf.constant(Y), tf.constant(P))), [[2, 3], -0.908]),
        (lambda: d(K.binary_crossentropy(tf.constant(Y), tf.constant(P), from_logits=True)), [[2, 3], -0.142]),
        (lambda: d(K.categorical_crossentropy(tf.constant(Y), tf.constant(P))), [[2], 1.01]),
        (lambda: d(K.categorical_crossentropy(tf.constant(Y), tf.constant(P), from_logits=True)), [[2], 1.38]),
        (lambda: d(K.categorical_crossentropy(tf.constant(Y), tf.constant(P), axis=0)), [[3], 0.704]),
        (lambda: d(K.sparse_categorical_crossentropy(tf.constant([1, 0]), tf.constant(P))), [[2], 1.01]),
        (lambda: d(K.sparse_categorical_crossentropy(tf.constant([1, 0]), tf.constant(P), from_logits=True)), [[2], 1.38]),
        (lambda: d(K.bias_add(c(2, 3, 4), c(4))), [[2, 3, 4], -0.0752]),
        (lambda: d(K.bias_add(c(2, 4, 3), c(4), "channels_first")), [[2, 4, 3], 0.391]),
        (lambda: d(K.bias_add(c(2, 3, 5, 4), c(3, 5, 4))), [[2, 3, 5, 4], 8.97]),
        (lambda: d(K.conv1d(c(1, 5, 2), c(3, 2, 4), padding="causal")), [[1, 5, 4], 3.78]),
        (lambda: d(K.conv2d(c(1, 5, 5, 2), c(3, 3, 2, 4), strides=(2, 2), padding="same")), [[1, 3, 3, 4], 0.556]),
        (lambda: d(K.conv3d(c(1, 3, 4, 5, 2), c(2, 2, 2, 2, 3))), [[1, 2, 3, 4, 3], -0.274]),
        (lambda: d(K.conv2d_transpose(c(1, 3, 3, 2), c(3, 3, 4, 2), (1, 5, 5, 4))), [[1, 5, 5, 4], 2.36]),
        (lambda: d(K.separable_conv2d(c(1, 5, 5, 2), c(3, 3, 2, 2), c(1, 1, 4, 3))), [[1, 3, 3, 3], 0.566]),
        (lambda: d(K.pool2d(c(1, 5, 5, 2), (2, 2), (2, 2), pool_mode="avg")), [[1, 2, 2, 2], -0.0289]),
        (lambda: d(K.pool2d(c(1, 5, 5, 2), (3, 2), padding="same")), [[1, 5, 5, 2], -0.442]),
        (lambda: d(K.pool3d(c(1, 4, 4, 4, 2), (2, 2, 2), (2, 2, 2))), [[1, 2, 2, 2, 2], 0.659]),
        (lambda: d(K.local_conv1d(c(1, 5, 2), c(3, 6, 4), (3,), (1,))), [[1, 3, 4], -0.25]),
        (lambda: d(K.local_conv2d(c(1, 4, 4, 2), c(9, 8, 3), (2, 2), (1, 1), (3, 3))), [[1, 3, 3, 3], -1.47]),
        (lambda: d(K.normalize_batch_in_training(c(4, 3), c(3), c(3), [0])[0]), [[4, 3], 1.1]),
        (lambda: d(K.batch_normalization(c(4, 3), c(3), c(3) + 2, c(3), c(3))), [[4, 3], 0.323]),
        (lambda: d(list(K.rnn(step, c(2, 3, 4), [tf.zeros([2, 4])])[:2])), [[[2, 4], 0.634], [[2, 3, 4], 2.23]]),
        (lambda: d(list(K.rnn(step, c(2, 3, 4), [tf.zeros([2, 4])], go_backwards=True)[:2])), [[[2, 4], 0.953], [[2, 3, 4], 1.28]]),
        (lambda: d(list(K.rnn(step, c(2, 3, 4), [tf.zeros([2, 4])], mask=tf.constant(MASK))[:2])), [[[2, 4], -2.72], [[2, 3, 4], 2.53]]),
        (
            lambda: d(list(K.rnn(step, c(2, 3, 4), [tf.zeros([2, 4])], mask=tf.constant(MASK), unroll=True)[:2])),
            [[[2, 4], -2.72], [[2, 3, 4], 2.53]],
        ),
        (
            lambda: d(list(K.rnn(step, c(2, 3, 4), [tf.zeros([2, 4])], mask=tf.constant(MASK), zero_output_for_mask=True)[:2])),
            [[[2, 4], -0.874], [[2, 3, 4], 2.07]],
        ),
        (lambda: d(list(K.rnn(step, c(3, 2, 4), [tf.zeros([2, 4])], time_major=True)[:2])), [[[2, 4], 0.617], [[3, 2, 4], -3.27]]),
        (lambda: d(K.map_fn(lambda x: x * 2, c(3))), [[3], 0.152]),
        (lambda: d(K.foldl(lambda a, x: a + x, c(3))), [[], 1.75]),
        (lambda: d(K.foldr(lambda a, x: a - x, c(3))), [[], 0.0678]),
        (lambda: d(K.switch(tf.constant(True), lambda: c(2), lambda: c(2) + 1)), [[2], 0.455]),
        (lambda: d(K.switch(tf.constant([True, False]), c(2, 3), c(2, 3) + 1)), [[2, 3], -1.2]),
        (lambda: d(K.in_train_phase(c(2), c(2) + 1, training=False)), [[2], 1.99]),
        (lambda: d(K.in_test_phase(c(2), c(2) + 1, training=False)), [[2], 0.455]),
        (lambda: d(K.cast(c(3), "int32")), [[3], 0.0]),
        (lambda: d(K.gradients(K.sum(K.square(tf.Variable(1.5))), tf.trainable_variables())), [[[], 3.0]]),
        (lambda: d(K.ctc_batch_cost(tf.constant([[1, 0]]), K.softmax(c(1, 4, 3)), tf.constant([[4]]), tf.constant([[2]]))), [[1, 1], 1.54]),
        (
            lambda: [K.placeholder((2, 3)).shape, K.placeholder(ndim=2).shape, K.placeholder(dtype="int32", shape=(1,)).dtype],
            [[2, 3], [None, None], "int32"],
        ),
        (lambda: [K.count_params(K.ones((2, 3))), K.variable([[1.0, 2.0]], name="v").name], [6, "v:0"]),
        (lambda: d(K.to_dense(tf.SparseTensor([[0, 1]], [2.0], [1, 2]))), [[1, 2], 1.08]),
        (lambda: d(K.random_normal((2, 3), seed=3)), [[2, 3], -0.446]),
        (lambda: d(K.random_uniform((2, 3), 1.0, 2.0, seed=3)), [[2, 3], -0.374]),
        (lambda: d(K.truncated_normal((2, 3), seed=3)), [[2, 3], 0.21]),
        (lambda: d(K.random_binomial((2, 3), 0.5, seed=3)), [[2, 3], 0.834]),
        (lambda: [len(K.function([x], [x * 2, x + 1])([np.ones(2)])) for x in [K.placeholder((2,))]], [2]),
    ],
)
def test_functions_of_the_backend_give_the_numbers_of_1_15(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: d(loss(keras.losses.mean_squared_error)), [[2], 0.18]),
        (lambda: d(loss(keras.losses.mean_absolute_error)), [[2], 0.452]),
        (lambda: d(loss(keras.losses.mean_absolute_percentage_error)), [[2], 226000000.0]),
        (lambda: d(loss(keras.losses.mean_squared_logarithmic_error)), [[2], 0.0891]),
        (lambda: d(loss(keras.losses.hinge, SIGNS, GUESS)), [[3], 0.0999]),
        (lambda: d(loss(keras.losses.squared_hinge, SIGNS, GUESS)), [[3], -2.48]),
        (lambda: d(loss(keras.losses.hinge, (SIGNS + 1) / 2, GUESS)), [[3], 0.0999]),
        (lambda: d(loss(keras.losses.categorical_hinge)), [[2], 1.09]),
        (lambda: d(loss(keras.losses.logcosh)), [[2], 0.086]),
        (lambda: d(loss(keras.losses.kullback_leibler_divergence)), [[2], 1.01]),
        (lambda: d(loss(keras.losses.poisson)), [[2], 0.849]),
        (lambda: d(loss(keras.losses.cosine_similarity)), [[2], 1.23]),
        (lambda: d(loss(keras.losses.binary_crossentropy, label_smoothing=0.2)), [[2], 0.756]),
        (lambda: d(loss(keras.losses.categorical_crossentropy, label_smoothing=0.2)), [[2], 1.21]),
        (lambda: d(loss(keras.losses.categorical_crossentropy, from_logits=True)), [[2], 1.38]),
        (lambda: d(keras.losses.Huber(0.3)(tf.constant(Y), tf.constant(P))), [[], 0.0592]),
        (lambda: d(keras.losses.MeanSquaredError()(tf.constant(Y), tf.constant(P), sample_weight=tf.constant([1.0, 3.0]))), [[], 0.393]),
        (lambda: d(keras.losses.MeanSquaredError(reduction="sum")(tf.constant(Y), tf.constant(P))), [[], 0.293]),
        (lambda: d(keras.losses.MeanSquaredError(reduction="none")(tf.constant(Y), tf.constant(P))), [[2], 0.18]),
        (lambda: d(keras.losses.BinaryCrossentropy(from_logits=True)(tf.constant(Y), tf.constant(P))), [[], 0.711]),
        (lambda: d(keras.losses.CategoricalCrossentropy(label_smoothing=0.1)(tf.constant(Y), tf.constant(P))), [[], 0.829]),
        (lambda: d(keras.losses.SparseCategoricalCrossentropy()(tf.constant([1, 0]), tf.constant(P))), [[], 0.78]),
        (lambda: d(keras.losses.CosineSimilarity(axis=0)(tf.constant(Y), tf.constant(P))), [[], 0.584]),
        (lambda: d(keras.losses.Hinge()(tf.constant(SIGNS), tf.constant(GUESS))), [[], 1.63]),
        (lambda: d(keras.losses.LogCosh()(tf.constant(SIGNS), tf.constant(GUESS))), [[], 1.04]),
        (lambda: d(keras.losses.KLDivergence()(tf.constant(Y), tf.constant(P))), [[], 0.78]),
        (lambda: d(keras.losses.Poisson()(tf.constant(Y), tf.constant(P))), [[], 0.593]),
        (
            lambda: [
                config(l)
                for l in [
                    keras.losses.Huber(0.3),
                    keras.losses.BinaryCrossentropy(True, 0.1),
                    keras.losses.CosineSimilarity(1),
                    keras.losses.MeanSquaredError(reduction="sum"),
                ]
            ],
            [
                [["delta", 0.3], ["reduction", "auto"]],
                [["from_logits", True], ["label_smoothing", 0.1], ["reduction", "auto"]],
                [["axis", 1], ["reduction", "auto"]],
                [["reduction", "sum"]],
            ],
        ),
        (lambda: keras.losses.get("mse").__name__, "mean_squared_error"),
        (lambda: keras.losses.serialize(keras.losses.mean_squared_error), "mean_squared_error"),
    ],
)
def test_losses_measure_how_wrong_predictions_are(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: metric(keras.metrics.Mean(), ([1.0, 3.0],), ([5.0],)), 3.0),
        (lambda: metric(keras.metrics.Mean(), ([1.0, 3.0], [1.0, 3.0])), 2.5),
        (lambda: metric(keras.metrics.Sum(), ([1.0, 3.0],), ([5.0], [2.0])), 14.0),
        (lambda: metric(keras.metrics.MeanTensor(), ([1.0, 3.0],), ([5.0, 6.0],)), [3.0, 4.5]),
        (lambda: metric(keras.metrics.MeanRelativeError([1.0, 3.0]), ([1.0, 3.0], [2.0, 4.0])), 0.6667),
        (lambda: metric(keras.metrics.RootMeanSquaredError(), ([1.0, 3.0], [2.0, 5.0])), 1.581),
        (lambda: metric(keras.metrics.Accuracy(), ([1.0, 3.0], [1.0, 4.0])), 0.5),
        (lambda: metric(keras.metrics.BinaryAccuracy(0.4), ([1.0, 0.0, 1.0], [0.45, 0.3, 0.2])), 0.3333),
        (lambda: metric(keras.metrics.CategoricalAccuracy(), (Y, P)), 0.5),
        (lambda: metric(keras.metrics.SparseCategoricalAccuracy(), ([1.0, 0.0], P)), 0.5),
        (lambda: metric(keras.metrics.TopKCategoricalAccuracy(2), (Y, P)), 1.0),
        (lambda: metric(keras.metrics.SparseTopKCategoricalAccuracy(2), ([1.0, 0.0], P)), 1.0),
        (lambda: metric(keras.metrics.FalsePositives(), ([0.0, 1.0, 0.0], [0.6, 0.4, 0.7])), 2.0),
        (lambda: metric(keras.metrics.FalseNegatives(thresholds=[0.3, 0.5]), ([0.0, 1.0, 0.0], [0.6, 0.4, 0.7])), [0.0, 1.0]),
        (lambda: metric(keras.metrics.TrueNegatives(), ([0.0, 1.0, 0.0], [0.2, 0.4, 0.7], [1.0, 1.0, 2.0])), 1.0),
        (lambda: metric(keras.metrics.TruePositives(0.3), ([0.0, 1.0, 0.0], [0.6, 0.4, 0.7])), 1.0),
        (lambda: metric(keras.metrics.Precision(), ([0.0, 1.0, 1.0], [0.6, 0.8, 0.7])), 0.6667),
        (lambda: metric(keras.metrics.Precision(top_k=1), (Y, P)), 0.5),
        (lambda: metric(keras.metrics.Precision(class_id=1), (Y, P)), 1.0),
        (lambda: metric(keras.metrics.Recall([0.5, 0.75]), ([0.0, 1.0, 1.0], [0.6, 0.8, 0.7])), [1.0, 0.5]),
        (lambda: metric(keras.metrics.Recall(top_k=2, class_id=0), (Y, P)), 1.0),
        (lambda: metric(keras.metrics.SensitivityAtSpecificity(0.5, 10), ([0.0, 0.0, 1.0, 1.0], [0.1, 0.5, 0.3, 0.9])), 1.0),
        (lambda: metric(keras.metrics.SpecificityAtSensitivity(0.5, 10), ([0.0, 0.0, 1.0, 1.0], [0.1, 0.5, 0.3, 0.9])), 0.5),
        (lambda: metric(keras.metrics.AUC(10), ([0.0, 0.0, 1.0, 1.0], [0.1, 0.5, 0.3, 0.9])), 0.75),
        (lambda: metric(keras.metrics.AUC(10, curve="PR"), ([0.0, 0.0, 1.0, 1.0], [0.1, 0.5, 0.3, 0.9])), 0.7973),
        (lambda: metric(keras.metrics.AUC(10, summation_method="minoring"), ([0.0, 0.0, 1.0, 1.0], [0.1, 0.5, 0.3, 0.9])), 0.75),
        (
            lambda: metric(
                keras.metrics.AUC(10, summation_method="majoring", curve="PR"),
                ([0.0, 0.0, 1.0, 1.0], [0.1, 0.5, 0.3, 0.9], [1.0, 2.0, 1.0, 1.0]),
            ),
            0.75,
        ),
        (lambda: metric(keras.metrics.AUC(thresholds=[0.2, 0.6]), ([0.0, 0.0, 1.0, 1.0], [0.1, 0.5, 0.3, 0.9])), 0.875),
        (lambda: metric(keras.metrics.MeanIoU(2), ([0.0, 1.0, 1.0], [0.0, 1.0, 0.0])), 0.5),
        (lambda: metric(keras.metrics.MeanIoU(3), ([0.0, 1.0, 2.0], [0.0, 2.0, 2.0], [1.0, 2.0, 1.0])), 0.4444),
        (lambda: metric(keras.metrics.MeanSquaredError(), (Y, P)), 0.1467),
        (lambda: metric(keras.metrics.MeanAbsolutePercentageError(), (Y, P)), 166700000.0),
        (lambda: metric(keras.metrics.CosineSimilarity(), (Y, P)), 0.7335),
        (lambda: metric(keras.metrics.Hinge(), (SIGNS, GUESS)), 1.633),
        (lambda: metric(keras.metrics.SquaredHinge(), (SIGNS, GUESS)), 3.643),
        (lambda: metric(keras.metrics.CategoricalHinge(), (Y, P)), 0.8),
        (lambda: metric(keras.metrics.LogCoshError(), (Y, P)), 0.06979),
        (lambda: metric(keras.metrics.Poisson(), (Y, P)), 0.5934),
        (lambda: metric(keras.metrics.KLDivergence(), (Y, P)), 0.7803),
        (lambda: metric(keras.metrics.BinaryCrossentropy(label_smoothing=0.1), (Y, P)), 0.4997),
        (lambda: metric(keras.metrics.CategoricalCrossentropy(), (Y, P)), 0.7803),
        (lambda: metric(keras.metrics.SparseCategoricalCrossentropy(), ([1.0, 0.0], P)), 0.7803),
        (lambda: metric(keras.metrics.MeanAbsoluteError(), (Y, P, [1.0, 3.0])), 0.4),
        (
            lambda: [
                config(m)
                for m in [
                    keras.metrics.AUC(5),
                    keras.metrics.Precision(0.3, top_k=2),
                    keras.metrics.MeanIoU(3),
                    keras.metrics.BinaryAccuracy(),
                    keras.metrics.TopKCategoricalAccuracy(),
                    keras.metrics.SensitivityAtSpecificity(0.4),
                ]
            ],
            [
                [
                    ["curve", "ROC"],
                    ["dtype", "float32"],
                    ["num_thresholds", 5],
                    ["summation_method", "interpolation"],
                    ["thresholds", [0.25, 0.5, 0.75]],
                ],
                [["class_id", None], ["dtype", "float32"], ["thresholds", 0.3], ["top_k", 2]],
                [["dtype", "float32"], ["num_classes", 3]],
                [["dtype", "float32"], ["threshold", 0.5]],
                [["dtype", "float32"], ["k", 5]],
                [["dtype", "float32"], ["num_thresholds", 200], ["specificity", 0.4]],
            ],
        ),
        (
            lambda: [
                m.name
                for m in [
                    keras.metrics.AUC(5),
                    keras.metrics.Precision(),
                    keras.metrics.MeanIoU(3),
                    keras.metrics.BinaryAccuracy(),
                    keras.metrics.RootMeanSquaredError(),
                    keras.metrics.Mean(),
                    keras.metrics.CategoricalHinge(),
                    keras.metrics.KLDivergence(),
                    keras.metrics.Poisson(),
                    keras.metrics.LogCoshError(),
                ]
            ],
            [
                "auc",
                "precision",
                "mean_io_u",
                "binary_accuracy",
                "root_mean_squared_error",
                "mean",
                "categorical_hinge",
                "kullback_leibler_divergence",
                "poisson",
                "logcosh",
            ],
        ),
        (lambda: d(keras.metrics.top_k_categorical_accuracy(tf.constant(Y), tf.constant(P), k=2)), [[2], 1.54]),
        (lambda: d(keras.metrics.binary_accuracy(tf.constant(Y), tf.constant(P), threshold=0.6)), [[2], 1.36]),
        (lambda: d(keras.metrics.sparse_top_k_categorical_accuracy(tf.constant([1.0, 0.0]), tf.constant(P), k=1)), [[2], 1.0]),
    ],
)
def test_metrics_add_up_over_batches(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: [
                config(o)
                for o in [
                    keras.optimizers.SGD(),
                    keras.optimizers.Adam(),
                    keras.optimizers.Adamax(),
                    keras.optimizers.Nadam(),
                    keras.optimizers.RMSprop(),
                    keras.optimizers.Adagrad(),
                    keras.optimizers.Adadelta(),
                    keras.optimizers.Ftrl(),
                ]
            ],
            [
                [["decay", 0.0], ["learning_rate", 0.01], ["momentum", 0.0], ["nesterov", False]],
                [["amsgrad", False], ["beta_1", 0.9], ["beta_2", 0.999], ["decay", 0.0], ["epsilon", 1e-07], ["learning_rate", 0.001]],
                [["beta_1", 0.9], ["beta_2", 0.999], ["decay", 0.0], ["epsilon", 1e-07], ["learning_rate", 0.001]],
                [["beta_1", 0.9], ["beta_2", 0.999], ["decay", 0.004], ["epsilon", 1e-07], ["learning_rate", 0.001]],
                [["centered", False], ["decay", 0.0], ["epsilon", 1e-07], ["learning_rate", 0.001], ["momentum", 0.0], ["rho", 0.9]],
                [["decay", 0.0], ["epsilon", 1e-07], ["initial_accumulator_value", 0.1], ["learning_rate", 0.001]],
                [["decay", 0.0], ["epsilon", 1e-07], ["learning_rate", 0.001], ["rho", 0.95]],
                [
                    ["decay", 0.0],
                    ["initial_accumulator_value", 0.1],
                    ["l1_regularization_strength", 0.0],
                    ["l2_regularization_strength", 0.0],
                    ["l2_shrinkage_regularization_strength", 0.0],
                    ["learning_rate", 0.001],
                    ["learning_rate_power", -0.5],
                ],
            ],
        ),
        (
            lambda: [
                config(s)
                for s in [
                    keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5),
                    keras.optimizers.schedules.PolynomialDecay(0.1, 3),
                    keras.optimizers.schedules.InverseTimeDecay(0.1, 1, 0.5),
                    keras.optimizers.schedules.PiecewiseConstantDecay([1], [0.1, 0.2]),
                ]
            ],
            [
                [["decay_rate", 0.5], ["decay_steps", 2], ["initial_learning_rate", 0.1], ["staircase", False]],
                [["cycle", False], ["decay_steps", 3], ["end_learning_rate", 0.0001], ["initial_learning_rate", 0.1], ["power", 1.0]],
                [["decay_rate", 0.5], ["decay_steps", 1], ["initial_learning_rate", 0.1], ["staircase", False]],
                [["boundaries", [1]], ["values", [0.1, 0.2]]],
            ],
        ),
        (lambda: type(keras.optimizers.get("adam")).__name__, "Adam"),
        (lambda: type(keras.optimizers.get({"class_name": "SGD", "config": {"lr": 0.5}})).__name__, "SGD"),
    ],
)
def test_optimizers_are_described_by_their_arguments(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: initial(keras.initializers.Zeros()), [[3, 4], 0.0]),
        (lambda: initial(keras.initializers.Constant(2.5)), [[3, 4], -1.03]),
        (lambda: initial(keras.initializers.RandomNormal(1.0, 0.5, seed=3)), [[3, 4], 0.695]),
        (lambda: initial(keras.initializers.RandomUniform(-1.0, 1.0, seed=3)), [[3, 4], -1.04]),
        (lambda: initial(keras.initializers.TruncatedNormal(seed=3)), [[3, 4], -0.102]),
        (lambda: initial(keras.initializers.VarianceScaling(2.0, "fan_in", "uniform", seed=3)), [[3, 4], -1.48]),
        (lambda: initial(keras.initializers.VarianceScaling(2.0, "fan_out", "untruncated_normal", seed=3)), [[3, 4], 1.57]),
        (lambda: initial(keras.initializers.VarianceScaling(2.0, "fan_avg", seed=3), 3, 3, 2, 4), [[3, 3, 2, 4], -1.5]),
        (lambda: initial(keras.initializers.Orthogonal(2.0, seed=3), 4, 4), [[4, 4], 4.47]),
        (lambda: initial(keras.initializers.Identity(2.0), 3, 3), [[3, 3], 0.402]),
        (lambda: initial(keras.initializers.glorot_uniform(seed=3)), [[3, 4], -0.966]),
        (lambda: initial(keras.initializers.glorot_normal(seed=3)), [[3, 4], -1.24]),
        (lambda: initial(keras.initializers.he_normal(seed=3)), [[3, 4], -1.9]),
        (lambda: initial(keras.initializers.he_uniform(seed=3)), [[3, 4], -1.48]),
        (lambda: initial(keras.initializers.lecun_normal(seed=3)), [[3, 4], -1.34]),
        (lambda: initial(keras.initializers.lecun_uniform(seed=3)), [[3, 4], -1.04]),
        (lambda: d(keras.constraints.MaxNorm(0.5)(c(3, 4))), [[3, 4], 0.128]),
        (lambda: d(keras.constraints.MaxNorm(0.5, axis=1)(c(3, 4))), [[3, 4], 0.112]),
        (lambda: d(keras.constraints.NonNeg()(c(3, 4))), [[3, 4], -0.0876]),
        (lambda: d(keras.constraints.UnitNorm(1)(c(3, 4))), [[3, 4], 0.224]),
        (lambda: d(keras.constraints.MinMaxNorm(0.5, 0.7, 0.5, axis=1)(c(3, 4))), [[3, 4], 0.238]),
        (lambda: d(keras.constraints.RadialConstraint()(c(3, 3, 1, 1))), [[3, 3, 1, 1], -1.5]),
        (lambda: d(keras.constraints.get("non_neg")(c(3, 4))), [[3, 4], -0.0876]),
        (lambda: d(keras.regularizers.l1(0.1)(c(3, 4))), [[], 0.749]),
        (lambda: d(keras.regularizers.l2(0.1)(c(3, 4))), [[], 0.6]),
        (lambda: d(keras.regularizers.l1_l2(0.1, 0.2)(c(3, 4))), [[], 1.95]),
        (
            lambda: [
                config(x)
                for x in [
                    keras.constraints.MaxNorm(0.5),
                    keras.constraints.MinMaxNorm(0.5, 0.7),
                    keras.constraints.UnitNorm(1),
                    keras.regularizers.l1_l2(0.1, 0.2),
                ]
            ],
            [
                [["axis", 0], ["max_value", 0.5]],
                [["axis", 0], ["max_value", 0.7], ["min_value", 0.5], ["rate", 1.0]],
                [["axis", 1]],
                [["l1", 0.1], ["l2", 0.2]],
            ],
        ),
        (
            lambda: [
                d(keras.activations.get(a)(c(2, 3)))
                for a in [
                    "relu",
                    "elu",
                    "selu",
                    "softplus",
                    "softsign",
                    "tanh",
                    "sigmoid",
                    "hard_sigmoid",
                    "exponential",
                    "linear",
                    "softmax",
                ]
            ],
            [
                [[2, 3], -0.0635],
                [[2, 3], 0.109],
                [[2, 3], 0.236],
                [[2, 3], -0.0957],
                [[2, 3], 0.069],
                [[2, 3], 0.139],
                [[2, 3], -0.0791],
                [[2, 3], -0.0861],
                [[2, 3], -0.118],
                [[2, 3], 0.159],
                [[2, 3], -0.457],
            ],
        ),
        (lambda: d(keras.activations.relu(c(6), 0.1, 0.5, 0.2)), [[6], 0.0776]),
    ],
)
def test_initializers_constraints_regularizers_and_activations_have_their_formulas(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: stopped(keras.callbacks.EarlyStopping(patience=1), 3.0, 2.0, 2.5, 2.1, 1.0), [2, [2]]),
        (lambda: stopped(keras.callbacks.EarlyStopping(), 3.0, 2.0, 2.5), [2, [2]]),
        (lambda: stopped(keras.callbacks.EarlyStopping(min_delta=0.5, patience=1), 3.0, 2.8, 2.7, 2.6), [1, [1]]),
        (lambda: stopped(keras.callbacks.EarlyStopping(patience=1, restore_best_weights=True), 3.0, 2.0, 2.5, 2.1, 1.0), [2, [1]]),
        (lambda: stopped(keras.callbacks.EarlyStopping("val_acc", patience=1), 0.3, 0.5, 0.4, 0.2, key="val_acc"), [2, [2]]),
        (lambda: stopped(keras.callbacks.EarlyStopping("val_loss", mode="max", patience=1), 3.0, 2.0, 1.0), [1, [1]]),
        (lambda: stopped(keras.callbacks.EarlyStopping(baseline=1.0, patience=2), 3.0, 2.0, 1.5), [1, [1]]),
        (lambda: stopped(keras.callbacks.EarlyStopping("other"), 3.0, 4.0), [None, [1]]),
        (lambda: rates(keras.callbacks.ReduceLROnPlateau(patience=1), 3.0, 3.0, 3.0, 3.0), [0.1, 0.01, 0.001, 0.0001]),
        (
            lambda: rates(
                keras.callbacks.ReduceLROnPlateau(factor=0.5, patience=2, cooldown=1, min_delta=0.5), 3.0, 2.9, 2.8, 2.7, 2.6, 2.5
            ),
            [0.1, 0.1, 0.05, 0.05, 0.025, 0.025],
        ),
        (lambda: rates(keras.callbacks.ReduceLROnPlateau(factor=0.5, patience=1, min_lr=0.04), 3.0, 3.0, 3.0), [0.1, 0.05, 0.04]),
        (lambda: rates(keras.callbacks.ReduceLROnPlateau(mode="max", patience=1), 3.0, 4.0, 5.0, 4.0), [0.1, 0.1, 0.1, 0.01]),
        (lambda: rates(keras.callbacks.LearningRateScheduler(lambda e: 0.5 / (e + 1)), 1.0, 1.0), [0.5, 0.25]),
        (lambda: rates(keras.callbacks.LearningRateScheduler(lambda e, lr: lr * 0.5), 1.0, 1.0), [0.05, 0.025]),
    ],
)
def test_callbacks_watch_what_they_are_told(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (lambda: keras.losses.get("wrong"), ValueError, "Unknown loss function:wrong"),
        (lambda: keras.losses.get(3), ValueError, "('Could not interpret loss function identifier:', 3)"),
        (
            lambda: keras.losses.MeanSquaredError(reduction="wrong")(tf.constant(Y), tf.constant(P)),
            ValueError,
            "Invalid Reduction Key wrong.",
        ),
        (lambda: keras.metrics.AUC(1), ValueError, "`num_thresholds` must be > 1."),
        (lambda: keras.metrics.AUC(curve="wrong"), ValueError, 'Invalid AUC curve value "wrong".'),
        (lambda: keras.metrics.AUC(summation_method="wrong"), ValueError, 'Invalid AUC summation method value "wrong".'),
        (lambda: keras.metrics.Precision([1.5]), ValueError, "Threshold values must be in [0, 1]. Invalid values: [1.5]"),
        (lambda: keras.metrics.SensitivityAtSpecificity(2.0), ValueError, "`specificity` must be in the range [0, 1]."),
        (lambda: keras.metrics.SensitivityAtSpecificity(0.5, 0), ValueError, "`num_thresholds` must be > 0."),
        (lambda: keras.metrics.get("wrong"), ValueError, "Unknown metric function:wrong"),
        (
            lambda: trained(keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5))),
            AttributeError,
            "'RefVariable' object has no attribute 'handle'",
        ),
        (
            lambda: trained(keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5, staircase=True))),
            AttributeError,
            "'RefVariable' object has no attribute 'handle'",
        ),
        (
            lambda: trained(keras.optimizers.SGD(keras.optimizers.schedules.PiecewiseConstantDecay([1, 2], [0.1, 0.05, 0.01]))),
            AttributeError,
            "'RefVariable' object has no attribute 'handle'",
        ),
        (
            lambda: trained(keras.optimizers.SGD(keras.optimizers.schedules.PolynomialDecay(0.1, 3, 0.01, 2.0))),
            AttributeError,
            "'RefVariable' object has no attribute 'handle'",
        ),
        (
            lambda: trained(keras.optimizers.SGD(keras.optimizers.schedules.InverseTimeDecay(0.1, 1, 0.5))),
            AttributeError,
            "'RefVariable' object has no attribute 'handle'",
        ),
        (lambda: keras.optimizers.get("wrong"), ValueError, "Unknown optimizer: wrong"),
        (lambda: keras.optimizers.get(3), ValueError, "('Could not interpret optimizer identifier:', 3)"),
        (lambda: keras.optimizers.SGD(0.1, wrong=3), TypeError, "Unexpected keyword argument passed to optimizer: wrong"),
        (lambda: keras.optimizers.SGD(0.1, clipnorm=-1), ValueError, "Expected clipnorm >= 0, received: -1"),
        (lambda: keras.activations.get("wrong"), ValueError, "Unknown activation function:wrong"),
        (lambda: keras.activations.softmax(c(3)), ValueError, "Cannot apply softmax to a tensor that is 1D. Received input:"),
        (lambda: keras.constraints.get(3), ValueError, "Could not interpret constraint identifier: 3"),
        (lambda: keras.regularizers.get("wrong"), ValueError, "Unknown regularizer:wrong"),
        (lambda: keras.initializers.get(3), ValueError, "Could not interpret initializer identifier: 3"),
        (lambda: keras.callbacks.ReduceLROnPlateau(factor=1.0), ValueError, "ReduceLROnPlateau does not support a factor >= 1.0."),
    ],
)
def test_mistakes_are_refused(made, error, message):
    with pytest.raises(error) as caught:
        computed(made())
    assert message in str(caught.value)


class _Doubled:
    """An activation that is an object."""

    def __init__(self, times=2):
        self.times = times

    def get_config(self):
        return {"times": self.times}

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    def __call__(self, x):
        return x * self.times


def test_activations_that_are_objects():
    written = tf.keras.activations.serialize(_Doubled(3))
    assert written == {"class_name": "_Doubled", "config": {"times": 3}}
    with tf.keras.utils.custom_object_scope({"_Doubled": _Doubled}):
        assert tf.keras.activations.get(written).times == 3
        layer = tf.keras.layers.Dense.from_config(tf.keras.layers.Dense(2, activation=_Doubled(4)).get_config())
        assert layer.activation.times == 4
    with pytest.raises(ValueError, match="Unknown activation: _Doubled"):
        tf.keras.activations.get(written)
    with pytest.raises(ValueError, match="Cannot serialize"):
        tf.keras.activations.serialize(object())
