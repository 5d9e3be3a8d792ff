"""Estimators whose linear models dual ascent trains."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.contrib.learn.heads.classification import BinaryLogisticHead, BinarySvmHead, multi_class_head
from everflow.contrib.learn.heads.regression import RegressionHead, regression_head
from everflow.contrib.learn.models.methods import ColumnEstimator
from everflow.contrib.learn.models.sdca import UpdateWeightsHook, build
from everflow.contrib.learn.problem_types import PredictionKey
from everflow.contrib.linear_optimizer.optimizer import SDCAOptimizer

_MODULE = "contrib.linear_optimizer.python.sdca_estimator."


@public(_MODULE + "sdca_model_fn")
def sdca_model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any = None) -> Any:
    """A linear model with a head; each worker takes part of the loss unless it is said in how many parts it is."""
    head = params["head"]
    optimizer = SDCAOptimizer(
        example_id_column=params["example_id_column"],
        num_loss_partitions=params["num_loss_partitions"] or max(1, config.num_worker_replicas if config else 1),
        symmetric_l1_regularization=params["l1_regularization"],
        symmetric_l2_regularization=params["l2_regularization"],
        partitioner=params["partitioner"],
    )
    hook = params.get("update_weights_hook")
    return build(features, labels, mode, head, params["feature_columns"], optimizer, params["weight_column_name"], hook)


@public(_MODULE + "_SDCAEstimator")
class SDCAEstimator(ColumnEstimator):
    """A linear model with a head that dual ascent knows."""

    def __init__(
        self,
        example_id_column: str,
        feature_columns: Any,
        weight_column_name: Any = None,
        model_dir: Any = None,
        head: Any = None,
        l1_regularization: float = 0.0,
        l2_regularization: float = 1.0,
        num_loss_partitions: Any = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
        partitioner: Any = None,
    ) -> None:
        self._feature_columns = tuple(feature_columns or ())
        if not self._feature_columns:
            raise AssertionError("feature_columns must not be empty.")
        if not isinstance(head, (BinaryLogisticHead, BinarySvmHead, RegressionHead)):
            raise ValueError(
                f"head type: {type(head)} is not supported. Supported head types: _BinaryLogisticHead, _BinarySvmHead and _RegressionHead."
            )
        if head.logits_dimension != 1:
            raise AssertionError("SDCA only applies to logits_dimension=1.")
        super().__init__(
            model_fn=sdca_model_fn,
            model_dir=model_dir,
            config=config,
            params={
                "head": head,
                "feature_columns": feature_columns,
                "example_id_column": example_id_column,
                "num_loss_partitions": num_loss_partitions,
                "l1_regularization": l1_regularization,
                "l2_regularization": l2_regularization,
                "weight_column_name": weight_column_name,
                "update_weights_hook": UpdateWeightsHook(),
                "partitioner": partitioner,
            },
            feature_engineering_fn=feature_engineering_fn,
        )


@public(_MODULE + "SDCALogisticClassifier")
class SDCALogisticClassifier(SDCAEstimator):
    """Classifies into two classes."""

    def __init__(
        self,
        example_id_column: str,
        feature_columns: Any,
        weight_column_name: Any = None,
        model_dir: Any = None,
        l1_regularization: float = 0.0,
        l2_regularization: float = 1.0,
        num_loss_partitions: Any = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
        partitioner: Any = None,
    ) -> None:
        super().__init__(
            example_id_column,
            feature_columns,
            weight_column_name,
            model_dir,
            multi_class_head(n_classes=2, weight_column_name=weight_column_name),
            l1_regularization,
            l2_regularization,
            num_loss_partitions,
            config,
            None,
            partitioner,
        )

    def predict_classes(self, input_fn: Any = None) -> Any:
        """The classes of examples."""
        return self._predict_only(PredictionKey.CLASSES, None, input_fn, None, True)

    def predict_proba(self, input_fn: Any = None) -> Any:
        """The probabilities of both classes."""
        return self._predict_only(PredictionKey.PROBABILITIES, None, input_fn, None, True)


@public(_MODULE + "SDCALinearRegressor")
class SDCALinearRegressor(SDCAEstimator):
    """Finds numbers."""

    def __init__(
        self,
        example_id_column: str,
        feature_columns: Any,
        weight_column_name: Any = None,
        model_dir: Any = None,
        l1_regularization: float = 0.0,
        l2_regularization: float = 1.0,
        num_loss_partitions: Any = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
        partitioner: Any = None,
    ) -> None:
        super().__init__(
            example_id_column,
            feature_columns,
            weight_column_name,
            model_dir,
            regression_head(weight_column_name=weight_column_name),
            l1_regularization,
            l2_regularization,
            num_loss_partitions,
            config,
            None,
            partitioner,
        )

    def predict_scores(self, input_fn: Any) -> Any:
        """The numbers of examples."""
        return self._predict_only(PredictionKey.SCORES, None, input_fn, None, True)
