"""What the elements of a dataset are made of: structures of types, and how elements become flat lists of tensors."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.data import nesting
from everflow.graph import dtypes, shapes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.sparse_tensor import SparseTensor, SparseTensorSpec, SparseTensorValue, is_sparse
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.graph.type_spec import BatchableTypeSpec, CompositeTensor, TypeSpec, type_spec_from_value
from everflow.ops.control_flow.bodies import is_tensor_array


@internal("data.util.structure.normalize_element")
def normalize_element(element: Any) -> Any:
    """The element with its leaves converted to tensors, sparse tensors or other composites."""
    leaves = [stacked_datasets(leaf) for leaf in nesting.flatten(element)]
    with name_scope("normalize_element"):
        # Only leaves that are not tensors yet are named.
        found = [_normalized(leaf, i) for i, leaf in enumerate(leaves)]
    return nesting.pack_sequence_as(element, found)


def _normalized(leaf: Any, index: int) -> Any:
    from everflow.data.dataset import DatasetV2, _NestedVariant

    if isinstance(leaf, DatasetV2):
        return leaf
    if isinstance(leaf, _NestedVariant) or is_tensor_array(leaf):
        return leaf
    if isinstance(leaf, SparseTensorValue):
        return SparseTensor.from_value(leaf)
    if type(leaf).__name__ == "RaggedTensorValue":
        return tf.ragged.constant(leaf.to_list(), dtype=leaf.values.dtype) if leaf.ragged_rank else leaf
    if isinstance(leaf, CompositeTensor) and not hasattr(leaf, "assign"):
        return leaf
    return convert_to_tensor(leaf, name=f"component_{index}")


def stacked_datasets(leaf: Any) -> Any:
    """A list of datasets as one value, as lists of numbers are one tensor; anything else as it is."""
    from everflow.data.dataset import _NestedVariant

    spec = _batch_of_datasets(leaf) if isinstance(leaf, list) else None
    return leaf if spec is None else _NestedVariant(convert_to_tensor(_variants(leaf)), spec._element_spec, spec._dataset_shape)


def _batch_of_datasets(values: list[Any]) -> Any:
    """The type of a list of datasets, or of lists of them, that are all of one type; None for other lists."""
    from everflow.data.dataset import DatasetV2

    found: list[Any] = [
        _batch_of_datasets(v) if isinstance(v, list) else v._type_spec if isinstance(v, DatasetV2) else None for v in values
    ]
    if not found or any(spec is None or not found[0].is_compatible_with(spec) for spec in found):
        return None
    return found[0]._batch(len(values))


def _variants(values: Any) -> Any:
    return [_variants(v) for v in values] if isinstance(values, list) else values._variant_tensor


@internal("data.util.structure.type_spec_from_value")
def spec_of_element(element: Any, use_fallback: bool = True) -> Any:
    """The structure of types of an element."""
    children = nesting._children(element)
    if children is not None:
        return nesting.pack_sequence_as(element, [spec_of_element(leaf, use_fallback) for leaf in nesting.flatten(element)])
    if isinstance(element, CompositeTensor):
        return element._type_spec
    if isinstance(element, Tensor):
        return TensorSpec(element.shape, element.dtype.base_dtype)
    if is_tensor_array(element):
        return tf.TensorArraySpec.from_value(element)
    return type_spec_from_value(element)


@internal("data.util.structure.get_flat_tensor_specs")
def get_flat_tensor_specs(element_spec: Any) -> list[TensorSpec]:
    """The types of the tensors that an element travels as."""
    return [s for spec in nesting.flatten(element_spec) for s in spec._flat_tensor_specs]


@internal("data.util.structure.get_flat_tensor_types")
def get_flat_tensor_types(element_spec: Any) -> list[dtypes.DType]:
    """The dtypes of the tensors that an element travels as."""
    return [s.dtype for s in get_flat_tensor_specs(element_spec)]


@internal("data.util.structure.get_flat_tensor_shapes")
def get_flat_tensor_shapes(element_spec: Any) -> list[shapes.TensorShape]:
    """The shapes of the tensors that an element travels as."""
    return [s.shape for s in get_flat_tensor_specs(element_spec)]


def _each(element_spec: Any, element: Any) -> Any:
    nesting.assert_same_structure(element_spec, element)
    return zip(nesting.flatten(element_spec), nesting.flatten(element))


@internal("data.util.structure.to_tensor_list")
def to_tensor_list(element_spec: Any, element: Any) -> list[Tensor]:
    """An element as flat tensors."""
    return [t for spec, value in _each(element_spec, element) for t in spec._to_tensor_list(_compatible(spec, value))]


@internal("data.util.structure.to_batched_tensor_list")
def to_batched_tensor_list(element_spec: Any, element: Any) -> list[Tensor]:
    """A batch of elements as flat tensors whose first dimension counts the elements."""
    for spec in nesting.flatten(element_spec):
        if not isinstance(spec, BatchableTypeSpec):
            raise TypeError(f"Unsupported type for batches: {spec}")
    return [t for spec, value in _each(element_spec, element) for t in spec._to_batched_tensor_list(_compatible(spec, value))]


def _compatible(spec: Any, value: Any) -> Any:
    value = convert_to_tensor(value) if isinstance(spec, TensorSpec) else value
    if not spec.is_compatible_with(value):
        if isinstance(spec, TensorSpec):
            raise ValueError(f"Value {value!r} is not convertible to a tensor with dtype {spec.dtype} and shape {spec.shape}.")
        raise ValueError(f"The value {value} is not compatible with the TypeSpec {spec}.")
    return value


def _packed(element_spec: Any, tensor_list: list[Any], decode: str) -> Any:
    found = []
    position = 0
    for spec in nesting.flatten(element_spec):
        count = len(spec._flat_tensor_specs)
        found.append(getattr(spec, decode)(tensor_list[position : position + count]))
        position += count
    if position != len(tensor_list):
        raise ValueError(f"Expected {position} tensors but got {len(tensor_list)}.")
    return nesting.pack_sequence_as(element_spec, found)


@internal("data.util.structure.from_tensor_list")
def from_tensor_list(element_spec: Any, tensor_list: list[Any]) -> Any:
    """The element that flat tensors make; raises where they don't fit."""
    specs = get_flat_tensor_specs(element_spec)
    if len(specs) != len(tensor_list):
        raise ValueError(f"Expected {len(specs)} tensors but got {len(tensor_list)}.")
    return _packed(element_spec, list(tensor_list), "_from_tensor_list")


