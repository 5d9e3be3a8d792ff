"""What is known of a value before it is there: its type, with shapes and dtypes, and how it is made of tensors."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow import nest
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.shapes import TensorShape
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_proto import as_array


@internal("framework.composite_tensor.CompositeTensor")
class CompositeTensor:
    """A value made of several tensors; `_type_spec` says how."""

    @property
    def _type_spec(self) -> TypeSpec:
        raise TypeError(f"{type(self).__name__} has no type specification.")

    def _shape_invariant_to_type_spec(self, shape: Any) -> TypeSpec:
        """What a loop variable keeps of which a shape is said."""
        raise NotImplementedError(f"{type(self).__name__}._shape_invariant_to_type_spec")

    def consumers(self) -> list[Any]:
        """The operations that take one of its tensors as an input."""
        found: dict[int, Any] = {}
        for t in self._type_spec._to_components(self):
            if isinstance(t, Tensor):
                found.update((id(op), op) for op in t.consumers())
        return list(found.values())


@public("TypeSpec", "data.experimental.Structure")
@internal("framework.type_spec.TypeSpec")
class TypeSpec(abc.ABC):
    """A type of values: which ones belong to it, and how one is taken apart into tensors and put together.

    A subclass says what tells its types apart (`_serialize`, the arguments of its constructor) and how values are made of
    components (`_component_specs`, `_to_components`, `_from_components`).
    """

    @property
    @abc.abstractmethod
    def value_type(self) -> type:
        """The Python type of the values."""

    @property
    @abc.abstractmethod
    def _component_specs(self) -> Any: ...

    @abc.abstractmethod
    def _to_components(self, value: Any) -> Any: ...

    @abc.abstractmethod
    def _from_components(self, components: Any) -> Any: ...

    @abc.abstractmethod
    def _serialize(self) -> tuple[Any, ...]: ...

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> Any:
        return cls(*serialization)

    # -- types among each other

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value, or the values of another type, belong to this type."""
        if not isinstance(spec_or_value, TypeSpec):
            spec_or_value = type_spec_from_value(spec_or_value)
        return type(self) is type(spec_or_value) and _compatible(self._serialize(), spec_or_value._serialize())

    def most_specific_compatible_type(self, other: Any) -> Any:
        """The narrowest type that holds the values of both."""
        if type(self) is not type(other):
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return self._deserialize(_widest(self._serialize(), other._serialize()))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _hashable(self._serialize()) == _hashable(other._serialize())

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self), _hashable(self._serialize())))

    def __reduce__(self) -> Any:
        return type(self), self._serialize()

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"

    # -- values as flat lists of tensors

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return nest.flatten(self._component_specs, expand_composites=True)

    def _to_tensor_list(self, value: Any) -> list[Any]:
        return nest.flatten(self._to_components(value), expand_composites=True)

    def _from_tensor_list(self, tensor_list: list[Any]) -> Any:
        specs = self._flat_tensor_specs
        if len(tensor_list) != len(specs):
            raise ValueError(f"Incompatible input: wrong number of tensors (expected {len(specs)}, got {len(tensor_list)})")
        for i, (t, spec) in enumerate(zip(tensor_list, specs)):
            if t.dtype != spec.dtype or not t.shape.is_compatible_with(spec.shape):
                raise ValueError(f"Incompatible input: tensor {i} ({t}) is incompatible with {spec}")
        return self._from_compatible_tensor_list(tensor_list)

    def _from_compatible_tensor_list(self, tensor_list: list[Any]) -> Any:
        return self._from_components(nest.pack_sequence_as(self._component_specs, tensor_list, expand_composites=True))


@internal("framework.type_spec.BatchableTypeSpec")
class BatchableTypeSpec(TypeSpec):
    """A type whose values can be put into batches of values and taken out again."""

    @abc.abstractmethod
    def _batch(self, batch_size: int | None) -> Any:
        """The type of batches of this many values."""

    @abc.abstractmethod
    def _unbatch(self) -> Any:
        """The type of the values of a batch."""

    def _to_batched_tensor_list(self, value: Any) -> list[Any]:
        """A batch as tensors whose first dimension counts the values."""
        return self._to_tensor_list(value)


def _compatible(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(_compatible(x, y) for x, y in zip(a, b))
    if isinstance(a, (TensorShape, TypeSpec, dtypes.DType)):
        return a.is_compatible_with(b)
    return _hashable(a) == _hashable(b)


def _widest(a: Any, b: Any) -> Any:
    if isinstance(a, (list, tuple)) and type(a) is type(b) and len(a) == len(b):
        return type(a)(_widest(x, y) for x, y in zip(a, b))
    if isinstance(a, TensorShape) and isinstance(b, TensorShape):
        return a.most_specific_compatible_shape(b)
    if isinstance(a, TypeSpec) and isinstance(b, TypeSpec):
        return a.most_specific_compatible_type(b)
    if type(a) is not type(b) or _hashable(a) != _hashable(b):
        raise ValueError(f"Types are not compatible: {a!r} vs {b!r}")
    return a


def _hashable(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(_hashable(v) for v in value)
    if isinstance(value, dict):
        return tuple((k, _hashable(v)) for k, v in sorted(value.items()))
    if isinstance(value, TensorShape):
        return ("shape", value.as_dims())
    if isinstance(value, np.ndarray):
        return ("array", value.dtype.str, value.shape, value.tobytes())
    return value


_converters: list[tuple[type, Callable[[Any], TypeSpec], bool]] = []


@internal("framework.type_spec.register_type_spec_from_value_converter")
def register_type_spec_from_value_converter(
    type_object: type, converter_fn: Callable[[Any], TypeSpec], allow_subclass: bool = False
) -> None:
    """Says how the type of a value is found for values of a Python type."""
    _converters.append((type_object, converter_fn, allow_subclass))


@internal("framework.type_spec.type_spec_from_value", "framework.structure.type_spec_from_value")
def type_spec_from_value(value: Any) -> Any:
    """The type of a value: of a tensor, of a composite, or of what converts to a tensor."""
    from everflow.graph.tensor_spec import TensorSpec

    if isinstance(value, CompositeTensor):
        return value._type_spec
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    for kind, convert, allow_subclass in reversed(_converters):
        if type(value) is kind or allow_subclass and isinstance(value, kind):
            return convert(value)
    try:
        array = as_array(value)
    except (TypeError, ValueError):
        raise TypeError(f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}") from None
    return TensorSpec(array.shape, dtypes.as_dtype(array.dtype))
