"""TransformGraph: changes to GraphDefs, one after the other, each a function of the graph and of what it was told."""

from __future__ import annotations

import argparse
import collections
import re
from typing import Any

from everflow.api import public
from everflow.errors import invalid_argument
from everflow.proto import graph_pb2
from everflow.tools.graph_files import add_flag, read_proto, write_proto
from everflow.tools.graph_transforms import attributes, convolutions, eight_bits, lookups, nodes, numbers, older, printing
from everflow.tools.graph_transforms.table import TRANSFORMS, Told

# What fills the table.
FAMILIES = (attributes, convolutions, eight_bits, lookups, nodes, numbers, older, printing)

_WORD = re.compile(r"\s*([A-Za-z0-9_]+)\s*")
_PARAMETER = re.compile(r"\s*([A-Za-z0-9_]+)\s*=\s*(\"[^\"]*\"|[^\s,()\"]*)\s*,?\s*")


def parsed(text: str) -> list[tuple[str, dict[str, list[str]]]]:
    """The transforms in a text like `remove_nodes(op=Identity, op=CheckNumerics) fold_constants`, with their parameters."""
    found = []
    at = 0
    while text[at:].strip():
        word = _WORD.match(text, at)
        if word is None:
            raise invalid_argument(f"Looking for transform name, but found {text[at:].strip()}")
        at = word.end()
        parameters: dict[str, list[str]] = collections.defaultdict(list)
        if text[at : at + 1] == "(":
            at += 1
            while (parameter := _PARAMETER.match(text, at)) is not None:
                parameters[parameter[1]].append(parameter[2].strip('"'))
                at = parameter.end()
            if text[at : at + 1] != ")":
                raise invalid_argument(f"Looking for parameter name or ')', but found {text[at:].strip()}")
            at += 1
        found.append((word[1], dict(parameters)))
    return found


@public("tools.graph_transforms.TransformGraph")
def TransformGraph(input_graph_def: Any, inputs: Any, outputs: Any, transforms: Any) -> Any:
    """A graph after some transforms, such as `["strip_unused_nodes", "fold_constants(ignore_errors=true)"]`, one after the other."""
    graph = graph_pb2.GraphDef()
    graph.CopyFrom(input_graph_def)
    for name, parameters in (step for text in transforms for step in parsed(text)):
        if name not in TRANSFORMS:
            raise invalid_argument(f"Transform '{name}' not recognized.")
        graph = TRANSFORMS[name](graph, Told(list(inputs), list(outputs), parameters))
    return graph


def command(arguments: list[str]) -> int:
    """`everflow transform_graph`."""
    parser = argparse.ArgumentParser(
        prog="everflow transform_graph", description=f"Changes a graph. Transforms: {', '.join(sorted(TRANSFORMS))}."
    )
    for flag, text in (
        ("--in_graph", "file of the graph"),
        ("--out_graph", "file to write"),
        ("--transforms", "what to do, in this order"),
    ):
        parser.add_argument(flag, required=True, help=text)
    parser.add_argument("--inputs", default="", help="names of the nodes that are fed, with commas")
    parser.add_argument("--outputs", default="", help="names of the nodes that are fetched, with commas")
    add_flag(parser, "--output_as_text", False, "write the graph as text")
    given = parser.parse_args(arguments)
    graph = read_proto(given.in_graph, graph_pb2.GraphDef(), binary=not given.in_graph.endswith("txt"))
    inputs, outputs = ([name for name in text.split(",") if name] for text in (given.inputs, given.outputs))
    write_proto(given.out_graph, TransformGraph(graph, inputs, outputs, [given.transforms]), binary=not given.output_as_text)
    return 0
