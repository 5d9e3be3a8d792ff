"""What boosted trees have learnt: how much features gained, and what they did to the prediction of an example."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from everflow.api import internal
from everflow.ops.trees.ensemble import split_of
from everflow.proto.tensorflow.core.kernels.boosted_trees import boosted_trees_pb2 as messages

DEBUG_KEY = "_serialized_debug_outputs_proto"


@internal("estimator.canned.boosted_trees_utils._identity")
def identity(logits: Any) -> Any:
    """Logits as they are."""
    return logits


@internal("estimator.canned.boosted_trees_utils._sigmoid")
def sigmoid(logits: Any) -> Any:
    """Probabilities of logits."""
    return 1 / (1 + np.exp(-np.array(logits)))


@internal("estimator.canned.boosted_trees._compute_feature_importances_per_tree")
def gains_of_tree(tree: Any, num_features: int) -> Any:
    """The gains of the splits by each feature of a tree."""
    found = np.zeros(num_features)
    for node in tree.nodes:
        split = split_of(node)
        if split is not None:
            found[split.feature_id] += node.metadata.gain
    return found


@internal("estimator.canned.boosted_trees._compute_feature_importances")
def feature_importances(tree_ensemble: Any, num_features: int, normalize: bool) -> Any:
    """The gains of all features, each tree's times its weight."""
    trees = np.array([gains_of_tree(tree, num_features) for tree in tree_ensemble.trees]).reshape(-1, num_features)
    gains = np.array(tree_ensemble.tree_weights) @ trees
    if normalize:
        if not np.all(gains >= 0):
            raise AssertionError("feature_importances must be non-negative.")
        if not gains.sum() > 0:
            raise AssertionError("Trees are all empty or contain only a root node.")
        gains = gains / gains.sum()
    return gains


def by_name(names: Any, values: Any) -> Any:
    """Values summed by name, the greatest first."""
    sums: dict[str, float] = {}
    for name, value in zip(names, values):
        sums[name] = sums.get(name, 0.0) + value
    return collections.OrderedDict(sorted(sums.items(), key=lambda item: abs(item[1]), reverse=True))


internal("estimator.canned.boosted_trees_utils._sum_by_feature_col_name_and_sort")(by_name)


@internal("estimator.canned.boosted_trees_utils._compute_directional_feature_contributions")
def directional_contributions(example_feature_ids: Any, example_logits_paths: Any, activation: Any, feature_col_names: Any) -> Any:
    """What each feature added to a prediction on the way through the trees, and the bias that it started from."""
    predictions = activation(np.array(example_logits_paths))
    changes = np.diff(predictions)
    contributions = np.bincount(example_feature_ids, weights=changes, minlength=len(feature_col_names))
    return predictions[0], by_name(feature_col_names, contributions)


@internal("estimator.canned.boosted_trees_utils._parse_debug_proto_string")
def parsed(example_proto_serialized: bytes) -> tuple[list[int], list[float]]:
    """The features that an example was split by, and its logits on the way."""
    message = messages.DebugOutput()
    message.ParseFromString(example_proto_serialized)
    return list(message.feature_ids), list(message.logits_path)


@internal("estimator.canned.boosted_trees_utils._parse_explanations_from_prediction")
def explanations(serialized_debug_proto: bytes, feature_col_names: Any, classification: bool = False) -> tuple[Any, Any]:
    """The bias, and the contributions of features, of an example."""
    feature_ids, path = parsed(serialized_debug_proto)
    return directional_contributions(feature_ids, path, sigmoid if classification else identity, feature_col_names)
