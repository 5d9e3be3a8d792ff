"""How the values of replicas become one value, and how one value gets to where it is needed."""

from __future__ import annotations

import collections
import enum
from collections.abc import Sequence
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.distribute import all_reduce
from everflow.distribute.device_maps import DeviceMap, ReplicaDeviceMap, SingleDeviceMap
from everflow.distribute.device_names import canonicalize, resolve
from everflow.distribute.packing import PackedGradients, Packing, SmallTensors
from everflow.distribute.values import DistributedValues, Mirrored, PerReplica
from everflow.graph.convert import is_tensor
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.scopes import device
from everflow.ops.variables.variables import VariableAggregation
from everflow.platform import logging
from everflow.runtime.devices import list_local_devices


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


OPS = "distribute.cross_device_ops."
PARTS = "distribute.cross_device_utils."


@internal(OPS + "check_destinations")
def check_destinations(destinations: Any) -> bool:
    """Whether anything says where a value goes."""
    if isinstance(destinations, (tf.Variable, tf.Tensor)):
        return bool(destinations.device)
    return bool(destinations)


@internal(OPS + "validate_destinations")
def validate_destinations(destinations: Any) -> None:
    """An error where something else than devices, tensors or variables says where a value goes."""
    if not isinstance(destinations, (DistributedValues, tf.Variable, tf.Tensor, IndexedSlices, str)) and not is_tensor(destinations):
        raise ValueError("destinations must be one of a `DistributedValues` object, a tf.Variable object, or a device string.")
    if not check_destinations(destinations):
        raise ValueError("destinations can not be empty")


@internal(OPS + "get_device_map_from")
def device_map_of(destinations: Any) -> tuple[DeviceMap, int]:
    """Where a value goes."""
    if isinstance(destinations, DistributedValues):
        return destinations.device_map, destinations.logical_device
    if isinstance(destinations, (list, tuple)) and destinations:
        found = tuple(d for one in destinations for d in devices_of(one))
        return (SingleDeviceMap(found[0]) if len(found) == 1 else ReplicaDeviceMap(found)), 0
    return SingleDeviceMap(resolve(destinations if isinstance(destinations, str) else destinations.device)), 0


@internal(OPS + "get_devices_from")
def devices_of(destinations: Any) -> tuple[str, ...]:
    """The devices of values, of a variable, or as named."""
    where, logical_device = device_map_of(destinations)
    return where.logical_to_actual_devices(logical_device)


@internal(PARTS + "is_indexed_slices")
def is_indexed_slices(value: Any) -> bool:
    """Whether a value, or each of a distributed one, is IndexedSlices."""
    if isinstance(value, DistributedValues):
        return all(isinstance(v, IndexedSlices) for v in value.values)
    return isinstance(value, IndexedSlices)


@internal(PARTS + "contains_indexed_slices")
def contains_indexed_slices(value: Any) -> bool:
    """Whether there are IndexedSlices among values."""
    if isinstance(value, IndexedSlices):
        return True
    if isinstance(value, (list, tuple)) and value:
        return any(contains_indexed_slices(v) for v in value)
    return isinstance(value, DistributedValues) and contains_indexed_slices(value.values)


@internal(PARTS + "aggregate_tensors_or_indexed_slices")
def aggregate(values: Sequence[Any], accumulation_fn: Any = None) -> Any:
    """The sum of tensors; IndexedSlices that hold the slices of all, where there are any."""
    if any(contains_indexed_slices(v) for v in values):
        rows, indices = tf.concat([v.values for v in values], 0), tf.concat([v.indices for v in values], 0)
        return IndexedSlices(rows, indices, values[0].dense_shape)
    return (accumulation_fn or tf.add_n)(list(values))


@internal(PARTS + "divide_by_n_tensors_or_indexed_slices")
def divided(value: Any, n: Any) -> Any:
    """A tensor or IndexedSlices, divided."""
    if isinstance(value, IndexedSlices):
        return IndexedSlices(value.values / tf.cast(n, value.values.dtype), value.indices, value.dense_shape)
    return value / tf.cast(n, value.dtype)


