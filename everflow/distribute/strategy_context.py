"""Which strategy holds in a thread, and whether the thread speaks for one replica or for all."""

from __future__ import annotations

import threading
from typing import Any

from everflow.api import internal, public

DISTRIBUTE = "distribute.distribution_strategy_context."


class Standing:
    """A strategy that was entered, and the replica that the code inside runs for; None where it runs for all."""

    __slots__ = ("replica_context", "strategy", "update_replica")

    def __init__(self, strategy: Any, replica_context: Any = None, update_replica: int | None = None) -> None:
        self.strategy = strategy
        self.replica_context = replica_context
        # Which copy of a variable is being written, where a write is in progress.
        self.update_replica = update_replica

    def __enter__(self) -> Any:
        STANDINGS.stack.append(self)
        return self.replica_context

    def __exit__(self, *_: Any) -> None:
        if STANDINGS.stack[-1] is not self:
            raise RuntimeError("Scopes of distribution strategies were not left in the order in which they were entered.")
        STANDINGS.stack.pop()


class _Standings(threading.local):
    def __init__(self) -> None:
        self.stack: list[Standing] = []


STANDINGS = _Standings()
_default: Any = None
# The scope that experimental_set_strategy entered.
_held: Any = None


def default_strategy() -> Any:
    """The strategy where none was entered: one replica, on whatever device ops are put."""
    global _default
    if _default is None:
        from everflow.distribute.default_strategy import DefaultStrategy

        _default = DefaultStrategy()
    return _default


def standing() -> Standing | None:
    """Where this thread stands; None where no strategy was entered."""
    stack = STANDINGS.stack
    return stack[-1] if stack else None


@public("distribute.get_strategy", "contrib.distribute.get_strategy")
@internal(DISTRIBUTE + "get_strategy")
def get_strategy() -> Any:
    """The strategy that holds here; the default one where none was entered."""
    found = standing()
    return found.strategy if found else default_strategy()


@public("distribute.has_strategy", "contrib.distribute.has_strategy", "contrib.distribute.has_distribution_strategy")
@internal(DISTRIBUTE + "has_strategy")
def has_strategy() -> bool:
    """Whether a strategy other than the default one holds here."""
    found = standing()
    return found is not None and found.strategy is not _default


@public("distribute.in_cross_replica_context", "contrib.distribute.in_cross_replica_context")
@internal(DISTRIBUTE + "in_cross_replica_context")
def in_cross_replica_context() -> bool:
    """Whether the code here speaks for all replicas."""
    found = standing()
    return found is not None and found.replica_context is None


@public("distribute.get_replica_context", "contrib.distribute.get_replica_context")
@internal(DISTRIBUTE + "get_replica_context")
def get_replica_context() -> Any:
    """The replica that the code here runs for; None where it speaks for all."""
    found = standing()
    return default_strategy().extended.replica_context if found is None else found.replica_context


@internal(DISTRIBUTE + "get_cross_replica_context")
def get_cross_replica_context() -> Any:
    """The strategy, where the code here speaks for all replicas; else None."""
    return get_strategy() if in_cross_replica_context() else None


@internal("distribute.distribute_lib.get_update_replica_id")
def update_replica() -> int | None:
    """The copy of a variable that is being written here, if any."""
    found = standing()
    return None if found is None else found.update_replica


@public("distribute.experimental_set_strategy")
@internal(DISTRIBUTE + "experimental_set_strategy")
def experimental_set_strategy(strategy: Any) -> None:
    """Enters a strategy for the rest of the program; None leaves it."""
    global _held
    if len(STANDINGS.stack) > (0 if _held is None else 1):
        raise RuntimeError("Must not be called inside a `tf.distribute.Strategy` scope.")
    if _held is not None:
        _held.__exit__(None, None, None)
        _held = None
    if strategy is not None and strategy is not _default:
        _held = strategy.scope()
        _held.__enter__()


def require_replica_context(replica_context: Any) -> None:
    """An error where `replica_context` is not the replica that the code here runs for."""
    if get_replica_context() is replica_context:
        return
    if in_cross_replica_context():
        raise RuntimeError("Method requires being in a replica context, use get_replica_context().merge_call()")
    raise RuntimeError("Mismatching ReplicaContext.")


def require_cross_replica_context(strategy: Any) -> None:
    """An error where the code here does not speak for all replicas of `strategy`."""
    if in_cross_replica_context() and get_strategy() is strategy:
        return
    if get_strategy() is not strategy:
        raise RuntimeError(f'Need to be inside "with strategy.scope()" for {strategy}')
    raise RuntimeError("Method requires being in cross-replica context, use get_replica_context().merge_call()")
