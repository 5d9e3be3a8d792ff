"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.model_pruning.python import layers as layers
from everflow._api.contrib.model_pruning.python import pruning as pruning
from everflow._api.contrib.model_pruning.python import pruning_utils as pruning_utils
from everflow._api.contrib.model_pruning.python import strip_pruning_vars_lib as strip_pruning_vars_lib
