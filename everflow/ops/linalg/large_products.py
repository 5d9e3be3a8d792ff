"""Products of matrices of which one is large, as a dense layer's weights are next to a batch, or has few columns, as a last layer's.

torch hands products to MKL. On processors that are not Intel's, MKL copies a large matrix for a few rows at a time; oneDNN, where it may
use AVX-512, and our own kernel elsewhere read it once. Where the result has fewer columns than a register, MKL computes most of a register
in vain: the transposed product has few rows instead, and takes a third of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow import _native
from everflow.graph import dtypes, shapes
from everflow.lazy import torch
from everflow.ops.core.node import Node

Product = Callable[..., Any]

# From how many numbers in one of the matrices on MKL is left: found by benchmarks/native_kernels.py.
LARGE = {"avx512": 1 << 17, "avx2": 1 << 20}
# Fewer columns are few, next to at least so many rows. Of so few numbers, turning the product around takes longer than multiplying does.
NARROW, HIGH = 16, 32
FEW = 1 << 13
# More rows or columns on every side than these keep MKL busy enough.
THIN = 256


def product(node: Node) -> Product:
    """A function (a, b, bias=None) for a node that multiplies two matrices as its attributes say."""
    flip_a, flip_b = node.attr("transpose_a"), node.attr("transpose_b")
    kind = _native.processor()
    if node.outputs[0].dtype is not dtypes.float32 or _native.by_intel():
        return turned(by_torch, flip_a, flip_b)
    if any((shapes.num_elements(v.dims) or 0) >= LARGE.get(kind, 1 << 62) for v in (*node.inputs[:2], *node.outputs)):
        if kind == "avx2":
            return turned(multiply, flip_a, flip_b)
        if not flip_a and torch.backends.mkldnn.is_available():
            return turned(_by_onednn, False, flip_b)
    columns = (node.outputs[0].dims or (0,))[-1] or 0
    return turned(narrow if 1 < columns < NARROW else by_torch, flip_a, flip_b)


def turned(multiply: Product, flip_a: bool, flip_b: bool) -> Product:
    """The product of matrices that may have to be transposed first."""
    if flip_a:
        return (lambda a, b, *bias: multiply(a.t(), b.t(), *bias)) if flip_b else lambda a, b, *bias: multiply(a.t(), b, *bias)
    return (lambda a, b, *bias: multiply(a, b.t(), *bias)) if flip_b else multiply


def by_torch(a: Any, b: Any, bias: Any = None) -> Any:
    # Faster than addmm, which first fills the result with the bias.
    return torch.mm(a, b) if bias is None else torch.mm(a, b).add_(bias)


def narrow(a: Any, b: Any, bias: Any = None) -> Any:
    """The same for few columns."""
    if not a.is_cpu or a.dim() != 2 or b.dim() != 2 or a.shape[0] < HIGH or a.shape[1] != b.shape[0]:
        return by_torch(a, b, bias)
    if a.numel() <= FEW and _is_laid_out(a, b, bias):
        return _multiplied(a, b, bias)
    found = torch.mm(b.t(), a.t()).t().contiguous()
    return found if bias is None else found.add_(bias)


def _by_onednn(a: Any, b: Any, bias: Any = None) -> Any:
    if not a.is_cpu or a.dim() != 2 or b.dim() != 2 or a.shape[1] != b.shape[0] or not (a.numel() and b.numel()):
        return by_torch(a, b, bias)
    return torch.ops.mkldnn._linear_pointwise(a, b.t(), bias, "none", [], "")


def multiply(a: Any, b: Any, bias: Any = None) -> Any:
    """The same by our own kernel, where it is the better one."""
    return _multiplied(a, b, bias) if _takes(a, b, bias) else by_torch(a, b, bias)


def _multiplied(a: Any, b: Any, bias: Any) -> Any:
    found = torch.empty((a.shape[0], b.shape[1]))
    _native.multiply_matrices(
        a.data_ptr(),
        b.data_ptr(),
        0 if bias is None else bias.data_ptr(),
        found.data_ptr(),
        (*a.shape, b.shape[1], *a.stride(), *b.stride()),
        torch.get_num_threads(),
    )
    return found


def _takes(a: Any, b: Any, bias: Any) -> bool:
    if not a.is_cpu or a.dim() != 2 or b.dim() != 2 or a.shape[1] != b.shape[0]:
        return False
    (height, depth), columns = a.shape, b.shape[1]
    return min(height, depth, columns) in range(1, THIN + 1) and height * depth * columns > 1 << 24 and _is_laid_out(a, b, bias)


def _is_laid_out(a: Any, b: Any, bias: Any) -> bool:
    """Whether our own kernel can read these matrices."""
    return 1 in a.stride() and 1 in b.stride() and (bias is None or bias.shape == (b.shape[1],) and bias.stride(0) == 1)
