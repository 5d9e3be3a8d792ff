"""Mixtures of normal distributions, found by expectation and maximization."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.graph.tensor import Tensor

BELOW = "contrib.factorization.python.ops.gmm_ops."
FULL_COVARIANCE, DIAG_COVARIANCE = "full", "diag"
_TINY = np.finfo(float).eps
public(BELOW + "FULL_COVARIANCE")(FULL_COVARIANCE)
public(BELOW + "DIAG_COVARIANCE")(DIAG_COVARIANCE)
public(BELOW + "MEPS")(_TINY)


@public(BELOW + "_covariance")
def covariance(x: Any, diag: bool) -> Any:
    """The covariance of points, or only the variances in a row."""
    count = tf.cast(tf.shape(x)[0], tf.float32)
    x -= tf.reduce_mean(x, 0, keepdims=True)
    squares = tf.reduce_sum(tf.square(x), 0, keepdims=True) if diag else tf.matmul(x, x, transpose_a=True)
    return squares / (count - 1)


@public(BELOW + "_init_clusters_random")
def random_points(data: list[Any], num_clusters: int, random_seed: int) -> Any:
    """Points of the data drawn at random."""
    count = tf.add_n([tf.shape(points)[0] for points in data])
    with tf.control_dependencies([tf.assert_less_equal(num_clusters, count)]):
        drawn = tf.random_uniform([num_clusters], minval=0, maxval=tf.cast(count, tf.int64), seed=random_seed, dtype=tf.int64)
    return tf.nn.embedding_lookup(data, drawn % tf.cast(count, tf.int64), partition_strategy="div")


def _after(value: Any, *ops: Any) -> Any:
    with tf.control_dependencies(list(ops)):
        return tf.identity(value)


@public("contrib.factorization.GmmAlgorithm")
class GmmAlgorithm:
    """The graph of a mixture: weights, means and covariances of its classes, and a step that makes the data likelier."""

    CLUSTERS_WEIGHT = "alphas"
    CLUSTERS_VARIABLE = "clusters"
    CLUSTERS_COVS_VARIABLE = "clusters_covs"

    def __init__(
        self,
        data: list[Any],
        num_classes: int,
        initial_means: Any = None,
        params: str = "wmc",
        covariance_type: str = FULL_COVARIANCE,
        random_seed: int = 0,
    ) -> None:
        if covariance_type not in (DIAG_COVARIANCE, FULL_COVARIANCE):
            raise Exception(f"programmer error: Invalid covariance type: {covariance_type}")
        self._params, self._random_seed = params, random_seed
        self._is_full = covariance_type == FULL_COVARIANCE
        self._num_classes = num_classes
        self._dimensions = tf.shape(data[0])[1]
        self._min_var = tf.diag(tf.ones(tf.stack([self._dimensions]))) * 1e-3
        self._create_variables()
        self._initialize_variables(data, initial_means)
        shards = [tf.expand_dims(points, 0) for points in data]
        self._log_probs = [self._log_probs_of(shard) for shard in shards]
        self._log_totals = [tf.reduce_logsumexp(probs, axis=1, keepdims=True) for probs in self._log_probs]
        self._shares = [self._shares_of(*both) for both in zip(self._log_probs, self._log_totals, strict=True)]
        self._train_ops = self._maximization(shards)
        self._log_likelihood_op = tf.reduce_logsumexp([tf.reduce_logsumexp(totals) for totals in self._log_totals])
        scores = [totals + tf.log(shares) for totals, shares in zip(self._log_totals, self._shares, strict=True)]
        self._scores = tf.squeeze(tf.reduce_logsumexp(scores, axis=2, keepdims=True), axis=0)

    def _create_variables(self) -> None:
        nothing = tf.constant([], dtype=tf.float32)
        self._means = tf.Variable(nothing, name=self.CLUSTERS_VARIABLE, validate_shape=False)
        self._covs = tf.Variable(nothing, name=self.CLUSTERS_COVS_VARIABLE, validate_shape=False)
        equal = tf.tile([1.0 / self._num_classes], [self._num_classes])
        self._alpha = tf.Variable(equal, name=self.CLUSTERS_WEIGHT, validate_shape=False)
        self._is_initialized = tf.Variable(False, dtype=tf.bool, name="initialized")

    def _initialize_variables(self, data: list[Any], initial_means: Any) -> None:
        start = random_points(data, self._num_classes, self._random_seed) if initial_means is None else initial_means
        means = tf.expand_dims(start, 1)
        spread = covariance(data[0], not self._is_full) + self._min_var
        if self._is_full:
            covs = tf.tile(tf.expand_dims(spread, 0), [self._num_classes, 1, 1])
        else:
            covs = tf.tile(tf.expand_dims(tf.diag_part(spread), 0), [self._num_classes, 1])
        with tf.colocate_with(self._is_initialized):
            done = _after(self._is_initialized, means, covs)
        self._init_ops = []
        for variable, value in ((self._means, means), (self._covs, covs)):
            with tf.colocate_with(variable):

                def set_both(variable: Any = variable, value: Any = value) -> Any:
                    with tf.control_dependencies([tf.assign(variable, value, validate_shape=False)]):
                        return tf.group(tf.assign(self._is_initialized, True))

                self._init_ops.append(tf.cond(done, tf.no_op, set_both).op)

    def _log_probs_of(self, shard: Any) -> Any:
        """The log probability of each point with each class."""
        dimensions = tf.cast(self._dimensions, tf.float32)
        if self._is_full:
            factor = tf.cholesky(self._covs + self._min_var)
            log_det = 2.0 * tf.reduce_sum(tf.log(tf.matrix_diag_part(factor)), 1)
            whitened = tf.matrix_triangular_solve(factor, tf.transpose(shard - self._means, perm=[0, 2, 1]), lower=True)
            distances = tf.transpose(tf.reduce_sum(tf.square(whitened), 1))
            probs = -0.5 * (distances + dimensions * tf.log(2 * np.pi) + log_det)
        else:
            variances = tf.add(self._covs, 1e-3)
            log_det = tf.reduce_sum(tf.log(variances), 1, keepdims=True)
            precision = tf.expand_dims(1.0 / variances, 2)
            distances = tf.matmul(tf.squared_difference(shard, self._means), precision)
            distances = tf.transpose(tf.squeeze(distances, [2]))
            probs = -0.5 * (dimensions * tf.log(2.0 * np.pi) + tf.transpose(log_det) + distances)
        return probs + tf.log(self._alpha)

    def _shares_of(self, log_probs: Any, log_totals: Any) -> Any:
        """How much of each point belongs to each class."""
        return tf.reshape(tf.exp(tf.expand_dims(log_probs, 0) - log_totals), tf.stack([tf.shape(log_probs)[0], self._num_classes]))

    def _maximization(self, shards: list[Any]) -> list[Any]:
        """Ops that set weights, means and covariances to those of the points in their shares."""
        counts, sums, squares = [], [], []
        for shard, shares in zip(shards, self._shares, strict=True):
            points = tf.squeeze(shard, [0])
            counts.append(tf.reduce_sum(shares, 0, keepdims=True))
            sums.append(tf.expand_dims(tf.matmul(shares, points, transpose_a=True), 1))
            weighed = tf.expand_dims(tf.transpose(points), 0) * tf.expand_dims(tf.transpose(shares), 1)
            squares.append(tf.matmul(weighed, tf.tile(shard, [self._num_classes, 1, 1])))
        with tf.control_dependencies(self._shares):
            count = tf.squeeze(tf.add_n(counts), axis=[0])
            set_weights = tf.no_op()
            if "w" in self._params:
                each = count / len(shards)
                set_weights = self._alpha.assign(each / (tf.cast(tf.reduce_sum(each), tf.float32) + _TINY))
            by_class = tf.reshape(count, [self._num_classes, 1, 1]) + _TINY
            set_means = self._means.assign(tf.div(tf.add_n(sums), by_class)) if "m" in self._params else tf.no_op()
            ops = [set_weights, set_means]
            with tf.control_dependencies([set_means]):
                means = self._means.value()
                new = tf.add_n(squares) / by_class - tf.matmul(means, means, transpose_a=True) + self._min_var
                covs = new if self._is_full else tf.matrix_diag_part(new)
                if "c" in self._params:
                    with tf.control_dependencies([covs]):
                        ops.append(tf.assign(self._covs, covs, validate_shape=False))
            return ops

    def init_ops(self) -> Any:
        """Sets means and covariances to start with, once."""
        return tf.group(*self._init_ops)

    def training_ops(self) -> Any:
        """One step."""
        return tf.group(*self._train_ops)

    def is_initialized(self) -> Any:
        """Whether there are means and covariances."""
        return self._is_initialized

    def alphas(self) -> Any:
        """The weights of the classes."""
        return self._alpha

    def clusters(self) -> Any:
        """Their means."""
        return self._means

    def covariances(self) -> Any:
        """Their covariances."""
        return self._covs

    def assignments(self) -> list[Any]:
        """The likeliest class of each point, shard by shard."""
        return [tf.argmax(shares, 1) for shares in self._shares]

    def scores(self) -> Any:
        """The log likelihood of each point."""
        return self._scores

    def log_likelihood_op(self) -> Any:
        """The logarithm of the sum of the likelihoods of all points."""
        return self._log_likelihood_op


@public("contrib.factorization.gmm")
def gmm(
    inp: Any, initial_clusters: Any, num_clusters: int, random_seed: int, covariance_type: str = FULL_COVARIANCE, params: str = "wmc"
) -> tuple[Any, ...]:
    """(Log likelihood, scores, assignments, training op, initial op, whether initialized) of a mixture."""
    is_random = isinstance(initial_clusters, str) and initial_clusters == "random"
    means = None if is_random or isinstance(initial_clusters, Tensor) else tf.constant(initial_clusters, dtype=tf.float32)
    data = inp if isinstance(inp, list) else [inp]
    found = GmmAlgorithm(data, num_clusters, means, params, covariance_type, random_seed)
    return found.log_likelihood_op(), found.scores(), [found.assignments()], found.training_ops(), found.init_ops(), found.is_initialized()
