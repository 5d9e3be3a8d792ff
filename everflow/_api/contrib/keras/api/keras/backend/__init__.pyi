"""Written by `make index`."""
from typing import Any

from everflow.keras.backend.graph import name_scope as name_scope
