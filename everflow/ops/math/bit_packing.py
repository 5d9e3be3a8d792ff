"""CompareAndBitpack: eight comparisons in each byte."""

from __future__ import annotations

from typing import Any

from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op


def _pack(node: Node) -> Any:
    def run(x: Any, threshold: Any) -> Any:
        if threshold.ndim:
            raise invalid_argument(f"Compare must be a scalar, but saw shape: {list(threshold.shape)}")
        if x.ndim < 1:
            raise invalid_argument("Input should be at least a vector, but saw a scalar.")
        if x.shape[-1] % 8:
            raise invalid_argument(f"Inner dimension of input should be divisible by 8, but saw shape: {list(x.shape)}")
        bits = (x if x.dtype == torch.bool else x > threshold).reshape(*x.shape[:-1], x.shape[-1] // 8, 8)
        places = torch.tensor([128, 64, 32, 16, 8, 4, 2, 1], dtype=torch.uint8, device=x.device)
        return (bits * places).sum(-1, dtype=torch.uint8)

    return run


def _shape(o: Operation) -> Any:
    shapes.with_rank(o.inputs[1].dims, 0)
    dims = shapes.with_rank_at_least(o.inputs[0].dims, 1)
    if dims is None:
        return None
    if dims[-1] is not None and dims[-1] % 8:
        raise ValueError(f"Dimension size must be evenly divisible by 8 but is {dims[-1]}")
    return (*dims[:-1], None if dims[-1] is None else dims[-1] // 8)


op("CompareAndBitpack", kernel=_pack, shape=_shape)
