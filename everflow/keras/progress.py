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
        self.target = target
        self.width = width
        self.verbose = verbose
        self.interval = interval
        self.unit_name = unit_name
        self.stateful_metrics = set(stateful_metrics or ())
        # A screen whose line can be written again.
        self._dynamic_display = (
            hasattr(sys.stdout, "isatty")
            and sys.stdout.isatty()
            or "ipykernel" in sys.modules
            or "posix" in sys.modules
            or "PYCHARM_HOSTED" in os.environ
        )
        self._total_width = 0
        self._seen_so_far = 0
        self._values: dict[str, Any] = {}
        self._values_order: list[str] = []
        self._start = time.time()
        self._last_update = 0.0

    def update(self, current: int, values: Any = None) -> None:
        """Shows the bar at a step."""
        for name, value in values or ():
            if name not in self._values_order:
                self._values_order.append(name)
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
        before = self._total_width
        sys.stdout.write("\b" * before + "\r" if self._dynamic_display else "\n")
        if self.target is not None:
            digits = int(np.log10(self.target)) + 1
            bar = f"{current:{digits}d}/{self.target} ["
            filled = int(self.width * float(current) / self.target)
            if filled > 0:
                bar += "=" * (filled - 1) + (">" if current < self.target else "=")
            bar += "." * (self.width - filled) + "]"
        else:
            bar = f"{current:7d}/Unknown"
        self._total_width = len(bar)
        sys.stdout.write(bar)
        each = (now - self._start) / current if current else 0
        if self.target is not None and current < self.target:
            info = f" - ETA: {_remaining(each * (self.target - current))}"
        else:
            info = f" - {now - self._start:.0f}s" + _pace(each, self.unit_name)
        info += self._shown_values()
        self._total_width += len(info)
        if before > self._total_width:
            info += " " * (before - self._total_width)
        if self.target is not None and current >= self.target:
            info += "\n"
        sys.stdout.write(info)
        sys.stdout.flush()

    def _shown_values(self, last_line: bool = False) -> str:
        shown = ""
        for name in self._values_order:
            shown += f" - {name}:"
            total, count = self._values[name]
            value = np.mean(total / max(1, count))
            # The last line, and only it, shows negative values as small ones.
            shown += f" {value:.4f}" if (value if last_line else abs(value)) > 1e-3 else f" {value:.4e}"
        return shown

    def add(self, n: int, values: Any = None) -> None:
        """Goes on by some steps."""
        self.update(self._seen_so_far + n, values)


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
