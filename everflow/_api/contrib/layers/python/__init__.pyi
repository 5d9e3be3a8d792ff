"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.layers.python import layers as layers
from everflow._api.contrib.layers.python import ops as ops
