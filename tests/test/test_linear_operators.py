"""Tests that are made for an operator find out whether it is its matrix."""

import unittest

import pytest

import everflow as tf
from everflow.test import linear_operators as checks


def result_of(wrong=0.0, base=checks.SquareLinearOperatorDerivedClassTest):
    """Runs all tests made for a diagonal operator, or for one whose matrix is another."""

    class Diagonal(base):
        @staticmethod
        def operator_shapes_infos():
            return [checks.OperatorShapesInfo((2, 3, 3), label="batch")]

        @staticmethod
        def dtypes_to_test():
            return [tf.float64]

        def operator_and_matrix(self, shapes_info, dtype, use_placeholder, ensure_self_adjoint_and_pd=False):
            assert shapes_info.label == "batch"
            diagonal = checks.random_sign_uniform(shapes_info.shape[:-1], 1.0, 2.0, dtype)
            if ensure_self_adjoint_and_pd:
                diagonal = tf.abs(diagonal)
            given = tf.placeholder_with_default(diagonal, None) if use_placeholder else diagonal
            operator = tf.linalg.LinearOperatorDiag(given, is_self_adjoint=True, is_positive_definite=ensure_self_adjoint_and_pd or None)
            return operator, tf.matrix_diag(diagonal) + wrong

    checks.add_tests(Diagonal)
    with pytest.raises(RuntimeError, match="already has a test"):
        checks.add_tests(Diagonal)
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Diagonal).run(result)
    return result


def test_an_operator_that_is_its_matrix_passes():
    result = result_of()
    assert result.wasSuccessful(), (result.failures + result.errors)[0][1]
    assert result.testsRun > 40


def test_another_matrix_is_noticed_by_nearly_all():
    result = result_of(wrong=1.0)
    assert len(result.failures) > 0.9 * (result.testsRun - 3)


def test_operators_of_any_shape_have_nothing_to_solve():
    names = {"solve", "det", "inverse", "cholesky"}
    assert names <= set(checks.NonSquareLinearOperatorDerivedClassTest.skip_these_tests())


def test_gradients_reach_the_variables_of_an_operator():
    class Case(checks.SquareLinearOperatorDerivedClassTest):
        def runTest(self):
            self.check_tape_safe(tf.linalg.LinearOperatorDiag(tf.Variable([1.0, 2.0], use_resource=True)))
            scaled = tf.linalg.LinearOperatorScaledIdentity(2, tf.Variable(3.0, use_resource=True))
            self.check_tape_safe(scaled)
            with self.assertRaisesRegex(AssertionError, "has no gradient"):
                self.check_tape_safe(tf.linalg.LinearOperatorHouseholder(tf.Variable([1.0, 2.0], use_resource=True)))

    Case().debug()


def test_random_matrices_are_what_they_are_called(session):
    definite, lower, similar = session.run(
        [
            checks.random_positive_definite_matrix([4, 4], tf.float64, force_well_conditioned=True),
            checks.random_tril_matrix([4, 4], tf.float64),
            checks.random_normal_correlated_columns([5, 3], dtype=tf.float64),
        ]
    )
    assert session.run(tf.self_adjoint_eig(definite)[0]).min() > 0
    assert (lower[0, 1:] == 0).all() and (lower.diagonal() != 0).all()
    assert abs(similar - similar[:, :1]).max() < 1e-2
