"""tf.compat.v2.summary.scalar and its kin: values written in the form that TensorBoard's own pages read."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.summary.messages import SummaryMetadata
from everflow.summary.writing import summary_scope, write

BUCKETS = 30
# The second field of the audio page's data says that clips are WAV files.
WAV = b"\x10\x0b"


def _metadata(plugin: str, description: str | None, content: bytes = b"") -> SummaryMetadata:
    return SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=plugin, content=content), summary_description=description)


@public("compat.v2.summary.scalar")
def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> Any:
    """Writes a number."""
    with summary_scope(name, "scalar_summary", values=[data, step]) as (tag, _):
        data = convert_to_tensor(data)
        if not data.shape.is_compatible_with(()):
            raise ValueError(f"Expected scalar shape, saw shape: {data.shape}.")
        return write(tag, tf.cast(data, dtypes.float32), step=step, metadata=_metadata("scalars", description))


@public("compat.v2.summary.histogram")
def histogram(name: str, data: Any, step: Any = None, buckets: int | None = None, description: str | None = None) -> Any:
    """Writes how many of the values lie in each of `buckets` ranges of one width."""
    with summary_scope(name, "histogram_summary", values=[data, buckets, step]) as (tag, _):
        counted = _counted(data, BUCKETS if buckets is None else buckets)
        return write(tag, counted, step=step, metadata=_metadata("histograms", description))


def _counted(data: Any, buckets: int) -> Any:
    """Rows of (left edge, right edge, number of values)."""
    with tf.name_scope("buckets"):
        data = tf.cast(tf.reshape(data, [-1]), dtypes.float64)
        size = tf.size(data)

        def in_ranges() -> Any:
            least, most = tf.reduce_min(data), tf.reduce_max(data)

            def in_one() -> Any:
                return tf.stack([[least - 0.5, least + 0.5, tf.cast(size, dtypes.float64)]])

            def in_many() -> Any:
                width = (most - least) / tf.cast(buckets, dtypes.float64)
                number = tf.minimum(tf.cast(tf.floor((data - least) / width), dtypes.int32), buckets - 1)
                counts = tf.cast(tf.bincount(number, minlength=buckets, maxlength=buckets), dtypes.float64)
                edges = tf.concat([tf.linspace(least, most, buckets + 1)[:-1], [most]], 0)
                return tf.stack([edges[:-1], edges[1:], counts], axis=1)

            return tf.cond(tf.equal(most, least), in_one, in_many)

        return tf.cond(tf.equal(size, 0), lambda: tf.zeros([0, 3], dtypes.float64), in_ranges)


@public("compat.v2.summary.image")
def image(name: str, data: Any, step: Any = None, max_outputs: int | None = 3, description: str | None = None) -> Any:
    """Writes the first images of a batch as PNG files, after their width and height."""
    with summary_scope(name, "image_summary", values=[data, max_outputs, step]) as (tag, _):
        data = convert_to_tensor(data)
        tf.debugging.assert_rank(data, 4)
        pictures = tf.image.convert_image_dtype(data, dtypes.uint8, saturate=True)[:max_outputs]
        files = tf.map_fn(tf.image.encode_png, pictures, dtype=dtypes.string, name="encode_each_image")
        sizes = tf.as_string(tf.shape(data)[2:0:-1], name="dimensions")
        return write(tag, tf.concat([sizes, files], 0), step=step, metadata=_metadata("images", description))


@public("compat.v2.summary.text")
def text(name: str, data: Any, step: Any = None, description: str | None = None) -> Any:
    """Writes strings, or a table of them."""
    with summary_scope(name, "text_summary", values=[data, step]) as (tag, _):
        data = convert_to_tensor(data)
        tf.debugging.assert_type(data, dtypes.string)
        return write(tag, data, step=step, metadata=_metadata("text", description))


@public("compat.v2.summary.audio")
def audio(
    name: str,
    data: Any,
    sample_rate: Any,
    step: Any = None,
    max_outputs: int | None = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> Any:
    """Writes the first clips of a batch [clips, frames, channels] as WAV files, each with a label that is left empty."""
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")
    with summary_scope(name, "audio_summary", values=[data, sample_rate, max_outputs, step]) as (tag, _):
        data = convert_to_tensor(data)
        tf.debugging.assert_rank(data, 3)
        files = tf.map_fn(
            lambda clip: tf.audio.encode_wav(clip, sample_rate), data[:max_outputs], dtype=dtypes.string, name="encode_each_audio"
        )
        labelled = tf.stack([files, tf.fill(tf.shape(files), "")], axis=1)
        return write(tag, labelled, step=step, metadata=_metadata("audio", description, WAV))
