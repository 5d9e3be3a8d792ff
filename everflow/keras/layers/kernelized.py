"""RandomFourierFeatures: a map after which inner products come near to a kernel."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.graph.shapes import TensorShape
from everflow.keras import initializers
from everflow.keras.input_spec import InputSpec
from everflow.keras.layer import Layer
from everflow.ops.core.registry import apply

_KERNELS = internal("keras.layers.kernelized._SUPPORTED_RBF_KERNEL_TYPES")(["gaussian", "laplacian"])


@internal("keras.layers.kernelized.RandomFourierFeatures")
class RandomFourierFeatures(Layer):
    """`cos(inputs @ kernel / scale + bias)` with random kernel and bias.

    Gaussian and Laplacian kernels between rows become inner products of their features.
    """

    def __init__(
        self,
        output_dim: int,
        kernel_initializer: Any = "gaussian",
        scale: float | None = None,
        trainable: bool = False,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        if output_dim <= 0:
            raise ValueError(f"`output_dim` should be a positive integer. Given: {output_dim}.")
        if isinstance(kernel_initializer, str) and kernel_initializer.lower() not in _KERNELS:
            raise ValueError(f"Unsupported kernel type: '{kernel_initializer}'. Supported kernel types: {_KERNELS}.")
        if scale is not None and scale <= 0.0:
            raise ValueError(f"When provided, `scale` should be a positive float. Given: {scale}.")
        super().__init__(trainable=trainable, name=name, **kwargs)
        self.output_dim = output_dim
        self.kernel_initializer = kernel_initializer
        self.scale = scale

    def build(self, input_shape: Any) -> None:
        shape = TensorShape(input_shape)
        if shape.ndims != 2:
            raise ValueError(f"The rank of the input tensor should be 2. Got {shape.ndims} instead.")
        size = shape.as_list()[1]
        if size is None:
            raise ValueError("The last dimension of the inputs to `RandomFourierFeatures` should be defined. Found `None`.")
        self.input_spec = InputSpec(ndim=2, axes={1: size})
        features = (size, self.output_dim)
        self.unscaled_kernel = self.add_weight(
            "unscaled_random_features", features, dtype=tf.float32, initializer=self._drawn(features), trainable=False
        )
        self.bias = self.add_weight(
            "random_features_bias",
            (self.output_dim,),
            dtype=tf.float32,
            initializer=tf.random_uniform_initializer(0.0, 2 * math.pi, dtype=tf.float32),
            trainable=False,
        )
        if self.scale is None:
            self.scale = math.sqrt(size / 2.0) if self._kernel() == "gaussian" else 1.0
        self.kernel_scale = self.add_weight(
            "random_features_scale",
            (1,),
            dtype=tf.float32,
            initializer=tf.constant_initializer(self.scale),
            trainable=True,
            constraint=tf.keras.constraints.NonNeg(),
        )
        super().build(input_shape)

    def _kernel(self) -> str | None:
        return self.kernel_initializer.lower() if isinstance(self.kernel_initializer, str) else None

    def _drawn(self, shape: tuple[int, int]) -> Any:
        """What random features are drawn from: the Fourier transform of the kernel."""
        kind = self._kernel()
        if kind == "gaussian":
            return tf.random_normal_initializer(stddev=1.0)
        if kind == "laplacian":
            return tf.constant_initializer(np.random.standard_cauchy(shape))
        return self.kernel_initializer

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        inputs = tf.convert_to_tensor(inputs)
        kernel = (1.0 / self.kernel_scale) * self.unscaled_kernel
        inputs = apply("Cast", inputs, DstT=tf.float32, name="Cast")
        return tf.cos(tf.nn.bias_add(apply("MatMul", inputs, kernel, name="MatMul"), self.bias))

    def compute_output_shape(self, input_shape: Any) -> Any:
        shape = TensorShape(input_shape).with_rank(2)
        if shape.as_list()[-1] is None:
            raise ValueError(f"The innermost dimension of input shape must be defined. Given: {shape}")
        return shape[:-1].concatenate(self.output_dim)

    def get_config(self) -> dict[str, Any]:
        initializer = self.kernel_initializer
        if not isinstance(initializer, (str, type)):
            initializer = initializers.serialize(initializer)
        return {**super().get_config(), "output_dim": self.output_dim, "kernel_initializer": initializer, "scale": self.scale}
