"""Accumulators of statistics as parts of a graph, and ops on many of them at once."""

from __future__ import annotations

import abc
import collections
import re
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.operation import Operation
from everflow.graph.scopes import add_to_collection, name_scope
from everflow.ops.core.registry import apply, generated
from everflow.ops.variables.resource_sets import register_resource
from everflow.train.checkpoints.saveable import SaveableObject, SaveSpec
from everflow.train.tracking.autotracking import TrackableResource

BELOW = "contrib.boosted_trees.python.ops."
NO_NAME = re.compile(r"[\W_]+")
# The last one lacks its underscore in TensorFlow too.
_SAVED = ("_stamp", "_num_updates", "_partition_ids", "_feature_ids", "_gradients", "hessians")


@public(BELOW + "batch_ops_utils.ScheduledOp")
class ScheduledOp(abc.ABC):
    """An op that may be run together with others of its kind."""

    @abc.abstractmethod
    def batching_key(self) -> Any:
        """Ops with the same key run together."""

    @abc.abstractmethod
    def batch_runner_fn(self) -> Any:
        """The function that runs them."""


@public(BELOW + "batch_ops_utils.ScheduledStampedResourceOp")
class ScheduledStampedResourceOp(ScheduledOp):
    """An op on a resource with a stamp, which takes lists of resources and arguments."""

    def __init__(self, resource_handle: Any, op: Any, **kwargs: Any) -> None:
        self.resource_handle, self.op, self.args = resource_handle, op, kwargs

    def batching_key(self) -> Any:
        return self.resource_handle.device, self.op

    def batch_runner_fn(self) -> Any:
        return _run_on_resources


def _moved(tensors: list[Any], device: Any) -> list[Any]:
    """The tensors on a device, moved in one piece."""
    zero = tf.constant(0, dtype=tf.int32)
    with tf.device(None):
        if all(tensor.get_shape().ndims == 0 for tensor in tensors):
            with tf.device(tensors[0].device):
                values = tf.stack(tensors)
            with tf.device(device):
                return tf.unstack(values)
        with tf.device(tensors[0].device):
            sizes = tf.stack(tf.shape_n(tensors))[:, 0]
            values = tf.concat(tensors, axis=zero)
        with tf.device(device):
            return list(tf.split(values, tf.unstack(sizes), axis=zero))


def _run_on_resources(batch: list[Any], stamp: Any) -> Any:
    if not batch:
        return None
    names = set(batch[0].args)
    for one in batch:
        if set(one.args) != names:
            raise ValueError(f"Mismatching arguments: {one.args}, {names}.")
    handles = [one.resource_handle for one in batch]
    device = handles[0].device
    grouped = {name: _moved([one.args[name] for one in batch], device) for name in sorted(names)}
    with tf.device(device):
        return batch[0].op(handles, stamp, **grouped)


@public(BELOW + "batch_ops_utils.run_handler_scheduled_ops")
def run_handler_scheduled_ops(per_handler_ops: Any, stamp: Any, worker_device: Any) -> Any:
    """{handler: results of its ops}, with all ops of one kind and device run as one."""
    batches: dict[Any, list[Any]] = {}
    for ops in per_handler_ops.values():
        for one in ops:
            batches.setdefault((one.batching_key(), one.batch_runner_fn()), []).append(one)
    results: dict[int, Any] = {}
    for batch in batches.values():
        found = batch[0].batch_runner_fn()(batch, stamp)
        if isinstance(found, tuple):
            moved = [_moved(result, worker_device) for result in found]
            results.update((id(one), tuple(result[i] for result in moved)) for i, one in enumerate(batch))
        elif isinstance(found, Operation):
            results.update((id(one), found) for one in batch)
        else:
            raise ValueError(f"Unknown type of result {found}.")
    by_handler = collections.defaultdict(list)
    for handler, ops in per_handler_ops.items():
        by_handler[handler] = [results[id(one)] for one in ops]
    return by_handler


