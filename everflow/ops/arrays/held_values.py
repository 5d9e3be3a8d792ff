"""Constants that are not in the step: those on the host, and those that are the bytes of a file."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.errors import internal_error, not_found, unimplemented
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op
from everflow.ops.core.shape_rules import from_attr
from everflow.values.tensors import from_numpy, is_numeric, torch_dtype


def _held(node: Node) -> Callable[[], Any]:
    value = from_numpy(node.attr("value"), node.attr("dtype"))
    return lambda: value


def _mapped(node: Node) -> Callable[[], Any]:
    dtype, dims, path = node.attr("dtype"), node.attr("shape"), node.attr("memory_region_name")
    if not is_numeric(dtype):
        raise unimplemented(f"ImmutableConst has no values of type {dtype.name}: a file holds numbers.")
    element = np.dtype(dtype.as_numpy_dtype)
    size = math.prod(dims) * element.itemsize

    def run() -> Any:
        try:
            held = os.path.getsize(path)
        except OSError as error:
            raise not_found(f"{path}; {error.strerror}") from None
        if held < size:
            raise internal_error(f"Readonly memory region has wrong length ({held}) when allocating {size}")
        if not size:
            return torch.empty(dims, dtype=torch_dtype(dtype))
        # Torch has no read-only tensors: what writes here writes to pages of its own.
        return from_numpy(np.memmap(path, element, "c", shape=tuple(dims)), dtype)

    return run


op("HostConst", kernel=_held, shape=lambda o: None)
op("ImmutableConst", kernel=_mapped, shape=from_attr())