@internal(PARTS + "copy_tensor_or_indexed_slices_to_device")
def copied(value: Any, device_name: str) -> Any:
    """A value on another device."""
    with device(device_name):
        if isinstance(value, IndexedSlices):
            shape = None if value.dense_shape is None else tf.identity(value.dense_shape)
            return IndexedSlices(tf.identity(value.values), tf.identity(value.indices), shape)
        return tf.identity(value)


@internal(PARTS + "split_by_sparsity")
def split_by_sparsity(values: Sequence[Any]) -> tuple[list[Any], list[Any], list[int], list[int]]:
    """Dense values and sparse ones, each with where they stood."""
    where: dict[bool, list[int]] = {False: [], True: []}
    for i, value in enumerate(values):
        where[is_indexed_slices(value)].append(i)
    return [values[i] for i in where[False]], [values[i] for i in where[True]], where[False], where[True]


@internal(PARTS + "stitch_values")
def stitch_values(values_and_indices_list: Sequence[Any]) -> list[Any]:
    """Lists with their indices as one list in order."""
    placed = {i: value for values, indices in values_and_indices_list for value, i in zip(values, indices)}
    return [placed[i] for i in range(len(placed))]


@internal(OPS + "_simple_reduce")
def total(per_replica_value: Any, reduce_to_device: str, accumulation_fn: Any, reduce_op: ReduceOp) -> Any:
    """The sum or mean of the replicas' values, made on one device."""
    if not per_replica_value.values:
        raise ValueError("`per_replica_value` must be non-empty")
    with device(reduce_to_device):
        summed = aggregate(per_replica_value.values, accumulation_fn)
        return divided(summed, len(per_replica_value.values)) if reduce_op == ReduceOp.MEAN else summed


@internal(OPS + "simple_broadcast")
def simple_broadcast(value: Any, destinations: Any, always_mirrored: bool = False) -> Any:
    """A value on each of some devices; where there is one, the value alone."""
    where, logical_device = device_map_of(destinations)
    devices = where.logical_to_actual_devices(logical_device)
    if len(devices) == 1 and not always_mirrored:
        return copied(value, devices[0])
    return Mirrored(where, [copied(value, d) for d in devices], logical_device)


@internal(OPS + "reduce_non_distributed_value")
def reduce_non_distributed_value(reduce_op: ReduceOp, device_map: DeviceMap, value: Any, destinations: Any) -> Any:
    """A value that is the same for every replica, as if each of them had given it."""
    if isinstance(value, DistributedValues):
        raise ValueError("You are passing a `DistributedValue` to `reduce_non_distributed_value`, which is not allowed.")
    # Zero stays zero, as the gradients of what nobody depends on.
    if isinstance(value, (int, float)) and value == 0:
        return 0
    if reduce_op == ReduceOp.MEAN:
        return value
    if device_map.num_replicas_in_graph != 1:
        raise ValueError(f"A non-DistributedValues value {value} cannot be reduced with the given reduce op {reduce_op}.")
    validate_destinations(destinations)
    return simple_broadcast(value, destinations)


def _per_replica(value: Any) -> Any:
    """A tensor as the value of a single replica."""
    if isinstance(value, DistributedValues):
        return value
    if not hasattr(value, "device") and not isinstance(value, IndexedSlices):
        raise ValueError("Cannot convert `input_tensor` to a `PerReplica` object because it doesn't have device set.")
    return PerReplica(SingleDeviceMap(value.device), (value,))


def _checked_pairs(pairs: Any) -> list[Any]:
    if not pairs:
        raise ValueError("`value_destination_pairs` is empty.")
    if not isinstance(pairs, (list, tuple)):
        raise ValueError("`value_destination_pairs` should be a list or tuple.")
    if not all(isinstance(pair, tuple) for pair in pairs):
        raise ValueError("Each element of `value_destination_pairs` should be a tuple.")
    found = []
    for value, destinations in pairs:
        value = _per_replica(value)
        if not isinstance(value, (PerReplica, Mirrored)) and not isinstance(value, DistributedValues):
            raise ValueError("Each element of `value_destination_pairs` should be `PerReplica` objects.")
        validate_destinations(destinations)
        found.append((value, destinations))
    return found


def _on_same_devices(left: Any, right: Any) -> bool:
    return set(devices_of(left)) == set(devices_of(right))


