"""Where TensorFlow keeps the names of tf.contrib.timeseries."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

from everflow.api import public

T = TypeVar("T")

BELOW = "contrib.timeseries.python.timeseries."


def published(*paths: str) -> Callable[[T], T]:
    """Publishes under paths below `tensorflow.contrib.timeseries.python.timeseries`, such as `head.TimeSeriesRegressionHead`."""
    return public(*(BELOW + path for path in paths), owner=sys._getframe(1).f_globals["__name__"])
