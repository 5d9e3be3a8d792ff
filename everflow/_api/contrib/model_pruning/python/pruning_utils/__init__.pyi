"""Written by `make index`."""
from typing import Any

from everflow.contrib.model_pruning.blocks import determine_partitioned_axis as determine_partitioned_axis
from everflow.contrib.model_pruning.blocks import expand_tensor as expand_tensor
from everflow.contrib.model_pruning.blocks import factorized_pool as factorized_pool
from everflow.contrib.model_pruning.blocks import kronecker_product as kronecker_product
from everflow.contrib.model_pruning.blocks import partitioned_variable_assign as partitioned_variable_assign
from everflow.contrib.model_pruning.blocks import variable_assign as variable_assign
from everflow.contrib.model_pruning.blocks import weight_mask_variable as weight_mask_variable
from everflow.contrib.model_pruning.blocks import weight_threshold_variable as weight_threshold_variable
