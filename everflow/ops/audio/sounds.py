"""Sound: WAV files, spectrograms and Mel-frequency cepstral coefficients."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.io import wav
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, generated, op
from everflow.ops.core.shape_rules import with_rank

Kernel = Callable[..., Any]


def _decode(node: Node) -> Kernel:
    channels, count = node.attr("desired_channels"), node.attr("desired_samples")

    def run(contents: Any) -> Any:
        if np.ndim(contents):
            raise invalid_argument(f"contents must be scalar, got shape {list(np.shape(contents))}")
        found, rate = wav.decode_wav(contents.item() if isinstance(contents, np.ndarray) else contents)
        total = found.shape[0] if count == -1 else count
        width = found.shape[1] if channels == -1 else channels
        audio: np.ndarray = np.zeros((total, width), np.float32)
        # Channels that the file does not have repeat its last one.
        taken = np.minimum(np.arange(width), found.shape[1] - 1)
        audio[: found.shape[0]] = found[:total, taken]
        return torch.from_numpy(audio), torch.tensor(rate, dtype=torch.int32)

    return run


def _encode(node: Node) -> Kernel:
    def run(audio: Any, rate: Any) -> Any:
        if audio.ndim != 2:
            raise invalid_argument(f"audio must be 2-dimensional[{','.join(map(str, audio.shape))}]")
        result: np.ndarray = np.empty((), dtype=object)
        result[()] = wav.encode_wav(audio.cpu().numpy(), int(rate))
        return result

    return run


def _decode_shape(o: Operation) -> Any:
    with_rank(o.inputs[0].dims, 0)
    samples, channels = o.attr("desired_samples"), o.attr("desired_channels")
    for name, n in (("samples", samples), ("channels", channels)):
        if n < -1 or (name == "channels" and n == 0):
            raise ValueError(f"{name} must be non-negative, got {n}")
    return [(None if samples == -1 else samples, None if channels == -1 else channels), ()]


def _encode_shape(o: Operation) -> Any:
    with_rank(o.inputs[0].dims, 2)
    with_rank(o.inputs[1].dims, 0)
    return ()


op("DecodeWav", kernel=_decode, shape=_decode_shape)
op("EncodeWav", kernel=_encode, shape=_encode_shape)


def _fft_length(window: int) -> int:
    return 1 << max(0, (window - 1).bit_length())


def _spectrogram(node: Node) -> Kernel:
    window, stride, squared = node.attr("window_size"), node.attr("stride"), node.attr("magnitude_squared")
    if stride < 1:
        raise invalid_argument(f"Stride must be positive, got {stride}")
    if window < 2:
        raise invalid_argument(f"Window size must be at least 2, got {window}")
    length = _fft_length(window)
    hann = torch.from_numpy(0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window) / window))

    def run(audio: Any) -> Any:
        if audio.ndim != 2:
            raise invalid_argument(f"input must be 2-dimensional[{','.join(map(str, audio.shape))}]")
        samples, channels = audio.shape
        frames = 0 if samples < window else 1 + (samples - window) // stride
        if not frames or not channels:
            return audio.new_zeros((channels, frames, length // 2 + 1))
        framed = audio.t().unfold(1, window, stride).to(torch.float64) * hann.to(audio.device)
        power = torch.fft.rfft(framed, length).abs().square()
        return (power if squared else power.sqrt()).to(torch.float32)

    return run


def _spectrogram_shape(o: Operation) -> Any:
    samples, channels = shapes.with_rank(o.inputs[0].dims, 2)
    window, stride = o.attr("window_size"), o.attr("stride")
    frames = None if samples is None or stride < 1 else 0 if samples < window else 1 + (samples - window) // stride
    return (channels, frames, 1 + _fft_length(window) // 2)


op("AudioSpectrogram", kernel=_spectrogram, shape=_spectrogram_shape)


def _mel(frequency: Any) -> Any:
    return 1127.0 * np.log1p(frequency / 700.0)


@functools.lru_cache(32)
def _mel_filters(bins: int, rate: int, channels: int, lower: float, upper: float) -> Any:
    """[bins, channels]: triangles that overlap by half, evenly spaced on the Mel scale."""
    low, high = _mel(lower), _mel(upper)
    spacing = (high - low) / (channels + 1)
    centers = low + spacing * np.arange(1, channels + 2)
    step = 0.5 * rate / (bins - 1)
    first, last = int(1.5 + lower / step), int(upper / step)
    places = _mel(np.arange(bins) * step)
    below = np.searchsorted(centers[:channels], places, side="left") - 1
    before = np.where(below >= 0, centers[np.maximum(below, 0)], low)
    after = centers[below + 1]
    share = (after - places) / (after - before)
    filters = np.zeros((bins, channels))
    for i in range(max(first, 0), min(last, bins - 1) + 1):
        if below[i] >= 0:
            filters[i, below[i]] += share[i]
        if below[i] + 1 < channels:
            filters[i, below[i] + 1] += 1 - share[i]
    return torch.from_numpy(filters)


@functools.lru_cache(32)
def _cosines(inputs: int, coefficients: int) -> Any:
    rows, columns = np.arange(inputs)[:, None] + 0.5, np.arange(coefficients)[None]
    return torch.from_numpy(np.sqrt(2.0 / inputs) * np.cos(np.pi / inputs * rows * columns))


def _coefficients(node: Node) -> Kernel:
    channels, count = node.attr("filterbank_channel_count"), node.attr("dct_coefficient_count")
    lower, upper = node.attr("lower_frequency_limit"), node.attr("upper_frequency_limit")

    def run(spectrogram: Any, rate: Any) -> Any:
        if spectrogram.ndim != 3:
            raise invalid_argument(f"spectrogram must be 3-dimensional[{','.join(map(str, spectrogram.shape))}]")
        filters = _mel_filters(spectrogram.shape[2], int(rate), channels, lower, upper)
        energy = spectrogram.to(torch.float64).sqrt() @ filters.to(spectrogram.device)
        logs = energy.clamp(min=1e-12).log()
        return (logs @ _cosines(channels, count).to(spectrogram.device)).to(torch.float32)

    return run


def _coefficients_shape(o: Operation) -> Any:
    dims = shapes.with_rank(o.inputs[0].dims, 3)
    with_rank(o.inputs[1].dims, 0)
    return (dims[0], dims[1], o.attr("dct_coefficient_count"))


op("Mfcc", kernel=_coefficients, shape=_coefficients_shape)


@public("audio.decode_wav")
def decode_wav(contents: Any, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None) -> Any:
    """The samples of a WAV file, between -1 and 1, and its sample rate; cut or filled with silence to a length if asked."""
    return apply("DecodeWav", contents, desired_channels=desired_channels, desired_samples=desired_samples, name=name)


@public("audio.encode_wav")
def encode_wav(audio: Any, sample_rate: Any, name: str | None = None) -> Any:
    """The WAV file of samples between -1 and 1."""
    return apply("EncodeWav", audio, sample_rate, name=name)


audio_spectrogram = internal("ops.gen_audio_ops.audio_spectrogram")(generated("AudioSpectrogram"))
mfcc = internal("ops.gen_audio_ops.mfcc")(generated("Mfcc"))
