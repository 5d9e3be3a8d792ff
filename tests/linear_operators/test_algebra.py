"""Products and other combinations of operators are operators, of the simplest kind that will do."""

import numpy as np
import pytest

import everflow as tf
from everflow.linear_operators.addition import add_operators
from everflow.linear_operators.algebra import RegisterAdjoint, RegisterMatmul
from running import run

linalg = tf.linalg
POSITIVE = dict(is_self_adjoint=True, is_positive_definite=True)


def diagonal(**hints):
    return linalg.LinearOperatorDiag([1.0, 4.0], **hints)


def triangle():
    return linalg.LinearOperatorLowerTriangular([[1.0, 0.0], [3.0, 2.0]], is_non_singular=True)


@pytest.mark.parametrize(
    "left, right, kind",
    [
        (diagonal, diagonal, "Diag"),
        (diagonal, triangle, "LowerTriangular"),
        (triangle, diagonal, "LowerTriangular"),
        (triangle, triangle, "Composition"),
        (lambda: linalg.LinearOperatorIdentity(2), triangle, "LowerTriangular"),
        (triangle, lambda: linalg.LinearOperatorZeros(2), "Zeros"),
        (lambda: linalg.LinearOperatorScaledIdentity(2, 3.0), diagonal, "Diag"),
    ],
)
def test_products(left, right, kind):
    a, b = left(), right()
    product = a.matmul(b)
    assert type(product).__name__ == "LinearOperator" + kind
    dense = run([product.to_dense(), a.to_dense(), b.to_dense()])
    np.testing.assert_allclose(dense[0], dense[1] @ dense[2])


def test_quotients_inverses_and_factors():
    assert type(diagonal().solve(triangle())).__name__ == "LinearOperatorLowerTriangular"
    np.testing.assert_allclose(run(diagonal().solve(triangle()).to_dense()), [[1, 0], [0.75, 0.5]])
    assert triangle().inverse().inverse().name == "LinearOperatorLowerTriangular"
    assert run(diagonal(**POSITIVE).cholesky().diag).tolist() == [1, 2]
    blocks = linalg.LinearOperatorBlockDiag([diagonal(**POSITIVE), linalg.LinearOperatorFullMatrix([[4.0]], **POSITIVE)])
    np.testing.assert_allclose(run(blocks.cholesky().to_dense()), np.diag([1, 2, 2]))


def test_what_is_known_of_products():
    product = diagonal(**POSITIVE).matmul(diagonal(**POSITIVE))
    assert (product.is_self_adjoint, product.is_positive_definite, product.is_non_singular) == (True, True, True)
    wide, tall = linalg.LinearOperatorFullMatrix(np.ones((2, 3))), linalg.LinearOperatorFullMatrix(np.ones((3, 2)))
    assert wide.matmul(tall).is_square
    assert wide.matmul(linalg.LinearOperatorFullMatrix(np.ones((3, 4)))).is_non_singular is False


def test_functions_of_linalg_take_operators():
    operator = diagonal(**POSITIVE)
    assert run([linalg.trace(operator), linalg.det(operator), linalg.logdet(operator)]) == pytest.approx([5, 4, np.log(4)])
    assert run(linalg.diag_part(operator)).tolist() == [1, 4]
    assert isinstance(linalg.inv(operator), linalg.LinearOperatorDiag)
    assert linalg.adjoint(operator) is operator
    assert run(linalg.cholesky(operator).to_dense()).tolist() == [[1, 0], [0, 2]]
    assert run(linalg.solve(operator, [[1.0], [2.0]])).tolist() == [[1], [0.5]]
    assert run(tf.matmul(operator, [[1.0], [2.0]])).tolist() == [[1], [8]]
    assert run(tf.matmul([[1.0, 2.0]], operator)).tolist() == [[1, 8]]


