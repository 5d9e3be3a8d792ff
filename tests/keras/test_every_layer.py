"""What every layer gives, makes and is described by; numbers are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import computed

import everflow as tf

L, K = tf.keras.layers, tf.keras.backend


def some(*shape):
    return np.sin(np.arange(np.prod(shape))).reshape(shape).astype(np.float32)


def digest(x):
    x = np.asarray(x)
    return [list(x.shape), float(f"{(np.asarray(x, np.float64).ravel() * np.cos(np.arange(x.size))).sum():.3g}")]


def run_layer(layer, x, training=None, **kwargs):
    x = [tf.constant(a) for a in x] if isinstance(x, list) else tf.constant(x)
    if training is not None:
        kwargs["training"] = training
    out = layer(x, **kwargs)
    with tf.Session() as session:
        session.run([v.initializer for v in tf.global_variables()])
        for v in layer.weights:
            session.run(v.assign(some(*v.shape.as_list()) * 0.5 + 0.1))
        found = [digest(o) for o in session.run(list(out) if isinstance(out, (list, tuple)) else [out])]
        if training:
            found += [
                digest(v)
                for v in session.run(
                    [u for u in (layer.updates, layer.non_trainable_weights)][0:1]
                    and [session.run(layer.updates), layer.non_trainable_weights][1]
                )
            ]
    return found


def weights(layer, shape):
    layer.build(shape)
    return [[v.name.split("/", 1)[-1] if "/" in v.name else v.name, v.shape] for v in layer.weights]


def config(layer):
    c = dict(layer.get_config())
    c.pop("name", None)

    def flat(v):
        if isinstance(v, dict) and "class_name" in v:
            return [v["class_name"], {k: flat(x) for k, x in sorted(v["config"].items()) if k != "name"}]
        if isinstance(v, dict):
            return {k: flat(x) for k, x in sorted(v.items())}
        if isinstance(v, (list, tuple)):
            return [flat(x) for x in v]
        return v if isinstance(v, (int, float, str, bool, type(None))) else str(v)

    return sorted(flat(c).items())


def again(layer, x):
    return run_layer(type(layer).from_config(layer.get_config()), x) == run_layer(layer, x)


def out_shape(layer, *shape):
    return layer.compute_output_shape(shape if not isinstance(shape[0], list) else shape[0])


SEQ, IMG, VOL = some(2, 5, 3), some(2, 6, 5, 3), some(1, 4, 5, 4, 2)
SHORT = np.array([[True, True, True, False, False], [True, True, True, True, True]])


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: run_layer(L.Conv1D(2, 3), SEQ), [[[2, 3, 2], 0.593]]),
        (lambda: run_layer(L.Conv1D(2, 3, padding="causal", dilation_rate=2), SEQ), [[[2, 5, 2], 2.31]]),
        (lambda: run_layer(L.Conv1D(2, 2, strides=2, padding="same", activation="tanh", use_bias=False), SEQ), [[[2, 3, 2], -0.353]]),
        (lambda: run_layer(L.Conv2D(2, 3), IMG), [[[2, 4, 3, 2], -0.142]]),
        (lambda: run_layer(L.Conv2D(2, (3, 2), strides=(2, 1), padding="same", activation="relu"), IMG), [[[2, 3, 5, 2], 0.544]]),
        (lambda: run_layer(L.Conv2D(2, 2, dilation_rate=(2, 1)), IMG), [[[2, 4, 4, 2], 1.28]]),
        (lambda: run_layer(L.Conv3D(2, 2, strides=2), VOL), [[[1, 2, 2, 2, 2], -1.47]]),
        (lambda: run_layer(L.Conv3D(2, (1, 2, 3), padding="same"), VOL), [[[1, 4, 5, 4, 2], -7.06]]),
        (lambda: run_layer(L.SeparableConv1D(2, 3, depth_multiplier=2), SEQ), [[[2, 3, 2], -0.201]]),
        (lambda: run_layer(L.SeparableConv1D(2, 3, strides=2, padding="same", use_bias=False), SEQ), [[[2, 3, 2], 0.0629]]),
        (lambda: run_layer(L.SeparableConv2D(2, 3, padding="same"), IMG), [[[2, 6, 5, 2], 1.95]]),
        (
            lambda: run_layer(L.SeparableConv2D(2, (2, 2), strides=2, depth_multiplier=2, activation="sigmoid"), IMG),
            [[[2, 3, 2, 2], -0.282]],
        ),
        (lambda: run_layer(L.SeparableConv2D(2, 2, dilation_rate=2), IMG), [[[2, 4, 3, 2], -0.724]]),
        (lambda: run_layer(L.DepthwiseConv2D(3), IMG), [[[2, 4, 3, 3], 3.62]]),
        (
            lambda: run_layer(L.DepthwiseConv2D((2, 3), strides=2, padding="same", depth_multiplier=2, activation="relu"), IMG),
            [[[2, 3, 3, 6], 4.16]],
        ),
        (lambda: run_layer(L.Conv2DTranspose(2, 3), IMG), [[[2, 8, 7, 2], -0.196]]),
        (lambda: run_layer(L.Conv2DTranspose(2, (3, 2), strides=2, padding="same"), IMG), [[[2, 12, 10, 2], -0.71]]),
        (lambda: run_layer(L.Conv2DTranspose(2, 3, strides=2, output_padding=1, use_bias=False), IMG), [[[2, 14, 12, 2], 5.12]]),
        (lambda: run_layer(L.Conv3DTranspose(2, 2), VOL), [[[1, 5, 6, 5, 2], -11.6]]),
        (lambda: run_layer(L.Conv3DTranspose(2, (2, 3, 2), strides=2, padding="same"), VOL), [[[1, 8, 10, 8, 2], 1.17]]),
        (lambda: run_layer(L.LocallyConnected1D(2, 3), SEQ), [[[2, 3, 2], 2.05]]),
        (lambda: run_layer(L.LocallyConnected1D(2, 2, strides=2, activation="tanh", use_bias=False), SEQ), [[[2, 2, 2], 0.175]]),
        (lambda: run_layer(L.LocallyConnected1D(2, 3, padding="same", implementation=2), SEQ), [[[2, 5, 2], 2.74]]),
        (lambda: run_layer(L.LocallyConnected1D(2, 3, implementation=3), SEQ), [[[2, 3, 2], 4.73]]),
        (lambda: run_layer(L.LocallyConnected2D(2, 3), IMG), [[[2, 4, 3, 2], 6.86]]),
        (lambda: run_layer(L.LocallyConnected2D(2, (2, 3), strides=(2, 1), padding="same", implementation=2), IMG), [[[2, 3, 5, 2], 8.34]]),
        (lambda: run_layer(L.LocallyConnected2D(2, 2, implementation=3, strides=2), IMG), [[[2, 3, 2, 2], 1.57]]),
        (lambda: weights(L.Conv1D(4, 3), (None, 7, 2)), [["kernel:0", [3, 2, 4]], ["bias:0", [4]]]),
        (lambda: weights(L.Conv2D(4, (3, 2)), (None, 7, 7, 2)), [["kernel:0", [3, 2, 2, 4]], ["bias:0", [4]]]),
        (lambda: weights(L.Conv2D(4, 3, data_format="channels_first"), (None, 2, 7, 7)), [["kernel:0", [3, 3, 2, 4]], ["bias:0", [4]]]),
        (
            lambda: weights(L.SeparableConv2D(4, 3, depth_multiplier=2), (None, 7, 7, 2)),
            [["depthwise_kernel:0", [3, 3, 2, 2]], ["pointwise_kernel:0", [1, 1, 4, 4]], ["bias:0", [4]]],
        ),
        (
            lambda: weights(L.DepthwiseConv2D(3, depth_multiplier=2), (None, 7, 7, 2)),
            [["depthwise_kernel:0", [3, 3, 2, 2]], ["bias:0", [4]]],
        ),
        (lambda: weights(L.Conv2DTranspose(4, 3), (None, 7, 7, 2)), [["kernel:0", [3, 3, 4, 2]], ["bias:0", [4]]]),
        (lambda: weights(L.Conv3DTranspose(4, 3), (None, 7, 7, 7, 2)), [["kernel:0", [3, 3, 3, 4, 2]], ["bias:0", [4]]]),
        (lambda: weights(L.LocallyConnected1D(4, 3), (None, 7, 2)), [["kernel:0", [5, 6, 4]], ["bias:0", [5, 4]]]),
        (lambda: weights(L.LocallyConnected2D(4, 3), (None, 7, 6, 2)), [["kernel:0", [20, 18, 4]], ["bias:0", [5, 4, 4]]]),
        (lambda: out_shape(L.Conv1D(4, 3, padding="causal"), 2, 9, 3), [2, 9, 4]),
        (lambda: out_shape(L.Conv1D(4, 3, strides=2), 2, 9, 3), [2, 4, 4]),
        (lambda: out_shape(L.Conv2D(4, 3, strides=2, padding="same"), 2, 9, 8, 3), [2, 5, 4, 4]),
        (lambda: out_shape(L.Conv2D(4, 3, dilation_rate=2), None, 9, 8, 3), [None, 5, 4, 4]),
        (lambda: out_shape(L.Conv2D(4, 3, data_format="channels_first"), None, 3, 9, 8), [None, 4, 7, 6]),
        (lambda: out_shape(L.Conv2DTranspose(4, 3, strides=2), None, 9, 8, 3), [None, 19, 17, 4]),
        (lambda: out_shape(L.Conv2DTranspose(4, 3, strides=2, padding="same", output_padding=1), None, 9, 8, 3), [None, 18, 16, 4]),
        (lambda: out_shape(L.Conv2DTranspose(4, 3, data_format="channels_first"), None, 3, 9, 8), [None, 4, 11, 10]),
        (lambda: out_shape(L.Conv3DTranspose(4, 3, strides=2), None, 9, 8, 7, 3), [None, 19, 17, 15, 4]),
        (lambda: out_shape(L.DepthwiseConv2D(3, depth_multiplier=2), None, 9, 8, 3), [None, 7, 6, 6]),
        (lambda: out_shape(L.LocallyConnected1D(4, 3), None, 9, 3), [None, 7, 4]),
        (lambda: out_shape(L.LocallyConnected2D(4, 3, strides=2), None, 9, 8, 3), [None, 4, 3, 4]),
    ],
)
def test_convolutions(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: run_layer(L.MaxPooling1D(2), SEQ), [[[2, 2, 3], -0.486]]),
        (lambda: run_layer(L.MaxPooling1D(3, 2, "same"), SEQ), [[[2, 3, 3], -0.714]]),
        (lambda: run_layer(L.AveragePooling1D(2, 1), SEQ), [[[2, 4, 3], -0.012]]),
        (lambda: run_layer(L.AveragePooling1D(3, 2, "same"), SEQ), [[[2, 3, 3], -0.23]]),
        (lambda: run_layer(L.MaxPooling2D((2, 3)), IMG), [[[2, 3, 1, 3], -1.3]]),
        (lambda: run_layer(L.MaxPooling2D(3, 2, "same"), IMG), [[[2, 3, 3, 3], 0.334]]),
        (lambda: run_layer(L.AveragePooling2D((2, 3), (1, 2), "same"), IMG), [[[2, 6, 3, 3], -0.711]]),
        (lambda: run_layer(L.MaxPooling3D(2), VOL), [[[1, 2, 2, 2, 2], 0.614]]),
        (lambda: run_layer(L.AveragePooling3D((2, 3, 2), 1, "same"), VOL), [[[1, 4, 5, 4, 2], 6.91]]),
        (lambda: run_layer(L.GlobalMaxPooling1D(), SEQ), [[[2, 3], -0.41]]),
        (lambda: run_layer(L.GlobalAveragePooling1D(), SEQ), [[[2, 3], -0.263]]),
        (lambda: run_layer(L.GlobalAveragePooling1D(), SEQ, mask=tf.constant(SHORT)), [[[2, 3], -0.243]]),
        (lambda: run_layer(L.GlobalAveragePooling1D("channels_first"), SEQ), [[[2, 5], 0.174]]),
        (lambda: run_layer(L.GlobalMaxPooling1D("channels_first"), SEQ), [[[2, 5], 0.228]]),
        (lambda: run_layer(L.GlobalMaxPooling2D(), IMG), [[[2, 3], -0.238]]),
        (lambda: run_layer(L.GlobalMaxPooling2D("channels_first"), IMG), [[[2, 6], -0.399]]),
        (lambda: run_layer(L.GlobalAveragePooling2D(), IMG), [[[2, 3], -0.0591]]),
        (lambda: run_layer(L.GlobalMaxPooling3D("channels_first"), VOL), [[[1, 4], 0.137]]),
        (lambda: run_layer(L.GlobalAveragePooling3D(), VOL), [[[1, 2], 0.0145]]),
        (lambda: run_layer(L.GlobalMaxPooling3D(), VOL), [[[1, 2], 1.54]]),
        (lambda: run_layer(L.GlobalAveragePooling3D("channels_first"), VOL), [[[1, 4], 0.00567]]),
        (lambda: run_layer(L.ZeroPadding1D(2), SEQ), [[[2, 9, 3], 7.8]]),
        (lambda: run_layer(L.ZeroPadding1D((1, 3)), SEQ), [[[2, 9, 3], -6.06]]),
        (lambda: run_layer(L.ZeroPadding2D(1), IMG), [[[2, 8, 7, 3], 10.4]]),
        (lambda: run_layer(L.ZeroPadding2D((1, 2)), IMG), [[[2, 8, 9, 3], -17.3]]),
        (lambda: run_layer(L.ZeroPadding2D(((1, 0), (2, 3))), IMG), [[[2, 7, 10, 3], 13.1]]),
        (lambda: run_layer(L.ZeroPadding2D(1, "channels_first"), IMG), [[[2, 6, 7, 5], -0.661]]),
        (lambda: run_layer(L.ZeroPadding3D(((1, 0), (2, 3), (0, 1))), VOL), [[[1, 5, 10, 5, 2], -1.43]]),
        (lambda: run_layer(L.ZeroPadding3D((1, 2, 0), "channels_first"), VOL), [[[1, 4, 7, 8, 2], -0.783]]),
        (lambda: run_layer(L.Cropping1D((1, 2)), SEQ), [[[2, 2, 3], -1.24]]),
        (lambda: run_layer(L.Cropping1D(1), SEQ), [[[2, 3, 3], 2.14]]),
        (lambda: run_layer(L.Cropping2D(1), IMG), [[[2, 4, 3, 3], -6.01]]),
        (lambda: run_layer(L.Cropping2D(((1, 0), (2, 1))), IMG), [[[2, 5, 2, 3], -0.257]]),
        (lambda: run_layer(L.Cropping2D(((0, 1), (1, 0)), "channels_first"), IMG), [[[2, 6, 4, 2], -0.685]]),
        (lambda: run_layer(L.Cropping3D(1), VOL), [[[1, 2, 3, 2, 2], -0.0148]]),
        (lambda: run_layer(L.Cropping3D(((1, 0), (0, 0), (0, 2))), VOL), [[[1, 3, 5, 2, 2], 3.35]]),
        (lambda: run_layer(L.Cropping3D(((0, 1), (1, 1), (1, 0)), "channels_first"), VOL), [[[1, 4, 4, 2, 1], -7.75]]),
        (lambda: run_layer(L.UpSampling1D(3), SEQ), [[[2, 15, 3], 10.1]]),
        (lambda: run_layer(L.UpSampling2D((2, 3)), IMG), [[[2, 12, 15, 3], 28.3]]),
        (lambda: run_layer(L.UpSampling2D(2, "channels_first"), IMG), [[[2, 6, 10, 6], -0.419]]),
        (lambda: run_layer(L.UpSampling3D((1, 2, 3)), VOL), [[[1, 4, 10, 12, 2], -0.275]]),
        (lambda: out_shape(L.MaxPooling1D(2), None, 7, 3), [None, 3, 3]),
        (lambda: out_shape(L.MaxPooling1D(2, 3, "same", "channels_first"), None, 3, 7), [None, 3, 3]),
        (lambda: out_shape(L.MaxPooling2D(2, 3), None, 7, 9, 3), [None, 2, 3, 3]),
        (lambda: out_shape(L.MaxPooling2D(2, 3, "same", "channels_first"), None, 3, 7, 9), [None, 3, 3, 3]),
        (lambda: out_shape(L.AveragePooling3D(2), None, 7, 9, 8, 3), [None, 3, 4, 4, 3]),
        (lambda: out_shape(L.AveragePooling3D(2, data_format="channels_first"), None, 3, 7, 9, 8), [None, 3, 3, 4, 4]),
        (lambda: out_shape(L.GlobalMaxPooling1D("channels_first"), None, 7, 3), [None, 7]),
        (lambda: out_shape(L.GlobalMaxPooling2D("channels_first"), None, 7, 3, 4), [None, 7]),
        (lambda: out_shape(L.GlobalMaxPooling3D(), None, 7, 3, 4, 5), [None, 5]),
        (lambda: out_shape(L.ZeroPadding1D((1, 3)), None, 7, 3), [None, 11, 3]),
        (lambda: out_shape(L.ZeroPadding2D(((1, 0), (2, 3)), "channels_first"), None, 3, 7, 8), [None, 3, 8, 13]),
        (lambda: out_shape(L.Cropping1D((1, 2)), None, 7, 3), [None, 4, 3]),
        (lambda: out_shape(L.Cropping2D(((1, 0), (2, 3)), "channels_first"), None, 3, 7, 8), [None, 3, 6, 3]),
        (lambda: out_shape(L.Cropping3D(((1, 0), (2, 3), (0, 1))), None, 7, 8, 9, 3), [None, 6, 3, 8, 3]),
        (lambda: out_shape(L.UpSampling1D(3), None, 7, 3), [None, 21, 3]),
        (lambda: out_shape(L.UpSampling2D((2, 3), "channels_first"), None, 3, 7, 8), [None, 3, 14, 24]),
        (lambda: out_shape(L.UpSampling3D((2, 3, 4)), None, 7, 8, 9, 3), [None, 14, 24, 36, 3]),
    ],
)
def test_pools_and_borders(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: run_layer(L.SimpleRNN(4), SEQ), [[[2, 4], 2.55]]),
        (lambda: run_layer(L.SimpleRNN(4, return_sequences=True, activation="relu", use_bias=False), SEQ), [[[2, 5, 4], 2.41]]),
        (lambda: run_layer(L.SimpleRNN(4, go_backwards=True, return_sequences=True), SEQ), [[[2, 5, 4], 3.53]]),
        (lambda: run_layer(L.SimpleRNN(4, return_state=True), SEQ), [[[2, 4], 2.55], [[2, 4], 2.55]]),
        (lambda: run_layer(L.SimpleRNN(4, unroll=True), SEQ), [[[2, 4], 2.55]]),
        (lambda: run_layer(L.SimpleRNN(4), SEQ, mask=tf.constant(SHORT)), [[[2, 4], 2.4]]),
        (lambda: run_layer(L.SimpleRNN(4, return_sequences=True), SEQ, mask=tf.constant(SHORT)), [[[2, 5, 4], 3.39]]),
        (lambda: run_layer(L.GRU(4), SEQ), [[[2, 4], 0.296]]),
        (lambda: run_layer(L.GRU(4, implementation=2), SEQ), [[[2, 4], 0.296]]),
        (lambda: run_layer(L.GRU(4, reset_after=True), SEQ), [[[2, 4], 0.559]]),
        (
            lambda: run_layer(L.GRU(4, reset_after=True, implementation=2, return_sequences=True, return_state=True), SEQ),
            [[[2, 5, 4], -0.0821], [[2, 4], 0.559]],
        ),
        (
            lambda: run_layer(L.GRU(4, recurrent_activation="sigmoid", activation="relu", use_bias=False, unroll=True), SEQ),
            [[[2, 4], 0.712]],
        ),
        (lambda: run_layer(L.GRU(4, return_sequences=True), SEQ, mask=tf.constant(SHORT)), [[[2, 5, 4], 0.159]]),
        (lambda: run_layer(L.LSTM(4), SEQ), [[[2, 4], 0.24]]),
        (lambda: run_layer(L.LSTM(4, implementation=2, return_sequences=True), SEQ), [[[2, 5, 4], -0.0433]]),
        (lambda: run_layer(L.LSTM(4, return_state=True, go_backwards=True), SEQ), [[[2, 4], 0.27], [[2, 4], 0.27], [[2, 4], 0.467]]),
        (
            lambda: run_layer(L.LSTM(4, recurrent_activation="sigmoid", activation="relu", use_bias=False, unroll=True), SEQ),
            [[[2, 4], 0.049]],
        ),
        (
            lambda: run_layer(L.LSTM(4, return_state=True), SEQ, mask=tf.constant(SHORT)),
            [[[2, 4], 0.184], [[2, 4], 0.184], [[2, 4], 0.317]],
        ),
        (lambda: run_layer(L.LSTM(4, time_major=True, return_sequences=True), SEQ), [[[2, 5, 4], 0.238]]),
        (lambda: run_layer(L.LSTM(4), SEQ, initial_state=[tf.ones([2, 4]), tf.ones([2, 4])]), [[[2, 4], 0.333]]),
        (lambda: run_layer(L.RNN(L.SimpleRNNCell(3), return_sequences=True), SEQ), [[[2, 5, 3], -0.524]]),
        (lambda: run_layer(L.Bidirectional(L.SimpleRNN(2)), SEQ), [[[2, 4], 0.797]]),
        (lambda: run_layer(L.Bidirectional(L.LSTM(2, return_sequences=True), merge_mode="sum"), SEQ), [[[2, 5, 2], -0.461]]),
        (lambda: run_layer(L.Bidirectional(L.GRU(2), merge_mode="mul"), SEQ), [[[2, 2], 0.00374]]),
        (lambda: run_layer(L.Bidirectional(L.GRU(2), merge_mode="ave"), SEQ), [[[2, 2], -0.0199]]),
        (lambda: run_layer(L.Bidirectional(L.GRU(2), merge_mode=None), SEQ), [[[2, 2], 0.0743], [[2, 2], -0.114]]),
        (
            lambda: run_layer(L.Bidirectional(L.LSTM(2, return_state=True)), SEQ),
            [[[2, 4], -0.385], [[2, 2], 0.536], [[2, 2], 0.907], [[2, 2], 0.423], [[2, 2], 0.787]],
        ),
        (lambda: run_layer(L.TimeDistributed(L.Dense(2)), SEQ), [[[2, 5, 2], 1.1]]),
        (lambda: run_layer(L.TimeDistributed(L.Conv1D(2, 2)), some(2, 3, 4, 2)), [[[2, 3, 3, 2], 0.24]]),
        (lambda: run_layer(L.ConvLSTM2D(2, 2), some(1, 3, 4, 4, 2)), [[[1, 3, 3, 2], -0.487]]),
        (
            lambda: run_layer(L.ConvLSTM2D(2, (2, 3), padding="same", return_sequences=True, return_state=True), some(1, 3, 4, 4, 2)),
            [[[1, 3, 4, 4, 2], -3.93], [[1, 4, 4, 2], 0.0118], [[1, 4, 4, 2], 0.0371]],
        ),
        (
            lambda: run_layer(
                L.ConvLSTM2D(2, 2, strides=2, use_bias=False, go_backwards=True, recurrent_activation="sigmoid"), some(1, 3, 4, 4, 2)
            ),
            [[[1, 2, 2, 2], -0.895]],
        ),
        (lambda: weights(L.SimpleRNN(4), (None, 5, 3)), [["kernel:0", [3, 4]], ["recurrent_kernel:0", [4, 4]], ["bias:0", [4]]]),
        (lambda: weights(L.GRU(4), (None, 5, 3)), [["kernel:0", [3, 12]], ["recurrent_kernel:0", [4, 12]], ["bias:0", [12]]]),
        (
            lambda: weights(L.GRU(4, reset_after=True), (None, 5, 3)),
            [["kernel:0", [3, 12]], ["recurrent_kernel:0", [4, 12]], ["bias:0", [2, 12]]],
        ),
        (lambda: weights(L.LSTM(4), (None, 5, 3)), [["kernel:0", [3, 16]], ["recurrent_kernel:0", [4, 16]], ["bias:0", [16]]]),
        (lambda: weights(L.LSTM(4, use_bias=False), (None, 5, 3)), [["kernel:0", [3, 16]], ["recurrent_kernel:0", [4, 16]]]),
        (
            lambda: weights(L.ConvLSTM2D(2, 3), (None, 5, 6, 6, 3)),
            [["kernel:0", [3, 3, 3, 8]], ["recurrent_kernel:0", [3, 3, 2, 8]], ["bias:0", [8]]],
        ),
        (
            lambda: weights(L.Bidirectional(L.LSTM(4)), (None, 5, 3)),
            [
                ["kernel:0", [3, 16]],
                ["recurrent_kernel:0", [4, 16]],
                ["bias:0", [16]],
                ["kernel:0", [3, 16]],
                ["recurrent_kernel:0", [4, 16]],
                ["bias:0", [16]],
            ],
        ),
        (lambda: weights(L.TimeDistributed(L.Dense(4)), (None, 5, 3)), [["kernel:0", [3, 4]], ["bias:0", [4]]]),
        (lambda: out_shape(L.LSTM(4), None, 5, 3), [None, 4]),
        (lambda: out_shape(L.LSTM(4, return_sequences=True), None, 5, 3), [None, 5, 4]),
        (lambda: out_shape(L.LSTM(4, return_state=True), None, 5, 3), [[None, 4], [None, 4], [None, 4]]),
        (lambda: out_shape(L.GRU(4, return_state=True, return_sequences=True), None, 5, 3), [[None, 5, 4], [None, 4]]),
        (lambda: out_shape(L.Bidirectional(L.LSTM(4)), None, 5, 3), [None, 8]),
        (lambda: out_shape(L.Bidirectional(L.LSTM(4), merge_mode="sum"), None, 5, 3), [None, 4]),
        (lambda: out_shape(L.Bidirectional(L.LSTM(4), merge_mode=None), None, 5, 3), [[None, 4], [None, 4]]),
        (lambda: out_shape(L.TimeDistributed(L.Dense(4)), None, 5, 3), [None, 5, 4]),
        (lambda: out_shape(L.ConvLSTM2D(2, 3, return_sequences=True), None, 5, 6, 6, 3), [None, 5, 4, 4, 2]),
        (
            lambda: out_shape(L.ConvLSTM2D(2, 3, padding="same", return_state=True), None, 5, 6, 6, 3),
            [[None, 6, 6, 2], [None, 6, 6, 2], [None, 6, 6, 2]],
        ),
    ],
)
def test_recurrent_layers(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: run_layer(L.Add(), [some(2, 3), some(2, 3) + 1]), [[[2, 3], 0.0826]]),
        (lambda: run_layer(L.Add(), [some(2, 3), some(2, 1) + 1]), [[[2, 3], -1.22]]),
        (lambda: run_layer(L.Subtract(), [some(2, 3), some(2, 3) + 1]), [[[2, 3], 0.236]]),
        (lambda: run_layer(L.Multiply(), [some(2, 3), some(2, 3) + 1, some(2, 3)]), [[[2, 3], -0.0553]]),
        (lambda: run_layer(L.Average(), [some(2, 3), some(2, 3) + 1, some(2, 3)]), [[[2, 3], 0.0806]]),
        (lambda: run_layer(L.Maximum(), [some(2, 3), some(2, 3) + 1, -some(2, 3)]), [[[2, 3], -0.152]]),
        (lambda: run_layer(L.Minimum(), [some(2, 3), some(2, 3) + 1, -some(2, 3)]), [[[2, 3], 0.286]]),
        (lambda: run_layer(L.Concatenate(), [some(2, 3), some(2, 2)]), [[[2, 5], -2.14]]),
        (lambda: run_layer(L.Concatenate(axis=1), [some(2, 3, 2), some(2, 1, 2)]), [[[2, 4, 2], -1.94]]),
        (lambda: run_layer(L.Dot(1), [some(2, 3), some(2, 3) + 1]), [[[2, 1], 3.25]]),
        (lambda: run_layer(L.Dot((1, 2), normalize=True), [some(2, 3, 4), some(2, 5, 3)]), [[[2, 4, 5], -1.45]]),
        (lambda: run_layer(L.Dot(-1), [some(2, 3, 4), some(2, 5, 4)]), [[[2, 3, 5], 1.98]]),
        (lambda: run_layer(L.Dot((2, 1)), [some(2, 3, 4), some(2, 4)]), [[[2, 3], -0.527]]),
        (lambda: out_shape(L.Add(), [(None, 3), (None, 3)]), [None, 3]),
        (lambda: out_shape(L.Add(), [(2, 1, 3), (None, 4, 3)]), [2, 4, 3]),
        (lambda: out_shape(L.Concatenate(axis=1), [(None, 3, 2), (None, 4, 2)]), [None, 7, 2]),
        (lambda: out_shape(L.Concatenate(axis=-1), [(None, 3, 2), (None, 3, None)]), [None, 3, None]),
        (lambda: out_shape(L.Dot((1, 2)), [(None, 3, 4), (None, 5, 3)]), [None, 4, 5]),
        (lambda: out_shape(L.Dot(1), [(None, 3), (None, 3)]), [None, 1]),
        (lambda: run_layer(L.Attention(), [some(2, 3, 4), some(2, 5, 4)]), [[[2, 3, 4], -0.93]]),
        (lambda: run_layer(L.Attention(causal=True), [some(2, 5, 4), some(2, 5, 4)]), [[[2, 5, 4], 1.62]]),
        (lambda: run_layer(L.Attention(), [some(2, 3, 4), some(2, 5, 4)], mask=[None, tf.constant(SHORT)]), [[[2, 3, 4], -0.168]]),
        (lambda: run_layer(L.AdditiveAttention(), [some(2, 3, 4), some(2, 5, 4)]), [[[2, 3, 4], -0.211]]),
        (lambda: run_layer(L.AdditiveAttention(use_scale=False, causal=True), [some(2, 5, 4), some(2, 5, 4)]), [[[2, 5, 4], 2.38]]),
    ],
)
def test_layers_that_join(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: run_layer(L.BatchNormalization(), IMG), [[[2, 6, 5, 3], 1.0]]),
        (lambda: run_layer(L.BatchNormalization(), IMG, training=True), [[[2, 6, 5, 3], 1.24], [[3], 0.149], [[3], 0.155]]),
        (lambda: run_layer(L.BatchNormalization(), some(4, 3), training=True), [[[4, 3], 0.383], [[3], 0.15], [[3], 0.148]]),
        (
            lambda: run_layer(L.BatchNormalization(axis=1, momentum=0.5, epsilon=0.1), some(4, 3, 2), training=True),
            [[[4, 3, 2], -3.36], [[3], 0.443], [[3], 0.214]],
        ),
        (
            lambda: run_layer(L.BatchNormalization(scale=False, center=False), some(4, 3), training=True),
            [[[4, 3], -1.26], [[3], 0.15], [[3], 0.148]],
        ),
        (lambda: run_layer(L.BatchNormalization(fused=False), IMG, training=True), [[[2, 6, 5, 3], 1.24], [[3], 0.149], [[3], 0.155]]),
        (
            lambda: run_layer(L.BatchNormalization(axis=[1, 2]), some(4, 3, 2), training=True),
            [[[4, 3, 2], 2.88], [[1, 3, 2], 0.0453], [[1, 3, 2], 0.0554]],
        ),
        (
            lambda: run_layer(
                L.BatchNormalization(renorm=True, renorm_clipping={"rmax": 3, "rmin": 0.1, "dmax": 2}), some(4, 3), training=True
            ),
            [[[4, 3], 0.319], [[3], 0.15], [[3], 0.0268], [[3], 0.151], [[3], 0.15], [[3], 0.151]],
        ),
        (
            lambda: run_layer(L.BatchNormalization(virtual_batch_size=2), some(4, 3, 3, 2), training=True),
            [[[4, 3, 3, 2], 0.222], [[1, 1, 1, 1, 2], 0.378], [[1, 1, 1, 1, 2], 0.385]],
        ),
        (lambda: run_layer(L.LayerNormalization(), some(4, 3)), [[[4, 3], -0.577]]),
        (lambda: run_layer(L.LayerNormalization(axis=[1, 2], epsilon=0.1, center=False), some(2, 3, 4)), [[[2, 3, 4], -0.291]]),
        (lambda: run_layer(L.LayerNormalization(axis=1, scale=False), some(2, 3, 4)), [[[2, 3, 4], -0.29]]),
        (
            lambda: weights(L.BatchNormalization(), (None, 5, 3)),
            [["gamma:0", [3]], ["beta:0", [3]], ["moving_mean:0", [3]], ["moving_variance:0", [3]]],
        ),
        (
            lambda: weights(L.BatchNormalization(renorm=True, center=False), (None, 3)),
            [
                ["gamma:0", [3]],
                ["moving_mean:0", [3]],
                ["moving_variance:0", [3]],
                ["moving_stddev:0", [3]],
                ["renorm_mean:0", [3]],
                ["renorm_stddev:0", [3]],
            ],
        ),
        (lambda: weights(L.LayerNormalization(axis=[1, 2]), (None, 5, 3)), [["gamma:0", [5, 3]], ["beta:0", [5, 3]]]),
        (lambda: run_layer(L.Dense(4, activation="softmax"), some(2, 3)), [[[2, 4], 0.62]]),
        (lambda: run_layer(L.Dense(4), some(2, 5, 3)), [[[2, 5, 4], 2.48]]),
        (lambda: run_layer(L.Embedding(5, 3), np.array([[0, 4], [2, 2]])), [[[2, 2, 3], 0.161]]),
        (lambda: run_layer(L.PReLU(), IMG), [[[2, 6, 5, 3], 4.16]]),
        (lambda: run_layer(L.PReLU(shared_axes=[1, 2]), IMG), [[[2, 6, 5, 3], 0.588]]),
        (lambda: run_layer(L.Softmax(axis=1), SEQ), [[[2, 5, 3], 0.0201]]),
        (lambda: run_layer(L.ReLU(max_value=0.5, negative_slope=0.2, threshold=0.1), SEQ), [[[2, 5, 3], 0.000403]]),
        (lambda: run_layer(L.ELU(0.7), SEQ), [[[2, 5, 3], 0.159]]),
        (lambda: run_layer(L.LeakyReLU(0.2), SEQ), [[[2, 5, 3], 0.0385]]),
        (lambda: run_layer(L.ThresholdedReLU(0.3), SEQ), [[[2, 5, 3], 0.203]]),
        (lambda: run_layer(L.Masking(0.0), SEQ), [[[2, 5, 3], 0.39]]),
        (lambda: run_layer(L.Flatten("channels_first"), IMG), [[[2, 90], -0.0553]]),
        (lambda: run_layer(L.Permute((2, 1)), SEQ), [[[2, 3, 5], -0.881]]),
        (lambda: run_layer(L.RepeatVector(3), some(2, 3)), [[[2, 3, 3], 0.971]]),
        (lambda: run_layer(L.Reshape((3, -1)), SEQ), [[[2, 3, 5], 0.39]]),
        (lambda: run_layer(L.Lambda(lambda t, k: t * k, arguments={"k": 3.0}), SEQ), [[[2, 5, 3], 1.17]]),
        (lambda: out_shape(L.Dense(4), None, 5, 3), [None, 5, 4]),
        (lambda: out_shape(L.Embedding(5, 3), None, 7), [None, 7, 3]),
        (lambda: out_shape(L.Embedding(5, 3, input_length=4), None, 4), [None, 4, 3]),
        (lambda: out_shape(L.Flatten(), None, 5, 3), [None, 15]),
        (lambda: out_shape(L.Flatten(), None, None, 3), [None, None]),
        (lambda: out_shape(L.Permute((2, 1)), None, 5, 3), [None, 3, 5]),
        (lambda: out_shape(L.RepeatVector(3), None, 5), [None, 3, 5]),
        (lambda: out_shape(L.Reshape((3, -1)), None, 6, 2), [None, 3, 4]),
        (lambda: out_shape(L.Reshape((-1, 2)), None, None, 2), [None, None, 2]),
        (lambda: L.Embedding(5, 3, mask_zero=True).compute_mask(tf.constant([[0, 4], [2, 0]])), [[False, True], [True, False]]),
        (lambda: L.Embedding(5, 3).compute_mask(tf.constant([[0, 4]])), None),
        (lambda: L.Masking(1.0).compute_mask(tf.constant([[[1.0, 1.0], [1.0, 2.0]]])), [[False, True]]),
        (
            lambda: L.Add().compute_mask([tf.ones([1, 2]), tf.ones([1, 2])], [tf.constant([[True, False]]), tf.constant([[True, True]])]),
            [[True, False]],
        ),
        (lambda: L.Dense(3, input_dim=2)._batch_input_shape, [None, 2]),
        (lambda: L.Dense(3, input_shape=(4, 2), batch_size=5)._batch_input_shape, [5, 4, 2]),
    ],
)
def test_layers_that_normalize_and_shape(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: config(L.Conv1D(2, 3, padding="causal")),
            [
                ["activation", "linear"],
                ["activity_regularizer", None],
                ["bias_constraint", None],
                ["bias_initializer", ["Zeros", {"dtype": "float32"}]],
                ["bias_regularizer", None],
                ["data_format", "channels_last"],
                ["dilation_rate", [1]],
                ["dtype", None],
                ["filters", 2],
                ["kernel_constraint", None],
                ["kernel_initializer", ["GlorotUniform", {"dtype": "float32", "seed": None}]],
                ["kernel_regularizer", None],
                ["kernel_size", [3]],
                ["padding", "causal"],
                ["strides", [1]],
                ["trainable", True],
                ["use_bias", True],
            ],
        ),
        (
            lambda: config(L.Conv2D(2, 3, kernel_regularizer=tf.keras.regularizers.l2(0.1), kernel_constraint="max_norm")),
            [
                ["activation", "linear"],
                ["activity_regularizer", None],
                ["bias_constraint", None],
                ["bias_initializer", ["Zeros", {"dtype": "float32"}]],
                ["bias_regularizer", None],
                ["data_format", "channels_last"],
                ["dilation_rate", [1, 1]],
                ["dtype", None],
                ["filters", 2],
                ["kernel_constraint", ["MaxNorm", {"axis": 0, "max_value": 2}]],
                ["kernel_initializer", ["GlorotUniform", {"dtype": "float32", "seed": None}]],
                ["kernel_regularizer", ["L1L2", {"l1": 0.0, "l2": 0.1}]],
                ["kernel_size", [3, 3]],
                ["padding", "valid"],
                ["strides", [1, 1]],
                ["trainable", True],
                ["use_bias", True],
            ],
        ),
        (
            lambda: config(L.SeparableConv2D(2, 3)),
            [
                ["activation", "linear"],
                ["activity_regularizer", None],
                ["bias_constraint", None],
                ["bias_initializer", ["Zeros", {"dtype": "float32"}]],
                ["bias_regularizer", None],
                ["data_format", "channels_last"],
                ["depth_multiplier", 1],
                ["depthwise_constraint", None],
                ["depthwise_initializer", ["GlorotUniform", {"dtype": "float32", "seed": None}]],
                ["depthwise_regularizer", None],
                ["dilation_rate", [1, 1]],
                ["dtype", None],
                ["filters", 2],
                ["kernel_constraint", None],
                ["kernel_initializer", ["GlorotUniform", {"dtype": "float32", "seed": None}]],
                ["kernel_regularizer", None],
                ["kernel_size", [3, 3]],
                ["padding", "valid"],
                ["pointwise_constraint", None],
                ["pointwise_initializer", ["GlorotUniform", {"dtype": "float32", "seed": None}]],
                ["pointwise_regularizer", None],
                ["strides", [1, 1]],
                ["trainable", True],
                ["use_bias", True],
            ],
        ),
        (
            lambda: config(L.DepthwiseConv2D(3)),
            [
                ["activation", "linear"],
                ["activity_regularizer", None],
                ["bias_constraint", None],
                ["bias_initializer", ["Zeros", {"dtype": "float32"}]],
                ["bias_regularizer", None],
                ["data_format", "channels_last"],
                ["depth_multiplier", 1],
                ["depthwise_constraint", None],
                ["depthwise_initializer", ["GlorotUniform", {"dtype": "float32", "seed": None}]],
                ["depthwise_regularizer", None],
                ["dilation_rate", [1, 1]],
                ["dtype", None],
                ["kernel_size", [3, 3]],
                ["padding", "valid"],
                ["strides", [1, 1]],
                ["trainable", True],
                ["use_bias", True],
            ],
        ),
        (
            lambda: config(L.LocallyConnected1D(2, 3)),
            [
                ["activation", "linear"],
                ["activity_regularizer", None],
                ["bias_constraint", None],
                ["bias_initializer", ["Zeros", {"dtype": "float32"}]],
                ["bias_regularizer", None],
                ["data_format", "channels_last"],
                ["dtype", None],
                ["filters", 2],
                ["implementation", 1],
                ["kernel_constraint", None],
                ["kernel_initializer", ["GlorotUniform", {"dtype": "float32", "seed": None}]],
                ["kernel_regularizer", None],
                ["kernel_size", [3]],
                ["padding", "valid"],
                ["strides", [1]],
                ["trainable", True],
                ["use_bias", True],
            ],
        ),
        (
            lambda: config(L.LocallyConnected2D(2, 3)),
            [
                ["activation", "linear"],
                ["activity_regularizer", None],
                ["bias_constraint", None],
                ["bias_initializer", ["Zeros", {"dtype": "float32"}]],
                ["bias_regularizer", None],
                ["data_format", "channels_last"],
                ["dtype", None],
                ["filters", 2],
                ["implementation", 1],
                ["kernel_constraint", None],
                ["kernel_initializer", ["GlorotUniform", {"dtype": "float32", "seed": None}]],
                ["kernel_regularizer", None],
                ["kernel_size", [3, 3]],
                ["padding", "valid"],
                ["strides", [1, 1]],
                ["trainable", True],
                ["use_bias", True],
            ],
        ),
        (
            lambda: config(L.SimpleRNN(2)),
            [
                ["activation", "tanh"],
                ["activity_regularizer", None],
                ["bias_constraint", None],
                ["bias_initializer", ["Zeros", {"dtype": "float32"}]],
                ["bias_regularizer", None],
                ["dropout", 0.0],
                ["dtype", None],
                ["go_backwards", False],
                ["kernel_constraint", None],
                ["kernel_initializer", ["GlorotUniform", {"dtype": "float32", "seed": None}]],
                ["kernel_regularizer", None],
                ["recurrent_constraint", None],
                ["recurrent_dropout", 0.0],
                ["recurrent_initializer", ["Orthogonal", {"dtype": "float32", "gain": 1.0, "seed": None}]],
                ["recurrent_regularizer", None],
                ["return_sequences", False],
                ["return_state", False],
                ["stateful", False],
                ["time_major", False],
                ["trainable", True],
                ["units", 2],
                ["unroll", False],
                ["use_bias", True],
            ],
        ),
        (
            lambda: config(L.GRU(2)),
            [
                ["activation", "tanh"],
                ["activity_regularizer", None],
                ["bias_constraint", None],
                ["bias_initializer", ["Zeros", {"dtype": "float32"}]],
                ["bias_regularizer", None],
                ["dropout", 0.0],
                ["dtype", None],
                ["go_backwards", False],
                ["implementation", 1],
                ["kernel_constraint", None],
                ["kernel_initializer", ["GlorotUniform", {"dtype": "float32", "seed": None}]],
                ["kernel_regularizer", None],
                ["recurrent_activation", "hard_sigmoid"],
                ["recurrent_constraint", None],
                ["recurrent_dropout", 0.0],
                ["recurrent_initializer", ["Orthogonal", {"dtype": "float32", "gain": 1.0, "seed": None}]],
                ["recurrent_regularizer", None],
                ["reset_after", False],
                ["return_sequences", False],
                ["return_state", False],
                ["stateful", False],
                ["time_major", False],
                ["trainable", True],
                ["units", 2],
                ["unroll", False],
                ["use_bias", True],
            ],
        ),
        (
            lambda: config(L.LSTM(2)),
            [
                ["activation", "tanh"],
                ["activity_regularizer", None],
                ["bias_constraint", None],
                ["bias_initializer", ["Zeros", {"dtype": "float32"}]],
                ["bias_regularizer", None],
                ["dropout", 0.0],
                ["dtype", None],
                ["go_backwards", False],
                ["implementation", 1],
                ["kernel_constraint", None],
                ["kernel_initializer", ["GlorotUniform", {"dtype": "float32", "seed": None}]],
                ["kernel_regularizer", None],
                ["recurrent_activation", "hard_sigmoid"],
                ["recurrent_constraint", None],
                ["recurrent_dropout", 0.0],
                ["recurrent_initializer", ["Orthogonal", {"dtype": "float32", "gain": 1.0, "seed": None}]],
                ["recurrent_regularizer", None],
                ["return_sequences", False],
                ["return_state", False],
                ["stateful", False],
                ["time_major", False],
                ["trainable", True],
                ["unit_forget_bias", True],
                ["units", 2],
                ["unroll", False],
                ["use_bias", True],
            ],
        ),
        (
            lambda: config(L.BatchNormalization()),
            [
                ["axis", -1],
                ["beta_constraint", None],
                ["beta_initializer", ["Zeros", {"dtype": "float32"}]],
                ["beta_regularizer", None],
                ["center", True],
                ["dtype", None],
                ["epsilon", 0.001],
                ["gamma_constraint", None],
                ["gamma_initializer", ["Ones", {"dtype": "float32"}]],
                ["gamma_regularizer", None],
                ["momentum", 0.99],
                ["moving_mean_initializer", ["Zeros", {"dtype": "float32"}]],
                ["moving_variance_initializer", ["Ones", {"dtype": "float32"}]],
                ["scale", True],
                ["trainable", True],
            ],
        ),
        (
            lambda: config(L.LayerNormalization()),
            [
                ["axis", -1],
                ["beta_constraint", None],
                ["beta_initializer", ["Zeros", {"dtype": "float32"}]],
                ["beta_regularizer", None],
                ["center", True],
                ["dtype", None],
                ["epsilon", 0.001],
                ["gamma_constraint", None],
                ["gamma_initializer", ["Ones", {"dtype": "float32"}]],
                ["gamma_regularizer", None],
                ["scale", True],
                ["trainable", True],
            ],
        ),
        (
            lambda: config(L.Dense(2)),
            [
                ["activation", "linear"],
                ["activity_regularizer", None],
                ["bias_constraint", None],
                ["bias_initializer", ["Zeros", {"dtype": "float32"}]],
                ["bias_regularizer", None],
                ["dtype", None],
                ["kernel_constraint", None],
                ["kernel_initializer", ["GlorotUniform", {"dtype": "float32", "seed": None}]],
                ["kernel_regularizer", None],
                ["trainable", True],
                ["units", 2],
                ["use_bias", True],
            ],
        ),
        (
            lambda: config(L.Embedding(2, 3)),
            [
                ["activity_regularizer", None],
                ["batch_input_shape", [None, None]],
                ["dtype", "float32"],
                ["embeddings_constraint", None],
                ["embeddings_initializer", ["RandomUniform", {"dtype": "float32", "maxval": 0.05, "minval": -0.05, "seed": None}]],
                ["embeddings_regularizer", None],
                ["input_dim", 2],
                ["input_length", None],
                ["mask_zero", False],
                ["output_dim", 3],
                ["trainable", True],
            ],
        ),
        (
            lambda: config(L.Dropout(0.3, noise_shape=[1], seed=2)),
            [["dtype", None], ["noise_shape", [1]], ["rate", 0.3], ["seed", 2], ["trainable", True]],
        ),
        (lambda: config(L.GaussianNoise(0.3)), [["dtype", None], ["stddev", 0.3], ["trainable", True]]),
        (lambda: config(L.GaussianDropout(0.3)), [["dtype", None], ["rate", 0.3], ["trainable", True]]),
        (lambda: config(L.AlphaDropout(0.3, seed=1)), [["dtype", None], ["rate", 0.3], ["trainable", True]]),
        (
            lambda: config(L.SpatialDropout2D(0.3)),
            [["dtype", None], ["noise_shape", None], ["rate", 0.3], ["seed", None], ["trainable", True]],
        ),
        (
            lambda: config(L.PReLU(shared_axes=[1])),
            [
                ["alpha_constraint", None],
                ["alpha_initializer", ["Zeros", {"dtype": "float32"}]],
                ["alpha_regularizer", None],
                ["dtype", None],
                ["shared_axes", [1]],
                ["trainable", True],
            ],
        ),
        (lambda: config(L.Softmax(1)), [["axis", 1], ["dtype", None], ["trainable", True]]),
        (lambda: config(L.LeakyReLU()), [["alpha", 0.3], ["dtype", None], ["trainable", True]]),
        (lambda: config(L.ELU()), [["alpha", 1.0], ["dtype", None], ["trainable", True]]),
        (lambda: config(L.ThresholdedReLU()), [["dtype", None], ["theta", 1.0], ["trainable", True]]),
        (
            lambda: config(L.MaxPooling2D()),
            [
                ["data_format", "channels_last"],
                ["dtype", None],
                ["padding", "valid"],
                ["pool_size", [2, 2]],
                ["strides", [2, 2]],
                ["trainable", True],
            ],
        ),
        (
            lambda: config(L.AveragePooling1D()),
            [
                ["data_format", "channels_last"],
                ["dtype", None],
                ["padding", "valid"],
                ["pool_size", [2]],
                ["strides", [2]],
                ["trainable", True],
            ],
        ),
        (lambda: config(L.GlobalMaxPooling2D()), [["data_format", "channels_last"], ["dtype", None], ["trainable", True]]),
        (
            lambda: config(L.ZeroPadding2D(1)),
            [["data_format", "channels_last"], ["dtype", None], ["padding", [[1, 1], [1, 1]]], ["trainable", True]],
        ),
        (
            lambda: config(L.Cropping3D(1)),
            [["cropping", [[1, 1], [1, 1], [1, 1]]], ["data_format", "channels_last"], ["dtype", None], ["trainable", True]],
        ),
        (
            lambda: config(L.UpSampling2D(2, interpolation="bilinear")),
            [["data_format", "channels_last"], ["dtype", None], ["interpolation", "bilinear"], ["size", [2, 2]], ["trainable", True]],
        ),
        (lambda: config(L.UpSampling1D()), [["dtype", None], ["size", 2], ["trainable", True]]),
        (lambda: config(L.Dot(1, normalize=True)), [["axes", 1], ["dtype", None], ["normalize", True], ["trainable", True]]),
        (lambda: config(L.Concatenate()), [["axis", -1], ["dtype", None], ["trainable", True]]),
        (lambda: config(L.Attention()), [["causal", False], ["dtype", None], ["trainable", True], ["use_scale", False]]),
        (lambda: config(L.Masking(1.0)), [["dtype", None], ["mask_value", 1.0], ["trainable", True]]),
        (lambda: config(L.Permute((2, 1))), [["dims", [2, 1]], ["dtype", None], ["trainable", True]]),
        (lambda: config(L.Reshape((2,))), [["dtype", None], ["target_shape", [2]], ["trainable", True]]),
        (lambda: config(L.RepeatVector(2)), [["dtype", None], ["n", 2], ["trainable", True]]),
        (lambda: config(L.Flatten()), [["data_format", "channels_last"], ["dtype", None], ["trainable", True]]),
        (lambda: config(L.Activation("relu")), [["activation", "relu"], ["dtype", None], ["trainable", True]]),
        (lambda: config(L.ActivityRegularization(0.1, 0.2)), [["dtype", None], ["l1", 0.1], ["l2", 0.2], ["trainable", True]]),
        (
            lambda: [
                again(l, x)
                for l, x in [
                    (L.Conv2D(2, 3), IMG),
                    (L.SeparableConv1D(2, 2), SEQ),
                    (L.LSTM(2), SEQ),
                    (L.GRU(2, reset_after=True), SEQ),
                    (L.Bidirectional(L.LSTM(2)), SEQ),
                    (L.TimeDistributed(L.Dense(2)), SEQ),
                    (L.BatchNormalization(), IMG),
                    (L.RNN([L.LSTMCell(2), L.LSTMCell(2)]), SEQ),
                    (L.ConvLSTM2D(2, 2), some(1, 3, 4, 4, 2)),
                ]
            ],
            [True, True, True, True, True, True, True, True, True],
        ),
    ],
)
def test_configs_hold_all_arguments(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [(lambda: run_layer(L.Cropping2D(9), IMG), [[[2, 0, 0, 3], 0.0]]), (lambda: L.BatchNormalization(fused=True).build((None, 3)), None)],
)
def test_mistakes(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (
            lambda: run_layer(L.Concatenate(), [some(2, 3)]),
            ValueError,
            "A `Concatenate` layer should be called on a list of at least 2 inputs",
        ),
        (
            lambda: run_layer(L.Concatenate(axis=1), [some(2, 3, 2), some(2, 3, 3)]),
            ValueError,
            "A `Concatenate` layer requires inputs with matching shapes except for",
        ),
        (
            lambda: run_layer(L.Add(), [some(2, 3), some(2, 4)]),
            ValueError,
            "Operands could not be broadcast together with shapes (3,) (4,)",
        ),
        (
            lambda: run_layer(L.Subtract(), [some(2, 3), some(2, 3), some(2, 3)]),
            ValueError,
            "A `Subtract` layer should be called on exactly 2 inputs",
        ),
        (
            lambda: run_layer(L.Dot(1), [some(2, 3), some(2, 4)]),
            ValueError,
            "Dimension incompatibility 3 != 4. Layer shapes: (2, 3), (2, 4)",
        ),
        (lambda: L.Dot("a"), TypeError, "Invalid type for `axes` - should be a list or an int."),
        (lambda: L.Dot((1, 2, 3)), ValueError, "Invalid format for `axes` - should contain two elements."),
        (
            lambda: run_layer(L.Attention(use_scale=True), [some(2, 3, 4), some(2, 5, 4), some(2, 5, 2)]),
            ValueError,
            "Dimensions must be equal, but are 4 and 2 for 'attention/MatMul' (op:",
        ),
        (lambda: run_layer(L.Reshape((4, -1)), SEQ), ValueError, "Dimension size must be evenly divisible by 8 but is 30 for"),
        (lambda: config(L.Conv2DTranspose(2, 3, output_padding=1)), ValueError, "Stride (1, 1) must be greater than output padding (1, 1)"),
        (lambda: L.Conv2D(2, (1, 2, 3)), ValueError, "The `kernel_size` argument must be a tuple of 2 integers. Received:"),
        (lambda: L.Conv2D(2, 3, padding="wrong"), ValueError, 'The `padding` argument must be a list/tuple or one of "valid", "same"'),
        (lambda: L.Conv2D(2, 3, data_format="wrong"), ValueError, 'The `data_format` argument must be one of "channels_first",'),
        (
            lambda: L.Conv2D(2, 3).build((None, 9, 9, None)),
            ValueError,
            "The channel dimension of the inputs should be defined. Found `None`.",
        ),
        (lambda: L.Conv2D(2, 3, activation="wrong"), ValueError, "Unknown activation function:wrong"),
        (lambda: L.Conv2D(2, 3, kernel_initializer="wrong"), ValueError, "Unknown initializer:wrong"),
        (
            lambda: L.LocallyConnected1D(2, 3, padding="same"),
            ValueError,
            'Invalid border mode for LocallyConnected1D (only "valid" is supported',
        ),
        (
            lambda: L.LocallyConnected2D(2, 3).build((None, None, 9, 3)),
            ValueError,
            "The spatial dimensions of the inputs to  a LocallyConnected2D layer",
        ),
        (lambda: L.LocallyConnected1D(2, 3, implementation=9).build((None, 9, 3)), ValueError, "Unrecognized implementation mode: 9."),
        (
            lambda: L.Conv2DTranspose(2, 3, strides=1, output_padding=1),
            ValueError,
            "Stride (1, 1) must be greater than output padding (1, 1)",
        ),
        (lambda: L.Conv2DTranspose(2, 3).build((None, 9, 3)), ValueError, "Inputs should have rank 4. Received input shape: (?, 9, 3)"),
        (lambda: L.ZeroPadding2D((1, 2, 3)), ValueError, "`padding` should have two elements. Found: (1, 2, 3)"),
        (lambda: L.ZeroPadding2D(((1,), 2)), ValueError, "The `1st entry of padding` argument must be a tuple of 2 integers."),
        (lambda: L.ZeroPadding3D(3.5), ValueError, "`padding` should be either an int, a tuple of 3 ints"),
        (lambda: L.Cropping2D((1, 2, 3)), ValueError, "`cropping` should have two elements. Found: (1, 2, 3)"),
        (lambda: L.Cropping3D((1, 2)), ValueError, "`cropping` should have 3 elements. Found: (1, 2)"),
        (lambda: L.UpSampling2D(2, interpolation="wrong"), ValueError, '`interpolation` argument should be one of `"nearest"` or'),
        (lambda: L.Dense(2).build((None, None)), ValueError, "The last dimension of the inputs to `Dense` should be defined. Found"),
        (lambda: run_layer(L.Dense(2), np.array([1, 2])), ValueError, "Input 0 of layer dense is incompatible with the layer: : expected"),
        (lambda: run_layer(L.Conv2D(2, 3), SEQ), ValueError, "Input 0 of layer conv2d is incompatible with the layer: expected"),
        (lambda: run_layer(L.LSTM(2), IMG), ValueError, "Input 0 of layer lstm is incompatible with the layer: expected"),
        (lambda: L.Bidirectional(L.Dense(2)), KeyError, "'go_backwards'"),
        (
            lambda: L.Bidirectional(L.LSTM(2), merge_mode="wrong"),
            ValueError,
            'Invalid merge mode. Merge mode should be one of {"sum", "mul", "ave",',
        ),
        (lambda: L.Bidirectional(3), ValueError, "Please initialize `Bidirectional` layer with a `Layer` instance. You"),
        (lambda: L.TimeDistributed(3), ValueError, "Please initialize `TimeDistributed` layer with a `Layer` instance."),
        (lambda: L.BatchNormalization(axis="a"), TypeError, "axis must be int or list, type given: <class 'str'>"),
        (lambda: L.BatchNormalization(axis=[1, 1]).build((None, 2, 2)), ValueError, "Duplicate axis:"),
        (lambda: L.BatchNormalization(axis=9).build((None, 2)), ValueError, "Invalid axis: 9"),
        (
            lambda: L.BatchNormalization(renorm=True, renorm_clipping={"wrong": 1}),
            ValueError,
            "renorm_clipping {'wrong': 1} contains keys not in ['rmax', 'rmin',",
        ),
        (lambda: L.LayerNormalization(axis="a"), ValueError, "Expected an int or a list/tuple of ints for the argument 'axis', but"),
        (lambda: L.LayerNormalization(axis=9).build((None, 2)), ValueError, "Invalid axis: 9"),
        (lambda: L.Permute((3, 4)), ValueError, "Invalid permutation `dims` for Permute Layer: (3, 4). The set of"),
        (lambda: L.ReLU(max_value=-1), ValueError, "max_value of Relu layer cannot be negative value: -1"),
        (lambda: L.ReLU(negative_slope=-1), ValueError, "negative_slope of Relu layer cannot be negative value: -1"),
        (lambda: L.LSTM(2, wrong=3), TypeError, "('Keyword argument not understood:', 'wrong')"),
        (
            lambda: L.Embedding(5, 3, input_length=4).compute_output_shape((None, 5)),
            ValueError,
            '"input_length" is 4, but received input has shape (None, 5)',
        ),
        (lambda: L.Input(), ValueError, "Please provide to Input either a `shape` or a `tensor` argument. Note"),
        (lambda: L.Input(shape=(2,), batch_shape=(1, 2)), ValueError, "Only provide the"),
        (lambda: run_layer(L.Add(), some(2, 3)), ValueError, "A merge layer should be called on a list of inputs."),
        (lambda: run_layer(L.Attention(), some(2, 3, 4)), ValueError, "Attention layer must be called on a list of inputs, namely [query,"),
        (
            lambda: run_layer(L.Attention(), [some(2, 3, 4)]),
            ValueError,
            "Attention layer accepts inputs list of length 2 or 3, namely [query,",
        ),
    ],
)
def test_mistakes_are_refused(made, error, message):
    with pytest.raises(error) as caught:
        computed(made())
    assert message in str(caught.value)
