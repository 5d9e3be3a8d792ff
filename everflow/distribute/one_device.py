"""tf.distribute.OneDeviceStrategy: everything on one device."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.distribute.reductions import canonicalize
from everflow.distribute.strategy import Strategy, StrategyExtended
from everflow.graph.scopes import colocate_with as _colocate_with
from everflow.graph.scopes import device as on_device
from everflow.ops.variables.variables import VariableSynchronization


@public("distribute.OneDeviceStrategy")
class OneDeviceStrategy(Strategy):
    """Puts variables and computation on one device: to write programs for strategies, and to debug them."""

    def __init__(self, device: Any) -> None:
        super().__init__(OneDeviceExtended(self, device))


@public("contrib.distribute.OneDeviceStrategy")
class ContribOneDeviceStrategy(OneDeviceStrategy):
    """The same, as it was before tf.distribute."""


class OneDeviceExtended(StrategyExtended):
    """How one device does it."""

    def __init__(self, strategy: Strategy, device: str) -> None:
        super().__init__(strategy)
        self._device = canonicalize(device)

    @property
    def _default_device(self) -> str:  # type: ignore[override]
        return self._device

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The device."""
        return (self._device,)

    parameter_devices = worker_devices

    def non_slot_devices(self, var_list: Any) -> Any:
        """The device."""
        return (self._device,)

    def _create_variable(self, next_creator: Any, **kwargs: Any) -> Any:
        if kwargs.get("synchronization") in (VariableSynchronization.ON_READ, VariableSynchronization.ON_WRITE):
            kwargs.setdefault("trainable", None)
        beside = kwargs.pop("colocate_with", None)
        with on_device(self._device) if beside is None else _colocate_with(beside):
            made = next_creator(**kwargs)
        made._distribute_strategy = self._strategy
        return made
