"""Ops that find the splits of nodes by the sums of gradients and hessians that accumulators gave out."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow import _native
from everflow.contrib.boosted_trees.growing import Learner
from everflow.contrib.boosted_trees.stamped import Kernel
from everflow.errors import internal_error, invalid_argument
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import not_differentiable, op
from everflow.proto.tensorflow.contrib.boosted_trees.proto import split_info_pb2 as splitting
from everflow.values.texts import text_array


class _Sums:
    """Rows of statistics, sorted by the node that they are of."""

    def __init__(self, nodes: Any, ids: Any, gradients: Any, hessians: Any, complaint: str) -> None:
        self.nodes, self.ids = nodes.cpu().numpy(), ids.cpu().numpy()
        count = len(self.nodes)
        self.gradients, self.hessians = (
            np.ascontiguousarray(t.cpu().flatten(1).numpy() if t.dim() > 1 else t.cpu().numpy()[:, None]) for t in (gradients, hessians)
        )
        steps = np.diff(self.nodes)
        if (steps < 0).any():
            raise invalid_argument(complaint)
        self.starts = np.concatenate([[0], np.nonzero(steps)[0] + 1, [count]]) if count else np.zeros(1, np.int64)

    def filled(self) -> Any:
        """The numbers of nodes of which there is more than the row that sums up all."""
        return np.nonzero(np.diff(self.starts) >= 2)[0]


class _Search:
    """A search for splits with one set of settings, and the messages of what it finds."""

    def __init__(self, sums: _Sums, batches: Any, settings: tuple[Any, ...]) -> None:
        class_id, column, l1, l2, complexity, least, strategy = settings
        if int(strategy) not in Learner.MultiClassStrategy.values():
            raise invalid_argument("Wrong multiclass strategy passed.")
        self._sums, self._class, self.column = sums, int(class_id), int(column)
        self._width = 1 if int(strategy) == Learner.TREE_PER_CLASS else sums.gradients.shape[1]
        scale = np.float32(1.0) / np.float32(int(batches))
        self.native = _native.SplitSearch(float(l1), float(l2), float(complexity), float(least), int(strategy), float(scale))

    def run(self, how: str, starts: Any, *more: Any, rows: int | None = None) -> None:
        """Searches; what is found is for each node, or for all of them (`rows`)."""
        nodes = len(starts) - 1
        rows = nodes if rows is None else rows
        self.places: np.ndarray = np.zeros(rows, np.int64)
        self.gains, self.goes_right = np.zeros(rows, np.float32), np.zeros(rows, bool)
        self._leaves, self._filled = np.zeros((nodes, 2, self._width), np.float32), np.zeros((nodes, 2), bool)
        found = _native.FoundSplits(self.gains, self.places, self.goes_right, self._leaves, self._filled)
        try:
            getattr(self.native, how)(starts, *more, self._sums.gradients, self._sums.hessians, found)
        except (ValueError, IndexError) as e:
            raise internal_error(str(e)) from e

    def fill(self, leaf: Any, node: int, side: int) -> None:
        """Has a leaf say what was found for a side of a node."""
        if not self._filled[node, side]:
            return
        values = self._leaves[node, side].tolist()
        if self._class == -1:
            leaf.vector.value.extend(values)
        elif len(values) == 1:
            leaf.sparse_vector.index.append(self._class)
            leaf.sparse_vector.value.extend(values)
        else:
            raise internal_error(f"Weight contribution size = {len(values)}")


def _outputs(nodes: Any, gains: Any, splits: list[Any]) -> tuple[Any, Any, Any]:
    texts = text_array([split.SerializeToString() for split in splits], (len(splits),))
    return torch.from_numpy(np.ascontiguousarray(nodes, np.int32)), torch.from_numpy(np.ascontiguousarray(gains, np.float32)), texts


def _nothing() -> tuple[Any, Any, Any]:
    return _outputs([], [], [])


def _node_splits(search: _Search, nodes: Any, describe: Any) -> tuple[Any, Any, Any]:
    """A split for each node; `describe` says what it looks at."""
    splits = []
    for i in range(len(nodes)):
        split = splitting.SplitInfo()
        describe(split.split_node, i)
        split.left_child.SetInParent()
        split.right_child.SetInParent()
        search.fill(split.left_child, i, 0)
        search.fill(split.right_child, i, 1)
        splits.append(split)
    return _outputs(nodes, search.gains, splits)


def _layer_split(search: _Search, nodes: Any, describe: Any) -> tuple[Any, Any, Any]:
    """One split for all nodes."""
    split = splitting.ObliviousSplitInfo()
    describe(split.split_node)
    for i, node in enumerate(nodes.tolist()):
        for side in (0, 1):
            search.fill(split.children.add(), i, side)
        split.children_parent_id.append(node)
    return _outputs(nodes, search.gains, [split])


def _threshold(boundaries: Any, bucket: int) -> float:
    if not 0 <= bucket < len(boundaries):
        raise invalid_argument(f"There is no boundary of bucket {bucket}.")
    return float(boundaries[bucket])


def _dense(node: Node) -> Kernel:
    def run(batches: Any, nodes: Any, buckets: Any, gradients: Any, hessians: Any, boundaries: Any, *given: Any) -> Any:
        *settings, learner = given
        sums = _Sums(nodes, buckets, gradients, hessians, "Input should be sorted.")
        edges = boundaries.cpu().numpy()
        if not len(edges) or len(sums.starts) < 2:
            return _nothing()
        search = _Search(sums, batches, tuple(settings))
        found = sums.nodes[sums.starts[:-1]]
        ids = np.ascontiguousarray(sums.ids[:, 0])
        if int(learner) == Learner.OBLIVIOUS_DECISION_TREE:
            search.run("layer", sums.starts, ids, True, rows=1)

            def describe_layer(made: Any) -> None:
                split = made.oblivious_dense_float_binary_split
                split.feature_column, split.threshold = search.column, _threshold(edges, int(search.places[0]))
                split.SetInParent()

            return _layer_split(search, found, describe_layer)
        search.run("ordered", sums.starts)

        def describe(made: Any, i: int) -> None:
            split = made.dense_float_binary_split
            split.feature_column, split.threshold = search.column, _threshold(edges, int(ids[search.places[i]]))
            split.SetInParent()

        return _node_splits(search, found, describe)

    return run


def _sparse(node: Node) -> Kernel:
    def run(batches: Any, nodes: Any, buckets: Any, gradients: Any, hessians: Any, boundaries: Any, *given: Any) -> Any:
        class_id, column, bias, *settings = given
        sums = _Sums(nodes, buckets, gradients, hessians, "Partition ids should be sorted.")
        edges, filled = boundaries.cpu().numpy(), sums.filled()
        if not len(filled):
            return _nothing()
        begins = sums.starts[filled]
        if (sums.ids[begins, 0] != int(bias)).any():
            raise invalid_argument("Bias feature ID missing.")
        if (sums.ids[begins, 1] != 0).any():
            raise invalid_argument("Bias feature ID must be with dimension 0.")
        search = _Search(sums, batches, (class_id, column, *settings))
        _run_chosen(search, "sparse", sums, filled, np.ascontiguousarray(sums.ids[:, 1]))

        def describe(made: Any, i: int) -> None:
            bucket, dimension = sums.ids[search.places[i]].tolist()
            side = made.sparse_float_binary_split_default_right if search.goes_right[i] else made.sparse_float_binary_split_default_left
            split = side.split
            split.feature_column, split.dimension_id, split.threshold = search.column, dimension, _threshold(edges, bucket)
            split.SetInParent()

        return _node_splits(search, sums.nodes[begins], describe)

    return run


def _run_chosen(search: _Search, how: str, sums: _Sums, chosen: Any, *more: Any) -> None:
    """Searches in some of the nodes: the rows of the others are left out."""
    keep = np.repeat(np.isin(np.arange(len(sums.starts) - 1), chosen), np.diff(sums.starts))
    rows = np.nonzero(keep)[0]
    sizes = np.diff(sums.starts)[chosen]
    sums.gradients, sums.hessians = sums.gradients[rows], sums.hessians[rows]
    search.run(how, np.concatenate([[0], np.cumsum(sizes)]), *(np.ascontiguousarray(column[rows]) for column in more))
    search.places = rows[search.places]


def _equal(node: Node) -> Kernel:
    def run(batches: Any, nodes: Any, features: Any, gradients: Any, hessians: Any, *given: Any) -> Any:
        class_id, column, bias, *settings, learner = given
        sums = _Sums(nodes, features, gradients, hessians, "Partition IDs must be sorted.")
        filled = sums.filled()
        if not len(filled):
            return _nothing()
        ids = np.ascontiguousarray(sums.ids[:, 0])
        search = _Search(sums, batches, (class_id, column, *settings))
        is_layered = int(learner) == Learner.OBLIVIOUS_DECISION_TREE
        # For a layer TensorFlow takes as many nodes from the first on, filled or not.
        starts = sums.starts[: len(filled) + 1] if is_layered else sums.starts[filled]
        begins = starts[: len(filled)]
        if (ids[begins] != int(bias)).any():
            raise invalid_argument("Bias feature ID missing.")
        if is_layered:
            search.run("layer", starts, ids, False, rows=1)

            def describe_layer(made: Any) -> None:
                split = made.oblivious_categorical_id_binary_split
                split.feature_column, split.feature_id = search.column, int(search.places[0])
                split.SetInParent()

            return _layer_split(search, sums.nodes[begins], describe_layer)
        _run_chosen(search, "equal", sums, filled)

        def describe(made: Any, i: int) -> None:
            split = made.categorical_id_binary_split
            split.feature_column, split.feature_id = search.column, int(ids[search.places[i]])
            split.SetInParent()

        return _node_splits(search, sums.nodes[begins], describe)

    return run


def _splits_shape(o: Operation) -> list[Any]:
    shapes.with_rank(o.inputs[0].dims, 0)
    shapes.with_rank(o.inputs[1].dims, 1)
    shapes.with_rank(o.inputs[2].dims, 2)
    return [(None,)] * 3


op("BuildDenseInequalitySplits", kernel=_dense, shape=_splits_shape, gradient=not_differentiable)
op("BuildSparseInequalitySplits", kernel=_sparse, shape=_splits_shape, gradient=not_differentiable)
op("BuildCategoricalEqualitySplits", kernel=_equal, shape=_splits_shape, gradient=not_differentiable)
