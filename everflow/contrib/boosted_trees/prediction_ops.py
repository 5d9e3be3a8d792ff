"""Ops that ask trees of gradient boosting: what they predict, and which leaf each example is in."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow import _native
from everflow.contrib.boosted_trees.dropout import Dropped, dropped_trees
from everflow.contrib.boosted_trees.ensemble import GrowingEnsemble, learner_of
from everflow.contrib.boosted_trees.growing import Learner
from everflow.contrib.boosted_trees.stamped import Kernel, attribute
from everflow.errors import internal_error, invalid_argument
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import not_differentiable, op


class _Columns:
    """How the features of an op lie among its inputs: dense ones, then indices, values and shapes of sparse ones, of numbers and of ids."""

    def __init__(self, node: Node) -> None:
        self._counts = [node.attr(f"num_{kind}_features") for kind in ("dense_float", "sparse_float", "sparse_int")]

    def examples(self, given: tuple[Any, ...]) -> _native.TreeExamples:
        """The features as native code reads them."""
        dense_count, *sparse_counts = self._counts
        dense, rest = given[:dense_count], given[dense_count:]
        groups = []
        for count in sparse_counts:
            groups.append([rest[i * count : (i + 1) * count] for i in range(3)])
            rest = rest[3 * count :]
        shapes = [*groups[0][2], *groups[1][2]]
        if not dense and not shapes:
            raise invalid_argument("Could not infer batch size due to empty feature set.")
        batch = int(dense[0].shape[0] if dense else shapes[0][0])
        starts, widths, second, values = _sparse("float", batch, *groups[0])
        id_starts, _, _, ids = _sparse("int", batch, *groups[1])
        return _native.TreeExamples(_dense(batch, dense), starts, widths, second, values, id_starts, ids)


def _dense(batch: int, columns: tuple[Any, ...]) -> Any:
    for column in columns:
        if column.dim() != 2:
            raise invalid_argument("Dense float feature must be a matrix.")
        if column.shape[0] != batch:
            raise invalid_argument(f"Dense float vector must have batch_size rows: {batch} vs. {column.shape[0]}")
        if column.shape[1] != 1:
            raise invalid_argument(f"Dense float features may not be multivalent: dim_size(1) = {column.shape[1]}")
    return torch.cat(columns, dim=1).cpu().contiguous().numpy() if columns else np.zeros((batch, 0), np.float32)


def _sparse(kind: str, batch: int, indices: Any, values: Any, shapes: Any) -> tuple[Any, ...]:
    """Where rows start in each column, how wide each is, and the second index and the value of all entries."""
    starts, widths, second, held, offset = [], [], [], [], 0
    for index, value, shape in zip(indices, values, shapes):
        for name, tensor, rank in (
            ("indices must be a matrix", index, 2),
            ("values must be a vector", value, 1),
            ("shape must be a vector", shape, 1),
        ):
            if tensor.dim() != rank:
                raise invalid_argument(f"Sparse {kind} feature {name}.")
        if shape.numel() != 2:
            raise invalid_argument(f"Sparse {kind} feature column must be two-dimensional.")
        if int(shape[0]) != batch:
            raise invalid_argument(f"Sparse {kind} feature shape incompatible with batch size.")
        places = index.cpu().numpy()
        starts.append(offset + np.searchsorted(places[:, 0], np.arange(batch + 1)))
        widths.append(int(shape[1]))
        second.append(places[:, 1])
        held.append(value.cpu().numpy())
        offset += len(places)
    element = np.float32 if kind == "float" else np.int64
    return (
        np.stack(starts).astype(np.int64) if starts else np.zeros((0, batch + 1), np.int64),
        np.array(widths, np.int64),
        np.concatenate([np.zeros(0, np.int64), *second]),
        np.concatenate([np.zeros(0, element), *held]),
    )


class _Averaging:
    """Weights by which the last trees count less and less, as if as many ensembles were averaged."""

    def __init__(self, config: Any) -> None:
        self._config, self._kind = config, config.WhichOneof("config")
        if self._kind == "average_last_n_trees" and not config.average_last_n_trees > 0:
            raise invalid_argument("Average last n trees must be a positive number")
        if self._kind == "average_last_percent_trees" and not 0 < config.average_last_percent_trees <= 1:
            raise invalid_argument("Average last percent must be in (0,1] interval.")

    def weights(self, given: Any) -> Any:
        """The weights of trees from those that they have."""
        if self._kind is None:
            return given
        count, config = len(given), self._config
        last_n = self._kind == "average_last_n_trees"
        first = int(max(0.0, count - config.average_last_n_trees if last_n else count * (1.0 - config.average_last_percent_trees)))
        share = np.arange(count - first, 0, -1, dtype=np.float32)
        return np.concatenate([given[:first], given[first:] * share / np.float32(count - first)])


def _width(learner: Any, reduces: bool) -> int:
    return learner.num_classes - 1 if reduces else learner.num_classes


def _prediction(node: Node) -> Kernel:
    learner = learner_of(attribute(node.attr("learner_config")))
    if learner.num_classes < 2:
        raise invalid_argument("Number of classes must be >=2")
    width, center_bias, verbose = _width(learner, node.attr("reduce_dim")), node.attr("center_bias"), node.type.endswith("Verbose")
    averaging = _Averaging(learner.averaging_config if node.attr("apply_averaging") else type(learner.averaging_config)())
    tuner = learner.learning_rate_tuner
    drops = node.attr("apply_dropout") and tuner.WhichOneof("tuner") == "dropout"
    columns, only_done = _Columns(node), learner.growing_mode == Learner.WHOLE_TREE

    def dropped(ensemble: GrowingEnsemble, seed: Any) -> Dropped:
        if not drops:
            return Dropped()
        message = ensemble.message
        kept = {0} if center_bias else set()
        if message.HasField("growing_metadata"):
            kept.add(len(message.trees) - 1)
        return dropped_trees(int(seed), tuner.dropout, kept, list(message.tree_weights))

    def run(ensemble: GrowingEnsemble, seed: Any, *given: Any) -> Any:
        examples = columns.examples(given)
        with ensemble.made().lock:
            message = ensemble.message
            out = dropped(ensemble, seed)
            chosen = [
                tree
                for tree in range(len(message.trees))
                if tree not in out.trees
                and not (
                    only_done and not (center_bias and tree == 0) and message.tree_metadata and not message.tree_metadata[tree].is_finalized
                )
            ]
            weights = averaging.weights(np.array(message.tree_weights, np.float32))[chosen].astype(np.float32)
            table, count = ensemble.table(), len(message.trees)
        logits = torch.zeros((examples.count, width))
        leaves = torch.zeros((examples.count, count if verbose else 0), dtype=torch.int32)
        try:
            table.predict(examples, np.array(chosen, np.int32), weights, logits.numpy(), leaves.numpy(), torch.get_num_threads())
        except ValueError as e:
            raise internal_error(str(e)) from e
        except IndexError as e:
            raise invalid_argument(f"A leaf says something of a {e} that is not there.") from e
        info = torch.from_numpy(np.array([out.trees, out.weights], np.float32).reshape(2, -1))
        return (logits, info, leaves) if verbose else (logits, info)

    return run


def _partition(node: Node) -> Kernel:
    columns = _Columns(node)

    def run(ensemble: GrowingEnsemble, *given: Any) -> Any:
        examples = columns.examples(given)
        places = torch.zeros(examples.count, dtype=torch.int32)
        with ensemble.made().lock:
            if ensemble.is_done() or not ensemble.message.trees[-1].nodes:
                return places
            table, last = ensemble.table(), len(ensemble.message.trees) - 1
        try:
            table.partition(examples, last, places.numpy(), torch.get_num_threads())
        except ValueError as e:
            raise internal_error(str(e)) from e
        return places

    return run


def _prediction_shape(o: Operation) -> list[Any]:
    width = _width(learner_of(attribute(o.get_attr("learner_config"))), o.get_attr("reduce_dim"))
    return [(None, width), None, (None, None)][: len(o.outputs)]


for _name in ("GradientTreesPrediction", "GradientTreesPredictionVerbose"):
    op(_name, kernel=_prediction, shape=_prediction_shape, gradient=not_differentiable)
op("GradientTreesPartitionExamples", kernel=_partition, shape=lambda o: (None,), gradient=not_differentiable)
