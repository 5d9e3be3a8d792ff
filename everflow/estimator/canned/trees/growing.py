"""The training of boosted trees: a layer for each so many batches, or for each step where all data are in memory."""

from __future__ import annotations

import collections
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.estimator.canned.trees.features import TreeFeatures
from everflow.estimator.canned.trees.resources import PruningMode, QuantileAccumulator, TreeEnsemble
from everflow.estimator.mode_keys import ModeKeys
from everflow.feature_column.numeric import numeric_column
from everflow.feature_column.transformation import FeatureTransformationCache
from everflow.graph.scopes import name_scope
from everflow.ops.core.registry import apply
from everflow.ops.variables.variable_scope import variable_scope
from everflow.train.global_step import get_or_create_global_step
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook

TreeHParams: Any = internal("estimator.canned.boosted_trees._TreeHParams")(
    collections.namedtuple(
        "TreeHParams",
        [
            "n_trees",
            "max_depth",
            "learning_rate",
            "l1",
            "l2",
            "tree_complexity",
            "min_node_weight",
            "center_bias",
            "pruning_mode",
            "quantile_sketch_epsilon",
        ],
    )
)

_NEW = -1


class StopAtAttemptsHook(SessionRunHook):
    """Stops when there are enough trees, or when too many layers were tried for them."""

    def __init__(self, num_finalized_trees: Any, num_attempted_layers: Any, max_trees: int, max_depth: int) -> None:
        self._tensors, self._max_trees, self._max_layers = [num_finalized_trees, num_attempted_layers], max_trees, 2 * max_trees * max_depth

    def _is_enough(self, counts: Any, more: int = 0) -> bool:
        trees, layers = counts
        return bool(trees >= self._max_trees - more or layers > self._max_layers - more)

    def before_run(self, run_context: Any) -> Any:
        return SessionRunArgs(self._tensors)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        # A step reads how many there are before it grows one: near the end they are read again.
        if self._is_enough(run_values.results, 1) and self._is_enough(run_context.session.run(self._tensors)):
            run_context.request_stop()


class PrepareHook(SessionRunHook):
    """Tells the accumulators where training stands."""

    def __init__(self, init_op: Any) -> None:
        self._init_op = init_op

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._init_op)


def num_quantiles_of(hparams: Any) -> int:
    """How many quantiles an epsilon stands for."""
    return int(1.0 / hparams.quantile_sketch_epsilon)


class Boundaries:
    """The boundaries of float features: whether they are known, and the sketches that they come from."""

    def __init__(self, features: TreeFeatures, hparams: Any, n_batches: int) -> None:
        self._n_batches = n_batches
        self._count = features.num_streams
        # Also where no feature needs boundaries: TensorFlow's checkpoints have it.
        self.are_ready = tf.Variable(False, trainable=False, name="are_boundaries_ready", use_resource=True)
        self.values: list[Any] = []
        if self._count:
            quantiles = num_quantiles_of(hparams)
            self._streams = QuantileAccumulator(hparams.quantile_sketch_epsilon, self._count, quantiles)
            self.values = self._streams.get_bucket_boundaries()
            self._seen = tf.Variable(0, trainable=False, name="batches_seen", collections=[tf.GraphKeys.LOCAL_VARIABLES], use_resource=True)

    def read_op(self, numbers: list[Any], weights: Any) -> Any:
        """Adds a batch to the sketches, and makes boundaries once there are enough batches."""
        with tf.control_dependencies([self._streams.add_summaries(numbers, weights)]):
            count = tf.assign_add(self._seen, 1)

        def flush() -> Any:
            with tf.control_dependencies([self._streams.flush()]):
                return tf.identity(tf.assign(self.are_ready, True))

        return tf.cond(count >= self._n_batches, flush, lambda: tf.constant(False))

    def once_ready(self, train: Any, numbers: list[Any], weights: Any) -> Any:
        """Trains; while the boundaries are not known, batches go to the sketches instead, and are no steps."""
        if not self._count:
            return train()
        return tf.cond(self.are_ready, train, lambda: self.read_op(numbers, weights))


