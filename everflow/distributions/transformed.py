"""Distributions of what a bijector makes of another distribution's samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.distributions import tensors
from everflow.distributions.base import Distribution
from everflow.distributions.bijectors import Identity
from everflow.distributions.making import noting
from everflow.graph import dtypes
from everflow.graph.constants import constant_value, constant_value_as_shape
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.ops.control_flow.ordering import with_dependencies

# A condition is a bool where it is known before running, else a tensor.
Condition = Any


def _known(condition: Condition) -> bool | None:
    if isinstance(condition, bool):
        return condition
    value = constant_value(condition)
    return None if value is None else bool(value)


def _negated(condition: Condition) -> Condition:
    known = _known(condition)
    return tf.logical_not(condition) if known is None else not known


def _all(*conditions: Condition) -> Condition:
    known = [_known(c) for c in conditions]
    if any(k is False for k in known):
        return False
    open_ones = [c for c, k in zip(conditions, known) if k is None]
    return tf.reduce_all(tf.stack(open_ones)) if open_ones else True


def _joined(*vectors: Any) -> Any:
    """Vectors one after another; those that are known to be empty leave no trace."""
    kept = [v for v in vectors if (known := constant_value(convert_to_tensor(v, dtype=dtypes.int32))) is None or known.size]
    return tf.concat(kept, 0) if kept else tf.constant([], dtype=dtypes.int32)


class _NewShape:
    """A shape that the batch or the event of a scalar distribution is given."""

    def __init__(self, shape: Any, base_is_scalar: Any, validate_args: bool, name: str) -> None:
        self.shape = convert_to_tensor([] if shape is None else shape, dtype=dtypes.int32, name=name)
        static = self.shape.shape
        if static.ndims not in (None, 1):
            raise ValueError("shape override must be a vector")
        self.value = constant_value(self.shape)
        length = tf.dimension_value(static[0]) if static.ndims is not None else None
        self.ndims: Any = tf.shape(self.shape)[0] if length is None else length
        self.given: Condition = tf.not_equal(self.ndims, 0) if length is None else length != 0
        clash = _all(_negated(base_is_scalar), self.given)
        if _known(clash):
            raise ValueError("base distribution not scalar")
        if self.value is not None and (self.value <= 0).any():
            raise ValueError("shape override must have positive elements")
        if validate_args:
            checks = []
            if static.ndims is None:
                checks.append(tf.assert_rank(self.shape, 1, message="shape override must be a vector"))
            if self.value is None:
                checks.append(tf.assert_positive(self.shape, message="shape override must have positive elements"))
            if _known(clash) is None:
                checks.append(tf.assert_equal(clash, False, message="base distribution not scalar"))
            if checks:
                self.shape = with_dependencies(checks, self.shape)

    @property
    def maybe_given(self) -> bool:
        return _known(self.given) is not False


@public("contrib.distributions.TransformedDistribution")
@internal("ops.distributions.transformed_distribution.TransformedDistribution")
class TransformedDistribution(Distribution):
    """What `bijector` makes of samples of `distribution`, which may first be repeated to a batch or an event of a shape."""

    @noting
    def __init__(
        self,
        distribution: Any,
        bijector: Any = None,
        batch_shape: Any = None,
        event_shape: Any = None,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        name = name or ("" if bijector is None else bijector.name) + distribution.name
        with name_scope(name, values=[event_shape, batch_shape]) as name:
            if bijector is None:
                bijector = Identity(validate_args=validate_args)
            self._new_batch = _NewShape(batch_shape, distribution.is_scalar_batch(), validate_args, "batch_shape")
            self._new_event = _NewShape(event_shape, distribution.is_scalar_event(), validate_args, "event_shape")
            # The axes of a new event are drawn as samples are, before those of the batch, and moved behind them.
            self._event_comes_first = _all(self._new_event.given, _negated(self._new_batch.given), _negated(distribution.is_scalar_batch()))
        self._distribution = distribution
        self._bijector = bijector
        super().__init__(
            distribution.dtype,
            distribution.reparameterization_type,
            validate_args,
            distribution.allow_nan_stats,
            None,
            [*distribution._graph_parents, *bijector.graph_parents],
            name,
        )

    @property
    def distribution(self) -> Any:
        """The distribution of what is transformed."""
        return self._distribution

    @property
    def bijector(self) -> Any:
        """The transformation."""
        return self._bijector

    # -- shapes

    def _event_shape_tensor(self) -> Any:
        event = tensors.pick_vector(self._new_event.given, self._new_event.shape, self.distribution.event_shape_tensor())
        return self.bijector.forward_event_shape_tensor(event)

    def _event_shape(self) -> Any:
        new = self._new_event
        return self.bijector.forward_event_shape(constant_value_as_shape(new.shape) if new.maybe_given else self.distribution.event_shape)

    def _batch_shape_tensor(self) -> Any:
        return tensors.pick_vector(self._new_batch.given, self._new_batch.shape, self.distribution.batch_shape_tensor())

    def _batch_shape(self) -> Any:
        new = self._new_batch
        return constant_value_as_shape(new.shape) if new.maybe_given else self.distribution.batch_shape

    # -- samples

    def _sample_n(self, n: Any, seed: Any = None, **distribution_kwargs: Any) -> Any:
        none = tf.constant([], dtype=dtypes.int32)
        shape = _joined(
            tensors.pick_vector(self._event_comes_first, none, [n]),
            self._new_batch.shape,
            self._new_event.shape,
            tensors.pick_vector(self._event_comes_first, [n], none),
        )
        return self._event_moved(self.distribution.sample(sample_shape=shape, seed=seed, **distribution_kwargs), back=False)

    def _call_sample_n(self, sample_shape: Any, seed: Any, name: str, **kwargs: Any) -> Any:
        bijector_kwargs, distribution_kwargs = kwargs.get("bijector_kwargs"), kwargs.get("distribution_kwargs")
        with self._name_scope(name, [sample_shape]):
            shape = convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape")
            shape, count = self._expand_sample_shape_to_vector(shape)
            x = self._sample_n(count, seed, **(distribution_kwargs or {}))
            # The bijector gets the samples in their final shape, so that it knows them again when they come back.
            x = tf.reshape(x, tf.concat([shape, tf.shape(x)[1:]], 0))
            return self._set_sample_static_shape(self.bijector.forward(x, **(bijector_kwargs or {})), shape)

    def _event_moved(self, x: Any, back: bool) -> Any:
        """x with the axes of a new event behind those of samples and batches, or where they were."""
        if _known(self._event_comes_first) is False:
            return x
        rank = tf.rank(x)
        moved = tf.where(self._event_comes_first, self._new_event.ndims, 0)
        at = rank - moved if back else moved
        return tf.transpose(x, tf.concat([tf.range(at, rank), tf.range(0, at)], 0))

    # -- densities

    def _over_fibers(self, y: Any, of_one: Callable[[Any, Any], Any], bijector_kwargs: Any) -> list[Any]:
        """What a function says of each point that may have become y and the determinant there."""
        kwargs = bijector_kwargs or {}
        x = self.bijector.inverse(y, **kwargs)
        determinant = self.bijector.inverse_log_det_jacobian(y, event_ndims=self._event_ndims(), **kwargs)
        points = [(x, determinant)] if self.bijector._is_injective else list(zip(x, determinant))
        return [of_one(self._event_moved(p, back=True), d) for p, d in points]

    def _event_ndims(self) -> Any:
        ndims = self.event_shape.ndims
        return tf.size(self.event_shape_tensor()) if ndims is None else ndims

    def _over_new_event(self, reduction: Callable[..., Any], each: Any, y: Any) -> Any:
        """The sum or product over the axes that the event was given."""
        new = self._new_event
        if not new.maybe_given:
            return each
        first = _known(self._event_comes_first)
        if first is not None and isinstance(new.ndims, int):
            axes: Any = list(range(new.ndims)) if first else list(range(-new.ndims, 0))
        else:
            start = tf.where(self._event_comes_first, 0, -new.ndims)
            axes = tf.range(start, start + new.ndims)
        found = reduction(each, axes)
        if self.event_shape.ndims and y.shape.ndims is not None:
            found.set_shape(tf.broadcast_static_shape(y.shape.with_rank_at_least(1)[: -self.event_shape.ndims], self.batch_shape))
        return found

    def _log_prob(self, y: Any, bijector_kwargs: Any = None, distribution_kwargs: Any = None) -> Any:
        def of_one(x: Any, determinant: Any) -> Any:
            each = self.distribution.log_prob(x, **(distribution_kwargs or {}))
            return self._over_new_event(tf.reduce_sum, each, y) + tf.cast(determinant, each.dtype)

        found = self._over_fibers(y, of_one, bijector_kwargs)
        return found[0] if len(found) == 1 else tf.reduce_logsumexp(tf.stack(found), axis=0)

    def _prob(self, y: Any, bijector_kwargs: Any = None, distribution_kwargs: Any = None) -> Any:
        def of_one(x: Any, determinant: Any) -> Any:
            each = self.distribution.prob(x, **(distribution_kwargs or {}))
            return self._over_new_event(tf.reduce_prod, each, y) * tf.exp(tf.cast(determinant, each.dtype))

        found = self._over_fibers(y, of_one, bijector_kwargs)
        return found[0] if len(found) == 1 else tf.add_n(found)

    def _needs_monotony(self, what: str) -> None:
        if self._new_event.maybe_given:
            raise NotImplementedError(f"{what} is not implemented when overriding event_shape")
        if not self.bijector._is_injective:
            raise NotImplementedError(f"{what} is not implemented when bijector is not injective.")

    def _of_base(self, what: str, y: Any, bijector_kwargs: Any, distribution_kwargs: Any) -> Any:
        self._needs_monotony(what)
        x = self.bijector.inverse(y, **(bijector_kwargs or {}))
        return getattr(self.distribution, what)(x, **(distribution_kwargs or {}))

    def _log_cdf(self, y: Any, bijector_kwargs: Any = None, distribution_kwargs: Any = None) -> Any:
        return self._of_base("log_cdf", y, bijector_kwargs, distribution_kwargs)

    def _cdf(self, y: Any, bijector_kwargs: Any = None, distribution_kwargs: Any = None) -> Any:
        return self._of_base("cdf", y, bijector_kwargs, distribution_kwargs)

    def _log_survival_function(self, y: Any, bijector_kwargs: Any = None, distribution_kwargs: Any = None) -> Any:
        return self._of_base("log_survival_function", y, bijector_kwargs, distribution_kwargs)

    def _survival_function(self, y: Any, bijector_kwargs: Any = None, distribution_kwargs: Any = None) -> Any:
        return self._of_base("survival_function", y, bijector_kwargs, distribution_kwargs)

    def _quantile(self, value: Any, bijector_kwargs: Any = None, distribution_kwargs: Any = None) -> Any:
        self._needs_monotony("quantile")
        x = self.distribution.quantile(value, **(distribution_kwargs or {}))
        return self.bijector.forward(x, **(bijector_kwargs or {}))

    def _entropy(self) -> Any:
        if not self.bijector.is_constant_jacobian:
            raise NotImplementedError("entropy is not implemented")
        if not self.bijector._is_injective:
            raise NotImplementedError("entropy is not implemented when bijector is not injective.")
        entropy = self.distribution.entropy()
        if self._new_event.maybe_given:
            entropy *= tf.cast(tf.reduce_prod(self._new_event.shape), entropy.dtype)
        if self._new_batch.maybe_given:
            entropy *= tf.ones(self.batch_shape_tensor(), entropy.dtype)
        anywhere = tf.zeros(tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0), dtype=self.dtype)
        determinant = self.bijector.inverse_log_det_jacobian(anywhere, event_ndims=self._event_ndims())
        entropy -= tf.cast(determinant, entropy.dtype)
        entropy.set_shape(self.batch_shape)
        return entropy
