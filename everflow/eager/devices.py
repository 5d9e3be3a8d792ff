"""Devices of ops that run at once."""

from __future__ import annotations

import functools
import threading
from typing import Any

from everflow.graph.devices import DeviceSpec, is_device_spec
from everflow.runtime.devices import num_gpus


class _Current(threading.local):
    """The device that a thread asked for: its name, and torch's device or another process's where it is not the processor."""

    name = ""
    place: Any = None


class _Placement:
    """Whether what asks for a device that is not there goes to another one, and what the devices of this process are called."""

    is_soft = False
    local = "/job:localhost/replica:0/task:0"
    # Into how many devices the processor was split.
    cpus = 1

    def choose(self, local: str | None = None, cpus: int | None = None) -> None:
        """Changes what devices there are."""
        self.local = self.local if local is None else local
        self.cpus = self.cpus if cpus is None else cpus
        _named.cache_clear()


CURRENT = _Current()
PLACEMENT = _Placement()
# The devices of other processes by their names; see everflow.eager.remote_devices.
REMOTE: dict[str, Any] = {}


class _Chooser:
    """Says for an op and its inputs which device of another process it runs on; None means this one."""

    remote: Any = None
    log: Any = None

    def __call__(self, op: str, inputs: list[Any]) -> Any:
        place = None if self.remote is None else self.remote(inputs)
        if self.log is not None:
            self.log(op, place)
        return place

    def use(self, **functions: Any) -> None:
        """Sets what there is to ask; as long as there is nothing, programs don't pay for the question."""
        for name, found in functions.items():
            setattr(self, name, found)
        CHOOSERS[:] = [self] if self.remote is not None or self.log is not None else []


CHOOSER = _Chooser()
CHOOSERS: list[_Chooser] = []


def placed(value: Any) -> Any:
    """A new value, on the device that was asked for. What another process's ops take is sent when they take it."""
    place = CURRENT.place
    return value.to(place) if type(place) is str else value


class device:
    """`with device(name):` values made inside are put on a device."""

    __slots__ = ("_before", "_chosen")

    def __init__(self, name: str | None) -> None:
        if callable(name) and not is_device_spec(name):
            raise RuntimeError("tf.device does not support functions when eager execution is enabled.")
        self._chosen = _named(name, PLACEMENT.is_soft) if type(name) is str else _found(name, PLACEMENT.is_soft)

    def __enter__(self) -> None:
        self._before = CURRENT.name, CURRENT.place
        CURRENT.name, CURRENT.place = self._chosen

    def __exit__(self, *_: Any) -> None:
        if CURRENT.name != self._chosen[0]:
            raise RuntimeError("Exiting device scope without proper scope nesting")
        CURRENT.name, CURRENT.place = self._before


def _found(name: Any, is_soft: bool) -> tuple[str, Any]:
    if name is None or name == "":
        return "", None
    spec = name if is_device_spec(name) else DeviceSpec.from_string(_lengthened(str(name)))
    if spec.device_type is not None and spec.device_type.upper() not in _TYPES:
        raise ValueError(f"Unknown attribute: {spec.device_type!r} in {str(name)!r}")
    merged = DeviceSpec.from_string(f"{PLACEMENT.local}/device:CPU:0").make_merged_spec(spec)
    full = merged.replace(device_type=(merged.device_type or "CPU").upper()).to_string()
    if full in REMOTE:
        return full, REMOTE[full]
    task, _, device_name = full.rpartition("/device:")
    kind, _, number = device_name.rpartition(":")
    if task == PLACEMENT.local:
        if kind == "GPU" and int(number) < num_gpus():
            return full, f"cuda:{number}"
        if kind == "CPU" and int(number) < PLACEMENT.cpus or kind.startswith("XLA_CPU"):
            return full, None
    if is_soft:
        return full, None
    raise RuntimeError(f"{full} unknown device.")


_named = functools.lru_cache(maxsize=256)(_found)


_TYPES = ("CPU", "GPU", "TPU", "XLA_CPU", "XLA_GPU", "XLA_CPU_JIT", "XLA_GPU_JIT")


def _lengthened(name: str) -> str:
    """`gpu:0` means `/device:GPU:0`, and `gpu` any of them."""
    return name if name.startswith("/") or ":" not in name else f"/device:{name}"
