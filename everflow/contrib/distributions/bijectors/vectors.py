"""Bijectors of vectors and of the shapes of events."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.contrib.distributions.bijectors.publish import bijector
from everflow.distributions.bijectors import Bijector
from everflow.graph import dtypes
from everflow.graph.constants import constant_value, constant_value_as_shape
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import TensorShape
from everflow.ops.control_flow.ordering import with_dependencies


@bijector("permute")
class Permute(Bijector):
    """The elements of a vector in another order."""

    def __init__(self, permutation: Any, validate_args: bool = False, name: str | None = None) -> None:
        with name_scope(name, "permute", [permutation]):
            permutation = convert_to_tensor(permutation, name="permutation")
            if not permutation.dtype.is_integer:
                raise TypeError(f"permutation.dtype ({permutation.dtype.name}) should be `int`-like.")
            message = "Permutation over `d` must contain exactly one of each of `{0, 1, ..., d}`."
            known = constant_value(permutation)
            if known is not None:
                if sorted(known.tolist()) != list(range(known.size)):
                    raise ValueError(message)
            elif validate_args:
                in_order = tf.sort(permutation)
                check = tf.assert_equal(in_order, tf.range(tf.size(in_order)), message=message)
                permutation = with_dependencies([check], permutation)
            self._permutation = permutation
            super().__init__(forward_min_event_ndims=1, is_constant_jacobian=True, validate_args=validate_args, name=name or "permute")

    @property
    def permutation(self) -> Any:
        """Which element comes first, second and so on."""
        return self._permutation

    def _forward(self, x: Any) -> Any:
        return tf.gather(x, self.permutation, axis=-1)

    def _inverse(self, y: Any) -> Any:
        return tf.gather(y, tf.invert_permutation(self.permutation), axis=-1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return tf.constant(0.0, dtype=y.dtype.base_dtype)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return tf.constant(0.0, dtype=x.dtype.base_dtype)


@bijector("reshape")
class Reshape(Bijector):
    """Events of one shape in another one. Of each shape one size may be -1, which is what is left."""

    def __init__(self, event_shape_out: Any, event_shape_in: Any = (-1,), validate_args: bool = False, name: str | None = None) -> None:
        with name_scope(name, "reshape", [event_shape_out, event_shape_in]):
            self._event_shape_out = convert_to_tensor(event_shape_out, name="event_shape_out", preferred_dtype=dtypes.int32)
            self._event_shape_in = convert_to_tensor(event_shape_in, name="event_shape_in", preferred_dtype=dtypes.int32)
            self._checks = [c for s in (self._event_shape_out, self._event_shape_in) for c in _shape_checks(s, validate_args)]
            super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args, name=name or "reshape")

    def _forward(self, x: Any) -> Any:
        return self._reshaped(x, self._event_shape_in, self._event_shape_out)

    def _inverse(self, y: Any) -> Any:
        return self._reshaped(y, self._event_shape_out, self._event_shape_in)

    def _reshaped(self, x: Any, before: Any, after: Any) -> Any:
        with tf.control_dependencies(self._checks):
            length = before.shape.num_elements()
            ndims: Any = tf.size(before) if length is None else length
            rank: Any = tf.rank(x) if x.shape.ndims is None else x.shape.ndims
            expected = constant_value(before)
            found = x.shape[rank - length :] if x.shape.ndims is not None and length is not None and rank >= length else None
            if found is not None and found.is_fully_defined() and expected is not None:
                sizes = np.array(found.as_list(), dtype=np.int32)
                if (sizes[expected >= 0] != expected[expected >= 0]).any():
                    raise ValueError(f"Input `event_shape` does not match `event_shape_in` ({sizes} vs {expected}).")
            elif self.validate_args:
                fixed = tf.reshape(before >= 0, [-1])
                check = tf.assert_equal(
                    tf.boolean_mask(tf.shape(x)[rank - ndims :], fixed),
                    tf.boolean_mask(before, fixed),
                    message="Input `event_shape` does not match `event_shape_in`.",
                )
                x = with_dependencies([check], x)
            if length is not None and x.shape.ndims == length:
                return tf.reshape(x, after)
            return tf.reshape(x, tf.concat([tf.shape(x)[: rank - ndims], after], 0))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        with tf.control_dependencies(self._checks):
            return tf.constant(0.0, dtype=y.dtype)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        with tf.control_dependencies(self._checks):
            return tf.constant(0.0, dtype=x.dtype)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self.forward(tf.zeros(input_shape)).shape

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self.inverse(tf.zeros(output_shape)).shape

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return tf.shape(self.forward(tf.zeros(input_shape)))

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return tf.shape(self.inverse(tf.zeros(output_shape)))


def _shape_checks(shape: Any, validate_args: bool) -> list[Any]:
    if not shape.dtype.is_integer:
        raise TypeError(f"{shape} dtype ({shape.dtype.name}) should be `int`-like.")
    checks = []
    if shape.shape.ndims is None:
        if validate_args:
            checks.append(tf.assert_less_equal(tf.rank(shape), 1, message=f"`{shape}` rank should be <= 1."))
    elif shape.shape.ndims > 1:
        raise ValueError(f"`{shape}` rank ({shape.shape.ndims}) should be <= 1.")
    # A shape that says all its sizes has none below zero: what is known to be below -1 is an error already.
    if not constant_value_as_shape(shape).is_fully_defined() and validate_args:
        unknown = tf.reduce_sum(tf.cast(tf.equal(shape, -1), dtypes.int32))
        checks += [
            tf.assert_less_equal(unknown, 1, message=f"`{shape}` elements must have at most one `-1`."),
            tf.assert_greater_equal(shape, -1, message=f"`{shape}` elements must be either positive integers or `-1`."),
        ]
    return checks


@bijector("ordered")
class Ordered(Bijector):
    """Vectors with rising elements as vectors of any: the first element, then the logarithms of the steps."""

    def __init__(self, validate_args: bool = False, name: str = "ordered") -> None:
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return input_shape if input_shape.ndims is None else TensorShape([input_shape[-1]])

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return input_shape[-1:]

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        output_shape = TensorShape(output_shape)
        if output_shape.ndims is None:
            return output_shape
        size = tf.dimension_value(output_shape[-1])
        if size is not None and size <= 1:
            raise ValueError(f"output_shape[-1] = {size} <= 1")
        return TensorShape([size])

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        if self.validate_args:
            check = tf.assert_greater(output_shape[-1], 1, message="Need last dimension greater than 1.")
            output_shape = with_dependencies([check], output_shape)
        return output_shape[-1:]

    def _forward(self, x: Any) -> Any:
        x = self._valid(x)
        return tf.concat([x[..., :1], tf.log(x[..., 1:] - x[..., :-1])], axis=-1)

    def _inverse(self, y: Any) -> Any:
        return tf.cumsum(tf.concat([y[..., :1], tf.exp(y[..., 1:])], axis=-1), axis=-1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return tf.reduce_sum(y[..., 1:], axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x = self._valid(x)
        return -tf.reduce_sum(tf.log(x[..., 1:] - x[..., :-1]), axis=-1)

    def _valid(self, x: Any) -> Any:
        if not self.validate_args:
            return x
        check = tf.assert_positive(x[..., 1:] - x[..., :-1], message="Forward transformation input must be strictly increasing.")
        return with_dependencies([check], x)


@bijector("softmax_centered")
class SoftmaxCentered(Bijector):
    """The softmax of a vector and a zero behind it: vectors of one element more, which sum to one."""

    def __init__(self, validate_args: bool = False, name: str = "softmax_centered") -> None:
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return input_shape if input_shape.ndims is None else input_shape[:-1].concatenate(input_shape[-1] + 1)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return tf.concat([input_shape[:-1], input_shape[-1:] + 1], 0)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        if output_shape.ndims is None:
            return output_shape
        size = tf.dimension_value(output_shape[-1])
        if size is not None and size <= 1:
            raise ValueError(f"output_shape[-1] = {size} <= 1")
        return output_shape[:-1].concatenate(output_shape[-1] - 1)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        if self.validate_args:
            check = tf.assert_greater(output_shape[-1], 1, message="Need last dimension greater than 1.")
            output_shape = with_dependencies([check], output_shape)
        return tf.concat([output_shape[:-1], output_shape[-1:] - 1], 0)

    def _forward(self, x: Any) -> Any:
        y = tf.concat([x, tf.zeros_like(x[..., :1])], axis=-1)
        if x.shape.ndims is not None:
            y.set_shape(x.shape[:-1].concatenate(x.shape[-1] + 1))
        return tf.nn.softmax(y)

    def _inverse(self, y: Any) -> Any:
        logs = tf.log(y)
        x = logs[..., :-1] - logs[..., -1:]
        if y.shape.ndims is not None:
            x.set_shape(y.shape[:-1].concatenate(y.shape[-1] - 1))
        return x

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        # The derivative of the softmax is diag(y) - y y^T over all but the last, whose determinant is the product of all of y.
        return -tf.reduce_sum(tf.log(y), axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        log_total = tf.nn.softplus(tf.reduce_logsumexp(x, axis=-1, keepdims=True))
        return tf.reduce_sum(x - log_total, axis=-1) - tf.squeeze(log_total, axis=-1)
