"""Written by `make index`."""
from typing import Any

FEATURE_IMPORTANCE_NAME: Any
from everflow.contrib.tensor_forest.evaluation import INFERENCE_PRED_NAME as INFERENCE_PRED_NAME
from everflow.contrib.tensor_forest.evaluation import INFERENCE_PROB_NAME as INFERENCE_PROB_NAME
from everflow.contrib.tensor_forest.evaluation import accuracy as __accuracy
_accuracy = __accuracy
from everflow.contrib.tensor_forest.evaluation import r2 as __r2
_r2 = __r2
from everflow.contrib.tensor_forest.evaluation import top_k_generator as __top_k_generator
_top_k_generator = __top_k_generator
absolute_import: Any
division: Any
from everflow.contrib.tensor_forest.evaluation import get_metric as get_metric
from everflow.contrib.tensor_forest.evaluation import get_prediction_key as get_prediction_key
print_function: Any
