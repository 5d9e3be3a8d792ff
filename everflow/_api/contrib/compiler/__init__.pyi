"""Written by `make index`."""
from typing import Any

absolute_import: Any
division: Any
from everflow._api.contrib.compiler import jit as jit
print_function: Any
from everflow._api.contrib.compiler import xla as xla
