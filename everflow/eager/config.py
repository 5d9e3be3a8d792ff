"""tf.config: devices, threads and switches of a program that runs ops at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import everflow as tf
from everflow.api import internal, public
from everflow.eager.context import ASYNC, SYNC, context
from everflow.eager.devices import PLACEMENT
from everflow.eager.execute import CONTEXT
from everflow.lazy import torch
from everflow.runtime.threads import available


@internal("eager.context.PhysicalDevice")
class PhysicalDevice(NamedTuple):
    """A device of the machine."""

    name: str
    device_type: str


@internal("eager.context.LogicalDevice")
class LogicalDevice(NamedTuple):
    """A device as ops see it."""

    name: str
    device_type: str


@public("config.experimental.VirtualDeviceConfiguration")
@internal("eager.context.VirtualDeviceConfiguration")
class VirtualDeviceConfiguration(NamedTuple):
    """A part of a GPU's memory that is a device of its own."""

    memory_limit: Any = None


class _Settings:
    """What the program chose."""

    def __init__(self) -> None:
        self.visible: list[PhysicalDevice] | None = None
        self.growth: dict[PhysicalDevice, bool] = {}
        self.virtual: dict[PhysicalDevice, Any] = {}
        self.jit = False
        self.optimizer: dict[str, Any] = {}
        self.inter_op_threads = 0
        self.intra_op_threads = 0
        self.threads_at_first: int | None = None


SETTINGS = _Settings()


def _checked(device: Any) -> Any:
    if device not in list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")
    return device


@public("config.experimental.list_physical_devices")
@internal("framework.config.list_physical_devices")
def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of this machine."""
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    found = [PhysicalDevice("/physical_device:CPU:0", "CPU")]
    found += [PhysicalDevice(f"/physical_device:GPU:{i}", "GPU") for i in range(gpus)]
    return [d for d in found if device_type is None or d.device_type == device_type]


@public("config.experimental.list_logical_devices")
@internal("framework.config.list_logical_devices")
def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that ops can be put on."""
    found = []
    for d in get_visible_devices():
        names = [f"CPU:{i}" for i in range(PLACEMENT.cpus)] if d.device_type == "CPU" else [d.name.partition("device:")[2]]
        found += [LogicalDevice(f"{PLACEMENT.local}/device:{name}", d.device_type) for name in names]
    return [d for d in found if device_type is None or d.device_type == device_type]


@public("config.experimental.get_visible_devices")
@internal("framework.config.get_visible_devices")
def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that the program uses."""
    found = list_physical_devices() if SETTINGS.visible is None else SETTINGS.visible
    return [d for d in found if device_type is None or d.device_type == device_type]


@public("config.experimental.set_visible_devices")
@internal("framework.config.set_visible_devices")
def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Chooses the devices that the program uses."""
    chosen = [_checked(d) for d in (devices if isinstance(devices, list) else [devices])]
    kept = [] if device_type is None else [d for d in get_visible_devices() if d.device_type != device_type]
    SETTINGS.visible = kept + chosen


@public("config.experimental.get_memory_growth")
@internal("framework.config.get_memory_growth")
def get_memory_growth(device: Any) -> bool:
    """Whether a GPU's memory is taken as it is needed."""
    return SETTINGS.growth.get(_checked(device), False)


@public("config.experimental.set_memory_growth")
@internal("framework.config.set_memory_growth")
def set_memory_growth(device: Any, enable: bool) -> None:
    """Notes how a GPU's memory should be taken; torch takes it as it is needed."""
    if _checked(device).device_type != "GPU":
        raise ValueError("Cannot set memory growth on non-GPU devices")
    SETTINGS.growth[device] = bool(enable)


@public("config.experimental.get_virtual_device_configuration")
@internal("framework.config.get_virtual_device_configuration")
def get_virtual_device_configuration(device: Any) -> Any:
    """The parts that a device was split into, or None."""
    return SETTINGS.virtual.get(_checked(device))


@public("config.experimental.set_virtual_device_configuration")
@internal("framework.config.set_virtual_device_configuration")
def set_virtual_device_configuration(device: Any, virtual_devices: Any) -> None:
    """Notes the parts that a device should be split into."""
    kind = _checked(device).device_type
    if kind == "CPU" and any(v.memory_limit is not None for v in virtual_devices):
        raise ValueError("Setting memory limit on CPU virtual devices is currently not supported")
    if kind == "GPU" and len(virtual_devices) > 1 and any(v.memory_limit is None for v in virtual_devices):
        raise ValueError("Setting memory limit is required for GPU virtual devices is")
    SETTINGS.virtual[device] = virtual_devices
    if kind == "CPU":
        cpus = max(1, len(virtual_devices))
        PLACEMENT.choose(cpus=cpus)
        # Functions put their ops on the same devices.
        CONTEXT.placer.tasks[0].configure(tf.ConfigProto(device_count={"CPU": cpus}))


