"""Distributions whose batches are shaped or read another way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.distributions.base import Distribution
from everflow.distributions.divergence import RegisterKL, kl_divergence
from everflow.distributions.making import noting
from everflow.graph.constants import constant_value, constant_value_as_shape
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope

OPS = "contrib.distributions.python.ops"


@internal(f"{OPS}.batch_reshape.calculate_reshape")
def calculate_reshape(original_shape: Any, new_shape: Any, validate: bool = False, name: str | None = None) -> tuple[Any, Any, Any]:
    """A shape with its -1 resolved, as far as it is known before running, and the checks that wait for the run."""
    static = constant_value_as_shape(new_shape)
    if static.is_fully_defined():
        return np.array(static.as_list(), np.int32), static, []
    with name_scope(name, "calculate_reshape", [original_shape, new_shape]):
        size = tf.reduce_prod(original_shape)
        gaps = tf.equal(new_shape, -1)
        # A gap is -1 in the product of all sizes, and becomes what the others leave.
        left = size // tf.maximum(1, -tf.reduce_prod(new_shape))
        whole = tf.where(gaps, tf.broadcast_to(left, tf.shape(new_shape)), new_shape)
        return whole, static, _reshape_checks(original_shape, size, new_shape, gaps, whole) if validate else []


def _reshape_checks(old: Any, size: Any, new: Any, gaps: Any, whole: Any) -> list[Any]:
    vectors = [tf.assert_rank(shape, 1, message=f"{which} shape must be a vector.") for which, shape in (("Original", old), ("New", new))]
    return [
        *vectors,
        tf.assert_less_equal(tf.reduce_sum(tf.cast(gaps, new.dtype)), 1, message="At most one dimension can be unknown."),
        tf.assert_positive(whole, message="Shape elements must be >=-1."),
        tf.assert_equal(tf.reduce_prod(whole), size, message="Shape sizes do not match."),
    ]


@internal(f"{OPS}.batch_reshape.validate_init_args_statically")
def validate_init_args_statically(distribution: Any, batch_shape: Any) -> None:
    """Raises ValueError where it is known already that a batch can't have this shape."""
    if batch_shape.shape.ndims not in (None, 1):
        raise ValueError(f"`batch_shape` must be a vector (saw rank: {batch_shape.shape.ndims}).")
    static = constant_value_as_shape(batch_shape)
    size, original = static.num_elements(), distribution.batch_shape.num_elements()
    if size is not None and original is not None and size != original:
        raise ValueError(f"`batch_shape` size ({size}) must match `distribution.batch_shape` size ({original}).")
    if static.dims is not None and any(d is not None and d < 1 for d in static.as_list()):
        raise ValueError("`batch_shape` elements must be >=-1.")


