"""Small functions of tensors around distributions: what is known before running, rearrangements, weighted sums."""

from __future__ import annotations

import hashlib
import inspect
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import TensorShape

# -- known before running, or computed


@internal("ops.distributions.util.prefer_static_value")
def prefer_static_value(x: Any) -> Any:
    """The value of a tensor where it is known, else the tensor."""
    known = constant_value(x)
    return x if known is None else known


@internal("ops.distributions.util.prefer_static_rank")
def prefer_static_rank(x: Any) -> Any:
    """The number of axes, as a number where it is known."""
    return prefer_static_value(tf.rank(x))


@internal("ops.distributions.util.prefer_static_shape")
def prefer_static_shape(x: Any) -> Any:
    """The shape, as an array where it is known."""
    return prefer_static_value(tf.shape(x))


@internal("ops.distributions.util.prefer_static_broadcast_shape")
def prefer_static_broadcast_shape(shape1: Any, shape2: Any, name: str = "prefer_static_broadcast_shape") -> Any:
    """The shape that two shapes broadcast to: a TensorShape where it is known, else a tensor."""
    with name_scope(name, values=[shape1, shape2]):
        known: list[Any] = []
        for s in (shape1, shape2):
            if isinstance(s, TensorShape):
                known.append(s)
                continue
            value = constant_value(convert_to_tensor(s, dtype=dtypes.int32))
            known.append(None if value is None else TensorShape(value))
        if all(s is not None and s.is_fully_defined() for s in known):
            return tf.broadcast_static_shape(*known)
        given = [convert_to_tensor(s.as_list() if isinstance(s, TensorShape) else s, dtype=dtypes.int32) for s in (shape1, shape2)]
        return tf.broadcast_dynamic_shape(*given)


@internal("ops.distributions.util.dimension_size")
def dimension_size(x: Any, axis: int) -> Any:
    """The size of an axis, as a number where it is known."""
    shape = x.shape.with_rank_at_least(abs(axis if axis >= 0 else axis + 1))
    known = tf.dimension_value(shape[axis]) if shape.ndims is not None else None
    return tf.shape(x)[axis] if known is None else known


@internal("ops.distributions.util.pick_vector")
def pick_vector(cond: Any, true_vector: Any, false_vector: Any, name: str = "pick_vector") -> Any:
    """One of two vectors, which may be of different lengths."""
    with name_scope(name, values=[cond, true_vector, false_vector]):
        cond = convert_to_tensor(cond, name="cond")
        if cond.dtype != dtypes.bool:
            raise TypeError(f"{cond}.dtype={cond.dtype!r} which is not {dtypes.bool!r}")
        known = constant_value(cond)
        if known is not None:
            return true_vector if known else false_vector
        true_vector = convert_to_tensor(true_vector, name="true_vector")
        false_vector = convert_to_tensor(false_vector, name="false_vector")
        count = tf.shape(true_vector)[0]
        return tf.slice(tf.concat([true_vector, false_vector], 0), [tf.where(cond, 0, count)], [tf.where(cond, count, -1)])


# -- rearrangements


@internal("ops.distributions.util.rotate_transpose")
def rotate_transpose(x: Any, shift: Any, name: str = "rotate_transpose") -> Any:
    """x with its axes moved round by `shift` places."""
    with name_scope(name, values=[x, shift]):
        x = convert_to_tensor(x, name="x")
        shift = convert_to_tensor(shift, name="shift")
        known, ndims = constant_value(shift), x.shape.ndims
        if known is not None and ndims is not None:
            if ndims < 2:
                return x
            at = int(np.sign(known) * (abs(int(known)) % ndims))
            return x if at == 0 else tf.transpose(x, np.roll(np.arange(ndims), at))
        rank = tf.rank(x)
        at = tf.mod(-shift, rank)
        return tf.transpose(x, tf.concat([tf.range(at, rank), tf.range(0, at)], 0))


@public("contrib.distributions.matrix_diag_transform")
@internal("ops.distributions.util.matrix_diag_transform")
def matrix_diag_transform(matrix: Any, transform: Any = None, name: str | None = None) -> Any:
    """The matrix with a function of its diagonal in the place of that."""
    with name_scope(name, "matrix_diag_transform", [matrix]):
        matrix = convert_to_tensor(matrix, name="matrix")
        return matrix if transform is None else tf.matrix_set_diag(matrix, transform(tf.matrix_diag_part(matrix)))


