"""Ops on ensembles of boosted trees: making, saving, growing, and predicting by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.errors import failed_precondition
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import not_differentiable, op
from everflow.ops.core.shape_rules import scalar
from everflow.ops.trees.ensemble import Ensemble, as_matrix, leaf_values, split_of
from everflow.proto.tensorflow.core.kernels.boosted_trees import boosted_trees_pb2 as messages
from everflow.values.texts import text_array

Kernel = Callable[..., Any]


def resource(kind: str, make: Callable[[], Any]) -> Callable[[Any], Kernel]:
    """A kernel that gives the resource of a handle's name."""

    def factory(node: Node) -> Kernel:
        container, name = node.attr("container"), node.attr("shared_name") or node.name
        return lambda: node.context.resources.get(container, kind, name, make)

    return factory


def made(ensemble: Any) -> Any:
    """An ensemble that was made."""
    if not ensemble.is_made:
        raise failed_precondition("Resource of boosted trees was not initialized.")
    return ensemble


def _text(value: Any) -> bytes:
    return value.reshape(-1)[0] if hasattr(value, "reshape") else value


def _set(node: Node) -> Kernel:
    creates = node.type == "BoostedTreesCreateEnsemble"

    def run(ensemble: Any, stamp: Any, serialized: Any) -> Any:
        with ensemble.lock:
            # Making one that is there already changes nothing.
            if not (creates and ensemble.is_made):
                ensemble.set(int(stamp), _text(serialized))
        return ()

    return run


def _serialize(node: Node) -> Kernel:
    def run(ensemble: Any) -> Any:
        with made(ensemble).lock:
            return torch.tensor(ensemble.stamp, dtype=torch.int64), text_array([ensemble.message.SerializeToString()], ())

    return run


def _states(node: Node) -> Kernel:
    def run(ensemble: Any) -> Any:
        with made(ensemble).lock:
            trees, done, layers, nodes = ensemble.counts()
            numbers = [torch.tensor(n, dtype=torch.int32) for n in (trees, done, layers)]
            return torch.tensor(ensemble.stamp, dtype=torch.int64), *numbers, torch.tensor(nodes, dtype=torch.int32)

    return run


def _update(node: Node) -> Kernel:
    count, pruning = node.attr("num_features"), node.attr("pruning_mode")

    def run(ensemble: Any, feature_ids: Any, *given: Any) -> Any:
        groups = [given[i * count : (i + 1) * count] for i in range(5)]
        max_depth, learning_rate = given[5 * count :]
        splits = []
        for feature, *columns in zip(feature_ids.tolist(), *groups):
            nodes, gains, thresholds, left, right = (c.cpu().numpy() for c in columns)
            splits += [
                dict(node=int(n), gain=float(g), feature=feature, dimension=0, threshold=int(t), left=l, right=r, equality=False, default=0)
                for n, g, t, l, r in zip(nodes, gains, thresholds, left.reshape(len(nodes), -1), right.reshape(len(nodes), -1))
            ]
        with made(ensemble).lock:
            ensemble.grow(splits, float(learning_rate), int(max_depth), pruning)
        return ()

    return run


_DEFAULTS = {b"INEQUALITY_DEFAULT_RIGHT": 1}


def _update_2(node: Node) -> Kernel:
    count = node.attr("num_features")

    def run(ensemble: Any, feature_ids: Any, *given: Any) -> Any:
        groups = [given[i * count : (i + 1) * count] for i in range(7)]
        max_depth, learning_rate, pruning = given[7 * count :]
        splits = []
        for feature, *columns in zip(feature_ids.tolist(), *groups):
            dimensions, nodes, gains, thresholds, left, right = (c.cpu().numpy() for c in columns[:6])
            kinds = columns[6].reshape(-1)
            splits += [
                dict(
                    node=int(n),
                    gain=float(g),
                    feature=feature,
                    dimension=int(d),
                    threshold=int(t),
                    left=l,
                    right=r,
                    equality=k == b"EQUALITY_DEFAULT_RIGHT",
                    default=_DEFAULTS.get(k, 0),
                )
                for d, n, g, t, l, r, k in zip(
                    dimensions, nodes, gains, thresholds, left.reshape(len(nodes), -1), right.reshape(len(nodes), -1), kinds
                )
            ]
        with made(ensemble).lock:
            ensemble.grow(splits, float(learning_rate), int(max_depth), int(pruning))
        return ()

    return run


