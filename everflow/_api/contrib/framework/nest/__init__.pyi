"""Written by `make index`."""
from typing import Any

from everflow.nest import _is_attrs as _is_attrs
from everflow.nest import _is_composite_tensor as _is_composite_tensor
from everflow.nest import _is_mapping as _is_mapping
from everflow.nest import _is_mapping_view as _is_mapping_view
from everflow.nest import _is_namedtuple as _is_namedtuple
from everflow.nest import _is_type_spec as _is_type_spec
from everflow.nest import _same_namedtuples as _same_namedtuples
from everflow.nest import _sequence_like as _sequence_like
from everflow.nest_paths import _yield_flat_up_to as _yield_flat_up_to
from everflow.nest import assert_same_structure as assert_same_structure
from everflow.nest_paths import assert_shallow_structure as assert_shallow_structure
from everflow.nest import flatten as flatten
from everflow.nest_paths import flatten_dict_items as flatten_dict_items
from everflow.nest_paths import flatten_up_to as flatten_up_to
from everflow.nest_paths import flatten_with_joined_string_paths as flatten_with_joined_string_paths
from everflow.nest_paths import flatten_with_tuple_paths as flatten_with_tuple_paths
from everflow.nest_paths import flatten_with_tuple_paths_up_to as flatten_with_tuple_paths_up_to
from everflow.nest_paths import get_traverse_shallow_structure as get_traverse_shallow_structure
from everflow.nest import is_nested as is_nested
from everflow.nest import is_sequence as is_sequence
from everflow.nest import is_sequence_or_composite as is_sequence_or_composite
from everflow.nest import map_structure as map_structure
from everflow.nest_paths import map_structure_up_to as map_structure_up_to
from everflow.nest_paths import map_structure_with_paths as map_structure_with_paths
from everflow.nest_paths import map_structure_with_tuple_paths as map_structure_with_tuple_paths
from everflow.nest_paths import map_structure_with_tuple_paths_up_to as map_structure_with_tuple_paths_up_to
from everflow.nest import pack_sequence_as as pack_sequence_as
from everflow.nest_paths import yield_flat_paths as yield_flat_paths
