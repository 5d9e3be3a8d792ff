"""Half-precision numbers in products and convolutions.

Where a processor has no instructions for them, libraries take up to a hundred times as long as for float32. There they are computed in
float32, in which they are added up anyway, and rounded at the end.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from everflow.lazy import torch


@functools.cache
def slow_types() -> frozenset[Any]:
    """The types that this processor has no instructions for."""
    known = {torch.float16: torch.ops.mkldnn._is_mkldnn_fp16_supported, torch.bfloat16: torch.ops.mkldnn._is_mkldnn_bf16_supported}
    return frozenset(kind for kind, is_supported in known.items() if not (torch.backends.mkldnn.is_available() and is_supported()))


def is_slow(x: Any) -> bool:
    """Whether a tensor's numbers are multiplied sooner in float32."""
    return x.dtype in slow_types() and x.is_cpu


def in_floats(compute: Callable[..., Any], *given: Any) -> Any:
    """What a function gives for these, computed in float32."""
    half = next(x.dtype for x in given if isinstance(x, torch.Tensor))
    return compute(*[x.float() if isinstance(x, torch.Tensor) else x for x in given]).to(half)
