"""Functions of the rows of tensors: map_fn, foldl, foldr and scan."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import Dimension, TensorShape, dimension_value
from everflow.graph.sparse_tensor import SparseTensor
from everflow.graph.stacks import in_eager_mode
from everflow.graph.tensor import Tensor
from everflow.ops.lists.tensor_array_functions import TensorArray


@contextlib.contextmanager
def caching_variables() -> Iterator[None]:
    """Variables that are made inside are read once, outside of the loop."""
    if in_eager_mode() or tf.get_variable_scope().caching_device is not None:
        yield
        return
    scope = tf.get_variable_scope()
    scope.set_caching_device(lambda op: op.device)
    try:
        yield
    finally:
        scope.set_caching_device(None)


def row_count(elems: list[Tensor]) -> Any:
    """How many rows there are: a number if it is known, else a tensor."""
    known = dimension_value(elems[0].shape[0]) if elems[0].shape.dims is not None else None
    return tf.shape(elems[0])[0] if known is None else known


def _merged_count(elems: list[Tensor]) -> Dimension:
    """What is known of the number of rows, which all of the tensors have."""
    known = Dimension(None)
    for e in elems:
        dims = e.shape.with_rank_at_least(1).dims
        known = known.merge_with(None if dims is None else dims[0])
    return known


def _rows_of(elems: list[Tensor], count: Any) -> list[TensorArray]:
    arrays = [TensorArray(dtype=e.dtype, size=count, dynamic_size=False, infer_shape=True) for e in elems]
    return [array.unstack(e) for array, e in zip(arrays, elems)]


def _converted(elems: Any) -> list[Tensor]:
    return [convert_to_tensor(e, name="elem") for e in nest.flatten(elems)]


def packed(values: list[Any], structure: Any) -> Any:
    return nest.pack_sequence_as(structure, values) if nest.is_nested(structure) else values[0]


def _row(rows: list[TensorArray], i: Any, structure: Any) -> Any:
    return packed([array.read(i) for array in rows], structure)


def _stacked(arrays: list[TensorArray], count: Dimension) -> list[Tensor]:
    found = [array.stack() for array in arrays]
    for t in found:
        if not in_eager_mode():
            t.set_shape(TensorShape([count]).concatenate(t.shape[1:]))
    return found


@public("map_fn")
def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
) -> Any:
    """The tensors whose rows are the function of the rows of `elems`. `dtype`: the types of what it returns, where they differ."""
    if not callable(fn):
        raise TypeError("fn must be callable.")
    if isinstance(elems, SparseTensor):
        raise TypeError(
            "To perform a map on the values of a sparse tensor use either  SparseTensor(input.indices, fn(input.values), "
            "input.dense_shape) or  SparseTensor(input.indices, map_fn(fn, input.values), input.dense_shape)"
        )
    if parallel_iterations is None or in_eager_mode():
        parallel_iterations = 1 if in_eager_mode() else 10
    structure = elems if dtype is None else dtype

    with name_scope(name, "map", nest.flatten(elems)), caching_variables():
        flat = _converted(elems)
        types = [e.dtype.base_dtype for e in flat] if dtype is None else nest.flatten(dtype)
        if flat[0].shape.ndims == 0:
            if nest.is_nested(elems):
                raise ValueError("elements in elems must be 1+ dimensional Tensors, not scalars")
            raise ValueError("elems must be a 1+ dimensional Tensor, not a scalar")
        count = row_count(flat)
        known = _merged_count(flat)
        rows = _rows_of(flat, count)
        start = tf.constant(0)
        results = [TensorArray(dtype=t, size=count, dynamic_size=False, infer_shape=infer_shape) for t in types]

        def compute(i: Any, arrays: Any) -> Any:
            found = fn(_row(rows, i, elems))
            nest.assert_same_structure(structure, found)
            return i + 1, [array.write(i, value) for array, value in zip(arrays, nest.flatten(found))]

        _, results = tf.while_loop(
            lambda i, _: i < count,
            compute,
            (start, results),
            parallel_iterations=max(parallel_iterations, 1),
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        return packed(_stacked(results, known), structure)


def _folded(title: str, fn: Callable[..., Any], elems: Any, initializer: Any, name: str | None, backwards: bool, **options: Any) -> Any:
    if not callable(fn):
        raise TypeError("fn must be callable.")

    with name_scope(name, title, nest.flatten(elems)), caching_variables():
        flat = _converted(elems)
        count = row_count(flat)
        rows = _rows_of(flat, count)
        if initializer is not None:
            start, total = count if backwards else tf.constant(0), initializer
        elif backwards:
            start = count - 1
            total = _row(rows, start, elems)
        else:
            total = _row(rows, 0, elems)
            start = tf.constant(1)

        def compute(i: Any, total: Any) -> Any:
            if backwards:
                i -= 1
                return [i, fn(total, _row(rows, i, elems))]
            total = fn(total, _row(rows, i, elems))
            return [i + 1, total]

        def goes_on(i: Any, total: Any) -> Any:
            return i > 0 if backwards else i < count

        return tf.while_loop(goes_on, compute, [start, total], maximum_iterations=count, **options)[1]


@public("foldl")
def foldl(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """fn(...fn(fn(initializer, row 0), row 1)..., last row); without initializer it starts with row 0."""
    options = {"parallel_iterations": parallel_iterations, "back_prop": back_prop, "swap_memory": swap_memory}
    return _folded("foldl", fn, elems, initializer, name, backwards=False, **options)


@public("foldr")
def foldr(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Like `foldl`, from the last row to the first."""
    options = {"parallel_iterations": parallel_iterations, "back_prop": back_prop, "swap_memory": swap_memory}
    return _folded("foldr", fn, elems, initializer, name, backwards=True, **options)


@public("scan")
def scan(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All that `foldl` (reversed: `foldr`) has on its way, as rows."""
    if not callable(fn):
        raise TypeError("fn must be callable.")
    structure = elems if initializer is None else initializer

    with name_scope(name, "scan", nest.flatten(elems)), caching_variables():
        flat = _converted(elems)
        count = row_count(flat)
        known = _merged_count(flat)
        rows = _rows_of(flat, count)
        if initializer is None:
            totals = [array.read(count - 1 if reverse else 0) for array in rows]
            start = 1
        else:
            totals = [convert_to_tensor(t) for t in nest.flatten(initializer)]
            start = 0
        results = [
            TensorArray(
                dtype=t.dtype, size=count, element_shape=t.shape if infer_shape else None, dynamic_size=False, infer_shape=infer_shape
            )
            for t in totals
        ]
        if initializer is None:
            results = [array.write(count - 1 if reverse else 0, t) for array, t in zip(results, totals)]

        def compute(i: Any, totals: Any, arrays: Any) -> Any:
            row = _row(rows, i, elems)
            found = fn(packed(totals, structure), row)
            nest.assert_same_structure(structure, found)
            values = nest.flatten(found)
            arrays = [array.write(i, value) for array, value in zip(arrays, values)]
            return (i - 1 if reverse else i + 1), values, arrays

        def goes_on(i: Any, totals: Any, arrays: Any) -> Any:
            return i >= 0 if reverse else i < count

        if reverse:
            start = count - 1 - start
        _, _, results = tf.while_loop(
            goes_on,
            compute,
            (start, totals, results),
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        return packed(_stacked(results, known), structure)
