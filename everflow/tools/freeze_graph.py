"""Makes one file of a graph and a checkpoint: variables become constants."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from everflow import api
from everflow.api import internal
from everflow.graph.freezing import convert_variables_to_constants
from everflow.graph.graph import Graph
from everflow.graph.importer import import_graph_def
from everflow.proto import graph_pb2, meta_graph_pb2, saver_pb2
from everflow.saved_model.loader import load
from everflow.tools.graph_files import add_flag, read_proto, write_proto
from everflow.tools.saved_model_utils import get_meta_graph_def
from everflow.train.checkpoints.reader import new_checkpoint_reader
from everflow.train.checkpoints.saver import Saver
from everflow.train.checkpoints.state import V2, checkpoint_exists
from everflow.train.metagraphs.importing import import_meta_graph

internal("tools.freeze_graph")(sys.modules[__name__])


def _has_no_variables(sess: Any) -> bool:
    return not any(op.type.startswith("Variable") or op.type == "VarHandleOp" for op in sess.graph.get_operations())


def freeze_graph_with_def_protos(
    input_graph_def: Any,
    input_saver_def: Any,
    input_checkpoint: Any,
    output_node_names: str,
    restore_op_name: Any,
    filename_tensor_name: Any,
    output_graph: Any,
    clear_devices: bool,
    initializer_nodes: Any,
    variable_names_whitelist: str = "",
    variable_names_blacklist: str = "",
    input_meta_graph_def: Any = None,
    input_saved_model_dir: Any = None,
    saved_model_tags: Any = None,
    checkpoint_version: int = V2,
) -> Any:
    """The frozen graph, written to `output_graph` where one is named."""
    if not input_saved_model_dir and not checkpoint_exists(input_checkpoint):
        raise ValueError(f"Input checkpoint '{input_checkpoint}' doesn't exist!")
    if not output_node_names:
        raise ValueError("You need to supply the name of a node to --output_node_names.")
    for proto in (input_graph_def, input_meta_graph_def.graph_def if input_meta_graph_def else None):
        if clear_devices and proto is not None:
            for node in proto.node:
                node.device = ""
    with Graph().as_default(), api.find("Session")() as sess:
        if input_graph_def:
            import_graph_def(input_graph_def, name="")
        if input_saver_def:
            Saver(saver_def=input_saver_def).restore(sess, input_checkpoint)
        elif input_meta_graph_def:
            import_meta_graph(input_meta_graph_def, clear_devices=True).restore(sess, input_checkpoint)
            if initializer_nodes:
                sess.run(initializer_nodes.replace(" ", "").split(","))
        elif input_saved_model_dir:
            load(sess, saved_model_tags if saved_model_tags is not None else ["serve"], input_saved_model_dir)
        else:
            _restore_by_name(sess, input_checkpoint)
            if initializer_nodes:
                sess.run(initializer_nodes.replace(" ", "").split(","))
        frozen = convert_variables_to_constants(
            sess,
            input_meta_graph_def.graph_def if input_meta_graph_def else sess.graph.as_graph_def(),
            output_node_names.replace(" ", "").split(","),
            variable_names_whitelist=variable_names_whitelist.replace(" ", "").split(",") if variable_names_whitelist else None,
            variable_names_blacklist=variable_names_blacklist.replace(" ", "").split(",") if variable_names_blacklist else None,
        )
    if output_graph:
        write_proto(output_graph, frozen)
    return frozen


def _restore_by_name(sess: Any, checkpoint: Any) -> None:
    """A graph without a saver: its variables are found by the checkpoint's names."""
    variables: dict[str, Any] = {}
    partitioned = False
    for key in new_checkpoint_reader(checkpoint).get_variable_to_shape_map():
        try:
            tensor = sess.graph.get_tensor_by_name(key + ":0")
        except KeyError:
            # Parts of a variable, or what the graph does not have (optimizer state of a graph that was stripped).
            partitioned = partitioned or any(op.name.startswith(key + "/part_") for op in sess.graph.get_operations())
            continue
        if tensor.op.type == "VarHandleOp":
            tensor = next((op.outputs[0] for op in tensor.consumers() if op.type == "ReadVariableOp"), tensor)
        if tensor.op.type in ("Variable", "VariableV2", "AutoReloadVariable", "ReadVariableOp"):
            variables[key] = tensor
        else:
            partitioned = partitioned or any(op.name.startswith(key + "/part_") for op in sess.graph.get_operations())
    if partitioned:
        raise ValueError(
            "Models containing partition variables cannot be converted from checkpoint files. Please pass in a SavedModel using the flag "
            "--input_saved_model_dir."
        )
    if not variables:
        if _has_no_variables(sess):
            raise ValueError(
                "No variables were found in this model. It is likely the model was frozen previously. You cannot freeze a graph twice."
            )
        raise ValueError("No variables to save")
    Saver(var_list=variables).restore(sess, checkpoint)


