"""Shows what is in a SavedModel, and runs it."""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from typing import Any

import numpy as np

from everflow import api
from everflow.api import internal
from everflow.graph.graph import Graph
from everflow.proto import types_pb2
from everflow.saved_model.loader import load
from everflow.saved_model.structures import StructureCoder
from everflow.tools import saved_model_utils
from everflow.tools.input_arguments import (
    load_inputs_from_input_arg_string,
    preprocess_input_examples_arg_string,
    preprocess_input_exprs_arg_string,
    preprocess_inputs_arg_string,
)
from everflow.tools.saved_model_utils import get_meta_graph_def
from everflow.train.metagraphs.exporting import ops_used_by_graph_def

internal("tools.saved_model_cli")(sys.modules[__name__])
__all__ = [
    "create_parser",
    "load_inputs_from_input_arg_string",
    "preprocess_input_examples_arg_string",
    "preprocess_input_exprs_arg_string",
    "preprocess_inputs_arg_string",
    "run",
    "scan",
    "show",
]

# Ops that reach outside of the model.
_OP_BLACKLIST = {"WriteFile", "ReadFile", "PrintV2"}


def get_signature_def_map(saved_model_dir: Any, tag_set: str) -> Any:
    """The signatures of a graph."""
    return get_meta_graph_def(saved_model_dir, tag_set).signature_def


def _show_tag_sets(saved_model_dir: Any) -> None:
    lines = (", ".join(sorted(tags)) for tags in sorted(saved_model_utils.get_saved_model_tag_sets(saved_model_dir)))
    print("The given SavedModel contains the following tag-sets:", *lines, sep="\n")


def _show_signature_def_map_keys(saved_model_dir: Any, tag_set: str) -> None:
    signatures = get_signature_def_map(saved_model_dir, tag_set)
    print("The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:")
    for key in sorted(signatures):
        print(f'SignatureDef key: "{key}"')


def _show_inputs_outputs(saved_model_dir: Any, tag_set: str, signature_def_key: str, indent: int = 0) -> None:
    signatures = get_signature_def_map(saved_model_dir, tag_set)
    if signature_def_key not in signatures:
        raise ValueError(f'Could not find signature "{signature_def_key}". Please choose from: {", ".join(signatures)}')
    signature = signatures[signature_def_key]
    space = "  " * indent
    for kind, infos in (("input", signature.inputs), ("output", signature.outputs)):
        print(f"{space}The given SavedModel SignatureDef contains the following {kind}(s):")
        for key in sorted(infos):
            print(f"{space}  {kind}s['{key}'] tensor_info:")
            _print_tensor_info(infos[key], indent + 1)
    print(f"{space}Method name is: {signature.method_name}")


def _print_tensor_info(tensor_info: Any, indent: int = 0) -> None:
    space = "  " * indent
    print(f"{space}    dtype: {types_pb2.DataType.Name(tensor_info.dtype)}")
    shape = tensor_info.tensor_shape
    print(f"{space}    shape: " + ("unknown_rank" if shape.unknown_rank else _shown_shape(shape)))
    print(f"{space}    name: {tensor_info.name}")


def _shown_shape(shape: Any) -> str:
    sizes = [str(dim.size) for dim in shape.dim]
    return f"({sizes[0]})" if len(sizes) == 1 else f"({', '.join(sizes)})"


def _show_defined_functions(saved_model_dir: Any) -> None:
    """The functions of a model's root object, with the arguments they were traced for."""
    meta_graphs = saved_model_utils.read_saved_model(saved_model_dir).meta_graphs
    if not any(m.HasField("object_graph_def") for m in meta_graphs):
        return
    print("\nDefined Functions:", end="")
    objects = meta_graphs[0].object_graph_def
    functions = {
        child.local_name: objects.nodes[child.node_id].function
        for child in objects.nodes[0].children
        if objects.nodes[child.node_id].WhichOneof("kind") == "function"
    }
    for name in sorted(functions):
        print(f"\n  Function Name: '{name}'")
        for option, concrete in enumerate(functions[name].concrete_functions, 1):
            print(f"    Option #{option}\n      Callable with:")
            args, kwargs = StructureCoder().decode_proto(objects.concrete_functions[concrete].canonicalized_input_signature)
            _print_args(args, indent=4)
            if kwargs:
                _print_args(kwargs, "Named Argument", indent=4)


