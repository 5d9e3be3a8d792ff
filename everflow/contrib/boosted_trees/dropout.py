"""Trees that are left out while the next one is made, so that it learns what they did (dropouts meet additive trees: "DART")."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from everflow import _native
from everflow.errors import invalid_argument


@dataclasses.dataclass
class Dropped:
    """Numbers of trees in their order, and the weights that they have."""

    trees: list[int] = dataclasses.field(default_factory=list)
    weights: list[Any] = dataclasses.field(default_factory=list)


def dropped_trees(seed: int, config: Any, kept: set[int], weights: list[float]) -> Dropped:
    """The trees that a seed leaves out: the same each time."""
    probability, skipping = config.dropout_probability, config.probability_of_skipping_dropout
    if not 0 <= probability <= 1:
        raise invalid_argument("Dropout probability must be in [0,1] range")
    if not 0 <= skipping <= 1:
        raise invalid_argument("Probability of skipping dropout must be in [0,1] range")
    if probability == 0 or skipping == 1:
        return Dropped()
    rolls: np.ndarray = np.empty(len(weights) + 1)
    _native.fill_uniform(rolls, seed % 2**64, 0, 0, 1)
    if skipping != 0:
        if rolls[0] < skipping:
            return Dropped()
        rolls = rolls[1:]
    candidates = [tree for tree in range(len(weights)) if tree not in kept]
    trees = [tree for tree, roll in zip(candidates, rolls) if roll < probability]
    return Dropped(trees, [np.float32(weights[tree]) for tree in trees])
