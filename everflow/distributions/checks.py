"""Checks of parameters and values that distributions make part of the graph."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.graph import dtypes
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.ops.control_flow.ordering import with_dependencies

# Integers as wide as floating types.
_AS_WIDE = {dtypes.float16: dtypes.int16, dtypes.float32: dtypes.int32, dtypes.float64: dtypes.int64}


@internal("ops.distributions.util.assert_integer_form")
def assert_integer_form(
    x: Any, data: Any = None, summarize: Any = None, message: str | None = None, int_dtype: Any = None, name: str = "assert_integer_form"
) -> Any:
    """An op that fails where x has components that are not whole numbers."""
    with name_scope(name, values=[x, data]):
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_integer:
            return tf.no_op()
        kind = int_dtype or _AS_WIDE.get(x.dtype.base_dtype)
        if kind is None:
            raise TypeError(f"Unrecognized type {x.dtype.name}")
        whole = tf.cast(tf.cast(x, kind), x.dtype)
        return tf.assert_equal(x, whole, data, summarize, message or f"{x} has non-integer components", name)


@internal("ops.distributions.util.assert_symmetric")
def assert_symmetric(matrix: Any) -> Any:
    """The matrix, handed on if it is its own transpose."""
    return with_dependencies([tf.assert_equal(matrix, tf.matrix_transpose(matrix))], matrix)


@internal("ops.distributions.util.embed_check_nonnegative_integer_form")
def embed_check_nonnegative_integer_form(x: Any, name: str = "embed_check_nonnegative_integer_form") -> Any:
    """x, handed on if it holds whole numbers, none below zero."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        checks = [tf.assert_non_negative(x, message=f"'{x}' must be non-negative.")]
        if not x.dtype.is_integer:
            checks.append(assert_integer_form(x, message=f"'{x}' cannot contain fractional components."))
        return with_dependencies(checks, x)


@internal("ops.distributions.util.same_dynamic_shape")
def same_dynamic_shape(a: Any, b: Any) -> Any:
    """Whether two tensors have one shape, found out when they are computed."""
    a, b = (convert_to_tensor(x, name=name) for name, x in (("a", a), ("b", b)))

    # Joined with itself turned round, so that shapes of different lengths can be compared.
    def sizes(*both: Any) -> Any:
        return tf.concat([tf.shape(x) for x in both], 0)

    same_rank = tf.equal(tf.rank(a), tf.rank(b))
    return tf.cond(same_rank, lambda: tf.reduce_all(tf.equal(sizes(a, b), sizes(b, a))), lambda: tf.constant(False))


@internal("ops.distributions.util.maybe_get_static_value")
def maybe_get_static_value(x: Any, dtype: Any = None) -> Any:
    """The value of x where it is known before running, else None."""
    if x is None:
        return x
    try:
        found = constant_value(x)
    except TypeError:
        found = x
    if found is None or dtype is None:
        return found
    return np.array(found, dtype)


@internal("ops.distributions.util.get_logits_and_probs")
def get_logits_and_probs(
    logits: Any = None,
    probs: Any = None,
    multidimensional: bool = False,
    validate_args: bool = False,
    name: str = "get_logits_and_probs",
    dtype: Any = None,
) -> tuple[Any, Any]:
    """Log-odds and probabilities (of classes along the last axis), of which one is given."""
    with name_scope(name, values=[probs, logits]):
        given = [(which, value) for which, value in (("logits", logits), ("probs", probs)) if value is not None]
        if len(given) != 1:
            raise ValueError("Must pass probs or logits, but not both.")
        ((which, value),) = given
        value = convert_to_tensor(value, name=which, dtype=dtype)
        if not value.dtype.is_floating:
            raise TypeError(f"{which} must having floating type.")
        if which == "logits":
            if not multidimensional:
                return value, tf.sigmoid(value, name="probs")
            if validate_args:
                value = embed_check_categorical_event_shape(value)
            return value, tf.nn.softmax(value, name="probs")
        if validate_args:
            value = _checked_probs(value, multidimensional)
        with name_scope("logits"):
            log = tf.log(value)
            return log if multidimensional else log - tf.log1p(-1.0 * value), value


