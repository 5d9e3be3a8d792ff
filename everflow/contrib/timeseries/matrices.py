"""Matrices in batches: blocks, powers and their sums."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.timeseries.publishing import published
from everflow.graph.convert import convert_to_tensor


@published("math_utils.clip_covariance")
def clip_covariance(covariance_matrix: Any, maximum_variance_ratio: Any, minimum_variance: Any) -> Any:
    """Covariances whose variances are neither too small nor too small beside the largest of their matrix."""
    variances = tf.matrix_diag_part(covariance_matrix)
    largest = tf.reduce_max(variances, axis=-1, keepdims=True)
    variances = tf.maximum(variances, largest / maximum_variance_ratio)
    return tf.matrix_set_diag(covariance_matrix, tf.maximum(variances, minimum_variance))


@published("math_utils.block_diagonal")
def block_diagonal(matrices: Any, dtype: Any = tf.float32, name: str = "block_diagonal") -> Any:
    """One matrix with the given ones along its diagonal, or a batch of such; they need not be square."""
    matrices = [convert_to_tensor(matrix, dtype=dtype) for matrix in matrices]
    batch = tf.TensorShape(None)
    rows, columns = tf.Dimension(0), tf.Dimension(0)
    for matrix in matrices:
        shape = matrix.get_shape().with_rank_at_least(2)
        batch = batch.merge_with(shape[:-2])
        rows, columns = rows + shape[-2], columns + shape[-1]
    width = tf.add_n([tf.shape(matrix)[-1] for matrix in matrices])
    bands = []
    right: Any = 0
    for matrix in matrices:
        size = tf.shape(matrix)[-1]
        left, right = right, right + size
        others = tf.zeros([tf.rank(matrix) - 1, 2], dtype=tf.int32)
        bands.append(tf.pad(matrix, tf.concat([others, [(left, width - right)]], axis=0)))
    blocks = tf.concat(bands, -2, name=name)
    blocks.set_shape(batch.concatenate((rows, columns)))
    return blocks


@published("math_utils.power_sums_tensor")
def power_sums_tensor(array_size: Any, power_matrix: Any, multiplier: Any) -> Any:
    """For n from 0 to the size: the sum over i < n of A^i B A^iᵀ, A the power matrix and B the multiplier."""
    count = tf.cast(array_size, tf.int32)
    power_matrix = convert_to_tensor(power_matrix)
    identity = tf.eye(tf.shape(power_matrix)[0], dtype=power_matrix.dtype)
    identity.set_shape(power_matrix.get_shape())
    powers = tf.scan(lambda power, _: tf.matmul(power, power_matrix), tf.range(count - 1), initializer=identity)
    terms = tf.matmul(batch_times_matrix(powers, multiplier), powers, adjoint_b=True)
    sums = tf.cumsum(tf.concat([tf.expand_dims(multiplier, 0), terms], 0))
    return tf.concat([tf.expand_dims(tf.zeros_like(multiplier), 0), sums], 0)


@published("math_utils.matrix_to_powers")
def matrix_to_powers(matrix: Any, powers: Any) -> Any:
    """One matrix to each of several powers."""
    return batch_matrix_pow(tf.tile(tf.expand_dims(matrix, 0), [tf.size(powers), 1, 1]), powers)


@published("math_utils.batch_matrix_pow")
def batch_matrix_pow(matrices: Any, powers: Any) -> Any:
    """Each matrix to its own power, by squaring: as many products as the largest power has binary digits."""
    matrices = convert_to_tensor(matrices)
    powers = tf.cast(powers, dtype=tf.int32)
    identity = tf.expand_dims(tf.diag(tf.ones([tf.shape(matrices)[1]], dtype=matrices.dtype)), 0)
    identities = tf.tile(identity, [tf.shape(matrices)[0], 1, 1])

    def any_left(square: Any, left: Any, odd: Any) -> Any:
        del square, odd
        return tf.reduce_any(tf.greater(left, tf.ones_like(left)))

    def halve(square: Any, left: Any, odd: Any) -> Any:
        is_even = tf.equal(left % 2, tf.zeros(tf.shape(left), dtype=tf.int32))
        going = tf.greater(left, 1)
        new_odd = tf.where(is_even, odd, tf.matmul(odd, square))
        return (
            tf.where(going, tf.matmul(square, square), square),
            tf.where(going, (left - left % 2) // 2, left),
            tf.where(going, new_odd, odd),
        )

    square, left, odd = tf.while_loop(any_left, halve, [matrices, powers, identities])
    return tf.where(tf.equal(left, tf.zeros_like(left, dtype=tf.int32)), identities, tf.matmul(square, odd))


@published("math_utils.batch_times_matrix")
def batch_times_matrix(batch: Any, matrix: Any, adj_x: bool = False, adj_y: bool = False) -> Any:
    """Each of a batch of matrices times the same one, in a single product."""
    batch, matrix = convert_to_tensor(batch), convert_to_tensor(matrix)
    assert batch.get_shape().ndims == 3
    assert matrix.get_shape().ndims == 2
    if adj_x:
        batch = tf.transpose(batch, [0, 2, 1])
    known = batch.get_shape().as_list()
    sizes = tf.shape(batch)
    result = [size if size is not None else sizes[axis] for axis, size in enumerate(known[:2])]
    rows = tf.reshape(batch, [-1, sizes[2]])
    axis = 0 if adj_y else 1
    width = matrix.get_shape().as_list()[axis]
    result.append(tf.shape(matrix)[axis] if width is None else width)
    return tf.reshape(tf.matmul(rows, matrix, adjoint_b=adj_y), result)


@published("math_utils.matrix_times_batch")
def matrix_times_batch(matrix: Any, batch: Any, adj_x: bool = False, adj_y: bool = False) -> Any:
    """The same matrix times each of a batch."""
    return tf.transpose(batch_times_matrix(batch, matrix, adj_x=not adj_y, adj_y=not adj_x), [0, 2, 1])


@published("math_utils.make_toeplitz_matrix")
def make_toeplitz_matrix(inputs: Any, name: str | None = None) -> Any:
    """A block matrix that holds, at each place, the block whose number is its distance from the diagonal."""
    sizes = tf.shape(inputs)
    count, block = sizes[0], sizes[1]
    places = tf.reshape(tf.range(count), shape=[1, -1])
    blocks = tf.gather(inputs, tf.abs(places - tf.transpose(places)))
    return tf.identity(tf.reshape(tf.transpose(blocks, [0, 2, 1, 3]), [block * count, block * count]), name=name)


@published("math_utils.batch_start_time")
def batch_start_time(times: Any) -> Any:
    """The first time of each row."""
    return times[:, 0]


@published("math_utils.batch_end_time")
def batch_end_time(times: Any) -> Any:
    """The last time of each row."""
    return times[:, -1]
