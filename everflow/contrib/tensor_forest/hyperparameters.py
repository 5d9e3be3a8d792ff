"""The settings of forests."""

from __future__ import annotations

import math
import numbers
import pathlib
import random
from typing import Any

from google.protobuf import text_format

from everflow.api import public
from everflow.platform import logging
from everflow.proto import generic_tree_model_pb2, tensor_forest_params_pb2

BELOW = "contrib.tensor_forest.python.tensor_forest."
_pb = tensor_forest_params_pb2
CLASSIFICATION_LEAF_MODEL_TYPES = {
    "all_dense": (_pb.MODEL_DENSE_CLASSIFICATION, _pb.STATS_DENSE_GINI),
    "all_sparse": (_pb.MODEL_SPARSE_CLASSIFICATION, _pb.STATS_SPARSE_GINI),
    "sparse_then_dense": (_pb.MODEL_SPARSE_OR_DENSE_CLASSIFICATION, _pb.STATS_SPARSE_THEN_DENSE_GINI),
}
REGRESSION_MODEL_TYPE = (_pb.MODEL_REGRESSION, _pb.STATS_LEAST_SQUARES_REGRESSION, _pb.COLLECTION_BASIC)
FINISH_TYPES = {
    "basic": _pb.SPLIT_FINISH_BASIC,
    "hoeffding": _pb.SPLIT_FINISH_DOMINATE_HOEFFDING,
    "bootstrap": _pb.SPLIT_FINISH_DOMINATE_BOOTSTRAP,
}
PRUNING_TYPES = {
    "none": _pb.SPLIT_PRUNE_NONE,
    "half": _pb.SPLIT_PRUNE_HALF,
    "quarter": _pb.SPLIT_PRUNE_QUARTER,
    "10_percent": _pb.SPLIT_PRUNE_10_PERCENT,
    "hoeffding": _pb.SPLIT_PRUNE_HOEFFDING,
}
SPLIT_TYPES = {
    "less_or_equal": generic_tree_model_pb2.InequalityTest.LESS_OR_EQUAL,
    "less": generic_tree_model_pb2.InequalityTest.LESS_THAN,
}
for _name in ("CLASSIFICATION_LEAF_MODEL_TYPES", "REGRESSION_MODEL_TYPE", "FINISH_TYPES", "PRUNING_TYPES", "SPLIT_TYPES"):
    public(BELOW + _name)(globals()[_name])


@public(BELOW + "parse_number_or_string_to_proto")
def number_or_text(proto: Any, param: Any) -> None:
    """Sets a number that may depend on depth: a number, its digits, or the text of a message."""
    if isinstance(param, numbers.Number):
        proto.constant_value = param
    elif param.isdigit():
        proto.constant_value = int(param)
    else:
        text_format.Merge(param, proto)


@public(BELOW + "build_params_proto")
def build_params_proto(params: Any) -> Any:
    """TensorForestParams of filled settings; what a param_file says comes last."""
    proto = _pb.TensorForestParams(
        num_trees=params.num_trees,
        max_nodes=params.max_nodes,
        is_regression=params.regression,
        num_outputs=params.num_classes,
        num_features=params.num_features,
        leaf_type=params.leaf_model_type,
        stats_type=params.stats_model_type,
        collection_type=_pb.COLLECTION_BASIC,
        inequality_test_type=params.split_type,
        drop_final_class=False,
        collate_examples=params.collate_examples,
        checkpoint_stats=params.checkpoint_stats,
        use_running_stats_method=params.use_running_stats_method,
        initialize_average_splits=params.initialize_average_splits,
        inference_tree_paths=params.inference_tree_paths,
    )
    proto.pruning_type.type = params.pruning_type
    proto.finish_type.type = params.finish_type
    number_or_text(proto.pruning_type.prune_every_samples, params.prune_every_samples)
    number_or_text(proto.finish_type.check_every_steps, params.early_finish_check_every_samples)
    number_or_text(proto.split_after_samples, params.split_after_samples)
    number_or_text(proto.num_splits_to_consider, params.num_splits_to_consider)
    proto.dominate_fraction.constant_value = params.dominate_fraction
    if params.param_file:
        text_format.Merge(pathlib.Path(params.param_file).read_text(), proto)
    return proto


@public(BELOW + "ForestHParams")
class ForestHParams:
    """How many trees, how large, from how many examples and candidates; `fill` adds what follows from the rest."""

    def __init__(
        self,
        num_trees: int = 100,
        max_nodes: int = 10000,
        bagging_fraction: float = 1.0,
        num_splits_to_consider: Any = 0,
        feature_bagging_fraction: float = 1.0,
        max_fertile_nodes: int = 0,
        split_after_samples: Any = 250,
        valid_leaf_threshold: int = 1,
        dominate_method: str = "bootstrap",
        dominate_fraction: float = 0.99,
        model_name: str = "all_dense",
        split_finish_name: str = "basic",
        split_pruning_name: str = "none",
        prune_every_samples: Any = 0,
        early_finish_check_every_samples: Any = 0,
        collate_examples: bool = False,
        checkpoint_stats: bool = False,
        use_running_stats_method: bool = False,
        initialize_average_splits: bool = False,
        inference_tree_paths: bool = False,
        param_file: str | None = None,
        split_name: str = "less_or_equal",
        **kwargs: Any,
    ) -> None:
        given = {name: value for name, value in locals().items() if name not in ("self", "kwargs")}
        self.__dict__.update(given, **kwargs)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)

    def values(self) -> dict[str, Any]:
        """All settings by name."""
        return self.__dict__

    def _every(self, given: Any, share: int) -> Any:
        """How often to look at candidates, unless it was said: a share of the examples that a split takes."""
        if given:
            return given
        after = self.split_after_samples
        if not isinstance(after, numbers.Number) and not after.isdigit():
            logging.error("Must specify prune_every_samples if using a depth-dependent split_after_samples")
        return int(after) / share

    def fill(self) -> ForestHParams:
        """Adds what follows from the rest; `num_classes` and `num_features` must be there."""
        classes, features = self.num_classes, self.num_features
        self.bagged_num_features = int(self.feature_bagging_fraction * features)
        self.bagged_features: Any = None
        if self.feature_bagging_fraction < 1.0:
            self.bagged_features = [random.sample(range(features), self.bagged_num_features) for _ in range(self.num_trees)]
        self.regression = self.__dict__.get("regression", False)
        self.num_outputs = classes if self.regression else 1
        self.num_output_columns = classes + 1
        self.num_splits_to_consider = self.num_splits_to_consider or min(max(10, math.floor(math.sqrt(features))), 1000)
        self.base_random_seed = self.__dict__.get("base_random_seed", 0)
        models = REGRESSION_MODEL_TYPE if self.regression else CLASSIFICATION_LEAF_MODEL_TYPES[self.model_name]
        self.leaf_model_type, self.stats_model_type = models[:2]
        self.finish_type = _pb.SPLIT_FINISH_BASIC if self.regression else FINISH_TYPES[self.split_finish_name]
        self.pruning_type = PRUNING_TYPES[self.split_pruning_name]
        prunes, finishes_early = self.pruning_type != _pb.SPLIT_PRUNE_NONE, self.finish_type != _pb.SPLIT_FINISH_BASIC
        self.prune_every_samples = self._every(self.prune_every_samples, 2) if prunes else 0
        self.early_finish_check_every_samples = self._every(self.early_finish_check_every_samples, 4) if finishes_early else 0
        self.split_type = SPLIT_TYPES[self.split_name]
        return self
