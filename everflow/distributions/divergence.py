"""The divergence of Kullback and Leibler between distributions, by their classes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.scopes import control_dependencies, name_scope

DIVERGENCES: dict[tuple[type, type], Callable[..., Any]] = internal("ops.distributions.kullback_leibler._DIVERGENCES")({})


@internal("ops.distributions.kullback_leibler._registered_kl")
def registered_kl(type_a: type, type_b: type) -> Callable[..., Any] | None:
    """The function for two classes: that of the nearest classes that they derive from."""
    found, nearest = None, -1
    for i, a in enumerate(inspect.getmro(type_a)):
        for j, b in enumerate(inspect.getmro(type_b)):
            function = DIVERGENCES.get((a, b))
            if function is not None and (nearest < 0 or i + j < nearest):
                found, nearest = function, i + j
    return found


@public("distributions.kl_divergence")
def kl_divergence(distribution_a: Any, distribution_b: Any, allow_nan_stats: bool = True, name: str | None = None) -> Any:
    """How much the first distribution differs from the second."""
    function = registered_kl(type(distribution_a), type(distribution_b))
    if function is None:
        raise NotImplementedError(
            f"No KL(distribution_a || distribution_b) registered for distribution_a type {type(distribution_a).__name__} and "
            f"distribution_b type {type(distribution_b).__name__}"
        )
    with name_scope("KullbackLeibler"):
        found = function(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return found
        found = tf.identity(found, name="kl")
        check = tf.Assert(
            tf.logical_not(tf.reduce_any(tf.is_nan(found))),
            [
                f"KL calculation between {distribution_a.name} and {distribution_b.name} returned NaN values (and was called with "
                "allow_nan_stats=False). Values:",
                found,
            ],
        )
        with control_dependencies([check]):
            return tf.identity(found, name="checked_kl")


@internal("ops.distributions.kullback_leibler.cross_entropy")
def cross_entropy(ref: Any, other: Any, allow_nan_stats: bool = True, name: str | None = None) -> Any:
    """The entropy of the first distribution and its divergence from the second."""
    with name_scope(name, "cross_entropy"):
        return ref.entropy() + kl_divergence(ref, other, allow_nan_stats=allow_nan_stats)


@public("distributions.RegisterKL")
class RegisterKL:
    """`@tf.distributions.RegisterKL(A, B)` on a function of (a, b, name) that computes their divergence."""

    def __init__(self, dist_cls_a: type, dist_cls_b: type) -> None:
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        a, b = self._key
        if self._key in DIVERGENCES:
            raise ValueError(f"KL({a.__name__} || {b.__name__}) has already been registered to: {DIVERGENCES[self._key]}")
        DIVERGENCES[self._key] = kl_fn
        return kl_fn
