"""A linear model in the hands of dual ascent: what it knows of each example, its steps, its loss and how far it is from the best."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.scopes import name_scope
from everflow.lookup.mutable_tables import DenseHashTable
from everflow.ops.core.registry import apply
from everflow.ops.variables.partitioned import PartitionedVariable

_LOSSES = ("logistic_loss", "poisson_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss")


@public("contrib.linear_optimizer.SparseFeatureColumn")
@internal("estimator.canned.linear_optimizer.python.utils.sdca_ops._SparseFeatureColumn")
class SparseFeatureColumn:
    """Which examples have which ids, and with which value; 1 where there are no values."""

    def __init__(self, example_indices: Any, feature_indices: Any, feature_values: Any) -> None:
        self._example_indices, self._feature_indices = self._tensors(
            tf.int64, example_indices=example_indices, feature_indices=feature_indices
        )
        self._feature_values = None if feature_values is None else self._tensors(tf.float32, feature_values=feature_values)[0]

    @staticmethod
    def _tensors(dtype: Any, **values: Any) -> list[Any]:
        with name_scope(None, "SparseFeatureColumn", list(values.values())):
            return [tf.convert_to_tensor(value, dtype, name) for name, value in values.items()]

    @property
    def example_indices(self) -> Any:
        """The example of each id."""
        return self._example_indices

    @property
    def feature_indices(self) -> Any:
        """The ids."""
        return self._feature_indices

    @property
    def feature_values(self) -> Any:
        """The values of the ids, or None."""
        return self._feature_values


@public(
    "contrib.linear_optimizer.ShardedMutableDenseHashTable",
    "contrib.linear_optimizer.python.ops.sharded_mutable_dense_hashtable.ShardedMutableDenseHashTable",
)
@internal("estimator.canned.linear_optimizer.python.utils.sharded_mutable_dense_hashtable._ShardedMutableDenseHashTable")
class ShardedMutableDenseHashTable:
    """A table in several parts, of which each key has its own."""

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        num_shards: int = 1,
        checkpoint: bool = True,
        name: str = "ShardedMutableHashTable",
    ) -> None:
        self._key_dtype, self._value_dtype = key_dtype, value_dtype
        with name_scope(name, "sharded_mutable_hash_table") as scope:
            self._table_name = scope
            self._shards = [
                DenseHashTable(
                    key_dtype=key_dtype,
                    value_dtype=value_dtype,
                    default_value=default_value,
                    empty_key=empty_key,
                    deleted_key=deleted_key,
                    checkpoint=checkpoint,
                    name=f"{name}-{i + 1}-of-{num_shards}",
                )
                for i in range(num_shards)
            ]
            self._value_shape = self._shards[0]._value_shape

    @property
    def name(self) -> str:
        """The scope of the parts."""
        return self._table_name

    @property
    def _num_shards(self) -> int:
        return len(self._shards)

    @property
    def table_shards(self) -> list[Any]:
        """The parts."""
        return self._shards

    def size(self, name: str | None = None) -> Any:
        """How many keys there are."""
        with name_scope(name, "sharded_mutable_hash_table_size"):
            return tf.add_n([shard.size() for shard in self._shards])

    def _shard_of(self, keys: Any) -> Any:
        if keys.shape.ndims is None:
            raise ValueError(f"Invalid key shape; unknown rank. Given: {keys}")
        if keys.shape.ndims > 1:
            # A key is a row, whose first number chooses the part.
            keys = keys[:, 0]
        return tf.cast(tf.mod(tf.abs(keys), self._num_shards), tf.int32)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys."""
        keys = tf.convert_to_tensor(keys)
        self._check_dtype(keys)
        if self._num_shards == 1:
            return self._shards[0].lookup(keys, name=name)
        shards = self._shard_of(keys)
        parts = tf.dynamic_partition(keys, shards, self._num_shards)
        places = tf.dynamic_partition(tf.range(tf.shape(keys)[0]), shards, self._num_shards)
        values = [shard.lookup(part) for shard, part in zip(self._shards, parts)]
        found = tf.dynamic_stitch(places, values)
        found.set_shape(tf.TensorShape(keys.shape[0]).concatenate(self._value_shape))
        return found

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Any:
        """Sets the values of keys."""
        keys, values = tf.convert_to_tensor(keys), tf.convert_to_tensor(values)
        self._check_dtype(keys)
        if self._num_shards == 1:
            return self._shards[0].insert(keys, values, name=name)
        shards = self._shard_of(keys)
        key_parts = tf.dynamic_partition(keys, shards, self._num_shards)
        value_parts = tf.dynamic_partition(values, shards, self._num_shards)
        return tf.group(*(s.insert(k, v) for s, k, v in zip(self._shards, key_parts, value_parts)))

    def _check_dtype(self, keys: Any) -> None:
        if keys.dtype.base_dtype != tf.as_dtype(self._key_dtype):
            raise TypeError(f"Signature mismatch. Keys must be dtype {tf.as_dtype(self._key_dtype)}, got {keys.dtype}.")

    def export_sharded(self, name: str | None = None) -> tuple[list[Any], list[Any]]:
        """The keys and values of each part."""
        exported = [shard.export() for shard in self._shards]
        return [keys for keys, _ in exported], [values for _, values in exported]


