"""Names of preprocessors: public ones, and those of the modules that pickles of TensorFlow name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from everflow.api import INTERNAL, public


def preprocessor(module: str, name: str) -> Callable[[Any], Any]:
    """Publishes what TensorFlow defines in a module of its preprocessing."""
    return public(
        f"{INTERNAL}contrib.learn.python.learn.preprocessing.{module}.{name}",
        f"contrib.learn.preprocessing.{name}",
        owner=sys._getframe(1).f_globals["__name__"],
    )