def freeze_graph(
    input_graph: Any,
    input_saver: Any,
    input_binary: bool,
    input_checkpoint: Any,
    output_node_names: str,
    restore_op_name: Any,
    filename_tensor_name: Any,
    output_graph: Any,
    clear_devices: bool,
    initializer_nodes: Any,
    variable_names_whitelist: str = "",
    variable_names_blacklist: str = "",
    input_meta_graph: Any = None,
    input_saved_model_dir: Any = None,
    saved_model_tags: str = "serve",
    checkpoint_version: int = V2,
) -> Any:
    """The same, of files."""
    graph_def = meta_graph_def = saver_def = None
    if input_saved_model_dir:
        graph_def = get_meta_graph_def(input_saved_model_dir, saved_model_tags).graph_def
    elif input_graph:
        graph_def = read_proto(input_graph, graph_pb2.GraphDef(), input_binary)
    if input_meta_graph:
        meta_graph_def = read_proto(input_meta_graph, meta_graph_pb2.MetaGraphDef(), input_binary, "meta graph")
        print(f"Loaded meta graph file '{input_meta_graph}")
    if input_saver:
        saver_def = read_proto(input_saver, saver_pb2.SaverDef(), input_binary, "saver")
    return freeze_graph_with_def_protos(
        None if input_saved_model_dir else graph_def,
        saver_def,
        input_checkpoint,
        output_node_names,
        restore_op_name,
        filename_tensor_name,
        output_graph,
        clear_devices,
        initializer_nodes,
        variable_names_whitelist,
        variable_names_blacklist,
        meta_graph_def,
        input_saved_model_dir,
        saved_model_tags.replace(" ", "").split(","),
        checkpoint_version=checkpoint_version,
    )


def command(arguments: list[str]) -> int:
    """`everflow freeze_graph`."""
    parser = argparse.ArgumentParser(prog="freeze_graph", description=__doc__)
    parser.add_argument("--input_graph", default="", help="GraphDef file to read")
    parser.add_argument("--input_saver", default="", help="SaverDef file to read")
    parser.add_argument("--input_checkpoint", default="", help="checkpoint to read")
    parser.add_argument("--checkpoint_version", type=int, default=V2, help="its version (both are recognized)")
    parser.add_argument("--output_graph", default="", help="GraphDef file to write")
    add_flag(parser, "--input_binary", False, "whether the input files are binary")
    parser.add_argument("--output_node_names", default="", help="nodes to keep, comma separated")
    parser.add_argument("--restore_op_name", default="save/restore_all", help="not used any more")
    parser.add_argument("--filename_tensor_name", default="save/Const:0", help="not used any more")
    add_flag(parser, "--clear_devices", True, "whether to remove devices")
    parser.add_argument("--initializer_nodes", default="", help="nodes to run before freezing, comma separated")
    parser.add_argument("--variable_names_whitelist", default="", help="variables to freeze; all unless given")
    parser.add_argument("--variable_names_blacklist", default="", help="variables not to freeze")
    parser.add_argument("--input_meta_graph", default="", help="MetaGraphDef file to read")
    parser.add_argument("--input_saved_model_dir", default="", help="SavedModel to read")
    parser.add_argument("--saved_model_tags", default="serve", help="tags of its graph, comma separated")
    given = parser.parse_args(arguments)
    freeze_graph(
        given.input_graph,
        given.input_saver,
        given.input_binary,
        given.input_checkpoint,
        given.output_node_names,
        given.restore_op_name,
        given.filename_tensor_name,
        given.output_graph,
        given.clear_devices,
        given.initializer_nodes,
        given.variable_names_whitelist,
        given.variable_names_blacklist,
        given.input_meta_graph,
        given.input_saved_model_dir,
        given.saved_model_tags,
        given.checkpoint_version,
    )
    return 0


def run_main() -> None:
    """The command, with the arguments of the program."""
    sys.exit(command(sys.argv[1:]))


if __name__ == "__main__":
    run_main()
