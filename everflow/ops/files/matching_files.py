"""Names of files that match patterns."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.io.gfile import get_matching_files
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.values.texts import text_array


def _matching_files(node: Node) -> Callable[..., Any]:
    def run(pattern: Any) -> Any:
        if pattern.ndim > 1:
            raise invalid_argument(f"Input patterns tensor must be scalar or vector, but had shape: {shapes.describe(pattern.shape)}")
        names = [os.fsencode(name) for p in pattern.reshape(-1).tolist() for name in get_matching_files(os.fsdecode(p))]
        return text_array(sorted(names), (len(names),))

    return run


op("MatchingFiles", kernel=_matching_files, shape=lambda o: (None,), gradient=not_differentiable)


@public("matching_files", "io.matching_files")
def matching_files(pattern: Any, name: str | None = None) -> Any:
    """The names of the files that match one or several patterns, in order."""
    return apply("MatchingFiles", pattern, name=name)
