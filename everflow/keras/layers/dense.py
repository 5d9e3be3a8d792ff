"""Dense: every output is a weighted sum of all inputs."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph import dtypes
from everflow.graph.shapes import TensorShape
from everflow.keras import config
from everflow.keras.configured import ConfiguredLayer
from everflow.keras.input_spec import InputSpec
from everflow.ops.core.registry import apply


@public("keras.layers.Dense")
class Dense(ConfiguredLayer):
    """`activation(inputs @ kernel + bias)`."""

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        if "input_dim" in kwargs and "input_shape" not in kwargs:
            kwargs["input_shape"] = (kwargs.pop("input_dim"),)
        super().__init__(**kwargs)
        self._keep({**locals(), "units": int(units)})
        self.supports_masking = True
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: Any) -> None:
        dtype = dtypes.as_dtype(self.dtype or config.floatx())
        if not (dtype.is_floating or dtype.is_complex):
            raise TypeError(f"Unable to build `Dense` layer with non-floating point dtype {dtype}")
        size = TensorShape(input_shape).as_list()[-1]
        if size is None:
            raise ValueError("The last dimension of the inputs to `Dense` should be defined. Found `None`.")
        self.input_spec = InputSpec(min_ndim=2, axes={-1: size})
        self.kernel = self._weight("kernel", [size, self.units])
        self.bias = self._weight("bias", [self.units]) if self.use_bias else None
        self.built = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        outputs = self._product(inputs)
        if self.use_bias:
            outputs = tf.nn.bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)

    def _product(self, inputs: Any) -> Any:
        *others, last = range(len(inputs.shape))
        if len(others) > 1:
            product = tf.tensordot(inputs, self.kernel, [[last], [0]])
            product.set_shape(inputs.shape[:-1].concatenate(self.units))
            return product
        inputs = tf.cast(inputs, self._compute_dtype)
        if isinstance(inputs, tf.SparseTensor):
            return tf.sparse_tensor_dense_matmul(inputs, self.kernel)
        return apply("MatMul", inputs, self.kernel, name="MatMul")

    def compute_output_shape(self, input_shape: Any) -> Any:
        shape = TensorShape(input_shape).with_rank_at_least(2)
        if shape.as_list()[-1] is None:
            raise ValueError(f"The innermost dimension of input_shape must be defined, but saw: {shape}")
        return shape[:-1].concatenate(self.units)
