"""Tensors of torch's in programs: the way back is `tensor.torch()`."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.eager.tensor import EagerTensor
from everflow.graph.convert import add_constant
from everflow.graph.stacks import in_eager_mode
from everflow.graph.tensor import Tensor
from everflow.lazy import torch
from everflow.values.tensors import from_torch_dtype, to_numpy


@public("from_torch")
def from_torch(tensor: Any, name: str = "Const") -> Tensor:
    """A tensor of torch's as one of ours, sharing its memory; in a graph, a constant.

    torch's own gradients end here: what is computed from the result is differentiated by `tf.gradients` and tapes.
    """
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"from_torch takes a torch.Tensor, not {type(tensor).__name__}")
    value = tensor.detach()
    dtype = from_torch_dtype(value.dtype)
    if in_eager_mode():
        return EagerTensor(value, dtype)
    return add_constant(to_numpy(value, dtype), dtype, name)
