"""How the values of a graph are written in a program: as tensors, as plain numbers and lists of them, or as literals."""

from __future__ import annotations

import keyword
import re
from typing import Any, NamedTuple

import numpy as np

from everflow.graph.dtypes import DType
from everflow.values.tensors import torch_dtype

# Constants of at most this many elements are written where they are used.
SHORT = 16
# Types whose elements a program may write as plain numbers beside tensors of the type.
PLAIN = ("float32", "float64", "int32", "int64", "bool")


class CannotExpress(Exception):
    """An op has no form in the program; the message may say why."""


class Value(NamedTuple):
    """An expression, and what it is: a `tensor`, an `int`, a list of `ints`, a `constant`, a list of tensors (`items`), or one whose
    items are replaced (`array`)."""

    text: str
    kind: str
    dtype: DType
    array: Any = None


class Names:
    """Names that are valid and used once."""

    def __init__(self, taken: Any = ()) -> None:
        self.taken = {"self", "torch", "math", "numpy", "F", *taken}

    def new(self, wanted: str) -> str:
        base = re.sub(r"\W+", "_", wanted).strip("_").lower() or "value"
        if base[0].isdigit() or keyword.iskeyword(base):
            base = "_" + base
        name, i = base, 1
        while name in self.taken:
            i += 1
            name = f"{base}_{i}"
        self.taken.add(name)
        return name


def torch_type(dtype: DType) -> str:
    """A dtype as torch spells it."""
    try:
        return str(torch_dtype(dtype))
    except KeyError:
        raise CannotExpress(f"torch has no {dtype.base_dtype.name}") from None


def literal(number: Any) -> str:
    """A number of numpy's in Python's words."""
    if isinstance(number, (bool, np.bool_)):
        return str(bool(number))
    if isinstance(number, (int, np.integer)):
        return str(int(number))
    if isinstance(number, np.floating) and np.isfinite(number):
        is_handy = number == 0 or 1e-4 <= abs(number) < 1e6
        return np.format_float_positional(number, trim="0") if is_handy else np.format_float_scientific(number)
    return f'float("{number}")' if isinstance(number, np.floating) else repr(number.item())


def as_tensor(value: Value, keep: Any) -> str:
    """The expression as a tensor; large constants are handed to `keep`, which returns where they are kept."""
    if value.kind in ("tensor", "items", "array"):
        return value.text
    if value.kind == "constant":
        if value.array.dtype == object:
            raise CannotExpress("text")
        if value.array.size > SHORT:
            return keep(value)
        elements = value.array.reshape(-1)
        shown = nested([literal(e) for e in elements], value.array.shape)
        if value.array.size == 0 and value.array.ndim > 1:
            return f"torch.zeros({value.array.shape}, dtype={torch_type(value.dtype)})"
        return f"torch.tensor({shown}, dtype={torch_type(value.dtype)})"
    return f"torch.tensor({value.text}, dtype={torch_type(value.dtype)})"


def nested(elements: list[str], shape: tuple[int, ...]) -> str:
    """Elements as nested lists."""
    if not shape:
        return elements[0]
    step = len(elements) // shape[0] if shape[0] else 0
    return f"[{', '.join(nested(elements[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0]))}]"


def as_operand(value: Value, keep: Any) -> str:
    """The expression beside a tensor in arithmetic: a constant number is a literal."""
    if value.kind == "int":
        return value.text
    if value.kind == "constant" and value.array.ndim == 0 and value.dtype.name in PLAIN:
        return literal(value.array[()])
    return as_tensor(value, keep)


def as_ints(value: Value) -> str:
    """The expression as a list of ints."""
    if value.kind == "constant":
        return repr(value.array.tolist())
    return f"{value.text}.tolist()" if value.kind == "tensor" else value.text


def as_int(value: Value) -> str:
    """The expression as an int."""
    if value.kind == "constant":
        return str(int(value.array))
    return f"int({value.text})" if value.kind == "tensor" else value.text


def as_number(value: Value) -> str:
    """The expression as a plain number."""
    if value.kind == "constant":
        return literal(value.array[()])
    return f"{value.text}.item()" if value.kind == "tensor" else value.text
