"""Scales of distributions of vectors: linear operators made of parameters, and the shapes that they imply."""

from __future__ import annotations

import functools
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.distributions.base import FULLY_REPARAMETERIZED
from everflow.distributions.tensors import prefer_static_broadcast_shape
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.ops.control_flow.ordering import with_dependencies

UTIL = "contrib.distributions.python.ops.distribution_util"


def _tensor(x: Any, name: str) -> Any:
    return None if x is None else convert_to_tensor(x, name=name)


def _with_checked_diagonal(x: Any, diagonal: Any, validate_args: bool, assert_positive: bool) -> Any:
    if not validate_args:
        return x
    if assert_positive:
        check = tf.assert_positive(diagonal, message="diagonal part must be positive")
    else:
        check = tf.assert_none_equal(diagonal, tf.zeros([], diagonal.dtype), message="diagonal part must be non-zero")
    return with_dependencies([check], x)


@internal(f"{UTIL}.make_diag_scale")
def make_diag_scale(
    loc: Any = None,
    scale_diag: Any = None,
    scale_identity_multiplier: Any = None,
    shape_hint: Any = None,
    validate_args: bool = False,
    assert_positive: bool = False,
    name: str | None = None,
) -> Any:
    """The linear operator of a diagonal, of a multiple of the identity, or of the sum of both."""
    with name_scope(name, "make_diag_scale", [loc, scale_diag, scale_identity_multiplier]):
        loc = _tensor(loc, "loc")
        diagonal = _tensor(scale_diag, "scale_diag")
        multiplier = _tensor(scale_identity_multiplier, "scale_identity_multiplier")
        if diagonal is not None:
            if multiplier is not None:
                diagonal += multiplier[..., tf.newaxis]
            return tf.linalg.LinearOperatorDiag(
                _with_checked_diagonal(diagonal, diagonal, validate_args, assert_positive),
                is_non_singular=True,
                is_self_adjoint=True,
                is_positive_definite=assert_positive,
            )
        if loc is None and shape_hint is None:
            raise ValueError("Cannot infer `event_shape` unless `loc` or `shape_hint` is specified.")
        size = tf.dimension_value(loc.shape[-1]) if shape_hint is None else shape_hint
        if multiplier is None:
            return tf.linalg.LinearOperatorIdentity(
                size, dtype=loc.dtype.base_dtype, is_self_adjoint=True, is_positive_definite=True, assert_proper_shapes=validate_args
            )
        return tf.linalg.LinearOperatorScaledIdentity(
            size,
            _with_checked_diagonal(multiplier, multiplier, validate_args, assert_positive),
            is_non_singular=True,
            is_self_adjoint=True,
            is_positive_definite=assert_positive,
            assert_proper_shapes=validate_args,
        )


@internal(f"{UTIL}.make_tril_scale")
def make_tril_scale(
    loc: Any = None,
    scale_tril: Any = None,
    scale_diag: Any = None,
    scale_identity_multiplier: Any = None,
    shape_hint: Any = None,
    validate_args: bool = False,
    assert_positive: bool = False,
    name: str | None = None,
) -> Any:
    """The linear operator of a lower triangular matrix to which a diagonal may be added."""
    if scale_tril is None:
        return make_diag_scale(loc, scale_diag, scale_identity_multiplier, shape_hint, validate_args, assert_positive, name)
    with name_scope(name, "make_tril_scale", [loc, scale_diag, scale_identity_multiplier]):
        lower = tf.matrix_band_part(_tensor(scale_tril, "scale_tril"), -1, 0)
        diagonal = tf.matrix_diag_part(lower)
        if scale_diag is not None:
            diagonal += _tensor(scale_diag, "scale_diag")
        if scale_identity_multiplier is not None:
            diagonal += _tensor(scale_identity_multiplier, "scale_identity_multiplier")[..., tf.newaxis]
        lower = tf.matrix_set_diag(lower, diagonal)
        return tf.linalg.LinearOperatorLowerTriangular(
            _with_checked_diagonal(lower, diagonal, validate_args, assert_positive),
            is_non_singular=True,
            is_self_adjoint=False,
            is_positive_definite=assert_positive,
        )


@internal(f"{UTIL}.shapes_from_loc_and_scale")
def shapes_from_loc_and_scale(loc: Any, scale: Any, name: str = "shapes_from_loc_and_scale") -> tuple[Any, Any]:
    """The shapes of batches and events of a distribution of vectors: arrays or static shapes where they are known."""
    with name_scope(name, values=[loc, *scale.graph_parents]):
        size = scale.range_dimension_tensor()
        known = constant_value(size)
        event = size[tf.newaxis] if known is None else known.reshape([1])
        batch = scale.batch_shape_tensor()
        if loc is None:
            value = constant_value(batch)
            return (batch if value is None else value), event
        of_loc = tf.dimension_value(loc.shape[-1]) if loc.shape.ndims is not None else None
        if of_loc is not None and known is not None and of_loc not in (1, int(known)):
            raise ValueError(f"Event size of 'scale' ({int(known)}) could not be broadcast up to that of 'loc' ({of_loc}).")
        static = loc.shape.with_rank_at_least(1)[:-1] if loc.shape.ndims is not None else None
        if static is not None and static.is_fully_defined():
            batch_of_loc = convert_to_tensor(static.as_list(), dtype=tf.int32, name="loc_batch_shape")
        else:
            batch_of_loc = tf.shape(loc)[:-1]
        return prefer_static_broadcast_shape(batch, batch_of_loc), event