def _print_args(arguments: Any, argument_type: str = "Argument", indent: int = 0) -> None:
    space = "  " * indent
    for position, element in enumerate(arguments, 1):
        print(f"{space}{argument_type} #{position}" if not isinstance(arguments, dict) else f"{space}{argument_type}: {element}")
        value = arguments[element] if isinstance(arguments, dict) else element
        inner = space + "  "
        if isinstance(value, api.find("TensorSpec")):
            print(f"{inner}{value.name}: {value!r}")
        elif isinstance(value, (list, tuple, dict)) and value:
            print(f"{inner}DType: {type(value).__name__}\n{inner}Value: [", end="")
            items = value.items() if isinstance(value, dict) else enumerate(value)
            print(", ".join(f"'{k}': {v!r}" if isinstance(value, dict) else repr(v) for k, v in items) + "]")
        else:
            print(f"{inner}DType: {type(value).__name__}\n{inner}Value: {value}")


def _show_all(saved_model_dir: Any) -> None:
    for tags in sorted(saved_model_utils.get_saved_model_tag_sets(saved_model_dir)):
        print(f"\nMetaGraphDef with tag-set: '{', '.join(tags)}' contains the following SignatureDefs:")
        tag_set = ",".join(tags)
        for key in sorted(get_signature_def_map(saved_model_dir, tag_set)):
            print(f"\nsignature_def['{key}']:")
            _show_inputs_outputs(saved_model_dir, tag_set, key, indent=1)
        _show_defined_functions(saved_model_dir)


def run_saved_model_with_feed_dict(
    saved_model_dir: Any,
    tag_set: str,
    signature_def_key: str,
    input_tensor_key_feed_dict: dict[str, Any],
    outdir: Any,
    overwrite_flag: bool,
    worker: Any = None,
    init_tpu: bool = False,
    tf_debug: bool = False,
) -> None:
    """Runs a signature with inputs by their keys; prints the outputs, and writes them to files where a folder is named."""
    signature = get_signature_def_map(saved_model_dir, tag_set)[signature_def_key]
    for key in input_tensor_key_feed_dict:
        if key not in signature.inputs:
            known = ", ".join(f'"{k}"' for k in sorted(signature.inputs))
            raise ValueError(f'"{key}" is not a valid input key. Please choose from {known}, or use --show option.')
    keys = sorted(signature.outputs)
    with api.find("Session")(worker or "", graph=Graph()) as sess:
        if init_tpu:
            raise ValueError("--init_tpu needs a TPU, which is not there")
        load(sess, tag_set.split(","), saved_model_dir)
        if tf_debug:
            sess = api.find("python.debug.wrappers.local_cli_wrapper.LocalCLIDebugWrapperSession")(sess)
        outputs = sess.run(
            [signature.outputs[key].name for key in keys],
            feed_dict={signature.inputs[key].name: value for key, value in input_tensor_key_feed_dict.items()},
        )
    for key, output in zip(keys, outputs):
        print(f"Result for output key {key}:\n{output}")
        if not outdir:
            continue
        os.makedirs(outdir, exist_ok=True)
        path = os.path.join(outdir, key + ".npy")
        if not overwrite_flag and os.path.exists(path):
            raise RuntimeError(f'Output file {path} already exists. Add "--overwrite" to overwrite the existing output files.')
        np.save(path, output)
        print(f"Output {key} is saved to {path}")


def scan_meta_graph_def(meta_graph_def: Any) -> None:
    """Says whether a graph has ops that reach outside of it."""
    found = _OP_BLACKLIST & set(ops_used_by_graph_def(meta_graph_def.graph_def))
    tags = list(meta_graph_def.meta_info_def.tags)
    if found:
        print(f"MetaGraph with tag set {tags} contains the following blacklisted ops: {found}")
    else:
        print(f"MetaGraph with tag set {tags} does not contain blacklisted ops.")


