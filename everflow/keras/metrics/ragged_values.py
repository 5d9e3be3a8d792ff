"""Ragged values in metrics: only their elements count."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph.convert import convert_to_tensor
from everflow.ragged.tensor import RaggedTensor


@internal("keras.utils.metrics_utils.ragged_assert_compatible_and_get_flat_values")
def flat_values_of(values: Any, mask: Any = None) -> tuple[Any, Any]:
    """(the elements of ragged values of one shape, the elements of their mask); dense values as they are."""
    if not isinstance(values, list):
        found, mask = flat_values_of([values], mask)
        return found[0], mask
    ragged = [isinstance(v, RaggedTensor) for v in values]
    is_masked = isinstance(mask, RaggedTensor)
    if not any(ragged):
        if is_masked:
            raise TypeError("One of the inputs does not have acceptable types.")
        return values, mask
    if not all(ragged):
        raise TypeError("One of the inputs does not have acceptable types.")
    checked = values + ([mask] if is_masked else [])
    ranks = {len(v.nested_row_splits) for v in checked}
    if len(ranks) != 1:
        raise ValueError("The inputs have different ragged ranks.")
    checks = [
        tf.debugging.assert_equal(a, b, message="Inputs have incompatible shapes")
        for v in checked[1:]
        for a, b in zip(checked[0].nested_row_splits, v.nested_row_splits)
    ]
    with tf.control_dependencies([c for c in checks if c is not None]):
        found = [tf.identity(v.flat_values) for v in values]
    return found, (tf.identity(mask.flat_values) if is_masked else mask if mask is None else convert_to_tensor(mask))
