"""Operators that are zero off the main diagonal, or everywhere."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import TensorShape
from everflow.linear_operators.base import LinearOperator, adjoint_if
from everflow.linear_operators.batches import assert_not_ref_type, convert_nonref_to_tensor, shape_tensor
from everflow.linear_operators.checks import (
    assert_compatible_matrix_dimensions,
    assert_no_entries_with_modulus_zero,
    assert_zero_imag_part,
    at_least,
    checked_batch_shape,
    checked_size,
    settled,
)


def _conj_if(condition: bool, x: Any) -> Any:
    return tf.conj(x) if condition else convert_to_tensor(x)


def _adjoint_if_real(dtype: Any, given: bool | None) -> bool | None:
    return given if dtype.is_complex else settled(given, True, "A real diagonal operator is always self adjoint.")


@public("linalg.LinearOperatorDiag")
class LinearOperatorDiag(LinearOperator):
    """Diagonal matrices."""

    def __init__(
        self,
        diag: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorDiag",
    ) -> None:
        with name_scope(name, values=[diag]):
            self._diag = convert_nonref_to_tensor(diag, name="diag")
            at_least(self._diag, "diag", 1)
            adjoint = _adjoint_if_real(self._diag.dtype, is_self_adjoint)
            square = settled(is_square, True, "Only square diagonal operators currently supported.")
            super().__init__(self._diag.dtype, [self._diag], is_non_singular, adjoint, is_positive_definite, square, name)

    @property
    def diag(self) -> Any:
        """The diagonals."""
        return self._diag

    def _shape(self) -> Any:
        shape = self._diag.shape
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Any:
        shape = tf.shape(self._diag)
        return tf.concat((shape, [shape[-1]]), axis=0)

    def _assert_non_singular(self) -> Any:
        return assert_no_entries_with_modulus_zero(self._diag, message="Singular operator:  Diagonal contained zero values.")

    def _assert_positive_definite(self) -> Any:
        if self.dtype.is_complex:
            message = "Diagonal operator had diagonal entries with non-positive real part, thus was not positive definite."
        else:
            message = "Real diagonal operator had non-positive diagonal entries, thus was not positive definite."
        return tf.assert_positive(tf.real(self._diag), message=message)

    def _assert_self_adjoint(self) -> Any:
        message = "This diagonal operator contained non-zero imaginary values.   Thus it was not self-adjoint."
        return assert_zero_imag_part(self._diag, message=message)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return tf.expand_dims(_conj_if(adjoint, self._diag), -1) * adjoint_if(adjoint_arg, x)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return _conj_if(adjoint, self._diag) * x

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        inverse = 1.0 / _conj_if(adjoint, self._diag)
        return adjoint_if(adjoint_arg, rhs) * tf.expand_dims(inverse, -1)

    def _determinant(self) -> Any:
        return tf.reduce_prod(self._diag, axis=[-1])

    def _log_abs_determinant(self) -> Any:
        total = tf.reduce_sum(tf.log(tf.abs(self._diag)), axis=[-1])
        return tf.cast(total, self.dtype)

    def _to_dense(self) -> Any:
        return tf.linalg.diag(self._diag)

    def _diag_part(self) -> Any:
        return self._diag

    def _add_to_tensor(self, x: Any) -> Any:
        return tf.linalg.set_diag(x, tf.linalg.diag_part(x) + self._diag)


@internal("ops.linalg.linear_operator_identity.BaseLinearOperatorIdentity")
class BaseLinearOperatorIdentity(LinearOperator):
    """What operators with one number on the diagonal share."""

    _num_rows: Any
    _assert_proper_shapes: bool

    def _check_num_rows_possibly_add_asserts(self) -> None:
        self._num_rows = checked_size(self._num_rows, "num_rows", self._assert_proper_shapes)

    def _static_rows(self) -> Any:
        return constant_value(self._num_rows)

    def _checked_argument(self, x: Any) -> Any:
        """An argument that is seen to fit when it runs, if that was asked for."""
        if not self._assert_proper_shapes:
            return x
        with tf.control_dependencies([assert_compatible_matrix_dimensions(self, x)]):
            return tf.identity(x)

    def _min_matrix_dim(self) -> int | None:
        sizes = (self.domain_dimension.value, self.range_dimension.value)
        return None if None in sizes else min(sizes)

    def _min_matrix_dim_tensor(self) -> Any:
        return tf.reduce_min(self.shape_tensor()[-2:])

    def _diagonal_shape(self) -> Any:
        """The shape of the diagonals, as it is known."""
        if self.shape.is_fully_defined():
            return self.batch_shape.concatenate([self._min_matrix_dim()]).as_list()
        return tf.concat([self.batch_shape_tensor(), [self._min_matrix_dim_tensor()]], axis=0)

    def _ones_diag(self) -> Any:
        return tf.ones(shape=self._diagonal_shape(), dtype=self.dtype)

    def _ones_in_batch(self) -> Any:
        shape = self.batch_shape.as_list() if self.batch_shape.is_fully_defined() else self.batch_shape_tensor()
        return tf.ones(shape=shape, dtype=self.dtype)


@public("linalg.LinearOperatorIdentity")
class LinearOperatorIdentity(BaseLinearOperatorIdentity):
    """Identity matrices."""

    def __init__(
        self,
        num_rows: Any,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = True,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorIdentity",
    ) -> None:
        dtype = dtype or tf.float32
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name):
            hints = {
                "self adjoint": is_self_adjoint,
                "non-singular": is_non_singular,
                "positive-definite": is_positive_definite,
                "square": is_square,
            }
            for kind, hint in hints.items():
                settled(bool(hint), True, f"An identity operator is always {kind}.")
            super().__init__(dtype, None, True, True, True, True, name)
            assert_not_ref_type(num_rows, "num_rows")
            assert_not_ref_type(batch_shape, "batch_shape")
            self._num_rows = shape_tensor(num_rows, name="num_rows")
            self._check_num_rows_possibly_add_asserts()
            self._batch_shape_arg = None
            if batch_shape is not None:
                self._batch_shape_arg = checked_batch_shape(shape_tensor(batch_shape, name="batch_shape_arg"), assert_proper_shapes)

    def _static_batch_shape(self) -> TensorShape:
        if self._batch_shape_arg is None:
            return TensorShape([])
        known = constant_value(self._batch_shape_arg)
        return TensorShape(None if known is None else known.tolist())

    def _shape(self) -> Any:
        rows = self._static_rows()
        rows = None if rows is None else int(rows)
        return self._static_batch_shape().concatenate([rows, rows])

    def _shape_tensor(self) -> Any:
        matrix = tf.stack((self._num_rows, self._num_rows), axis=0)
        return matrix if self._batch_shape_arg is None else tf.concat((self._batch_shape_arg, matrix), 0)

    def _assert_non_singular(self) -> Any:
        return tf.no_op("assert_non_singular")

    def _assert_positive_definite(self) -> Any:
        return tf.no_op("assert_positive_definite")

    def _assert_self_adjoint(self) -> Any:
        return tf.no_op("assert_self_adjoint")

    def _possibly_broadcast_batch_shape(self, x: Any) -> Any:
        """The argument for each of the matrices of the batch."""
        if self._batch_shape_arg is None:
            return x
        if self.batch_shape.is_fully_defined() and x.shape.is_fully_defined():
            if tf.broadcast_static_shape(x.shape, self.batch_shape.concatenate([1, 1])) == x.shape:
                return x
            zeros = tf.zeros(shape=self.batch_shape.concatenate([1, 1]), dtype=self.dtype)
        else:
            zeros = tf.zeros(shape=tf.concat((self.batch_shape_tensor(), [1, 1]), 0), dtype=self.dtype)
        return x + zeros

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._possibly_broadcast_batch_shape(self._checked_argument(adjoint_if(adjoint_arg, x)))

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _to_dense(self) -> Any:
        rows = self._static_rows()
        batch = self.batch_shape if self.batch_shape.is_fully_defined() else self.batch_shape_tensor()
        return tf.eye(num_rows=self._num_rows if rows is None else int(rows), batch_shape=batch, dtype=self.dtype)

    def _determinant(self) -> Any:
        return tf.ones(shape=self.batch_shape_tensor(), dtype=self.dtype)

    def _log_abs_determinant(self) -> Any:
        return tf.zeros(shape=self.batch_shape_tensor(), dtype=self.dtype)

    def _trace(self) -> Any:
        rows = self._static_rows()
        return tf.cast(self.domain_dimension_tensor() if rows is None else int(rows), self.dtype) * self._ones_in_batch()

    def _diag_part(self) -> Any:
        return self._ones_diag()

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Any:
        """The identity and `mat`."""
        with self._name_scope(name):
            mat = convert_to_tensor(mat, name="mat")
            return tf.linalg.set_diag(mat, 1 + tf.linalg.diag_part(mat))


@public("linalg.LinearOperatorScaledIdentity")
class LinearOperatorScaledIdentity(BaseLinearOperatorIdentity):
    """Identity matrices times a number each."""

    def __init__(
        self,
        num_rows: Any,
        multiplier: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ) -> None:
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name, values=[multiplier, num_rows]):
            self._multiplier = convert_nonref_to_tensor(multiplier, name="multiplier")
            dtype = self._multiplier.dtype.base_dtype
            adjoint = _adjoint_if_real(dtype, is_self_adjoint)
            square = settled(bool(is_square), True, "A ScaledIdentity operator is always square.")
            super().__init__(dtype, None, is_non_singular, adjoint, is_positive_definite, square, name)
            assert_not_ref_type(num_rows, "num_rows")
            self._num_rows = shape_tensor(num_rows, name="num_rows")
            self._check_num_rows_possibly_add_asserts()
            self._num_rows_cast_to_dtype, self._num_rows_cast_to_real_dtype = (
                tf.cast(self._num_rows, kind) for kind in (dtype, dtype.real_dtype)
            )

    @property
    def multiplier(self) -> Any:
        """The numbers."""
        return self._multiplier

    def _shape(self) -> Any:
        rows = self._static_rows()
        rows = None if rows is None else int(rows)
        return self._multiplier.shape.concatenate([rows, rows])

    def _shape_tensor(self) -> Any:
        return tf.concat((tf.shape(self._multiplier), tf.stack((self._num_rows, self._num_rows), axis=0)), axis=0)

    def _assert_non_singular(self) -> Any:
        return tf.assert_positive(tf.abs(self._multiplier), message="LinearOperator was singular")

    def _assert_positive_definite(self) -> Any:
        return tf.assert_positive(tf.real(self._multiplier), message="LinearOperator was not positive definite.")

    def _assert_self_adjoint(self) -> Any:
        imaginary = tf.imag(self._multiplier)
        return tf.assert_equal(tf.zeros_like(imaginary), imaginary, message="LinearOperator was not self-adjoint")

    def _make_multiplier_matrix(self, conjugate: bool = False) -> Any:
        """A number for each matrix, ready to be multiplied with its elements."""
        return tf.expand_dims(tf.expand_dims(_conj_if(conjugate, self._multiplier), -1), -1)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._checked_argument(adjoint_if(adjoint_arg, x)) * self._make_multiplier_matrix(conjugate=adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._checked_argument(adjoint_if(adjoint_arg, rhs)) / self._make_multiplier_matrix(conjugate=adjoint)

    def _determinant(self) -> Any:
        return self._multiplier**self._num_rows_cast_to_dtype

    def _log_abs_determinant(self) -> Any:
        return tf.cast(self._num_rows_cast_to_real_dtype * tf.log(tf.abs(self._multiplier)), self.dtype)

    def _trace(self) -> Any:
        return self._multiplier * self._num_rows_cast_to_dtype

    def _diag_part(self) -> Any:
        return self._ones_diag() * tf.expand_dims(self._multiplier, -1)

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Any:
        """The numbers on the diagonals of `mat`."""
        with self._name_scope(name):
            mat = convert_to_tensor(mat, name="mat")
            number = tf.expand_dims(self._multiplier, -1)
            # A batch of numbers makes a batch of one matrix.
            mat = tf.broadcast_to(mat, tf.broadcast_dynamic_shape(tf.shape(mat), tf.shape(number[..., None])))
            return tf.linalg.set_diag(mat, tf.linalg.diag_part(mat) + number)


@public("linalg.LinearOperatorZeros")
class LinearOperatorZeros(LinearOperator):
    """Matrices of zeros."""

    def __init__(
        self,
        num_rows: Any,
        num_columns: Any = None,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = False,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = False,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorZeros",
    ) -> None:
        dtype = dtype or tf.float32
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name):
            wrong = {
                "self adjoint": is_square and not is_self_adjoint,
                "singular": is_non_singular,
                "not positive-definite": is_positive_definite,
            }
            for kind, denied in wrong.items():
                if denied:
                    raise ValueError(f"A zero operator is always {kind}.")
            super().__init__(dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)
            assert_not_ref_type(num_rows, "num_rows")
            assert_not_ref_type(num_columns, "num_columns")
            assert_not_ref_type(batch_shape, "batch_shape")
            if num_columns is None:
                num_columns = num_rows
            self._num_rows = checked_size(shape_tensor(num_rows, name="num_rows"), "num_rows", assert_proper_shapes)
            self._num_columns = checked_size(shape_tensor(num_columns, name="num_columns"), "num_columns", assert_proper_shapes)
            self._check_domain_range()
            self._batch_shape_arg = None
            if batch_shape is not None:
                self._batch_shape_arg = checked_batch_shape(shape_tensor(batch_shape, name="batch_shape_arg"), assert_proper_shapes)

    def _check_domain_range(self) -> None:
        rows, columns = constant_value(self._num_rows), constant_value(self._num_columns)
        if rows is not None and columns is not None and self._is_square_set_or_implied_by_hints and rows != columns:
            raise ValueError(f"LinearOperatorZeros initialized as is_square=True, but got num_rows({rows}) != num_columns({columns})")

    def _shape(self) -> Any:
        sizes = [constant_value(self._num_rows), constant_value(self._num_columns)]
        matrix = TensorShape([None if s is None else int(s) for s in sizes])
        if self._batch_shape_arg is None:
            return matrix
        batch = constant_value(self._batch_shape_arg)
        return TensorShape(None if batch is None else batch.tolist()).concatenate(matrix)

    def _shape_tensor(self) -> Any:
        matrix = tf.stack((self._num_rows, self._num_columns), axis=0)
        return matrix if self._batch_shape_arg is None else tf.concat((self._batch_shape_arg, matrix), 0)

    def _assert_non_singular(self) -> Any:
        raise tf.errors.InvalidArgumentError(None, None, "Zero operators are always non-invertible.")

    def _assert_positive_definite(self) -> Any:
        raise tf.errors.InvalidArgumentError(None, None, "Zero operators are always non-positive definite.")

    def _assert_self_adjoint(self) -> Any:
        return tf.no_op("assert_self_adjoint")

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        if self._assert_proper_shapes:
            x, adjoint_arg = adjoint_if(adjoint_arg, x), False
            with tf.control_dependencies([assert_compatible_matrix_dimensions(self, x)]):
                x = tf.identity(x)
        rows, columns = self.range_dimension, -2 if adjoint_arg else -1
        if adjoint:
            rows = self.domain_dimension
        if x.shape.is_fully_defined() and self.batch_shape.is_fully_defined() and rows.value is not None:
            batch = tf.broadcast_static_shape(x.shape[:-2], self.batch_shape)
            return tf.zeros(shape=batch.concatenate([rows.value, x.shape.as_list()[columns]]), dtype=self.dtype)
        shape = tf.shape(x)
        batch = tf.broadcast_dynamic_shape(shape[:-2], self.batch_shape_tensor())
        height = self.domain_dimension_tensor() if adjoint else self.range_dimension_tensor()
        found = tf.zeros(shape=tf.concat([batch, [height, shape[columns]]], 0), dtype=self.dtype)
        if x.shape.ndims is not None and self.batch_shape.ndims is not None:
            found.set_shape(tf.broadcast_static_shape(x.shape[:-2], self.batch_shape).concatenate([rows, x.shape.dims[columns]]))
        return found

    def _in_batch(self) -> Any:
        shape = self.batch_shape.as_list() if self.batch_shape.is_fully_defined() else self.batch_shape_tensor()
        return tf.zeros(shape=shape, dtype=self.dtype)

    def _determinant(self) -> Any:
        return self._in_batch()

    def _trace(self) -> Any:
        return self._in_batch()

    def _diag_part(self) -> Any:
        sizes = (self.domain_dimension.value, self.range_dimension.value)
        if self.batch_shape.is_fully_defined() and None not in sizes:
            return tf.zeros(self.batch_shape.concatenate([min(sizes)]), dtype=self.dtype)
        shape = tf.concat([self.batch_shape_tensor(), [tf.reduce_min(self.shape_tensor()[-2:])]], axis=0)
        return tf.zeros(shape, dtype=self.dtype)

    def _to_dense(self) -> Any:
        return tf.zeros(self.shape if self.shape.is_fully_defined() else self.shape_tensor(), dtype=self.dtype)

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Any:
        """`mat` itself."""
        with self._name_scope(name):
            mat = convert_to_tensor(mat, name="mat")
            if self._batch_shape_arg is None:
                return mat
            return mat + tf.zeros(tf.concat((self.batch_shape_tensor(), [1, 1]), 0), dtype=self.dtype)
