"""TensorArrays where ops run at once: a list in Python."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow import errors
from everflow.api import internal
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.ops.lists.tensor_array_functions import ArrayState, TensorArray


@internal("ops.tensor_array_ops._EagerTensorArray")
class EagerTensorArray(ArrayState):
    """The array changes in place; gradients follow the tensors that go through it."""

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
        super().__init__(dtype, dynamic_size, infer_shape, element_shape)
        if size is None:
            raise ValueError("Size must be declared for TensorArrays when executing eagerly.")
        self._items: list[Any] = [None] * int(size)
        self._read: set[int] = set()
        self._clears = True if clear_after_read is None else clear_after_read
        self._flow = tf.constant(0, dtype=dtypes.int32)

    handle = None

    def _with_flow(self, flow: Any) -> TensorArray:
        return TensorArray.of(self)

    def grad(self, source: str, flow: Any, name: str | None) -> Any:
        raise NotImplementedError(
            "TensorArray.grad is not supported when executing eagerly; eager's gradient implementation does not use/need this function "
            "to compute gradients of operations that use TensorArrays."
        )

    def read(self, index: Any, name: str | None) -> Any:
        at = _number(index)
        if at < 0:
            raise errors.OutOfRangeError(None, None, f"Reading from negative indices (index {at}) is not allowed.")
        if at >= len(self._items):
            raise errors.OutOfRangeError(None, None, f"Tried to read from index {at} but array size is: {len(self._items)}")
        value = self._items[at]
        if value is None:
            if at in self._read:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"Could not read index {at} twice because it was cleared after a previous read (perhaps try setting "
                    "clear_after_read = false?)",
                )
            value = self._items[at] = tf.zeros(self.element_shape, self._dtype)
        if self._clears:
            self._items[at] = None
            self._read.add(at)
        return value

    def write(self, index: Any, value: Any, name: str | None) -> TensorArray:
        at = _number(index)
        size = len(self._items)
        if at < 0:
            raise errors.OutOfRangeError(None, None, f"Writing to negative indices (index {at}) is not allowed.")
        if at >= size:
            if not self._dynamic_size:
                raise errors.OutOfRangeError(None, None, f"Tried to write to index {at} but array is not resizeable and size is: {size}")
            self._items.extend([None] * (at + 1 - size))
        if not isinstance(value, tf.Tensor):
            value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
        if value.dtype != self._dtype:
            raise errors.InvalidArgumentError(
                None, None, f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype {value.dtype.name}"
            )
        if not self.element_shape.is_compatible_with(value.shape):
            raise ValueError(f"Incompatible shape for value ({value.shape}), expected ({self.element_shape})")
        if self._infer_shape:
            self._element_shape[0] = self.element_shape.merge_with(value.shape)
        self._items[at] = value
        return TensorArray.of(self)

    def _filled(self, at: int) -> Any:
        if self._items[at] is None:
            self._items[at] = tf.zeros(self.element_shape, self._dtype)
        return self._items[at]

    def stack(self, name: str | None) -> Any:
        found = [self._filled(i) for i in range(len(self._items))]
        return tf.stack(found, name=name or "stack") if found else tf.constant([], dtype=self._dtype)

    def gather(self, indices: Any, name: str | None) -> Any:
        return tf.stack([self._filled(_number(i)) for i in indices])

    def concat(self, name: str | None) -> Any:
        try:
            return tf.concat([self._filled(i) for i in range(len(self._items))], 0, name=name or "concat")
        except errors.OpError as e:
            # Version 1 words it for arrays.
            first = self._items[0].shape.ndims if self._items else None
            if first == 0:
                raise errors.InvalidArgumentError(None, None, "Concat saw a scalar shape at index 0 but requires at least vectors.") from e
            raise

    def unstack(self, value: Any, name: str | None) -> TensorArray:
        found = tf.unstack(value)
        if len(found) > len(self._items) and not self._dynamic_size:
            raise ValueError(f"Cannot unstack {len(found)} tensors into a TensorArray of static size {len(self._items)}")
        self._items = found
        if self._infer_shape and found:
            self._element_shape[0] = self.element_shape.merge_with(found[0].shape)
        return TensorArray.of(self)

    def scatter(self, indices: Any, value: Any, name: str | None) -> TensorArray:
        for i, row in zip(_numbers(indices), tf.unstack(value)):
            self.write(i, row, None)
        return TensorArray.of(self)

    def split(self, value: Any, lengths: Any, name: str | None) -> TensorArray:
        value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
        lengths = convert_to_tensor(lengths)
        if lengths.shape.ndims == 0:
            raise errors.InvalidArgumentError(None, None, "Expected lengths to be a vector, received shape: []")
        if value.shape.ndims == 0:
            raise errors.InvalidArgumentError(None, None, "Expected value to be at least a vector, but received shape: []")
        sizes = _numbers(lengths)
        if sum(sizes) != value.shape[0]:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {sum(sizes)} and value's shape is: "
                f"{value.shape.as_list()} ",
            )
        if not self._dynamic_size and len(sizes) != len(self._items):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"TensorArray's size is not equal to the size of lengths ({len(self._items)} vs. {len(sizes)}), and the TensorArray is "
                "not marked as dynamically resizeable",
            )
        self._items = tf.split(value, sizes)
        return TensorArray.of(self)

    def size(self, name: str | None) -> Any:
        return tf.constant(len(self._items))

    def close(self, name: str | None) -> None:
        self._items = []


def _number(value: Any) -> int:
    return int(value.numpy()) if hasattr(value, "numpy") else int(value)


def _numbers(values: Any) -> list[int]:
    return [_number(v) for v in (values.numpy() if hasattr(values, "numpy") else values)]
