"""Signals cut into frames that may overlap, and put together again."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor


def _number(value: Any, name: str) -> Any:
    value = convert_to_tensor(value, name=name)
    value.shape.assert_has_rank(0)
    return value


@public("signal.frame", "contrib.signal.frame")
def frame(
    signal: Any, frame_length: Any, frame_step: Any, pad_end: bool = False, pad_value: Any = 0, axis: Any = -1, name: str | None = None
) -> Any:
    """The frames of a signal: the axis becomes two, frames and places in them. `pad_end` lengthens the last ones with `pad_value`."""
    with tf.name_scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        signal = convert_to_tensor(signal, name="signal")
        signal.shape.with_rank_at_least(1)
        length, step = _number(frame_length, "frame_length"), _number(frame_step, "frame_step")
        axis = int(constant_value(convert_to_tensor(axis, name="axis")))
        rank = signal.shape.ndims
        if axis < 0:
            axis += tf.rank(signal) if rank is None else rank
        if rank is not None and not 0 <= axis < rank:
            raise ValueError(f"axis must be within the {rank} axes of the signal.")
        padding = _number(pad_value, "pad_value") if pad_end else None
        found = _framed(signal, length, step, axis, padding if padding is None else tf.cast(padding, signal.dtype))
        if rank is not None:
            samples, size, apart = tf.dimension_value(signal.shape[axis]), constant_value(length), constant_value(step)
            count = None
            if samples is not None and apart and pad_end:
                count = -(-samples // int(apart))
            elif samples is not None and apart and size is not None:
                count = max(0, 1 + (samples - int(size)) // int(apart))
            sizes = [count, None if size is None else int(size)]
            found.set_shape(signal.shape[:axis].concatenate(sizes).concatenate(signal.shape[axis + 1 :]))
        return found


def _framed(signal: Any, length: Any, step: Any, axis: Any, padding: Any) -> Any:
    samples = tf.shape(signal)[axis]
    if padding is None:
        count = tf.maximum(0, 1 + tf.math.floordiv(samples - length, step))
    else:
        count = -tf.math.floordiv(-samples, step)
        missing = tf.maximum(0, length + step * (count - 1) - samples)
        before, after = tf.zeros([axis, 2], tf.int32), tf.zeros([tf.rank(signal) - axis - 1, 2], tf.int32)
        signal = tf.pad(signal, tf.concat([before, [[0, missing]], after], 0), constant_values=padding)
    # Behind a Reshape, gradients are dense.
    return tf.gather(tf.reshape(signal, tf.shape(signal)), _places(count, length, step), axis=axis)


def _places(count: Any, length: Any, step: Any) -> Any:
    """Where the samples of each frame are."""
    return tf.expand_dims(step * tf.range(count), 1) + tf.expand_dims(tf.range(length), 0)


@public("signal.overlap_and_add", "contrib.signal.overlap_and_add")
def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Any:
    """A signal from its frames, the last two axes: where frames overlap, they are added."""
    with tf.name_scope(name, "overlap_and_add", [signal, frame_step]):
        signal = convert_to_tensor(signal, name="signal")
        signal.shape.with_rank_at_least(2)
        step = convert_to_tensor(frame_step, name="frame_step")
        step.shape.assert_has_rank(0)
        if not step.dtype.is_integer:
            raise ValueError(f"frame_step must be an integer. Got {step.dtype}")
        step = tf.cast(step, tf.int32)
        sizes, rank = tf.shape(signal), tf.rank(signal)
        count, length = sizes[-2], sizes[-1]
        known = tf.dimension_value(signal.shape[-1]) if signal.shape.ndims is not None else None
        if known is not None and known == constant_value(step):
            return tf.reshape(signal, tf.concat([sizes[: rank - 2], [count * length]], 0), name="fast_path")
        # Samples first: the segments are places in time.
        flat = tf.transpose(tf.reshape(signal, [-1, count * length]))
        total = tf.where(count > 0, (count - 1) * step + length, 0)
        added = tf.transpose(tf.math.unsorted_segment_sum(flat, tf.reshape(_places(count, length, step), [-1]), total))
        found = tf.reshape(added, tf.concat([sizes[: rank - 2], [total]], 0))
        if signal.shape.ndims is not None:
            frames, apart = tf.dimension_value(signal.shape[-2]), constant_value(step)
            samples = None if None in (frames, known) or apart is None else (frames - 1) * int(apart) + known if frames else 0  # type: ignore[operator]
            found.set_shape(signal.shape[:-2].concatenate([samples]))
        return found
