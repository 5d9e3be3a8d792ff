"""What is known of a value before it is there: its type, with shapes and dtypes, and how it is made of tensors."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.shapes import TensorShape
from everflow.graph.tensor import Tensor


@internal("framework.composite_tensor.CompositeTensor")
class CompositeTensor:
    """A value made of several tensors; `_type_spec` says how."""

    @property
    def _type_spec(self) -> TypeSpec:
        raise TypeError(f"{type(self).__name__} has no type specification.")

    def consumers(self) -> list[Any]:
        """The operations that take one of its tensors as an input."""
        found: dict[int, Any] = {}
        for t in self._type_spec._to_components(self):
            if isinstance(t, Tensor):
                found.update((id(op), op) for op in t.consumers())
        return list(found.values())


@public("TypeSpec", "data.experimental.Structure")
@internal("framework.type_spec.TypeSpec")
class TypeSpec:
    """A type of values: which ones belong to it, and how one is taken apart into tensors and put together."""

    @property
    def value_type(self) -> type:
        """The Python type of the values."""
        raise TypeError(f"{type(self).__name__} has no value type.")

    if TYPE_CHECKING:
        # Those of composite tensors take values apart.
        def _to_components(self, value: Any) -> Any: ...

    def _serialize(self) -> tuple[Any, ...]:
        return ()

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value, or the values of another type, belong to this type."""
        if not isinstance(spec_or_value, TypeSpec):
            spec_or_value = type_spec_from_value(spec_or_value)
        return type(self) is type(spec_or_value) and _compatible(self._serialize(), spec_or_value._serialize())

    def most_specific_compatible_type(self, other: Any) -> Any:
        """The narrowest type that holds the values of both."""
        if type(self) is not type(other):
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return type(self)(*_widest(self._serialize(), other._serialize()))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _hashable(self._serialize()) == _hashable(other._serialize())  # type: ignore[attr-defined]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self), _hashable(self._serialize())))

    def __reduce__(self) -> Any:
        return type(self), self._serialize()

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"


def _compatible(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(_compatible(x, y) for x, y in zip(a, b))
    if isinstance(a, (TensorShape, TypeSpec)):
        return a.is_compatible_with(b)
    return a == b


def _widest(a: Any, b: Any) -> Any:
    if isinstance(a, (list, tuple)) and type(a) is type(b) and len(a) == len(b):
        return type(a)(_widest(x, y) for x, y in zip(a, b))
    if isinstance(a, TensorShape) and isinstance(b, TensorShape):
        return a.most_specific_compatible_shape(b)
    if isinstance(a, TypeSpec) and isinstance(b, TypeSpec):
        return a.most_specific_compatible_type(b)
    if type(a) is not type(b) or a != b:
        raise ValueError(f"Types are not compatible: {a!r} vs {b!r}")
    return a


def _hashable(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(_hashable(v) for v in value)
    if isinstance(value, TensorShape):
        return ("shape", value.as_dims())
    return value


@public("TensorSpec")
@internal("framework.tensor_spec.TensorSpec")
class TensorSpec(TypeSpec):
    """A dense tensor of a shape and a dtype."""

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> None:
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

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """The same type, possibly with another name."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The type of a tensor."""
        return cls(tensor.shape, tensor.dtype, name or getattr(getattr(tensor, "op", None), "name", None))

    @property
    def value_type(self) -> type:
        return Tensor

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether a tensor, or the tensors of another type, belong to this type."""
        return self._dtype.is_compatible_with(spec_or_tensor.dtype) and self._shape.is_compatible_with(spec_or_tensor.shape)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name

    def _to_components(self, value: Any) -> Any:
        return value

    def _from_components(self, components: Any) -> Any:
        return components

    @property
    def _component_specs(self) -> Any:
        return self

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, TensorSpec) and self._dtype == other._dtype and self._name == other._name
                and self._shape.as_dims() == other._shape.as_dims())

    def __hash__(self) -> int:
        return hash((self._shape.as_dims(), self._dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


@internal("framework.type_spec.type_spec_from_value", "framework.structure.type_spec_from_value")
def type_spec_from_value(value: Any) -> TypeSpec:
    """The type of a value: of a tensor, of a composite, or of what converts to a tensor."""
    if isinstance(value, CompositeTensor):
        return value._type_spec
    if not isinstance(value, Tensor):
        from everflow.graph.tensor_proto import as_array

        try:
            array = as_array(value)
        except (TypeError, ValueError):
            raise TypeError(f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}") from None
        return TensorSpec(array.shape, dtypes.as_dtype(array.dtype))
    return TensorSpec.from_tensor(value)
