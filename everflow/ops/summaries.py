"""Summaries: numbers, histograms, images, sounds and tensors as serialized Summary messages."""
from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.errors import invalid_argument
from everflow.graph import dtypes
from everflow.ops.arrays import shown
from everflow.ops.registry import not_differentiable, op
from everflow.ops.shape_rules import scalar
from everflow.ops.texts import text_array
from everflow.runtime.values import to_numpy

Kernel = Callable[..., Any]


def _message(summary: Any) -> np.ndarray:
    return text_array([summary.SerializeToString()], ())


@functools.cache
def _summary_class() -> Any:
    from everflow.proto import summary_pb2

    return summary_pb2.Summary


def _empty() -> Any:
    return _summary_class()()


def _scalars(node: Any) -> Kernel:
    dtype = node.inputs[1].dtype.base_dtype

    def run(tags: Any, values: Any) -> Any:
        if tuple(tags.shape) != tuple(values.shape):
            hint = f" (tag '{tags.item().decode()}')" if tags.size == 1 else ""
            raise invalid_argument(f"tags and values not the same shape: {shown(tags.shape)} != {shown(values.shape)}{hint}")
        summary = _empty()
        for tag, value in zip(tags.ravel().tolist(), to_numpy(values, dtype).ravel().tolist()):
            summary.value.add(tag=tag.decode("utf-8", "replace"), simple_value=value)
        return _message(summary)

    return run


op("ScalarSummary", kernel=_scalars, shape=scalar, gradient=not_differentiable)


@functools.cache
def _bucket_limits() -> np.ndarray:
    """The upper bounds of buckets: each a tenth wider than the one before it, from 1e-12 to 1e20, the same below zero."""
    positive, limit = [], 1.0e-12
    while limit < 1.0e20:
        positive.append(limit)
        limit *= 1.1
    positive.append(sys.float_info.max)
    return np.array([-x for x in reversed(positive)] + [0.0, *positive])


def fill_histogram(found: Any, values: np.ndarray, name: str) -> None:
    """Writes a histogram of float64 values into a HistogramProto; a run of empty buckets is one bucket."""
    values = np.sort(values)
    total = values.sum()
    if not np.isfinite(total):
        if np.isnan(values).any():
            raise invalid_argument(f"Nan in summary histogram for: {name}")
        if np.isinf(values).any():
            raise invalid_argument(f"Infinity in summary histogram for: {name}")
    limits = _bucket_limits()
    found.num = values.size
    found.min, found.max = (values[0], values[-1]) if values.size else (sys.float_info.max, -sys.float_info.max)
    found.sum, found.sum_squares = total, np.dot(values, values)
    if not values.size:
        found.bucket_limit.append(sys.float_info.max)
        found.bucket.append(0.0)
        return
    # The last limit bounds everything that is finite.
    places = np.minimum(np.searchsorted(limits, values, side="right"), len(limits) - 1)
    counts = np.bincount(places, minlength=len(limits))
    is_last_of_run = np.append((counts[:-1] > 0) | (counts[1:] > 0), True)
    found.bucket_limit.extend(limits[is_last_of_run].tolist())
    found.bucket.extend(counts[is_last_of_run].astype(np.float64).tolist())


def _histogram(node: Any) -> Kernel:
    dtype, name = node.inputs[1].dtype.base_dtype, node.name

    def run(tag: Any, values: Any) -> Any:
        if tag.ndim:
            raise invalid_argument("tags must be scalar")
        summary = _empty()
        value = summary.value.add(tag=tag.item().decode("utf-8", "replace"))
        fill_histogram(value.histo, to_numpy(values, dtype).astype(np.float64).ravel(), name)
        return _message(summary)

    return run


op("HistogramSummary", kernel=_histogram, shape=scalar, gradient=not_differentiable)


