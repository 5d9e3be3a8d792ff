"""Convolutions with a kernel of their own at each place."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.keras.backend.windows import bias_add, local_conv
from everflow.keras.configured import ConfiguredLayer
from everflow.keras.input_spec import InputSpec
from everflow.keras.kernel_masks import conv_kernel_mask
from everflow.keras.shape_methods import of_tuples
from everflow.keras.window_arithmetic import conv_output_length, windows


@internal("keras.layers.local.make_2d")
def make_2d(tensor: Any, split_dim: int) -> Any:
    """A tensor as a matrix: the axes before `split_dim`, and those from there on."""
    shape = tf.shape(tensor)
    return tf.reshape(tensor, tf.stack([tf.reduce_prod(shape[:split_dim]), tf.reduce_prod(shape[split_dim:])]))


class _LocallyConnected(ConfiguredLayer):
    """What the layers of one and two dimensions share.

    The kernels are kept as implementation says: 1, those of each place side by side; 2, a dense matrix of inputs and outputs under a mask;
    3, the entries of a sparse such matrix.
    """

    _rank: int
    kernel_mask: Any
    _entries: Any
    _matrix_shape: Any

    def __init__(self, given: dict[str, Any]) -> None:
        super().__init__(**given["kwargs"])
        self._keep(windows(given, self._rank))
        if self.padding != "valid" and self.implementation == 1:
            raise ValueError(
                f'Invalid border mode for {type(self).__name__} (only "valid" is supported if implementation is 1): {given["padding"]}'
            )
        self.input_spec = InputSpec(ndim=self._rank + 2)

    @property
    def _channels_first(self) -> bool:
        return self.data_format == "channels_first"

    @of_tuples
    def build(self, input_shape: Any) -> None:
        shape = input_shape
        channels = shape[1] if self._channels_first else shape[-1]
        sizes: Any = tuple(shape[2:] if self._channels_first else shape[1:-1])
        if channels is None:
            raise ValueError(
                f"Axis {1 if self._channels_first else self._rank + 1} of input should be fully-defined. Found shape: {tuple(shape)}"
            )
        if None in sizes:
            raise ValueError(
                f"The spatial dimensions of the inputs to  a {type(self).__name__} layer should be fully-defined, but layer "
                f"received the inputs shape {tuple(shape)}"
            )
        places = self._places(sizes)
        self.__dict__["_output_sizes"] = places
        if self.implementation == 1:
            kernel_shape: tuple[int, ...] = (int(np.prod(places)), int(np.prod(self.kernel_size)) * channels, self.filters)
        elif self.implementation == 2:
            kernel_shape = (channels, *sizes, self.filters, *places) if self._channels_first else (*sizes, channels, *places, self.filters)
            self.__dict__["kernel_mask"] = self._mask(sizes)
        elif self.implementation == 3:
            full = np.broadcast_to(
                self._mask(sizes),
                (channels, *sizes, self.filters, *places) if self._channels_first else (*sizes, channels, *places, self.filters),
            )
            matrix = full.reshape(int(np.prod(sizes)) * channels, -1).T
            entries = np.argwhere(matrix)
            self.__dict__.update(_entries=entries, _matrix_shape=matrix.shape)
            kernel_shape = (len(entries),)
        else:
            raise ValueError(f"Unrecognized implementation mode: {self.implementation}.")
        self.kernel = self._weight("kernel", kernel_shape)
        self.bias = self._weight("bias", (*places, self.filters)) if self.use_bias else None
        self.input_spec = InputSpec(ndim=self._rank + 2, axes={1 if self._channels_first else -1: channels})
        self.built = True

    def _places(self, sizes: Any) -> tuple[Any, ...]:
        return tuple(conv_output_length(n, k, self.padding, s) for n, k, s in zip(sizes, self.kernel_size, self.strides))

    def _mask(self, sizes: tuple[int, ...]) -> Any:
        """The mask of the matrix of inputs and outputs; it is the same for all channels."""
        mask = conv_kernel_mask(sizes, self.kernel_size, self.strides, self.padding)
        at = (0, self._rank + 1) if self._channels_first else (self._rank, -1)
        return np.expand_dims(np.expand_dims(mask, at[0]), at[1]).astype(np.float32)

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        places = self.__dict__["_output_sizes"]
        if self.implementation == 1:
            outputs = local_conv(inputs, self.kernel, self.kernel_size, self.strides, places, self.data_format)
        else:
            flat = make_2d(inputs, 1)
            if self.implementation == 2:
                kernel = self.kernel * tf.cast(self.kernel_mask, self.kernel.dtype)
                product = tf.matmul(flat, make_2d(kernel, self._rank + 1))
            else:
                matrix = tf.SparseTensor(self._entries, tf.convert_to_tensor(self.kernel), self._matrix_shape)
                product = tf.transpose(tf.sparse.sparse_dense_matmul(matrix, flat, adjoint_b=True))
            outputs = tf.reshape(product, [-1, self.filters, *places] if self._channels_first else [-1, *places, self.filters])
        if self.use_bias:
            outputs = bias_add(outputs, self.bias, data_format=self.data_format)
        return outputs if self.activation is None else self.activation(outputs)

    @of_tuples
    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape with a window at each place."""
        places = self._places(input_shape[2:] if self._channels_first else input_shape[1:-1])
        return (input_shape[0], self.filters, *places) if self._channels_first else (input_shape[0], *places, self.filters)


@public("keras.layers.LocallyConnected1D")
class LocallyConnected1D(_LocallyConnected):
    """Sequences, with kernels that places do not share."""

    _rank = 1

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        implementation: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(locals())


@public("keras.layers.LocallyConnected2D")
class LocallyConnected2D(_LocallyConnected):
    """Images, with kernels that places do not share."""

    _rank = 2

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        implementation: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(locals())
