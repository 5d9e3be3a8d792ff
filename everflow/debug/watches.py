"""Asking for tensors to be watched: what goes into the debug_options of RunOptions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from everflow.api import internal

# A watch of all outputs of all nodes that have no watch of their own, such as those that the runtime adds.
EVERY_NODE = "*"
EVERY_SLOT = -1


def _texts(given: Any) -> list[str]:
    if given is None:
        return []
    return [given] if isinstance(given, str) else list(given)


@internal("debug.lib.debug_utils.add_debug_tensor_watch")
def add_debug_tensor_watch(
    run_options: Any,
    node_name: str,
    output_slot: int = 0,
    debug_ops: Any = "DebugIdentity",
    debug_urls: Any = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
) -> None:
    """Has an output of a node watched in runs with these RunOptions."""
    options = run_options.debug_options
    options.global_step = global_step
    options.debug_tensor_watch_opts.add(
        node_name=node_name,
        output_slot=output_slot,
        debug_ops=_texts(debug_ops),
        debug_urls=_texts(debug_urls),
        tolerate_debug_op_creation_failures=tolerate_debug_op_creation_failures,
    )


def _pattern(expression: str | None) -> re.Pattern[str] | None:
    return re.compile(expression) if expression else None


def _outputs(graph: Any, is_wanted_op: Callable[[Any], bool], is_wanted_dtype: Callable[[str], bool]) -> Iterator[tuple[str, int]]:
    for op in graph.get_operations():
        if is_wanted_op(op):
            for slot, tensor in enumerate(op.outputs):
                if is_wanted_dtype(tensor.dtype.name):
                    yield op.name, slot


@internal("debug.lib.debug_utils.watch_graph")
def watch_graph(
    run_options: Any,
    graph: Any,
    debug_ops: Any = "DebugIdentity",
    debug_urls: Any = None,
    node_name_regex_whitelist: str | None = None,
    op_type_regex_whitelist: str | None = None,
    tensor_dtype_regex_whitelist: str | None = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
    reset_disk_byte_usage: bool = False,
) -> None:
    """Has all outputs of a graph's ops watched, or those whose names and types match all expressions that are given."""
    names, types, dtypes = map(_pattern, (node_name_regex_whitelist, op_type_regex_whitelist, tensor_dtype_regex_whitelist))
    found = list(
        _outputs(
            graph,
            lambda op: (names is None or bool(names.match(op.name))) and (types is None or bool(types.match(op.type))),
            lambda dtype: dtypes is None or bool(dtypes.match(dtype)),
        )
    )
    if names is types is dtypes is None:
        found.append((EVERY_NODE, EVERY_SLOT))
    for node_name, slot in found:
        add_debug_tensor_watch(run_options, node_name, slot, debug_ops, debug_urls, tolerate_debug_op_creation_failures, global_step)
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage


@internal("debug.lib.debug_utils.watch_graph_with_blacklists")
def watch_graph_with_blacklists(
    run_options: Any,
    graph: Any,
    debug_ops: Any = "DebugIdentity",
    debug_urls: Any = None,
    node_name_regex_blacklist: str | None = None,
    op_type_regex_blacklist: str | None = None,
    tensor_dtype_regex_blacklist: str | None = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
    reset_disk_byte_usage: bool = False,
) -> None:
    """Has the outputs of a graph's ops watched, but for those whose name or type matches one of the expressions."""
    names, types, dtypes = map(_pattern, (node_name_regex_blacklist, op_type_regex_blacklist, tensor_dtype_regex_blacklist))
    found = _outputs(
        graph,
        lambda op: not (names and names.match(op.name)) and not (types and types.match(op.type)),
        lambda dtype: not (dtypes and dtypes.match(dtype)),
    )
    for node_name, slot in found:
        add_debug_tensor_watch(run_options, node_name, slot, debug_ops, debug_urls, tolerate_debug_op_creation_failures, global_step)
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage
