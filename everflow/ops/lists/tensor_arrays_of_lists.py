"""TensorArrays as lists of tensors: their form in functions and in control flow of version 2."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import TensorShape
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply
from everflow.ops.lists import list_functions as lists
from everflow.ops.lists.tensor_array_functions import ArrayState, TensorArray
from everflow.platform import logging


@internal("ops.tensor_array_ops._GraphTensorArrayV2")
class ListTensorArray(ArrayState):
    """The flow is the list itself; there is no handle."""

    def __init__(
        self,
        dtype: dtypes.DTypeLike,
        size: Any = None,
        dynamic_size: Any = None,
        clear_after_read: Any = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        if flow is None:
            if size is None:
                raise ValueError("Size must be provided if flow is not provided")
        elif getattr(flow, "dtype", None) != dtypes.variant:
            raise TypeError("flow must be a variant tensor")
        elif size is not None:
            raise ValueError("Cannot provide both a flow and size at the same time")
        elif element_shape is not None:
            raise ValueError("Cannot provide both a flow and element_shape at the same time")
        super().__init__(dtype, dynamic_size, infer_shape, element_shape)
        with name_scope(name, "TensorArrayV2", [size, flow]) as scope:
            self._flow = lists.tensor_list_reserve(self.element_shape, size, self._dtype, name=scope) if flow is None else flow

    handle = None

    def _with_flow(self, flow: Any) -> TensorArray:
        new = ListTensorArray(self._dtype, flow=flow, dynamic_size=self._dynamic_size, infer_shape=self._infer_shape)
        new._element_shape = self._element_shape
        return TensorArray.of(new)

    def grad(self, source: str, flow: Any, name: str | None) -> Any:
        raise NotImplementedError()

    def read(self, index: Any, name: str | None) -> Tensor:
        with name_scope(name, "TensorArrayV2Read", [self._flow, index]):
            return lists.tensor_list_get_item(self._flow, index, self._dtype, self.element_shape, name=name)

    def _taken(self, value: Any, outer: int = 1) -> Tensor:
        """A value to write, checked: behind so many outer dimensions it has the shape of an element."""
        value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
        check_dtypes(value, self._dtype)
        self.check_element_shape(value.shape[outer:])
        return value

    def write(self, index: Any, value: Any, name: str | None) -> TensorArray:
        with name_scope(name, "TensorArrayV2Write", [self._flow, index, value]):
            element = self._taken(value, outer=0)
            return self._with_flow(lists.tensor_list_set_item(self._flow, index, element, self._dynamic_size, name=name))

    def stack(self, name: str | None) -> Tensor:
        with name_scope(name, "TensorArrayV2Stack", [self._flow]):
            return lists.tensor_list_stack(self._flow, self._dtype, element_shape=self.element_shape)

    def gather(self, indices: Any, name: str | None) -> Tensor:
        return lists.tensor_list_gather(self._flow, indices, self._dtype, self.element_shape, name=name)

    def concat(self, name: str | None) -> Tensor:
        shape = self.element_shape
        if shape.dims is not None:
            shape = TensorShape([None]).concatenate(shape[1:])
        return lists.tensor_list_concat(self._flow, self._dtype, shape, name=name)

    def unstack(self, value: Any, name: str | None) -> TensorArray:
        with name_scope(name, "TensorArrayUnstack", [self._flow, value]):
            rows = self._taken(value)
            return self._with_flow(lists.tensor_list_from_tensor(rows, rows.shape[1:]))

    def scatter(self, indices: Any, value: Any, name: str | None) -> TensorArray:
        with name_scope(name, "TensorArrayScatter", [self._flow, value, indices]):
            return self._with_flow(lists.tensor_list_scatter(self._taken(value), indices, self.element_shape, self._flow))

    def split(self, value: Any, lengths: Any, name: str | None) -> TensorArray:
        with name_scope(name, "TensorArraySplit", [self._flow, value, lengths]):
            value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
            check_dtypes(value, self._dtype)
            lengths = tf.cast(lengths, dtypes.int64)
            self.check_split(value, lengths)
            return self._with_flow(lists.tensor_list_split(value, self.element_shape, lengths))

    def size(self, name: str | None) -> Tensor:
        return apply("TensorListLength", self._flow, name=name)

    def close(self, name: str | None) -> Any:
        return tf.no_op(name=name)


@internal("ops.tensor_array_ops._check_dtypes")
def check_dtypes(value: Any, dtype: dtypes.DType) -> None:
    """Notes in the log that a value is not of an array's dtype: the run will fail."""
    if value.dtype != dtype:
        logging.error(
            "Error: Input value %s has dtype %s, but expected dtype %s.  This leads to undefined behavior and will be an error in future "
            "versions of TensorFlow.",
            value,
            value.dtype,
            dtype,
        )
