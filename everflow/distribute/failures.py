"""Errors of ops that ran in another process, told as those of this program's ops."""

from __future__ import annotations

import re
from typing import Any

from everflow.errors import OpError, from_code
from everflow.graph.interpolation import interpolate

# How servers say which op an error is of.
_NODE = re.compile(r"\{\{node ([^{}]+)\}\}")


def told(graph: Any, message: str, code: int) -> OpError:
    """The error for a status that a server answered with, which says where the program made the op."""
    named = _NODE.search(message)
    op = graph._by_name.get(named.group(1)) if named is not None else None
    return from_code(op.node_def if op is not None else None, op, interpolate(message, graph), code)
