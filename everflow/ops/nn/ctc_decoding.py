"""The most probable label sequences of a network that emits labels and blanks over time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.graph.sparse_tensor import SparseTensor
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op

Kernel = Callable[..., Any]


def _without_repeats(labels: list[int]) -> list[int]:
    return [v for i, v in enumerate(labels) if i == 0 or v != labels[i - 1]]


def _sparse(rows: list[list[int]]) -> tuple[Any, Any, Any]:
    indices = [(b, i) for b, row in enumerate(rows) for i in range(len(row))]
    longest = max((len(r) for r in rows), default=0)
    return (
        torch.tensor(indices, dtype=torch.int64).reshape(-1, 2),
        torch.tensor([v for r in rows for v in r], dtype=torch.int64),
        torch.tensor([len(rows), longest], dtype=torch.int64),
    )


def _check(inputs: Any, lengths: Any) -> None:
    if inputs.ndim != 3:
        raise invalid_argument("inputs is not a 3-Tensor")
    if lengths.ndim != 1:
        raise invalid_argument("sequence_length is not a vector")
    if lengths.shape[0] != inputs.shape[1]:
        raise invalid_argument(
            f"len(sequence_length) != batch_size.  len(sequence_length):  {lengths.shape[0]} batch_size: {inputs.shape[1]}"
        )
    if lengths.numel() and int(lengths.max()) > inputs.shape[0]:
        raise invalid_argument(f"sequence_length({int(lengths.argmax())}) <= {inputs.shape[0]}")


def _greedy(node: Node) -> Kernel:
    merge = node.attr("merge_repeated")

    def run(inputs: Any, lengths: Any) -> Any:
        _check(inputs, lengths)
        blank = inputs.shape[2] - 1
        best, labels = inputs.max(2)
        alive = torch.arange(inputs.shape[0])[:, None] < lengths[None].cpu()
        score = -torch.where(alive.to(best.device), best, 0).sum(0)[:, None]
        if merge:
            repeated = torch.zeros_like(labels, dtype=torch.bool)
            repeated[1:] = labels[1:] == labels[:-1]
            labels = torch.where(repeated, blank, labels)
        rows = [[v for v in column[:n] if v != blank] for column, n in zip(labels.t().tolist(), lengths.tolist())]
        return (*_sparse(rows), score)

    return run


def _best_sequences(log_p: np.ndarray, width: int, paths: int) -> list[tuple[float, list[int]]]:
    """The best label sequences and their log-probabilities, by a search that keeps so many beginnings at each step.

    Of each beginning it knows the probability that a blank came last and that a label did."""
    blank = log_p.shape[1] - 1
    beams: list[tuple[int, ...]] = [()]
    with_blank, with_label = np.array([0.0]), np.array([-np.inf])
    for step in log_p:
        either = np.logaddexp(with_blank, with_label)
        last = np.array([b[-1] if b else -1 for b in beams])
        grown = either[:, None] + step[None, :blank]
        repeats = np.flatnonzero(last >= 0)
        # The same label again makes a new one only after a blank.
        grown[repeats, last[repeats]] = with_blank[repeats] + step[last[repeats]]
        on_blank = either + step[blank]
        on_label = np.where(last >= 0, with_label + step[last], -np.inf)
        where = {b: i for i, b in enumerate(beams)}
        for i, b in enumerate(beams):
            parent = where.get(b[:-1]) if b else None
            if parent is not None:
                on_label[i] = np.logaddexp(on_label[i], grown[parent, b[-1]])
                grown[parent, b[-1]] = -np.inf
        totals = np.concatenate([np.logaddexp(on_blank, on_label), grown.reshape(-1)])
        chosen = np.argsort(-totals, kind="stable")[:width]
        chosen = chosen[totals[chosen] > -np.inf]
        count = len(beams)
        old = chosen[chosen < count]
        parents, labels = np.divmod(chosen[chosen >= count] - count, blank)
        with_blank = np.concatenate([on_blank[old], np.full(len(parents), -np.inf)])
        with_label = np.concatenate([on_label[old], grown[parents, labels]])
        beams = [beams[i] for i in old] + [(*beams[p], int(c)) for p, c in zip(parents, labels)]
    totals = np.logaddexp(with_blank, with_label)
    order = np.argsort(-totals, kind="stable")[:paths]
    return [(float(totals[i]), list(beams[i])) for i in order]


def _beam_search(node: Node) -> Kernel:
    width, paths, merge = node.attr("beam_width"), node.attr("top_paths"), node.attr("merge_repeated")

    def run(inputs: Any, lengths: Any) -> Any:
        _check(inputs, lengths)
        if paths > width:
            raise invalid_argument("requested more paths than the beam width.")
        log_p = torch.log_softmax(inputs.double(), 2).cpu().numpy()
        score: np.ndarray = np.zeros((inputs.shape[1], paths))
        found: list[list[list[int]]] = [[] for _ in range(paths)]
        for b, n in enumerate(lengths.tolist()):
            best = _best_sequences(log_p[:n, b], width, paths)
            if len(best) < paths:
                raise invalid_argument("Less leaves in the beam search than requested.")
            for k, (total, labels) in enumerate(best):
                score[b, k] = total
                found[k].append(_without_repeats(labels) if merge else labels)
        parts = [_sparse(rows) for rows in found]
        return (*(p[0] for p in parts), *(p[1] for p in parts), *(p[2] for p in parts), torch.from_numpy(score).to(inputs.dtype))

    return run


def _greedy_shape(o: Operation) -> Any:
    batch = _batch(o)
    return [(None, 2), (None,), (2,), (batch, 1)]


def _batch(o: Operation) -> int | None:
    return shapes.merge_size(shapes.with_rank(o.inputs[0].dims, 3)[1], shapes.with_rank(o.inputs[1].dims, 1)[0])


def _beam_shape(o: Operation) -> Any:
    paths = o.attr("top_paths")
    return [*[(None, 2)] * paths, *[(None,)] * paths, *[(2,)] * paths, (_batch(o), paths)]


op("CTCGreedyDecoder", kernel=_greedy, shape=_greedy_shape, gradient=not_differentiable)
op("CTCBeamSearchDecoder", kernel=_beam_search, shape=_beam_shape, gradient=not_differentiable)


@public("nn.ctc_greedy_decoder")
def ctc_greedy_decoder(inputs: Any, sequence_length: Any, merge_repeated: bool = True) -> Any:
    """The labels of the best class at each time, without blanks, and the negative sum of their logits."""
    indices, values, dims, score = apply("CTCGreedyDecoder", inputs, sequence_length, merge_repeated=merge_repeated)
    return [SparseTensor(indices, values, dims)], score


@public("nn.ctc_beam_search_decoder")
def ctc_beam_search_decoder(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1, merge_repeated: bool = True
) -> Any:
    """The most probable label sequences, found with a beam of some width, and their log-probabilities."""
    indices, values, dims, score = apply(
        "CTCBeamSearchDecoder", inputs, sequence_length, beam_width=beam_width, top_paths=top_paths, merge_repeated=merge_repeated
    )
    return [SparseTensor(i, v, d) for i, v, d in zip(indices, values, dims)], score


@public("nn.ctc_beam_search_decoder_v2")
def ctc_beam_search_decoder_v2(inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1) -> Any:
    """The same, with repeated labels left as they are."""
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, merge_repeated=False)
