"""States of cells: their shapes, the zeros they start with, and LSTMStateTuple."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal, public
from everflow.eager.context import executing_eagerly
from everflow.graph.constants import constant_value
from everflow.graph.dtypes import DTypeLike
from everflow.graph.shapes import TensorShape, as_shape
from everflow.graph.tensor import Tensor

_Pair = namedtuple("_Pair", ("c", "h"))


@public("nn.rnn_cell.LSTMStateTuple", "contrib.rnn.LSTMStateTuple")
class LSTMStateTuple(_Pair):
    """The state of an LSTM: the cell `c` and the output `h`."""

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        """The type of both."""
        c, h = self
        if c.dtype != h.dtype:
            raise TypeError(f"Inconsistent internal state: {c.dtype} vs {h.dtype}")
        return c.dtype


def _part(value: Any, what: str) -> tuple[Any, Any]:
    """A prefix or suffix of a shape as (tensor or None, static shape)."""
    if isinstance(value, Tensor) or getattr(value, "_is_eager_tensor", False):
        static = constant_value(value)
        rank = value.shape.rank
        if rank == 0:
            return tf.expand_dims(value, 0), static
        if rank != 1:
            raise ValueError(f"{what} tensor must be either a scalar or vector, but saw tensor: {value}")
        return value, static
    shape = as_shape(value) if not isinstance(value, int) else TensorShape([value])
    static = shape.as_list() if shape.rank is not None else None
    return tf.constant(shape.as_list(), dtype="int32") if shape.is_fully_defined() else None, static


@internal("ops.rnn_cell_impl._concat", "ops.rnn._concat")
def concat_shapes(prefix: Any, suffix: Any, static: bool = False) -> Any:
    """A shape of two parts, each a tensor or sizes: as a tensor, or what is known of it."""
    p, p_static = _part(prefix, "prefix")
    s, s_static = _part(suffix, "suffix")
    if static:
        found = as_shape(_sizes(p_static)).concatenate(as_shape(_sizes(s_static)))
        return found.as_list() if found.rank is not None else None
    if p is None or s is None:
        raise ValueError(f"Provided a prefix or suffix of None: {prefix} and {suffix}")
    return tf.concat((p, s), 0)


def _sizes(static: Any) -> Any:
    if static is None or isinstance(static, list):
        return static
    return [int(v) for v in static.reshape(-1)]


def _sizes_known(size: Any) -> list[int | None]:
    if isinstance(size, Tensor):
        value = constant_value(size)
        return [None] if value is None else _sizes(value)
    return as_shape([size] if isinstance(size, int) else size).as_list()


@internal("ops.rnn_cell_impl._zero_state_tensors", "contrib.seq2seq.python.ops.attention_wrapper._zero_state_tensors")
def zero_state_tensors(state_size: Any, batch_size: Any, dtype: DTypeLike) -> Any:
    """Zeros for each part of a state."""

    def zeros(size: Any) -> Any:
        made = tf.zeros(concat_shapes(batch_size, size), dtype=dtype)
        if not executing_eagerly():
            static = concat_shapes(batch_size, size, static=True)
            # Nothing is known of a batch, or of a state, whose size is a tensor, but that there is one.
            made.set_shape(static if static is not None else [*_sizes_known(batch_size), *_sizes_known(size)])
        return made

    return nest.map_structure(zeros, state_size)
