"""Leaves of a graph only what lies between some inputs, which become placeholders, and some outputs."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from everflow.api import internal
from everflow.graph.graph_util import extract_sub_graph
from everflow.io import gfile
from everflow.proto import graph_pb2, node_def_pb2
from everflow.tools.graph_files import add_flag, read_proto, write_proto

internal("tools.strip_unused")(sys.modules[__name__])


@internal("tools.strip_unused_lib.strip_unused")
def strip_unused(input_graph_def: Any, input_node_names: list[str], output_node_names: list[str], placeholder_type_enum: Any) -> Any:
    """The graph between inputs and outputs. `placeholder_type_enum`: the type of the inputs, or one for each."""
    for name in input_node_names:
        if ":" in name:
            raise ValueError(f"Name '{name}' appears to refer to a Tensor, not a Operation.")
    missing = set(input_node_names) - {node.name for node in input_graph_def.node}
    if missing:
        raise KeyError(f"The following input nodes were not found: {missing}")
    types = placeholder_type_enum if isinstance(placeholder_type_enum, list) else [placeholder_type_enum] * len(input_node_names)
    replaced = graph_pb2.GraphDef()
    for node in input_graph_def.node:
        if node.name not in input_node_names:
            replaced.node.add().CopyFrom(node)
            continue
        placeholder = node_def_pb2.NodeDef(op="Placeholder", name=node.name)
        placeholder.attr["dtype"].type = types[input_node_names.index(node.name)]
        shapes = node.attr["_output_shapes"].list.shape if "_output_shapes" in node.attr else ()
        if shapes:
            placeholder.attr["shape"].shape.CopyFrom(shapes[0])
        elif "shape" in node.attr:
            placeholder.attr["shape"].shape.CopyFrom(node.attr["shape"].shape)
        else:
            placeholder.attr["shape"].shape.unknown_rank = True
        if "_output_shapes" in node.attr:
            placeholder.attr["_output_shapes"].CopyFrom(node.attr["_output_shapes"])
        replaced.node.append(placeholder)
    for field in ("versions", "library"):
        if input_graph_def.HasField(field):
            getattr(replaced, field).CopyFrom(getattr(input_graph_def, field))
    return extract_sub_graph(replaced, output_node_names)


@internal("tools.strip_unused_lib.strip_unused_from_files")
def strip_unused_from_files(
    input_graph: str,
    input_binary: bool,
    output_graph: str,
    output_binary: bool,
    input_node_names: str,
    output_node_names: str,
    placeholder_type_enum: Any,
) -> int | None:
    """The same, from a file to a file; -1 where it can't be done, which is then printed."""
    if not gfile.file_exists(input_graph):
        print(f"Input graph file '{input_graph}' does not exist!")
        return -1
    if not output_node_names:
        print("You need to supply the name of a node to --output_node_names.")
        return -1
    graph_def = read_proto(input_graph, graph_pb2.GraphDef(), input_binary)
    stripped = strip_unused(graph_def, input_node_names.split(","), output_node_names.split(","), placeholder_type_enum)
    write_proto(output_graph, stripped, output_binary)
    print(f"{len(stripped.node)} ops in the final graph.")
    return None


def command(arguments: list[str]) -> int:
    """`everflow strip_unused`."""
    parser = argparse.ArgumentParser(prog="strip_unused", description=__doc__)
    parser.add_argument("--input_graph", default="", help="GraphDef file to read")
    add_flag(parser, "--input_binary", False, "whether it is binary")
    parser.add_argument("--output_graph", default="", help="GraphDef file to write")
    add_flag(parser, "--output_binary", True, "whether to write it as binary")
    parser.add_argument("--input_node_names", default="", help="nodes that become placeholders, comma separated")
    parser.add_argument("--output_node_names", default="", help="nodes to keep, comma separated")
    parser.add_argument("--placeholder_type_enum", default="1", help="number of the placeholders' DataType, or one for each")
    given = parser.parse_args(arguments)
    types = [int(n) for n in given.placeholder_type_enum.split(",")]
    done = strip_unused_from_files(
        given.input_graph,
        given.input_binary,
        given.output_graph,
        given.output_binary,
        given.input_node_names,
        given.output_node_names,
        types if len(types) > 1 else types[0],
    )
    return 0 if done is None else 1


if __name__ == "__main__":
    sys.exit(command(sys.argv[1:]))
