"""Products of many pairs of matrices of which the second is transposed, as the scores of attention are.

torch copies matrices that don't follow each other in memory before it multiplies them; our own kernel reads them where they are.
"""

from __future__ import annotations

from typing import Any

from everflow import _native
from everflow.lazy import torch

# Fewer multiplications a pair don't pay for laying out its matrices.
FEWEST = 1 << 13


# Fewer rows don't, either.
LEAST_ROWS = 8


def multiply_transposed(x: Any, y: Any) -> Any:
    """x times y with its last two axes exchanged, for floats of 32 bits."""
    y = y.mT
    if not _takes(x, y):
        return torch.matmul(x, y)
    found = torch.empty((*x.shape[:-1], y.shape[-1]))
    sizes = (*x.shape, y.shape[-1], *x.stride(), *y.stride())
    _native.multiply_batches(x.data_ptr(), y.data_ptr(), found.data_ptr(), sizes, torch.get_num_threads())
    return found


def _takes(x: Any, y: Any) -> bool:
    return (
        x.dim() == y.dim() == 4
        and x.shape[:-2] == y.shape[:-2]
        and x.shape[-1] == y.shape[-2]
        and not (_is_one_batch(x) and _is_one_batch(y))
        and x.is_cpu
        and x.shape[-2] >= LEAST_ROWS
        and x.shape[-2] * x.shape[-1] * y.shape[-1] >= FEWEST
        and 1 in x.stride()[-2:]
        and 1 in y.stride()[-2:]
        and 0 < x.shape[:-2].numel()
    )


def _is_one_batch(x: Any) -> bool:
    """Whether torch can take the first two axes for one without a copy."""
    return x.stride(0) == x.shape[1] * x.stride(1)
