"""tf.distribute.OneDeviceStrategy: everything on one device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.distribute.device_maps import SingleDeviceMap
from everflow.distribute.device_names import get_host_for_device, resolve
from everflow.distribute.inputs import FedByWorkers, InputWorkers
from everflow.distribute.strategy import ReplicaContext, Strategy, StrategyExtended, StrategyV2
from everflow.distribute.strategy_context import Standing
from everflow.distribute.values import mapped
from everflow.graph.scopes import colocate_with as _colocate_with
from everflow.graph.scopes import device as on_device


@internal("distribute.one_device_strategy.OneDeviceStrategy")
@public("compat.v2.distribute.OneDeviceStrategy")
class OneDeviceStrategyV2(StrategyV2):
    """Puts variables and computation on one device: to write programs for strategies, and to debug them."""

    def __init__(self, device: Any) -> None:
        super().__init__(OneDeviceExtended(self, device))


@public("distribute.OneDeviceStrategy", "contrib.distribute.OneDeviceStrategy")
class OneDeviceStrategy(Strategy):
    """Puts variables and computation on one device: to write programs for strategies, and to debug them."""

    def __init__(self, device: Any) -> None:
        super().__init__(OneDeviceExtended(self, device))


@internal("distribute.one_device_strategy.OneDeviceExtended")
class OneDeviceExtended(FedByWorkers, StrategyExtended):
    """How one device does it."""

    _support_per_replica_values = False

    def __init__(self, container_strategy: Any, device: str) -> None:
        super().__init__(container_strategy)
        self._device = resolve(device)
        self._input_device = get_host_for_device(self._device)
        self._device_map = SingleDeviceMap(self._device)
        self._input_workers = InputWorkers(self._device_map, [(self._input_device, (self._device,))])

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The device."""
        return (self._device,)

    def non_slot_devices(self, var_list: Any) -> Any:
        """The device."""
        return (self._device,)

    def _create_variable(self, next_creator: Any, **kwargs: Any) -> Any:
        beside = kwargs.pop("colocate_with", None)
        with on_device(self._device) if beside is None or isinstance(beside, str) else _colocate_with(beside):
            made = next_creator(**kwargs)
        made._distribute_strategy = self._strategy
        return made

    def _broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        return tensor

    def _call_for_each_replica(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        with on_device(self._device), ReplicaContext(self._strategy, 0):
            return fn(*args, **kwargs)

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        return value

    def _update(self, var: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool) -> Any:
        return self._update_non_slot(var, fn, (var, *args), kwargs, group)

    def _update_non_slot(self, colocate_with: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool) -> Any:
        with on_device(self._device), Standing(self._strategy, update_device=self._device):
            result = fn(*args, **kwargs)
        return result if group else mapped(result, self._local_results)

    def read_var(self, v: Any) -> Any:
        """The value."""
        return tf.identity(v)

    def _local_results(self, distributed_value: Any) -> tuple[Any, ...]:
        return (distributed_value,)

    def value_container(self, value: Any) -> Any:
        """The value."""
        return value
