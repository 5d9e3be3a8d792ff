"""The progress bar."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import numpy as np

from everflow.api import public


@public("keras.utils.Progbar")
class Progbar:
    """Shows how far something has come, how long it takes, and values on the way.

    Values that are not `stateful_metrics` are averaged, each update counting for the steps since the one before.
    """

    def __init__(
        self, target: Any, width: int = 30, verbose: int = 1, interval: float = 0.05, stateful_metrics: Any = None, unit_name: str = "step"
    ) -> None:
        self.target, self.width, self.verbose, self.interval, self.unit_name = target, width, verbose, interval, unit_name
        self.stateful_metrics = set(stateful_metrics or ())
        self._dynamic_display = _line_can_be_written_again()
        self._total_width = self._seen_so_far = 0
        self._values: dict[str, Any] = {}
        self._start, self._last_update = time.time(), 0.0

    def update(self, current: int, values: Any = None) -> None:
        """Shows the bar at a step."""
        for name, value in values or ():
            if name in self.stateful_metrics:
                self._values[name] = [value, 1]
                continue
            count = current - self._seen_so_far
            known = self._values.setdefault(name, [0, 0])
            self._values[name] = [known[0] + value * count, known[1] + count]
        self._seen_so_far = current
        now = time.time()
        if self.verbose == 1:
            if now - self._last_update < self.interval and self.target is not None and current < self.target:
                return
            self._show_bar(current, now)
        elif self.verbose == 2 and self.target is not None and current >= self.target:
            digits = int(np.log10(self.target)) + 1
            info = f" - {now - self._start:.0f}s" + self._shown_values(last_line=True)
            sys.stdout.write(f"{current:{digits}d}/{self.target}{info}\n")
            sys.stdout.flush()
        self._last_update = now

    def _show_bar(self, current: int, now: float) -> None:
        before, ends = self._total_width, self.target is not None and current >= self.target
        each = (now - self._start) / current if current else 0
        if self.target is None or ends:
            time_shown = f"{now - self._start:.0f}s" + _pace(each, self.unit_name)
        else:
            time_shown = f"ETA: {_remaining(each * (self.target - current))}"
        line = f"{self._bar(current)} - {time_shown}{self._shown_values()}"
        self._total_width = len(line)
        sys.stdout.write("\b" * before + "\r" if self._dynamic_display else "\n")
        # What is left of a longer line is written over.
        sys.stdout.write(line.ljust(before) + ("\n" if ends else ""))
        sys.stdout.flush()

    def _bar(self, current: int) -> str:
        if self.target is None:
            return f"{current:7d}/Unknown"
        digits = int(np.log10(self.target)) + 1
        filled = int(self.width * float(current) / self.target)
        arrow = "=" * (filled - 1) + (">" if current < self.target else "=") if filled > 0 else ""
        return f"{current:{digits}d}/{self.target} [{arrow}{'.' * (self.width - filled)}]"

    def _shown_values(self, last_line: bool = False) -> str:
        shown = ""
        for name, (total, count) in self._values.items():
            value = np.mean(total / max(1, count))
            # The last line, and only it, shows negative values as small ones.
            shown += f" - {name}: {value:.4f}" if (value if last_line else abs(value)) > 1e-3 else f" - {name}: {value:.4e}"
        return shown

    def add(self, n: int, values: Any = None) -> None:
        """Goes on by some steps."""
        self.update(self._seen_so_far + n, values)


def _line_can_be_written_again() -> bool:
    """Whether the output is a screen, or something that shows what is written as one does."""
    if getattr(sys.stdout, "isatty", bool)():
        return True
    return not {"ipykernel", "posix"}.isdisjoint(sys.modules) or "PYCHARM_HOSTED" in os.environ


def _remaining(seconds: float) -> str:
    if seconds > 3600:
        return f"{int(seconds // 3600)}:{int(seconds % 3600 // 60):02d}:{int(seconds % 60):02d}"
    if seconds > 60:
        return f"{int(seconds // 60)}:{int(seconds % 60):02d}"
    return f"{int(seconds)}s"


def _pace(each: float, unit: str) -> str:
    if each >= 1 or each == 0:
        return f" {each:.0f}s/{unit}"
    if each >= 1e-3:
        return f" {each * 1e3:.0f}ms/{unit}"
    return f" {each * 1e6:.0f}us/{unit}"
