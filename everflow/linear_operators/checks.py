"""What is checked of operators and their arguments, when they are made and when they run."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.linear_operators.batches import HOME


@internal(HOME + "assert_no_entries_with_modulus_zero")
def assert_no_entries_with_modulus_zero(x: Any, message: str | None = None, name: str = "assert_no_entries_with_modulus_zero") -> Any:
    """An op that fails if an element is zero."""
    with name_scope(name, values=[x]):
        size = tf.abs(convert_to_tensor(x, name="x"))
        return tf.assert_less(tf.constant(0, size.dtype), size, message=message)


@internal(HOME + "assert_zero_imag_part")
def assert_zero_imag_part(x: Any, message: str | None = None, name: str = "assert_zero_imag_part") -> Any:
    """An op that fails if an element is not real."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_complex:
            return tf.no_op()
        imaginary = tf.imag(x)
        return tf.assert_equal(tf.constant(0, imaginary.dtype), imaginary, message=message)


@internal(HOME + "assert_compatible_matrix_dimensions")
def assert_compatible_matrix_dimensions(operator: Any, x: Any) -> Any:
    """An op that fails if an operator can't be applied to the matrix."""
    message = "Dimensions are not compatible.  shape[-2] of argument to be the same as this operator"
    return tf.assert_equal(tf.shape(x)[-2], operator.domain_dimension_tensor(), message=message)


@internal(HOME + "use_operator_or_provided_hint_unless_contradicting")
def use_operator_or_provided_hint_unless_contradicting(
    operator: Any, hint_attr_name: str, provided_hint_value: bool | None, message: str
) -> bool | None:
    """What an operator or the argument says of a property; ValueError if they disagree."""
    said = {getattr(operator, hint_attr_name), provided_hint_value} - {None}
    if len(said) > 1:
        raise ValueError(message)
    return said.pop() if said else None


def settled(given: bool | None, truth: bool, message: str) -> bool:
    """A property that is always so; ValueError if the argument says that it is not."""
    if given is not None and bool(given) != truth:
        raise ValueError(message)
    return truth


def at_least(tensor: Any, name: str, dimensions: int) -> None:
    """Raises ValueError for an argument known to have fewer dimensions."""
    rank = tensor.shape.ndims
    if rank is not None and rank < dimensions:
        plural = "s" if dimensions > 1 or name == "spectrum" else ""
        raise ValueError(f"Argument {name} must have at least {dimensions} dimension{plural}.  Found: {tensor}")


def checked_size(value: Any, name: str, dynamic: bool) -> Any:
    """A number of rows or columns, checked now where it is known, and in the graph if `dynamic`."""
    return _checked(value, name, 0, " ", dynamic)


def checked_batch_shape(value: Any, dynamic: bool) -> Any:
    """The same for a batch's shape."""
    return _checked(value, "batch_shape", 1, "", dynamic)


def _checked(value: Any, name: str, rank: int, space: str, dynamic: bool) -> Any:
    if not value.dtype.base_dtype.is_integer:
        raise TypeError(f"Argument {name} must be integer type.  Found: {value}")
    known = constant_value(value)
    kind = f"Argument {name} must be a {rank}-D Tensor."
    sign = f"Argument {name} must be non-negative."
    if known is not None:
        if np.ndim(known) != rank:
            raise ValueError(f"{kind}  Found: {known}")
        if np.any(np.asarray(known) < 0):
            raise ValueError(f"{sign}  Found:{space}{known}")
        return value
    if not dynamic:
        return value
    with tf.control_dependencies([tf.assert_rank(value, rank, message=kind), tf.assert_non_negative(value, message=sign)]):
        return tf.identity(value)


def same_dtype(operators: list[Any]) -> Any:
    """The dtype that the operators share; TypeError if they don't."""
    dtype = operators[0].dtype
    if any(o.dtype != dtype for o in operators):
        pairs = "   ".join(str((o.name, o.dtype)) for o in operators)
        raise TypeError(f"Expected all operators to have the same dtype.  Found {pairs}")
    return dtype


def inherited(given: bool | None, operators: list[Any], hint: str, message: str) -> bool | None:
    """A property that a combination of operators has if all of them have it; ValueError if the argument denies it."""
    if not all(getattr(o, hint) for o in operators):
        return given
    if given is False:
        raise ValueError(message)
    return True
