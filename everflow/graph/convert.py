"""Turning Python values into tensors: constants, and the registry of conversion functions."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import internal, public
from everflow.graph import dtypes, opdefs, shapes
from everflow.graph.operation import Operation
from everflow.graph.stacks import get_default_graph, in_eager_mode
from everflow.graph.tensor import Tensor, TensorLike
from everflow.graph.tensor_proto import as_array
from everflow.graph.type_spec import CompositeTensor

Converter = Callable[..., Any]
_converters: dict[int, list[tuple[type, Converter]]] = {}
_by_type: dict[type, list[tuple[type, Converter]]] = {}


@public("register_tensor_conversion_function")
@internal("framework.ops.register_tensor_conversion_function")
def register_tensor_conversion_function(base_type: Any, conversion_func: Converter, priority: int = 100) -> None:
    """Says how objects of a type become tensors; lower priorities are asked first."""
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not types or not all(isinstance(t, type) for t in types):
        raise TypeError("base_type must be a type or a tuple of types.")
    if any(t in (int, float, np.generic, np.ndarray) for t in types):
        raise TypeError("Cannot register conversions for Python numeric types and NumPy scalars and arrays.")
    if not callable(conversion_func):
        raise TypeError("conversion_func must be callable.")
    _converters.setdefault(priority, []).extend((t, conversion_func) for t in types)
    _by_type.clear()


def _converters_for(kind: type) -> list[tuple[type, Converter]]:
    found = _by_type.get(kind)
    if found is None:
        found = [(t, f) for _, pairs in sorted(_converters.items()) for t, f in pairs if issubclass(kind, t)]
        _by_type[kind] = found
    return found


def add_constant(array: np.ndarray, dtype: dtypes.DType, name: str | None) -> Tensor:
    """Adds a Const node that holds the array; where ops run at once, the value itself."""
    if in_eager_mode():
        from everflow.eager.tensor import from_array

        return from_array(array, dtype)
    graph = get_default_graph()
    definition = opdefs.find("Const")
    assert definition is not None
    name = "Const" if name is None else name
    name = name[:-1] if name[-1:] == "/" else graph.unique_name(name)
    op = graph.add(definition, name, (), {"value": array, "dtype": dtype}, [dtype], infer_shapes=False)
    out = op.outputs[0]
    out.dims = array.shape
    return out


# How errors of values that are there at once call these types.
_SHOWN = {"float32": "float", "float64": "double", "float16": "half"}


def _eager_error(error: TypeError | ValueError, value: Any, dtype: dtypes.DTypeLike) -> TypeError | ValueError:
    """The same error, as it is put where values are made at once."""
    text = str(error)
    if text.startswith("Expected ") and dtype is not None:
        wanted = dtypes.as_dtype(dtype).name
        return TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {_SHOWN.get(wanted, wanted)}")
    if text.startswith("Argument must be a dense tensor"):
        return ValueError("Can't convert non-rectangular Python sequence to Tensor.")
    if text.startswith(("None values not supported", "Failed to convert object")):
        if isinstance(value, (list, tuple)):
            return ValueError("Can't convert Python sequence with mixed types to Tensor.")
        return ValueError(f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to a Tensor.")
    return error


@public("constant")
@internal("framework.constant_op.constant_v1")
def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = "Const", verify_shape: bool = False) -> Tensor:
    """A tensor that always has this value."""
    if isinstance(value, Tensor):
        if not value.is_eager:
            raise TypeError("List of Tensors when single Tensor expected")
        if in_eager_mode() and shape is None and (dtype is None or value.dtype == dtypes.as_dtype(dtype)):
            return value
        value = value.numpy()
    try:
        array = as_array(value, dtype, shape, verify_shape=verify_shape)
    except (TypeError, ValueError) as error:
        if in_eager_mode():
            raise _eager_error(error, value, dtype) from None
        raise
    return add_constant(array, dtypes.as_dtype(dtype).base_dtype if dtype is not None else dtypes.as_dtype(array.dtype), name)


@public("compat.v2.constant")
@internal("framework.constant_op.constant")
def constant_v2(value: Any, dtype: dtypes.DTypeLike | None = None, shape: Any = None, name: str | None = "Const") -> Tensor:
    """The same; a shape may only repeat a single element or arrange all of them."""
    if shape is not None and not isinstance(value, Tensor):
        value = as_array(value, dtype, shape, allow_broadcast=True)
    return constant(value, dtype, name=name)


@public("convert_to_tensor")
@internal("framework.ops.convert_to_tensor", "framework.ops.convert_to_tensor_v1")
def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    preferred_dtype: dtypes.DTypeLike | None = None,
    dtype_hint: dtypes.DTypeLike | None = None,
) -> Tensor:
    """The tensor that a value stands for; with a dtype, one of that type or a TypeError/ValueError."""
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    kind = type(value)
    if kind is Tensor:
        graph = get_default_graph()
        if value.op.graph is not graph:
            if graph.building_function:
                value = graph.own(value)
            # A tensor of another graph is reported by the op that takes it.
        if dtype is not None and value.dtype.base_dtype is not dtype.base_dtype:
            raise ValueError(f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype {value.dtype.name}: {str(value)!r}")
        return value
    if isinstance(value, Tensor) and value.is_eager and in_eager_mode() and (dtype is None or value.dtype is dtype):
        return value
    if kind in (float, int) and in_eager_mode():
        hint = dtype or preferred_dtype or dtype_hint
        found = (_from_number or _load_from_number())(value, hint if hint is None or type(hint) is dtypes.DType else dtypes.as_dtype(hint))
        if found is not None:
            return found
    preferred = preferred_dtype if preferred_dtype is not None else dtype_hint
    return _registered_conversion(value, dtype, name, None if preferred is None else dtypes.as_dtype(preferred), False, (Tensor,))


# What makes a value of a number in eager mode; see everflow.eager.tensor.
_from_number: Any = None


def _load_from_number() -> Any:
    global _from_number
    from everflow.eager.tensor import from_number

    _from_number = from_number
    return from_number


def _registered_conversion(value: Any, dtype: Any, name: str | None, preferred: Any, as_ref: bool, accepted: Any) -> Any:
    """What the conversion functions registered for the value's type make of it."""
    for base, function in _converters_for(type(value)):
        result: Any = NotImplemented
        if dtype is None and preferred is not None:
            try:
                result = function(value, dtype=preferred, name=name, as_ref=as_ref)
            except (TypeError, ValueError):
                result = NotImplemented
            else:
                if result is not NotImplemented and result.dtype.base_dtype is not preferred.base_dtype:
                    raise TypeError(f"convert_to_tensor did not convert to the preferred dtype: {result.dtype.name} vs {preferred.name} ")
        if result is NotImplemented:
            result = function(value, dtype=dtype, name=name, as_ref=as_ref)
        if result is NotImplemented:
            continue
        if not isinstance(result, accepted):
            raise RuntimeError(f"{_prefix(name)}Conversion function {function!r} for type {base} returned non-Tensor: {result!r}")
        if dtype is not None and result.dtype.base_dtype is not dtype.base_dtype:
            raise RuntimeError(
                f"{_prefix(name)}Conversion function {function!r} for type {base} returned incompatible dtype: requested = "
                f"{dtype.base_dtype.name}, actual = {result.dtype.name}"
            )
        return result
    raise TypeError(f"{_prefix(name)}Cannot convert {value!r} with type {type(value)} to Tensor: no conversion function registered.")


