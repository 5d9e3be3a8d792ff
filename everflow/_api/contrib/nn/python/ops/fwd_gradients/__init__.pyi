"""Written by `make index`."""
from typing import Any

from everflow.contrib.nn.functions import fwd_gradients as fwd_gradients
