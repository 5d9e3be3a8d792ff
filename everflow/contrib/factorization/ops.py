"""Ops of weighted alternating least squares: products at some places only, and normal equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.errors import invalid_argument
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op

Kernel = Callable[..., Any]

# Numbers that are gathered at once.
_BLOCK = 1 << 22


def _needs(condition: bool, message: str) -> None:
    if not condition:
        raise invalid_argument(message)


def _masked_product(node: Node) -> Kernel:
    def run(a: Any, b: Any, mask: Any, transpose_a: Any, transpose_b: Any) -> Any:
        for name, value, rank, kind in (
            ("a", a, 2, "matrix"),
            ("b", b, 2, "matrix"),
            ("mask_indices", mask, 2, "matrix"),
            ("transpose_a", transpose_a, 0, "scalar"),
            ("transpose_b", transpose_b, 0, "scalar"),
        ):
            _needs(value.ndim == rank, f"Input {name} should be a {kind}.")
        rows = a.t() if bool(transpose_a) else a
        columns = b if bool(transpose_b) else b.t()
        if rows.shape[1] != columns.shape[1]:
            shapes = [str(list(m.shape)).replace(" ", "") for m in (a, b)]
            raise invalid_argument(f"Matrix shapes are incompatible: a has shape {shapes[0]}, while b has shape {shapes[1]}.")
        _needs(mask.shape[1] == 2, "mask_indices should be a matrix of shape [nnz 2], where nnz is the number of non-zero elements.")
        i, j = mask[:, 0], mask[:, 1]
        for name, ids, size in (("row", i, rows.shape[0]), ("column", j, columns.shape[0])):
            if len(ids) and (int(ids.min()) < 0 or int(ids.max()) >= size):
                bad = int(((ids < 0) | (ids >= size)).nonzero()[0])
                raise invalid_argument(f"In mask_indices[{bad}, :], the {name} index {int(ids[bad])} is out of bounds [0, {size}).")
        size = max(1, _BLOCK // max(1, rows.shape[1]))
        parts = [(rows[p] * columns[q]).sum(1) for p, q in zip(i.split(size), j.split(size), strict=True)]
        return torch.cat(parts) if parts else a.new_zeros(0)

    return run


def _normal_equations(node: Node) -> Kernel:
    def run(
        factors: Any,
        factor_weights: Any,
        unobserved: Any,
        input_weights: Any,
        indices: Any,
        values: Any,
        entry_weights: Any,
        block_size: Any,
        is_transpose: Any,
    ) -> Any:
        for name, value, rank, kind in (
            ("factors", factors, 2, "matrix."),
            ("factor_weights", factor_weights, 1, "vector."),
            ("unobserved_weights", unobserved, 0, "scalar."),
            ("input_weights", input_weights, 1, "vector."),
            ("input_indices", indices, 2, "matrix."),
        ):
            _needs(value.ndim == rank, f"Input {name} should be a {kind}")
        _needs(indices.shape[1] == 2, "Input input_indices should have shape (?, 2).")
        _needs(values.ndim == 1, "Input input_values should be a vector")
        _needs(entry_weights.ndim == 1, "Input entry_weights should be a vector")
        _needs(len(indices) == len(values), "Input input_values' length should match the first dimension of Input input_indices ")
        _needs(block_size.ndim == 0, "Input input_block_size should be a scalar.")
        _needs(is_transpose.ndim == 0, "Input input_is_transpose should be a scalar.")
        by_row = len(input_weights) > 0 and len(factor_weights) == len(factors) and len(entry_weights) == 0
        by_entry = len(input_weights) == 0 and len(factor_weights) == 0 and len(entry_weights) == len(indices)
        _needs(
            by_row or by_entry,
            "To specify the weights for observed entries, either (1) entry_weights must be set or (2) input_weights and "
            "factor_weights must be set, but not both.",
        )
        width, count = factors.shape[1], int(block_size)
        left = factors.new_zeros((count, width, width))
        right = factors.new_zeros((count, width))
        ours, theirs = (1, 0) if bool(is_transpose) else (0, 1)
        for at, value, own in zip(
            *(part.split(max(1, _BLOCK // max(1, width * width))) for part in (indices, values, entry_weights if by_entry else values)),
            strict=True,
        ):
            to, of = at[:, ours], at[:, theirs]
            weight = own if by_entry else input_weights[to] * factor_weights[of]
            rows = factors[of]
            weighed = rows * weight[:, None]
            left.index_add_(0, to, weighed[:, :, None] * rows[:, None, :])
            right.index_add_(0, to, rows * (value * (unobserved + weight))[:, None])
        return left, right

    return run


op("MaskedMatmul", kernel=_masked_product, shape=lambda o: None)
op("WALSComputePartialLhsAndRhs", kernel=_normal_equations, shape=lambda o: [None, None])
