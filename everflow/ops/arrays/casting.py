"""Changing element types: cast and saturate_cast."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.errors import unimplemented
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.graph.sparse_tensor import SparseTensor
from everflow.graph.tensor import Tensor
from everflow.lazy import torch
from everflow.ops.core import host_sizes
from everflow.ops.core.families import is_sparse
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.shape_rules import same_as_input
from everflow.ops.variables.variables import Variable
from everflow.values.tensors import is_numeric, torch_dtype

_SPELLED = {"float16": "half", "float32": "float", "float64": "double"}


def _cast(node: Node) -> Callable[..., Any]:
    source, target = node.attr("SrcT").base_dtype, node.attr("DstT").base_dtype
    if source is target:
        return lambda x: x.clone() if is_numeric(source) else x.copy()
    if not is_numeric(source) or not is_numeric(target):
        source_name, target_name = (_SPELLED.get(t.name, t.name) for t in (source, target))
        raise unimplemented(f"Cast {source_name} to {target_name} is not supported")
    kind = torch_dtype(target)
    if source.is_complex and not target.is_complex:
        return lambda x: x.real.to(kind, copy=True)
    if node.attr("Truncate") and source.is_floating and target.is_floating and target.size < source.size:
        return lambda x: _truncated(x, kind)
    return lambda x: x.to(kind)


def _truncated(x: Any, kind: Any) -> Any:
    """A narrower float without rounding: the extra bits of the mantissa are dropped."""
    bits = {torch.bfloat16: 16, torch.float16: 13, torch.float32: 29}[kind]
    whole = torch.int32 if x.dtype == torch.float32 else torch.int64
    if x.dtype == torch.float64 and kind != torch.float32:
        bits += 29
    cut = torch.bitwise_and(x.contiguous().view(whole), -1 << bits).view(x.dtype)
    return cut.to(kind)


def _cast_gradient(o: Operation, dy: Any) -> Any:
    exact = {dtypes.float16, dtypes.float32, dtypes.float64, dtypes.bfloat16, dtypes.complex64, dtypes.complex128}
    source, target = o.inputs[0].dtype.base_dtype, dy.dtype.base_dtype
    return cast(dy, source) if source in exact and target in exact else None


op("Cast", kernel=_cast, shape=same_as_input, gradient=_cast_gradient, host=host_sizes.unchanged, kind="conversion")
op("_HostCast", kernel=_cast, shape=same_as_input, host=host_sizes.unchanged)


@public("cast", "dtypes.cast", ragged="elements")
def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """The same values as another type; SparseTensor and IndexedSlices stay what they are."""
    base = dtypes.as_dtype(dtype).base_dtype
    if isinstance(x, (Tensor, Variable)) and x.dtype is base:
        return x
    with name_scope(name, "Cast", [x]) as scope:
        if is_sparse(x):
            return SparseTensor(x.indices, cast(x.values, base, name=scope), x.dense_shape)
        if isinstance(x, IndexedSlices):
            return IndexedSlices(cast(x.values, base, name=scope), x.indices, x.dense_shape)
        x = convert_to_tensor(x, name="x")
        return x if x.dtype.base_dtype is base else apply("Cast", x, DstT=base, name=scope)


@public("saturate_cast", "dtypes.saturate_cast", ragged="elements")
def saturate_cast(value: Any, dtype: dtypes.DTypeLike, name: str | None = None) -> Any:
    """A cast in which values too large or small for the new type become its largest or smallest."""
    with name_scope(name, "saturate_cast", [value]) as scope:
        found = convert_to_tensor(value, name="value")
        held, wanted = found.dtype, dtypes.as_dtype(dtype).base_dtype
        for end, exceeds, clip in (("min", operator.lt, tf.maximum), ("max", operator.gt, tf.minimum)):
            limit = getattr(wanted, end)
            if exceeds(getattr(held, end), limit):
                found = clip(found, convert_to_tensor(limit, dtype=held, name=end))
        return cast(found, wanted, name=scope)


def _to(kind: dtypes.DType, label: str, public_name: str) -> None:
    def convert(x: Any, name: str = label) -> Any:
        return cast(x, kind, name=name)

    convert.__name__ = convert.__qualname__ = public_name
    convert.__doc__ = f"The same values as {kind.name}."
    public(public_name, owner=__name__)(convert)


_to(dtypes.float32, "ToFloat", "to_float")
_to(dtypes.float64, "ToDouble", "to_double")
_to(dtypes.int32, "ToInt32", "to_int32")
_to(dtypes.int64, "ToInt64", "to_int64")
_to(dtypes.bfloat16, "ToBFloat16", "to_bfloat16")
_to(dtypes.complex64, "ToComplex64", "to_complex64")
_to(dtypes.complex128, "ToComplex128", "to_complex128")
