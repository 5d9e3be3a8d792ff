"""Which lines of a program made which ops, tensors and costs."""

from __future__ import annotations

import collections
import math
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

from everflow.api import PACKAGE, internal
from everflow.debug.node_names import get_node_name
from everflow.debug.profiling import AggregateProfile
from everflow.io.file_io import FileIO

UNCOMPILED = internal("debug.lib.source_utils.UNCOMPILED_SOURCE_SUFFIXES")(".py")
COMPILED = internal("debug.lib.source_utils.COMPILED_SOURCE_SUFFIXES")((".pyc", ".pyo"))
internal("debug.lib.source_utils._TENSORFLOW_BASEDIR")(str(PACKAGE / "children" / "tensorflow"))
internal("debug.lib.source_utils.__file__")(__file__)


def _path(file_path: str) -> str:
    return os.path.normpath(os.path.abspath(file_path))


@internal("debug.lib.source_utils.is_extension_uncompiled_python_source")
def is_extension_uncompiled_python_source(file_path: str) -> bool:
    """Whether a file is Python's by its name."""
    extension = os.path.splitext(file_path)[1]
    return not extension or extension.lower() == UNCOMPILED


@internal("debug.lib.source_utils.is_extension_compiled_python_source")
def is_extension_compiled_python_source(file_path: str) -> bool:
    """Whether a file is compiled Python by its name."""
    return os.path.splitext(file_path)[1].lower() in COMPILED


@internal("debug.lib.source_utils.guess_is_tensorflow_py_library")
def guess_is_tensorflow_py_library(py_file_path: str) -> bool:
    """Whether a file is part of the library, and not of the program that uses it."""
    if not (is_extension_uncompiled_python_source(py_file_path) or is_extension_compiled_python_source(py_file_path)):
        raise ValueError(f"Input file path ({py_file_path}) is not a Python source file.")
    path = _path(py_file_path)
    return path.startswith(str(PACKAGE) + os.sep) and not path.endswith("_test.py")


@internal("debug.lib.source_utils.load_source")
def load_source(source_file_path: str) -> tuple[list[str], int]:
    """The lines of a file, and how wide a column with their numbers is."""
    if not os.path.isfile(source_file_path):
        raise FileNotFoundError(2, "No such file or directory", source_file_path)
    with FileIO(source_file_path, "rb") as file:
        lines = file.read().decode("utf-8").split("\n")
    return lines, math.ceil(math.log10(len(lines))) + 3


def _in_range(line: int, min_line: int | None, max_line: int | None) -> bool:
    return (min_line is None or line >= min_line) and (max_line is None or line < max_line)


@internal("debug.lib.source_utils.annotate_source")
def annotate_source(
    dump: Any,
    source_file_path: str,
    do_dumped_tensors: bool = False,
    file_stack_top: bool = False,
    min_line: int | None = None,
    max_line: int | None = None,
) -> dict[int, list[str]]:
    """{line: the nodes that it made, or the tensors of these that were dumped}.

    A node counts for every line of the file in its stack, or with `file_stack_top` for the innermost one. Lines are those from
    `min_line` up to, but not including, `max_line`.
    """
    if not dump.python_graph:
        raise ValueError("Cannot perform source annotation due to a lack of set Python graph in the dump object")
    wanted = _path(source_file_path)
    found: dict[int, list[str]] = {}
    for name, _ in dump.python_nodes():
        for file, line, *_ in reversed(dump.node_traceback(name)):
            if not _in_range(line, min_line, max_line) or _path(file) != wanted:
                continue
            names = _dumped_tensors(dump, name) if do_dumped_tensors else [name]
            found.setdefault(line, []).extend(names)
            if file_stack_top:
                break
    return found


def _dumped_tensors(dump: Any, node_name: str) -> list[str]:
    return [key.rpartition(":")[0] for key in dump.debug_watch_keys(node_name)]


@internal("debug.lib.source_utils.list_source_files_against_dump")
def list_source_files_against_dump(
    dump: Any, path_regex_whitelist: str | None = None, node_name_regex_whitelist: str | None = None
) -> list[tuple[str, bool, int, int, int, int]]:
    """The files in whose lines nodes were made, by their paths: (path, whether it is the library's, how many nodes, tensors and
    dumps come from it, its first such line)."""
    if not dump.python_graph:
        raise ValueError("Cannot generate source list due to a lack of set Python graph in the dump object")
    paths = re.compile(path_regex_whitelist) if path_regex_whitelist else None
    names = re.compile(node_name_regex_whitelist) if node_name_regex_whitelist else None
    dumps = collections.Counter(datum.node_name for datum in dump.dumped_tensor_data)
    nodes: dict[str, dict[str, int]] = {}
    first: dict[str, int] = {}
    for name, outputs in dump.python_nodes():
        if names is not None and not names.match(name):
            continue
        for path, line in _places(dump.node_traceback(name)):
            if paths is None or paths.match(path):
                nodes.setdefault(path, {})[name] = outputs
                first[path] = min(line, first.get(path, line))
    return [
        (path, _is_library(path), len(made), sum(made.values()), sum(dumps[get_node_name(name)] for name in made), first[path])
        for path, made in sorted(nodes.items())
    ]


def _places(traceback: Iterable[Any]) -> Iterator[tuple[str, int]]:
    for file, line, *_ in traceback:
        yield _path(file), line


def _is_library(path: str) -> bool:
    try:
        return guess_is_tensorflow_py_library(path)
    except ValueError:
        return False


@internal("debug.lib.source_utils.annotate_source_against_profile")
def annotate_source_against_profile(
    profile_data: Iterable[Any],
    source_file_path: str,
    node_name_filter: str | None = None,
    op_type_filter: str | None = None,
    min_line: int | None = None,
    max_line: int | None = None,
) -> dict[int, AggregateProfile]:
    """{line: what the nodes that it made took}, for nodes and types that match the expressions."""
    wanted = _path(source_file_path)
    names = re.compile(node_name_filter) if node_name_filter else None
    types = re.compile(op_type_filter) if op_type_filter else None
    found: dict[int, AggregateProfile] = {}
    for datum in profile_data:
        if not datum.file_path or _path(datum.file_path) != wanted or not _in_range(datum.line_number, min_line, max_line):
            continue
        if names is not None and not names.match(datum.node_exec_stats.node_name):
            continue
        if types is not None and not types.match(datum.op_type):
            continue
        if datum.line_number in found:
            found[datum.line_number].add(datum)
        else:
            found[datum.line_number] = AggregateProfile(datum)
    return found
