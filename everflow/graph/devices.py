"""Names of devices: `/job:worker/replica:0/task:2/device:GPU:1`, each part optional."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from everflow.api import internal, public


class _Parts(NamedTuple):
    job: str | None = None
    replica: int | None = None
    task: int | None = None
    device_type: str | None = None
    device_index: int | None = None

    def over(self, other: _Parts) -> _Parts:
        """The parts of the other, replaced by those that are given here."""
        return _Parts._make(theirs if mine is None else mine for mine, theirs in zip(self, other))


@functools.lru_cache(maxsize=4096)
def _parsed(name: str) -> _Parts:
    found: dict[str, Any] = {}
    for part in name.split("/"):
        fields = part.split(":")
        key, count = fields[0], len(fields)
        if not part:
            continue
        if count == 2 and key == "job":
            found[key] = fields[1]
        elif count == 2 and key in ("replica", "task"):
            found[key] = int(fields[1])
        elif (count <= 2 and key.upper() in ("CPU", "GPU")) or (count == 3 and key == "device"):
            if "device_type" in found:
                raise ValueError(f"Cannot specify multiple device types: {name}")
            found["device_type"] = fields[1] if key == "device" else key.upper()
            index = fields[-1] if count > 1 else "*"
            found["device_index"] = None if index == "*" else int(index)
        else:
            raise ValueError(f"Unknown attribute: '{key}' in '{name}'")
    return _Parts(**found)


@functools.lru_cache(maxsize=4096)
def _written(parts: _Parts) -> str:
    name = "".join(f"/{key}:{value}" for key, value in zip(_Parts._fields[:3], parts) if value is not None)
    if parts.device_type is None:
        return name
    return f"{name}/device:{parts.device_type}:{'*' if parts.device_index is None else parts.device_index}"


@internal("framework.device_spec.DeviceSpecV2")
@public("compat.v2.DeviceSpec")
class ImmutableDeviceSpec:
    """A device's name taken apart; making another name makes another object."""

    __slots__ = ("_parts",)

    def __init__(self, job: Any = None, replica: Any = None, task: Any = None, device_type: Any = None, device_index: Any = None) -> None:
        self._parts = _Parts(
            None if job is None else str(job),
            None if replica is None else int(replica),
            None if task is None else int(task),
            _type_name(device_type),
            None if device_index is None else int(device_index),
        )

    @classmethod
    def _of(cls, parts: _Parts) -> Any:
        spec = object.__new__(cls)
        spec._parts = parts
        return spec

    @classmethod
    def from_string(cls, spec: str | None) -> Any:
        """The spec that a name such as `/job:ps/cpu:0` means."""
        return cls._of(_parsed(spec or ""))

    def parse_from_string(self, spec: str | None) -> Any:
        """The spec that a name means."""
        return self.from_string(spec)

    def to_string(self) -> str:
        """The full name; a type without an index is written `GPU:*`."""
        return _written(self._parts)

    def make_merged_spec(self, dev: ImmutableDeviceSpec) -> Any:
        """This spec, with what the other one gives in its place."""
        return self._of(dev._parts.over(self._parts))

    def replace(self, **kwargs: Any) -> Any:
        """This spec with some parts replaced."""
        return type(self)(**{**self._parts._asdict(), **kwargs})

    @property
    def job(self) -> str | None:
        """The name of the job."""
        return self._parts.job

    @property
    def replica(self) -> int | None:
        """Which replica."""
        return self._parts.replica

    @property
    def task(self) -> int | None:
        """Which task of the job."""
        return self._parts.task

    @property
    def device_type(self) -> str | None:
        """CPU, GPU, ..."""
        return self._parts.device_type

    @property
    def device_index(self) -> int | None:
        """Which device of its type."""
        return self._parts.device_index

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)


def _type_name(device_type: Any) -> str | None:
    """The two types that also have short names are written in capitals."""
    if device_type in ("cpu", "gpu"):
        return device_type.upper()
    return None if device_type is None else str(device_type)


def _settable(name: str) -> property:
    """A part that may be assigned, checked as the constructor checks it."""

    def assign(spec: DeviceSpec, value: Any) -> None:
        spec._parts = spec.replace(**{name: value})._parts

    inherited = getattr(ImmutableDeviceSpec, name)
    return property(inherited.fget, assign, doc=inherited.__doc__)


@public("DeviceSpec")
@internal("framework.device_spec.DeviceSpecV1", "framework.device.DeviceSpec")
class DeviceSpec(ImmutableDeviceSpec):
    """A device's name taken apart, for changing and merging."""

    __slots__ = ()

    job = _settable("job")
    replica = _settable("replica")
    task = _settable("task")
    device_type = _settable("device_type")
    device_index = _settable("device_index")

    def parse_from_string(self, spec: str | None) -> DeviceSpec:
        """Takes all parts from a name."""
        self._parts = _parsed(spec or "")
        return self

    def merge_from(self, dev: ImmutableDeviceSpec) -> None:
        """Takes over the parts that the other spec gives."""
        self._parts = dev._parts.over(self._parts)


@internal("framework.device.is_device_spec")
def is_device_spec(obj: Any) -> bool:
    """Whether an object is a device spec of either kind."""
    return isinstance(obj, ImmutableDeviceSpec)


@internal("framework.device.canonical_name")
def canonical_name(device: Any) -> str:
    """The full name of a device given as a name, a spec or None."""
    if device is None:
        return ""
    return device.to_string() if is_device_spec(device) else _written(_parsed(device))


@internal("framework.device.check_valid")
def check_valid(spec: str) -> None:
    """Raises ValueError if a name is not a device's."""
    _parsed(spec)


@internal("framework.device.MergeDevice")
class MergeDevice:
    """A device function: gives an op this device, except for what the op's own device says."""

    __slots__ = ("_spec",)

    def __init__(self, spec: Any) -> None:
        self._spec = spec if is_device_spec(spec) else DeviceSpec.from_string(spec)

    def __call__(self, node_def: Any) -> ImmutableDeviceSpec:
        own = _parsed(node_def.device or "") if node_def is not None else _Parts()
        return DeviceSpec._of(own.over(self._spec._parts))

    def shortcut_string_merge(self, node_def: Any) -> str:
        """The merged device as a name."""
        return self(node_def).to_string()

    @property
    def is_null_merge(self) -> bool:
        """Whether this leaves every op's device as it is."""
        return self._spec._parts == _Parts()

    def __repr__(self) -> str:
        return f"{object.__repr__(self)} (spec: {self._spec.to_string()})"


@functools.lru_cache(maxsize=1024)
def _merging(name: str) -> MergeDevice:
    return MergeDevice(name)


@internal("framework.device.merge_device")
def merge_device(spec: Any) -> MergeDevice:
    """The device function that merges a device (name, spec or None) into those of ops."""
    return MergeDevice(spec) if is_device_spec(spec) else _merging(spec or "")
