"""How TPU cores lie in their mesh, and which of them the replicas of a computation take."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from everflow.api import internal, public
from everflow.proto import topology_pb2


@public("contrib.tpu.Topology")
@internal("tpu.topology.Topology")
class Topology:
    """The cores of a TPU system: their mesh of 3 dimensions (x, y, core), and where each device of each task lies in it."""

    def __init__(self, serialized: bytes | None = None, mesh_shape: Any = None, device_coordinates: Any = None) -> None:
        self._serialized = serialized
        if serialized:
            proto = topology_pb2.TopologyProto.FromString(serialized)
            self._mesh_shape = np.array(proto.mesh_shape, dtype=np.int32)
            if self._mesh_shape.shape != (3,) or self._mesh_shape.min() < 1:
                raise ValueError(f"`mesh_shape` must be a vector of size 3 with positive entries; got {self._mesh_shape}")
            counts = {what: getattr(proto, what) for what in ("num_tasks", "num_tpu_devices_per_task")}
            for what, count in counts.items():
                if count < 0:
                    raise ValueError(f"`{what}` must be >= 0; got {count}")
            shape = (*counts.values(), 3)
            if len(proto.device_coordinates) != math.prod(shape):
                raise ValueError(
                    "`device_coordinates` must have shape num_tasks * num_tpu_devices_per_task * mesh_shape.size; "
                    f"got shape {len(proto.device_coordinates)} for mesh_shape {list(self._mesh_shape)}"
                )
            coordinates = np.array(proto.device_coordinates, dtype=np.int32).reshape(shape)
        else:
            self._mesh_shape = np.asarray(mesh_shape, dtype=np.int32)
            coordinates = np.asarray(device_coordinates, dtype=np.int32)
            if len(self._mesh_shape) != 3 or any(self._mesh_shape < 1):
                raise ValueError(f"`mesh_shape` must be a sequence of 3 positive entries; got {self._mesh_shape}")
            if coordinates.ndim != 3 or coordinates.shape[2] != len(self._mesh_shape):
                raise ValueError("`device_coordinates` must be a rank 3 int32 array with minor dimension equal to the mesh shape rank")
        self._device_coordinates = coordinates
        self._places = {tuple(at): place for place in np.ndindex(*coordinates.shape[:2]) for at in [coordinates[place].tolist()]}
        if len(self._places) != coordinates.shape[0] * coordinates.shape[1]:
            raise ValueError("Topology has two devices at the same coordinates.")

    @property
    def mesh_shape(self) -> Any:
        """The sizes of the mesh."""
        return self._mesh_shape

    @property
    def mesh_rank(self) -> int:
        """How many dimensions the mesh has."""
        return len(self._mesh_shape)

    @property
    def device_coordinates(self) -> Any:
        """Where each device of each task lies."""
        return self._device_coordinates

    @property
    def num_tasks(self) -> int:
        """How many tasks there are."""
        return self._device_coordinates.shape[0]

    @property
    def num_tpus_per_task(self) -> int:
        """How many cores a task has."""
        return self._device_coordinates.shape[1]

    def _place(self, device_coordinates: Any) -> tuple[int, int]:
        return self._places[tuple(int(c) for c in device_coordinates)]

    def task_ordinal_at_coordinates(self, device_coordinates: Any) -> int:
        """The task whose device lies there."""
        return self._place(device_coordinates)[0]

    def tpu_device_ordinal_at_coordinates(self, device_coordinates: Any) -> int:
        """The number of the device in its task."""
        return self._place(device_coordinates)[1]

    def cpu_device_name_at_coordinates(self, device_coordinates: Any, job: str | None = None) -> str:
        """The name of the host of a device."""
        return f"{_job(job)}/task:{self._place(device_coordinates)[0]}/device:CPU:0"

    def tpu_device_name_at_coordinates(self, device_coordinates: Any, job: str | None = None) -> str:
        """The name of a device."""
        task, device = self._place(device_coordinates)
        return f"{_job(job)}/task:{task}/device:TPU:{device}"

    def serialized(self) -> bytes:
        """The topology as a serialized TopologyProto."""
        if self._serialized is None:
            self._serialized = topology_pb2.TopologyProto(
                mesh_shape=self._mesh_shape.tolist(),
                num_tasks=self.num_tasks,
                num_tpu_devices_per_task=self.num_tpus_per_task,
                device_coordinates=self._device_coordinates.reshape(-1).tolist(),
            ).SerializeToString()
        return self._serialized


def _job(job: str | None) -> str:
    return f"/job:{job}" if job else ""


@public("tpu.experimental.DeviceAssignment", "contrib.tpu.DeviceAssignment")
class DeviceAssignment:
    """Which core each logical core of each replica is."""

    def __init__(self, topology: Topology, core_assignment: Any) -> None:
        if not isinstance(topology, Topology):
            raise ValueError(f"topology must be a Topology object, got {type(topology)}")
        cores = np.asarray(core_assignment, dtype=np.int32)
        if cores.ndim != 3:
            raise ValueError(f"core_assignment must be a rank 3 numpy array, got shape {cores.shape}")
        if cores.shape[-1] != topology.mesh_rank:
            raise ValueError(f"minor dimension of core_assignment must have size equal to topology rank ({topology.mesh_rank}), got "
                             f"core_assignment shape {cores.shape}")  # fmt: skip
        self._topology, self._core_assignment = topology, cores

    @property
    def topology(self) -> Topology:
        """The system that the cores are of."""
        return self._topology

    @property
    def num_cores_per_replica(self) -> int:
        """How many cores each replica has."""
        return self._core_assignment.shape[1]

    @property
    def num_replicas(self) -> int:
        """How many replicas there are."""
        return self._core_assignment.shape[0]

    @property
    def core_assignment(self) -> Any:
        """The coordinates of each core of each replica."""
        return self._core_assignment

    def coordinates(self, replica: int, logical_core: int) -> tuple[int, ...]:
        """Where a core of a replica lies."""
        return tuple(self._core_assignment[replica, logical_core, :].tolist())

    def lookup_replicas(self, task_id: int, logical_core: int) -> list[int]:
        """The replicas that have a core in a task."""
        tasks = [self._topology.task_ordinal_at_coordinates(self.coordinates(r, logical_core)) for r in range(self.num_replicas)]
        found = [replica for replica, task in enumerate(tasks) if task == task_id]
        if not found:
            raise ValueError(f"Can not find any replica in task: {task_id} contains logical_core: {logical_core} ")
        return found

    def tpu_ordinal(self, replica: int = 0, logical_core: int = 0) -> int:
        """The number of a core in its task."""
        return self._topology.tpu_device_ordinal_at_coordinates(self.coordinates(replica, logical_core))

    def host_device(self, replica: int = 0, logical_core: int = 0, job: str | None = None) -> str:
        """The name of the host of a core."""
        return self._topology.cpu_device_name_at_coordinates(self.coordinates(replica, logical_core), job=job)

    def tpu_device(self, replica: int = 0, logical_core: int = 0, job: str | None = None) -> str:
        """The name of a core."""
        return self._topology.tpu_device_name_at_coordinates(self.coordinates(replica, logical_core), job=job)

    @staticmethod
    def build(topology: Topology, computation_shape: Any = None, computation_stride: Any = None, num_replicas: int = 1) -> DeviceAssignment:
        """The same as device_assignment."""
        return device_assignment(topology, computation_shape, computation_stride, num_replicas)


@public("contrib.tpu.device_assignment")
@internal("tpu.device_assignment.device_assignment")
def device_assignment(
    topology: Topology, computation_shape: Any = None, computation_stride: Any = None, num_replicas: int = 1
) -> DeviceAssignment:
    """Blocks of cores for replicas, as near to each other as they go: `computation_shape` is that of a block, its cores `stride` apart."""
    if isinstance(topology, bytes):
        topology = Topology(serialized=topology)
    if not isinstance(topology, Topology):
        raise ValueError(f"`topology` is not a Topology object; got {type(topology)}")
    rank, mesh = topology.mesh_rank, topology.mesh_shape
    given = {}
    for name, value in (("computation_shape", computation_shape), ("computation_stride", computation_stride)):
        array = np.ones(rank, np.int32) if value is None else np.asarray(value, dtype=np.int32)
        if array.shape != (rank,):
            raise ValueError(f"{name} must have shape [{rank}]; got {array.shape}")
        if any(array < 1):
            raise ValueError(f"{name} must be positive; got {name}={array}")
        given[name] = array
    shape, stride = given["computation_shape"], given["computation_stride"]
    footprint = shape * stride
    if any(footprint > mesh):
        raise ValueError(f"computation footprint {footprint} does not fit in TPU topology shape {mesh}")
    counts = mesh // footprint * stride
    if num_replicas > math.prod(counts):
        raise ValueError(
            f"requested {num_replicas} replicas but only {math.prod(counts)} replicas with shape {shape} and computation_stride {stride} "
            f"fit in a TPU mesh of shape {mesh}"
        )
    # The narrowest dimension is filled first, each as far as a cube of all replicas would reach.
    layout, left = [1] * rank, num_replicas
    for done, i in enumerate(sorted(range(rank), key=lambda i: (counts[i], -i))):
        side = math.ceil(round(left ** (1 / (rank - done)), 9))
        layout[i] = min(side, int(counts[i]))
        left = math.ceil(left / layout[i])
    places = list(np.ndindex(*layout))[:num_replicas]
    block = np.array(list(np.ndindex(*shape)), np.int32) * stride
    offsets = [np.array(at) // stride * footprint + np.array(at) % stride for at in places]
    return DeviceAssignment(topology, [offset + block for offset in offsets])
