"""Functions that make summaries of tensors and merge them."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import name_scope
from everflow.ops.core.registry import apply
from everflow.summary.messages import SummaryDescription, SummaryMetadata
from everflow.summary.naming import clean_tag, collect, skip_summary, summary_scope


@public("summary.scalar")
def scalar(name: str, tensor: Any, collections: Any = None, family: str | None = None) -> Any:
    """A summary of one number."""
    if skip_summary():
        return tf.constant("")
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        found = apply("ScalarSummary", tag, tensor, name=scope)
        collect(found, collections, [GraphKeys.SUMMARIES])
    return found


@public("summary.image")
def image(name: str, tensor: Any, max_outputs: int = 3, collections: Any = None, family: str | None = None) -> Any:
    """A summary of the first images of a batch [batch, height, width, channels]."""
    if skip_summary():
        return tf.constant("")
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        found = apply("ImageSummary", tag, tensor, max_images=max_outputs, name=scope)
        collect(found, collections, [GraphKeys.SUMMARIES])
    return found


@public("summary.histogram")
def histogram(name: str, values: Any, collections: Any = None, family: str | None = None) -> Any:
    """A summary of how values are distributed."""
    if skip_summary():
        return tf.constant("")
    with summary_scope(name, family, values=[values], default_name="HistogramSummary") as (tag, scope):
        found = apply("HistogramSummary", tag, values, name=scope)
        collect(found, collections, [GraphKeys.SUMMARIES])
    return found


@public("summary.audio")
def audio(name: str, tensor: Any, sample_rate: Any, max_outputs: int = 3, collections: Any = None, family: str | None = None) -> Any:
    """A summary of the first sounds of a batch [batch, frames] or [batch, frames, channels]."""
    if skip_summary():
        return tf.constant("")
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        sample_rate = tf.convert_to_tensor(sample_rate, dtype=dtypes.float32, name="sample_rate")
        found = apply("AudioSummaryV2", tag, tensor, sample_rate, max_outputs=max_outputs, name=scope)
        collect(found, collections, [GraphKeys.SUMMARIES])
    return found


@public("summary.text")
def text(name: str, tensor: Any, collections: Any = None) -> Any:
    """A summary of text, which TensorBoard shows as Markdown."""
    if tensor.dtype != dtypes.string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}")
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text"))
    return tensor_summary(name, tensor, summary_metadata=metadata, collections=collections)


@public("summary.tensor_summary")
def tensor_summary(
    name: str,
    tensor: Any,
    summary_description: str | None = None,
    collections: Any = None,
    summary_metadata: Any = None,
    family: str | None = None,
    display_name: str | None = None,
) -> Any:
    """A summary of any tensor, for a plugin of TensorBoard that the metadata names."""
    if summary_metadata is None:
        summary_metadata = SummaryMetadata()
    if summary_description is not None:
        summary_metadata.summary_description = summary_description
    if display_name is not None:
        summary_metadata.display_name = display_name
    if skip_summary():
        return tf.constant("")
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        found = apply("TensorSummaryV2", tag, tensor, summary_metadata.SerializeToString(), name=scope)
        collect(found, collections, [GraphKeys.SUMMARIES])
    return found


@public("summary.merge")
def merge(inputs: Any, collections: Any = None, name: str | None = None) -> Any:
    """One summary of all values of several."""
    if tf.executing_eagerly():
        raise RuntimeError("Merging tf.summary.* ops is not compatible with eager execution. Use tf.contrib.summary instead.")
    name = clean_tag(name)
    with name_scope(name, "Merge", inputs):
        found = apply("MergeSummary", inputs, name=name)
        collect(found, collections, [])
    return found


@public("summary.merge_all")
def merge_all(key: Any = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None) -> Any:
    """One summary of all that were collected; None where there are none."""
    if tf.executing_eagerly():
        raise RuntimeError("Merging tf.summary.* ops is not compatible with eager execution. Use tf.contrib.summary instead.")
    collected = tf.get_collection(key, scope=scope)
    return merge(collected, name=name) if collected else None


@public("summary.get_summary_description")
def get_summary_description(node_def: Any) -> Any:
    """What the node of a tensor summary says about it."""
    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    from google.protobuf import json_format

    found = SummaryDescription()
    json_format.Parse(node_def.attr["description"].s.decode(), found)
    return found


@public("contrib.deprecated.scalar_summary")
@internal("ops.logging_ops.scalar_summary")
def scalar_summary(tags: Any, values: Any, collections: Any = None, name: str | None = None) -> Any:
    """Numbers under tags that are given in full."""
    with name_scope(name, "ScalarSummary", [tags, values]) as scope:
        found = apply("ScalarSummary", tags, values, name=scope)
        collect(found, collections, [GraphKeys.SUMMARIES])
    return found


@public("contrib.deprecated.histogram_summary")
@internal("ops.logging_ops.histogram_summary")
def histogram_summary(tag: Any, values: Any, collections: Any = None, name: str | None = None) -> Any:
    """A histogram under a tag that is given in full."""
    with name_scope(name, "HistogramSummary", [tag, values]) as scope:
        found = apply("HistogramSummary", tag, values, name=scope)
        collect(found, collections, [GraphKeys.SUMMARIES])
    return found


@public("contrib.deprecated.merge_summary")
@internal("ops.logging_ops.merge_summary")
def merge_summary(inputs: Any, collections: Any = None, name: str | None = None) -> Any:
    """One summary of all values of several."""
    with name_scope(name, "MergeSummary", inputs):
        found = apply("MergeSummary", inputs, name=name)
        collect(found, collections, [])
    return found
