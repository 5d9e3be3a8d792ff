"""Written by `make index`."""
from typing import Any

from everflow.train.tracking.checkpoint import PythonState as PythonState
