"""Written by `make index`."""
from typing import Any

from everflow.contrib.layers.flattening import inner_flatten as __inner_flatten
_inner_flatten = __inner_flatten
from everflow.contrib.layers.pooling import pool as pool
