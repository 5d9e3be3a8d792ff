"""Estimators: k-means, mixtures of normal distributions, factors of sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.contrib.factorization.mixtures import GmmAlgorithm, gmm
from everflow.contrib.factorization.wals_model import WALSModel
from everflow.contrib.learn.estimator import LearnEstimator
from everflow.contrib.learn.model_ops import ModeKeys, ModelFnOps
from everflow.estimator.canned import kmeans
from everflow.graph.keys import GraphKeys
from everflow.platform import logging
from everflow.train.global_step import get_global_step
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook

for _name, _value in (
    ("SQUARED_EUCLIDEAN_DISTANCE", "squared_euclidean"),
    ("COSINE_DISTANCE", "cosine"),
    ("RANDOM_INIT", "random"),
    ("KMEANS_PLUS_PLUS_INIT", "kmeans_plus_plus"),
):
    public("contrib.factorization." + _name)(_value)


@public("contrib.factorization.KMeansClustering")
class KMeansClustering(kmeans.KMeansClustering):
    """K-means as tf.contrib had it: its seed is 0 unless given, and its distances are squared."""

    def __init__(
        self,
        num_clusters: Any,
        model_dir: str | None = None,
        initial_clusters: Any = "random",
        distance_metric: str = "squared_euclidean",
        random_seed: int = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: Any = None,
        feature_columns: Any = None,
    ) -> None:
        super().__init__(
            num_clusters=num_clusters,
            model_dir=model_dir,
            initial_clusters=initial_clusters,
            distance_metric=distance_metric,
            seed=random_seed,
            use_mini_batch=use_mini_batch,
            mini_batch_steps_per_iteration=mini_batch_steps_per_iteration,
            kmeans_plus_plus_num_retries=kmeans_plus_plus_num_retries,
            relative_tolerance=relative_tolerance,
            config=config,
            feature_columns=feature_columns,
        )

    def transform(self, input_fn: Any) -> Any:
        """The distances of each point to all centers, squared where they are Euclidean."""
        yield from self._predict_one_key(input_fn, self.ALL_DISTANCES)


def _running_sum(tensor: Any) -> tuple[Any, Any]:
    total = tf.contrib.framework.local_variable(tf.constant(0.0))
    return total, total.assign_add(tensor)


@public("contrib.factorization.GMM")
class GMM(LearnEstimator):
    """A mixture of normal distributions, as an estimator of tf.contrib.learn."""

    SCORES = "scores"
    LOG_LIKELIHOOD = "loss"
    ASSIGNMENTS = "assignments"

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        random_seed: int = 0,
        params: str = "wmc",
        initial_clusters: Any = "random",
        covariance_type: str = "full",
        config: Any = None,
    ) -> None:
        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
            assert labels is None, labels
            points = tf.concat([features[key] for key in sorted(features)], 1) if isinstance(features, dict) else features
            loss, scores, assignments, train, init, is_initialized = gmm(
                points, initial_clusters, num_clusters, random_seed, covariance_type, params
            )
            with tf.control_dependencies([train, tf.assign_add(get_global_step(), 1)]):
                train_op = tf.identity(loss)
            return ModelFnOps(
                mode=mode,
                predictions={self.ASSIGNMENTS: assignments[0][0]},
                eval_metric_ops={self.SCORES: scores, self.LOG_LIKELIHOOD: _running_sum(loss)},
                loss=loss,
                train_op=train_op,
                training_hooks=[kmeans.InitializeClustersHook(init, is_initialized, config.is_chief)],
            )

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)

    def predict_assignments(self, input_fn: Any = None, batch_size: int | None = None, outputs: Any = None) -> Any:
        """The likeliest class of each point."""
        for result in self.predict(input_fn=input_fn, batch_size=batch_size, outputs=outputs):
            yield result[self.ASSIGNMENTS]

    def score(self, input_fn: Any = None, batch_size: int | None = None, steps: int | None = None) -> Any:
        """The logarithm of the sum of the likelihoods of points."""
        results = self.evaluate(input_fn=input_fn, batch_size=batch_size, steps=steps)
        return np.log(np.sum(np.exp(results[self.SCORES])))

    def weights(self) -> Any:
        """The weights of the classes."""
        return tf.train.load_variable(self.model_dir, GmmAlgorithm.CLUSTERS_WEIGHT)

    def clusters(self) -> Any:
        """Their means."""
        return np.squeeze(tf.train.load_variable(self.model_dir, GmmAlgorithm.CLUSTERS_VARIABLE), 1)

    def covariances(self) -> Any:
        """Their covariances."""
        return tf.train.load_variable(self.model_dir, GmmAlgorithm.CLUSTERS_COVS_VARIABLE)


@public("contrib.factorization.python.ops.wals._SweepHook")
class SweepHook(SessionRunHook):
    """Runs the step of rows or of columns, and goes over to the others when all have been seen."""

    def __init__(
        self,
        is_row_sweep_var: Any,
        is_sweep_done_var: Any,
        init_op: Any,
        row_prep_ops: list[Any],
        col_prep_ops: list[Any],
        row_train_op: Any,
        col_train_op: Any,
        switch_op: Any,
    ) -> None:
        self._is_row_sweep, self._is_sweep_done = is_row_sweep_var, is_sweep_done_var
        self._init_op, self._switch_op = init_op, switch_op
        self._prep_ops = {True: row_prep_ops, False: col_prep_ops}
        self._train_ops = {True: row_train_op, False: col_train_op}
        self._is_initialized = False

    def before_run(self, run_context: Any) -> Any:
        session = run_context.session
        is_done = session.run(self._is_sweep_done)
        if not self._is_initialized:
            logging.info("SweepHook running init op.")
            session.run(self._init_op)
        if is_done:
            logging.info("SweepHook starting the next sweep.")
            session.run(self._switch_op)
        is_row = bool(session.run(self._is_row_sweep))
        if is_done or not self._is_initialized:
            logging.info(f"SweepHook running prep ops for the {'row' if is_row else 'col'} sweep.")
            for prep in self._prep_ops[is_row]:
                session.run(prep)
        self._is_initialized = True
        logging.info("Next fit step starting.")
        return SessionRunArgs(fetches=[self._train_ops[is_row]])


class _IncrementGlobalStepHook(SessionRunHook):
    """Counts steps."""

    def __init__(self) -> None:
        step = get_global_step()
        self._count = None if step is None else tf.assign_add(step, 1, name="global_step_incr").op

    def before_run(self, run_context: Any) -> None:
        if self._count is not None:
            run_context.session.run(self._count)


@public("contrib.factorization.python.ops.wals._StopAtSweepHook")
class StopAtSweepHook(SessionRunHook):
    """Stops after so many sweeps."""

    def __init__(self, last_sweep: int) -> None:
        self._last_sweep = last_sweep

    def begin(self) -> None:
        name = WALSMatrixFactorization.COMPLETED_SWEEPS
        try:
            self._completed = tf.get_default_graph().get_tensor_by_name(name + ":0")
        except KeyError:
            raise RuntimeError(name + " counter should be created to use StopAtSweepHook.") from None

    def before_run(self, run_context: Any) -> Any:
        return SessionRunArgs(self._completed)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results >= self._last_sweep:
            run_context.request_stop()


def _kept(value: Any, name: str) -> Any:
    return tf.Variable(value, trainable=False, name=name, collections=[GraphKeys.GLOBAL_VARIABLES])


def _training(model: WALSModel, features: dict[str, Any], params: dict[str, Any]) -> ModelFnOps:
    is_row_sweep, is_done = _kept(True, "is_row_sweep"), _kept(False, "is_sweep_done")
    completed = _kept(0, WALSMatrixFactorization.COMPLETED_SWEEPS)
    loss_var, error_var = _kept(0.0, WALSMatrixFactorization.LOSS), _kept(0.0, WALSMatrixFactorization.RWSE)
    tf.summary.scalar("loss", loss_var)
    tf.summary.scalar("root_weighted_squared_error", error_var)
    tf.summary.scalar("completed_sweeps", completed)

    def step_of(entries: Any, count: int, update: Any, axis: str) -> tuple[Any, Any]:
        """(The op that forgets which were seen, a step for rows or columns)."""
        none = tf.fill(dims=[count], value=False)
        with tf.colocate_with(none):
            seen = _kept(none, "processed_" + axis)
        _, update_op, loss, regularization, weights = update(entries)
        ids = entries.indices[:, 0]
        losses = [tf.assign(loss_var, loss + regularization), tf.assign(error_var, tf.sqrt(loss / weights))]
        with tf.control_dependencies([update_op, *losses]):
            with tf.colocate_with(seen):
                see = tf.scatter_update(seen, ids, tf.ones_like(ids, dtype=tf.bool), name=f"update_processed_{axis}_indices")
            with tf.control_dependencies([see]):
                all_seen = tf.reduce_all(seen)
                done = [tf.assign(is_done, all_seen), tf.assign_add(completed, tf.cast(all_seen, tf.int32))]
                return seen.initializer, tf.group(*done, name=f"{axis}_sweep_train_op")

    keys = WALSMatrixFactorization
    reset_rows, train_rows = step_of(
        features[keys.INPUT_ROWS], params["num_rows"], lambda x: model.update_row_factors(sp_input=x, transpose_input=False), "rows"
    )
    reset_cols, train_cols = step_of(
        features[keys.INPUT_COLS], params["num_cols"], lambda x: model.update_col_factors(sp_input=x, transpose_input=True), "cols"
    )
    switch = tf.group(tf.assign(is_row_sweep, tf.logical_not(is_row_sweep)), reset_rows, reset_cols, name="sweep_switch_op")
    hooks: list[Any] = [
        SweepHook(
            is_row_sweep,
            is_done,
            model.worker_init,
            [model.row_update_prep_gramian_op, model.initialize_row_update_op],
            [model.col_update_prep_gramian_op, model.initialize_col_update_op],
            train_rows,
            train_cols,
            switch,
        ),
        _IncrementGlobalStepHook(),
    ]
    if params["max_sweeps"] is not None:
        hooks.append(StopAtSweepHook(params["max_sweeps"]))
    return ModelFnOps(mode=ModeKeys.TRAIN, predictions={}, loss=loss_var, eval_metric_ops={}, train_op=tf.no_op(), training_hooks=hooks)


@public("contrib.factorization.python.ops.wals._wals_factorization_model_function")
def wals_model_fn(features: dict[str, Any], labels: Any, mode: str, params: dict[str, Any]) -> ModelFnOps:
    """The ops of a factorization in a mode."""
    assert labels is None
    ModeKeys.validate(mode)
    trains = mode == ModeKeys.TRAIN
    rows_and_columns = (params["num_rows"], params["num_cols"])
    both = {f"{side}_{what}": params[f"{side}_{what}"] for side in ("row", "col") for what in ("init", "weights")}
    shards = {key: params[key] for key in ("num_row_shards", "num_col_shards")}
    caches = {f"use_{cache}_cache": trains and params[f"use_{cache}_cache_for_training"] for cache in ("factors_weights", "gramian")}
    loss = {"unobserved_weight": params["unobserved_weight"], "regularization": params["regularization_coeff"]}
    settings: dict[str, Any] = {**loss, **both, **shards, **caches}
    model = WALSModel(*rows_and_columns, params["embedding_dimension"], **settings)
    if trains:
        return _training(model, features, params)
    keys = WALSMatrixFactorization
    rows, cols, is_row = features[keys.INPUT_ROWS], features[keys.INPUT_COLS], features[keys.PROJECT_ROW]
    if mode == ModeKeys.INFER:
        weights = features.get(keys.PROJECTION_WEIGHTS)
        projection = tf.cond(
            is_row,
            lambda: model.project_row_factors(sp_input=rows, projection_weights=weights, transpose_input=False),
            lambda: model.project_col_factors(sp_input=cols, projection_weights=weights, transpose_input=True),
        )
        return ModelFnOps(mode=mode, predictions={keys.PROJECTION_RESULT: projection}, eval_metric_ops={}, train_op=tf.no_op())

    def loss_of(update: Any, entries: Any, transpose: bool) -> Any:
        _, _, loss, regularization, _ = update(sp_input=entries, transpose_input=transpose)
        return loss + regularization

    loss = tf.cond(is_row, lambda: loss_of(model.update_row_factors, rows, False), lambda: loss_of(model.update_col_factors, cols, True))
    return ModelFnOps(mode=mode, predictions={}, loss=loss, eval_metric_ops={}, train_op=tf.no_op())


@public("contrib.factorization.WALSMatrixFactorization")
class WALSMatrixFactorization(LearnEstimator):
    """Factors of a sparse matrix, as an estimator of tf.contrib.learn. Its features are entries by rows and by columns."""

    INPUT_ROWS = "input_rows"
    INPUT_COLS = "input_cols"
    PROJECT_ROW = "project_row"
    PROJECTION_WEIGHTS = "projection_weights"
    PROJECTION_RESULT = "projection"
    COMPLETED_SWEEPS = "completed_sweeps"
    LOSS = "WALS_loss"
    RWSE = "WALS_RWSE"

    def __init__(
        self,
        num_rows: int,
        num_cols: int,
        embedding_dimension: int,
        unobserved_weight: float = 0.1,
        regularization_coeff: float | None = None,
        row_init: Any = "random",
        col_init: Any = "random",
        num_row_shards: int = 1,
        num_col_shards: int = 1,
        row_weights: Any = 1,
        col_weights: Any = 1,
        use_factors_weights_cache_for_training: bool = True,
        use_gramian_cache_for_training: bool = True,
        max_sweeps: int | None = None,
        model_dir: str | None = None,
        config: Any = None,
    ) -> None:
        given = {name: value for name, value in locals().items() if name not in ("self", "model_dir", "config", "__class__")}
        self._row_factors_names = [f"row_factors_shard_{i}" for i in range(num_row_shards)]
        self._col_factors_names = [f"col_factors_shard_{i}" for i in range(num_col_shards)]
        super().__init__(model_fn=wals_model_fn, params=given, model_dir=model_dir, config=config)
        if self._config is not None and self._config.num_worker_replicas > 1:
            raise ValueError("WALSMatrixFactorization must be run on a single worker replica.")

    def get_row_factors(self) -> list[Any]:
        """The factors of rows, in shards."""
        return [self.get_variable_value(name) for name in self._row_factors_names]

    def get_col_factors(self) -> list[Any]:
        """The factors of columns, in shards."""
        return [self.get_variable_value(name) for name in self._col_factors_names]

    def get_projections(self, input_fn: Any) -> Any:
        """The factors that rows or columns of entries would have."""
        return (result[self.PROJECTION_RESULT] for result in self.predict(input_fn=input_fn))
