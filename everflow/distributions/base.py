"""What all distributions share: names, shapes, and the public methods around what each one computes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.distributions import divergence
from everflow.graph import dtypes
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import TensorShape
from everflow.graph.tensor import Tensor


@public("distributions.ReparameterizationType")
class ReparameterizationType:
    """Whether gradients go through samples to the parameters."""

    def __init__(self, rep_type: str) -> None:
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return f"<Reparameteriation Type: {self._rep_type}>"

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


FULLY_REPARAMETERIZED = internal("ops.distributions.distribution.FULLY_REPARAMETERIZED")(
    public("distributions.FULLY_REPARAMETERIZED")(ReparameterizationType("FULLY_REPARAMETERIZED"))
)
NOT_REPARAMETERIZED = internal("ops.distributions.distribution.NOT_REPARAMETERIZED")(
    public("distributions.NOT_REPARAMETERIZED")(ReparameterizationType("NOT_REPARAMETERIZED"))
)


@internal("ops.distributions.distribution._BaseDistribution")
class BaseDistribution:
    """The root of all distributions."""


@public("distributions.Distribution")
class Distribution(BaseDistribution):
    """A distribution, or a batch of them. A subclass computes `_sample_n`, `_log_prob` (or `_prob`), `_mean` and so on."""

    def __init__(
        self,
        dtype: Any,
        reparameterization_type: Any,
        validate_args: bool,
        allow_nan_stats: bool,
        parameters: Any = None,
        graph_parents: Any = None,
        name: str | None = None,
    ) -> None:
        for i, t in enumerate(graph_parents or ()):
            if t is None or not isinstance(t, Tensor):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {t}.")
        if not name or name[-1] != "/":
            with name_scope(name or type(self).__name__) as scope:
                name = scope
        self._dtype = dtype
        self._reparameterization_type = reparameterization_type
        self._validate_args = validate_args
        self._allow_nan_stats = allow_nan_stats
        self._parameters = parameters or {}
        self._graph_parents = list(graph_parents or ())
        self._name = name

    # -- what it is

    @property
    def name(self) -> str:
        """The name scope of its ops."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The dtype of samples."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments that made it."""
        return {name: given for name, given in self._parameters.items() if not (name == "self" or name.startswith("__"))}

    @property
    def reparameterization_type(self) -> ReparameterizationType:
        """Whether gradients go through samples."""
        return self._reparameterization_type

    @property
    def allow_nan_stats(self) -> bool:
        """Whether moments that are not defined are NaN; otherwise they are errors."""
        return self._allow_nan_stats

    @property
    def validate_args(self) -> bool:
        """Whether parameters and values are checked when they are used."""
        return self._validate_args

    def __str__(self) -> str:
        known = [f'"{self.name}"']
        if self.batch_shape.ndims is not None:
            known.append(f"batch_shape={self.batch_shape}")
        if self.event_shape.ndims is not None:
            known.append(f"event_shape={self.event_shape}")
        known.append(f"dtype={dtypes.as_dtype(self.dtype).name}")
        return f"tfp.distributions.{type(self).__name__}({', '.join(known)})"

    def __repr__(self) -> str:
        return (
            f"<tfp.distributions.{type(self).__name__} '{self.name}' batch_shape={self.batch_shape} "
            f"event_shape={self.event_shape} dtype={dtypes.as_dtype(self.dtype).name}>"
        )

    def copy(self, **override_parameters_kwargs: Any) -> Any:
        """A distribution of the same kind with some parameters changed."""
        return type(self)(**{**self.parameters, **override_parameters_kwargs})

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> Any:
        raise NotImplementedError("_param_shapes not implemented")

    @classmethod
    def param_shapes(cls, sample_shape: Any, name: str = "DistributionParamShapes") -> Any:
        """The shapes of parameters that make samples of this shape."""
        with name_scope(name, values=[sample_shape]):
            return cls._param_shapes(sample_shape)

    @classmethod
    def param_static_shapes(cls, sample_shape: Any) -> dict[str, TensorShape]:
        """The same, known before running."""
        if isinstance(sample_shape, TensorShape):
            if not sample_shape.is_fully_defined():
                raise ValueError("TensorShape sample_shape must be fully defined")
            sample_shape = sample_shape.as_list()
        found = {}
        for name, shape in cls.param_shapes(sample_shape).items():
            known = constant_value(shape)
            if known is None:
                raise ValueError("sample_shape must be a fully-defined TensorShape or list/tuple")
            found[name] = TensorShape(known)
        return found

    # -- shapes

    def _batch_shape(self) -> TensorShape:
        return TensorShape(None)

    def _event_shape(self) -> TensorShape:
        return TensorShape(None)

    def _batch_shape_tensor(self) -> Any:
        raise self._missing("batch_shape_tensor")

    def _event_shape_tensor(self) -> Any:
        raise self._missing("event_shape_tensor")

    @property
    def batch_shape(self) -> TensorShape:
        """How many distributions there are, along which axes."""
        return TensorShape(self._batch_shape())

    @property
    def event_shape(self) -> TensorShape:
        """The shape of one sample of one of them."""
        return TensorShape(self._event_shape())

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Any:
        """`batch_shape`, computed."""
        with self._name_scope(name):
            if self.batch_shape.is_fully_defined():
                return convert_to_tensor(self.batch_shape.as_list(), dtype=dtypes.int32, name="batch_shape")
            return self._batch_shape_tensor()

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Any:
        """`event_shape`, computed."""
        with self._name_scope(name):
            if self.event_shape.is_fully_defined():
                return convert_to_tensor(self.event_shape.as_list(), dtype=dtypes.int32, name="event_shape")
            return self._event_shape_tensor()

    def is_scalar_event(self, name: str = "is_scalar_event") -> Any:
        """Whether a sample of one distribution is a single number."""
        with self._name_scope(name):
            return convert_to_tensor(self._is_scalar_helper(self.event_shape, self.event_shape_tensor), name="is_scalar_event")

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Any:
        """Whether there is one distribution only."""
        with self._name_scope(name):
            return convert_to_tensor(self._is_scalar_helper(self.batch_shape, self.batch_shape_tensor), name="is_scalar_batch")

    def _is_scalar_helper(self, static: TensorShape, computed: Any) -> Any:
        if static.ndims is not None:
            return static.ndims == 0
        shape = computed()
        axes = tf.dimension_value(shape.get_shape()[0]) if shape.get_shape().ndims is not None else None
        if axes is not None:
            return axes == 0
        return tf.equal(tf.shape(shape)[0], 0)

    # -- samples

    def sample(self, sample_shape: Any = (), seed: Any = None, name: str = "sample") -> Any:
        """Samples of this shape, followed by the shapes of the batch and of the event."""
        return self._call_sample_n(sample_shape, seed, name)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        raise self._missing("sample_n")

    def _call_sample_n(self, sample_shape: Any, seed: Any, name: str, **kwargs: Any) -> Any:
        with self._name_scope(name, [sample_shape]):
            shape = convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape")
            shape, count = self._expand_sample_shape_to_vector(shape)
            drawn = self._sample_n(count, seed, **kwargs)
            drawn = tf.reshape(drawn, tf.concat([shape, tf.shape(drawn)[1:]], 0))
            return self._set_sample_static_shape(drawn, shape)

    def _expand_sample_shape_to_vector(self, shape: Any) -> tuple[Any, Any]:
        known = constant_value(shape)
        count = tf.reduce_prod(shape) if known is None else int(np.prod(known, dtype=np.int64))
        ndims = shape.get_shape().ndims
        if ndims == 0 or ndims is None:
            shape = tf.reshape(shape, [-1])
        elif ndims != 1:
            raise ValueError(f"Tensor with rank {ndims} cannot be a shape.")
        return shape, count

    def _set_sample_static_shape(self, x: Any, sample_shape: Any) -> Any:
        known = constant_value(sample_shape)
        sample = TensorShape(None) if known is None else TensorShape(known)
        x.set_shape(x.shape.merge_with(sample.concatenate(self.batch_shape).concatenate(self.event_shape)))
        return x

    # -- densities

    def _log_prob(self, value: Any) -> Any:
        raise self._missing("log_prob")

    def _prob(self, value: Any) -> Any:
        raise self._missing("prob")

    def _log_cdf(self, value: Any) -> Any:
        raise self._missing("log_cdf")

    def _cdf(self, value: Any) -> Any:
        raise self._missing("cdf")

    def _log_survival_function(self, value: Any) -> Any:
        raise self._missing("log_survival_function")

    def _survival_function(self, value: Any) -> Any:
        raise self._missing("survival_function")

    def _quantile(self, value: Any) -> Any:
        raise self._missing("quantile")

    def _of_value(self, value: Any, name: str, *ways: Any) -> Any:
        """The first of several ways to compute something of a value that this distribution has."""
        with self._name_scope(name, [value]):
            value = convert_to_tensor(value, name="value", preferred_dtype=self.dtype)
            error: NotImplementedError | None = None
            for way in ways:
                try:
                    return way(value)
                except NotImplementedError as e:
                    error = error or e
            assert error is not None
            raise error

    # Each public method goes through one that takes what a distribution may depend on besides, for those that do.

    def _call_log_prob(self, value: Any, name: str, **kwargs: Any) -> Any:
        return self._of_value(value, name, lambda v: self._log_prob(v, **kwargs), lambda v: tf.log(self._prob(v, **kwargs)))

    def _call_prob(self, value: Any, name: str, **kwargs: Any) -> Any:
        return self._of_value(value, name, lambda v: self._prob(v, **kwargs), lambda v: tf.exp(self._log_prob(v, **kwargs)))

    def _call_log_cdf(self, value: Any, name: str, **kwargs: Any) -> Any:
        return self._of_value(value, name, lambda v: self._log_cdf(v, **kwargs), lambda v: tf.log(self._cdf(v, **kwargs)))

    def _call_cdf(self, value: Any, name: str, **kwargs: Any) -> Any:
        return self._of_value(value, name, lambda v: self._cdf(v, **kwargs), lambda v: tf.exp(self._log_cdf(v, **kwargs)))

    def _call_log_survival_function(self, value: Any, name: str, **kwargs: Any) -> Any:
        return self._of_value(value, name, lambda v: self._log_survival_function(v, **kwargs), lambda v: tf.log1p(-self.cdf(v, **kwargs)))

    def _call_survival_function(self, value: Any, name: str, **kwargs: Any) -> Any:
        return self._of_value(value, name, lambda v: self._survival_function(v, **kwargs), lambda v: 1.0 - self.cdf(v, **kwargs))

    def _call_quantile(self, value: Any, name: str, **kwargs: Any) -> Any:
        return self._of_value(value, name, lambda v: self._quantile(v, **kwargs))

    def log_prob(self, value: Any, name: str = "log_prob") -> Any:
        """The logarithm of the density, or of the probability."""
        return self._call_log_prob(value, name)

    def prob(self, value: Any, name: str = "prob") -> Any:
        """The density, or the probability."""
        return self._call_prob(value, name)

    def log_cdf(self, value: Any, name: str = "log_cdf") -> Any:
        """The logarithm of `cdf`."""
        return self._call_log_cdf(value, name)

    def cdf(self, value: Any, name: str = "cdf") -> Any:
        """The probability of a sample that is not larger."""
        return self._call_cdf(value, name)

    def log_survival_function(self, value: Any, name: str = "log_survival_function") -> Any:
        """The logarithm of `survival_function`."""
        return self._call_log_survival_function(value, name)

    def survival_function(self, value: Any, name: str = "survival_function") -> Any:
        """The probability of a sample that is larger."""
        return self._call_survival_function(value, name)

    def quantile(self, value: Any, name: str = "quantile") -> Any:
        """The inverse of `cdf`."""
        return self._call_quantile(value, name)

    # -- moments

    def _entropy(self) -> Any:
        raise self._missing("entropy")

    def _mean(self) -> Any:
        raise self._missing("mean")

    def _variance(self) -> Any:
        raise self._missing("variance")

    def _stddev(self) -> Any:
        raise self._missing("stddev")

    def _covariance(self) -> Any:
        raise self._missing("covariance")

    def _mode(self) -> Any:
        raise self._missing("mode")

    def entropy(self, name: str = "entropy") -> Any:
        """The entropy, in nats."""
        with self._name_scope(name):
            return self._entropy()

    def mean(self, name: str = "mean") -> Any:
        """The mean."""
        with self._name_scope(name):
            return self._mean()

    def variance(self, name: str = "variance") -> Any:
        """The variance."""
        with self._name_scope(name):
            try:
                return self._variance()
            except NotImplementedError as original:
                try:
                    return tf.square(self._stddev())
                except NotImplementedError:
                    raise original from None

    def stddev(self, name: str = "stddev") -> Any:
        """The standard deviation."""
        with self._name_scope(name):
            try:
                return self._stddev()
            except NotImplementedError as original:
                try:
                    return tf.sqrt(self._variance())
                except NotImplementedError:
                    raise original from None

    def covariance(self, name: str = "covariance") -> Any:
        """The covariances of the elements of an event."""
        with self._name_scope(name):
            return self._covariance()

    def mode(self, name: str = "mode") -> Any:
        """The most likely value."""
        with self._name_scope(name):
            return self._mode()

    def cross_entropy(self, other: Any, name: str = "cross_entropy") -> Any:
        """The cross entropy of this distribution and another one."""
        with self._name_scope(name):
            return divergence.cross_entropy(self, other, allow_nan_stats=self._allow_nan_stats)

    def kl_divergence(self, other: Any, name: str = "kl_divergence") -> Any:
        """The divergence of Kullback and Leibler of this distribution from another one."""
        with self._name_scope(name):
            return divergence.kl_divergence(self, other, allow_nan_stats=self._allow_nan_stats)

    # -- inside

    def _missing(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{what} is not implemented: {type(self).__name__}")

    @contextlib.contextmanager
    def _name_scope(self, name: str | None = None, values: Any = None) -> Iterator[str]:
        with name_scope(self.name), name_scope(name, values=[*(values or ()), *self._graph_parents]) as scope:
            yield scope


def undefined(is_defined: Any, value: Any) -> Any:
    """A moment where it is defined, and NaN elsewhere."""
    nan = np.array(np.nan, dtype=value.dtype.as_numpy_dtype)
    return tf.where(is_defined, value, tf.fill(tf.shape(value), nan, name="nan"))
