"""Layers and cells whose kernels have masks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.framework.arg_scopes import add_arg_scope
from everflow.contrib.layers.convolutional import weighted, window
from everflow.contrib.layers.initializers import xavier_initializer
from everflow.contrib.model_pruning.masks import MASKED_NAME, collect
from everflow.layers.convolutional import Conv2D
from everflow.layers.core import Dense
from everflow.rnn.lstm import BasicLSTMCell, LSTMCell

BELOW = "contrib.model_pruning.python.layers.core_layers."


class _Masked:
    """Before a layer in the bases of a class: the layer computes with its kernel times a mask."""

    # What the layer calls its kernel.
    _kernel_name = "kernel"
    masked_kernel: Any

    def _mask_kernel(self: Any) -> None:
        """Adds the mask to what a layer has built."""
        # More variables are to come.
        self.built = False
        kernel = getattr(self, self._kernel_name)
        shape = kernel.get_shape()
        mask = self.add_variable("mask", shape, initializer=tf.ones_initializer(), trainable=False, dtype=kernel.dtype.base_dtype)
        threshold = self.add_variable("threshold", [], initializer=tf.zeros_initializer(), trainable=False, dtype=kernel.dtype.base_dtype)
        self.mask, self.threshold = mask, threshold
        self.masked_kernel = tf.multiply(mask, kernel, MASKED_NAME)
        collect(kernel, mask, threshold, self.masked_kernel)
        self.built = True

    @contextlib.contextmanager
    def _masked(self: Any) -> Iterator[None]:
        """Meanwhile the layer's kernel is the masked one."""
        kernel = self.__dict__[self._kernel_name]
        self.__dict__[self._kernel_name] = self.masked_kernel
        try:
            yield
        finally:
            self.__dict__[self._kernel_name] = kernel


class _MaskedLayer(_Masked):
    def build(self: Any, input_shape: Any) -> None:
        super().build(input_shape)  # type: ignore[misc]
        self._mask_kernel()

    def call(self: Any, inputs: Any) -> Any:
        with self._masked():
            return super().call(inputs)  # type: ignore[misc]


class _MaskedCell(_Masked):
    _kernel_name = "_kernel"

    def build(self: Any, inputs_shape: Any) -> None:
        super().build(inputs_shape)  # type: ignore[misc]
        self._mask_kernel()

    def call(self: Any, inputs: Any, state: Any) -> Any:
        with self._masked():
            return super().call(inputs, state)  # type: ignore[misc]


@public(BELOW + "MaskedConv2D")
class MaskedConv2D(_MaskedLayer, Conv2D):  # type: ignore[misc]
    """A convolution of pictures."""


@public(BELOW + "MaskedFullyConnected")
class MaskedFullyConnected(_MaskedLayer, Dense):  # type: ignore[misc]
    """The product with a matrix."""


@public("contrib.model_pruning.MaskedBasicLSTMCell")
class MaskedBasicLSTMCell(_MaskedCell, BasicLSTMCell):  # type: ignore[misc]
    """The basic LSTM cell."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(num_units, forget_bias=forget_bias, state_is_tuple=state_is_tuple, activation=activation, reuse=reuse, name=name)


@public("contrib.model_pruning.MaskedLSTMCell")
class MaskedLSTMCell(_MaskedCell, LSTMCell):  # type: ignore[misc]
    """The LSTM cell."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: Any = None,
        initializer: Any = None,
        num_proj: Any = None,
        proj_clip: Any = None,
        num_unit_shards: Any = None,
        num_proj_shards: Any = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(
            num_units,
            use_peepholes=use_peepholes,
            cell_clip=cell_clip,
            initializer=initializer,
            num_proj=num_proj,
            proj_clip=proj_clip,
            num_unit_shards=num_unit_shards,
            num_proj_shards=num_proj_shards,
            forget_bias=forget_bias,
            state_is_tuple=state_is_tuple,
            activation=activation,
            reuse=reuse,
        )


@public("contrib.model_pruning.masked_convolution", "contrib.model_pruning.masked_conv2d")
@add_arg_scope
def masked_convolution(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
    activation_fn: Any = tf.nn.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = xavier_initializer(),
    weights_regularizer: Any = None,
    biases_initializer: Any = tf.zeros_initializer(),
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Sequence[str] | str | None = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """tf.contrib.layers.conv2d with a mask for its weights."""
    if data_format not in (None, "NHWC", "NCHW"):
        raise ValueError(f"Invalid data_format: {data_format!r}")

    def chosen(inputs: Any) -> Any:
        if inputs.shape.rank != 4:
            raise ValueError(f"Convolution expects inputs of rank 4, got inputs with rank {inputs.shape.rank}")
        return MaskedConv2D

    return weighted("Conv", inputs, chosen, window(kernel_size, stride, padding, data_format, rate, num_outputs), locals())


@public("contrib.model_pruning.masked_fully_connected")
@add_arg_scope
def masked_fully_connected(
    inputs: Any,
    num_outputs: int,
    activation_fn: Any = tf.nn.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = xavier_initializer(),
    weights_regularizer: Any = None,
    biases_initializer: Any = tf.zeros_initializer(),
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Sequence[str] | str | None = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """tf.contrib.layers.fully_connected with a mask for its weights."""
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs should be integer, got {num_outputs}.")
    return weighted("fully_connected", inputs, lambda _: MaskedFullyConnected, {"units": num_outputs}, locals())
