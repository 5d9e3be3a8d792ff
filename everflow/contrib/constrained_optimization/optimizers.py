"""Optimizers under constraints: Lagrange multipliers that ascend, or a stochastic matrix that minimizes swap regret."""

from __future__ import annotations

import abc
import math
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.constrained_optimization.problems import ConstrainedOptimizer, Step, proxies
from everflow.graph.scopes import control_dependencies
from everflow.train.optimizer import Optimizer

BELOW = "contrib.constrained_optimization.python."


class _TwoPlayers(ConstrainedOptimizer):
    """The model against a player whose state decides how much each constraint counts."""

    def __init__(self, optimizer: Any, constraint_optimizer: Any = None) -> None:
        super().__init__(optimizer)
        self._constraint_optimizer = constraint_optimizer

    @property
    def constraint_optimizer(self) -> Any:
        """What changes the other player's state; the model's optimizer if none was given."""
        return self._constraint_optimizer

    @abc.abstractmethod
    def _initial_state(self, num_constraints: int) -> Any:
        """What the state starts with."""

    @abc.abstractmethod
    def _constraint_grad_and_var(self, state: Any, gradient: Any) -> Any:
        """What to apply to the state, given how much each constraint is violated."""

    @abc.abstractmethod
    def _projection_op(self, state: Any, name: str | None = None) -> Any:
        """An op that brings the state back to where it may be."""

    @abc.abstractmethod
    def _loss_and_gradient(self, problem: Any, state: Any) -> tuple[Any, Any]:
        """The model's loss, and the violations as the other player sees them."""

    def _minimize_constrained(
        self,
        minimization_problem: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        problem = minimization_problem
        step = Step(global_step, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, name, grad_loss)
        # A function: the step may be one branch of a conditional.
        count = problem.num_constraints
        state = tf.Variable(
            lambda: self._initial_state(count), dtype=tf.float32, trainable=False, name="constraint_state", use_resource=True
        )
        loss, gradient = self._loss_and_gradient(problem, state)
        pairs = self.optimizer.compute_gradients(loss, **step.options)
        on_state = [self._constraint_grad_and_var(state, gradient)]
        if self.constraint_optimizer is None:
            update = self.optimizer.apply_gradients(pairs + on_state, name="update")
        else:
            # Both see what was before either of them moved.
            with control_dependencies([grad for grad, _ in pairs + on_state if grad is not None and hasattr(grad, "op")]):
                update = tf.group(
                    self.optimizer.apply_gradients(pairs, name="optimizer_state_update"),
                    self.constraint_optimizer.apply_gradients(on_state, name="constraint_optimizer_state_update"),
                )
        with control_dependencies([update]):
            if global_step is None:
                return self._projection_op(state, name=name)
            projected = self._projection_op(state)
            with control_dependencies([projected if hasattr(projected, "op") else tf.group(projected)]):
                return tf.assign_add(global_step, tf.cast(1, global_step.dtype.base_dtype), name=name)


class _ExternalRegret(_TwoPlayers):
    """The other player's state gives a multiplier for each constraint."""

    @abc.abstractmethod
    def _lagrange_multipliers(self, state: Any) -> Any:
        """The multipliers."""

    def _loss_and_gradient(self, problem: Any, state: Any) -> tuple[Any, Any]:
        multipliers = self._lagrange_multipliers(state)
        loss = problem.objective + tf.reduce_sum(tf.cast(multipliers, problem.objective.dtype) * proxies(problem))
        return loss, tf.reshape(problem.constraints, [-1])


@public(BELOW + "external_regret_optimizer._project_multipliers_wrt_euclidean_norm")
def project_multipliers(multipliers: Any, radius: Any) -> Any:
    """The nearest multipliers that are not negative and whose sum is at most `radius`."""
    size = tf.shape(multipliers)[0]
    positive = tf.maximum(multipliers, 0.0)
    # Of the largest numbers, so many stay that all do after what is too much has been taken from each (Duchi and others, 2008).
    ordered = tf.nn.top_k(multipliers, k=size).values
    excess = (tf.cumsum(ordered) - radius) / tf.cast(tf.range(1, size + 1), multipliers.dtype)
    stay = tf.reduce_sum(tf.cast(ordered > excess, tf.int32))
    nearest = tf.maximum(0.0, multipliers - tf.gather(excess, tf.maximum(stay - 1, 0)))
    return tf.cond(tf.reduce_sum(positive) <= radius, lambda: positive, lambda: nearest)


@public("contrib.constrained_optimization.AdditiveExternalRegretOptimizer")
class AdditiveExternalRegretOptimizer(_ExternalRegret):
    """Lagrange multipliers that ascend by gradients, and whose sum stays below `maximum_multiplier_radius`, if given."""

    def __init__(self, optimizer: Any, constraint_optimizer: Any = None, maximum_multiplier_radius: float | None = None) -> None:
        super().__init__(optimizer, constraint_optimizer)
        if maximum_multiplier_radius is not None and maximum_multiplier_radius <= 0.0:
            raise ValueError("maximum_multiplier_radius must be strictly positive")
        self._maximum_multiplier_radius = maximum_multiplier_radius

    def _initial_state(self, num_constraints: int) -> Any:
        return tf.zeros([num_constraints], tf.float32)

    def _lagrange_multipliers(self, state: Any) -> Any:
        return state

    def _constraint_grad_and_var(self, state: Any, gradient: Any) -> Any:
        return -gradient, state

    def _projection_op(self, state: Any, name: str | None = None) -> Any:
        value = state.read_value()
        if self._maximum_multiplier_radius is None:
            projected = tf.maximum(value, 0.0)
        else:
            projected = project_multipliers(value, self._maximum_multiplier_radius)
        return state.assign(projected, name=name)


class _SwapRegret(_TwoPlayers):
    """The other player's state gives a left-stochastic matrix; its stationary distribution weighs objective and constraints."""

    @abc.abstractmethod
    def _stochastic_matrix(self, state: Any) -> Any:
        """The matrix."""

    def _distribution(self, state: Any) -> Any:
        return tf.stop_gradient(maximal_eigenvector(self._stochastic_matrix(state)))

    def _loss_and_gradient(self, problem: Any, state: Any) -> tuple[Any, Any]:
        distribution = self._distribution(state)
        values = tf.concat([tf.reshape(problem.objective, [1]), proxies(problem)], axis=0)
        violations = tf.concat([tf.zeros([1]), tf.reshape(problem.constraints, [-1])], axis=0)
        return tf.reduce_sum(distribution * values), tf.expand_dims(violations, 1) * tf.expand_dims(distribution, 0)

    def _constraint_grad_and_var(self, state: Any, gradient: Any) -> Any:
        return -gradient, state


@public(BELOW + "swap_regret_optimizer._maximal_eigenvector_power_method")
def maximal_eigenvector(matrix: Any, epsilon: float = 1e-06, maximum_iterations: int = 100) -> Any:
    """The eigenvector of a left-stochastic matrix for its largest eigenvalue, by repeated products; its sum is one."""
    size = tf.shape(matrix)[0]
    start = tf.fill([size, 1], 1 / tf.cast(size, matrix.dtype))

    def goes_on(k: Any, vector: Any, change: Any) -> Any:
        return (k < maximum_iterations) & (change > epsilon)

    def body(k: Any, vector: Any, change: Any) -> Any:
        after = tf.matmul(matrix, vector)
        after = after / tf.reduce_sum(after)
        return k + 1, after, tf.norm(after - vector)

    found = tf.while_loop(goes_on, body, (tf.constant(0), start, tf.constant(math.inf, matrix.dtype)))[1]
    return tf.squeeze(found, axis=1)


@public(BELOW + "swap_regret_optimizer._project_stochastic_matrix_wrt_euclidean_norm")
def project_stochastic_matrix(matrix: Any) -> Any:
    """The nearest matrix whose columns are distributions."""
    if matrix.shape.rank != 2:
        raise ValueError(f"matrix must be two dimensional (instead is {matrix.shape.rank}-dimensional)")
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"matrix must be square (instead has shape ({matrix.shape[0]},{matrix.shape[1]}))")
    size: Any = tf.dimension_value(matrix.shape[0])
    # Of each column, the largest numbers stay, less what makes their sum one (Duchi and others, 2008).
    ordered = tf.transpose(tf.nn.top_k(tf.transpose(matrix), k=size).values)
    counts = tf.expand_dims(tf.range(1.0, size + 1.0), 1)
    excess = (tf.cumsum(ordered, axis=0) - 1.0) / counts
    stay = tf.reduce_sum(tf.cast(ordered > excess, tf.int32), axis=0)
    taken = tf.gather_nd(excess, tf.stack([stay - 1, tf.range(size)], axis=1))
    return tf.maximum(0.0, matrix - taken)


