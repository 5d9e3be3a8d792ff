"""Products of matrices, by torch or by our own kernel (native/matrix_products.cpp), whichever takes less time.

torch hands products to MKL. On processors that are not Intel's, MKL uses no AVX-512, copies what it reads once, and computes most of a
register in vain where the result has few columns. What is small stays with torch, whose calls cost less.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from everflow import _native
from everflow.graph import dtypes, shapes
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.values.halves import in_floats, is_slow

Product = Callable[..., Any]


class Limits(NamedTuple):
    """From where on our kernel is worth calling: so many multiplications, rows of the first matrix (`turned_rows` where the second lies
    turned in memory and has to be laid out), and multiplications of a pair in a batch."""

    work: int
    rows: int
    turned_rows: int
    pair: int


# Found by benchmarks/native_kernels.py.
LIMITS = {"avx512": Limits(1 << 17, 4, 12, 1 << 14), "avx2": Limits(1 << 20, 12, 32, 1 << 13)}
# Fewer columns are few; next to so many rows and for so many multiplications they are worth calling for, too. Of still fewer columns,
# torch's transposed product has as few rows and is faster.
NARROW, HIGH, NARROW_WORK, NARROWEST = 16, 32, 1 << 15, 4
# A second matrix with fewer numbers is never worth it.
FEWEST = 1 << 7
# So few numbers of half precision are multiplied as they are.
FEW_HALVES = 1 << 9


@functools.cache
def limits() -> Limits | None:
    """None where torch is always the better choice."""
    return None if _native.by_intel() else LIMITS.get(_native.processor())


def is_worth(height: int, depth: int, columns: int, turned: bool) -> bool:
    """Whether our kernel multiplies matrices of such sizes faster; `turned`: the second lies transposed in memory."""
    least = limits()
    if least is None or columns == 1 or height == 1:
        return False
    work = height * depth * columns
    if columns < NARROW:
        return work >= NARROW_WORK and height >= HIGH and (columns > NARROWEST or not turned)
    return work >= least.work and height >= (least.turned_rows if turned else least.rows)


def product(node: Node) -> Product:
    """A function (a, b, bias=None) for a node that multiplies two matrices as its attributes say."""
    flip_a, flip_b = node.attr("transpose_a"), node.attr("transpose_b")
    kind = node.outputs[0].dtype
    if kind in (dtypes.float16, dtypes.bfloat16):
        return turned(multiply, flip_a, flip_b)
    if kind is not dtypes.float32 or limits() is None:
        return turned(by_torch, flip_a, flip_b)
    dims, columns = node.inputs[0].dims, (node.outputs[0].dims or (None,))[-1]
    if dims is not None and columns is not None and shapes.is_fully_defined(dims):
        height, depth = dims[::-1] if flip_a else dims
        if not is_worth(height, depth, columns, flip_b):
            return turned(by_torch, flip_a, flip_b)
    return turned(multiply, flip_a, flip_b)


def turned(multiply: Product, flip_a: bool, flip_b: bool) -> Product:
    """The product of matrices that may have to be transposed first."""
    if flip_a:
        return (lambda a, b, *bias: multiply(a.t(), b.t(), *bias)) if flip_b else lambda a, b, *bias: multiply(a.t(), b, *bias)
    return (lambda a, b, *bias: multiply(a, b.t(), *bias)) if flip_b else multiply


def by_torch(a: Any, b: Any, bias: Any = None) -> Any:
    # Faster than addmm, which first fills the result with the bias.
    return torch.mm(a, b) if bias is None else torch.mm(a, b).add_(bias)


def multiply(a: Any, b: Any, bias: Any = None) -> Any:
    """a b, or a b + bias."""
    if not _takes(a, b) or not (bias is None or (bias.shape == (b.shape[1],) and bias.stride(0) == 1)):
        return in_floats(multiply, a, b, bias) if _is_slow(a, b) else by_torch(a, b, bias)
    if b.shape[1] <= NARROWEST:
        found = torch.mm(b.t(), a.t()).t().contiguous()
        return found if bias is None else found.add_(bias)
    found = torch.empty((a.shape[0], b.shape[1]))
    put_product(a, b, found, bias)
    return found


def _is_slow(a: Any, b: Any) -> bool:
    return is_slow(a) and a.numel() + b.numel() > FEW_HALVES


def add_product(total: Any, a: Any, b: Any) -> Any:
    """Adds a b to what is there."""
    if not _takes(a, b) or total.dtype is not torch.float32 or total.shape != (a.shape[0], b.shape[1]) or not total.is_contiguous():
        return total.addmm_(a, b)
    put_product(a, b, total, adds=True)
    return total


def _takes(a: Any, b: Any) -> bool:
    # Most that don't pay are told by their sizes.
    if a.numel() < HIGH or b.numel() < FEWEST or a.dim() != 2 or b.dim() != 2:
        return False
    if a.dtype is not torch.float32 or b.dtype is not torch.float32 or not a.is_cpu:
        return False
    (height, depth), (inner, columns) = a.shape, b.shape
    down, right = b.stride()
    return depth == inner and is_worth(height, depth, columns, right != 1) and (right == 1 or down == 1) and 1 in a.stride()


def put_product(a: Any, b: Any, found: Any, bias: Any = None, adds: bool = False, rectifies: bool = False) -> None:
    """Our kernel: puts a b + bias into a matrix, or adds a b to it; what is negative then may become zero. Numbers of a row or of a column
    follow each other in both a and b."""
    (height, depth), columns, (a_down, a_right), (b_down, b_right) = a.shape, b.shape[1], a.stride(), b.stride()
    addresses = a.data_ptr(), b.data_ptr(), 0 if bias is None else bias.data_ptr(), found.data_ptr()
    sizes = height, depth, columns, a_down, a_right, b_down, b_right
    _native.multiply_matrices(*addresses, *sizes, adds, rectifies, torch.get_num_threads())


def multiply_batches(x: Any, y: Any) -> Any:
    """What torch.matmul gives for batches of matrices. torch copies those that don't follow each other in memory before it multiplies them;
    our own kernel reads them where they are."""
    if y.dim() == 2 < x.dim() and x.is_contiguous() and x.numel() and y.numel():
        return multiply(x.view(-1, x.shape[-1]), y).view(*x.shape[:-1], y.shape[1])
    sizes = _layout(x, y)
    if sizes is None:
        return in_floats(multiply_batches, x, y) if _is_slow(x, y) else torch.matmul(x, y)
    found = torch.empty((*map(max, x.shape[:-2], y.shape[:-2]), x.shape[-2], y.shape[-1]))
    _native.multiply_batches(x.data_ptr(), y.data_ptr(), found.data_ptr(), sizes, torch.get_num_threads())
    return found


def _layout(x: Any, y: Any) -> list[int] | None:
    """The sizes and distances of a batch for our kernel; None where it doesn't take it."""
    rank, least = x.dim(), limits()
    if (
        least is None
        or rank not in (3, 4)
        or y.dim() != rank
        or x.dtype is not torch.float32
        or y.dtype is not torch.float32
        or not x.is_cpu
    ):
        return None
    *pairs, height, depth = x.shape
    *others, inner, columns = y.shape
    x_steps, y_steps = [list(v.stride()) for v in (x, y)]
    if (
        depth != inner
        or height < (least.rows if y_steps[-1] == 1 else least.turned_rows)
        or columns == 1
        or height * depth * columns < least.pair
        or 1 not in x_steps[-2:]
        or 1 not in y_steps[-2:]
        or not (x.numel() and y.numel())
    ):
        return None
    for i, (mine, its) in enumerate(zip(pairs, others)):
        if mine != its:
            if 1 not in (mine, its):
                return None
            (x_steps if mine == 1 else y_steps)[i] = 0
            pairs[i] = max(mine, its)
    if rank == 3:
        pairs, x_steps, y_steps = [1, *pairs], [0, *x_steps], [0, *y_steps]
    return [*pairs, height, depth, columns, *x_steps, *y_steps]
