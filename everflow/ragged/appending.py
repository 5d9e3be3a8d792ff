"""Batches of sparse and ragged tensors put one after the other, as tensors or as what they were computed to."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.graph.sparse_tensor import SparseTensor, SparseTensorValue
from everflow.graph.type_spec import CompositeTensor
from everflow.ragged.arrays import concat
from everflow.ragged.tensor import RaggedTensor
from everflow.ragged.values import RaggedTensorValue


@internal("framework.composite_tensor_utils.is_composite_or_composite_value")
def is_composite_or_composite_value(tensor: Any) -> bool:
    """Whether something is made of several tensors, or of their values."""
    return isinstance(tensor, (CompositeTensor, SparseTensorValue, RaggedTensorValue))


@internal("framework.composite_tensor_utils.append_composite_tensor")
def append_composite_tensor(target: Any, to_append: Any) -> Any:
    """Both along their first dimension; they must be of one kind."""
    if type(target) is not type(to_append):
        raise RuntimeError(f"Unable to concatenate {type(target)} and {type(to_append)}")
    if isinstance(target, SparseTensor):
        return tf.sparse.concat(0, [target, to_append])
    if isinstance(target, RaggedTensor):
        return concat([target, to_append], axis=0)
    if isinstance(target, SparseTensorValue):
        return _sparse(target, to_append)
    if isinstance(target, RaggedTensorValue):
        return _ragged(target, to_append)
    raise RuntimeError(f"Attempted to concatenate unsupported object {type(target)}.")


def _sparse(first: SparseTensorValue, second: SparseTensorValue) -> SparseTensorValue:
    shapes = first.dense_shape, second.dense_shape
    refused = f"Unable to concatenate {first} and {second}. The inner dense shapes do not"
    if len(shapes[0]) != len(shapes[1]):
        raise RuntimeError(f"{refused} have the same number of dimensions ({shapes[0]} vs {shapes[1]})")
    if list(shapes[0][1:]) != list(shapes[1][1:]):
        raise RuntimeError(f"{refused} match inner dimensions ({shapes[0][1:]} vs {shapes[1][1:]})")
    below = np.array(second.indices)
    below[:, 0] += shapes[0][0]
    return SparseTensorValue(
        np.concatenate([first.indices, below]), np.concatenate([first.values, second.values]), (shapes[0][0] + shapes[1][0], *shapes[0][1:])
    )


def _ragged(first: RaggedTensorValue, second: RaggedTensorValue) -> RaggedTensorValue:
    if first.ragged_rank != second.ragged_rank:
        raise RuntimeError(f"Unable to concatenate {first} and {second}")
    parts: Any = first.values, second.values
    values = _ragged(*parts) if isinstance(first.values, RaggedTensorValue) else np.concatenate(parts)
    return RaggedTensorValue(values, np.concatenate([first.row_splits, second.row_splits[1:] + first.row_splits[-1]]))
