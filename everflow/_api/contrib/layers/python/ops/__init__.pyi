"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.layers.python.ops import bucketization_op as bucketization_op