@public("config.experimental.get_device_policy")
@internal("framework.config.get_device_policy")
def get_device_policy() -> str:
    """What happens to inputs that are on another device than their op."""
    return _POLICIES[context().device_policy]


_POLICIES = {0: "explicit", 1: "warn", 2: "silent", 3: "silent_for_int32"}


@public("config.experimental.set_device_policy")
@internal("framework.config.set_device_policy")
def set_device_policy(device_policy: str | None) -> None:
    """Sets it: "explicit", "warn", "silent" or "silent_for_int32"."""
    if device_policy is None:
        context().device_policy = 2
        return
    for number, name in _POLICIES.items():
        if name == device_policy:
            context().device_policy = number
            return
    raise ValueError(f"Not a valid device policy: {device_policy!r}")


@public("config.experimental.get_synchronous_execution")
@internal("framework.config.get_synchronous_execution")
def get_synchronous_execution() -> bool:
    """Whether an op is done when its call returns."""
    return context().execution_mode == SYNC


@public("config.experimental.set_synchronous_execution")
@internal("framework.config.set_synchronous_execution")
def set_synchronous_execution(enable: bool | None) -> None:
    """Notes what the program asks for; ops are done when their calls return."""
    context().execution_mode = SYNC if enable is None or enable else ASYNC


@public("config.get_soft_device_placement")
@internal("framework.config.get_soft_device_placement")
def get_soft_device_placement() -> bool:
    """Whether an op goes to another device where it can't run on the one asked for."""
    return PLACEMENT.is_soft


@public("config.set_soft_device_placement")
@internal("framework.config.set_soft_device_placement")
def set_soft_device_placement(enabled: bool) -> None:
    """Sets it."""
    PLACEMENT.is_soft = bool(enabled)


@public("config.optimizer.get_jit")
@internal("framework.config.get_optimizer_jit")
def get_optimizer_jit() -> bool:
    """Whether compilation was asked for."""
    return SETTINGS.jit


@public("config.optimizer.set_jit")
@internal("framework.config.set_optimizer_jit")
def set_optimizer_jit(enabled: bool) -> None:
    """Asks for compilation of the functions that run from now on for the first time."""
    SETTINGS.jit = CONTEXT.compiles = bool(enabled)


@public("config.optimizer.get_experimental_options")
@internal("framework.config.get_optimizer_experimental_options")
def get_optimizer_experimental_options() -> dict[str, Any]:
    """The options that were set."""
    return dict(SETTINGS.optimizer)


@public("config.optimizer.set_experimental_options")
@internal("framework.config.set_optimizer_experimental_options")
def set_optimizer_experimental_options(options: dict[str, Any]) -> None:
    """Sets options of the graph optimizer."""
    SETTINGS.optimizer.update(options)


@public("config.threading.get_inter_op_parallelism_threads")
@internal("framework.config.get_inter_op_parallelism_threads")
def get_inter_op_parallelism_threads() -> int:
    """How many ops may run at once; 0 leaves it open."""
    return SETTINGS.inter_op_threads


@public("config.threading.set_inter_op_parallelism_threads")
@internal("framework.config.set_inter_op_parallelism_threads")
def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Notes it: eager ops run one after another, whatever it is."""
    SETTINGS.inter_op_threads = num_threads


@public("config.threading.get_intra_op_parallelism_threads")
@internal("framework.config.get_intra_op_parallelism_threads")
def get_intra_op_parallelism_threads() -> int:
    """How many threads an op may use; 0 leaves it open."""
    return SETTINGS.intra_op_threads


@public("config.threading.set_intra_op_parallelism_threads")
@internal("framework.config.set_intra_op_parallelism_threads")
def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Sets it; 0 goes back to as many as there were."""
    if SETTINGS.threads_at_first is None:
        SETTINGS.threads_at_first = torch.get_num_threads()
    SETTINGS.intra_op_threads = num_threads
    torch.set_num_threads(num_threads or SETTINGS.threads_at_first)
    available.cache_clear()
