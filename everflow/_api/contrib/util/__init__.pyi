"""Written by `make index`."""
from typing import Any

from everflow.graph.constants import constant_value as constant_value
from everflow.graph.constants import constant_value_as_shape as constant_value_as_shape
from everflow._api.contrib.util import loader as loader
from everflow.graph.tensor_proto import make_ndarray as make_ndarray
from everflow.graph.tensor_proto import make_tensor_proto as make_tensor_proto
from everflow.train.metagraphs.exporting import ops_used_by_graph_def as ops_used_by_graph_def
from everflow.train.metagraphs.exporting import stripped_op_list_for_graph as stripped_op_list_for_graph
