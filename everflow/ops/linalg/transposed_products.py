"""Products of many pairs of matrices of which the second is transposed, as the scores of attention are.

torch copies matrices that don't follow each other in memory before it multiplies them; our own kernel reads them where they are.
"""

from __future__ import annotations

from typing import Any

from everflow import _native
from everflow.lazy import torch

# Fewer multiplications a pair don't pay for laying out its matrices.
FEWEST = 1 << 13


def multiply_transposed(x: Any, y: Any) -> Any:
    """x times y with its last two axes exchanged, for floats of 32 bits."""
    y = y.mT
    if not _takes(x, y):
        return torch.matmul(x, y)
    batch, steps = x.shape[:-2], (*x.stride(), *y.stride())
    if len(batch) == 1:
        batch, steps = (1, *batch), (0, *x.stride(), 0, *y.stride())
    found = torch.empty((*x.shape[:-1], y.shape[-1]))
    sizes = (*batch, *x.shape[-2:], y.shape[-1], *steps)
    _native.multiply_batches(x.data_ptr(), y.data_ptr(), found.data_ptr(), sizes, torch.get_num_threads())
    return found


def _takes(x: Any, y: Any) -> bool:
    return (
        x.dim() in (3, 4)
        and x.shape[:-2] == y.shape[:-2]
        and x.shape[-1] == y.shape[-2]
        and not x.is_cuda
        and x.shape[-2] * x.shape[-1] * y.shape[-1] >= FEWEST
        and 1 in x.stride()[-2:]
        and 1 in y.stride()[-2:]
        and 0 < x.shape[:-2].numel()
    )
