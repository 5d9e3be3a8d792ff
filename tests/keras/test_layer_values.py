"""What layers compute, against numpy; and that a layer made from its config computes the same."""

import numpy as np
import pytest

import everflow as tf

L, K = tf.keras.layers, tf.keras.backend
X = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]], np.float32)
STEPS = np.arange(12, dtype=np.float32).reshape(1, 6, 2)
IMAGE = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
VOLUME = np.arange(64, dtype=np.float32).reshape(1, 4, 4, 4, 1)
plane = lambda rows: np.array(rows, np.float32)[None, :, :, None]


def pad(x, *sizes):
    return np.pad(x, ((0, 0), *sizes, (0, 0)))


@pytest.mark.parametrize(
    ("make", "x", "expected"),
    [
        (lambda: L.Dense(2, kernel_initializer="ones", bias_initializer="ones"), X, X.sum(1, keepdims=True).repeat(2, 1) + 1),
        (lambda: L.Dense(1, activation="relu", use_bias=False, kernel_initializer=tf.keras.initializers.Constant(-1.0)), X, [[0.0], [0.0]]),
        (lambda: L.Dense(1, kernel_initializer="ones"), STEPS, STEPS.sum(-1, keepdims=True)),
        (lambda: L.Activation("tanh"), X, np.tanh(X)),
        (lambda: L.LeakyReLU(0.2), X, np.where(X > 0, X, 0.2 * X)),
        (lambda: L.ELU(0.5), X, np.where(X > 0, X, 0.5 * (np.exp(X) - 1))),
        (lambda: L.ThresholdedReLU(0.7), X, np.where(X > 0.7, X, 0)),
        (lambda: L.PReLU(tf.keras.initializers.Constant(0.25)), X, np.where(X > 0, X, 0.25 * X)),
        (lambda: L.ReLU(2.0, 0.1), X, np.minimum(np.where(X > 0, X, 0.1 * X), 2)),
        (lambda: L.Softmax(axis=1), STEPS, np.exp(STEPS) / np.exp(STEPS).sum(1, keepdims=True)),
        (lambda: L.Flatten(), IMAGE, IMAGE.reshape(1, 16)),
        (lambda: L.Reshape((3, -1)), STEPS, STEPS.reshape(1, 3, 4)),
        (lambda: L.Permute((2, 1)), STEPS, STEPS.transpose(0, 2, 1)),
        (lambda: L.RepeatVector(2), X, np.stack([X, X], 1)),
        (lambda: L.Lambda(lambda t: t * 2), X, X * 2),
        (lambda: L.Dropout(0.5), X, X),
        (lambda: L.SpatialDropout1D(0.5), STEPS, STEPS),
        (lambda: L.GaussianNoise(1.0), X, X),
        (lambda: L.GaussianDropout(0.5), X, X),
        (lambda: L.AlphaDropout(0.5), X, X),
        (lambda: L.ActivityRegularization(0.1, 0.1), X, X),
        (lambda: L.Masking(), X, X),
        (lambda: L.Embedding(3, 2, embeddings_initializer="ones"), np.array([[0, 2]]), np.ones((1, 2, 2))),
        (lambda: L.MaxPooling1D(2), STEPS, STEPS[:, 1::2]),
        (lambda: L.AveragePooling1D(3, 1), STEPS, (STEPS[:, :-2] + STEPS[:, 1:-1] + STEPS[:, 2:]) / 3),
        (lambda: L.MaxPooling2D(2), IMAGE, plane([[5, 7], [13, 15]])),
        (lambda: L.MaxPooling2D(3, 2, "same"), IMAGE, plane([[10, 11], [14, 15]])),
        (lambda: L.AveragePooling2D((2, 4)), IMAGE, plane([[3.5], [11.5]])),
        (lambda: L.MaxPooling3D(2), VOLUME, VOLUME[:, 1::2, 1::2, 1::2]),
        (lambda: L.AveragePooling3D(4), VOLUME, [[[[[31.5]]]]]),
        (lambda: L.GlobalMaxPooling1D(), STEPS, STEPS.max(1)),
        (lambda: L.GlobalAveragePooling1D(), STEPS, STEPS.mean(1)),
        (lambda: L.GlobalMaxPooling2D(), IMAGE, [[15]]),
        (lambda: L.GlobalAveragePooling2D("channels_first"), IMAGE, IMAGE.mean((2, 3))),
        (lambda: L.GlobalAveragePooling3D(), VOLUME, [[31.5]]),
        (lambda: L.GlobalMaxPooling3D(), VOLUME, [[63]]),
        (lambda: L.UpSampling1D(2), STEPS, STEPS.repeat(2, 1)),
        (lambda: L.UpSampling2D((1, 2)), IMAGE, IMAGE.repeat(2, 2)),
        (lambda: L.UpSampling3D((2, 1, 1)), VOLUME, VOLUME.repeat(2, 1)),
        (lambda: L.ZeroPadding1D((1, 2)), STEPS, pad(STEPS, (1, 2))),
        (lambda: L.ZeroPadding2D(((1, 0), (0, 2))), IMAGE, pad(IMAGE, (1, 0), (0, 2))),
        (lambda: L.ZeroPadding3D((1, 0, 2)), VOLUME, pad(VOLUME, (1, 1), (0, 0), (2, 2))),
        (lambda: L.Cropping1D((1, 2)), STEPS, STEPS[:, 1:-2]),
        (lambda: L.Cropping2D(((1, 0), (0, 2))), IMAGE, IMAGE[:, 1:, :-2]),
        (lambda: L.Cropping3D(1), VOLUME, VOLUME[:, 1:-1, 1:-1, 1:-1]),
        (lambda: L.Conv1D(1, 2, kernel_initializer="ones"), STEPS, (STEPS[:, :-1] + STEPS[:, 1:]).sum(-1, keepdims=True)),
        (
            lambda: L.Conv1D(1, 2, padding="causal", dilation_rate=2, kernel_initializer="ones"),
            STEPS,
            (STEPS + pad(STEPS, (2, 0))[:, :-2]).sum(-1, keepdims=True),
        ),
        (lambda: L.Conv2D(1, 2, strides=2, kernel_initializer="ones"), IMAGE, plane([[10, 18], [42, 50]])),
        (
            lambda: L.Conv2D(1, 3, padding="same", strides=2, kernel_initializer="ones", bias_initializer="ones"),
            IMAGE,
            plane([[46, 40], [67, 51]]),
        ),
        (lambda: L.Conv3D(1, 4, kernel_initializer="ones"), VOLUME, [[[[[2016]]]]]),
        (lambda: L.DepthwiseConv2D(4, depth_multiplier=2, depthwise_initializer="ones"), IMAGE, [[[[120, 120]]]]),
        (lambda: L.SeparableConv2D(3, 4, depthwise_initializer="ones", pointwise_initializer="ones"), IMAGE, [[[[120, 120, 120]]]]),
        (lambda: L.SeparableConv1D(1, 6, depthwise_initializer="ones", pointwise_initializer="ones"), STEPS, [[[66]]]),
        (lambda: L.Conv2DTranspose(1, 2, strides=2, kernel_initializer="ones"), IMAGE, IMAGE.repeat(2, 1).repeat(2, 2)),
        (lambda: L.Conv2DTranspose(1, 3, strides=2, output_padding=1, kernel_initializer="ones"), IMAGE[:, :1, :1], np.zeros((1, 4, 4, 1))),
        (lambda: L.Conv3DTranspose(1, 2, strides=2, kernel_initializer="ones"), VOLUME, VOLUME.repeat(2, 1).repeat(2, 2).repeat(2, 3)),
        (lambda: L.BatchNormalization(epsilon=3.0), X, X / 2),
        (lambda: L.LayerNormalization(epsilon=0.0), X, (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True)),
        (lambda: L.TimeDistributed(L.Dense(1, kernel_initializer="ones")), STEPS, STEPS.sum(-1, keepdims=True)),
        (lambda: L.LocallyConnected1D(1, 2, kernel_initializer="ones"), STEPS, (STEPS[:, :-1] + STEPS[:, 1:]).sum(-1, keepdims=True)),
        (lambda: L.SimpleRNN(1, activation=None, kernel_initializer="ones", recurrent_initializer="ones"), STEPS, [[66]]),
        (
            lambda: L.SimpleRNN(
                1, activation=None, kernel_initializer="ones", recurrent_initializer="ones", return_sequences=True, go_backwards=True
            ),
            STEPS,
            STEPS[:, ::-1].sum(-1, keepdims=True).cumsum(1),
        ),
        (lambda: L.GRU(2, kernel_initializer="zeros", recurrent_initializer="zeros"), STEPS, [[0, 0]]),
        (lambda: L.LSTM(2, kernel_initializer="zeros", recurrent_initializer="zeros"), STEPS, [[0, 0]]),
    ],
)
def test_layers_compute_what_they_say(make, x, expected):
    layer = make()
    inputs = tf.keras.Input(batch_shape=(None, *np.shape(x)[1:]), dtype="float32" if x.dtype == np.float32 else "int32")
    model = tf.keras.Model(inputs, layer(inputs))
    np.testing.assert_allclose(model.predict(x), expected, rtol=1e-5, atol=1e-5)
    assert tuple(layer.compute_output_shape(tf.TensorShape((1, *np.shape(x)[1:]))))[1:] == np.shape(expected)[1:]
    again = tf.keras.Model.from_config(model.get_config()) if not isinstance(layer, L.Lambda) else model
    again.set_weights(model.get_weights())
    np.testing.assert_allclose(again.predict(x), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("merge", "expected"),
    [
        (lambda a, b: L.add([a, b]), 3 * X),
        (lambda a, b: L.subtract([a, b]), -X),
        (lambda a, b: L.multiply([a, b]), 2 * X**2),
        (lambda a, b: L.average([a, b]), 1.5 * X),
        (lambda a, b: L.maximum([a, b]), np.maximum(X, 2 * X)),
        (lambda a, b: L.minimum([a, b]), np.minimum(X, 2 * X)),
        (lambda a, b: L.concatenate([a, b]), np.hstack([X, 2 * X])),
        (lambda a, b: L.concatenate([a, b], axis=0), np.vstack([X, 2 * X])),
        (lambda a, b: L.dot([a, b], 1), 2 * (X**2).sum(1, keepdims=True)),
        (lambda a, b: L.dot([a, b], 1, normalize=True), [[1], [1]]),
    ],
)
def test_merging_layers_join_their_inputs(merge, expected):
    a, b = tf.keras.Input((3,)), tf.keras.Input((3,))
    out = merge(a, b)
    np.testing.assert_allclose(K.function([a, b], [out])([X, 2 * X])[0], expected, rtol=1e-5)


