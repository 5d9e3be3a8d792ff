"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.boosted_trees.python.ops import batch_ops_utils as batch_ops_utils
from everflow._api.contrib.boosted_trees.python.ops import model_ops as model_ops
from everflow._api.contrib.boosted_trees.python.ops import quantile_ops as quantile_ops
from everflow._api.contrib.boosted_trees.python.ops import stats_accumulator_ops as stats_accumulator_ops