@public("distribute.CrossDeviceOps", "contrib.distribute.CrossDeviceOps")
class CrossDeviceOps:
    """Reduces the values of replicas, and hands values out."""

    def __init__(self) -> None:
        pass

    @property
    def _num_between_graph_workers(self) -> int:
        return 1

    def reduce(self, reduce_op: Any, per_replica_value: Any, destinations: Any) -> Any:
        """The sum or mean of the replicas' values, on the destinations."""
        per_replica_value = _per_replica(per_replica_value)
        validate_destinations(destinations)
        # One replica alone, where it is: nothing to do.
        if (
            self._num_between_graph_workers == 1
            and len(per_replica_value.values) == 1
            and _on_same_devices(per_replica_value, destinations)
        ):
            only = per_replica_value.values[0]
            return only if not isinstance(destinations, DistributedValues) else Mirrored(per_replica_value.device_map, (only,))
        return self.reduce_implementation(as_reduce_op(reduce_op), per_replica_value, destinations)

    def batch_reduce(self, reduce_op: Any, value_destination_pairs: Any) -> Any:
        """The same for many values."""
        pairs = _checked_pairs(value_destination_pairs)
        if self._num_between_graph_workers == 1 and all(len(v.values) == 1 and _on_same_devices(v, d) for v, d in pairs):
            return [
                v.values[0] if not isinstance(d, DistributedValues) else Mirrored(v.device_map, v.values, v.logical_device)
                for v, d in pairs
            ]
        return self.batch_reduce_implementation(as_reduce_op(reduce_op), pairs)

    def broadcast(self, tensor: Any, destinations: Any) -> Any:
        """A tensor on each of the destinations."""
        validate_destinations(destinations)
        return self.broadcast_implementation(tensor, destinations)

    def reduce_implementation(self, reduce_op: Any, per_replica_value: Any, destinations: Any) -> Any:
        """How a subclass reduces."""
        raise NotImplementedError("_reduce method must be implemented in descendants.")

    def batch_reduce_implementation(self, reduce_op: Any, value_destination_pairs: Any) -> Any:
        """How a subclass reduces many values."""
        raise NotImplementedError("_batch_reduce method must be implemented in descendants.")

    def broadcast_implementation(self, tensor: Any, destinations: Any) -> Any:
        """How a subclass hands values out."""
        return simple_broadcast(tensor, destinations, always_mirrored=isinstance(destinations, DistributedValues))


@public("distribute.ReductionToOneDevice", "contrib.distribute.ReductionToOneDeviceCrossDeviceOps")
class ReductionToOneDevice(CrossDeviceOps):
    """Brings all values to one device, reduces them there, and sends the result to where it is needed."""

    def __init__(self, reduce_to_device: Any = None, accumulation_fn: Any = None) -> None:
        super().__init__()
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = accumulation_fn or tf.add_n

    def reduce_implementation(self, reduce_op: Any, per_replica_value: Any, destinations: Any) -> Any:
        """One sum, copied."""
        found = check_destinations(destinations)
        devices = devices_of(destinations if found else per_replica_value)
        where = self.reduce_to_device or devices[0]
        reduced = total(per_replica_value, where, self.accumulation_fn, reduce_op)
        return self.broadcast(reduced, destinations)

    def batch_reduce_implementation(self, reduce_op: Any, value_destination_pairs: Any) -> Any:
        """One after the other."""
        return [self.reduce_implementation(reduce_op, value, destinations) for value, destinations in value_destination_pairs]


