"""Bijectors that multiply and add."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.distributions.bijectors.publish import bijector
from everflow.contrib.distributions.scales import make_tril_scale
from everflow.distributions.bijectors import Bijector
from everflow.distributions.tensors import dimension_size
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.ops.control_flow.ordering import with_dependencies


@bijector("affine_scalar")
class AffineScalar(Bijector):
    """y = scale x + shift of single numbers."""

    def __init__(self, shift: Any = None, scale: Any = None, validate_args: bool = False, name: str = "affine_scalar") -> None:
        with name_scope(name), name_scope("init", values=[scale, shift]):
            self._shift = None if shift is None else convert_to_tensor(shift, name="shift")
            self._scale = None if scale is None else convert_to_tensor(scale, name="scale")
            if self._scale is not None and validate_args:
                check = tf.assert_none_equal(self._scale, tf.zeros([], dtype=self._scale.dtype))
                self._scale = with_dependencies([check], self._scale)
            super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args, name=name)

    @property
    def shift(self) -> Any:
        """What is added."""
        return self._shift

    @property
    def scale(self) -> Any:
        """What is multiplied with."""
        return self._scale

    def _forward(self, x: Any) -> Any:
        y = tf.identity(x) if self.scale is None else x * self.scale
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Any) -> Any:
        x = tf.identity(y) if self.shift is None else y - self.shift
        return x if self.scale is None else x / self.scale

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return tf.constant(0.0, dtype=x.dtype.base_dtype) if self.scale is None else tf.log(tf.abs(self.scale))


class _OfOperator(Bijector):
    """y = A x + shift, with a linear operator A or none."""

    _shift: Any
    _scale: Any

    @property
    def shift(self) -> Any:
        """What is added."""
        return self._shift

    @property
    def scale(self) -> Any:
        """What is multiplied with."""
        return self._scale

    def _forward(self, x: Any) -> Any:
        if self.scale is not None:
            with tf.control_dependencies(self._singularity_checks()):
                x = _each_vector(self.scale, x, self.scale.matmul, self.scale.matvec)
        return x if self.shift is None else x + self.shift

    def _inverse(self, y: Any) -> Any:
        x = y if self.shift is None else y - self.shift
        return x if self.scale is None else _each_vector(self.scale, x, self.scale.solve, self.scale.solvevec)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self.scale is None:
            return tf.constant(0.0, dtype=x.dtype.base_dtype)
        with tf.control_dependencies(self._singularity_checks()):
            return self.scale.log_abs_determinant()

    def _singularity_checks(self) -> list[Any]:
        if not self.validate_args:
            return []
        try:
            return [self.scale.assert_non_singular()]
        except NotImplementedError:
            return []


def _each_vector(scale: Any, x: Any, of_matrix: Any, of_vector: Any) -> Any:
    """What an operator makes of each vector. One operator takes them all at once, as columns; a batch of them broadcasts."""
    if scale.batch_shape.ndims != 0 or x.shape.ndims == 1:
        return of_vector(x)
    shape = tf.shape(x)
    rows = tf.reshape(x, [-1, shape[-1]])
    found = tf.reshape(tf.matrix_transpose(of_matrix(rows, adjoint_arg=True)), tf.concat([shape[:-1], [-1]], 0))
    if x.shape.ndims is not None:
        found.set_shape(x.shape[:-1].concatenate(scale.range_dimension))
    return found


@bijector("affine_linear_operator")
class AffineLinearOperator(_OfOperator):
    """y = A x + shift of vectors, with a linear operator A."""

    def __init__(self, shift: Any = None, scale: Any = None, validate_args: bool = False, name: str = "affine_linear_operator") -> None:
        with name_scope(name), name_scope("init", values=[shift]):
            dtype = None
            parents = []
            if shift is not None:
                shift = convert_to_tensor(shift, name="shift")
                dtype = shift.dtype.base_dtype
                parents.append(shift)
            if scale is not None:
                if shift is not None and scale.dtype is not None and dtype != scale.dtype.base_dtype:
                    raise TypeError(f"shift.dtype({shift.dtype}) is incompatible with scale.dtype({scale.dtype}).")
                if not isinstance(scale, tf.linalg.LinearOperator):
                    raise TypeError("scale is not an instance of tf.LinearOperator")
                if validate_args and not scale.is_non_singular:
                    raise ValueError("Scale matrix must be non-singular.")
                parents += scale.graph_parents
                if scale.dtype is not None:
                    dtype = scale.dtype.base_dtype
            self._shift = shift
            self._scale = scale
            super().__init__(
                forward_min_event_ndims=1,
                graph_parents=parents,
                is_constant_jacobian=True,
                dtype=dtype,
                validate_args=validate_args,
                name=name,
            )


@bijector("affine")
class Affine(_OfOperator):
    """y = A x + shift of vectors, where A is the sum of a multiple of the identity, a diagonal, a triangular matrix and a low-rank one."""

    def __init__(
        self,
        shift: Any = None,
        scale_identity_multiplier: Any = None,
        scale_diag: Any = None,
        scale_tril: Any = None,
        scale_perturb_factor: Any = None,
        scale_perturb_diag: Any = None,
        validate_args: bool = False,
        name: str = "affine",
    ) -> None:
        if scale_perturb_diag is not None and scale_perturb_factor is None:
            raise ValueError("When scale_perturb_diag is specified, scale_perturb_factor must be specified.")
        # A multiple of the identity alone has no size: it stretches vectors of any.
        self._is_number = scale_tril is None and scale_diag is None and scale_perturb_factor is None
        given = [shift, scale_identity_multiplier, scale_diag, scale_tril, scale_perturb_diag, scale_perturb_factor]
        with name_scope(name), name_scope("init", values=given):
            dtype = tf.float32
            if shift is not None:
                shift = convert_to_tensor(shift, name="shift")
                dtype = shift.dtype.base_dtype
            self._shift = shift
            if self._is_number:
                factor = 1.0 if scale_identity_multiplier is None else scale_identity_multiplier
                self._scale = convert_to_tensor(
                    factor, dtype=dtype if scale_identity_multiplier is None else None, name="identity_multiplier"
                )
                if validate_args:
                    zero = tf.zeros([], self._scale.dtype)
                    check = tf.assert_none_equal(self._scale, zero, ["identity_multiplier should be non-zero."])
                    self._scale = with_dependencies([check], self._scale)
                parents = [self._scale]
            else:
                self._scale = _sum_of_parts(
                    shift, scale_identity_multiplier, scale_diag, scale_tril, scale_perturb_factor, scale_perturb_diag, validate_args
                )
                if shift is not None and shift.dtype.base_dtype != self._scale.dtype.base_dtype:
                    raise TypeError(f"shift.dtype({shift.dtype}) is incompatible with scale.dtype({self._scale.dtype}).")
                parents = list(self._scale.graph_parents)
            super().__init__(
                forward_min_event_ndims=1,
                graph_parents=[*parents, *([] if shift is None else [shift])],
                is_constant_jacobian=True,
                dtype=self._scale.dtype.base_dtype,
                validate_args=validate_args,
                name=name,
            )

    def _forward(self, x: Any) -> Any:
        if not self._is_number:
            return super()._forward(x)
        return x * self._scale if self.shift is None else x * self._scale + self.shift

    def _inverse(self, y: Any) -> Any:
        if not self._is_number:
            return super()._inverse(y)
        return (y if self.shift is None else y - self.shift) / self._scale

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if not self._is_number:
            return self.scale.log_abs_determinant()
        return tf.log(tf.abs(self._scale)) * tf.cast(tf.shape(x)[-1], self._scale.dtype)


def _sum_of_parts(shift: Any, multiplier: Any, diag: Any, tril: Any, factor: Any, factor_diag: Any, validate_args: bool) -> Any:
    factor = None if factor is None else convert_to_tensor(factor, name="perturb_factor")
    factor_diag = None if factor_diag is None else convert_to_tensor(factor_diag, name="perturb_diag")
    scale = make_tril_scale(
        loc=shift,
        scale_tril=tril,
        scale_diag=diag,
        scale_identity_multiplier=multiplier,
        shape_hint=None if factor is None else dimension_size(factor, axis=-2),
        validate_args=validate_args,
    )
    if factor is None:
        return scale
    return tf.linalg.LinearOperatorLowRankUpdate(
        scale,
        u=factor,
        diag_update=factor_diag,
        is_diag_update_positive=factor_diag is None,
        is_non_singular=True,
        is_self_adjoint=True,
        is_positive_definite=True,
        is_square=True,
    )
