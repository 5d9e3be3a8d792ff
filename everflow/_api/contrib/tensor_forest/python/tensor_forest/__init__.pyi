"""Written by `make index`."""
from typing import Any

from everflow.contrib.tensor_forest.hyperparameters import CLASSIFICATION_LEAF_MODEL_TYPES as CLASSIFICATION_LEAF_MODEL_TYPES
from everflow.contrib.tensor_forest.hyperparameters import FINISH_TYPES as FINISH_TYPES
from everflow.contrib.tensor_forest.hyperparameters import ForestHParams as ForestHParams
from everflow.contrib.tensor_forest.graphs import ForestVariables as ForestVariables
from everflow.contrib.tensor_forest.hyperparameters import PRUNING_TYPES as PRUNING_TYPES
from everflow.contrib.tensor_forest.hyperparameters import REGRESSION_MODEL_TYPE as REGRESSION_MODEL_TYPE
from everflow.contrib.tensor_forest.graphs import RandomForestGraphs as RandomForestGraphs
from everflow.contrib.tensor_forest.graphs import RandomTreeGraphs as RandomTreeGraphs
from everflow.contrib.tensor_forest.hyperparameters import SPLIT_TYPES as SPLIT_TYPES
from everflow.contrib.tensor_forest.graphs import TreeVariables as TreeVariables
from everflow.contrib.tensor_forest.hyperparameters import build_params_proto as build_params_proto
from everflow.contrib.tensor_forest.graphs import get_epoch_variable as get_epoch_variable
from everflow.contrib.tensor_forest.hyperparameters import number_or_text as _parse_number_or_string_to_proto
parse_number_or_string_to_proto = _parse_number_or_string_to_proto