def test_programs_add_rules():
    class Special(linalg.LinearOperatorDiag):
        pass

    RegisterMatmul(Special, linalg.LinearOperator)(lambda a, b: "product")
    assert Special([1.0]).matmul(linalg.LinearOperatorFullMatrix([[1.0]])) == "product"
    assert isinstance(Special([1.0]).matmul(tf.ones([1, 1])), tf.Tensor)
    with pytest.raises(ValueError, match=r"Matmul\(Special, LinearOperator\) has already been registered"):
        RegisterMatmul(Special, linalg.LinearOperator)(lambda a, b: None)
    with pytest.raises(ValueError, match=r"Adjoint\(LinearOperatorDiag\) has already been registered to: <function"):
        RegisterAdjoint(linalg.LinearOperatorDiag)(lambda a: None)
    with pytest.raises(TypeError, match="adjoint_fn must be callable"):
        RegisterAdjoint(Special)("no function")


def test_sums():
    operators = [diagonal(), triangle(), linalg.LinearOperatorIdentity(2), linalg.LinearOperatorScaledIdentity(2, 2.0)]
    (total,) = add_operators(operators)
    assert isinstance(total, linalg.LinearOperatorLowerTriangular)
    assert run(total.to_dense()).tolist() == [[5, 0], [3, 9]]
    a = linalg.LinearOperatorDiag([1.0], is_positive_definite=True, name="A")
    b = linalg.LinearOperatorDiag([2.0], is_positive_definite=True, name="B")
    (total,) = add_operators([a, b])
    assert (total.name, total.is_positive_definite) == ("Add/B__A/", True)
    with pytest.raises(ValueError, match="must have the same domain dimension"):
        add_operators([a, diagonal()])


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda: diagonal(is_self_adjoint=False), ValueError, "A real diagonal operator is always self adjoint."),
        (lambda: linalg.LinearOperatorFullMatrix([1.0]), ValueError, "must have at least 2 dimensions"),
        (lambda: linalg.LinearOperatorFullMatrix([[1]]), TypeError, "Argument matrix must have dtype in"),
        (lambda: linalg.LinearOperatorFullMatrix([[1.0]], is_non_singular=False, **POSITIVE), ValueError, "always non-singular"),
        (lambda: linalg.LinearOperatorIdentity(-2), ValueError, "Argument num_rows must be non-negative.  Found: -2"),
        (lambda: linalg.LinearOperatorIdentity(2.0), TypeError, "Argument num_rows must be integer type"),
        (lambda: linalg.LinearOperatorIdentity(tf.Variable(2)), TypeError, "num_rows cannot be reference type"),
        (lambda: linalg.LinearOperatorComposition([]), ValueError, "Expected a non-empty list of operators"),
        (lambda: linalg.LinearOperatorKronecker([diagonal(), linalg.LinearOperatorDiag(np.ones(2))]), TypeError, "the same dtype"),
        (lambda: diagonal().matmul(np.ones((2, 2))), TypeError, "Expected argument to have dtype"),
        (lambda: diagonal().matmul(tf.ones([3, 2])), ValueError, "Dimensions 2 and 3 are not compatible"),
        (lambda: diagonal().matmul(linalg.LinearOperatorIdentity(3)), ValueError, "Operators are incompatible"),
        (lambda: diagonal().cholesky(), ValueError, "Not a positive definite self adjoint matrix"),
        (lambda: linalg.LinearOperatorFullMatrix(np.ones((2, 3))).determinant(), NotImplementedError, "not be square"),
        (lambda: linalg.LinearOperator(tf.float32), TypeError, "abstract"),
    ],
)
def test_bad_arguments(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_assertions_fail_when_they_run():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Diagonal contained zero values"):
        run(linalg.LinearOperatorDiag(tf.placeholder_with_default([1.0, 0.0], [2])).assert_non_singular())
    singular = linalg.LinearOperatorFullMatrix(tf.placeholder_with_default([[1.0, 1.0], [1.0, 1.0]], [2, 2]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Singular matrix up to precision epsilon"):
        run(singular.assert_non_singular())
    run(singular.assert_self_adjoint())
