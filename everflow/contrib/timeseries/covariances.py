"""Covariances that can be learnt: any numbers become a positive definite matrix."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.layers.core import fully_connected
from everflow.contrib.timeseries.publishing import published
from everflow.graph.convert import convert_to_tensor


def _before_ones(tensor: Any, dtype: Any, rank: Any) -> Any:
    """The tensor with axes of size one after its own, so that it goes with a tensor of this rank."""
    tensor = convert_to_tensor(tensor, dtype=dtype)
    return tf.reshape(tensor, tf.concat([tf.shape(tensor), tf.ones([rank - tf.rank(tensor)], dtype=rank.dtype)], axis=0))


@published("math_utils.sign_magnitude_positive_definite")
def sign_magnitude_positive_definite(raw: Any, off_diagonal_scale: Any = 0.0, overall_scale: Any = 0.0) -> Any:
    """A positive definite matrix from any square one, or from each of a batch.

    The upper half gives logarithms of sizes and the lower half signs of a Cholesky factor; both scales are logarithms too.
    """
    raw = convert_to_tensor(raw)
    dtype = raw.dtype.base_dtype
    diagonal = tf.matrix_diag_part(raw)
    off_diagonal = _before_ones(off_diagonal_scale, dtype, tf.rank(raw))
    size = tf.exp((raw + off_diagonal + _before_ones(overall_scale, dtype, tf.rank(raw))) / 2.0)
    factor = size * tf.nn.softsign(tf.matrix_transpose(raw))
    factor.set_shape(raw.get_shape())
    deviations = tf.exp((diagonal + _before_ones(overall_scale, dtype, tf.rank(diagonal))) / 2.0)
    factor = tf.matrix_set_diag(tf.matrix_band_part(factor, 0, -1), deviations)
    return tf.matmul(factor, factor, transpose_a=True)


@published("math_utils.transform_to_covariance_matrices")
def transform_to_covariance_matrices(input_vectors: Any, matrix_size: int) -> Any:
    """A covariance for each vector, by a linear layer."""
    numbers = fully_connected(input_vectors, matrix_size**2 + 2, activation_fn=None)
    shape = tf.concat([tf.shape(numbers)[:-1], [matrix_size, matrix_size]], 0)
    return sign_magnitude_positive_definite(
        raw=tf.reshape(numbers[..., :-2], shape), off_diagonal_scale=numbers[..., -2], overall_scale=numbers[..., -1]
    )


@published("math_utils.variable_covariance_matrix")
def variable_covariance_matrix(
    size: int, name: str, dtype: Any, initial_diagonal_values: Any = None, initial_overall_scale_log: Any = 0.0
) -> Any:
    """A covariance with variables behind it, which starts nearly diagonal."""
    raw = tf.get_variable(name + "_pre_transform", dtype=dtype, shape=[size, size], initializer=tf.zeros_initializer())
    if initial_diagonal_values is not None:
        raw += tf.matrix_diag(tf.log(initial_diagonal_values))
    off_diagonal = tf.get_variable(name + "_off_diagonal_scale", dtype=dtype, initializer=tf.constant(-5.0, dtype=dtype))
    start = convert_to_tensor(initial_overall_scale_log, dtype=dtype)
    overall = start + tf.get_variable(name + "_overall_scale", dtype=dtype, shape=[], initializer=tf.zeros_initializer())
    return tf.identity(sign_magnitude_positive_definite(raw, off_diagonal, overall), name=name)
