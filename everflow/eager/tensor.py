"""Eager tensors: values that are there as soon as an op has run."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from everflow.api import internal, public
from everflow.eager.devices import CURRENT, PLACEMENT, placed
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.shapes import Dims
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_proto import as_array
from everflow.lazy import torch
from everflow.values import tensors as values
from everflow.values.resources import Storage

_ids = itertools.count()
_PLAIN = frozenset(
    (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.bool)
)


def _meaningless(name: str) -> Any:
    def get(self: Any) -> Any:
        raise AttributeError(f"Tensor.{name} is meaningless when eager execution is enabled.")

    return property(get)


@public("contrib.eager.Tensor", "contrib.eager.EagerTensor")
@internal("framework.ops.EagerTensor", "framework.ops._EagerTensorBase")
class EagerTensor(Tensor):
    """A tensor with its value: a torch tensor, an array of bytes for strings, an object for resources and variants."""

    __slots__ = ("value",)
    is_eager = True
    _is_graph_tensor = False

    op = _meaningless("op")
    graph = _meaningless("graph")
    name = _meaningless("name")
    value_index = _meaningless("value_index")

    def __init__(self, value: Any, dtype: Any = None, device: Any = None) -> None:
        if dtype is None or device is not None:
            # As programs make one: of a Python value, on a device, with the number of a dtype.
            value, dtype = _made_of(value, dtype, device)
        self.value = value
        self.dtype = dtype

    # -- what it is

    @property
    def dims(self) -> Any:
        """The shape, as a tuple."""
        shape = getattr(self.value, "shape", ())
        return shape if type(shape) is tuple else tuple(shape)

    @dims.setter
    def dims(self, dims: Dims) -> None:
        """What is known of a shape adds nothing to the shape itself."""

    @property
    def handle_data(self) -> Any:
        """For the handle of a variable: the variable's dims and dtype."""
        if type(self.value) is Storage:
            return self.value.dims, self.value.dtype
        return self.__dict__.get("handle_data")

    @handle_data.setter
    def handle_data(self, data: Any) -> None:
        if data is not None:
            self.__dict__["handle_data"] = data

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._rank()

    def _rank(self) -> int:
        return getattr(self.value, "ndim", 0)

    @property
    def _id(self) -> int:
        found = self.__dict__.get("id")
        if found is None:
            found = self.__dict__["id"] = next(_ids)
        return found

    @property
    def _handle_data(self) -> Any:
        return self.handle_data

    @property
    def device(self) -> str:
        """Where the value is."""
        name = self.__dict__.get("place")
        if name is not None:
            return name
        place = getattr(self.value, "device", None)
        kind = "CPU:0" if place is None or not hasattr(place, "type") or place.type == "cpu" else f"GPU:{place.index or 0}"
        return f"{PLACEMENT.local}/device:{kind}"

    backing_device = device

    def set_shape(self, shape: Any) -> None:
        """Checks that the shape is one that the value has."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Tensor's shape {self.shape} is not compatible with supplied shape {shape}")

    def consumers(self) -> Any:
        """Not known of values."""
        raise NotImplementedError("Tensor.consumers is meaningless when eager execution is enabled.")

    def eval(self, feed_dict: dict[Any, Any] | None = None, session: Any = None) -> Any:
        """Not for values, which are there already."""
        raise NotImplementedError("eval is not supported when eager execution is enabled, is .numpy() what you're looking for?")

    def _as_graph_element(self) -> Any:
        return None

    # -- the value

    def numpy_value(self) -> Any:
        """The value as an array, which may share memory with it."""
        dtype = self.dtype
        if dtype in _PLAIN and self.value.is_cpu:
            return self.value.detach().numpy()
        if dtype in (dtypes.resource, dtypes.variant):
            raise ValueError(f"Cannot convert a Tensor of dtype {dtype.name} to a NumPy array.")
        return values.to_numpy(self.value, dtype)

    def numpy(self) -> Any:
        """A copy of the value: an array, or a scalar of numpy's."""
        array = self.numpy_value()
        if array.ndim == 0:
            return array[()]
        return array.copy()

    def _numpy(self) -> Any:
        """The same without copying arrays."""
        array = self.numpy_value()
        return array if array.ndim else array[()]

    def torch(self) -> Any:
        """The value as torch's tensor, sharing memory."""
        if not values.is_numeric(self.dtype):
            raise TypeError(f"torch has no tensors of type {self.dtype.name}")
        return self.value

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        found = np.array(self.numpy_value())
        return found if dtype is None else found.astype(dtype)

    def __int__(self) -> int:
        return int(self._single())

    def __float__(self) -> float:
        return float(self._single())

    def __complex__(self) -> complex:
        return complex(self._single())

    def __index__(self) -> int:
        return self.numpy().__index__()

    def _single(self) -> Any:
        array = self.numpy_value()
        if array.size != 1:
            raise TypeError("only size-1 arrays can be converted to Python scalars")
        return array.reshape(-1)[0]

    def __bool__(self) -> bool:
        array = self.numpy_value()
        return bool(array) if array.size else False

    __nonzero__ = __bool__

    def __format__(self, spec: str) -> str:
        return self.numpy().__format__(spec)

    def __len__(self) -> int:
        dims = self.dims
        if not dims:
            raise TypeError("Scalar tensor has no `len()`")
        return dims[0]

    def __iter__(self) -> Any:
        if not self.dims:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(self.dims[0]))

    def __hash__(self) -> int:
        return id(self)

    def __copy__(self) -> EagerTensor:
        return self

    def __deepcopy__(self, memo: Any) -> EagerTensor:
        value = self.value
        return EagerTensor(value.clone() if hasattr(value, "clone") else value.copy() if hasattr(value, "copy") else value, self.dtype)

    def __reduce__(self) -> Any:
        return convert_to_tensor, (self.numpy(),)

    def __str__(self) -> str:
        return f"tf.Tensor({self._text(False)}, shape={self.shape}, dtype={self.dtype.name})"

    def __repr__(self) -> str:
        return f"<tf.Tensor: id={self._id}, shape={self.shape}, dtype={self.dtype.name}, numpy={self._text(True)}>"

    def _text(self, is_repr: bool) -> str:
        if self.dtype in (dtypes.resource, dtypes.variant):
            return "<unprintable>"
        found = self.numpy()
        if isinstance(found, np.ndarray):
            text = repr(found) if is_repr else str(found)
        else:
            text = repr(found) if isinstance(found, bytes) else str(found)
        return "\n" + text if "\n" in text else text

    # -- copies to other places

    def cpu(self) -> EagerTensor:
        """The value in the memory of the processor."""
        if "place" in self.__dict__ and self.dtype not in (dtypes.resource, dtypes.variant):
            return EagerTensor(self.value, self.dtype)
        return EagerTensor(self.value.cpu(), self.dtype) if hasattr(self.value, "cpu") else self

    def gpu(self, gpu_index: int = 0) -> EagerTensor:
        """The value in a GPU's memory."""
        if not torch.cuda.is_available() or gpu_index >= torch.cuda.device_count():
            raise RuntimeError(f"GPU:{gpu_index} unknown device.")
        return EagerTensor(self.value.to(f"cuda:{gpu_index}"), self.dtype)

    def _copy(self, ctx: Any = None, device_name: str | None = None) -> EagerTensor:
        return self