@public("contrib.distributions.fill_triangular")
@internal("ops.distributions.util.fill_triangular")
def fill_triangular(x: Any, upper: bool = False, name: str | None = None) -> Any:
    """A triangular matrix of the elements of a vector: the vector and its mirror image side by side, half of it kept."""
    with name_scope(name, "fill_triangular", [x]):
        x = convert_to_tensor(x, name="x")
        static = x.shape.with_rank_at_least(1)
        count = tf.dimension_value(static[-1]) if static.ndims is not None else None
        if count is not None:
            size: Any = int(np.floor(np.sqrt(0.25 + 2.0 * count) - 0.5 + 1e-9))
            if size * (size + 1) // 2 != count:
                raise ValueError(f"Input right-most shape ({count}) does not correspond to a triangular matrix.")
            final = static[:-1].concatenate([size, size])
        else:
            size = tf.cast(tf.sqrt(0.25 + tf.cast(2 * tf.shape(x)[-1], dtypes.float32)), dtypes.int32)
            final = static[:-1].concatenate([None, None]) if static.ndims is not None else TensorShape(None)
        rest = x[..., size:]
        both = [x, tf.reverse(rest, axis=[-1])] if upper else [rest, tf.reverse(x, axis=[-1])]
        shape = tf.concat([tf.shape(x)[:-1], [size, size]], 0)
        found = tf.reshape(tf.concat(both, axis=-1), shape)
        found = tf.matrix_band_part(found, num_lower=0 if upper else -1, num_upper=-1 if upper else 0)
        found.set_shape(final)
        return found