@public("contrib.distributions.BatchReshape")
class BatchReshape(Distribution):
    """Another distribution with its batch in another shape, of which one size may be -1."""

    @noting
    def __init__(
        self, distribution: Any, batch_shape: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str | None = None
    ) -> None:
        with name_scope(name or "BatchReshape" + distribution.name, values=[batch_shape]) as name:
            self._given_shape = convert_to_tensor(batch_shape, dtype=tf.int32, name="batch_shape")
            validate_init_args_statically(distribution, self._given_shape)
            self._distribution = distribution
            self._shape, self._static_shape, self._checks = calculate_reshape(
                distribution.batch_shape_tensor(), self._given_shape, validate_args
            )
            super().__init__(
                distribution.dtype,
                distribution.reparameterization_type,
                validate_args,
                allow_nan_stats,
                None,
                [self._given_shape, *distribution._graph_parents],
                name,
            )

    @property
    def distribution(self) -> Any:
        """The distribution whose batch it is."""
        return self._distribution

    def _batch_shape_tensor(self) -> Any:
        with tf.control_dependencies(self._checks):
            return tf.identity(self._shape)

    def _batch_shape(self) -> Any:
        return self._static_shape

    def _event_shape_tensor(self) -> Any:
        with tf.control_dependencies(self._checks):
            return tf.identity(self.distribution.event_shape_tensor())

    def _event_shape(self) -> Any:
        return self.distribution.event_shape

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        with tf.control_dependencies(self._checks):
            x = self.distribution.sample(sample_shape=n, seed=seed)
            return tf.reshape(x, tf.concat([[n], self._given_shape, self.event_shape_tensor()], 0))

    def _ndims(self) -> Any:
        """The number of axes of batches and events together."""
        batch = tf.size(self._given_shape) if self.batch_shape.ndims is None else self.batch_shape.ndims
        event = tf.size(self.event_shape_tensor()) if self.event_shape.ndims is None else self.event_shape.ndims
        return batch + event

    def _of_value_reshaped(self, function: Callable[..., Any], x: Any) -> Any:
        with tf.control_dependencies([*self._checks, *self._checks_of(x)]):
            rank: Any = tf.rank(x) if x.shape.ndims is None else x.shape.ndims
            count = rank - self._ndims()
            static = x.shape[:count] if isinstance(count, int) else tf.TensorShape(None)
            samples = static.as_list() if static.is_fully_defined() else tf.shape(x)[:count]
            samples = convert_to_tensor(samples, dtype=tf.int32)
            shape = tf.concat([samples, self.distribution.batch_shape_tensor(), self.event_shape_tensor()], 0)
            found = tf.reshape(function(tf.reshape(x, shape)), tf.concat([samples, self._given_shape], 0))
            if static.ndims is not None and self.batch_shape.ndims is not None:
                found.set_shape(found.shape.merge_with(static.concatenate(self.batch_shape)))
            return found

    def _checks_of(self, x: Any) -> list[Any]:
        """A value must have the axes of batch and event in full: nothing broadcasts here."""
        with name_scope("validate_sample_arg", values=[x]):
            ndims = self._ndims()
            first = "Broadcasting is not supported; too few batch and event dims"
            second = "Broadcasting is not supported; unexpected batch and event shape"
            checks = []
            if x.shape.ndims is not None and isinstance(ndims, int):
                if x.shape.ndims < ndims:
                    raise NotImplementedError(f"{first} (expected at least {ndims}, saw {x.shape.ndims}).")
            elif self.validate_args:
                checks.append(tf.assert_greater_equal(tf.rank(x), ndims, message=first + "."))
            expected = self.batch_shape.concatenate(self.event_shape)
            found = x.shape[x.shape.ndims - ndims :] if x.shape.ndims is not None and isinstance(ndims, int) else tf.TensorShape(None)
            if expected.is_fully_defined() and found.is_fully_defined():
                if expected != found:
                    sizes = [np.array(s.as_list(), np.int32) for s in (expected, found)]
                    raise NotImplementedError(f"{second} (expected {sizes[0]}, saw {sizes[1]}).")
            elif self.validate_args:
                with tf.control_dependencies(checks):
                    wanted = tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
                    seen = tf.shape(x)[tf.maximum(tf.rank(x) - ndims, 0) :]
                    checks = [tf.assert_equal(wanted, seen, message=second + ".")]
            return checks

    def _log_prob(self, x: Any) -> Any:
        return self._of_value_reshaped(self.distribution.log_prob, x)

    def _prob(self, x: Any) -> Any:
        return self._of_value_reshaped(self.distribution.prob, x)

    def _log_cdf(self, x: Any) -> Any:
        return self._of_value_reshaped(self.distribution.log_cdf, x)

    def _cdf(self, x: Any) -> Any:
        return self._of_value_reshaped(self.distribution.cdf, x)

    def _log_survival_function(self, x: Any) -> Any:
        return self._of_value_reshaped(self.distribution.log_survival_function, x)

    def _survival_function(self, x: Any) -> Any:
        return self._of_value_reshaped(self.distribution.survival_function, x)

    def _reshaped(self, function: Callable[[], Any], events: int) -> Any:
        """A moment, which has the shape of so many events for each distribution of the batch."""
        with tf.control_dependencies(self._checks):
            shape = tf.concat([self._given_shape, *[self.event_shape_tensor()] * events], 0)
            found = tf.reshape(function(), shape)
            if self.batch_shape.ndims is not None and self.event_shape.ndims is not None:
                static = self.batch_shape
                for _ in range(events):
                    static = static.concatenate(self.event_shape)
                found.set_shape(found.shape.merge_with(static))
            return found

    def _entropy(self) -> Any:
        return self._reshaped(self.distribution.entropy, 0)

    def _mean(self) -> Any:
        return self._reshaped(self.distribution.mean, 1)

    def _mode(self) -> Any:
        return self._reshaped(self.distribution.mode, 1)

    def _stddev(self) -> Any:
        return self._reshaped(self.distribution.stddev, 1)

    def _variance(self) -> Any:
        return self._reshaped(self.distribution.variance, 1)

    def _covariance(self) -> Any:
        return self._reshaped(self.distribution.covariance, 2)


