"""Graphs for k-means: choosing centers, moving them by whole passes or by batches."""

from __future__ import annotations

from typing import Any, NamedTuple

import everflow as tf
from everflow.api import internal, public
from everflow.graph.scopes import name_scope
from everflow.graph.stacks import get_default_graph
from everflow.ops.core.registry import apply

SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
COSINE_DISTANCE = "cosine"
RANDOM_INIT = "random"
KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"
KMC2_INIT = "kmc2"


class Variables(NamedTuple):
    """What k-means keeps: the centers, whether they have been chosen, the centers that batches move (which become the centers after some
    steps, or are the same), in how many steps that is, and how many points each center has had."""

    centers: Any
    initialized: Any
    moving: Any
    steps_left: Any
    counts: Any


@public("contrib.factorization.KMeans")
@internal("ops.clustering_ops.KMeans", "contrib.factorization.python.ops.clustering_ops.KMeans")
class KMeans:
    """The graph of k-means for batches of points."""

    def __init__(
        self,
        inputs: Any,
        num_clusters: Any,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        use_mini_batch: bool = False,
        mini_batch_steps_per_iteration: int = 1,
        random_seed: int = 0,
        kmeans_plus_plus_num_retries: int = 2,
        kmc2_chain_length: int = 200,
    ) -> None:
        if isinstance(initial_clusters, str) and initial_clusters not in (RANDOM_INIT, KMEANS_PLUS_PLUS_INIT, KMC2_INIT):
            raise ValueError(f"Unsupported initialization algorithm '{initial_clusters}'")
        if distance_metric not in (SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE):
            raise ValueError(f"Unsupported distance metric '{distance_metric}'")
        self._inputs = [tf.convert_to_tensor(i) for i in inputs] if isinstance(inputs, list) else [tf.convert_to_tensor(inputs)]
        self._num_clusters, self._initial, self._metric = num_clusters, initial_clusters, distance_metric
        self._mini_batch, self._steps = use_mini_batch, int(mini_batch_steps_per_iteration)
        self._seed, self._retries, self._chain = random_seed, kmeans_plus_plus_num_retries, kmc2_chain_length

    def _distances(self, points: Any, centers: Any) -> Any:
        """The distances of points to all centers."""
        if self._metric == SQUARED_EUCLIDEAN_DISTANCE:
            return (
                tf.reduce_sum(tf.square(points), 1, keepdims=True)
                - 2 * tf.matmul(points, centers, transpose_b=True)
                + tf.transpose(tf.reduce_sum(tf.square(centers), 1, keepdims=True))
            )
        return 1 - tf.matmul(tf.nn.l2_normalize(points, dim=1), tf.nn.l2_normalize(centers, dim=1), transpose_b=True)

    def _normalized(self, points: Any) -> Any:
        return tf.nn.l2_normalize(points, dim=1) if self._metric == COSINE_DISTANCE else points

    def _nearest(self, centers: Any) -> tuple[list[Any], list[Any], list[Any]]:
        """The distances of all points to all centers; the nearest center of each, and how far it is."""
        every, nearest, scores = [], [], []
        centers = self._normalized(centers)
        for points in self._inputs:
            with tf.colocate_with(points, ignore_existing=True):
                distances = self._distances(points, centers)
                indices, score = apply("NearestNeighbors", self._normalized(points), centers, tf.constant(1, tf.int64))
                if self._metric == COSINE_DISTANCE:
                    # Of vectors of length 1, the squared distance is twice what the cosine is short of 1.
                    score = score * 0.5
                every.append(distances)
                nearest.append(tf.squeeze(indices, [-1]))
                scores.append(tf.squeeze(score, [-1]))
        return every, nearest, scores

    def _variables(self) -> Variables:
        with get_default_graph().as_default():
            none = tf.constant([], dtype=tf.float32)
            centers = tf.Variable(none, name="clusters", validate_shape=False, use_resource=False)
            initialized = tf.Variable(False, dtype=tf.bool, name="initialized", use_resource=False)
            moving, steps_left, counts = centers, None, None
            if self._mini_batch and self._steps > 1:
                moving = tf.Variable(none, name="clusters_updated", validate_shape=False, use_resource=False)
                steps_left = tf.Variable(self._steps, dtype=tf.int64, name="update_in_steps", use_resource=False)
            if self._mini_batch:
                start = tf.ones if self._steps == 1 else tf.zeros
                counts = tf.Variable(start([self._num_clusters], dtype=tf.int64), use_resource=False)
            return Variables(centers, initialized, moving, steps_left, counts)

    def training_graph(self) -> tuple[Any, ...]:
        """Distances, nearest centers, scores, whether there are centers, the op that chooses them and the op that moves them."""
        variables = self._variables()
        init_op = self._choose(variables)
        distances, indices, scores = self._nearest(variables.centers)
        move = self._mini_batch_op if self._mini_batch else self._whole_pass_op
        return tuple(distances), tuple(indices), tuple(scores), variables.initialized, init_op, move(variables, indices)

    def _set(self, variables: Variables, centers: Any) -> Any:
        """Makes these the centers, and where they start from."""
        chosen = tf.assign(variables.centers, centers, validate_shape=False)
        return chosen if variables.moving is variables.centers else tf.assign(variables.moving, chosen, validate_shape=False)

    def _choose(self, variables: Variables) -> Any:
        """Chooses centers among the points of batches until there are enough."""
        centers, initialized = variables.centers, variables.initialized
        wanted = tf.convert_to_tensor(self._num_clusters, dtype=tf.int64)
        if not isinstance(self._initial, str):
            given = self._initial(self._inputs, self._num_clusters) if callable(self._initial) else self._initial
            given = tf.cast(tf.convert_to_tensor(given), tf.float32)
            with tf.control_dependencies([self._set(variables, self._normalized(given))]):
                return tf.assign(initialized, True)
        # Only random centers are chosen among all parts of a batch.
        points = tf.concat(self._inputs, 0) if self._initial == RANDOM_INIT else self._inputs[0]

        def chosen() -> Any:
            have = tf.cast(tf.cond(tf.equal(tf.size(centers), 0), lambda: tf.constant(0), lambda: tf.shape(centers)[0]), tf.int64)
            count = tf.cast(tf.shape(points)[0], tf.int64)
            missing = self._how_many(count, wanted - have)
            new = self._some_of(points, centers, have, missing)
            new = self._normalized(new)
            together = tf.cond(tf.equal(have, 0), lambda: new, lambda: tf.concat([tf.reshape(centers, [-1, tf.shape(points)[1]]), new], 0))
            with tf.control_dependencies([self._set(variables, together)]):
                enough = tf.greater_equal(have + missing, wanted)
                return tf.assign(initialized, enough)

        with name_scope("choose_centers"):
            return tf.cond(initialized, lambda: tf.identity(initialized), lambda: tf.identity(chosen()))

    def _how_many(self, count: Any, missing: Any) -> Any:
        """How many centers a batch of so many points gives: at most what is missing; one for each chain; or all at once."""
        if self._initial == RANDOM_INIT:
            return tf.minimum(missing, count)
        if self._initial == KMC2_INIT:
            return tf.maximum(tf.minimum(missing, count // self._chain), 1)
        with tf.control_dependencies([tf.assert_greater_equal(count, missing)]):
            return tf.identity(missing)

    def _some_of(self, points: Any, centers: Any, have: Any, missing: Any) -> Any:
        if self._initial == RANDOM_INIT:
            # A batch that has no more points than are missing gives all of them; of a larger one, a point may be drawn twice.
            count = tf.cast(tf.shape(points)[0], tf.int64)

            def drawn() -> Any:
                which = tf.random_uniform(tf.reshape(missing, [-1]), minval=0, maxval=count, seed=self._seed, dtype=tf.int64)
                return tf.gather(points, which)

            return tf.cond(count > missing, drawn, lambda: tf.identity(points))
        if self._initial == KMEANS_PLUS_PLUS_INIT:
            seed, retries = tf.constant(self._seed, tf.int64), tf.constant(self._retries, tf.int64)
            return apply("KmeansPlusPlusInitialization", self._normalized(points), missing, seed, retries)
        return self._chain_of(points, centers, have, missing)

    def _chain_of(self, points: Any, centers: Any, have: Any, missing: Any) -> Any:
        """Centers drawn by Markov chains over parts of the batch, whose chances grow with the distance to the centers before."""

        def more(i: Any, found: Any) -> Any:
            start = tf.cast(i - have, tf.int32) * self._chain
            candidates = points[start : start + self._chain]
            _, distances = apply("NearestNeighbors", self._normalized(candidates), self._normalized(found), tf.constant(1, tf.int64))
            at = apply("KMC2ChainInitialization", tf.squeeze(distances, [-1]), tf.constant(self._seed, tf.int64))
            return i + 1, tf.concat([found, candidates[at : at + 1]], 0)

        width = points.shape[1]
        # Batches are shuffled: the first point is a random one.
        start = tf.cond(tf.equal(have, 0), lambda: points[:1], lambda: tf.reshape(centers, [-1, tf.shape(points)[1]]))
        taken = tf.maximum(have, 1)
        _, found = tf.while_loop(
            lambda i, _: i < have + missing, more, [taken, start], shape_invariants=[taken.shape, tf.TensorShape([None, width])]
        )
        return found[tf.cast(have, tf.int32) :]

    def _sums(self, indices: list[Any]) -> tuple[Any, Any]:
        """The sum of the points of each center, and how many there are."""
        sums, counts = [], []
        for points, nearest in zip(self._inputs, indices):
            with tf.colocate_with(points, ignore_existing=True):
                sums.append(tf.unsorted_segment_sum(self._normalized(points), nearest, self._num_clusters))
                counts.append(tf.unsorted_segment_sum(tf.ones_like(nearest), nearest, self._num_clusters))
        return tf.add_n(sums), tf.add_n(counts)

    def _whole_pass_op(self, variables: Variables, indices: list[Any]) -> Any:
        """Moves each center to the mean of its points; one without points stays."""
        sums, having = self._sums(indices)
        some = tf.cast(tf.maximum(having, 1), tf.float32)[:, None]
        means = tf.where(having > 0, sums / some, tf.reshape(tf.convert_to_tensor(variables.centers), tf.shape(sums)))
        return tf.assign(variables.centers, self._normalized(means), validate_shape=False)

    def _mini_batch_op(self, variables: Variables, indices: list[Any]) -> Any:
        """Moves centers towards the points of a batch: each point by the share that it has in all points of its center so far."""
        sums, having = self._sums(indices)
        with tf.control_dependencies([sums, having]):
            taken_over = self._take_over(variables)
        with tf.control_dependencies(taken_over):
            current = tf.reshape(tf.identity(variables.moving), tf.shape(sums))
            total = tf.identity(variables.counts) + having
        rate = 1.0 / tf.cast(tf.maximum(total, 1), tf.float32)[:, None]
        moved = current + (sums - tf.cast(having, tf.float32)[:, None] * current) * rate
        with tf.control_dependencies([moved, total]):
            return tf.group(tf.assign(variables.moving, moved, validate_shape=False), tf.assign(variables.counts, total), *taken_over)

    def _take_over(self, variables: Variables) -> list[Any]:
        """After so many steps, makes the centers those that were moved meanwhile, and starts to count anew."""
        if variables.steps_left is None:
            return []

        def anew() -> Any:
            moved = self._normalized(tf.identity(variables.moving))
            with tf.control_dependencies(
                [tf.assign(variables.centers, moved, validate_shape=False), tf.assign(variables.counts, tf.zeros_like(variables.counts))]
            ):
                return tf.identity(tf.assign(variables.steps_left, self._steps - 1))

        return [tf.cond(variables.steps_left <= 0, anew, lambda: tf.identity(tf.assign_sub(variables.steps_left, 1)))]
