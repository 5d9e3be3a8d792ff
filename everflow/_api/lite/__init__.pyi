"""Written by `make index`."""
from typing import Any

from everflow._api.lite import experimental as experimental
