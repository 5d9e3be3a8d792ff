"""A problem with constraints, and the optimizers' common part."""

from __future__ import annotations

import abc
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.scopes import control_dependencies
from everflow.train.optimizer import Optimizer


@public("contrib.constrained_optimization.ConstrainedMinimizationProblem")
class ConstrainedMinimizationProblem(abc.ABC):
    """An objective to be small, and constraints to be at most zero."""

    @property
    @abc.abstractmethod
    def objective(self) -> Any:
        """A scalar."""

    @property
    @abc.abstractmethod
    def constraints(self) -> Any:
        """A tensor with a number for each constraint: by how much it is violated."""

    @property
    def num_constraints(self) -> int:
        """How many constraints there are; their tensor must have a static shape."""
        shape = self.constraints.shape
        if shape.rank is None or not shape.is_fully_defined():
            raise ValueError("constraints must have a fully-defined static shape")
        return shape.num_elements()

    @property
    def proxy_constraints(self) -> Any:
        """What stands for the constraints where a gradient is needed, if they have none; None by default."""
        return None

    @property
    def pre_train_ops(self) -> Any:
        """Ops to run before each step, if any."""
        return None


class Step:
    """How gradients of one step are computed: the arguments that `minimize` of optimizers takes."""

    def __init__(
        self,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> None:
        self.global_step, self.name = global_step, name
        self.options = {
            "var_list": var_list,
            "gate_gradients": gate_gradients,
            "aggregation_method": aggregation_method,
            "colocate_gradients_with_ops": colocate_gradients_with_ops,
            "grad_loss": grad_loss,
        }


@public("contrib.constrained_optimization.ConstrainedOptimizer")
class ConstrainedOptimizer(abc.ABC):
    """An optimizer of such problems, around one for the model's variables."""

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer

    @property
    def optimizer(self) -> Any:
        """What changes the model's variables."""
        return self._optimizer

    @abc.abstractmethod
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
        """One step on the problem, once its `pre_train_ops` have run."""

    def minimize_constrained(
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
        """An op that takes one step on the problem."""
        options = (global_step, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, name, grad_loss)
        with control_dependencies(_before(minimization_problem)):
            return self._minimize_constrained(minimization_problem, *options)

    def minimize_unconstrained(
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
        """An op that takes one step on the objective alone."""
        with control_dependencies(_before(minimization_problem)):
            return self.optimizer.minimize(
                minimization_problem.objective,
                global_step=global_step,
                var_list=var_list,
                gate_gradients=gate_gradients,
                aggregation_method=aggregation_method,
                colocate_gradients_with_ops=colocate_gradients_with_ops,
                name=name,
                grad_loss=grad_loss,
            )

    def minimize(
        self,
        minimization_problem: Any,
        unconstrained_steps: Any = None,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """An op that takes one step, on the objective alone for the first `unconstrained_steps`."""
        options = (global_step, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, name, grad_loss)
        if unconstrained_steps is None:
            return self.minimize_constrained(minimization_problem, *options)
        if global_step is None:
            raise ValueError("global_step cannot be None if unconstrained_steps is provided")
        is_free = tf.less(tf.cast(global_step, tf.int64), tf.cast(unconstrained_steps, tf.int64))
        return tf.cond(
            is_free,
            lambda: tf.group(self.minimize_unconstrained(minimization_problem, *options)),
            lambda: tf.group(self.minimize_constrained(minimization_problem, *options)),
        )


def _before(problem: Any) -> list[Any]:
    return list(problem.pre_train_ops or [])


def proxies(problem: Any) -> Any:
    """The constraints that gradients are taken of, as a vector."""
    found = problem.proxy_constraints
    return tf.reshape(problem.constraints if found is None else found, [-1])
