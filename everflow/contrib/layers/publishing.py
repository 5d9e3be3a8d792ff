"""Functions that both tf.contrib.layers and tf.contrib.slim have."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from everflow.api import public


def layer(*names: str) -> Callable[[Any], Any]:
    """Publishes a function under these names in both places."""
    owner = sys._getframe(1).f_globals["__name__"]
    return public(*(f"contrib.{place}.{name}" for place in ("layers", "slim") for name in names), owner=owner)