@functools.cache
def _torch_dtype(dtype: dtypes.DType) -> Any:
    return values.torch_dtype(dtype)


def from_array(array: np.ndarray, dtype: dtypes.DType) -> EagerTensor:
    """An array's values, copied."""
    if dtype is dtypes.string:
        return _named(EagerTensor(np.array(array, dtype=object), dtype))
    return _named(EagerTensor(placed(values.from_numpy(np.array(array), dtype)), dtype))


def _named(tensor: EagerTensor) -> EagerTensor:
    """A new tensor, which says that it is on a device of another process where one was asked for."""
    place = CURRENT.place
    return tensor if place is None or type(place) is str else place.named(tensor)


def _made_of(value: Any, number: Any, device: Any) -> tuple[Any, dtypes.DType]:
    if device is None:
        raise TypeError("Required argument 'device' (pos 2) not found")
    if number is not None and not isinstance(number, int):
        raise TypeError(f"Expecting a DataType value for dtype. Got {type(number).__name__}")
    try:
        dtype = None if number is None else dtypes.as_dtype(number)
    except TypeError:
        raise TypeError(f"Invalid dtype argument value {number}") from None
    if isinstance(value, np.ndarray) and dtype is not None:
        value = value.astype(dtype.as_numpy_dtype)
    array = as_array(value, dtype)
    kind = dtypes.as_dtype(array.dtype) if dtype is None else dtype
    return from_array(array, kind).value, kind


