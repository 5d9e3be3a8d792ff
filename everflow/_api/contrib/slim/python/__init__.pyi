"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.slim.python import slim as slim
