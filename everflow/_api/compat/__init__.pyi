"""Written by `make index`."""
from typing import Any

from everflow.compat import as_bytes as as_bytes
from everflow.compat import as_str as as_str
from everflow.compat import as_str_any as as_str_any
from everflow.compat import as_text as as_text
from everflow.compat import bytes_or_text_types as bytes_or_text_types
from everflow.compat import complex_types as complex_types
from everflow.graph.shapes import dimension_at_index as dimension_at_index
from everflow.graph.shapes import dimension_value as dimension_value
from everflow.compat import forward_compatibility_horizon as forward_compatibility_horizon
from everflow.compat import forward_compatible as forward_compatible
from everflow.compat import integral_types as integral_types
from everflow.compat import path_to_str as path_to_str
from everflow.compat import real_types as real_types
v1: Any
v2: Any
