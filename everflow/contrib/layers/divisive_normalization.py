"""Generalized divisive normalization: each channel is divided by a weighted norm of all channels at its place."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.layers.publishing import layer
from everflow.graph.dtypes import DTypeLike
from everflow.keras.input_spec import InputSpec
from everflow.layers.base import Layer

_FORMATS = {"channels_first": {3: "NCW", 4: "NCHW", 5: "NCDHW"}, "channels_last": {3: "NWC", 4: "NHWC", 5: "NDHWC"}}


def _at_least(x: Any, bound: float) -> Any:
    """The larger of both; the gradient passes where x is above the bound, and where a step downhill would lift it."""

    @tf.custom_gradient
    def bounded(value: Any) -> Any:
        limit = tf.cast(bound, value.dtype)

        def gradient(dy: Any) -> Any:
            return tf.where(tf.logical_or(value >= limit, dy < 0), dy, tf.zeros_like(dy))

        return tf.maximum(value, limit), gradient

    return bounded(x)


@layer("GDN")
class GDN(Layer):
    """Divides by sqrt(beta + x^2 gamma), or multiplies by it for the inverse. Both parameters are learned as square roots."""

    def __init__(
        self,
        inverse: bool = False,
        beta_min: float = 1e-6,
        gamma_init: float = 0.1,
        reparam_offset: float = 2.0**-18,
        data_format: str = "channels_last",
        activity_regularizer: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs)
        if data_format not in _FORMATS:
            raise ValueError(f"Unsupported `data_format` for GDN layer: {data_format}.")
        self.inverse = inverse
        self.data_format = data_format
        self._beta_min = beta_min
        self._gamma_init = gamma_init
        self._reparam_offset = reparam_offset
        self.input_spec = InputSpec(min_ndim=3, max_ndim=5)

    def _root(self, name: str, shape: list[int], start: Any) -> Any:
        """A variable that holds the square root of a parameter."""
        pedestal = self._reparam_offset**2

        def initial(shape: Any, dtype: DTypeLike | None = None, partition_info: Any = None) -> Any:
            return tf.sqrt(tf.maximum(start(shape, dtype) + pedestal, pedestal))

        return self.add_variable(f"reparam_{name}", shape=shape, initializer=initial, trainable=True)

    def _parameter(self, root: Any, minimum: float) -> Any:
        pedestal = self._reparam_offset**2
        return tf.square(_at_least(tf.convert_to_tensor(root), (minimum + pedestal) ** 0.5)) - pedestal

    def build(self, input_shape: Any) -> None:
        """Makes the parameters: beta starts at one, gamma as a multiple of the identity."""
        axis = 1 if self.data_format == "channels_first" else -1
        shape = tf.TensorShape(input_shape)
        channels = shape.as_list()[axis]
        if channels is None:
            raise ValueError("The channel dimension of the inputs to `GDN` must be defined.")
        self.input_spec = InputSpec(ndim=shape.ndims, axes={axis: channels})
        self._beta_root = self._root("beta", [channels], lambda shape, dtype: tf.ones(shape, dtype))
        self._gamma_root = self._root("gamma", [channels, channels], lambda shape, dtype: self._gamma_init * tf.eye(channels, dtype=dtype))
        super().build(input_shape)

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The normalized inputs."""
        inputs = tf.convert_to_tensor(inputs)
        rank = inputs.shape.ndims
        beta, gamma = self._parameter(self._beta_root, self._beta_min), self._parameter(self._gamma_root, 0.0)
        kernel = tf.reshape(gamma, [1] * (rank - 2) + gamma.shape.as_list())
        norms = tf.nn.convolution(tf.square(inputs), kernel, "VALID", data_format=_FORMATS[self.data_format][rank])
        beta = tf.reshape(beta, [-1] + [1] * (rank - 2)) if self.data_format == "channels_first" else beta
        norms = tf.sqrt(norms + beta)
        outputs = inputs * norms if self.inverse else inputs / norms
        outputs.set_shape(inputs.shape)
        return outputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """That of the inputs."""
        return tf.TensorShape(input_shape)


@layer("gdn")
def gdn(
    inputs: Any,
    inverse: bool = False,
    beta_min: float = 1e-6,
    gamma_init: float = 0.1,
    reparam_offset: float = 2.0**-18,
    data_format: str = "channels_last",
    activity_regularizer: Any = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: Any = None,
) -> Any:
    """A GDN layer, called once."""
    settings = dict(locals())
    del settings["inputs"], settings["reuse"]
    return GDN(dtype=inputs.dtype.base_dtype, _scope=name, _reuse=reuse, **settings).apply(inputs)
