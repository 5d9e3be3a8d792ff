"""Accumulators of gradients: each collects gradients until enough of them are there to be taken as one mean or sum.

Gradients carry the step that they were computed for; those from before the accumulator's own step are stale and dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.dtypes import DTypeLike
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op
from everflow.ops.core.shape_rules import scalar
from everflow.values.tensors import torch_dtype
from everflow.values.waiting import Waited

Kernel = Callable[..., Any]
KIND = "accumulator"


def _shown(dims: Any) -> str:
    return "[" + ",".join("?" if d is None or d < 0 else str(d) for d in dims) + "]"


class Accumulator(Waited):
    """The state that all accumulators share: a count, a step, and those who wait for enough gradients."""

    def __init__(self, context: Any, name: str, dtype: DTypeLike, dims: shapes.Dims, is_mean: bool) -> None:
        super().__init__(context)
        self.name, self.dtype, self.dims, self.is_mean = name, dtype, dims, is_mean
        self.count = self.step = 0

    def apply(self, local_step: int, *gradient: Any) -> None:
        with self.condition:
            if local_step < self.step:
                return
            self._add(*gradient)
            self.count += 1
            self.condition.notify_all()

    def take(self, required: int) -> Any:
        if required <= 0:
            raise invalid_argument(f"Argument num_required must be positive, but was {required}")
        with self.condition:
            self.wait(lambda: self.count >= required, f"TakeGrad operation was cancelled for accumulator '{self.name}'")
            found = self._taken()
            self.count = 0
            self.step += 1
            return found

    def set_step(self, step: int) -> None:
        with self.condition:
            self.step = step

    def _add(self, *gradient: Any) -> None:
        raise TypeError(f"{type(self).__name__} takes no gradients")

    def _taken(self) -> Any:
        raise TypeError(f"{type(self).__name__} holds no gradients")


class DenseAccumulator(Accumulator):
    """Sums tensors of one shape."""

    total: Any = None

    def _add(self, gradient: Any) -> None:  # type: ignore[override]
        expected = self.dims if self.total is None else tuple(self.total.shape)
        if not shapes.is_compatible(tuple(gradient.shape), expected):
            raise invalid_argument(f"Shape mismatch: expected {_shown(expected)}, got {_shown(gradient.shape)}")
        self.total = gradient.clone() if self.total is None else self.total + gradient

    def _taken(self) -> Any:
        total, self.total = self.total, None
        return (total / self.count).to(total.dtype) if self.is_mean else total


class SparseAccumulator(Accumulator):
    """Sums slices by index; a mean is that of the slices that an index got."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.parts: list[tuple[Any, Any]] = []

    def _add(self, indices: Any, values: Any, dims: Any, has_known_shape: bool) -> None:  # type: ignore[override]
        if indices.ndim != 1:
            raise invalid_argument(f"Input indices should be vector but received shape: {_shown(indices.shape)}")
        if values.ndim < 1:
            raise invalid_argument("Values cannot be 0-dimensional.")
        if indices.shape[0] != values.shape[0]:
            raise invalid_argument(f"Expected {indices.shape[0]} non-empty input values, got {values.shape[0]}")
        known = self.dims
        if known is not None and has_known_shape:
            _check_dims("shape", dims.tolist(), known, 0)
        if known is not None:
            _check_dims("values", list(values.shape), known, 1)
            if indices.numel() and known and known[0] is not None:
                over = (indices >= known[0]).nonzero()
                if over.numel():
                    at = int(over[0])
                    raise invalid_argument(
                        f"Shape mismatch: index of slice {at} exceeded limits of shape; index is {int(indices[at])} exceeded {known[0]}"
                    )
        if self.parts:
            first = self.parts[0][1]
            if values.ndim != first.ndim:
                raise invalid_argument(f"Shape mismatch: expected values rank {first.ndim}, got {values.ndim}")
            _check_dims("values", list(values.shape), tuple(first.shape), 1)
        self.parts.append((indices.clone(), values.clone()))

    def _taken(self) -> Any:
        indices = torch.cat([i for i, _ in self.parts])
        values = torch.cat([v for _, v in self.parts])
        self.parts = []
        found, where, counts = torch.unique(indices, return_inverse=True, return_counts=True)
        totals = values.new_zeros((found.shape[0], *values.shape[1:])).index_add_(0, where, values)
        if self.is_mean:
            totals = (totals / counts.reshape(-1, *[1] * (values.ndim - 1))).to(values.dtype)
        rows = self.dims[0] if self.dims else None
        return found, totals, torch.tensor([-1 if rows is None else rows, *values.shape[1:]], dtype=torch.int64)


def _check_dims(what: str, dims: list[int], known: Any, start: int) -> None:
    if len(dims) < len(known):
        raise invalid_argument(f"Shape mismatch: expected {what} rank at least {len(known)}, got {len(dims)}")
    for i in range(start, len(known)):
        if known[i] is not None and known[i] != dims[i]:
            raise invalid_argument(f"Shape mismatch: expected {what} dim {i} to be {known[i]}, got {dims[i]}")


def _maker(kind: type[Accumulator]) -> Callable[[Any], Kernel]:
    def factory(node: Node) -> Kernel:
        dims, mean = node.attr("shape"), node.attr("reduction_type") in (b"MEAN", "MEAN")
        name = node.attr("shared_name") or node.name

        def run() -> Any:
            return node.context.resources.get(
                node.attr("container"),
                KIND,
                name,
                lambda: kind(node.context, name, node.attr("dtype"), None if dims is None else tuple(dims), mean),
            )

        return run

    return factory


def _apply(node: Node) -> Kernel:
    return lambda accumulator, step, gradient: accumulator.apply(int(step), gradient)


def _apply_sparse(node: Node) -> Kernel:
    known = node.attr("has_known_shape")
    return lambda accumulator, step, indices, values, dims: accumulator.apply(int(step), indices, values, dims, known)


def _take(node: Node) -> Kernel:
    kind = torch_dtype(node.attr("dtype"))

    def run(accumulator: Any, required: Any) -> Any:
        return accumulator.take(int(required)).to(kind)

    return run


def _count(node: Node) -> Kernel:
    return lambda accumulator: torch.tensor(accumulator.count, dtype=torch.int32)


def _set_step(node: Node) -> Kernel:
    return lambda accumulator, step: accumulator.set_step(int(step))


op("ConditionalAccumulator", kernel=_maker(DenseAccumulator), shape=lambda o: (2,))
op("ResourceConditionalAccumulator", kernel=_maker(DenseAccumulator), shape=lambda o: (2,))
op("SparseConditionalAccumulator", kernel=_maker(SparseAccumulator), shape=lambda o: (2,))
for _prefix in ("", "Resource"):
    op(f"{_prefix}AccumulatorApplyGradient", kernel=_apply, brings=True)
    op(f"{_prefix}AccumulatorTakeGradient", kernel=_take, shape=lambda o: None, waits=True)
    op(f"{_prefix}AccumulatorNumAccumulated", kernel=_count, shape=scalar)
    op(f"{_prefix}AccumulatorSetGlobalStep", kernel=_set_step, brings=True)
op("SparseAccumulatorApplyGradient", kernel=_apply_sparse, brings=True)
op(
    "SparseAccumulatorTakeGradient",
    kernel=lambda node: lambda accumulator, required: accumulator.take(int(required)),
    shape=lambda o: [None, None, None],
    waits=True,
)
