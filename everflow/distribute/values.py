"""Values that each replica has its own of: per-replica values, and values that are the same on all replicas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from everflow.api import internal
from everflow.distribute import strategy_context
from everflow.graph.convert import convert_to_tensor, register_tensor_conversion_function
from everflow.graph.dtypes import DTypeLike

VALUES = "distribute.values."


@internal(VALUES + "DistributedValues")
class DistributedValues:
    """A value for each replica."""

    def __init__(self, values: Sequence[Any], devices: Sequence[str] = ()) -> None:
        self._values = tuple(values)
        self._devices = tuple(devices)

    def get(self, device: Any = None) -> Any:
        """The value of the replica that the code here runs for; of the first one where it speaks for all."""
        return self._values[self._replica() if device is None else self._devices.index(device)]

    def _replica(self) -> int:
        context = strategy_context.get_replica_context()
        return context._replica_id if context is not None and context._replica_id < len(self._values) else 0

    @property
    def primary(self) -> Any:
        """The value of the first replica."""
        return self._values[0]

    @property
    def values(self) -> tuple[Any, ...]:
        """The values, by replica."""
        return self._values

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices of the replicas."""
        return self._devices

    def __repr__(self) -> str:
        return _shown(type(self).__name__, self._values, self._devices)


def _shown(kind: str, values: Sequence[Any], devices: Sequence[str]) -> str:
    lines = [f"  {i} {devices[i] if i < len(devices) else ''}: {value!r}" for i, value in enumerate(values)]
    return f"{kind}:{{\n" + ",\n".join(lines) + "\n}"


@internal(VALUES + "PerReplica")
class PerReplica(DistributedValues):
    """Values that differ from replica to replica."""


@internal(VALUES + "Mirrored")
class Mirrored(DistributedValues):
    """Values that are the same on all replicas; as a tensor, that of the replica that asks."""

    def _as_graph_element(self) -> Any:
        found = self.get()
        return found._as_graph_element() if hasattr(found, "_as_graph_element") else found


def _conversion(value: Mirrored, dtype: DTypeLike | None = None, name: str | None = None, as_ref: bool = False) -> Any:
    return convert_to_tensor(value.get(), dtype=dtype, name=name)


register_tensor_conversion_function(Mirrored, _conversion)


@internal(VALUES + "select_replica")
def select_replica(replica: int, structured: Any) -> Any:
    """What one replica has of a structure."""
    return _mapped(structured, lambda value: value.values[replica] if isinstance(value, DistributedValues) else value)


def _mapped(structured: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(structured, dict):
        return type(structured)((key, _mapped(value, change)) for key, value in structured.items())
    if isinstance(structured, tuple) and hasattr(structured, "_fields"):
        return type(structured)._make(_mapped(value, change) for value in structured)  # type: ignore[attr-defined]
    if isinstance(structured, (list, tuple)):
        return type(structured)(_mapped(value, change) for value in structured)
    return change(structured)


@internal(VALUES + "regroup")
def regroup(per_replica: Sequence[Any], devices: Sequence[str] = (), always_wrap: bool = False, kind: Any = PerReplica) -> Any:
    """One structure of distributed values from a structure of each replica. What is the same object everywhere stays itself."""
    first = per_replica[0]
    if isinstance(first, dict):
        if any(set(other) != set(first) for other in per_replica):
            raise AssertionError(f"replicas gave dictionaries with different keys: {[sorted(d, key=str) for d in per_replica]}")
        return type(first)((key, regroup([other[key] for other in per_replica], devices, always_wrap, kind)) for key in first)
    if isinstance(first, (list, tuple)):
        if any(not isinstance(other, (list, tuple)) or len(other) != len(first) for other in per_replica):
            raise AssertionError(f"replicas gave sequences of different lengths: {list(per_replica)}")
        parts = [regroup(list(column), devices, always_wrap, kind) for column in zip(*per_replica)]
        return getattr(first, "_make", type(first))(parts)
    container = _container_of(per_replica)
    if container is not None:
        return container
    if not always_wrap and all(other is first for other in per_replica):
        return first
    return kind(per_replica, devices)


def _container_of(values: Sequence[Any]) -> Any:
    """The variable whose copies, in order, the values are."""
    container = getattr(values[0], "_mirrored_in", None)
    if container is not None and len(container.values) == len(values) and all(a is b for a, b in zip(container.values, values)):
        return container
    return None
