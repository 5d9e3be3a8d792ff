"""The ops on tables: making, filling, looking up, changing and exporting them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow import _native
from everflow.errors import invalid_argument, out_of_range
from everflow.graph import dtypes, shapes
from everflow.graph.operation import Operation
from everflow.io.file_io import read_file_to_string
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import not_differentiable, op
from everflow.ops.core.shape_rules import scalar
from everflow.ops.tables.dense_table_objects import DenseTable
from everflow.ops.tables.table_objects import StaticTable, Table, flat
from everflow.values.texts import text_array

Kernel = Callable[..., Any]


def _resource(node: Node, make: Callable[[], Any]) -> Any:
    container, name = node.attr("container"), node.attr("shared_name") or node.name
    table = node.context.resources.get(container, "table", name, make)
    types = node.attr("key_dtype"), node.attr("value_dtype")
    if types != (table.key_dtype, table.value_dtype):
        raise invalid_argument(
            f"Conflicting key/value dtypes {types[0].name}->{types[1].name} with {table.key_dtype.name}-"
            f"{table.value_dtype.name} for table {name}"
        )
    return table


def _table(kind: type[Table], has_shape: bool = False) -> Callable[[Any], Kernel]:
    def factory(node: Node) -> Kernel:
        types = node.attr("key_dtype"), node.attr("value_dtype")
        dims = tuple(node.attr("value_shape") or ()) if has_shape else ()
        if has_shape and len(dims) != 1:
            raise invalid_argument(f"Default value must be a vector, got shape {shapes.describe(dims)}")
        return lambda: _resource(node, lambda: kind(*types, dims))

    return factory


def _dense_table(node: Node) -> Kernel:
    types = node.attr("key_dtype"), node.attr("value_dtype")
    dims = tuple(node.attr("value_shape") or ())
    buckets, max_load = node.attr("initial_num_buckets"), node.attr("max_load_factor")

    def mark(value: Any) -> Any:
        return tuple(flat(value)) if value.ndim else value.item()

    def run(empty_key: Any, deleted_key: Any = None) -> Any:
        if deleted_key is not None and empty_key.shape != deleted_key.shape:
            raise invalid_argument(
                "Empty and deleted keys must have same shape, got shapes: "
                f"{shapes.describe(tuple(empty_key.shape))} and {shapes.describe(tuple(deleted_key.shape))}"
            )
        # The first form of the op has no key for removed entries, and no way to remove any.
        deleted = object() if deleted_key is None else mark(deleted_key)
        return _resource(node, lambda: DenseTable(*types, dims, tuple(empty_key.shape), mark(empty_key), deleted, buckets, max_load))

    return run


for _name, _factory in (
    ("HashTable", _table(StaticTable)),
    ("MutableHashTable", _table(Table)),
    ("MutableHashTableOfTensors", _table(Table, True)),
    ("MutableDenseHashTable", _dense_table),
):
    op(_name, kernel=_factory, shape=lambda o: (2,), gradient=not_differentiable)
    op(_name + "V2", kernel=_factory, shape=scalar, gradient=not_differentiable)


def _both(
    name: str, kernel: Callable[[Any], Kernel], shape: Callable[[Any], Any], gradient: Any = None, writes: bool = False, first: bool = True
) -> None:
    """An op for tables that are handles (V2), and for tables that are references."""
    for op_type in ([name] if first else []) + [name + "V2"]:
        op(op_type, kernel=kernel, shape=shape, gradient=gradient, writes=writes)


def _pair_shape(o: Operation) -> Any:
    """Keys are a vector with a value each."""
    keys, values = o.inputs[1].dims, o.inputs[2].dims
    keys = shapes.with_rank(keys, 1)
    if values is not None and len(values) == 1:
        shapes.merge(keys, values)
    return []


def _import_shape(o: Operation) -> Any:
    """Static tables have a value for each key; what others take is checked at run time."""
    keys, values = o.inputs[1].dims, o.inputs[2].dims
    if o.inputs[0].op.type.startswith("HashTable") and keys is not None and values is not None:
        shapes.merge(keys, values)
    return []


def _initialize(node: Node) -> Kernel:
    types = node.inputs[1].dtype.base_dtype, node.inputs[2].dtype.base_dtype

    def run(table: Any, keys: Any, values: Any) -> Any:
        table.check_types("initialize", *types)
        if len(keys) == 0 and isinstance(table, StaticTable):
            raise invalid_argument("keys and values cannot be empty tensors.")
        table.replace(keys, values)

    return run


_both("InitializeTable", _initialize, _pair_shape, not_differentiable, writes=True)
_both("LookupTableImport", _initialize, _import_shape, writes=True)


def _insert(node: Node) -> Kernel:
    types = node.inputs[1].dtype.base_dtype, node.inputs[2].dtype.base_dtype

    def run(table: Any, keys: Any, values: Any) -> Any:
        table.check_types("insert", *types)
        table.insert(keys, values)

    return run


_both("LookupTableInsert", _insert, lambda o: [], not_differentiable, writes=True)


def _remove(node: Node) -> Kernel:
    dtype = node.inputs[1].dtype.base_dtype

    def run(table: Any, keys: Any) -> Any:
        table.check_types("remove", dtype)
        table.remove(keys)

    return run


_both("LookupTableRemove", _remove, lambda o: [], writes=True, first=False)


def _find(node: Node) -> Kernel:
    types = node.inputs[1].dtype.base_dtype, node.inputs[2].dtype.base_dtype

    def run(table: Any, keys: Any, default: Any) -> Any:
        table.check_types("find", *types)
        return table.find(keys, default)

    return run


def _element_dims(o: Operation) -> tuple[Any, Any]:
    """The shapes of a key and of a value, as far as the op that makes the table tells."""
    made = o.inputs[0].op
    if made.type.startswith("MutableDenseHashTable"):
        return made.inputs[0].dims, made.attr("value_shape")
    if made.type.startswith("MutableHashTableOfTensors"):
        return (), made.attr("value_shape")
    return ((), ()) if made.type.startswith(("HashTable", "MutableHashTable")) else (None, None)


def _find_shape(o: Operation) -> Any:
    made = o.inputs[0].op
    if made.type.endswith("TableV2") or made.type == "MutableHashTableOfTensorsV2":
        for given, wanted in ((o.inputs[1].dtype, made.attr("key_dtype")), (o.inputs[2].dtype, made.attr("value_dtype"))):
            if given.base_dtype != wanted:
                raise ValueError(f"Trying to read value with wrong dtype. Expected {wanted.name} got {given.base_dtype.name}")
    key, value = _element_dims(o)
    keys = o.inputs[1].dims
    if key is None or value is None or keys is None:
        return None
    return (*keys[: len(keys) - len(key)], *value)


_both("LookupTableFind", _find, _find_shape, not_differentiable)
_both("LookupTableSize", lambda node: lambda table: torch.tensor(table.size(), dtype=torch.int64), scalar, not_differentiable)


def _export_shape(o: Operation) -> Any:
    value = _element_dims(o)[1]
    return [(None,), None if value is None else (None, *value)]


_both("LookupTableExport", lambda node: lambda table: table.export(), _export_shape)


# What TextFileIndex.WHOLE_LINE and LINE_NUMBER stand for in the ops' attributes.
WHOLE_LINE, LINE_NUMBER = -2, -1


def _lines(name: str, most: int) -> list[bytes]:
    """The lines of a file, the first `most` of them unless that is -1."""
    content = read_file_to_string(name, binary_mode=True).replace(b"\r", b"")
    if not content:
        raise out_of_range("Read less bytes than requested")
    lines = content.removesuffix(b"\n").split(b"\n")
    if most >= 0:
        if len(lines) < most:
            raise invalid_argument(f"Invalid vocab_size in {name}: expected {most} but got {len(lines)}")
        lines = lines[:most]
    if b"" in lines:
        place = sum(len(line) + 1 for line in lines[: lines.index(b"") + 1])
        raise invalid_argument(f"Invalid content in {name}: empty line found at position {place}.")
    return lines


def _column(name: str, lines: list[bytes], index: int, delimiter: bytes, dtype: dtypes.DType) -> list[Any]:
    """A column of a file's lines as elements of a type."""
    if index == LINE_NUMBER:
        return list(range(len(lines)))
    texts = lines
    if index != WHOLE_LINE:
        fields = [line.split(delimiter) for line in lines]
        for i, parts in enumerate(fields):
            if len(parts) <= index:
                raise invalid_argument(
                    f"Invalid number of columns in {name} line {i} ({lines[i].decode('utf-8', 'replace')}) : expected "
                    f"{index} got {len(parts)}"
                )
        texts = [parts[index] for parts in fields]
    if dtype is dtypes.string:
        return texts
    numbers = np.empty(len(texts), dtype.as_numpy_dtype)
    wrong = _native.read_numbers(text_array(texts, (len(texts),)), numbers)
    if wrong >= 0:
        kind = {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)
        raise invalid_argument(f"Field {texts[wrong].decode('utf-8', 'replace')} in line {wrong} is not a valid {kind}.")
    return numbers.tolist()


def _initialize_from_file(node: Node) -> Kernel:
    key_index, value_index, most = node.attr("key_index"), node.attr("value_index"), node.attr("vocab_size")
    delimiter = node.attr("delimiter").encode()
    if len(delimiter) != 1:
        raise invalid_argument("delimiter should be only 1 char")

    def run(table: Any, filename: Any) -> Any:
        if filename.ndim:
            raise invalid_argument(f"filename should be a single string, but got {shapes.describe(filename.shape)}")
        name = os.fsdecode(filename.item())
        lines = _lines(name, most)
        keys = _column(name, lines, key_index, delimiter, table.key_dtype)
        table.initialize(list(zip(keys, _column(name, lines, value_index, delimiter, table.value_dtype))))

    return run


def _file_shape(o: Operation) -> Any:
    shapes.with_rank(o.inputs[1].dims, 0)
    return []


_both("InitializeTableFromTextFile", _initialize_from_file, _file_shape, not_differentiable, writes=True)
