"""Distributions of vectors whose elements are moved and stretched together: normal, exponential, Laplace, Student."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.contrib.distributions.bijectors.affine import Affine, AffineLinearOperator
from everflow.contrib.distributions.scales import is_diagonal_scale, make_diag_scale, shapes_from_loc_and_scale
from everflow.distributions.divergence import RegisterKL
from everflow.distributions.gamma import Exponential
from everflow.distributions.laplace import Laplace
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

    def _set_up(self, base: Any, loc: Any, scale: Any, validate_args: bool, parameters: dict[str, Any], name: str) -> None:
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
        self._parameters = parameters

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


# -- normal


@internal(f"{OPS}.mvn_linear_operator.MultivariateNormalLinearOperator")
class MultivariateNormalLinearOperator(_OfOperator):
    """The normal distribution with covariances scale scale^T."""

    def __init__(
        self,
        loc: Any = None,
        scale: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalLinearOperator",
    ) -> None:
        self._set_up(lambda dtype: Normal(tf.zeros([], dtype), tf.ones([], dtype)), loc, scale, validate_args, dict(locals()), name)


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

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiag",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name) as name, name_scope("init", values=[loc, scale_diag, scale_identity_multiplier]):
            scale = make_diag_scale(loc=loc, scale_diag=scale_diag, scale_identity_multiplier=scale_identity_multiplier)
        super().__init__(loc=loc, scale=scale, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters


@public("contrib.distributions.MultivariateNormalDiagWithSoftplusScale")
class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """The normal distribution of independent elements, with deviations that softplus makes positive."""

    def __init__(
        self,
        loc: Any,
        scale_diag: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagWithSoftplusScale",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[scale_diag]) as name:
            super().__init__(
                loc=loc, scale_diag=tf.nn.softplus(scale_diag), validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name
            )
        self._parameters = parameters


@public("contrib.distributions.MultivariateNormalDiagPlusLowRank")
class MultivariateNormalDiagPlusLowRank(MultivariateNormalLinearOperator):
    """The normal distribution whose scale is a diagonal and a low-rank matrix F D F^T."""

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
        parameters = dict(locals())
        given = [loc, scale_diag, scale_identity_multiplier, scale_perturb_factor, scale_perturb_diag]
        with name_scope(name) as name, name_scope("init", values=given):
            factor = None if scale_perturb_factor is None else convert_to_tensor(scale_perturb_factor, name="scale_perturb_factor")
            update = None if scale_perturb_diag is None else convert_to_tensor(scale_perturb_diag, name="scale_perturb_diag")
            has_low_rank = factor is not None
            scale = make_diag_scale(
                loc=loc,
                scale_diag=scale_diag,
                scale_identity_multiplier=scale_identity_multiplier,
                validate_args=validate_args,
                assert_positive=has_low_rank,
                shape_hint=dimension_size(factor, axis=-2) if has_low_rank else None,
            )
            if has_low_rank:
                scale = tf.linalg.LinearOperatorLowRankUpdate(
                    scale,
                    u=factor,
                    diag_update=update,
                    is_diag_update_positive=update is None,
                    is_non_singular=True,
                    is_self_adjoint=True,
                    is_positive_definite=True,
                    is_square=True,
                )
        super().__init__(loc=loc, scale=scale, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters


@public("contrib.distributions.MultivariateNormalTriL")
class MultivariateNormalTriL(MultivariateNormalLinearOperator):
    """The normal distribution whose scale is a lower triangular matrix."""

    def __init__(
        self,
        loc: Any = None,
        scale_tril: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalTriL",
    ) -> None:
        parameters = dict(locals())
        if loc is None and scale_tril is None:
            raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
        with name_scope(name) as name, name_scope("init", values=[loc, scale_tril]):
            loc = None if loc is None else convert_to_tensor(loc, name="loc")
            if scale_tril is None:
                scale: Any = tf.linalg.LinearOperatorIdentity(
                    dimension_size(loc, -1),
                    dtype=loc.dtype,
                    is_self_adjoint=True,
                    is_positive_definite=True,
                    assert_proper_shapes=validate_args,
                )
            else:
                # Nothing is said of the sign of the diagonal; zeros in it are found when the scale is used.
                lower = convert_to_tensor(scale_tril, name="scale_tril")
                scale = tf.linalg.LinearOperatorLowerTriangular(
                    lower, is_non_singular=True, is_self_adjoint=False, is_positive_definite=False
                )
        super().__init__(loc=loc, scale=scale, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters


@public("contrib.distributions.MultivariateNormalFullCovariance")
class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """The normal distribution with these covariances."""

    def __init__(
        self,
        loc: Any = None,
        covariance_matrix: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalFullCovariance",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name) as name:
            with name_scope("init", values=[loc, covariance_matrix]):
                lower = None
                if covariance_matrix is not None:
                    matrix = convert_to_tensor(covariance_matrix, name="covariance_matrix")
                    if validate_args:
                        check = tf.assert_near(matrix, tf.matrix_transpose(matrix), message="Matrix was not symmetric")
                        matrix = with_dependencies([check], matrix)
                    lower = tf.cholesky(matrix)
            super().__init__(loc=loc, scale_tril=lower, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters


# -- exponential and Laplace


@internal(f"{OPS}.vector_exponential_linear_operator.VectorExponentialLinearOperator")
class VectorExponentialLinearOperator(_OfOperator):
    """A linear operator applied to vectors of exponentially distributed elements."""

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

        self._set_up(base, loc, scale, validate_args, dict(locals()), name)

    def _mean(self) -> Any:
        return self._moved(1.0)


@public("contrib.distributions.VectorExponentialDiag")
class VectorExponentialDiag(VectorExponentialLinearOperator):
    """Vectors of independent, exponentially distributed elements, stretched and moved."""

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorExponentialDiag",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name) as name, name_scope("init", values=[loc, scale_diag, scale_identity_multiplier]):
            scale = make_diag_scale(loc=loc, scale_diag=scale_diag, scale_identity_multiplier=scale_identity_multiplier)
        super().__init__(loc=loc, scale=scale, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters


@internal(f"{OPS}.vector_laplace_linear_operator.VectorLaplaceLinearOperator")
class VectorLaplaceLinearOperator(_OfOperator):
    """A linear operator applied to vectors of elements with Laplace's distribution."""

    _unit_variance = 2.0

    def __init__(
        self,
        loc: Any = None,
        scale: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorLaplaceLinearOperator",
    ) -> None:
        self._set_up(lambda dtype: Laplace(tf.zeros([], dtype), tf.ones([], dtype)), loc, scale, validate_args, dict(locals()), name)


