"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.nn.python.ops import fwd_gradients as fwd_gradients
