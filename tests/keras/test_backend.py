"""tf.keras.backend against numpy."""

import numpy as np
import pytest

import everflow as tf

K = tf.keras.backend
X = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]], np.float32)
CUBE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
P = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]], np.float32)
softmax = lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda X, CUBE, P: K.abs(X), np.abs(X)),
        (lambda X, CUBE, P: K.square(X), X**2),
        (lambda X, CUBE, P: K.sqrt(X), np.sqrt(np.maximum(X, 0))),
        (lambda X, CUBE, P: K.exp(X), np.exp(X)),
        (lambda X, CUBE, P: K.sign(X), np.sign(X)),
        (lambda X, CUBE, P: K.round(X), np.round(X)),
        (lambda X, CUBE, P: K.pow(X, 3), X**3),
        (lambda X, CUBE, P: K.clip(X, -1, 1), np.clip(X, -1, 1)),
        (lambda X, CUBE, P: K.clip(X, 2, 1), np.full_like(X, 2)),
        (lambda X, CUBE, P: K.log(P), np.log(P)),
        (lambda X, CUBE, P: K.sin(X), np.sin(X)),
        (lambda X, CUBE, P: K.cos(X), np.cos(X)),
        (lambda X, CUBE, P: K.tanh(X), np.tanh(X)),
        (lambda X, CUBE, P: K.sigmoid(X), 1 / (1 + np.exp(-X))),
        (lambda X, CUBE, P: K.hard_sigmoid(X), np.clip(0.2 * X + 0.5, 0, 1)),
        (lambda X, CUBE, P: K.softplus(X), np.log1p(np.exp(X))),
        (lambda X, CUBE, P: K.softsign(X), X / (1 + np.abs(X))),
        (lambda X, CUBE, P: K.softmax(X), softmax(X)),
        (lambda X, CUBE, P: K.softmax(X, axis=0), softmax(X.T).T),
        (lambda X, CUBE, P: K.elu(X, 0.5), np.where(X > 0, X, 0.5 * (np.exp(X) - 1))),
        (lambda X, CUBE, P: K.relu(X), np.maximum(X, 0)),
        (lambda X, CUBE, P: K.relu(X, alpha=0.1), np.where(X > 0, X, 0.1 * X)),
        (lambda X, CUBE, P: K.relu(X, max_value=2), np.clip(X, 0, 2)),
        (lambda X, CUBE, P: K.relu(X, threshold=1), np.where(X > 1, X, 0)),
        (lambda X, CUBE, P: K.relu(X, alpha=0.5, max_value=3.5, threshold=1), np.where(X >= 3.5, 3.5, np.where(X > 1, X, 0.5 * (X - 1)))),
        (lambda X, CUBE, P: K.maximum(X, 0.7), np.maximum(X, 0.7)),
        (lambda X, CUBE, P: K.minimum(X, 0.7), np.minimum(X, 0.7)),
        (lambda X, CUBE, P: K.equal(X, 3.0), X == 3),
        (lambda X, CUBE, P: K.not_equal(X, 3.0), X != 3),
        (lambda X, CUBE, P: K.greater(X, 1.0), X > 1),
        (lambda X, CUBE, P: K.greater_equal(X, 1.0), X >= 1),
        (lambda X, CUBE, P: K.less(X, 1.0), X < 1),
        (lambda X, CUBE, P: K.less_equal(X, 1.0), X <= 1),
        (lambda X, CUBE, P: K.sum(X, axis=1), X.sum(1)),
        (lambda X, CUBE, P: K.sum(X, 0, keepdims=True), X.sum(0, keepdims=True)),
        (lambda X, CUBE, P: K.prod(X), X.prod()),
        (lambda X, CUBE, P: K.mean(X, axis=-1), X.mean(-1)),
        (lambda X, CUBE, P: K.mean(X > 0), 4 / 6),
        (lambda X, CUBE, P: K.var(X, 1), X.var(1)),
        (lambda X, CUBE, P: K.std(X, 1), X.std(1)),
        (lambda X, CUBE, P: K.max(X, 1), X.max(1)),
        (lambda X, CUBE, P: K.min(X, 0), X.min(0)),
        (lambda X, CUBE, P: K.argmax(X), X.argmax(-1)),
        (lambda X, CUBE, P: K.argmin(X, 0), X.argmin(0)),
        (lambda X, CUBE, P: K.any(X > 3, axis=1), [False, True]),
        (lambda X, CUBE, P: K.all(X > -3), True),
        (lambda X, CUBE, P: K.cumsum(X, 1), X.cumsum(1)),
        (lambda X, CUBE, P: K.cumprod(X, 0), X.cumprod(0)),
        (lambda X, CUBE, P: K.l2_normalize(X, 1), X / np.linalg.norm(X, axis=1, keepdims=True)),
        (lambda X, CUBE, P: K.transpose(X), X.T),
        (lambda X, CUBE, P: K.permute_dimensions(CUBE, (2, 0, 1)), CUBE.transpose(2, 0, 1)),
        (lambda X, CUBE, P: K.reshape(X, (3, -1)), X.reshape(3, 2)),
        (lambda X, CUBE, P: K.flatten(CUBE), CUBE.ravel()),
        (lambda X, CUBE, P: K.batch_flatten(CUBE), CUBE.reshape(2, 12)),
        (lambda X, CUBE, P: K.expand_dims(X, 1), X[:, None]),
        (lambda X, CUBE, P: K.squeeze(X[:1], 0), X[0]),
        (lambda X, CUBE, P: K.concatenate([X, X], 0), np.concatenate([X, X])),
        (lambda X, CUBE, P: K.concatenate([X, X]), np.concatenate([X, X], -1)),
        (lambda X, CUBE, P: K.stack([X, X], 1), np.stack([X, X], 1)),
        (lambda X, CUBE, P: K.tile(X, [1, 2]), np.tile(X, (1, 2))),
        (lambda X, CUBE, P: K.repeat(X, 2), np.stack([X, X], 1)),
        (lambda X, CUBE, P: K.repeat_elements(X, 2, 1), X.repeat(2, 1)),
        (lambda X, CUBE, P: K.reverse(X, 1), X[:, ::-1]),
        (lambda X, CUBE, P: K.arange(2, 8, 3), [2, 5]),
        (lambda X, CUBE, P: K.gather(X, [1, 0, 1]), X[[1, 0, 1]]),
        (lambda X, CUBE, P: K.one_hot([0, 2], 3), np.eye(3)[[0, 2]]),
        (lambda X, CUBE, P: K.cast(X, "int32"), X.astype(int)),
        (lambda X, CUBE, P: K.dot(X, K.transpose(X)), X @ X.T),
        (lambda X, CUBE, P: K.dot(CUBE, K.transpose(CUBE[0])), CUBE @ CUBE[0].T),
        (lambda X, CUBE, P: K.batch_dot(X, X, axes=1), (X * X).sum(1, keepdims=True)),
        (lambda X, CUBE, P: K.batch_dot(CUBE, CUBE, axes=(2, 2)), CUBE @ CUBE.transpose(0, 2, 1)),
        (lambda X, CUBE, P: K.temporal_padding(CUBE, (1, 2)), np.pad(CUBE, ((0, 0), (1, 2), (0, 0)))),
        (lambda X, CUBE, P: K.bias_add(CUBE, np.arange(4.0, dtype="f")), CUBE + np.arange(4)),
        (lambda X, CUBE, P: K.eye(2), np.eye(2)),
        (lambda X, CUBE, P: K.zeros((2, 1)), [[0], [0]]),
        (lambda X, CUBE, P: K.ones_like(X), np.ones_like(X)),
        (lambda X, CUBE, P: K.shape(CUBE), [2, 3, 4]),
        (lambda X, CUBE, P: K.in_top_k(P, [2, 1], 1), [True, False]),
        (lambda X, CUBE, P: K.switch(K.constant(True, dtype="bool"), X, -X), X),
        (lambda X, CUBE, P: K.categorical_crossentropy(K.constant(np.eye(3)[[0, 1]]), P), -np.log([0.2, 0.3])),
        (
            lambda X, CUBE, P: K.categorical_crossentropy(K.constant(np.eye(3)[[0, 1]]), X, from_logits=True),
            -np.log(softmax(X))[[0, 1], [0, 1]],
        ),
        (lambda X, CUBE, P: K.categorical_crossentropy(K.constant(np.eye(3)[[0, 1]]), 2 * P), -np.log([0.2, 0.3])),
        (lambda X, CUBE, P: K.sparse_categorical_crossentropy(K.constant([0, 1]), P), -np.log([0.2, 0.3])),
        (lambda X, CUBE, P: K.binary_crossentropy(K.constant([1.0, 0.0]), K.constant([0.2, 0.7])), -np.log([0.2, 0.3])),
        (
            lambda X, CUBE, P: K.binary_crossentropy(K.constant([1.0, 0.0]), K.constant([3.0, -1.0]), from_logits=True),
            np.log1p(np.exp([-3.0, -1.0])),
        ),
    ],
)
def test_functions_are_those_of_numpy(made, expected):
    np.testing.assert_allclose(K.eval(made(K.constant(X), K.constant(CUBE), K.constant(P))), expected, rtol=1e-5, atol=1e-6)


