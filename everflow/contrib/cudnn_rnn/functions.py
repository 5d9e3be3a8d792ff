"""The ops of cuDNN's networks as functions, and as objects that remember the sizes of one network."""

from __future__ import annotations

import os
from typing import Any

import everflow as tf
from everflow.contrib.cudnn_rnn.publishing import published
from everflow.graph.dtypes import DTypeLike
from everflow.ops.core.registry import apply
from everflow.ops.nn.cudnn_rnn import GATES

LSTM, GRU, RELU, TANH = "lstm", "gru", "rnn_relu", "rnn_tanh"
UNIDIRECTIONAL, BIDIRECTIONAL = "unidirectional", "bidirectional"
LINEAR, SKIP, AUTO = "linear_input", "skip_input", "auto_select"

for _name, _value in (
    ("CUDNN_LSTM", LSTM),
    ("CUDNN_GRU", GRU),
    ("CUDNN_RNN_RELU", RELU),
    ("CUDNN_RNN_TANH", TANH),
    ("CUDNN_RNN_UNIDIRECTION", UNIDIRECTIONAL),
    ("CUDNN_RNN_BIDIRECTION", BIDIRECTIONAL),
    ("CUDNN_INPUT_LINEAR_MODE", LINEAR),
    ("CUDNN_INPUT_SKIP_MODE", SKIP),
    ("CUDNN_INPUT_AUTO_MODE", AUTO),
):
    published(_name)(_value)
for _mode in (LSTM, GRU, RELU, TANH):
    published(f"CUDNN_{_mode.upper()}_PARAMS_PER_LAYER")(2 * GATES[_mode])


def _one_of(what: str, value: str, known: tuple[str, ...], expecting: str) -> None:
    if value not in known:
        raise ValueError(f"Invalid {what}: {value}, {expecting}")


@published("check_direction")
def check_direction(direction: str) -> None:
    """Refuses what is no direction."""
    _one_of("direction", direction, (UNIDIRECTIONAL, BIDIRECTIONAL), f"expecting {UNIDIRECTIONAL} or {BIDIRECTIONAL}")


@published("check_input_mode")
def check_input_mode(input_mode: str) -> None:
    """Refuses what is no way to take inputs."""
    _one_of("input_mode", input_mode, (LINEAR, SKIP, AUTO), f"expect one of ({LINEAR}, {SKIP}, {AUTO})")


@published("_check_rnn_mode")
def check_rnn_mode(rnn_mode: str) -> None:
    """Refuses what is no kind of cell."""
    _one_of("rnn_mode", rnn_mode, (LSTM, GRU, TANH, RELU), f"expect one of ({LSTM}, {GRU}, {TANH}, {RELU})")


@published("_get_num_params")
def number_of_matrices(rnn_mode: str, num_layers: int, direction: str) -> int:
    """How many matrices a network has, and as many biases; projections not counted."""
    check_rnn_mode(rnn_mode)
    return num_layers * 2 * GATES[rnn_mode] * (2 if direction == BIDIRECTIONAL else 1)


def _attributes(rnn_mode: str, input_mode: str, direction: str, dropout: float, seed: int | None) -> dict[str, Any]:
    check_rnn_mode(rnn_mode)
    check_direction(direction)
    check_input_mode(input_mode)
    seed, seed2 = tf.get_seed(seed)
    return {
        "rnn_mode": rnn_mode,
        "input_mode": input_mode,
        "direction": direction,
        "dropout": dropout,
        "seed": seed or 0,
        "seed2": seed2 or 0,
    }


