"""Written by `make index`."""
from typing import Any

from everflow.nest import assert_same_structure as assert_same_structure
from everflow.nest import flatten as flatten
from everflow.nest import is_nested as is_nested
from everflow.nest import map_structure as map_structure
from everflow.nest import pack_sequence_as as pack_sequence_as
