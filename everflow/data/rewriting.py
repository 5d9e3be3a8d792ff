"""Rewrites of pipelines that TensorFlow makes before reading them, as far as they can be seen in the elements."""
from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from everflow.data.element_ops import RepeatStream
from everflow.data.shuffle_ops import ShuffleStream
from everflow.data.streams import Stream, UnaryStream, dataset_op


def with_fused_shuffles(stream: Stream) -> Stream:
    """Shuffle followed by repeat draws otherwise than each alone; programs that set seeds see it."""
    if isinstance(stream, RepeatStream) and isinstance(stream.source, ShuffleStream):
        fused = stream.source.repeated(stream.times)
        if fused is not None:
            return with_fused_shuffles(fused)
    if isinstance(stream, UnaryStream):
        source = with_fused_shuffles(stream.source)
        if source is not stream.source:
            stream = copy.copy(stream)
            stream.source = source  # type: ignore[attr-defined]
        return stream
    parts = getattr(stream, "parts", None)
    if parts:
        rewritten = [with_fused_shuffles(p) for p in parts]
        if any(a is not b for a, b in zip(parts, rewritten)):
            stream = copy.copy(stream)
            stream.parts = rewritten  # type: ignore[attr-defined]
    return stream


@dataset_op("OptimizeDataset")
def _optimize(node: Any) -> Callable[..., Stream]:
    """Of the rewrites only this one changes what comes out; what the others are for, streams do anyway."""

    def make(source: Stream, optimizations: Any) -> Stream:
        return with_fused_shuffles(source) if b"shuffle_and_repeat_fusion" in optimizations.tolist() else source

    return make
