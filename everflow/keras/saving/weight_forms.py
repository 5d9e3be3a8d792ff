"""Weights of other forms of a layer: those of earlier Kerases, of Theano and of CuDNN."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.api import internal
from everflow.keras.kernel_forms import from_cudnn, to_cudnn
from everflow.keras.window_arithmetic import convert_kernel

# How the axes of Keras 1's kernels become ours.
FIRST_AXES = {
    ("Conv2D", "channels_first"): (2, 3, 1, 0),
    ("Conv2DTranspose", "channels_last"): (0, 1, 3, 2),
    ("Conv2DTranspose", "channels_first"): (2, 3, 0, 1),
    ("Conv3D", "channels_first"): (2, 3, 4, 1, 0),
}
# Keras 1 had kernel, recurrent kernel and bias of each gate apart: where those of our first gate, of our second... begin.
FIRST_GATES = {"GRU": (0, 3, 6), "LSTM": (0, 6, 3, 9), "ConvLSTM2D": (0, 6, 3, 9)}
CONVOLUTIONS = ("Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "ConvLSTM2D")


@internal("keras.saving.hdf5_format.preprocess_weights_for_loading")
def preprocess_weights_for_loading(layer: Any, weights: Any, original_keras_version: Any = None, original_backend: Any = None) -> Any:
    """The values of a file in the order and form that a layer has them."""
    kind = type(layer).__name__
    origin = original_keras_version, original_backend
    if kind == "Bidirectional":
        half = len(weights) // 2
        forward = preprocess_weights_for_loading(layer.forward_layer, weights[:half], *origin)
        return forward + preprocess_weights_for_loading(layer.backward_layer, weights[half:], *origin)
    if kind == "TimeDistributed":
        return preprocess_weights_for_loading(layer.layer, weights, *origin)
    if kind in ("Model", "Sequential"):
        return _nested(layer, weights, origin)
    weights = list(weights)
    if original_keras_version == "1":
        weights = _first_keras(layer, kind, weights)
    if kind in CONVOLUTIONS:
        _turn_kernels(layer, weights, 2 if kind == "ConvLSTM2D" else 1, original_backend)
    if kind in ("LSTM", "CuDNNLSTM") and len(weights) == 3:
        return _lstm_weights(kind, weights)
    if kind in ("GRU", "CuDNNGRU") and len(weights) == 3:
        return _gru_weights(kind if kind == "CuDNNGRU" else f"GRU(reset_after={layer.reset_after})", weights)
    return weights


def _nested(model: Any, weights: Any, origin: tuple[Any, Any]) -> list[Any]:
    """The weights of a model in a model: all that are trained come first in files."""
    count = len(model.trainable_weights)
    trained, fixed = list(weights[:count]), list(weights[count:])
    found_trained, found_fixed = list[Any](), list[Any]()
    for inner in model.layers:
        some, others = len(inner.trainable_weights), len(inner.non_trainable_weights)
        if some or others:
            found = preprocess_weights_for_loading(inner, trained[:some] + fixed[:others], *origin)
            found_trained += found[:some]
            found_fixed += found[some:]
            trained, fixed = trained[some:], fixed[others:]
    return found_trained + found_fixed


def _first_keras(layer: Any, kind: str, weights: list[Any]) -> list[Any]:
    """Weights of Keras 1: kernels of images with rows first, gates apart."""
    if kind == "Conv1D":
        kernel = weights[0]
        if kernel.shape[:2] != (layer.kernel_size[0], 1) or kernel.shape[3] != layer.filters:
            kernel = kernel.transpose(2, 3, 1, 0)
        return [kernel[:, 0], *weights[1:]]
    axes = FIRST_AXES.get((kind, getattr(layer, "data_format", "")))
    if axes is not None:
        return [weights[0].transpose(axes), *weights[1:]]
    gates = FIRST_GATES.get(kind, ())
    if gates and len(weights) == 3 * len(gates):
        weights = [np.concatenate([weights[gate + i] for gate in gates], axis=-1) for i in range(3)]
        if kind == "ConvLSTM2D" and layer.data_format == "channels_first":
            weights[:2] = [kernel.transpose(2, 3, 1, 0) for kernel in weights[:2]]
    return weights


def _turn_kernels(layer: Any, weights: list[Any], kernels: int, backend: Any) -> None:
    """Theano's kernels are turned round; some files have filters and channels first."""
    if backend == "theano":
        weights[:kernels] = map(convert_kernel, weights[:kernels])
    if tuple(layer.weights[0].shape.as_list()) != weights[0].shape:
        weights[:kernels] = [kernel.transpose(3, 2, 0, 1) for kernel in weights[:kernels]]


def _lstm_weights(target: str, weights: list[Any]) -> list[Any]:
    kernel, recurrent, bias = weights
    units = recurrent.shape[0]
    sources = {(8 * units,): "CuDNNLSTM", (4 * units,): "LSTM"}
    if bias.shape not in sources:
        raise ValueError(f"Invalid bias shape: {bias.shape}")
    if sources[bias.shape] == target:
        return weights
    if target == "LSTM":
        return [*from_cudnn(kernel, recurrent, 4), bias[: 4 * units] + bias[4 * units :]]
    return [*to_cudnn(kernel, recurrent, 4), np.tile(0.5 * bias, 2)]


def _gru_weights(target: str, weights: list[Any]) -> list[Any]:
    kernel, recurrent, bias = weights
    units = recurrent.shape[0]
    sources = {(6 * units,): "CuDNNGRU", (2, 3 * units): "GRU(reset_after=True)", (3 * units,): "GRU(reset_after=False)"}
    if bias.shape not in sources:
        raise ValueError(f"Invalid bias shape: {bias.shape}")
    source = sources[bias.shape]
    if source == target:
        return weights
    if "GRU(reset_after=False)" in (source, target):
        raise ValueError(f"{source} is not compatible with {target}")
    if target == "CuDNNGRU":
        return [*to_cudnn(kernel, recurrent, 3), bias.reshape(-1)]
    return [*from_cudnn(kernel, recurrent, 3), bias.reshape(2, -1)]
