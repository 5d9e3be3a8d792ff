"""Written by `make index`."""
from typing import Any

from everflow.contrib.layers.pooling import pool as pool
