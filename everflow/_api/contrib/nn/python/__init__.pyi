"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.nn.python import ops as ops