@public("contrib.distributions.Independent")
class Independent(Distribution):
    """Another distribution with the last axes of its batch read as axes of events (all but the first where not said)."""

    @noting
    def __init__(
        self, distribution: Any, reinterpreted_batch_ndims: Any = None, validate_args: bool = False, name: str | None = None
    ) -> None:
        self._distribution = distribution
        with name_scope(name or "Independent" + distribution.name) as name:
            batch_ndims = distribution.batch_shape.ndims
            if reinterpreted_batch_ndims is None:
                if batch_ndims is None:
                    reinterpreted_batch_ndims = tf.maximum(0, tf.shape(distribution.batch_shape_tensor())[0] - 1)
                else:
                    reinterpreted_batch_ndims = max(0, batch_ndims - 1)
            count = convert_to_tensor(reinterpreted_batch_ndims, dtype=tf.int32, name="reinterpreted_batch_ndims")
            self._static_count = constant_value(count)
            self._count = count if self._static_count is None else self._static_count
            super().__init__(
                distribution.dtype,
                distribution.reparameterization_type,
                validate_args,
                distribution.allow_nan_stats,
                None,
                [count, *distribution._graph_parents],
                name,
            )
            self._checks = []
            if batch_ndims is not None and self._static_count is not None:
                if self._static_count > batch_ndims:
                    raise ValueError(
                        f"reinterpreted_batch_ndims({self._static_count}) cannot exceed distribution.batch_ndims({batch_ndims})"
                    )
            elif validate_args:
                most = tf.shape(distribution.batch_shape_tensor())[0]
                message = "reinterpreted_batch_ndims cannot exceed distribution.batch_ndims"
                self._checks.append(tf.assert_less_equal(count, most, message=message))

    @property
    def distribution(self) -> Any:
        """The distribution whose batch is read another way."""
        return self._distribution

    @property
    def reinterpreted_batch_ndims(self) -> Any:
        """How many axes become axes of events."""
        return self._count

    def _split(self) -> tuple[Any, Any]:
        """The part of the batch's shape that stays, and the part that becomes the event's."""
        with tf.control_dependencies(self._checks):
            shape = self.distribution.batch_shape_tensor()
            at = tf.shape(shape)[0] - self._count
            return shape[:at], shape[at:]

    def _static_split(self) -> tuple[Any, Any]:
        shape = self.distribution.batch_shape
        if self._static_count is None or shape.ndims is None:
            return tf.TensorShape(None), tf.TensorShape(None)
        at = shape.ndims - int(self._static_count)
        return shape[:at], shape[at:]

    def _batch_shape_tensor(self) -> Any:
        return self._split()[0]

    def _batch_shape(self) -> Any:
        return self._static_split()[0]

    def _event_shape_tensor(self) -> Any:
        return tf.concat([self._split()[1], self.distribution.event_shape_tensor()], 0)

    def _event_shape(self) -> Any:
        return self._static_split()[1].concatenate(self.distribution.event_shape)

    def _checked(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        with tf.control_dependencies(self._checks):
            return function(*args, **kwargs)

    def _summed(self, each: Any) -> Any:
        axes = -1 - (tf.range(self._count) if self._static_count is None else np.arange(self._static_count))
        return tf.reduce_sum(each, axis=axes)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return self._checked(self.distribution.sample, sample_shape=n, seed=seed)

    def _log_prob(self, x: Any) -> Any:
        with tf.control_dependencies(self._checks):
            return self._summed(self.distribution.log_prob(x))

    def _entropy(self) -> Any:
        with tf.control_dependencies(self._checks):
            return self._summed(self.distribution.entropy())

    def _mean(self) -> Any:
        return self._checked(self.distribution.mean)

    def _variance(self) -> Any:
        return self._checked(self.distribution.variance)

    def _stddev(self) -> Any:
        return self._checked(self.distribution.stddev)

    def _mode(self) -> Any:
        return self._checked(self.distribution.mode)


@RegisterKL(Independent, Independent)
def _kl_independent(a: Any, b: Any, name: str = "kl_independent") -> Any:
    p, q = a.distribution, b.distribution
    if a.event_shape.is_fully_defined() and b.event_shape.is_fully_defined():
        if a.event_shape != b.event_shape:
            raise ValueError("Event shapes do not match.")
        if p.event_shape != q.event_shape:
            raise NotImplementedError("KL between Independents with different event shapes not supported.")
        axes = list(range(p.event_shape.ndims - a.event_shape.ndims, 0))
        return tf.reduce_sum(kl_divergence(p, q, name=name), axis=axes)
    shapes = [(x.event_shape_tensor(), y.event_shape_tensor()) for x, y in ((a, b), (p, q))]
    with tf.control_dependencies([tf.assert_equal(x, y) for x, y in shapes]):
        count = tf.shape(shapes[0][0])[0] - tf.shape(shapes[1][0])[0]
        return tf.reduce_sum(kl_divergence(p, q, name=name), axis=tf.range(-count, 0))
