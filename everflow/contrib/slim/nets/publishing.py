"""Names of networks: below tf.contrib.slim.nets and where TensorFlow defines them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from everflow.api import INTERNAL, public

HOME = INTERNAL + "contrib.slim.python.slim.nets"


def net(*names: str) -> Callable[[Any], Any]:
    """Publishes `vgg.vgg_16` in both places."""
    owner = sys._getframe(1).f_globals["__name__"]
    shown = [f"contrib.slim.nets.{name}" for name in names if not name.startswith("inception_v")]
    return public(*(f"{HOME}.{name}" for name in names), *shown, owner=owner)


def inception_net(version: str, name: str) -> Callable[[Any], Any]:
    """Publishes what belongs to a version of Inception, in its module and in `inception`."""
    owner = sys._getframe(1).f_globals["__name__"]
    return public(f"{HOME}.{version}.{name}", f"contrib.slim.nets.inception.{name}", owner=owner)
