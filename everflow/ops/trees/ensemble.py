"""An ensemble of trees at run time: the message that checkpoints hold, and arrays to walk its trees by."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from everflow import _native
from everflow.errors import invalid_argument
from everflow.lazy import torch
from everflow.proto.tensorflow.core.kernels.boosted_trees import boosted_trees_pb2 as messages

NO_PRUNING, PRE_PRUNING, POST_PRUNING = 0, 1, 2


def leaf_values(leaf: Any, width: int) -> list[float]:
    """What a leaf adds to the logits."""
    if leaf.HasField("vector"):
        return list(leaf.vector.value) or [0.0] * width
    return [leaf.scalar] * width


def set_leaf(leaf: Any, values: Any) -> None:
    """Makes a leaf add these numbers: as one where there is one logit."""
    if len(values) == 1:
        leaf.scalar = float(values[0])
    else:
        leaf.vector.value[:] = [float(v) for v in values]


def split_of(node: Any) -> Any:
    """The split of a node, or None for a leaf."""
    kind = node.WhichOneof("node")
    return None if kind in (None, "leaf") else getattr(node, kind)


class Ensemble:
    """Trees that grow layer by layer. `version` counts the changes."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.stamp = -1
        self.message = messages.TreeEnsemble()
        self.is_made = False
        self._arrays: Any = None
        # The arrays of the trees before the last, and what they were made for.
        self._grown: list[tuple[Any, Any]] = []
        self._grown_for: Any = None

    def set(self, stamp: int, serialized: bytes) -> None:
        """Takes an ensemble from a checkpoint."""
        message = messages.TreeEnsemble()
        if serialized:
            try:
                message.ParseFromString(serialized)
            except Exception as e:
                raise invalid_argument("Unable to parse tree ensemble proto.") from e
        self.message, self.stamp, self.is_made, self._arrays, self._grown_for = message, stamp, True, None, None

    def changed(self) -> None:
        """Notes that the trees are others than before."""
        self.stamp += 1
        self._arrays = None

    # Growing

    def add_tree(self) -> int:
        """A tree that is one leaf."""
        self.message.trees.add().nodes.add().leaf.SetInParent()
        self.message.tree_weights.append(1.0)
        self.message.tree_metadata.add()
        return len(self.message.trees) - 1

    def counts(self) -> tuple[int, int, int, tuple[int, int]]:
        """How many trees there are, how many are done, how many layers were tried, and the nodes of the last layer."""
        trees = len(self.message.trees)
        done = trees if trees == 0 or self.message.tree_metadata[-1].is_finalized else trees - 1
        growing = self.message.growing_metadata
        nodes = (growing.last_layer_node_start, growing.last_layer_node_end) if trees else (0, 1)
        if trees and nodes == (0, 0):
            nodes = (0, len(self.message.trees[-1].nodes))
        return trees, done, growing.num_layers_attempted, nodes

    def grow(self, splits: list[dict[str, Any]], learning_rate: float, max_depth: int, pruning: int) -> None:
        """Adds a layer: of all splits for a node, the one with the highest gain."""
        if not self.message.trees:
            self.add_tree()
        tree, data, growing = self.message.trees[-1], self.message.tree_metadata[-1], self.message.growing_metadata
        start = len(tree.nodes)
        best: dict[int, dict[str, Any]] = {}
        for split in splits:
            before = best.get(split["node"])
            if before is None or split["gain"] > before["gain"]:
                best[split["node"]] = split
        if len(tree.nodes) == 1:
            growing.num_trees_attempted += 1
        growing.num_layers_attempted += 1
        grown = False
        for node_id, split in sorted(best.items()):
            if pruning == PRE_PRUNING and split["gain"] <= 0:
                continue
            self._split(tree, node_id, split, learning_rate)
            grown = True
        self.changed()
        if not grown and pruning == PRE_PRUNING:
            return
        data.num_layers_grown += 1
        growing.last_layer_node_start, growing.last_layer_node_end = start, len(tree.nodes)
        if data.num_layers_grown >= max_depth or not grown:
            data.is_finalized = True
            if pruning == POST_PRUNING:
                self._prune(tree, data)
            if len(tree.nodes) > 1 or pruning != POST_PRUNING:
                self.add_tree()
            else:
                # Nothing of the tree is left: the next one takes its place.
                data.is_finalized = False
                data.num_layers_grown = 0
            growing.last_layer_node_start, growing.last_layer_node_end = 0, 1

    def _split(self, tree: Any, node_id: int, split: dict[str, Any], learning_rate: float) -> None:
        node = tree.nodes[node_id]
        width = len(split["left"])
        if split_of(node) is not None:
            base, keeps_leaf = [0.0] * width, False
        else:
            base, keeps_leaf = leaf_values(node.leaf, width), any(leaf_values(node.leaf, width))
        original = messages.Leaf()
        original.CopyFrom(node.leaf)
        if split["equality"]:
            made = node.categorical_split
            made.SetInParent()
            made.value = split["threshold"]
        else:
            made = node.bucketized_split
            made.SetInParent()
            made.threshold = split["threshold"]
            made.default_direction = split["default"]
        made.feature_id, made.dimension_id = split["feature"], split["dimension"]
        made.left_id, made.right_id = len(tree.nodes), len(tree.nodes) + 1
        node.metadata.gain = split["gain"]
        if keeps_leaf:
            node.metadata.original_leaf.CopyFrom(original)
        for side in ("left", "right"):
            added = [np.float32(b) + np.float32(learning_rate) * np.float32(x) for b, x in zip(base, split[side])]
            set_leaf(tree.nodes.add().leaf, added)
            tree.nodes[-1].leaf.SetInParent()

    def _prune(self, tree: Any, data: Any) -> None:
        """Takes back splits that gain nothing, from the leaves up; notes where each node went, and how its logits changed."""
        nodes = list(tree.nodes)
        width = max((len(n.leaf.vector.value) for n in nodes if n.leaf.HasField("vector")), default=1)
        removed: set[int] = set()
        pruned: dict[int, Any] = {}

        def is_leaf(i: int) -> bool:
            return split_of(nodes[i]) is None or i in pruned

        for i in reversed(range(len(nodes))):
            split = split_of(nodes[i])
            if split is None or nodes[i].metadata.gain > 0 or not (is_leaf(split.left_id) and is_leaf(split.right_id)):
                continue
            pruned[i] = nodes[i].metadata.original_leaf
            removed.update((split.left_id, split.right_id))
        if not pruned:
            return
        kept = [i for i in range(len(nodes)) if i not in removed]
        new_id = {old: new for new, old in enumerate(kept)}
        # The nearest node above that stayed stands for one that is gone.
        target, change = dict(new_id), {i: [0.0] * width for i in range(len(nodes))}
        for i in range(len(nodes)):
            split = split_of(nodes[i])
            if split is None:
                continue
            for child in (split.left_id, split.right_id):
                if child not in removed:
                    continue
                target[child] = target[i]
                child_leaf = pruned.get(child, nodes[child].leaf if split_of(nodes[child]) is None else nodes[child].metadata.original_leaf)
                own = pruned.get(i, nodes[i].metadata.original_leaf)
                above = change[i] if i in removed else [0.0] * width
                here, there = leaf_values(own, width), leaf_values(child_leaf, width)
                change[child] = [a + float(np.float32(h) - np.float32(t)) for a, h, t in zip(above, here, there)]
        for i in range(len(nodes)):
            data.post_pruned_nodes_meta.add(new_node_id=target[i], logit_change=change[i])
        fresh = messages.Tree()
        for i in kept:
            node = fresh.nodes.add()
            if i in pruned:
                node.leaf.CopyFrom(pruned[i])
                node.leaf.SetInParent()
                continue
            node.CopyFrom(nodes[i])
            split = split_of(node)
            if split is not None:
                split.left_id, split.right_id = new_id[split.left_id], new_id[split.right_id]
        tree.CopyFrom(fresh)

    def center(self, step: Any) -> None:
        """Adds to the bias, which is the root of the first tree."""
        if not self.message.trees:
            self.add_tree()
        leaf = self.message.trees[0].nodes[0].leaf
        now = leaf_values(leaf, len(step))
        set_leaf(leaf, [np.float32(a) + np.float32(b) for a, b in zip(now, step)])
        leaf.SetInParent()
        self._grown_for = None
        self.changed()

    # Walking

    def arrays(self, width: int, columns: list[int]) -> Any:
        """The nodes of all trees for walking, where each tree starts, and the logits of each node."""
        if self._arrays is None or self._arrays[0] != (width, columns):
            self._arrays = ((width, columns), *self._made_arrays(width, columns))
        return self._arrays[1:]

    def _made_arrays(self, width: int, columns: list[int]) -> Any:
        """Only the last tree still grows: what others are is kept."""
        if self._grown_for != (width, columns):
            self._grown, self._grown_for = [], (width, columns)
        count = len(self.message.trees)
        while len(self._grown) < count - 1:
            self._grown.append(self._tree_arrays(len(self._grown), width, columns))
        parts = [*self._grown, self._tree_arrays(count - 1, width, columns)] if count else []
        starts = np.cumsum([0, *(len(nodes) for nodes, _ in parts)])
        nodes = np.concatenate([np.zeros((0, 5), np.int32), *(nodes for nodes, _ in parts)])
        # Nodes of a tree name their children from its root.
        nodes[:, 2:4] += np.repeat(starts[:-1], np.diff(starts)).astype(np.int32)[:, None]
        return nodes, starts.tolist(), np.concatenate([np.zeros((0, width), np.float32), *(values for _, values in parts)])

    def _tree_arrays(self, index: int, width: int, columns: list[int]) -> tuple[Any, Any]:
        tree, weight = self.message.trees[index], self.message.tree_weights[index]
        rows: list[tuple[int, int, int, int, int]] = []
        values: list[list[float]] = []
        for i, node in enumerate(tree.nodes):
            kind = node.WhichOneof("node")
            if kind in (None, "leaf"):
                rows.append((-1, 0, i, i, 0))
                held = node.leaf
            else:
                split = getattr(node, kind)
                column = columns[split.feature_id] + getattr(split, "dimension_id", 0)
                threshold = split.value if kind == "categorical_split" else int(split.threshold)
                rows.append((column, threshold, split.left_id, split.right_id, int(kind == "categorical_split")))
                held = node.metadata.original_leaf
            values.append([weight * v for v in leaf_values(held, width)])
        return np.array(rows, dtype=np.int32).reshape(-1, 5), np.array(values, dtype=np.float32).reshape(-1, width)

    def walked(self, features: Any, nodes: Any, at: Any) -> Any:
        """Where examples arrive that start at given nodes."""
        _native.walk_trees(features, nodes, at, torch.get_num_threads())
        return at


def as_matrix(features: list[Any], count: int | None = None) -> tuple[Any, list[int]]:
    """Bucketized features side by side, and the column where each starts."""
    columns, parts, start = [], [], 0
    for feature in features:
        flat = feature.cpu().reshape(feature.shape[0], -1)
        columns.append(start)
        parts.append(flat)
        start += flat.shape[1]
    matrix = torch.cat(parts, dim=1) if parts else torch.zeros((count or 0, 0), dtype=torch.int32)
    return matrix.to(torch.int32).contiguous().numpy(), columns
