"""Arguments that layers, pictures, words and optimizers of the first generation seldom get; values are those of TensorFlow 1.15.5."""

import os
import tempfile

import numpy as np
import pytest
from plain import plain

import everflow as tf
from everflow.internals import module

first, inner = module("python.keras.optimizers"), module("python.keras.backend")
K, L, keras, P = tf.keras.backend, tf.keras.layers, tf.keras, tf.keras.preprocessing
cells = tf.nn.rnn_cell


def some(*shape):
    return np.sin(np.arange(np.prod(shape, dtype=int))).reshape(shape).astype(np.float32)


X, Y = some(4, 2), some(4, 1)
SEQUENCE = some(2, 3, 2)


def value(x):
    return K.get_session().run(x)


def filled(layer):
    layer.set_weights([some(*w.shape) for w in layer.get_weights()])
    return layer


def through(layer, *xs, **kwargs):
    """What a layer with weights of a sine makes of arrays."""
    out = layer([tf.constant(x) for x in xs] if len(xs) > 1 else tf.constant(xs[0]), **kwargs)
    filled(layer)
    return value(out)


def recurred(cell, state=None, **kwargs):
    layer = L.RNN(cell, **kwargs)
    out = layer(tf.constant(SEQUENCE), initial_state=state)
    filled(layer)
    return [value(out), layer.states if not layer.stateful else None]


def model(optimizer="sgd", loss="mse", make=None, **kwargs):
    made = keras.Sequential([L.Dense(1, kernel_initializer="ones", input_shape=(2,)) if make is None else make()])
    made.compile(optimizer, loss, **kwargs)
    return made


def old(make, steps=2, **kwargs):
    """Weights after some steps of an optimizer of the first generation, and what it keeps."""
    optimizer = make(**kwargs)
    made = model(optimizer)
    for _ in range(steps):
        made.train_on_batch(X, Y)
    return [made.get_weights(), [w.name for w in optimizer.weights], sorted(optimizer.get_config().items())]


def dropped(layer, x, training):
    """The share of zeros."""
    return float(np.mean(value(layer(tf.constant(x), training=training)) == 0))


def penalized(**kwargs):
    return L.Dense(1, kernel_initializer="ones", activity_regularizer="l2", kernel_regularizer="l1", input_shape=(2,), **kwargs)


def history(made, **kwargs):
    return made.fit(X, Y, verbose=0, shuffle=False, batch_size=2, **kwargs).history


PICTURE = some(3, 4, 4)


def seeded(change, *args, **kwargs):
    np.random.seed(3)
    return change(*args, **kwargs)


def exported(**kwargs):
    """The files of an exported model."""
    made = model()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m")
        keras.experimental.export_saved_model(made, path, **kwargs)
        again = keras.experimental.load_from_saved_model(path) if not kwargs.get("serving_only") else made
        return [sorted(os.path.relpath(os.path.join(d, f), path) for d, _, fs in os.walk(path) for f in fs), again.predict(X)]


