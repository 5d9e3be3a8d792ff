"""Bijectors that learn: masked autoregressive flows, affine coupling, batch normalization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.contrib.distributions.bijectors.publish import HOME, bijector
from everflow.distributions.bijectors import Bijector
from everflow.graph.scopes import name_scope
from everflow.layers.normalization import BatchNormalization as BatchNormalizationLayer

MASKED = f"{HOME}.masked_autoregressive"


def _scaled(x: Any, shift: Any, log_scale: Any) -> Any:
    y = x if log_scale is None else x * tf.exp(log_scale)
    return y if shift is None else y + shift


def _unscaled(y: Any, shift: Any, log_scale: Any) -> Any:
    x = y if shift is None else y - shift
    return x if log_scale is None else x * tf.exp(-log_scale)


@bijector("masked_autoregressive")
class MaskedAutoregressiveFlow(Bijector):
    """y_i = x_i exp(log_scale_i) + shift_i, where a function computes shift and log_scale of element i of the y before it."""

    def __init__(
        self,
        shift_and_log_scale_fn: Callable[..., Any],
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        unroll_loop: bool = False,
        name: str | None = None,
    ) -> None:
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        self._unroll_loop = unroll_loop
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name or "masked_autoregressive_flow",
        )

    def _forward(self, x: Any) -> Any:
        # Each pass makes one element more right: the first depends on nothing, the second on the first, and so on.
        size = tf.dimension_value(x.shape.with_rank_at_least(1)[-1])
        y = tf.zeros_like(x, name="y0")
        if self._unroll_loop:
            if size is None:
                raise ValueError(
                    f"The final dimension of `x` must be known at graph construction time if `unroll_loop=True`. `x.shape: {x.shape!r}`"
                )
            for _ in range(size):
                y = _scaled(x, *self._shift_and_log_scale_fn(y))
            return y
        # Variables are made here, outside of the loop.
        self._shift_and_log_scale_fn(y)

        def body(i: Any, y: Any) -> tuple[Any, Any]:
            with tf.variable_scope(tf.get_variable_scope()) as scope:
                if scope.caching_device is None:
                    scope.set_caching_device(lambda op: op.device)
                return i + 1, _scaled(x, *self._shift_and_log_scale_fn(y))

        count = tf.shape(x)[-1]
        return tf.while_loop(lambda i, _: i < count, body, (0, y), maximum_iterations=size)[1]

    def _inverse(self, y: Any) -> Any:
        return _unscaled(y, *self._shift_and_log_scale_fn(y))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        _, log_scale = self._shift_and_log_scale_fn(y)
        if log_scale is None:
            return tf.constant(0.0, dtype=y.dtype, name="ildj")
        return -tf.reduce_sum(log_scale, axis=-1)


MASK_INCLUSIVE = internal(f"{MASKED}.MASK_INCLUSIVE")("inclusive")
MASK_EXCLUSIVE = internal(f"{MASKED}.MASK_EXCLUSIVE")("exclusive")


@internal(f"{MASKED}._gen_slices")
def gen_slices(num_blocks: int, n_in: int, n_out: int, mask_type: str = MASK_EXCLUSIVE) -> list[list[slice]]:
    """Rows and columns of the blocks of a mask, a pair for each block of inputs."""
    block_in, block_out = n_in // num_blocks, n_out // num_blocks
    first = block_out if mask_type == MASK_EXCLUSIVE else 0
    return [[slice(first + b * block_out, None), slice(b * block_in, (b + 1) * block_in)] for b in range(num_blocks)]


@internal(f"{MASKED}._gen_mask")
def gen_mask(num_blocks: int, n_in: int, n_out: int, mask_type: str = MASK_EXCLUSIVE, dtype: Any = tf.float32) -> np.ndarray:
    """Which output may see which input: blocks of outputs see those of inputs before them, and their own if inclusive."""
    mask = np.zeros([n_out, n_in], dtype=dtype.as_numpy_dtype())
    for rows, columns in gen_slices(num_blocks, n_in, n_out, mask_type):
        mask[rows, columns] = 1
    return mask


def _known_depth(x: Any) -> int:
    """The size of the last axis."""
    depth = tf.dimension_value(x.shape.with_rank_at_least(1)[-1])
    if depth is None:
        raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
    return depth


class _Masked:
    """An initializer whose values are multiplied with a mask."""

    def __init__(self, mask: np.ndarray, initializer: Any) -> None:
        self._mask = mask
        self._initializer = tf.glorot_normal_initializer() if initializer is None else initializer

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return self._mask * self._initializer(shape, dtype, partition_info)


@bijector("masked_autoregressive")
def masked_dense(
    inputs: Any,
    units: int,
    num_blocks: Any = None,
    exclusive: bool = False,
    kernel_initializer: Any = None,
    reuse: Any = None,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """A dense layer whose outputs see only blocks of inputs before them."""
    seen = gen_mask(num_blocks, _known_depth(inputs), units, MASK_EXCLUSIVE if exclusive else MASK_INCLUSIVE).T
    # Weights that are masked at the start and after each step stay so.
    masking = {"kernel_initializer": _Masked(seen, kernel_initializer), "kernel_constraint": lambda kernel: seen * kernel}
    with name_scope(name, "masked_dense", [inputs, units, num_blocks]):
        return tf.layers.dense(inputs, units, *args, name=name, reuse=reuse, **masking, **kwargs)


@bijector("masked_autoregressive")
def masked_autoregressive_default_template(
    hidden_layers: Any,
    shift_only: bool = False,
    activation: Any = tf.nn.relu,
    log_scale_min_clip: float = -5.0,
    log_scale_max_clip: float = 3.0,
    log_scale_clip_gradient: bool = False,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """A function for MaskedAutoregressiveFlow: masked dense layers of these sizes, as a template that keeps its variables."""
    name = name or "masked_autoregressive_default_template"

    def shift_and_log_scale(x: Any) -> tuple[Any, Any]:
        depth = _known_depth(x)
        shape = np.int32(x.shape.as_list()) if x.shape.is_fully_defined() else tf.shape(x)
        layer: Any = masked_dense
        for i, units in enumerate(hidden_layers):
            x = layer(*args, inputs=x, units=units, num_blocks=depth, exclusive=i == 0, activation=activation, **kwargs)
        outputs = 1 if shift_only else 2
        x = layer(*args, inputs=x, units=outputs * depth, num_blocks=depth, activation=None, **kwargs)
        if shift_only:
            return tf.reshape(x, shape), None
        shift, log_scale = tf.unstack(tf.reshape(x, tf.concat([shape, [2]], 0)), num=2, axis=-1)
        clip = tf.clip_by_value if log_scale_clip_gradient else _clip_by_value_preserve_grad
        return shift, clip(log_scale, log_scale_min_clip, log_scale_max_clip)

    with name_scope(name, values=[log_scale_min_clip, log_scale_max_clip]):
        return tf.make_template(name, shift_and_log_scale)


@internal(f"{MASKED}._clip_by_value_preserve_grad")
def _clip_by_value_preserve_grad(x: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """x within limits, with the gradient that it would have without them."""
    with name_scope(name, "clip_by_value_preserve_grad", [x, clip_value_min, clip_value_max]):
        return x + tf.stop_gradient(tf.clip_by_value(x, clip_value_min, clip_value_max) - x)


@bijector("real_nvp")
class RealNVP(Bijector):
    """Affine coupling: the first elements stay, and decide how the others are scaled and shifted."""

    def __init__(
        self,
        num_masked: int,
        shift_and_log_scale_fn: Callable[..., Any],
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        if num_masked <= 0:
            raise ValueError("num_masked must be a positive integer.")
        self._num_masked = num_masked
        self._input_depth: int | None = None
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        super().__init__(
            forward_min_event_ndims=1, is_constant_jacobian=is_constant_jacobian, validate_args=validate_args, name=name or "real_nvp"
        )

    def _halves(self, x: Any) -> tuple[Any, Any, Any, Any]:
        """The elements that stay, the others, and the shift and log_scale for these."""
        if self._input_depth is None:
            self._input_depth = _known_depth(x)
            if self._num_masked >= self._input_depth:
                raise ValueError("Number of masked units must be smaller than the event size.")
        stay, change = x[..., : self._num_masked], x[..., self._num_masked :]
        return stay, change, *self._shift_and_log_scale_fn(stay, self._input_depth - self._num_masked)

    def _forward(self, x: Any) -> Any:
        stay, change, shift, log_scale = self._halves(x)
        return tf.concat([stay, _scaled(change, shift, log_scale)], axis=-1)

    def _inverse(self, y: Any) -> Any:
        stay, change, shift, log_scale = self._halves(y)
        return tf.concat([stay, _unscaled(change, shift, log_scale)], axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        log_scale = self._halves(x)[3]
        return tf.constant(0.0, dtype=x.dtype, name="fldj") if log_scale is None else tf.reduce_sum(log_scale, axis=-1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        log_scale = self._halves(y)[3]
        return tf.constant(0.0, dtype=y.dtype, name="ildj") if log_scale is None else -tf.reduce_sum(log_scale, axis=-1)


@bijector("real_nvp")
def real_nvp_default_template(
    hidden_layers: Any, shift_only: bool = False, activation: Any = tf.nn.relu, name: str | None = None, *args: Any, **kwargs: Any
) -> Any:
    """A function for RealNVP: dense layers of these sizes, as a template that keeps its variables."""

    def shift_and_log_scale(x: Any, output_units: int) -> tuple[Any, Any]:
        last = output_units if shift_only else 2 * output_units
        for units, function in (*((hidden, activation) for hidden in hidden_layers), (last, None)):
            x = tf.layers.dense(*args, inputs=x, units=units, activation=function, **kwargs)
        return (x, None) if shift_only else tuple(tf.split(x, 2, axis=-1))

    with name_scope(name, "real_nvp_default_template"):
        return tf.make_template("real_nvp_default_template", shift_and_log_scale)


@bijector("batch_normalization")
class BatchNormalization(Bijector):
    """Batch normalization backwards: `inverse` normalizes, with the batch's statistics in training, and `forward` undoes it."""

    def __init__(
        self, batchnorm_layer: Any = None, training: Any = True, validate_args: bool = False, name: str = "batch_normalization"
    ) -> None:
        # A determinant needs scales above zero.
        layer = batchnorm_layer or BatchNormalizationLayer(gamma_constraint=lambda x: tf.nn.relu(x) + 1e-6)
        if not isinstance(layer, BatchNormalizationLayer):
            raise ValueError("batchnorm_layer must be an instance of BatchNormalization layer.")
        if layer.renorm:
            raise ValueError("BatchNorm Bijector does not support renormalization.")
        if layer.virtual_batch_size:
            raise ValueError("BatchNorm Bijector does not support virtual batch sizes.")
        self.batchnorm = layer
        self._training = training
        super().__init__(
            forward_min_event_ndims=1 if isinstance(layer.axis, int) else len(layer.axis), validate_args=validate_args, name=name
        )

    def _built(self, x: Any) -> list[int]:
        if not x.shape.is_fully_defined():
            raise ValueError("Input must have shape known at graph construction.")
        if not self.batchnorm.built:
            self.batchnorm.build(x.shape)
        return x.shape.as_list()

    def _inverse(self, y: Any) -> Any:
        return self.batchnorm.apply(y, training=self._training)

    def _forward(self, x: Any) -> Any:
        shape = self._built(x)
        layer = self.batchnorm
        broad = [size if i in layer.axis else 1 for i, size in enumerate(shape)]

        def along(v: Any) -> Any:
            return v if len(v.shape) == len(shape) else tf.reshape(v, broad)

        width = tf.sqrt(along(layer.moving_variance) + layer.epsilon)
        if layer.scale:
            width /= along(layer.gamma)
        centered = x - along(layer.beta) if layer.center else x
        return centered * width + along(layer.moving_mean)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return self._log_det(y, self._training)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -self._log_det(x, False)

    def _log_det(self, y: Any, of_batch: Any) -> Any:
        shape = self._built(y)
        layer = self.batchnorm
        if of_batch:
            _, variance = tf.nn.moments(y, axes=[i for i in range(len(shape)) if i not in layer.axis], keep_dims=True)
        else:
            variance = layer.moving_variance
        found = -0.5 * tf.reduce_sum(tf.log(variance + layer.epsilon))
        return found + tf.reduce_sum(tf.log(layer.gamma)) if layer.scale else found
