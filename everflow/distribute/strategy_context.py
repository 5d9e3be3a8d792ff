"""Which strategy holds in a thread, and whether the thread speaks for one replica or for all."""

from __future__ import annotations

import threading
from typing import Any

from everflow.api import internal, public

DISTRIBUTE = "distribute.distribution_strategy_context."


class Standing:
    """A strategy that was entered, and the replica that the code inside runs for; None where it runs for all."""

    __slots__ = ("replica_context", "strategy", "update_device")

    def __init__(self, strategy: Any, replica_context: Any = None, update_device: str | None = None) -> None:
        self.strategy = strategy
        self.replica_context = replica_context
        # The device whose copies of variables are being written, where a write is in progress.
        self.update_device = update_device

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


@internal(DISTRIBUTE + "_get_default_strategy")
def default_strategy() -> Any:
    """The strategy where none was entered: one replica, on whatever device ops are put."""
    global _default
    if _default is None:
        from everflow.distribute.default_strategy import DefaultStrategy

        _default = DefaultStrategy()
    return _default


@internal(DISTRIBUTE + "_get_default_replica_context")
def default_replica_context() -> Any:
    """The replica that code runs for where no strategy was entered."""
    return default_strategy().extended.replica_context


@internal(DISTRIBUTE + "get_strategy_and_replica_context")
def get_strategy_and_replica_context() -> tuple[Any, Any]:
    """Both at once."""
    return get_strategy(), get_replica_context()


def standing() -> Standing | None:
    """Where this thread stands; None where no strategy was entered."""
    stack = STANDINGS.stack
    return stack[-1] if stack else None


@public("distribute.get_strategy", "contrib.distribute.get_strategy", "contrib.distribute.get_distribution_strategy")
@internal(DISTRIBUTE + "get_strategy", DISTRIBUTE + "get_distribution_strategy")
def get_strategy() -> Any:
    """The strategy that holds here; the default one where none was entered."""
    found = standing()
    return found.strategy if found else default_strategy()


@public("distribute.has_strategy", "contrib.distribute.has_strategy", "contrib.distribute.has_distribution_strategy")
@internal(DISTRIBUTE + "has_strategy", DISTRIBUTE + "has_distribution_strategy")
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
    return default_replica_context() if found is None else found.replica_context


@public("contrib.distribute.get_cross_replica_context")
@internal(DISTRIBUTE + "get_cross_replica_context")
def get_cross_replica_context() -> Any:
    """The strategy, where the code here speaks for all replicas; else None."""
    return get_strategy() if in_cross_replica_context() else None


@internal("distribute.distribute_lib.get_update_device")
def get_update_device() -> str | None:
    """The device whose copies of variables are being written here, if any."""
    found = standing()
    return None if found is None else found.update_device


@public("contrib.distribute.UpdateContext")
class UpdateContext:
    """`with UpdateContext(device):` variables are their copies on this device."""

    def __init__(self, device: str) -> None:
        self._device = device

    def __enter__(self) -> None:
        self._standing = Standing(get_strategy(), update_device=self._device)
        self._standing.__enter__()

    def __exit__(self, *exc: Any) -> None:
        self._standing.__exit__(*exc)


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


@public("contrib.distribute.require_replica_context")
def require_replica_context(replica_ctx: Any) -> None:
    """An error where `replica_ctx` is not the replica that the code here runs for."""
    context, strategy = get_replica_context(), get_strategy()
    if context is replica_ctx:
        return
    if context is None:
        raise RuntimeError("Need to be inside `call_for_each_replica()`")
    if strategy is not replica_ctx.strategy:
        raise RuntimeError(f"Mismatching tf.distribute.Strategy objects: {strategy} is not {replica_ctx.strategy}.")
    raise RuntimeError("Mismatching ReplicaContext.")


def require_strategy(strategy: Any) -> None:
    """An error where another strategy holds than this one."""
    holding = get_strategy()
    if holding is strategy:
        return
    if not has_strategy():
        raise RuntimeError(f'Need to be inside "with strategy.scope()" for {strategy}')
    raise RuntimeError(f"Mixing different tf.distribute.Strategy objects: {holding} is not {strategy}")


def require_cross_replica_context(strategy: Any) -> None:
    """An error where the code here runs for one replica, or for those of another strategy."""
    if in_cross_replica_context() and get_strategy() is strategy:
        return
    require_strategy(strategy)
    raise RuntimeError("Method requires being in cross-replica context, use get_replica_context().merge_call()")


def require_all_or_none(strategy: Any) -> None:
    """An error where the code here runs for one replica of a strategy, or for another strategy; where none was entered, all is well."""
    if has_strategy():
        require_cross_replica_context(strategy)
