"""The layers of tf.contrib.cudnn_rnn: a whole network whose weights are one variable, `opaque_kernel`."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.cudnn_rnn import saveables
from everflow.contrib.cudnn_rnn.functions import (
    BIDIRECTIONAL,
    GRU,
    LINEAR,
    LSTM,
    RELU,
    TANH,
    UNIDIRECTIONAL,
    canonical_to_opaque_params,
    check_direction,
    check_input_mode,
    cudnn_rnn,
)
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import add_to_collection
from everflow.graph.stacks import in_eager_mode
from everflow.keras.input_spec import InputSpec
from everflow.layers import base
from everflow.ops.nn.cudnn_rnn import GATES
from everflow.ops.variables.variable_scope import variable_scope

_NOT_OF_OBJECTS = "This cell does not yet support object-based saving. File a feature request if this limitation bothers you."
_ONE_WAY = "Object-based saving does not currently support bidirectional LSTM cells. File a feature request if this limitation bothers you."


class _CudnnRNN(base.Layer):
    """Layers of recurrent cells over sequences, time first."""

    _rnn_mode: str
    _saveable_cls: Any

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_mode: str = LINEAR,
        direction: str = UNIDIRECTIONAL,
        dropout: float = 0.0,
        seed: int | None = None,
        dtype: dtypes.DTypeLike = tf.float32,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=dtype, name=name)
        check_direction(direction)
        check_input_mode(input_mode)
        if dtypes.as_dtype(dtype) not in (tf.float16, tf.float32, tf.float64):
            raise ValueError(f"Only support float16, float32, float64, provided {dtypes.as_dtype(dtype)!r}")
        self._plain_dtype = dtypes.as_dtype(dtype)
        self._num_layers, self._num_units = num_layers, num_units
        self._input_mode, self._direction = input_mode, direction
        self._num_dirs = 2 if direction == BIDIRECTIONAL else 1
        self._dropout, self._seed = dropout, seed
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer
        self._input_size: int | None = None
        self._saveable: Any = None

    rnn_mode = property(lambda self: self._rnn_mode)
    num_layers = property(lambda self: self._num_layers)
    num_units = property(lambda self: self._num_units)
    input_mode = property(lambda self: self._input_mode)
    direction = property(lambda self: self._direction)
    num_dirs = property(lambda self: self._num_dirs)

    @property
    def input_size(self) -> int:
        """The size of the inputs, known once the layer is built."""
        if not self._input_size:
            raise ValueError("'input_size' is unknown since layer has not been built.")
        return self._input_size

    @property
    def saveable(self) -> Any:
        """What checkpoints hold of the layer; None before it is built."""
        return self._saveable

    @property
    def canonical_weight_shapes(self) -> list[tuple[int, int]]:
        """The shapes of cuDNN's matrices."""
        if not self._input_size:
            raise RuntimeError(f"{type(self).__name__}.canonical_weight_shapes invoked before input shape is known")
        shapes: list[tuple[int, int]] = []
        for layer in range(self._num_layers):
            depth = self._input_size if layer == 0 else self._num_units * self._num_dirs
            gates = GATES[self._rnn_mode]
            shapes += ([(self._num_units, depth)] * gates + [(self._num_units, self._num_units)] * gates) * self._num_dirs
        return shapes

    @property
    def canonical_bias_shapes(self) -> list[list[int]]:
        """The shapes of cuDNN's biases."""
        return [[self._num_units] for _ in range(self._num_layers * self._num_dirs * 2 * GATES[self._rnn_mode])]

    def build(self, input_shape: Any) -> None:
        """Makes the variable; its first values are those of the initializers, matrix by matrix."""
        shape = tf.TensorShape(input_shape)
        if shape.ndims != 3:
            raise ValueError(f"Expecting input_shape with 3 dims, got {shape.ndims}")
        depth = tf.dimension_value(shape[-1])
        if depth is None:
            raise ValueError("The last dimension of the inputs to `CudnnRNN` should be defined. Found `None`.")
        self._input_size = depth
        self.input_spec = InputSpec(ndim=3, axes={-1: depth})
        self._set_scope(None)
        with variable_scope(self._scope, reuse=self.built or self._reuse):
            kernel = self._kernel_initializer or tf.glorot_uniform_initializer(self._seed, self._plain_dtype)
            bias = self._bias_initializer or tf.constant_initializer(0.0, dtype=self._plain_dtype)
            matrices = [kernel(shape, dtype=self._plain_dtype) for shape in self.canonical_weight_shapes]
            vectors = [bias(shape, dtype=self._plain_dtype) for shape in self.canonical_bias_shapes]
            first = self._canonical_to_opaque(matrices, vectors)
            if in_eager_mode():
                self.kernel = tf.get_variable("opaque_kernel", dtype=self._plain_dtype, initializer=first)
            else:
                self.kernel = tf.get_variable("opaque_kernel", initializer=first, validate_shape=False)
        if self.kernel not in self._trainable_weights:
            self._trainable_weights.append(self.kernel)
        if not getattr(self, "_saveable", None):
            self._create_saveable()
        self.built = True

    def call(  # type: ignore[override]
        self, inputs: Any, initial_state: Any = None, sequence_lengths: Any = None, time_major: bool = True, training: bool = True
    ) -> Any:
        """(outputs, states): the states are a tuple of tensors [layer and direction, batch, units]."""
        if initial_state is not None and not isinstance(initial_state, tuple):
            raise TypeError(f"Invalid initial_state type: {initial_state}, expecting tuple.")
        inputs = convert_to_tensor(inputs, dtype=self._plain_dtype)
        if initial_state is None:
            initial_state = self._zero_state(tf.shape(inputs)[1 if time_major else 0], time_major)
        h = convert_to_tensor(initial_state[0], dtype=self._plain_dtype)
        c = convert_to_tensor(initial_state[1], dtype=self._plain_dtype) if self._has_two_states else tf.constant([], self._plain_dtype)
        output, last_h, last_c = cudnn_rnn(
            inputs,
            h,
            c,
            self.kernel,
            training,
            self._rnn_mode,
            sequence_lengths=sequence_lengths,
            time_major=time_major,
            input_mode=self._input_mode,
            direction=self._direction,
            dropout=self._dropout,
            seed=self._seed,
        )
        return output, (last_h, last_c) if self._has_two_states else (last_h,)

    @property
    def _has_two_states(self) -> bool:
        return self._rnn_mode == LSTM

    def state_shape(self, batch_size: Any) -> tuple[list[Any], ...]:
        """The shapes of the states."""
        return ([self._num_layers * self._num_dirs, batch_size, self._num_units],) * (2 if self._has_two_states else 1)

    def _zero_state(self, batch_size: Any, time_major: bool = True) -> tuple[Any, ...]:
        shapes = self.state_shape(batch_size)
        if not time_major:
            shapes = tuple([batch, rows, units] for rows, batch, units in shapes)
        return tuple(tf.zeros(shape, dtype=self._plain_dtype) for shape in shapes)

    def _canonical_to_opaque(self, cu_weights: list[Any], cu_biases: list[Any]) -> Any:
        return canonical_to_opaque_params(
            self._rnn_mode,
            self._num_layers,
            self._num_units,
            self.input_size,
            cu_weights,
            cu_biases,
            input_mode=self._input_mode,
            seed=self._seed,
            dropout=self._dropout,
            direction=self._direction,
        )

    def _create_saveable(self) -> None:
        if self._saveable is not None:
            raise RuntimeError("Cudnn saveable already created.")
        parameters = self.trainable_variables[0]
        described = {what: getattr(self, what) for what in ("num_layers", "num_units", "input_size", "input_mode", "direction")}
        name = parameters.name.partition(":")[0] + "_saveable"
        self._saveable = self._saveable_cls(opaque_params=parameters, scope=tf.get_variable_scope(), name=name, **described)
        self._saveable._add_trackable_dependencies(self, self._plain_dtype)
        if not in_eager_mode():
            known = tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)
            if self._saveable.name not in [other.name for other in known]:
                add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, self._saveable)

    @property
    def _checkpoint_dependencies(self) -> list[Any]:
        # The variable itself is not saved: the cells that it stands for are.
        return [reference for reference in super()._checkpoint_dependencies if reference.ref is not getattr(self, "kernel", None)]

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        raise NotImplementedError(_NOT_OF_OBJECTS)


@public("contrib.cudnn_rnn.CudnnLSTM")
class CudnnLSTM(_CudnnRNN):
    """Layers of LSTM cells; the states are (h, c)."""

    _rnn_mode = LSTM
    _saveable_cls = saveables.CudnnLSTMSaveable

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        if self._direction == BIDIRECTIONAL:
            raise NotImplementedError(_ONE_WAY)
        return {}


@public("contrib.cudnn_rnn.CudnnGRU")
class CudnnGRU(_CudnnRNN):
    """Layers of gated recurrent units."""

    _rnn_mode = GRU
    _saveable_cls = saveables.CudnnGRUSaveable


@public("contrib.cudnn_rnn.CudnnRNNTanh")
class CudnnRNNTanh(_CudnnRNN):
    """Layers of plain cells with tanh."""

    _rnn_mode = TANH
    _saveable_cls = saveables.CudnnRNNTanhSaveable


@public("contrib.cudnn_rnn.CudnnRNNRelu")
class CudnnRNNRelu(_CudnnRNN):
    """Layers of plain cells with relu."""

    _rnn_mode = RELU
    _saveable_cls = saveables.CudnnRNNReluSaveable
