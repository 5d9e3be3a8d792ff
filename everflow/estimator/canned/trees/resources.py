"""Ensembles and quantile streams as parts of a graph: made by its initializers, saved by its checkpoints."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph.scopes import add_to_collection, name_scope
from everflow.ops.core.registry import apply
from everflow.ops.trees.ensemble import NO_PRUNING, POST_PRUNING, PRE_PRUNING
from everflow.ops.variables.resource_sets import register_resource
from everflow.train.checkpoints.saveable import SaveableObject, SaveSpec


@internal("ops.boosted_trees_ops.PruningMode")
class PruningMode:
    """When splits that gain nothing are taken back."""

    NO_PRUNING, PRE_PRUNING, POST_PRUNING = NO_PRUNING, PRE_PRUNING, POST_PRUNING
    _map = {"none": NO_PRUNING, "pre": PRE_PRUNING, "post": POST_PRUNING}

    @classmethod
    def from_str(cls, mode: str) -> int:
        """The mode of a name."""
        if mode not in cls._map:
            raise ValueError(f"pruning_mode mode must be one of: {', '.join(sorted(cls._map))}")
        return cls._map[mode]


class _EnsembleSaveable(SaveableObject):
    """The stamp and the serialized trees in a checkpoint."""

    def __init__(self, ensemble: Any, create: Any, name: str) -> None:
        stamp, serialized = ensemble.serialize()
        super().__init__(
            ensemble.resource_handle, [SaveSpec(stamp, "", name + "_stamp"), SaveSpec(serialized, "", name + "_serialized")], name
        )
        self._ensemble, self._create = ensemble, create

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        del restored_shapes
        with tf.control_dependencies([self._create]):
            return self._ensemble.deserialize(*restored_tensors)


class _StreamsSaveable(SaveableObject):
    """The boundaries of each feature in a checkpoint."""

    def __init__(self, streams: Any, create: Any, name: str) -> None:
        specs = [SaveSpec(b, "", f"{name}_bucket_boundaries_{i}") for i, b in enumerate(streams.get_bucket_boundaries())]
        super().__init__(streams.resource_handle, specs, name)
        self._streams, self._create = streams, create

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        del restored_shapes
        with tf.control_dependencies([self._create]):
            return apply("BoostedTreesQuantileStreamResourceDeserialize", self._streams.resource_handle, list(restored_tensors))


@internal("ops.boosted_trees_ops.TreeEnsemble")
class TreeEnsemble:
    """An ensemble of trees, by a handle that the ops on it take."""

    def __init__(self, name: str, stamp_token: Any = 0, is_local: bool = False, serialized_proto: Any = "") -> None:
        self._handle = apply("BoostedTreesEnsembleResourceHandleOp", container="", shared_name=name, name=name)
        with name_scope(name):
            create = apply("BoostedTreesCreateEnsemble", self._handle, tf.cast(stamp_token, tf.int64), serialized_proto)
            is_made = apply("IsBoostedTreesEnsembleInitialized", self._handle)
            register_resource(self._handle, create, is_made, is_shared=not is_local)
            self._initializer = create
            if not is_local:
                add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, _EnsembleSaveable(self, create, self._handle.name))

    @property
    def resource_handle(self) -> Any:
        """The handle."""
        return self._handle

    @property
    def initializer(self) -> Any:
        """The op that makes the ensemble."""
        return self._initializer

    def get_stamp_token(self) -> Any:
        """The number of changes that the ensemble has had."""
        return self.get_states()[0]

    def get_states(self) -> tuple[Any, ...]:
        """The stamp; how many trees there are, how many are done, how many layers were tried; and the nodes of the last layer."""
        stamp, trees, done, layers, nodes = apply("BoostedTreesGetEnsembleStates", self._handle)
        return tf.identity(stamp, name="stamp_token"), trees, done, layers, nodes

    def serialize(self) -> tuple[Any, Any]:
        """The stamp and the message of the trees."""
        stamp, serialized = apply("BoostedTreesSerializeEnsemble", self._handle)
        return stamp, serialized

    def deserialize(self, stamp_token: Any, serialized_proto: Any) -> Any:
        """Takes the trees of a message."""
        return apply("BoostedTreesDeserializeEnsemble", self._handle, stamp_token, serialized_proto)


@internal("ops.boosted_trees_ops.QuantileAccumulator")
class QuantileAccumulator:
    """Sketches of float features, from which the boundaries of their buckets are made."""

    def __init__(self, epsilon: float, num_streams: int, num_quantiles: int, name: str | None = None, max_elements: Any = None) -> None:
        del max_elements  # TensorFlow takes it and has no use for it either.
        self._epsilon, self._num_streams, self._num_quantiles = epsilon, num_streams, num_quantiles
        with name_scope(name, "QuantileAccumulator") as scope:
            self._handle = apply("BoostedTreesQuantileStreamResourceHandleOp", container="", shared_name=scope, name=scope)
            create = apply("BoostedTreesCreateQuantileStreamResource", self._handle, epsilon, num_streams)
            is_made = apply("IsBoostedTreesQuantileStreamResourceInitialized", self._handle)
        register_resource(self._handle, create, is_made)
        self._initializer = create
        add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, _StreamsSaveable(self, create, self._handle.name))

    @property
    def resource_handle(self) -> Any:
        """The handle."""
        return self._handle

    @property
    def initializer(self) -> Any:
        """The op that makes the sketches."""
        return self._initializer

    def add_summaries(self, float_columns: Any, example_weights: Any) -> Any:
        """Adds the numbers of a batch."""
        summaries = apply("BoostedTreesMakeQuantileSummaries", list(float_columns), example_weights, self._epsilon)
        summaries = list(summaries) if isinstance(summaries, (list, tuple)) else [summaries]
        return apply("BoostedTreesQuantileStreamResourceAddSummaries", self._handle, summaries)

    def flush(self) -> Any:
        """Makes boundaries of what was added."""
        return apply("BoostedTreesQuantileStreamResourceFlush", self._handle, self._num_quantiles)

    def get_bucket_boundaries(self) -> list[Any]:
        """The boundaries of each feature."""
        found = apply("BoostedTreesQuantileStreamResourceGetBucketBoundaries", self._handle, num_features=self._num_streams)
        return list(found) if isinstance(found, (list, tuple)) else [found]
