"""Features of speech in integer arithmetic, as keyword spotters on small devices compute them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow import _native
from everflow.api import public
from everflow.errors import internal_error, invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.dtypes import DTypeLike
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, generated, not_differentiable, op

Kernel = Callable[..., Any]

# The attributes, in the order in which the native class takes what they say.
_SETTINGS = (
    *("num_channels", "upper_band_limit", "lower_band_limit", "smoothing_bits", "even_smoothing", "odd_smoothing", "min_signal_remaining"),
    *("enable_pcan", "pcan_strength", "pcan_offset", "gain_bits", "enable_log", "scale_shift"),
)


def _features(node: Node) -> Kernel:
    rate, channels = node.attr("sample_rate"), node.attr("num_channels")
    window, step = (node.attr(name) * rate // 1000 for name in ("window_size", "window_step"))
    context = np.arange(-node.attr("left_context"), node.attr("right_context") + 1)
    stride, zeros, scale = node.attr("frame_stride"), node.attr("zero_padding"), node.attr("out_scale")
    dtype = node.attr("out_type").as_numpy_dtype
    if window < 3:
        raise internal_error("failed to populate frontend state: the window has fewer than three samples")
    if step < 1 or stride < 1 or not scale:
        raise invalid_argument(f"window_step ({step} samples), frame_stride ({stride}) and out_scale ({scale}) must be positive")
    try:
        frontend = _native.MicroFrontend(rate, window, step, *(node.attr(name) for name in _SETTINGS))
    except ValueError as error:
        raise internal_error(f"failed to populate frontend state: {error}") from None

    def run(audio: Any) -> Any:
        if audio.ndim != 1:
            raise invalid_argument("audio is not a vector")
        audio = audio.cpu().contiguous()
        samples = audio.numel()
        frames = (samples - window) // step + 1 if samples >= window else 0
        found: np.ndarray = np.empty((frames, channels), np.uint16)
        frontend.run(audio.data_ptr(), samples, found.ctypes.data)
        found = (found // np.uint16(scale)) if dtype is np.uint16 else found.astype(dtype) / dtype(scale)
        taken = np.arange(0, frames, stride)[:, None] + context
        rows = found[taken.clip(0, frames - 1)] if frames else found[:0, None].repeat(len(context), 1)
        if zeros:
            rows[(taken < 0) | (taken >= frames)] = 0
        return torch.from_numpy(rows.reshape(len(taken), len(context) * channels))

    return run


def _features_shape(o: Operation) -> Any:
    (samples,) = shapes.with_rank(o.inputs[0].dims, 1)
    # Unlike the kernel, the static rule takes whole samples of a millisecond.
    window, step = (o.attr(name) * (o.attr("sample_rate") // 1000) for name in ("window_size", "window_step"))
    width = o.attr("num_channels") * (1 + o.attr("left_context") + o.attr("right_context"))
    if samples is None:
        return (None, width)
    for divisor in (step, o.attr("frame_stride")):
        if divisor < 1:
            raise ValueError(f"Divisor must be positive but is {divisor}")
    return (0 if samples < window else (samples - window) // step // o.attr("frame_stride") + 1, width)


op("AudioMicrofrontend", kernel=_features, shape=_features_shape, gradient=not_differentiable)

generated_function = public("lite.experimental.microfrontend.ops.gen_audio_microfrontend_op.audio_microfrontend")(
    generated("AudioMicrofrontend")
)


@public(
    "lite.experimental.microfrontend.python.ops.audio_microfrontend",
    "lite.experimental.microfrontend.python.ops.audio_microfrontend_op.audio_microfrontend",
)
def audio_microfrontend(
    audio: Any,
    sample_rate: int = 16000,
    window_size: int = 25,
    window_step: int = 10,
    num_channels: int = 32,
    upper_band_limit: float = 7500.0,
    lower_band_limit: float = 125.0,
    smoothing_bits: int = 10,
    even_smoothing: float = 0.025,
    odd_smoothing: float = 0.06,
    min_signal_remaining: float = 0.05,
    enable_pcan: bool = True,
    pcan_strength: float = 0.95,
    pcan_offset: float = 80.0,
    gain_bits: int = 21,
    enable_log: bool = True,
    scale_shift: int = 6,
    left_context: int = 0,
    right_context: int = 0,
    frame_stride: int = 1,
    zero_padding: bool = False,
    out_scale: int = 1,
    out_type: DTypeLike = dtypes.uint16,
) -> Any:
    """Mel filterbanks of int16 sound, a row for each step: without steady noise, with even gain (PCAN), as logarithms.

    A row may hold those of the frames beside it (`left_context`, `right_context`), and `frame_stride` takes each n-th row.
    """
    if audio.shape.ndims is None:
        raise ValueError("Input to `AudioMicrofrontend` should have known rank.")
    if audio.shape.ndims > 1:
        audio = tf.reshape(audio, [-1])
    return apply(
        "AudioMicrofrontend",
        audio,
        sample_rate=sample_rate,
        window_size=window_size,
        window_step=window_step,
        num_channels=num_channels,
        upper_band_limit=upper_band_limit,
        lower_band_limit=lower_band_limit,
        smoothing_bits=smoothing_bits,
        even_smoothing=even_smoothing,
        odd_smoothing=odd_smoothing,
        min_signal_remaining=min_signal_remaining,
        enable_pcan=enable_pcan,
        pcan_strength=pcan_strength,
        pcan_offset=pcan_offset,
        gain_bits=gain_bits,
        enable_log=enable_log,
        scale_shift=scale_shift,
        left_context=left_context,
        right_context=right_context,
        frame_stride=frame_stride,
        zero_padding=zero_padding,
        out_scale=out_scale,
        out_type=out_type,
    )
