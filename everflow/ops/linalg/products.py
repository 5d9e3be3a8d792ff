"""Products of matrices: MatMul, batches of them, sparse hints, matrix times vector, trace, cross product."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope, symbolic_of
from everflow.graph.stacks import eager_scope, in_eager_mode
from everflow.graph.statistics import OpStats, RegisterStatistics
from everflow.lazy import torch
from everflow.ops.core import rows, symbolic
from everflow.ops.core.families import conj, published, widened
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.shape_rules import merged
from everflow.ops.linalg import matrix_products
from everflow.platform.dispatch import add_dispatch_support


def fits(node: Node, rule: Callable[[], Any]) -> bool:
    """Whether the static shapes of a plan's node are known and pass a shape rule, so that the kernel need not look at them."""
    if not all(shapes.is_fully_defined(v.dims) for v in node.inputs):
        return False
    try:
        rule()
    except ValueError:
        return False
    return True


def _multiply(node: Node) -> Callable[..., Any]:
    flip_a, flip_b = node.attr("transpose_a"), node.attr("transpose_b")
    product = matrix_products.product(node)
    if fits(node, lambda: _product_shape(node)):
        return product

    def run(a: Any, b: Any) -> Any:
        try:
            return product(a, b)
        except RuntimeError as error:
            raise (_matrix_error(a, b, flip_a, flip_b) or error) from None

    return run


def _matrix_error(a: Any, b: Any, flip_a: bool, flip_b: bool) -> Exception | None:
    for value, which in ((a, 0), (b, 1)):
        if value.ndim != 2:
            return invalid_argument(f"In[{which}] is not a matrix. Instead it has shape {shapes.describe(tuple(value.shape))}")
    if a.shape[0 if flip_a else 1] != b.shape[1 if flip_b else 0]:
        return invalid_argument(
            f"Matrix size-incompatible: In[0]: {shapes.describe(tuple(a.shape))}, In[1]: {shapes.describe(tuple(b.shape))}"
        )
    return None


def _product_shape(o: Node | Operation) -> Any:
    a, b = (shapes.with_rank(t.dims, 2) for t in o.inputs)
    rows, inner_a = reversed(a) if o.attr("transpose_a") else a
    inner_b, columns = reversed(b) if o.attr("transpose_b") else b
    shapes.merge_size(inner_a, inner_b)
    return rows, columns


def _product_gradient(o: Operation, dz: Any) -> Any:
    flip_a, flip_b = o.attr("transpose_a"), o.attr("transpose_b")
    a, b = (conj(t) for t in o.inputs)

    def product(x: Any, y: Any, **flips: Any) -> Any:
        return apply("MatMul", x, y, **flips)

    if not flip_a and not flip_b:
        skipped = o.skip_input_indices
        return (None if 0 in skipped else product(dz, b, transpose_b=True), None if 1 in skipped else product(a, dz, transpose_a=True))
    if not flip_a:
        return product(dz, b), product(dz, a, transpose_a=True)
    if not flip_b:
        return product(b, dz, transpose_b=True), product(a, dz)
    return product(b, dz, transpose_a=True, transpose_b=True), product(dz, a, transpose_a=True, transpose_b=True)


op(
    "MatMul",
    kernel=_multiply,
    shape=_product_shape,
    gradient=_product_gradient,
    kind="matrix product",
    fresh=True,
    symbolic=symbolic.product,
    rows=rows.product,
)


@RegisterStatistics("MatMul", "flops")
def _product_flops(graph: Any, node: Node) -> OpStats:
    """A multiplication and an addition for each inner index of each element of the product."""
    product = graph.get_operation_by_name(node.name)
    left, size = product.inputs[0].dims, shapes.num_elements(product.outputs[0].dims)
    known = size is not None and None not in left
    return OpStats("flops", 2 * left[0 if product.attr("transpose_a") else 1] * size if known else None)


def _sparse_multiply(node: Node) -> Callable[..., Any]:
    """The hints about zeros change nothing: torch's dense product is faster except for very empty matrices."""
    inner = _multiply(node)
    if all(v.dtype.base_dtype is dtypes.float32 for v in node.inputs):
        return inner
    return lambda a, b: inner(a.to(torch.float32), b.to(torch.float32))


