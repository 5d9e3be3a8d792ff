"""How the values of replicas become one value, and how one value gets to where it is needed."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.distribute.values import DistributedValues, Mirrored
from everflow.graph.devices import DeviceSpec
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.scopes import device
from everflow.ops.variables.variables import VariableAggregation


@public("distribute.ReduceOp")
class ReduceOp(enum.Enum):
    """Sums, or means."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: Any) -> ReduceOp:
        """The reduction that a variable's aggregation stands for."""
        try:
            return {VariableAggregation.SUM: ReduceOp.SUM, VariableAggregation.MEAN: ReduceOp.MEAN}[aggregation]
        except KeyError:
            raise ValueError(f"Could not convert from `tf.VariableAggregation` {aggregation} to`tf.distribute.ReduceOp` type") from None


def as_reduce_op(given: Any) -> ReduceOp:
    """A reduction by its name or itself."""
    if isinstance(given, VariableAggregation):
        return ReduceOp.from_variable_aggregation(given)
    return ReduceOp(given.upper()) if isinstance(given, str) else given


@internal("distribute.device_util.canonicalize")
def canonicalize(name: str, default: str | None = None) -> str:
    """A device's name with its replica and task."""
    spec = DeviceSpec.from_string("/replica:0/task:0/device:CPU:0").make_merged_spec(DeviceSpec.from_string(default or ""))
    return spec.make_merged_spec(DeviceSpec.from_string(name)).to_string()


def devices_of(destinations: Any) -> tuple[str, ...]:
    """The devices of values, of a variable, or as named."""
    if isinstance(destinations, str):
        return (canonicalize(destinations),)
    if isinstance(destinations, DistributedValues):
        return destinations.devices
    if isinstance(destinations, (list, tuple)):
        return tuple(found for one in destinations for found in devices_of(one))
    return (destinations.device,)


def total(reduce_op: Any, values: Sequence[Any], where: str) -> Any:
    """The sum or mean of tensors or of IndexedSlices, made on a device."""
    with device(where):
        if any(isinstance(v, IndexedSlices) for v in values):
            rows, indices = tf.concat([v.values for v in values], 0), tf.concat([v.indices for v in values], 0)
            if reduce_op == ReduceOp.MEAN:
                rows = rows / tf.cast(len(values), rows.dtype)
            return IndexedSlices(rows, indices, values[0].dense_shape)
        summed = tf.add_n([tf.convert_to_tensor(v) for v in values])
        return tf.divide(summed, tf.cast(len(values), summed.dtype)) if reduce_op == ReduceOp.MEAN else summed


def copied_to(value: Any, devices: Sequence[str]) -> Any:
    """A value on each of some devices."""
    copies = []
    for where in devices:
        with device(where):
            if isinstance(value, IndexedSlices):
                copies.append(IndexedSlices(tf.identity(value.values), tf.identity(value.indices), value.dense_shape))
            else:
                copies.append(tf.identity(value))
    return copies[0] if len(copies) == 1 else Mirrored(copies, devices)


@public("distribute.CrossDeviceOps", "contrib.distribute.CrossDeviceOps")
class CrossDeviceOps:
    """Reduces the values of replicas, and hands values out."""

    def __init__(self) -> None:
        pass

    def reduce(self, reduce_op: Any, per_replica_value: Any, destinations: Any) -> Any:
        """The sum or mean of the replicas' values, on the destinations."""
        if not isinstance(per_replica_value, DistributedValues):
            per_replica_value = DistributedValues([per_replica_value], devices_of(per_replica_value))
        return self.reduce_implementation(as_reduce_op(reduce_op), per_replica_value, destinations)

    def batch_reduce(self, reduce_op: Any, value_destination_pairs: Any) -> Any:
        """The same for many values."""
        return self.batch_reduce_implementation(as_reduce_op(reduce_op), value_destination_pairs)

    def broadcast(self, tensor: Any, destinations: Any) -> Any:
        """A tensor on each of the destinations."""
        return self.broadcast_implementation(tensor, destinations)

    def reduce_implementation(self, reduce_op: Any, per_replica_value: Any, destinations: Any) -> Any:
        """How a subclass reduces."""
        raise NotImplementedError("_reduce method must be implemented in descendants.")

    def batch_reduce_implementation(self, reduce_op: Any, value_destination_pairs: Any) -> Any:
        """How a subclass reduces many values."""
        return [self.reduce_implementation(reduce_op, value, destinations) for value, destinations in value_destination_pairs]

    def broadcast_implementation(self, tensor: Any, destinations: Any) -> Any:
        """How a subclass hands values out."""
        return copied_to(tensor, devices_of(destinations))


@public("distribute.ReductionToOneDevice", "contrib.distribute.ReductionToOneDeviceCrossDeviceOps")
class ReductionToOneDevice(CrossDeviceOps):
    """Brings all values to one device, reduces them there, and sends the result to where it is needed."""

    def __init__(self, reduce_to_device: Any = None, accumulation_fn: Any = None) -> None:
        super().__init__()
        self.reduce_to_device = None if reduce_to_device is None else canonicalize(reduce_to_device)
        self.accumulation_fn = accumulation_fn

    def reduce_implementation(self, reduce_op: Any, per_replica_value: Any, destinations: Any) -> Any:
        """One sum, copied."""
        devices = devices_of(destinations)
        where = self.reduce_to_device or (devices or per_replica_value.devices)[0]
        if self.accumulation_fn is None:
            found = total(reduce_op, per_replica_value.values, where)
        else:
            with device(where):
                found = self.accumulation_fn(list(per_replica_value.values))
                if reduce_op == ReduceOp.MEAN:
                    found = found / tf.cast(len(per_replica_value.values), found.dtype)
        return copied_to(found, devices)


class _AllReduce(ReductionToOneDevice):
    """Reductions in which all devices take part. On the devices of one process the sum is made once."""

    def __init__(self, num_packs: int = 1) -> None:
        if num_packs < 0:
            raise ValueError(f"NCCL all-reduce requires num_packs >= 0, but {num_packs} is specified")
        super().__init__()
        self._num_packs = num_packs


@public("distribute.NcclAllReduce")
class NcclAllReduce(_AllReduce):
    """All-reduce as NCCL does it."""


@public("distribute.HierarchicalCopyAllReduce")
class HierarchicalCopyAllReduce(_AllReduce):
    """All-reduce along a tree of devices."""