@internal("pywrap_tensorflow.TFE_Py_TensorShapeSlice")
def shape_slice(tensors: Any, slice_dim: int) -> EagerTensor:
    """The sizes of tensors along one axis, as a vector."""
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(f'tensors argument must be a list or a tuple. Got "{type(tensors).__name__}"')
    if slice_dim < 0:
        raise ValueError(f"Slice dimension must be non-negative. Got {slice_dim}")
    found = []
    for i, t in enumerate(tensors):
        if not isinstance(t, EagerTensor):
            raise TypeError(f'Expected a list of EagerTensors but element {i} has type "{type(t).__name__}"')
        if slice_dim >= len(t.dims):
            raise IndexError(
                f"Slice dimension ({slice_dim}) must be smaller than rank of all tensors, but tensor at index {i} has rank {len(t.dims)}"
            )
        found.append(t.dims[slice_dim])
    return from_array(np.array(found, np.int32), dtypes.int32)


# The values of numbers that were met lately, by number, its Python type and the number of the dtype.
_numbers: dict[tuple[Any, type, int], Any] = {}


def from_number(value: Any, dtype: dtypes.DType | None) -> EagerTensor | None:
    """A Python number as a scalar of a type that surely holds it; None where that needs a closer look."""
    if type(value) is int:
        if not -(2**31) <= value < 2**31:
            return None
        if dtype is None:
            dtype = dtypes.int32
        elif not (dtype.is_floating or dtype is dtypes.int32 or dtype is dtypes.int64):
            return None
    elif dtype is None:
        dtype = dtypes.float32
    elif not dtype.is_floating:
        return None
    key = value, type(value), dtype._type_enum
    # Zero is its own negative to a dictionary.
    found = _numbers.get(key) if value else None
    if found is None:
        found = torch.tensor(value, dtype=_torch_dtype(dtype))
        if len(_numbers) > 1000:
            _numbers.clear()
        if value:
            _numbers[key] = found
    # A tensor of its own: tapes tell tensors apart by identity.
    return EagerTensor(found, dtype) if CURRENT.place is None else _named(EagerTensor(placed(found), dtype))


# The same for lists of a few integers.
_vectors: dict[Any, Any] = {}


def integers(value: Any) -> EagerTensor | None:
    """A few integers, as shapes and axes are written, as an int32 tensor; None for other values."""
    if type(value) is np.ndarray:
        if value.dtype != np.int32 or value.size > 8:
            return None
        key: Any = value.tobytes(), value.shape
    elif (type(value) is list or type(value) is tuple) and 0 < len(value) <= 8:
        for v in value:
            if type(v) is not int or not -(2**31) <= v < 2**31:
                return None
        key = tuple(value)
    elif type(value) is int and -(2**31) <= value < 2**31:
        key = value
    else:
        return None
    found = _vectors.get(key)
    if found is None:
        if len(_vectors) > 1000:
            _vectors.clear()
        found = _vectors[key] = torch.tensor(np.asarray(value, np.int32))
    return EagerTensor(found, dtypes.int32) if CURRENT.place is None else _named(EagerTensor(placed(found), dtypes.int32))


@public("contrib.eager.from_torch")
def from_torch(tensor: Any) -> EagerTensor:
    """A torch tensor as an eager tensor, sharing memory."""
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"Expected a torch.Tensor, got {type(tensor)}")
    return EagerTensor(tensor.detach(), values.from_torch_dtype(tensor.dtype))
