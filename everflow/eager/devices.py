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


CURRENT = _Current()


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
        self._chosen = _named(name) if type(name) is str else _found(name)

    def __enter__(self) -> None:
        self._before = CURRENT.name, CURRENT.place
        CURRENT.name, CURRENT.place = self._chosen

    def __exit__(self, *_: Any) -> None:
        CURRENT.name, CURRENT.place = self._before


@functools.lru_cache(maxsize=256)
def _named(name: str) -> tuple[str, Any]:
    return _found(name)


def _found(name: Any) -> tuple[str, Any]:
    if name is None or name == "":
        return "", None
    spec = name if is_device_spec(name) else DeviceSpec.from_string(_lengthened(str(name)))
    merged = DeviceSpec.from_string("/job:localhost/replica:0/task:0/device:CPU:0").make_merged_spec(spec)
    if (merged.device_type or "CPU").upper() != "GPU":
        return merged.to_string(), None
    from everflow.runtime.devices import num_gpus

    index = merged.device_index or 0
    if index >= num_gpus():
        # As with soft placement: what asks for a GPU runs where it can.
        raise RuntimeError(f"GPU:{index} unknown device.")
    return merged.to_string(), f"cuda:{index}"


def _lengthened(name: str) -> str:
    """`gpu:0` means `/device:GPU:0`."""
    return name if name.startswith("/") else f"/device:{name}"
