"""Mixtures over a continuous parameter, computed at a few points of it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.contrib.distributions.bijectors.affine import AffineLinearOperator
from everflow.contrib.distributions.bijectors.scalar import Exp
from everflow.contrib.distributions.bijectors.vectors import SoftmaxCentered
from everflow.contrib.distributions.counts import Poisson
from everflow.contrib.distributions.scales import maybe_check_scalar_distribution
from everflow.distributions.base import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution
from everflow.distributions.categorical import Categorical
from everflow.distributions.making import noting, scoped
from everflow.distributions.normal import Normal
from everflow.distributions.tensors import gen_new_seed, pad
from everflow.distributions.transformed import TransformedDistribution
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.linear_operators.addition import add_operators
from everflow.ops.control_flow.ordering import with_dependencies

OPS = "contrib.distributions.python.ops"


def _gauss_hermite(size: int, dtype: Any) -> tuple[Any, Any]:
    points, weights = (v.astype(dtype.as_numpy_dtype) for v in np.polynomial.hermite.hermgauss(deg=size))
    return points * np.sqrt(2.0).astype(points.dtype), convert_to_tensor(weights / weights.sum(), name="probs", dtype=dtype)


def _quantiles(distribution: Any, size: int, transform: Callable[[Any], Any]) -> tuple[Any, Any]:
    """The middles between quantiles, at the end of the axes, and weights that are all the same."""
    ndims = distribution.batch_shape.ndims
    ndims = tf.shape(distribution.batch_shape_tensor())[0] if ndims is None else ndims
    edges = tf.linspace(tf.zeros([], distribution.dtype), 1.0, size + 3)[1:-1]
    edges = tf.reshape(edges, tf.concat([[-1], tf.ones([ndims], tf.int32)], 0))
    found = transform(distribution.quantile(edges))
    found = tf.transpose(found, tf.concat([tf.range(1, 1 + ndims), [0]], 0))
    grid = (found[..., :-1] + found[..., 1:]) / 2.0
    return grid, tf.fill([size], 1.0 / tf.cast(size, distribution.dtype))


# -- Poisson with a log-normal rate


@public("contrib.distributions.quadrature_scheme_lognormal_gauss_hermite")
def quadrature_scheme_lognormal_gauss_hermite(
    loc: Any, scale: Any, quadrature_size: int, validate_args: bool = False, name: str | None = None
) -> tuple[Any, Any]:
    """Gauss and Hermite's points and weights for a log-normal parameter."""
    with name_scope(name, "vector_diffeomixture_quadrature_gauss_hermite", [loc, scale]):
        points, weights = _gauss_hermite(quadrature_size, loc.dtype.base_dtype)
        return loc[..., tf.newaxis] + scale[..., tf.newaxis] * points, weights


@public("contrib.distributions.quadrature_scheme_lognormal_quantiles")
def quadrature_scheme_lognormal_quantiles(
    loc: Any, scale: Any, quadrature_size: int, validate_args: bool = False, name: str | None = None
) -> tuple[Any, Any]:
    """Points between the quantiles of a log-normal parameter, of the same weight each."""
    with name_scope(name, "quadrature_scheme_lognormal_quantiles", [loc, scale]):
        normal = Normal(loc=loc, scale=scale)
        distribution = TransformedDistribution(normal, Exp(), validate_args=validate_args)
        grid, probs = _quantiles(distribution, quadrature_size, lambda q: q)
        grid.set_shape(distribution.batch_shape.concatenate([quadrature_size]))
        return grid, probs


