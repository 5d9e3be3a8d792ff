"""Estimators under a strategy: the model function runs for each replica, and what the replicas give becomes one model."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import everflow as tf
from everflow.distribute.strategy import get_loss_reduction
from everflow.estimator import running
from everflow.estimator.input_data import features_and_labels
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.spec import EstimatorSpec
from everflow.train import global_step as steps
from everflow.train.scaffold import Scaffold


@contextlib.contextmanager
def _distributed_graph(estimator: Any, strategy: Any) -> Iterator[Any]:
    """A new graph, built under the strategy."""
    strategy.configure(session_config=estimator._session_config)
    before = strategy._scale_loss_for_estimator
    strategy._scale_loss_for_estimator = True
    try:
        with tf.Graph().as_default() as graph, strategy.scope():
            tf.set_random_seed(estimator._config.tf_random_seed)
            yield graph
    finally:
        strategy._scale_loss_for_estimator = before


def _inputs(estimator: Any, strategy: Any, input_fn: Callable[..., Any], mode: str) -> tuple[Any, Any, list[Any]]:
    """Features and labels for each replica, and the hook that starts them."""
    iterator, hooks = estimator._get_iterator_from_input_fn(input_fn, mode, strategy)
    features, labels = features_and_labels(iterator.get_next())
    return features, labels, hooks


def train(estimator: Any, strategy: Any, input_fn: Callable[..., Any], hooks: list[Any], saving_listeners: list[Any]) -> Any:
    """Trains on all replicas; the last loss."""
    with _distributed_graph(estimator, strategy) as graph:
        features, labels, input_hooks = _inputs(estimator, strategy, input_fn, ModeKeys.TRAIN)
        step = estimator._create_and_assert_global_step(graph)
        steps.get_or_create_read(graph)
        spec = strategy.extended.call_for_each_replica(estimator._call_model_fn, args=(features, labels, ModeKeys.TRAIN, estimator.config))
        local = strategy.experimental_local_results
        loss = strategy.reduce(get_loss_reduction(), spec.loss)
        spec = EstimatorSpec(
            mode=ModeKeys.TRAIN,
            loss=loss,
            train_op=tf.group(*local(spec.train_op)),
            scaffold=local(spec.scaffold)[0] or Scaffold(),
            training_hooks=[local(hook)[0] for hook in spec.training_hooks],
            training_chief_hooks=[local(hook)[0] for hook in spec.training_chief_hooks],
        )
        return running.train(estimator, spec, input_hooks + hooks, step, saving_listeners)


def evaluate(estimator: Any, strategy: Any, input_fn: Callable[..., Any], hooks: list[Any], checkpoint_path: Any, name: str | None) -> Any:
    """Evaluates on all replicas, whose metrics count into the same variables."""
    with _distributed_graph(estimator, strategy) as graph, strategy.extended._one_variable_per_metric():
        features, labels, input_hooks = _inputs(estimator, strategy, input_fn, ModeKeys.EVAL)
        estimator._create_and_assert_global_step(graph)

        def evaluated(features: Any, labels: Any) -> Any:
            spec = estimator._call_model_fn(features, labels, ModeKeys.EVAL, estimator.config)
            return (*running.metrics_of(spec), spec.scaffold, list(spec.evaluation_hooks))

        updates, values, scaffold, own_hooks = strategy.extended.call_for_each_replica(evaluated, args=(features, labels))
        local = strategy.experimental_local_results
        values = {key: local(value)[0] for key, value in values.items()}
        if not checkpoint_path and estimator._warm_start_settings:
            estimator._warm_start()
        all_hooks = input_hooks + hooks + [local(hook)[0] for hook in own_hooks]
        return running.evaluate(
            estimator,
            local(scaffold)[0] or Scaffold(),
            tf.group(*local(updates)),
            values,
            all_hooks,
            checkpoint_path,
            estimator.eval_dir(name),
        )
