"""Which devices there are, under TensorFlow's names."""

from __future__ import annotations

import secrets
import zlib
from typing import Any

from everflow.api import internal
from everflow.graph.devices import DeviceSpec
from everflow.lazy import torch

# This life of the process: who restarts has devices of another incarnation.
_LIFE = secrets.randbits(62)
CPU = "CPU"
GPU = "GPU"
MEMORY = 268435456


def device_counts(config: Any = None) -> dict[str, int]:
    """How many devices of each type a session has: as configured, at least one CPU, the GPUs that torch sees."""
    counts = dict(config.device_count) if config is not None else {}
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return {CPU: max(1, counts.get(CPU, 1)), GPU: min(gpus, counts.get(GPU, gpus))}


@internal("client.session._DeviceAttributes")
class DeviceAttributes:
    """A device of a session."""

    def __init__(self, name: str, device_type: str, memory_limit_bytes: int, incarnation: int) -> None:
        self._spec = DeviceSpec.from_string(name)
        self._device_type = device_type
        self._memory_limit_bytes = int(memory_limit_bytes)
        self._incarnation = int(incarnation)

    @property
    def name(self) -> str:
        return self._spec.to_string()

    @property
    def device_type(self) -> str:
        return self._device_type

    @property
    def memory_limit_bytes(self) -> int:
        return self._memory_limit_bytes

    @property
    def incarnation(self) -> int:
        return self._incarnation

    def __repr__(self) -> str:
        return f"_DeviceAttributes({self.name}, {self.device_type}, {self.memory_limit_bytes}, {self.incarnation})"


def list_devices(config: Any = None, place: str = "/job:localhost/replica:0/task:0") -> list[DeviceAttributes]:
    """The devices of a session on this machine, or of a task of a cluster."""
    found = []
    for kind, count in device_counts(config).items():
        for i in range(count):
            memory = MEMORY if kind == CPU else torch.cuda.get_device_properties(i).total_memory
            name = f"{place}/device:{kind}:{i}"
            found.append(DeviceAttributes(name, kind, memory, _LIFE ^ zlib.crc32(name.encode())))
    return found


@internal("client.device_lib.list_local_devices")
def list_local_devices(session_config: Any = None) -> list[Any]:
    """The devices of this machine, as DeviceAttributes protos."""
    from everflow.proto import device_attributes_pb2

    return [
        device_attributes_pb2.DeviceAttributes(
            name=d.name.replace("/job:localhost/replica:0/task:0", ""),
            device_type=d.device_type,
            memory_limit=d.memory_limit_bytes,
            incarnation=d.incarnation,
        )
        for d in list_devices(session_config)
    ]


def num_gpus() -> int:
    """How many GPUs there are."""
    return device_counts()[GPU]
