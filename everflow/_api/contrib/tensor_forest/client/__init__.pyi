"""Written by `make index`."""
from typing import Any

absolute_import: Any
division: Any
from everflow._api.contrib.tensor_forest.client import eval_metrics as eval_metrics
print_function: Any
from everflow._api.contrib.tensor_forest.client import random_forest as random_forest
