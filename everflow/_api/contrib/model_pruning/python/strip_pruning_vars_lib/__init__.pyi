"""Written by `make index`."""
from typing import Any

from everflow.contrib.model_pruning.stripping import node_name as __node_name
_node_name = __node_name
from everflow.contrib.model_pruning.stripping import tensor_name as __tensor_name
_tensor_name = __tensor_name
