"""Factors of matrices: Cholesky, QR, LU, singular values and the eigenvectors of self-adjoint matrices."""

from __future__ import annotations

import math
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.dtypes import DTypeLike
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.linalg.matrix_shapes import (
    Kernel,
    batch_of,
    check_rank,
    check_square,
    finite,
    in_full_precision,
    only_where,
    smaller,
    square,
    square_batch_of,
    with_batch,
)
from everflow.platform.dispatch import add_dispatch_support


def adjoint(x: Any) -> Any:
    """The conjugate transpose of each matrix."""
    return tf.linalg.transpose(x, conjugate=True)


def _cholesky(node: Node) -> Kernel:
    def run(x: Any) -> Any:
        check_square(x)
        found, failed = torch.linalg.cholesky_ex(x)
        if not failed.any():
            return found
        # Not-a-numbers make no error, but more of themselves.
        unknown = x.isnan().any(-1).any(-1)
        if (failed.bool() & ~unknown).any():
            raise invalid_argument("Cholesky decomposition was not successful. The input might not be valid.")
        return torch.where(unknown[..., None, None], torch.full_like(found, torch.nan).tril(), found)

    return run


def _lower_half(x: Any) -> Any:
    """The lower triangle with half of the diagonal."""
    return tf.matrix_band_part(tf.matrix_set_diag(x, 0.5 * tf.matrix_diag_part(x)), -1, 0)


def _cholesky_gradient(o: Operation, dl: Any) -> Any:
    l = o.outputs[0]
    sizes = tf.shape(l)
    inverse = tf.matrix_triangular_solve(l, tf.eye(sizes[-1], batch_shape=sizes[:-2], dtype=l.dtype))
    middle = _lower_half(tf.matmul(l, dl, adjoint_a=True))
    found = tf.matmul(tf.matmul(inverse, middle, adjoint_a=True), inverse)
    return (found + adjoint(found)) * 0.5


def _cholesky_grad(node: Node) -> Kernel:
    def run(l: Any, dl: Any) -> Any:
        check_rank(l, dl)
        check_square(l)
        middle = torch.matmul(l.mH, dl).tril()
        middle.diagonal(0, -2, -1).mul_(0.5)
        half = torch.linalg.solve_triangular(l.mH, middle, upper=True)
        found = torch.linalg.solve_triangular(l, half, upper=False, left=False)
        return (found + found.mH) * 0.5

    return run


for _prefix in ("", "Batch"):
    op(_prefix + "Cholesky", kernel=in_full_precision(_cholesky), shape=square, gradient=_cholesky_gradient)
    op(_prefix + "CholeskyGrad", kernel=in_full_precision(_cholesky_grad), shape=square)


@public("cholesky", "linalg.cholesky")
@add_dispatch_support
def cholesky(input: Any, name: str | None = None) -> Any:
    """The lower triangular matrix whose product with its adjoint is the positive definite input."""
    return apply("Cholesky", input, name=name)


def _qr(node: Node) -> Kernel:
    mode = "complete" if node.attr("full_matrices") else "reduced"

    def run(x: Any) -> Any:
        check_rank(x)
        return tuple(torch.linalg.qr(x, mode=mode))

    return run


def _qr_shape(o: Operation) -> Any:
    batch, rows, columns = batch_of(o.inputs[0].dims)
    inner = rows if o.attr("full_matrices") else smaller(rows, columns)
    return [with_batch(batch, rows, inner), with_batch(batch, inner, columns)]


def _qr_gradient(o: Operation, dq: Any, dr: Any) -> Any:
    q, r = o.outputs
    _, rows, columns = batch_of(o.inputs[0].dims)
    if rows is None or columns is None:
        raise NotImplementedError("QrGrad not implemented with dynamic shapes.")
    if rows > columns and o.attr("full_matrices"):
        raise NotImplementedError("QrGrad not implemented when ncols > nrows or full_matrices is true and ncols != nrows.")
    if rows >= columns:
        return _tall_qr_gradient(q, r, dq, dr)
    # The columns beyond the square part are q times theirs of r.
    rest = o.inputs[0][..., rows:]
    dq += tf.matmul(rest, dr[..., rows:], adjoint_b=True)
    first = _tall_qr_gradient(q, r[..., :rows], dq, dr[..., :rows])
    return tf.concat([first, tf.matmul(q, dr[..., rows:])], -1)


def _tall_qr_gradient(q: Any, r: Any, dq: Any, dr: Any) -> Any:
    upper = tf.matrix_band_part(tf.matmul(dr, r, adjoint_b=True) - tf.matmul(q, dq, adjoint_a=True), 0, -1)
    both = upper + adjoint(upper)
    both = tf.matrix_set_diag(both, 0.5 * tf.matrix_diag_part(both))
    return adjoint(tf.matrix_triangular_solve(r, adjoint(dq + tf.matmul(q, both)), lower=False))


