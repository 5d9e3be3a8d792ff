"""tf.distribute.experimental.TPUStrategy on processors: each core of the TPU is a replica on a processor."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.distribute.mirrored import MirroredExtended
from everflow.distribute.strategy import Strategy, StrategyV2
from everflow.distribute.variables import TPUMirroredVariable, TPUSyncOnReadVariable

TPU = "distribute.tpu_strategy."

_Metadata = collections.namedtuple("_Metadata", ["num_cores", "num_hosts", "num_of_cores_per_host"])


@internal(TPU + "get_tpu_system_metadata")
def get_tpu_system_metadata(tpu_cluster_resolver: Any) -> Any:
    """How many cores a TPU has; here, into how many devices the processor is split."""
    count = len(tf.config.experimental.list_logical_devices("CPU"))
    return _Metadata(count, 1, count)


@internal(TPU + "TPUExtended")
class TPUExtended(MirroredExtended):
    """How the replicas of a TPU do it."""

    _variable_kinds = (TPUMirroredVariable, TPUSyncOnReadVariable)
    experimental_require_static_shapes = True

    def __init__(
        self, container_strategy: Any, tpu_cluster_resolver: Any = None, steps_per_run: int | None = None, device_assignment: Any = None
    ) -> None:
        self._tpu_cluster_resolver = tpu_cluster_resolver
        self._device_assignment = device_assignment
        self._tpu_metadata = get_tpu_system_metadata(tpu_cluster_resolver)
        self.steps_per_run = steps_per_run or 1
        cores = self._tpu_metadata.num_cores if device_assignment is None else device_assignment.num_replicas
        super().__init__(container_strategy, [f"/device:CPU:{i}" for i in range(cores)])

    @property
    def num_hosts(self) -> int:
        """How many machines feed the cores."""
        return 1

    @property
    def num_replicas_per_host(self) -> int:
        """How many replicas a machine feeds."""
        return self._device_map.num_replicas_in_graph

    def tpu_run(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Runs a function on each core."""
        return self.call_for_each_replica(fn, args, kwargs)


@internal(TPU + "TPUStrategy")
@public("compat.v2.distribute.experimental.TPUStrategy")
class TPUStrategyV2(StrategyV2):
    """Trains on the cores of a TPU, which here are replicas on the devices that the processor was split into."""

    def __init__(self, tpu_cluster_resolver: Any = None, device_assignment: Any = None) -> None:
        super().__init__(TPUExtended(self, tpu_cluster_resolver, device_assignment=device_assignment))


@public("distribute.experimental.TPUStrategy", "contrib.distribute.TPUStrategy")
class TPUStrategy(Strategy):
    """Trains on the cores of a TPU, which here are replicas on the devices that the processor was split into."""

    def __init__(self, tpu_cluster_resolver: Any = None, steps_per_run: int | None = None, device_assignment: Any = None) -> None:
        super().__init__(TPUExtended(self, tpu_cluster_resolver, steps_per_run, device_assignment))

    @property
    def steps_per_run(self) -> int:
        """How many steps a run takes."""
        return self._extended.steps_per_run
