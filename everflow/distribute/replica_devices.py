"""tf.train.replica_device_setter: variables to the parameter servers in turn, everything else to the worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from everflow.api import internal, public
from everflow.distribute.cluster_spec import ClusterSpec
from everflow.graph.devices import DeviceSpec

STANDARD_PS_OPS = internal("training.device_setter.STANDARD_PS_OPS")(
    (
        "Variable",
        "VariableV2",
        "AutoReloadVariable",
        "MutableHashTable",
        "MutableHashTableV2",
        "MutableHashTableOfTensors",
        "MutableHashTableOfTensorsV2",
        "MutableDenseHashTable",
        "MutableDenseHashTableV2",
        "VarHandleOp",
        "BoostedTreesEnsembleResourceHandleOp",
        "BoostedTreesQuantileStreamResourceHandleOp",
        "ResourceConditionalAccumulator",
    )
)


@internal("training.device_setter._RoundRobinStrategy")
class RoundRobin:
    """The next task for each op, in a circle."""

    def __init__(self, num_tasks: int) -> None:
        self._num_tasks = num_tasks
        self._next = 0

    def __call__(self, unused_op: Any) -> int:
        task, self._next = self._next, (self._next + 1) % self._num_tasks
        return task


@public("train.replica_device_setter")
def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str = "/job:ps",
    worker_device: str = "/job:worker",
    merge_devices: bool = True,
    cluster: Any = None,
    ps_ops: Sequence[str] | None = None,
    ps_strategy: Callable[[Any], int] | None = None,
) -> Callable[[Any], str] | None:
    """A device function for `tf.device`. With no parameter servers it is None, which leaves devices as they are."""
    if cluster is not None:
        job = DeviceSpec.from_string(ps_device).job
        spec = ClusterSpec(cluster).as_dict()
        if not job or job not in spec or not spec[job]:
            return None
        ps_tasks = len(spec[job])
    if ps_tasks == 0:
        return None
    ops = STANDARD_PS_OPS if ps_ops is None else ps_ops
    strategy = RoundRobin(ps_tasks) if ps_strategy is None else ps_strategy
    if not callable(strategy):
        raise TypeError("ps_strategy must be callable")

    def device_of(op: Any) -> str:
        if op.device and not merge_devices:
            return op.device
        own = DeviceSpec.from_string(op.device or "")
        node = getattr(op, "node_def", op)
        spec = DeviceSpec.from_string(worker_device)
        if ps_device and node.op in ops:
            spec = DeviceSpec.from_string(ps_device)
            if spec.job and (own.job is None or own.job == spec.job):
                spec = spec.replace(task=strategy(op))
        return spec.make_merged_spec(own).to_string()

    return device_of
