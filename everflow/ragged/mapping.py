"""Functions of the rows of ragged tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal
from everflow.graph import dtypes
from everflow.graph.scopes import name_scope
from everflow.graph.stacks import in_eager_mode
from everflow.ops.control_flow.mapping import caching_variables, packed, row_count
from everflow.ops.lists.tensor_array_functions import TensorArray
from everflow.ragged.tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor, is_ragged


@internal("ops.ragged.ragged_tensor.RaggedTensorType")
class RaggedTensorType:
    """What `map_fn` returns: values of a dtype in rows that may differ in length, `ragged_rank` levels of them."""

    def __init__(self, dtype: dtypes.DTypeLike, ragged_rank: int, row_splits_dtype: dtypes.DTypeLike = dtypes.int64) -> None:
        self.dtype = dtypes.as_dtype(dtype)
        self.ragged_rank = ragged_rank
        self.row_splits_dtype = dtypes.as_dtype(row_splits_dtype)


@internal("ops.ragged.ragged_map_ops.map_fn")
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
    """tf.map_fn for tensors that may be ragged. Where `dtype` has a RaggedTensorType, the results may differ in length."""
    if not callable(fn):
        raise TypeError("fn must be callable.")
    structure = elems if dtype is None else dtype
    given = nest.flatten(elems)
    if not any(is_ragged(e) for e in given) and not any(isinstance(t, RaggedTensorType) for t in nest.flatten(dtype)):
        return tf.map_fn(fn, elems, dtype, parallel_iterations, back_prop, swap_memory, infer_shape, name)
    with name_scope(name, "map", given), caching_variables():
        flat = [convert_to_tensor_or_ragged_tensor(e, name="elem") for e in given]
        types = [e.dtype.base_dtype for e in flat] if dtype is None else nest.flatten(dtype)
        first = flat[0]
        count = tf.cast(first.nrows(), dtypes.int32) if is_ragged(first) else row_count([first])
        rows = [_Rows(e, count) for e in flat]
        results = [_Results(t, count, infer_shape) for t in types]

        def compute(i: Any, arrays: Any) -> Any:
            found = fn(packed([r.read(i) for r in rows], elems))
            if nest.is_nested(structure):
                nest.assert_same_structure(structure, found)
            return i + 1, [r.write(a, i, value) for r, a, value in zip(results, arrays, nest.flatten(found))]

        _, arrays = tf.while_loop(
            lambda i, _: i < count,
            compute,
            (tf.constant(0), [r.arrays for r in results]),
            parallel_iterations=1 if in_eager_mode() else parallel_iterations or 10,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        return packed([r.joined(a) for r, a in zip(results, arrays)], structure)


class _Rows:
    """The rows of a tensor, each by its number."""

    def __init__(self, t: Any, count: Any) -> None:
        # For each ragged dimension below the first: its splits, and which of them each row begins and ends with.
        self._inner: list[tuple[Any, Any]] = []
        if not is_ragged(t):
            self._values = TensorArray(dtype=t.dtype, size=count, dynamic_size=False, infer_shape=True).unstack(t)
            return
        ends, *below = t.nested_row_splits
        for splits in below:
            self._inner.append((splits, ends))
            ends = tf.gather(splits, ends)
        array = TensorArray(dtype=t.dtype, size=count, dynamic_size=False, infer_shape=False)
        self._values = array.split(t.flat_values, ends[1:] - ends[:-1])
        self._shape = tf.TensorShape([None]).concatenate(t.flat_values.shape[1:])

    def read(self, i: Any) -> Any:
        values = self._values.read(i)
        if hasattr(self, "_shape") and not in_eager_mode():
            values.set_shape(self._shape)
        for splits, ends in reversed(self._inner):
            row = splits[ends[i] : ends[i + 1] + 1]
            values = RaggedTensor.from_row_splits(values, row - row[0], validate=False)
        return values


class _Results:
    """What a function returns for each row: tensors to stack, or ragged ones to put one after the other."""

    def __init__(self, kind: Any, count: Any, infer_shape: bool) -> None:
        self._declared = kind if isinstance(kind, RaggedTensorType) else None

        def array(dtype: Any, infer_shape: bool = False) -> TensorArray:
            return TensorArray(dtype=dtype, size=count, dynamic_size=False, infer_shape=infer_shape)

        if self._declared is None:
            self.arrays = [array(kind, infer_shape)]
        else:
            splits = self._declared.row_splits_dtype
            self.arrays = [array(self._declared.dtype), array(splits, True), *(array(splits) for _ in range(kind.ragged_rank - 1))]

    def write(self, arrays: list[Any], i: Any, value: Any) -> list[Any]:
        declared = self._declared
        if declared is None:
            return [arrays[0].write(i, value)]
        rank = 1 + (value.ragged_rank if is_ragged(value) else 0)
        if rank != declared.ragged_rank:
            raise ValueError(f"The declared ragged rank ({declared.ragged_rank}) mismatches the result ({rank})")
        if value.dtype != declared.dtype:
            raise ValueError(f"The declared dtype ({declared.dtype}) mismatches the result ({value.dtype})")
        kind = declared.row_splits_dtype
        if is_ragged(value):
            parts = [value.flat_values, value.nrows(out_type=kind), *(tf.cast(n, kind) for n in value.nested_row_lengths())]
        else:
            parts = [value, tf.shape(value, out_type=kind)[0]]
        return [array.write(i, part) for array, part in zip(arrays, parts)]

    def joined(self, arrays: list[Any]) -> Any:
        if self._declared is None:
            return arrays[0].stack()
        values, counts, *lengths = arrays
        nested = [counts.stack(), *(n.concat() for n in lengths)]
        return RaggedTensor.from_nested_row_lengths(values.concat(), nested, validate=False)
