"""What distributions of single numbers share."""

from __future__ import annotations

import functools
from typing import Any

import everflow as tf
from everflow.distributions.base import Distribution


class ScalarDistribution(Distribution):
    """A distribution of single numbers, whose batch has the shape that its parameters broadcast to."""

    def _shaping(self) -> list[Any]:
        """The parameters that shape the batch."""
        return self._graph_parents

    def _batch_shape_tensor(self) -> Any:
        return functools.reduce(tf.broadcast_dynamic_shape, (tf.shape(p) for p in self._shaping()))

    def _batch_shape(self) -> Any:
        return functools.reduce(tf.broadcast_static_shape, (p.shape for p in self._shaping()))

    def _event_shape_tensor(self) -> Any:
        return tf.constant([], dtype=tf.int32)

    def _event_shape(self) -> Any:
        return tf.TensorShape([])

    def _spread_over_batch(self, value: Any) -> Any:
        """A value for each distribution of the batch."""
        return value * tf.ones(self.batch_shape_tensor(), dtype=value.dtype)
