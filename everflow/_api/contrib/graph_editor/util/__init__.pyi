"""Written by `make index`."""
from typing import Any

from everflow.contrib.graph_editor.elements import ControlOutputs as ControlOutputs
from everflow.contrib.graph_editor.elements import ListView as ListView
absolute_import: Any
from everflow.contrib.graph_editor.elements import check_graphs as check_graphs
from everflow.contrib.graph_editor.elements import concatenate_unique as concatenate_unique
division: Any
from everflow.contrib.graph_editor.elements import find_corresponding as find_corresponding
from everflow.contrib.graph_editor.elements import find_corresponding_elem as find_corresponding_elem
from everflow.contrib.graph_editor.elements import flatten_tree as flatten_tree
from everflow.graph.selection import get_consuming_ops as get_consuming_ops
from everflow.graph.selection import get_generating_ops as get_generating_ops
from everflow.contrib.graph_editor.elements import get_predefined_collection_names as get_predefined_collection_names
from everflow.contrib.graph_editor.elements import get_tensors as get_tensors
from everflow.contrib.graph_editor.elements import get_unique_graph as get_unique_graph
from everflow.contrib.graph_editor.elements import is_iterable as is_iterable
from everflow.contrib.borrowed_names import iteritems as iteritems
from everflow.graph.selection import make_list_of_op as make_list_of_op
from everflow.graph.selection import make_list_of_t as make_list_of_t
from everflow.contrib.graph_editor.elements import make_placeholder_from_dtype_and_shape as make_placeholder_from_dtype_and_shape
from everflow.contrib.graph_editor.elements import make_placeholder_from_tensor as make_placeholder_from_tensor
from everflow.contrib.graph_editor.elements import placeholder_name as placeholder_name
print_function: Any
from everflow.contrib.graph_editor.elements import scope_basename as scope_basename
from everflow.contrib.graph_editor.elements import scope_dirname as scope_dirname
from everflow.contrib.graph_editor.elements import scope_finalize as scope_finalize
from everflow.contrib.graph_editor.elements import transform_tree as transform_tree
