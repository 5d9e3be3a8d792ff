"""How a TPUEstimator is told which tables of embeddings there are, and how they are trained."""

from __future__ import annotations

import collections
from typing import Any, NamedTuple

from everflow.api import public
from everflow.tpu.embedding import AdagradParameters, AdamParameters, StochasticGradientDescentParameters

_PARAMETERS = (AdagradParameters, AdamParameters, StochasticGradientDescentParameters)
_COLUMNS = ("NumericColumn", "EmbeddingColumn", "SharedEmbeddingColumn", "TPUEmbeddingColumn", "TPUSharedEmbeddingColumn")


class _Fields(NamedTuple):
    feature_columns: Any
    optimization_parameters: Any
    clipping_limit: Any
    pipeline_execution_with_tensor_core: bool
    experimental_gradient_multiplier_fn: Any
    feature_to_config_dict: Any
    table_to_config_dict: Any
    partition_strategy: str


def _is_column(column: Any) -> bool:
    return any(cls.__name__.strip("_").removesuffix("V2") in _COLUMNS for cls in type(column).__mro__)


@public("estimator.tpu.experimental.EmbeddingConfigSpec")
class EmbeddingConfigSpec(_Fields):
    """The tables of a `TPUEstimator`: by feature columns, or by the configs of features and tables."""

    def __new__(  # type: ignore[misc]
        cls,
        feature_columns: Any = None,
        optimization_parameters: Any = None,
        clipping_limit: float | None = None,
        pipeline_execution_with_tensor_core: bool = False,
        experimental_gradient_multiplier_fn: Any = None,
        feature_to_config_dict: dict[str, Any] | None = None,
        table_to_config_dict: dict[str, Any] | None = None,
        partition_strategy: str = "div",
    ) -> EmbeddingConfigSpec:
        if bool(feature_columns) == bool(feature_to_config_dict and table_to_config_dict):
            raise ValueError(
                "Exactly one of `feature_columns` and the pair `feature_to_config_dict` and `table_to_config_dict` must be be specified."
            )
        if partition_strategy not in ("div", "mod"):
            raise ValueError(f'Invalid partition_strategy {partition_strategy}. Must be one of "mod" or "div".')
        for column in feature_columns or ():
            if not _is_column(column):
                raise TypeError(f"All feature columns must be supported types in {_COLUMNS} got {type(column)}")
        if feature_columns and not isinstance(optimization_parameters, _PARAMETERS):
            raise ValueError(f"optimization_parameters must be an instance of type {_PARAMETERS}. Got {type(optimization_parameters)}.")
        if feature_to_config_dict and not feature_columns:
            _check_configs(feature_to_config_dict, "feature", "FeatureConfig")
            _check_configs(table_to_config_dict, "table", "TableConfig")
        return super().__new__(
            cls,
            feature_columns,
            optimization_parameters,
            clipping_limit,
            pipeline_execution_with_tensor_core,
            experimental_gradient_multiplier_fn,
            feature_to_config_dict,
            table_to_config_dict,
            partition_strategy,
        )


def _check_configs(configs: Any, what: str, kind: str) -> None:
    for name, config in collections.OrderedDict(configs).items():
        if type(config).__name__ != kind:
            raise TypeError(f"Config for {what} {name} must be of type `{kind}`. Got {type(config)}")
