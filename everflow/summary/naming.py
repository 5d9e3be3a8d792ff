"""Tags of summaries: names that are allowed, in the scopes that stand around them."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph.scopes import name_scope
from everflow.platform import logging

_NOT_ALLOWED = re.compile(r"[^-/\w\.]")
_silence = threading.local()


@internal("ops.summary_op_util.clean_tag")
def clean_tag(name: str | None) -> str | None:
    """A name with _ for what no op's name may have, and without slashes in front."""
    if name is None:
        return None
    found = _NOT_ALLOWED.sub("_", name).lstrip("/")
    if found != name:
        logging.info("Summary name %s is illegal; using %s instead.", name, found)
    return found


@internal("ops.summary_op_util.collect")
def collect(val: Any, collections: Any, default_collections: Any) -> None:
    """Puts a summary into collections, or into the default ones."""
    for key in default_collections if collections is None else collections:
        tf.add_to_collection(key, val)


@internal("ops.summary_op_util.summary_scope")
@contextlib.contextmanager
def summary_scope(name: str, family: str | None = None, default_name: str | None = None, values: Any = None) -> Iterator[tuple[str, str]]:
    """(tag, scope) of a summary; a family groups summaries and is the first part of their tags."""
    cleaned = clean_tag(name)
    family = clean_tag(family)
    base = cleaned if family is None else f"{family}/{cleaned}"
    with name_scope(base, default_name, values) as scope:
        tag = scope.rstrip("/")
        yield (tag if family is None else f"{family}/{tag}"), scope


@internal("distribute.summary_op_util.skip_summary")
def skip_summary() -> bool:
    """Whether summaries are left out where they are made now."""
    return getattr(_silence, "on", False)


@contextlib.contextmanager
def without_summaries() -> Iterator[None]:
    """Within the block, functions of `tf.summary` add nothing to graphs."""
    outer, _silence.on = skip_summary(), True
    try:
        yield
    finally:
        _silence.on = outer