@internal(f"{UTIL}.get_broadcast_shape")
def get_broadcast_shape(*tensors: Any) -> Any:
    """The shape that tensors broadcast to, as a list where it is known."""
    known = functools.reduce(tf.broadcast_static_shape, (t.shape for t in tensors))
    return known.as_list() if known.is_fully_defined() else functools.reduce(tf.broadcast_dynamic_shape, map(tf.shape, tensors))


@internal(f"{UTIL}.is_diagonal_scale")
def is_diagonal_scale(scale: Any) -> bool:
    """Whether a linear operator is a diagonal."""
    if not isinstance(scale, tf.linalg.LinearOperator):
        raise TypeError(f"Expected argument 'scale' to be instance of LinearOperator. Found: {scale}")
    kinds = (tf.linalg.LinearOperatorIdentity, tf.linalg.LinearOperatorScaledIdentity, tf.linalg.LinearOperatorDiag)
    return isinstance(scale, kinds)


@internal(f"{UTIL}.static_value")
def static_value(x: Any) -> Any:
    """The value of what can become a tensor, where it is known."""
    return constant_value(convert_to_tensor(x))


@internal(f"{UTIL}.maybe_check_scalar_distribution")
def maybe_check_scalar_distribution(distribution: Any, expected_base_dtype: Any, validate_args: bool) -> list[Any]:
    """Makes sure that a distribution is one of single numbers of a dtype; returns the checks that wait for the run."""
    if distribution.dtype != expected_base_dtype:
        raise TypeError(f'dtype mismatch; distribution.dtype="{distribution.dtype.name}" is not "{expected_base_dtype.name}"')
    kind = distribution.reparameterization_type
    if validate_args and kind != FULLY_REPARAMETERIZED:
        raise ValueError(
            "Base distribution should be reparameterized or be a function of non-trainable variables; "
            f'distribution.reparameterization_type = "{kind}" != "FULLY_REPARAMETERIZED".'
        )
    checks = []
    with name_scope("check_distribution"):
        for name in ("is_scalar_event", "is_scalar_batch"):
            message = f"distribution must be scalar; distribution.{name}=False is not True"
            scalar = getattr(distribution, name)()
            known = static_value(scalar)
            if known is None:
                if validate_args:
                    checks.append(tf.assert_equal(scalar, True, message=message))
            elif not known:
                raise ValueError(message)
    return checks


@internal(f"{UTIL}.mixture_stddev")
def mixture_stddev(mixture_weight_vector: Any, mean_vector: Any, stddev_vector: Any) -> Any:
    """The standard deviations of mixtures, a row each, of their weights and of their components' means and deviations."""
    weights = mixture_weight_vector
    weights.shape.assert_has_rank(2)
    for vector, what in ((mean_vector, "means"), (stddev_vector, "stddevs")):
        if not vector.shape.is_compatible_with(weights.shape):
            raise ValueError(f"Expecting {what} to have same shape as mixture weights.")
    mean = tf.reduce_sum(weights * mean_vector, axis=1)
    second_moment = tf.reduce_sum(weights * (tf.square(stddev_vector) + tf.square(mean_vector)), axis=1)
    return tf.sqrt(second_moment - tf.square(mean))


@internal(f"{UTIL}.pad_mixture_dimensions")
def pad_mixture_dimensions(x: Any, mixture_distribution: Any, categorical_distribution: Any, event_ndims: Any) -> Any:
    """The weights of components with axes of size one more, so that they broadcast with what each component draws."""

    def ndims(d: Any) -> Any:
        return tf.shape(d.batch_shape_tensor())[0] if d.batch_shape.ndims is None else d.batch_shape.ndims

    with name_scope("pad_mix_dims", values=[x]):
        mixture, categorical = ndims(mixture_distribution), ndims(categorical_distribution)
        missing = tf.where(categorical_distribution.is_scalar_batch(), mixture, mixture - categorical)
        shape = tf.shape(x)
        ones = [tf.ones([n], dtype=tf.int32) for n in (missing, event_ndims)]
        return tf.reshape(x, tf.concat([shape[:-1], ones[0], shape[-1:], ones[1]], 0))


@internal(f"{UTIL}.move_dimension")
def move_dimension(x: Any, source_idx: Any, dest_idx: Any) -> Any:
    """x with one of its axes at another place."""
    x = convert_to_tensor(x)
    rank: Any = tf.rank(x) if x.shape.ndims is None else x.shape.ndims
    places = []
    for at in (source_idx, dest_idx):
        known = static_value(at)
        at = at if known is None else int(known)
        places.append(at + rank if isinstance(at, int) and at < 0 else at)
    source, dest = places
    if all(isinstance(v, int) for v in (source, dest, rank)):
        order = [i for i in range(rank) if i != source]
        order.insert(dest, source)
        return x if order == list(range(rank)) else tf.transpose(x, order)
    source, dest = (tf.where(convert_to_tensor(at) < 0, at + rank, at) for at in places)
    others = tf.range(rank - 1)
    others += tf.cast(others >= source, tf.int32)
    return tf.transpose(x, tf.concat([others[:dest], [source], others[dest:]], 0))
