"""Optionals: an element, or none."""

from __future__ import annotations

from typing import Any

from everflow.api import internal, public
from everflow.data import structure
from everflow.graph import dtypes
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.graph.type_spec import CompositeTensor, TypeSpec
from everflow.ops.core.registry import apply


@public("data.experimental.Optional", "contrib.data.Optional")
@internal("data.ops.optional_ops.Optional")
class Optional(CompositeTensor):
    """A value that may be missing, as `get_next_as_optional` gives it."""

    def has_value(self, name: str | None = None) -> Tensor:
        """Whether there is a value."""
        raise NotImplementedError("Optional.has_value()")

    def get_value(self, name: str | None = None) -> Any:
        """The value; an error at run time where there is none."""
        raise NotImplementedError("Optional.get_value()")

    @property
    def value_structure(self) -> Any:
        """The structure of types of the value."""
        raise NotImplementedError("Optional.value_structure")

    @staticmethod
    def from_value(value: Any) -> Any:
        """An optional with a value."""
        with name_scope("optional") as scope, name_scope("value"):
            spec = structure.spec_of_element(structure.normalize_element(value))
            tensors = structure.to_tensor_list(spec, structure.normalize_element(value))
        return _OptionalImpl(apply("OptionalFromValue", tensors, name=scope), spec)

    @staticmethod
    def none_from_structure(value_structure: Any) -> Any:
        """An optional without a value."""
        return _OptionalImpl(apply("OptionalNone"), value_structure)


@internal("data.ops.optional_ops._OptionalImpl")
class _OptionalImpl(Optional):
    """The optional that a variant tensor holds."""

    def __init__(self, variant_tensor: Tensor, value_structure: Any) -> None:
        self._variant_tensor = variant_tensor
        self._value_structure = value_structure

    def has_value(self, name: str | None = None) -> Tensor:
        """Whether there is a value."""
        return apply("OptionalHasValue", self._variant_tensor, name=name)

    def get_value(self, name: str | None = None) -> Any:
        """The value; an error at run time where there is none."""
        with name_scope(name, "OptionalGetValue", [self._variant_tensor]) as scope:
            tensors = apply(
                "OptionalGetValue",
                self._variant_tensor,
                name=scope,
                output_types=structure.get_flat_tensor_types(self._value_structure),
                output_shapes=structure.get_flat_tensor_shapes(self._value_structure),
            )
            return structure.from_tensor_list(self._value_structure, tensors)

    @property
    def value_structure(self) -> Any:
        """The structure of types of the value."""
        return self._value_structure

    @property
    def _type_spec(self) -> Any:
        return OptionalSpec.from_value(self)


@public("OptionalSpec", "data.experimental.OptionalStructure")
@internal("data.ops.optional_ops.OptionalSpec")
class OptionalSpec(TypeSpec):
    """Optionals of values of these types."""

    def __init__(self, value_structure: Any) -> None:
        self._value_structure = value_structure

    @property
    def value_type(self) -> type:
        """Optionals."""
        return _OptionalImpl

    def _serialize(self) -> tuple[Any, ...]:
        return (self._value_structure,)

    @property
    def _component_specs(self) -> Any:
        return [TensorSpec([], dtypes.variant)]

    def _to_components(self, value: Any) -> Any:
        return [value._variant_tensor]

    def _from_components(self, components: Any) -> Any:
        return _OptionalImpl(components[0], self._value_structure)

    @staticmethod
    def from_value(value: Any) -> Any:
        """The type of an optional."""
        return OptionalSpec(value.value_structure)

    @property
    def _legacy_output_types(self) -> Any:
        return self

    _legacy_output_shapes = _legacy_output_classes = _legacy_output_types


@public("data.experimental.get_next_as_optional", "contrib.data.get_next_as_optional")
@internal("data.ops.iterator_ops.get_next_as_optional")
def get_next_as_optional(iterator: Any) -> Any:
    """The next element of an iterator, or none at the end."""
    spec = structure.get_structure(iterator)
    return _OptionalImpl(
        apply(
            "IteratorGetNextAsOptional",
            iterator._iterator_resource,
            output_types=structure.get_flat_tensor_types(spec),
            output_shapes=structure.get_flat_tensor_shapes(spec),
        ),
        spec,
    )
