"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.compiler import jit as jit
from everflow._api.contrib.compiler import xla as xla