def _soft(values: Any, l1: float) -> Any:
    return np.sign(values) * np.maximum(np.abs(values) - l1, 0)


def _center(node: Node) -> Kernel:
    def run(ensemble: Any, gradients: Any, hessians: Any, l1: Any, l2: Any) -> Any:
        g, h = gradients.cpu().numpy().reshape(-1), hessians.cpu().numpy()
        g = _soft(g, float(l1))
        if h.size == g.size:
            total = h.reshape(-1) + float(l2)
            step = np.divide(-g, total, out=np.zeros_like(g), where=total != 0)
        else:
            step = np.linalg.solve(h.reshape(g.size, g.size) + float(l2) * np.eye(g.size), -g)
        with made(ensemble).lock:
            is_first = not ensemble.message.trees
            ensemble.center(step)
            bias = np.array(leaf_values(ensemble.message.trees[0].nodes[0].leaf, len(g)), dtype=np.float32)
            # After the first time it goes on where the bias moves by more than a hundredth of itself; a bias that stays zero is done.
            with np.errstate(invalid="ignore", divide="ignore"):
                moves = np.any(np.abs(step) / np.abs(bias) > 0.01)
            return torch.tensor(bool(is_first or moves))

    return run


def _predict(node: Node) -> Kernel:
    width = node.attr("logits_dimension")

    def run(ensemble: Any, *features: Any) -> Any:
        matrix, columns = as_matrix(list(features))
        total = np.zeros((len(matrix), width), dtype=np.float32)
        with made(ensemble).lock:
            if ensemble.message.trees:
                nodes, starts, values = ensemble.arrays(width, columns)
                for start in starts[:-1]:
                    total += values[ensemble.walked(matrix, nodes, np.full(len(matrix), start, dtype=np.int32))]
        return torch.from_numpy(total).to(features[0].device)

    return run


def _training_predict(node: Node) -> Kernel:
    width = node.attr("logits_dimension")

    def run(ensemble: Any, tree_ids: Any, node_ids: Any, *features: Any) -> Any:
        matrix, columns = as_matrix(list(features))
        count = len(matrix)
        partial = np.zeros((count, width), dtype=np.float32)
        trees, nodes_of = tree_ids.cpu().numpy().reshape(-1), node_ids.cpu().numpy().reshape(-1)
        with made(ensemble).lock:
            last = len(ensemble.message.trees) - 1
            if last < 0:
                zeros = torch.zeros(count, dtype=torch.int32)
                return torch.from_numpy(partial), zeros, zeros.clone()
            nodes, starts, values = ensemble.arrays(width, columns)
            first = np.array(starts[:-1], dtype=np.int32)
            known = np.clip(trees, 0, last)
            # A negative node: nothing of the example has been counted yet.
            is_new = nodes_of < 0
            places, changed = _where_they_went(ensemble, known, np.maximum(nodes_of, 0), width)
            at = first[known] + places
            partial += np.where(is_new[:, None], 0.0, changed - values[at]).astype(np.float32)
            at = ensemble.walked(matrix, nodes, np.ascontiguousarray(at, dtype=np.int32))
            partial += values[at]
            for tree in range(int(known.min(initial=last)) + 1, last + 1):
                behind = known < tree
                at = np.where(behind, first[tree], at).astype(np.int32)
                at = ensemble.walked(matrix, nodes, at)
                partial += np.where(behind[:, None], values[at], 0.0).astype(np.float32)
            return torch.from_numpy(partial), torch.full((count,), last, dtype=torch.int32), torch.from_numpy(at - first[last])

    return run


