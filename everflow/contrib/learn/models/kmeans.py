"""KMeansClustering of tf.contrib.learn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import everflow as tf
from everflow.contrib.learn.estimator import LearnEstimator
from everflow.contrib.learn.model_ops import ModelFnOps
from everflow.contrib.learn.publishing import learn
from everflow.estimator.canned.kmeans import InitializeClustersHook, LossRelativeChangeHook, parse_features_if_necessary
from everflow.ops.math.kmeans import KMeans
from everflow.train.global_step import get_global_step

_MODULE = "estimators.kmeans"
_LOSS = "kmeans_loss"


def _model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any) -> ModelFnOps:
    if labels is not None:
        raise AssertionError(labels)
    clustering = KMeans(
        parse_features_if_necessary(features, None),
        params["num_clusters"],
        initial_clusters=params["training_initial_clusters"],
        distance_metric=params["distance_metric"],
        use_mini_batch=params["use_mini_batch"],
        mini_batch_steps_per_iteration=params["mini_batch_steps_per_iteration"],
        random_seed=params["random_seed"],
        kmeans_plus_plus_num_retries=params["kmeans_plus_plus_num_retries"],
    )
    all_scores, indices, losses, is_initialized, init_op, training_op = clustering.training_graph()
    step = tf.assign_add(get_global_step(), 1)
    loss = tf.reduce_sum(losses, name=_LOSS)
    tf.summary.scalar("loss/raw", loss)
    with tf.control_dependencies([training_op, step]):
        train_op = tf.identity(loss)
    hooks: list[Any] = [InitializeClustersHook(init_op, is_initialized, config.is_chief)]
    if params["relative_tolerance"] is not None:
        hooks.append(LossRelativeChangeHook(loss, params["relative_tolerance"]))
    return ModelFnOps(
        mode=mode,
        predictions={KMeansClustering.ALL_SCORES: all_scores[0], KMeansClustering.CLUSTER_IDX: indices[0]},
        eval_metric_ops={KMeansClustering.SCORES: loss},
        loss=loss,
        train_op=train_op,
        training_hooks=hooks,
    )


@learn(_MODULE, "KMeansClustering", shown=True)
class KMeansClustering(LearnEstimator):
    """Finds the centers of clusters of points."""

    SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
    COSINE_DISTANCE = "cosine"
    RANDOM_INIT = "random"
    KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"
    SCORES = "scores"
    CLUSTER_IDX = "cluster_idx"
    CLUSTERS = "clusters"
    ALL_SCORES = "all_scores"
    LOSS_OP_NAME = _LOSS

    def __init__(
        self,
        num_clusters: int,
        model_dir: Any = None,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: Any = None,
        config: Any = None,
    ) -> None:
        super().__init__(
            model_fn=_model_fn,
            params={
                "num_clusters": num_clusters,
                "training_initial_clusters": initial_clusters,
                "distance_metric": distance_metric,
                "random_seed": random_seed,
                "use_mini_batch": use_mini_batch,
                "mini_batch_steps_per_iteration": mini_batch_steps_per_iteration,
                "kmeans_plus_plus_num_retries": kmeans_plus_plus_num_retries,
                "relative_tolerance": relative_tolerance,
            },
            model_dir=model_dir,
            config=config,
        )

    def predict_cluster_idx(self, input_fn: Any = None) -> Iterator[Any]:
        """The cluster of each point."""
        for found in self.predict(input_fn=input_fn, outputs=[self.CLUSTER_IDX]):
            yield found[self.CLUSTER_IDX]

    def score(self, input_fn: Any = None, steps: Any = None) -> Any:
        """The sum of the distances of points to their centers."""
        return np.sum(self.evaluate(input_fn=input_fn, steps=steps)[self.SCORES])

    def transform(self, input_fn: Any = None, as_iterable: bool = False) -> Any:
        """The distances of points to all centers."""
        found = self.predict(input_fn=input_fn, outputs=[self.ALL_SCORES], as_iterable=as_iterable)
        return found if as_iterable else found[self.ALL_SCORES]

    def clusters(self) -> Any:
        """The centers."""
        return self.get_variable_value(self.CLUSTERS)
