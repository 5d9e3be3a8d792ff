"""Normal numbers between given bounds: ParameterizedTruncatedNormal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.convert import convert_to_tensor, shape_tensor
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.core.shape_rules import from_shape_input
from everflow.ops.random.numbers import generator
from everflow.values.tensors import as_dims, torch_dtype

# Further out, the distribution function of the normal distribution is zero in double precision.
FAR = -37.0


def _between(low: Any, high: Any, uniform: Any) -> Any:
    """Standard normal numbers between bounds, by the inverse of the distribution function, which is exact below zero."""
    mirrored = low > 0
    low, high = torch.where(mirrored, -high, low), torch.where(mirrored, -low, high)
    below, above = torch.special.ndtr(low), torch.special.ndtr(high)
    found = torch.special.ndtri(below + uniform * (above - below))
    # Out there the density falls so fast that |x| exp(-x*x/2), whose integral is known, is the same.
    share = -torch.expm1(0.5 * (high * high - low * low))
    tail = -torch.sqrt(high * high - 2.0 * torch.log1p(-uniform * share))
    found = torch.where(high < FAR, tail, found)
    found = torch.minimum(torch.maximum(found, low), high)
    return torch.where(mirrored, -found, found)


def _kernel(node: Node) -> Callable[..., Any]:
    random, dtype = generator(node), node.attr("dtype")

    def run(shape: Any, *parameters: Any) -> Any:
        dims = as_dims(shape)
        if not dims:
            raise invalid_argument("Shape tensor must not be empty, got shape []")
        given = []
        for name, value in zip(("means", "stdevs", "minvals", "maxvals"), parameters):
            if value.ndim > 1:
                raise invalid_argument(f"Input {name} should be a scalar or vector, got shape: {shapes.describe(tuple(value.shape))}")
            if value.ndim and value.shape[0] not in (1, dims[0]):
                raise invalid_argument(f"Input {name} should have length 1 or shape[0], got shape: {shapes.describe(tuple(value.shape))}")
            given.append(value.double().reshape(-1, *[1] * (len(dims) - 1)))
        mean, deviation, low, high = given
        if bool((deviation <= 0).any()) or bool((low >= high).any()):
            raise invalid_argument("Invalid parameters")
        uniform = random.uniform(dims, dtypes.float64)
        low, high = (((bound - mean) / deviation).expand(dims) for bound in (low, high))
        return (_between(low, high, uniform) * deviation + mean).to(torch_dtype(dtype))

    return run


op("ParameterizedTruncatedNormal", kernel=_kernel, shape=from_shape_input(0), gradient=not_differentiable)


@internal("ops.random_ops.parameterized_truncated_normal")
def parameterized_truncated_normal(
    shape: Any,
    means: Any = 0.0,
    stddevs: Any = 1.0,
    minvals: Any = -2.0,
    maxvals: Any = 2.0,
    dtype: dtypes.DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Normal numbers between bounds; each row may have parameters of its own."""
    with name_scope(name, "parameterized_truncated_normal", [shape, means, stddevs, minvals, maxvals]):
        shape = shape_tensor(shape)
        given = [
            convert_to_tensor(value, dtype=dtype, name=label)
            for value, label in ((means, "means"), (stddevs, "stddevs"), (minvals, "minvals"), (maxvals, "maxvals"))
        ]
        seed1, seed2 = tf.get_seed(seed)
        return apply("ParameterizedTruncatedNormal", shape, *given, seed=seed1, seed2=seed2)