class _Weights:
    """A variable or the parts of one, with the weights as they are before they are shrunk."""

    def __init__(self, variable: Any, suffix: str, use_resource: Any) -> None:
        self.parts = list(variable) if isinstance(variable, (list, tuple, PartitionedVariable)) else [variable]
        self.unshrunk = []
        for part in self.parts:
            with tf.colocate_with(part):
                zeros = tf.zeros_like(part.initialized_value(), dtype=tf.float32)
                self.unshrunk.append(tf.Variable(zeros, name=part.op.name + suffix, use_resource=use_resource))

    def whole(self, variables: list[Any]) -> Any:
        tensors = [tf.convert_to_tensor(v) for v in variables]
        return tensors[0] if len(tensors) == 1 else tf.concat(tensors, axis=0)

    def add_at(self, ids: Any, changes: Any) -> list[Any]:
        """Ops that add changes to the weights of ids."""
        ops, start = [], 0
        for part in self.unshrunk:
            size = int(part.shape[0])
            inside = tf.logical_and(ids >= start, ids < start + size)
            places = tf.boolean_mask(ids, inside) - start
            amounts = tf.boolean_mask(changes, inside)
            ops.append(tf.scatter_add(part, places, tf.reshape(amounts, tf.concat([tf.shape(places), tf.shape(part)[1:]], axis=0))))
            start += size
        return ops

    def add(self, changes: Any) -> list[Any]:
        """Ops that add changes to all weights."""
        ops, start = [], 0
        for part in self.unshrunk:
            size = int(part.shape[0])
            ops.append(tf.assign_add(part, tf.reshape(changes[start : start + size], tf.shape(part))))
            start += size
        return ops


