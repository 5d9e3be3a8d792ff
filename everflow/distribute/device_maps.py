"""Which devices hold a distributed value, and which part of it each replica has."""

from __future__ import annotations

import abc
import collections
from collections.abc import Iterator, Sequence
from typing import Any

from everflow.api import internal
from everflow.distribute.device_names import canonicalize, current

MAPS = "distribute.values."

LogicalDeviceSpec = internal(MAPS + "LogicalDeviceSpec")(collections.namedtuple("LogicalDeviceSpec", ["device_map", "logical_device"]))


@internal(MAPS + "DeviceMap")
class DeviceMap(abc.ABC):
    """The devices of a distributed value, in the order of its parts."""

    num_logical_devices = 1

    def __init__(self, devices: Sequence[str]) -> None:
        self._devices = tuple(devices)

    @property
    def all_devices(self) -> tuple[str, ...]:
        """All devices."""
        return self._devices

    @property
    def num_replicas_in_graph(self) -> int:
        """How many parts a value has."""
        return len(self._devices)

    @property
    @abc.abstractmethod
    def devices_by_replica(self) -> Any:
        """The devices of each replica."""

    def logical_device_from_values(self, values: Sequence[Any]) -> int:
        """Which device of its replica a value is on: each has one."""
        return 0

    def logical_to_actual_devices(self, logical_device_id: int) -> tuple[str, ...]:
        """The devices that hold the parts."""
        return self._devices

    @abc.abstractmethod
    def select_for_current_replica(self, values: Sequence[Any], replica_context: Any) -> Any:
        """The part of the replica that the code here runs for."""

    @abc.abstractmethod
    def replica_for_device(self, device: str) -> int | None:
        """The replica of a device."""

    @abc.abstractmethod
    def is_device_in_replica(self, device: str, replica_id: int) -> bool:
        """Whether a device is that of a replica."""

    def select_for_device(self, values: Sequence[Any], device: str) -> Any:
        """The part that is on a device."""
        if device not in self._devices:
            raise ValueError(f"Device {device} not found in {self._devices} (current device {current()})")
        return values[self._devices.index(device)]


def _no_replicas(message: str) -> Any:
    def refused(self: Any, *_: Any) -> Any:
        raise ValueError(message)

    return refused


@internal(MAPS + "SingleDeviceMap")
class SingleDeviceMap(DeviceMap):
    """One device, and one value on it."""

    def __init__(self, device: str) -> None:
        super().__init__((canonicalize(device),))

    devices_by_replica = property(_no_replicas("SingleDeviceMap not indexed by replicas"))
    replica_for_device = _no_replicas("SingleDeviceMap not indexed by replicas")
    is_device_in_replica = _no_replicas("SingleDeviceMap not indexed by replicas")

    def select_for_current_replica(self, values: Sequence[Any], replica_context: Any) -> Any:
        """The value."""
        return values[0]

    def __repr__(self) -> str:
        return f"SingleDeviceMap({self._devices[0]!r})"


@internal(MAPS + "ReplicaDeviceMap")
class ReplicaDeviceMap(DeviceMap):
    """A device for each replica."""

    def __init__(self, devices: Sequence[str]) -> None:
        super().__init__([canonicalize(d) for d in devices])
        if len({*self._devices}) != len(self._devices):
            raise ValueError(f"Duplicate devices in {devices}, after canonicalization: {self._devices}")

    @property
    def devices_by_replica(self) -> Iterator[tuple[str]]:
        """The device of each replica, in a tuple."""
        return ((d,) for d in self._devices)

    def select_for_current_replica(self, values: Sequence[Any], replica_context: Any) -> Any:
        """The part of the replica; a part that is not there is an error."""
        if len(values) != len(self._devices):
            raise AssertionError(f"{len(values)} values for {len(self._devices)} devices")
        return values[_number(replica_context)]

    def replica_for_device(self, device: str) -> int | None:
        """The replica of a device; None if it is nobody's."""
        return self._devices.index(device) if device in self._devices else None

    def is_device_in_replica(self, device: str, replica_id: int) -> bool:
        """Whether a device is that of a replica."""
        return self._devices[replica_id] == canonicalize(device)

    def __repr__(self) -> str:
        return f"ReplicaDeviceMap({list(self._devices)!r})"


@internal(MAPS + "WorkerDeviceMap")
class WorkerDeviceMap(DeviceMap):
    """A device for each worker, which several replicas share."""

    def __init__(self, devices: Sequence[str], num_replicas_per_worker: int) -> None:
        super().__init__(devices)
        self._num_replicas_per_worker = num_replicas_per_worker

    devices_by_replica = property(_no_replicas("`WorkerDeviceMap` is not indexed by replicas"))
    replica_for_device = _no_replicas("`WorkerDeviceMap` not indexed by replicas")
    is_device_in_replica = _no_replicas("WorkerDeviceMap not indexed by replicas")

    def select_for_current_replica(self, values: Sequence[Any], replica_context: Any) -> Any:
        """The part of the replica's worker."""
        return values[_number(replica_context) // self._num_replicas_per_worker]

    def select_for_device(self, values: Sequence[Any], device: str) -> Any:
        """The part of a worker's device."""
        return values[self._devices.index(device)]

    def __repr__(self) -> str:
        return f"WorkerDeviceMap({self._devices!r}, num_replicas_per_worker={self._num_replicas_per_worker})"


def _number(replica_context: Any) -> int:
    """Which replica a context is, as Python knows it."""
    if replica_context is None:
        return 0
    known = getattr(replica_context, "_replica_id", None)
    return replica_context.replica_id_in_sync_group if known is None else known
