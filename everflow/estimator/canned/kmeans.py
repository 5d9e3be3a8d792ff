"""K-means as an estimator."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.estimator.estimator import Estimator
from everflow.estimator.export_outputs import PredictOutput
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.spec import EstimatorSpec
from everflow.feature_column.layers import DenseFeatures
from everflow.ops.math.kmeans import KMeans
from everflow.platform import logging
from everflow.train.global_step import get_global_step
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook


@internal("estimator.canned.kmeans._LossRelativeChangeHook")
class LossRelativeChangeHook(SessionRunHook):
    """Stops when the loss hardly changes any more."""

    def __init__(self, loss_tensor: Any, tolerance: float) -> None:
        self._loss, self._tolerance = loss_tensor, tolerance
        self._before: Any = None

    def before_run(self, run_context: Any) -> Any:
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        loss = run_values.results
        if self._before is not None and abs(loss - self._before) / (1 + abs(self._before)) < self._tolerance:
            run_context.request_stop()
        self._before = loss


@internal("estimator.canned.kmeans._InitializeClustersHook")
class InitializeClustersHook(SessionRunHook):
    """Chooses the first centers, which may take several batches; other workers wait for it."""

    def __init__(self, init_op: Any, is_initialized_var: Any, is_chief: bool) -> None:
        self._init_op, self._is_initialized, self._is_chief = init_op, is_initialized_var, is_chief

    def after_create_session(self, session: Any, coord: Any) -> None:
        del coord
        if self._init_op.graph is not tf.get_default_graph():
            raise AssertionError("the centers are of another graph")
        logging.info("Initialization of clusters.")
        while not session.run(self._is_initialized):
            if self._is_chief:
                session.run(self._init_op)
            else:
                time.sleep(1)


@internal("estimator.canned.kmeans._parse_features_if_necessary")
def parse_features_if_necessary(features: Any, feature_columns: Any) -> Any:
    """Points as one matrix: as they are, by columns, or all features of a dict side by side."""
    if not isinstance(features, dict):
        return features
    if feature_columns:
        return DenseFeatures(feature_columns, name="input_layer")(features)
    return tf.concat([features[key] for key in sorted(features)], axis=1)


@public("estimator.experimental.KMeans")
@internal("estimator.canned.kmeans.KMeansClustering")
class KMeansClustering(Estimator):
    """Finds the centers of clusters of points."""

    SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
    COSINE_DISTANCE = "cosine"
    RANDOM_INIT = "random"
    KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"
    CLUSTER_INDEX = "cluster_index"
    ALL_DISTANCES = "all_distances"
    CLUSTER_CENTERS_VAR_NAME = "clusters"
    SCORE = "score"

    def __init__(
        self,
        num_clusters: Any,
        model_dir: Any = None,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        seed: int | None = None,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: Any = None,
        feature_columns: Any = None,
    ) -> None:
        if isinstance(initial_clusters, str) and initial_clusters not in (self.RANDOM_INIT, self.KMEANS_PLUS_PLUS_INIT):
            raise ValueError(f"Unsupported initialization algorithm '{initial_clusters}'")
        if distance_metric not in (self.SQUARED_EUCLIDEAN_DISTANCE, self.COSINE_DISTANCE):
            raise ValueError(f"Unsupported distance metric '{distance_metric}'")
        self._distance_metric = distance_metric

        def model_fn(features: Any, mode: str, config: Any) -> Any:
            points = parse_features_if_necessary(features, feature_columns)
            graph = KMeans(
                inputs=points,
                num_clusters=num_clusters,
                initial_clusters=initial_clusters,
                distance_metric=distance_metric,
                use_mini_batch=use_mini_batch,
                mini_batch_steps_per_iteration=mini_batch_steps_per_iteration,
                # TensorFlow takes the graph's seed, which the config sets, whatever seed it is given.
                random_seed=tf.get_seed(seed)[0] or 0,
                kmeans_plus_plus_num_retries=kmeans_plus_plus_num_retries,
            ).training_graph()
            distances, indices, scores, is_initialized, init_op, training_op = graph
            loss = tf.reduce_sum(scores)
            tf.summary.scalar("loss/raw", loss)
            hooks: list[Any] = [InitializeClustersHook(init_op, is_initialized, config.is_chief)]
            if relative_tolerance is not None:
                hooks.append(LossRelativeChangeHook(loss, relative_tolerance))
            training_op = _after(tf.assign_add(get_global_step(), 1).op, [training_op], loss) if mode == ModeKeys.TRAIN else loss
            predictions = {self.ALL_DISTANCES: distances[0], self.CLUSTER_INDEX: indices[0]}
            exports = {
                self.ALL_DISTANCES: PredictOutput(distances[0]),
                self.CLUSTER_INDEX: PredictOutput(indices[0]),
                tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(indices[0]),
            }
            return EstimatorSpec(
                mode=mode,
                predictions=predictions,
                loss=loss,
                train_op=training_op,
                eval_metric_ops={self.SCORE: tf.metrics.mean(loss)},
                training_hooks=hooks,
                export_outputs=exports,
            )

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)

    def _predict_one_key(self, input_fn: Any, predict_key: str) -> Any:
        for result in self.predict(input_fn=input_fn, predict_keys=[predict_key]):
            yield result[predict_key]

    def predict_cluster_index(self, input_fn: Any) -> Any:
        """The nearest center of each point."""
        yield from self._predict_one_key(input_fn, self.CLUSTER_INDEX)

    def score(self, input_fn: Any) -> Any:
        """The sum of the distances of points to their nearest centers."""
        return self.evaluate(input_fn=input_fn, steps=1)[self.SCORE]

    def transform(self, input_fn: Any) -> Any:
        """The distances of each point to all centers."""
        squared = self._distance_metric == self.SQUARED_EUCLIDEAN_DISTANCE
        for distances in self._predict_one_key(input_fn, self.ALL_DISTANCES):
            yield np.sqrt(distances) if squared else distances

    def cluster_centers(self) -> Any:
        """The centers."""
        return self.get_variable_value(self.CLUSTER_CENTERS_VAR_NAME)


def _after(step: Any, ops: list[Any], value: Any) -> Any:
    """A value, given once ops have run."""
    with tf.control_dependencies([step, *ops]):
        return tf.identity(value, name="control_dependency")
