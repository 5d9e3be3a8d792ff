"""Axes and sizes from one data format to another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op
from everflow.ops.core.shape_rules import same_as_input


def _formats(node: Node) -> tuple[str, str]:
    source, target = node.attr("src_format"), node.attr("dst_format")
    for name, value, shown in (("Source", source, "src_format"), ("Destination", target, "dst_format")):
        if len(value) not in (4, 5):
            raise invalid_argument(f"{name} format must be of length 4 or 5, received {shown} = {value}")
    if len(set(source)) != len(source) or sorted(source) != sorted(target):
        raise invalid_argument(f"Destination and source format must determine a permutation, got {source} and {target}")
    return source, target


def _dim_map(node: Node) -> Callable[..., Any]:
    source, target = _formats(node)
    places = [target.index(letter) for letter in source]
    return lambda x: torch.tensor(places, dtype=x.dtype, device=x.device)[x.long() % len(places)]


def _vec_permute(node: Node) -> Callable[..., Any]:
    source, target = _formats(node)
    order = [source.index(letter) for letter in target]

    def run(x: Any) -> Any:
        shown = shapes.describe(x.shape)
        if x.dim() not in (1, 2):
            raise invalid_argument(f"input must be a vector or 2D tensor, but got shape {shown}")
        if x.shape[0] != len(order):
            raise invalid_argument(
                f"1D input must be of size {len(order)}, but got shape {shown}"
                if x.dim() == 1
                else f"First dimension of 2D input must be of size {len(order)}, but got shape {shown}"
            )
        if x.dim() == 2 and x.shape[1] != 2:
            raise invalid_argument(f"Second dimension of 2D input must be of size 2, but got shape {shown}")
        return x[order]

    return run


op("DataFormatDimMap", kernel=_dim_map, shape=same_as_input)
op("DataFormatVecPermute", kernel=_vec_permute, shape=same_as_input)
