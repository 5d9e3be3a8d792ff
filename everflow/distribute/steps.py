"""Steps of training under a strategy, and the loop that runs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public


@public("contrib.distribute.Step")
class Step:
    """What is done again and again."""

    def __init__(self, distribution: Any) -> None:
        self._distribution = distribution

    @property
    def distribution(self) -> Any:
        """The strategy."""
        return self._distribution

    def initialize(self) -> Any:
        """What is done once before; ops, in a graph."""
        return []

    def __call__(self) -> Any:
        """The step; an op, in a graph."""
        raise NotImplementedError("must be implemented in descendants")


@public("contrib.distribute.StandardInputStep")
class StandardInputStep(Step):
    """A step over the elements of a dataset."""

    def __init__(self, dataset_fn: Callable[[], Any], distribution: Any) -> None:
        super().__init__(distribution)
        self._iterator = distribution.make_input_fn_iterator(lambda _: dataset_fn())

    def initialize(self) -> Any:
        """Starts the dataset."""
        return self._iterator.initialize()


@public("contrib.distribute.StandardSingleLossStep")
class StandardSingleLossStep(StandardInputStep):
    """Minimizes a loss, some iterations at a time: `loss_fn(context, inputs)` gives it for one replica."""

    def __init__(
        self, dataset_fn: Callable[[], Any], loss_fn: Callable[..., Any], optimizer: Any, distribution: Any, iterations_per_step: int = 1
    ) -> None:
        super().__init__(dataset_fn, distribution)
        self._loss_fn, self._optimizer = loss_fn, optimizer
        self._iterations_per_step = iterations_per_step

    def __call__(self) -> Any:
        """The iterations of a step."""
        with self._distribution.scope():

            def step(context: Any, inputs: Any) -> Any:
                gradients_and_variables = self._distribution.extended.call_for_each_replica(self._gradients, args=(context, inputs))
                return self._optimizer._distributed_apply(self._distribution, gradients_and_variables)

            found = self._distribution.extended.experimental_run_steps_on_iterator(step, self._iterator, self._iterations_per_step)
            return found.run_op

    def _gradients(self, context: Any, inputs: Any) -> Any:
        if tf.executing_eagerly():
            return self._optimizer.compute_gradients(lambda: self._loss_fn(context, inputs))
        return self._optimizer.compute_gradients(self._loss_fn(context, inputs))


@public("contrib.distribute.Monitor")
class Monitor:
    """Runs steps, in a session where they are ops."""

    def __init__(self, step_callable: Any, session: Any = None) -> None:
        if tf.executing_eagerly():
            if session is not None:
                raise ValueError("Should not provide a `session` in Eager mode.")
            step_callable.initialize()
            self._run_step = step_callable
            return
        if session is None:
            raise ValueError("Should provide a `session` in Graph mode.")
        session.run(step_callable.initialize())
        self._run_step = session.make_callable(step_callable())
        session.run(tf.global_variables_initializer())

    def run_steps(self, num_steps: int | None = None) -> None:
        """Some steps; without a number, until the data is at its end."""
        done = 0
        while num_steps is None or done < num_steps:
            try:
                self._run_step()
            except tf.errors.OutOfRangeError:
                return
            done += 1
