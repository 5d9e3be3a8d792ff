"""How many insertions, deletions and substitutions turn one sequence into another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph.constants import known
from everflow.graph.operation import Operation
from everflow.graph.sparse_tensor import SparseTensor, SparseTensorValue
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.core.shape_rules import ranked

Sequences = dict[tuple[int, ...], list[Any]]


def _sequences(indices: Any, values: Any) -> Sequences:
    """The values of each sequence, by its place in all but the last dimension."""
    found: Sequences = {}
    for at, value in zip(indices.tolist(), values.tolist()):
        found.setdefault(tuple(at[:-1]), []).append(value)
    return found


def _distance(a: list[Any], b: list[Any]) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], diagonal if x == y else 1 + min(diagonal, row[j], row[j - 1])
    return row[-1]


def _edit_distance(node: Node) -> Callable[..., Any]:
    normalize = node.attr("normalize")

    def run(a_indices: Any, a_values: Any, a_shape: Any, b_indices: Any, b_values: Any, b_shape: Any) -> Any:
        if len(a_shape) != len(b_shape):
            raise invalid_argument(
                f"truth_shape and hypothesis_shape must have the same length, but saw: {len(b_shape)} and {len(a_shape)}"
            )
        sizes = [max(a, b) for a, b in zip(a_shape.tolist()[:-1], b_shape.tolist()[:-1])]
        hypotheses, truths = _sequences(a_indices, a_values), _sequences(b_indices, b_values)
        places = {**hypotheses, **truths}
        for at in places:
            if any(not 0 <= i < size for i, size in zip(at, sizes)):
                raise invalid_argument(
                    f"Got an inner product {int(np.dot(at, np.cumprod([1, *sizes[:0:-1]])[::-1]))} which would require "
                    "writing to outside of the buffer for the output tensor"
                )
        found = np.zeros(sizes, np.float32)
        for at in places:
            hypothesis, truth = hypotheses.get(at, []), truths.get(at, [])
            distance = float(_distance(hypothesis, truth))
            if normalize:
                distance = distance / len(truth) if truth else np.inf
            found[at] = distance
        return torch.from_numpy(found)

    return run


def _edit_distance_shape(o: Operation) -> Any:
    a, b = known(o.inputs[2]), known(o.inputs[5])
    for t in (o.inputs[2], o.inputs[5]):
        if t.dims is not None and len(t.dims) != 1:
            raise ValueError(f"Shape must be rank 1 but is rank {len(t.dims)}")
    if a is None or b is None:
        return None
    if len(a) != len(b):
        raise ValueError(f"Num elements of hypothesis_shape does not match truth_shape: {len(a)} vs. {len(b)}")
    return tuple(int(max(m, n)) for m, n in zip(a[:-1], b[:-1]))


op("EditDistance", kernel=_edit_distance, shape=ranked(_edit_distance_shape, 2, 1, 1, 2, 1, 1), gradient=not_differentiable)


def _sparse(value: Any, what: str) -> SparseTensor:
    if not isinstance(value, (SparseTensor, SparseTensorValue)):
        raise TypeError(f"{what} must be a SparseTensor.")
    return value if isinstance(value, SparseTensor) else SparseTensor.from_value(value)


@public("edit_distance")
def edit_distance(hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance") -> Any:
    """The Levenshtein distance of each pair of sequences, by the length of the true one unless `normalize` is off."""
    hypothesis, truth = _sparse(hypothesis, "Hypothesis"), _sparse(truth, "Truth")
    return apply(
        "EditDistance",
        hypothesis.indices,
        hypothesis.values,
        hypothesis.dense_shape,
        truth.indices,
        truth.values,
        truth.dense_shape,
        normalize=normalize,
        name=name,
    )
