"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.model_pruning.python.layers import core_layers as core_layers
