"""Normalization of quantized pictures, by given statistics or by those of each picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op
from everflow.ops.quantization.conversions import scalar, with_range
from everflow.ops.quantization.levels import Levels
from everflow.values.tensors import torch_dtype

Kernel = Callable[..., Any]

# The range of a batch normalization's 32 bits, whatever comes in.
_RANGE = float(1 << 20)


def _floats(levels: Levels, x: Any, low: Any, high: Any) -> Any:
    return levels.to_floats(x, float(low), float(high)).to(torch.float32)


def _wrapped(x: Any) -> Any:
    """Whole numbers as 32 bits hold them, beyond which they start again from the other end."""
    return x.to(torch.int32).to(torch.int64)


def _batch_norm(node: Node) -> Kernel:
    levels, out = Levels.of(node.attr("Tinput")), Levels.of(node.attr("out_type"))
    kind, epsilon, scales = torch_dtype(node.attr("out_type")), node.attr("variance_epsilon"), node.attr("scale_after_normalization")

    def run(*given: Any) -> Any:
        x, mean, variance, beta, gamma = (_floats(levels, *given[i : i + 3]) for i in range(0, 15, 3))
        scale = torch.rsqrt(variance + epsilon)
        if scales:
            scale = scale * gamma
        offset = beta - mean * scale
        # TensorFlow multiplies and divides with 32 bits of fixed point.
        one, x, scale, offset = (out.from_floats(v, -_RANGE, _RANGE) for v in (torch.ones(()), x, scale, offset))
        product = torch.div(_wrapped(x * scale), one, rounding_mode="trunc")
        return _wrapped(product + offset).to(kind), scalar(-_RANGE), scalar(_RANGE)

    return run


def _batch_norm_shape(o: Operation) -> Any:
    dims = shapes.with_rank(o.inputs[0].dims, 4)
    channels = dims[3]
    for t in o.inputs[3::3]:
        channels = shapes.merge_size(channels, shapes.with_rank(t.dims, 1)[0])
    for i, t in enumerate(o.inputs):
        if i % 3:
            shapes.with_rank(t.dims, 0)
    return [(*dims[:3], channels), (), ()]


def _instance_norm(node: Node) -> Kernel:
    levels, kind = Levels.of(node.attr("T")), torch_dtype(node.attr("T"))
    epsilon, least = node.attr("variance_epsilon"), node.attr("min_separation")
    given = (node.attr("given_y_min"), node.attr("given_y_max")) if node.attr("output_range_given") else None

    def run(x: Any, low: Any, high: Any) -> Any:
        floats = _floats(levels, x, low, high)
        # In double precision, so that a picture of one level has none left over.
        centered = floats - floats.double().mean((1, 2), keepdim=True).float()
        found = centered * torch.rsqrt(centered.square().mean((1, 2), keepdim=True) + epsilon)
        first, last = (float(v) for v in given or (found.min(), found.max()))
        if given is None and last - first < least:
            last = float(np.float32(first) + np.float32(least))
        return levels.from_floats(found, first, last).to(kind), scalar(first), scalar(last)

    return run


def _instance_norm_shape(o: Operation) -> Any:
    shapes.with_rank(o.inputs[0].dims, 4)
    return with_range(o)


op("QuantizedBatchNormWithGlobalNormalization", kernel=_batch_norm, shape=_batch_norm_shape)
op("QuantizedInstanceNorm", kernel=_instance_norm, shape=_instance_norm_shape)
