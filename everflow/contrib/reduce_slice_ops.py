"""tf.contrib.reduce_slice_ops: reductions over slices of an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.api import internal
from everflow.errors import invalid_argument
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op


def _extreme(dtype: Any, largest: bool) -> Any:
    if dtype.is_floating_point:
        return float("inf") if largest else -float("inf")
    return torch.iinfo(dtype).max if largest else torch.iinfo(dtype).min


# What a slice reduces to, and what an empty one is.
REDUCTIONS: dict[str, tuple[Callable[[Any, int], Any], Callable[[Any], Any]]] = {
    "Sum": (lambda part, axis: part.sum(axis, dtype=part.dtype), lambda dtype: 0),
    "Prod": (lambda part, axis: part.prod(axis, dtype=part.dtype), lambda dtype: 1),
    "Max": (lambda part, axis: part.amax(axis), lambda dtype: _extreme(dtype, False)),
    "Min": (lambda part, axis: part.amin(axis), lambda dtype: _extreme(dtype, True)),
}


def _reduction(kind: str) -> Callable[[Node], Callable[..., Any]]:
    reduce, empty = REDUCTIONS[kind]

    def kernel(node: Node) -> Callable[..., Any]:
        def run(data: Any, indices: Any, axis: Any) -> Any:
            along = int(axis)
            if not 0 <= along < data.ndim:
                raise invalid_argument(f"axis must be in [0, {data.ndim}), but is {along}")
            if indices.ndim == 2 and indices.shape[1] == 2:
                bounds = indices.tolist()
            elif indices.ndim == 1:
                flat = indices.tolist()
                bounds = list(zip(flat, flat[1:]))
            else:
                raise invalid_argument("indices must be a vector of bounds or a matrix of two columns")
            parts = []
            for start, stop in bounds:
                start, stop = max(0, start), min(data.shape[along], stop)
                if start < stop:
                    parts.append(reduce(data.narrow(along, start, stop - start), along))
                else:
                    sizes = [size for i, size in enumerate(data.shape) if i != along]
                    parts.append(torch.full(sizes, empty(data.dtype), dtype=data.dtype))
            if not parts:
                return data.narrow(along, 0, 0).clone()
            return torch.stack(parts, along)

        return run

    return kernel


def _shape(o: Operation) -> Any:
    dims = o.inputs[0].dims
    return None if dims is None else (None,) * len(dims)


for _kind in REDUCTIONS:
    op(f"ReduceSlice{_kind}", kernel=_reduction(_kind), shape=_shape)


def _function(kind: str) -> Callable[..., Any]:
    def reduce_slice(data: Any, indices: Any, axis: Any, name: str | None = None) -> Any:
        return apply(f"ReduceSlice{kind}", data, indices, axis, name=name)

    reduce_slice.__name__ = reduce_slice.__qualname__ = f"reduce_slice_{kind.lower()}"
    reduce_slice.__doc__ = f"The {kind.lower()} over each slice of an axis: `indices` holds pairs of bounds, or bounds in a row."
    return internal(f"contrib.reduce_slice_ops.ops.gen_reduce_slice_ops.reduce_slice_{kind.lower()}")(reduce_slice)


reduce_slice_sum, reduce_slice_prod, reduce_slice_max, reduce_slice_min = map(_function, REDUCTIONS)
