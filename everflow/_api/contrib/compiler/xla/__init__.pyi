"""Written by `make index`."""
from typing import Any

absolute_import: Any
from everflow.ops.control_flow.compiled import compile as compile
division: Any
print_function: Any