@public(BELOW + "stats_accumulator_ops.StatsAccumulatorSaveable")
class StatsAccumulatorSaveable(SaveableObject):
    """Statistics in a checkpoint."""

    def __init__(self, resource_handle: Any, create_op: Any, is_scalar: bool, name: str) -> None:
        self._resource_handle, self._create_op = resource_handle, create_op
        self._prefix = "StatsAccumulatorScalar" if is_scalar else "StatsAccumulatorTensor"
        start = resource_handle.name
        specs = [SaveSpec(tensor, "", start + end) for tensor, end in zip(self.serialize(), _SAVED, strict=True)]
        super().__init__(resource_handle, specs, name)

    def serialize(self) -> Any:
        """(Stamp, number of updates, partitions, features, gradients, hessians)."""
        return apply(self._prefix + "Serialize", self._resource_handle)

    def deserialize(self, stamp_token: Any, num_updates: Any, partition_ids: Any, feature_ids: Any, gradients: Any, hessians: Any) -> Any:
        """Takes statistics in place of those that are there."""
        given = (stamp_token, num_updates, partition_ids, feature_ids, gradients, hessians)
        return apply(self._prefix + "Deserialize", self._resource_handle, *given)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        del restored_shapes
        with tf.control_dependencies([self._create_op]):
            return self.deserialize(*restored_tensors)


@public(BELOW + "stats_accumulator_ops.StatsAccumulator")
class StatsAccumulator(TrackableResource):
    """Sums of gradients and hessians by partition, feature and dimension; what has another stamp is not added."""

    def __init__(
        self, stamp_token: Any, gradient_shape: Any, hessian_shape: Any, name: str | None = None, container: str | None = None
    ) -> None:
        self._stamp_token, self._container = stamp_token, container
        self._gradient_shape, self._hessian_shape = gradient_shape, hessian_shape
        self._is_scalar = gradient_shape.ndims == 0 and hessian_shape.ndims == 0
        self._prefix = "StatsAccumulatorScalar" if self._is_scalar else "StatsAccumulatorTensor"
        super().__init__()
        if name is not None:
            name = NO_NAME.sub("", name)
        with name_scope(name, "StatsAccumulator") as scope:
            self._name = scope
            self._resource_handle = self._create_resource()
            self._init_op = self._initialize()
            is_made = self.is_initialized()
        register_resource(self.resource_handle, self.initializer, is_made)
        self._saveable = StatsAccumulatorSaveable(self.resource_handle, self.initializer, self._is_scalar, scope)
        add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, self._saveable)

    def _create_resource(self) -> Any:
        return apply(self._prefix + "ResourceHandleOp", container=self._container or "", shared_name=self._name, name=self._name)

    def _initialize(self) -> Any:
        shapes = [] if self._is_scalar else [self._gradient_shape.as_list(), self._hessian_shape.as_list()]
        return apply("Create" + self._prefix, self.resource_handle, self._stamp_token, *shapes)

    @property
    def initializer(self) -> Any:
        """The op that makes the accumulator."""
        return self._init_op

    def is_initialized(self) -> Any:
        """Whether the accumulator was made."""
        return apply(self._prefix + "IsInitialized", self.resource_handle)

    @property
    def saveable(self) -> Any:
        """What checkpoints hold of it."""
        return self._saveable

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {"stats_accumulator": self.saveable}

    def _make_summary(self, partition_ids: Any, feature_ids: Any, gradients: Any, hessians: Any) -> Any:
        return apply(self._prefix + "MakeSummary", partition_ids, feature_ids, gradients, hessians)

    def add(self, stamp_token: Any, partition_ids: Any, feature_ids: Any, gradients: Any, hessians: Any) -> Any:
        """Adds rows."""
        summary = self._make_summary(partition_ids, feature_ids, gradients, hessians)
        return apply(self._prefix + "Add", [self.resource_handle], stamp_token, *([part] for part in summary))

    def schedule_add(self, partition_ids: Any, feature_ids: Any, gradients: Any, hessians: Any) -> ScheduledStampedResourceOp:
        """The same, to be run with others."""
        partition_ids, feature_ids, gradients, hessians = self._make_summary(partition_ids, feature_ids, gradients, hessians)
        return ScheduledStampedResourceOp(
            op=generated(self._prefix + "Add"),
            resource_handle=self.resource_handle,
            partition_ids=partition_ids,
            feature_ids=feature_ids,
            gradients=gradients,
            hessians=hessians,
        )

    def flush(self, stamp_token: Any, next_stamp_token: Any) -> Any:
        """(Number of updates, partitions, features, gradients, hessians); starts again with another stamp."""
        return apply(self._prefix + "Flush", self.resource_handle, stamp_token, next_stamp_token)