@published("_cudnn_rnn")
def cudnn_rnn(
    inputs: Any,
    input_h: Any,
    input_c: Any,
    params: Any,
    is_training: bool,
    rnn_mode: str,
    sequence_lengths: Any = None,
    time_major: bool = True,
    input_mode: str = LINEAR,
    direction: str = UNIDIRECTIONAL,
    dropout: float = 0.0,
    seed: int | None = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """Outputs of all steps, and the last states (h, c) of all layers."""
    attrs = {**_attributes(rnn_mode, input_mode, direction, dropout, seed), "is_training": is_training, "name": name}
    if sequence_lengths is not None or not time_major or num_proj:
        if sequence_lengths is None:
            shape = tf.shape(inputs)
            sequence_lengths = tf.fill([shape[0]], shape[1])
        found = apply(
            "CudnnRNNV3", inputs, input_h, input_c, params, sequence_lengths, time_major=time_major, num_proj=num_proj or 0, **attrs
        )
    else:
        op_type = "CudnnRNNV2" if os.environ.get("TF_CUDNN_RNN_USE_V2", "0") == "1" else "CudnnRNN"
        found = apply(op_type, inputs, input_h, input_c, params, **attrs)
    return tuple(found[:3])  # type: ignore[return-value]


@published("cudnn_lstm")
def cudnn_lstm(
    inputs: Any,
    input_h: Any,
    input_c: Any,
    params: Any,
    is_training: bool,
    sequence_lengths: Any = None,
    time_major: bool = True,
    input_mode: str = LINEAR,
    direction: str = UNIDIRECTIONAL,
    dropout: float = 0.0,
    seed: int | None = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """An LSTM: (outputs, h, c)."""
    return cudnn_rnn(
        inputs,
        input_h,
        input_c,
        params,
        is_training,
        LSTM,
        sequence_lengths,
        time_major,
        input_mode,
        direction,
        dropout,
        seed,
        num_proj,
        name,
    )


@published("_cudnn_rnn_no_input_c")
def cudnn_rnn_of_one_state(
    inputs: Any,
    input_h: Any,
    params: Any,
    is_training: bool,
    rnn_mode: str,
    sequence_lengths: Any = None,
    time_major: bool = True,
    input_mode: str = LINEAR,
    direction: str = UNIDIRECTIONAL,
    dropout: float = 0.0,
    seed: int | None = 0,
    name: str | None = None,
) -> tuple[Any, Any]:
    """A network whose cells have but one state: (outputs, h)."""
    given = locals()
    no_memory = tf.constant([], dtype=getattr(input_h, "dtype", None))
    return cudnn_rnn(input_c=no_memory, **given)[:2]


@published("cudnn_gru")
def cudnn_gru(
    inputs: Any,
    input_h: Any,
    params: Any,
    is_training: bool,
    sequence_lengths: Any = None,
    time_major: bool = True,
    input_mode: str = LINEAR,
    direction: str = UNIDIRECTIONAL,
    dropout: float = 0.0,
    seed: int | None = 0,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Gated recurrent units: (outputs, h)."""
    return cudnn_rnn_of_one_state(rnn_mode=GRU, **locals())


@published("cudnn_rnn_tanh")
def cudnn_rnn_tanh(
    inputs: Any,
    input_h: Any,
    params: Any,
    is_training: bool,
    sequence_lengths: Any = None,
    time_major: bool = True,
    input_mode: str = LINEAR,
    direction: str = UNIDIRECTIONAL,
    dropout: float = 0.0,
    seed: int | None = 0,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Plain cells with tanh: (outputs, h)."""
    return cudnn_rnn_of_one_state(rnn_mode=TANH, **locals())


@published("cudnn_rnn_relu")
def cudnn_rnn_relu(
    inputs: Any,
    input_h: Any,
    params: Any,
    is_training: bool,
    input_mode: str = LINEAR,
    direction: str = UNIDIRECTIONAL,
    dropout: float = 0.0,
    seed: int | None = 0,
    sequence_lengths: Any = None,
    time_major: bool = True,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Plain cells with relu: (outputs, h)."""
    return cudnn_rnn_of_one_state(rnn_mode=RELU, **locals())


@published("cudnn_rnn_opaque_params_to_canonical")
def opaque_params_to_canonical(
    rnn_mode: str,
    num_layers: int,
    num_units: int,
    input_size: int,
    params: Any,
    input_mode: str = LINEAR,
    direction: str = UNIDIRECTIONAL,
    dropout: float = 0,
    seed: int | None = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> tuple[list[Any], list[Any]]:
    """The matrices and biases of a network's parameters."""
    attrs, biases = _attributes(rnn_mode, input_mode, direction, dropout, seed), number_of_matrices(rnn_mode, num_layers, direction)
    sizes = num_layers, num_units, input_size
    if num_proj:
        weights = _with_projections(biases, num_layers, direction)
        found = apply(
            "CudnnRNNParamsToCanonicalV2",
            *sizes,
            params,
            num_params_weights=weights,
            num_params_biases=biases,
            num_proj=num_proj,
            name=name,
            **attrs,
        )
    else:
        found = apply("CudnnRNNParamsToCanonical", *sizes, params, num_params=biases, name=name, **attrs)
    return tuple(list(part) for part in found)  # type: ignore[return-value]


def _with_projections(matrices: int, num_layers: int, direction: str) -> int:
    return matrices + num_layers * (2 if direction == BIDIRECTIONAL else 1)


@published("cudnn_rnn_canonical_to_opaque_params")
def canonical_to_opaque_params(
    rnn_mode: str,
    num_layers: int,
    num_units: int,
    input_size: int,
    weights: Any,
    biases: Any,
    input_mode: str = LINEAR,
    direction: str = UNIDIRECTIONAL,
    dropout: float = 0,
    seed: int | None = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> Any:
    """The parameters of a network with these matrices and biases."""
    attrs = _attributes(rnn_mode, input_mode, direction, dropout, seed)
    sizes = num_layers, num_units, input_size
    if num_proj:
        return apply("CudnnRNNCanonicalToParamsV2", *sizes, weights, biases, num_proj=num_proj, name=name, **attrs)
    return apply("CudnnRNNCanonicalToParams", *sizes, weights, biases, name=name, **attrs)


@published("cudnn_rnn_opaque_params_size")
def opaque_params_size(
    rnn_mode: str,
    num_layers: int,
    num_units: int,
    input_size: int,
    input_mode: str = LINEAR,
    direction: str = UNIDIRECTIONAL,
    dtype: DTypeLike = tf.float32,
    dropout: float = 0,
    seed: int | None = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> Any:
    """How many numbers the parameters of a network are."""
    attrs = _attributes(rnn_mode, input_mode, direction, dropout, seed)
    found = apply("CudnnRNNParamsSize", num_layers, num_units, input_size, T=dtype, S=tf.int32, num_proj=num_proj or 0, name=name, **attrs)
    return found[0]


class _Network:
    """A network whose parameters are given with each call."""

    def __init__(
        self,
        rnn_mode: str,
        num_layers: int,
        num_units: int,
        input_size: int,
        input_mode: str = LINEAR,
        direction: str = UNIDIRECTIONAL,
        dtype: DTypeLike = tf.float32,
        dropout: float = 0.0,
        seed: int | None = 0,
        num_proj: int | None = None,
    ) -> None:
        check_direction(direction)
        check_input_mode(input_mode)
        self._rnn_mode, self._num_layers, self._num_units, self._input_size = rnn_mode, num_layers, num_units, input_size
        self._input_mode, self._direction, self._dtype, self._num_proj = input_mode, direction, dtype, num_proj
        self._dropout, self._seed = dropout, seed

    rnn_mode = property(lambda self: self._rnn_mode)
    num_layers = property(lambda self: self._num_layers)
    num_units = property(lambda self: self._num_units)
    input_size = property(lambda self: self._input_size)
    input_mode = property(lambda self: self._input_mode)
    direction = property(lambda self: self._direction)
    num_proj = property(lambda self: self._num_proj)

    def _options(self) -> dict[str, Any]:
        return {
            "input_mode": self._input_mode,
            "direction": self._direction,
            "dropout": self._dropout,
            "seed": self._seed,
            "num_proj": self._num_proj,
        }

    def _sizes(self) -> tuple[str, int, int, int]:
        return self._rnn_mode, self._num_layers, self._num_units, self._input_size

    def params_size(self) -> Any:
        """How many numbers the parameters are."""
        return opaque_params_size(*self._sizes(), dtype=self._dtype, **self._options())

    def __call__(
        self,
        input_data: Any,
        input_h: Any,
        input_c: Any,
        params: Any,
        is_training: bool = True,
        sequence_lengths: Any = None,
        time_major: bool = True,
    ) -> Any:
        """(outputs, h, c)."""
        return cudnn_rnn(input_data, input_h, input_c, params, is_training, self._rnn_mode, sequence_lengths, time_major, **self._options())

    def params_to_canonical(self, params: Any) -> Any:
        """The matrices and biases of parameters."""
        return opaque_params_to_canonical(*self._sizes(), params, **self._options())

    def canonical_to_params(self, weights: Any, biases: Any) -> Any:
        """The parameters of matrices and biases."""
        return canonical_to_opaque_params(*self._sizes(), weights, biases, **self._options())


published("_CudnnRNN")(_Network)


@published("CudnnLSTM")
class CudnnLSTM(_Network):
    """An LSTM."""

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_size: int,
        input_mode: str = LINEAR,
        direction: str = UNIDIRECTIONAL,
        dtype: DTypeLike = tf.float32,
        dropout: float = 0.0,
        seed: int | None = 0,
        num_proj: int | None = None,
    ) -> None:
        super().__init__(LSTM, num_layers, num_units, input_size, input_mode, direction, dtype, dropout, seed, num_proj)

    def __call__(  # type: ignore[override]
        self,
        input_data: Any,
        input_h: Any,
        input_c: Any,
        params: Any,
        sequence_lengths: Any = None,
        time_major: bool = True,
        is_training: bool = True,
    ) -> Any:
        return super().__call__(input_data, input_h, input_c, params, is_training, sequence_lengths, time_major)


@published("_CudnnRNNNoInputC")
class _OneState(_Network):
    """A network whose cells have one state."""

    _mode: str

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_size: int,
        input_mode: str = LINEAR,
        direction: str = UNIDIRECTIONAL,
        dtype: DTypeLike = tf.float32,
        dropout: float = 0.0,
        seed: int | None = 0,
    ) -> None:
        super().__init__(self._mode, num_layers, num_units, input_size, input_mode, direction, dtype, dropout, seed)

    def __call__(  # type: ignore[override]
        self, input_data: Any, input_h: Any, params: Any, sequence_lengths: Any = None, time_major: bool = True, is_training: bool = True
    ) -> Any:
        """(outputs, h)."""
        options = {name: value for name, value in self._options().items() if name != "num_proj"}
        return cudnn_rnn_of_one_state(input_data, input_h, params, is_training, self._mode, sequence_lengths, time_major, **options)


@published("CudnnGRU")
class CudnnGRU(_OneState):
    """Gated recurrent units."""

    _mode = GRU


@published("CudnnRNNTanh")
class CudnnRNNTanh(_OneState):
    """Plain cells with tanh."""

    _mode = TANH


@published("CudnnRNNRelu")
class CudnnRNNRelu(_OneState):
    """Plain cells with relu."""

    _mode = RELU
