"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.factorization.python import ops as ops
