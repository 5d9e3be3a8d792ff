"""Functions of single elements that are native where a tensor has many: torch's own take up to thirty times as long.

Its exponential is slow where results are near zero, its hyperbolic tangent everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow._native import ElementwiseLoop
from everflow.graph import dtypes
from everflow.lazy import torch
from everflow.ops.core.node import Node

# With fewer elements a call costs more than what it computes.
FEW = 512
# Only with more are torch's threads asked for.
LARGE = 1 << 15


def looped(name: str, by_torch: str) -> Callable[[Node], Callable[[Any], Any]]:
    """The kernel of an op that has a native loop: torch's function for few elements, other types and other devices.

    With one of those that end with an underscore it writes over its input.
    """

    def make(node: Node) -> Callable[[Any], Any]:
        other = getattr(torch, by_torch)
        if node.inputs[0].dtype.base_dtype is not dtypes.float32:
            return other
        run, empty_like, threads, over = ElementwiseLoop(name).run, torch.empty_like, torch.get_num_threads, by_torch.endswith("_")

        def kernel(x: Any) -> Any:
            count = x.numel()
            if count < FEW or not x.is_cpu:
                return other(x)
            if not x.is_contiguous():
                x = x.contiguous()
            out = x if over else empty_like(x)
            run(threads() if count > LARGE else 1, count, x.data_ptr(), out.data_ptr())
            return out

        return kernel

    return make