def test_values_say_what_they_are():
    x = K.placeholder((None, 3), name="x")
    assert K.int_shape(x) == (None, 3)
    assert K.ndim(x) == 2
    assert K.dtype(x) == "float32"
    assert not K.is_sparse(x)
    assert K.is_sparse(K.placeholder((2, 2), sparse=True))
    assert K.count_params(K.variable(X)) == 6
    v = K.variable(X, dtype="float64", name="v")
    assert K.dtype(v) == "float64"
    K.set_value(v, X + 1)
    np.testing.assert_allclose(K.get_value(v), X + 1)
    K.batch_set_value([(v, X)])
    np.testing.assert_allclose(K.batch_get_value([v])[0], X)


def test_functions_feed_fetch_and_update():
    x, v = K.placeholder((2,)), K.variable(1.0)
    f = K.function([x], [x * 2, K.sum(x)], updates=[(v, v + 1)])
    doubled, total = f([np.array([1.0, 2.0])])
    assert doubled.tolist() == [2, 4]
    assert total == 3
    f([np.array([1.0, 2.0])])
    assert K.get_value(v) == 3
    (slope,) = K.gradients(K.sum(x**3), [x])
    assert K.function([x], [slope])([np.array([1.0, 2.0])])[0].tolist() == [3, 12]
    assert K.function([x], K.stop_gradient(x) * 3)([np.array([1.0, 2.0])]).tolist() == [3, 6]


