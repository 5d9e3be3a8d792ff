"""The arguments of traced functions: how they are named, what a body remembers of them, and how a traced body takes its own."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from everflow import nest
from everflow.api import internal
from everflow.graph import dtypes
from everflow.graph.shapes import TensorShape
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.graph.type_spec import CompositeTensor, TypeSpec
from everflow.nest_paths import flatten_with_tuple_paths

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@internal("framework.func_graph.UnknownArgument")
class UnknownArgument:
    """Stands in a signature for an argument that no file can hold."""


def positional_names(signature: inspect.Signature, count: int) -> list[str]:
    """The names of so many positional arguments; those that `*args` takes are numbered."""
    names = [p.name for p in signature.parameters.values() if p.kind in _POSITIONAL]
    rest = next((p.name for p in signature.parameters.values() if p.kind is inspect.Parameter.VAR_POSITIONAL), "args")
    return [*names, *(f"{rest}_{i}" for i in range(count - len(names)))][:count]


def described(args: Any, kwargs: dict[str, Any], names: list[str]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What a traced body remembers of its arguments: specs where there were tensors, with names that tell where they were."""
    return (
        tuple(_described(name, value) for name, value in zip(names, args)),
        {key: _described(key, value) for key, value in kwargs.items()},
    )


def _described(name: str, value: Any) -> Any:
    leaves = flatten_with_tuple_paths(value) if nest.is_nested(value) else [((), value)]
    found = [_leaf("/".join(map(str, (name, *path))), leaf) for path, leaf in leaves]
    return nest.pack_sequence_as(value, found) if nest.is_nested(value) else found[0]


def _leaf(name: str, value: Any) -> Any:
    if isinstance(value, TensorSpec):
        return value if value.name else TensorSpec(value.shape, value.dtype, name)
    if isinstance(value, CompositeTensor):
        return value._type_spec
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype.base_dtype, name)
    if isinstance(value, (np.ndarray, np.generic)):
        return TensorSpec(value.shape, dtypes.as_dtype(value.dtype), name)
    if value is None or isinstance(value, (bool, int, float, str, bytes, dtypes.DType, TensorShape, TypeSpec)):
        return value
    return UnknownArgument()


def in_order(args: tuple[Any, ...], kwargs: dict[str, Any], keywords: list[str], positional: int) -> list[Any]:
    """The arguments of a call of a traced body, which knows its tensors by name, in the order of its inputs."""
    if len(args) > positional:
        raise TypeError(
            f"Expected at most {positional} positional arguments (and the rest keywords, of {keywords}), got {args}. When calling a "
            "concrete function, positional arguments may not be bound to Tensors within nested structures."
        )
    found = list(args)
    rest = dict(kwargs)
    for keyword in keywords[len(args) :]:
        if keyword not in rest:
            given = [*keywords[: len(args)], *kwargs]
            raise TypeError(
                f"Expected argument names {keywords} but got values for {given}. Missing: {[k for k in keywords if k not in given]}."
            )
        found.append(rest.pop(keyword))
    if rest:
        taken = [k for k in rest if k in keywords]
        if taken:
            raise TypeError(f"Got two values for keyword '{taken[0]}'.")
        raise TypeError(f"Keyword arguments {list(rest)} unknown. Expected {keywords}.")
    return found


def full_arg_spec(signature: inspect.Signature) -> inspect.FullArgSpec:
    """Parameters, in the form that files have them in."""
    parameters = list(signature.parameters.values())

    def of(*kinds: Any) -> list[inspect.Parameter]:
        return [p for p in parameters if p.kind in kinds]

    def only(kind: Any) -> str | None:
        return next((p.name for p in of(kind)), None)

    args, keyword_only = of(*_POSITIONAL), of(inspect.Parameter.KEYWORD_ONLY)
    defaults = tuple(p.default for p in args if p.default is not p.empty)
    keyword_defaults = {p.name: p.default for p in keyword_only if p.default is not p.empty}
    return inspect.FullArgSpec(
        [p.name for p in args],
        only(inspect.Parameter.VAR_POSITIONAL),
        only(inspect.Parameter.VAR_KEYWORD),
        defaults or None,
        [p.name for p in keyword_only],
        keyword_defaults or None,
        {},
    )


def signature_of(spec: Any) -> inspect.Signature:
    """The parameters that such a form stands for."""
    kinds = inspect.Parameter
    defaults = [kinds.empty] * (len(spec.args) - len(spec.defaults or ())) + list(spec.defaults or ())
    found = [kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=default) for name, default in zip(spec.args, defaults)]
    if spec.varargs:
        found.append(kinds(spec.varargs, kinds.VAR_POSITIONAL))
    for name in spec.kwonlyargs or ():
        found.append(kinds(name, kinds.KEYWORD_ONLY, default=(spec.kwonlydefaults or {}).get(name, kinds.empty)))
    if spec.varkw:
        found.append(kinds(spec.varkw, kinds.VAR_KEYWORD))
    return inspect.Signature(found)
