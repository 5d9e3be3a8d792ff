"""How checkpoints hold cuDNN's parameters: as the kernels and biases of TensorFlow's cells, which other models restore."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.checkpoint.split_dependency import split_dependency
from everflow.contrib.cudnn_rnn.converters import (
    CudnnParamsFormatConverterGRU,
    CudnnParamsFormatConverterLSTM,
    CudnnParamsFormatConverterRelu,
    CudnnParamsFormatConverterTanh,
)
from everflow.contrib.cudnn_rnn.functions import BIDIRECTIONAL, LINEAR, UNIDIRECTIONAL, check_direction, check_input_mode
from everflow.contrib.cudnn_rnn.publishing import published
from everflow.graph.dtypes import DTypeLike
from everflow.graph.scopes import control_dependencies, device
from everflow.graph.stacks import in_eager_mode
from everflow.train.checkpoints.saveable import SaveableObject, SaveSpec
from everflow.train.tracking.autotracking import AutoTrackable


@published("CudnnOpaqueParamsSaveable")
class CudnnOpaqueParamsSaveable(SaveableObject):
    """Saves the parameters of a network under the names that cells of TensorFlow have in `rnn/multi_rnn_cell`."""

    _format_converter_cls: Any
    _rnn_cell_name: str
    # What comes after the name of the cell.
    _kernels: tuple[str, ...] = ("kernel",)
    _biases: tuple[str, ...] = ("bias",)

    def __init__(
        self,
        opaque_params: Any,
        num_layers: int,
        num_units: int,
        input_size: int,
        input_mode: str = LINEAR,
        direction: str = UNIDIRECTIONAL,
        scope: Any = None,
        name: str = "cudnn_rnn_saveable",
    ) -> None:
        check_direction(direction)
        check_input_mode(input_mode)
        self._variables = opaque_params
        self._num_layers, self._direction = num_layers, direction
        self._format_converter = self._format_converter_cls(num_layers, num_units, input_size, input_mode=input_mode, direction=direction)
        scope = tf.get_variable_scope() if scope is None else scope
        self._scope = scope if isinstance(scope, str) else scope.name
        with device(self._device()), control_dependencies([]):
            kernels, biases = self._format_converter.opaque_to_tf_canonical(self._variables)
            kernel_names, bias_names = self._tf_canonical_names()
            specs = [
                SaveSpec(tensor, "", f"{self._scope}/{entry}" if self._scope else entry)
                for tensor, entry in zip([*kernels, *biases], [*kernel_names, *bias_names])
            ]
            super().__init__(tf.identity(self._variables), specs, name)

    def _device(self) -> Any:
        return None if in_eager_mode() else self._variables.device or None

    @property
    def format_converter(self) -> Any:
        """What converts the parameters."""
        return self._format_converter

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Gives the parameters what a checkpoint holds of all cells."""
        with device(self._device()):
            params = self._format_converter.tf_canonical_to_opaque(restored_tensors)
        if not hasattr(self._variables, "handle"):
            return tf.assign(self._variables, params, validate_shape=False)
        return self._variables.assign(params)

    def _tf_canonical_names(self) -> tuple[list[str], list[str]]:
        prefixes = [self._tf_canonical_name_prefix(layer, forward) for layer in range(self._num_layers) for forward in self._forwards()]
        return tuple([f"{p}/{part}" for p in prefixes for part in parts] for parts in (self._kernels, self._biases))  # type: ignore[return-value]

    def _forwards(self) -> tuple[bool, ...]:
        return (True, False) if self._direction == BIDIRECTIONAL else (True,)

    def _tf_canonical_name_prefix(self, layer: int, is_fwd: bool = True) -> str:
        if self._direction == BIDIRECTIONAL:
            return f"stack_bidirectional_rnn/cell_{layer}/bidirectional_rnn/{'fw' if is_fwd else 'bw'}/{self._rnn_cell_name}"
        return f"rnn/multi_rnn_cell/cell_{layer}/{self._rnn_cell_name}"

    # -- checkpoints of objects

    def _trackable_save(self, save_buffer: dict[str, Any]) -> None:
        kernels, biases = self._format_converter.opaque_to_tf_canonical(self._variables)
        for tensor, part in zip([*kernels, *biases], self._part_names()):
            save_buffer[part] = tensor

    def _trackable_restore(self, restore_buffer: dict[str, Any]) -> Any:
        return self.restore([restore_buffer[part] for part in self._part_names()], None)

    def _part_names(self) -> list[str]:
        kernels, biases = self._tf_canonical_names()
        return [*kernels, *biases]

    def _add_trackable_dependencies(self, trackable: Any, dtype: DTypeLike) -> None:
        """Has a layer track the cells that its parameters stand for."""
        parts = self._part_names()
        made = split_dependency(parts, [dtype] * len(parts), self._trackable_save, self._trackable_restore, device=self._device() or "")
        self._trackable_track_params(trackable, made)

    def _trackable_track_params(self, trackable: Any, params: dict[str, Any]) -> None:
        """Which kinds of cells have names in checkpoints of objects."""


@public("contrib.cudnn_rnn.CudnnLSTMSaveable")
class CudnnLSTMSaveable(CudnnOpaqueParamsSaveable):
    """Of an LSTM."""

    _format_converter_cls = CudnnParamsFormatConverterLSTM
    _rnn_cell_name = "cudnn_compatible_lstm_cell"

    def _trackable_track_params(self, trackable: Any, params: dict[str, Any]) -> None:
        cells = list(zip(*self._tf_canonical_names()))
        for k, (kernel, bias) in enumerate(cells):
            if len(cells) == 1:
                # A network of one layer is restored from a cell, too.
                trackable._track_trackable(params[kernel], name="kernel")
                trackable._track_trackable(params[bias], name="bias")
            cell = AutoTrackable()
            cell.bias, cell.kernel = params[bias], params[kernel]
            trackable._track_trackable(cell, name=f"cell-{k}")


@public("contrib.cudnn_rnn.CudnnGRUSaveable")
class CudnnGRUSaveable(CudnnOpaqueParamsSaveable):
    """Of gated recurrent units."""

    _format_converter_cls = CudnnParamsFormatConverterGRU
    _rnn_cell_name = "cudnn_compatible_gru_cell"
    _kernels = ("gates/kernel", "candidate/input_projection/kernel", "candidate/hidden_projection/kernel")
    _biases = ("gates/bias", "candidate/input_projection/bias", "candidate/hidden_projection/bias")


@public("contrib.cudnn_rnn.CudnnRNNTanhSaveable")
class CudnnRNNTanhSaveable(CudnnLSTMSaveable):
    """Of plain cells with tanh."""

    _format_converter_cls = CudnnParamsFormatConverterTanh
    _rnn_cell_name = "basic_rnn_cell"


@public("contrib.cudnn_rnn.CudnnRNNReluSaveable")
class CudnnRNNReluSaveable(CudnnLSTMSaveable):
    """Of plain cells with relu."""

    _format_converter_cls = CudnnParamsFormatConverterRelu
    _rnn_cell_name = "basic_rnn_cell"
