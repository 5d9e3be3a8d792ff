"""Written by `make index`."""
from typing import Any

from everflow.graph.freezing import convert_variables_to_constants as convert_variables_to_constants
from everflow.graph.graph_util import extract_sub_graph as extract_sub_graph
from everflow.graph.importer import import_graph_def as import_graph_def
from everflow.graph.graph_util import must_run_on_cpu as must_run_on_cpu
from everflow.graph.graph_util import remove_training_nodes as remove_training_nodes
from everflow.graph.graph_util import tensor_shape_from_node_def_name as tensor_shape_from_node_def_name
