"""BoostedTreesClassifier, BoostedTreesRegressor and BoostedTreesEstimator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.estimator.canned.trees.explaining import DEBUG_KEY, by_name, explanations, feature_importances
from everflow.estimator.canned.trees.features import TreeFeatures
from everflow.estimator.canned.trees.growing import Boundaries, TreeHParams, bt_model_fn, num_quantiles_of
from everflow.estimator.canned.trees.resources import TreeEnsemble
from everflow.estimator.estimator import Estimator
from everflow.estimator.heads.classification import BinaryGraphHead
from everflow.estimator.heads.regression import RegressionGraphHead
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.spec import EstimatorSpec
from everflow.graph.scopes import name_scope
from everflow.losses.weighting import Reduction
from everflow.ops.core.registry import apply
from everflow.ops.variables.variable_scope import variable_scope
from everflow.proto.tensorflow.core.kernels.boosted_trees import boosted_trees_pb2 as messages
from everflow.train.checkpoints.reader import load_variable

_NAME = "boosted_trees"
_UNSET = object()


@internal("estimator.canned.boosted_trees._create_classification_head")
def classification_head(n_classes: Any, weight_column: Any = None, label_vocabulary: Any = None) -> Any:
    """The head of a classifier of two classes."""
    if n_classes != 2:
        raise ValueError(f"For now only binary classification is supported.n_classes given as {n_classes}")
    return BinaryGraphHead(weight_column=weight_column, label_vocabulary=label_vocabulary, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE)


@internal("estimator.canned.boosted_trees._create_regression_head")
def regression_head(label_dimension: Any, weight_column: Any = None) -> Any:
    """The head of a regressor of one number."""
    if label_dimension != 1:
        raise ValueError(f"For now only 1-dimension regression is supported.label_dimension given as {label_dimension}")
    return RegressionGraphHead(label_dimension=label_dimension, weight_column=weight_column, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE)


class _BoostedTreesBase(Estimator):
    """What estimators of boosted trees share: what they can tell about what they have learnt."""

    def _build(
        self,
        head: Any,
        feature_columns: Any,
        hparams: Any,
        n_batches_per_layer: int,
        model_dir: Any,
        config: Any,
        weight_column: Any,
        is_classification: bool,
        train_in_memory: bool = False,
    ) -> None:
        def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
            return bt_model_fn(
                features,
                labels,
                mode,
                head,
                feature_columns,
                hparams,
                n_batches_per_layer,
                config=config,
                weight_column=weight_column,
                train_in_memory=train_in_memory,
            )

        Estimator.__init__(self, model_fn=model_fn, model_dir=model_dir, config=config)
        self._head, self._hparams, self._is_classification = head, hparams, is_classification
        self._tree_features = TreeFeatures(feature_columns, num_quantiles_of(hparams))

    def experimental_feature_importances(self, normalize: bool = False) -> Any:
        """How much the splits by each feature column gained, the greatest first."""
        name = _NAME + ":0_serialized"
        serialized = load_variable(self.model_dir, name)
        if not serialized:
            raise ValueError("Found empty serialized string for TreeEnsemble. You should only call this method after training.")
        ensemble = messages.TreeEnsemble()
        ensemble.ParseFromString(bytes(serialized))
        names = self._tree_features.names
        return by_name(names, feature_importances(ensemble, len(names), normalize).tolist())

    def experimental_predict_with_explanations(
        self, input_fn: Any, predict_keys: Any = None, hooks: Any = None, checkpoint_path: Any = None
    ) -> Iterator[Any]:
        """Predictions with the bias and what each feature column added to them."""
        if not self._hparams.center_bias:
            raise ValueError(
                "center_bias must be enabled during estimator instantiation when using experimental_predict_with_explanations."
            )
        if self._is_classification and not isinstance(self._head, BinaryGraphHead):
            raise ValueError("Explanations of predictions are only there for two classes.")
        keys = None if predict_keys is None else [*predict_keys, DEBUG_KEY]
        estimator = Estimator(model_fn=self._explaining_model_fn, model_dir=self.model_dir, config=self.config)
        for found in estimator.predict(
            input_fn, predict_keys=keys, hooks=hooks, checkpoint_path=checkpoint_path, yield_single_examples=True
        ):
            serialized = found.pop(DEBUG_KEY)
            bias, contributions = explanations(serialized, self._tree_features.names, self._is_classification)
            found["bias"], found["dfc"] = bias, contributions
            yield found

    def _explaining_model_fn(self, features: Any, mode: str) -> Any:
        if mode != ModeKeys.PREDICT:
            raise ValueError(f"mode must be in infer mode, given: {mode}")
        ensemble = TreeEnsemble(name=_NAME)
        with variable_scope(_NAME), name_scope(_NAME + "/"):
            boundaries = Boundaries(self._tree_features, self._hparams, 1)
            buckets = self._tree_features.transformed(features, boundaries.values)
            logits = apply("BoostedTreesPredict", ensemble.resource_handle, buckets, logits_dimension=1)
            debug = apply("BoostedTreesExampleDebugOutputs", ensemble.resource_handle, buckets, logits_dimension=1)
        spec = self._head.create_estimator_spec(features=features, mode=mode, logits=logits)
        return EstimatorSpec(mode=mode, predictions={**spec.predictions, DEBUG_KEY: debug})


@public("estimator.BoostedTreesClassifier")
class BoostedTreesClassifier(_BoostedTreesBase):
    """Boosted trees that classify."""

    def __init__(
        self,
        feature_columns: Any,
        n_batches_per_layer: int,
        model_dir: Any = None,
        n_classes: Any = _UNSET,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: Any = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ) -> None:
        n_classes = 2 if n_classes is _UNSET else n_classes
        if n_classes > 2 and pruning_mode is not None:
            raise ValueError("For now pruning is not supported with multi class.")
        head = classification_head(n_classes, weight_column, label_vocabulary)
        hparams = TreeHParams(
            n_trees=n_trees,
            max_depth=max_depth,
            learning_rate=learning_rate,
            l1=l1_regularization,
            l2=l2_regularization,
            tree_complexity=tree_complexity,
            min_node_weight=min_node_weight,
            center_bias=center_bias,
            pruning_mode=pruning_mode,
            quantile_sketch_epsilon=quantile_sketch_epsilon,
        )
        self._build(head, feature_columns, hparams, n_batches_per_layer, model_dir, config, weight_column, True, train_in_memory)


@public("estimator.BoostedTreesRegressor")
class BoostedTreesRegressor(_BoostedTreesBase):
    """Boosted trees that predict a number."""

    def __init__(
        self,
        feature_columns: Any,
        n_batches_per_layer: int,
        model_dir: Any = None,
        label_dimension: Any = _UNSET,
        weight_column: Any = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: Any = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ) -> None:
        head = regression_head(1 if label_dimension is _UNSET else label_dimension, weight_column)
        hparams = TreeHParams(
            n_trees=n_trees,
            max_depth=max_depth,
            learning_rate=learning_rate,
            l1=l1_regularization,
            l2=l2_regularization,
            tree_complexity=tree_complexity,
            min_node_weight=min_node_weight,
            center_bias=center_bias,
            pruning_mode=pruning_mode,
            quantile_sketch_epsilon=quantile_sketch_epsilon,
        )
        self._build(head, feature_columns, hparams, n_batches_per_layer, model_dir, config, weight_column, False, train_in_memory)


@public("estimator.BoostedTreesEstimator", "contrib.estimator.BoostedTreesEstimator")
class BoostedTreesEstimator(_BoostedTreesBase):
    """Boosted trees with any head of one logit."""

    def __init__(
        self,
        feature_columns: Any,
        n_batches_per_layer: int,
        head: Any,
        model_dir: Any = None,
        weight_column: Any = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: Any = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
    ) -> None:
        hparams = TreeHParams(
            n_trees=n_trees,
            max_depth=max_depth,
            learning_rate=learning_rate,
            l1=l1_regularization,
            l2=l2_regularization,
            tree_complexity=tree_complexity,
            min_node_weight=min_node_weight,
            center_bias=center_bias,
            pruning_mode=pruning_mode,
            quantile_sketch_epsilon=quantile_sketch_epsilon,
        )
        is_classification = isinstance(head, BinaryGraphHead)
        self._build(head, feature_columns, hparams, n_batches_per_layer, model_dir, config, weight_column, is_classification)


def _repeated(input_fn: Any) -> Any:
    """An input function that gives the whole of a dataset over and over, as one batch."""

    def repeating() -> Any:
        dataset = input_fn()
        return dataset.repeat() if isinstance(dataset, tf.data.Dataset) else dataset

    return repeating


@public("contrib.estimator.boosted_trees_classifier_train_in_memory")
@internal("contrib.estimator.python.estimator.boosted_trees.boosted_trees_classifier_train_in_memory")
def boosted_trees_classifier_train_in_memory(
    train_input_fn: Any,
    feature_columns: Any,
    model_dir: Any = None,
    n_classes: Any = _UNSET,
    weight_column: Any = None,
    label_vocabulary: Any = None,
    n_trees: int = 100,
    max_depth: int = 6,
    learning_rate: float = 0.1,
    l1_regularization: float = 0.0,
    l2_regularization: float = 0.0,
    tree_complexity: float = 0.0,
    min_node_weight: float = 0.0,
    config: Any = None,
    train_hooks: Any = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> Any:
    """A classifier, trained on one batch that holds all data."""
    estimator = BoostedTreesClassifier(
        feature_columns,
        1,
        model_dir,
        n_classes,
        weight_column,
        label_vocabulary,
        n_trees,
        max_depth,
        learning_rate,
        l1_regularization,
        l2_regularization,
        tree_complexity,
        min_node_weight,
        config,
        center_bias,
        pruning_mode,
        quantile_sketch_epsilon,
        train_in_memory=True,
    )
    estimator.train(_repeated(train_input_fn), hooks=train_hooks)
    return estimator


@public("contrib.estimator.boosted_trees_regressor_train_in_memory")
@internal("contrib.estimator.python.estimator.boosted_trees.boosted_trees_regressor_train_in_memory")
def boosted_trees_regressor_train_in_memory(
    train_input_fn: Any,
    feature_columns: Any,
    model_dir: Any = None,
    label_dimension: Any = _UNSET,
    weight_column: Any = None,
    n_trees: int = 100,
    max_depth: int = 6,
    learning_rate: float = 0.1,
    l1_regularization: float = 0.0,
    l2_regularization: float = 0.0,
    tree_complexity: float = 0.0,
    min_node_weight: float = 0.0,
    config: Any = None,
    train_hooks: Any = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> Any:
    """A regressor, trained on one batch that holds all data."""
    estimator = BoostedTreesRegressor(
        feature_columns,
        1,
        model_dir,
        label_dimension,
        weight_column,
        n_trees,
        max_depth,
        learning_rate,
        l1_regularization,
        l2_regularization,
        tree_complexity,
        min_node_weight,
        config,
        center_bias,
        pruning_mode,
        quantile_sketch_epsilon,
        train_in_memory=True,
    )
    estimator.train(_repeated(train_input_fn), hooks=train_hooks)
    return estimator
