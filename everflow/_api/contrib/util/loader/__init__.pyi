"""Written by `make index`."""
from typing import Any

absolute_import: Any
division: Any
from everflow.custom_ops.library import load_op_library_beside as _load_op_library
load_op_library = _load_op_library
print_function: Any
