"""Wishart's distribution of covariance matrices."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.distributions.base import FULLY_REPARAMETERIZED, Distribution
from everflow.distributions.checks import assert_symmetric
from everflow.distributions.making import made_in, noting, scoped
from everflow.distributions.tensors import gen_new_seed
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.ops.control_flow.ordering import with_dependencies


@internal("contrib.distributions.python.ops.wishart._WishartLinearOperator")
class _WishartLinearOperator(Distribution):
    """The sum of `df` squares x x^T of normal vectors with covariances scale scale^T."""

    @noting
    def __init__(
        self,
        df: Any,
        scale_operator: Any,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str | None = None,
    ) -> None:
        self._cholesky_input_output_matrices = cholesky_input_output_matrices
        with name_scope(name) as name, name_scope("init", values=[df]):
            if not scale_operator.dtype.is_floating:
                raise TypeError(f"scale_operator.dtype={scale_operator.dtype} is not a floating-point type")
            if not scale_operator.is_square:
                raise ValueError("scale_operator must be square.")
            self._scale_operator = scale_operator
            dtype = scale_operator.dtype
            self._df = convert_to_tensor(df, dtype=dtype, name="df")
            rows = tf.dimension_value(scale_operator.domain_dimension)
            if rows is None:
                self._dimension = tf.cast(scale_operator.domain_dimension_tensor(), dtype, name="dimension")
            else:
                self._dimension = convert_to_tensor(rows, dtype=dtype, name="dimension")
            message = "Degrees of freedom (df = {}) cannot be less than dimension of scale matrix (scale.dimension = {})"
            known = constant_value(self._df)
            if known is not None and rows is not None:
                if (np.asarray(known) < rows).any():
                    raise ValueError(message.format(known, rows))
            elif validate_args:
                check = tf.assert_less_equal(self._dimension, self._df, message=message.format(self._dimension, self._df))
                self._df = with_dependencies([check], self._df)
        super().__init__(
            dtype,
            FULLY_REPARAMETERIZED,
            validate_args,
            allow_nan_stats,
            None,
            [self._df, self._dimension, *scale_operator.graph_parents],
            name,
        )

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self._df

    @property
    def scale_operator(self) -> Any:
        """The linear operator of the scale's lower triangular factor."""
        return self._scale_operator

    @property
    def cholesky_input_output_matrices(self) -> bool:
        """Whether matrices come and go as their lower triangular factors."""
        return self._cholesky_input_output_matrices

    @property
    def dimension(self) -> Any:
        """The number of rows."""
        return self._dimension

    def _covariances(self) -> Any:
        return self.scale_operator.matmul(self.scale_operator.to_dense(), adjoint_arg=True)

    def scale(self) -> Any:
        """The scale: a covariance matrix, or its factor."""
        return self.scale_operator.to_dense() if self.cholesky_input_output_matrices else self._covariances()

    def _event_shape_tensor(self) -> Any:
        return tf.stack([self.scale_operator.domain_dimension_tensor()] * 2)

    def _event_shape(self) -> Any:
        return tf.TensorShape([self.scale_operator.domain_dimension] * 2)

    def _batch_shape_tensor(self) -> Any:
        return self.scale_operator.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self.scale_operator.batch_shape

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        # Bartlett's decomposition: normal below the diagonal, square roots of chi-squared numbers on it.
        batch = self.batch_shape_tensor()
        shape = tf.concat([[n], batch, self.event_shape_tensor()], 0)
        normal = tf.random_normal(shape=shape, mean=0.0, stddev=1.0, dtype=self.dtype, seed=seed)
        df = self.df * tf.ones(batch, dtype=self.dtype)
        gamma = tf.random_gamma(shape=[n], alpha=self._halves(0.5 * df), beta=0.5, dtype=self.dtype, seed=gen_new_seed(seed, "wishart"))
        lower = tf.matrix_set_diag(tf.matrix_band_part(normal, -1, 0), tf.sqrt(gamma))
        lower = self.scale_operator.matmul(lower)
        return lower if self.cholesky_input_output_matrices else tf.matmul(lower, lower, adjoint_b=True)

    def _log_prob(self, x: Any) -> Any:
        factor = x if self.cholesky_input_output_matrices else tf.cholesky(x)
        whitened = self.scale_operator.solve(factor)
        trace = tf.reduce_sum(tf.square(whitened), axis=[-2, -1])
        half_log_det = tf.reduce_sum(tf.log(tf.matrix_diag_part(factor)), axis=[-1])
        found = (self.df - self.dimension - 1.0) * half_log_det - 0.5 * trace - self.log_normalization()
        if x.shape.ndims is not None:
            found.set_shape(tf.broadcast_static_shape(x.shape[:-2], self.batch_shape))
        return found

    def _prob(self, x: Any) -> Any:
        return tf.exp(self._log_prob(x))

    def _entropy(self) -> Any:
        # The mean of -log_prob, in which the mean of the trace is df * dimension.
        free = self.df - self.dimension - 1.0
        return self.log_normalization() + 0.5 * (self.df * self.dimension - free * self.mean_log_det())

    def _mean(self) -> Any:
        if self.cholesky_input_output_matrices:
            return tf.sqrt(self.df)[..., tf.newaxis, tf.newaxis] * self.scale_operator.to_dense()
        return self.df[..., tf.newaxis, tf.newaxis] * self._covariances()

    def _variance(self) -> Any:
        x = tf.sqrt(self.df)[..., tf.newaxis, tf.newaxis] * self._covariances()
        diagonal = tf.matrix_diag_part(x)[..., tf.newaxis]
        found = tf.square(x) + tf.matmul(diagonal, diagonal, adjoint_b=True)
        return tf.cholesky(found) if self.cholesky_input_output_matrices else found

    def _stddev(self) -> Any:
        if self.cholesky_input_output_matrices:
            raise ValueError("Computing std. dev. when is cholesky_input_output_matrices=True does not make sense.")
        return tf.cholesky(self.variance())

    def _mode(self) -> Any:
        left = self.df - self.dimension - 1.0
        nan = tf.fill(tf.shape(left), self.dtype.as_numpy_dtype(np.nan))
        left = tf.where(left < 0.0, nan, left)[..., tf.newaxis, tf.newaxis]
        if self.cholesky_input_output_matrices:
            return tf.sqrt(left) * self.scale_operator.to_dense()
        return left * self._covariances()

    def mean_log_det(self, name: str = "mean_log_det") -> Any:
        """The mean of the logarithm of the determinant."""
        with self._name_scope(name):
            return self._digamma(0.5 * self.df) + self.dimension * math.log(2.0) + 2 * self.scale_operator.log_abs_determinant()

    def log_normalization(self, name: str = "log_normalization") -> Any:
        """The logarithm of what the density is divided by."""
        with self._name_scope(name):
            half_df = 0.5 * self.df
            return self.df * self.scale_operator.log_abs_determinant() + half_df * self.dimension * math.log(2.0) + self._log_gamma(half_df)

    def _halves(self, a: Any) -> Any:
        """a, a - 1/2, a - 1 and so on, one for each row."""
        steps = tf.cast(tf.range(tf.cast(self.dimension, tf.int32)), self.dtype)
        return a[..., tf.newaxis] - 0.5 * steps

    def _log_gamma(self, a: Any) -> Any:
        p = self.dimension
        return 0.25 * p * (p - 1.0) * math.log(math.pi) + tf.reduce_sum(tf.lgamma(self._halves(a)), axis=[-1])

    def _digamma(self, a: Any) -> Any:
        return tf.reduce_sum(tf.digamma(self._halves(a)), axis=[-1])

    def _multi_lgamma(self, a: Any, p: Any, name: str = "multi_lgamma") -> Any:
        with self._name_scope(name, [a, p]):
            return self._log_gamma(convert_to_tensor(a))

    def _multi_digamma(self, a: Any, p: Any, name: str = "multi_digamma") -> Any:
        with self._name_scope(name, [a, p]):
            return self._digamma(convert_to_tensor(a))