@internal("data.util.structure.from_compatible_tensor_list")
def from_compatible_tensor_list(element_spec: Any, tensor_list: list[Any]) -> Any:
    """The element that flat tensors make, which are known to fit."""
    return _packed(element_spec, list(tensor_list), "_from_compatible_tensor_list")


@internal("data.util.structure.are_compatible")
def are_compatible(spec1: Any, spec2: Any) -> bool:
    """Whether elements of the second structure of types fit the first."""
    try:
        nesting.assert_same_structure(spec1, spec2)
    except (TypeError, ValueError):
        return False
    return all(a.is_compatible_with(b) for a, b in zip(nesting.flatten(spec1), nesting.flatten(spec2)))


@internal("data.util.structure.convert_legacy_structure")
def convert_legacy_structure(output_types: Any, output_shapes: Any, output_classes: Any) -> Any:
    """The structure of types that three structures of dtypes, shapes and classes say together."""
    kinds = nesting.flatten(output_classes)
    flat_types = nesting.flatten(output_types)
    flat_shapes = nesting.flatten_up_to(output_types, output_shapes)
    return nesting.pack_sequence_as(output_classes, [_spec(*given) for given in zip(flat_types, flat_shapes, kinds)])


def _spec(dtype: dtypes.DTypeLike, shape: Any, kind: Any) -> Any:
    if isinstance(kind, TypeSpec):
        return kind
    if isinstance(kind, type) and issubclass(kind, SparseTensor):
        return SparseTensorSpec(shape, dtype)
    if isinstance(kind, type) and issubclass(kind, Tensor):
        return TensorSpec(shape, dtype)
    if isinstance(kind, type) and kind.__name__ == "TensorArray":
        # The first two dimensions say whether it grows and whether its elements have one shape.
        grows, have_one_shape = (shapes.dimension_value(n) for n in shape[:2])
        return tf.TensorArraySpec(shape[2:], dtype, grows, have_one_shape)  # type: ignore[arg-type]
    raise TypeError(f"Could not build a structure for output class {kind}")


def legacy_types(element_spec: Any) -> Any:
    """The dtypes of a structure of types."""
    return nesting.map_structure(lambda spec: getattr(spec, "_legacy_output_types", getattr(spec, "dtype", spec)), element_spec)


