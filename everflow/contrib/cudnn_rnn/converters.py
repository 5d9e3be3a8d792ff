"""Parameters of cuDNN's networks as the weights of TensorFlow's cells, and back."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.cudnn_rnn.functions import (
    BIDIRECTIONAL,
    GRU,
    LINEAR,
    LSTM,
    RELU,
    TANH,
    UNIDIRECTIONAL,
    canonical_to_opaque_params,
    opaque_params_to_canonical,
)
from everflow.contrib.cudnn_rnn.publishing import published
from everflow.ops.nn.cudnn_rnn import GATES


@published("CudnnParamsFormatConverter")
class CudnnParamsFormatConverter:
    """What the kinds of cells have in common; each says how one layer in one direction is converted."""

    _rnn_mode: str
    # How many kernels, and as many biases, a cell of TensorFlow has.
    _parts = 1

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_size: int,
        num_proj: int | None = None,
        input_mode: str = LINEAR,
        direction: str = UNIDIRECTIONAL,
    ) -> None:
        self._num_layers, self._num_units, self._input_size, self._num_proj = num_layers, num_units, input_size, num_proj
        self._input_mode, self._direction = input_mode, direction
        self._num_dirs = 2 if direction == BIDIRECTIONAL else 1
        self._output_size = num_proj if num_proj else num_units

    # -- one layer

    def _to_cell(self, weights: list[Any], biases: list[Any]) -> tuple[list[Any], list[Any]]:
        """Kernels and biases of a cell of TensorFlow; the matrices are those for the inputs, then those for the state."""
        raise NotImplementedError("Abstract method")

    def _from_cell(self, layer: int, kernels: list[Any], biases: list[Any]) -> tuple[list[Any], list[Any]]:
        """Matrices and biases of cuDNN."""
        raise NotImplementedError("Abstract method")

    def _depth(self, layer: int) -> int:
        return self._input_size if layer == 0 else self._output_size * self._num_dirs

    # -- all layers

    def opaque_to_tf_canonical(self, opaque_param: Any) -> tuple[Any, ...]:
        """(kernels, biases) of TensorFlow's cells, and with a projection its kernels."""
        return self._cu_canonical_to_tf_canonical(*self._opaque_to_cu_canonical(opaque_param))

    def tf_canonical_to_opaque(self, tf_canonicals: Any, weights_proj: Any = None) -> Any:
        """The parameters for all kernels, then all biases, of TensorFlow's cells."""
        return self._cu_canonical_to_opaque(*self._tf_canonical_to_cu_canonical(tf_canonicals, weights_proj))

    def _options(self) -> dict[str, Any]:
        return {"input_mode": self._input_mode, "direction": self._direction, "num_proj": self._num_proj}

    def _opaque_to_cu_canonical(self, opaque_param: Any) -> tuple[list[Any], list[Any]]:
        sizes = self._num_layers, self._num_units, self._input_size
        return opaque_params_to_canonical(self._rnn_mode, *sizes, opaque_param, **self._options())

    def _cu_canonical_to_opaque(self, cu_weights: Any, cu_biases: Any) -> Any:
        sizes = self._num_layers, self._num_units, self._input_size
        return canonical_to_opaque_params(self._rnn_mode, *sizes, cu_weights, cu_biases, **self._options())

    def _cu_canonical_to_tf_canonical(self, cu_weights: Any, cu_biases: Any) -> tuple[Any, ...]:
        each, kernels, biases, projections = 2 * GATES[self._rnn_mode], [], [], []
        step = each + bool(self._num_proj)
        for k in range(self._num_layers * self._num_dirs):
            matrices = cu_weights[k * step : (k + 1) * step]
            cell_kernels, cell_biases = self._to_cell(matrices[:each], cu_biases[k * each : (k + 1) * each])
            kernels += cell_kernels
            biases += cell_biases
            projections += [tf.transpose(matrix) for matrix in matrices[each:]]
        return (kernels, biases, projections) if self._num_proj else (kernels, biases)

    def _tf_canonical_to_cu_canonical(self, tf_canonicals: Any, weights_proj: Any) -> tuple[list[Any], list[Any]]:
        cells, parts = self._num_layers * self._num_dirs, self._parts
        kernels, biases = list(tf_canonicals[: cells * parts]), list(tf_canonicals[cells * parts :])
        cu_weights: list[Any] = []
        cu_biases: list[Any] = []
        for k in range(cells):
            own = slice(k * parts, (k + 1) * parts)
            matrices, vectors = self._from_cell(k // self._num_dirs, kernels[own], biases[own])
            cu_weights += matrices
            cu_biases += vectors
            if self._num_proj:
                cu_weights.append(tf.transpose(weights_proj[k]))
        return cu_weights, cu_biases


class _OneKernel(CudnnParamsFormatConverter):
    """Cells with one kernel, whose gates TensorFlow has in another order: at `_order[k]` in cuDNN's stands its gate k."""

    _order: tuple[int, ...]

    def _to_cell(self, weights: list[Any], biases: list[Any]) -> tuple[list[Any], list[Any]]:
        gates = len(self._order)
        rows = [tf.concat([weights[g], weights[gates + g]], axis=1) for g in self._order]
        kernel = tf.transpose(tf.concat(rows, axis=0) if gates > 1 else rows[0])
        sums = [biases[g] + biases[gates + g] for g in self._order]
        return [kernel], [tf.concat(sums, axis=0) if gates > 1 else sums[0]]

    def _from_cell(self, layer: int, kernels: list[Any], biases: list[Any]) -> tuple[list[Any], list[Any]]:
        gates, depth = len(self._order), self._depth(layer)
        matrices: list[Any] = [None] * 2 * gates
        vectors: list[Any] = [None] * 2 * gates
        for g, columns, bias in zip(self._order, _in_parts(kernels[0], gates, 1), _in_parts(biases[0], gates, 0)):
            matrices[g], matrices[gates + g] = _given_and_kept(columns, depth, self._output_size)
            vectors[g] = vectors[gates + g] = bias * 0.5
        return matrices, vectors


def _in_parts(tensor: Any, count: int, axis: int) -> list[Any]:
    return tf.split(tensor, count, axis=axis) if count > 1 else [tensor]


def _given_and_kept(columns: Any, depth: int, size: int) -> list[Any]:
    """cuDNN's matrices for the inputs and for the state."""
    return [tf.transpose(part) for part in tf.split(columns, [depth, size], axis=0)]


@public("contrib.cudnn_rnn.CudnnParamsFormatConverterLSTM")
class CudnnParamsFormatConverterLSTM(_OneKernel):
    """Of LSTM cells: cuDNN's gates are i, f, c, o, TensorFlow's i, c, f, o."""

    _rnn_mode = LSTM
    _order: tuple[int, ...] = (0, 2, 1, 3)


@published("CudnnParamsFormatConverterBasic")
class CudnnParamsFormatConverterBasic(CudnnParamsFormatConverterLSTM):
    """Of plain cells."""

    _order = (0,)


@public("contrib.cudnn_rnn.CudnnParamsFormatConverterTanh")
class CudnnParamsFormatConverterTanh(CudnnParamsFormatConverterBasic):
    """Of plain cells with tanh."""

    _rnn_mode = TANH


@public("contrib.cudnn_rnn.CudnnParamsFormatConverterRelu")
class CudnnParamsFormatConverterRelu(CudnnParamsFormatConverterBasic):
    """Of plain cells with relu."""

    _rnn_mode = RELU


@public("contrib.cudnn_rnn.CudnnParamsFormatConverterGRU")
class CudnnParamsFormatConverterGRU(CudnnParamsFormatConverter):
    """Of gated recurrent units, whose candidate has projections of inputs and state apart."""

    _rnn_mode = GRU
    _parts = 3

    def _to_cell(self, weights: list[Any], biases: list[Any]) -> tuple[list[Any], list[Any]]:
        rows = [tf.concat([weights[g], weights[3 + g]], axis=1) for g in (0, 1)]
        gates = tf.concat(biases[:2], axis=0) + tf.concat(biases[3:5], axis=0)
        kernels = [tf.transpose(matrix) for matrix in (tf.concat(rows, axis=0), weights[2], weights[5])]
        return kernels, [gates, biases[2], biases[5]]

    def _from_cell(self, layer: int, kernels: list[Any], biases: list[Any]) -> tuple[list[Any], list[Any]]:
        (r, z), depth = tf.split(kernels[0], 2, axis=1), self._depth(layer)
        (r_given, r_kept), (z_given, z_kept) = (_given_and_kept(columns, depth, self._output_size) for columns in (r, z))
        r_bias, z_bias = (bias * 0.5 for bias in tf.split(biases[0], 2, axis=0))
        matrices = [r_given, z_given, tf.transpose(kernels[1]), r_kept, z_kept, tf.transpose(kernels[2])]
        return matrices, [r_bias, z_bias, biases[1], r_bias, z_bias, biases[2]]
