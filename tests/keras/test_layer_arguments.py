"""Arguments and inputs of layers that are seldom given; values are those of TensorFlow 1.15.5."""

import re

import numpy as np
import pytest
from plain import plain, refused

import everflow as tf
from everflow.keras.layers.recurrent_cells import GRUCellV2, LSTMCellV2
from everflow.keras.layers.recurrent_layers import GRUV2, LSTMV2

L, K, keras = tf.keras.layers, tf.keras.backend, tf.keras


def some(*shape):
    return np.sin(np.arange(np.prod(shape, dtype=int))).reshape(shape).astype(np.float32)


def digest(x):
    x = np.asarray(x, np.float64)
    return plain(x, 4) if x.size < 7 else [list(x.shape), float(f"{(x.ravel() * np.cos(np.arange(x.size))).sum():.4g}")]


def filled(layer):
    layer.set_weights([some(*w.shape) * 0.5 + 0.1 for w in layer.get_weights()])
    return layer


def given(layer, *xs, known=True, batch=False, **kwargs):
    """What a layer makes of inputs, the static shapes of that, and its shape by `compute_output_shape`."""
    shape = lambda x: (x.shape[0] if batch else None, *(x.shape[1:] if known else [None] * (x.ndim - 2) + [x.shape[-1]]))
    places = [keras.Input(batch_shape=shape(x), dtype=x.dtype.name) for x in xs]
    out = layer(places if len(places) > 1 else places[0], **kwargs)
    if hasattr(layer, "set_weights") and layer.weights:
        filled(layer)
    flat = tf.nest.flatten(out)
    found = K.get_session().run(flat, dict(zip(places, xs)))
    return [[digest(v) for v in found], [t.shape.as_list() for t in flat]]


def sized(layer, *shapes):
    found = layer.compute_output_shape(list(shapes) if len(shapes) > 1 else shapes[0])
    return [plain(s) for s in found] if isinstance(found, list) else plain(found)


def masked(layer, mask, *xs):
    """The mask after a layer."""
    found = layer.compute_mask([tf.constant(x) for x in xs] if len(xs) > 1 else tf.constant(xs[0]), mask)
    return [None if m is None else K.get_value(m) for m in (found if isinstance(found, list) else [found])]


def own(layer):
    """Config without names and nested classes."""
    config = type(layer).from_config(layer.get_config()).get_config()
    return {k: v for k, v in config.items() if k not in ("name", "dtype", "trainable") and not isinstance(v, dict)}


def weighted(layer, shape):
    layer.build(shape)
    return [[w.name, w.shape.as_list()] for w in layer.weights]


SEQ, IMG, VOL, STATE = some(2, 4, 3), some(1, 4, 5, 2), some(1, 3, 4, 3, 2), some(2, 2)
MASK = np.array([[True, True, False, False], [True, True, True, True]])
FIRST = "channels_first"
stacked = lambda **kwargs: L.StackedRNNCells([L.LSTMCell(2), L.GRUCell(3)], **kwargs)