def _checked_probs(probs: Any, multidimensional: bool) -> Any:
    with name_scope("validate_probs"):
        one = tf.constant(1.0, probs.dtype)
        checks = [tf.assert_non_negative(probs)]
        if multidimensional:
            probs = embed_check_categorical_event_shape(probs)
            checks.append(tf.assert_near(tf.reduce_sum(probs, -1), one, message="probs does not sum to 1."))
        else:
            checks.append(tf.assert_less_equal(probs, one, message="probs has components greater than 1."))
        return with_dependencies(checks, probs)


# How far each floating type counts without leaving a number out.
_EXACT = {dtypes.float16: 2**11, dtypes.bfloat16: 2**8, dtypes.float32: 2**24, dtypes.float64: 2**53}


def _is_known(dtype: dtypes.DType) -> bool:
    return dtype.base_dtype in _EXACT or dtype.is_integer or dtype.base_dtype is dtypes.bool


def _largest(dtype: dtypes.DType) -> int:
    kind = dtype.base_dtype
    return _EXACT[kind] if kind in _EXACT else 1 if kind is dtypes.bool else int(kind.max)


def _smallest(dtype: dtypes.DType) -> int:
    kind = dtype.base_dtype
    return -_EXACT[kind] if kind in _EXACT else 0 if kind is dtypes.bool else int(kind.min)


def _is_whole(dtype: dtypes.DType) -> bool:
    return dtype.is_integer or dtype.base_dtype is dtypes.bool


@internal("ops.distributions.util.embed_check_categorical_event_shape")
def embed_check_categorical_event_shape(categorical_param: Any, name: str = "embed_check_categorical_event_shape") -> Any:
    """The parameter, handed on if its last axis can be one of classes."""
    with name_scope(name, values=[categorical_param]):
        x = convert_to_tensor(categorical_param, name="categorical_param")
        kind = x.dtype.base_dtype
        if not _is_known(kind):
            raise TypeError(f"Unable to validate size of unrecognized dtype ({kind.name}).")
        most = _largest(kind)
        at_least_one = "A categorical-distribution parameter must have at least 1 dimension."
        at_least_two = "A categorical-distribution parameter must have at least 2 events."
        ndims = x.shape.ndims
        if ndims is not None:
            if ndims < 1:
                raise ValueError(at_least_one)
            size = tf.dimension_value(x.shape[-1])
            if size is not None:
                if size < 2:
                    raise ValueError(at_least_two)
                if size > most:
                    raise ValueError(
                        f"Number of classes exceeds `dtype` precision, i.e., {kind.name} implies shape ({size}) cannot exceed {most}."
                    )
                return x
        shape = tf.shape(x, name="x_shape")
        count = shape[-1]
        with tf.control_dependencies([tf.assert_rank_at_least(x, 1, message=at_least_one)]):
            size = tf.shape(x)[-1]
        return with_dependencies(
            [
                tf.assert_greater_equal(size, 2, message=at_least_two),
                tf.assert_less_equal(
                    count,
                    min(most, dtypes.int32.max),
                    message=(f"Number of classes exceeds `dtype` precision, i.e., {kind.name} dtype cannot exceed {most} shape."),
                ),
            ],
            x,
        )


@internal("ops.distributions.util.embed_check_integer_casting_closed")
def embed_check_integer_casting_closed(
    x: Any, target_dtype: Any, assert_nonnegative: bool = True, name: str = "embed_check_casting_closed"
) -> Any:
    """x, handed on if it would come back the same from a cast to another type."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        target = dtypes.as_dtype(target_dtype)
        for kind in (x.dtype, target):
            if not _is_known(kind):
                raise TypeError(f"Unrecognized dtype: {kind.name}")
        if not _is_whole(x.dtype) and not _is_whole(target):
            raise TypeError(f"At least one of {x}.dtype ({x.dtype.name}) and target_dtype ({target.name}) must be integer-type.")
        checks = []
        if assert_nonnegative:
            checks.append(tf.assert_non_negative(x, message="Elements must be non-negative."))
        if not _is_whole(x.dtype):
            checks.append(assert_integer_form(x, int_dtype=target, message=f"Elements must be {target.name}-equivalent."))
        else:
            if _largest(x.dtype) > _largest(target):
                checks.append(tf.assert_less_equal(x, _largest(target), message=f"Elements cannot exceed {_largest(target)}."))
            if not assert_nonnegative and _smallest(x.dtype) < _smallest(target):
                checks.append(
                    tf.assert_greater_equal(x, _smallest(target), message=f"Elements cannot be smaller than {_smallest(target)}.")
                )
        return with_dependencies(checks, x) if checks else x
