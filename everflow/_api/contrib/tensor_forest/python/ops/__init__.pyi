"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.tensor_forest.python.ops import data_ops as data_ops
from everflow._api.contrib.tensor_forest.python.ops import model_ops as model_ops
from everflow._api.contrib.tensor_forest.python.ops import stats_ops as stats_ops
