"""Attribute values: plain Python inside, AttrValue protos outside.

Inside: `type` is a DType, `shape` a dims tuple (or None), `string` a str (arbitrary bytes survive as surrogates), `tensor` a
numpy array, `func` a FunctionName, numbers and bools themselves; `list(x)` is a list of these.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.graph import dtypes, shapes
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor_proto import make_ndarray, make_tensor_proto


class FunctionName:
    """A reference to a function of the graph's library, with its attributes."""

    __slots__ = ("attrs", "name")

    def __init__(self, name: str, attrs: dict[str, Any] | None = None) -> None:
        self.name = name
        self.attrs = attrs or {}

    def __repr__(self) -> str:
        return f"FunctionName({self.name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionName) and (self.name, self.attrs) == (other.name, other.attrs)

    def __hash__(self) -> int:
        return hash(self.name)


def text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "surrogateescape")


def raw(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")


class AttrError(TypeError):
    """An attribute has a value of the wrong kind."""


def normalized(value: Any, kind: str, name: str) -> Any:
    """Any value a caller may give for an attribute, as the plain value kept inside."""
    if kind.startswith("list("):
        if not isinstance(value, (list, tuple)) and not (isinstance(value, shapes.TensorShape) and kind == "list(int)"):
            try:
                value = list(value)
            except TypeError:
                raise TypeError(f"Expected list for attr {name}") from None
        return [normalized(v, kind[5:-1], name) for v in value]
    return _NORMAL[kind](value, name)


def _int(value: Any, name: str) -> int:
    return value if type(value) is int else _number(int, value, name)


def _float(value: Any, name: str) -> float:
    return _number(float, value, name)


def _number(kind: Any, value: Any, name: str) -> Any:
    """What Python makes a number of: numpy's numbers and arrays of one element too, but no texts."""
    if not isinstance(value, (str, bytes)):
        try:
            return kind(value)
        except TypeError:
            pass
    raise AttrError(f"Expected {kind.__name__} for argument '{name}' not {value!r}.")


def _bool(value: Any, name: str) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise AttrError(f"Expected bool for argument '{name}' not {value!r}.")


def _string(value: Any, name: str) -> str:
    if isinstance(value, (str, bytes)):
        return text(value)
    raise AttrError(f"Expected string for argument '{name}' not {value!r}.")


def _type(value: Any, name: str) -> dtypes.DType:
    try:
        return dtypes.as_dtype(value).base_dtype
    except TypeError as e:
        raise TypeError(f"Expected DataType for argument '{name}' not {value!r}.") from e


def _shape(value: Any, name: str) -> Any:
    if value is None or (isinstance(value, tuple) and all(type(d) is int and d >= 0 or d is None for d in value)):
        return value
    try:
        return shapes.as_shape(value).as_dims()
    except TypeError as e:
        raise TypeError(f"Error converting {name} to a TensorShape: {e}.") from e
    except ValueError as e:
        raise ValueError(f"Error converting {name} to a TensorShape: {e}.") from e


def _tensor(value: Any, name: str) -> np.ndarray:
    if isinstance(value, np.ndarray):
        return value
    return make_ndarray(value)


def _func(value: Any, name: str) -> FunctionName:
    if isinstance(value, FunctionName):
        return value
    if isinstance(value, (str, bytes)):
        return FunctionName(text(value))
    if hasattr(value, "add_to_graph"):
        value.add_to_graph(get_default_graph())
        return FunctionName(text(value.name))
    if hasattr(value, "name"):
        return _from_name_attr_list(value) if hasattr(value, "attr") else FunctionName(text(value.name))
    raise TypeError(f"Don't know how to convert {value!r} to a func for argument {name}")


_NORMAL = {"int": _int, "float": _float, "bool": _bool, "string": _string, "type": _type, "shape": _shape, "tensor": _tensor, "func": _func}


def check(value: Any, definition: Any, op: str) -> None:
    """TensorFlow's limits on an attribute: allowed values, minimum, minimum length."""
    if definition.minimum is not None:
        if definition.type.startswith("list("):
            if len(value) < definition.minimum:
                raise ValueError(
                    f"Attr '{definition.name}' of '{op}' Op passed list of length {len(value)} less than minimum {definition.minimum}."
                )
        elif value < definition.minimum:
            raise ValueError(f"Attr '{definition.name}' of '{op}' Op passed {value} less than minimum {definition.minimum}.")
    if definition.allowed is None:
        return
    for v in value if definition.type.startswith("list(") else (value,):
        if v in definition.allowed:
            continue
        if isinstance(v, dtypes.DType):
            names = ", ".join(t.name for t in definition.allowed)
            raise TypeError(f"Value passed to parameter '{definition.name}' has DataType {v.name} not in list of allowed values: {names}")
        names = '", "'.join(definition.allowed)
        raise ValueError(f"Attr '{definition.name}' of '{op}' Op passed string '{v}' not in: \"{names}\".")


def to_proto(value: Any, kind: str | None) -> Any:
    """An AttrValue of a plain value; without a kind, the kind is read off the value."""
    from everflow.proto import attr_value_pb2

    if isinstance(value, attr_value_pb2.AttrValue):
        return value
    proto = attr_value_pb2.AttrValue()
    kind = kind or kind_of(value)
    if kind.startswith("list("):
        proto.list.SetInParent()
        for v in value:
            _put(proto.list, kind[5:-1], v, repeated=True)
    else:
        _put(proto, kind, value, repeated=False)
    return proto


def kind_of(value: Any) -> str:
    if isinstance(value, list):
        return f"list({kind_of(value[0])})" if value else "list(string)"
    for python, kind in (
        (bool, "bool"),
        (int, "int"),
        (float, "float"),
        (str, "string"),
        (dtypes.DType, "type"),
        (np.ndarray, "tensor"),
        (FunctionName, "func"),
        (tuple, "shape"),
        (type(None), "shape"),
    ):
        if isinstance(value, python):
            return kind
    raise TypeError(f"no attribute kind for {value!r}")


def _put(proto: Any, kind: str, value: Any, repeated: bool) -> None:
    field = {"int": "i", "float": "f", "bool": "b", "string": "s"}.get(kind, kind)
    if kind in ("int", "float", "bool"):
        wire: Any = value
    elif kind == "string":
        wire = raw(value)
    elif kind == "type":
        wire = value.as_datatype_enum
    else:
        target = getattr(proto, field).add() if repeated else getattr(proto, field)
        if kind == "shape":
            target.CopyFrom(shapes.TensorShape.from_dims(value).as_proto())
        elif kind == "tensor":
            target.CopyFrom(make_tensor_proto(value, dtype=dtypes.as_dtype(value.dtype)))
        else:
            target.name = value.name
            for k, v in value.attrs.items():
                target.attr[k].CopyFrom(to_proto(v, None))
        if not repeated:
            target.SetInParent()
        return
    if repeated:
        getattr(proto, field).append(wire)
    else:
        setattr(proto, field, wire)


def from_proto(proto: Any, kind: str | None = None) -> Any:
    """The plain value of an AttrValue. A value that has no plain form without its definition stays a proto."""
    which = proto.WhichOneof("value")
    if which == "list":
        fields = proto.list.ListFields()
        if not fields:
            return [] if kind else proto
        descriptor, values = fields[0]
        return [taken(descriptor.name, v) for v in values]
    if which is None:
        return None if kind != "func" else FunctionName("")
    if which == "placeholder":
        return proto
    return taken(which, getattr(proto, which))


def taken(field: str, value: Any) -> Any:
    """The plain value of a field of an AttrValue."""
    if field == "s":
        return text(value)
    if field == "type":
        return dtypes.as_dtype(value)
    if field == "shape":
        return shapes.TensorShape(value).as_dims()
    if field == "tensor":
        return make_ndarray(value)
    if field == "func":
        return _from_name_attr_list(value)
    return value


def _from_name_attr_list(value: Any) -> FunctionName:
    return FunctionName(value.name, {k: from_proto(v) for k, v in value.attr.items()})


def as_user_value(value: Any, kind: str | None) -> Any:
    """What `op.get_attr` returns for a plain value."""
    from everflow.proto import attr_value_pb2

    if isinstance(value, attr_value_pb2.AttrValue):
        which = value.WhichOneof("value")
        return [] if which == "list" else getattr(value, which) if which else []
    if isinstance(value, list):
        inner = kind[5:-1] if kind else None
        return [as_user_value(v, inner) for v in value]
    if isinstance(value, str):
        return raw(value)
    kind = kind or kind_of(value)
    if kind in ("shape", "tensor", "func"):
        proto = to_proto(value, kind)
        return getattr(proto, proto.WhichOneof("value") or kind)
    return value
