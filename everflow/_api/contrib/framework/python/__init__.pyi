"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.framework.python import ops as ops
