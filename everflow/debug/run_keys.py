"""What identifies a run: the names of its feeds and fetches."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from everflow.api import internal

GRPC_URL_PREFIX = internal("debug.lib.common.GRPC_URL_PREFIX")("grpc://")


@internal("debug.lib.common.RunKey")
class RunKey(NamedTuple):
    """The names of what is fed and of what is fetched."""

    feed_names: list[str]
    fetch_names: list[str]


@internal("debug.lib.common.get_graph_element_name")
def get_graph_element_name(elem: Any) -> str:
    """The name of a tensor, op or variable; of anything else, its text."""
    return elem.name if hasattr(elem, "name") else str(elem)


@internal("debug.lib.common.get_flattened_names")
def get_flattened_names(feeds_or_fetches: Any) -> list[str]:
    """The names in a structure of lists, tuples and dictionaries."""
    if isinstance(feeds_or_fetches, dict):
        feeds_or_fetches = list(feeds_or_fetches.values())
    if isinstance(feeds_or_fetches, (list, tuple)):
        return [name for item in feeds_or_fetches for name in get_flattened_names(item)]
    return [get_graph_element_name(feeds_or_fetches)]


@internal("debug.lib.common.get_run_key")
def get_run_key(feed_dict: Any, fetches: Any) -> str:
    """The names of a run's feeds and fetches as JSON."""
    return json.dumps(RunKey(get_flattened_names(feed_dict), get_flattened_names(fetches)))
