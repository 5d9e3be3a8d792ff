"""Written by `make index`."""
from typing import Any

from everflow.contrib.slim.prefetching import prefetch_queue as prefetch_queue
