"""Values that each replica has its own of: per-replica values, and values that are the same on all replicas."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.distribute import strategy_context
from everflow.distribute.device_maps import DeviceMap, ReplicaDeviceMap, SingleDeviceMap
from everflow.distribute.device_names import canonicalize, resolve
from everflow.graph.convert import convert_to_tensor, is_tensor, register_tensor_conversion_function
from everflow.graph.dtypes import DTypeLike
from everflow.graph.type_spec import CompositeTensor, TypeSpec, type_spec_from_value

VALUES = "distribute.values."


@internal(VALUES + "DistributedValues")
class DistributedValues:
    """A value for each replica."""

    def __init__(self, device_map: DeviceMap, values: Sequence[Any], logical_device: int | None = None) -> None:
        self._device_map = device_map
        self._values = tuple(values)
        self._logical_device = 0 if logical_device is None else logical_device
        if len(self._values) != device_map.num_replicas_in_graph:
            raise AssertionError(f"{len(self._values)} values for {device_map!r}")

    def get(self, device: Any = None) -> Any:
        """The value on a device; without one, that of the replica that the code here runs for, or what speaks for all."""
        if device is not None:
            return self._device_map.select_for_device(self._values, canonicalize(device))
        context = strategy_context.get_replica_context()
        if context is None:
            return self._get_cross_replica()
        return self._values[self._replica()]

    def _get_cross_replica(self) -> Any:
        """The value that speaks for all: the one on the current device, else the first."""
        here = self._device_map.replica_for_device(resolve(None)) if isinstance(self._device_map, ReplicaDeviceMap) else None
        return self._values[here or 0]

    def _replica(self) -> int:
        context = strategy_context.get_replica_context()
        number = getattr(context, "_replica_id", 0) if context is not None else 0
        return number if number < len(self._values) else 0

    values = property(lambda self: self._values)
    device_map = property(lambda self: self._device_map)
    logical_device = property(lambda self: self._logical_device)
    primary = property(lambda self: self._values[0])

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that the values are on."""
        return self._device_map.logical_to_actual_devices(self._logical_device)

    @property
    def is_tensor_like(self) -> bool:
        """Whether all values are tensors."""
        return all(is_tensor(value) for value in self._values)

    def __repr__(self) -> str:
        lines = [f"  {i} {where}: {value!r}" for i, (where, value) in enumerate(zip(self.devices, self._values))]
        return f"{type(self).__name__}:{{\n" + ",\n".join(lines) + "\n}"

    __str__ = __repr__


def _delegated(method: Callable[..., Any], is_reflected: bool = False) -> Callable[..., Any]:
    def called(self: Any, *others: Any) -> Any:
        mine = self._get_as_operand()
        theirs = [o._get_as_operand() if isinstance(o, DistributedDelegate) else o for o in others]
        return method(theirs[0], mine) if is_reflected else method(mine, *theirs)

    return called


