"""tf.TensorArray: an array of tensors that loops read and write by index."""

from __future__ import annotations

import contextlib
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import colocate_with, control_dependencies, device, name_scope
from everflow.graph.shapes import TensorShape
from everflow.graph.stacks import get_default_graph, in_eager_mode
from everflow.graph.tensor import Tensor
from everflow.ops.control_flow.toggles import enabled_in
from everflow.ops.core.registry import apply


class ArrayState:
    """What the forms of a TensorArray share: the dtype, and what is known of the elements' shape, which arrays that come of
    each other find out together."""

    def __init__(self, dtype: dtypes.DTypeLike, dynamic_size: Any, infer_shape: bool, element_shape: Any) -> None:
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = bool(dynamic_size)
        self._infer_shape = infer_shape
        self._element_shape = [TensorShape(element_shape)]
        self._flow: Any = None

    @property
    def dtype(self) -> dtypes.DType:
        return self._dtype

    @property
    def flow(self) -> Any:
        return self._flow

    @property
    def element_shape(self) -> TensorShape:
        return self._element_shape[0]

    def check_element_shape(self, shape: Any) -> None:
        """Takes note of the shape of an element; ValueError where it can't be one."""
        shape = TensorShape(shape)
        if not self.element_shape.is_compatible_with(shape):
            raise ValueError(f"Inconsistent shapes: saw {shape} but expected {self.element_shape} ")
        if self._infer_shape:
            self._element_shape[0] = self.element_shape.merge_with(shape)

    def check_split(self, value: Tensor, lengths: Tensor) -> None:
        """The same for parts of a value, where all are known to be of one length."""
        known = constant_value(lengths)
        if self._infer_shape and value.shape.dims is not None and known is not None and known.ndim == 1 and len(set(known.tolist())) == 1:
            self.check_element_shape(TensorShape([int(known[0])]).concatenate(value.shape[1:]))


