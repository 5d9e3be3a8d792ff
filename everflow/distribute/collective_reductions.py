"""Reductions between workers that each build a graph of their own."""

from __future__ import annotations

import enum
import threading
from collections.abc import Sequence
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.distribute.collective_ops import all_gather, all_reduce
from everflow.distribute.device_names import canonicalize
from everflow.distribute.packing import PackedGradients
from everflow.distribute.reductions import (
    OPS,
    PARTS,
    CrossDeviceOps,
    ReduceOp,
    aggregate,
    copied,
    device_map_of,
    divided,
    split_by_sparsity,
    stitch_values,
)
from everflow.distribute.values import DistributedValues, Mirrored
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.scopes import device


@public("distribute.experimental.CollectiveCommunication")
class CollectiveCommunication(enum.Enum):
    """What collectives talk with: rings of processors (Gloo here), or NCCL between GPUs; AUTO chooses."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


@internal(PARTS + "CollectiveKeys")
class CollectiveKeys:
    """Numbers that tell groups of devices and collectives apart; every worker counts them in the same way."""

    def __init__(self, group_key_start: int = 1, op_instance_key_start: int = 100, variable_instance_key_start: int = 1000000) -> None:
        self._group_key = group_key_start
        self._groups: dict[str, int] = {}
        self._start = op_instance_key_start
        self._variable_start = variable_instance_key_start
        self._own = threading.local()
        self._lock = threading.Lock()

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def get_group_key(self, devices: Sequence[str]) -> int:
        """The number of a group of devices."""
        key = ",".join(sorted(canonicalize(d) for d in devices))
        with self._lock:
            if key not in self._groups:
                self._groups[key] = self._group_key
                self._group_key += 1
            return self._groups[key]

    def _next(self, name: str, start: int) -> int:
        found = getattr(self._own, name, start)
        setattr(self._own, name, found + 1)
        return found

    def get_op_instance_key(self) -> int:
        """A new number for a collective."""
        return self._next("op", self._start)

    def get_variable_instance_key(self) -> int:
        """A new number for the initial value of a variable."""
        return self._next("variable", self._variable_start)


def _keys(collective_keys: CollectiveKeys, devices: Sequence[str]) -> dict[str, Any]:
    return {"group_key": collective_keys.get_group_key(devices), "instance_key": collective_keys.get_op_instance_key()}


@internal(PARTS + "build_collective_reduce")
def build_collective_reduce(
    input_tensors: Sequence[Any], num_workers: int, collective_keys: CollectiveKeys, reduction_op: str = "Add", unary_op: str = "Id"
) -> list[Any]:
    """The tensors of all devices of all workers, reduced: first those of this worker, then one of each worker."""
    devices = [t.device for t in input_tensors]
    with device(devices[0]):
        own = tf.add_n(list(input_tensors)) if len(input_tensors) > 1 else input_tensors[0]
        if num_workers > 1:
            own = all_reduce(own, num_workers, merge_op=reduction_op, final_op="Id", **_keys(collective_keys, devices))
        if unary_op == "Div":
            own = divided(own, num_workers * len(input_tensors))
    found = []
    for where in devices:
        with device(where):
            found.append(tf.identity(own))
    return found


@internal(PARTS + "build_collective_gather")
def build_collective_gather(input_tensors: Sequence[Any], num_workers: int, collective_keys: CollectiveKeys) -> list[Any]:
    """The tensors of all devices of all workers, one below the other."""
    devices = [t.device for t in input_tensors]
    with device(devices[0]):
        own = tf.concat(list(input_tensors), 0) if len(input_tensors) > 1 else input_tensors[0]
        if num_workers > 1:
            own = all_gather(own, num_workers, **_keys(collective_keys, devices))
    return [copied(own, where) for where in devices]


@internal(OPS + "CollectiveAllReduce")
class CollectiveAllReduce(CrossDeviceOps):
    """All-reduce between workers. Gradients go in packs, whose number is at most `all_reduce_merge_scope`."""

    def __init__(
        self, num_workers: int = 1, num_gpus_per_worker: int = 0, all_reduce_merge_scope: int = 32, collective_keys: Any = None
    ) -> None:
        self._num_workers = num_workers
        self._num_gpus_per_worker = num_gpus_per_worker
        self._all_reduce_merge_scope = all_reduce_merge_scope
        self._collective_keys = collective_keys or CollectiveKeys()
        super().__init__()

    @property
    def _num_between_graph_workers(self) -> int:
        return self._num_workers

    def reduce_implementation(self, reduce_op: Any, per_replica_value: Any, destinations: Any) -> Any:
        """The reduction of all workers, on the destinations of this one."""
        return self._sent(self._batch_all_reduce(reduce_op, [per_replica_value])[0], destinations)

    def batch_reduce_implementation(self, reduce_op: Any, value_destination_pairs: Any) -> Any:
        """All of them together."""
        reduced = self._batch_all_reduce(reduce_op, [value for value, _ in value_destination_pairs])
        return [self._sent(value, destinations) for value, (_, destinations) in zip(reduced, value_destination_pairs)]

    def _sent(self, total: Any, destinations: Any) -> Any:
        where, logical_device = device_map_of(destinations)
        devices = where.logical_to_actual_devices(logical_device)
        if len(devices) == 1 and not isinstance(destinations, DistributedValues):
            return copied(total, devices[0])
        return Mirrored(where, [copied(total, d) for d in devices], logical_device)

    def _batch_all_reduce(self, reduce_op: Any, per_replica_values: list[Any]) -> list[Any]:
        dense, sparse, dense_at, sparse_at = split_by_sparsity(per_replica_values)
        return stitch_values([(self._dense(reduce_op, dense), dense_at), (self._sparse(reduce_op, sparse), sparse_at)])

    def _replicas(self, value: Any) -> int:
        return self._num_workers * len(value.values)

    def _dense(self, reduce_op: Any, values: list[Any]) -> list[Any]:
        """One all-reduce for each type of elements: what is small costs a message all the same."""
        if not values:
            return []
        where = values[0].devices[0]
        with device(where):
            own = [aggregate(value.values) if len(value.values) > 1 else tf.convert_to_tensor(value.values[0]) for value in values]
            found: list[Any] = [None] * len(own)
            dtypes = list(dict.fromkeys(t.dtype.base_dtype for t in own))
            for dtype in dtypes:
                at = [i for i, t in enumerate(own) if t.dtype.base_dtype == dtype]
                for i, total in zip(at, self._together([own[i] for i in at], values[0].devices)):
                    found[i] = total
            if reduce_op == ReduceOp.MEAN:
                found = [divided(total, self._replicas(value)) for total, value in zip(found, values)]
        return found

    def _together(self, own: list[Any], devices: Sequence[str]) -> list[Any]:
        if self._num_workers == 1:
            return own
        keys = _keys(self._collective_keys, devices)
        if len(own) == 1:
            return [all_reduce(own[0], self._num_workers, merge_op="Add", final_op="Id", **keys)]
        packing = PackedGradients(1)
        (pack,) = packing.pack(own, devices[0])
        found = packing.unpack([all_reduce(pack, self._num_workers, merge_op="Add", final_op="Id", **keys)], devices[0])
        for total, given in zip(found, own):
            total.set_shape(given.shape)
        return found

    def _sparse(self, reduce_op: Any, values: list[Any]) -> list[Any]:
        """The slices of all workers. Each may have its own number of them: they are padded to that of who has most."""
        found = []
        for value in values:
            with device(value.devices[0]):
                own = aggregate(value.values)
                if self._num_workers > 1:
                    own = self._gathered(own, value.devices)
                found.append(divided(own, self._replicas(value)) if reduce_op == ReduceOp.MEAN else own)
        return found

    def _gathered(self, own: IndexedSlices, devices: Sequence[str]) -> IndexedSlices:
        def gather(tensor: Any) -> Any:
            return all_gather(tensor, self._num_workers, **_keys(self._collective_keys, devices))

        count = tf.shape(own.indices)[0]
        counts = gather(tf.reshape(count, [1]))
        most = tf.reduce_max(counts)
        rows = tf.pad(own.values, [[0, most - count], *([[0, 0]] * (own.values.shape.ndims - 1))])
        all_rows, all_indices = gather(rows), gather(tf.pad(own.indices, [[0, most - count]]))
        there = tf.reshape(tf.sequence_mask(counts, most), [-1])
        return IndexedSlices(tf.boolean_mask(all_rows, there), tf.boolean_mask(all_indices, there), own.dense_shape)
