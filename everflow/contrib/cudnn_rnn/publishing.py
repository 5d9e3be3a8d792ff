"""Where TensorFlow keeps the ops of tf.contrib.cudnn_rnn."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

from everflow.api import public

T = TypeVar("T")

BELOW = "contrib.cudnn_rnn.python.ops.cudnn_rnn_ops."


def published(*names: str) -> Callable[[T], T]:
    """Publishes below `tensorflow.contrib.cudnn_rnn.python.ops.cudnn_rnn_ops`."""
    return public(*(BELOW + name for name in names), owner=sys._getframe(1).f_globals["__name__"])