op("Qr", kernel=in_full_precision(_qr), shape=_qr_shape, gradient=_qr_gradient)


@public("qr", "linalg.qr")
def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Any:
    """(q, r): a matrix with orthonormal columns and an upper triangular one, whose product is the input."""
    return apply("Qr", input, full_matrices=full_matrices, name=name)


def _lu(node: Node) -> Kernel:
    indices = getattr(torch, node.attr("output_idx_type").name)

    def run(x: Any) -> Any:
        check_square(x)
        packed, pivots, failed = torch.linalg.lu_factor_ex(x)
        if failed.any():
            raise invalid_argument("Input is not invertible.")
        n, count = x.shape[-1], math.prod(x.shape[:-2])
        order = torch.arange(n, device=x.device).repeat(count, 1)
        every = torch.arange(count, device=x.device)
        for i, swapped in enumerate((pivots.reshape(count, n) - 1).long().unbind(1)):
            kept = order[:, i].clone()
            order[:, i] = order[every, swapped]
            order[every, swapped] = kept
        return packed, order.reshape(x.shape[:-1]).to(indices)

    return run


def _lu_shape(o: Operation) -> Any:
    batch, n = square_batch_of(o.inputs[0].dims)
    return [with_batch(batch, n, n), with_batch(batch, n)]


op("Lu", kernel=in_full_precision(_lu), shape=_lu_shape)


@public("linalg.lu")
def lu(input: Any, output_idx_type: Any = tf.int32, name: str | None = None) -> Any:
    """(lu, p): both triangular factors in one matrix, and which row of the input each row of their product is."""
    return apply("Lu", input, output_idx_type=output_idx_type, name=name)


def _eigh(node: Node) -> Kernel:
    compute_v = node.attr("compute_v")

    def run(x: Any) -> Any:
        check_square(x)
        if not x.isfinite().all():
            raise invalid_argument("Self-adjoint eigen decomposition was not successful. The input might not be valid.")
        if compute_v:
            values, vectors = torch.linalg.eigh(x)
            return values.to(x.dtype), vectors
        return torch.linalg.eigvalsh(x).to(x.dtype), x.new_empty(0)

    return run


def _eigh_shape(o: Operation) -> Any:
    batch, n = square_batch_of(o.inputs[0].dims)
    return [with_batch(batch, n), with_batch(batch, n, n) if o.attr("compute_v") else (0,)]


def _reciprocals(x: Any, dtype: DTypeLike) -> Any:
    """1/x, or 0 where x is 0: equal values say nothing about the direction of their vectors."""
    return tf.cast(tf.div_no_nan(tf.ones_like(x), x), dtype)


def _real(x: Any) -> Any:
    return tf.real(x) if x.dtype.is_complex else x


def _scaled(u: Any, s: Any, v: Any) -> Any:
    """u · diag(s) · adjoint of v."""
    return tf.matmul(u * tf.expand_dims(s, -2), v, adjoint_b=True)


def _eigh_gradient(o: Operation, de: Any, dv: Any) -> Any:
    if o.attr("compute_v"):
        e, v = _real(o.outputs[0]), o.outputs[1]
        apart = _reciprocals(tf.expand_dims(e, -2) - tf.expand_dims(e, -1), v.dtype)
        inner = tf.matrix_diag(de) + apart * tf.matmul(v, dv, adjoint_a=True)
        found = tf.matmul(v, tf.matmul(inner, v, adjoint_b=True))
    else:
        v = apply("SelfAdjointEigV2", o.inputs[0]).v
        found = _scaled(v, de, v)
    # Only the lower triangle of the input is read.
    return _lower_half(found + adjoint(found))


def _eigh_in_one(node: Node) -> Kernel:
    """Eigenvalues as a first row over the eigenvectors."""

    def run(x: Any) -> Any:
        check_square(x)
        values, vectors = torch.linalg.eigh(x)
        return torch.cat([values.unsqueeze(-2), vectors], -2)

    return run


def _eigh_in_one_shape(o: Operation) -> Any:
    batch, n = square_batch_of(o.inputs[0].dims)
    return with_batch(batch, None if n is None else n + 1, n)


for _prefix in ("", "Batch"):
    op(_prefix + "SelfAdjointEigV2", kernel=in_full_precision(_eigh), shape=_eigh_shape, gradient=_eigh_gradient)
    op(_prefix + "SelfAdjointEig", kernel=in_full_precision(_eigh_in_one), shape=_eigh_in_one_shape)


