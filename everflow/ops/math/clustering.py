"""Ops for k-means: nearest centers, and starting centers that lie far apart."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op
from everflow.values.philox import PhiloxWords

Kernel = Callable[..., Any]

# Points that are compared with all centers at once.
_BLOCK = 2048


def _nearest(node: Node) -> Kernel:
    def run(points: Any, centers: Any, k: Any) -> Any:
        for name, value in (("points", points), ("centers", centers)):
            if value.ndim != 2:
                raise invalid_argument(f"Input {name} should be a matrix.")
        if points.shape[1] != centers.shape[1]:
            raise invalid_argument("Points and centers should have the same number of columns.")
        if int(k) <= 0:
            raise invalid_argument("k must be positive")
        count = min(int(k), centers.shape[0])
        squares = centers.square().sum(1)
        distances, indices = [], []
        for block in points.split(_BLOCK):
            # The squares of points change nothing in the order of centers, and are added to the nearest alone.
            away = torch.addmm(squares[None], block, centers.t(), alpha=-2)
            # A stable order: of centers equally far the first one counts.
            nearest = away.min(dim=1, keepdim=True) if count == 1 else away.sort(dim=1, stable=True)
            distances.append(nearest.values[:, :count].add(block.square().sum(1, keepdim=True)).clamp_(min=0))
            indices.append(nearest.indices[:, :count])
        if not indices:
            return torch.zeros((0, count), dtype=torch.int64), points.new_zeros((0, count))
        return torch.cat(indices), torch.cat(distances)

    return run


class _Draws:
    """The random numbers of one execution, which begin anew from its seed."""

    def __init__(self, seed: int) -> None:
        self._words = PhiloxWords(seed % (1 << 64), 0, 0)

    def index(self, below: int) -> int:
        return self._words.uint64() % below

    def fraction(self) -> np.float32:
        """A float32 in [0, 1), from 23 bits of a word."""
        return np.float32((self._words.uint32() & 0x7FFFFF) / (1 << 23))


def _spread_out(node: Node) -> Kernel:
    def run(points: Any, count: Any, seed: Any, retries: Any) -> Any:
        total, wanted, tries = points.shape[0], int(count), int(retries)
        if wanted <= 0:
            raise invalid_argument("num_to_sample should be positive.")
        if tries < 0:
            tries = 2 + int(math.log(wanted))
        if total < wanted:
            raise invalid_argument(f"num_to_sample: {wanted} cannot be larger than number of points: {total}")
        draws, data = _Draws(int(seed)), points.cpu().numpy()
        chosen: list[int] = []
        nearest = np.full(total, np.inf, np.float32)

        def drawn(sums: np.ndarray) -> int:
            """A point with the chance of its distance to those before; one is not drawn twice while others are away from them."""
            while True:
                found = min(int(np.searchsorted(sums, draws.fraction() * sums[-1], side="right")), total - 1)
                if found not in chosen or not sums[-1] > 0:
                    return found

        while len(chosen) < wanted:
            sums = nearest.cumsum(dtype=np.float32) if chosen else None
            candidates = [draws.index(total) if sums is None else drawn(sums) for _ in range(tries + 1)]
            # Of several draws the one that leaves the least distances stays.
            left = [np.minimum(nearest, np.square(data - data[i]).sum(1)) for i in candidates]
            best = int(np.argmin([distances.sum() for distances in left]))
            nearest = left[best]
            chosen.append(candidates[best])
        return points[torch.tensor(chosen, device=points.device)]

    return run


def _chain(node: Node) -> Kernel:
    def run(distances: Any, seed: Any) -> Any:
        if distances.ndim != 1:
            raise invalid_argument("Input distances should be a vector.")
        draws, found = _Draws(int(seed)), distances.cpu().numpy()
        selected = 0
        for i in range(1, len(found)):
            if found[i] > draws.fraction() * found[selected]:
                selected = i
        return torch.tensor(selected, dtype=torch.int64)

    return run


op("NearestNeighbors", kernel=_nearest, shape=lambda o: [(shapes.with_rank(o.inputs[0].dims, 2)[0], None)] * 2)
op("KmeansPlusPlusInitialization", kernel=_spread_out, shape=lambda o: (None, shapes.with_rank(o.inputs[0].dims, 2)[1]))
op("KMC2ChainInitialization", kernel=_chain, shape=lambda o: ())
