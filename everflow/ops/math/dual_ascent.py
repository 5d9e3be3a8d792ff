"""Stochastic dual coordinate ascent for linear models: a pass over the examples of a batch, and shrinking weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow import _native
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import generated, not_differentiable, op

Kernel = Callable[..., Any]
_SIGNED = ("logistic_loss", "hinge_loss", "smooth_hinge_loss")


def _check_labels(labels: Any, kind: str) -> None:
    if kind in _SIGNED:
        wrong = labels[(labels != 0) & (labels != 1)]
        message = "Only labels of 0.0 or 1.0 are supported right now. Found example with label: "
    elif kind == "poisson_loss":
        wrong = labels[labels < 0]
        message = "Only non-negative labels can be used with the Poisson log loss. Found example with label: "
    else:
        return
    if wrong.numel():
        raise invalid_argument(f"{message}{wrong[0].item():g}")


class _Columns:
    """All features of the examples as one sparse matrix, and the weights of its columns."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._rows: list[Any] = []
        self._columns: list[Any] = []
        self._values: list[Any] = []
        self._weights: list[Any] = []
        self._width = 0

    def _add(self, rows: Any, columns: Any, values: Any, weights: Any) -> None:
        self._rows.append(rows)
        self._columns.append(columns + self._width)
        self._values.append(values)
        self._weights.append(weights.reshape(-1))
        self._width += weights.numel()

    def add_sparse(self, rows: Any, ids: Any, values: Any, known_ids: Any, weights: Any) -> None:
        """A feature of ids; where it is said which ids the weights are for, ids are looked up among them."""
        if known_ids.numel():
            order = torch.argsort(known_ids)
            ordered = known_ids[order]
            places = torch.searchsorted(ordered, ids).clamp_(max=len(ordered) - 1)
            unknown = ids[ordered[places] != ids]
            ids = order[places]
        else:
            unknown = ids[(ids < 0) | (ids >= weights.numel())]
        if unknown.numel():
            raise invalid_argument(f"Found sparse feature indices out of valid range: {unknown[0].item()}")
        self._add(rows, ids, torch.ones_like(ids, dtype=torch.float32) if values is None else values, weights)

    def add_dense(self, matrix: Any, weights: Any) -> None:
        """A feature of numbers."""
        width = matrix.shape[1] if matrix.ndim > 1 else 1
        if width > weights.numel():
            raise invalid_argument(f"More dense features than we have parameters for: {width}")
        rows = torch.arange(self._count).repeat_interleave(width)
        self._add(rows, torch.arange(width).repeat(self._count), matrix.reshape(-1), weights)

    def matrix(self) -> tuple[Any, Any, Any, Any]:
        """Where rows start, the columns and values of their numbers, and the weights of all columns."""
        if not self._rows:
            empty = torch.zeros(0)
            return torch.zeros(self._count + 1, dtype=torch.int64), empty.long(), empty, empty
        rows = torch.cat(self._rows)
        if rows.numel() and (int(rows.min()) < 0 or int(rows.max()) >= self._count):
            raise invalid_argument("Error encountered in examples: sparse_example_indices out of range")
        order = torch.argsort(rows, stable=True)
        starts = torch.zeros(self._count + 1, dtype=torch.int64)
        torch.cumsum(torch.bincount(rows, minlength=self._count), 0, out=starts[1:])
        columns, values = torch.cat(self._columns)[order], torch.cat(self._values)[order].float()
        if _native.sdca_repeats_columns(starts.numpy(), columns.numpy(), self._width):
            raise invalid_argument("Duplicate index in sparse vector.")
        return starts, columns.contiguous(), values.contiguous(), torch.cat(self._weights).float().contiguous()


