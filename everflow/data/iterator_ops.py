"""Iterators as resources of a session, optionals, and what reads a whole dataset at once."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from everflow.data.elements import Element, dims_of, text, type_of
from everflow.data.streams import Cursor, Reading, Stream, function_of
from everflow.errors import cancelled, failed_precondition, invalid_argument, not_found, out_of_range
from everflow.graph import dtypes, shapes
from everflow.graph.describe import type_name
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.core.shape_rules import scalar
from everflow.proto import resource_handle_pb2

KIND = "iterator"


class Iterator:
    """An iterator of a session. It has nothing to give until it is initialized with a stream."""

    def __init__(self, types: Sequence[Any], dims: Sequence[Any], container: str, name: str, device: str) -> None:
        self.types, self.dims = list(types), list(dims)
        self.container, self.name, self.device = container or "localhost", name, device
        self.stream: Stream | None = None
        self.reading: Reading | None = None
        self.cursor: Cursor | None = None
        self.lock = threading.Lock()

    def start(self, stream: Stream) -> None:
        """Begins at the start of a stream, which must give what the iterator was declared to give."""
        check_signature(self.types, self.dims, stream.types, stream.dims)
        stream.check([])
        before = self.reading
        reading = Reading()
        cursor = stream.open(reading)
        if before is not None:
            before.cancel()
        with self.lock:
            self.stream, self.reading, self.cursor = stream, reading, cursor

    def next(self) -> Element | None:
        """The next element, or None at the end."""
        cursor = self.cursor
        if cursor is None:
            raise failed_precondition(
                "GetNext() failed because the iterator has not been initialized. Ensure that you have run the initializer operation for "
                "this iterator before getting the next element."
            )
        with self.lock:
            element = cursor.next()
        if element is not None:
            for value, dims in zip(element, self.dims):
                if dims is not None and len(dims) and not shapes.is_compatible(dims, dims_of(value)):
                    raise invalid_argument(
                        f"Number of components does not match or shapes are incompatible: expected {shapes.describe(dims)}, got "
                        f"{shapes.describe(dims_of(value))}"
                    )
        return element

    def dispose(self) -> None:
        """Gives up: threads end, and whoever waits gets an error."""
        if self.reading is not None:
            self.reading.cancel()
        self.cursor = self.stream = None

    def __del__(self) -> None:
        if self.reading is not None:
            self.reading.cancel()

    def handle(self) -> bytes:
        """A string by which other steps find the iterator."""
        proto = resource_handle_pb2.ResourceHandleProto(
            device=self.device, container=self.container, name=self.name, maybe_type_name="N10tensorflow4data16IteratorResourceE"
        )
        return proto.SerializeToString()


def check_signature(types: Sequence[Any], dims: Sequence[Any], other_types: Sequence[Any], other_dims: Sequence[Any]) -> None:
    """Raises where elements of the second kind are not of the first."""
    if len(types) != len(other_types):
        raise invalid_argument(f"Number of components does not match: expected {len(types)} types but got {len(other_types)}.")
    for i, (want, got) in enumerate(zip(types, other_types)):
        if want.base_dtype is not got.base_dtype:
            raise invalid_argument(f"Data type mismatch at component {i}: expected {type_name(want)} but got {type_name(got)}.")
    for i, (want, got) in enumerate(zip(dims, other_dims)):
        if not shapes.is_compatible(want, got):
            raise invalid_argument(
                f"Incompatible shapes at component {i}: expected {shapes.describe(want)} but got {shapes.describe(got)}."
            )


def _place(node: Node) -> str:
    """The device of an op that makes or finds an iterator; of ops that run at once, the first."""
    placer = node.context.placer
    return placer.default_device if node.op is None else placer.device_of(node.op)


def _iterator(node: Node) -> Callable[[], Iterator]:
    types, dims = node.attr("output_types"), node.attr("output_shapes")
    container, name = node.attr("container"), node.attr("shared_name") or node.context.own_name(node.name)
    resources, device = node.context.resources, _place(node)

    def make() -> Iterator:
        found = resources.get(container, KIND, name, lambda: Iterator(types, dims, container, name, device))
        if found.types != list(types):
            check_signature(found.types, found.dims, types, dims)
        return found

    return make


for _name in ("Iterator", "IteratorV2"):
    op(_name, kernel=_iterator, shape=scalar)


def _one_shot(node: Node) -> Callable[[], Iterator]:
    types, dims = node.attr("output_types"), node.attr("output_shapes")
    container, name = node.attr("container"), node.attr("shared_name") or node.context.own_name(node.name)
    factory = node.context.function(node.attr("dataset_factory").name)
    resources, device = node.context.resources, _place(node)

    def make() -> Iterator:
        found = resources.get(container, KIND, name, lambda: Iterator(types, dims, container, name, device))
        if found.cursor is None:
            with _starting:
                if found.cursor is None:
                    results = factory()
                    if len(results) != 1 or not isinstance(results[0], Stream):
                        raise invalid_argument("The `dataset_factory` function must return a single scalar of dtype DT_VARIANT.")
                    found.start(results[0])
        return found

    return make


_starting = threading.RLock()
op("OneShotIterator", kernel=_one_shot, shape=scalar)


def _anonymous(node: Node) -> Callable[[], Any]:
    types, dims = node.attr("output_types"), node.attr("output_shapes")
    count, device = len(node.outputs), _place(node)

    def make() -> Any:
        with _starting:
            _numbers[0] += 1
            name = f"AnonymousIterator{_numbers[0]}"
        iterator = Iterator(types, dims, "AnonymousIterator", name, device)
        _anonymous_iterators[name] = iterator
        return iterator if count == 1 else (iterator, _Deleter(iterator))

    return make


_numbers = [0]
# Found by their handle for as long as something holds them.
_anonymous_iterators: Any = weakref.WeakValueDictionary()


class _Deleter:
    """Gives an iterator up when nothing refers to it any more."""

    def __init__(self, iterator: Iterator) -> None:
        self.iterator = iterator


op("AnonymousIterator", kernel=_anonymous, shape=scalar)
op("AnonymousIteratorV2", kernel=_anonymous, shape=lambda o: [(), ()])
op("DeleteIterator", kernel=lambda node: lambda handle, deleter: handle.dispose(), shape=lambda o: [])
op("MakeIterator", kernel=lambda node: lambda stream, iterator: iterator.start(stream), shape=lambda o: [])


def _output_shapes(o: Operation) -> list[Any]:
    return list(o.attr("output_shapes"))


def _get_next(node: Node) -> Callable[[Any], Any]:
    single = len(node.outputs) == 1

    def following(iterator: Iterator) -> Any:
        element = iterator.next()
        if element is None:
            raise out_of_range("End of sequence")
        return element[0] if single else element

    return following


for _name in ("IteratorGetNext", "IteratorGetNextSync"):
    op(_name, kernel=_get_next, shape=_output_shapes, hands_out=True)


def _to_string(node: Node) -> Callable[[Any], Any]:
    return lambda iterator: text(iterator.handle())


op("IteratorToStringHandle", kernel=_to_string, shape=scalar)


def _from_string(node: Node) -> Callable[[Any], Iterator]:
    types, dims = list(node.attr("output_types") or ()), list(node.attr("output_shapes") or ())
    resources, device = node.context.resources, _place(node)

    def found(handle: Any) -> Iterator:
        if dims_of(handle):
            raise invalid_argument("string_handle must be a scalar")
        proto = resource_handle_pb2.ResourceHandleProto()
        try:
            proto.ParseFromString(handle.item())
        except Exception:  # protobuf's errors have no common base that is public
            raise invalid_argument("Could not parse string_handle as a valid ResourceHandle") from None
        if proto.device != device:
            raise invalid_argument(f'Attempted create an iterator on device "{device}" from handle defined on device "{proto.device}"')
        container = "" if proto.container == "localhost" else proto.container
        iterator = resources.find(container, KIND, proto.name) or _anonymous_iterators.get(proto.name)
        if iterator is None:
            raise not_found(f"Resource {proto.container or 'localhost'}/{proto.name}/{proto.maybe_type_name} does not exist.")
        if types:
            check_signature(types, dims or [None] * len(types), iterator.types, iterator.dims)
        return iterator

    return found


for _name in ("IteratorFromStringHandle", "IteratorFromStringHandleV2"):
    op(_name, kernel=_from_string, shape=scalar)
for _name in ("IteratorGetDevice", "ExperimentalIteratorGetDevice"):
    op(_name, kernel=lambda node: lambda iterator: text(iterator.device.encode()), shape=scalar)


class Optional:
    """An element, or none."""

    __slots__ = ("element",)
    # As an item of a list of tensors, it is a scalar.
    shape = ()
    ndim = 0

    def __init__(self, element: Element | None) -> None:
        self.element = element

    def zeros(self) -> Optional:
        """The same with zeros in the place of values."""
        return Optional(None if self.element is None else tuple(_zeros(v) for v in self.element))

    def plus(self, other: Optional) -> Optional:
        """The sums of the values; both must have some or none."""
        if (self.element is None) != (other.element is None):
            raise invalid_argument("Cannot add optionals because one has a value and the other doesn't.")
        if self.element is None or other.element is None:
            return self
        if len(self.element) != len(other.element):
            raise invalid_argument(
                f"Cannot add optionals because they have different numbers of components ({len(self.element)} vs. {len(other.element)})."
            )
        return Optional(tuple(a.plus(b) if hasattr(a, "plus") else a + b for a, b in zip(self.element, other.element)))


def _zeros(value: Any) -> Any:
    if hasattr(value, "zeros"):
        return value.zeros()
    if isinstance(value, np.ndarray):
        raise invalid_argument(f"Trying to compute zeros_like for unsupported dtype {type_name(type_of(value) or dtypes.variant)}")
    return torch.zeros_like(value)


def _as_optional(node: Node) -> Callable[[Any], Optional]:
    return lambda iterator: Optional(iterator.next())


def _value(node: Node) -> Callable[[Any], Any]:
    single = len(node.outputs) == 1
    types, dims = node.attr("output_types"), node.attr("output_shapes")

    def get(optional: Optional) -> Any:
        if not isinstance(optional, Optional):
            raise invalid_argument("Input to OptionalHasValue must be an OptionalVariant object.")
        element = optional.element
        if element is None:
            raise invalid_argument("The given optional does not have a value.")
        if len(element) != len(types):
            raise invalid_argument(f"The given optional has {len(element)} components, expected {len(types)}")
        for i, (value, dtype, want) in enumerate(zip(element, types, dims)):
            actual = type_of(value)
            if actual is not None and actual is not dtype.base_dtype:
                raise invalid_argument(
                    f"The given optional does not match the expected type for component {i}. Expected: {type_name(dtype)}. "
                    f"Actual: {type_name(actual)}."
                )
            if not shapes.is_compatible(want, dims_of(value)):
                raise invalid_argument(
                    f"The given optional does not match the expected shape for component {i}. Expected: {shapes.describe(want)}. "
                    f"Actual: {shapes.describe(dims_of(value))}."
                )
        return element[0] if single else element

    return get


def _components_of(o: Operation, dy: Any) -> Any:
    types, dims = [t.dtype.base_dtype for t in o.inputs], [t.dims for t in o.inputs]
    return apply("OptionalGetValue", dy, output_types=types, output_shapes=dims)


op("IteratorGetNextAsOptional", kernel=_as_optional, shape=scalar)
op("OptionalFromValue", kernel=lambda node: lambda *components: Optional(components), shape=scalar, gradient=_components_of)
op("OptionalNone", kernel=lambda node: lambda: Optional(None), shape=scalar)
op("OptionalHasValue", kernel=lambda node: lambda optional: torch.tensor(optional.element is not None), shape=scalar)
op("OptionalGetValue", kernel=_value, shape=_output_shapes, gradient=lambda o, *dys: apply("OptionalFromValue", dys), hands_out=True)


def _single_element(node: Node) -> Callable[[Any], Any]:
    single = len(node.outputs) == 1

    def get(stream: Stream) -> Any:
        cursor = stream.open(Reading())
        element = cursor.next()
        if element is None:
            raise invalid_argument("Dataset was empty.")
        if cursor.next() is not None:
            raise invalid_argument("Dataset had more than one element.")
        return element[0] if single else element

    return get


op("DatasetToSingleElement", kernel=_single_element, shape=_output_shapes, hands_out=True)


def _reduce(node: Node) -> Callable[..., Any]:
    single = len(node.outputs) == 1
    size = len(node.attr("Tstate"))
    function = function_of(node)
    is_cancelled = node.context.cancelled.is_set

    def run(stream: Stream, *rest: Any) -> Any:
        memory = rest[:size]
        call = function(rest[size:])
        cursor = stream.open(Reading())
        while (element := cursor.next()) is not None:
            if is_cancelled():
                raise cancelled("The session was closed.")
            memory = call(*memory, *element)
            if len(memory) != size:
                raise invalid_argument(
                    "The number of components of the initial state and the reduce function output does not match. "
                    f"(initial_state={size}, output={len(memory)})."
                )
        for i, (value, dims) in enumerate(zip(memory, node.attr("output_shapes"))):
            if not shapes.is_compatible(dims, dims_of(value)):
                raise invalid_argument(
                    f"The result does not match the expected shape for component {i}. Expected: {shapes.describe(dims)}. "
                    f"Actual: {shapes.describe(dims_of(value))}."
                )
        return memory[0] if single else memory

    return run


op("ReduceDataset", kernel=_reduce, shape=_output_shapes, gradient=not_differentiable, hands_out=True)