def show(args: Any) -> None:
    """`show`: everything, tags, signatures, or the inputs and outputs of one."""
    if args.all:
        _show_all(args.dir)
        return
    # What is shown lies one level below what was chosen.
    chosen = list(itertools.takewhile(lambda given: given is not None, (args.tag_set, args.signature_def)))
    levels: Any = (_show_tag_sets, _show_signature_def_map_keys, _show_inputs_outputs)
    levels[len(chosen)](args.dir, *chosen)


def run(args: Any) -> None:
    """`run`: runs a signature."""
    inputs = (args.inputs, args.input_exprs, args.input_examples)
    if not any(inputs):
        raise AttributeError("At least one of --inputs, --input_exprs or --input_examples must be required")
    feeds = load_inputs_from_input_arg_string(*inputs)
    how = {option: getattr(args, option) for option in ("worker", "init_tpu", "tf_debug")}
    run_saved_model_with_feed_dict(args.dir, args.tag_set, args.signature_def, feeds, args.outdir, args.overwrite, **how)


def scan(args: Any) -> None:
    """`scan`: looks for ops that reach outside of the model."""
    if args.tag_set:
        scan_meta_graph_def(get_meta_graph_def(args.dir, args.tag_set))
        return
    for meta_graph_def in saved_model_utils.read_saved_model(args.dir).meta_graphs:
        scan_meta_graph_def(meta_graph_def)


def create_parser() -> argparse.ArgumentParser:
    """The arguments of the program."""
    parser = argparse.ArgumentParser(prog="saved_model_cli", description=__doc__)
    parser.add_argument("-v", "--version", action="version", version="0.1.0")
    commands = parser.add_subparsers(title="commands", description="valid commands", help="additional help")

    command = commands.add_parser("show", help="what is in a SavedModel", description="Shows tags, signatures, inputs and outputs.")
    command.add_argument("--dir", required=True, help="folder of the SavedModel")
    command.add_argument("--all", action="store_true", help="show everything")
    command.add_argument("--tag_set", help="tags of a graph, comma separated")
    command.add_argument("--signature_def", metavar="SIGNATURE_DEF_KEY", help="signature whose inputs and outputs to show")
    command.set_defaults(func=show)

    command = commands.add_parser("run", help="run a SavedModel", description="Runs a signature of a SavedModel with given inputs.")
    command.add_argument("--dir", required=True, help="folder of the SavedModel")
    command.add_argument("--tag_set", required=True, help="tags of the graph, comma separated")
    command.add_argument("--signature_def", required=True, metavar="SIGNATURE_DEF_KEY", help="signature to run")
    command.add_argument("--inputs", default="", help="inputs from files: 'key=file.npy;key=file.npz[name]'")
    command.add_argument("--input_exprs", default="", help="inputs as expressions: 'key=np.ones((2, 3));key=[1, 2]'")
    command.add_argument("--input_examples", default="", help="""inputs as tf.Examples: 'key=[{"age": [22], "name": ["a"]}]'""")
    command.add_argument("--outdir", help="folder to write outputs to, too")
    command.add_argument("--overwrite", action="store_true", help="replace output files that exist")
    command.add_argument("--tf_debug", action="store_true", help="watch the run with the debugger")
    command.add_argument("--worker", help="server to run on")
    command.add_argument("--init_tpu", action="store_true", help="initialize a TPU before")
    command.set_defaults(func=run)

    command = commands.add_parser("scan", help="look for ops that reach outside", description="Looks for ops that read or write files.")
    command.add_argument("--dir", required=True, help="folder of the SavedModel")
    command.add_argument("--tag_set", help="tags of a graph, comma separated")
    command.set_defaults(func=scan)
    return parser


def command(arguments: list[str]) -> int:
    """`everflow saved_model_cli`."""
    parser = create_parser()
    given = parser.parse_args(arguments)
    if not hasattr(given, "func"):
        parser.error("too few arguments")
    given.func(given)
    return 0


def main() -> None:
    """The program, with the arguments of the process."""
    sys.exit(command(sys.argv[1:]))


if __name__ == "__main__":
    main()
