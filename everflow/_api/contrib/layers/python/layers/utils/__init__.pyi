"""Written by `make index`."""
from typing import Any

from everflow.contrib.layers.collecting import append_tensor_alias as append_tensor_alias
from everflow.contrib.layers.collecting import channel_dimension as channel_dimension
from everflow.contrib.layers.collecting import collect_named_outputs as collect_named_outputs
from everflow.contrib.layers.collecting import constant_value as constant_value
from everflow.contrib.layers.collecting import convert_collection_to_dict as convert_collection_to_dict
from everflow.contrib.layers.collecting import gather_tensors_aliases as gather_tensors_aliases
from everflow.contrib.layers.collecting import get_tensor_aliases as get_tensor_aliases
from everflow.contrib.layers.collecting import get_variable_collections as get_variable_collections
from everflow.contrib.layers.collecting import last_dimension as last_dimension
from everflow.contrib.layers.collecting import n_positive_integers as n_positive_integers
from everflow.contrib.layers.collecting import branch as _smart_cond
smart_cond = _smart_cond
from everflow.contrib.layers.collecting import static_cond as static_cond
from everflow.contrib.layers.collecting import two_element_tuple as two_element_tuple
