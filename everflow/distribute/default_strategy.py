"""The strategy where none was entered."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from everflow.distribute.strategy import Strategy, StrategyExtended


class DefaultStrategy(Strategy):
    """One replica, on whatever devices ops are put."""

    def __init__(self) -> None:
        super().__init__(_DefaultExtended(self))

    def scope(self) -> Any:
        """Changes nothing."""
        return contextlib.nullcontext(self)


class _DefaultExtended(StrategyExtended):
    def __init__(self, strategy: Strategy) -> None:
        super().__init__(strategy)
        self.replica_context = self._replica_context(0)

    def call_for_each_replica(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Calls the function."""
        return fn(*args, **(kwargs or {}))

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        """The value."""
        return value
