"""Written by `make index`."""
from typing import Any

from everflow.contrib.graph_editor.selecting import _get_input_ts as _get_input_ts
from everflow.contrib.graph_editor.selecting import _get_output_ts as _get_output_ts
absolute_import: Any
from everflow.contrib.graph_editor.selecting import can_be_regex as can_be_regex
from everflow.contrib.graph_editor.selecting import check_cios as check_cios
from everflow.contrib.graph_editor.selecting import compute_boundary_ts as compute_boundary_ts
division: Any
from everflow.contrib.graph_editor.selecting import filter_ops as filter_ops
from everflow.contrib.graph_editor.selecting import filter_ops_from_regex as filter_ops_from_regex
from everflow.contrib.graph_editor.selecting import filter_ts as filter_ts
from everflow.contrib.graph_editor.selecting import filter_ts_from_regex as filter_ts_from_regex
from everflow.graph.selection import get_backward_walk_ops as get_backward_walk_ops
from everflow.contrib.graph_editor.selecting import get_forward_walk_ops as get_forward_walk_ops
from everflow.contrib.graph_editor.selecting import get_name_scope_ops as get_name_scope_ops
from everflow.contrib.graph_editor.selecting import get_ops_ios as get_ops_ios
from everflow.contrib.graph_editor.selecting import get_walks_intersection_ops as get_walks_intersection_ops
from everflow.contrib.graph_editor.selecting import get_walks_union_ops as get_walks_union_ops
from everflow.contrib.graph_editor.selecting import get_within_boundary_ops as get_within_boundary_ops
from everflow.contrib.borrowed_names import iteritems as iteritems
from everflow.contrib.graph_editor.selecting import make_regex as make_regex
print_function: Any
from everflow.contrib.graph_editor.selecting import select_ops as select_ops
from everflow.contrib.graph_editor.selecting import select_ops_and_ts as select_ops_and_ts
from everflow.contrib.graph_editor.selecting import select_ts as select_ts
string_types: Any
