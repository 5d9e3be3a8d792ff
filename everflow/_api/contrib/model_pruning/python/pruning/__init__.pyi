"""Written by `make index`."""
from typing import Any

from everflow.contrib.model_pruning.masks import MASKED as __MASKED_WEIGHT_COLLECTION
_MASKED_WEIGHT_COLLECTION = __MASKED_WEIGHT_COLLECTION
from everflow.contrib.model_pruning.masks import MASKED_NAME as __MASKED_WEIGHT_NAME
_MASKED_WEIGHT_NAME = __MASKED_WEIGHT_NAME
from everflow.contrib.model_pruning.masks import MASKS as __MASK_COLLECTION
_MASK_COLLECTION = __MASK_COLLECTION
from everflow.contrib.model_pruning.masks import THRESHOLDS as __THRESHOLD_COLLECTION
_THRESHOLD_COLLECTION = __THRESHOLD_COLLECTION
from everflow.contrib.model_pruning.masks import WEIGHTS as __WEIGHT_COLLECTION
_WEIGHT_COLLECTION = __WEIGHT_COLLECTION
