"""IndexedSlices: some rows of a tensor. Gradients of gather are of this kind: only rows that were used are touched."""

from __future__ import annotations

import collections
import warnings
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.constants import constant_value_as_shape, known
from everflow.graph.convert import internal_convert_to_tensor, register_tensor_conversion_function
from everflow.graph.shapes import TensorShape
from everflow.graph.sparse_tensor import SparseTensor
from everflow.graph.tensor import TensorLike
from everflow.graph.tensor_spec import TensorSpec
from everflow.graph.type_spec import CompositeTensor, TypeSpec

IndexedSlicesValue = internal("framework.ops.IndexedSlicesValue", "framework.indexed_slices.IndexedSlicesValue")(
    collections.namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])
)
public("IndexedSlicesValue")(IndexedSlicesValue)

# Turning this many elements of slices into a dense tensor is worth a warning.
LARGE = 100_000_000


@public("IndexedSlices")
@internal("framework.ops.IndexedSlices")
class IndexedSlices(TensorLike, CompositeTensor):
    """`values[i]` is the row `indices[i]` of a tensor that has the shape `dense_shape`."""

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self) -> Any:
        """The rows."""
        return self._values

    @property
    def indices(self) -> Any:
        """Which rows they are."""
        return self._indices

    @property
    def dense_shape(self) -> Any:
        """The shape of the whole tensor, or None."""
        return self._dense_shape

    @property
    def name(self) -> str:
        """The name of the rows' tensor."""
        return self.values.name

    @property
    def device(self) -> str:
        """The device of the rows."""
        return self.values.device

    @property
    def op(self) -> Any:
        """The operation that makes the rows."""
        return self.values.op

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the rows."""
        return self.values.dtype

    @property
    def graph(self) -> Any:
        """The graph that holds the rows."""
        return self._values.graph

    @property
    def _type_spec(self) -> IndexedSlicesSpec:
        shape = self.values.shape if self._dense_shape is None else constant_value_as_shape(self._dense_shape)
        indices_shape = self.indices.shape[:1]
        dense = None if self._dense_shape is None else self._dense_shape.dtype
        return IndexedSlicesSpec(shape, self.dtype, self.indices.dtype, dense, indices_shape)

    def __str__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape}"
        return f"IndexedSlices(indices={self._indices}, values={self._values}{shape})"

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self.values, self.indices, self.dense_shape)


@public("IndexedSlicesSpec")
@internal("framework.indexed_slices.IndexedSlicesSpec")
class IndexedSlicesSpec(TypeSpec):
    """IndexedSlices of a shape and a dtype."""

    def __init__(
        self,
        shape: Any = None,
        dtype: dtypes.DTypeLike = dtypes.float32,
        indices_dtype: Any = dtypes.int64,
        dense_shape_dtype: Any = None,
        indices_shape: Any = None,
    ) -> None:
        self._shape = TensorShape(shape)
        self._values_dtype = dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        self._indices_shape = TensorShape(indices_shape).with_rank(1)

    @property
    def value_type(self) -> type:
        """IndexedSlices."""
        return IndexedSlices

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._values_dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        rows, whole, shape_dtype = self._indices_shape, self._shape, self._dense_shape_dtype
        values = TensorSpec(rows.concatenate(whole[1:]), self._values_dtype)
        indices = TensorSpec(rows, self._indices_dtype)
        return (values, indices) if shape_dtype is None else (values, indices, TensorSpec([whole.ndims], shape_dtype))

    def _to_components(self, value: Any) -> tuple[Any, ...]:
        found = value.values, value.indices
        return found if value.dense_shape is None else (*found, value.dense_shape)

    def _from_components(self, components: Any) -> Any:
        if all(isinstance(c, np.ndarray) for c in components):
            return IndexedSlicesValue(*components, *[None] * (3 - len(components)))
        return IndexedSlices(*components)


@public("convert_to_tensor_or_indexed_slices")
@internal("framework.ops.convert_to_tensor_or_indexed_slices")
def convert_to_tensor_or_indexed_slices(value: Any, dtype: dtypes.DTypeLike | None = None, name: str | None = None) -> Any:
    """IndexedSlices as they are; anything else as a tensor."""
    return internal_convert_to_tensor_or_indexed_slices(value, dtype, name)


@internal(
    "framework.ops.internal_convert_to_tensor_or_indexed_slices", "framework.indexed_slices.internal_convert_to_tensor_or_indexed_slices"
)
def internal_convert_to_tensor_or_indexed_slices(
    value: Any, dtype: dtypes.DTypeLike | None = None, name: str | None = None, as_ref: bool = False
) -> Any:
    """The same, leaving variables of reference type as they are if `as_ref`; sparse tensors are taken as they are too."""
    if isinstance(value, (IndexedSlices, SparseTensor)):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for Tensor with dtype {value.dtype.name}: {str(value)!r}"
            )
        return value
    return internal_convert_to_tensor(value, dtype, name, as_ref)


@internal(
    "framework.ops.convert_n_to_tensor_or_indexed_slices",
    "framework.ops.internal_convert_n_to_tensor_or_indexed_slices",
    "framework.indexed_slices.convert_n_to_tensor_or_indexed_slices",
    "framework.indexed_slices.internal_convert_n_to_tensor_or_indexed_slices",
)
def convert_n_to_tensor_or_indexed_slices(
    values: Any, dtype: dtypes.DTypeLike | None = None, name: str | None = None, as_ref: bool = False
) -> list[Any]:
    """Each value as a tensor or IndexedSlices; None stays None."""
    if not isinstance(values, collections.abc.Iterable):
        raise TypeError("values must be iterable.")
    return [
        None if v is None else internal_convert_to_tensor_or_indexed_slices(v, dtype, None if name is None else f"{name}_{i}", as_ref)
        for i, v in enumerate(values)
    ]


def _dense(value: IndexedSlices, dtype: dtypes.DTypeLike | None = None, name: str | None = None, as_ref: bool = False) -> Any:
    """All rows: sums where an index occurs more than once, zeros where none does."""
    if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
        raise ValueError(f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for IndexedSlices with dtype {value.dtype.name}")
    if value.dense_shape is None:
        raise ValueError(f"Tensor conversion requested for IndexedSlices without dense_shape: {value}")
    if not _is_eager(value):
        sizes = known(value.dense_shape)
        if sizes is None:
            warnings.warn(
                "Converting sparse IndexedSlices to a dense Tensor of unknown shape. This may consume a large amount of memory.",
                stacklevel=2,
            )
        elif int(np.prod(sizes)) >= LARGE:
            warnings.warn(
                f"Converting sparse IndexedSlices to a dense Tensor with {int(np.prod(sizes))} elements. "
                "This may consume a large amount of memory.",
                stacklevel=2,
            )
    return tf.math.unsorted_segment_sum(value.values, value.indices, value.dense_shape[0], name=name)


def _is_eager(value: IndexedSlices) -> bool:
    return not hasattr(value.values, "op") or value.dense_shape is None or not hasattr(value.dense_shape, "op")


register_tensor_conversion_function(IndexedSlices, _dense)