def _triangular(lower: Any) -> Any:
    return tf.linalg.LinearOperatorLowerTriangular(lower, is_non_singular=True, is_positive_definite=True, is_square=True)


def _checks_of_factor(lower: Any) -> list[Any]:
    shape = tf.shape(lower)
    return [
        tf.assert_positive(tf.matrix_diag_part(lower), message="scale must be positive definite"),
        tf.assert_equal(shape[-1], shape[-2], message="scale must be square"),
    ]


def _factor(validate: bool, scale: Any) -> Any:
    """The lower triangular factor of a matrix, which may be checked to have one."""
    matrix = convert_to_tensor(scale)
    if not validate:
        return tf.cholesky(matrix)
    lower = tf.cholesky(assert_symmetric(matrix))
    return with_dependencies([tf.assert_positive(tf.matrix_diag_part(lower))], lower)


@public("contrib.distributions.WishartCholesky")
class WishartCholesky(_WishartLinearOperator):
    """Wishart's distribution with the lower triangular factor of its scale."""

    @scoped("scale")
    def __init__(
        self,
        df: Any,
        scale: Any,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartCholesky",
    ) -> None:
        with name_scope("init", values=[scale]):
            lower = convert_to_tensor(scale)
            lower = with_dependencies(_checks_of_factor(lower), lower) if validate_args else lower
        super().__init__(df, _triangular(lower), cholesky_input_output_matrices, validate_args, allow_nan_stats, name)


@public("contrib.distributions.WishartFull")
class WishartFull(_WishartLinearOperator):
    """Wishart's distribution with its scale as a symmetric matrix."""

    @noting
    def __init__(
        self,
        df: Any,
        scale: Any,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartFull",
    ) -> None:
        lower, scope = made_in(name, functools.partial(_factor, validate_args), scale=scale)
        super().__init__(df, _triangular(lower), cholesky_input_output_matrices, validate_args, allow_nan_stats, scope)
