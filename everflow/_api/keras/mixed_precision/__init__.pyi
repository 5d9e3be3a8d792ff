"""Written by `make index`."""
from typing import Any

from everflow._api.keras.mixed_precision import experimental as experimental
