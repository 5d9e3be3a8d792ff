"""How nodes, tensors and what the debugger adds to a graph are called.

The watched output `a/b:1` is copied by the node `__copy_a/b_1`, and each debug op that looks at the copy is a node such as
`__dbg_a/b:1_0_DebugIdentity`, in which 0 is the op's place among those of the watch.
"""

from __future__ import annotations

from everflow.api import internal

COPY = "__copy_"
DEBUG = "__dbg_"


@internal("debug.lib.debug_graphs.parse_node_or_tensor_name")
def parse_node_or_tensor_name(name: str) -> tuple[str, int | None]:
    """The node and the output slot of a tensor's name; a node's name has no slot."""
    node, colon, slot = name.rpartition(":")
    return (node, int(slot)) if colon and slot else (name, None)


@internal("debug.lib.debug_graphs.get_node_name")
def get_node_name(element_name: str) -> str:
    """The node that a node's or tensor's name speaks of."""
    return parse_node_or_tensor_name(element_name)[0]


@internal("debug.lib.debug_graphs.get_output_slot")
def get_output_slot(element_name: str) -> int:
    """The output slot in a tensor's name; 0 for a node's name."""
    return parse_node_or_tensor_name(element_name)[1] or 0


@internal("debug.lib.debug_graphs.is_copy_node")
def is_copy_node(node_name: str) -> bool:
    """Whether the debugger added this node to copy a watched tensor."""
    return node_name.startswith(COPY)


@internal("debug.lib.debug_graphs.is_debug_node")
def is_debug_node(node_name: str) -> bool:
    """Whether the debugger added this node to look at a watched tensor."""
    return node_name.startswith(DEBUG)


@internal("debug.lib.debug_graphs.parse_debug_node_name")
def parse_debug_node_name(node_name: str) -> tuple[str, int, int, str]:
    """The watched node, its output slot, the debug op's place and the debug op, from the name of a debug node."""
    if not is_debug_node(node_name):
        raise ValueError(f"Invalid prefix in debug node name: '{node_name}'")
    rest = node_name.removeprefix(DEBUG).rsplit("_", 2)
    if len(rest) < 2 or (len(rest) == 2 and ":" in rest[0]):
        raise ValueError(f"Invalid debug node name: '{node_name}'")
    if len(rest) < 3 or ":" not in rest[0]:
        raise ValueError(f"Invalid tensor name in debug node name: '{node_name}'")
    tensor, place, debug_op = rest
    node, slot = tensor.rsplit(":", 1)
    return node, int(slot), int(place), debug_op


def copy_node_name(node_name: str, slot: int) -> str:
    """The name of the node that copies a watched output."""
    return f"{COPY}{node_name}_{slot}"


def debug_node_name(node_name: str, slot: int, place: int, debug_op: str) -> str:
    """The name of the node of a debug op, the `place`-th of those that watch this output."""
    return f"{DEBUG}{node_name}:{slot}_{place}_{debug_op}"


@internal("debug.lib.debug_data._get_tensor_name")
def tensor_name(node_name: str, slot: int) -> str:
    """What an output is called."""
    return f"{node_name}:{slot}"


@internal("debug.lib.debug_data._get_tensor_watch_key")
def watch_key(node_name: str, slot: int, debug_op: str) -> str:
    """What a debug op's view of an output is called."""
    return f"{node_name}:{slot}:{debug_op}"