@internal("estimator.canned.linear_optimizer.python.utils.sdca_ops._SDCAModel")
class SDCAModel:
    """A linear model with a loss and regularization; `minimize` is a pass over a batch of examples."""

    # What the variables of the weights before they are shrunk are called, and of which kind they are.
    _suffix = "_unshrunk"
    _use_resource: Any = True

    def __init__(self, examples: Any, variables: Any, options: Any) -> None:
        if not examples or not variables or not options:
            raise ValueError("examples, variables and options must all be specified.")
        supported = options.get("loss_type")
        if supported not in _LOSSES:
            raise ValueError("Unsupported loss_type: ", supported)
        _check_has(["example_labels", "example_weights", "example_ids", "sparse_features", "dense_features"], examples)
        _check_lists(["sparse_features", "dense_features"], examples)
        _check_has(["sparse_features_weights", "dense_features_weights"], variables)
        _check_lists(["sparse_features_weights", "dense_features_weights"], variables)
        _check_has(["loss_type", "symmetric_l2_regularization", "symmetric_l1_regularization"], options)
        self._check_regularization(float(options["symmetric_l1_regularization"]), float(options["symmetric_l2_regularization"]))
        self._examples, self._variables, self._options = examples, variables, options
        self._sparse = [_Weights(v, self._suffix, self._use_resource) for v in variables["sparse_features_weights"]]
        self._dense = [_Weights(v, self._suffix, self._use_resource) for v in variables["dense_features_weights"]]
        self._table = ShardedMutableDenseHashTable(
            key_dtype=tf.int64,
            value_dtype=tf.float32,
            num_shards=options.get("num_table_shards") or 1,
            default_value=[0.0, 0.0, 0.0, 0.0],
            # Fingerprints are never these.
            empty_key=[0, 0],
            deleted_key=[1, 1],
        )
        tf.summary.scalar("approximate_duality_gap", self.approximate_duality_gap())
        tf.summary.scalar("examples_seen", self._table.size())

    def _check_regularization(self, l1: float, l2: float) -> None:
        if l1 < 0.0:
            raise ValueError("symmetric_l1_regularization should be non-negative.")
        if l2 <= 0.0:
            raise ValueError("symmetric_l2_regularization should be positive.")

    def _l1(self) -> float:
        return float(self._options["symmetric_l1_regularization"])

    def _l2(self) -> float:
        return float(self._options["symmetric_l2_regularization"])

    def _regularization(self, l2: float) -> tuple[Any, Any]:
        """What the weights cost: by their size, and by its square."""
        parts = [tf.convert_to_tensor(part) for weights in [*self._sparse, *self._dense] for part in weights.parts]
        with name_scope("sdca/regularization"):
            size = tf.add_n([tf.reduce_sum(tf.abs(tf.cast(p, tf.float64))) for p in parts]) if parts else tf.constant(0.0, tf.float64)
            square = tf.add_n([tf.reduce_sum(tf.square(tf.cast(p, tf.float64))) for p in parts]) if parts else tf.constant(0.0, tf.float64)
            return self._l1() * size, l2 * square / 2.0

    def _linear_predictions(self, examples: Any) -> Any:
        with name_scope("sdca/prediction"):
            count = tf.shape(examples["example_labels"])[0]
            sums: Any = tf.zeros([count])
            for column, weights in zip(examples["sparse_features"], self._sparse):
                of_ids = tf.reshape(tf.gather(weights.whole(weights.parts), column.feature_indices), [-1])
                if column.feature_values is not None:
                    of_ids = of_ids * column.feature_values
                sums = sums + tf.unsorted_segment_sum(of_ids, column.example_indices, count)
            for numbers, weights in zip(examples["dense_features"], self._dense):
                numbers = tf.convert_to_tensor(numbers, dtype=tf.float32)
                flat = tf.reshape(numbers, [count, -1])
                sums = sums + tf.reshape(tf.matmul(flat, tf.reshape(weights.whole(weights.parts), [-1, 1])), [-1])
            return sums

    def predictions(self, examples: Any) -> Any:
        """Probabilities, rates or numbers, as the loss has it."""
        _check_has(["example_weights", "sparse_features", "dense_features"], examples)
        _check_lists(["sparse_features", "dense_features"], examples)
        found = self._linear_predictions(examples)
        if self._options["loss_type"] == "logistic_loss":
            with name_scope("sdca/logistic_prediction"):
                return tf.sigmoid(found)
        if self._options["loss_type"] == "poisson_loss":
            with name_scope("sdca/poisson_prediction"):
                return tf.exp(found)
        return found

    def minimize(self, global_step: Any = None, name: str | None = None) -> Any:
        """An op that makes a pass over the examples."""
        with name_scope(name, "sdca/minimize"):
            columns, numbers = self._examples["sparse_features"], self._examples["dense_features"]
            ids, places = [], []
            for column in columns:
                unique, place = tf.unique(column.feature_indices)
                ids.append(unique)
                places.append(tf.cast(place, tf.int64))
            # Columns with values come first: the op takes the others to be 1.
            order = sorted(range(len(columns)), key=lambda i: columns[i].feature_values is None)
            sparse_weights = [tf.gather(self._sparse[i].whole(self._sparse[i].unshrunk), ids[i]) for i in order]
            dense_weights = [w.whole(w.unshrunk) for w in self._dense]
            keys = apply("SdcaFprint", tf.convert_to_tensor(self._examples["example_ids"]))
            state = self._table.lookup(keys)
            with_values = [columns[i].feature_values for i in order if columns[i].feature_values is not None]
            results = apply(
                "SdcaOptimizerV2",
                [columns[i].example_indices for i in order],
                [places[i] for i in order],
                with_values,
                [tf.cast(tf.convert_to_tensor(n), tf.float32) for n in numbers],
                tf.cast(tf.convert_to_tensor(self._examples["example_weights"]), tf.float32),
                tf.cast(tf.convert_to_tensor(self._examples["example_labels"]), tf.float32),
                [tf.range(tf.cast(tf.size(ids[i]), tf.int64)) for i in order],
                [tf.reshape(w, [-1]) for w in sparse_weights],
                [tf.reshape(w, [-1]) for w in dense_weights],
                state,
                loss_type=self._options["loss_type"],
                l1=self._l1(),
                l2=self._l2(),
                num_loss_partitions=self._options.get("num_loss_partitions", 1),
                num_inner_iterations=1,
                adaptive=bool(self._options.get("adaptive", True)),
            )
            new_state, sparse_changes, dense_changes = results
            with tf.control_dependencies([new_state]):
                updates = [self._table.insert(keys, new_state)]
                for i, change in zip(order, sparse_changes):
                    updates.extend(self._sparse[i].add_at(ids[i], change))
                for weights, change in zip(self._dense, dense_changes):
                    updates.extend(weights.add(change))
            with tf.control_dependencies(updates):
                if global_step is None:
                    return tf.group(*updates)
                return tf.assign_add(global_step, 1, name=name).op

    def update_weights(self, train_op: Any) -> Any:
        """An op that makes the weights follow after a pass, shrunk as the regularization has it."""
        every = [*self._sparse, *self._dense]
        with tf.control_dependencies([train_op]):
            shrunk = [
                (part, tf.sign(raw) * tf.maximum(tf.abs(raw) - self._l1() / self._l2(), 0.0))
                for weights in every
                for part, raw in zip(weights.parts, [tf.convert_to_tensor(u) for u in weights.unshrunk])
            ]
            return tf.group(*(tf.assign(part, value) for part, value in shrunk))

    def approximate_duality_gap(self) -> Any:
        """How far the model is at most from the best one, for each unit of weight."""
        with name_scope("sdca/approximate_duality_gap"):
            _, values = self._table.export_sharded()
            sums = tf.add_n([tf.reduce_sum(tf.cast(part, tf.float64), axis=0) for part in values])
            # Keys that were never set have zeros.
            primal, dual, weight = sums[1], sums[2], sums[3]
            size, square = self._regularization(self._l2())
            return (primal + dual + size + 2.0 * square) / weight

    def unregularized_loss(self, examples: Any) -> Any:
        """The mean loss of examples."""
        _check_has(["example_labels", "example_weights", "sparse_features", "dense_features"], examples)
        _check_lists(["sparse_features", "dense_features"], examples)
        with name_scope("sdca/unregularized_loss"):
            predictions = tf.cast(self._linear_predictions(examples), tf.float64)
            labels = tf.cast(tf.convert_to_tensor(examples["example_labels"]), tf.float64)
            weights = tf.cast(tf.convert_to_tensor(examples["example_weights"]), tf.float64)
            kind = self._options["loss_type"]
            if kind == "logistic_loss":
                losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=predictions)
            elif kind == "poisson_loss":
                losses = tf.nn.log_poisson_loss(targets=labels, log_input=predictions)
            elif kind == "squared_loss":
                losses = tf.square(labels - predictions) / 2.0
            else:
                # Both hinges are reported as the plain one.
                losses = tf.maximum(1.0 - (2.0 * labels - 1.0) * predictions, 0.0)
            return tf.reduce_sum(losses * weights) / tf.reduce_sum(weights)

    def regularized_loss(self, examples: Any) -> Any:
        """The mean loss of examples, with the regularization shared among them."""
        _check_has(["example_labels", "example_weights", "sparse_features", "dense_features"], examples)
        _check_lists(["sparse_features", "dense_features"], examples)
        with name_scope("sdca/regularized_loss"):
            weights = tf.cast(tf.convert_to_tensor(examples["example_weights"]), tf.float64)
            # As it was asked for, which may be less than what the weights are trained with.
            size, square = self._regularization(float(self._options["symmetric_l2_regularization"]))
            return (size + square) / tf.reduce_sum(weights) + self.unregularized_loss(examples)


@public("contrib.linear_optimizer.SdcaModel")
class ContribSDCAModel(SDCAModel):
    """The same, for any regularization: there is always some, or the dual problem would have no bound."""

    _suffix = "_unshrinked/SDCAOptimizer"
    _use_resource = None

    def _check_regularization(self, l1: float, l2: float) -> None:
        for name, value in (("symmetric_l1_regularization", l1), ("symmetric_l2_regularization", l2)):
            if value < 0.0:
                raise ValueError(f"{name} should be non-negative. Found ({value:f})")

    def _l2(self) -> float:
        return max(super()._l2(), 1.0)


def _check_has(items: list[str], given: Any) -> None:
    for item in items:
        if given[item] is None:
            raise ValueError(item + " must be specified.")


def _check_lists(items: list[str], given: Any) -> None:
    for item in items:
        if not isinstance(given[item], list):
            raise ValueError(item + " must be a list.")
