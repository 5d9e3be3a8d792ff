"""What is known of the adjoints, factors, inverses, products and quotients of our operators."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.linear_operators import algebra
from everflow.linear_operators.algebra import RegisterAdjoint, RegisterCholesky, RegisterInverse, RegisterMatmul, RegisterSolve
from everflow.linear_operators.base import LinearOperator
from everflow.linear_operators.combined import LinearOperatorBlockDiag, LinearOperatorComposition, LinearOperatorKronecker
from everflow.linear_operators.dense import LinearOperatorLowerTriangular
from everflow.linear_operators.diagonal import LinearOperatorDiag, LinearOperatorIdentity, LinearOperatorScaledIdentity, LinearOperatorZeros
from everflow.linear_operators.fourier import LinearOperatorCirculant
from everflow.linear_operators.householder import LinearOperatorHouseholder
from everflow.linear_operators.wrapped import LinearOperatorAdjoint, LinearOperatorInversion

HOME = "ops.linalg.registrations_util."

for _name, _rules in (
    ("_ADJOINTS", algebra.ADJOINTS),
    ("_CHOLESKY_DECOMPS", algebra.CHOLESKY_DECOMPOSITIONS),
    ("_INVERSES", algebra.INVERSES),
    ("_MATMUL", algebra.PRODUCTS),
    ("_SOLVE", algebra.SOLUTIONS),
):
    internal(algebra.HOME + _name)(_rules)


@internal(algebra.HOME + "_registered_adjoint")
def registered_adjoint(type_a: type) -> Any:
    """The rule for adjoints of a class."""
    return algebra.registered((type_a,), algebra.ADJOINTS)


@internal(algebra.HOME + "_registered_cholesky")
def registered_cholesky(type_a: type) -> Any:
    """The rule for Cholesky factors of a class."""
    return algebra.registered((type_a,), algebra.CHOLESKY_DECOMPOSITIONS)


@internal(algebra.HOME + "_registered_inverse")
def registered_inverse(type_a: type) -> Any:
    """The rule for inverses of a class."""
    return algebra.registered((type_a,), algebra.INVERSES)


@internal(algebra.HOME + "_registered_matmul")
def registered_matmul(type_a: type, type_b: type) -> Any:
    """The rule for products of two classes."""
    return algebra.registered((type_a, type_b), algebra.PRODUCTS)


@internal(algebra.HOME + "_registered_solve")
def registered_solve(type_a: type, type_b: type) -> Any:
    """The rule for quotients of two classes."""
    return algebra.registered((type_a, type_b), algebra.SOLUTIONS)


# -- what a product of two operators has of them


@internal(HOME + "combined_commuting_self_adjoint_hint")
def combined_commuting_self_adjoint_hint(operator_a: Any, operator_b: Any) -> bool | None:
    """Whether the product of two operators that commute is self-adjoint."""
    if operator_a.is_self_adjoint and operator_b.is_self_adjoint:
        return True
    if {operator_a.is_self_adjoint, operator_b.is_self_adjoint} == {True, False}:
        return False
    return None


@internal(HOME + "combined_commuting_positive_definite_hint")
def combined_commuting_positive_definite_hint(operator_a: Any, operator_b: Any) -> bool | None:
    """Whether the product of two operators that commute is positive definite."""
    hints = ("is_positive_definite", "is_self_adjoint")
    return True if all(getattr(o, h) is True for o in (operator_a, operator_b) for h in hints) else None


@internal(HOME + "combined_non_singular_hint")
def combined_non_singular_hint(operator_a: Any, operator_b: Any) -> bool | None:
    """Whether a product has an inverse."""
    if operator_a.is_non_singular is False or operator_b.is_non_singular is False:
        return False
    return operator_a.is_non_singular and operator_b.is_non_singular


@internal(HOME + "is_square")
def is_square(operator_a: Any, operator_b: Any) -> bool | None:
    """Whether a product is square."""
    a, b = operator_a.is_square, operator_b.is_square
    if a and b:
        return True
    if a is False and b is False:
        rows, columns = operator_a.range_dimension.value, operator_b.domain_dimension.value
        return None if rows is None or columns is None else rows == columns
    return None if a is None or b is None else False


def _hints_of(operator: Any) -> dict[str, Any]:
    return dict(
        is_non_singular=operator.is_non_singular,
        is_self_adjoint=operator.is_self_adjoint,
        is_positive_definite=operator.is_positive_definite,
        is_square=True,
    )


def _commuting(a: Any, b: Any) -> dict[str, Any]:
    return dict(
        is_non_singular=combined_non_singular_hint(a, b),
        is_self_adjoint=combined_commuting_self_adjoint_hint(a, b),
        is_positive_definite=combined_commuting_positive_definite_hint(a, b),
        is_square=True,
    )


def _product_hints(a: Any, b: Any) -> dict[str, Any]:
    square = is_square(a, b)
    if square is False:
        return dict(is_non_singular=False, is_self_adjoint=False, is_positive_definite=False, is_square=False)
    return dict(is_non_singular=combined_non_singular_hint(a, b) if square else None, is_square=square)


# -- adjoints


@RegisterAdjoint(LinearOperator)
def _adjoint(linop: Any) -> Any:
    hints = _hints_of(linop) | {"is_square": linop.is_square}
    return LinearOperatorAdjoint(linop, **hints)


@RegisterAdjoint(LinearOperatorAdjoint)
def _adjoint_of_adjoint(linop: Any) -> Any:
    return linop.operator


@RegisterAdjoint(LinearOperatorIdentity)
@RegisterAdjoint(LinearOperatorHouseholder)
def _itself(linop: Any) -> Any:
    return linop


@RegisterAdjoint(LinearOperatorScaledIdentity)
def _adjoint_of_scaled_identity(linop: Any) -> Any:
    multiplier = tf.conj(linop.multiplier) if linop.dtype.is_complex else linop.multiplier
    return LinearOperatorScaledIdentity(num_rows=linop._num_rows, multiplier=multiplier, **_hints_of(linop))


@RegisterAdjoint(LinearOperatorDiag)
def _adjoint_of_diag(linop: Any) -> Any:
    return LinearOperatorDiag(tf.conj(linop.diag) if linop.dtype.is_complex else linop.diag, **_hints_of(linop))


@RegisterAdjoint(LinearOperatorBlockDiag)
def _adjoint_of_block_diag(linop: Any) -> Any:
    return LinearOperatorBlockDiag([o.adjoint() for o in linop.operators], **_hints_of(linop))


@RegisterAdjoint(LinearOperatorKronecker)
def _adjoint_of_kronecker(linop: Any) -> Any:
    hints = _hints_of(linop) | {"is_square": linop.is_square}
    return LinearOperatorKronecker([o.adjoint() for o in linop.operators], **hints)


@RegisterAdjoint(LinearOperatorCirculant)
def _adjoint_of_circulant(linop: Any) -> Any:
    spectrum = tf.conj(linop.spectrum) if linop.spectrum.dtype.is_complex else linop.spectrum
    return LinearOperatorCirculant(spectrum, linop.dtype, **_hints_of(linop))


# -- Cholesky factors

_FACTOR: dict[str, Any] = dict(is_non_singular=True, is_square=True)
_POSITIVE: dict[str, Any] = dict(is_non_singular=True, is_self_adjoint=True, is_positive_definite=True, is_square=True)


@RegisterCholesky(LinearOperator)
def _cholesky(linop: Any) -> Any:
    return LinearOperatorLowerTriangular(tf.linalg.cholesky(linop.to_dense()), is_self_adjoint=False, **_FACTOR)


@RegisterCholesky(LinearOperatorDiag)
def _cholesky_of_diag(linop: Any) -> Any:
    return LinearOperatorDiag(tf.sqrt(linop.diag), **_POSITIVE)


@RegisterCholesky(LinearOperatorIdentity)
def _cholesky_of_identity(linop: Any) -> Any:
    return LinearOperatorIdentity(linop._num_rows, batch_shape=linop.batch_shape_tensor(), dtype=linop.dtype, **_POSITIVE)


@RegisterCholesky(LinearOperatorScaledIdentity)
def _cholesky_of_scaled_identity(linop: Any) -> Any:
    return LinearOperatorScaledIdentity(num_rows=linop._num_rows, multiplier=tf.sqrt(linop.multiplier), **_POSITIVE)


@RegisterCholesky(LinearOperatorBlockDiag)
def _cholesky_of_block_diag(linop: Any) -> Any:
    return LinearOperatorBlockDiag([o.cholesky() for o in linop.operators], **_FACTOR)


@RegisterCholesky(LinearOperatorKronecker)
def _cholesky_of_kronecker(linop: Any) -> Any:
    return LinearOperatorKronecker([o.cholesky() for o in linop.operators], **_FACTOR)


# -- inverses


@RegisterInverse(LinearOperator)
def _inverse(linop: Any) -> Any:
    return LinearOperatorInversion(linop, **_hints_of(linop))


@RegisterInverse(LinearOperatorInversion)
def _inverse_of_inverse(linop: Any) -> Any:
    return linop.operator


RegisterInverse(LinearOperatorIdentity)(_itself)
RegisterInverse(LinearOperatorHouseholder)(_itself)


@RegisterInverse(LinearOperatorDiag)
def _inverse_of_diag(linop: Any) -> Any:
    return LinearOperatorDiag(1.0 / linop.diag, **_hints_of(linop))


@RegisterInverse(LinearOperatorScaledIdentity)
def _inverse_of_scaled_identity(linop: Any) -> Any:
    hints = _hints_of(linop) | {"is_non_singular": True}
    return LinearOperatorScaledIdentity(num_rows=linop._num_rows, multiplier=1.0 / linop.multiplier, **hints)


@RegisterInverse(LinearOperatorBlockDiag)
def _inverse_of_block_diag(linop: Any) -> Any:
    return LinearOperatorBlockDiag([o.inverse() for o in linop.operators], **_hints_of(linop))


@RegisterInverse(LinearOperatorKronecker)
def _inverse_of_kronecker(linop: Any) -> Any:
    return LinearOperatorKronecker([o.inverse() for o in linop.operators], **_hints_of(linop))


@RegisterInverse(LinearOperatorCirculant)
def _inverse_of_circulant(linop: Any) -> Any:
    return LinearOperatorCirculant(1.0 / linop.spectrum, linop.dtype, **_hints_of(linop))


# -- products


@RegisterMatmul(LinearOperator, LinearOperator)
def _product(linop_a: Any, linop_b: Any) -> Any:
    return LinearOperatorComposition([linop_a, linop_b], **_product_hints(linop_a, linop_b))


@RegisterMatmul(LinearOperatorIdentity, LinearOperator)
def _identity_times(identity: Any, linop: Any) -> Any:
    return linop


@RegisterMatmul(LinearOperator, LinearOperatorIdentity)
def _times_identity(linop: Any, identity: Any) -> Any:
    return linop


def _only_square(a: Any, b: Any) -> None:
    if not a.is_square or not b.is_square:
        raise ValueError("Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not supported at this time.")


@RegisterMatmul(LinearOperatorZeros, LinearOperator)
def _zeros_times(zeros: Any, linop: Any) -> Any:
    _only_square(zeros, linop)
    return zeros


@RegisterMatmul(LinearOperator, LinearOperatorZeros)
def _times_zeros(linop: Any, zeros: Any) -> Any:
    _only_square(zeros, linop)
    return zeros


@RegisterMatmul(LinearOperatorDiag, LinearOperatorDiag)
def _diag_times_diag(a: Any, b: Any) -> Any:
    return LinearOperatorDiag(a.diag * b.diag, **_commuting(a, b))


@RegisterMatmul(LinearOperatorDiag, LinearOperatorScaledIdentity)
def _diag_times_scaled_identity(a: Any, b: Any) -> Any:
    return LinearOperatorDiag(a.diag * b.multiplier[..., None], **_commuting(a, b))


@RegisterMatmul(LinearOperatorScaledIdentity, LinearOperatorDiag)
def _scaled_identity_times_diag(a: Any, b: Any) -> Any:
    return LinearOperatorDiag(a.multiplier[..., None] * b.diag, **_commuting(a, b))


@RegisterMatmul(LinearOperatorDiag, LinearOperatorLowerTriangular)
def _diag_times_triangle(a: Any, b: Any) -> Any:
    hint = combined_non_singular_hint(a, b)
    return LinearOperatorLowerTriangular(a.diag[..., None] * b.to_dense(), is_non_singular=hint, is_square=True)


@RegisterMatmul(LinearOperatorLowerTriangular, LinearOperatorDiag)
def _triangle_times_diag(a: Any, b: Any) -> Any:
    hint = combined_non_singular_hint(a, b)
    return LinearOperatorLowerTriangular(a.to_dense() * b.diag[..., None, :], is_non_singular=hint, is_square=True)


@RegisterMatmul(LinearOperatorCirculant, LinearOperatorCirculant)
def _circulant_times_circulant(a: Any, b: Any) -> Any:
    return LinearOperatorCirculant(a.spectrum * b.spectrum, a.dtype, **_commuting(a, b))


# -- quotients


@RegisterSolve(LinearOperator, LinearOperator)
def _quotient(linop_a: Any, linop_b: Any) -> Any:
    return LinearOperatorComposition([LinearOperatorInversion(linop_a), linop_b], **_product_hints(linop_a, linop_b))


@RegisterSolve(LinearOperatorInversion, LinearOperator)
def _quotient_of_inverse(linop_a: Any, linop_b: Any) -> Any:
    return linop_a.operator.matmul(linop_b)


RegisterSolve(LinearOperatorIdentity, LinearOperator)(_identity_times)


@RegisterSolve(LinearOperatorDiag, LinearOperatorDiag)
def _diag_by_diag(a: Any, b: Any) -> Any:
    return LinearOperatorDiag(b.diag / a.diag, **_commuting(a, b))


@RegisterSolve(LinearOperatorDiag, LinearOperatorScaledIdentity)
def _scaled_identity_by_diag(a: Any, b: Any) -> Any:
    return LinearOperatorDiag(b.multiplier[..., None] / a.diag, **_commuting(a, b))


@RegisterSolve(LinearOperatorScaledIdentity, LinearOperatorDiag)
def _diag_by_scaled_identity(a: Any, b: Any) -> Any:
    return LinearOperatorDiag(b.diag / a.multiplier[..., None], **_commuting(a, b))


@RegisterSolve(LinearOperatorDiag, LinearOperatorLowerTriangular)
def _triangle_by_diag(a: Any, b: Any) -> Any:
    hint = combined_non_singular_hint(a, b)
    return LinearOperatorLowerTriangular(b.to_dense() / a.diag[..., None], is_non_singular=hint, is_square=True)


@RegisterSolve(LinearOperatorCirculant, LinearOperatorCirculant)
def _circulant_by_circulant(a: Any, b: Any) -> Any:
    return LinearOperatorCirculant(b.spectrum / a.spectrum, a.dtype, **_commuting(a, b))
