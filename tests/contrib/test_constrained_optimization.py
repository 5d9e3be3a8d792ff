"""tf.contrib.constrained_optimization: multipliers by hand, and a model within its constraint."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.constrained_optimization import optimizers as parts
from running import run

constrained = tf.contrib.constrained_optimization


class Problem(constrained.ConstrainedMinimizationProblem):
    """Minimize (w - 3)², w being at most 1."""

    def __init__(self):
        self.w = tf.get_variable("w", initializer=0.0)

    @property
    def objective(self):
        return tf.square(self.w - 3.0)

    @property
    def constraints(self):
        return tf.stack([self.w - 1.0])


@pytest.mark.parametrize(
    "make",
    [
        lambda: constrained.AdditiveExternalRegretOptimizer(tf.train.GradientDescentOptimizer(0.05)),
        lambda: constrained.AdditiveExternalRegretOptimizer(
            tf.train.GradientDescentOptimizer(0.05), tf.train.GradientDescentOptimizer(0.1), maximum_multiplier_radius=10.0
        ),
        lambda: constrained.AdditiveSwapRegretOptimizer(tf.train.GradientDescentOptimizer(0.1)),
        lambda: constrained.MultiplicativeSwapRegretOptimizer(tf.train.GradientDescentOptimizer(0.1)),
    ],
)
def test_the_minimum_lies_where_the_constraint_ends(make):
    problem = Problem()
    assert problem.num_constraints == 1
    step = tf.train.get_or_create_global_step()
    train = make().minimize_constrained(problem, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        last = []
        for _ in range(600):
            session.run(train)
            last.append(session.run(problem.w))
        assert session.run(step) == 600
    np.testing.assert_allclose(np.mean(last[-200:]), 1.0, atol=0.1)


def test_constraints_may_wait():
    problem, step = Problem(), tf.train.get_or_create_global_step()
    optimizer = constrained.AdditiveExternalRegretOptimizer(tf.train.GradientDescentOptimizer(0.5))
    with pytest.raises(ValueError, match="global_step cannot be None"):
        optimizer.minimize(problem, unconstrained_steps=2)
    train = optimizer.minimize(problem, unconstrained_steps=1, global_step=step)
    alone = optimizer.minimize_unconstrained(problem)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run([problem.w, step]) == [3.0, 1]
        session.run(alone)
        assert session.run(problem.w) == 3.0


def test_states_are_brought_back_to_where_they_may_be():
    np.testing.assert_allclose(
        run(parts.project_multipliers(tf.constant([0.4, 0.7, -0.2, 0.5, 0.1]), 1.0)), [0.2, 0.5, 0, 0.3, 0], atol=1e-6
    )
    assert run(parts.project_multipliers(tf.constant([-0.5, -0.1]), 1.0)).tolist() == [0, 0]
    matrix = tf.constant([[-0.1, -0.1, 0.4], [-0.8, 0.4, 1.2], [-0.3, 0.1, 0.2]])
    projected = run(parts.project_stochastic_matrix(matrix))
    np.testing.assert_allclose(projected, [[0.6, 0.1, 0.1], [0, 0.6, 0.9], [0.4, 0.3, 0]], atol=1e-6)
    vector = run(parts.maximal_eigenvector(tf.constant(projected)))
    np.testing.assert_allclose(projected @ vector, vector, atol=1e-5)
    np.testing.assert_allclose(
        np.exp(run(parts.project_log_stochastic_matrix(tf.log([[1.0, 2.0], [3.0, 2.0]])))), [[0.25, 0.5], [0.75, 0.5]]
    )


def test_radiuses_that_can_not_be_are_refused():
    plain = tf.train.GradientDescentOptimizer(1.0)
    with pytest.raises(ValueError, match="must be strictly positive"):
        constrained.AdditiveExternalRegretOptimizer(plain, maximum_multiplier_radius=-1.0)
    with pytest.raises(ValueError, match=r"minimum_multiplier_radius must be in the range \(0,1\)"):
        constrained.MultiplicativeSwapRegretOptimizer(plain, minimum_multiplier_radius=1.5)
    with pytest.raises(ValueError, match="initial_multiplier_radius must be in the range"):
        constrained.MultiplicativeSwapRegretOptimizer(plain, initial_multiplier_radius=1e-5)
    with pytest.raises(TypeError, match="abstract"):
        constrained.ConstrainedOptimizer(plain)


def test_candidates_are_mixed_to_meet_the_constraints():
    found = constrained.find_best_candidate_distribution(np.array([0.0, 1.0]), np.array([[1.0, -1.0]]))
    np.testing.assert_allclose(found, [0.5, 0.5], atol=1e-6)
    # No mixture meets the constraint: the least violation counts.
    np.testing.assert_allclose(
        constrained.find_best_candidate_distribution(np.array([0.0, 1.0]), np.array([[2.0, 1.0]])), [0, 1], atol=1e-6
    )
    with pytest.raises(ValueError, match="epsilon must be nonnegative"):
        constrained.find_best_candidate_distribution(np.array([0.0, 1.0]), np.array([[1.0, -1.0]]), epsilon=-1)


def test_the_best_candidate_has_the_best_of_worst_ranks():
    objectives, constraints = np.array([2.0, 1.0, 4.0, 3.0]), np.array([[-1.0, 1.0, 2.0, -1.0], [1.0, -1.0, -1.0, -1.0]])
    assert constrained.find_best_candidate_index(objectives, constraints) == 3
    assert constrained.find_best_candidate_index(objectives, constraints, rank_objectives=True) == 1
    with pytest.raises(ValueError, match="must have shape"):
        constrained.find_best_candidate_index(objectives, constraints[:, :2])
