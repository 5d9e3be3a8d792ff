"""How TensorFlow's messages spell dtypes and op definitions."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.graph import dtypes, opdefs, shapes
from everflow.graph.attrs import FunctionName

_SHORT = {"float16": "half", "float32": "float", "float64": "double"}
# Longer lists are shown by their first and last five items.
LONGEST_LIST = 12


def type_name(dtype: dtypes.DType) -> str:
    """`float`, `int32`, `half_ref`: the names of the runtime's messages, which differ from Python's."""
    base = dtype.base_dtype.name
    return _SHORT.get(base, base) + ("_ref" if dtype._is_ref_dtype else "")


def type_constant(dtype: dtypes.DType) -> str:
    """`DT_FLOAT`: the name in the wire format."""
    return f"DT_{type_name(dtype).upper()}"


def attr_value(value: Any, constant: bool = True) -> str:
    """An attribute's value; dtypes as wire constants, or as messages name them."""
    if isinstance(value, list):
        items = [attr_value(v, constant) for v in value]
        return f"[{', '.join(shortened(items))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, dtypes.DType):
        return type_constant(value) if constant else type_name(value)
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, np.ndarray):
        shown = " ".join(str(v) for v in value.reshape(-1)[:10])
        kind = type_name(dtypes.as_dtype(value.dtype))
        return f"Tensor<type: {kind} shape: {shapes.describe(value.shape)} values: {shown}>"
    if isinstance(value, FunctionName):
        inner = ", ".join(f"{k}={attr_value(v)}" for k, v in sorted(value.attrs.items()))
        return f"{value.name}[{inner}]"
    if value is None or isinstance(value, tuple):
        return shapes.describe(value)
    return str(value)


def shortened(items: list[str]) -> list[str]:
    """The items, without the middle of a long list."""
    return items if len(items) <= LONGEST_LIST else [*items[:5], "...", *items[-5:]]


def _arg(arg: opdefs.Arg) -> str:
    # A list of several types is shown by its name alone.
    shown = "" if arg.type_list_attr else arg.type_attr or (type_name(arg.type) if arg.type is not None else "")
    if arg.number_attr:
        shown = f"{arg.number_attr}*{shown}"
    return f"{arg.name}:{f'Ref({shown})' if arg.is_ref else shown}"


def definition(op_def: opdefs.OpDef) -> str:
    """`Op<name=Neg; signature=x:T -> y:T; attr=T:type,allowed=[DT_FLOAT]>`."""
    inputs = ", ".join(_arg(a) for a in op_def.inputs)
    outputs = ", ".join(_arg(a) for a in op_def.outputs)
    parts = [f"Op<name={op_def.name}; signature={inputs} -> {outputs}"]
    for attr in op_def.attrs.values():
        text = f"attr={attr.name}:{attr.type}"
        if attr.has_default:
            text += f",default={attr_value(attr.default)}"
        if attr.minimum is not None:
            text += f",min={attr.minimum}"
        if attr.allowed is not None:
            text += f",allowed={attr_value(list(attr.allowed))}"
        parts.append(text)
    for flag in ("is_commutative", "is_aggregate", "is_stateful", "allows_uninitialized_input"):
        if op_def.fact.get(flag):
            parts.append(f"{flag}=true")
    return "; ".join(parts) + ">"
