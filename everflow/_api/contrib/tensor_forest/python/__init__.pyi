"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.tensor_forest.python import ops as ops
from everflow._api.contrib.tensor_forest.python import tensor_forest as tensor_forest
