"""Written by `make index`."""
from typing import Any

absolute_import: Any
from everflow._api.contrib.tensor_forest import client as client
division: Any
print_function: Any
from everflow._api.contrib.tensor_forest import python as python
