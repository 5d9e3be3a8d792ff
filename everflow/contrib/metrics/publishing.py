"""Names that a metric has in tf.contrib."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from everflow.api import public


def metric(*names: str) -> Callable[[Any], Any]:
    """Publishes a function of the calling module in contrib.metrics and in contrib.slim.metrics."""
    owner = sys._getframe(1).f_globals["__name__"]
    return public(*(f"contrib.{place}.{name}" for place in ("metrics", "slim.metrics") for name in names), owner=owner)
