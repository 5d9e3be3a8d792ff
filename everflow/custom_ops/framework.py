"""`libtensorflow_framework`, which custom ops link with: what they registered, their nodes, shape functions and kernels."""

from __future__ import annotations

import ctypes
import functools
import pathlib
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

from everflow._native import CustomKernel
from everflow.custom_ops.definitions import Words
from everflow.errors import from_code, unimplemented
from everflow.graph import dtypes
from everflow.graph.shapes import Dims
from everflow.lazy import torch
from everflow.values.tensors import torch_dtype

FOLDER = pathlib.Path(__file__).parent.parent
LIBRARY = FOLDER / "libtensorflow_framework.so.1"

# What returns addresses.
_ADDRESSES = (
    "everflow_node_new",
    "everflow_resources_copy",
    "everflow_manager_new",
    "everflow_iterators",
    "everflow_variants_new",
    "everflow_variants_copy",
    "everflow_variant_dataset",
    "everflow_dataset_outer",
)
# How long the words of an error may be, and how many sizes an op's outputs may have.
LONGEST, _MOST = 4096, 4096


class _Tensor(ctypes.Structure):
    """EverflowTensor of native/framework/abi.h."""

    _fields_ = (
        ("type", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("sizes", ctypes.POINTER(ctypes.c_int64)),
        ("data", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("owner", ctypes.c_void_p),
    )


@functools.cache
def functions() -> Any:
    """The functions of the library; others that are loaded later find its symbols."""
    try:
        library = ctypes.CDLL(str(LIBRARY), ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise unimplemented(f"Custom ops need {LIBRARY.name}, which was not built with Everflow: {error}") from None
    for name in _ADDRESSES:
        getattr(library, name).restype = ctypes.c_void_p
    for name in ("everflow_op_count", "everflow_kernel_count", "everflow_dataset_count"):
        getattr(library, name).restype = ctypes.c_int64
    library.everflow_use_threads(torch.get_num_threads())
    return library


def registered(op: int) -> Words:
    """What was said of an op."""
    found: list[bytes] = []
    taker = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(lambda at, size: found.append(ctypes.string_at(at, size)))
    functions().everflow_op_words(ctypes.c_int64(op), taker)
    fields = [field.split("\x1f")[:-1] for field in found[0].decode().split("\x1e")[:-1]]
    (name,), (doc,), attrs, inputs, outputs, flags = fields
    return Words(name, doc, attrs, inputs, outputs, set(flags))


def _sizes(dims: Iterable[int | None]) -> Any:
    values = [-1 if size is None else size for size in dims]
    return (ctypes.c_int64 * max(1, len(values)))(*values), len(values)


def type_numbers(types: Iterable[dtypes.DType]) -> Any:
    """The numbers of types, and how many there are."""
    values = [t.as_datatype_enum for t in types]
    return (ctypes.c_int32 * max(1, len(values)))(*values), len(values)


def _array_tensor(array: np.ndarray, dtype: dtypes.DType) -> tuple[_Tensor, Any]:
    """A tensor that shares an array's memory, and what must live as long as it."""
    sizes, rank = _sizes(array.shape)
    return _Tensor(dtype.as_datatype_enum, rank, sizes, array.ctypes.data or 1, None, None), (array, sizes)


class CustomNode:
    """A node as C++ sees it: its attributes and the types of its inputs and outputs."""

    def __init__(self, definition: Any, name: str, attrs: dict[str, Any]) -> None:
        self._functions = functions()
        self.name = name
        self.address = ctypes.c_void_p(self._functions.everflow_node_new(definition.name.encode(), name.encode(), b"CPU"))
        weakref.finalize(self, self._functions.everflow_node_free, self.address)
        self.types: dict[bool, list[dtypes.DType]] = {False: [], True: []}
        for key, value in attrs.items():
            kind = definition.attrs[key].type if key in definition.attrs else "string"
            self._functions.everflow_node_attr(self.address, key.encode(), kind.startswith("list("), "bool" in kind, "func" in kind)
            for item in value if kind.startswith("list(") else [value]:
                self._add(key.encode(), kind.removeprefix("list(").removesuffix(")"), item)
        for is_output, arguments in ((False, definition.inputs), (True, definition.outputs)):
            for argument in arguments:
                types = _types_of(argument, attrs)
                numbers, count = type_numbers(types)
                self._functions.everflow_node_argument(self.address, is_output, argument.name.encode(), numbers, count)
                self.types[is_output] += types

    def _add(self, key: bytes, kind: str, value: Any) -> None:
        add = self._functions
        if kind in ("int", "bool"):
            add.everflow_attr_integer(self.address, key, ctypes.c_int64(int(value)))
        elif kind == "float":
            add.everflow_attr_float(self.address, key, ctypes.c_double(value))
        elif kind == "type":
            add.everflow_attr_type(self.address, key, value.as_datatype_enum)
        elif kind == "shape":
            sizes, rank = _sizes(value or ())
            add.everflow_attr_shape(self.address, key, sizes, -1 if value is None else rank)
        elif kind == "tensor":
            array = np.asarray(value, order="C")
            tensor, _kept = _array_tensor(array, dtypes.as_dtype(array.dtype))
            add.everflow_attr_tensor(self.address, key, ctypes.byref(tensor))
        else:
            text = value if isinstance(value, bytes) else str(getattr(value, "name", value)).encode()
            add.everflow_attr_text(self.address, key, text, ctypes.c_int64(len(text)))

    def shapes(self, op: int, inputs: list[tuple[Dims, np.ndarray | None]]) -> list[Dims]:
        """The static shapes of the outputs; ValueError for shapes that can't be."""
        tensors = (_Tensor * max(1, len(inputs)))()
        kept: list[Any] = []
        for i, ((dims, known), dtype) in enumerate(zip(inputs, self.types[False])):
            if known is not None and known.dtype != object:
                tensors[i], memory = _array_tensor(np.asarray(known, order="C"), dtype)
                kept.append(memory)
            else:
                sizes, rank = _sizes(dims or ())
                tensors[i] = _Tensor(dtype.as_datatype_enum, -1 if dims is None else rank, sizes, None, None, None)
                kept.append(sizes)
        found, message = (ctypes.c_int64 * _MOST)(), ctypes.create_string_buffer(LONGEST)
        if self._functions.everflow_infer(
            ctypes.c_int64(op), self.address, tensors, found, ctypes.c_int64(_MOST), message, ctypes.c_int64(LONGEST)
        ):
            raise ValueError(message.value.decode())
        values = iter(found)
        shapes: list[Dims] = []
        for _ in self.types[True]:
            rank = next(values)
            shapes.append(None if rank < 0 else tuple(None if size < 0 else size for size in (next(values) for _ in range(rank))))
        return shapes

    def kernel(self, resources: Manager) -> CustomKernel:
        """What computes the node in a session with these resources."""
        made, message = ctypes.c_void_p(), ctypes.create_string_buffer(LONGEST)
        code = self._functions.everflow_kernel_new(self.address, resources.address, ctypes.byref(made), message, ctypes.c_int64(LONGEST))
        if code:
            raise from_code(None, None, message.value.decode(), code)
        return CustomKernel(
            made.value or 0,
            _address(self._functions.everflow_compute),
            _address(self._functions.everflow_kernel_free),
            [t.base_dtype.as_datatype_enum for t in self.types[False]],
            [t.base_dtype.as_datatype_enum for t in self.types[True]],
            [_maker(t.base_dtype) for t in self.types[True]],
            raised,
            other,
        )


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _maker(dtype: dtypes.DType) -> Any:
    """What makes an empty tensor; None for what C++ makes itself."""
    return None if dtype in (dtypes.string, dtypes.resource, dtypes.variant) else functools.partial(torch.empty, dtype=torch_dtype(dtype))


def _types_of(argument: Any, attrs: dict[str, Any]) -> list[dtypes.DType]:
    if argument.type_list_attr:
        return list(attrs[argument.type_list_attr])
    dtype = argument.type or attrs[argument.type_attr]
    return [dtype] * (attrs[argument.number_attr] if argument.number_attr else 1)


def raised(code: int, message: str) -> None:
    """Raises the error of a status."""
    raise from_code(None, None, message, code)


class CustomResource:
    """A tensor of resource handles, which C++ knows what to do with."""

    def __init__(self, address: int, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.address: int = functions().everflow_resources_copy(ctypes.c_void_p(address), ctypes.c_int64(int(np.prod(shape, dtype=int))))
        weakref.finalize(self, functions().everflow_resources_free, ctypes.c_void_p(self.address))


class Manager:
    """What the custom ops of one session keep, by containers and names."""

    def __init__(self, default_container: str) -> None:
        self.address = ctypes.c_void_p(functions().everflow_manager_new(default_container.encode()))
        weakref.finalize(self, functions().everflow_manager_free, self.address)

    def clear_containers(self, names: list[str] | None) -> None:
        """Empties containers; all of them where none are named."""
        for name in [None] if names is None else names:
            functions().everflow_manager_clear(self.address, None if name is None else name.encode())


def other(kind: Any, sizes: list[int], content: Any) -> Any:
    """A value that is not simply a tensor that was made for it: of one type of numbers at an address, or of another kind."""
    if kind == "shaped":
        return content.view(sizes)
    if kind == "texts":
        texts = np.empty(len(content), object)
        texts[:] = content
        return texts.reshape(sizes)
    if kind == "resource":
        return CustomResource(content, tuple(sizes))
    if kind in ("given", "variant"):
        # Programs without datasets of C++'s do without tf.data.
        from everflow.custom_ops import datasets

        return datasets.given(content) if kind == "given" else datasets.taken(content, tuple(sizes))
    # Memory of the kernel's own, or an input's.
    made = torch.empty(sizes, dtype=torch_dtype(dtypes.as_dtype(kind).base_dtype))
    ctypes.memmove(made.data_ptr(), content, made.numel() * made.element_size())
    return made
