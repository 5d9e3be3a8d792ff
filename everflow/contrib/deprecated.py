"""tf.contrib.deprecated: summaries as they were before TensorFlow 1.0, with tags that are not names of ops."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.keys import GraphKeys
from everflow.ops.core.registry import apply
from everflow.summary.functions import merge_summary
from everflow.summary.naming import collect


@public("contrib.deprecated.image_summary")
def image_summary(tag: Any, tensor: Any, max_images: int = 3, collections: Any = None, name: str | None = None) -> Any:
    """A summary of images."""
    with tf.name_scope(name, "ImageSummary", [tag, tensor]) as scope:
        found = apply("ImageSummary", tag, tensor, max_images=max_images, name=scope)
        collect(found, collections, [GraphKeys.SUMMARIES])
    return found


@public("contrib.deprecated.audio_summary")
def audio_summary(tag: Any, tensor: Any, sample_rate: Any, max_outputs: int = 3, collections: Any = None, name: str | None = None) -> Any:
    """A summary of sound."""
    with tf.name_scope(name, "AudioSummary", [tag, tensor]) as scope:
        rate = tf.convert_to_tensor(sample_rate, dtype=tf.float32, name="sample_rate")
        found = apply("AudioSummaryV2", tag, tensor, rate, max_outputs=max_outputs, name=scope)
        collect(found, collections, [GraphKeys.SUMMARIES])
    return found


@public("contrib.deprecated.merge_all_summaries")
def merge_all_summaries(key: str = GraphKeys.SUMMARIES) -> Any:
    """One summary of all in a collection; None where there is none."""
    summaries = tf.get_collection(key)
    return merge_summary(summaries) if summaries else None
