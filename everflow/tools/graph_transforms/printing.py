"""insert_logging: a graph that prints what flows in it."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.tools.graph_transforms.nodes import rewired
from everflow.tools.graph_transforms.table import Told, made, node_of, transform


@transform
def insert_logging(graph: Any, told: Told) -> Any:
    """Prints the results of nodes of some ops, or with names that begin in some way, before they are used."""
    ops, starts = told.parameters.get("op", ()), tuple(told.parameters.get("prefix", ()))
    used = {node_of(given) for node in graph.node for given in node.input if not given.startswith("^")}
    with tf.Graph().as_default() as whole:
        tf.import_graph_def(graph, name="")
    first_n, summarize = int(told.one("first_n", -1)), int(told.one("summarize", 1024))

    def printed(node: Any) -> Any:
        name = node.name + "__print__"
        message = f";{node.op};" if told.is_on("show_op") else ""
        message += f";{name};" if told.is_on("show_name") else ""
        outputs = whole.get_operation_by_name(node.name).outputs
        data = [output.name for output in outputs]
        print_node = made("Print", name, [data[0], *data], first_n=first_n, message=message + told.one("message", ""), summarize=summarize)
        print_node.attr["T"].type = outputs[0].dtype.as_datatype_enum
        print_node.attr["U"].list.type.extend(output.dtype.as_datatype_enum for output in outputs)
        return print_node

    prints = {
        node.name: printed(node)
        for node in graph.node
        if node.name in used and (not ops or node.op in ops) and (not starts or node.name.startswith(starts))
    }

    def change(given: str) -> str:
        name = given.removesuffix(":0")
        return prints[name].name + ":0" if name in prints else given

    changed = rewired(graph, graph.node, change)
    nodes = [made for node in changed.node for made in (node, prints.get(node.name)) if made is not None]
    del changed.node[:]
    changed.node.extend(nodes)
    return changed
