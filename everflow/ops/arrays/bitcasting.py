"""The bits of a tensor read as another type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import dtypes
from everflow.graph.operation import Operation
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.values.tensors import torch_dtype


def _sizes(o: Node | Operation) -> tuple[int, int]:
    return o.inputs[0].dtype.base_dtype.size, o.attr("type").size


def _bitcast(node: Node) -> Callable[..., Any]:
    given, wanted = _sizes(node)
    kind = torch_dtype(node.attr("type"))
    if given == wanted:
        return lambda x: x.view(kind)
    if given > wanted:
        return lambda x: x.contiguous().unsqueeze(-1).view(kind)
    ratio = wanted // given

    def run(x: Any) -> Any:
        if not x.ndim or x.shape[-1] != ratio:
            raise invalid_argument(f"Cannot bitcast from {node.inputs[0].dtype.as_datatype_enum} to {node.attr('type').as_datatype_enum}")
        return x.contiguous().view(kind).squeeze(-1) if x.numel() else x.new_empty(x.shape[:-1], dtype=kind)

    return run


def _bitcast_shape(o: Operation) -> Any:
    dims = o.inputs[0].dims
    given, wanted = _sizes(o)
    if dims is None or given == wanted:
        return dims
    if given > wanted:
        return (*dims, given // wanted)
    if not dims:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    if dims[-1] not in (None, wanted // given):
        raise ValueError(f"Cannot bitcast due to shape. {dims[-1]} does not match {wanted // given}")
    return dims[:-1]


op("Bitcast", kernel=_bitcast, shape=_bitcast_shape, view=True)


@public("bitcast")
def bitcast(input: Any, type: Any, name: str | None = None) -> Any:
    """The same bits as another type; where the sizes differ, a last dimension comes or goes."""
    return apply("Bitcast", input, type=dtypes.as_dtype(type), name=name)
