"""What layers, models, schedules and pictures of Keras compute and tell, as in TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import described, refused

import everflow as tf

L, Mo, KM = tf.keras.layers, tf.keras.models, tf.keras.Model
P, SC = tf.keras.preprocessing.image, tf.keras.optimizers.schedules

i3 = {
    "kernel_initializer": "ones",
    "recurrent_initializer": tf.keras.initializers.Constant(0.5),
    "bias_initializer": tf.keras.initializers.Constant(0.1),
}
x3 = np.array([[[0.1], [0.2], [0.3]], [[0.5], [-0.5], [1.0]]], np.float32)
img = np.arange(12, dtype=np.float32).reshape(2, 2, 3)


def f32(*shape):
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


def t(*shape):
    return tf.constant(f32(*shape))


def seq(*layers):
    return tf.keras.Sequential(list(layers))


def ones(layer, x, **others):
    """What a layer with its first weights makes of an array."""
    out = layer(tf.constant(x), **others)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [np.round(np.asarray(v, np.float64), 4).tolist() for v in session.run(tf.nest.flatten(out))]


def two():
    a, b = tf.keras.Input((2,), name="a"), tf.keras.Input((3,), name="b")
    h = L.Dense(2, name="h")(a)
    return KM([a, b], [L.Add(name="s")([h, h]), L.Dense(1, name="o")(b)], name="m")


def raises(function, *args):
    function(*args)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: [SC.ExponentialDecay(0.1, 10, 0.5)(s) for s in (0, 5, 10, 25)],
            [["float32 []", "float32 []", "float32 []", "float32 []"], [0.1, 0.070711, 0.05, 0.017678]],
        ),
        (
            lambda: [SC.ExponentialDecay(0.1, 10, 0.5, True)(s) for s in (0, 5, 10, 25)],
            [["float32 []", "float32 []", "float32 []", "float32 []"], [0.1, 0.1, 0.05, 0.025]],
        ),
        (
            lambda: [SC.PiecewiseConstantDecay([5, 10], [1.0, 0.5, 0.1])(tf.constant(s)) for s in (0, 5, 6, 10, 11)],
            [["float32 []", "float32 []", "float32 []", "float32 []", "float32 []"], [1.0, 1.0, 0.5, 0.5, 0.1]],
        ),
        (
            lambda: [SC.PolynomialDecay(0.1, 10, 0.01, 2.0)(s) for s in (0, 5, 10, 25)],
            [["float32 []", "float32 []", "float32 []", "float32 []"], [0.1, 0.0325, 0.01, 0.01]],
        ),
        (
            lambda: [SC.PolynomialDecay(0.1, 10, 0.01, 1.0, True)(s) for s in (0, 5, 10, 25)],
            [["float32 []", "float32 []", "float32 []", "float32 []"], [0.1, 0.055, 0.01, 0.025]],
        ),
        (
            lambda: [SC.InverseTimeDecay(0.1, 10, 0.5)(s) for s in (0, 5, 10, 25)],
            [["float32 []", "float32 []", "float32 []", "float32 []"], [0.1, 0.08, 0.066667, 0.044444]],
        ),
        (
            lambda: [SC.InverseTimeDecay(0.1, 10, 0.5, True)(s) for s in (0, 5, 10, 25)],
            [["float32 []", "float32 []", "float32 []", "float32 []"], [0.1, 0.1, 0.066667, 0.05]],
        ),
        (
            lambda: [
                c.get_config()
                for c in (
                    SC.ExponentialDecay(0.1, 10, 0.5),
                    SC.PiecewiseConstantDecay([5], [1.0, 0.5]),
                    SC.PolynomialDecay(0.1, 10),
                    SC.InverseTimeDecay(0.1, 10, 0.5),
                )
            ],
            [
                {"initial_learning_rate": 0.1, "decay_steps": 10, "decay_rate": 0.5, "staircase": False, "name": None},
                {"boundaries": [5], "values": [1.0, 0.5], "name": None},
                {"initial_learning_rate": 0.1, "decay_steps": 10, "end_learning_rate": 0.0001, "power": 1.0, "cycle": False, "name": None},
                {"initial_learning_rate": 0.1, "decay_steps": 10, "decay_rate": 0.5, "staircase": False, "name": None},
            ],
        ),
        (
            lambda: (
                SC.deserialize(
                    {"class_name": "ExponentialDecay", "config": {"initial_learning_rate": 0.1, "decay_steps": 10, "decay_rate": 0.5}}
                ).decay_rate
            ),
            0.5,
        ),
        (lambda: SC.serialize(SC.InverseTimeDecay(0.1, 10, 0.5))["class_name"], "InverseTimeDecay"),
    ],
)
def test_schedules_follow_steps(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: SC.PiecewiseConstantDecay([5, 10], [1.0, 0.5]),
            "ValueError: The length of boundaries should be 1 less than the length of values",
        )
    ],
)
def test_schedules_follow_steps_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: ones(L.SimpleRNN(2, **i3), x3), [[[0.6963, 0.6963], [0.8444, 0.8444]]]),
        (
            lambda: ones(L.SimpleRNN(2, return_sequences=True, return_state=True, **i3), x3),
            [
                [[[0.1974, 0.1974], [0.4601, 0.4601], [0.6963, 0.6963]], [[0.537, 0.537], [0.1362, 0.1362], [0.8444, 0.8444]]],
                [[0.6963, 0.6963], [0.8444, 0.8444]],
            ],
        ),
        (lambda: ones(L.SimpleRNN(2, go_backwards=True, **i3), x3), [[[0.6593, 0.6593], [0.7532, 0.7532]]]),
        (
            lambda: ones(L.SimpleRNN(2, "relu", use_bias=False, kernel_initializer="ones", recurrent_initializer="ones"), x3),
            [[[1.1, 1.1], [2.0, 2.0]]],
        ),
        (lambda: ones(L.SimpleRNN(2, unroll=True, **i3), x3), [[[0.6963, 0.6963], [0.8444, 0.8444]]]),
        (
            lambda: ones(L.SimpleRNN(2, **i3), x3, mask=tf.constant([[True, False, True], [False, True, False]])),
            [[[0.5352, 0.5352], [-0.3799, -0.3799]]],
        ),
        (
            lambda: ones(L.SimpleRNN(2, return_sequences=True, **i3), x3, mask=tf.constant([[True, False, True], [False, True, False]])),
            [[[[0.1974, 0.1974], [0.1974, 0.1974], [0.5352, 0.5352]], [[0.0, 0.0], [-0.3799, -0.3799], [-0.3799, -0.3799]]]],
        ),
        (lambda: ones(L.SimpleRNN(2, time_major=True, **i3), x3), [[[0.6626, 0.6626], [-0.1083, -0.1083], [0.9015, 0.9015]]]),
        (lambda: ones(L.GRU(2, **i3), x3), [[[0.3032, 0.3032], [0.183, 0.183]]]),
        (lambda: ones(L.GRU(2, reset_after=True, **i3), x3), [[[0.3394, 0.3394], [0.1978, 0.1978]]]),
        (lambda: ones(L.GRU(2, implementation=2, **i3), x3), [[[0.3032, 0.3032], [0.183, 0.183]]]),
        (
            lambda: ones(L.GRU(2, implementation=2, reset_after=True, return_state=True, **i3), x3),
            [[[0.3394, 0.3394], [0.1978, 0.1978]], [[0.3394, 0.3394], [0.1978, 0.1978]]],
        ),
        (lambda: ones(L.GRU(2, "relu", "hard_sigmoid", use_bias=False, kernel_initializer="ones"), x3 * 0), [[[0.0, 0.0], [0.0, 0.0]]]),
        (lambda: ones(L.LSTM(2, **i3), x3), [[[0.2945, 0.2945], [0.4467, 0.4467]]]),
        (lambda: ones(L.LSTM(2, implementation=2, **i3), x3), [[[0.2945, 0.2945], [0.4467, 0.4467]]]),
        (
            lambda: ones(L.LSTM(2, unit_forget_bias=False, return_state=True, **i3), x3),
            [[[0.2609, 0.2609], [0.4065, 0.4065]], [[0.2609, 0.2609], [0.4065, 0.4065]], [[0.4581, 0.4581], [0.6331, 0.6331]]],
        ),
        (
            lambda: ones(L.LSTM(2, unroll=True, go_backwards=True, return_sequences=True, **i3), x3),
            [[[[0.1258, 0.1258], [0.2242, 0.2242], [0.2896, 0.2896]], [[0.3744, 0.3744], [0.1779, 0.1779], [0.4131, 0.4131]]]],
        ),
        (
            lambda: ones(L.LSTM(2, **i3), x3, mask=tf.constant([[True, False, True], [False, True, False]])),
            [[[0.1912, 0.1912], [-0.0665, -0.0665]]],
        ),
        (
            lambda: ones(L.LSTM(2, unroll=True, **i3), x3, mask=tf.constant([[True, False, True], [False, True, False]])),
            [[[0.1912, 0.1912], [-0.0665, -0.0665]]],
        ),
        (
            lambda: ones(L.LSTM(1, **i3), x3, initial_state=[tf.constant([[1.0], [2.0]]), tf.constant([[0.5], [0.0]])]),
            [[[0.4924], [0.5655]]],
        ),
        (lambda: ones(L.Bidirectional(L.SimpleRNN(1, **i3)), x3), [[[0.5295, 0.4029], [0.7758, 0.5371]]]),
        (
            lambda: [ones(L.Bidirectional(L.SimpleRNN(1, **i3), m), x3) for m in ("sum", "mul", "ave", None)],
            [[[[0.9324], [1.3129]]], [[[0.2133], [0.4167]]], [[[0.4662], [0.6565]]], [[[0.5295], [0.7758]], [[0.4029], [0.5371]]]],
        ),
        (
            lambda: ones(L.Bidirectional(L.SimpleRNN(1, return_sequences=True, **i3), "sum"), x3),
            [[[[0.6003], [0.833], [0.9094]], [[1.0742], [-0.1305], [1.5763]]]],
        ),
        (
            lambda: ones(L.Bidirectional(L.LSTM(1, return_state=True, **i3)), x3),
            [[[0.2565, 0.2285], [0.4155, 0.3333]], [[0.2565], [0.4155]], [[0.4618], [0.654]], [[0.2285], [0.3333]], [[0.4333], [0.5863]]],
        ),
        (
            lambda: ones(L.RNN([L.SimpleRNNCell(1, **i3), L.SimpleRNNCell(2, **i3)], return_state=True), x3),
            [[[0.8552, 0.8552], [0.877, 0.877]], [[0.5295], [0.7758]], [[0.8552, 0.8552], [0.877, 0.877]]],
        ),
        (
            lambda: ones(L.TimeDistributed(L.Dense(2, kernel_initializer="ones")), x3),
            [[[[0.1, 0.1], [0.2, 0.2], [0.3, 0.3]], [[0.5, 0.5], [-0.5, -0.5], [1.0, 1.0]]]],
        ),
        (
            lambda: ones(L.ConvLSTM2D(1, 2, kernel_initializer="ones", recurrent_initializer="ones"), np.ones((1, 2, 3, 3, 1), np.float32)),
            [[[[[0.964], [0.964]], [[0.964], [0.964]]]]],
        ),
        (
            lambda: ones(
                L.ConvLSTM2D(
                    1,
                    2,
                    kernel_initializer="ones",
                    recurrent_initializer="zeros",
                    padding="same",
                    return_sequences=True,
                    unit_forget_bias=False,
                ),
                np.ones((1, 2, 2, 2, 1), np.float32),
            ),
            [[[[[[0.7613], [0.6301]], [[0.6301], [0.3414]]], [[[0.9639], [0.8358]], [[0.8358], [0.5035]]]]]],
        ),
    ],
)
def test_recurrent_layers_give_states(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: ones(L.BatchNormalization(), f32(2, 2)), [[[0.9995, 1.999], [2.9985, 3.998]]]),
        (lambda: ones(L.BatchNormalization(), f32(2, 2), training=True), [[[-0.9995, -0.9995], [0.9995, 0.9995]]]),
        (
            lambda: ones(L.BatchNormalization(scale=False, center=False, epsilon=0.5), f32(2, 2), training=True),
            [[[-0.8165, -0.8165], [0.8165, 0.8165]]],
        ),
        (lambda: ones(L.LayerNormalization(), f32(2, 3)), [[[-1.2238, 0.0, 1.2238], [-1.2238, 0.0, 1.2238]]]),
        (lambda: ones(L.LayerNormalization(axis=[0, 1]), f32(2, 3)), [[[-1.4636, -0.8782, -0.2927], [0.2927, 0.8782, 1.4636]]]),
        (
            lambda: [ones(c(), f32(1, 4, 2)) for c in (L.GlobalAveragePooling1D, L.GlobalMaxPooling1D, L.MaxPooling1D, L.AveragePooling1D)],
            [[[[4.0, 5.0]]], [[[7.0, 8.0]]], [[[[3.0, 4.0], [7.0, 8.0]]]], [[[[2.0, 3.0], [6.0, 7.0]]]]],
        ),
        (
            lambda: [ones(c("channels_first"), f32(1, 2, 2, 2)) for c in (L.GlobalAveragePooling2D, L.GlobalMaxPooling2D)],
            [[[[2.5, 6.5]]], [[[4.0, 8.0]]]],
        ),
        (
            lambda: [
                ones(c(), f32(1, 2, 2, 2, 1)) for c in (L.GlobalAveragePooling3D, L.GlobalMaxPooling3D, L.MaxPooling3D, L.AveragePooling3D)
            ],
            [[[[4.5]]], [[[8.0]]], [[[[[[8.0]]]]]], [[[[[[4.5]]]]]]],
        ),
        (lambda: ones(L.GlobalAveragePooling1D(), f32(1, 3, 1), mask=tf.constant([[True, False, True]])), [[[2.0]]]),
        (lambda: ones(L.GlobalAveragePooling1D("channels_first"), f32(1, 2, 3)), [[[2.0, 5.0]]]),
        (lambda: ones(L.PReLU(tf.keras.initializers.Constant(0.5)), f32(1, 3) - 2), [[[-0.5, 0.0, 1.0]]]),
        (lambda: ones(L.LeakyReLU(), f32(1, 3) - 2), [[[-0.3, 0.0, 1.0]]]),
        (lambda: ones(L.ELU(), f32(1, 3) - 2), [[[-0.6321, 0.0, 1.0]]]),
        (lambda: ones(L.ThresholdedReLU(), f32(1, 3) - 1), [[[0.0, 0.0, 2.0]]]),
        (lambda: ones(L.ReLU(2.0, 0.5, 1.0), f32(1, 4) - 1), [[[-0.5, 0.0, 2.0, 2.0]]]),
        (lambda: ones(L.Softmax(0), f32(2, 1)), [[[0.2689], [0.7311]]]),
        (lambda: ones(L.Softmax(), f32(3)), [[0.09, 0.2447, 0.6652]]),
        (lambda: ones(L.UpSampling1D(), f32(1, 2, 1)), [[[[1.0], [1.0], [2.0], [2.0]]]]),
        (
            lambda: ones(L.UpSampling2D(interpolation="bilinear"), f32(1, 2, 2, 1)),
            [
                [
                    [
                        [[1.0], [1.25], [1.75], [2.0]],
                        [[1.5], [1.75], [2.25], [2.5]],
                        [[2.5], [2.75], [3.25], [3.5]],
                        [[3.0], [3.25], [3.75], [4.0]],
                    ]
                ]
            ],
        ),
        (lambda: ones(L.UpSampling2D((1, 2), "channels_first"), f32(1, 1, 2, 2)), [[[[[1.0, 1.0, 2.0, 2.0], [3.0, 3.0, 4.0, 4.0]]]]]),
        (lambda: ones(L.Cropping1D(), f32(1, 4, 1)), [[[[2.0], [3.0]]]]),
        (lambda: ones(L.Cropping2D(((1, 0), (0, 1))), f32(1, 2, 2, 1)), [[[[[3.0]]]]]),
        (lambda: ones(L.Cropping2D(((0, 0), (0, 1)), "channels_first"), f32(1, 1, 2, 2)), [[[[[1.0], [3.0]]]]]),
        (lambda: ones(L.Cropping2D(((1, 0), (0, 0)), "channels_first"), f32(1, 1, 2, 2)), [[[[[3.0, 4.0]]]]]),
        (
            lambda: [
                ones(L.Cropping3D(c, d), f32(1, 2, 2, 2, 2))
                for c in (((1, 0), (0, 0), (0, 1)), ((0, 1), (0, 1), (1, 0)), ((0, 0), (0, 0), (0, 0)))
                for d in ("channels_last", "channels_first")
            ],
            [
                [[[[[[9.0, 10.0]], [[13.0, 14.0]]]]]],
                [[[[[[5.0], [7.0]]], [[[13.0], [15.0]]]]]],
                [[[[[[3.0, 4.0]]]]]],
                [[[[[[2.0]]], [[[10.0]]]]]],
                [[[[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]], [[[9.0, 10.0], [11.0, 12.0]], [[13.0, 14.0], [15.0, 16.0]]]]]],
                [[[[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]], [[[9.0, 10.0], [11.0, 12.0]], [[13.0, 14.0], [15.0, 16.0]]]]]],
            ],
        ),
        (lambda: ones(L.ZeroPadding1D(), f32(1, 1, 1)), [[[[0.0], [1.0], [0.0]]]]),
        (lambda: ones(L.Flatten("channels_first"), f32(1, 2, 3)), [[[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]]]),
        (lambda: ones(L.Permute((2, 1)), f32(1, 2, 3)), [[[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]]]),
        (lambda: ones(L.RepeatVector(2), f32(1, 2)), [[[[1.0, 2.0], [1.0, 2.0]]]]),
        (lambda: ones(L.Embedding(3, 2, tf.keras.initializers.Constant(2.0)), np.array([[0, 2]])), [[[[2.0, 2.0], [2.0, 2.0]]]]),
        (
            lambda: ones(L.Conv1D(1, 2, kernel_initializer="ones", padding="causal", dilation_rate=2), f32(1, 4, 1)),
            [[[[1.0], [2.0], [4.0], [6.0]]]],
        ),
        (lambda: ones(L.Conv1D(1, 2, strides=2, kernel_initializer="ones", activation="tanh"), f32(1, 4, 1)), [[[[0.9951], [1.0]]]]),
        (
            lambda: ones(L.Conv2DTranspose(1, 2, kernel_initializer="ones"), f32(1, 2, 2, 1)),
            [[[[[1.0], [3.0], [2.0]], [[4.0], [10.0], [6.0]], [[3.0], [7.0], [4.0]]]]],
        ),
        (
            lambda: ones(L.Conv2DTranspose(1, 2, 2, output_padding=1, kernel_initializer="ones"), f32(1, 2, 2, 1)),
            [
                [
                    [
                        [[1.0], [1.0], [2.0], [2.0], [0.0]],
                        [[1.0], [1.0], [2.0], [2.0], [0.0]],
                        [[3.0], [3.0], [4.0], [4.0], [0.0]],
                        [[3.0], [3.0], [4.0], [4.0], [0.0]],
                        [[0.0], [0.0], [0.0], [0.0], [0.0]],
                    ]
                ]
            ],
        ),
        (
            lambda: ones(L.Conv2DTranspose(1, 2, 2, "same", kernel_initializer="ones", bias_initializer="ones"), f32(1, 2, 2, 1)),
            [[[[[2.0], [2.0], [3.0], [3.0]], [[2.0], [2.0], [3.0], [3.0]], [[4.0], [4.0], [5.0], [5.0]], [[4.0], [4.0], [5.0], [5.0]]]]],
        ),
        (
            lambda: ones(L.Conv3DTranspose(1, 2, kernel_initializer="ones", bias_initializer="ones"), f32(1, 1, 1, 2, 1)),
            [[[[[[2.0], [4.0], [3.0]], [[2.0], [4.0], [3.0]]], [[[2.0], [4.0], [3.0]], [[2.0], [4.0], [3.0]]]]]],
        ),
        (
            lambda: ones(
                L.SeparableConv1D(1, 2, depthwise_initializer="ones", pointwise_initializer="ones", bias_initializer="ones"), f32(1, 3, 1)
            ),
            [[[[4.0], [6.0]]]],
        ),
        (
            lambda: ones(
                L.SeparableConv1D(1, 2, padding="causal", depthwise_initializer="ones", pointwise_initializer="ones"), f32(1, 3, 1)
            ),
            [[[[1.0], [3.0], [5.0]]]],
        ),
        (
            lambda: ones(
                L.SeparableConv2D(1, 2, depth_multiplier=2, depthwise_initializer="ones", pointwise_initializer="ones"), f32(1, 2, 2, 1)
            ),
            [[[[[20.0]]]]],
        ),
        (lambda: ones(L.DepthwiseConv2D(2, depthwise_initializer="ones", bias_initializer="ones"), f32(1, 2, 2, 2)), [[[[[17.0, 21.0]]]]]),
        (
            lambda: [
                ones(L.LocallyConnected1D(1, 2, kernel_initializer="ones", bias_initializer="ones", implementation=i), f32(1, 3, 1))
                for i in (1, 2)
            ],
            [[[[[4.0], [6.0]]]], [[[[4.0], [6.0]]]]],
        ),
        (
            lambda: [ones(L.LocallyConnected2D(1, 2, kernel_initializer="ones", implementation=i), f32(1, 3, 3, 1)) for i in (1, 2)],
            [[[[[[12.0], [16.0]], [[24.0], [28.0]]]]], [[[[[12.0], [16.0]], [[24.0], [28.0]]]]]],
        ),
        (
            lambda: ones(L.LocallyConnected2D(1, 2, kernel_initializer="ones", data_format="channels_first"), f32(1, 1, 3, 3)),
            [[[[[12.0, 16.0], [24.0, 28.0]]]]],
        ),
        (
            lambda: ones(L.LocallyConnected2D(1, 2, padding="same", kernel_initializer="ones", implementation=2), f32(1, 2, 2, 1)),
            [[[[[1.0], [3.0]], [[4.0], [10.0]]]]],
        ),
        (
            lambda: [c()([t(1, 2), t(1, 2) * 2, t(1, 2) * 5]) for c in (L.Add, L.Multiply, L.Average, L.Maximum, L.Minimum)],
            [
                ["float32 [1, 2]", "float32 [1, 2]", "float32 [1, 2]", "float32 [1, 2]", "float32 [1, 2]"],
                [[[8.0, 16.0]], [[10.0, 80.0]], [[2.6667, 5.3333]], [[5.0, 10.0]], [[1.0, 2.0]]],
            ],
        ),
        (lambda: L.Subtract()([t(1, 2), t(1, 2) * 2]), ["float32 [1, 2]", [[-1.0, -2.0]]]),
        (lambda: L.Add()([t(1, 2, 2), t(1, 2)]), ["float32 [1, 2, 2]", [[[2.0, 4.0], [4.0, 6.0]]]]),
        (lambda: L.Add()([t(2, 1, 2), t(2, 2)]), ["float32 [2, 1, 2]", [[[2.0, 4.0]], [[6.0, 8.0]]]]),
        (lambda: L.Concatenate(1)([t(1, 2, 2), t(1, 1, 2)]), ["float32 [1, 3, 2]", [[[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]]]]),
        (lambda: L.Dot(1)([t(1, 3), t(1, 3)]), ["float32 [1, 1]", [[14.0]]]),
        (lambda: L.Dot(1, True)([t(1, 3), t(1, 3)]), ["float32 [1, 1]", [[1.0]]]),
        (lambda: L.Dot((2, 1))([t(1, 2, 3), t(1, 3, 2)]), ["float32 [1, 2, 2]", [[[22.0, 28.0], [49.0, 64.0]]]]),
        (lambda: L.Attention()([t(1, 2, 2), t(1, 2, 2) / 2]), ["float32 [1, 2, 2]", [[[1.4526, 1.9526], [1.4991, 1.9991]]]]),
        (lambda: L.Attention(causal=True)([t(1, 2, 2), t(1, 2, 2) / 2]), ["float32 [1, 2, 2]", [[[0.5, 1.0], [1.4991, 1.9991]]]]),
        (lambda: L.Attention()([t(1, 2, 2), t(1, 2, 2) / 2, -t(1, 2, 2)]), ["float32 [1, 2, 2]", [[[0.50247, 1.0025], [0.5, 1.0]]]]),
        (
            lambda: L.Attention()([t(1, 2, 2), t(1, 2, 2) / 2], mask=[None, tf.constant([[True, False]])]),
            ["float32 [1, 2, 2]", [[[0.5, 1.0], [0.5, 1.0]]]],
        ),
        (
            lambda: L.Attention()([t(1, 2, 2), t(1, 2, 2) / 2], mask=[tf.constant([[True, False]]), None]),
            ["float32 [1, 2, 2]", [[[1.4526, 1.9526], [0.0, 0.0]]]],
        ),
        (
            lambda: L.AdditiveAttention(use_scale=False)([t(1, 2, 2), t(1, 2, 2) / 2]),
            ["float32 [1, 2, 2]", [[[1.0214, 1.5214], [1.0004, 1.5004]]]],
        ),
        (lambda: L.Attention().compute_mask([1, 2], [tf.constant([True]), None]), ["bool [1]", [True]]),
    ],
)
def test_layers_compute(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: ones(L.Attention(), f32(1, 2, 2)),
            "ValueError: Attention layer must be called on a list of inputs, namely [query, value] or [query, val",
        )
    ],
)
def test_layers_compute_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: [l.name for l in two().layers], ["a", "h", "b", "s", "o"]),
        (lambda: two().input_names, ["a", "b"]),
        (lambda: two().output_names, ["s", "o"]),
        (lambda: [i.shape for i in two().inputs], [[None, 2], [None, 3]]),
        (lambda: two().count_params(), 10),
        (lambda: [w.name for w in two().weights], ["h/kernel:0", "h/bias:0", "o/kernel:0", "o/bias:0"]),
        (lambda: two().compute_output_shape([(None, 2), (None, 3)]), [[None, 2], [None, 1]]),
        (lambda: two().get_config()["input_layers"], [["a", 0, 0], ["b", 0, 0]]),
        (lambda: two().get_config()["output_layers"], [["s", 0, 0], ["o", 0, 0]]),
        (
            lambda: [l["inbound_nodes"] for l in two().get_config()["layers"]],
            [[], [[["a", 0, 0, {}]]], [], [[["h", 0, 0, {}], ["h", 0, 0, {}]]], [[["b", 0, 0, {}]]]],
        ),
        (lambda: KM.from_config(two().get_config()).output_names, ["s", "o"]),
        (lambda: two().get_layer("h").name, "h"),
        (lambda: two().get_layer(index=1).name, "h"),
        (lambda: two().stateful, False),
        (lambda: two().built, True),
        (lambda: two().state_updates, []),
        (lambda: len(two().get_weights()), 4),
        (lambda: seq().layers, []),
        (lambda: seq().inputs, []),
        (lambda: seq(L.Dense(2, input_shape=(3,)), L.Dense(1)).count_params(), 11),
        (lambda: seq(L.Dense(2)).built, False),
        (lambda: (lambda m: (m.pop(), m.output_shape)[1])(seq(L.Dense(2, input_shape=(3,)), L.Dense(1))), [None, 2]),
        (lambda: (lambda m: (m.build((None, 3)), m.built, len(m.weights))[1:])(seq(L.Dense(2), L.Dense(1))), [True, 4]),
        (lambda: [l["class_name"] for l in seq(L.Dense(2, input_shape=(3,)), L.Dense(1)).get_config()["layers"]], ["Dense", "Dense"]),
        (lambda: seq(L.Dense(2)).get_config()["layers"][0]["class_name"], "Dense"),
        (lambda: seq(L.InputLayer((3,)), L.Dense(2)).input_shape, [None, 3]),
        (lambda: seq(L.Dense(2, input_shape=(3,))).output_shape, [None, 2]),
        (lambda: len(seq(L.Dense(2, input_shape=(3,)), L.Flatten()).layers), 2),
        (lambda: seq(seq(L.Dense(2, input_shape=(3,))), L.Dense(1)).count_params(), 11),
        (lambda: Mo.clone_model(two()).count_params(), 10),
        (lambda: Mo.clone_model(seq(L.Dense(2, input_shape=(3,)))).input_shape, [None, 3]),
        (lambda: Mo.model_from_json(two().to_json()).input_names, ["a", "b"]),
    ],
)
def test_models_tell_their_structure(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: two().get_layer("x"), "ValueError: No such layer: x"),
        (lambda: two().get_layer(index=9), "ValueError: Was asked to retrieve layer at index 9 but model only has 5 layers."),
        (lambda: two().get_layer(), "ValueError: Provide either a layer name or layer index."),
        (
            lambda: raises(two().set_weights, []),
            'ValueError: You called `set_weights(weights)` on layer "m" with a  weight list of length 0, but the',
        ),
        (
            lambda: raises(two().set_weights, [np.ones((9, 9))] * 4),
            "ValueError: Layer weight shape (2, 2) not compatible with provided weight shape (9, 9)",
        ),
        (lambda: raises(two().compile), "ValueError: The model cannot be compiled because it has no loss to optimize."),
        (
            lambda: raises(two().predict, None),
            "ValueError: When using data tensors as input to a model, you should specify the `steps` argument.",
        ),
        (
            lambda: KM(tf.constant([1.0]), tf.keras.Input((2,))),
            'ValueError: Input tensors to a Model must come from `tf.keras.Input`. Received: Tensor("Const:0", sh',
        ),
        (lambda: raises(seq().add, 3), "TypeError: The added layer must be an instance of class Layer. Found: 3"),
        (lambda: raises(seq().pop), "TypeError: There are no layers in the model."),
        (lambda: raises(seq().build), "ValueError: You must provide an `input_shape` argument."),
        (lambda: seq().weights, "ValueError: Weights for model sequential have not yet been created. Weights are created when the Mod"),
        (
            lambda: seq(L.Dense(2)).weights,
            "ValueError: Weights for model sequential have not yet been created. Weights are created when the Mod",
        ),
        (
            lambda: seq(L.Dense(2)).count_params(),
            "ValueError: You tried to call `count_params` on sequential, but the layer isn't built. You can build",
        ),
        (
            lambda: raises(seq(L.Dense(2)).summary),
            "ValueError: This model has not yet been built. Build the model first by calling `build()` or calling",
        ),
        (lambda: seq(L.Dense(2)).input_shape, "AttributeError: The layer has never been called and thus has no defined input shape."),
        (lambda: Mo.clone_model(3), "ValueError: ('Expected `model` argument to be a `Model` instance, got ', 3)"),
        (
            lambda: Mo.model_from_config([1]),
            "TypeError: `model_from_config` expects a dictionary, not a list. Maybe you meant to use `Sequential.",
        ),
    ],
)
def test_models_tell_their_structure_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: L.Dense(2).get_weights(), []),
        (lambda: (lambda d: (d(tf.keras.Input((3,))), d.input_shape, d.output_shape)[1:])(L.Dense(2)), [[None, 3], [None, 2]]),
        (
            lambda: (
                lambda d: (
                    d(tf.keras.Input((3,))),
                    d(tf.keras.Input((3,))),
                    d.get_input_shape_at(1),
                    d.get_output_shape_at(1),
                    d.input_shape,
                )[2:]
            )(L.Dense(2)),
            [[None, 3], [None, 2], [None, 3]],
        ),
        (
            lambda: (lambda d: (d(tf.keras.Input((3,))), d.count_params(), [v.name for v in d.weights])[1:])(L.Dense(2, name="q")),
            [8, ["q/kernel:0", "q/bias:0"]],
        ),
        (lambda: L.Dense(2, input_shape=(3,))._batch_input_shape, [None, 3]),
        (lambda: L.Dense(2, input_dim=3)._batch_input_shape, [None, 3]),
        (lambda: L.Dense(2, batch_input_shape=(4, 3))._batch_input_shape, [4, 3]),
        (lambda: L.Dense(2, input_shape=(3,), batch_size=4)._batch_input_shape, [4, 3]),
        (lambda: L.Dense(2, dtype="float64").dtype, "float64"),
        (lambda: L.Dense(2, name="n", trainable=False).get_config()["trainable"], False),
        (
            lambda: [
                L.Dense(2).dynamic,
                L.Dense(2).stateful,
                L.Dense(2).trainable,
                L.Dense(2).supports_masking,
                L.Dropout(0.5).supports_masking,
            ],
            [False, False, True, True, True],
        ),
        (lambda: L.InputSpec("float32", (2, 3), None, None, None, {-1: 3}).axes, {-1: 3}),
        (lambda: repr(L.InputSpec(shape=(2, None))), "InputSpec(shape=(2, None), ndim=2)"),
        (
            lambda: repr(L.InputSpec(ndim=2, max_ndim=4, min_ndim=1, axes={1: 3}, dtype="float32")),
            "InputSpec(dtype=float32, ndim=2, max_ndim=4, min_ndim=1, axes={1: 3})",
        ),
    ],
)
def test_layers_tell_their_connections(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: L.Dense(2).input, "AttributeError: Layer dense is not connected, no input to return."),
        (lambda: L.Dense(2).output, "AttributeError: Layer dense has no inbound nodes."),
        (lambda: L.Dense(2).input_shape, "AttributeError: The layer has never been called and thus has no defined input shape."),
        (lambda: L.Dense(2).output_shape, "AttributeError: The layer has never been called and thus has no defined output shape."),
        (lambda: L.Dense(2).get_input_at(0), "RuntimeError: The layer has never been called and thus has no defined input."),
        (
            lambda: L.Dense(2).count_params(),
            "ValueError: You tried to call `count_params` on dense, but the layer isn't built. You can build it m",
        ),
        (
            lambda: raises(L.Dense(2).set_weights, [1]),
            'ValueError: You called `set_weights(weights)` on layer "dense" with a  weight list of length 1, but',
        ),
        (
            lambda: (lambda d: (d(tf.keras.Input((3,))), d(tf.keras.Input((3,))), d.output)[2:])(L.Dense(2)),
            "InvalidArgumentError: You must feed a value for placeholder tensor 'input_1' with dtype float and sh",
        ),
        (
            lambda: (lambda d: (d(tf.keras.Input((3,))), d.get_input_at(1)))(L.Dense(2)),
            "ValueError: Asked to get input at node 1, but the layer has only 1 inbound nodes.",
        ),
    ],
)
def test_layers_tell_their_connections_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: P.random_shift(img, 0.0, 0.0, 0, 1, 2), [[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], [[6.0, 7.0, 8.0], [9.0, 10.0, 11.0]]]),
        (lambda: P.random_rotation(img, 0.0, 0, 1, 2), [[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], [[6.0, 7.0, 8.0], [9.0, 10.0, 11.0]]]),
        (lambda: P.random_zoom(img, (1.0, 1.0), 0, 1, 2), [[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], [[6.0, 7.0, 8.0], [9.0, 10.0, 11.0]]]),
        (lambda: P.random_shear(img, 0.0, 0, 1, 2), [[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], [[6.0, 7.0, 8.0], [9.0, 10.0, 11.0]]]),
        (lambda: P.random_channel_shift(img, 0.0, 2), [[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], [[6.0, 7.0, 8.0], [9.0, 10.0, 11.0]]]),
        (lambda: P.apply_channel_shift(img, 2.0), [[[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]], [[8.0, 9.0, 10.0], [11.0, 11.0, 11.0]]]),
        (
            lambda: P.apply_affine_transform(img, theta=90, row_axis=0, col_axis=1, channel_axis=2),
            [[[6.0, 7.0, 8.0], [6.0, 7.0, 8.0]], [[9.0, 10.0, 11.0], [9.0, 10.0, 11.0]]],
        ),
        (
            lambda: P.apply_affine_transform(img, tx=1, row_axis=0, col_axis=1, channel_axis=2),
            [[[6.0, 7.0, 8.0], [9.0, 10.0, 11.0]], [[6.0, 7.0, 8.0], [9.0, 10.0, 11.0]]],
        ),
        (
            lambda: P.apply_affine_transform(img, ty=1, row_axis=0, col_axis=1, channel_axis=2, fill_mode="constant", cval=9.0),
            [[[3.0, 4.0, 5.0], [9.0, 9.0, 9.0]], [[9.0, 10.0, 11.0], [9.0, 9.0, 9.0]]],
        ),
        (
            lambda: P.apply_affine_transform(img, zx=0.5, zy=2.0, row_axis=0, col_axis=1, channel_axis=2),
            [[[4.5, 5.5, 6.5], [6.0, 7.0, 8.0]], [[6.0, 7.0, 8.0], [7.5, 8.5, 9.5]]],
        ),
        (
            lambda: P.apply_affine_transform(img, shear=30, row_axis=0, col_axis=1, channel_axis=2, order=0),
            [[[6.0, 7.0, 8.0], [3.0, 4.0, 5.0]], [[6.0, 7.0, 8.0], [9.0, 10.0, 11.0]]],
        ),
        (
            lambda: P.ImageDataGenerator(rotation_range=10).apply_transform(img, {"flip_horizontal": True}),
            [[[3.0, 4.0, 5.0], [0.0, 1.0, 2.0]], [[9.0, 10.0, 11.0], [6.0, 7.0, 8.0]]],
        ),
        (
            lambda: P.ImageDataGenerator().apply_transform(img, {"flip_vertical": True, "channel_shift_intensity": 2.0}),
            [[[8.0, 9.0, 10.0], [11.0, 11.0, 11.0]], [[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]]],
        ),
        (
            lambda: P.ImageDataGenerator().apply_transform(img, {"tx": 1}),
            [[[6.0, 7.0, 8.0], [9.0, 10.0, 11.0]], [[6.0, 7.0, 8.0], [9.0, 10.0, 11.0]]],
        ),
        (
            lambda: P.ImageDataGenerator(rescale=0.5).standardize(img.copy()),
            [[[0.0, 0.5, 1.0], [1.5, 2.0, 2.5]], [[3.0, 3.5, 4.0], [4.5, 5.0, 5.5]]],
        ),
        (
            lambda: P.ImageDataGenerator(samplewise_center=True).standardize(img.copy()),
            [[[-5.5, -4.5, -3.5], [-2.5, -1.5, -0.5]], [[0.5, 1.5, 2.5], [3.5, 4.5, 5.5]]],
        ),
        (
            lambda: P.ImageDataGenerator(samplewise_std_normalization=True).standardize(img.copy()),
            [[[-1.5933, -1.3036, -1.0139], [-0.72421, -0.43452, -0.14484]], [[0.14484, 0.43452, 0.72421], [1.0139, 1.3036, 1.5933]]],
        ),
        (
            lambda: P.ImageDataGenerator(preprocessing_function=lambda x: x + 1).standardize(img.copy()),
            [[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[7.0, 8.0, 9.0], [10.0, 11.0, 12.0]]],
        ),
        (lambda: P.ImageDataGenerator(zoom_range=0.2).zoom_range, [0.8, 1.2]),
        (lambda: P.ImageDataGenerator(zca_whitening=True).featurewise_center, True),
        (lambda: P.ImageDataGenerator(featurewise_std_normalization=True).featurewise_center, True),
        (lambda: P.ImageDataGenerator(samplewise_std_normalization=True).samplewise_center, True),
        (
            lambda: P.ImageDataGenerator().get_random_transform((4, 4, 3), 1),
            {
                "theta": 0,
                "tx": 0,
                "ty": 0,
                "shear": 0,
                "zx": 1,
                "zy": 1,
                "flip_horizontal": 0,
                "flip_vertical": 0,
                "channel_shift_intensity": None,
                "brightness": None,
            },
        ),
        (
            lambda: P.ImageDataGenerator(horizontal_flip=True, vertical_flip=True).get_random_transform((4, 4, 3), 3),
            {
                "theta": 0,
                "tx": 0,
                "ty": 0,
                "shear": 0,
                "zx": 1,
                "zy": 1,
                "flip_horizontal": 0,
                "flip_vertical": 0,
                "channel_shift_intensity": None,
                "brightness": None,
            },
        ),
        (
            lambda: P.ImageDataGenerator(
                rotation_range=9,
                width_shift_range=0.2,
                height_shift_range=2,
                shear_range=3.0,
                zoom_range=0.4,
                channel_shift_range=2.0,
                brightness_range=(0.5, 1.5),
            ).get_random_transform((4, 4, 3), 3),
            {
                "theta": 0.91436,
                "tx": 1,
                "ty": -0.33455,
                "shear": 0.064966,
                "zx": 1.3144,
                "zy": 1.317,
                "flip_horizontal": 0,
                "flip_vertical": 0,
                "channel_shift_intensity": -1.7941,
                "brightness": 0.94081,
            },
        ),
        (
            lambda: P.ImageDataGenerator(width_shift_range=[1, 2], height_shift_range=[0.1, 0.2]).get_random_transform((4, 4, 3), 3),
            {
                "theta": 0,
                "tx": -0.4,
                "ty": 2,
                "shear": 0,
                "zx": 1,
                "zy": 1,
                "flip_horizontal": 0,
                "flip_vertical": 0,
                "channel_shift_intensity": None,
                "brightness": None,
            },
        ),
        (lambda: [b.shape for b in P.ImageDataGenerator().flow(np.zeros((5, 2, 2, 1)), np.zeros(5), 2)[2]], [[1, 2, 2, 1], [1]]),
        (lambda: len(P.ImageDataGenerator().flow(np.zeros((5, 2, 2, 1)), batch_size=2)), 3),
        (lambda: next(P.ImageDataGenerator(rescale=2.0).flow(np.ones((1, 2, 2, 1)))), [[[[2.0], [2.0]], [[2.0], [2.0]]]]),
        (
            lambda: (lambda g: (g.fit(np.stack([img, img + 2])), g.mean, g.std)[1:])(
                P.ImageDataGenerator(featurewise_center=True, featurewise_std_normalization=True)
            ),
            [[[[5.5, 6.5, 7.5]]], [[[3.5, 3.5, 3.5]]]],
        ),
    ],
)
def test_pictures_are_changed(made, expected):
    assert described(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: P.random_zoom(img, 3), "TypeError: object of type 'int' has no len()"),
        (lambda: P.random_brightness(img, (1.0,)), "ValueError: `brightness_range should be tuple or list of two floats. Received: (1.0,)"),
        (
            lambda: P.ImageDataGenerator(data_format="x"),
            'ValueError: `data_format` should be `"channels_last"` (channel after row and column) or `"channels_f',
        ),
        (
            lambda: P.ImageDataGenerator(validation_split=1.5),
            "ValueError: `validation_split` must be strictly between 0 and 1.  Received: 1.5",
        ),
        (
            lambda: P.ImageDataGenerator(zoom_range=[1, 2, 3]),
            "ValueError: `zoom_range` should be a float or a tuple or list of two floats. Received: [1, 2, 3]",
        ),
        (
            lambda: raises(P.ImageDataGenerator().fit, np.zeros((2, 2))),
            "ValueError: Input to `.fit()` should have rank 4. Got array with shape: (2, 2)",
        ),
        (
            lambda: raises(P.ImageDataGenerator().flow, np.zeros((2, 2))),
            "ValueError: ('Input data in `NumpyArrayIterator` should have rank 4. You passed an array with shape'",
        ),
        (
            lambda: raises(P.ImageDataGenerator().flow, np.zeros((2, 2, 2, 1)), np.zeros(3)),
            "ValueError: `x` (images tensor) and `y` (labels) should have the same length. Found: x.shape = (2, 2",
        ),
        (
            lambda: raises(lambda: P.ImageDataGenerator().flow(np.zeros((5, 2, 2, 1)), batch_size=2)[3]),
            "ValueError: Asked to retrieve element 3, but the Sequence has length 3",
        ),
    ],
)
def test_pictures_are_changed_or_are_refused(made, expected):
    assert refused(lambda: described(made())).startswith(expected)