@public("contrib.distributions.fill_triangular_inverse")
@internal("ops.distributions.util.fill_triangular_inverse")
def fill_triangular_inverse(x: Any, upper: bool = False, name: str | None = None) -> Any:
    """The vector that `fill_triangular` makes a matrix of."""
    with name_scope(name, "fill_triangular_inverse", [x]):
        x = convert_to_tensor(x, name="x")
        static = x.shape.with_rank_at_least(2)
        known = tf.dimension_value(static[-1]) if static.ndims is not None else None
        size: Any = tf.shape(x)[-1] if known is None else known
        count = size * (size + 1) // 2
        kept = tf.matrix_band_part(x, num_lower=0 if upper else -1, num_upper=-1 if upper else 0)
        flat = tf.reshape(kept, tf.concat([tf.shape(x)[:-2], [size * size]], 0))
        # Each element stands in one of the two copies that were side by side.
        if upper:
            whole, rest = flat[..., :count], tf.reverse(flat[..., count:], axis=[-1])
        else:
            whole, rest = tf.reverse(flat[..., count - size :], axis=[-1]), flat[..., : count - size]
        found = tf.concat([whole[..., :size], whole[..., size:] + rest], axis=-1)
        if known is not None:
            found.set_shape(static[:-2].concatenate([known * (known + 1) // 2]))
        return found


@public("contrib.distributions.tridiag")
@internal("ops.distributions.util.tridiag")
def tridiag(below: Any = None, diag: Any = None, above: Any = None, name: str | None = None) -> Any:
    """A matrix of three diagonals."""
    if below is None and diag is None and above is None:
        raise ValueError("Must specify at least one of `below`, `diag`, `above`.")
    with name_scope(name, "tridiag", [below, diag, above]):
        parts = []
        for values, paddings, band in ((below, ([1, 0], [0, 1]), "below"), (diag, None, "diag"), (above, ([0, 1], [1, 0]), "above")):
            if values is None:
                continue
            values = convert_to_tensor(values, name=band)
            matrix = tf.matrix_diag(values)
            if paddings is not None:
                matrix = tf.pad(matrix, [[0, 0]] * (matrix.shape.ndims - 2) + [list(p) for p in paddings])
            parts.append(matrix)
        found = parts[0]
        for p in parts[1:]:
            found = found + p
        return found


@internal("ops.distributions.util.pad")
def pad(x: Any, axis: Any, front: bool = False, back: bool = False, value: Any = 0, count: Any = 1, name: str | None = None) -> Any:
    """x with some elements more along an axis."""
    with name_scope(name, "pad", [x, value, count]):
        x = convert_to_tensor(x, name="x")
        value = convert_to_tensor(value, dtype=x.dtype, name="value")
        count = convert_to_tensor(count, name="count")
        if not front and not back:
            raise ValueError("At least one of `front`, `back` must be `True`.")
        ndims = x.shape.ndims if x.shape.ndims is not None else tf.rank(x)
        given = convert_to_tensor(axis, name="axis")
        axis = tf.where(given < 0, ndims + given, given)
        paddings = tf.one_hot(axis, ndims, dtype=dtypes.int32)[:, tf.newaxis] * tf.stack([count if front else 0, count if back else 0])
        found = tf.pad(x, paddings, constant_values=value)
        at, more = constant_value(given), constant_value(count)
        if at is not None and x.shape.ndims is not None:
            sizes = x.shape.as_list()
            # A number that is not known, of elements or of those added, is not known after.
            sizes[at] = None if more is None or sizes[at] is None else sizes[at] + (front + back) * int(more)
            found.set_shape(sizes)
        return found


# -- numbers


@internal("ops.distributions.util.log_combinations")
def log_combinations(n: Any, counts: Any, name: str = "log_combinations") -> Any:
    """The logarithm of the number of orders of n things of which `counts` are alike."""
    with name_scope(name, values=[n, counts]):
        n, counts = convert_to_tensor(n, name="n"), convert_to_tensor(counts, name="counts")
        return tf.lgamma(n + 1.0) - tf.reduce_sum(tf.lgamma(counts + 1.0), axis=[-1])


@internal("ops.distributions.util.gen_new_seed")
def gen_new_seed(seed: Any, salt: str) -> int | None:
    """Another seed, made of a seed and the name of its purpose."""
    if seed is None:
        return None
    return int(hashlib.md5((str(seed) + salt).encode()).hexdigest()[:8], 16) & 0x7FFFFFFF


@public("contrib.distributions.reduce_weighted_logsumexp")
@internal("ops.distributions.util.reduce_weighted_logsumexp")
def reduce_weighted_logsumexp(
    logx: Any, w: Any = None, axis: Any = None, keep_dims: bool = False, return_sign: bool = False, name: str | None = None
) -> Any:
    """log(|sum(w exp(logx))|) and, where asked for, the sign of the sum."""
    with name_scope(name, "reduce_weighted_logsumexp", [logx, w]):
        logx = convert_to_tensor(logx, name="logx")
        if w is None:
            found = tf.reduce_logsumexp(logx, axis=axis, keepdims=keep_dims)
            return (found, tf.ones_like(found)) if return_sign else found
        w = convert_to_tensor(w, dtype=logx.dtype, name="w")
        logs = logx + tf.log(tf.abs(w))
        highest = tf.reduce_max(logs, axis=axis, keepdims=True)
        # No gradient goes through what is subtracted and added again.
        highest = tf.stop_gradient(tf.where(tf.is_inf(highest), tf.zeros_like(highest), highest))
        total = tf.reduce_sum(tf.sign(w) * tf.exp(logs - highest), axis=axis, keepdims=keep_dims)
        if not keep_dims:
            highest = tf.squeeze(highest, axis)
        found = highest + tf.log(tf.abs(total))
        return (found, tf.sign(total)) if return_sign else found


@public("contrib.distributions.softplus_inverse")
@internal("ops.distributions.util.softplus_inverse")
def softplus_inverse(x: Any, name: str | None = None) -> Any:
    """What softplus makes x of: log(exp(x) - 1), exact for small and large x."""
    with name_scope(name, "softplus_inverse", [x]):
        x = convert_to_tensor(x, name="x")
        threshold = np.log(np.finfo(x.dtype.as_numpy_dtype).eps) + 2.0
        too_small, too_large = x < np.exp(threshold), x > -threshold
        # Each branch sees values for which it has a finite gradient.
        moderate = tf.where(tf.logical_or(too_small, too_large), tf.ones_like(x), x)
        found = moderate + tf.log(-tf.expm1(-moderate))
        return tf.where(too_small, tf.log(tf.where(too_small, x, tf.ones_like(x))), tf.where(too_large, x, found))


@internal("ops.distributions.util.process_quadrature_grid_and_probs")
def process_quadrature_grid_and_probs(quadrature_grid_and_probs: Any, dtype: Any, validate_args: bool, name: str | None = None) -> Any:
    """Points and weights of a quadrature: those given, with weights that sum to one, or Gauss and Hermite's with 8 points."""
    with name_scope(name, "process_quadrature_grid_and_probs", [quadrature_grid_and_probs]):
        if quadrature_grid_and_probs is None:
            points, weights = np.polynomial.hermite.hermgauss(deg=8)
            kind = dtypes.as_dtype(dtype).as_numpy_dtype
            weights = weights.astype(kind) / np.linalg.norm(weights.astype(kind), ord=1)
            return convert_to_tensor(points.astype(kind), name="grid"), convert_to_tensor(weights, name="probs", dtype=dtype)
        grid, probs = tuple(quadrature_grid_and_probs)
        grid = convert_to_tensor(grid, name="grid", dtype=dtype)
        probs = convert_to_tensor(probs, name="unnormalized_probs", dtype=dtype)
        probs = probs / tf.norm(probs, ord=1, axis=-1, keepdims=True, name="probs")
        a, b = tf.dimension_value(probs.shape[-1]), tf.dimension_value(grid.shape[-1])
        if a is not None and b is not None and a != b:
            raise ValueError(
                f"`quadrature_grid_and_probs` must be a `tuple` of same-length zero-th-dimension `Tensor`s (saw lengths {b}, {a})"
            )
        return grid, probs


@internal("ops.distributions.util.parent_frame_arguments")
def parent_frame_arguments() -> dict[str, Any]:
    """The arguments of the function that calls this one, as they are now."""
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    names, _, keywords, values = inspect.getargvalues(frame.f_back)
    found = {n: values[n] for n in names}
    found.pop("self", None)
    if keywords is not None:
        found.update(values[keywords])
    return found
