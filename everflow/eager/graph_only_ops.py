"""Ops that are added to the default graph in either mode."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.eager.context import graph_mode
from everflow.graph.convert import convert_to_tensor
from everflow.graph.dtypes import DTypeLike
from everflow.ops.core.registry import apply


@internal("eager.graph_only_ops.graph_zeros_like")
def graph_zeros_like(tensor: Any) -> Any:
    """Zeros in the shape of a tensor."""
    with graph_mode():
        return apply("ZerosLike", convert_to_tensor(tensor))


@internal("eager.graph_only_ops.graph_placeholder")
def graph_placeholder(dtype: DTypeLike, shape: Any, name: str | None = None) -> Any:
    """A placeholder."""
    with graph_mode():
        return tf.placeholder(dtype, shape, name)
