"""Timers that say at which steps a hook does its work."""

from __future__ import annotations

import time
from typing import Any

from everflow.api import internal, public


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
        self.reset()
        self._every_secs = every_secs
        self._every_steps = every_steps
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")

    def reset(self) -> None:
        self._last_triggered_step: int | None = None
        self._last_triggered_time: float | None = None

    def should_trigger_for_step(self, step: int) -> bool:
        if self._last_triggered_step is None or self._last_triggered_time is None:
            return True
        if step == self._last_triggered_step:
            return False
        if self._every_secs is not None:
            return time.time() >= self._last_triggered_time + self._every_secs
        return self._every_steps is not None and step >= self._last_triggered_step + self._every_steps

    def update_last_triggered_step(self, step: int) -> tuple[Any, Any]:
        now = time.time()
        secs = steps = None
        if self._last_triggered_time is not None and self._last_triggered_step is not None:
            secs, steps = now - self._last_triggered_time, step - self._last_triggered_step
        self._last_triggered_time, self._last_triggered_step = now, step
        return secs, steps

    def last_triggered_step(self) -> int | None:
        return self._last_triggered_step


@internal("training.basic_session_run_hooks.NeverTriggerTimer")
class NeverTriggerTimer(HookTimer):
    """Never triggers."""

    def should_trigger_for_step(self, step: int) -> bool:
        return False

    def update_last_triggered_step(self, step: int) -> tuple[Any, Any]:
        return None, None

    def last_triggered_step(self) -> int | None:
        return None
