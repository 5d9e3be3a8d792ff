"""Numbers as the buckets that they fall into."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.ops.math.counting import bucketize as counted


@public("contrib.layers.python.ops.bucketization_op.bucketize", "contrib.slim.bucketize")
def bucketize(input_tensor: Any, boundaries: Any, name: str | None = None) -> Any:
    """How many of the sorted boundaries each number has reached."""
    return counted(input_tensor, boundaries, name=name)