@public("contrib.distributions.PoissonLogNormalQuadratureCompound")
class PoissonLogNormalQuadratureCompound(Distribution):
    """A Poisson distribution whose rate is log-normal, as a mixture over some rates."""

    @scoped("loc", "scale")
    def __init__(
        self,
        loc: Any,
        scale: Any,
        quadrature_size: int = 8,
        quadrature_fn: Callable[..., Any] = quadrature_scheme_lognormal_quantiles,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "PoissonLogNormalQuadratureCompound",
    ) -> None:
        self._quadrature_size = quadrature_size
        normal: dict[str, Any] = {}
        for which, value in (("loc", loc), ("scale", scale)):
            dtype = normal["loc"].dtype if normal.get("loc") is not None else None
            normal[which] = None if value is None else convert_to_tensor(value, dtype=dtype, name=which)
        self._loc, self._scale = normal.values()
        grid, probs = quadrature_fn(*normal.values(), quadrature_size, validate_args)
        if grid.dtype.base_dtype != probs.dtype.base_dtype:
            raise TypeError(f"Quadrature grid dtype ({grid.dtype.name}) does not match quadrature probs dtype ({probs.dtype.name}).")
        checking: dict[str, Any] = {"validate_args": validate_args, "allow_nan_stats": allow_nan_stats}
        self._distribution = Poisson(log_rate=grid, **checking)
        self._mixture_distribution = Categorical(tf.log(probs), **checking)
        parents = [t for t in normal.values() if t is not None]
        super().__init__(grid.dtype, NOT_REPARAMETERIZED, graph_parents=parents, name=name, **checking)

    @property
    def mixture_distribution(self) -> Any:
        """What chooses a rate."""
        return self._mixture_distribution

    @property
    def distribution(self) -> Any:
        """The Poisson distributions of all rates."""
        return self._distribution

    @property
    def loc(self) -> Any:
        """The mean of the logarithm of the rate."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The deviation of the logarithm of the rate."""
        return self._scale

    @property
    def quadrature_size(self) -> int:
        """The number of rates."""
        return self._quadrature_size

    def _batch_shape_tensor(self) -> Any:
        logits = tf.shape(self.mixture_distribution.logits)
        return tf.broadcast_dynamic_shape(self.distribution.batch_shape_tensor(), logits)[:-1]

    def _batch_shape(self) -> Any:
        return tf.broadcast_static_shape(self.distribution.batch_shape, self.mixture_distribution.logits.shape)[:-1]

    def _event_shape_tensor(self) -> Any:
        return tf.constant([], dtype=tf.int32)

    def _event_shape(self) -> Any:
        return tf.TensorShape([])

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        batch = self.batch_shape_tensor()
        count = tf.reduce_prod(batch)
        times = [count] if self.mixture_distribution.batch_shape.ndims == 0 else []
        seed_of_rates = gen_new_seed(seed, "poisson_lognormal_quadrature_compound")
        which = tf.reshape(self.mixture_distribution.sample(tf.stack([n, *times]), seed=seed_of_rates), [n, -1])
        which += tf.range(0, count * self._quadrature_size, self._quadrature_size)
        rate = tf.reshape(tf.gather(tf.reshape(self.distribution.rate, [-1]), which), tf.concat([[n], batch], 0))
        return tf.random_poisson(lam=rate, shape=[], dtype=self.dtype, seed=seed)

    def _log_prob(self, x: Any) -> Any:
        each = self.distribution.log_prob(x[..., tf.newaxis])
        return tf.reduce_logsumexp(self.mixture_distribution.logits + each, axis=-1)

    def _mean(self) -> Any:
        return tf.exp(tf.reduce_logsumexp(self.mixture_distribution.logits + self.distribution.log_rate, axis=-1))

    def _variance(self) -> Any:
        return tf.exp(self._log_variance())

    def _stddev(self) -> Any:
        return tf.exp(0.5 * self._log_variance())

    def _log_variance(self) -> Any:
        # The mean of the variances, which are the rates, and the variance of the means: rate + apart^2 = rate (1 + apart^2 / rate).
        log_rate = self.distribution.log_rate
        log_apart = tf.log(tf.abs(self.distribution.rate - self._mean()[..., tf.newaxis]))
        more = tf.nn.softplus(2.0 * log_apart - log_rate)
        return tf.reduce_logsumexp(self.mixture_distribution.logits + log_rate + more, axis=-1)


# -- vectors between two affine transformations


def _checked_mixing(param: Any, name: str, validate_args: bool) -> Any:
    with name_scope("check_" + name, values=[param]):
        checks = []
        if param.shape.ndims is None:
            if validate_args:
                message = f"Mixing params must be a (batch of) vector; {name}.rank is not at least one."
                checks.append(tf.assert_rank_at_least(param, 1, message=message))
        elif param.shape.ndims == 0:
            raise ValueError(f"Mixing params must be a (batch of) vector; {name}.rank=0 is not at least one.")
        size = tf.dimension_value(param.shape[-1]) if param.shape.ndims is not None else None
        if size is None:
            if validate_args:
                message = f"Currently only bimixtures are supported; {name}.shape[-1] is not 1."
                checks.append(tf.assert_equal(tf.shape(param)[-1], 1, message=message))
        elif size != 1:
            raise NotImplementedError(f"Currently only bimixtures are supported; {name}.shape[-1]={size} is not 1.")
        return with_dependencies(checks, param) if checks else param


@public("contrib.distributions.quadrature_scheme_softmaxnormal_gauss_hermite")
def quadrature_scheme_softmaxnormal_gauss_hermite(
    normal_loc: Any, normal_scale: Any, quadrature_size: int, validate_args: bool = False, name: str | None = None
) -> tuple[Any, Any]:
    """Gauss and Hermite's points and weights for the softmax of a normal parameter."""
    with name_scope(name, "quadrature_scheme_softmaxnormal_gauss_hermite", [normal_loc, normal_scale]):
        loc = convert_to_tensor(normal_loc, name="normal_loc")
        scale = convert_to_tensor(normal_scale, dtype=loc.dtype.base_dtype, name="normal_scale")
        scale = _checked_mixing(scale, "normal_scale", validate_args)
        points, weights = _gauss_hermite(quadrature_size, loc.dtype.base_dtype)
        logits = pad(loc[..., tf.newaxis] + scale[..., tf.newaxis] * points, axis=-2, front=True)
        return tf.nn.softmax(-logits, axis=-2), weights


@public("contrib.distributions.quadrature_scheme_softmaxnormal_quantiles")
def quadrature_scheme_softmaxnormal_quantiles(
    normal_loc: Any, normal_scale: Any, quadrature_size: int, validate_args: bool = False, name: str | None = None
) -> tuple[Any, Any]:
    """Points between the quantiles of the softmax of a normal parameter, of the same weight each."""
    with name_scope(name, "softmax_normal_grid_and_probs", [normal_loc, normal_scale]):
        loc = convert_to_tensor(normal_loc, name="normal_loc")
        scale = convert_to_tensor(normal_scale, dtype=loc.dtype.base_dtype, name="normal_scale")
        normal = Normal(loc=loc, scale=_checked_mixing(scale, "normal_scale", validate_args))
        grid, probs = _quantiles(normal, quadrature_size, SoftmaxCentered().forward)
        batch = normal.batch_shape.with_rank_at_least(1)
        if batch.ndims is not None:
            size = tf.dimension_value(batch[-1])
            grid.set_shape(batch[:-1].concatenate([None if size is None else size + 1, quadrature_size]))
        return grid, probs


def _weighed(weight: Any, operator: Any) -> Any:
    """A multiple of a linear operator."""
    hints = {
        "is_non_singular": operator.is_non_singular,
        "is_self_adjoint": operator.is_self_adjoint,
        "is_positive_definite": operator.is_positive_definite,
    }
    linalg = tf.linalg
    if isinstance(operator, linalg.LinearOperatorIdentity):
        return linalg.LinearOperatorScaledIdentity(operator.range_dimension_tensor(), weight, **hints)
    if isinstance(operator, linalg.LinearOperatorScaledIdentity):
        return linalg.LinearOperatorScaledIdentity(operator.range_dimension_tensor(), weight * operator.multiplier, **hints)
    if isinstance(operator, linalg.LinearOperatorDiag):
        return linalg.LinearOperatorDiag(weight[..., tf.newaxis] * operator.diag_part(), **hints)
    if isinstance(operator, linalg.LinearOperatorLowerTriangular):
        return linalg.LinearOperatorLowerTriangular(weight[..., tf.newaxis, tf.newaxis] * operator.to_dense(), **hints)
    raise NotImplementedError(f"Unsupported Linop type ({type(operator).__name__})")