def _optimizer(node: Node) -> Kernel:
    sparse, with_values, dense = (node.attr(f"num_{kind}") for kind in ("sparse_features", "sparse_features_with_values", "dense_features"))
    kind, l1, l2 = node.attr("loss_type"), node.attr("l1"), node.attr("l2")
    partitions, passes = float(node.attr("num_loss_partitions")), node.attr("num_inner_iterations")
    adaptive = node.attr("adaptive" if node.type == "SdcaOptimizerV2" else "adaptative")
    kind = kind.decode() if isinstance(kind, bytes) else kind
    # It goes on from run to run: with the same draws in each, an example that they leave out would never have its turn.
    random = np.random.RandomState(0)

    def run(*given: Any) -> Any:
        device = given[2 * sparse + with_values + dense].device
        inputs = iter([tensor.cpu() for tensor in given])

        def take(n: int) -> list[Any]:
            return [next(inputs) for _ in range(n)]

        rows, ids, values, numbers = take(sparse), take(sparse), take(with_values), take(dense)
        weights_of_examples, labels = take(2)
        known_ids, sparse_weights, dense_weights = take(sparse), take(sparse), take(dense)
        (state,) = take(1)
        count = weights_of_examples.numel()
        if tuple(state.shape) != (count, 4):
            raise invalid_argument(f"Expected shape [{count},4] for example_state_data, got [{','.join(map(str, state.shape))}]")
        _check_labels(labels, kind)
        columns = _Columns(count)
        for i in range(sparse):
            columns.add_sparse(rows[i], ids[i], values[i] if i < with_values else None, known_ids[i], sparse_weights[i])
        for matrix, weights in zip(numbers, dense_weights):
            columns.add_dense(matrix, weights)
        starts, places, numbers_of, nominal = (t.numpy() for t in columns.matrix())
        state = state.clone().contiguous()
        changes = np.zeros_like(nominal)
        examples = labels.reshape(-1).contiguous().numpy(), weights_of_examples.reshape(-1).contiguous().numpy()
        for _ in range(passes):
            order = _sampled(random, starts, places, numbers_of, nominal, examples, state.numpy(), kind, l1, l2) if adaptive else None
            if order is None:
                # Each pass takes the examples in another order.
                order = random.permutation(count)[::-1].astype(np.int64).copy()
            _native.sdca_pass(
                order, starts, places, numbers_of, nominal, changes, *examples, state.numpy(), kind, float(l1), float(l2), partitions
            )
        parts = np.split(changes, np.cumsum([w.numel() for w in [*sparse_weights, *dense_weights]])[:-1]) if sparse + dense else []
        deltas = [torch.from_numpy(part).reshape(w.shape).to(device) for part, w in zip(parts, [*sparse_weights, *dense_weights])]
        return (state.to(device), *deltas) if deltas else state.to(device)

    return run


def _sampled(
    random: Any, starts: Any, places: Any, values: Any, weights: Any, examples: Any, state: Any, kind: str, l1: float, l2: float
) -> Any:
    """Examples drawn by what a step of theirs could win; None where there is nothing to win."""
    out = np.zeros(len(starts) - 1)
    labels, example_weights = examples
    _native.sdca_residues(starts, places, values, weights, labels, example_weights, state, kind, float(l1), float(l2), out)
    total = out.sum()
    # Before the first pass no example has a state, and all are taken.
    if not (total > 0 and np.isfinite(total)) or not state[:, 3].any():
        return None
    order = np.empty(len(out), dtype=np.int64)
    _native.sdca_draw(out, random.randint(2**31), order)
    return order


def _optimizer_shape(o: Operation) -> Any:
    sparse, with_values, dense = (o.get_attr(f"num_{k}") for k in ("sparse_features", "sparse_features_with_values", "dense_features"))
    before = 2 * sparse + with_values + dense + 2 + sparse
    return [(None, 4), *(o.inputs[before + i].dims for i in range(sparse + dense))]


def _shrink(node: Node) -> Kernel:
    shrinkage = node.attr("l1") / node.attr("l2")

    def run(*slots: Any) -> Any:
        for slot in slots:
            with slot.lock:
                held = slot.held()
                held.copy_(held.sign() * (held.abs() - shrinkage).clamp_(min=0))
        return ()

    return run


def _fingerprint(node: Node) -> Kernel:
    def run(texts: Any) -> Any:
        flat = texts.reshape(-1)
        out = np.empty((len(flat), 2), dtype=np.int64)
        _native.farm_fingerprints_128(flat, out)
        return torch.from_numpy(out)

    return run


for _name in ("SdcaOptimizer", "SdcaOptimizerV2"):
    op(_name, kernel=_optimizer, shape=_optimizer_shape, gradient=not_differentiable)
op("SdcaShrinkL1", kernel=_shrink, shape=lambda o: [], gradient=not_differentiable, writes=True)
op("SdcaFprint", kernel=_fingerprint, shape=lambda o: (shapes.with_rank(o.inputs[0].dims, 1)[0], 2), gradient=not_differentiable)


sdca_optimizer = public("train.sdca_optimizer")(generated("SdcaOptimizer"))
sdca_shrink_l1 = public("train.sdca_shrink_l1")(generated("SdcaShrinkL1"))
sdca_fprint = public("train.sdca_fprint")(generated("SdcaFprint"))