def _as_bytes(image: np.ndarray, bad_color: np.ndarray) -> np.ndarray:
    """Pixels from 0 to 255: scaled up to the largest where none is negative, else around 128; a colour for those that are not finite."""
    low, high = (float(image.min()), float(image.max())) if image.size else (0.0, 0.0)
    # Not a number, if any pixel is.
    finite = None if np.isfinite(high - low) else np.isfinite(image).all(-1)
    if finite is not None:
        good = image[finite]
        low, high = (float(good.min()), float(good.max())) if good.size else (0.0, 0.0)
    if low < 0:
        largest = max(abs(low), abs(high))
        scale, offset = (127.0 / largest if largest >= 1e-6 else 0.0), 128.0
    else:
        scale, offset = (255.0 / high if high >= 1e-6 else 0.0), 0.0
    scaled = image * np.float32(scale) + np.float32(offset)
    if finite is not None:
        scaled[~finite] = 0
    found = scaled.astype(np.int64).astype(np.uint8)
    if finite is not None:
        found[~finite] = bad_color[:image.shape[-1]]
    return found


def add_images(summary: Any, tag: str, images: np.ndarray, max_images: int, bad_color: Any) -> None:
    """Writes images [batch, height, width, channels] into a summary."""
    from everflow.io.png import encode_png

    if images.ndim != 4 or images.shape[3] not in (1, 3, 4):
        raise invalid_argument(f"Tensor must be 4-D with last dim 1, 3, or 4, not {shown(images.shape)}")
    color = np.asarray(bad_color).reshape(-1)
    if color.size < images.shape[3]:
        raise invalid_argument(f"expected depth <= bad_color.size, got depth = {images.shape[3]}, bad_color.size = {color.size}")
    count = min(max_images, len(images))
    for i, image in enumerate(images[:count]):
        pixels = image if image.dtype == np.uint8 else _as_bytes(image.astype(np.float32), color)
        found = summary.value.add(tag=f"{tag}/image/{i}" if max_images > 1 else f"{tag}/image").image
        found.height, found.width, found.colorspace = image.shape
        # A picture of a few pixels gets no smaller by filters.
        found.encoded_image_string = encode_png(pixels, filters=pixels.size > 1000)


def _image(node: Any) -> Kernel:
    dtype, most, color = node.inputs[1].dtype.base_dtype, node.attr("max_images"), node.attr("bad_color")

    def run(tag: Any, images: Any) -> Any:
        if tag.ndim:
            raise invalid_argument("Tags must be a scalar")
        summary = _empty()
        add_images(summary, tag.item().decode("utf-8", "replace"), to_numpy(images, dtype), most, color)
        return _message(summary)

    return run


op("ImageSummary", kernel=_image, shape=scalar, gradient=not_differentiable)


def add_sounds(summary: Any, tag: str, sounds: np.ndarray, sample_rate: float, max_outputs: int) -> None:
    """Writes sounds [batch, frames] or [batch, frames, channels] into a summary."""
    if sounds.ndim not in (2, 3):
        raise invalid_argument(f"Tensor must be 3-D or 2-D, got: {shown(sounds.shape)}")
    from everflow.io.wav import encode_wav

    sounds = sounds.reshape(*sounds.shape[:2], -1)
    for i, samples in enumerate(sounds[:max_outputs]):
        found = summary.value.add(tag=f"{tag}/audio/{i}" if max_outputs > 1 else f"{tag}/audio").audio
        found.sample_rate, found.num_channels, found.length_frames = sample_rate, samples.shape[1], samples.shape[0]
        found.content_type = "audio/wav"
        found.encoded_audio_string = encode_wav(samples, int(sample_rate))


def _audio(node: Any) -> Kernel:
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


def _tensor(node: Any) -> Kernel:
    dtype, name = node.inputs[0].dtype.base_dtype, node.name

    def run(tensor: Any) -> Any:
        summary = _empty()
        fill_tensor(summary.value.add(node_name=name).tensor, tensor, dtype)
        return _message(summary)

    return run


def _tensor_with_metadata(node: Any) -> Kernel:
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


def _merge(node: Any) -> Kernel:
    from google.protobuf.message import DecodeError

    def run(*inputs: Any) -> Any:
        texts = [text for part in inputs for text in part.ravel().tolist()]
        seen = set()
        for text in texts:
            summary = _empty()
            try:
                summary.ParseFromString(text)
            except DecodeError:
                raise invalid_argument("Could not parse one of the summary inputs") from None
            for value in summary.value:
                if value.tag in seen and value.tag:
                    raise invalid_argument(f"Duplicate tag {value.tag} found in summary inputs")
                seen.add(value.tag)
        # Messages whose fields are lists are merged by writing one after the other.
        return text_array([b"".join(texts)], ())

    return run


op("MergeSummary", kernel=_merge, shape=scalar, gradient=not_differentiable)
