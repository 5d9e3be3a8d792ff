"""Where ops are put: blocks of `tf.device` and `colocate_with`. A block is kept with the line of the program it is on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from everflow.graph.attrs import text
from everflow.graph.convert import internal_convert_to_tensor
from everflow.graph.devices import DeviceSpec, canonical_name, is_device_spec
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.graph.traceable import TraceableObject, user_site

Block = tuple[Any, tuple[str, int]]


@contextlib.contextmanager
def device_scope(graph: Any, device: Any) -> Iterator[None]:
    """Ops made inside get this device."""
    if device is not None and not callable(device):
        canonical_name(device)
    old = graph._devices
    block = TraceableObject(device, *user_site())
    graph._devices = [*old, block]
    try:
        yield
    finally:
        if not graph._devices or graph._devices[-1] is not block:
            raise RuntimeError("Exiting device scope without proper scope nesting.")
        graph._devices = old


def apply_devices(blocks: list[TraceableObject], op: Any) -> None:
    """Gives a new op its device: inner blocks win, field by field; None forgets the blocks around."""
    op.__dict__["device_blocks"] = blocks
    # Innermost first: what an inner block says stays, outer blocks fill in what it left open.
    for block in reversed(blocks):
        device = block.obj
        if device is None:
            break
        if callable(device) and not is_device_spec(device):
            op._set_device_from_string(canonical_name(device(op)))
            continue
        merged = DeviceSpec.from_string(canonical_name(device))
        merged.merge_from(DeviceSpec.from_string(op.device))
        op._set_device_from_string(merged.to_string())


def device_assignments(op: Operation) -> list[TraceableObject]:
    """The device blocks that an op was made in, outermost first; functions by name and place."""
    found = []
    for block in op.__dict__.get("device_blocks", ()):
        device = block.obj
        if callable(device) and not is_device_spec(device):
            code = getattr(device, "__code__", None) or type(device).__call__.__code__
            device = f"{getattr(device, '__name__', type(device).__name__)}<{code.co_filename}, {code.co_firstlineno}>"
        found.append(TraceableObject(device, block.filename, block.lineno))
    return found


@contextlib.contextmanager
def colocation_scope(graph: Any, op: Any, ignore_existing: bool) -> Iterator[None]:
    """Ops made inside share the device of `op`."""
    if op is None and not ignore_existing:
        raise ValueError("Trying to reset colocation (op is None) but ignore_existing is not True")
    op = colocation_target(op)
    devices, colocation = graph._devices, graph._colocation
    graph._devices = []
    if ignore_existing:
        graph._colocation = []
    if op is not None:
        graph._colocation = [*graph._colocation, (op, user_site())]
    try:
        yield
    finally:
        graph._devices, graph._colocation = devices, colocation


def colocation_target(value: Any) -> Operation | None:
    """The operation that a value stands for when ops are colocated with it."""
    if value is None or isinstance(value, Operation):
        return value
    if isinstance(value, Tensor):
        return None if value.is_eager else value.op
    handle = getattr(value, "_handle", None)
    if isinstance(handle, Tensor):
        return None if handle.is_eager else handle.op
    if isinstance(getattr(value, "op", None), Operation):
        return value.op
    return internal_convert_to_tensor(value, as_ref=True).op


def apply_colocation(blocks: list[Block], op: Operation) -> None:
    """Puts a new op where the ops of the colocation blocks are."""
    op.__dict__["colocation_blocks"] = blocks
    groups: set[str] = set()
    for other, _ in blocks:
        if other is not op:
            groups.update(text(g) for g in other.colocation_groups())
            op._device = other._device or op._device
    if groups:
        op.attrs["_class"] = sorted(groups)


def colocations(op: Operation) -> dict[str, TraceableObject]:
    """The names of the ops that an op was put beside, and where the program says so."""
    return {other.name: TraceableObject(None, file, line) for other, (file, line) in op.__dict__.get("colocation_blocks", ())}
