"""tf.contrib.deprecated: summaries as they were before TensorFlow 1.0, with tags that are not names of ops."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import add_to_collections
from everflow.ops.core.registry import apply


def _collected(summary: Any, collections: Any) -> Any:
    add_to_collections([GraphKeys.SUMMARIES] if collections is None else collections, summary)
    return summary


@public("contrib.deprecated.scalar_summary")
def scalar_summary(tags: Any, values: Any, collections: Any = None, name: str | None = None) -> Any:
    """A summary of scalars with their tags."""
    with tf.name_scope(name, "ScalarSummary", [tags, values]) as scope:
        return _collected(apply("ScalarSummary", tags, values, name=scope), collections)


@public("contrib.deprecated.histogram_summary")
def histogram_summary(tag: Any, values: Any, collections: Any = None, name: str | None = None) -> Any:
    """A summary of a histogram."""
    with tf.name_scope(name, "HistogramSummary", [tag, values]) as scope:
        return _collected(apply("HistogramSummary", tag, values, name=scope), collections)


@public("contrib.deprecated.image_summary")
def image_summary(tag: Any, tensor: Any, max_images: int = 3, collections: Any = None, name: str | None = None) -> Any:
    """A summary of images."""
    with tf.name_scope(name, "ImageSummary", [tag, tensor]) as scope:
        return _collected(apply("ImageSummary", tag, tensor, max_images=max_images, name=scope), collections)


@public("contrib.deprecated.audio_summary")
def audio_summary(tag: Any, tensor: Any, sample_rate: Any, max_outputs: int = 3, collections: Any = None, name: str | None = None) -> Any:
    """A summary of sound."""
    with tf.name_scope(name, "AudioSummary", [tag, tensor]) as scope:
        rate = tf.convert_to_tensor(sample_rate, dtype=tf.float32, name="sample_rate")
        return _collected(apply("AudioSummaryV2", tag, tensor, rate, max_outputs=max_outputs, name=scope), collections)


@public("contrib.deprecated.merge_summary")
def merge_summary(inputs: Any, collections: Any = None, name: str | None = None) -> Any:
    """One summary of several."""
    with tf.name_scope(name, "MergeSummary", inputs):
        merged = apply("MergeSummary", inputs, name=name)
        add_to_collections(collections or [], merged)
        return merged


@public("contrib.deprecated.merge_all_summaries")
def merge_all_summaries(key: str = GraphKeys.SUMMARIES) -> Any:
    """One summary of all in a collection; None where there is none."""
    summaries = tf.get_collection(key)
    return merge_summary(summaries) if summaries else None
