"""Written by `make index`."""
from typing import Any

absolute_import: Any
division: Any
print_function: Any
