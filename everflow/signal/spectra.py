"""Spectra over time: the Fourier transforms of a signal's frames, and the signal that has given ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.dtypes import DTypeLike
from everflow.signal.frames import frame, overlap_and_add
from everflow.signal.windows import hann_window


def _transform_length(frame_length: Any) -> Any:
    """The smallest power of two that a frame fits into."""
    known = constant_value(frame_length)
    if known is not None:
        return 1 << max(int(known) - 1, 0).bit_length()
    powers = tf.bitwise.left_shift(1, tf.range(31))
    return tf.reduce_min(tf.boolean_mask(powers, powers >= tf.cast(frame_length, tf.int32)))


def _lengths(frame_length: Any, frame_step: Any, fft_length: Any) -> tuple[Any, Any, Any]:
    found: list[Any] = []
    for value, name in ((frame_length, "frame_length"), (frame_step, "frame_step"), (fft_length, "fft_length")):
        value = convert_to_tensor(_transform_length(found[0]) if value is None else value, name=name)
        value.shape.assert_has_rank(0)
        found.append(value)
    return found[0], found[1], found[2]


@public("signal.stft", "contrib.signal.stft")
def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Any:
    """The short-time Fourier transform: the spectrum of each frame."""
    with tf.name_scope(name, "stft", [signals, frame_length, frame_step]):
        signals = convert_to_tensor(signals, name="signals")
        signals.shape.with_rank_at_least(1)
        length, step, fft_length = _lengths(frame_length, frame_step, fft_length)
        frames = frame(signals, length, step, pad_end=pad_end)
        if window_fn is not None:
            frames *= window_fn(length, dtype=frames.dtype)
        return tf.signal.rfft(frames, [fft_length])


@public("signal.inverse_stft", "contrib.signal.inverse_stft")
def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
    name: str | None = None,
) -> Any:
    """The signal of which these are the spectra; see `inverse_stft_window_fn` for the window that makes it exact."""
    with tf.name_scope(name, "inverse_stft", [stfts]):
        stfts = convert_to_tensor(stfts, name="stfts")
        stfts.shape.with_rank_at_least(2)
        length, step, fft_length = _lengths(frame_length, frame_step, fft_length)
        frames = tf.signal.irfft(stfts, [fft_length])[..., :length]
        missing = tf.maximum(0, length - fft_length)
        if constant_value(missing) != 0:
            frames = tf.pad(frames, tf.concat([tf.zeros([tf.rank(frames) - 1, 2], tf.int32), [[0, missing]]], 0))
        if window_fn is not None:
            frames *= window_fn(length, dtype=stfts.dtype.real_dtype)
        return overlap_and_add(frames, step)


@public("signal.inverse_stft_window_fn", "contrib.signal.inverse_stft_window_fn")
def inverse_stft_window_fn(frame_step: Any, forward_window_fn: Callable[..., Any] = hann_window, name: str | None = None) -> Any:
    """A window function with which `inverse_stft` undoes `stft` with the given one."""

    def inverse_window(frame_length: Any, dtype: DTypeLike) -> Any:
        with tf.name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
            length, step, _ = _lengths(frame_length, frame_step, 1)
            window = forward_window_fn(length, dtype=dtype)
            overlaps = -tf.math.floordiv(-length, step)
            # What overlaps at one place: the window's squares a step apart.
            squares = tf.pad(tf.square(window), [[0, overlaps * step - length]])
            sums = tf.reduce_sum(tf.reshape(squares, [overlaps, step]), 0)
            return window / tf.tile(sums, [overlaps])[:length]

    return inverse_window
