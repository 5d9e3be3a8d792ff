"""Where the names of bijectors stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from everflow.api import public

T = TypeVar("T")
HOME = "contrib.distributions.python.ops.bijectors"


def bijector(module: str, name: str | None = None) -> Callable[[T], T]:
    """Publishes a bijector, or what belongs to one, below tf.contrib.distributions.bijectors and in TensorFlow's module."""

    def register(thing: T) -> T:
        shown = name or thing.__name__  # type: ignore[attr-defined]
        owner = thing.__module__
        return public(f"contrib.distributions.bijectors.{shown}", f"python.{HOME}.{module}.{shown}", owner=owner)(thing)

    return register
