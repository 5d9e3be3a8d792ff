"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.slim.python.slim.data import prefetch_queue as prefetch_queue
