"""Written by `make index`."""
from typing import Any

absolute_import: Any
division: Any
from everflow._api.contrib.keras.api import keras as keras
print_function: Any
