"""Trees of gradient boosting at run time: the message that checkpoints hold, how it grows, and tables to walk it by."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow import _native
from everflow.contrib.boosted_trees.dropout import Dropped
from everflow.contrib.boosted_trees.stamped import Stamped
from everflow.errors import internal_error, invalid_argument
from everflow.proto.tensorflow.contrib.boosted_trees.proto import learner_pb2 as learning
from everflow.proto.tensorflow.contrib.boosted_trees.proto import tree_config_pb2 as messages

# What a node is called in the message, in the order of its fields: their numbers are the kinds that native code knows.
_KINDS = {field.name: field.number for field in messages.TreeNode.DESCRIPTOR.oneofs_by_name["node"].fields}
_WITHIN = ("sparse_float_binary_split_default_left", "sparse_float_binary_split_default_right")


def kind_of(node: Any) -> int:
    """The number of a node's kind: less is simpler; none has 0."""
    return _KINDS.get(node.WhichOneof("node"), 0)


def split_of(node: Any) -> Any:
    """The split of a node with two below it; None for leaves and for the splits of whole layers."""
    name = node.WhichOneof("node")
    if name is None:
        return None
    split = getattr(node, name)
    split = split.split if name in _WITHIN else split
    return split if hasattr(split, "left_id") else None


def learner_of(serialized: bytes) -> learning.LearnerConfig:
    """The settings of a learner from an attribute."""
    try:
        return learning.LearnerConfig.FromString(serialized)
    except Exception as e:
        raise invalid_argument("Unable to parse learner config.") from e


class GrowingEnsemble(Stamped):
    """Trees, of which the last one may still grow."""

    kind = "tree ensemble"

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        self.message = messages.DecisionTreeEnsembleConfig()
        self._rows: list[Any] = []
        self._table: Any = None

    def set(self, stamp: int, serialized: bytes) -> None:
        """Takes an ensemble from a checkpoint or an initial value."""
        try:
            message = messages.DecisionTreeEnsembleConfig.FromString(serialized)
        except Exception as e:
            raise invalid_argument("Unable to parse tree ensemble config.") from e
        self.clear()
        self.message, self.stamp = message, stamp

    # The last tree

    @property
    def last(self) -> Any:
        """What is known of the last tree."""
        return self.message.tree_metadata[-1]

    def is_done(self) -> bool:
        """Whether there is no tree that still grows."""
        return not self.message.trees or self.last.is_finalized

    def attempt(self) -> None:
        """Notes that a layer is tried, and maybe a tree."""
        growing = self.message.growing_metadata
        growing.num_layers_attempted += 1
        if self.is_done():
            growing.num_trees_attempted += 1

    def add_tree(self, weight: float) -> Any:
        """A tree without nodes."""
        self.message.tree_weights.append(weight)
        self.message.tree_metadata.add(num_layers_grown=1)
        return self.message.trees.add()

    def remove_tree(self) -> None:
        """Takes the last tree away."""
        for held in (self.message.trees, self.message.tree_weights, self.message.tree_metadata):
            del held[-1]

    def changed(self) -> None:
        """Notes that the last tree, or the number of trees, is another than before."""
        del self._rows[max(0, len(self.message.trees) - 1) :]
        self._table = None

    def use(self, handler: int) -> None:
        """Notes that a handler's split was taken; in order, each once."""
        used = self.message.growing_metadata.used_handler_ids
        used[:] = sorted({*used, handler})

    def reweigh(self, dropped: Dropped) -> None:
        """Shares the weight of trees that were left out with the last one, which was made in their place."""
        weights, count = self.message.tree_weights, len(dropped.trees)
        if not count:
            return
        total = np.float32(sum(float(w) for w in dropped.weights))
        weights[-1] = total / np.float32(count + 1)
        self.last.num_tree_weight_updates += 1
        for tree, weight in zip(dropped.trees, dropped.weights):
            weights[tree] = weight * np.float32(count) / np.float32(count + 1)
            self.message.tree_metadata[tree].num_tree_weight_updates += 1

    # Walking

    def table(self) -> _native.TreeTable:
        """The trees as native code walks them."""
        if self._table is None:
            self._rows += [_rows_of(tree) for tree in self.message.trees[len(self._rows) :]]
            self._table = _native.TreeTable(*_joined(self._rows))
        return self._table


def _rows_of(tree: Any) -> tuple[Any, ...]:
    """(Nodes, thresholds, members of sets, number of values of each node, logits, values)."""
    nodes: list[list[int]] = []
    thresholds, members, counts, logits, values = [], list[int](), [], [], []
    for node in tree.nodes:
        name = node.WhichOneof("node")
        kind = _KINDS.get(name, 0)
        row, threshold, count = [kind, 0, 0, 0, 0, 0, 0], 0.0, 0
        if name == "leaf":
            vector = getattr(node.leaf, node.leaf.WhichOneof("leaf") or "vector")
            own = list(getattr(vector, "index", range(len(vector.value))))
            if len(own) != len(vector.value):
                raise internal_error("A leaf has as many indices as values.")
            logits += own
            values += vector.value
            count = len(own)
        elif name is not None:
            split = getattr(node, name)
            split = split.split if name in _WITHIN else split
            threshold = getattr(split, "threshold", 0.0)
            ids = getattr(split, "feature_ids", ())
            row[1:] = [
                split.feature_column,
                getattr(split, "feature_id", getattr(split, "dimension_id", 0)),
                getattr(split, "left_id", 0),
                getattr(split, "right_id", 0),
                len(members),
                len(members) + len(ids),
            ]
            members += ids
        nodes.append(row)
        thresholds.append(threshold)
        counts.append(count)
    return (
        np.array(nodes, np.int64).reshape(-1, 7),
        np.array(thresholds, np.float32),
        np.array(members, np.int64),
        np.array(counts, np.int64),
        np.array(logits, np.int64),
        np.array(values, np.float32),
    )


def _joined(trees: list[Any]) -> list[Any]:
    """The tables of several trees as one."""
    types = (np.int64, np.float32, np.int64, np.int64, np.int64, np.float32)
    columns: Any = zip(*trees) if trees else [[np.zeros((0, 7), np.int64)], *([np.zeros(0, t)] for t in types[1:])]
    nodes, thresholds, members, counts, logits, values = (np.concatenate(column) for column in columns)
    starts = np.cumsum([0, *(len(tree[0]) for tree in trees)])
    offsets = np.repeat(np.cumsum([0, *(len(tree[2]) for tree in trees)])[:-1], np.diff(starts))
    nodes[:, 5:] += offsets[:, None]
    return [nodes, thresholds, members, starts, np.concatenate([[0], np.cumsum(counts)]), logits, values]