def test_averages_move_and_batches_are_normalized():
    v, x = K.variable([1.0]), K.placeholder((1,))
    moved = K.moving_average_update(v, x, 0.75)
    K.get_session().run(tf.global_variables_initializer())
    for value, average in ((3.0, 3.0), (1.0, (0.75 * 0.25 * 3 + 0.25) / (1 - 0.75**2))):
        K.get_session().run(moved, {x: [value]})
        np.testing.assert_allclose(K.get_value(v), [average], rtol=1e-6)
    y, mean, variance = K.normalize_batch_in_training(K.constant(X), K.ones((3,)), K.zeros((3,)), [0], epsilon=0.0)
    np.testing.assert_allclose(K.eval(mean), X.mean(0))
    np.testing.assert_allclose(K.eval(variance), X.var(0), rtol=1e-5)
    np.testing.assert_allclose(K.eval(y), (X - X.mean(0)) / X.std(0), rtol=1e-4)
    y = K.batch_normalization(
        K.constant(X), K.constant([1.0, 1, 1]), K.constant([4.0, 4, 4]), K.ones((3,)), K.constant([2.0, 2, 2]), epsilon=0.0
    )
    np.testing.assert_allclose(K.eval(y), (X - 1) / 2 * 2 + 1, rtol=1e-5)


def test_steps_follow_each_other():
    step = lambda x, states: (x + states[0], [x + states[0]])
    last, outputs, states = K.rnn(step, K.constant(CUBE), [K.zeros((2, 4))])
    np.testing.assert_allclose(K.eval(outputs), CUBE.cumsum(1))
    np.testing.assert_allclose(K.eval(last), CUBE.sum(1))
    _, outputs, _ = K.rnn(step, K.constant(CUBE), [K.zeros((2, 4))], go_backwards=True, unroll=True, input_length=3)
    np.testing.assert_allclose(K.eval(outputs), CUBE[:, ::-1].cumsum(1))
    mask = K.cast(K.constant([[1, 0, 1], [1, 1, 0]]), "bool")
    last, _, states = K.rnn(step, K.constant(CUBE), [K.zeros((2, 4))], mask=mask)
    np.testing.assert_allclose(K.eval(states[0]), [CUBE[0, 0] + CUBE[0, 2], CUBE[1, 0] + CUBE[1, 1]])


def test_python_loops_over_elements():
    np.testing.assert_allclose(K.eval(K.map_fn(lambda r: r * 2, K.constant(X))), X * 2)
    np.testing.assert_allclose(K.eval(K.foldl(lambda a, r: a - r, K.constant(X))), X[0] - X[1])
    np.testing.assert_allclose(K.eval(K.foldr(lambda a, r: a - r, K.constant(X))), X[1] - X[0])