@public(BELOW + "swap_regret_optimizer._project_log_stochastic_matrix_wrt_kl_divergence")
def project_log_stochastic_matrix(log_matrix: Any) -> Any:
    """The logarithm of the matrix with columns that are scaled to be distributions."""
    return tf.nn.log_softmax(log_matrix, axis=0)


@public("contrib.constrained_optimization.AdditiveSwapRegretOptimizer")
class AdditiveSwapRegretOptimizer(_SwapRegret):
    """The matrix itself ascends by gradients."""

    def _initial_state(self, num_constraints: int) -> Any:
        size = num_constraints + 1
        # At first, only the objective counts.
        return tf.concat([tf.ones([1, size]), tf.zeros([num_constraints, size])], axis=0)

    def _stochastic_matrix(self, state: Any) -> Any:
        return state

    def _projection_op(self, state: Any, name: str | None = None) -> Any:
        return state.assign(project_stochastic_matrix(state.read_value()), name=name)


@public("contrib.constrained_optimization.MultiplicativeSwapRegretOptimizer")
class MultiplicativeSwapRegretOptimizer(_SwapRegret):
    """The logarithm of the matrix ascends by gradients; no constraint's share falls below `minimum_multiplier_radius` over their number."""

    def __init__(
        self,
        optimizer: Any,
        constraint_optimizer: Any = None,
        minimum_multiplier_radius: float = 0.001,
        initial_multiplier_radius: float | None = None,
    ) -> None:
        super().__init__(optimizer, constraint_optimizer)
        if minimum_multiplier_radius <= 0.0 or minimum_multiplier_radius >= 1.0:
            raise ValueError("minimum_multiplier_radius must be in the range (0,1)")
        if initial_multiplier_radius is None:
            initial_multiplier_radius = minimum_multiplier_radius
        elif initial_multiplier_radius < minimum_multiplier_radius or initial_multiplier_radius > 1.0:
            raise ValueError("initial_multiplier_radius must be in the range [minimum_multiplier_radius,1]")
        self._minimum_multiplier_radius, self._initial_multiplier_radius = minimum_multiplier_radius, initial_multiplier_radius

    def _initial_state(self, num_constraints: int) -> Any:
        size = num_constraints + 1
        share = self._initial_multiplier_radius / size
        first = 1.0 - self._initial_multiplier_radius + share
        return tf.log(tf.concat([tf.fill([1, size], first), tf.fill([num_constraints, size], share)], axis=0))

    def _stochastic_matrix(self, state: Any) -> Any:
        return tf.exp(state)

    def _projection_op(self, state: Any, name: str | None = None) -> Any:
        least = math.log(self._minimum_multiplier_radius / state.shape.as_list()[0])
        return state.assign(tf.maximum(project_log_stochastic_matrix(state.read_value()), least), name=name)
