"""Batches of elements of different sizes."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.data import nesting, structure
from everflow.data.dataset import UnaryDataset, scalar
from everflow.data.transformations import static_batch_size
from everflow.graph import dtypes, shapes
from everflow.graph.constants import constant_value_as_shape
from everflow.graph.convert import convert_to_tensor
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.ops.core.registry import apply


@internal("data.util.convert.partial_shape_to_tensor")
def partial_shape_to_tensor(shape_like: Any) -> Tensor:
    """A shape as a vector in which -1 stands for what is not known."""
    if isinstance(shape_like, Tensor):
        found = shape_like
    else:
        try:
            shape = shapes.as_shape(shape_like)
            if shape.as_dims() is None:
                raise TypeError("rank")
            found = convert_to_tensor([-1 if n is None else n for n in shape.as_dims() or ()], dtype=dtypes.int64)
        except (TypeError, ValueError):
            found = convert_to_tensor(shape_like, dtype=dtypes.int64)
    if found.shape.ndims is not None and found.shape.ndims != 1:
        raise ValueError(f"The given shape {shape_like} must be a 1-D tensor of tf.int64 values, but the shape was {found.shape}.")
    if found.dtype != dtypes.int64:
        raise TypeError(
            f"The given shape {shape_like} must be a 1-D tensor of tf.int64 values, but the element type was {found.dtype.name}."
        )
    return found


@internal("data.util.convert.optional_param_to_tensor")
def optional_param_to_tensor(
    argument_name: str, argument_value: Any, argument_default: Any = 0, argument_dtype: Any = dtypes.int64
) -> Tensor:
    """An argument, or its default, as a tensor."""
    value = argument_default if argument_value is None else argument_value
    return convert_to_tensor(value, dtype=argument_dtype, name=argument_name)


@internal("data.ops.dataset_ops._is_padded_shape_compatible_with")
def _fits(padded: Any, component: Any) -> bool:
    """Whether a shape can be padded to another."""
    if padded.as_dims() is None or component.as_dims() is None:
        return True
    if len(padded.as_dims()) != len(component.as_dims()):
        return False
    return all(p is None or c is None or p >= c for p, c in zip(padded.as_dims(), component.as_dims()))


def _padded_shape(padded_shape: Any, component: Any) -> Tensor:
    """The shape to pad to, checked against what is known of the component."""
    try:
        known_shape = shapes.as_shape(padded_shape)
        if known_shape.as_dims() is None:
            raise TypeError("rank")
        found = convert_to_tensor([-1 if n is None else n for n in known_shape.as_dims() or ()], dtype=dtypes.int64)
    except (TypeError, ValueError):
        found = convert_to_tensor(padded_shape, preferred_dtype=dtypes.int64)
        if found.shape.ndims is not None and found.shape.ndims != 1:
            raise ValueError(
                f"Padded shape {padded_shape} must be a 1-D tensor of tf.int64 values, but its shape was {found.shape}."
            ) from None
        if found.dtype != dtypes.int64:
            raise TypeError(
                f"Padded shape {padded_shape} must be a 1-D tensor of tf.int64 values, but its element type was {found.dtype.name}."
            ) from None
        known_shape = constant_value_as_shape(found)
    if not _fits(known_shape, component):
        raise ValueError(
            f"The padded shape {_shown(known_shape)} is not compatible with the corresponding input component shape {component}."
        )
    return found


def _shown(shape: Any) -> str:
    return str(shape)


def _padding(value: Any, dtype: dtypes.DType) -> Tensor:
    found = convert_to_tensor(value, name="padding_value")
    if not found.shape.is_compatible_with([]):
        raise ValueError(f"Padding value should be a scalar, but is not: {found}")
    if found.dtype != dtype:
        raise TypeError(f"Padding value tensor ({found}) does not match output type: {dtype}")
    return found


def _default_padding(dtype: dtypes.DType) -> Any:
    if dtype.base_dtype == dtypes.string:
        return ""
    if dtype.base_dtype == dtypes.variant:
        raise TypeError("Unable to create padding for field of type 'variant'")
    return dtype.as_numpy_dtype(0) if dtype.name != "bfloat16" else convert_to_tensor(0.0, dtype=dtype)


@internal("data.ops.dataset_ops.PaddedBatchDataset")
class PaddedBatchDataset(UnaryDataset):
    """Elements brought to one size by padding, and stacked."""

    def __init__(self, input_dataset: Any, batch_size: Any, padded_shapes: Any, padding_values: Any, drop_remainder: Any) -> None:
        spec = input_dataset.element_spec
        if any(not isinstance(s, TensorSpec) for s in nesting.flatten(spec)):
            raise TypeError("Batching of padded sparse tensors is not currently supported")
        self._batch_size = scalar(batch_size, dtypes.int64, "batch_size")
        input_shapes, input_types = structure.legacy_shapes(spec), structure.legacy_types(spec)
        flat_padded = [
            _padded_shape(p, c) for p, c in zip(nesting.flatten_up_to(input_shapes, padded_shapes), nesting.flatten(input_shapes))
        ]
        self._padded_shapes = flat_padded
        if padding_values is None:
            padding_values = nesting.map_structure(_default_padding, input_types)
        self._padding_values = [
            _padding(v, t) for v, t in zip(nesting.flatten_up_to(input_types, padding_values), nesting.flatten(input_types))
        ]
        self._drop_remainder = scalar(drop_remainder, dtypes.bool, "drop_remainder")
        size = static_batch_size(self._batch_size, self._drop_remainder)
        self._structure = nesting.pack_sequence_as(
            spec, [TensorSpec(constant_value_as_shape(p), s.dtype)._batch(size) for p, s in zip(flat_padded, nesting.flatten(spec))]
        )
        super().__init__(
            input_dataset,
            apply(
                "PaddedBatchDatasetV2",
                input_dataset._variant_tensor,
                self._batch_size,
                flat_padded,
                self._padding_values,
                self._drop_remainder,
                output_shapes=structure.get_flat_tensor_shapes(self._structure),
            ),
        )

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure
