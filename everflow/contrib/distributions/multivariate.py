"""Distributions of vectors whose elements are moved and stretched together: normal, exponential, Laplace, Student."""

from __future__ import annotations

import functools
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.contrib.distributions.bijectors.affine import Affine, AffineLinearOperator
from everflow.contrib.distributions.scales import is_diagonal_scale, make_diag_scale, shapes_from_loc_and_scale
from everflow.distributions.divergence import RegisterKL
from everflow.distributions.gamma import Exponential
from everflow.distributions.laplace import Laplace
from everflow.distributions.making import made_in, noting, scoped
from everflow.distributions.normal import Normal
from everflow.distributions.student_t import StudentT
from everflow.distributions.tensors import dimension_size, pick_vector
from everflow.distributions.transformed import TransformedDistribution
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.ops.control_flow.ordering import with_dependencies

OPS = "contrib.distributions.python.ops"


class _OfOperator(TransformedDistribution):
    """Independent samples of a scalar distribution, multiplied with a linear operator and moved."""

    # The variance of the scalar distribution.
    _unit_variance = 1.0

    def _set_up(self, base: Any, loc: Any, scale: Any, validate_args: bool, name: str) -> None:
        if scale is None:
            raise ValueError("Missing required `scale` parameter.")
        if not scale.dtype.is_floating:
            raise TypeError("`scale` parameter must have floating-point dtype.")
        with name_scope(name, values=[loc, *scale.graph_parents]) as name:
            loc = None if loc is None else convert_to_tensor(loc, name="loc")
            batch_shape, event_shape = shapes_from_loc_and_scale(loc, scale)
            distribution = base(scale.dtype)
        super().__init__(
            distribution,
            AffineLinearOperator(shift=loc, scale=scale, validate_args=validate_args),
            batch_shape,
            event_shape,
            validate_args,
            name,
        )

    @property
    def loc(self) -> Any:
        """What is added, or None."""
        return self.bijector.shift

    @property
    def scale(self) -> Any:
        """The linear operator."""
        return self.bijector.scale

    def _whole_shape(self) -> Any:
        shape = self.batch_shape.concatenate(self.event_shape)
        return shape if shape.is_fully_defined() else tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)

    def _moved(self, value: Any) -> Any:
        """What becomes of a vector with this value everywhere."""
        if value == 0.0:
            found = tf.zeros(self._whole_shape(), self.dtype)
        else:
            found = self.scale.matvec(tf.fill(self._whole_shape(), tf.constant(value, self.dtype)))
        return found if self.loc is None else tf.identity(self.loc) + found

    def _mean(self) -> Any:
        return self._moved(0.0)

    def _mode(self) -> Any:
        return self._moved(0.0)

    def _covariance(self) -> Any:
        if is_diagonal_scale(self.scale):
            return self._unit_variance * tf.matrix_diag(tf.square(self.scale.diag_part()))
        return self._unit_variance * self.scale.matmul(self.scale.to_dense(), adjoint_arg=True)

    def _variance(self) -> Any:
        if is_diagonal_scale(self.scale):
            return self._unit_variance * tf.square(self.scale.diag_part())
        return tf.matrix_diag_part(self._covariance())

    def _stddev(self) -> Any:
        if is_diagonal_scale(self.scale):
            return self._unit_variance**0.5 * tf.abs(self.scale.diag_part())
        return tf.sqrt(self._variance())


# -- scales, from what constructors are given


def _diagonal(name: str, loc: Any, scale_diag: Any, scale_identity_multiplier: Any) -> tuple[Any, str]:
    """A diagonal scale, and the scope of the distribution that it was made in."""
    return made_in(name, make_diag_scale, loc=loc, scale_diag=scale_diag, scale_identity_multiplier=scale_identity_multiplier)


def _low_rank(validate: bool, factor: Any, update: Any, **diagonal: Any) -> Any:
    """A diagonal scale with F D F^T added, of which D or both may not be given."""
    if factor is not None:
        factor = convert_to_tensor(factor, name="scale_perturb_factor")
        diagonal |= {"assert_positive": True, "shape_hint": dimension_size(factor, axis=-2)}
    if update is not None:
        update = convert_to_tensor(update, name="scale_perturb_diag")
    scale = make_diag_scale(validate_args=validate, **diagonal)
    if factor is None:
        return scale
    hints: dict[str, Any] = dict.fromkeys(("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square"), True)
    return tf.linalg.LinearOperatorLowRankUpdate(scale, factor, update, is_diag_update_positive=update is None, **hints)