class _GraphTensorArray(ArrayState):
    """An array that exists while a step runs, behind a handle: the ops TensorArray*V3."""

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
        if handle is not None:
            for given, text in (
                (tensor_array_name, "Cannot construct with both handle and tensor_array_name"),
                (size, "Cannot provide both a handle and size at the same time"),
                (element_shape, "Cannot provide both a handle and element_shape at the same time"),
                (dynamic_size, "Cannot provide both a handle and dynamic_size at the same time"),
                (clear_after_read, "Cannot provide both a handle and clear_after_read at the same time"),
            ):
                if given is not None and given != "":
                    raise ValueError(text)
            if not isinstance(handle, Tensor):
                raise TypeError("Handle must be a Tensor")
            if flow is None:
                raise ValueError("flow must not be None if handle is not None.")
        elif size is None:
            raise ValueError("Size must be provided if handle is not provided")
        super().__init__(dtype, dynamic_size, infer_shape, element_shape)
        self._colocates_writes = colocate_with_first_write_call
        self._colocated: list[Any] | None = [] if colocate_with_first_write_call else None
        with name_scope(name, "TensorArray", [handle, size, flow]) as scope:
            if handle is not None:
                self._handle, self._flow = handle, flow
                return
            with contextlib.ExitStack() as places:
                if colocate_with_first_write_call:
                    # The array will be where the first value comes from, not where it is made.
                    places.enter_context(device(None))
                    places.enter_context(colocate_with(None, ignore_existing=True))
                self._handle, self._flow = apply(
                    "TensorArrayV3",
                    size,
                    dtype=self._dtype,
                    element_shape=self.element_shape,
                    dynamic_size=self._dynamic_size,
                    clear_after_read=True if clear_after_read is None else clear_after_read,
                    identical_element_shapes=infer_shape,
                    tensor_array_name=tensor_array_name or "",
                    name=scope,
                )

    @property
    def handle(self) -> Tensor:
        return self._handle

    def _beside(self, value: Tensor) -> Any:
        """Puts a write beside the value of the first one."""
        if self._colocated is None:
            return contextlib.nullcontext()
        if not self._colocated:
            self._colocated.append(value)
        return colocate_with(self._colocated[0])

    def _with_flow(self, flow: Tensor) -> TensorArray:
        found = TensorArray(
            dtype=self._dtype,
            handle=self._handle,
            flow=flow,
            infer_shape=self._infer_shape,
            colocate_with_first_write_call=self._colocates_writes,
        )
        new = found._implementation
        new._element_shape, new._dynamic_size = self._element_shape, self._dynamic_size
        new._colocated = self._colocated
        return found

    def grad(self, source: str, flow: Any, name: str | None) -> TensorArray:
        upto = self._flow if flow is None else flow
        how: dict[str, Any] = {"infer_shape": self._infer_shape, "colocate_with_first_write_call": False}
        with name_scope(name, "TensorArrayGrad", [self._handle]), colocate_with(self._handle):
            handle, _ = apply("TensorArrayGradV3", self._handle, upto, source=source, name=name)
            with control_dependencies([handle]):
                begins = apply("Identity", upto, name="gradient_flow")
            gradients = TensorArray(self._dtype, handle=handle, flow=begins, **how)
            gradients._implementation._element_shape = self._element_shape
            return gradients

    def read(self, index: Any, name: str | None) -> Tensor:
        value = apply("TensorArrayReadV3", self._handle, index, self._flow, dtype=self._dtype, name=name)
        if self.element_shape.dims is not None:
            value.set_shape(self.element_shape)
        return value

    def write(self, index: Any, value: Any, name: str | None) -> TensorArray:
        with name_scope(name, "TensorArrayWrite", [self._handle, index, value]):
            value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
            self.check_element_shape(value.shape)
            with self._beside(value):
                flow = apply("TensorArrayWriteV3", self._handle, index, value, self._flow, name=name)
            return self._with_flow(flow)

    def stack(self, name: str | None) -> Tensor:
        with colocate_with(self._handle), name_scope(name, "TensorArrayStack", [self._handle]):
            return self.gather(_range(self.size(None)), name)

    def gather(self, indices: Any, name: str | None) -> Tensor:
        shape = self.element_shape
        value = apply("TensorArrayGatherV3", self._handle, indices, self._flow, dtype=self._dtype, element_shape=shape, name=name)
        if shape.dims is not None:
            value.set_shape(TensorShape([None]).concatenate(shape))
        return value

    def concat(self, name: str | None) -> Tensor:
        inner = self.element_shape[1:]
        value, _ = apply("TensorArrayConcatV3", self._handle, self._flow, dtype=self._dtype, element_shape_except0=inner, name=name)
        if self.element_shape.dims is not None:
            value.set_shape(TensorShape([None]).concatenate(inner))
        return value

    def unstack(self, value: Any, name: str | None) -> TensorArray:
        with name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            count = tf.shape(value)[0]
            return self.scatter(_range(count), value, name)

    def scatter(self, indices: Any, value: Any, name: str | None) -> TensorArray:
        with name_scope(name, "TensorArrayScatter", [self._handle, value, indices]):
            value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
            if value.shape.dims is None or value.shape.dims:
                self.check_element_shape(value.shape[1:])
            with self._beside(value):
                return self._with_flow(apply("TensorArrayScatterV3", self._handle, indices, value, self._flow, name=name))

    def split(self, value: Any, lengths: Any, name: str | None) -> TensorArray:
        with name_scope(name, "TensorArraySplit", [self._handle, value, lengths]):
            value = convert_to_tensor(value, dtype=self._dtype, name="value")
            with self._beside(value):
                lengths = tf.cast(lengths, dtypes.int64)
                self.check_split(value, lengths)
                return self._with_flow(apply("TensorArraySplitV3", self._handle, value, lengths, self._flow, name=name))

    def size(self, name: str | None) -> Tensor:
        return apply("TensorArraySizeV3", self._handle, self._flow, name=name)

    def close(self, name: str | None) -> Any:
        return apply("TensorArrayCloseV3", self._handle, name=name)


