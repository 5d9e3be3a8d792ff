"""Written by `make index`."""
from typing import Any

from everflow.contrib.tensor_forest.estimators import ALL_SERVING_KEY as ALL_SERVING_KEY
from everflow.contrib.tensor_forest.estimators import CoreTensorForestEstimator as CoreTensorForestEstimator
from everflow.contrib.tensor_forest.estimators import EPSILON as EPSILON
from everflow.contrib.tensor_forest.estimators import KEYS_NAME as KEYS_NAME
from everflow.contrib.tensor_forest.estimators import LOSS_NAME as LOSS_NAME
from everflow.contrib.tensor_forest.estimators import ModelBuilderOutputType as ModelBuilderOutputType
from everflow.contrib.tensor_forest.estimators import MultiForestMultiHeadEstimator as MultiForestMultiHeadEstimator
from everflow.contrib.tensor_forest.estimators import PredictOutput as PredictOutput
from everflow.contrib.tensor_forest.estimators import TREE_PATHS_PREDICTION_KEY as TREE_PATHS_PREDICTION_KEY
from everflow.contrib.tensor_forest.estimators import TensorForestEstimator as TensorForestEstimator
from everflow.contrib.tensor_forest.estimators import TensorForestLossHook as TensorForestLossHook
from everflow.contrib.tensor_forest.estimators import TensorForestRunOpAtEndHook as TensorForestRunOpAtEndHook
from everflow.contrib.tensor_forest.estimators import VARIANCE_PREDICTION_KEY as VARIANCE_PREDICTION_KEY
from everflow.contrib.tensor_forest.estimators import _default_head as __get_default_head
_get_default_head = __get_default_head
absolute_import: Any
division: Any
from everflow.contrib.tensor_forest.estimators import get_combined_model_fn as get_combined_model_fn
from everflow.contrib.tensor_forest.estimators import get_model_fn as get_model_fn
print_function: Any
