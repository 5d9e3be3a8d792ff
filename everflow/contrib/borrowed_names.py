"""Names that modules of tf.contrib borrow from Python and six, and that programs find there."""

from __future__ import annotations

import copy
import functools
import io
from collections.abc import Iterator
from typing import Any

from everflow.api import public

_EDITOR = "contrib.graph_editor."


def iteritems(d: Any, **kw: Any) -> Iterator[Any]:
    """The items of a dict, one after the other."""
    return iter(d.items(**kw))


public(*(f"{_EDITOR}{module}.iteritems" for module in ("select", "subgraph", "transform", "util")))(iteritems)
public(*(f"{_EDITOR}{module}.string_types" for module in ("select", "transform")))((str,))
public(*(f"{_EDITOR}{module}.StringIO" for module in ("subgraph", "transform")))(io.StringIO)
public(_EDITOR + "transform.deepcopy")(copy.deepcopy)
public(_EDITOR + "transform.partial")(functools.partial)
