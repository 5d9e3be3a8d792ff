"""Handles of resource variables: making them, and what they tell of the variable's shape and type."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.graph import dtypes, shapes
from everflow.graph.convert import constant, convert_to_tensor
from everflow.graph.shapes import as_shape
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply


@internal("ops.resource_variable_ops.variable_handle_from_shape_and_dtype")
def variable_handle(
    shape: Any, dtype: dtypes.DTypeLike, shared_name: str, name: str, graph_mode: bool = True, extra_handle_data: Any = None
) -> Tensor:
    """A handle to new storage."""
    return apply("VarHandleOp", shape=shape, dtype=dtype, shared_name=shared_name, name=name, container=get_default_graph()._container)


@internal("ops.resource_variable_ops.eager_safe_variable_handle")
def variable_handle_for(initial_value: Tensor, shape: Any, shared_name: str, name: str, graph_mode: bool = True) -> Tensor:
    """A handle to storage for values like this one."""
    return variable_handle(shape, initial_value.dtype.base_dtype, shared_name, name)


@internal("ops.resource_variable_ops.variable_shape")
def variable_shape(handle: Tensor, out_type: dtypes.DTypeLike = dtypes.int32) -> Tensor:
    """The shape of the variable behind a handle: a constant where it is known."""
    data = handle.handle_data
    if data is None or not shapes.is_fully_defined(data[0]):
        return apply("VariableShape", handle, out_type=out_type)
    return constant(list(data[0]), dtype=out_type)


@internal("ops.resource_variable_ops.shape_safe_assign_variable_handle")
def shape_safe_assign(handle: Tensor, shape: Any, value: Any, name: str | None = None) -> Any:
    """Assigns a value whose static shape fits."""
    value = convert_to_tensor(value)
    as_shape(shape).assert_is_compatible_with(value.get_shape())
    return apply("AssignVariableOp", handle, value, name=name)


@internal("ops.resource_variable_ops.get_resource_handle_data", "ops.resource_variable_ops.get_eager_safe_handle_data")
def handle_data_proto(handle: Tensor) -> Any:
    """What a handle tells of its variable, as a HandleData."""
    from everflow.proto import cpp_shape_inference_pb2

    proto = cpp_shape_inference_pb2.CppShapeInferenceResult.HandleData()
    if handle.handle_data is not None:
        dims, dtype = handle.handle_data
        proto.is_set = True
        proto.shape_and_type.add(shape=shapes.to_proto(dims), dtype=dtype.as_datatype_enum)
    return proto


@internal("ops.resource_variable_ops._set_handle_shapes_and_types")
def set_handle_data(tensor: Tensor, handle_data: Any, graph_mode: bool = True) -> None:
    """Says what a handle leads to; `handle_data` is a HandleData."""
    if handle_data is not None and handle_data.is_set:
        first = handle_data.shape_and_type[0]
        tensor.handle_data = (shapes.from_proto(first.shape), dtypes.as_dtype(first.dtype))


@internal("ops.resource_variable_ops._maybe_set_handle_data")
def hand_on_handle_data(dtype: dtypes.DTypeLike, handle: Tensor, tensor: Tensor) -> None:
    """Gives a variant that was read what its variable's handle tells of the variants inside."""
    if dtype == dtypes.variant and handle.handle_data is not None:
        tensor.handle_data = handle.handle_data


@internal("ops.custom_gradient.copy_handle_data")
def copy_handle_data(source_t: Tensor, target_t: Tensor) -> None:
    """Lets a handle lead where another one does."""
    if target_t.dtype in (dtypes.resource, dtypes.variant) and source_t.handle_data is not None:
        target_t.handle_data = source_t.handle_data
