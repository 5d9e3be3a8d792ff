"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.factorization.python.ops import gmm_ops as gmm_ops
from everflow._api.contrib.factorization.python.ops import wals as wals
