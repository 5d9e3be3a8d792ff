"""Written by `make index`."""
from typing import Any

from everflow.graph.selection import get_backward_walk_ops as get_backward_walk_ops
