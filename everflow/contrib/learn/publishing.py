"""Names of what tf.contrib.learn defines: that of the module below `tensorflow.contrib.learn.python.learn`, and the public one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from everflow.api import public

HOME = "contrib.learn.python.learn."


def learn(module: str, *names: str, shown: bool = False) -> Callable[[Any], Any]:
    """Publishes a part of a module; where it is `shown`, also as `tf.contrib.learn.NAME`."""
    places = [f"{HOME}{module}.{name}" for name in names]
    if shown:
        places += [f"contrib.learn.{name}" for name in names if not name.startswith("_")]
    return public(*places, owner=sys._getframe(1).f_globals["__name__"])
