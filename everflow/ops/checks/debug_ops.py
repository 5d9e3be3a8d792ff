"""The ops by which a debugger looks at tensors: copies, counts of what is not a number, and summaries.

Where they send what they find, and when, is up to the runs that are watched (everflow.debug.watched_runs).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from everflow.graph import dtypes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import handed_on
from everflow.ops.core.node import Node
from everflow.ops.core.registry import not_differentiable, op
from everflow.ops.core.shape_rules import same_as_input
from everflow.values import tensors as values

_WHOLE = {dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16}
# What TensorFlow has kernels for; {debug op: types of what it looks at}.
LOOKS_AT = {
    "DebugNanCount": _WHOLE | {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64},
    "DebugNumericSummary": _WHOLE | {dtypes.bool, dtypes.float32, dtypes.float64},
}


def nan_count(array: np.ndarray | None) -> np.ndarray:
    """How many elements are not a number, as an array of one; None stands for what is not initialized."""
    if array is None or array.dtype.kind in "biu":
        return np.array([0])
    return np.array([np.count_nonzero(np.isnan(array.astype(np.float64)))])


def numeric_summary(
    array: np.ndarray | None, dtype: dtypes.DType, dims: tuple[int, ...], lower: float = -math.inf, upper: float = math.inf
) -> np.ndarray:
    """What a tensor holds, in numbers: whether it is initialized, how many elements it has, how many of them are NaN, not above
    `lower`, negative, zero, positive, not below `upper`; minimum, maximum, mean and variance of the finite ones; type, rank and sizes."""
    tail = [dtype.base_dtype.as_datatype_enum, len(dims), *dims]
    if array is None:
        return np.array([0] * 8 + [math.inf, -math.inf, math.nan, math.nan, *tail], np.float64)
    x = array.astype(np.float64).ravel()
    nan = np.isnan(x)
    low, high = ~nan & (x <= lower), ~nan & (x >= upper)
    between = x[~(nan | low | high)]
    counts = [x.size, nan.sum(), low.sum(), (between < 0).sum(), (between == 0).sum(), (between > 0).sum(), high.sum()]
    finite = x[np.isfinite(x)]
    spread = [finite.min(), finite.max(), finite.mean(), finite.var()] if finite.size else [math.inf, -math.inf, math.nan, math.nan]
    return np.array([1, *counts, *spread, *tail], np.float64)


def is_healthy(summary: np.ndarray) -> bool:
    """Whether a summary counts nothing that is not a number or out of bounds."""
    return not (summary[2] or summary[3] or summary[7])


def _nan_count(node: Node) -> Any:
    dtype = node.inputs[0].dtype
    return lambda value: torch.from_numpy(nan_count(values.to_numpy(value, dtype)))


def _numeric_summary(node: Node) -> Any:
    dtype, lower, upper = node.inputs[0].dtype, node.attr("lower_bound"), node.attr("upper_bound")

    def run(value: Any) -> Any:
        return torch.from_numpy(numeric_summary(values.to_numpy(value, dtype), dtype, tuple(value.shape), lower, upper))

    return run


def _summary_shape(o: Operation) -> Any:
    dims = o.inputs[0].dims
    return (None,) if dims is None else (14 + len(dims),)


for _name in ("Copy", "CopyHost", "DebugIdentity"):
    op(_name, kernel=handed_on, shape=same_as_input, gradient=not_differentiable, view=True, folds=False)
op("DebugNanCount", kernel=_nan_count, shape=lambda o: (1,), gradient=not_differentiable)
op("DebugNumericSummary", kernel=_numeric_summary, shape=_summary_shape, gradient=not_differentiable)
