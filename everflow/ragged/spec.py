"""RaggedTensorSpec: the type of ragged tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.api import internal, public
from everflow.graph import dtypes, shapes
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.graph.type_spec import BatchableTypeSpec, register_type_spec_from_value_converter
from everflow.ragged.tensor import RaggedTensor
from everflow.ragged.values import RaggedTensorValue


@public("RaggedTensorSpec")
@internal("ops.ragged.ragged_tensor.RaggedTensorSpec")
class RaggedTensorSpec(BatchableTypeSpec):
    """Ragged tensors of a shape, a dtype and a number of ragged dimensions."""

    def __init__(
        self,
        shape: Any = None,
        dtype: dtypes.DTypeLike = dtypes.float32,
        ragged_rank: int | None = None,
        row_splits_dtype: dtypes.DTypeLike = dtypes.int64,
    ) -> None:
        self._dtype, self._row_splits_dtype = dtypes.as_dtype(dtype), dtypes.as_dtype(row_splits_dtype)
        self._shape = shapes.as_shape(shape)
        most = None if self._shape.ndims is None else self._shape.ndims - 1
        self._ragged_rank: Any = most if ragged_rank is None else ragged_rank
        if self._ragged_rank is None:
            raise ValueError("Must specify ragged_rank or a shape with a known rank.")
        if not isinstance(self._ragged_rank, int):
            raise TypeError("ragged_rank must be an int")
        if most is not None and self._ragged_rank > most:
            raise ValueError("ragged_rank must be less than rank.")

    @property
    def value_type(self) -> type:
        """Ragged tensors, or plain ones where no dimension is ragged."""
        return RaggedTensor if self._ragged_rank > 0 else Tensor

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """The type of a ragged tensor."""
        return cls(value.shape, dtypes.as_dtype(value.dtype), value.ragged_rank, value.row_splits.dtype)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype

    @property
    def _component_specs(self) -> list[TensorSpec]:
        if self._ragged_rank == 0:
            return [TensorSpec(self._shape, self._dtype)]
        inner = self._shape[self._ragged_rank + 1 :] if self._shape.ndims is not None else None
        flat = shapes.TensorShape(None) if inner is None else shapes.TensorShape([None]).concatenate(inner)
        dims = self._shape.as_dims()
        outer = None if dims is None or dims[0] is None else dims[0] + 1
        splits = [TensorSpec([outer], self._row_splits_dtype)]
        return [TensorSpec(flat, self._dtype), *splits, *(TensorSpec([None], self._row_splits_dtype) for _ in range(1, self._ragged_rank))]

    def _to_components(self, value: Any) -> list[Any]:
        if isinstance(value, (RaggedTensor, RaggedTensorValue)):
            return [value.flat_values, *value.nested_row_splits]
        return [value]

    def _from_components(self, components: Any) -> Any:
        flat, *splits = components
        if all(isinstance(c, np.ndarray) for c in components):
            return RaggedTensorValue.from_nested_row_splits(flat, splits)
        return RaggedTensor.from_nested_row_splits(flat, splits, validate=False)

    # Between the ops of datasets a ragged tensor travels as one variant.

    @property
    def _flat_tensor_specs(self) -> list[TensorSpec]:
        return [TensorSpec(None, dtypes.variant)]

    def _to_tensor_list(self, value: Any) -> list[Tensor]:
        return [value._to_variant()]

    def _to_batched_tensor_list(self, value: Any) -> list[Tensor]:
        return [value._to_variant(batched_input=True)]

    def _from_compatible_tensor_list(self, tensor_list: list[Tensor]) -> Any:
        found = RaggedTensor._from_variant(tensor_list[0], self._dtype, self._ragged_rank)
        inner = self._component_specs
        found.flat_values.set_shape(inner[0].shape)
        found.row_splits.set_shape(inner[1].shape)
        return found

    def _batch(self, batch_size: int | None) -> RaggedTensorSpec:
        return RaggedTensorSpec(shapes.TensorShape([batch_size]).concatenate(self._shape), self._dtype, self._ragged_rank + 1)

    def _unbatch(self) -> RaggedTensorSpec:
        return RaggedTensorSpec(self._shape[1:], self._dtype, self._ragged_rank - 1)


register_type_spec_from_value_converter(RaggedTensorValue, RaggedTensorSpec.from_value)


@public("data.experimental.RaggedTensorStructure")
def ragged_tensor_structure(dtype: dtypes.DTypeLike, shape: Any, ragged_rank: int) -> RaggedTensorSpec:
    """The type of ragged tensors of a dtype and a shape, under its first name."""
    return RaggedTensorSpec(shape, dtype, ragged_rank)
