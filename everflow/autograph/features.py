"""What conversion does besides control flow, if it is asked to."""

from __future__ import annotations

import enum
from typing import Any

from everflow.api import internal, public


@public("autograph.experimental.Feature")
@internal("autograph.core.converter.Feature")
class Feature(enum.Enum):
    """Optional features of AutoGraph."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """All features."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Any) -> tuple[Feature, ...]:
        """All features except for some."""
        excluded = exclude if isinstance(exclude, (list, tuple, set)) else (exclude,)
        return tuple(f for f in cls if f not in excluded)


def chosen(features: Any) -> frozenset[Feature]:
    """A feature, several or None as a set."""
    if features is None:
        return frozenset()
    given = frozenset(features if isinstance(features, (list, tuple, set, frozenset)) else (features,))
    return frozenset(Feature) if Feature.ALL in given else given
