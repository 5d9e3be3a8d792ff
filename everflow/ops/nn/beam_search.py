"""The sequences that a beam search found, read back from its steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op


def _check_ranks(step_ids: Any, parent_ids: Any, lengths: Any, end_token: Any) -> None:
    if end_token.ndim:
        raise invalid_argument(f"end_token must be a scalar, saw shape: {list(end_token.shape)}")
    for name, value in (("step_ids", step_ids), ("parent_ids", parent_ids)):
        if value.ndim != 3:
            raise invalid_argument(f"{name} must be a 3-tensor, saw shape: {list(value.shape)}")
    if lengths.ndim != 1:
        raise invalid_argument(f"max_sequence_lengths must be a vector, saw shape: {list(lengths.shape)}")
    if step_ids.shape != parent_ids.shape:
        raise invalid_argument(
            f"step_ids and parent_ids must have the same shape; but shapes are: {list(step_ids.shape)}, {list(parent_ids.shape)}"
        )
    if lengths.shape[0] != step_ids.shape[1]:
        raise invalid_argument(
            f"batch size dimensions step_ids.shape[1] and max_sequence_lengths.shape[0] must match.  but shapes are: "
            f"{list(step_ids.shape)} and {list(lengths.shape)}"
        )


def _gather_tree(node: Node) -> Callable[..., Any]:
    def run(step_ids: Any, parent_ids: Any, max_sequence_lengths: Any, end_token: Any) -> Any:
        _check_ranks(step_ids, parent_ids, max_sequence_lengths, end_token)
        ids, parents = step_ids.cpu().numpy(), parent_ids.cpu().numpy()
        steps, batch, width = ids.shape
        lengths = np.minimum(max_sequence_lengths.cpu().numpy(), steps)[:, None]
        end = end_token.item()
        found: np.ndarray = np.full_like(ids, end)
        rows = np.arange(batch)[:, None]
        beam = np.broadcast_to(np.arange(width), (batch, width))
        # Walks from the last step of each sequence to its first; before its last step, a beam stays what it is.
        for time in range(steps - 1, -1, -1):
            alive = time < lengths
            wrong = ((beam < 0) | (beam >= width)) & alive
            if wrong.any():
                row, column = (int(i[0]) for i in np.nonzero(wrong))
                raise invalid_argument(f"Saw invalid parent id {beam[row, column]} at (batch, time, beam) == ({row}, {time}, {column})")
            found[time] = np.where(alive, ids[time][rows, np.where(alive, beam, 0)], end)
            beam = np.where(alive, parents[time][rows, np.where(alive, beam, 0)], beam)
        ends = found == end
        found[np.logical_or.accumulate(ends, 0)] = end
        return torch.from_numpy(found).to(step_ids.device)

    return run


def _gather_tree_shape(o: Operation) -> Any:
    ids, parents, lengths, end = (tensor.dims for tensor in o.inputs)
    shapes.with_rank(end, 0)
    found = shapes.merge(shapes.with_rank(ids, 3), shapes.with_rank(parents, 3))
    assert found is not None
    return (found[0], shapes.merge_size(found[1], shapes.with_rank(lengths, 1)[0]), found[2])


op("GatherTree", kernel=_gather_tree, shape=_gather_tree_shape, gradient=not_differentiable)


@public("contrib.seq2seq.gather_tree")
def gather_tree(step_ids: Any, parent_ids: Any, max_sequence_lengths: Any, end_token: Any, name: str | None = None) -> Any:
    """The full sequences of a beam search, [time, batch, beam], from the ids and the parent beams of each step.

    What follows the first `end_token` of a sequence, or its greatest length, is `end_token`.
    """
    return apply("GatherTree", step_ids, parent_ids, max_sequence_lengths, end_token, name=name)
