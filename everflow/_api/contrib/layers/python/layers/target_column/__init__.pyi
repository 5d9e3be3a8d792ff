"""Written by `make index`."""
from typing import Any

from everflow.contrib.layers.target_columns import ProblemType as ProblemType
from everflow.contrib.layers.target_columns import binary_svm_target as binary_svm_target
from everflow.contrib.layers.target_columns import get_default_binary_metrics_for_eval as get_default_binary_metrics_for_eval