def _sparse_product_gradient(o: Operation, dz: Any) -> Any:
    flip_a, flip_b = o.attr("transpose_a"), o.attr("transpose_b")
    a, b = o.inputs
    sparse = {a: o.attr("a_is_sparse"), b: o.attr("b_is_sparse"), dz: not dz.is_eager and dz.op.type == "ReluGrad"}

    def product(x: Any, y: Any, kind: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
        hints = {"a_is_sparse": sparse[x], "b_is_sparse": sparse[y]}
        if transpose_b:
            y = tf.transpose(y)
        found = matmul(x, y, transpose_a=transpose_a, **hints)
        return tf.cast(found, kind) if found.dtype is not kind else found

    kind_a, kind_b = a.dtype.base_dtype, b.dtype.base_dtype
    if not flip_a and not flip_b:
        return product(dz, b, kind_a, transpose_b=True), product(a, dz, kind_b, transpose_a=True)
    if not flip_a:
        return product(dz, b, kind_a), product(dz, a, kind_b, transpose_a=True)
    if not flip_b:
        return product(b, dz, kind_a, transpose_b=True), product(a, dz, kind_b)
    return product(b, dz, kind_a, transpose_a=True, transpose_b=True), product(dz, a, kind_b, transpose_a=True, transpose_b=True)


op("SparseMatMul", kernel=_sparse_multiply, shape=_product_shape, gradient=_sparse_product_gradient)


@public("sparse_matmul")
def sparse_matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The product of matrices that may hold many zeros."""
    return apply(
        "SparseMatMul", a, b, transpose_a=transpose_a, transpose_b=transpose_b, a_is_sparse=a_is_sparse, b_is_sparse=b_is_sparse, name=name
    )


def _batch_multiply(node: Node) -> Callable[..., Any]:
    is_complex = node.inputs[0].dtype.is_complex
    adjoint = (lambda m: m.mH) if is_complex else lambda m: m.mT
    flip_x, flip_y = node.attr("adj_x"), node.attr("adj_y")
    multiply = torch.matmul if is_complex else matrix_products.multiply_batches
    if flip_x:
        product = (lambda x, y: multiply(adjoint(x), adjoint(y))) if flip_y else lambda x, y: multiply(adjoint(x), y)
    else:
        product = (lambda x, y: multiply(x, adjoint(y))) if flip_y else multiply
    if fits(node, lambda: _batch_product_shape(node)):
        return product

    broadcasts = node.type == "BatchMatMulV2"

    def run(x: Any, y: Any) -> Any:
        if x.ndim < 2 or y.ndim < 2:
            low, which = (x, 0) if x.ndim < 2 else (y, 1)
            raise invalid_argument(f"In[{which}] ndims must be >= 2: {low.ndim}")
        if not broadcasts and x.shape[:-2] != y.shape[:-2]:
            raise invalid_argument(
                f"In[0] and In[1] have different shapes: {shapes.describe(tuple(x.shape))} vs. {shapes.describe(tuple(y.shape))}"
            )
        if x.shape[-2 if flip_x else -1] != y.shape[-1 if flip_y else -2]:
            raise invalid_argument(
                f"In[0] mismatch In[1] shape: {x.shape[-2 if flip_x else -1]} vs. {y.shape[-1 if flip_y else -2]}: "
                f"{shapes.describe(tuple(x.shape))} {shapes.describe(tuple(y.shape))} {flip_x:d} {flip_y:d}"
            )
        try:
            return product(x, y)
        except RuntimeError:
            raise invalid_argument(
                "In[0] and In[1] must have compatible batch dimensions: "
                f"{shapes.describe(tuple(x.shape))} vs. {shapes.describe(tuple(y.shape))}"
            ) from None

    return run


def _batch_product_shape(o: Node | Operation) -> Any:
    x, y = (shapes.with_rank_at_least(t.dims, 2) for t in o.inputs)
    if x is None or y is None:
        return None
    rows, inner_x = reversed(x[-2:]) if o.attr("adj_x") else x[-2:]
    inner_y, columns = reversed(y[-2:]) if o.attr("adj_y") else y[-2:]
    batch = shapes.broadcast(x[:-2], y[:-2]) if o.type == "BatchMatMulV2" else shapes.merge(x[:-2], y[:-2])
    shapes.merge_size(inner_x, inner_y)
    return (*(batch or ()), rows, columns)


def _batch_products(o: Operation, dz: Any) -> tuple[Any, Any]:
    x, y = o.inputs
    flip_x, flip_y = o.attr("adj_x"), o.attr("adj_y")
    if not flip_x and not flip_y:
        return matmul(dz, y, adjoint_b=True), matmul(x, dz, adjoint_a=True)
    if not flip_x:
        return matmul(dz, y), matmul(dz, x, adjoint_a=True)
    if not flip_y:
        return matmul(y, dz, adjoint_b=True), matmul(x, dz)
    return matmul(y, dz, adjoint_a=True, adjoint_b=True), matmul(dz, x, adjoint_a=True, adjoint_b=True)


def _batch_product_v2_gradient(o: Operation, dz: Any) -> Any:
    x, y = o.inputs
    dx, dy = _batch_products(o, dz)
    if x.dims == y.dims and shapes.is_fully_defined(x.dims):
        return dx, dy
    shape_x, shape_y = tf.shape(x), tf.shape(y)
    axes_x, axes_y = apply("BroadcastGradientArgs", shape_x[:-2], shape_y[:-2])
    dx = tf.reshape(tf.reduce_sum(dx, axes_x), shape_x)
    return dx, tf.reshape(tf.reduce_sum(dy, axes_y), shape_y)


op("BatchMatMul", kernel=_batch_multiply, shape=_batch_product_shape, gradient=_batch_products, kind="product of batches")
op("BatchMatMulV2", kernel=_batch_multiply, shape=_batch_product_shape, gradient=_batch_product_v2_gradient, kind="product of batches")


@public("matmul", "linalg.matmul")
@add_dispatch_support
def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The product of two matrices, or of two batches of matrices."""
    if in_eager_mode() and symbolic_of((a, b)) is None:
        scope = f"{eager_scope.name}{name or 'MatMul'}/"
        return _matmul(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b, a_is_sparse, b_is_sparse, scope)
    with name_scope(name, "MatMul", [a, b]) as scope:
        return _matmul(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b, a_is_sparse, b_is_sparse, scope)


def _matmul(
    a: Any, b: Any, transpose_a: bool, transpose_b: bool, adjoint_a: bool, adjoint_b: bool, a_is_sparse: bool, b_is_sparse: bool, scope: str
) -> Any:
    if transpose_a and adjoint_a:
        raise ValueError("Only one of transpose_a and adjoint_a can be True.")
    if transpose_b and adjoint_b:
        raise ValueError("Only one of transpose_b and adjoint_b can be True.")
    a = convert_to_tensor(a, name="a")
    b = convert_to_tensor(b, name="b")
    rank_a, rank_b = a._rank(), b._rank()
    batched = rank_a is None or rank_b is None or rank_a > 2 or rank_b > 2
    if batched and not a_is_sparse and not b_is_sparse:
        # The batched op knows adjoints only: a plain transpose is the adjoint of the conjugate.
        if transpose_a:
            a, adjoint_a = conj(a), True
        if transpose_b:
            b, adjoint_b = conj(b), True
        return apply("BatchMatMulV2", a, b, adj_x=adjoint_a, adj_y=adjoint_b, name=scope)
    if adjoint_a:
        a, transpose_a = conj(a), True
    if adjoint_b:
        b, transpose_b = conj(b), True
    if a.dtype is b.dtype and not a_is_sparse and not b_is_sparse:
        return apply("MatMul", a, b, transpose_a=transpose_a, transpose_b=transpose_b, name=scope)
    kinds = {a.dtype.base_dtype, b.dtype.base_dtype}
    # The op for sparse matrices is also the one that multiplies bfloat16 by float32.
    if kinds == {dtypes.bfloat16, dtypes.float32} or (a_is_sparse or b_is_sparse) and kinds <= {dtypes.bfloat16, dtypes.float32}:
        product = sparse_matmul(a, b, transpose_a, transpose_b, a_is_sparse, b_is_sparse, name=scope)
        return tf.cast(product, dtypes.bfloat16) if kinds == {dtypes.bfloat16} else product
    return apply("MatMul", a, b, transpose_a=transpose_a, transpose_b=transpose_b, name=scope)


@public("linalg.matvec")
def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """A matrix (or a batch of them) times a vector."""
    with name_scope(name, "MatVec", [a, b]):
        sparse = {"a_is_sparse": a_is_sparse, "b_is_sparse": b_is_sparse}
        column = matmul(a, tf.expand_dims(b, axis=-1), transpose_a=transpose_a, adjoint_a=adjoint_a, **sparse)
        return tf.squeeze(column, axis=-1)


@public("trace", "linalg.trace")
@add_dispatch_support
def trace(x: Any, name: str | None = None) -> Any:
    """The sum of a matrix's main diagonal, for each matrix of a batch."""
    with name_scope(name, "Trace", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return tf.reduce_sum(tf.matrix_diag_part(x), [-1], name=scope)


def _cross_shape(o: Operation) -> Any:
    dims = merged(o)
    shapes.with_rank_at_least(dims, 1)
    if dims is not None and dims[-1] not in (None, 3):
        raise ValueError(f"Dimension must be 3 but is {dims[-1]}")
    return dims


def _cross_gradient(o: Operation, dz: Any) -> Any:
    a, b = o.inputs
    return cross(b, dz), cross(dz, a)


op("Cross", kernel=widened(lambda n: lambda a, b: torch.linalg.cross(a, b, dim=-1)), shape=_cross_shape, gradient=_cross_gradient)
cross = published("Cross", ("cross", "linalg.cross"), __name__)
