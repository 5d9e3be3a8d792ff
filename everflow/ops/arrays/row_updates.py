"""Rows of a tensor replaced or added to. The results are fresh: what else holds the input does not see the change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.errors import invalid_argument
from everflow.graph.dtypes import DTypeLike
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import as_signed, shown
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.shape_rules import same_as_input


def _updated(change: Callable[[Any, Any, Any], Any]) -> Callable[[Any], Callable[..., Any]]:
    def make(node: Node) -> Callable[..., Any]:
        def run(x: Any, i: Any, v: Any) -> Any:
            if i.ndim == 0 and v.ndim == x.ndim - 1:
                i, v = i.reshape(1), v[None]
            if i.ndim != 1:
                raise invalid_argument(f"i must be a vector. {shown(i.shape)}")
            if v.ndim != x.ndim:
                raise invalid_argument(f"x and v shape doesn't match (ranks differ): {shown(x.shape)} vs. {shown(v.shape)}")
            if v.shape[1:] != x.shape[1:]:
                raise invalid_argument(f"x and v shape doesn't match at index 1 : {shown(x.shape)} vs. {shown(v.shape)}")
            if len(v) != len(i):
                raise invalid_argument(f"i and x shape doesn't match at index 0: {shown(i.shape)} vs. {shown(v.shape)}")
            # Indices wrap around, as they do in TensorFlow.
            rows = torch.remainder(i.long(), len(x))
            if isinstance(x, np.ndarray):
                found = x.copy()
                found[rows.numpy()] = v
            else:
                found = x.clone()
                change(as_signed(found), rows, as_signed(v))
            return found

        return run

    return make


op("InplaceUpdate", kernel=_updated(lambda x, i, v: x.index_copy_(0, i, v)), shape=same_as_input)
op("InplaceAdd", kernel=_updated(lambda x, i, v: x.index_add_(0, i, v)), shape=same_as_input)
op("InplaceSub", kernel=_updated(lambda x, i, v: x.index_add_(0, i, v, alpha=-1)), shape=same_as_input)


def _row_function(op_type: str, name: str) -> None:
    def function(x: Any, i: Any, v: Any) -> Any:
        x = tf.convert_to_tensor(x)
        v = tf.convert_to_tensor(v, x.dtype)
        if i is None:
            # All rows: the tensor is seen as one row.
            flat, row = tf.reshape(x, [1, -1]), tf.reshape(v, [1, -1])
            return tf.reshape(apply(op_type, flat, [0], row), tf.shape(x))
        i = tf.convert_to_tensor(i, tf.int32)
        if i.dims == ():
            return apply(op_type, x, tf.reshape(i, [1]), tf.expand_dims(v, 0))
        return apply(op_type, x, i, v)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{op_type} of the rows i of x by v; all of x where i is None."
    internal(f"ops.inplace_ops.{name}", f"ops.inplace_ops.alias_{name}")(function)


_row_function("InplaceUpdate", "inplace_update")
_row_function("InplaceAdd", "inplace_add")
_row_function("InplaceSub", "inplace_sub")


@internal("ops.inplace_ops.empty")
def empty(shape: Any, dtype: DTypeLike, init: bool = False, name: str | None = None) -> Any:
    """A tensor of a shape, of which nothing else is promised unless `init` asks for zeros."""
    return apply("Empty", shape, dtype=dtype, init=init, name=name)


@internal("ops.inplace_ops.empty_like")
def empty_like(x: Any, init: bool | None = None) -> Any:
    """The same, in the shape of x."""
    x = tf.convert_to_tensor(x)
    return apply("Empty", tf.shape(x), dtype=x.dtype, init=init)
