"""The order of dimensions and elements: transpose, reverse, roll, and space against batch and depth."""
from __future__ import annotations

from typing import Any, Callable

import numpy as np

from everflow import errors
from everflow.api import public
from everflow.graph import dtypes, shapes
from everflow.graph.constants import known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.arrays import is_text
from everflow.ops.registry import apply, not_differentiable, op

Kernel = Callable[..., Any]


def _check_permutation(perm: list[int], rank: int) -> list[int]:
    if len(perm) != rank:
        raise errors.invalid_argument(f"transpose expects a vector of size {rank}. But input(1) is a vector of size {len(perm)}")
    found = [p + rank if p < 0 else p for p in perm]
    for p, q in zip(perm, found):
        if not 0 <= q < rank:
            raise errors.invalid_argument(f"{p} is out of range [0 .. {rank})")
    for i in range(rank):
        if i not in found:
            raise errors.invalid_argument(f"{i} is missing from {{{','.join(map(str, found))}}}.")
    return found


def _transpose(conjugate: bool) -> Callable[[Any], Kernel]:
    def make(node: Any) -> Kernel:
        text = is_text(node)
        conj = conjugate and node.inputs[0].dtype.is_complex

        def run(x: Any, perm: Any) -> Any:
            order = _check_permutation(perm.tolist(), x.ndim)
            if text:
                return x.transpose(order)
            return x.permute(order).conj() if conj else x.permute(order)

        perm, dims = node.constant(1), node.inputs[0].dims
        if perm is None or dims is None or text or len(perm) != len(dims):
            return run
        order = tuple(perm.tolist())
        if conj:
            return lambda x, perm: x.permute(order).conj()
        return lambda x, perm: x.permute(order)

    return make


def _transpose_shape(o: Any) -> Any:
    dims, perm = o.inputs[0].dims, known(o.inputs[1])
    if perm is None:
        count = len(dims) if dims is not None else (o.inputs[1].dims or (None,))[0]
        return None if count is None else (None,) * count
    if perm.ndim != 1:
        raise ValueError(f"Shape must be rank 1 but is rank {perm.ndim}")
    if dims is None:
        return (None,) * len(perm)
    if len(perm) != len(dims):
        raise ValueError(f"Dimension must be {len(dims)} but is {len(perm)}")
    for p in perm.tolist():
        if not -len(dims) <= p < len(dims):
            raise ValueError(f"perm dim {p} is out of range of input rank {len(dims)}")
    return tuple(dims[p] for p in perm.tolist())


def _transposed_back(function: str) -> Callable[..., Any]:
    def gradient(o: Any, dy: Any) -> Any:
        return [transpose(dy, apply("InvertPermutation", o.inputs[1]), conjugate=function == "ConjugateTranspose"), None]

    return gradient


op("Transpose", kernel=_transpose(False), shape=_transpose_shape, gradient=_transposed_back("Transpose"), view=True)
op("ConjugateTranspose", kernel=_transpose(True), shape=_transpose_shape, gradient=_transposed_back("ConjugateTranspose"), view=True)


@public("transpose")
def transpose(a: Any, perm: Any = None, name: str = "transpose", conjugate: bool = False) -> Any:
    """The tensor with its dimensions in another order: reversed unless `perm` says otherwise."""
    with name_scope(name, "transpose", [a]) as scope:
        a = convert_to_tensor(a, name="a")
        if perm is None:
            if a.dims:
                perm = np.arange(len(a.dims) - 1, -1, -1, dtype=np.int32)
            else:
                last = apply("Rank", a)
                perm = (last - 1) - apply("Range", 0, last, 1)
        return apply("ConjugateTranspose" if conjugate and a.dtype.is_complex else "Transpose", a, perm, name=scope)