def _triangular(validate: bool, loc: Any, scale_tril: Any) -> tuple[Any, Any]:
    """The location as a tensor, and the lower triangular scale, which is the identity where none is given."""
    loc = None if loc is None else convert_to_tensor(loc, name="loc")
    hints: dict[str, Any]
    if scale_tril is not None:
        # Nothing is said of the sign of the diagonal; zeros in it are found when the scale is used.
        hints = {"is_non_singular": True, "is_self_adjoint": False, "is_positive_definite": False}
        return loc, tf.linalg.LinearOperatorLowerTriangular(convert_to_tensor(scale_tril, name="scale_tril"), **hints)
    hints = {"is_self_adjoint": True, "is_positive_definite": True, "assert_proper_shapes": validate}
    return loc, tf.linalg.LinearOperatorIdentity(dimension_size(loc, -1), dtype=loc.dtype, **hints)


def _factor(covariances: Any, validate: bool) -> Any:
    """The lower triangular factor of covariances."""
    matrix = convert_to_tensor(covariances, name="covariance_matrix")
    if validate:
        symmetric = tf.assert_near(matrix, tf.matrix_transpose(matrix), message="Matrix was not symmetric")
        matrix = with_dependencies([symmetric], matrix)
    return tf.cholesky(matrix)


# -- normal


@internal(f"{OPS}.mvn_linear_operator.MultivariateNormalLinearOperator")
class MultivariateNormalLinearOperator(_OfOperator):
    """The normal distribution with covariances scale scale^T."""

    @noting
    def __init__(
        self,
        loc: Any = None,
        scale: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalLinearOperator",
    ) -> None:
        self._set_up(lambda dtype: Normal(tf.zeros([], dtype), tf.ones([], dtype)), loc, scale, validate_args, name)


@RegisterKL(MultivariateNormalLinearOperator, MultivariateNormalLinearOperator)
def _kl_of_normals(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_mvn", [a.loc, b.loc, *a.scale.graph_parents, *b.scale.graph_parents]):
        if is_diagonal_scale(a.scale) and is_diagonal_scale(b.scale):
            relative = (a.stddev() / b.stddev())[..., tf.newaxis]
        else:
            relative = b.scale.solve(a.scale.to_dense())
        apart = b.scale.solve((b.mean() - a.mean())[..., tf.newaxis])
        squares = tf.reduce_sum(tf.square(relative), axis=[-2, -1]) + tf.reduce_sum(tf.square(apart), axis=[-2, -1])
        size = tf.cast(a.scale.domain_dimension_tensor(), a.dtype)
        found = b.scale.log_abs_determinant() - a.scale.log_abs_determinant() + 0.5 * (squares - size)
        found.set_shape(tf.broadcast_static_shape(a.batch_shape, b.batch_shape))
        return found


@public("contrib.distributions.MultivariateNormalDiag")
class MultivariateNormalDiag(MultivariateNormalLinearOperator):
    """The normal distribution of independent elements."""

    @noting
    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiag",
    ) -> None:
        scale, scope = _diagonal(name, loc, scale_diag, scale_identity_multiplier)
        super().__init__(loc, scale, validate_args, allow_nan_stats, scope)


@public("contrib.distributions.MultivariateNormalDiagWithSoftplusScale")
class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """The normal distribution of independent elements, with deviations that softplus makes positive."""

    @scoped("scale_diag")
    def __init__(
        self,
        loc: Any,
        scale_diag: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagWithSoftplusScale",
    ) -> None:
        super().__init__(loc, tf.nn.softplus(scale_diag), None, validate_args, allow_nan_stats, name)


@public("contrib.distributions.MultivariateNormalDiagPlusLowRank")
class MultivariateNormalDiagPlusLowRank(MultivariateNormalLinearOperator):
    """The normal distribution whose scale is a diagonal and a low-rank matrix F D F^T."""

    @noting
    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        scale_perturb_factor: Any = None,
        scale_perturb_diag: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagPlusLowRank",
    ) -> None:
        scale, scope = made_in(
            name,
            functools.partial(_low_rank, validate_args),
            loc=loc,
            scale_diag=scale_diag,
            scale_identity_multiplier=scale_identity_multiplier,
            factor=scale_perturb_factor,
            update=scale_perturb_diag,
        )
        super().__init__(loc, scale, validate_args, allow_nan_stats, scope)


