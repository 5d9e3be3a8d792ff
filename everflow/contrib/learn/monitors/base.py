"""Monitors: called before and after each step, and every so many steps."""

from __future__ import annotations

from typing import Any

from everflow.contrib.learn.publishing import learn
from everflow.train.hooks_steps import check_one_limit

MODULE = "monitors"


@learn(MODULE, "BaseMonitor")
class BaseMonitor:
    """Is told of the beginning and the end of training, of epochs and of steps."""

    def __init__(self) -> None:
        self._begun = False
        self._current_epoch: int | None = None
        self._current_step: int | None = None
        self._max_steps: int | None = None
        self._estimator: Any = None

    @property
    def run_on_all_workers(self) -> bool:
        """Whether workers other than the chief need it."""
        return False

    def set_estimator(self, estimator: Any) -> None:
        """Says whose training is watched."""
        if estimator is None:
            raise ValueError("Missing estimator.")
        self._estimator = estimator

    def begin(self, max_steps: int | None = None) -> None:
        """Training begins; the graph is the default one."""
        if self._begun:
            raise ValueError("begin called twice without end.")
        self._max_steps, self._begun = max_steps, True

    def end(self, session: Any = None) -> None:
        """Training ends."""
        if not self._begun:
            raise ValueError("end called without begin.")
        self._max_steps, self._begun = None, False

    def epoch_begin(self, epoch: int) -> None:
        """An epoch begins."""
        if self._current_epoch is not None:
            raise ValueError("epoch_begin called twice without epoch_end.")
        if epoch < 0:
            raise ValueError(f"Invalid epoch {epoch}.")
        self._current_epoch = epoch

    def epoch_end(self, epoch: int) -> None:
        """An epoch ends."""
        if self._current_epoch != epoch:
            raise ValueError(f"epoch_end expected {self._current_epoch} but got {epoch}.")
        self._current_epoch = None

    def step_begin(self, step: int) -> Any:
        """A step begins: the tensors, or names of some, that the monitor wants with it."""
        if step < 0 or (self._max_steps is not None and step > self._max_steps):
            raise ValueError(f"Invalid step {step}.")
        self._current_step = step
        return []

    def step_end(self, step: int, output: Any) -> Any:
        """A step was run with these values; what is true ends training."""
        if self._current_step != step:
            raise ValueError(f"step_end expected {self._current_step} but got {step}.")
        self._current_step = None
        return False

    def post_step(self, step: int, session: Any) -> None:
        """A step is over, all monitors have seen its values."""


def value_of(outputs: Any, request: Any) -> Any:
    """The value of what was asked for, by tensor or by name."""
    return outputs[request] if request in outputs else outputs[request.name]


@learn(MODULE, "EveryN")
class EveryN(BaseMonitor):
    """Acts at the first steps, at the last, and every so many between."""

    def __init__(self, every_n_steps: int = 100, first_n_steps: int = 1) -> None:
        super().__init__()
        self._every_n_steps, self._first_n_steps = every_n_steps, first_n_steps
        self._last_successful_step: int | None = None
        self._last_active_step = 0
        self._is_active = False

    def every_n_step_begin(self, step: int) -> Any:
        """A step begins at which the monitor acts."""
        return []

    def every_n_step_end(self, step: int, outputs: Any) -> Any:
        """The values of such a step."""
        return False

    def every_n_post_step(self, step: Any, session: Any) -> None:
        """Such a step is over."""

    def step_begin(self, step: int) -> Any:
        """Asks for tensors at the steps of the monitor."""
        super().step_begin(step)
        due = step >= self._every_n_steps + self._last_active_step
        self._is_active = due or step <= self._first_n_steps or step == self._max_steps
        return self.every_n_step_begin(step) if self._is_active else []

    def step_end(self, step: int, output: Any) -> Any:
        """Hands on the values of the steps of the monitor."""
        super().step_end(step, output)
        return self.every_n_step_end(step, output) if self._is_active else False

    def post_step(self, step: int, session: Any) -> None:
        """Counts the steps."""
        super().post_step(step, session)
        if self._is_active:
            self.every_n_post_step(step, session)
            self._last_active_step = step
        self._last_successful_step = step

    def end(self, session: Any = None) -> None:
        """Acts once more, unless it did at the last step."""
        super().end(session=session)
        if self._last_successful_step != self._last_active_step:
            self.every_n_post_step(self._last_successful_step, session)


@learn(MODULE, "StopAtStep")
class StopAtStep(BaseMonitor):
    """Ends training after so many steps, or at one."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        super().__init__()
        check_one_limit(num_steps, last_step)
        self._num_steps, self._last_step = num_steps, last_step

    @property
    def run_on_all_workers(self) -> bool:
        """Every worker has to stop."""
        return True

    def step_begin(self, step: int) -> Any:
        """Finds the last step."""
        super().step_begin(step)
        if self._last_step is None:
            self._last_step = step + (self._num_steps or 0) - 1
        return []

    def step_end(self, step: int, output: Any) -> Any:
        """Whether that was the last."""
        super().step_end(step, output)
        return self._last_step is not None and step >= self._last_step
