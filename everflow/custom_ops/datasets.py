"""Datasets of C++'s as streams, and streams as datasets that C++ reads."""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

import numpy as np

from everflow._native import CustomIterator, custom_streams
from everflow.custom_ops import framework
from everflow.data import saving
from everflow.data.elements import Element
from everflow.data.streams import Cursor, Reading, Stream
from everflow.errors import from_code, unimplemented
from everflow.graph import dtypes


class Variants:
    """Variants in memory of C++'s. What holds a dataset becomes a stream, and the other way round."""

    def __init__(self, address: int, shape: tuple[int, ...]) -> None:
        self.address, self.shape = address, shape
        weakref.finalize(self, framework.functions().everflow_variants_free, ctypes.c_void_p(address))


def given(value: Any) -> Variants:
    """A value of type variant as C++ takes it."""
    if isinstance(value, Variants):
        return value
    functions = framework.functions()
    items = value if isinstance(value, np.ndarray) else np.array(None, object)
    made = Variants(functions.everflow_variants_new(ctypes.c_int64(items.size)), items.shape)
    for i, item in enumerate(value.reshape(-1) if isinstance(value, np.ndarray) else [value]):
        if not isinstance(item, Stream):
            raise unimplemented(f"Ops in C++ take datasets and variants of their own, not a variant that holds {type(item).__name__}.")
        dataset = item.dataset if isinstance(item, CustomStream) else _outer(item)
        functions.everflow_variant_put(ctypes.c_void_p(made.address), ctypes.c_int64(i), ctypes.c_void_p(dataset.address))
    return made


def taken(address: int, shape: tuple[int, ...]) -> Any:
    """A value of C++'s of type variant: a stream where it is a dataset."""
    functions = framework.functions()
    if not shape:
        found = functions.everflow_variant_dataset(ctypes.c_void_p(address), ctypes.c_int64(0))
        if found:
            return CustomStream(_Dataset(found))
    count = ctypes.c_int64(int(np.prod(shape, dtype=int)))
    return Variants(functions.everflow_variants_copy(ctypes.c_void_p(address), count), shape)


class _Dataset:
    """A reference to a dataset of C++'s."""

    def __init__(self, address: int) -> None:
        self.address = address
        weakref.finalize(self, framework.functions().everflow_dataset_free, ctypes.c_void_p(address))

    def spec(self) -> tuple[list[dtypes.DType], list[Any]]:
        """The types and shapes of the components."""
        found: list[tuple[dtypes.DType, Any]] = []

        def take(number: int, rank: int, sizes: Any) -> None:
            dims = None if rank < 0 else tuple(None if size < 0 else size for size in sizes[:rank])
            found.append((dtypes.as_dtype(number), dims))

        taker = ctypes.CFUNCTYPE(None, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_int64))(take)
        framework.functions().everflow_dataset_spec(ctypes.c_void_p(self.address), taker)
        return [t for t, _ in found], [dims for _, dims in found]


class CustomStream(Stream):
    """A dataset of C++'s."""

    def __init__(self, dataset: _Dataset) -> None:
        super().__init__(*dataset.spec())
        self.dataset = dataset

    def open(self, reading: Reading) -> Cursor:
        return _CustomCursor(self, reading)

    def count(self) -> int:
        return framework.functions().everflow_dataset_count(ctypes.c_void_p(self.dataset.address))

    def inputs(self) -> list[Stream]:
        return [value for value in self.made_by[1] if isinstance(value, Stream)] if self.made_by else []

    def check_describable(self) -> None:
        message = ctypes.create_string_buffer(framework.LONGEST)
        code = framework.functions().everflow_dataset_describe(
            ctypes.c_void_p(self.dataset.address), message, ctypes.c_int64(framework.LONGEST)
        )
        if code:
            raise from_code(None, None, message.value.decode(), code)


class _CustomCursor(Cursor):
    def __init__(self, stream: CustomStream, reading: Reading) -> None:
        super().__init__(stream)
        self.iterator = CustomIterator(
            framework.functions().everflow_iterators(), stream.dataset.address, "Iterator", reading, framework.raised, framework.other
        )

    def next(self) -> Element | None:
        return self.iterator.next()

    def save(self) -> Any:
        return {name: [number, value] for name, (number, value) in self.iterator.save().items()}

    def restore(self, state: Any) -> None:
        self.iterator.restore({name: tuple(saved) for name, saved in state.items()})


class _Outer:
    """A stream with the methods that C++ calls."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.count = stream.count

    def open(self, reading: Reading) -> Any:
        """A cursor at the start."""
        return _OuterCursor(self.stream.open(reading))


class _OuterCursor:
    others = staticmethod(framework.other)

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.next = cursor.next

    def save(self) -> bytes:
        """The position as bytes."""
        return saving.encoded(self.cursor.save())

    def restore(self, position: bytes) -> None:
        """Goes to a saved position."""
        self.cursor.restore(saving.decoded(position))


def _outer(stream: Stream) -> _Dataset:
    """A dataset for C++ that reads a stream."""
    functions = framework.functions()
    functions.everflow_use_streams(ctypes.c_void_p(custom_streams()))
    numbers, count = framework.type_numbers(stream.types)
    shapes: list[int] = []
    for dims in stream.dims:
        shapes += [-1] if dims is None else [len(dims), *(-1 if size is None else size for size in dims)]
    # C++ gives the reference back when it needs the stream no more.
    outer = ctypes.py_object(_Outer(stream))
    ctypes.pythonapi.Py_IncRef(outer)
    address = functions.everflow_dataset_outer(outer, numbers, count, (ctypes.c_int64 * max(1, len(shapes)))(*shapes))
    return _Dataset(address)