def text(*words, **kwargs):
    tokenizer = P.text.Tokenizer(**kwargs)
    tokenizer.fit_on_texts(words)
    return tokenizer


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: recurred(cells.BasicRNNCell(2)), [[[-0.6269, 0.8197], [-0.7694, 0.7771]], [None]]),
        (lambda: recurred(cells.LSTMCell(2)), [[[0.1725, 0.01689], [0.1754, 0.005653]], [None, None]]),
        (
            lambda: recurred(cells.LSTMCell(2), return_sequences=True, return_state=True),
            [
                [
                    [[[0.182, -0.333], [0.2677, -0.2438], [0.1725, 0.01689]], [[0.1147, -0.2431], [0.2886, -0.3297], [0.1754, 0.005653]]],
                    [[0.6164, 0.04745], [0.6383, 0.01462]],
                    [[0.1725, 0.01689], [0.1754, 0.005653]],
                ],
                [None, None],
            ],
        ),
        (lambda: recurred(cells.GRUCell(2), go_backwards=True), [[[-0.0003763, 0.4635], [0.02787, 0.4754]], [None]]),
        (lambda: recurred(cells.LSTMCell(2, state_is_tuple=False)), [[[0.1725, 0.01689], [0.1754, 0.005653]], [None]]),
        (
            lambda: recurred(cells.MultiRNNCell([cells.LSTMCell(2), cells.BasicRNNCell(3)])),
            [[[-0.09365, 0.6674, 0.7464], [-0.09227, 0.6655, 0.7442]], [[None, None], None]],
        ),
        (
            lambda: recurred([cells.BasicRNNCell(2), L.LSTMCell(3)]),
            [[[-0.3793, 0.138, 0.2032], [-0.3585, 0.1398, 0.2226]], [None, [None, None]]],
        ),
        (
            lambda: recurred([L.GRUCell(2), L.LSTMCell(3)], return_state=True),
            [
                [
                    [[-0.1591, 0.1673, 0.1433], [-0.1469, 0.1616, 0.1508]],
                    [[-0.1763, 0.4586], [-0.2201, 0.3729]],
                    [[[-0.1591, 0.1673, 0.1433], [-0.1469, 0.1616, 0.1508]], [[-0.2411, 0.4274, 0.7065], [-0.2275, 0.405, 0.6714]]],
                ],
                [None, [None, None]],
            ],
        ),
        (lambda: recurred(L.LSTMCell(2), [tf.ones([2, 2]), tf.zeros([2, 2])]), [[[-0.095, -0.2515], [-0.09803, -0.2607]], [None, None]]),
        (lambda: recurred(L.SimpleRNNCell(2), unroll=True), [[[0.01828, 0.6462], [-0.01928, 0.7586]], [None]]),
        (
            lambda: recurred(L.SimpleRNNCell(2), time_major=True, return_sequences=True),
            [[[[0.6441, 0.7444], [0.1276, 0.9256], [-0.7024, 0.06921]], [[0.8549, 0.8731], [0.8386, 0.9619], [-0.6892, -0.3263]]], [None]],
        ),
    ],
)
def test_cells_of_tf_run_in_keras(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: through(L.TimeDistributed(L.Dense(2)), SEQUENCE),
            [[[0.7651, 0.9602], [0.1283, 1.627], [-0.8719, 0.06932]], [[0.5974, 0.6991], [0.3747, 1.732], [-0.9093, 0.2426]]],
        ),
        (lambda: [dropped(L.TimeDistributed(L.Dropout(0.999999)), np.ones((2, 3, 2), np.float32), t) for t in (True, False)], [1.0, 0.0]),
        (
            lambda: [
                dropped(L.Bidirectional(L.LSTM(2, dropout=0.999999, use_bias=False)), np.ones((2, 3, 2), np.float32), t)
                for t in (True, False)
            ],
            [1.0, 0.0],
        ),
        (
            lambda: through(L.TimeDistributed(L.LSTM(2)), some(2, 2, 3, 2)),
            [[[-0.08147, -0.2253], [-0.08162, -0.2397]], [[-0.08098, -0.2708], [-0.08504, -0.3166]]],
        ),
        (lambda: through(L.Bidirectional(L.LSTM(2), merge_mode="ave"), SEQUENCE), [[-0.1781, -0.3353], [-0.1485, -0.3054]]),
        (
            lambda: through(L.Bidirectional(L.GRU(2, return_sequences=True), merge_mode="mul"), SEQUENCE),
            [[[0.2852, 0.01262], [0.2762, -0.09667], [-0.0256, 0.1665]], [[0.2117, 0.0371], [0.3042, -0.0834], [-0.0192, 0.1055]]],
        ),
        (lambda: through(L.Bidirectional(L.SimpleRNN(2), merge_mode="sum"), SEQUENCE), [[0.9187, 1.489], [0.8533, 1.61]]),
        (
            lambda: through(L.Bidirectional(L.LSTM(2), backward_layer=L.LSTM(2, go_backwards=True, activation="relu")), SEQUENCE),
            [[-0.08147, -0.2253, 0.0312, 0.0], [-0.08162, -0.2397, 0.01574, 0.0]],
        ),
        (lambda: through(L.LSTM(2, implementation=2, unit_forget_bias=False), SEQUENCE), [[-0.08147, -0.2253], [-0.08162, -0.2397]]),
        (lambda: through(L.GRU(2, reset_after=True, implementation=2), SEQUENCE), [[-0.206, 0.2863], [-0.2677, 0.1938]]),
        (lambda: through(L.GRU(2, reset_after=False, implementation=2), SEQUENCE), [[-0.1763, 0.4586], [-0.2201, 0.3729]]),
        (lambda: through(L.SimpleRNN(2, activation="relu", use_bias=False), SEQUENCE), [[0.4426, 0.0], [0.3577, 0.0]]),
        (
            lambda: through(L.ConvLSTM2D(1, 2, padding="same", return_sequences=True), some(1, 2, 2, 2, 1)),
            [[[[[0.07818], [0.2364]], [[0.2403], [0.1969]]], [[[0.276], [0.05355]], [[0.2597], [0.3612]]]]],
        ),
        (
            lambda: through(L.SeparableConv1D(2, 2, depth_multiplier=2, padding="causal"), SEQUENCE),
            [[[0.02347, 1.43], [-1.401, -0.4176], [1.226, 0.753]], [[0.262, 1.517], [-1.543, -0.1793], [0.9036, 0.3583]]],
        ),
        (lambda: through(L.SeparableConv2D(2, 2, strides=2), some(1, 3, 3, 2)), [[[[0.3353, 1.535]]]]),
        (
            lambda: through(L.DepthwiseConv2D(2, depth_multiplier=2, dilation_rate=1), some(1, 3, 3, 2)),
            [
                [
                    [[-1.495, 0.2701, 1.686, -0.0364], [1.843, 2.511, 0.09076, -1.531]],
                    [[-1.811, -0.1473, 1.807, 0.5073], [1.546, 2.483, 0.2573, -1.733]],
                ]
            ],
        ),
        (
            lambda: through(L.LocallyConnected1D(2, 2, implementation=2), SEQUENCE),
            [[[0.1871, 0.4686], [1.131, 0.02163]], [[0.2605, 0.5572], [1.197, 0.1844]]],
        ),
        (lambda: through(L.LocallyConnected2D(1, 2, implementation=1), some(1, 3, 3, 1)), [[[[0.7296], [-1.086]], [[0.2321], [1.438]]]]),
        (
            lambda: through(L.LocallyConnected2D(1, 2, implementation=2, strides=2), some(1, 4, 4, 1)),
            [[[[-1.294], [0.8765]], [[1.461], [1.21]]]],
        ),
        (lambda: through(L.Conv3D(1, 2, dilation_rate=1), some(1, 2, 2, 3, 1)), [[[[[-0.1615], [-2.009]]]]]),
        (
            lambda: through(L.Conv3DTranspose(1, 2, strides=2), some(1, 1, 2, 1, 1)),
            [
                [
                    [[[0.0], [0.0]], [[0.0], [0.0]], [[0.0], [0.7081]], [[0.7651], [0.1187]]],
                    [[[0.0], [0.0]], [[0.0], [0.0]], [[-0.6368], [-0.8069]], [[-0.2351], [0.5528]]],
                ]
            ],
        ),
        (
            lambda: through(L.Attention(use_scale=True), some(1, 2, 3), some(1, 2, 3)),
            [[[0.07056, 0.04233, -0.02481], [0.07056, 0.04233, -0.02481]]],
        ),
        (
            lambda: through(L.AdditiveAttention(), some(1, 2, 3), some(1, 2, 3), some(1, 2, 3)),
            [[[0.02328, 0.5779, 0.6012], [0.02254, 0.5862, 0.611]]],
        ),
        (lambda: through(L.Attention(causal=True), some(1, 2, 3), some(1, 2, 3)), [[[0.0, 0.8415, 0.9093], [0.1346, -0.6825, -0.8721]]]),
        (
            lambda: through(L.BatchNormalization(center=False, scale=False, epsilon=0.1), X),
            [[0.0, 0.0], [2.875, -0.7218], [-2.393, -1.856], [-0.8836, -0.1901]],
        ),
        (
            lambda: through(L.LayerNormalization(axis=1, center=False), some(2, 3, 2)),
            [[[0.0, 0.0], [1.059, 0.1512], [-1.077, -1.185]], [[-0.0, 0.0], [1.173, 0.4479], [-0.8134, -1.273]]],
        ),
        (
            lambda: through(L.PReLU(shared_axes=[1]), some(2, 3, 2)),
            [[[0.0, 0.8415], [0.9093, 0.1411], [0.0, -0.8069]], [[0.0, 0.657], [0.9894, 0.4121], [0.0, -0.8415]]],
        ),
        (
            lambda: [
                value(layer(tf.constant([-2.0, -0.5, 0.5, 2.0])))
                for layer in (L.LeakyReLU(), L.ELU(), L.ThresholdedReLU(), L.ReLU(1.0, 0.1, 0.2), L.Softmax(0))
            ],
            [
                [-0.6, -0.15, 0.5, 2.0],
                [-0.8647, -0.3935, 0.5, 2.0],
                [-0.0, -0.0, 0.0, 2.0],
                [-0.22, -0.07, 0.5, 1.0],
                [0.01384, 0.06202, 0.1686, 0.7556],
            ],
        ),
        (
            lambda: [
                value(layer(tf.constant(some(1, 4, 4, 1))))
                for layer in (L.MaxPooling2D(), L.AveragePooling2D(2, 1), L.MaxPool2D((2, 1), padding="same"))
            ],
            [
                [[[[0.8415], [0.9093]], [[0.9894], [0.9906]]]],
                [[[[-0.2186], [0.1281], [0.357]], [[-0.07856], [-0.3426], [-0.2916]], [[0.3213], [0.3197], [0.02422]]]],
                [[[[0.0], [0.8415], [0.9093], [0.657]], [[0.9894], [0.4202], [0.9906], [0.6503]]]],
            ],
        ),
        (
            lambda: [
                value(layer(tf.constant(some(1, 4, 2))))
                for layer in (
                    L.MaxPooling1D(),
                    L.AveragePooling1D(2, 1),
                    L.GlobalMaxPooling1D(),
                    L.UpSampling1D(),
                    L.ZeroPadding1D(),
                    L.Cropping1D(),
                    L.Flatten(),
                )
            ],
            [
                [[[0.9093, 0.8415], [-0.2794, 0.657]]],
                [[[0.4546, 0.4913], [0.07625, -0.4089], [-0.5181, -0.151]]],
                [[0.9093, 0.8415]],
                [
                    [
                        [0.0, 0.8415],
                        [0.0, 0.8415],
                        [0.9093, 0.1411],
                        [0.9093, 0.1411],
                        [-0.7568, -0.9589],
                        [-0.7568, -0.9589],
                        [-0.2794, 0.657],
                        [-0.2794, 0.657],
                    ]
                ],
                [[[0.0, 0.0], [0.0, 0.8415], [0.9093, 0.1411], [-0.7568, -0.9589], [-0.2794, 0.657], [0.0, 0.0]]],
                [[[0.9093, 0.1411], [-0.7568, -0.9589]]],
                [[0.0, 0.8415, 0.9093, 0.1411, -0.7568, -0.9589, -0.2794, 0.657]],
            ],
        ),
        (
            lambda: [
                value(layer(tf.constant(some(1, 4, 2)), mask=tf.constant([[True, False, True, True]])))
                for layer in (L.GlobalAveragePooling1D(),)
            ],
            [[[-0.3454, 0.1798]]],
        ),
        (
            lambda: [
                value(L.UpSampling2D(2, interpolation="bilinear")(tf.constant(some(1, 2, 2, 1)))),
                value(L.UpSampling3D()(tf.constant(some(1, 1, 1, 2, 1)))).shape,
            ],
            [
                [
                    [
                        [[0.0], [0.2104], [0.6311], [0.8415]],
                        [[0.2273], [0.3371], [0.5566], [0.6664]],
                        [[0.682], [0.5905], [0.4076], [0.3162]],
                        [[0.9093], [0.7173], [0.3332], [0.1411]],
                    ]
                ],
                [1, 2, 2, 4, 1],
            ],
        ),
        (lambda: [L.Layer().add_weight("w", ()).dtype.name, L.Layer().add_variable("v", (1,)).name], ["float32", "v:0"]),
        (lambda: K.placeholder((None, None, 3), ragged=True).shape, [None, None, 3]),
    ],
)
def test_layers_take_more_than_usual(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: old(first.SGD),
            [
                [[[0.979], [0.9661]], [0.0133]],
                ["SGD/iterations:0", "training/Variable:0", "training/Variable_1:0"],
                [["decay", 0.0], ["lr", 0.01], ["momentum", 0.0], ["nesterov", False]],
            ],
        ),
        (
            lambda: old(first.SGD, lr=0.1, momentum=0.9, decay=0.5, nesterov=True),
            [
                [[[0.7259], [0.5528]], [0.1745]],
                ["SGD/iterations:0", "training/Variable:0", "training/Variable_1:0"],
                [["decay", 0.5], ["lr", 0.1], ["momentum", 0.9], ["nesterov", True]],
            ],
        ),
        (
            lambda: old(first.RMSprop, lr=0.1),
            [
                [[[0.5033], [0.4787]], [0.3769]],
                ["training/Variable:0", "training/Variable_1:0"],
                [["decay", 0.0], ["epsilon", 1e-07], ["lr", 0.1], ["rho", 0.9]],
            ],
        ),
        (
            lambda: old(first.Adagrad, lr=0.1),
            [
                [[[0.8334], [0.8315]], [0.1596]],
                ["training/Variable:0", "training/Variable_1:0"],
                [["decay", 0.0], ["epsilon", 1e-07], ["lr", 0.1]],
            ],
        ),
        (
            lambda: old(first.Adadelta, lr=0.1),
            [
                [[[0.9997], [0.9997]], [0.0002846]],
                ["training/Variable:0", "training/Variable_1:0", "training/Variable_2:0", "training/Variable_3:0"],
                [["decay", 0.0], ["epsilon", 1e-07], ["lr", 0.1], ["rho", 0.95]],
            ],
        ),
        (
            lambda: old(first.Adam, lr=0.1, amsgrad=True),
            [
                [[[0.8005], [0.8002]], [0.1982]],
                [
                    "Adam/iterations:0",
                    "training/Variable:0",
                    "training/Variable_1:0",
                    "training/Variable_2:0",
                    "training/Variable_3:0",
                    "training/Variable_4:0",
                    "training/Variable_5:0",
                ],
                [["amsgrad", True], ["beta_1", 0.9], ["beta_2", 0.999], ["decay", 0.0], ["epsilon", 1e-07], ["lr", 0.1]],
            ],
        ),
        (
            lambda: old(first.Adamax, lr=0.1),
            [
                [[[0.8056], [0.8031]], [0.1865]],
                ["Adamax/iterations:0", "training/Variable:0", "training/Variable_1:0", "training/Variable_2:0", "training/Variable_3:0"],
                [["beta_1", 0.9], ["beta_2", 0.999], ["decay", 0.0], ["epsilon", 1e-07], ["lr", 0.1]],
            ],
        ),
        (
            lambda: old(first.Nadam, lr=0.1),
            [
                [[[0.8203], [0.8183]], [0.1723]],
                [
                    "Nadam/iterations:0",
                    "Nadam/m_schedule:0",
                    "training/Variable:0",
                    "training/Variable_1:0",
                    "training/Variable_2:0",
                    "training/Variable_3:0",
                ],
                [["beta_1", 0.9], ["beta_2", 0.999], ["epsilon", 1e-07], ["lr", 0.1], ["schedule_decay", 0.004]],
            ],
        ),
        (
            lambda: old(first.SGD, clipnorm=0.1),
            [
                [[[0.9989], [0.9983]], [0.002]],
                ["SGD/iterations:0", "training/Variable:0", "training/Variable_1:0"],
                [["clipnorm", 0.1], ["decay", 0.0], ["lr", 0.01], ["momentum", 0.0], ["nesterov", False]],
            ],
        ),
        (
            lambda: old(first.SGD, clipvalue=0.1),
            [
                [[[0.998], [0.998]], [0.002]],
                ["SGD/iterations:0", "training/Variable:0", "training/Variable_1:0"],
                [["clipvalue", 0.1], ["decay", 0.0], ["lr", 0.01], ["momentum", 0.0], ["nesterov", False]],
            ],
        ),
        (lambda: first.SGD().iterations.name, "SGD/iterations:0"),
    ],
)
def test_optimizers_of_the_first_generation(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: seeded(P.image.random_shear, PICTURE, 30),
            [
                [
                    [-0.09811, 0.6981, 0.8772, 0.1417],
                    [-0.5256, -0.8484, -0.2858, 0.6426],
                    [0.7852, 0.411, -0.5035, -0.9556],
                    [-0.5332, 0.4214, 0.9904, 0.6067],
                ],
                [
                    [-0.1304, -0.8177, -0.7307, 0.1492],
                    [0.6713, 0.7579, 0.01108, -0.8192],
                    [-0.7473, -0.173, 0.7162, 0.9083],
                    [0.2676, -0.6643, -0.9876, -0.3683],
                ],
                [
                    [0.3478, 0.8681, 0.5222, -0.4275],
                    [-0.7603, -0.6032, 0.2646, 0.9263],
                    [0.646, -0.07958, -0.8681, -0.7841],
                    [0.02065, 0.851, 0.9012, 0.09871],
                ],
            ],
        ),
        (
            lambda: seeded(P.image.random_rotation, PICTURE, 30),
            [
                [
                    [-0.1027, 0.6141, 0.8653, 0.2234],
                    [-0.5222, -0.8358, -0.3201, 0.5959],
                    [0.7852, 0.411, -0.5035, -0.9556],
                    [-0.4823, 0.4517, 0.9723, 0.6041],
                ],
                [
                    [-0.1249, -0.7479, -0.7481, 0.05344],
                    [0.6686, 0.7584, 0.05455, -0.7784],
                    [-0.7473, -0.173, 0.7162, 0.9083],
                    [0.2179, -0.6816, -0.9566, -0.3659],
                ],
                [
                    [0.3419, 0.8183, 0.5676, -0.3257],
                    [-0.7584, -0.6168, 0.2156, 0.895],
                    [0.646, -0.07958, -0.8681, -0.7841],
                    [0.06495, 0.8537, 0.8599, 0.09682],
                ],
            ],
        ),
        (
            lambda: seeded(P.image.random_shift, PICTURE, 0.3, 0.3),
            [
                [
                    [0.2645, 0.6931, 0.4844, 0.204],
                    [-0.6677, -0.5519, 0.07131, 0.455],
                    [0.6084, 0.02843, -0.5777, -0.7988],
                    [-0.05863, 0.7051, 0.8206, 0.6503],
                ],
                [
                    [-0.4416, -0.7014, -0.3163, 0.02844],
                    [0.7049, 0.4021, -0.2703, -0.6265],
                    [-0.4799, 0.1757, 0.6697, 0.7905],
                    [-0.1959, -0.8257, -0.6963, -0.404],
                ],
                [
                    [0.5812, 0.6503, 0.1215, -0.2585],
                    [-0.6823, -0.2183, 0.4464, 0.7449],
                    [0.3108, -0.3649, -0.7051, -0.7153],
                    [0.4339, 0.8763, 0.513, 0.1236],
                ],
            ],
        ),
        (
            lambda: seeded(P.image.random_zoom, PICTURE, (0.5, 0.9)),
            [
                [
                    [-0.2837, -0.03231, 0.2645, 0.4096],
                    [-0.4348, -0.5033, -0.2941, 0.1343],
                    [0.6766, 0.1013, -0.5934, -0.9506],
                    [0.1761, 0.4646, 0.521, 0.2291],
                ],
                [
                    [0.1999, -0.07925, -0.3436, -0.3996],
                    [0.4917, 0.449, 0.1474, -0.2826],
                    [-0.4866, 0.1586, 0.7836, 0.9354],
                    [-0.3057, -0.5096, -0.447, -0.07502],
                ],
                [
                    [-0.09915, 0.1841, 0.3937, 0.3557],
                    [-0.507, -0.3567, 0.01182, 0.4069],
                    [0.2554, -0.405, -0.9073, -0.841],
                    [0.4094, 0.5116, 0.3351, -0.08544],
                ],
            ],
        ),
        (
            lambda: seeded(P.image.random_channel_shift, PICTURE, 0.5),
            [
                [
                    [0.0508, 0.8923, 0.9601, 0.1919],
                    [-0.706, -0.9081, -0.2286, 0.7078],
                    [0.9999, 0.4629, -0.4932, -0.9492],
                    [-0.4858, 0.471, 0.9999, 0.7011],
                ],
                [
                    [-0.2371, -0.9106, -0.7002, 0.2007],
                    [0.9637, 0.8875, 0.04195, -0.7954],
                    [-0.8548, -0.08155, 0.8134, 0.9999],
                    [0.3217, -0.6128, -0.9372, -0.3532],
                ],
                [
                    [0.6022, 0.9999, 0.5799, -0.3774],
                    [-0.941, -0.5927, 0.3472, 0.9999],
                    [0.7959, -0.1078, -0.8657, -0.781],
                    [0.0685, 0.9017, 0.9526, 0.1744],
                ],
            ],
        ),
        (
            lambda: P.image.apply_affine_transform(
                PICTURE, theta=10, tx=1, ty=0.5, shear=5, zx=0.9, zy=1.1, row_axis=1, col_axis=2, channel_axis=0
            ),
            [
                [
                    [0.7401, -0.1812, -0.247, 0.591],
                    [-0.03064, 0.3487, -0.3932, -0.8776],
                    [-0.1236, 0.702, 0.8012, 0.3408],
                    [0.02589, 0.7912, 0.748, 0.6503],
                ],
                [
                    [-0.6313, 0.2853, 0.1188, -0.7744],
                    [-0.1416, -0.2974, 0.504, 0.8232],
                    [-0.1325, -0.8239, -0.663, -0.1489],
                    [-0.2785, -0.8746, -0.5717, -0.404],
                ],
                [
                    [0.4691, -0.3653, 0.01952, 0.8923],
                    [0.3019, 0.221, -0.5721, -0.6992],
                    [0.3773, 0.876, 0.4686, -0.05558],
                    [0.5075, 0.884, 0.347, 0.1236],
                ],
            ],
        ),
        (
            lambda: P.image.apply_affine_transform(PICTURE, theta=90, fill_mode="constant", cval=0.5),
            [
                [[0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5], [0.04617, 0.05791, 0.0164, -0.04018]],
                [[0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5], [-0.05982, -0.02446, 0.03339, 0.06054]],
                [[0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5], [0.03204, -0.02593, -0.06005, -0.03897]],
            ],
        ),
        (
            lambda: P.image.apply_channel_shift(PICTURE, 0.5),
            [
                [
                    [0.5, 0.9999, 0.9999, 0.6411],
                    [-0.2568, -0.4589, 0.2206, 0.9999],
                    [0.9999, 0.9121, -0.04402, -0.5],
                    [-0.03657, 0.9202, 0.9999, 0.9999],
                ],
                [
                    [0.2121, -0.4614, -0.251, 0.6499],
                    [0.9999, 0.9999, 0.4911, -0.3462],
                    [-0.4056, 0.3676, 0.9999, 0.9999],
                    [0.7709, -0.1636, -0.488, 0.09596],
                ],
                [
                    [0.9999, 0.9999, 0.9999, 0.07182],
                    [-0.4918, -0.1435, 0.7964, 0.9999],
                    [0.9999, 0.3414, -0.4165, -0.3318],
                    [0.5177, 0.9999, 0.9999, 0.6236],
                ],
            ],
        ),
    ],
)
def test_pictures_are_changed(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: [
                text("a b a", "c b").word_index,
                text("a b a", "c b").texts_to_sequences(["a c d"]),
                text("a b a", num_words=2, oov_token="x").texts_to_sequences(["a b"]),
            ],
            [{"a": 1, "b": 2, "c": 3}, [[1, 3]], [[1, 1]]],
        ),
        (
            lambda: [text("a b a", "c b").texts_to_matrix(["a a b"], mode) for mode in ("binary", "count", "freq", "tfidf")],
            [[[0.0, 1.0, 1.0, 0.0]], [[0.0, 2.0, 1.0, 0.0]], [[0.0, 0.6667, 0.3333, 0.0]], [[0.0, 1.174, 0.5108, 0.0]]],
        ),
        (
            lambda: [
                text("ab", char_level=True).word_index,
                text("A;b", split=";", filters="", lower=False).word_index,
                text("a b", "b").document_count,
                dict(text("a b", "b").word_docs),
            ],
            [{"a": 1, "b": 2}, {"A": 1, "b": 2}, 2, {"b": 2, "a": 1}],
        ),
        (lambda: text("a b a").sequences_to_texts([[1, 2], [3]]), ["a b", ""]),
        (lambda: P.text.text_to_word_sequence("Hello, big World!"), ["hello", "big", "world"]),
        (lambda: P.text.hashing_trick("a bb", 50, hash_function=len), [2, 3]),
        (lambda: P.sequence.pad_sequences([[1], [1, 2, 3]], maxlen=2), [[0, 1], [2, 3]]),
        (
            lambda: P.sequence.pad_sequences([[1], [1, 2, 3]], padding="post", truncating="post", maxlen=2, value=9, dtype="float32"),
            [[1.0, 9.0], [1.0, 2.0]],
        ),
        (
            lambda: [
                P.sequence.make_sampling_table(4),
                seeded(P.sequence.skipgrams, [1, 2, 3], 4, window_size=1, shuffle=False, negative_samples=0.0),
            ],
            [[0.003152, 0.003152, 0.005476, 0.007416], [[[1, 2], [2, 1], [2, 3], [3, 2]], [1, 1, 1, 1]]],
        ),
        (
            lambda: [
                b[0].tolist()
                for b in P.sequence.TimeseriesGenerator(
                    np.arange(8), np.arange(8), 3, sampling_rate=2, stride=2, start_index=1, end_index=6, batch_size=2, reverse=True
                )
            ],
            [[[3, 1], [5, 3]]],
        ),
    ],
)
def test_words_are_counted(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: history(model(make=penalized), epochs=2), {"loss": [1.957, 1.867]}),
        (
            lambda: history(model(make=penalized, metrics=["mae"]), validation_data=(X, Y)),
            {"loss": [1.957], "mean_absolute_error": [0.9747], "val_loss": [1.866], "val_mean_absolute_error": [0.9548]},
        ),
        (lambda: model().train_on_batch(X, tf.constant(Y)), 1.925),
        (lambda: model().test_on_batch(X, tf.constant(Y)), 1.925),
        (
            lambda: [
                len(keras.metrics.Mean().updates),
                (lambda m: [m.update_state(1.0) is not None, len(m.updates)])(keras.metrics.Mean()),
            ],
            [0, [True, 1]],
        ),
        (
            lambda: [
                model().evaluate(X, Y, sample_weight=np.float32([1, 0, 0, 0]), verbose=0),
                model(sample_weight_mode=None).evaluate(X, Y, verbose=0),
            ],
            [0.177, 1.925],
        ),
        (
            lambda: exported(),
            [
                [
                    "assets/saved_model.json",
                    "saved_model.pb",
                    "variables/checkpoint",
                    "variables/variables.data-00000-of-00002",
                    "variables/variables.data-00001-of-00002",
                    "variables/variables.index",
                ],
                [[0.8415], [1.05], [-1.716], [0.3776]],
            ],
        ),
        (
            lambda: exported(as_text=True)[0],
            [
                "assets/saved_model.json",
                "saved_model.pbtxt",
                "variables/checkpoint",
                "variables/variables.data-00000-of-00002",
                "variables/variables.data-00001-of-00002",
                "variables/variables.index",
            ],
        ),
        (
            lambda: exported(serving_only=True)[0],
            [
                "assets/saved_model.json",
                "saved_model.pb",
                "variables/variables.data-00000-of-00002",
                "variables/variables.data-00001-of-00002",
                "variables/variables.index",
            ],
        ),
    ],
)
def test_models_add_penalties(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: history(model(make=penalized, run_eagerly=True), epochs=2), {"loss": [1.957, 1.867]}),
        (
            lambda: history(model(make=lambda: penalized(), run_eagerly=True, metrics=["mae"]), validation_data=(X, Y)),
            {"loss": [1.957], "mean_absolute_error": [0.9747], "val_loss": [1.866], "val_mean_absolute_error": [0.9548]},
        ),
        (lambda: history(model(make=penalized), epochs=2), {"loss": [1.957, 1.867]}),
        (lambda: model(run_eagerly=True).predict(X), [[0.8415], [1.05], [-1.716], [0.3776]]),
        (lambda: model(run_eagerly=True).evaluate(X, Y, sample_weight=np.float32([1, 0, 0, 0]), verbose=0), 0.177),
        (lambda: model(run_eagerly=True).train_on_batch(X, Y, class_weight=None, reset_metrics=False), 1.925),
    ],
)
@pytest.mark.usefixtures("eager")
def test_models_add_penalties_at_once(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: value(
                inner.separable_conv1d(tf.constant(SEQUENCE), tf.constant(some(2, 2, 1)), tf.constant(some(1, 2, 2)), dilation_rate=1)
            ),
            [[[0.662, 0.7985], [-0.01507, -0.5814]], [[0.5556, 0.8432], [0.187, -0.3872]]],
        ),
        (
            lambda: value(
                inner.separable_conv1d(
                    tf.constant(SEQUENCE), tf.constant(some(2, 2, 1)), tf.constant(some(1, 2, 2)), strides=2, padding="same"
                )
            ),
            [[[0.662, 0.7985], [-0.7337, -0.1139]], [[0.5556, 0.8432], [-0.7651, -0.1187]]],
        ),
        (lambda: L.Layer().add_weight("w", (2,), initializer="ones", caching_device="/cpu:0").value().device, "/device:CPU:0"),
    ],
)
def test_sequences_are_convolved_by_channel(made, expected):
    assert plain(made(), 4) == expected