class Adding(L.Layer):
    """A cell that adds constants."""

    state_size = 3

    def call(self, inputs, states, constants=None, training=None):
        found = inputs + states[0] + (constants[0] if constants is not None else 0.0) + (10.0 if training is True else 0.0)
        return found, [found]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: [own(LSTMV2(2)), own(GRUV2(2))],
            [
                {
                    "return_sequences": False,
                    "return_state": False,
                    "go_backwards": False,
                    "stateful": False,
                    "unroll": False,
                    "time_major": False,
                    "units": 2,
                    "activation": "tanh",
                    "recurrent_activation": "sigmoid",
                    "use_bias": True,
                    "unit_forget_bias": True,
                    "kernel_regularizer": None,
                    "recurrent_regularizer": None,
                    "bias_regularizer": None,
                    "activity_regularizer": None,
                    "kernel_constraint": None,
                    "recurrent_constraint": None,
                    "bias_constraint": None,
                    "dropout": 0.0,
                    "recurrent_dropout": 0.0,
                    "implementation": 2,
                },
                {
                    "return_sequences": False,
                    "return_state": False,
                    "go_backwards": False,
                    "stateful": False,
                    "unroll": False,
                    "time_major": False,
                    "units": 2,
                    "activation": "tanh",
                    "recurrent_activation": "sigmoid",
                    "use_bias": True,
                    "kernel_regularizer": None,
                    "recurrent_regularizer": None,
                    "bias_regularizer": None,
                    "activity_regularizer": None,
                    "kernel_constraint": None,
                    "recurrent_constraint": None,
                    "bias_constraint": None,
                    "dropout": 0.0,
                    "recurrent_dropout": 0.0,
                    "implementation": 2,
                    "reset_after": True,
                },
            ],
        ),
        (
            lambda: [own(LSTMCellV2(2)), own(GRUCellV2(2))],
            [
                {
                    "units": 2,
                    "activation": "tanh",
                    "recurrent_activation": "sigmoid",
                    "use_bias": True,
                    "unit_forget_bias": True,
                    "kernel_regularizer": None,
                    "recurrent_regularizer": None,
                    "bias_regularizer": None,
                    "kernel_constraint": None,
                    "recurrent_constraint": None,
                    "bias_constraint": None,
                    "dropout": 0.0,
                    "recurrent_dropout": 0.0,
                    "implementation": 2,
                },
                {
                    "units": 2,
                    "activation": "tanh",
                    "recurrent_activation": "sigmoid",
                    "use_bias": True,
                    "kernel_regularizer": None,
                    "recurrent_regularizer": None,
                    "bias_regularizer": None,
                    "kernel_constraint": None,
                    "recurrent_constraint": None,
                    "bias_constraint": None,
                    "dropout": 0.0,
                    "recurrent_dropout": 0.0,
                    "implementation": 2,
                    "reset_after": True,
                },
            ],
        ),
        (
            lambda: [own(L.LSTM(2)), own(L.GRU(2)), own(L.SimpleRNN(2)), own(L.LSTMCell(2)), own(L.GRUCell(2)), own(L.SimpleRNNCell(2))],
            [
                {
                    "return_sequences": False,
                    "return_state": False,
                    "go_backwards": False,
                    "stateful": False,
                    "unroll": False,
                    "time_major": False,
                    "units": 2,
                    "activation": "tanh",
                    "recurrent_activation": "hard_sigmoid",
                    "use_bias": True,
                    "unit_forget_bias": True,
                    "kernel_regularizer": None,
                    "recurrent_regularizer": None,
                    "bias_regularizer": None,
                    "activity_regularizer": None,
                    "kernel_constraint": None,
                    "recurrent_constraint": None,
                    "bias_constraint": None,
                    "dropout": 0.0,
                    "recurrent_dropout": 0.0,
                    "implementation": 1,
                },
                {
                    "return_sequences": False,
                    "return_state": False,
                    "go_backwards": False,
                    "stateful": False,
                    "unroll": False,
                    "time_major": False,
                    "units": 2,
                    "activation": "tanh",
                    "recurrent_activation": "hard_sigmoid",
                    "use_bias": True,
                    "kernel_regularizer": None,
                    "recurrent_regularizer": None,
                    "bias_regularizer": None,
                    "activity_regularizer": None,
                    "kernel_constraint": None,
                    "recurrent_constraint": None,
                    "bias_constraint": None,
                    "dropout": 0.0,
                    "recurrent_dropout": 0.0,
                    "implementation": 1,
                    "reset_after": False,
                },
                {
                    "return_sequences": False,
                    "return_state": False,
                    "go_backwards": False,
                    "stateful": False,
                    "unroll": False,
                    "time_major": False,
                    "units": 2,
                    "activation": "tanh",
                    "use_bias": True,
                    "kernel_regularizer": None,
                    "recurrent_regularizer": None,
                    "bias_regularizer": None,
                    "activity_regularizer": None,
                    "kernel_constraint": None,
                    "recurrent_constraint": None,
                    "bias_constraint": None,
                    "dropout": 0.0,
                    "recurrent_dropout": 0.0,
                },
                {
                    "units": 2,
                    "activation": "tanh",
                    "recurrent_activation": "hard_sigmoid",
                    "use_bias": True,
                    "unit_forget_bias": True,
                    "kernel_regularizer": None,
                    "recurrent_regularizer": None,
                    "bias_regularizer": None,
                    "kernel_constraint": None,
                    "recurrent_constraint": None,
                    "bias_constraint": None,
                    "dropout": 0.0,
                    "recurrent_dropout": 0.0,
                    "implementation": 1,
                },
                {
                    "units": 2,
                    "activation": "tanh",
                    "recurrent_activation": "hard_sigmoid",
                    "use_bias": True,
                    "kernel_regularizer": None,
                    "recurrent_regularizer": None,
                    "bias_regularizer": None,
                    "kernel_constraint": None,
                    "recurrent_constraint": None,
                    "bias_constraint": None,
                    "dropout": 0.0,
                    "recurrent_dropout": 0.0,
                    "implementation": 1,
                    "reset_after": False,
                },
                {
                    "units": 2,
                    "activation": "tanh",
                    "use_bias": True,
                    "kernel_regularizer": None,
                    "recurrent_regularizer": None,
                    "bias_regularizer": None,
                    "kernel_constraint": None,
                    "recurrent_constraint": None,
                    "bias_constraint": None,
                    "dropout": 0.0,
                    "recurrent_dropout": 0.0,
                },
            ],
        ),
        (
            lambda: [given(LSTMV2(2), SEQ), given(GRUV2(2, return_sequences=True), SEQ)],
            [[[[[-0.1066, -0.3743], [-0.1453, -0.463]]], [[None, 2]]], [[[[2, 4, 2], -0.3036]], [[None, 4, 2]]]],
        ),
        (
            lambda: [given(LSTMV2(2, use_bias=False, return_state=True, go_backwards=True), SEQ), given(GRUV2(2, reset_after=False), SEQ)],
            [
                [
                    [
                        [[0.1221, 0.05281], [0.1304, -0.005833]],
                        [[0.1221, 0.05281], [0.1304, -0.005833]],
                        [[0.2001, 0.1071], [0.2413, -0.01564]],
                    ],
                    [[None, 2], [None, 2], [None, 2]],
                ],
                [[[[-0.2352, -0.01277], [-0.2521, -0.266]]], [[None, 2]]],
            ],
        ),
        (lambda: given(L.RNN([LSTMCellV2(2), GRUCellV2(2)]), SEQ), [[[[-0.2417, -0.2971], [-0.2282, -0.2726]]], [[None, 2]]]),
        (lambda: given(L.LSTM(2), SEQ, STATE, STATE + 1), [[[[-0.1078, -0.279], [-0.04911, -0.4255]]], [[None, 2]]]),
        (
            lambda: given(L.GRU(2, return_state=True), SEQ, STATE),
            [[[[-0.2529, 0.06487], [-0.2234, -0.2701]], [[-0.2529, 0.06487], [-0.2234, -0.2701]]], [[None, 2], [None, 2]]],
        ),
        (
            lambda: given(L.RNN(stacked(), return_state=True), SEQ),
            [
                [
                    [[-0.1178, 0.3293, 0.4758], [-0.1449, 0.3271, 0.4845]],
                    [[-0.1177, -0.3423], [-0.1475, -0.4266]],
                    [[-0.3005, -0.5967], [-0.3316, -0.6935]],
                    [[-0.1178, 0.3293, 0.4758], [-0.1449, 0.3271, 0.4845]],
                ],
                [[None, 3], [None, 2], [None, 2], [None, 3]],
            ],
        ),
        (
            lambda: given(L.RNN(L.StackedRNNCells([L.GRUCell(2), L.GRUCell(2)], reverse_state_order=True), return_state=True), SEQ),
            [
                [
                    [[-0.1578, -0.1862], [-0.1358, -0.1345]],
                    [[-0.2317, -0.02451], [-0.2572, -0.2707]],
                    [[-0.1578, -0.1862], [-0.1358, -0.1345]],
                ],
                [[None, 2], [None, 2], [None, 2]],
            ],
        ),
        (
            lambda: [stacked().state_size, stacked().output_size, stacked(reverse_state_order=True).state_size],
            [[[2, 2], 3], 3, [3, [2, 2]]],
        ),
        (
            lambda: weighted(stacked(), (None, 3)),
            [
                ["kernel:0", [3, 8]],
                ["recurrent_kernel:0", [2, 8]],
                ["bias:0", [8]],
                ["kernel_1:0", [2, 9]],
                ["recurrent_kernel_1:0", [3, 9]],
                ["bias_1:0", [9]],
            ],
        ),
        (lambda: given(L.RNN(Adding()), SEQ, training=True), [[[[40.27, 40.2, 39.94], [40.2, 40.27, 40.1]]], [[None, 3]]]),
        (
            lambda: given(L.RNN(L.StackedRNNCells([Adding(), Adding()])), SEQ, training=True),
            [[[[0.2766, 1.865, 1.739], [-0.8607, 1.108, 2.058]]], [[None, 3]]],
        ),
        (
            lambda: [
                L.LSTM.from_config({**L.LSTM(2).get_config(), "implementation": 0}).implementation,
                L.RNN(Adding()).get_config()["cell"]["class_name"],
            ],
            [1, "Adding"],
        ),
        (
            lambda: [sized(L.LSTM(2, return_sequences=True, return_state=True), (2, 4, 3)), sized(L.GRU(3), (2, 4, 3))],
            [[[2, 4, 2], [2, 2], [2, 2]], [2, 3]],
        ),
        (
            lambda: [
                sized(L.RNN(stacked(), return_state=True), (2, 4, 3)),
                sized(L.SimpleRNN(2, time_major=True, return_sequences=True), (4, 2, 3)),
            ],
            [[[2, 3], [2, 2], [2, 2], [2, 3]], [4, 2, 2]],
        ),
        (
            lambda: [
                masked(L.LSTM(2, return_sequences=True, return_state=True), tf.constant(MASK), SEQ),
                masked(L.LSTM(2), tf.constant(MASK), SEQ),
            ],
            [[[[True, True, False, False], [True, True, True, True]], None, None], [None]],
        ),
        (
            lambda: masked(L.Bidirectional(L.LSTM(2, return_sequences=True, return_state=True)), [tf.constant(MASK)], SEQ),
            [[[True, True, False, False], [True, True, True, True]], None, None, None, None],
        ),
        (lambda: given(L.LSTM(2), SEQ, mask=[tf.constant(MASK)], batch=True), [[[[-0.09824, -0.2432], [-0.1475, -0.4266]]], [[2, 2]]]),
        (
            lambda: [digest(K.get_value(s)) for s in tf.nest.flatten(L.LSTM(2).get_initial_state(tf.zeros((2, 4, 3))))],
            [[[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]],
        ),
        (
            lambda: [digest(K.get_value(s)) for s in tf.nest.flatten(L.LSTMCell(2).get_initial_state(batch_size=3, dtype="float32"))],
            [[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]],
        ),
        (lambda: given(L.ConvLSTM2D(2, 2), some(1, 3, 4, 4, 2)), [[[[1, 3, 3, 2], -0.4869]], [[None, 3, 3, 2]]]),
        (
            lambda: given(
                L.ConvLSTM2D(2, (2, 1), strides=(1, 2), padding="same", use_bias=False, return_sequences=True), some(1, 3, 4, 4, 2)
            ),
            [[[[1, 3, 4, 2, 2], -0.1246]], [[None, 3, 4, 2, 2]]],
        ),
        (
            lambda: given(L.ConvLSTM2D(2, 2, data_format=FIRST, return_state=True, activation="relu"), some(1, 3, 2, 4, 4)),
            [[[[1, 2, 3, 3], 0.1455], [[1, 2, 3, 3], 0.1455], [[1, 2, 3, 3], 0.312]], [[None, 2, 3, 3], [None, 2, 3, 3], [None, 2, 3, 3]]],
        ),
        (
            lambda: given(L.ConvLSTM2D(2, 2, dilation_rate=2, go_backwards=True, unit_forget_bias=False), some(1, 3, 5, 5, 2)),
            [[[[1, 3, 3, 2], -1.06]], [[None, 3, 3, 2]]],
        ),
        (
            lambda: given(L.ConvLSTM2D(2, 2, dropout=0.5, recurrent_dropout=0.3), some(1, 3, 4, 4, 2), training=False),
            [[[[1, 3, 3, 2], -0.4869]], [[None, 3, 3, 2]]],
        ),
        (
            lambda: given(
                L.ConvLSTM2D(2, 2), some(2, 3, 4, 4, 2), mask=tf.constant([[True, False, True], [True, True, False]]), batch=True
            ),
            [[[[2, 3, 3, 2], -0.1998]], [[2, 3, 3, 2]]],
        ),
        (
            lambda: given(L.ConvLSTM2D(1, 2, stateful=True, batch_input_shape=(1, 3, 4, 4, 2)), some(1, 3, 4, 4, 2), batch=True),
            [[[[1, 3, 3, 1], 0.2727]], [[1, 3, 3, 1]]],
        ),
        (
            lambda: [
                sized(L.ConvLSTM2D(2, 3, return_sequences=True), (2, 3, 5, 6, 1)),
                sized(L.ConvLSTM2D(2, 3, data_format=FIRST, return_state=True), (2, 3, 1, 5, 6)),
            ],
            [[2, 3, 3, 4, 2], [[2, 2, 3, 4], [2, 2, 3, 4], [2, 2, 3, 4]]],
        ),
        (
            lambda: [own(L.ConvLSTM2D(2, 3)), weighted(L.ConvLSTM2D(2, 3), (None, 3, 5, 5, 4))],
            [
                {
                    "return_sequences": False,
                    "return_state": False,
                    "go_backwards": False,
                    "stateful": False,
                    "unroll": False,
                    "time_major": False,
                    "filters": 2,
                    "kernel_size": [3, 3],
                    "strides": [1, 1],
                    "padding": "valid",
                    "data_format": "channels_last",
                    "dilation_rate": [1, 1],
                    "activation": "tanh",
                    "recurrent_activation": "hard_sigmoid",
                    "use_bias": True,
                    "unit_forget_bias": True,
                    "kernel_regularizer": None,
                    "recurrent_regularizer": None,
                    "bias_regularizer": None,
                    "activity_regularizer": None,
                    "kernel_constraint": None,
                    "recurrent_constraint": None,
                    "bias_constraint": None,
                    "dropout": 0.0,
                    "recurrent_dropout": 0.0,
                },
                [["kernel:0", [3, 3, 4, 8]], ["recurrent_kernel:0", [3, 3, 2, 8]], ["bias:0", [8]]],
            ],
        ),
        (lambda: given(L.Conv2DTranspose(3, 2, strides=2), IMG, known=False), [[[[1, 8, 10, 3], 0.558]], [[None, None, None, 3]]]),
        (lambda: given(L.Conv2DTranspose(3, 3, dilation_rate=2), IMG), [[[[1, 8, 9, 3], 0.01925]], [[None, 8, 9, 3]]]),
        (
            lambda: given(L.Conv2DTranspose(3, 3, strides=2, output_padding=1, padding="same", use_bias=False, activation="relu"), IMG),
            [[[[1, 8, 10, 3], 2.947]], [[None, 8, 10, 3]]],
        ),
        (
            lambda: given(L.Conv3DTranspose(2, 2, strides=(1, 2, 1), padding="same"), VOL, known=False),
            [[[[1, 3, 8, 3, 2], 12.38]], [[None, None, None, None, 2]]],
        ),
        (
            lambda: given(L.Conv3DTranspose(2, (1, 2, 2), output_padding=(0, 1, 0), strides=(1, 2, 1)), VOL),
            [[[[1, 3, 9, 4, 2], 0.4688]], [[None, 3, 9, 4, 2]]],
        ),
        (
            lambda: [
                sized(L.Conv2DTranspose(3, 2, strides=2, output_padding=1, data_format=FIRST), (2, 4, 5, 6)),
                sized(L.Conv3DTranspose(2, 3), (2, 4, None, 6, 1)),
            ],
            [[2, 3, 11, 13], [2, 6, None, 8, 2]],
        ),
        (
            lambda: [
                own(L.Conv2DTranspose(3, 2)),
                own(L.Conv3DTranspose(2, 3, output_padding=None)),
                weighted(L.Conv2DTranspose(3, 2), (None, 4, 4, 5)),
            ],
            [
                {
                    "filters": 3,
                    "kernel_size": [2, 2],
                    "strides": [1, 1],
                    "padding": "valid",
                    "data_format": "channels_last",
                    "dilation_rate": [1, 1],
                    "activation": "linear",
                    "use_bias": True,
                    "kernel_regularizer": None,
                    "bias_regularizer": None,
                    "activity_regularizer": None,
                    "kernel_constraint": None,
                    "bias_constraint": None,
                    "output_padding": None,
                },
                {
                    "filters": 2,
                    "kernel_size": [3, 3, 3],
                    "strides": [1, 1, 1],
                    "padding": "valid",
                    "data_format": "channels_last",
                    "activation": "linear",
                    "use_bias": True,
                    "kernel_regularizer": None,
                    "bias_regularizer": None,
                    "activity_regularizer": None,
                    "kernel_constraint": None,
                    "bias_constraint": None,
                    "output_padding": None,
                },
                [["kernel:0", [2, 2, 3, 5]], ["bias:0", [3]]],
            ],
        ),
        (lambda: given(L.Conv1D(2, 2, dilation_rate=2, padding="causal", activation="tanh"), SEQ), [[[[2, 4, 2], -1.151]], [[None, 4, 2]]]),
        (
            lambda: [
                sized(L.Conv1D(2, 3, padding="causal"), (2, 9, 1)),
                sized(L.Conv2D(2, 3, data_format=FIRST, strides=2), (2, 1, 9, 8)),
                sized(L.Conv3D(2, 2, padding="same"), (1, 3, None, 4, 1)),
            ],
            [[2, 9, 2], [2, 2, 4, 3], [1, 3, None, 4, 2]],
        ),
        (
            lambda: [
                given(L.SeparableConv1D(2, 2, depth_multiplier=2, dilation_rate=2), SEQ),
                given(L.SeparableConv2D(2, 2, use_bias=False, activation="relu"), IMG),
            ],
            [[[[[2, 2, 2], 0.627]], [[None, 2, 2]]], [[[[1, 3, 4, 2], 0.4478]], [[None, 3, 4, 2]]]],
        ),
        (
            lambda: [
                given(L.DepthwiseConv2D(2, depth_multiplier=2, activation="relu", padding="same", strides=2), IMG),
                own(L.DepthwiseConv2D(2)),
            ],
            [
                [[[[1, 2, 3, 4], -2.691]], [[None, 2, 3, 4]]],
                {
                    "kernel_size": [2, 2],
                    "strides": [1, 1],
                    "padding": "valid",
                    "data_format": "channels_last",
                    "dilation_rate": [1, 1],
                    "activation": "linear",
                    "use_bias": True,
                    "bias_regularizer": None,
                    "activity_regularizer": None,
                    "bias_constraint": None,
                    "depth_multiplier": 1,
                    "depthwise_regularizer": None,
                    "depthwise_constraint": None,
                },
            ],
        ),
        (
            lambda: [
                weighted(L.SeparableConv2D(3, 2, depth_multiplier=2), (None, 5, 5, 2)),
                weighted(L.DepthwiseConv2D(2, use_bias=False), (None, 5, 5, 2)),
            ],
            [
                [["depthwise_kernel:0", [2, 2, 2, 2]], ["pointwise_kernel:0", [1, 1, 4, 3]], ["bias:0", [3]]],
                [["depthwise_kernel_1:0", [2, 2, 2, 1]]],
            ],
        ),
        (
            lambda: [
                sized(L.DepthwiseConv2D(2, depth_multiplier=3), (1, 5, 6, 2)),
                sized(L.DepthwiseConv2D(2, data_format=FIRST, strides=2), (1, 2, 5, 6)),
            ],
            [[1, 4, 5, 6], [1, 2, 2, 3]],
        ),
        (lambda: given(L.UpSampling3D((2, 1, 2)), VOL, known=False), [[[[1, 6, 4, 6, 2], -1.153]], [[None, None, None, None, 2]]]),
        (
            lambda: [given(L.UpSampling1D(3), SEQ, known=False), given(L.UpSampling2D((2, 1), data_format=FIRST), some(1, 2, 3, 2))],
            [[[[[2, 12, 3], 8.514]], [[None, None, 3]]], [[[[1, 2, 6, 2], 2.887]], [[None, 2, 6, 2]]]],
        ),
        (
            lambda: [
                sized(L.UpSampling3D(2, FIRST), (1, 2, 3, None, 4)),
                sized(L.ZeroPadding3D((1, 0, 2), FIRST), (1, 2, 3, 4, None)),
                sized(L.Cropping1D((1, 2)), (1, 9, 2)),
            ],
            [[1, 2, 6, None, 8], [1, 2, 5, 4, None], [1, 6, 2]],
        ),
        (
            lambda: [
                given(L.Cropping3D(((1, 0), (0, 1), (1, 1)), FIRST), some(1, 2, 3, 4, 3)),
                given(L.ZeroPadding3D(1), VOL),
                given(L.Cropping2D((1, 2)), IMG),
            ],
            [
                [[[[1, 2, 2, 3, 1], 0.1196]], [[None, 2, 2, 3, 1]]],
                [[[[1, 5, 6, 5, 2], -1.895]], [[None, 5, 6, 5, 2]]],
                [[[[[[0.9906, 0.6503]], [[-0.9056, -0.1324]]]]], [[None, 2, 1, 2]]],
            ],
        ),
        (
            lambda: [given(L.MaxPooling3D((1, 2, 2), data_format=FIRST), some(1, 2, 3, 4, 4)), given(L.GlobalMaxPooling1D(FIRST), SEQ)],
            [[[[[1, 2, 3, 2, 2], -2.162]], [[None, 2, 3, 2, 2]]], [[[[2, 4], 1.21]], [[None, 4]]]],
        ),
        (
            lambda: [
                given(L.AveragePooling1D(2, 1, "same"), SEQ, known=False),
                given(L.GlobalAveragePooling1D(), SEQ, mask=tf.constant(MASK)),
            ],
            [[[[[2, 4, 3], 0.7269]], [[None, None, 3]]], [[[[0.07056, 0.04233, -0.02481], [0.04985, 0.06832, 0.02398]]], [[2, 3]]]],
        ),
        (
            lambda: [
                given(L.AveragePooling1D(3, data_format=FIRST), SEQ),
                sized(L.MaxPooling1D(2, data_format=FIRST), (2, 3, 8)),
                sized(L.GlobalAveragePooling3D(FIRST), (2, 3, 4, 5, 6)),
            ],
            [[[[[2, 4, 1], 0.332]], [[None, 4, 1]]], [2, 3, 4], [2, 3]],
        ),
        (lambda: [masked(L.GlobalAveragePooling1D(), tf.constant(MASK), SEQ), L.GlobalAveragePooling1D().supports_masking], [[None], True]),
        (
            lambda: [given(L.SpatialDropout2D(0.5, FIRST), some(1, 2, 3, 2), training=False), given(L.Dropout(0.5), SEQ, training=False)],
            [[[[[1, 2, 3, 2], 0.3188]], [[None, 2, 3, 2]]], [[[[2, 4, 3], 0.4553]], [[None, 4, 3]]]],
        ),
        (
            lambda: [
                K.get_value(L.SpatialDropout1D(0.0)(tf.ones((1, 2, 2)), training=True)),
                L.SpatialDropout3D(0.1, FIRST).data_format,
                own(L.SpatialDropout2D(0.3)),
            ],
            [[[[1.0, 1.0], [1.0, 1.0]]], "channels_first", {"rate": 0.3, "noise_shape": None, "seed": None}],
        ),
        (
            lambda: [
                given(L.Reshape((-1, 2)), some(2, 4, 3)),
                sized(L.Reshape((-1, 2)), (2, 4, 3)),
                sized(L.Reshape((3, -1)), (None, None)),
                sized(L.Flatten(), (2, None, 3)),
            ],
            [[[[[2, 6, 2], 0.4553]], [[None, None, 2]]], [2, 6, 2], [None, 3, None], [2, None]],
        ),
        (
            lambda: [
                given(L.Flatten(FIRST), some(2, 3, 2, 2)),
                given(L.Permute((2, 1)), SEQ),
                sized(L.Permute((3, 1, 2)), (1, 2, 3, 4)),
                sized(L.RepeatVector(3), (2, 4)),
            ],
            [[[[[2, 12], -1.218]], [[None, 12]]], [[[[2, 3, 4], -1.218]], [[None, 3, 4]]], [1, 4, 2, 3], [2, 3, 4]],
        ),
        (
            lambda: given(L.Lambda(lambda x, mask=None: x * (2.0 if mask is None else 3.0), mask=None), SEQ),
            [[[[2, 4, 3], 0.9107]], [[None, 4, 3]]],
        ),
        (
            lambda: given(
                L.Lambda(lambda x, training=None, k=1: x * (5.0 if training else 2.0) * k, arguments={"k": 3.0}), SEQ, training=True
            ),
            [[[[2, 4, 3], 6.83]], [[None, 4, 3]]],
        ),
        (
            lambda: [given(L.Masking(), np.floor(SEQ)), masked(L.Masking(-1.0), None, np.floor(SEQ)), sized(L.Masking(), (1, 2))],
            [[[[[2, 4, 3], 1.506]], [[None, 4, 3]]], [[[True, True, True, True], [True, True, True, True]]], [1, 2]],
        ),
        (lambda: given(L.Attention(), SEQ, SEQ + 1, mask=[tf.constant(MASK), tf.constant(MASK)]), [[[[2, 4, 3], -0.09333]], [[2, 4, 3]]]),
        (
            lambda: [
                given(L.Attention(use_scale=True, causal=True), SEQ, SEQ + 1),
                given(L.AdditiveAttention(use_scale=False), SEQ, SEQ, SEQ + 1),
            ],
            [[[[[2, 4, 3], -0.436]], [[None, 4, 3]]], [[[[2, 4, 3], -0.4377]], [[None, 4, 3]]]],
        ),
        (
            lambda: [
                masked(L.Attention(), [tf.constant(MASK), None], SEQ, SEQ),
                masked(L.AdditiveAttention(), None, SEQ, SEQ),
                own(L.AdditiveAttention(causal=True)),
            ],
            [[[[True, True, False, False], [True, True, True, True]]], [None], {"causal": True, "use_scale": True}],
        ),
        (
            lambda: [
                sized(L.Add(), (2, 1, 3), (2, 4, 3)),
                sized(L.Concatenate(1), (2, 3), (2, None)),
                sized(L.Dot(1), (2, 4, 3), (2, 4, 5)),
                sized(L.Dot((2, 1)), (2, 4, 3), (2, 3)),
            ],
            [[2, 4, 3], [2, None], [2, 3, 5], [2, 4]],
        ),
        (lambda: given(L.Add(), SEQ, some(2, 3), known=False), [[[[2, 4, 3], 0.3662]], [[None, None, 3]]]),
        (
            lambda: [
                given(L.Dot(2), SEQ, SEQ + 1),
                given(L.Dot((-1, 1), normalize=True), some(2, 3), some(2, 3, 2)),
                given(L.Subtract(), SEQ, SEQ * 2),
            ],
            [
                [[[[2, 4, 4], -2.791]], [[None, 4, 4]]],
                [[[[0.05253, -0.4736], [-0.1863, 0.4754]]], [[None, 2]]],
                [[[[2, 4, 3], -0.4553]], [[None, 4, 3]]],
            ],
        ),
        (
            lambda: [
                given(layer, SEQ)
                for layer in (
                    L.LeakyReLU(0.2),
                    L.ELU(0.5),
                    L.ThresholdedReLU(0.3),
                    L.ReLU(0.5, 0.1, 0.2),
                    L.Softmax(1),
                    L.PReLU(shared_axes=[1]),
                )
            ],
            [
                [[[[2, 4, 3], 0.08914]], [[None, 4, 3]]],
                [[[[2, 4, 3], 0.1529]], [[None, 4, 3]]],
                [[[[2, 4, 3], -0.01088]], [[None, 4, 3]]],
                [[[[2, 4, 3], 0.04753]], [[None, 4, 3]]],
                [[[[2, 4, 3], -0.04121]], [[None, 4, 3]]],
                [[[[2, 4, 3], 0.7629]], [[None, 4, 3]]],
            ],
        ),
        (
            lambda: [weighted(L.PReLU(), (None, 3, 4)), weighted(L.PReLU(shared_axes=1), (None, 3, 4)), own(L.ReLU(6.0, 0.1, 0.2))],
            [[["alpha:0", [3, 4]]], [["alpha_1:0", [1, 4]]], {"max_value": 6.0, "negative_slope": 0.1, "threshold": 0.2}],
        ),
        (
            lambda: [
                given(L.Embedding(5, 2, mask_zero=True), np.array([[1, 0, 2]])),
                masked(L.Embedding(5, 2, mask_zero=True), None, np.array([[1, 0]])),
                sized(L.Embedding(5, 2, input_length=3), (2, 3)),
            ],
            [[[[[[0.5546, 0.1706], [0.1, 0.5207], [-0.2784, -0.3795]]]], [[None, 3, 2]]], [[[True, False]]], [2, 3, 2]],
        ),
        (
            lambda: [
                given(L.Dense(2, activation="relu", use_bias=False), SEQ),
                sized(L.Dense(3), (2, None, 4)),
                weighted(L.Dense(2), (None, 3)),
            ],
            [[[[[2, 4, 2], -0.4095]], [[None, 4, 2]]], [2, None, 3], [["kernel:0", [3, 2]], ["bias:0", [2]]]],
        ),
        (
            lambda: [
                given(layer, SEQ, training=False)
                for layer in (L.GaussianNoise(0.5), L.GaussianDropout(0.5), L.AlphaDropout(0.5), L.GaussianDropout(0.0))
            ],
            [
                [[[[2, 4, 3], 0.4553]], [[None, 4, 3]]],
                [[[[2, 4, 3], 0.4553]], [[None, 4, 3]]],
                [[[[2, 4, 3], 0.4553]], [[None, 4, 3]]],
                [[[[2, 4, 3], 0.4553]], [[None, 4, 3]]],
            ],
        ),
        (
            lambda: [given(layer, SEQ, training=True) for layer in (L.GaussianDropout(0.0), L.AlphaDropout(0.0), L.GaussianDropout(1.0))],
            [[[[[2, 4, 3], 0.4553]], [[None, 4, 3]]], [[[[2, 4, 3], 0.4553]], [[None, 4, 3]]], [[[[2, 4, 3], 0.4553]], [[None, 4, 3]]]],
        ),
        (
            lambda: [given(L.TimeDistributed(L.Conv1D(2, 2)), some(2, 3, 4, 2)), sized(L.TimeDistributed(L.Dense(2)), (2, None, 3))],
            [[[[[2, 3, 3, 2], 0.2401]], [[None, 3, 3, 2]]], [2, None, 2]],
        ),
        (
            lambda: [given(L.Bidirectional(L.GRU(2), merge_mode="mul"), SEQ), sized(L.Bidirectional(L.GRU(2), None), (2, 4, 3))],
            [[[[[0.06821, 0.004144], [0.05122, 0.08688]]], [[None, 2]]], [[2, 2], [2, 2]]],
        ),
        (
            lambda: [
                given(L.LocallyConnected1D(2, 2, strides=2, use_bias=False), SEQ),
                given(L.LocallyConnected2D(2, (1, 2), implementation=3, activation="relu"), IMG),
            ],
            [[[[[2, 2, 2], -0.0829]], [[None, 2, 2]]], [[[[1, 4, 4, 2], 0.8868]], [[None, 4, 4, 2]]]],
        ),
        (
            lambda: [
                sized(L.LocallyConnected2D(2, 2, data_format=FIRST), (1, 2, 4, 5)),
                own(L.LocallyConnected1D(2, 2)),
                weighted(L.LocallyConnected1D(2, 2), (None, 5, 3)),
            ],
            [
                [1, 2, 3, 4],
                {
                    "filters": 2,
                    "kernel_size": [2],
                    "strides": [1],
                    "padding": "valid",
                    "data_format": "channels_last",
                    "activation": "linear",
                    "use_bias": True,
                    "kernel_regularizer": None,
                    "bias_regularizer": None,
                    "activity_regularizer": None,
                    "kernel_constraint": None,
                    "bias_constraint": None,
                    "implementation": 1,
                },
                [["kernel:0", [4, 6, 2]], ["bias:0", [4, 2]]],
            ],
        ),
    ],
)
def test_arguments_of_layers(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda: L.ConvLSTM2D(2, 2, unroll=True), "TypeError: Unrolling isnt possible with "),
        (lambda: L.ConvLSTM2D(2, 2).build((None, 3, 4, 4, None)), "ValueError: The channel dimension of the"),
        (lambda: L.Conv2DTranspose(2, 2).build((None, 4, 4, None)), "ValueError: The channel dimension of the"),
        (lambda: L.Conv3DTranspose(2, 2).build((None, 4, 4, 4, None)), "ValueError: The channel dimension of the"),
        (lambda: L.Conv3DTranspose(2, 2, strides=2, output_padding=2), "ValueError: Stride 2, 2, 2) must be grea"),
        (lambda: L.SeparableConv2D(2, 2).build((None, 4, 4, None)), "ValueError: The channel dimension of the"),
        (lambda: L.DepthwiseConv2D(2).build((None, 4, 4)), "ValueError: Inputs to `DepthwiseConv2D` "),
        (lambda: L.DepthwiseConv2D(2).build((None, 4, 4, None)), "ValueError: The channel dimension of the"),
        (lambda: L.LocallyConnected1D(2, 2).build((None, 4, None)), "ValueError: Axis 2 of input should be fu"),
        (lambda: L.Reshape((-1, -1)).compute_output_shape((2, 3)), "ValueError: Can only specify one unknown"),
        (lambda: L.Reshape((4, 2)).compute_output_shape((2, 3)), "ValueError: total size of new array must"),
        (lambda: L.Reshape((4, -1)).compute_output_shape((2, 3)), "ValueError: total size of new array must"),
        (lambda: L.Attention()([tf.zeros((1, 4, 2))] * 2, mask=[tf.constant(MASK)] * 3), "ValueError: Attention layer mask must be"),
        (lambda: L.Add()([keras.Input(batch_shape=(2, 3)), keras.Input(batch_shape=(4, 3))]), "ValueError: Can not merge tensors with d"),
        (lambda: L.Add()(keras.Input((3,))), "ValueError: A merge layer should be call"),
        (lambda: L.Add()([keras.Input((3,))]), "ValueError: A merge layer should be call"),
        (lambda: L.Dot(1)([tf.zeros((2, 3))] * 3), "ValueError: A `Dot` layer should be call"),
        (lambda: L.Concatenate().compute_mask([tf.zeros((2, 3))], tf.constant(MASK)), "ValueError: `mask` should be a list."),
        (lambda: L.Concatenate().compute_mask(tf.zeros((2, 3)), [None]), "ValueError: `inputs` should be a list."),
        (lambda: L.Subtract()([keras.Input((3,))]), "ValueError: A merge layer should be call"),
        (lambda: L.Dense(2, dtype="int32").build((None, 3)), "TypeError: Unable to build `Dense` layer"),
        (lambda: L.Dense(2).compute_output_shape((2, None)), "ValueError: The innermost dimension of i"),
        (lambda: L.Embedding(5, 2, input_length=(3, 4)).compute_output_shape((2, 3)), "ValueError: input_length is 3, 4), but r"),
        (lambda: L.InputLayer((2,), batch_input_shape=(1, 2)), "ValueError: Only provide the input_shape"),
        (lambda: L.InputLayer((2,), sparse=True, ragged=True), "ValueError: Cannot set both sparse and r"),
        (lambda: L.InputLayer((2,), odd=3), "ValueError: Unrecognized keyword argumen"),
        (lambda: L.Flatten()(tf.constant(1.0)), "ValueError: Input 0 of layer flatten is "),
        (lambda: L.InputSpec(shape=(2, 3), axes={5: 2}), "ValueError: Axis 5 is greater than the m"),
        (lambda: L.InputSpec(axes={"a": 2}), "TypeError: The keys in axes must be inte"),
        (lambda: L.RepeatVector(2)(tf.zeros((2, 3, 4))), "ValueError: Input 0 of layer repeat_vect"),
        (lambda: L.UpSampling2D((1, 2, 3)), "ValueError: The `size` argument must be "),
        (lambda: L.Cropping1D((1, 2, 3)), "ValueError: The `cropping` argument must"),
        (lambda: L.GlobalMaxPooling2D("rows"), "ValueError: The `data_format` argument m"),
        (lambda: L.MaxPooling2D(2, padding="odd"), "ValueError: The `padding` argument must "),
    ],
)
def test_layers_that_cannot_be(wrong, expected):
    assert re.sub("[('\"]", "", refused(wrong))[:40] == expected
