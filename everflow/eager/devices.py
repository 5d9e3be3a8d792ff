"""Devices of ops that run at once."""
from __future__ import annotations

import functools
import threading
from typing import Any

from everflow.graph.devices import DeviceSpec, is_device_spec


class _Current(threading.local):
    """The device that a thread asked for: its name, and torch's device where that is not the processor."""

    name = ""
    place: Any = None


class _Placement:
    """Whether what asks for a device that is not there goes to another one."""

    is_soft = False


CURRENT = _Current()
PLACEMENT = _Placement()


def placed(value: Any) -> Any:
    """A new value, on the device that was asked for."""
    place = CURRENT.place
    return value if place is None else value.to(place)


class device:
    """`with device(name):` values made inside are put on a device."""

    __slots__ = ("_before", "_chosen")

    def __init__(self, name: Any) -> None:
        if callable(name) and not is_device_spec(name):
            raise RuntimeError("tf.device does not support functions when eager execution is enabled.")
        self._chosen = _named(name, PLACEMENT.is_soft) if type(name) is str else _found(name, PLACEMENT.is_soft)

    def __enter__(self) -> None:
        self._before = CURRENT.name, CURRENT.place
        CURRENT.name, CURRENT.place = self._chosen

    def __exit__(self, *_: Any) -> None:
        CURRENT.name, CURRENT.place = self._before


def _found(name: Any, is_soft: bool) -> tuple[str, Any]:
    if name is None or name == "":
        return "", None
    spec = name if is_device_spec(name) else DeviceSpec.from_string(_lengthened(str(name)))
    if spec.device_type is not None and spec.device_type.upper() not in _TYPES:
        raise ValueError(f"Unknown attribute: {spec.device_type!r} of the device {str(name)!r}.")
    merged = DeviceSpec.from_string("/job:localhost/replica:0/task:0/device:CPU:0").make_merged_spec(spec)
    if (merged.device_type or "CPU").upper() != "GPU":
        return merged.to_string(), None
    from everflow.runtime.devices import num_gpus

    index = merged.device_index or 0
    if index < num_gpus():
        return merged.to_string(), f"cuda:{index}"
    if is_soft:
        return merged.to_string(), None
    raise RuntimeError(f"{merged.to_string()} unknown device.")


_named = functools.lru_cache(maxsize=256)(_found)


_TYPES = ("CPU", "GPU", "TPU", "XLA_CPU", "XLA_GPU", "XLA_CPU_JIT", "XLA_GPU_JIT")


def _lengthened(name: str) -> str:
    """`gpu:0` means `/device:GPU:0`, and `gpu` any of them."""
    return name if name.startswith("/") or ":" not in name else f"/device:{name}"
