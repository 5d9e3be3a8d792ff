"""Bijectors of triangular matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.contrib.distributions.bijectors.affine import AffineScalar
from everflow.contrib.distributions.bijectors.composed import Chain
from everflow.contrib.distributions.bijectors.publish import HOME, bijector
from everflow.contrib.distributions.bijectors.scalar import Softplus
from everflow.distributions.bijectors import Bijector
from everflow.distributions.tensors import fill_triangular, fill_triangular_inverse
from everflow.graph import dtypes
from everflow.graph.scopes import name_scope
from everflow.ops.control_flow.ordering import with_dependencies


@internal(f"{HOME}.fill_triangular.vector_size_to_square_matrix_size")
def vector_size_to_square_matrix_size(d: Any, validate_args: bool, name: str | None = None) -> Any:
    """How many rows a triangular matrix of d elements has."""
    if isinstance(d, float | int | np.generic | np.ndarray):
        # d is size (size + 1) / 2, and 8 d + 1 the square of 2 size + 1.
        size = (math.isqrt(8 * int(d) + 1) - 1) // 2
        if size * (size + 1) != 2 * float(d):
            raise ValueError("Vector length is not a triangular number.")
        return size
    with name_scope(name, "vector_size_to_square_matrix_size", [d]):
        rows = (tf.sqrt(1 + 8.0 * tf.cast(d, dtypes.float32)) - 1.0) / 2.0
        if validate_args:
            whole = tf.cast(tf.cast(rows, dtypes.int32), dtypes.float32)
            rows = with_dependencies([tf.assert_equal(whole, rows, message="Vector length is not a triangular number")], rows)
        return tf.cast(rows, d.dtype)


@bijector("fill_triangular")
class FillTriangular(Bijector):
    """Vectors as triangular matrices."""

    def __init__(self, upper: bool = False, validate_args: bool = False, name: str = "fill_triangular") -> None:
        self._upper = upper
        super().__init__(forward_min_event_ndims=1, inverse_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return fill_triangular(x, upper=self._upper)

    def _inverse(self, y: Any) -> Any:
        return fill_triangular_inverse(y, upper=self._upper)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return tf.zeros_like(x[..., 0])

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return tf.zeros_like(y[..., 0, 0])

    def _forward_event_shape(self, input_shape: Any) -> Any:
        count = tf.dimension_value(input_shape[-1])
        size = None if count is None else vector_size_to_square_matrix_size(count, self.validate_args)
        return input_shape[:-1].concatenate([size, size])

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        rows, columns = (tf.dimension_value(output_shape[i]) for i in (-2, -1))
        if rows is None or columns is None:
            return output_shape[:-2].concatenate([None])
        if rows != columns:
            raise ValueError(f"Matrix must be square. (saw [{rows}, {columns}])")
        return output_shape[:-2].concatenate([rows * (rows + 1) // 2])

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        size = vector_size_to_square_matrix_size(input_shape[-1], self.validate_args)
        return tf.concat([input_shape[:-1], [size, size]], 0)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        size = output_shape[-1]
        if self.validate_args:
            size = with_dependencies([tf.assert_equal(size, output_shape[-2], message="Matrix must be square.")], size)
        return tf.concat([output_shape[:-2], [size * (size + 1) // 2]], 0)


@bijector("transform_diagonal")
class TransformDiagonal(Bijector):
    """Another bijector, applied to the diagonal of matrices."""

    def __init__(self, diag_bijector: Any, validate_args: bool = False, name: str = "transform_diagonal") -> None:
        self._diag_bijector = diag_bijector
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return tf.matrix_set_diag(x, self._diag_bijector.forward(tf.matrix_diag_part(x)))

    def _inverse(self, y: Any) -> Any:
        return tf.matrix_set_diag(y, self._diag_bijector.inverse(tf.matrix_diag_part(y)))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self._diag_bijector.forward_log_det_jacobian(tf.matrix_diag_part(x), event_ndims=1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return self._diag_bijector.inverse_log_det_jacobian(tf.matrix_diag_part(y), event_ndims=1)


@bijector("scale_tril")
class ScaleTriL(Chain):
    """Vectors as lower triangular matrices with a positive diagonal."""

    def __init__(self, diag_bijector: Any = None, diag_shift: Any = 1e-5, validate_args: bool = False, name: str = "scale_tril") -> None:
        above_zero = Softplus(validate_args=validate_args) if diag_bijector is None else diag_bijector
        of_diagonal = above_zero if diag_shift is None else Chain([AffineScalar(diag_shift), above_zero])
        super().__init__([TransformDiagonal(of_diagonal), FillTriangular()], validate_args, name)


def _square_checks(x: Any, at_least: str | None = None, square: str | None = None) -> list[Any]:
    is_matrix = tf.assert_rank_at_least(x, 2, message=at_least)
    shape = tf.shape(x)
    return [is_matrix, tf.assert_equal(shape[-2], shape[-1], message=square)]


@bijector("cholesky_outer_product")
class CholeskyOuterProduct(Bijector):
    """Y = X X^T of lower triangular matrices X with a positive diagonal."""

    def __init__(self, validate_args: bool = False, name: str = "cholesky_outer_product") -> None:
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        if self.validate_args:
            x = with_dependencies(_square_checks(x), x)
        lower = tf.matrix_band_part(x, -1, 0)
        return tf.matmul(lower, lower, adjoint_b=True)

    def _inverse(self, y: Any) -> Any:
        return tf.cholesky(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        # Element (i, j) of the product has derivative x_jj in x_ij, twice that on the diagonal: x_jj counts n - j times.
        checks = []
        if self.validate_args:
            checks = _square_checks(x, "Input must be a (batch of) matrix.", "Input must be a (batch of) square matrix.")
        diagonal = tf.matrix_diag_part(x)
        if self.validate_args:
            checks.append(tf.assert_positive(diagonal, message="Input must be positive definite."))
            diagonal = with_dependencies(checks, diagonal)
        rows = tf.shape(diagonal)[-1]
        counts = tf.cast(tf.range(rows, 0, -1), x.dtype)
        return tf.cast(rows, x.dtype) * np.log(2.0).astype(x.dtype.as_numpy_dtype) + tf.reduce_sum(counts * tf.log(diagonal), axis=-1)


@bijector("matrix_inverse_tril")
class MatrixInverseTriL(Bijector):
    """The inverse of lower triangular matrices."""

    def __init__(self, validate_args: bool = False, name: str = "matrix_inverse_tril") -> None:
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        with tf.control_dependencies(self._checks(x)):
            shape = tf.shape(x)
            identity = tf.eye(shape[-1], batch_shape=shape[:-2], dtype=x.dtype.base_dtype)
            return tf.matrix_triangular_solve(x, identity, lower=True)

    def _inverse(self, y: Any) -> Any:
        return self._forward(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        # TensorFlow's: that of the inverse among all matrices, where dY = -Y dX Y (among triangular ones it is n + 1 instead of 2 n).
        with tf.control_dependencies(self._checks(x)):
            rows = tf.cast(tf.shape(x)[-1], x.dtype.base_dtype)
            return -2.0 * rows * tf.reduce_sum(tf.log(tf.abs(tf.matrix_diag_part(x))), axis=-1)

    def _checks(self, x: Any) -> list[Any]:
        if not self.validate_args:
            return []
        square = _square_checks(x, "Input must have rank at least 2.", "Input must be a square matrix.")
        diagonal = tf.matrix_diag_part(x)
        above = tf.matrix_band_part(tf.matrix_set_diag(x, tf.zeros_like(diagonal)), 0, -1)
        return [
            *square,
            tf.assert_equal(above, tf.zeros_like(above), message="Input must be lower triangular."),
            tf.assert_none_equal(diagonal, tf.zeros_like(diagonal), message="Input must have all diagonal entries nonzero."),
        ]