def _range(count: Any) -> Tensor:
    return tf.range(0, count)


def _form() -> Any:
    """Which of its forms a new array takes here."""
    if in_eager_mode():
        from everflow.ops.lists.eager_tensor_arrays import EagerTensorArray

        return EagerTensorArray
    if enabled_in(get_default_graph()):
        from everflow.ops.lists.tensor_arrays_of_lists import ListTensorArray

        return ListTensorArray
    return _GraphTensorArray


@public("TensorArray")
@internal("ops.tensor_array_ops.TensorArray")
class TensorArray:
    """An array of tensors of one dtype, written and read by index; each write gives the array to go on with.

    `ta = tf.TensorArray(tf.float32, size=3); ta = ta.write(0, x); y = ta.read(0); all = ta.stack()`
    """

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
        self._implementation = _form()(
            dtype=dtype,
            size=size,
            dynamic_size=dynamic_size,
            clear_after_read=clear_after_read,
            tensor_array_name=tensor_array_name,
            handle=handle,
            flow=flow,
            infer_shape=infer_shape,
            element_shape=element_shape,
            colocate_with_first_write_call=colocate_with_first_write_call,
            name=name,
        )

    @classmethod
    def of(cls, implementation: Any) -> TensorArray:
        """The array around one of its forms."""
        found = cls.__new__(cls)
        found._implementation = implementation
        return found

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the elements."""
        return self._implementation.dtype

    @property
    def flow(self) -> Any:
        """The tensor that stands for the state of the array: it orders reads and writes."""
        return self._implementation.flow

    @property
    def handle(self) -> Any:
        """The reference to the array, where it has one."""
        return self._implementation.handle

    @property
    def element_shape(self) -> TensorShape:
        """What is known of the shape of the elements."""
        return self._implementation.element_shape

    @property
    def dynamic_size(self) -> bool:
        """Whether writes may make the array larger."""
        return self._implementation._dynamic_size

    @property
    def _infer_shape(self) -> bool:
        return self._implementation._infer_shape

    def identity(self) -> TensorArray:
        """The same array, handed on after control dependencies."""
        return self if in_eager_mode() else build_ta_with_new_flow(self, tf.identity(self.flow))

    def grad(self, source: str, flow: Any = None, name: str | None = None) -> TensorArray:
        """The array of gradients that the call of tf.gradients named `source` computes."""
        return self._implementation.grad(source, flow, name)

    def read(self, index: Any, name: str | None = None) -> Any:
        """An element."""
        return self._implementation.read(index, name)

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with an element written."""
        return self._implementation.write(index, value, name)

    def stack(self, name: str | None = None) -> Any:
        """All elements as one tensor, along a new first axis."""
        return self._implementation.stack(name)

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """Some elements as one tensor."""
        return self._implementation.gather(indices, name)

    def concat(self, name: str | None = None) -> Any:
        """All elements joined along their first axis."""
        return self._implementation.concat(name)

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """The array with the rows of a tensor as its elements."""
        return self._implementation.unstack(value, name)

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with the rows of a tensor written to some elements."""
        return self._implementation.scatter(indices, value, name)

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """The array with consecutive parts of a tensor as its elements."""
        return self._implementation.split(value, lengths, name)

    def size(self, name: str | None = None) -> Any:
        """How many elements there are."""
        return self._implementation.size(name)

    def close(self, name: str | None = None) -> Any:
        """Lets go of all elements."""
        return self._implementation.close(name)

    def mark_used(self) -> None:
        """Says that the array may be dropped on purpose."""


internal("ops.tensor_array_ops._GraphTensorArray")(_GraphTensorArray)


@internal("ops.tensor_array_ops.build_ta_with_new_flow")
def build_ta_with_new_flow(old_ta: Any, flow: Any) -> TensorArray:
    """The same array in another state."""
    implementation = old_ta._implementation if isinstance(old_ta, TensorArray) else old_ta
    return implementation._with_flow(flow)
