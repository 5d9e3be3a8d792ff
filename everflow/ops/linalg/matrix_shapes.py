"""Matrices and batches of them: shape rules, and kernels that see shapes only when they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node

Kernel = Callable[..., Any]


def batch_of(dims: shapes.Dims) -> tuple[Any, Any, Any]:
    """(batch dims, rows, columns) of a static shape; the batch is None where the rank is not known."""
    dims = shapes.with_rank_at_least(dims, 2)
    return (None, None, None) if dims is None else (dims[:-2], dims[-2], dims[-1])


def square_batch_of(dims: shapes.Dims) -> tuple[Any, Any]:
    """(batch dims, size) of square matrices."""
    batch, rows, columns = batch_of(dims)
    return batch, shapes.merge_size(rows, columns)


def with_batch(batch: Any, *sizes: Any) -> Any:
    """The static shape of a batch of tensors with these sizes."""
    return None if batch is None else (*batch, *sizes)


def smaller(a: int | None, b: int | None) -> int | None:
    """The smaller of two sizes, as far as it is known."""
    if a == 0 or b == 0:
        return 0
    return None if a is None or b is None else min(a, b)


def square(o: Operation) -> Any:
    """A square matrix gives one of its size."""
    batch, n = square_batch_of(o.inputs[0].dims)
    return with_batch(batch, n, n)


def check_rank(*inputs: Any) -> None:
    """Raises unless every input is a batch of matrices, all with the same outer dimensions."""
    first = inputs[0]
    for i, x in enumerate(inputs):
        if x.ndim != first.ndim:
            raise invalid_argument("All input tensors must have the same rank.")
        if x.ndim < 2:
            raise invalid_argument(f"Input tensor {i} must have rank >= 2, got {x.ndim}")
        if x.shape[:-2] != first.shape[:-2]:
            raise invalid_argument("All input tensors must have the same outer dimensions.")


def check_square(x: Any) -> None:
    """Raises unless the input is a batch of square matrices."""
    check_rank(x)
    if x.shape[-1] != x.shape[-2]:
        raise invalid_argument("Input matrix must be square.")


def in_full_precision(factory: Callable[[Any], Kernel]) -> Callable[[Any], Kernel]:
    """A kernel that computes halves as floats: the matrix library has no kernels for them."""

    def make(node: Node) -> Kernel:
        inner = factory(node)
        if node.inputs[0].dtype.base_dtype.name != "float16":
            return inner

        def run(*xs: Any) -> Any:
            found = inner(*[x.float() if x.dtype is torch.float16 else x for x in xs])
            several = isinstance(found, tuple)
            halves = tuple(f.half() if f.dtype is torch.float32 else f for f in (found if several else (found,)))
            return halves if several else halves[0]

        return run

    return make


def finite(x: Any) -> Any:
    """Which matrices of a batch have finite numbers only; LAPACK takes no others."""
    return torch.isfinite(x).all(-1).all(-1)


def only_where(chosen: Any, x: Any, other: float = 0.0) -> Any:
    """The matrices that are chosen, and others full of one number."""
    return x if bool(chosen.all()) else torch.where(chosen[..., None, None], x, other)
