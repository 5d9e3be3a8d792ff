"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.linear_optimizer.python.ops import sharded_mutable_dense_hashtable as sharded_mutable_dense_hashtable
