"""Facts about ops that a program may register: what running them costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.api import internal, public


@public("OpStats", "contrib.framework.OpStats")
@internal("framework.ops.OpStats")
class OpStats:
    """A number and its unit, such as 2 * m * n * k `flops`; sums of stats skip what is unknown."""

    def __init__(self, statistic_type: str, value: Any = None) -> None:
        self.statistic_type = statistic_type
        self.value = value

    @property
    def statistic_type(self) -> str:
        """What is counted."""
        return self._statistic_type

    @statistic_type.setter
    def statistic_type(self, statistic_type: str) -> None:
        self._statistic_type = statistic_type

    @property
    def value(self) -> Any:
        """The count, or None where it is not known."""
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        self._value = value

    def __iadd__(self, other: OpStats) -> OpStats:
        if other.statistic_type != self.statistic_type:
            raise ValueError(f"Can't add an OpStat of type {self.statistic_type} to one of {other.statistic_type}.")
        if self.value is None:
            self.value = other.value
        elif other.value is not None:
            self._value += other.value
        return self


_statistics: dict[str, Callable[..., OpStats]] = {}


@public("contrib.framework.RegisterStatistics")
@internal("framework.ops.RegisterStatistics")
class RegisterStatistics:
    """`@ops.RegisterStatistics("MatMul", "flops")` on a function of (graph, node) that returns an OpStats."""

    def __init__(self, op_type: str, statistic_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string.")
        if "," in op_type:
            raise TypeError("op_type must not contain a comma.")
        if not isinstance(statistic_type, str):
            raise TypeError("statistic_type must be a string.")
        if "," in statistic_type:
            raise TypeError("statistic_type must not contain a comma.")
        self._key = f"{op_type},{statistic_type}"

    def __call__(self, f: Callable[..., OpStats]) -> Callable[..., OpStats]:
        if self._key in _statistics:
            raise KeyError(f"Registering two statistics with name '{self._key}'!")
        _statistics[self._key] = f
        return f


@internal("framework.ops.get_stats_for_node_def")
def get_stats_for_node_def(graph: Any, node: Any, statistic_type: str) -> OpStats:
    """What was registered for a node's op; an OpStats without a value where nothing was."""
    function = _statistics.get(f"{node.op},{statistic_type}")
    return OpStats(statistic_type) if function is None else function(graph, node)
