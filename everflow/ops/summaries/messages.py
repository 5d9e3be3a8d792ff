"""Summaries: numbers, histograms, images, sounds and tensors as serialized Summary messages."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow import _native
from everflow.errors import invalid_argument
from everflow.graph import dtypes
from everflow.io.png import encode_pixels
from everflow.io.wav import encode_wav
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import shown
from everflow.ops.core.node import Node
from everflow.ops.core.registry import not_differentiable, op
from everflow.ops.core.shape_rules import scalar
from everflow.proto import summary_pb2
from everflow.values.tensors import to_numpy

Kernel = Callable[..., Any]


def _message(summary: Any) -> np.ndarray:
    return _text(summary.SerializeToString())


def _text(serialized: bytes) -> np.ndarray:
    found = np.empty((), object)
    found[()] = serialized
    return found


@functools.cache
def _summary_class() -> Any:
    return summary_pb2.Summary


def _empty() -> Any:
    return _summary_class()()


def tag_of(text: np.ndarray) -> bytes:
    """A tag, as a message may hold it: what is no UTF-8 is marked as such."""
    tag = text.item()
    return tag if tag.isascii() else tag.decode("utf-8", "replace").encode()


def _scalars(node: Node) -> Kernel:
    dtype = node.inputs[1].dtype.base_dtype

    def run(tags: Any, values: Any) -> Any:
        if tuple(tags.shape) != tuple(values.shape):
            hint = f" (tag '{tags.item().decode()}')" if tags.size == 1 else ""
            raise invalid_argument(f"tags and values not the same shape: {shown(tags.shape)} != {shown(values.shape)}{hint}")
        if not tags.ndim:
            return _text(_native.scalar_summary(tag_of(tags), values.item()))
        numbers = to_numpy(values, dtype).ravel().tolist()
        return _text(b"".join([_native.scalar_summary(tag_of(tag), number) for tag, number in zip(tags.reshape(-1, 1), numbers)]))

    return run


op("ScalarSummary", kernel=_scalars, shape=scalar, gradient=not_differentiable)


def histogram_summary(tag: bytes, values: Any, name: str) -> bytes:
    """The summary of how numbers are distributed; the name is that of the op, for errors."""
    numbers = values if values.dtype in (torch.float32, torch.float64) else values.double()
    numbers = numbers.cpu().contiguous()
    return _native.histogram_summary(tag, numbers.data_ptr(), numbers.numel(), numbers.dtype is torch.float64, name)


def _histogram(node: Node) -> Kernel:
    name = node.name

    def run(tag: Any, values: Any) -> Any:
        if tag.ndim:
            raise invalid_argument("tags must be scalar")
        return _text(histogram_summary(tag_of(tag), values, name))

    return run


op("HistogramSummary", kernel=_histogram, shape=scalar, gradient=not_differentiable)


def image_summary(tag: bytes, images: Any, max_images: int, bad_color: Any) -> bytes:
    """The summary of images [batch, height, width, channels]: numbers are scaled, and those that are not finite get a colour."""
    if images.ndim != 4 or images.shape[3] not in (1, 3, 4):
        raise invalid_argument(f"Tensor must be 4-D with last dim 1, 3, or 4, not {shown(images.shape)}")
    color = np.asarray(bad_color).reshape(-1).astype(np.uint8).tobytes()
    count, height, width, depth = images.shape
    if len(color) < depth:
        raise invalid_argument(f"expected depth <= bad_color.size, got depth = {depth}, bad_color.size = {len(color)}")
    found = []
    shows = images[: min(max_images, count)].cpu()
    shows = (shows if shows.dtype is torch.uint8 else shows.float()).contiguous()
    for i in range(len(shows)):
        if shows.dtype is torch.uint8:
            pixels = shows[i].numpy().tobytes()
        else:
            pixels = _native.image_pixels(shows.data_ptr() + 4 * i * height * width * depth, height * width, depth, color)
        # A picture of a few pixels gets no smaller by filters.
        encoded = encode_pixels(pixels, (height, width, depth), filters=len(pixels) > 1000)
        name = tag + (b"/image/%d" % i if max_images > 1 else b"/image")
        found.append(_native.image_summary(name, height, width, depth, encoded))
    return b"".join(found)


def _image(node: Node) -> Kernel:
    most, color = node.attr("max_images"), node.attr("bad_color")

    def run(tag: Any, images: Any) -> Any:
        if tag.ndim:
            raise invalid_argument("Tags must be a scalar")
        return _text(image_summary(tag_of(tag), images, most, color))

    return run


op("ImageSummary", kernel=_image, shape=scalar, gradient=not_differentiable)


def add_sounds(summary: Any, tag: str, sounds: np.ndarray, sample_rate: float, max_outputs: int) -> None:
    """Writes sounds [batch, frames] or [batch, frames, channels] into a summary."""
    if sounds.ndim not in (2, 3):
        raise invalid_argument(f"Tensor must be 3-D or 2-D, got: {shown(sounds.shape)}")
    sounds = sounds[..., None] if sounds.ndim == 2 else sounds
    for i, samples in enumerate(sounds[:max_outputs]):
        found = summary.value.add(tag=f"{tag}/audio/{i}" if max_outputs > 1 else f"{tag}/audio").audio
        found.sample_rate, found.num_channels, found.length_frames = sample_rate, samples.shape[1], samples.shape[0]
        found.content_type = "audio/wav"
        found.encoded_audio_string = encode_wav(samples, max(math.floor(sample_rate + 0.5), 1))


def _audio(node: Node) -> Kernel:
    most = node.attr("max_outputs")
    known_rate: Any = node.attr("sample_rate") if node.type == "AudioSummary" else None

    def run(tag: Any, sounds: Any, rate: Any = None) -> Any:
        if tag.ndim:
            raise invalid_argument("Tag must be a scalar")
        summary = _empty()
        sample_rate = known_rate if rate is None else rate.item()
        add_sounds(summary, tag.item().decode("utf-8", "replace"), to_numpy(sounds, dtypes.float32), sample_rate, most)
        return _message(summary)

    return run


op("AudioSummary", kernel=_audio, shape=scalar, gradient=not_differentiable)
op("AudioSummaryV2", kernel=_audio, shape=scalar, gradient=not_differentiable)


def fill_tensor(proto: Any, value: Any, dtype: dtypes.DType) -> None:
    """Writes a run-time value into a TensorProto."""
    proto.dtype = dtype.as_datatype_enum
    proto.tensor_shape.SetInParent()
    for size in value.shape:
        proto.tensor_shape.dim.add().size = size
    if dtype is dtypes.string:
        proto.string_val.extend(value.ravel().tolist())
    else:
        proto.tensor_content = np.ascontiguousarray(to_numpy(value, dtype)).tobytes()


def _tensor(node: Node) -> Kernel:
    dtype, name = node.inputs[0].dtype.base_dtype, node.name

    def run(tensor: Any) -> Any:
        summary = _empty()
        fill_tensor(summary.value.add(node_name=name).tensor, tensor, dtype)
        return _message(summary)

    return run


def _tensor_with_metadata(node: Node) -> Kernel:
    dtype = node.inputs[1].dtype.base_dtype

    def run(tag: Any, tensor: Any, metadata: Any) -> Any:
        if tag.ndim:
            raise invalid_argument("tag must be scalar")
        if metadata.ndim:
            raise invalid_argument("serialized_summary_metadata must be scalar")
        summary = _empty()
        value = summary.value.add(tag=tag.item().decode("utf-8", "replace"))
        fill_tensor(value.tensor, tensor, dtype)
        value.metadata.ParseFromString(metadata.item())
        return _message(summary)

    return run


op("TensorSummary", kernel=_tensor, shape=scalar, gradient=not_differentiable)
op("TensorSummaryV2", kernel=_tensor_with_metadata, shape=scalar, gradient=not_differentiable)


def _merge(node: Node) -> Kernel:
    def run(*inputs: Any) -> Any:
        return _text(_native.merged_summary([text for part in inputs for text in part.ravel().tolist()]))

    return run


op("MergeSummary", kernel=_merge, shape=scalar, gradient=not_differentiable)
