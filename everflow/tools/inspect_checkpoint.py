"""Shows what is in a checkpoint."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Any

import numpy as np

from everflow.api import internal
from everflow.errors import OpError
from everflow.tools.graph_files import add_flag
from everflow.train.checkpoints.reader import new_checkpoint_reader

internal("tools.inspect_checkpoint")(sys.modules[__name__])


def _count_total_params(reader: Any, count_exclude_pattern: str = "") -> int:
    shapes = reader.get_variable_to_shape_map()
    if count_exclude_pattern:
        pattern = re.compile(count_exclude_pattern)
        shapes = {name: shape for name, shape in shapes.items() if not pattern.search(name)}
    return int(sum(np.prod(shape, dtype=np.int64) for shape in shapes.values()))


def print_tensors_in_checkpoint_file(
    file_name: Any, tensor_name: str | None, all_tensors: bool, all_tensor_names: bool = False, count_exclude_pattern: str = ""
) -> None:
    """Prints one tensor, all of them or their names; with none of these, names, types and shapes."""
    try:
        reader = new_checkpoint_reader(file_name)
        if all_tensors or all_tensor_names:
            for name in sorted(reader.get_variable_to_shape_map()):
                print("tensor_name: ", name)
                if all_tensors:
                    print(reader.get_tensor(name))
        elif not tensor_name:
            print(reader.debug_string().decode("utf-8", errors="ignore"))
        else:
            print("tensor_name: ", tensor_name)
            print(reader.get_tensor(tensor_name))
        print(f"# Total number of params: {_count_total_params(reader, count_exclude_pattern)}")
    except OpError as error:
        print(error.message)
        if "corrupted compressed block contents" in error.message:
            print("It's likely that your checkpoint file has been compressed with SNAPPY.")
        if "Data loss" in str(error) and any(e in str(file_name) for e in (".index", ".meta", ".data")):
            print(
                f"\nIt's likely that this is a V2 checkpoint and you need to provide the filename *prefix*.  Try removing the '.' and "
                f"extension.  Try:\ninspect checkpoint --file_name = {str(file_name).rpartition('.')[0]}"
            )


def parse_numpy_printoption(kv_str: str) -> None:
    """Sets a print option of numpy, given as `name=value`."""
    name, equals, text = kv_str.partition("=")
    known: dict[str, Any] = dict(np.get_printoptions())
    if not equals:
        raise argparse.ArgumentTypeError(f"'{kv_str}' is not in the form k=v.")
    if name not in known:
        raise argparse.ArgumentTypeError(f"'{name}' is not a valid printoption.")
    kind = type(known[name])
    if kind is type(None):
        raise argparse.ArgumentTypeError(f"Setting '{name}' from the command line is not supported.")
    try:
        value: Any = text.lower() in ("1", "true", "yes") if kind is bool else kind(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    options: Any = {name: value}
    np.set_printoptions(**options)


def command(arguments: list[str]) -> int:
    """`everflow inspect_checkpoint`."""
    parser = argparse.ArgumentParser(prog="inspect_checkpoint", description=__doc__)
    parser.add_argument("--file_name", default="", help="the checkpoint: what the names of its files have in common")
    parser.add_argument("--tensor_name", default="", help="print this tensor")
    parser.add_argument("--count_exclude_pattern", default="", help="tensors not to count, a regular expression")
    add_flag(parser, "--all_tensors", False, "print all tensors with their values")
    add_flag(parser, "--all_tensor_names", False, "print the names of all tensors")
    parser.add_argument("--printoptions", nargs="*", type=parse_numpy_printoption, help="options of numpy, such as threshold=10")
    given = parser.parse_args(arguments)
    if not given.file_name:
        print(
            "Usage: inspect_checkpoint --file_name=checkpoint_file_name [--tensor_name=tensor_to_print] [--all_tensors] "
            "[--all_tensor_names] [--printoptions]"
        )
        return 1
    print_tensors_in_checkpoint_file(
        given.file_name, given.tensor_name, given.all_tensors, given.all_tensor_names, given.count_exclude_pattern
    )
    return 0


if __name__ == "__main__":
    sys.exit(command(sys.argv[1:]))
