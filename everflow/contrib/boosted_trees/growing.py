"""How an ensemble grows by a layer: of all splits that handlers offer, each node gets the one that gains most."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from everflow.contrib.boosted_trees.dropout import dropped_trees
from everflow.contrib.boosted_trees.ensemble import GrowingEnsemble, kind_of, split_of
from everflow.errors import internal_error, invalid_argument
from everflow.platform.logging import warning
from everflow.proto.tensorflow.contrib.boosted_trees.proto import learner_pb2 as learning
from everflow.proto.tensorflow.contrib.boosted_trees.proto import split_info_pb2 as splitting
from everflow.proto.tensorflow.contrib.boosted_trees.proto import tree_config_pb2 as messages

Learner = learning.LearnerConfig


@dataclasses.dataclass
class Offer:
    """A split that a handler offers."""

    handler: int
    gain: float
    split: Any

    def beats(self, other: Offer | None) -> bool:
        """Whether it is taken in place of another: for more gain, or for a simpler kind, or as it is of a later handler."""
        if other is None:
            return True
        return (self.gain, -kind_of(self.split.split_node), self.handler) > (other.gain, -kind_of(other.split.split_node), other.handler)


def _parsed(kind: Any, serialized: bytes, name: str) -> Any:
    try:
        return kind.FromString(serialized)
    except Exception as e:
        raise invalid_argument(f"Unable to parse {name}.") from e


def _is_filled(leaf: Any) -> bool:
    return leaf.WhichOneof("leaf") is not None


def best_per_node(learner: Any, offers: list[tuple[Any, Any, Any]]) -> dict[int, Offer]:
    """{node: its best split} of (nodes, gains, serialized splits) by handler."""
    best: dict[int, Offer] = {}
    for handler, (nodes, gains, splits) in enumerate(offers):
        for name, other in (("gains", gains), ("splits", splits)):
            if len(nodes) != len(other):
                raise invalid_argument(f"Inconsistent partition Ids and {name} tensors: {len(nodes)} != {len(other)}")
        for node, gain, serialized in zip(nodes, gains, splits):
            offer = Offer(handler, gain, _parsed(splitting.SplitInfo, serialized, "split info"))
            if not kind_of(offer.split.split_node) or (learner.pruning_mode == Learner.PRE_PRUNE and gain < 0):
                continue
            # A leaf that says nothing has no examples: nothing would be split.
            if _is_filled(offer.split.left_child) and _is_filled(offer.split.right_child) and offer.beats(best.get(node)):
                best[node] = offer
    return dict(sorted(best.items()))


def best_of_layer(learner: Any, offers: list[tuple[Any, Any, Any]]) -> Offer | None:
    """The best split for all nodes of a layer."""
    best: Offer | None = None
    for handler, (_, gains, splits) in enumerate(offers):
        for name, given in (("Gains", gains), ("Splits", splits)):
            if len(given) != 1:
                raise invalid_argument(f"{name} size must be one for oblivious weak learner: {len(given)} != 1")
        offer = Offer(handler, gains[0], _parsed(splitting.ObliviousSplitInfo, splits[0], "oblivious split info"))
        children = offer.split.children
        if len(children) % 2:
            raise invalid_argument(f"The oblivious split should generate an even number of children: {len(children)}")
        splits_some = any(_is_filled(left) and _is_filled(right) for left, right in zip(children[::2], children[1::2]))
        if splits_some and not (learner.pruning_mode == Learner.PRE_PRUNE and offer.gain < 0) and offer.beats(best):
            best = offer
    return best


class Grower:
    """Grows an ensemble by the settings of a learner."""

    def __init__(self, learner: Any, center_bias: bool) -> None:
        self._learner, self._center_bias = learner, center_bias
        self._adds_up = learner.growing_mode != Learner.WHOLE_TREE

    def grow(
        self, ensemble: GrowingEnsemble, offers: list[tuple[Any, Any, Any]], rate: float, seed: int, max_depth: int, is_layered: bool
    ) -> None:
        """Adds a layer to the tree that grows, or to a new one."""
        ensemble.attempt()
        layer = best_of_layer(self._learner, offers) if is_layered else None
        nodes = {} if is_layered else best_per_node(self._learner, offers)
        if layer is None and not nodes:
            warning("Not growing tree ensemble as no good splits were found.")
            return
        self._start(ensemble, rate, max_depth)
        if ensemble.last.is_finalized:
            self._reweigh(ensemble, seed)
        tree = ensemble.message.trees[-1]
        for node, offer in nodes.items():
            self._split(ensemble, tree, node, offer)
        if layer is not None:
            self._split_layer(tree, layer)
        if self._learner.pruning_mode == Learner.POST_PRUNE and ensemble.last.is_finalized:
            self._prune(ensemble, tree, rate, max_depth, is_layered)
        ensemble.changed()

    def _start(self, ensemble: GrowingEnsemble, rate: float, max_depth: int) -> None:
        if ensemble.is_done():
            ensemble.add_tree(rate).nodes.add().leaf.SetInParent()
            ensemble.last.is_finalized = max_depth <= 1
            ensemble.last.num_tree_weight_updates = 1
        else:
            ensemble.last.num_layers_grown += 1
            ensemble.last.is_finalized = ensemble.last.num_layers_grown >= max_depth

    def _reweigh(self, ensemble: GrowingEnsemble, seed: int) -> None:
        tuner = self._learner.learning_rate_tuner
        if tuner.WhichOneof("tuner") == "dropout":
            weights = list(ensemble.message.tree_weights)
            kept = {len(weights) - 1, *([0] if self._center_bias else [])}
            ensemble.reweigh(dropped_trees(seed, tuner.dropout, kept, weights))

    def _merged(self, old: Any, new: Any) -> Any:
        """A leaf that says what it says after what the one in its place said."""
        if not self._adds_up:
            return new
        if not _is_filled(new):
            return old
        before = getattr(old, old.WhichOneof("leaf") or "vector")
        if not before.value:
            return new
        found = messages.Leaf()
        if old.WhichOneof("leaf") != new.WhichOneof("leaf"):
            raise internal_error("Leaves of one tree are all dense or all sparse.")
        if old.HasField("vector"):
            found.vector.value.extend(np.float32(a) + np.float32(b) for a, b in zip(new.vector.value, before.value, strict=True))
        else:
            sums = dict(zip(new.sparse_vector.index, new.sparse_vector.value, strict=True))
            for index, value in zip(before.index, before.value, strict=True):
                sums[index] = np.float32(sums.get(index, 0.0)) + np.float32(value)
            found.sparse_vector.index.extend(sums)
            found.sparse_vector.value.extend(sums.values())
        return found

    def _split(self, ensemble: GrowingEnsemble, tree: Any, at: int, offer: Offer) -> None:
        if not 0 <= at < len(tree.nodes) or not tree.nodes[at].HasField("leaf"):
            raise invalid_argument(f"Invalid node {at} to split.")
        old = tree.nodes[at].leaf
        sides = [self._merged(old, offer.split.left_child), self._merged(old, offer.split.right_child)]
        node = offer.split.split_node
        split = split_of(node)
        if split is None:
            raise invalid_argument("A split of one node has two children.")
        split.left_id, split.right_id = len(tree.nodes), len(tree.nodes) + 1
        node.node_metadata.gain = offer.gain
        if self._learner.pruning_mode == Learner.POST_PRUNE:
            node.node_metadata.original_leaf.CopyFrom(old)
            node.node_metadata.original_leaf.SetInParent()
        tree.nodes[at].CopyFrom(node)
        _add_leaves(tree, sides)
        if self._learner.constraints.max_number_of_unique_feature_columns:
            ensemble.use(offer.handler)

    def _split_layer(self, tree: Any, offer: Offer) -> None:
        depth = next(i for i, node in enumerate(tree.nodes) if node.HasField("leaf"))
        old = [node.leaf for node in tree.nodes[depth:]]
        split, parents = offer.split, list(offer.split.children_parent_id)
        new: list[Any] = []
        taken = 0
        for i, leaf in enumerate(old):
            if taken < len(parents) and depth + i == parents[taken]:
                new += [self._merged(leaf, child) for child in split.children[2 * taken : 2 * taken + 2]]
                taken += 1
            else:
                new += [leaf, leaf]
        if taken != len(parents) or len(old) != 2**depth:
            raise invalid_argument(f"Too many new children, expected <= {2 ** (depth + 1)} and got {len(split.children)}")
        node = messages.TreeNode()
        node.CopyFrom(split.split_node)
        node.node_metadata.gain = offer.gain
        node.node_metadata.original_oblivious_leaves.extend(old)
        grown = messages.DecisionTreeConfig()
        grown.nodes.extend([*tree.nodes[:depth], node])
        _add_leaves(grown, new)
        tree.CopyFrom(grown)

    def _prune(self, ensemble: GrowingEnsemble, tree: Any, rate: float, max_depth: int, is_layered: bool) -> None:
        if is_layered:
            raise invalid_argument("Post-prunning is not implemented for Oblivious trees.")
        pruned = _pruned(tree)
        if len(pruned.nodes) > 1:
            tree.CopyFrom(pruned)
        else:
            ensemble.remove_tree()
        start = self._learner.each_tree_start
        if ensemble.is_done() and start.nodes:
            ensemble.add_tree(rate).CopyFrom(start)
            last = ensemble.last
            last.is_finalized, last.num_tree_weight_updates = max_depth <= 1, 1
            last.num_layers_grown = self._learner.each_tree_start_num_layers


def _add_leaves(tree: Any, leaves: list[Any]) -> None:
    for leaf in leaves:
        added = tree.nodes.add().leaf
        added.CopyFrom(leaf)
        added.SetInParent()


def _pruned(tree: Any) -> Any:
    """A tree without the splits that lose, from the leaves up, and without what was kept to take splits back."""
    nodes = [messages.TreeNode.FromString(node.SerializeToString()) for node in tree.nodes]

    def prune(at: int) -> None:
        split, data = split_of(nodes[at]), nodes[at].node_metadata
        if split is None:
            return
        below = (split.left_id, split.right_id)
        for child in below:
            prune(child)
        if data.gain < 0 and all(nodes[child].HasField("leaf") for child in below):
            original = messages.Leaf.FromString(data.original_leaf.SerializeToString())
            nodes[at].Clear()
            nodes[at].leaf.CopyFrom(original)
            nodes[at].leaf.SetInParent()
        else:
            data.ClearField("original_leaf")

    prune(0)
    found = messages.DecisionTreeConfig()
    found.nodes.add().CopyFrom(nodes[0])
    places = {0: 0}
    for old, node in enumerate(nodes):
        split = split_of(node)
        if old not in places or split is None:
            continue
        below = (split.left_id, split.right_id)
        places.update(zip(below, (len(found.nodes), len(found.nodes) + 1)))
        found.nodes.extend(nodes[child] for child in below)
        moved = split_of(found.nodes[places[old]])
        moved.left_id, moved.right_id = (places[child] for child in below)
    return found
