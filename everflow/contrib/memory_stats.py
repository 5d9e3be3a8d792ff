"""tf.contrib.memory_stats: how much memory a GPU holds for us."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.api import public
from everflow.errors import invalid_argument
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op

# What TensorFlow says of the memory of a processor, to which it sets no limit.
_NO_LIMIT = -1


def _counted(name: str, bytes_of_gpu: Callable[[], int]) -> None:
    def kernel(node: Node) -> Callable[[], Any]:
        def run() -> Any:
            if not torch.cuda.is_available():
                raise invalid_argument(f"No OpKernel was registered to support Op '{name}' on a CPU. Registered kernels:\n  device='GPU'")
            return torch.tensor(bytes_of_gpu(), dtype=torch.int64)

        return run

    op(name, kernel=kernel, shape=lambda o: ())


def _limit(node: Node) -> Callable[[], Any]:
    return lambda: torch.tensor(torch.cuda.mem_get_info()[1] if torch.cuda.is_available() else _NO_LIMIT, dtype=torch.int64)


_counted("BytesInUse", lambda: torch.cuda.memory_allocated())
_counted("MaxBytesInUse", lambda: torch.cuda.max_memory_allocated())
op("BytesLimit", kernel=_limit, shape=lambda o: ())


@public("contrib.memory_stats.BytesInUse")
def bytes_in_use() -> Any:
    """The bytes that a GPU holds now."""
    return apply("BytesInUse")


@public("contrib.memory_stats.BytesLimit")
def bytes_limit() -> Any:
    """The bytes that a device may hold; -1 where there is no limit."""
    return apply("BytesLimit")


@public("contrib.memory_stats.MaxBytesInUse")
def max_bytes_in_use() -> Any:
    """The most bytes that a GPU ever held."""
    return apply("MaxBytesInUse")
