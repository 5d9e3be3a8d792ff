"""Products of matrices together with what is done before or after them; see everflow.runtime.passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from everflow.ops.core import rows, symbolic
from everflow.ops.core.node import Node
from everflow.ops.core.registry import fused_op
from everflow.ops.linalg.matrix_products import add_product, multiply, product, turned
from everflow.ops.math.sums import unequal_parts


def _columns(node: Node) -> Callable[..., Any]:
    """Some columns of a product."""
    start, length = node.attr("start"), node.attr("length")
    flip_a, flip_b = node.attr("transpose_a"), node.attr("transpose_b")

    def run(a: Any, b: Any) -> Any:
        part = b.narrow(0, start, length).t() if flip_b else b.narrow(1, start, length)
        return multiply(a.t() if flip_a else a, part)

    return run


def _follows(x: Any, y: Any) -> bool:
    """Whether a matrix lies in memory just below another one."""
    if y.data_ptr() != x.data_ptr() + x.nbytes or x.shape != y.shape or not x.is_contiguous() or not y.is_contiguous() or not x.numel():
        return False
    # Else they are neighbours by chance.
    return x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()


def _piled(*lists: Sequence[Any]) -> Iterator[list[Any]]:
    """Lists of matrices as shorter lists of larger ones: those that lie below each other, in each of the lists, are one."""
    start = 0
    for end in range(1, len(lists[0]) + 1):
        if end < len(lists[0]) and all(_follows(xs[end - 1], xs[end]) for xs in lists):
            continue
        yield [xs[start].as_strided(((end - start) * xs[start].shape[0], *xs[start].shape[1:]), xs[start].stride()) for xs in lists]
        start = end


def _sum(node: Node) -> Callable[..., Any]:
    """The sum of products a'b: takes all a, then all b."""
    count = len(node.inputs) // 2

    def run(*xs: Any) -> Any:
        total = None
        for a, b in _piled(xs[:count], xs[count:]):
            total = multiply(a.t(), b) if total is None else add_product(total, a.t(), b)
        return total

    return run


def _sum_of_rows(*xs: Any) -> Any:
    """The sum of the rows of all matrices."""
    total = None
    for (x,) in _piled(xs):
        total = x.sum(0) if total is None else total.add_(x.sum(0))
    return total


def _two(node: Node) -> Callable[..., Any]:
    """a b + c d, for two nodes that multiply."""
    broadcasts = node.attr("broadcasts")
    turns = [product.attr(name) for product in (node.attr("first"), node.attr("second")) for name in ("transpose_a", "transpose_b")]

    def run(a: Any, b: Any, c: Any, d: Any) -> Any:
        total = multiply(c, d)
        if total.shape[0] == a.shape[0]:
            return add_product(total, a, b)
        if not broadcasts:
            raise unequal_parts(node, (a.shape[0], b.shape[1]), 1, total.shape)
        return total + multiply(a, b)

    return (lambda *xs: run(*[x.t() if turn else x for x, turn in zip(xs, turns)])) if any(turns) else run


def _two_by_rows(node: Node) -> list[rows.Instruction] | None:
    first, second = node.attr("first"), node.attr("second")
    if first.attr("transpose_a") or second.attr("transpose_a"):
        return None
    a, b, c, d = node.inputs
    total = node.outputs[0]
    turns = [bool(product.attr("transpose_b")) for product in (first, second)]
    return [rows.Product(a, b, total, turns[0]), rows.Product(c, d, total, turns[1], adds=True)]


fused_op("_MatMulBias", kernel=product, fresh=True, symbolic=symbolic.product, rows=rows.product)
fused_op("_PartOfProduct", kernel=_columns, symbolic=symbolic.columns_of_product, rows=rows.product)
fused_op("_SumOfProducts", kernel=_sum, fresh=True, stacks=True)
fused_op("_SumOfRows", kernel=lambda node: _sum_of_rows, fresh=True, stacks=True)
fused_op("_TwoProducts", kernel=_two, fresh=True, rows=_two_by_rows)
# A matrix that is laid out transposed, and a product with one.
fused_op("_Transposed", kernel=lambda node: lambda x: x.t().contiguous())
fused_op("_MatMulTurned", kernel=lambda node: turned(multiply, node.attr("transpose_a"), False))
