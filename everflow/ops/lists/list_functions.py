"""Functions on lists of tensors, below `tensorflow.python.ops.list_ops`."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.shapes import TensorShape
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply


@internal("ops.list_ops._build_element_shape")
def build_element_shape(shape: Any) -> Any:
    """A partly known shape as ops on lists take it: -1 for what is not known."""
    if isinstance(shape, Tensor):
        return shape
    if isinstance(shape, TensorShape):
        shape = shape.as_list() if shape.dims is not None else None
    if shape is None:
        return -1
    # An empty list would make a tensor of floats.
    return [-1 if d is None else d for d in shape] or convert_to_tensor(shape, dtype=dtypes.int32)


@internal("ops.list_ops.empty_tensor_list")
def empty_tensor_list(element_shape: Any, element_dtype: Any, max_num_elements: Any = None, name: str | None = None) -> Tensor:
    """A list without items."""
    limit = -1 if max_num_elements is None else max_num_elements
    return apply("EmptyTensorList", build_element_shape(element_shape), limit, element_dtype=element_dtype, name=name)


@internal("ops.list_ops.tensor_list_reserve")
def tensor_list_reserve(element_shape: Any, num_elements: Any, element_dtype: Any, name: str | None = None) -> Tensor:
    """A list with places for items to be set."""
    return apply("TensorListReserve", build_element_shape(element_shape), num_elements, element_dtype=element_dtype, name=name)


@internal("ops.list_ops.tensor_list_from_tensor")
def tensor_list_from_tensor(tensor: Any, element_shape: Any, name: str | None = None) -> Tensor:
    """The list of the rows of a tensor."""
    return apply("TensorListFromTensor", tensor, build_element_shape(element_shape), name=name)


@internal("ops.list_ops.tensor_list_get_item")
def tensor_list_get_item(input_handle: Any, index: Any, element_dtype: Any, element_shape: Any = None, name: str | None = None) -> Tensor:
    """An item of a list."""
    return apply("TensorListGetItem", input_handle, index, build_element_shape(element_shape), element_dtype=element_dtype, name=name)


@internal("ops.list_ops.tensor_list_pop_back")
def tensor_list_pop_back(input_handle: Any, element_dtype: Any, name: str | None = None) -> Any:
    """A list without its last item, and that item."""
    return apply("TensorListPopBack", input_handle, -1, element_dtype=element_dtype, name=name)


@internal("ops.list_ops.tensor_list_gather")
def tensor_list_gather(input_handle: Any, indices: Any, element_dtype: Any, element_shape: Any = None, name: str | None = None) -> Tensor:
    """Some items of a list as one tensor."""
    return apply("TensorListGather", input_handle, indices, build_element_shape(element_shape), element_dtype=element_dtype, name=name)


@internal("ops.list_ops.tensor_list_scatter")
def tensor_list_scatter(tensor: Any, indices: Any, element_shape: Any = None, input_handle: Any = None, name: str | None = None) -> Tensor:
    """A list, new or given, with the rows of a tensor set at some places."""
    if input_handle is not None:
        return apply("TensorListScatterIntoExistingList", input_handle, tensor, indices, name=name)
    return apply("TensorListScatterV2", tensor, indices, build_element_shape(element_shape), -1, name=name)


@internal("ops.list_ops.tensor_list_stack")
def tensor_list_stack(
    input_handle: Any, element_dtype: Any, num_elements: int = -1, element_shape: Any = None, name: str | None = None
) -> Tensor:
    """All items of a list as one tensor."""
    return apply(
        "TensorListStack",
        input_handle,
        build_element_shape(element_shape),
        element_dtype=element_dtype,
        num_elements=num_elements,
        name=name,
    )


@internal("ops.list_ops.tensor_list_concat")
def tensor_list_concat(input_handle: Any, element_dtype: Any, element_shape: Any = None, name: str | None = None) -> Tensor:
    """All items of a list joined along their first axis."""
    leading = convert_to_tensor([], dtype=dtypes.int64)
    found = apply("TensorListConcatV2", input_handle, build_element_shape(element_shape), leading, element_dtype=element_dtype, name=name)
    return found[0]


@internal("ops.list_ops.tensor_list_split")
def tensor_list_split(tensor: Any, element_shape: Any, lengths: Any, name: str | None = None) -> Tensor:
    """The list of consecutive parts of a tensor."""
    return apply("TensorListSplit", tensor, build_element_shape(element_shape), lengths, name=name)


@internal("ops.list_ops.tensor_list_set_item")
def tensor_list_set_item(
    input_handle: Any, index: Any, item: Any, resize_if_index_out_of_bounds: bool = False, name: str | None = None
) -> Tensor:
    """A list with one item set."""
    if resize_if_index_out_of_bounds:
        data = getattr(input_handle, "handle_data", None)
        size = apply("TensorListLength", input_handle)
        input_handle = tf.cond(index >= size, lambda: apply("TensorListResize", input_handle, index + 1), lambda: input_handle)
        if data is not None:
            input_handle.handle_data = data
    return apply("TensorListSetItem", input_handle, index, item, name=name)
