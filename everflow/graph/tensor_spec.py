"""The types of dense tensors: a shape and a dtype, perhaps a name and bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.shapes import TensorShape
from everflow.graph.tensor import Tensor
from everflow.graph.type_spec import BatchableTypeSpec


@public("TensorSpec", "contrib.framework.TensorSpec", "contrib.eager.TensorSpec")
@internal("framework.tensor_spec.TensorSpec")
class TensorSpec(BatchableTypeSpec):
    """A dense tensor of a shape and a dtype."""

    def __init__(self, shape: Any, dtype: dtypes.DTypeLike = dtypes.float32, name: str | None = None) -> None:
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._name = name

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the elements."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """The name, where one was given."""
        return self._name

    @property
    def is_discrete(self) -> bool:
        """Whether the elements are integers."""
        return self.dtype.is_integer

    @property
    def is_continuous(self) -> bool:
        """Whether the elements are floating-point numbers."""
        return self.dtype.is_floating

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> Any:
        """The same type, possibly with another name."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The type of a tensor."""
        if isinstance(tensor, Tensor):
            return TensorSpec(tensor.shape, tensor.dtype, name or tensor.op.name)
        raise ValueError("`tensor` should be a tf.Tensor")

    @property
    def value_type(self) -> type:
        """Tensors."""
        return Tensor

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether a tensor, or the tensors of another type, belong to this type."""
        return self._dtype.is_compatible_with(spec_or_tensor.dtype) and self._shape.is_compatible_with(spec_or_tensor.shape)

    def most_specific_compatible_type(self, other: Any) -> Any:
        """The narrowest type that holds the tensors of both; a name stays if both have it."""
        if type(self) is not type(other) or self._dtype != other._dtype:
            raise ValueError(f"Types are not compatible: {self!r} vs {other!r}")
        shape = self._shape.most_specific_compatible_shape(other._shape)
        return TensorSpec(shape, self._dtype, self._name if self._name == other._name else None)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name

    @property
    def _component_specs(self) -> TensorSpec:
        return self

    def _to_components(self, value: Any) -> Any:
        return value

    def _from_components(self, components: Any) -> Any:
        return components

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return [self]

    def _to_tensor_list(self, value: Any) -> list[Any]:
        value = convert_to_tensor(value, self._dtype)
        if not value.shape.is_compatible_with(self._shape):
            raise ValueError(f"Value {value} is not convertible to a tensor with dtype {self._dtype} and shape {self._shape}.")
        return [value]

    def _from_compatible_tensor_list(self, tensor_list: list[Any]) -> Any:
        # What comes out of a dataset or an optional is less well known than what went in.
        tensor_list[0].set_shape(self._shape)
        return tensor_list[0]

    def _batch(self, batch_size: int | None) -> TensorSpec:
        rows = TensorShape([batch_size])
        return TensorSpec(rows.concatenate(self._shape), self._dtype)

    def _unbatch(self) -> TensorSpec:
        whole = self._shape
        if whole.ndims == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return TensorSpec(whole[1:], self._dtype)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TensorSpec)
            and self._dtype == other._dtype
            and self._name == other._name
            and self._shape.as_dims() == other._shape.as_dims()
        )

    def __hash__(self) -> int:
        return hash((self._shape.as_dims(), self._dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


@public("contrib.framework.BoundedTensorSpec")
@internal("framework.tensor_spec.BoundedTensorSpec")
class BoundedTensorSpec(TensorSpec):
    """A dense tensor whose elements lie between bounds, which are broadcast to its shape."""

    def __init__(self, shape: Any, dtype: dtypes.DTypeLike, minimum: Any, maximum: Any, name: str | None = None) -> None:
        super().__init__(shape, dtype, name)
        for what, bound in (("minimum", minimum), ("maximum", maximum)):
            if bound is None:
                raise ValueError(f"{what} can not be None.")
            try:
                np.broadcast_shapes(np.shape(bound), tuple(1 if d is None else d for d in self._shape.as_dims() or ()))
            except ValueError as error:
                raise ValueError(f"{what} is not compatible with shape. Message: {error}.") from None
        self._minimum, self._maximum = self._bound(minimum), self._bound(maximum)

    def _bound(self, value: Any) -> np.ndarray:
        array = np.array(value, self._dtype.as_numpy_dtype)
        array.setflags(write=False)
        return array

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> BoundedTensorSpec:
        """The same type with its bounds, or with those of its dtype."""
        minimum, maximum = getattr(spec, "minimum", spec.dtype.min), getattr(spec, "maximum", spec.dtype.max)
        return cls(spec.shape, spec.dtype, minimum, maximum, name or spec.name)

    @property
    def minimum(self) -> np.ndarray:
        """The least values, read-only."""
        return self._minimum

    @property
    def maximum(self) -> np.ndarray:
        """The greatest values, read-only."""
        return self._maximum

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._minimum, self._maximum, self._name

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, BoundedTensorSpec)
            and super().__eq__(other)
            and np.allclose(self._minimum, other._minimum)
            and np.allclose(self._maximum, other._maximum)
        )

    __hash__ = TensorSpec.__hash__

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r}, minimum={self.minimum!r}, "
            f"maximum={self.maximum!r})"
        )


@public("data.experimental.TensorStructure")
def tensor_structure(dtype: dtypes.DTypeLike, shape: Any) -> TensorSpec:
    """The type of tensors of a dtype and a shape, under its first name."""
    return TensorSpec(shape, dtype)
