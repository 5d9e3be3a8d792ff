"""Converting shapes and tensors between image layouts."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal


def _is_tensor(value: Any) -> bool:
    return isinstance(value, tf.Tensor)


def _size(value: Any) -> int:
    return value.shape.ndims if _is_tensor(value) else len(value)


def _permuted(value: Any, order: list[int]) -> Any:
    return tf.transpose(value, order) if _is_tensor(value) else [value[i] for i in order]


@internal("framework.test_util.NHWCToNCHW")
def nhwc_to_nchw(input_tensor: Any) -> Any:
    return _permuted(input_tensor, {4: [0, 3, 1, 2], 5: [0, 4, 1, 2, 3]}[_size(input_tensor)])


@internal("framework.test_util.NCHWToNHWC")
def nchw_to_nhwc(input_tensor: Any) -> Any:
    return _permuted(input_tensor, {4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1]}[_size(input_tensor)])


@internal("framework.test_util.NHWCToNCHW_VECT_C")
def nhwc_to_nchw_vect_c(input_shape_or_tensor: Any) -> Any:
    """Channels in groups of four, which become the last dimension."""
    order = {5: [0, 3, 1, 2, 4], 6: [0, 4, 1, 2, 3, 5]}
    tensor = _is_tensor(input_shape_or_tensor)
    shape = input_shape_or_tensor.shape.as_list() if tensor else list(input_shape_or_tensor)
    if shape[-1] % 4:
        raise ValueError("Last dimension of input must be evenly divisible by 4 to convert to NCHW_VECT_C.")
    shape = [*shape[:-1], shape[-1] // 4, 4]
    return _permuted(tf.reshape(input_shape_or_tensor, shape) if tensor else shape, order[len(shape)])


@internal("framework.test_util.NCHW_VECT_CToNHWC")
def nchw_vect_c_to_nhwc(input_shape_or_tensor: Any) -> Any:
    order = {5: [0, 2, 3, 1, 4], 6: [0, 2, 3, 4, 1, 5]}[_size(input_shape_or_tensor)]
    tensor = _is_tensor(input_shape_or_tensor)
    shape = input_shape_or_tensor.shape.as_list() if tensor else list(input_shape_or_tensor)
    if shape[-1] != 4:
        raise ValueError("Last dimension of NCHW_VECT_C must be 4.")
    shape = [shape[i] for i in order]
    shape = [*shape[:-2], shape[-2] * shape[-1]]
    return tf.reshape(_permuted(input_shape_or_tensor, order), shape) if tensor else shape
