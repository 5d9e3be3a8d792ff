"""Written by `make index`."""
from typing import Any

absolute_import: Any
division: Any
from everflow.ops.control_flow.compiled import jit_scope as _experimental_jit_scope
experimental_jit_scope = _experimental_jit_scope
print_function: Any
