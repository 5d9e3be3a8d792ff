"""tf.TensorArraySpec: what is known of a TensorArray."""

from __future__ import annotations

from typing import Any

from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import TensorShape
from everflow.graph.tensor_spec import TensorSpec
from everflow.graph.type_spec import TypeSpec, register_type_spec_from_value_converter
from everflow.ops.lists import list_functions
from everflow.ops.lists.tensor_array_functions import TensorArray
from everflow.ops.lists.tensor_arrays_of_lists import ListTensorArray


@public("TensorArraySpec")
@internal("ops.tensor_array_ops.TensorArraySpec")
class TensorArraySpec(TypeSpec):
    """The type of TensorArrays with elements of a shape and dtype. Between functions an array travels as a list of tensors."""

    def __init__(
        self, element_shape: Any = None, dtype: dtypes.DTypeLike = dtypes.float32, dynamic_size: bool = False, infer_shape: bool = True
    ) -> None:
        self._element_shape, self._dtype = TensorShape(element_shape), dtypes.as_dtype(dtype)
        self._dynamic_size, self._infer_shape = dynamic_size, infer_shape

    @property
    def value_type(self) -> type:
        """TensorArray."""
        return TensorArray

    def is_compatible_with(self, other: Any) -> bool:
        """Whether an array, or the arrays of another type, belong to this type."""
        if isinstance(other, TensorArray):
            other = TensorArraySpec.from_value(other)
        if not isinstance(other, TensorArraySpec) or self._dynamic_size != other._dynamic_size:
            return False
        pairs: Any = ((self._dtype, other._dtype), (self._element_shape, other._element_shape))
        return all(ours.is_compatible_with(theirs) for ours, theirs in pairs)

    def most_specific_compatible_type(self, other: Any) -> TensorArraySpec:
        """The narrowest type that holds the arrays of both."""
        if not self.is_compatible_with(other):
            raise ValueError("Types are not compatible")
        shape = self._element_shape.most_specific_compatible_shape(other._element_shape)
        return TensorArraySpec(shape, self._dtype, self._dynamic_size, other._infer_shape and self._infer_shape)

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape

    @property
    def _component_specs(self) -> list[TensorSpec]:
        return [TensorSpec([], dtypes.variant)]

    def _to_components(self, value: Any) -> list[Any]:
        if not isinstance(value, TensorArray):
            raise TypeError(f"value must be a TensorArray, but saw: {type(value)}")
        held = value.flow
        if held is None or held.dtype != dtypes.variant:
            with name_scope("convert_tensor_array"):
                held = list_functions.tensor_list_from_tensor(value.stack(), value.element_shape)
        return [held]

    def _from_components(self, components: Any) -> TensorArray:
        found = ListTensorArray(self._dtype, flow=components[0], dynamic_size=self._dynamic_size, infer_shape=self._infer_shape)
        found._element_shape = [self._element_shape]
        return TensorArray.of(found)

    @staticmethod
    def from_value(value: Any) -> TensorArraySpec:
        """The type of an array."""
        if not isinstance(value, TensorArray):
            raise TypeError(f"Expected value to be a TensorArray, but saw: {type(value)}")
        return TensorArraySpec(value.element_shape, value.dtype, value.dynamic_size, value._infer_shape)

    def _to_legacy_output_types(self) -> Any:
        return self._dtype

    def _to_legacy_output_shapes(self) -> TensorShape:
        # Datasets of old have both flags in front of the shape.
        return TensorShape([self._dynamic_size, self._infer_shape]).concatenate(self._element_shape)

    def _to_legacy_output_classes(self) -> type:
        return TensorArray


register_type_spec_from_value_converter(TensorArray, TensorArraySpec.from_value, allow_subclass=True)


@public("data.experimental.TensorArrayStructure")
def tensor_array_structure(dtype: dtypes.DTypeLike, element_shape: Any, dynamic_size: bool, infer_shape: bool) -> TensorArraySpec:
    """The same as TensorArraySpec, in the order of datasets."""
    return TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)
