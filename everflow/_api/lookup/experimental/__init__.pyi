"""Written by `make index`."""
from typing import Any

from everflow.lookup.mutable_tables import DenseHashTable as DenseHashTable
