"""Weights of other forms of a layer: those of earlier Kerases and of CuDNN."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.api import internal


@internal("keras.saving.hdf5_format.preprocess_weights_for_loading")
def preprocess_weights_for_loading(layer: Any, weights: Any, original_keras_version: Any = None, original_backend: Any = None) -> Any:
    """The values of a file in the order and form that a layer has them."""
    kind = type(layer).__name__
    if kind == "Bidirectional":
        half = len(weights) // 2
        forward = preprocess_weights_for_loading(layer.forward_layer, weights[:half], original_keras_version, original_backend)
        return forward + preprocess_weights_for_loading(layer.backward_layer, weights[half:], original_keras_version, original_backend)
    if kind == "TimeDistributed":
        return preprocess_weights_for_loading(layer.layer, weights, original_keras_version, original_backend)
    if kind in ("Model", "Sequential") or hasattr(layer, "_run_layers"):
        return _nested(layer, weights, original_keras_version, original_backend)
    if original_keras_version == "1":
        weights = _first_keras(layer, kind, weights)
    if kind in ("LSTM", "GRU", "CuDNNLSTM", "CuDNNGRU"):
        return rnn_weights(layer, weights)
    return list(weights)


def _nested(model: Any, weights: Any, version: Any, backend: Any) -> list[Any]:
    """The weights of a model in a model: all that are trained come first in files."""
    found: list[Any] = []
    rest = list(weights)
    for attribute in ("trainable_weights", "non_trainable_weights"):
        for inner in model.layers:
            number = len(getattr(inner, attribute))
            if number:
                found += (
                    preprocess_weights_for_loading(inner, rest[:number], version, backend)
                    if attribute == "trainable_weights"
                    else (rest[:number])
                )
                rest = rest[number:]
    return found


def _first_keras(layer: Any, kind: str, weights: Any) -> Any:
    """Weights of Keras 1: kernels of images with rows first, gates apart."""
    weights = list(weights)
    if kind == "Conv1D" and weights[0].shape[:2] != (layer.kernel_size[0], 1) and weights[0].ndim == 4:
        weights[0] = np.transpose(weights[0], (2, 3, 1, 0)) if weights[0].shape[0] == layer.filters else weights[0]
        weights[0] = weights[0][:, 0, :, :]
    elif kind in ("Conv2D", "Conv2DTranspose") and layer.data_format == "channels_first":
        weights[0] = np.transpose(weights[0], (2, 3, 1, 0) if kind == "Conv2D" else (2, 3, 0, 1))
    elif kind == "GRU" and len(weights) == 9:
        kernel, recurrent, bias = (np.concatenate([weights[i], weights[i + 3], weights[i + 6]], axis=-1) for i in range(3))
        return [kernel, recurrent, bias]
    elif kind == "LSTM" and len(weights) == 12:
        # Old order: input, cell, forget, output.
        order = (0, 6, 3, 9)
        return [np.concatenate([weights[g + i] for g in order], axis=-1) for i in range(3)]
    return weights


def rnn_weights(layer: Any, weights: Any) -> Any:
    """LSTM and GRU weights for a layer of CuDNN or for a plain one, whichever wrote them."""
    kind = type(layer).__name__
    if kind.endswith("LSTM") and len(weights) == 3:
        units = weights[1].shape[0]
        size = weights[2].shape
        if size == (units * 8,) and kind == "LSTM":
            return [weights[0], weights[1], np.sum(np.split(weights[2], 2, axis=0), axis=0)]
        if size == (units * 4,) and kind == "CuDNNLSTM":
            return [weights[0], weights[1], np.tile(0.5 * weights[2], 2)]
        if size not in ((units * 8,), (units * 4,)):
            raise ValueError(f"Invalid bias shape: {size}")
    if kind.endswith("GRU") and len(weights) == 3:
        units = weights[1].shape[0]
        size = weights[2].shape
        if size == (units * 6,) and kind == "GRU":
            _require_reset_after(layer, "CuDNNGRU")
            return [weights[0], weights[1], weights[2].reshape((2, -1))]
        if size == (2, units * 3) and kind == "CuDNNGRU":
            return [weights[0], weights[1], weights[2].flatten()]
        if size == (2, units * 3) and not layer.reset_after or size == (units * 3,) and getattr(layer, "reset_after", kind == "CuDNNGRU"):
            ours = "CuDNNGRU" if kind == "CuDNNGRU" else f"GRU(reset_after={layer.reset_after})"
            raise ValueError(f"GRU(reset_after={size != (units * 3,)}) is not compatible with {ours}")
    return list(weights)


def _require_reset_after(layer: Any, source: str) -> None:
    if not layer.reset_after:
        raise ValueError(f"{source} is not compatible with GRU(reset_after=False)")
