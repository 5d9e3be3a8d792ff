"""The two seeds of random dataset ops, as tensors."""

from __future__ import annotations

import everflow as tf
from everflow.api import internal
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply
from everflow.ops.random.seeds import LARGEST


@internal("data.util.random_seed.get_seed")
def get_seed(seed: int | None) -> tuple[Tensor, Tensor]:
    """The graph-level and op-level seeds for an op's own seed; two zeros where none is set."""
    first, second = (None, seed) if isinstance(seed, Tensor) else tf.get_seed(seed)
    if isinstance(seed, Tensor):
        first = tf.get_seed(0)[0]
    one = convert_to_tensor(0 if first is None else first, dtype=dtypes.int64, name="seed")
    if second is None:
        return one, convert_to_tensor(0, dtype=dtypes.int64, name="seed2")
    with name_scope("seed2") as scope:
        two = convert_to_tensor(second, dtype=dtypes.int64)
        zeros = tf.logical_and(tf.equal(one, 0), tf.equal(two, 0))
        # Two zeros would mean that no seed is set.
        two = apply("Select", zeros, convert_to_tensor(LARGEST, dtype=dtypes.int64), two, name=scope)
    return one, two
