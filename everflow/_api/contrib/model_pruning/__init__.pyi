"""Written by `make index`."""
from typing import Any

from everflow.contrib.model_pruning.layers import MaskedBasicLSTMCell as MaskedBasicLSTMCell
from everflow.contrib.model_pruning.layers import MaskedLSTMCell as MaskedLSTMCell
from everflow.contrib.model_pruning.pruning import Pruning as Pruning
from everflow.contrib.model_pruning.masks import apply_mask as apply_mask
from everflow.contrib.model_pruning.masks import get_masked_weights as get_masked_weights
from everflow.contrib.model_pruning.masks import get_masks as get_masks
from everflow.contrib.model_pruning.pruning import get_pruning_hparams as get_pruning_hparams
from everflow.contrib.model_pruning.masks import get_thresholds as get_thresholds
from everflow.contrib.model_pruning.masks import get_weight_sparsity as get_weight_sparsity
from everflow.contrib.model_pruning.masks import get_weights as get_weights
from everflow.contrib.model_pruning.stripping import graph_def_from_checkpoint as graph_def_from_checkpoint
from everflow.contrib.model_pruning.layers import masked_convolution as _masked_conv2d
masked_conv2d = _masked_conv2d
from everflow.contrib.model_pruning.layers import masked_convolution as masked_convolution
from everflow.contrib.model_pruning.layers import masked_fully_connected as masked_fully_connected
from everflow._api.contrib.model_pruning import python as python
from everflow.contrib.model_pruning.stripping import strip_pruning_vars_fn as strip_pruning_vars_fn
from everflow.contrib.model_pruning.learning import train as train
