"""Which ops can run, as TensorFlow lists its kernels."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.index import OPS
from everflow.ops.core.registry import meaning
from everflow.proto import kernel_def_pb2
from everflow.runtime.devices import CPU


@internal("framework.kernels.get_all_registered_kernels")
def get_all_registered_kernels() -> Any:
    """A KernelList of all ops that can run."""
    return _listed(OPS)


@internal("framework.kernels.get_registered_kernels_for_op")
def get_registered_kernels_for_op(name: str) -> Any:
    """A KernelList of the kernels for an op: one or none."""
    return _listed([name])


def _listed(names: Any) -> Any:
    kernels = kernel_def_pb2.KernelList()
    for name in names:
        found = meaning(name)
        if found is not None and found.kernel is not None:
            kernels.kernel.add(op=name, device_type=CPU)
    return kernels