def _sum(terms: Any) -> Any:
    return functools.reduce(lambda a, b: a + b, terms)


@public("contrib.distributions.VectorDiffeomixture")
class VectorDiffeomixture(Distribution):
    """Vectors transformed by an affine map between two given ones, at a random place between them."""

    @noting
    def __init__(
        self,
        mix_loc: Any,
        temperature: Any,
        distribution: Any,
        loc: Any = None,
        scale: Any = None,
        quadrature_size: int = 8,
        quadrature_fn: Callable[..., Any] = quadrature_scheme_softmaxnormal_quantiles,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorDiffeomixture",
    ) -> None:
        with name_scope(name, values=[mix_loc, temperature]) as name:
            if not scale or len(scale) < 2:
                raise ValueError(
                    "Must specify list (or list-like object) of scale LinearOperators, one for each component with num_component >= 2."
                )
            loc = [None] * len(scale) if loc is None else loc
            if len(loc) != len(scale):
                raise ValueError("loc/scale must be same-length lists (or same-length list-like objects).")
            dtype = scale[0].dtype.base_dtype
            loc = [None if v is None else convert_to_tensor(v, dtype=dtype, name=f"loc{k}") for k, v in enumerate(loc)]
            for k, s in enumerate(scale):
                if validate_args and not s.is_positive_definite:
                    raise ValueError(f"scale[{k}].is_positive_definite = {s.is_positive_definite} != True")
                if s.dtype.base_dtype != dtype:
                    raise TypeError(f'dtype mismatch; scale[{k}].base_dtype="{s.dtype.base_dtype.name}" != "{dtype.name}"')
            self._endpoint_affine = [
                AffineLinearOperator(shift=v, scale=s, validate_args=validate_args, name=f"endpoint_affine_{k}")
                for k, (v, s) in enumerate(zip(loc, scale))
            ]
            if len(scale) != 2:
                raise NotImplementedError(f"Currently only bimixtures are supported; len(scale)={len(scale)} is not 2.")
            mix_loc = convert_to_tensor(mix_loc, dtype=dtype, name="mix_loc")
            temperature = convert_to_tensor(temperature, dtype=dtype, name="temperature")
            grid, probs = quadrature_fn(mix_loc / temperature, 1.0 / temperature, quadrature_size, validate_args)
            self._mixture_distribution = Categorical(logits=tf.log(probs), validate_args=validate_args, allow_nan_stats=allow_nan_stats)
            checks = maybe_check_scalar_distribution(distribution, dtype, validate_args)
            self._grid = with_dependencies(checks, grid) if checks else grid
            self._distribution = distribution
            count = tf.dimension_value(self._grid.shape.with_rank_at_least(1)[-1])
            if count is None:
                raise ValueError("Num quadrature grid points must be known prior to graph execution.")
            self._interpolated_affine = [
                AffineLinearOperator(
                    shift=_sum([self._grid[..., k, q, tf.newaxis] * v for k, v in enumerate(loc) if v is not None])
                    if any(v is not None for v in loc)
                    else None,
                    scale=add_operators([_weighed(self._grid[..., k, q], s) for k, s in enumerate(scale)])[0],
                    validate_args=validate_args,
                    name=f"interpolated_affine_{q}",
                )
                for q in range(count)
            ]
            super().__init__(
                dtype,
                FULLY_REPARAMETERIZED,
                validate_args,
                allow_nan_stats,
                None,
                [*distribution._graph_parents, *(v for v in loc if v is not None), *(parent for s in scale for parent in s.graph_parents)],
                name,
            )

    @property
    def mixture_distribution(self) -> Any:
        """What chooses a place between the two."""
        return self._mixture_distribution

    @property
    def distribution(self) -> Any:
        """The distribution of the elements before."""
        return self._distribution

    @property
    def grid(self) -> Any:
        """The places: how much of each of the two, for each point."""
        return self._grid

    @property
    def endpoint_affine(self) -> list[Any]:
        """The two affine maps."""
        return self._endpoint_affine

    @property
    def interpolated_affine(self) -> list[Any]:
        """The affine map at each place."""
        return self._interpolated_affine

    def _batch_shape(self) -> Any:
        shapes = [self._grid.shape[:-2]]
        for affine in self._endpoint_affine:
            shapes += [] if affine.shift is None else [affine.shift.shape[:-1]]
            shapes.append(affine.scale.batch_shape)
        return functools.reduce(tf.broadcast_static_shape, shapes)

    def _batch_shape_tensor(self) -> Any:
        shapes = [tf.shape(self._grid)[:-2]]
        for affine in self._endpoint_affine:
            shapes += [] if affine.shift is None else [tf.shape(affine.shift)[:-1]]
            shapes.append(affine.scale.batch_shape_tensor())
        return functools.reduce(tf.broadcast_dynamic_shape, shapes)

    def _event_shape(self) -> Any:
        shapes = [tf.TensorShape([affine.scale.range_dimension]) for affine in self._endpoint_affine]
        shapes += [affine.shift.shape[-1:] for affine in self._endpoint_affine if affine.shift is not None]
        return functools.reduce(tf.broadcast_static_shape, shapes)

    def _event_shape_tensor(self) -> Any:
        return self._endpoint_affine[0].scale.range_dimension_tensor()[tf.newaxis]

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        batch = self.batch_shape_tensor()
        x = self.distribution.sample(tf.concat([[n], batch, self.event_shape_tensor()], 0), seed=seed)
        ends = [affine.forward(x) for affine in self.endpoint_affine]
        count = tf.reduce_prod(batch)
        of_mixture = tf.reduce_prod(self.mixture_distribution.batch_shape_tensor())
        which = self.mixture_distribution.sample(tf.stack([n, count // of_mixture]), seed=gen_new_seed(seed, "vector_diffeomixture"))
        which = tf.reshape(which, [n, count])
        # How much of the first, at each place, for each element of the batch.
        first = tf.reshape(self.grid[..., 0, :] * tf.ones(tf.concat([batch, [1]], 0), self.dtype), [count, -1])
        chosen = tf.reduce_sum(first * tf.one_hot(which, tf.shape(first)[-1], dtype=self.dtype), axis=-1)
        weight = tf.reshape(chosen, tf.concat([[-1], batch, [1]], 0))
        return weight * (ends[0] - ends[1]) + ends[1]

    def _log_prob(self, x: Any) -> Any:
        back = [(affine.inverse(x), affine.inverse_log_det_jacobian(x, event_ndims=1)) for affine in self.interpolated_affine]
        points, shrinking = (tf.stack(at_places, axis=-1) for at_places in zip(*back))
        density = shrinking + tf.reduce_sum(self.distribution.log_prob(points), axis=-2)
        return tf.reduce_logsumexp(density + self.mixture_distribution.logits, axis=-1)

    def _means(self) -> list[Any]:
        """The mean at each place."""
        shape = tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        before = tf.ones(shape, self.dtype) * self.distribution.mean()
        before.set_shape(self.batch_shape.concatenate(self.event_shape))
        return [affine.forward(before) for affine in self.interpolated_affine]

    def _weights(self, axes: int) -> list[Any]:
        """The weight of each place, with axes of size one more."""
        each = tf.unstack(self.mixture_distribution.probs, num=len(self._interpolated_affine), axis=-1)
        for _ in range(axes):
            each = [w[..., tf.newaxis] for w in each]
        return each

    def _mean(self) -> Any:
        return _sum([w * m for w, m in zip(self._weights(1), self._means())])

    def _covariance(self) -> Any:
        mean, inner = self._mean(), self.distribution.variance()
        terms = []
        for w, m, affine in zip(self._weights(2), self._means(), self.interpolated_affine):
            apart = m - mean
            within = inner * affine.scale.matmul(affine.scale.to_dense(), adjoint_arg=True)
            terms.append(w * (within + apart[..., :, tf.newaxis] * apart[..., tf.newaxis, :]))
        return _sum(terms)

    def _variance(self) -> Any:
        return tf.matrix_diag_part(self._covariance())
