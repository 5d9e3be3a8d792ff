"""Names of devices as strategies compare them: with every part filled in."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.eager.devices import CURRENT, PLACEMENT
from everflow.graph.devices import DeviceSpec
from everflow.graph.scopes import is_eager_outside
from everflow.graph.stacks import get_default_graph

DEVICES = "distribute.device_util."


@internal(DEVICES + "canonicalize")
def canonicalize(d: str | None, default: str | None = None) -> str:
    """A device's name with its replica, task and number; where ops run at once, also with the job."""
    start = "/replica:0/task:0/device:CPU:0"
    if is_eager_outside():
        start = f"/job:{DeviceSpec.from_string(PLACEMENT.local).job}{start}"
    return _filled(_filled(start, default), d)


def _filled(start: str, name: str | None) -> str:
    return DeviceSpec.from_string(start).make_merged_spec(DeviceSpec.from_string(name)).to_string()


@internal(DEVICES + "resolve")
def resolve(d: str | None) -> str:
    """A device's name, with what it leaves open as the device scopes around say."""
    return canonicalize(d, default=current())


class _Probe:
    """Stands for an op, to see which device the scopes of a graph give it."""

    type = "FakeOperation"
    name = ""
    device = ""

    def __init__(self) -> None:
        self.node_def = self

    def _set_device(self, given: Any) -> None:
        self.device = given if isinstance(given, str) else given.to_string()

    _set_device_from_string = _set_device


@internal(DEVICES + "current")
def current() -> str:
    """The device that ops made here get; empty where none is asked for."""
    if tf.executing_eagerly():
        return CURRENT.name
    probe = _Probe()
    get_default_graph()._apply_device_functions(probe)
    return probe.device


@internal(DEVICES + "get_host_for_device")
def get_host_for_device(device: str) -> str:
    """The processor of the task that a device belongs to."""
    spec = DeviceSpec.from_string(device)
    return DeviceSpec(job=spec.job, replica=spec.replica, task=spec.task, device_type="CPU", device_index=0).to_string()


@internal(DEVICES + "local_devices_from_num_gpus")
def local_devices_from_num_gpus(num_gpus: int) -> tuple[str, ...]:
    """Some GPUs of this machine; its processor if there are to be none."""
    return tuple(f"/device:GPU:{i}" for i in range(num_gpus)) or ("/device:CPU:0",)