def test_merging_broadcasts_and_checks():
    a = tf.keras.Input((2, 3))
    with pytest.raises(ValueError, match="at least 2 inputs"):
        L.Add()([a])
    with pytest.raises(ValueError, match="matching shapes except for the concat axis"):
        L.Concatenate(axis=1)([tf.keras.Input((2, 3)), tf.keras.Input((2, 4))])
    with pytest.raises(ValueError, match="exactly 2 inputs"):
        L.Subtract()([a, a, a])
    with pytest.raises(ValueError, match="Operands could not be broadcast"):
        L.Add()([tf.keras.Input((2,)), tf.keras.Input((3,))])
    assert L.Add()([tf.keras.Input((1, 3)), tf.keras.Input((2, 1))]).shape.as_list() == [None, 2, 3]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: L.Dense(2)(tf.keras.Input((None,))), "last dimension of the inputs to `Dense` should be defined"),
        (lambda: L.Conv2D(1, 2, padding="wide"), "padding"),
        (lambda: L.Conv2D(1, (2, 2, 2)), "must be a tuple of 2 integers"),
        (lambda: L.Cropping2D((1, 2, 3)), "`cropping` should have two elements"),
        (lambda: L.ZeroPadding3D((1, 2)), "`padding` should have 3 elements"),
        (lambda: L.BatchNormalization(axis=5)(tf.keras.Input((3,))), "Invalid axis"),
        (lambda: L.TimeDistributed("dense"), "Please initialize `TimeDistributed`"),
        (lambda: L.RNN("cell"), "`call` method"),
        (lambda: L.Permute((1, 3)), "consecutive"),
        (lambda: L.UpSampling2D(2, interpolation="best"), "interpolation"),
        (lambda: L.Dense(2)(np.zeros((2,), "f")), "expected min_ndim=2"),
    ],
)
def test_layers_name_what_is_wrong(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_training_adds_noise_and_normalizes_batches():
    x = tf.keras.Input((1000,))
    ones = np.ones((2, 1000), np.float32)
    run = lambda layer: K.function([x], [layer(x, training=True)])([ones])[0]
    kept = run(L.Dropout(0.25, seed=1))
    assert set(np.unique(kept.round(3))) == {0.0, np.float32(1.333)}
    assert abs((kept == 0).mean() - 0.25) < 0.05
    assert abs(run(L.GaussianNoise(0.5)).std() - 0.5) < 0.05
    assert abs(run(L.GaussianDropout(0.5)).std() - 1.0) < 0.1
    columns = K.function([x], [L.Dropout(0.5, noise_shape=(1, None))(x, training=True)])([ones])[0]
    assert (columns[0] == columns[1]).all()
    batch = np.array([[1.0], [3.0]], np.float32)
    layer = L.BatchNormalization(momentum=0.9, epsilon=0.0)
    inputs = tf.keras.Input((1,))
    out = layer(inputs, training=True)
    np.testing.assert_allclose(K.function([inputs], [out], updates=layer.updates)([batch])[0], [[-1], [1]], rtol=1e-5)
    np.testing.assert_allclose([w.ravel()[0] for w in layer.get_weights()], [1, 0, 0.2, 1.0], rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("max_norm", [[3.0], [4.0]], [[1.2], [1.6]]),
        ("non_neg", [[-1.0], [2.0]], [[0.0], [2.0]]),
        ("unit_norm", [[3.0], [4.0]], [[0.6], [0.8]]),
        ("min_max_norm", [[0.3], [0.4]], [[0.6], [0.8]]),
    ],
)
def test_constraints_project(name, x, expected):
    made = (
        tf.keras.constraints.max_norm(2.0)
        if name == "max_norm"
        else tf.keras.constraints.min_max_norm(1.0, 2.0)
        if name == "min_max_norm"
        else tf.keras.constraints.get(name)
    )
    np.testing.assert_allclose(K.eval(made(K.constant(x))), expected, rtol=1e-4)
    assert type(tf.keras.constraints.deserialize(tf.keras.constraints.serialize(made))) is type(made)


def test_penalties_are_sums():
    x = K.constant([[1.0, -2.0]])
    r = tf.keras.regularizers
    assert [float(K.eval(f(x))) for f in (r.l1(0.5), r.l2(0.5), r.l1_l2(1.0, 2.0))] == [1.5, 2.5, 13.0]
    assert r.l1_l2(0.5, 0.25).get_config() == {"l1": 0.5, "l2": 0.25}
    with pytest.raises(ValueError, match="Could not interpret regularizer"):
        r.get(3)
