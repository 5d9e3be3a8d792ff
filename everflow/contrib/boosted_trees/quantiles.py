"""Accumulators of quantiles as parts of a graph, alone or many at once."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.boosted_trees.accumulators import NO_NAME, ScheduledStampedResourceOp
from everflow.graph.scopes import add_to_collection, name_scope
from everflow.ops.core.registry import apply, generated
from everflow.ops.variables.resource_sets import register_resource
from everflow.train.checkpoints.saveable import SaveableObject, SaveSpec
from everflow.train.tracking.autotracking import TrackableResource

BELOW = "contrib.boosted_trees.python.ops.quantile_ops."
# The last one lacks its underscore in TensorFlow too.
_SAVED = ("_stamp", "_state", "_are_buckets_ready", "buckets")


@public(BELOW + "QuantileAccumulatorSaveable")
class QuantileAccumulatorSaveable(SaveableObject):
    """A sketch and its boundaries in a checkpoint."""

    def __init__(self, resource_handle: Any, create_op: Any, name: str) -> None:
        self._resource_handle, self._create_op = resource_handle, create_op
        parts = apply("QuantileAccumulatorSerialize", resource_handle)
        super().__init__(resource_handle, [SaveSpec(part, "", name + end) for part, end in zip(parts, _SAVED, strict=True)], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        del restored_shapes
        *scalars, buckets = restored_tensors
        with tf.control_dependencies([self._create_op]):
            # TensorFlow hands over the scalars as lists, which adds an op for each.
            return apply("QuantileAccumulatorDeserialize", self._resource_handle, *([scalar] for scalar in scalars), buckets)


@public(BELOW + "QuantileAccumulator")
class QuantileAccumulator(TrackableResource):
    """A sketch of a column, of which buckets are made at each flush; what has another stamp is not added."""

    def __init__(
        self,
        init_stamp_token: Any,
        epsilon: float,
        num_quantiles: int,
        max_elements: int | None = None,
        name: str | None = None,
        container: str | None = None,
        generate_quantiles: bool = False,
    ) -> None:
        self._init_stamp_token, self._epsilon, self._num_quantiles = init_stamp_token, epsilon, num_quantiles
        self._max_elements, self._container, self._generate_quantiles = max_elements, container, generate_quantiles
        super().__init__()
        with name_scope(name and NO_NAME.sub("", name), "QuantileAccumulator") as self._name:
            handle = self._resource_handle = self._create_resource()
            made_by = self._init_op = self._initialize()
            is_made = self.is_initialized()
        register_resource(handle, made_by, is_made)
        self._saveable = QuantileAccumulatorSaveable(handle, made_by, self._name)
        add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, self._saveable)

    def _create_resource(self) -> Any:
        return apply("QuantileStreamResourceHandleOp", container=self._container or "", shared_name=self._name, name=self._name)

    def _initialize(self) -> Any:
        limit: dict[str, Any] = {} if self._max_elements is None else {"max_elements": self._max_elements}
        return apply(
            "CreateQuantileAccumulator",
            self.resource_handle,
            self._init_stamp_token,
            epsilon=self._epsilon,
            num_quantiles=self._num_quantiles,
            generate_quantiles=self._generate_quantiles,
            **limit,
        )

    @property
    def initializer(self) -> Any:
        """The op that makes the sketch."""
        return self._init_op

    def is_initialized(self) -> Any:
        """Whether the sketch was made."""
        return apply("QuantileAccumulatorIsInitialized", self.resource_handle)

    @property
    def saveable(self) -> Any:
        """What checkpoints hold of it."""
        return self._saveable

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {"quantile_accumulator": self.saveable}

    def get_buckets(self, stamp_token: Any) -> tuple[Any, Any]:
        """(Whether there are boundaries, the boundaries of the last flush)."""
        ready, buckets = apply("QuantileAccumulatorGetBuckets", [self.resource_handle], stamp_token)
        return _first(ready), _first(buckets)

    def schedule_get_buckets(self) -> ScheduledStampedResourceOp:
        """The same, to be run with others."""
        return ScheduledStampedResourceOp(resource_handle=self.resource_handle, op=generated("QuantileAccumulatorGetBuckets"))

    def _make_summary(self, column: Any, example_weights: Any) -> Any:
        is_sparse = isinstance(column, tf.SparseTensor)
        sparse = ([column.indices], [column.values], [column.dense_shape]) if is_sparse else ([], [], [])
        found = apply("MakeQuantileSummaries", [] if is_sparse else [column], *sparse, example_weights, epsilon=self._epsilon / 2)
        return _first(found[1] if is_sparse else found[0])

    def add_summary(self, stamp_token: Any, column: Any, example_weights: Any) -> Any:
        """Adds the numbers of a column."""
        return self.add_prebuilt_summary(stamp_token, self._make_summary(column, example_weights))

    def add_prebuilt_summary(self, stamp_token: Any, summary: Any) -> Any:
        """Adds what a summary is of."""
        return apply("QuantileAccumulatorAddSummaries", [self.resource_handle], stamp_token, [summary])

    def schedule_add_summary(self, stamp_token: Any, column: Any, example_weights: Any) -> ScheduledStampedResourceOp:
        """Adds the numbers of a column, to be run with others."""
        del stamp_token
        summary = self._make_summary(column, example_weights)
        return ScheduledStampedResourceOp(
            op=generated("QuantileAccumulatorAddSummaries"), resource_handle=self.resource_handle, summaries=summary
        )

    def flush(self, stamp_token: Any, next_stamp_token: Any) -> Any:
        """Makes buckets and starts again under another stamp."""
        return apply("QuantileAccumulatorFlush", self.resource_handle, stamp_token, next_stamp_token)

    def flush_summary(self, stamp_token: Any, next_stamp_token: Any) -> Any:
        """The summary of what was added; starts again under another stamp."""
        return apply("QuantileAccumulatorFlushSummary", self.resource_handle, stamp_token, next_stamp_token)


def _first(found: Any) -> Any:
    return found[0] if isinstance(found, (list, tuple)) else found
