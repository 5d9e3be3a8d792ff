"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.tensor_forest.client import eval_metrics as eval_metrics
from everflow._api.contrib.tensor_forest.client import random_forest as random_forest