@public("contrib.distribute.AllReduceCrossDeviceOps")
@internal(OPS + "AllReduceCrossTowerOps")
class AllReduceCrossDeviceOps(CrossDeviceOps):
    """Reductions after which every device has the result: gradients are packed together, and each pack is reduced as a whole.

    "nccl" sums on each device at once, "hierarchical_copy" first within halves of the devices.
    """

    def __init__(
        self, all_reduce_alg: str = "nccl", num_packs: int = 1, agg_small_grads_max_bytes: int = 0, agg_small_grads_max_group: int = 10
    ) -> None:
        super().__init__()
        self._all_reduce_alg = all_reduce_alg
        self._num_packs = num_packs
        self._agg_small_grads_max_bytes = agg_small_grads_max_bytes
        self._agg_small_grads_max_group = agg_small_grads_max_group
        self._simple = ReductionToOneDevice()

    def reduce_implementation(self, reduce_op: Any, per_replica_value: Any, destinations: Any) -> Any:
        """All-reduce where the values are; elsewhere one sum, copied."""
        if _on_same_devices(per_replica_value, destinations) and isinstance(destinations, DistributedValues):
            return self._batch_all_reduce(reduce_op, [per_replica_value])[0]
        return self._simple.reduce_implementation(reduce_op, per_replica_value, destinations)

    def batch_reduce_implementation(self, reduce_op: Any, value_destination_pairs: Any) -> Any:
        """All together, where they all stay where they are."""
        if all(isinstance(d, DistributedValues) and _on_same_devices(v, d) for v, d in value_destination_pairs):
            devices = {devices_of(v) for v, _ in value_destination_pairs}
            if len(devices) == 1:
                return self._batch_all_reduce(reduce_op, [v for v, _ in value_destination_pairs])
        return [self.reduce_implementation(reduce_op, v, d) for v, d in value_destination_pairs]

    def _batch_all_reduce(self, reduce_op: Any, per_replica_values: list[Any]) -> list[Any]:
        dense, sparse, dense_at, sparse_at = split_by_sparsity(per_replica_values)
        return stitch_values([
            (self._do_batch_all_reduce(reduce_op, dense), dense_at),
            (self._do_batch_all_reduce_sparse(reduce_op, sparse), sparse_at),
        ])  # fmt: skip

    def _packing(self) -> Packing:
        if self._num_packs > 0:
            return PackedGradients(self._num_packs)
        if self._agg_small_grads_max_bytes > 0 and self._agg_small_grads_max_group > 0:
            return SmallTensors(self._agg_small_grads_max_bytes, self._agg_small_grads_max_group)
        return Packing()

    def _do_batch_all_reduce(self, reduce_op: Any, dense_values: list[Any]) -> list[Any]:
        if not dense_values:
            return []
        where = dense_values[0].device_map
        devices = dense_values[0].devices
        packing = self._packing()
        # The values of each device, in packs.
        packed = [packing.pack([v.values[i] for v in dense_values], device_name) for i, device_name in enumerate(devices)]
        totals = [self._summed([own[k] for own in packed], devices) for k in range(len(packed[0]))]
        by_device = [packing.unpack([summed[i] for summed in totals], device_name) for i, device_name in enumerate(devices)]
        found = []
        for k in range(len(dense_values)):
            values = []
            for own, device_name in zip(by_device, devices):
                with device(device_name):
                    values.append(divided(own[k], len(devices)) if reduce_op == ReduceOp.MEAN else own[k])
            found.append(Mirrored(where, values, dense_values[0].logical_device))
        return found

    def _summed(self, values: list[Any], devices: Sequence[str]) -> list[Any]:
        """The sum of a pack, on each device."""
        if self._all_reduce_alg == "hierarchical_copy" and len(values) > 2:
            return _summed_in_halves(values, devices)
        found = []
        for where in devices:
            with device(where):
                found.append(tf.add_n(values) if len(values) > 1 else tf.identity(values[0]))
        return found

    def _do_batch_all_reduce_sparse(self, reduce_op: Any, sparse_values: list[Any]) -> list[Any]:
        return [self._simple.reduce_implementation(reduce_op, value, value) for value in sparse_values]


def _summed_in_halves(values: list[Any], devices: Sequence[str]) -> list[Any]:
    """Sums within two groups of devices, exchanges the two sums, and copies them within the groups."""
    middle = len(values) // 2
    groups = [range(middle), range(middle, len(values))]
    partial = []
    for group in groups:
        with device(devices[group[0]]):
            partial.append(tf.add_n([values[i] for i in group]))
    found: list[Any] = [None] * len(values)
    for group in groups:
        with device(devices[group[0]]):
            whole = tf.add_n(partial)
        for i in group:
            with device(devices[i]):
                found[i] = tf.identity(whole)
    return found


@public("distribute.NcclAllReduce")
class NcclAllReduce(AllReduceCrossDeviceOps):
    """All-reduce as NCCL does it."""

    def __init__(self, num_packs: int = 1) -> None:
        if num_packs < 0:
            raise ValueError(f"NCCL all-reduce requires num_packs >= 0, but {num_packs} is specified")
        super().__init__("nccl", num_packs)


