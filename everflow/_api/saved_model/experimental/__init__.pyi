"""Written by `make index`."""
from typing import Any

from everflow.saved_model.object_saving import save as save