def legacy_shapes(element_spec: Any) -> Any:
    """The shapes of a structure of types."""
    return nesting.map_structure(lambda spec: getattr(spec, "_legacy_output_shapes", getattr(spec, "shape", spec)), element_spec)


def legacy_classes(element_spec: Any) -> Any:
    """The Python types of a structure of types."""
    return nesting.map_structure(_legacy_class, element_spec)


def _legacy_class(spec: Any) -> Any:
    if hasattr(spec, "_legacy_output_classes"):
        return spec._legacy_output_classes
    if isinstance(spec, TensorSpec):
        return Tensor
    return SparseTensor if isinstance(spec, SparseTensorSpec) else spec


# Sparse tensors among the elements, by the older functions that know only them.


@internal("data.util.sparse.any_sparse")
def any_sparse(classes: Any) -> bool:
    """Whether a structure of classes holds a sparse tensor."""
    return any(c is SparseTensor for c in nesting.flatten(classes))


@internal("data.util.sparse.get_classes")
def get_classes(tensors: Any) -> Any:
    """The classes of a structure of tensors."""
    return nesting.map_structure(lambda t: SparseTensor if is_sparse(t) else Tensor, tensors)


@internal("data.util.sparse.as_dense_types")
def as_dense_types(types: Any, classes: Any) -> Any:
    """The dtypes as which tensors travel: variants where they are sparse."""
    return nesting.map_structure(lambda t, c: dtypes.variant if c is SparseTensor else t, types, classes)


@internal("data.util.sparse.as_dense_shapes")
def as_dense_shapes(shapes_: Any, classes: Any) -> Any:
    """The shapes as which tensors travel: unknown where they are sparse."""
    return nesting.map_structure(lambda s, c: shapes.unknown_shape() if c is SparseTensor else s, shapes_, classes)


@internal("data.util.sparse.serialize_sparse_tensors")
def serialize_sparse_tensors(tensors: Any) -> Any:
    """The tensors, sparse ones as variants."""
    return nesting.map_structure(lambda t: SparseTensorSpec(t.shape, t.dtype)._to_tensor_list(t)[0] if is_sparse(t) else t, tensors)


@internal("data.util.sparse.serialize_many_sparse_tensors")
def serialize_many_sparse_tensors(tensors: Any) -> Any:
    """The tensors, sparse ones as vectors of variants, one for each row."""
    return nesting.map_structure(lambda t: SparseTensorSpec(t.shape, t.dtype)._to_batched_tensor_list(t)[0] if is_sparse(t) else t, tensors)


@internal("data.util.sparse.deserialize_sparse_tensors")
def deserialize_sparse_tensors(tensors: Any, types: Any, shapes_: Any, classes: Any) -> Any:
    """The tensors, with variants made sparse tensors again."""

    def decoded(t: Any, dtype: dtypes.DTypeLike, shape: Any, kind: Any) -> Any:
        return SparseTensorSpec(shape, dtype)._from_compatible_tensor_list([t]) if kind is SparseTensor else t

    flat = [nesting.flatten(tensors), nesting.flatten(types), nesting.flatten(shapes_), nesting.flatten(classes)]
    return nesting.pack_sequence_as(tensors, [decoded(*given) for given in zip(*flat)])


@public("data.experimental.get_structure")
@internal("data.ops.dataset_ops.get_structure")
def get_structure(dataset_or_iterator: Any) -> Any:
    """The structure of types of the elements."""
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError(f"`dataset_or_iterator` must be a Dataset or Iterator object, but got {type(dataset_or_iterator)}.") from None


@public("data.get_output_types")
@internal("data.ops.dataset_ops.get_legacy_output_types")
def get_output_types(dataset_or_iterator: Any) -> Any:
    """The dtypes of the elements."""
    return legacy_types(get_structure(dataset_or_iterator))


@public("data.get_output_shapes")
@internal("data.ops.dataset_ops.get_legacy_output_shapes")
def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """The shapes of the elements."""
    return legacy_shapes(get_structure(dataset_or_iterator))


@public("data.get_output_classes")
@internal("data.ops.dataset_ops.get_legacy_output_classes")
def get_output_classes(dataset_or_iterator: Any) -> Any:
    """The Python types of the elements' components."""
    return legacy_classes(get_structure(dataset_or_iterator))