@public("distribute.HierarchicalCopyAllReduce")
class HierarchicalCopyAllReduce(AllReduceCrossDeviceOps):
    """All-reduce along a tree of devices."""

    def __init__(self, num_packs: int = 1) -> None:
        if num_packs < 0:
            raise ValueError(f"HierarchicalCopy requires num_packs >= 0, but {num_packs} is specified")
        super().__init__("hierarchical_copy", num_packs)


AllReduceSpecTuple: Any = internal(OPS + "AllReduceSpecTuple")(collections.namedtuple("AllReduceSpecTuple", ["alg", "shards", "limit"]))


@public("contrib.distribute.MultiWorkerAllReduce")
class MultiWorkerAllReduce(AllReduceCrossDeviceOps):
    """All-reduce between the tasks of a cluster in one graph. Specs say by which algorithm, and up to which size of tensors each."""

    def __init__(
        self,
        worker_devices: Sequence[str],
        num_gpus_per_worker: int,
        all_reduce_spec: Any = ("pscpu/pscpu", 2, -1),
        num_packs: int = 0,
        agg_small_grads_max_bytes: int = 0,
        agg_small_grads_max_group: int = 10,
    ) -> None:
        super().__init__("multi_worker", num_packs, agg_small_grads_max_bytes, agg_small_grads_max_group)
        self._worker_devices = list(worker_devices)
        self._num_gpus_per_worker = num_gpus_per_worker
        given = [all_reduce_spec] if isinstance(all_reduce_spec, tuple) else list(all_reduce_spec)
        self._all_reduce_spec = [AllReduceSpecTuple(*spec) for spec in given]

    def _summed(self, values: list[Any], devices: Sequence[str]) -> list[Any]:
        elements = values[0].shape.num_elements() or 0
        size = elements * values[0].dtype.size
        spec = next((spec for spec in self._all_reduce_spec if spec.limit < 0 or size <= spec.limit), self._all_reduce_spec[-1])
        if len(values) == 1:
            return super()._summed(values, devices)
        placed = []
        for value, where in zip(values, devices):
            with device(where):
                placed.append(tf.identity(value))
        return by_algorithm(spec.alg, placed, self._worker_devices, max(1, spec.shards))


def by_algorithm(alg: str, values: list[Any], worker_devices: Sequence[str], shards: int) -> list[Any]:
    """The sum of tensors on each of their devices, made by an algorithm of a spec such as `nccl/xring`."""
    hosts = [f"{prefix}/cpu:0" for prefix in worker_devices]
    gathering = [hosts[i % len(hosts)] for i in range(max(shards, len(hosts)))]
    if alg == "nccl":
        return all_reduce.build_nccl_all_reduce(values, tf.add)
    if alg == "xring":
        return all_reduce.build_ring_all_reduce(values, len(hosts), 1, range(len(values) // len(hosts)), tf.add)
    if alg == "nccl/xring":
        return all_reduce.build_nccl_then_ring(values, 1, tf.add)
    if alg == "nccl/rechd":
        return all_reduce.build_nccl_then_recursive_hd(values, tf.add)
    if alg == "nccl/pscpu":
        return all_reduce.build_nccl_then_shuffle(values, gathering, tf.add, tf.add_n)
    if alg == "pscpu/pscpu":
        return all_reduce.build_shuffle_then_shuffle(values, gathering, [hosts[0]], tf.add_n)
    if alg in ("pscpu", "psgpu"):
        return all_reduce.build_shuffle_all_reduce(values, gathering, tf.add_n)
    raise ValueError(f"unsupported all_reduce alg: {alg}")


@internal(OPS + "choose_the_best")
def choose_the_best(devices: Sequence[str], session_config: Any = None) -> CrossDeviceOps:
    """The reductions that suit some devices: NCCL where all of them are GPUs that are there."""
    wanted = {canonicalize(d) for d in devices}
    here = {canonicalize(d.name) for d in list_local_devices() if d.device_type == "GPU"}
    if wanted and wanted <= here:
        return NcclAllReduce(num_packs=1)
    if any("GPU" in d for d in wanted):
        logging.warning(
            "Some requested devices in `tf.distribute.Strategy` are not visible to TensorFlow: %s", ",".join(sorted(wanted - here))
        )
    return ReductionToOneDevice()
