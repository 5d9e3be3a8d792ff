"""Written by `make index`."""
from typing import Any

absolute_import: Any
division: Any
from everflow._api.contrib.tensorboard import plugins as plugins
print_function: Any
