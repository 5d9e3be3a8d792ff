"""Ops on ensembles of gradient boosting: making, saving and growing them."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.contrib.boosted_trees.ensemble import GrowingEnsemble, learner_of
from everflow.contrib.boosted_trees.growing import Grower, Learner
from everflow.contrib.boosted_trees.stamped import Kernel, attribute, handle, is_made, number, text
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import not_differentiable, op
from everflow.ops.core.shape_rules import scalar
from everflow.values.texts import text_array


def _set(node: Node) -> Kernel:
    creates = node.type == "CreateTreeEnsembleVariable"

    def run(ensemble: GrowingEnsemble, stamp: Any, serialized: Any) -> Any:
        with ensemble.lock:
            # Making one that is there already changes nothing.
            if not (creates and ensemble.stamp is not None):
                if not creates:
                    ensemble.made()
                ensemble.set(int(stamp), text(serialized))
        return ()

    return run


def _stamp(node: Node) -> Kernel:
    return lambda ensemble: number(ensemble.made().stamp)


def _serialize(node: Node) -> Kernel:
    def run(ensemble: GrowingEnsemble) -> Any:
        with ensemble.made().lock:
            return number(ensemble.stamp or 0), text_array([ensemble.message.SerializeToString()], ())

    return run


def _used_handlers(node: Node) -> Kernel:
    count = node.attr("num_all_handlers")

    def run(ensemble: GrowingEnsemble, stamp: Any) -> Any:
        with ensemble.made().lock:
            ensemble.check(stamp)
            used = list(ensemble.message.growing_metadata.used_handler_ids)
        mask = torch.zeros(count, dtype=torch.bool)
        mask[[handler for handler in used if handler < count]] = True
        return number(len(used)), mask

    return run


def _center(node: Node) -> Kernel:
    learner_of(attribute(node.attr("learner_config")))
    epsilon = node.attr("centering_epsilon")

    def run(ensemble: GrowingEnsemble, stamp: Any, next_stamp: Any, delta: Any) -> Any:
        step = delta.cpu().numpy()
        with ensemble.made().lock:
            ensemble.check(stamp, next_stamp)
            ensemble.stamp = int(next_stamp)
            trees = ensemble.message.trees
            if not trees:
                ensemble.attempt()
                ensemble.add_tree(1.0).nodes.add().leaf.vector.value.extend([0.0] * len(step))
            if len(trees) != 1 or len(trees[0].nodes) != 1 or not trees[0].nodes[0].HasField("leaf"):
                raise invalid_argument("Unable to center bias on an already grown ensemble")
            bias = trees[0].nodes[0].leaf.vector.value
            bias[:] = (np.array(bias, np.float32) + step).tolist()
            goes_on = np.abs(step).sum(dtype=np.float32) > np.float32(epsilon)
            if not goes_on:
                ensemble.last.is_finalized = True
            ensemble.changed()
        return torch.tensor(bool(goes_on))

    return run


def _grow(node: Node) -> Kernel:
    count = node.attr("num_handlers")
    grower = Grower(learner_of(attribute(node.attr("learner_config"))), node.attr("center_bias"))

    def run(ensemble: GrowingEnsemble, stamp: Any, next_stamp: Any, rate: Any, seed: Any, max_depth: Any, learner: Any, *given: Any) -> Any:
        offers = [
            (nodes.tolist(), gains.tolist(), splits.reshape(-1).tolist())
            for nodes, gains, splits in zip(given[:count], given[count : 2 * count], given[2 * count :])
        ]
        with ensemble.made().lock:
            ensemble.check(stamp, next_stamp)
            ensemble.stamp = int(next_stamp)
            is_layered = int(learner) == Learner.OBLIVIOUS_DECISION_TREE
            grower.grow(ensemble, offers, float(rate), int(seed), int(max_depth), is_layered)
        return ()

    return run


def _statistics(node: Node) -> Kernel:
    def run(ensemble: GrowingEnsemble, stamp: Any) -> Any:
        with ensemble.made().lock:
            ensemble.check(stamp)
            message = ensemble.message
            trees, layers = len(message.trees), [data.num_layers_grown for data in message.tree_metadata]
            growing = message.growing_metadata
            found = (
                trees if ensemble.is_done() else trees - 1,
                sum(layers),
                trees,
                layers[-1] if layers else 0,
                growing.num_trees_attempted,
                growing.num_layers_attempted,
            )
            return tuple(number(n) for n in found)

    return run


def scalars(*names: int, then: tuple[int, ...] = ()) -> Any:
    """Checks that inputs of these numbers are scalars, and those of others have one axis."""

    def check(o: Operation) -> None:
        for i in names:
            shapes.with_rank(o.inputs[i].dims, 0)
        for i in then:
            shapes.with_rank(o.inputs[i].dims, 1)

    return check


def _shapes(check: Any, *found: Any) -> Any:
    def rule(o: Operation) -> list[Any]:
        check(o)
        return list(found)

    return rule


op("DecisionTreeEnsembleResourceHandleOp", kernel=handle(GrowingEnsemble), shape=scalar, gradient=not_differentiable)
op("TreeEnsembleIsInitializedOp", kernel=is_made, shape=_shapes(scalars(0), ()), gradient=not_differentiable)
for _name in ("CreateTreeEnsembleVariable", "TreeEnsembleDeserialize"):
    op(_name, kernel=_set, shape=_shapes(scalars(0, 1, 2)), gradient=not_differentiable, writes=True)
op("TreeEnsembleStampToken", kernel=_stamp, shape=_shapes(scalars(0), ()), gradient=not_differentiable)
op("TreeEnsembleSerialize", kernel=_serialize, shape=_shapes(scalars(0), (), ()), gradient=not_differentiable)
op("TreeEnsembleUsedHandlers", kernel=_used_handlers, shape=lambda o: [(), (o.get_attr("num_all_handlers"),)], gradient=not_differentiable)
op("CenterTreeEnsembleBias", kernel=_center, shape=_shapes(scalars(0, 1, 2, then=(3,)), ()), gradient=not_differentiable, writes=True)
op("GrowTreeEnsemble", kernel=_grow, shape=_shapes(scalars(0, 1, 2, 3, 4, 5)), gradient=not_differentiable, writes=True)
op("TreeEnsembleStats", kernel=_statistics, shape=_shapes(scalars(0, 1), *[()] * 6), gradient=not_differentiable)
