"""Graphs as text, in the time that a program can wait for."""

from __future__ import annotations

from typing import Any

from google.protobuf import text_format


def graph_text(proto: Any) -> str:
    """What `text_format.MessageToString` gives for a proto, sooner if it is a GraphDef.

    protobuf's C code writes a message as `str` does, but leaves maps in no order, and readers compare files: attributes are sorted
    here, one message each. Functions have maps within messages, and are left to protobuf's Python code.
    """
    if proto.DESCRIPTOR.full_name != "tensorflow.GraphDef":
        return text_format.MessageToString(proto)
    rest = type(proto)()
    rest.CopyFrom(proto)
    rest.ClearField("node")
    return "".join([*map(_node_text, proto.node), text_format.MessageToString(rest)])


def _node_text(node: Any) -> str:
    attrs = node.attr
    if any(value.HasField("func") or value.list.func for value in attrs.values()):
        return _indented("node", text_format.MessageToString(node))
    lines = [f'node {{\n  name: "{node.name}"\n  op: "{node.op}"\n']
    lines.extend(f'  input: "{name}"\n' for name in node.input)
    if node.device:
        lines.append(f'  device: "{node.device}"\n')
    for key in sorted(attrs):
        value = str(attrs[key]).rstrip("\n").replace("\n", "\n      ")
        held = f"{{\n      {value}\n    }}" if value else "{\n    }"
        lines.append(f'  attr {{\n    key: "{key}"\n    value {held}\n  }}\n')
    if node.HasField("experimental_debug_info"):
        lines.append(_indented("experimental_debug_info", str(node.experimental_debug_info), "  "))
    lines.append("}\n")
    return "".join(lines)


def _indented(field: str, text: str, before: str = "") -> str:
    inner = "".join(f"{before}  {line}\n" for line in text.splitlines())
    return f"{before}{field} {{\n{inner}{before}}}\n"