@internal(VALUES + "DistributedDelegate")
class DistributedDelegate(DistributedValues):
    """Behaves as the value of the replica that asks."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_self_") or name in ("_values", "_device_map"):
            raise AttributeError(name)
        return getattr(self.get(), name)

    def _get_as_operand(self) -> Any:
        return self.get()


for _name in "add sub mul truediv floordiv mod pow matmul and or xor".split():
    _function = pow if _name == "pow" else getattr(operator, {"and": "and_", "or": "or_"}.get(_name, _name))
    setattr(DistributedDelegate, f"__{_name}__", _delegated(_function))
    setattr(DistributedDelegate, f"__r{_name}__", _delegated(_function, is_reflected=True))
for _name in "lt le gt ge getitem neg invert abs".split():
    setattr(DistributedDelegate, f"__{_name}__", _delegated(getattr(operator, _name)))


@internal(VALUES + "PerReplica")
class PerReplica(DistributedValues, CompositeTensor):
    """Values that differ from replica to replica."""

    @property
    def _type_spec(self) -> TypeSpec:
        return PerReplicaSpec(tuple(type_spec_from_value(value) for value in self._values), self._device_map, self._logical_device)

    def _shape_invariant_to_type_spec(self, shape: Any) -> Any:
        return self._type_spec

    @property
    def _is_graph_tensor(self) -> bool:
        return any(getattr(value, "is_eager", None) is False or hasattr(value, "graph") for value in self._values if is_tensor(value))

    def _to_components(self) -> Any:
        return list(self._values)

    def _component_metadata(self) -> Any:
        return self._device_map, self._logical_device


@internal(VALUES + "PerReplicaSpec")
class PerReplicaSpec(TypeSpec):
    """The types of per-replica values, and where they are."""

    def __init__(self, value_specs: Any, device_map: DeviceMap, logical_device: int) -> None:
        self._value_specs = tuple(value_specs)
        self._device_map = device_map
        self._logical_device = logical_device

    value_type = property(lambda self: PerReplica)
    _component_specs = property(lambda self: self._value_specs)

    def _serialize(self) -> tuple[Any, ...]:
        if not isinstance(self._device_map, (SingleDeviceMap, ReplicaDeviceMap)):
            raise ValueError(f"PerReplicaSpec._serialize does not support {self._device_map!r}.")
        return self._value_specs, (type(self._device_map).__name__, *self._device_map.all_devices), self._logical_device

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> Any:
        specs, (kind, *devices), logical_device = serialization
        where = SingleDeviceMap(devices[0]) if kind == SingleDeviceMap.__name__ else ReplicaDeviceMap(devices)
        return cls(specs, where, logical_device)

    def __reduce__(self) -> Any:
        return PerReplicaSpec, (self._value_specs, self._device_map, self._logical_device)

    def _to_components(self, value: Any) -> Any:
        return value._values

    def _from_components(self, components: Any) -> Any:
        return PerReplica(self._device_map, components, self._logical_device)


@internal(VALUES + "Mirrored")
class Mirrored(DistributedDelegate):
    """Values that are the same on all replicas; as a tensor, that of the replica that asks."""

    def _as_graph_element(self) -> Any:
        found = self.get()
        return found._as_graph_element() if hasattr(found, "_as_graph_element") else found


def _conversion(value: Mirrored, dtype: DTypeLike | None = None, name: str | None = None, as_ref: bool = False) -> Any:
    # A variable says itself what it is read as.
    return NotImplemented if isinstance(value, tf.Variable) else convert_to_tensor(value.get(), dtype=dtype, name=name)


register_tensor_conversion_function(Mirrored, _conversion)


def mapped(structured: Any, change: Callable[[Any], Any]) -> Any:
    """The structure with each value in it changed. Only what `regroup` sees as a structure is one."""
    if isinstance(structured, dict):
        return type(structured)((key, mapped(value, change)) for key, value in structured.items())
    if isinstance(structured, (list, tuple)):
        parts = [mapped(value, change) for value in structured]
        return structured._make(parts) if hasattr(structured, "_make") else type(structured)(parts)
    return change(structured)


@internal(VALUES + "select_replica")
def select_replica(replica_id: int, structured: Any) -> Any:
    """What one replica has of a structure."""
    return mapped(structured, lambda value: value.values[replica_id] if isinstance(value, DistributedValues) else value)


@internal(VALUES + "select_device_mirrored")
def select_device_mirrored(device: str, structured: Any) -> Any:
    """What is on a device of a structure of mirrored values."""

    def chosen(value: Any) -> Any:
        if isinstance(value, DistributedValues) and not isinstance(value, Mirrored):
            raise TypeError(f"Expected value to be mirrored across replicas: {value} in {structured}.")
        return value.get(device) if isinstance(value, DistributedValues) else value

    return mapped(structured, chosen)


@internal(VALUES + "regroup")
def regroup(device_map: DeviceMap, values: Sequence[Any], wrap_class: Any = PerReplica, always_wrap: bool = False) -> Any:
    """One structure of distributed values from a structure of each replica. What is the same object everywhere stays itself."""
    if len(values) != device_map.num_replicas_in_graph:
        raise AssertionError(f"{len(values)} values for {device_map!r}")
    first = values[0]
    if isinstance(first, (list, tuple)) and all(isinstance(other, (list, tuple)) for other in values):
        for other in values:
            if len(other) != len(first):
                raise AssertionError(f"len(v) == {len(other)}, len(v0) == {len(first)}, v: {other}, v0: {first}")
        parts = [regroup(device_map, column, wrap_class, always_wrap) for column in zip(*values)]
        return first._make(parts) if hasattr(first, "_make") else type(first)(parts)
    if isinstance(first, dict) and all(isinstance(other, dict) for other in values):
        for other in values:
            if set(other) != set(first):
                raise AssertionError(f"v[0].keys: {sorted(first, key=str)}  v[i].keys: {sorted(other, key=str)}")
        return type(first)((key, regroup(device_map, [other[key] for other in values], wrap_class, always_wrap)) for key in first)
    container = _container_of(values)
    if container is not None:
        return container
    if not always_wrap and all(other is first for other in values):
        return first
    return wrap_class(device_map, values)


def _container_of(values: Sequence[Any]) -> Any:
    """The variable whose copies, in order, the values are."""
    container = getattr(values[0], "_mirrored_in", None)
    if container is not None and len(container.values) == len(values) and all(a is b for a, b in zip(container.values, values)):
        return container
    return None


@internal(VALUES + "update_regroup")
def update_regroup(extended: Any, device_map: DeviceMap, updates: Sequence[Any], group: bool) -> Any:
    """What updates on several devices gave, as one; grouped, nothing of it is there before all are done."""
    regrouped = regroup(device_map, updates, Mirrored)
    if not group:
        return mapped(regrouped, extended._local_results)
    return mapped(regrouped, lambda value: _grouped(value, device_map))


def _grouped(value: Any, device_map: DeviceMap) -> Any:
    if value is None or not isinstance(value, DistributedValues):
        return value
    parts = list(value.values)
    if tf.executing_eagerly():
        return value if all(part is not None for part in parts) else None
    done = tf.group(*(part for part in parts if part is not None))
    if not all(is_tensor(part) or hasattr(part, "read_value") for part in parts):
        return done
    copies = []
    for part, where in zip(parts, device_map.all_devices):
        with tf.control_dependencies([done]), tf.device(where):
            copies.append(tf.identity(part))
    return Mirrored(device_map, copies)


@internal(VALUES + "value_container")
def value_container(val: Any) -> Any:
    """The variable that a copy belongs to; other values are their own."""
    container = getattr(val, "_mirrored_in", None)
    if container is None or isinstance(val, DistributedValues):
        return val
    return container if any(copy is val for copy in container.values) else val


@internal(VALUES + "is_distributed_variable")
def is_distributed_variable(v: Any) -> bool:
    """Whether a value is a variable with copies."""
    return isinstance(v, DistributedValues) and isinstance(v, tf.Variable)
