"""Written by `make index`."""
from typing import Any

from everflow.contrib.layers.bucketizing import bucketize as bucketize
