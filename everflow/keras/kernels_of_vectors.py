"""How alike vectors are: kernels between all rows of two matrices."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal


def _differences(x: Any, y: Any) -> Any:
    """What each row of one matrix differs by from each row of another; a vector is a matrix of one row."""
    rows = []
    for given in (x, y):
        given = tf.convert_to_tensor(given)
        if given.shape.rank not in (1, 2):
            raise ValueError(f"Expected vectors or matrices, but got a tensor of shape {given.shape}")
        rows.append(tf.expand_dims(given, 0) if given.shape.rank == 1 else given)
    return tf.expand_dims(rows[0], 1) - tf.expand_dims(rows[1], 0)


@internal("keras.utils.kernelized_utils.exact_gaussian_kernel")
def exact_gaussian_kernel(x: Any, y: Any, stddev: Any) -> Any:
    """exp(-|x - y|^2 / (2 stddev^2)) of all pairs of rows."""
    return tf.exp(-tf.reduce_sum(tf.square(_differences(x, y)), 2) / (2 * stddev * stddev))


@internal("keras.utils.kernelized_utils.exact_laplacian_kernel")
def exact_laplacian_kernel(x: Any, y: Any, stddev: Any) -> Any:
    """exp(-sum |x - y| / stddev) of all pairs of rows."""
    return tf.exp(-tf.reduce_sum(tf.abs(_differences(x, y)), 2) / stddev)


@internal("keras.utils.kernelized_utils.inner_product")
def inner_product(u: Any, v: Any) -> Any:
    """The products of all rows of one matrix with all rows of another."""
    return tf.matmul(tf.convert_to_tensor(u), tf.convert_to_tensor(v), transpose_b=True)
