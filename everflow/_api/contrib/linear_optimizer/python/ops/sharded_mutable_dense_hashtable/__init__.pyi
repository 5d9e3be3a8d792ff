"""Written by `make index`."""
from typing import Any

from everflow.estimator.canned.sdca_model import ShardedMutableDenseHashTable as ShardedMutableDenseHashTable
