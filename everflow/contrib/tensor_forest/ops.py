"""Ops of random forests: trees and statistics as resources, growing and asking them."""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from everflow import _native
from everflow.compat import as_bytes, as_str
from everflow.contrib.tensor_forest.settings import columns_of, message_of, settings_of
from everflow.errors import failed_precondition, invalid_argument, unimplemented
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import not_differentiable, op
from everflow.ops.core.shape_rules import same_as_input, scalar
from everflow.values.texts import text_array

Kernel = Callable[..., Any]


class Grown:
    """A tree or its statistics behind a handle; None until made."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.native: Any = None
        self.lock = threading.RLock()

    @property
    def value(self) -> Any:
        """The same, as DestroyResourceOp asks for it."""
        return self.native

    def missing(self) -> str:
        """What to say when it was not made."""
        return f"Resource of a forest's {self.kind} does not exist."

    def forget(self) -> None:
        """What destroying the resource does."""
        self.native = None


@contextlib.contextmanager
def _complaints() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise invalid_argument(str(error)) from None


def _made(resource: Grown) -> Any:
    if resource.native is None:
        raise failed_precondition(f"Resource of a forest's {resource.kind} was not initialized.")
    return resource.native


def _params(node: Node) -> bytes:
    params = node.attr("params")
    # Attributes are text; bytes that are none are kept as surrogates.
    return params if isinstance(params, bytes) else params.encode("utf-8", "surrogateescape")


def _handle(kind: str) -> Callable[[Node], Kernel]:
    def factory(node: Node) -> Kernel:
        container, name = node.attr("container"), node.attr("shared_name") or node.name
        return lambda: node.context.resources.get(container, f"forest {kind}", name, lambda: Grown(kind))

    return factory


def _is_made(node: Node) -> Kernel:
    return lambda resource: torch.tensor(resource.native is not None)


def _one_text(config: Any, what: str) -> bytes:
    if np.ndim(config):
        raise invalid_argument(f"{what} config must be a scalar.")
    return as_bytes(config.item() if hasattr(config, "item") else config)


def _load(native: str, what: str, creates: bool) -> Callable[[Node], Kernel]:
    def factory(node: Node) -> Kernel:
        settings = settings_of(_params(node))

        def run(resource: Grown, config: Any) -> Any:
            text = _one_text(config, what)
            with resource.lock, _complaints():
                if resource.native is None:
                    if not creates:
                        raise failed_precondition(f"Resource of a forest's {resource.kind} was not initialized.")
                    resource.native = getattr(_native, native)(settings, text)
                elif not creates:
                    resource.native.load(text)
            return ()

        return run

    return factory


def _save(node: Node) -> Kernel:
    def run(resource: Grown) -> Any:
        with resource.lock:
            return text_array([_made(resource).save()], ())

    return run


def _size(node: Node) -> Kernel:
    return lambda resource: torch.tensor(_made(resource).size, dtype=torch.int32)


def _array(value: Any, dtype: Any, rank: int) -> Any:
    """A contiguous array of this rank; an empty one where the value has another rank, which means that it is not there."""
    array = np.ascontiguousarray(value.cpu().numpy(), dtype)
    return array if array.ndim == rank else np.zeros((0,) * rank, dtype)


def _batch(dense: Any, indices: Any, values: Any, shape: Any) -> tuple[list[Any], int]:
    arrays = [_array(dense, np.float32, 2), _array(indices, np.int64, 2), _array(values, np.float32, 1)]
    if dense.ndim == 2:
        return arrays, int(dense.shape[0])
    return arrays, int(shape[0]) if indices.ndim == 2 else 0


def _traverse(node: Node) -> Kernel:
    columns = columns_of(as_str(node.attr("input_spec")))

    def run(tree: Grown, *given: Any) -> Any:
        arrays, count = _batch(*given)
        leaves = np.empty(count, np.int32)
        with tree.lock, _complaints():
            _made(tree).leaves(columns, *arrays, leaves, torch.get_num_threads())
        return torch.from_numpy(leaves)

    return run


def _predict(node: Node) -> Kernel:
    columns, params = columns_of(as_str(node.attr("input_spec"))), message_of(_params(node))
    outputs, with_paths = params.num_outputs, params.inference_tree_paths

    def run(tree: Grown, *given: Any) -> Any:
        arrays, count = _batch(*given)
        answers = np.empty((count, outputs), np.float32)
        with tree.lock, _complaints():
            _made(tree).predict(columns, *arrays, answers, torch.get_num_threads())
            paths = _made(tree).paths(columns, *arrays, count) if with_paths else []
        return torch.from_numpy(answers), text_array(paths, (len(paths),))

    return run


def _targets(labels: Any, weights: Any, regression: bool) -> tuple[Any, Any]:
    """Labels in rows, of which classification has one number each, and weights."""
    numbers = np.ascontiguousarray(labels.cpu().numpy(), np.float32)
    width = max(1, numbers.shape[1]) if regression and numbers.ndim > 1 else 1
    rows = len(numbers)
    return np.ascontiguousarray(numbers.reshape(-1)[: rows * width].reshape(rows, width)), _array(weights.reshape(-1), np.float32, 1)


def _update(node: Node) -> Kernel:
    regression = message_of(_params(node)).is_regression

    def run(tree: Grown, leaves: Any, labels: Any, weights: Any) -> Any:
        with tree.lock, _complaints():
            _made(tree).update(_array(leaves.reshape(-1), np.int32, 1), *_targets(labels, weights, regression))
        return ()

    return run


def _process(node: Node) -> Kernel:
    columns, regression = columns_of(as_str(node.attr("input_spec"))), message_of(_params(node)).is_regression
    fixed = node.attr("random_seed")

    def run(tree: Grown, stats: Grown, dense: Any, indices: Any, values: Any, shape: Any, labels: Any, weights: Any, leaves: Any) -> Any:
        arrays, count = _batch(dense, indices, values, shape)
        reached = _array(leaves.reshape(-1), np.int32, 1)
        if len(reached) != count:
            raise invalid_argument(f"There are {len(reached)} leaves for {count} examples.")
        # Negative seeds stand for what they are as 64 bits.
        seed = fixed % 2**64 if fixed else random.SystemRandom().getrandbits(64)
        with stats.lock, tree.lock, _complaints():
            _made(tree)
            targets = _targets(labels, weights, regression)
            finished = _made(stats).process(columns, *arrays, *targets, reached, seed, torch.get_num_threads())
        return torch.tensor(finished, dtype=torch.int32)

    return run


def _grow(node: Node) -> Kernel:
    def run(tree: Grown, stats: Grown, finished: Any) -> Any:
        with stats.lock, tree.lock, _complaints():
            _made(stats).grow(_made(tree), _array(finished.reshape(-1), np.int32, 1))
        return ()

    return run


def _finalize(node: Node) -> Kernel:
    regression = message_of(_params(node)).is_regression

    def run(tree: Grown, stats: Grown) -> Any:
        _made(stats)
        _made(tree)
        # TensorFlow 1.15.5 ends the program here unless there is nothing to do.
        if not regression:
            raise unimplemented("FinalizeTreeOp is disabled for now.")
        return ()

    return run


def _count_features(node: Node) -> Kernel:
    features = message_of(_params(node)).num_features

    def run(tree: Grown) -> Any:
        counts = np.zeros(features, np.int32)
        with tree.lock:
            _made(tree).count_features(counts)
        return torch.from_numpy(counts)

    return run


def _rows_of(o: Operation) -> int | None:
    shape = o.inputs[1].get_shape()
    return (shape.as_list()[0] or None) if shape.ndims else None


def _no_shapes(o: Operation) -> list[Any]:
    return []


op("DecisionTreeResourceHandleOp", kernel=_handle("tree"), shape=scalar)
op("TreeIsInitializedOp", kernel=_is_made, shape=scalar)
op("CreateTreeVariable", kernel=_load("ForestTree", "Tree", creates=True), shape=_no_shapes, writes=True)
op("TreeDeserialize", kernel=_load("ForestTree", "Tree", creates=False), shape=_no_shapes, writes=True, gradient=not_differentiable)
op("TreeSerialize", kernel=_save, shape=scalar, gradient=not_differentiable)
op("TreeSize", kernel=_size, shape=scalar, gradient=not_differentiable)
op("TreePredictionsV4", kernel=_predict, shape=lambda o: [(_rows_of(o), None), (None,)], gradient=not_differentiable)
op("TraverseTreeV4", kernel=_traverse, shape=lambda o: (_rows_of(o),))
op("UpdateModelV4", kernel=_update, shape=_no_shapes, writes=True)
op("FeatureUsageCounts", kernel=_count_features, shape=lambda o: (None,), gradient=not_differentiable)
op("FertileStatsResourceHandleOp", kernel=_handle("stats"), shape=scalar)
op("FertileStatsIsInitializedOp", kernel=_is_made, shape=scalar)
op("CreateFertileStatsVariable", kernel=_load("ForestStats", "Stats", creates=True), shape=_no_shapes, writes=True)
op(
    "FertileStatsDeserialize",
    kernel=_load("ForestStats", "Stats", creates=False),
    shape=_no_shapes,
    writes=True,
    gradient=not_differentiable,
)
op("FertileStatsSerialize", kernel=_save, shape=scalar, gradient=not_differentiable)
op("ProcessInputV4", kernel=_process, shape=lambda o: (None,), writes=True, gradient=not_differentiable)
op("GrowTreeV4", kernel=_grow, shape=_no_shapes, writes=True, gradient=not_differentiable)
op("FinalizeTree", kernel=_finalize, shape=_no_shapes, writes=True, gradient=not_differentiable)


def _text_as_float(node: Node) -> Kernel:
    def run(texts: Any) -> Any:
        numbers = np.empty(np.size(texts), np.float32)
        _native.hashes_as_floats(texts, numbers)
        return torch.from_numpy(numbers.reshape(np.shape(texts)))

    return run


op("ReinterpretStringToFloat", kernel=_text_as_float, shape=same_as_input)


def _scatter_add(node: Node) -> Kernel:
    def run(variable: Any, indices: Any, deltas: Any) -> Any:
        if not len(indices):
            return ()
        if indices.ndim != 2:
            raise invalid_argument("indices should be two-dimensional")
        with variable.lock:
            value = variable.held()
            if indices.shape[1] + deltas.ndim != value.ndim + 1:
                raise invalid_argument("Number of indices dimensions should be the same as input rank.")
            if len(indices) != len(deltas):
                raise invalid_argument("Number of updates should be same as number of indices.")
            places = tuple(indices.to(torch.int64).unbind(1))
            value.index_put_(places, deltas, accumulate=True)
        return ()

    return run


op("ScatterAddNdim", kernel=_scatter_add, shape=_no_shapes, writes=True)
