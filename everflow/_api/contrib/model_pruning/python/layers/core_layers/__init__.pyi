"""Written by `make index`."""
from typing import Any

from everflow.contrib.model_pruning.masks import MASKED as _MASKED_WEIGHT_COLLECTION
MASKED_WEIGHT_COLLECTION = _MASKED_WEIGHT_COLLECTION
from everflow.contrib.model_pruning.masks import MASKED_NAME as _MASKED_WEIGHT_NAME
MASKED_WEIGHT_NAME = _MASKED_WEIGHT_NAME
from everflow.contrib.model_pruning.masks import MASKS as _MASK_COLLECTION
MASK_COLLECTION = _MASK_COLLECTION
from everflow.contrib.model_pruning.layers import MaskedConv2D as MaskedConv2D
from everflow.contrib.model_pruning.layers import MaskedFullyConnected as MaskedFullyConnected
from everflow.contrib.model_pruning.masks import THRESHOLDS as _THRESHOLD_COLLECTION
THRESHOLD_COLLECTION = _THRESHOLD_COLLECTION
from everflow.contrib.model_pruning.masks import WEIGHTS as _WEIGHT_COLLECTION
WEIGHT_COLLECTION = _WEIGHT_COLLECTION