def test_windows_and_images():
    image = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    np.testing.assert_allclose(K.eval(K.pool2d(K.constant(image), (2, 2), (2, 2)))[0, :, :, 0], [[5, 7], [13, 15]])
    np.testing.assert_allclose(K.eval(K.pool2d(K.constant(image), (2, 2), (2, 2), pool_mode="avg"))[0, :, :, 0], [[2.5, 4.5], [10.5, 12.5]])
    np.testing.assert_allclose(K.eval(K.conv2d(K.constant(image), K.ones((2, 2, 1, 1)), (2, 2)))[0, :, :, 0], [[10, 18], [42, 50]])
    np.testing.assert_allclose(
        K.eval(K.resize_images(K.constant(image), 2, 1, "channels_last"))[0, :, :, 0], image[0, :, :, 0].repeat(2, 0)
    )
    np.testing.assert_allclose(
        K.eval(K.spatial_2d_padding(K.constant(image), ((1, 0), (0, 2)))), np.pad(image, ((0, 0), (1, 0), (0, 2), (0, 0)))
    )
    row = K.constant(np.arange(5.0).reshape(1, 5, 1))
    np.testing.assert_allclose(K.eval(K.conv1d(row, K.ones((2, 1, 1)), padding="causal")).ravel(), [0, 1, 3, 5, 7])
    with pytest.raises(ValueError, match="data_format"):
        K.conv2d(K.constant(image), K.ones((2, 2, 1, 1)), data_format="rows")


def test_the_phase_decides():
    x = K.constant(2.0)
    chosen = K.in_train_phase(x, x * 10)
    run = K.function([K.learning_phase()], [chosen])
    assert [run([phase])[0] for phase in (0, 1)] == [20, 2]
    K.set_learning_phase(1)
    assert K.learning_phase() == 1
    with pytest.raises(ValueError, match="Expected learning phase to be 0 or 1"):
        K.set_learning_phase(2)
    K.clear_session()


def test_settings_are_kept_and_checked():
    assert (K.floatx(), K.epsilon(), K.image_data_format()) == ("float32", 1e-7, "channels_last")
    try:
        K.set_floatx("float64")
        K.set_epsilon(1e-3)
        K.set_image_data_format("channels_first")
        assert K.dtype(K.zeros((1,))) == "float64"
        assert K.epsilon() == 1e-3
        assert K.image_data_format() == "channels_first"
    finally:
        K.set_floatx("float32")
        K.set_epsilon(1e-7)
        K.set_image_data_format("channels_last")
    with pytest.raises(ValueError, match="Unknown floatx type"):
        K.set_floatx("int8")
    with pytest.raises(ValueError, match="Unknown data_format"):
        K.set_image_data_format("rows")
    assert [K.get_uid("of_a_test") for _ in range(2)] == [1, 2]


def test_labels_that_are_read_from_paths_cost_their_paths():
    # Two classes and a blank, two steps: "0" is read from 00, 0- and -0.
    probabilities = np.array([[[0.6, 0.1, 0.3], [0.5, 0.2, 0.3]]], np.float32)
    cost = K.ctc_batch_cost(K.constant([[0]]), K.constant(probabilities), K.constant([[2]]), K.constant([[1]]))
    np.testing.assert_allclose(K.eval(cost), [[-np.log(0.6 * 0.5 + 0.6 * 0.3 + 0.3 * 0.5)]], rtol=1e-4)
    paths, _ = K.ctc_decode(K.constant(probabilities), K.constant([2], dtype="int32"))
    assert K.eval(paths[0]).tolist() == [[0]]


def test_random_numbers_have_their_moments():
    for made, mean, deviation in (
        (K.random_normal((2000,), 1.0, 2.0, seed=1), 1.0, 2.0),
        (K.random_uniform((2000,), 2.0, 4.0, seed=1), 3.0, 0.577),
        (K.random_binomial((2000,), 0.25, seed=1), 0.25, 0.433),
        (K.truncated_normal((2000,), 1.0, 1.0, seed=1), 1.0, 0.88),
    ):
        values = K.eval(made)
        assert abs(values.mean() - mean) < 0.15
        assert abs(values.std() - deviation) < 0.15
    kept = K.eval(K.dropout(K.ones((2000,)), 0.25, seed=2))
    assert set(np.unique(kept.round(4))) == {0.0, np.float32(1.3333)}
    assert abs((kept == 0).mean() - 0.25) < 0.05
