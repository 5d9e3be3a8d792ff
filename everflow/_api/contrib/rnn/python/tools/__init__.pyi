"""Written by `make index`."""
from typing import Any

checkpoint_convert: Any
