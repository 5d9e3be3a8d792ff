"""Weights of Keras 1, Theano and CuDNN become those of our layers; numbers are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import plain, refused

import everflow as tf
from everflow.keras.saving.weight_forms import preprocess_weights_for_loading
from everflow.keras.window_arithmetic import convert_kernel

L = tf.keras.layers


def counted(*shape):
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(np.float32)


def taken(layer, shape, weights, version="2", backend="tensorflow"):
    """The shapes of weights as a layer takes them, and their values in order."""
    if shape is not None:
        layer.build(shape)
    taken = preprocess_weights_for_loading(layer, weights, version, backend)
    return [[list(w.shape), digest(w)] for w in taken]


def digest(w):
    return w.ravel().tolist() if w.size < 13 else int((w.ravel() * np.arange(1, w.size + 1)).sum())


def found(made):
    return plain(made())


def model(*layers):
    return tf.keras.Sequential(layers)


FIRST = {"data_format": "channels_first"}
GATES = [counted(2, 3) + i for i in (0, 10, 20)], [counted(3, 3) + i for i in (0, 10, 20)], [counted(3) + i for i in (0, 10, 20)]
GRU_1 = [part[i] for i in range(3) for part in GATES]
LSTM_1 = [*GRU_1, counted(2, 3) + 30, counted(3, 3) + 30, counted(3) + 30]
LSTM_2, GRU_2 = [counted(2, 12), counted(3, 12), counted(12)], [counted(2, 9), counted(3, 9), counted(9)]
CONV_LSTM_1 = [w for i in range(4) for w in (counted(2, 2, 1, 3) + i * 10, counted(2, 2, 3, 3) + i * 20, counted(3) + i * 7)]
CONV_LSTM_1_FIRST = [
    w for i in range(4) for w in (counted(12, 1, 2, 2)[i * 3 : i * 3 + 3], counted(12, 3, 2, 2)[:3] + i, counted(3) + i * 7)
]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: taken(L.Conv1D(4, 3), (None, 5, 2), [counted(4, 2, 3, 1), counted(4)], "1"),
            [[[3, 2, 4], 3830], [[4], [0.0, 1.0, 2.0, 3.0]]],
        ),
        (
            lambda: taken(L.Conv1D(4, 3), (None, 5, 2), [counted(3, 1, 2, 4), counted(4)], "1"),
            [[[3, 2, 4], 4600], [[4], [0.0, 1.0, 2.0, 3.0]]],
        ),
        (lambda: taken(L.Conv1D(3, 3), (None, 5, 2), [counted(3, 1, 2, 3), counted(3)], "1"), [[[3, 2, 3], 1938], [[3], [0.0, 1.0, 2.0]]]),
        (
            lambda: taken(L.Conv2D(4, 3, **FIRST), (None, 2, 5, 5), [counted(4, 2, 3, 3), counted(4)], "1"),
            [[[3, 3, 2, 4], 99402], [[4], [0.0, 1.0, 2.0, 3.0]]],
        ),
        (
            lambda: taken(L.Conv2D(4, 3), (None, 5, 5, 2), [counted(3, 3, 2, 4), counted(4)], "1"),
            [[[3, 3, 2, 4], 124392], [[4], [0.0, 1.0, 2.0, 3.0]]],
        ),
        (lambda: taken(L.Conv2D(4, 3), (None, 5, 5, 2), [counted(2, 3, 3, 4)], "2"), [[[4, 3, 2, 3], 98586]]),
        (
            lambda: taken(L.Conv2D(2, 2), (None, 5, 5, 1), [counted(2, 2, 1, 2), counted(2)], "2", "theano"),
            [[[2, 2, 1, 2], [6.0, 7.0, 4.0, 5.0, 2.0, 3.0, 0.0, 1.0]], [[2], [0.0, 1.0]]],
        ),
        (
            lambda: taken(L.Conv2DTranspose(4, 3), (None, 5, 5, 2), [counted(3, 3, 2, 4), counted(4)], "1"),
            [[[3, 3, 4, 2], 124266], [[4], [0.0, 1.0, 2.0, 3.0]]],
        ),
        (lambda: taken(L.Conv2DTranspose(4, 3, **FIRST), (None, 2, 5, 5), [counted(4, 2, 3, 3)], "1"), [[[3, 3, 4, 2], 100536]]),
        (lambda: taken(L.Conv3D(4, 3, **FIRST), (None, 2, 5, 5, 5), [counted(4, 2, 3, 3, 3)], "1"), [[[3, 3, 3, 2, 4], 2644614]]),
        (
            lambda: taken(L.Conv3D(1, 2), (None, 5, 5, 5, 1), [counted(2, 2, 2, 1, 1)], "2", "theano"),
            [[[2, 2, 2, 1, 1], [7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0]]],
        ),
        (
            lambda: taken(L.Dense(2), (None, 2), [counted(2, 2), counted(2)], "1", "theano"),
            [[[2, 2], [0.0, 1.0, 2.0, 3.0]], [[2], [0.0, 1.0]]],
        ),
        (
            lambda: taken(L.GRU(3), (None, 4, 2), GRU_1, "1"),
            [[[2, 9], 2631], [[3, 9], 6336], [[9], [0.0, 1.0, 2.0, 10.0, 11.0, 12.0, 20.0, 21.0, 22.0]]],
        ),
        (
            lambda: taken(L.GRU(3), (None, 4, 2), GRU_2, "1"),
            [[[2, 9], 1938], [[3, 9], 6552], [[9], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]],
        ),
        (
            lambda: taken(L.LSTM(3), (None, 4, 2), LSTM_1, "1"),
            [[[2, 12], 6202], [[3, 12], 14622], [[12], [0.0, 1.0, 2.0, 20.0, 21.0, 22.0, 10.0, 11.0, 12.0, 30.0, 31.0, 32.0]]],
        ),
        (
            lambda: taken(L.LSTM(3), (None, 4, 2), LSTM_2, "1"),
            [[[2, 12], 4600], [[3, 12], 15540], [[12], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]]],
        ),
        (
            lambda: taken(L.ConvLSTM2D(3, 2), (None, 4, 5, 5, 1), CONV_LSTM_1, "1"),
            [[[2, 2, 1, 12], 27740], [[2, 2, 3, 12], 566412], [[12], [0.0, 1.0, 2.0, 14.0, 15.0, 16.0, 7.0, 8.0, 9.0, 21.0, 22.0, 23.0]]],
        ),
        (
            lambda: taken(L.ConvLSTM2D(3, 2), (None, 4, 5, 5, 1), CONV_LSTM_1, "1", "theano"),
            [[[2, 2, 1, 12], 23420], [[2, 2, 3, 12], 449772], [[12], [0.0, 1.0, 2.0, 14.0, 15.0, 16.0, 7.0, 8.0, 9.0, 21.0, 22.0, 23.0]]],
        ),
        (
            lambda: taken(L.LSTM(3), None, [counted(2, 12), counted(3, 12), counted(24)]),
            [[[2, 12], 4112], [[3, 12], 12636], [[12], [12.0, 14.0, 16.0, 18.0, 20.0, 22.0, 24.0, 26.0, 28.0, 30.0, 32.0, 34.0]]],
        ),
        (
            lambda: taken(L.LSTM(3), None, LSTM_2),
            [[[2, 12], 4600], [[3, 12], 15540], [[12], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]]],
        ),
        (lambda: taken(L.LSTM(3, use_bias=False), None, LSTM_2[:2]), [[[2, 12], 4600], [[3, 12], 15540]]),
        (lambda: taken(L.CuDNNLSTM(3), None, LSTM_2), [[[2, 12], 4112], [[3, 12], 12636], [[24], 968]]),
        (
            lambda: taken(L.CuDNNLSTM(3), None, [counted(2, 12), counted(3, 12), counted(24)]),
            [[[2, 12], 4600], [[3, 12], 15540], [[24], 4600]],
        ),
        (
            lambda: taken(L.GRU(3, reset_after=True), None, [counted(2, 9), counted(3, 9), counted(18)]),
            [[[2, 9], 1743], [[3, 9], 5400], [[2, 9], 1938]],
        ),
        (
            lambda: taken(L.GRU(3, reset_after=True), None, [counted(2, 9), counted(3, 9), counted(2, 9)]),
            [[[2, 9], 1938], [[3, 9], 6552], [[2, 9], 1938]],
        ),
        (lambda: taken(L.CuDNNGRU(3), None, [counted(2, 9), counted(3, 9), counted(2, 9)]), [[[2, 9], 1743], [[3, 9], 5400], [[18], 1938]]),
        (lambda: taken(L.CuDNNGRU(3), None, [counted(2, 9), counted(3, 9), counted(18)]), [[[2, 9], 1938], [[3, 9], 6552], [[18], 1938]]),
        (
            lambda: taken(L.Bidirectional(L.LSTM(3)), (None, 4, 2), LSTM_1 + [w + 1 for w in LSTM_1], "1"),
            [
                [[2, 12], 6202],
                [[3, 12], 14622],
                [[12], [0.0, 1.0, 2.0, 20.0, 21.0, 22.0, 10.0, 11.0, 12.0, 30.0, 31.0, 32.0]],
                [[2, 12], 6502],
                [[3, 12], 15288],
                [[12], [1.0, 2.0, 3.0, 21.0, 22.0, 23.0, 11.0, 12.0, 13.0, 31.0, 32.0, 33.0]],
            ],
        ),
        (
            lambda: taken(L.TimeDistributed(L.Conv2D(2, 2)), (None, 3, 5, 5, 1), [counted(2, 2, 1, 2)], "2", "theano"),
            [[[2, 2, 1, 2], [6.0, 7.0, 4.0, 5.0, 2.0, 3.0, 0.0, 1.0]]],
        ),
        (
            lambda: taken(
                model(L.Conv2D(2, 2, input_shape=(5, 5, 1)), L.BatchNormalization(), L.Conv2D(1, 1)),
                None,
                [
                    counted(2, 2, 1, 2),
                    counted(2),
                    counted(2) + 1,
                    counted(2) + 2,
                    counted(1, 1, 2, 1),
                    counted(1),
                    counted(2) + 3,
                    counted(2) + 4,
                ],
                "2",
                "theano",
            ),
            [
                [[2, 2, 1, 2], [6.0, 7.0, 4.0, 5.0, 2.0, 3.0, 0.0, 1.0]],
                [[2], [0.0, 1.0]],
                [[2], [1.0, 2.0]],
                [[2], [2.0, 3.0]],
                [[1, 1, 2, 1], [0.0, 1.0]],
                [[1], [0.0]],
                [[2], [3.0, 4.0]],
                [[2], [4.0, 5.0]],
            ],
        ),
        (lambda: convert_kernel(counted(2, 2, 1)), [[[2.0], [3.0]], [[0.0], [1.0]]]),
        (lambda: convert_kernel(counted(2, 2, 2, 1)), [[[[6.0], [7.0]], [[4.0], [5.0]]], [[[2.0], [3.0]], [[0.0], [1.0]]]]),
        (lambda: convert_kernel(counted(2, 1, 2, 1, 2)), [[[[[6.0, 7.0]], [[4.0, 5.0]]]], [[[[2.0, 3.0]], [[0.0, 1.0]]]]]),
    ],
)
def test_weights_come_in_the_order_and_form_that_layers_have_them(made, expected):
    assert found(made) == expected


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda: taken(L.LSTM(3), None, [counted(2, 12), counted(3, 12), counted(13)]), "ValueError: Invalid bias shape: (13,)"),
        (lambda: taken(L.GRU(3), None, [counted(2, 9), counted(3, 9), counted(10)]), "ValueError: Invalid bias shape: (10,)"),
        (
            lambda: taken(L.GRU(3), None, [counted(2, 9), counted(3, 9), counted(18)]),
            "ValueError: CuDNNGRU is not compatible with GRU(reset_after=False)",
        ),
        (
            lambda: taken(L.GRU(3), None, [counted(2, 9), counted(3, 9), counted(2, 9)]),
            "ValueError: GRU(reset_after=True) is not compatible with GRU(reset_after=False)",
        ),
        (
            lambda: taken(L.GRU(3, reset_after=True), None, GRU_2),
            "ValueError: GRU(reset_after=False) is not compatible with GRU(reset_after=True)",
        ),
        (lambda: taken(L.CuDNNGRU(3), None, GRU_2), "ValueError: GRU(reset_after=False) is not compatible with CuDNNGRU"),
        (lambda: convert_kernel(counted(2, 2)), "ValueError: ('Invalid kernel shape:', (2, 2))"),
        (lambda: convert_kernel(counted(1, 1, 1, 1, 1, 1)), "ValueError: ('Invalid kernel shape:', (1, 1, 1, 1, 1, 1))"),
    ],
)
def test_forms_that_cannot_be_are_refused(wrong, expected):
    assert refused(wrong) == expected


X = np.sin(np.arange(24, dtype=np.float32)).reshape(2, 4, 3)


@pytest.mark.parametrize(
    ("cudnn", "plain_layer", "bias"),
    [
        (lambda: L.CuDNNLSTM(2, return_sequences=True), lambda: L.LSTM(2, recurrent_activation="sigmoid", return_sequences=True), 16),
        (lambda: L.CuDNNLSTM(2, go_backwards=True), lambda: L.LSTM(2, recurrent_activation="sigmoid", go_backwards=True), 16),
        (lambda: L.CuDNNGRU(2), lambda: L.GRU(2, recurrent_activation="sigmoid", reset_after=True), 12),
    ],
)
def test_a_layer_of_cudnn_computes_what_the_plain_layer_does_with_its_weights_in_plain_form(cudnn, plain_layer, bias):
    weights = [np.cos(counted(3, bias // 2)), np.sin(counted(2, bias // 2)), np.sin(counted(bias) * 0.3)]
    first, second = model(cudnn()), model(plain_layer())
    first.build((None, 4, 3)), second.build((None, 4, 3))
    first.layers[0].set_weights(weights)
    second.layers[0].set_weights(preprocess_weights_for_loading(second.layers[0], weights))
    np.testing.assert_allclose(first.predict(X), second.predict(X), rtol=1e-5)
    back = preprocess_weights_for_loading(first.layers[0], second.layers[0].get_weights())
    np.testing.assert_allclose(back[0], weights[0])
    np.testing.assert_allclose(back[1], weights[1])


def test_a_layer_of_cudnn_knows_no_masks_and_forgets_little():
    with pytest.raises(ValueError, match="Masking is not supported for CuDNN RNNs."):
        model(L.Masking(input_shape=(4, 3)), L.CuDNNLSTM(2))
    forgetting, plainly = L.CuDNNLSTM(2), L.CuDNNLSTM(2, unit_forget_bias=False)
    forgetting.build((None, 4, 3)), plainly.build((None, 4, 3))
    assert forgetting.get_weights()[2].tolist() == [0] * 10 + [1, 1] + [0] * 4
    assert plainly.get_weights()[2].tolist() == [0] * 16
