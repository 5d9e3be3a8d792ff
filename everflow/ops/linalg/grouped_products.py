"""Products with the matrices of a batch that holds each of them several times in a row, as beam search repeats what it attends to for each
beam: one product then serves all."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from everflow.lazy import torch
from everflow.ops.core.node import Node, kernel_of
from everflow.ops.core.registry import fused_op
from everflow.ops.linalg.matrix_products import multiply_batches


class Groups(NamedTuple):
    """A batch of matrices, the first of each group of equal ones, and how many there are in each group."""

    batch: Any
    firsts: Any
    times: int


def in_groups(batch: Any) -> Groups:
    """Finds the largest groups that all have one size."""
    count = len(batch)
    times = 1
    # Most batches hold no matrix twice: a look at two of them tells.
    if count > 1 and torch.equal(batch[0], batch[1]):
        times = math.gcd(count, *[i for i in range(2, count) if not torch.equal(batch[i - 1], batch[i])])
    return Groups(batch, batch[::times].contiguous() if times > 1 else batch, times)


def _multiply(node: Node) -> Callable[..., Any]:
    plain, flip = kernel_of(node.attr("product")), node.attr("adj_y")

    def run(x: Any, groups: Groups) -> Any:
        batch, firsts, times = groups
        if times == 1 or x.dim() != 3 or x.shape[0] != batch.shape[0] or x.shape[2] != batch.shape[2 if flip else 1]:
            return plain(x, batch)
        rows = x.reshape(firsts.shape[0], times * x.shape[1], x.shape[2])
        found = multiply_batches(rows, firsts.mT if flip else firsts)
        return found.view(x.shape[0], x.shape[1], found.shape[2])

    return run


# What it gives is no tensor.
fused_op("_InGroups", kernel=lambda node: in_groups, folds=False)
fused_op("_ProductInGroups", kernel=_multiply, fresh=True)