class Grower:
    """Ops that add a layer from what examples say about splits."""

    def __init__(self, ensemble: Any, features: TreeFeatures, hparams: Any) -> None:
        self._ensemble, self._features, self._hparams = ensemble, features, hparams
        is_pruning = PruningMode.from_str(hparams.pruning_mode) != PruningMode.NO_PRUNING
        if hparams.tree_complexity > 0 and not is_pruning:
            raise ValueError("Tree complexity have no effect unless pruning mode is chosen.")
        if is_pruning and hparams.tree_complexity <= 0:
            raise ValueError("For pruning, tree_complexity must be positive.")
        self.max_splits = (1 << hparams.max_depth) - 1

    def summaries(self, node_ids: Any, gradients: Any, hessians: Any, buckets: list[Any]) -> list[Any]:
        """Sums of gradients and hessians by node, feature and bucket, for each group of features."""
        return [
            apply(
                "BoostedTreesMakeStatsSummary",
                node_ids,
                gradients,
                hessians,
                [buckets[i] for i in members],
                max_splits=self.max_splits,
                num_buckets=width,
            )
            for width, members in self._features.groups()
        ]

    def grow(self, summaries: list[Any], nodes_range: Any) -> Any:
        """An op that adds the best splits."""
        h = self._hparams
        ids: list[int] = []
        columns: list[list[Any]] = [[], [], [], [], []]
        for (_, members), summary in zip(self._features.groups(), summaries):
            found = apply(
                "BoostedTreesCalculateBestGainsPerFeature",
                nodes_range,
                tf.unstack(summary, num=len(members), axis=0),
                tf.constant(h.l1, tf.float32),
                tf.constant(h.l2, tf.float32),
                tf.constant(h.tree_complexity, tf.float32),
                tf.constant(h.min_node_weight, tf.float32),
                max_splits=self.max_splits,
            )
            ids += members
            for held, part in zip(columns, found):
                held += list(part) if isinstance(part, (list, tuple)) else [part]
        return apply(
            "BoostedTreesUpdateEnsemble",
            self._ensemble.resource_handle,
            tf.constant(ids, tf.int32),
            *columns,
            tf.constant(h.max_depth, tf.int32),
            tf.constant(h.learning_rate, tf.float32),
            pruning_mode=PruningMode.from_str(h.pruning_mode),
        )

    def center(self, is_needed: Any, gradients: Any, hessians: Any) -> Any:
        """An op that moves the bias, and notes whether to go on with that."""
        h = self._hparams
        go_on = apply(
            "BoostedTreesCenterBias",
            self._ensemble.resource_handle,
            gradients,
            hessians,
            tf.constant(h.l1, tf.float32),
            tf.constant(h.l2, tf.float32),
        )
        return tf.assign(is_needed, go_on)


class InMemory:
    """A layer for each step."""

    def prepare_op(self, stamp: Any) -> Any:
        """Nothing to prepare."""
        return tf.no_op()

    def step(self, tensors: list[Any], stamp: Any, use: Any, name: str) -> Any:
        """Uses the sums of a batch at once."""
        return use(tensors)


class Batched:
    """A layer from the means over several batches, which workers may share."""

    def __init__(self, shapes: dict[str, list[Any]], n_batches: int) -> None:
        self._n_batches = n_batches
        self._held = {
            name: [tf.ConditionalAccumulator(tf.float32, shape=shape, shared_name=f"{name}_{i}") for i, shape in enumerate(every)]
            for name, every in shapes.items()
        }

    def prepare_op(self, stamp: Any) -> Any:
        """Lets accumulators know which sums are stale."""
        return tf.group(*(held.set_global_step(stamp) for every in self._held.values() for held in every))

    def step(self, tensors: list[Any], stamp: Any, use: Any, name: str) -> Any:
        """Adds the sums of a batch; uses the mean once there are enough of them."""
        held = self._held[name]
        added = [accumulator.apply_grad(tensor, stamp) for accumulator, tensor in zip(held, tensors)]
        with tf.control_dependencies(added):
            enough = tf.greater_equal(held[0].num_accumulated(), self._n_batches)

        def used() -> Any:
            with tf.control_dependencies([use([accumulator.take_grad(1) for accumulator in held])]):
                return tf.constant(True)

        return tf.cond(enough, used, lambda: tf.constant(False))


class _Cache:
    """Where examples are in the trees and what has been counted of them, where batches are always the same."""

    def __init__(self, size: int, width: int) -> None:
        local: dict[str, Any] = {"trainable": False, "collections": [tf.GraphKeys.LOCAL_VARIABLES], "use_resource": True}
        self._variables = [
            tf.Variable(tf.zeros([size], tf.int32), name="tree_ids_cache", **local),
            tf.Variable(tf.fill([size], _NEW), name="node_ids_cache", **local),
            tf.Variable(tf.zeros([size, width]), name="logits_cache", **local),
        ]

    def values(self) -> list[Any]:
        return [tf.identity(v) for v in self._variables]

    def set(self, tensors: list[Any]) -> Any:
        return tf.group(*(tf.assign(v, t) for v, t in zip(self._variables, tensors)))


