"""Numbers read from text, and records of comma-separated values."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from everflow import _native
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.attrs import raw
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.core.shape_rules import same_as_input
from everflow.platform.deprecation import deprecated_argument_lookup
from everflow.values.tensors import torch_dtype

Kernel = Callable[..., Any]


def _to_number(node: Node) -> Kernel:
    dtype = torch_dtype(node.attr("out_type"))

    def run(texts: Any) -> Any:
        found = torch.empty(texts.shape, dtype=dtype)
        wrong = _native.read_numbers(texts.ravel(), found.numpy().reshape(-1))
        if wrong >= 0:
            shown = texts.ravel()[wrong].decode("utf-8", "replace")
            raise invalid_argument(f"StringToNumberOp could not correctly convert string: {shown}")
        return found

    return run


op("StringToNumber", kernel=_to_number, shape=same_as_input, gradient=not_differentiable)


@public("string_to_number", "strings.to_number", ragged="elements")
def string_to_number(
    string_tensor: Any = None, out_type: dtypes.DTypeLike = dtypes.float32, name: str | None = None, input: Any = None
) -> Any:
    """The number that each string shows."""
    texts = deprecated_argument_lookup("input", input, "string_tensor", string_tensor)
    return apply("StringToNumber", texts, out_type=out_type, name=name)


def _decode_csv(node: Node) -> Kernel:
    delimiter, quotes, na_value = node.attr("field_delim"), node.attr("use_quote_delim"), raw(node.attr("na_value"))
    selected = list(node.attr("select_cols"))
    types = [t.as_datatype_enum for t in node.attr("OUT_TYPE")]
    if len(delimiter) != 1:
        raise invalid_argument("field_delim should be only 1 char")

    def run(records: Any, *defaults: Any) -> Any:
        missing = []
        for i, value in enumerate(defaults):
            values = value.reshape(-1).tolist()
            if len(values) > 1:
                raise invalid_argument(f"There should only be 1 default per field but field {i} has {len(values)}")
            missing.append(values[0] if values else None)
        columns = _native.decode_csv(records.ravel(), types, missing, delimiter, quotes, na_value, selected)
        found = [c if c.dtype == object else torch.from_numpy(c) for c in columns]
        return tuple(c.reshape(records.shape) for c in found) if len(found) > 1 else found[0].reshape(records.shape)

    return run


def _decode_csv_shape(o: Operation) -> Any:
    for t in o.inputs[1:]:
        dims = shapes.with_rank_at_most(t.dims, 1)
        if dims and dims[0] is not None and dims[0] > 1:
            raise ValueError("Shape of a default must be a length-0 or length-1 vector, or a scalar.")
    return [o.inputs[0].dims] * len(o.outputs)


op("DecodeCSV", kernel=_decode_csv, shape=_decode_csv_shape)


@public("decode_csv", "io.decode_csv")
def decode_csv(
    records: Any,
    record_defaults: Any,
    field_delim: Any = ",",
    use_quote_delim: bool = True,
    name: str | None = None,
    na_value: Any = "",
    select_cols: Any = None,
) -> Any:
    """Takes records apart: a tensor for each column, of the type of its default. A default of no elements makes the field
    required."""
    if select_cols is not None:
        if any(later <= earlier for earlier, later in itertools.pairwise(select_cols)):
            raise ValueError("select_cols is not strictly increasing.")
        if min(select_cols) < 0:
            raise ValueError("select_cols contains negative values.")
        if len(record_defaults) != len(select_cols):
            raise ValueError("Length of select_cols and record_defaults do not match.")
    return apply(
        "DecodeCSV",
        records,
        record_defaults,
        field_delim=field_delim,
        use_quote_delim=use_quote_delim,
        na_value=na_value,
        select_cols=select_cols,
        name=name,
    )