@public("contrib.distributions.MultivariateNormalTriL")
class MultivariateNormalTriL(MultivariateNormalLinearOperator):
    """The normal distribution whose scale is a lower triangular matrix."""

    @noting
    def __init__(
        self,
        loc: Any = None,
        scale_tril: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalTriL",
    ) -> None:
        if loc is None and scale_tril is None:
            raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
        (moved, scale), scope = made_in(name, functools.partial(_triangular, validate_args), loc=loc, scale_tril=scale_tril)
        super().__init__(moved, scale, validate_args, allow_nan_stats, scope)


@public("contrib.distributions.MultivariateNormalFullCovariance")
class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """The normal distribution with these covariances."""

    @scoped()
    def __init__(
        self,
        loc: Any = None,
        covariance_matrix: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalFullCovariance",
    ) -> None:
        with name_scope("init", values=[loc, covariance_matrix]):
            factor = None if covariance_matrix is None else _factor(covariance_matrix, validate_args)
        super().__init__(loc, factor, validate_args, allow_nan_stats, name)


# -- exponential and Laplace


@internal(f"{OPS}.vector_exponential_linear_operator.VectorExponentialLinearOperator")
class VectorExponentialLinearOperator(_OfOperator):
    """A linear operator applied to vectors of exponentially distributed elements."""

    @noting
    def __init__(
        self,
        loc: Any = None,
        scale: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorExponentialLinearOperator",
    ) -> None:
        def base(dtype: Any) -> Exponential:
            return Exponential(rate=tf.ones([], dtype), allow_nan_stats=allow_nan_stats)

        self._set_up(base, loc, scale, validate_args, name)

    def _mean(self) -> Any:
        return self._moved(1.0)


@public("contrib.distributions.VectorExponentialDiag")
class VectorExponentialDiag(VectorExponentialLinearOperator):
    """Vectors of independent, exponentially distributed elements, stretched and moved."""

    @noting
    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorExponentialDiag",
    ) -> None:
        scale, scope = _diagonal(name, loc, scale_diag, scale_identity_multiplier)
        super().__init__(loc, scale, validate_args, allow_nan_stats, scope)


@internal(f"{OPS}.vector_laplace_linear_operator.VectorLaplaceLinearOperator")
class VectorLaplaceLinearOperator(_OfOperator):
    """A linear operator applied to vectors of elements with Laplace's distribution."""

    _unit_variance = 2.0

    @noting
    def __init__(
        self,
        loc: Any = None,
        scale: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorLaplaceLinearOperator",
    ) -> None:
        self._set_up(lambda dtype: Laplace(tf.zeros([], dtype), tf.ones([], dtype)), loc, scale, validate_args, name)


@public("contrib.distributions.VectorLaplaceDiag")
class VectorLaplaceDiag(VectorLaplaceLinearOperator):
    """Vectors of independent elements with Laplace's distribution, stretched and moved."""

    @noting
    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorLaplaceDiag",
    ) -> None:
        # The distribution's own scope is a second one, as it is in TensorFlow.
        scale, _ = _diagonal(name, loc, scale_diag, scale_identity_multiplier)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)


# -- Student


@internal(f"{OPS}.vector_student_t._VectorStudentT")
class _VectorStudentT(TransformedDistribution):
    """Vectors of independent elements with Student's distribution, multiplied with a matrix and moved."""

    @scoped()
    def __init__(
        self,
        df: Any,
        loc: Any = None,
        scale_identity_multiplier: Any = None,
        scale_diag: Any = None,
        scale_tril: Any = None,
        scale_perturb_factor: Any = None,
        scale_perturb_diag: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorStudentT",
    ) -> None:
        scales = (scale_identity_multiplier, scale_diag, scale_tril, scale_perturb_factor, scale_perturb_diag)
        with name_scope("init", values=[df, loc]):
            moved = Affine(loc, *scales, validate_args=validate_args)
            unit = StudentT(df, tf.zeros([], moved.dtype), tf.ones([], moved.dtype))
            batch, event = shapes_from_loc_and_scale(moved.shift, moved.scale)
            # A batch of degrees of freedom is the batch; it is not repeated.
            repeated = tf.constant([], dtype=tf.int32)
            if isinstance(batch, tf.TensorShape):
                batch = tf.constant(batch.as_list(), dtype=tf.int32)
            super().__init__(unit, moved, pick_vector(unit.is_scalar_batch(), batch, repeated), event, validate_args, name)

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self.distribution.df

    @property
    def loc(self) -> Any:
        """What is added, or None."""
        return self.bijector.shift

    @property
    def scale(self) -> Any:
        """What is multiplied with."""
        return self.bijector.scale
