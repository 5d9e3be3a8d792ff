"""Variables, constants and placeholders as Keras makes them, and what can be asked of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.dtypes import DTypeLike, as_dtype
from everflow.graph.sparse_tensor import SparseTensor
from everflow.graph.tensor import Tensor
from everflow.graph.type_spec import CompositeTensor
from everflow.keras.backend.graph import get_graph
from everflow.keras.backend.session import get_value, track_variable
from everflow.keras.config import floatx
from everflow.ops.variables.variables import Variable

internal("keras.backend.dtypes_module")(dtypes)


@public("keras.backend.variable")
def variable(value: Any, dtype: DTypeLike | None = None, name: str | None = None, constraint: Callable[..., Any] | None = None) -> Any:
    """A variable with an initial value."""
    if hasattr(value, "tocoo"):
        coo = value.tocoo()
        pairs = [[int(r), int(c)] for r, c in zip(coo.row, coo.col)]
        return tf.SparseTensor(indices=pairs, values=coo.data, dense_shape=coo.shape)
    found = tf.Variable(value, dtype=as_dtype(dtype or floatx()), name=name, constraint=constraint, use_resource=True)
    track_variable(found)
    return found


@public("keras.backend.constant")
def constant(value: Any, dtype: DTypeLike | None = None, shape: Any = None, name: str | None = None) -> Any:
    """A constant of the default float type, unless another is given."""
    return tf.constant(value, dtype=dtype or floatx(), shape=shape, name=name)


@public("keras.backend.placeholder")
def placeholder(
    shape: Any = None,
    ndim: int | None = None,
    dtype: DTypeLike | None = None,
    sparse: bool = False,
    name: str | None = None,
    ragged: bool = False,
) -> Any:
    """A tensor that is fed."""
    if sparse and ragged:
        raise ValueError(
            f"Cannot set both sparse and ragged to True when creating a placeholder. Received sparse={sparse}, ragged={ragged}"
        )
    if dtype is None:
        dtype = floatx()
    if not shape and ndim:
        shape = (None,) * ndim
    rank = max((i for i in range(1, len(shape)) if shape[i] is None), default=0) if ragged else 0
    if rank:
        with get_graph().as_default():
            return tf.ragged.placeholder(dtype=dtype, ragged_rank=rank, value_shape=shape[rank + 1 :], name=name)
    with get_graph().as_default():
        return tf.sparse_placeholder(dtype, shape=shape, name=name) if sparse else tf.placeholder(dtype, shape=shape, name=name)


@internal("keras.backend.is_placeholder")
def is_placeholder(x: Any) -> bool:
    """Whether a tensor is one that is fed."""
    return isinstance(x, Tensor) and x.op.type == "Placeholder"


@public("keras.backend.is_sparse")
def is_sparse(tensor: Any) -> bool:
    """Whether a tensor is sparse."""
    return isinstance(tensor, SparseTensor)


@public("keras.backend.is_keras_tensor")
@internal("keras.backend.is_keras_tensor")
def is_keras_tensor(x: Any) -> bool:
    """Whether a tensor comes from a layer of a functional model."""
    if not isinstance(x, (Tensor, Variable, CompositeTensor)):
        raise ValueError(f"Unexpectedly found an instance of type `{type(x)}`. Expected a symbolic tensor instance.")
    return hasattr(x, "_keras_history")


@public("keras.backend.shape")
def shape(x: Any) -> Any:
    """The shape, as a tensor."""
    return tf.shape(x)


@public("keras.backend.int_shape")
def int_shape(x: Any) -> Any:
    """The static shape, as a tuple; None where not even the rank is known."""
    known = x.shape if hasattr(x, "shape") else x.get_shape()
    if isinstance(known, tuple):
        return known
    return None if known.rank is None else tuple(known.as_list())


@public("keras.backend.ndim")
def ndim(x: Any) -> int | None:
    """The rank."""
    return x.shape.rank


@public("keras.backend.dtype")
def dtype(x: Any) -> str:
    """The name of the type."""
    return x.dtype.base_dtype.name


@public("keras.backend.eval")
def evaluate(x: Any) -> Any:
    """The value as an array."""
    return get_value(tf.sparse.to_dense(x) if is_sparse(x) else x)


@public("keras.backend.cast")
def cast(x: Any, dtype: Any) -> Any:
    """The values in another type."""
    return tf.cast(x, dtype)


@public("keras.backend.count_params")
def count_params(x: Any) -> Any:
    """How many elements a static shape has."""
    return np.prod(x.shape.as_list())


def _made(function: Any, shape: Any, dtype: DTypeLike, name: str | None) -> Any:
    kind = as_dtype(dtype or floatx())
    with tf.init_scope():
        value = function(shape=shape, dtype=kind, name=name)
        return variable(value, dtype=kind, name=name) if value.shape.is_fully_defined() else value


@public("keras.backend.zeros")
def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable of zeros."""
    return _made(tf.zeros, shape, dtype, name)


@public("keras.backend.ones")
def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable of ones."""
    return _made(tf.ones, shape, dtype, name)


@public("keras.backend.eye")
def eye(size: int, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """A variable that is an identity matrix."""
    return variable(tf.eye(size, dtype=as_dtype(dtype or floatx())), dtype or floatx(), name)


@public("keras.backend.zeros_like")
def zeros_like(x: Any, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """Zeros in the shape of a tensor."""
    return tf.zeros_like(x, dtype=dtype, name=name)


@public("keras.backend.ones_like")
def ones_like(x: Any, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """Ones in the shape of a tensor."""
    return tf.ones_like(x, dtype=dtype, name=name)


@internal("keras.backend.identity")
def identity(x: Any, name: str | None = None) -> Any:
    """The same values in a new tensor."""
    return tf.identity(x, name=name)
