"""Norms, determinants, ranks and inverses made of the decompositions."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.graph.scopes import name_scope
from everflow.platform.deprecation import deprecated_argument_lookup
from everflow.platform.dispatch import add_dispatch_support

_MATRIX_NORMS = ["euclidean", "fro", 1, 2, np.inf]


def _spectral_norm(tensor: Any, axis: tuple[int, int]) -> Any:
    """The largest singular value of the matrices in two axes, which are moved to the end for it and back again."""
    if tensor.dims is not None:
        rank = len(tensor.dims)
        last: Any = [a % rank for a in axis]
        perm: Any = [a for a in range(rank) if a not in last] + last
        back: Any = np.argsort(perm)
    else:
        rank = tf.rank(tensor)
        last = tf.constant(axis)
        last = tf.where(last < 0, last + rank, last)
        perm = tf.concat([tf.setdiff1d(tf.range(rank), last).out, last], 0)
        back = tf.invert_permutation(perm)
    largest = tf.reduce_max(tf.abs(tf.svd(tf.transpose(tensor, perm), compute_uv=False)), axis=-1, keepdims=True)
    return tf.transpose(tf.expand_dims(largest, -1), back)


@public("norm", "linalg.norm")
def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
) -> Any:
    """The norm of vectors along an axis, of matrices in two axes, or of a whole tensor."""
    keepdims = bool(deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims))
    is_matrix = isinstance(axis, (list, tuple)) and len(axis) == 2
    if is_matrix:
        axis = tuple(axis)
        if not all(isinstance(a, (int, np.integer)) for a in axis) or axis[0] == axis[1]:
            raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
        if ord not in _MATRIX_NORMS:
            raise ValueError(f"'ord' must be a supported matrix norm in {_MATRIX_NORMS}, got {ord}")
    else:
        if axis is not None and not isinstance(axis, (int, np.integer)):
            raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
        if ord != "euclidean" and (isinstance(ord, str) or ord <= 0):
            raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    with name_scope(name, "norm", [tensor]):
        tensor = tf.convert_to_tensor(tensor)
        if ord in ("euclidean", "fro") or ord == 2 and not is_matrix:
            result = tf.sqrt(tf.reduce_sum(tensor * tf.conj(tensor), axis, keepdims=True))
        elif is_matrix and ord == 2:
            result = _spectral_norm(tensor, axis)
        else:
            result = tf.abs(tensor)
            if is_matrix:
                first, second = axis if ord == 1 else axis[::-1]
                result = tf.reduce_max(tf.reduce_sum(result, first, keepdims=True), second, keepdims=True)
            elif ord == 1:
                result = tf.reduce_sum(result, axis, keepdims=True)
            elif ord == np.inf:
                result = tf.reduce_max(result, axis, keepdims=True)
            else:
                result = tf.pow(tf.reduce_sum(tf.pow(result, ord), axis, keepdims=True), 1.0 / ord)
        return result if keepdims else tf.squeeze(result, axis)


@internal("ops.linalg_ops.norm_v2")
def _norm_of_2(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool | None = None, name: str | None = None) -> Any:
    return norm(tensor, ord, axis, keepdims, name)


@public("linalg.adjoint")
@add_dispatch_support
def adjoint(matrix: Any, name: str | None = None) -> Any:
    """The conjugate transpose of each matrix."""
    with name_scope(name, "adjoint", [matrix]):
        return tf.linalg.transpose(tf.convert_to_tensor(matrix, name="matrix"), conjugate=True)


@public("linalg.logdet")
@add_dispatch_support
def logdet(matrix: Any, name: str | None = None) -> Any:
    """The logarithm of the determinants of positive definite matrices."""
    with name_scope(name, "logdet", [matrix]):
        chol = tf.cholesky(matrix)
        return 2.0 * tf.reduce_sum(tf.log(tf.real(tf.matrix_diag_part(chol))), axis=[-1])


def _checked(a: Any, validate_args: bool) -> Any:
    """A batch of matrices; raises, or checks when run, where it can't be one."""
    if not a.dtype.is_floating:
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")
    if a.dims is not None:
        if len(a.dims) < 2:
            raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {len(a.dims)}).")
    elif validate_args:
        with tf.control_dependencies([tf.assert_rank_at_least(a, rank=2, message="Input `a` must have at least 2 dimensions.")]):
            return tf.identity(a)
    return a


@public("linalg.matrix_rank")
def matrix_rank(a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None) -> Any:
    """How many singular values of each matrix are larger than `tol`."""
    with name_scope(name, "matrix_rank", [a, tol]):
        a = _checked(tf.convert_to_tensor(a, dtype_hint=tf.float32, name="a"), validate_args)
        s = tf.svd(a, compute_uv=False)
        if tol is None:
            sizes = a.get_shape()[-2:]
            if sizes.is_fully_defined():
                largest = np.max(sizes.as_list())
            else:
                largest = tf.reduce_max(tf.shape(a)[-2:])
            eps = np.finfo(a.dtype.as_numpy_dtype).eps
            tol = eps * tf.cast(largest, a.dtype) * tf.reduce_max(s, axis=-1, keepdims=True)
        return tf.reduce_sum(tf.cast(s > tol, tf.int32), axis=-1)


@public("linalg.pinv")
def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Any:
    """The Moore-Penrose inverses of matrices; singular values below `rcond` times the largest count as zero."""
    with name_scope(name or "pinv"):
        a = _checked(tf.convert_to_tensor(a, name="a"), validate_args)
        dtype = a.dtype.as_numpy_dtype
        if rcond is None:

            def size(axis: int) -> Any:
                known = a.dims[axis] if a.dims is not None else None
                return tf.shape(a)[axis] if known is None else known

            rows, columns = size(-2), size(-1)
            if isinstance(rows, int) and isinstance(columns, int):
                most: Any = float(max(rows, columns))
            else:
                most = tf.cast(tf.maximum(rows, columns), dtype)
            rcond = 10.0 * most * np.finfo(dtype).eps
        rcond = tf.convert_to_tensor(rcond, dtype=dtype, name="rcond")
        s, left, right = tf.svd(a, full_matrices=False, compute_uv=True)
        cutoff = rcond * tf.reduce_max(s, axis=-1)
        s = tf.where_v2(s > tf.expand_dims(cutoff, -1), s, np.array(np.inf, dtype))
        found = tf.matmul(right / tf.expand_dims(s, -2), left, adjoint_b=True)
        if a.dims is not None:
            found.set_shape([*a.dims[:-2], a.dims[-1], a.dims[-2]])
        return found