@public("self_adjoint_eig", "linalg.eigh")
def self_adjoint_eig(tensor: Any, name: str | None = None) -> Any:
    """(eigenvalues from the smallest on, eigenvectors as columns) of self-adjoint matrices."""
    found = apply("SelfAdjointEigV2", tensor, compute_v=True, name=name)
    return found.e, found.v


@public("self_adjoint_eigvals", "linalg.eigvalsh")
def self_adjoint_eigvals(tensor: Any, name: str | None = None) -> Any:
    """The eigenvalues of self-adjoint matrices, from the smallest on."""
    return apply("SelfAdjointEigV2", tensor, compute_v=False, name=name).e


def _svd(node: Node) -> Kernel:
    full = node.attr("full_matrices")

    def run(x: Any) -> Any:
        check_rank(x)
        whole = finite(x)
        u, s, vh = torch.linalg.svd(only_where(whole, x), full_matrices=full)
        s = only_where(whole, s[..., None], torch.nan)[..., 0]
        return s.to(x.dtype), only_where(whole, u, torch.nan), only_where(whole, vh.mH, torch.nan)

    def values(x: Any) -> Any:
        check_rank(x)
        whole = finite(x)
        s = only_where(whole, torch.linalg.svdvals(only_where(whole, x))[..., None], torch.nan)[..., 0]
        return s.to(x.dtype), x.new_empty(0), x.new_empty(0)

    return run if node.attr("compute_uv") else values


def _svd_shape(o: Operation) -> Any:
    batch, rows, columns = batch_of(o.inputs[0].dims)
    count = smaller(rows, columns)
    values = with_batch(batch, count)
    if not o.attr("compute_uv"):
        return [values, (0,), (0,)]
    if o.attr("full_matrices"):
        return [values, with_batch(batch, rows, rows), with_batch(batch, columns, columns)]
    return [values, with_batch(batch, rows, count), with_batch(batch, columns, count)]


def _outside(u: Any, du: Any, k: Any, full: bool) -> Any:
    """How the first k singular vectors turn towards directions that belong to no singular value."""
    if not full:
        return du - tf.matmul(u, tf.matmul(u, du, adjoint_a=True))
    first, rest = u[..., :k], u[..., k:]
    turned = tf.matmul(rest, du[..., :k], adjoint_a=True) - tf.matmul(du[..., k:], first, adjoint_a=True)
    return tf.matmul(rest, turned)


def _svd_gradient(o: Operation, ds: Any, du: Any, dv: Any) -> Any:
    a, dtype = o.inputs[0], o.inputs[0].dtype
    if not o.attr("compute_uv"):
        found = apply("Svd", a, compute_uv=True, full_matrices=False)
        return _scaled(found.u, ds, found.v)
    s, u, v = o.outputs
    s, full = _real(s), o.attr("full_matrices")
    k = tf.shape(s)[-1]
    u1, v1, du1, dv1 = (x[..., :k] for x in (u, v, du, dv)) if full else (u, v, du, dv)
    along_u, along_v = tf.matmul(u1, du1, adjoint_a=True), tf.matmul(v1, dv1, adjoint_a=True)
    columns, rows = tf.expand_dims(s, -2), tf.expand_dims(s, -1)
    apart = _reciprocals((columns - rows) * (columns + rows), dtype)
    inner = apart * (along_u - adjoint(along_u)) * tf.cast(columns, dtype)
    inner += apart * (along_v - adjoint(along_v)) * tf.cast(rows, dtype)
    inverse = _reciprocals(s, dtype)
    if dtype.is_complex:
        phases = tf.imag(tf.matrix_diag_part(along_u))
        ds = tf.complex(tf.real(ds), tf.zeros_like(phases)) + tf.complex(tf.zeros_like(phases), phases) * inverse
    inner += tf.matrix_diag(ds)
    found = tf.matmul(u1, tf.matmul(inner, v1, adjoint_b=True))
    _, height, width = batch_of(a.dims)
    known = height is not None and width is not None
    if not known or height > width:
        found += _scaled(_outside(u, du, k, full), inverse, v1)
    if not known or width > height:
        found += _scaled(u1, inverse, _outside(v, dv, k, full))
    found.set_shape(shapes.TensorShape.from_dims(a.dims))
    return found


for _prefix in ("", "Batch"):
    op(_prefix + "Svd", kernel=in_full_precision(_svd), shape=_svd_shape, gradient=_svd_gradient)


@public("svd", "linalg.svd")
def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """(s, u, v): singular values from the largest on, and their vectors as columns; only s without `compute_uv`."""
    s, u, v = apply("Svd", tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    s = _real(s)
    return (s, u, v) if compute_uv else s
