"""Blocks of matrices, which are masked as one, and assignments to variables in parts."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.ops.variables.partitioned import PartitionedVariable

BELOW = "contrib.model_pruning.python.pruning_utils."


@public(BELOW + "weight_mask_variable")
def weight_mask_variable(var: Any, scope: Any) -> Any:
    """The mask of a variable, in its scope."""
    with tf.variable_scope(scope):
        return tf.get_variable("mask", var.get_shape(), initializer=tf.ones_initializer(), trainable=False, dtype=var.dtype.base_dtype)


@public(BELOW + "weight_threshold_variable")
def weight_threshold_variable(var: Any, scope: Any) -> Any:
    """Below what a variable's weights are masked, in its scope."""
    with tf.variable_scope(scope):
        return tf.get_variable("threshold", [], initializer=tf.zeros_initializer(), trainable=False, dtype=var.dtype.base_dtype)


@public(BELOW + "kronecker_product")
def kronecker_product(mat1: Any, mat2: Any) -> Any:
    """The Kronecker product of two matrices."""
    (m1, n1), (m2, n2) = mat1.shape.as_list(), mat2.shape.as_list()
    products = tf.reshape(mat1, [m1, 1, n1, 1]) * tf.reshape(mat2, [1, m2, 1, n2])
    return tf.reshape(products, [m1 * m2, n1 * n2])


@public(BELOW + "expand_tensor")
def expand_tensor(tensor: Any, block_dims: Any) -> Any:
    """A matrix each of whose elements has become a block."""
    if tensor.shape.rank != 2:
        raise ValueError("Input tensor must be rank 2.")
    if len(block_dims) != 2:
        raise ValueError("block_dims must be of length 2.")
    rows, columns = tensor.shape.as_list()
    height, width = block_dims
    tiled = tf.tile(tf.reshape(tensor, [rows, 1, columns, 1]), [1, height, 1, width])
    return tf.reshape(tiled, [rows * height, columns * width])


@public(BELOW + "factorized_pool")
def factorized_pool(input_tensor: Any, window_shape: Any, pooling_type: str, strides: Any, padding: str, name: str | None = None) -> Any:
    """Pools a matrix along its columns, then along its rows; for means and maxima that is pooling windows."""
    if input_tensor.shape.rank != 2:
        raise ValueError("factorized_pool() accepts tensors of rank 2 only")
    height, width = input_tensor.shape.as_list()
    with tf.name_scope(name, "factorized_pool"):
        picture = tf.reshape(input_tensor, [1, height, width, 1])
        down = tf.nn.pool(picture, [window_shape[0], 1], pooling_type, padding, strides=[strides[0], 1])
        across = tf.nn.pool(down, [1, window_shape[1]], pooling_type, padding, strides=[1, strides[1]])
        return tf.squeeze(across, axis=[0, 3])


@public(BELOW + "determine_partitioned_axis")
def determine_partitioned_axis(partitioned_variable: Any) -> int:
    """Along which dimension a variable is cut."""
    whole = partitioned_variable.get_shape().as_list()
    part = list(partitioned_variable)[0].get_shape().as_list()
    return next((axis for axis, (one, other) in enumerate(zip(whole, part)) if one != other), 0)


@public(BELOW + "variable_assign")
def variable_assign(var: Any, new_value: Any) -> Any:
    """Gives a variable a value."""
    return tf.assign(var, new_value, name=var.op.name + "_assign")


@public(BELOW + "partitioned_variable_assign")
def partitioned_variable_assign(partitioned_var: Any, new_value: Any) -> Any:
    """Gives a variable in parts a value."""
    parts = list(partitioned_var) if isinstance(partitioned_var, PartitionedVariable) else [partitioned_var]
    axis = determine_partitioned_axis(partitioned_var) if len(parts) > 1 else 0
    values = tf.split(new_value, [part.get_shape().as_list()[axis] for part in parts], axis=axis)
    return tf.group(*(variable_assign(part, value) for part, value in zip(parts, values)), name=partitioned_var.name + "_group_assign")
