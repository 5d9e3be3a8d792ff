"""The ops that parse serialized Examples and SequenceExamples. The parsing itself is native code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow import _native
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op

Kernel = Callable[..., Any]


def _values(arrays: list[np.ndarray]) -> Any:
    """Arrays as run-time values."""
    found = tuple([a if a.dtype == object else torch.from_numpy(a) for a in arrays])
    return found[0] if len(found) == 1 else found


def _array(value: Any, dtype: dtypes.DType) -> np.ndarray | None:
    """A default as the parsers take it: flat, None if it is empty."""
    array = np.asarray(value).reshape(-1)
    if array.size == 0:
        return None
    return array if dtype is dtypes.string else np.ascontiguousarray(array, dtype.as_numpy_dtype)


def _rank_checked(serialized: Any, rank: int) -> None:
    if serialized.ndim != rank:
        what = ("a scalar", "a vector")[rank]
        raise invalid_argument(f"Expected serialized to be {what}, got shape: {shapes.describe(tuple(serialized.shape))}")


def _dense_spec(index: int, name: bytes, dtype: dtypes.DType, shape: Any, default: Any) -> tuple[Any, ...]:
    """A dense feature as the native parser takes it."""
    dims = tuple(default.shape)
    count = int(np.prod(dims))
    shown = shapes.describe(shape)
    if shape and shape[0] is None:
        if count > 1:
            raise invalid_argument(
                f"dense_shape[{index}] is a variable length shape: {shown}, therefore def_value[{index}] must contain a single element "
                f"(the padding element).  But its shape is: {shapes.describe(dims)}"
            )
    elif count and not shapes.is_compatible(dims, shape):
        raise invalid_argument(
            f"def_value[{index}].shape() == {shapes.describe(dims)} is not compatible with dense_shapes_[{index}] == {shown}"
        )
    return name.decode(), dtype.as_datatype_enum, [-1 if d is None else d for d in shape], shown, _array(default, dtype)


def _example_parser(sparse_names: Any, sparse_types: Any, dense_names: Any, dense_types: Any, dense_shapes: Any, defaults: Any) -> Any:
    sparse = [(name.decode(), dtype.as_datatype_enum) for name, dtype in zip(sparse_names, sparse_types)]
    dense = [_dense_spec(i, *spec) for i, spec in enumerate(zip(dense_names, dense_types, dense_shapes, defaults))]
    return _native.ExampleParser(sparse, dense)


def _parse_example(node: Node) -> Kernel:
    sparse_count, dense_count = node.attr("Nsparse"), node.attr("Ndense")
    types = node.attr("sparse_types"), node.attr("Tdense"), node.attr("dense_shapes")
    first_default = 2 + sparse_count + dense_count

    def make(given: list[Any]) -> Any:
        """A parser from keys and defaults."""
        names = [key.item() for key in given[: sparse_count + dense_count]]
        return _example_parser(
            names[:sparse_count], types[0], names[sparse_count:], types[1], types[2], given[sparse_count + dense_count :]
        )

    constants = [node.constant(i) for i in range(2, first_default + dense_count)]
    fixed = None if any(c is None for c in constants) else make(constants)

    def run(serialized: Any, names: Any, *given: Any) -> Any:
        _rank_checked(serialized, 1)
        if names.size not in (0, serialized.size):
            raise invalid_argument(f"Expected len(names) == len(serialized), but got: {names.size} vs. {serialized.size}")
        parser = fixed or make(list(given))
        found = parser.parse(serialized.ravel(), names.ravel() if names.size else None, torch.get_num_threads())
        return _values(found)

    return run


def _check_dense_shapes(o: Operation, name: str) -> None:
    for i, shape in enumerate(o.attr(name)):
        if shape is None or None in shape[1:]:
            raise ValueError(f"{name}[{i}] has unknown rank or unknown inner dimensions: {shapes.describe(shape)}")


def _parse_example_shape(o: Operation) -> Any:
    batch = shapes.with_rank(o.inputs[0].dims, 1)[0]
    _check_dense_shapes(o, "dense_shapes")
    count = o.attr("Nsparse")
    return [*[(None, 2)] * count, *[(None,)] * count, *[(2,)] * count, *[(batch, *shape) for shape in o.attr("dense_shapes")]]


op("ParseExample", kernel=_parse_example, shape=_parse_example_shape)


def _encoded(names: Any) -> list[bytes]:
    return [name.encode() for name in names]


def _parse_single_example(node: Node) -> Kernel:
    names = _encoded(node.attr("sparse_keys")), node.attr("sparse_types"), _encoded(node.attr("dense_keys"))
    types = node.attr("Tdense"), node.attr("dense_shapes")
    constants = [node.constant(i) for i in range(1, len(node.inputs))]
    fixed = None if any(c is None for c in constants) else _example_parser(*names, *types, constants)

    def run(serialized: Any, *defaults: Any) -> Any:
        _rank_checked(serialized, 0)
        parser = fixed or _example_parser(*names, *types, defaults)
        return _values(parser.parse_single(serialized.item()))

    return run


def _parse_single_example_shape(o: Operation) -> Any:
    shapes.with_rank(o.inputs[0].dims, 0)
    _check_dense_shapes(o, "dense_shapes")
    count = o.attr("num_sparse")
    return [*[(None, 1)] * count, *[(None,)] * count, *[(1,)] * count, *o.attr("dense_shapes")]


op("ParseSingleExample", kernel=_parse_single_example, shape=_parse_single_example_shape)


def _sequence_parser(node: Node, names: list[list[bytes]], may_be_missing: set[bytes], defaults: Any) -> Any:
    """A parser from the names of context features (sparse, dense) and of feature lists (sparse, dense)."""
    sparse, dense = (
        [
            [(name.decode(), dtype.as_datatype_enum) for name, dtype in zip(keys, node.attr(types))]
            for keys, types in ((names[0], "context_sparse_types"), (names[2], "feature_list_sparse_types"))
        ],
        [
            list(zip(keys, node.attr(types), node.attr(dims)))
            for keys, types, dims in (
                (names[1], "Tcontext_dense", "context_dense_shapes"),
                (names[3], "feature_list_dense_types", "feature_list_dense_shapes"),
            )
        ],
    )
    context = []
    for i, ((name, dtype, shape), default) in enumerate(zip(dense[0], defaults)):
        dims = tuple(default.shape)
        if int(np.prod(dims)) and dims != tuple(shape):
            raise invalid_argument(
                f"default_value[{i}].shape() == {shapes.describe(dims)} != context_dense_shapes[{i}] == {shapes.describe(shape)}"
            )
        context.append((name.decode(), dtype.as_datatype_enum, list(shape), shapes.describe(shape), _array(default, dtype), False))
    lists = [
        (name.decode(), dtype.as_datatype_enum, list(shape), shapes.describe(shape), None, name in may_be_missing)
        for name, dtype, shape in dense[1]
    ]
    return _native.SequenceExampleParser(sparse[0], context, sparse[1], lists)


def _parse_sequence_example(node: Node) -> Kernel:
    names = [
        _encoded(node.attr(key))
        for key in ("context_sparse_keys", "context_dense_keys", "feature_list_sparse_keys", "feature_list_dense_keys")
    ]
    may_be_missing = set(_encoded(node.attr("feature_list_dense_missing_assumed_empty")))
    constants = [node.constant(i) for i in range(2, len(node.inputs))]
    fixed = None if any(c is None for c in constants) else _sequence_parser(node, names, may_be_missing, constants)

    def run(serialized: Any, debug_name: Any, *defaults: Any) -> Any:
        _rank_checked(serialized, 1)
        if debug_name.size not in (0, serialized.size):
            raise invalid_argument("example_names must be empty or have the correct number of elements")
        parser = fixed or _sequence_parser(node, names, may_be_missing, defaults)
        return _values(parser.parse(serialized.ravel(), debug_name.ravel() if debug_name.size else None))

    return run


def _parse_sequence_example_shape(o: Operation) -> Any:
    batch = shapes.with_rank(o.inputs[0].dims, 1)[0]
    context, lists = o.attr("Ncontext_sparse"), o.attr("Nfeature_list_sparse")
    return [
        *[(None, 2)] * context,
        *[(None,)] * context,
        *[(2,)] * context,
        *[(batch, *shape) for shape in o.attr("context_dense_shapes")],
        *[(None, 3)] * lists,
        *[(None,)] * lists,
        *[(3,)] * lists,
        *[(batch, None, *shape) for shape in o.attr("feature_list_dense_shapes")],
        *[(batch,)] * o.attr("Nfeature_list_dense"),
    ]


op("ParseSequenceExample", kernel=_parse_sequence_example, shape=_parse_sequence_example_shape)


def _parse_single_sequence_example(node: Node) -> Kernel:
    counts = [node.attr(n) for n in ("Ncontext_sparse", "Ncontext_dense", "Nfeature_list_sparse", "Nfeature_list_dense")]
    keys_end = 2 + sum(counts)
    defaults_end = keys_end + counts[1]

    def make(given: list[Any]) -> Any:
        """A parser from the inputs but the first and the last: lists that may be missing, keys, defaults."""
        keys = [key.item() for key in given[1 : keys_end - 1]]
        names = []
        for count in counts:
            names.append(keys[:count])
            keys = keys[count:]
        return _sequence_parser(node, names, set(given[0].ravel().tolist()), given[keys_end - 1 :])

    constants = [node.constant(i) for i in range(1, defaults_end)]
    fixed = None if any(c is None for c in constants) else make(constants)

    def run(serialized: Any, *given: Any) -> Any:
        _rank_checked(serialized, 0)
        parser = fixed or make(list(given[:-1]))
        name = given[-1]
        return _values(parser.parse_single(serialized.item(), name.item() if name.size else b""))

    return run


def _parse_single_sequence_example_shape(o: Operation) -> Any:
    shapes.with_rank(o.inputs[0].dims, 0)
    context, lists = o.attr("Ncontext_sparse"), o.attr("Nfeature_list_sparse")
    return [
        *[(None, 1)] * context,
        *[(None,)] * context,
        *[(1,)] * context,
        *o.attr("context_dense_shapes"),
        *[(None, 2)] * lists,
        *[(None,)] * lists,
        *[(2,)] * lists,
        *[(None, *shape) for shape in o.attr("feature_list_dense_shapes")],
    ]


op("ParseSingleSequenceExample", kernel=_parse_single_sequence_example, shape=_parse_single_sequence_example_shape)
