"""Files inside of graphs: reading and writing them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.io.file_io import read_file_to_string, write_string_to_file
from everflow.io.gfile import recursive_create_dir
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.values.texts import text_array

Kernel = Callable[..., Any]


def _check_scalar(value: Any, what: str) -> bytes:
    if value.ndim:
        raise invalid_argument(f"{what} tensor must be scalar, but had shape: {shapes.describe(value.shape)}")
    return value.item()


def _read(node: Node) -> Kernel:
    def run(filename: Any) -> Any:
        name = _check_scalar(filename, "Input filename")
        return text_array([read_file_to_string(os.fsdecode(name), binary_mode=True)], ())

    return run


def _write(node: Node) -> Kernel:
    def run(filename: Any, contents: Any) -> None:
        name = os.fsdecode(_check_scalar(filename, "Input filename"))
        content = _check_scalar(contents, "Contents")
        folder = os.path.dirname(name)
        if folder:
            recursive_create_dir(folder)
        write_string_to_file(name, content)

    return run


def _scalars(o: Operation) -> None:
    for t in o.inputs:
        shapes.with_rank(t.dims, 0)


def _read_shape(o: Operation) -> Any:
    _scalars(o)
    return ()


def _write_shape(o: Operation) -> Any:
    _scalars(o)
    return []


op("ReadFile", kernel=_read, shape=_read_shape, gradient=not_differentiable)
op("WriteFile", kernel=_write, shape=_write_shape, gradient=not_differentiable)


@public("read_file", "io.read_file")
def read_file(filename: Any, name: str | None = None) -> Any:
    """All that is in a file."""
    return apply("ReadFile", filename, name=name)


@public("write_file", "io.write_file")
def write_file(filename: Any, contents: Any, name: str | None = None) -> Any:
    """Replaces what is in a file; folders that are missing are made."""
    return apply("WriteFile", filename, contents, name=name)