def bt_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    feature_columns: Any,
    tree_hparams: Any,
    n_batches_per_layer: int,
    config: Any,
    closed_form_grad_and_hess_fn: Any = None,
    example_id_column_name: Any = None,
    weight_column: Any = None,
    train_in_memory: bool = False,
    name: str = "boosted_trees",
) -> Any:
    """The model function of boosted trees."""
    del example_id_column_name
    if head.logits_dimension != 1:
        raise ValueError(f"Only heads with one logit can be boosted. Given: {head.logits_dimension}")
    tree_features = TreeFeatures(feature_columns, num_quantiles_of(tree_hparams))
    in_memory = bool(train_in_memory)
    ensemble = TreeEnsemble(name=name)
    with variable_scope(name), name_scope(name + "/"):
        boundaries = Boundaries(tree_features, tree_hparams, 1 if in_memory else n_batches_per_layer)
        buckets = tree_features.transformed(features, boundaries.values)
        if mode != ModeKeys.TRAIN:
            logits = apply("BoostedTreesPredict", ensemble.resource_handle, buckets, logits_dimension=1)
            training = None
        else:
            training = _Training(ensemble, tree_features, tree_hparams, boundaries, features, buckets, in_memory)
            logits = training.logits
    if training is None:
        return head.create_estimator_spec(features=features, mode=mode, labels=labels, train_op_fn=tf.no_op, logits=logits)
    steps = InMemory() if in_memory else training.batched(n_batches_per_layer)
    weights = tf.ones([1])
    if weight_column is not None:
        column = numeric_column(weight_column, shape=(1,)) if isinstance(weight_column, str) else weight_column
        weights = tf.reshape(column.get_dense_tensor(FeatureTransformationCache(features), None), [-1])

    def train_op_fn(loss: Any) -> Any:
        if closed_form_grad_and_hess_fn:
            gradients, hessians = closed_form_grad_and_hess_fn(logits, labels)
        else:
            gradients = tf.gradients(loss, logits, name="Gradients")[0]
            hessians = tf.gradients(gradients, logits, name="Hessians")[0]
        numbers = tree_features.numbers(features)
        return boundaries.once_ready(lambda: training.step(steps, gradients, hessians), numbers, weights)

    spec = head.create_estimator_spec(features=features, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=logits)
    prepare = PrepareHook(steps.prepare_op(training.stamp))
    stop = StopAtAttemptsHook(training.done, training.layers, tree_hparams.n_trees, tree_hparams.max_depth)
    return spec._replace(training_hooks=(*spec.training_hooks, stop), training_chief_hooks=(*spec.training_chief_hooks, prepare))


internal("estimator.canned.boosted_trees._bt_model_fn")(bt_model_fn)


class _Training:
    """The logits of a batch in training, and the step that makes trees of what they miss."""

    def __init__(
        self, ensemble: Any, tree_features: Any, hparams: Any, boundaries: Any, features: Any, buckets: list[Any], in_memory: bool
    ) -> None:
        self._ensemble, self._hparams, self._buckets = ensemble, hparams, buckets
        self._grower = Grower(ensemble, tree_features, hparams)
        self._groups = tree_features.groups()
        size = tf.shape(buckets[0])[0]
        self._cache = None
        if in_memory:
            known = tf.dimension_value(buckets[0].shape[0])
            if known is None:
                raise ValueError("The batch size of data that are trained on in memory has to be known.")
            self._cache = _Cache(known, 1)
        before = self._cache.values() if self._cache else [tf.zeros([size], tf.int32), tf.fill([size], _NEW), tf.zeros([size, 1])]
        self.stamp, trees, self.done, self.layers, self._nodes_range = ensemble.get_states()
        for tag, value in (("num_trees", trees), ("num_finalized_trees", self.done), ("num_attempted_layers", self.layers)):
            tf.summary.scalar(f"ensemble/{tag}", value)
        partial, self._tree_ids, self._node_ids = apply(
            "BoostedTreesTrainingPredict", ensemble.resource_handle, before[0], before[1], buckets, logits_dimension=1
        )
        self.logits = before[2] + partial
        self._center_needed = tf.Variable(bool(hparams.center_bias), trainable=False, name="center_bias_needed", use_resource=True)

    def batched(self, n_batches: int) -> Batched:
        """Accumulators for the sums of several batches."""
        splits = [[len(members), self._grower.max_splits, width, 2] for width, members in self._groups]
        return Batched({"stats": splits, "bias": [[1, 1], [1, 1]]}, n_batches)

    def _kept(self) -> list[Any]:
        """What notes the logits for the next step; they are not yet kept while the bias moves below them."""
        cache = self._cache
        if cache is None:
            return []

        def keep() -> Any:
            with tf.control_dependencies([cache.set([self._tree_ids, self._node_ids, self.logits])]):
                return tf.constant(True)

        return [tf.cond(self._center_needed, lambda: tf.constant(False), keep) if self._hparams.center_bias else keep()]

    def step(self, steps: Any, gradients: Any, hessians: Any) -> Any:
        """An op that trains: it centers the bias first, if that is asked for, then grows trees."""

        def grow() -> Any:
            sums = self._grower.summaries(self._node_ids, gradients, hessians, self._buckets)
            return _as_flag(steps.step(sums, self.stamp, lambda means: self._grower.grow(means, self._nodes_range), "stats"))

        def center() -> Any:
            means = [tf.reduce_mean(gradients, axis=0, keepdims=True), tf.reduce_mean(hessians, axis=0, keepdims=True)]
            return _as_flag(steps.step(means, self.stamp, lambda found: self._grower.center(self._center_needed, *found), "bias"))

        with tf.control_dependencies(self._kept()):
            grown = tf.cond(self._center_needed, center, grow) if self._hparams.center_bias else grow()
        with tf.control_dependencies([grown]):
            with tf.control_dependencies([tf.assign_add(get_or_create_global_step(), 1)]):
                return tf.identity(grown)


def _as_flag(done: Any) -> Any:
    if isinstance(done, tf.Tensor) and done.dtype == tf.bool:
        return done
    with tf.control_dependencies([done]):
        return tf.constant(True)
