"""Which dimensions of a tensor count draws, which the batch, and which make up an event."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import control_dependencies, name_scope


@internal("contrib.distributions.python.ops.shape._DistributionShape")
class DistributionShape:
    """Splits shapes into those of samples, batch and event, the last two of so many dimensions, known now or when the graph runs."""

    def __init__(
        self, batch_ndims: Any = None, event_ndims: Any = None, validate_args: bool = False, name: str = "DistributionShape"
    ) -> None:
        for key, value in (("batch_ndims", batch_ndims), ("event_ndims", event_ndims)):
            if value is None:
                raise ValueError(f"{key} cannot be None")
        self._name, self._validate_args = name, validate_args
        with name_scope(name), name_scope("init", values=[batch_ndims, event_ndims]):
            self._batch_ndims = self._checked(convert_to_tensor(batch_ndims, name="batch_ndims"))
            self._event_ndims = self._checked(convert_to_tensor(event_ndims, name="event_ndims"))
        self._known = constant_value(self._batch_ndims), constant_value(self._event_ndims)

    @property
    def name(self) -> str:
        return self._name

    @property
    def batch_ndims(self) -> Any:
        return self._batch_ndims

    @property
    def event_ndims(self) -> Any:
        return self._event_ndims

    @property
    def validate_args(self) -> bool:
        return self._validate_args

    def _checked(self, x: Any) -> Any:
        """A number of dimensions: a whole one, zero or more."""
        if x.dtype != tf.int32:
            raise TypeError(f"{x.name}.dtype={x.dtype} is not {tf.int32}")
        known = constant_value(x)
        if x.shape.ndims not in (None, 0):
            raise ValueError(f"{x.name}.ndims={x.shape.ndims} is not 0 (scalar)")
        if known is not None and known < 0:
            raise ValueError(f"{x.name}.value={known} cannot be negative")
        if known is not None or not self._validate_args:
            return x
        with control_dependencies([tf.assert_rank(x, 0), tf.assert_non_negative(x)]):
            return tf.identity(x)

    def get_ndims(self, x: Any, name: str = "get_ndims") -> Any:
        """How many dimensions a tensor has."""
        with name_scope(self._name), name_scope(name, values=[x]):
            return tf.rank(convert_to_tensor(x, name="x"), name="ndims")

    def get_sample_ndims(self, x: Any, name: str = "get_sample_ndims") -> Any:
        """How many of them count draws."""
        with name_scope(self._name), name_scope(name, values=[x]):
            x = convert_to_tensor(x, name="x")
            batch, event = self._known
            if x.shape.ndims is not None and batch is not None and event is not None:
                left = x.shape.ndims - batch - event
                if left < 0:
                    raise ValueError(f"expected batch_ndims({batch}) + event_ndims({event}) <= ndims({x.shape.ndims})")
                return tf.constant(left, tf.int32, name="sample_ndims")
            found = tf.rank(x) - self._batch_ndims - self._event_ndims
            if not self._validate_args:
                return found
            with control_dependencies([tf.assert_non_negative(found)]):
                return tf.identity(found)

    def get_dims(self, x: Any, name: str = "get_dims") -> tuple[Any, Any, Any]:
        """The places of the dimensions of samples, batch and event."""
        with name_scope(self._name), name_scope(name, values=[x]):
            x = convert_to_tensor(x, name="x")
            known = x.shape.ndims
            return self._split(x, tf.range(tf.rank(x)) if known is None else tf.constant(np.arange(known, dtype=np.int32)))

    def get_shape(self, x: Any, name: str = "get_shape") -> tuple[Any, Any, Any]:
        """The shapes of samples, batch and event."""
        with name_scope(self._name), name_scope(name, values=[x]):
            x = convert_to_tensor(x, name="x")
            return self._split(x, tf.shape(x))

    def _split(self, x: Any, whole: Any) -> tuple[Any, Any, Any]:
        draws = self.get_sample_ndims(x)
        sizes = (draws, self._batch_ndims, self._event_ndims)
        known = [constant_value(value) for value in (whole, *sizes)]
        if all(value is not None for value in known):
            parts = np.split(known[0], np.cumsum(known[1:3]))
            sample, batch, event = (tf.constant(part, tf.int32) for part in parts)
        else:
            begins = (0, draws, draws + self._batch_ndims)
            sample, batch, event = (tf.slice(whole, [begin], [size]) for begin, size in zip(begins, sizes))
        return sample, batch, event

    def _one_if_none(self, ndims: Any) -> Any:
        """The shape [1] if there are no dimensions, else none."""
        return tf.fill([tf.cast(tf.equal(ndims, 0), tf.int32)], 1)

    def make_batch_of_event_sample_matrices(
        self, x: Any, expand_batch_dim: bool = True, name: str = "make_batch_of_event_sample_matrices"
    ) -> tuple[Any, Any]:
        """The tensor with all draws in its last dimension, behind batch and event, which has one at least; and the shape of the draws."""
        with name_scope(self._name), name_scope(name, values=[x]):
            x = convert_to_tensor(x, name="x")
            sample, batch, event = self.get_shape(x)
            flat = tf.reshape(x, tf.concat([[-1], batch, event], 0))
            turned = tf.transpose(flat, tf.concat([tf.range(1, tf.rank(flat)), [0]], 0))
            front = self._one_if_none(self._batch_ndims) if expand_batch_dim else []
            sizes = [tf.cast(front, tf.int32), batch, event, self._one_if_none(self._event_ndims), [tf.reduce_prod(sample)]]
            return tf.reshape(turned, tf.concat(sizes, 0)), sample

    def undo_make_batch_of_event_sample_matrices(
        self, x: Any, sample_shape: Any, expand_batch_dim: bool = True, name: str = "undo_make_batch_of_event_sample_matrices"
    ) -> Any:
        """What that was made of."""
        with name_scope(self._name), name_scope(name, values=[x, sample_shape]):
            x = convert_to_tensor(x, name="x")
            sample_shape = convert_to_tensor(sample_shape, dtype=tf.int32, name="sample_shape")
            first = tf.cast(tf.equal(self._batch_ndims, 0), tf.int32) if expand_batch_dim else tf.constant(0)
            inner = tf.slice(tf.shape(x), [first], [self._batch_ndims + self._event_ndims])
            flat = tf.reshape(x, tf.concat([inner, [tf.reduce_prod(sample_shape)]], 0))
            last = tf.rank(flat) - 1
            turned = tf.transpose(flat, tf.concat([[last], tf.range(last)], 0))
            return tf.reshape(turned, tf.concat([sample_shape, inner], 0))
