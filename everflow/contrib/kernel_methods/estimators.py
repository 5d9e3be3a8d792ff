"""Linear classifiers of kernel maps."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.kernel_methods.mappers import DenseKernelMapper
from everflow.contrib.layers.feature_columns import RealColumn
from everflow.contrib.learn.heads.classification import BinaryLogisticHead, MultiClassHead, multi_class_head
from everflow.contrib.learn.models.linear import linear_model_fn
from everflow.contrib.learn.models.methods import ColumnEstimator
from everflow.contrib.learn.problem_types import PredictionKey
from everflow.platform import logging


def _with_maps(features: dict[str, Any], columns: Any, mappers: Any) -> tuple[dict[str, Any], Any]:
    """Features and columns, with those that maps make beside them."""
    if mappers is None:
        return features, columns
    features, columns = dict(features), set(columns)
    for column, maps in mappers.items():
        if not isinstance(column, RealColumn):
            logging.warning(
                f"Updates are currently supported on RealValuedColumns only. Metadata for FeatureColumn {column.name} will not be updated."
            )
            continue
        name = column.name + "_MAPPED"
        columns.add(tf.contrib.layers.real_valued_column(name, sum(each.output_dim for each in maps)))
        features[name] = tf.concat([each.map(features[column.name]) for each in maps], 1)
    return features, columns


def _model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any = None) -> Any:
    features, columns = _with_maps(features, params["feature_columns"], params["kernel_mappers"])
    return linear_model_fn(features, labels, mode, {**params, "feature_columns": columns}, config)


@public("contrib.kernel_methods.python.kernel_estimators._KernelEstimator")
class KernelEstimator(ColumnEstimator):
    """A linear model of columns and of what kernel maps make of them."""

    def __init__(
        self,
        feature_columns: Any = None,
        model_dir: Any = None,
        weight_column_name: Any = None,
        head: Any = None,
        optimizer: Any = None,
        kernel_mappers: Any = None,
        config: Any = None,
    ) -> None:
        if not feature_columns and not kernel_mappers:
            raise ValueError("You should set at least one of feature_columns, kernel_mappers.")
        if not all(isinstance(each, DenseKernelMapper) for maps in (kernel_mappers or {}).values() for each in maps):
            raise ValueError("Invalid kernel mappers.")
        if not isinstance(head, (BinaryLogisticHead, MultiClassHead)):
            raise ValueError(f"head type: {type(head)} is not supported. Supported head types: _BinaryLogisticHead, _MultiClassHead.")
        self._feature_columns = tuple(feature_columns or ())
        super().__init__(
            model_fn=_model_fn,
            model_dir=model_dir,
            config=config,
            params={"head": head, "feature_columns": feature_columns or [], "optimizer": optimizer, "kernel_mappers": kernel_mappers},
        )


@public("contrib.kernel_methods.KernelLinearClassifier")
class KernelLinearClassifier(KernelEstimator):
    """Classifies by a linear model in the spaces of kernels."""

    def __init__(
        self,
        feature_columns: Any = None,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: Any = None,
        optimizer: Any = None,
        kernel_mappers: Any = None,
        config: Any = None,
    ) -> None:
        super().__init__(
            feature_columns=feature_columns,
            model_dir=model_dir,
            weight_column_name=weight_column_name,
            head=multi_class_head(n_classes=n_classes, weight_column_name=weight_column_name),
            optimizer=optimizer,
            kernel_mappers=kernel_mappers,
            config=config,
        )

    def predict_classes(self, input_fn: Any = None) -> Any:
        """The classes of examples."""
        return self._predict_only(PredictionKey.CLASSES, None, input_fn, None, True)

    def predict_proba(self, input_fn: Any = None) -> Any:
        """The probabilities of all classes."""
        return self._predict_only(PredictionKey.PROBABILITIES, None, input_fn, None, True)
