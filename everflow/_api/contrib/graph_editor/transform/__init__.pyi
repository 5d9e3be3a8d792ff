"""Written by `make index`."""
from typing import Any

StringIO: Any
from everflow.contrib.graph_editor.transforming import Transformer as Transformer
from everflow.contrib.graph_editor.transforming import TransformerInfo as TransformerInfo
absolute_import: Any
from everflow.contrib.graph_editor.transforming import assign_renamed_collections_handler as assign_renamed_collections_handler
from everflow.contrib.graph_editor.transforming import copy as copy
from everflow.contrib.graph_editor.transforming import copy_op_handler as copy_op_handler
from everflow.contrib.graph_editor.transforming import copy_with_input_replacements as copy_with_input_replacements
deepcopy: Any
division: Any
from everflow.contrib.graph_editor.transforming import graph_replace as graph_replace
from everflow.contrib.borrowed_names import iteritems as iteritems
from everflow.contrib.graph_editor.transforming import keep_t_if_possible_handler as keep_t_if_possible_handler
partial: Any
print_function: Any
from everflow.contrib.graph_editor.transforming import replace_t_with_placeholder_handler as replace_t_with_placeholder_handler
string_types: Any
from everflow.contrib.graph_editor.transforming import transform_op_if_inside_handler as transform_op_if_inside_handler
