"""Timers that say at which steps a hook does its work."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from everflow.api import internal, public
from everflow.train.global_step import get_or_create_read


class HookTimer:
    """The base of timers."""

    def reset(self) -> None:
        """Forgets when it last triggered."""

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether it is time."""
        raise NotImplementedError

    def update_last_triggered_step(self, step: int) -> tuple[Any, Any]:
        """Notes that it triggered; gives the seconds and steps since the time before (None at first)."""
        raise NotImplementedError

    def last_triggered_step(self) -> int | None:
        """The step when it last triggered."""
        raise NotImplementedError


internal("training.basic_session_run_hooks._HookTimer")(HookTimer)


@public("train.SecondOrStepTimer", "estimator.SecondOrStepTimer")
class SecondOrStepTimer(HookTimer):
    """Triggers every so many seconds or every so many steps, and at the first step."""

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        if (every_secs is None) == (every_steps is None):
            raise ValueError(
                "Either every_secs or every_steps should be provided."
                if every_secs is None
                else "Can not provide both every_secs and every_steps."
            )
        self._every_secs, self._every_steps = every_secs, every_steps
        self.reset()

    def reset(self) -> None:
        self._last_triggered_step: int | None = None
        self._last_triggered_time = 0.0

    def should_trigger_for_step(self, step: int) -> bool:
        last = self._last_triggered_step
        if last is None or step == last:
            return last is None
        if self._every_steps is not None:
            return step >= last + self._every_steps
        assert self._every_secs is not None
        return time.time() >= self._last_triggered_time + self._every_secs

    def update_last_triggered_step(self, step: int) -> tuple[Any, Any]:
        before, then = self._last_triggered_step, self._last_triggered_time
        self._last_triggered_step, self._last_triggered_time = step, time.time()
        return (None, None) if before is None else (self._last_triggered_time - then, step - before)

    def last_triggered_step(self) -> int | None:
        return self._last_triggered_step


def required_step(hook: str, find: Callable[[], Any] = get_or_create_read) -> Any:
    """The global step that a hook of this name follows."""
    step = find()
    if step is None:
        raise RuntimeError(f"Global step should be created to use {hook}.")
    return step


def due_step(timer: Any, session: Any, step: Any, expected: int) -> int | None:
    """The step to act at, or None if it isn't time. What a run fetched may be from before its step, so it is read again."""
    if timer.should_trigger_for_step(expected):
        reached = session.run(step)
        if timer.should_trigger_for_step(reached):
            return reached
    return None


@internal("training.basic_session_run_hooks.NeverTriggerTimer")
class NeverTriggerTimer(HookTimer):
    """Never triggers."""

    def should_trigger_for_step(self, step: int) -> bool:
        return False

    def update_last_triggered_step(self, step: int) -> tuple[Any, Any]:
        return None, None

    def last_triggered_step(self) -> int | None:
        return None
