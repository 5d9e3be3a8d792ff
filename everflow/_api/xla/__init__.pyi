"""Written by `make index`."""
from typing import Any

from everflow._api.xla import experimental as experimental