def _where_they_went(ensemble: Any, trees: Any, nodes: Any, width: int) -> tuple[Any, Any]:
    """The nodes that stand for pruned ones now, and how that changes logits that were counted."""
    places = nodes.astype(np.int32)
    changed = np.zeros((len(places), width), dtype=np.float32)
    for tree in np.unique(trees):
        moved = ensemble.message.tree_metadata[int(tree)].post_pruned_nodes_meta
        if not moved:
            continue
        mine = trees == tree
        target = np.array([m.new_node_id for m in moved], dtype=np.int32)
        change = np.array([list(m.logit_change) for m in moved], dtype=np.float32).reshape(len(moved), -1)
        changed[mine] = change[places[mine]]
        places[mine] = target[places[mine]]
    return places, changed


def _debug(node: Node) -> Kernel:
    width = node.attr("logits_dimension")

    def run(ensemble: Any, *features: Any) -> Any:
        matrix, columns = as_matrix(list(features))
        with made(ensemble).lock:
            return text_array([_path(ensemble, row, columns, width) for row in matrix], (len(matrix),))

    return run


def _path(ensemble: Any, row: Any, columns: list[int], width: int) -> bytes:
    """The features that an example was split by, and its logits on the way."""
    found = messages.DebugOutput()
    past = 0.0
    for i, (tree, weight) in enumerate(zip(ensemble.message.trees, ensemble.message.tree_weights)):
        if len(tree.nodes) == 1:
            continue
        at = tree.nodes[0]
        if i == 0:
            # The root of the first tree holds the bias.
            found.logits_path.append(weight * leaf_values(at.metadata.original_leaf, width)[0])
        here = 0.0
        while (split := split_of(at)) is not None:
            bucket = row[columns[split.feature_id] + getattr(split, "dimension_id", 0)]
            goes_left = bucket == split.value if at.WhichOneof("node") == "categorical_split" else bucket <= split.threshold
            found.feature_ids.append(split.feature_id)
            at = tree.nodes[split.left_id if goes_left else split.right_id]
            held = at.leaf if split_of(at) is None else at.metadata.original_leaf
            here = weight * leaf_values(held, width)[0]
            found.logits_path.append(past + here)
        past += here
    return found.SerializeToString()


def _is_made(node: Node) -> Kernel:
    return lambda thing: torch.tensor(thing.is_made)


def _logits_shape(o: Operation) -> Any:
    first = o.inputs[-1].dims
    return (first[0] if first else None, o.get_attr("logits_dimension"))


def _checked_features(o: Operation) -> Any:
    for feature in o.inputs[1:]:
        if feature.dims is not None and len(feature.dims) not in (1, 2):
            raise ValueError(f"Shape must be rank 1 but is rank {len(feature.dims)}")
    return _logits_shape(o)


op("BoostedTreesEnsembleResourceHandleOp", kernel=resource("tree_ensemble", Ensemble), shape=scalar, gradient=not_differentiable)
for _name in ("BoostedTreesCreateEnsemble", "BoostedTreesDeserializeEnsemble"):
    op(_name, kernel=_set, shape=lambda o: [], gradient=not_differentiable, writes=True)
op("IsBoostedTreesEnsembleInitialized", kernel=_is_made, shape=scalar, gradient=not_differentiable)
op("BoostedTreesSerializeEnsemble", kernel=_serialize, shape=lambda o: [(), ()], gradient=not_differentiable)
op("BoostedTreesGetEnsembleStates", kernel=_states, shape=lambda o: [(), (), (), (), (2,)], gradient=not_differentiable)
op("BoostedTreesUpdateEnsemble", kernel=_update, shape=lambda o: [], gradient=not_differentiable, writes=True)
op("BoostedTreesUpdateEnsembleV2", kernel=_update_2, shape=lambda o: [], gradient=not_differentiable, writes=True)
op("BoostedTreesCenterBias", kernel=_center, shape=scalar, gradient=not_differentiable, writes=True)
op("BoostedTreesPredict", kernel=_predict, shape=_checked_features, gradient=not_differentiable)
op(
    "BoostedTreesTrainingPredict",
    kernel=_training_predict,
    shape=lambda o: [_logits_shape(o), (shapes.with_rank(o.inputs[1].dims, 1)[0],), (shapes.with_rank(o.inputs[1].dims, 1)[0],)],
    gradient=not_differentiable,
)
op("BoostedTreesExampleDebugOutputs", kernel=_debug, shape=lambda o: (_logits_shape(o)[0],), gradient=not_differentiable)