@public("contrib.distributions.VectorLaplaceDiag")
class VectorLaplaceDiag(VectorLaplaceLinearOperator):
    """Vectors of independent elements with Laplace's distribution, stretched and moved."""

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorLaplaceDiag",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name), name_scope("init", values=[loc, scale_diag, scale_identity_multiplier]):
            scale = make_diag_scale(loc=loc, scale_diag=scale_diag, scale_identity_multiplier=scale_identity_multiplier)
        super().__init__(loc=loc, scale=scale, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters


# -- Student


@internal(f"{OPS}.vector_student_t._VectorStudentT")
class _VectorStudentT(TransformedDistribution):
    """Vectors of independent elements with Student's distribution, multiplied with a matrix and moved."""

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
        parameters = dict(locals())
        with name_scope(name) as name, name_scope("init", values=[df, loc]):
            affine = Affine(
                shift=loc,
                scale_identity_multiplier=scale_identity_multiplier,
                scale_diag=scale_diag,
                scale_tril=scale_tril,
                scale_perturb_factor=scale_perturb_factor,
                scale_perturb_diag=scale_perturb_diag,
                validate_args=validate_args,
            )
            base = StudentT(df=df, loc=tf.zeros([], affine.dtype), scale=tf.ones([], affine.dtype))
            batch_shape, event_shape = shapes_from_loc_and_scale(affine.shift, affine.scale)
            # A batch of degrees of freedom is the batch; it is not repeated.
            none = tf.constant([], dtype=tf.int32)
            if isinstance(batch_shape, tf.TensorShape):
                batch_shape = tf.constant(batch_shape.as_list(), dtype=tf.int32)
            super().__init__(
                distribution=base,
                bijector=affine,
                batch_shape=pick_vector(base.is_scalar_batch(), batch_shape, none),
                event_shape=event_shape,
                validate_args=validate_args,
                name=name,
            )
        self._parameters = parameters

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