@internal("framework.ops.convert_to_tensor_or_composite", "framework.ops.internal_convert_to_tensor_or_composite")
def convert_to_tensor_or_composite(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    """A composite tensor as it is; anything else as a tensor, or as the composite that its conversion function makes."""
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if isinstance(value, CompositeTensor):
        if wanted is not None and not wanted.is_compatible_with(value.dtype):  # type: ignore[attr-defined]
            raise ValueError(f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype {value.dtype.name}: {str(value)!r}")  # type: ignore[attr-defined]
        return value
    if isinstance(value, Tensor):
        return convert_to_tensor(value, wanted, name)
    return _registered_conversion(value, wanted, name, None, as_ref, (Tensor, CompositeTensor))


def _prefix(name: str | None) -> str:
    return f"{name}: " if name else ""


@internal("framework.ops.internal_convert_to_tensor")
def internal_convert_to_tensor(
    value: Any,
    dtype: dtypes.DTypeLike | None = None,
    name: str | None = None,
    as_ref: bool = False,
    preferred_dtype: dtypes.DTypeLike | None = None,
    ctx: Any = None,
    accept_symbolic_tensors: bool = True,
    accepted_result_types: Any = (Tensor,),
) -> Any:
    """`convert_to_tensor`, or if `as_ref` the same with the reference for a reference variable."""
    if not as_ref or isinstance(value, Tensor):
        return convert_to_tensor(value, dtype, name, preferred_dtype)
    wanted, preferred = (None if given is None else dtypes.as_dtype(given) for given in (dtype, preferred_dtype))
    return _registered_conversion(value, wanted, name, preferred, True, (Tensor,))


@public("compat.v2.convert_to_tensor")
@internal("framework.ops.convert_to_tensor_v2")
def _convert_to_tensor_v2(
    value: Any, dtype: dtypes.DTypeLike | None = None, dtype_hint: dtypes.DTypeLike | None = None, name: str | None = None
) -> Tensor:
    return convert_to_tensor(value, dtype, name, dtype_hint)


def _tensor_to_tensor(t: Tensor, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    if t.is_eager and not in_eager_mode():
        graph = get_default_graph()
        if not graph.building_function:
            raise RuntimeError("Attempting to capture an EagerTensor without building a function.")
        return _checked(graph.own(t), dtype)
    return convert_to_tensor(t, dtype) if type(t) is Tensor else _checked(t, dtype)


def _checked(t: Tensor, dtype: Any) -> Tensor:
    if dtype is not None and t.dtype.base_dtype is not dtypes.as_dtype(dtype).base_dtype:
        raise ValueError(f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype {t.dtype.name}: {str(t)!r}")
    return t


def _python_value(value: Any, dtype: dtypes.DTypeLike | None = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    return constant(value, dtype, name=name or "Const")


def _operation_to_tensor(op: Operation, dtype: dtypes.DTypeLike | None = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    raise TypeError(f"Can't convert Operation '{op.name}' to Tensor (target dtype={dtype!r}, name={name!r}, as_ref={as_ref!r})")


_PLAIN = (bool, int, float, complex, str, bytes, np.ndarray, np.generic)


def _list_value(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    """A list in which tensors stand becomes a Pack."""
    if as_ref or not _may_hold_tensors(value):
        return NotImplemented
    from everflow.ops.arrays.joining import pack_nested

    return pack_nested(value, dtype, name)


def _may_hold_tensors(value: Any) -> bool:
    for kind in set(map(type, value)):
        if issubclass(kind, (list, tuple)):
            if any(_may_hold_tensors(v) for v in value if isinstance(v, (list, tuple))):
                return True
        elif not issubclass(kind, _PLAIN):
            return True
    return False


@internal("framework.constant_op._tensor_shape_tensor_conversion_function")
def shape_value(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    """A shape that is known in full, as a vector."""
    if not value.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {value}")
    sizes = value.as_list()
    if dtype is None:
        dtype = dtypes.int64 if any(size > 2**31 - 1 for size in sizes) else dtypes.int32
    elif dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype: {dtype}")
    elif dtype is dtypes.int32 and any(size > 2**31 - 1 for size in sizes):
        raise ValueError(f"Cannot convert a TensorShape to dtype int32; a dimension is too large ({max(sizes)})")
    return constant(sizes, dtype, name=name or "shape_as_tensor")


def _dimension_value(value: Any, dtype: dtypes.DTypeLike | None = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    if value.value is None:
        raise ValueError(f"Cannot convert an unknown Dimension to a Tensor: {value}")
    if dtype is not None and dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype: {dtype}")
    return constant(value.value, dtype or dtypes.int32, name=name or "shape_as_tensor")


SMALL_INTEGERS = (np.int8, np.uint8, np.int16, np.uint16)


@internal("framework.tensor_util.shape_tensor")
def shape_tensor(shape: Any) -> Tensor:
    """A shape, of numbers, dimensions and tensors, as a vector."""
    if isinstance(shape, (list, tuple)):
        # A small number of numpy's is as good as Python's: since numpy 2 `np.max(labels) + 1` has the type of the labels.
        sizes = tuple(int(size) if isinstance(size, SMALL_INTEGERS) else size for size in map(shapes.dimension_value, shape))
        return convert_to_tensor(sizes, None if sizes else dtypes.int32, "shape")
    return convert_to_tensor(shape, name="shape")


register_tensor_conversion_function(Tensor, _tensor_to_tensor, 0)
register_tensor_conversion_function((list, tuple), _list_value, 99)
register_tensor_conversion_function(shapes.TensorShape, shape_value, 100)
register_tensor_conversion_function(shapes.Dimension, _dimension_value, 100)
register_tensor_conversion_function(Operation, _operation_to_tensor, 100)
register_tensor_conversion_function((str, bytes, bool, numbers.Number, np.bool_, list, tuple), _python_value, 100)
_converters.setdefault(100, []).extend([(np.ndarray, _python_value), (np.generic, _python_value)])
_converters.setdefault(200, []).append((object, _python_value))


def convert_list(
    values: Any,
    dtype: dtypes.DTypeLike | None = None,
    name: str | None = None,
    preferred_dtype: dtypes.DTypeLike | None = None,
    as_ref: bool = False,
) -> list[Tensor]:
    """Each value as a tensor, named `name_0`, `name_1`, ..."""
    if not isinstance(values, (list, tuple)) and not hasattr(values, "__iter__"):
        raise TypeError("values must be a list.")
    return [
        internal_convert_to_tensor(v, dtype, None if name is None else f"{name}_{i}", as_ref, preferred_dtype) for i, v in enumerate(values)
    ]


internal("framework.ops.convert_n_to_tensor", "framework.ops.internal_convert_n_to_tensor")(convert_list)


@public("is_tensor", "contrib.framework.is_tensor")
def is_tensor(x: Any) -> bool:
    """Whether x is a tensor or stands for one (a variable, a sparse tensor, indexed slices)."""
    return isinstance(x, TensorLike) or hasattr(x, "_is_tensor_like") or getattr(x, "is_tensor_like", False) is True


_dense_tensor_like: list[type] = [Tensor]


@internal("framework.ops.register_dense_tensor_like_type")
def register_dense_tensor_like_type(tensor_type: Any) -> None:
    """Says that objects of a type can stand for dense tensors; the type has `name` and `dtype` properties."""
    for attribute in ("name", "dtype"):
        if not isinstance(getattr(tensor_type, attribute, None), property):
            raise TypeError(f"Type {tensor_type.__name__} does not define a `{attribute}` property")
    _dense_tensor_like.append(tensor_type)


@internal("framework.ops.is_dense_tensor_like")
def is_dense_tensor_like(t: Any) -> bool:
    """Whether t is a dense tensor or of a type registered as one."""
    return isinstance(t, tuple(_dense_tensor_like))
