"""How a traced function takes its arguments, and what makes a difference between calls."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow import nest
from everflow.eager import arguments
from everflow.eager.concrete_functions import is_variable
from everflow.eager.tensor import EagerTensor
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.graph import Graph
from everflow.graph.stacks import EAGER, global_graph, graphs
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.graph.type_spec import CompositeTensor, TypeSpec
from everflow.nest_paths import flatten_up_to


class Spec:
    """How a function takes its arguments: its parameters, and the signature that it was given."""

    def __init__(self, function: Callable[..., Any], input_signature: Any) -> None:
        self.signature = inspect.signature(function)
        # What a partial has set already is no argument, unless a call gives another value.
        self.preset = frozenset(_preset_names(function))
        self.input_signature = None if input_signature is None else tuple(input_signature)
        if self.input_signature is not None:
            for spec in nest.flatten(self.input_signature, expand_composites=False):
                if not isinstance(spec, TypeSpec):
                    raise TypeError(
                        f"Invalid input_signature {input_signature}; input_signature must be a possibly nested sequence of "
                        f"TensorSpec objects."
                    )

    # Methods are described without the object they belong to.
    is_method = False

    @property
    def fullargspec(self) -> inspect.FullArgSpec:
        """The parameters, in the form that files have them in."""
        return arguments.full_arg_spec(self.signature)

    def bound(self, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments by position where they have one, defaults filled in, numbers of numpy's as tensors."""
        given, named = self.complete(args, kwargs)
        if self.input_signature is None:
            return given, named
        if named:
            raise ValueError(
                "Cannot define a TensorFlow function from a Python function with keyword arguments when input_signature is provided."
            )
        return self._as_declared(given), {}

    def complete(self, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments by position where they have one, defaults filled in."""
        if self.input_signature is not None and (len(args) > len(self.input_signature) or _is_more(self, args, kwargs)):
            raise TypeError(
                f"When input_signature is provided, only pass arguments covered by it. Received {len(args) + len(kwargs)} argument(s)."
            )
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError:
            if self.input_signature is None or len(args) + len(kwargs) >= len(self.input_signature):
                raise
            raise ValueError(
                f"Structure of Python function inputs does not match input_signature:\n  inputs: ({_shown(args)})\n  input_signature: "
                f"({_shown(self.input_signature)})"
            ) from None
        preset = {name for name in self.preset if name not in bound.arguments}
        bound.apply_defaults()
        return bound.args, {k: v for k, v in sorted(bound.kwargs.items()) if k not in preset}

    def _as_declared(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        assert self.input_signature is not None
        count = len(self.input_signature)
        try:
            # A list may stand for a tensor.
            flat = flatten_up_to(self.input_signature, args[:count], expand_composites=True)
        except (ValueError, TypeError):
            raise ValueError(
                f"Structure of Python function inputs does not match input_signature:\n  inputs: ({_shown(args)})\n  input_signature: "
                f"({_shown(self.input_signature)})"
            ) from None
        specs = nest.flatten(self.input_signature, expand_composites=True)
        found = []
        for spec, value in zip(specs, flat):
            try:
                t = value if isinstance(value, (Tensor, TensorSpec)) else convert_to_tensor(value, spec.dtype)
            except (ValueError, TypeError):
                raise ValueError(
                    "When input_signature is provided, inputs to the Python function must be convertible to tensors; these "
                    f"are incompatible:\n  inputs: ({_shown(args)})\n  input_signature: ({_shown(self.input_signature)})"
                ) from None
            if not spec.is_compatible_with(t):
                raise ValueError(
                    f"Python inputs incompatible with input_signature:\n  inputs: ({_shown(args)})\n  input_signature: "
                    f"({_shown(self.input_signature)})"
                )
            found.append(t)
        return (*nest.pack_sequence_as(self.input_signature, found, expand_composites=True), *args[count:])


def _is_more(spec: Spec, args: Any, kwargs: Any) -> bool:
    """Whether names stand for parameters that the signature says nothing about."""
    covered = [p.name for p in spec.signature.parameters.values()][: len(spec.input_signature or ())]
    return any(name not in covered for name in kwargs)


def _preset_names(function: Any) -> list[str]:
    found: list[str] = []
    while isinstance(function, functools.partial):
        found += function.keywords
        function = function.func
    return found


def _shown(values: Any) -> str:
    return ", ".join(str(v) for v in values)


def outermost() -> Graph:
    """The graph around the functions that are being traced."""
    for graph in reversed(graphs.stack):
        if graph is not EAGER and not graph.building_function:
            return graph
    return global_graph()


def structure_of(structure: Any) -> Any:
    """The lists, dicts and composites in which arguments are."""
    if isinstance(structure, (list, tuple)):
        return (type(structure).__name__, *map(structure_of, structure))
    if isinstance(structure, dict):
        return ("dict", *((k, structure_of(v)) for k, v in sorted(structure.items())))
    if isinstance(structure, CompositeTensor):
        # The tensors of a dataset or iterator do not tell what its elements are.
        return structure._type_spec if hasattr(structure, "element_spec") else type(structure).__name__
    return None


def kind_of(args: tuple[Any, ...]) -> Any:
    """The types and shapes of arguments that are values of tensors; None where there are others."""
    kind: list[Any] = []
    for t in args:
        shape = getattr(t.value, "shape", None) if type(t) is EagerTensor else None
        if shape is None:
            return None
        kind.append(t.dtype._type_enum)
        kind.append(shape)
    return tuple(kind)


def parts_of(values: list[Any]) -> tuple[Any, ...]:
    """What makes a difference between calls with some values: of variables, which of them are the same."""
    handles: list[Any] = []
    found = []
    for value in values:
        if is_variable(value):
            if not any(h is value.handle for h in handles):
                handles.append(value.handle)
            place = next(i for i, h in enumerate(handles) if h is value.handle)
            found.append(("variable", value.dtype.base_dtype, value.shape.as_dims(), value.trainable, place))
        else:
            found.append(_part_of(value))
    return tuple(found)


def _part_of(value: Any) -> Any:
    if isinstance(value, Tensor):
        return "tensor", value.dtype.base_dtype, value.dims
    if isinstance(value, TensorSpec):
        return "tensor", value.dtype, value.shape.as_dims()
    if isinstance(value, (np.ndarray, np.generic)):
        return "tensor", dtypes.as_dtype(value.dtype), value.shape
    try:
        hash(value)
    except TypeError:
        if isinstance(value, (set, bytearray)):
            raise AttributeError(f"A {type(value).__name__} can't be an argument of a traced function: it may change.") from None
        # The object itself, as long as it lives.
        return "object", _Identity(value)
    return type(value), value


class _Identity:
    """Tells objects apart that can't be hashed, without keeping them."""

    def __init__(self, value: Any) -> None:
        self._ref = weakref.ref(value)
        self._id = id(value)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self._ref() is not None and self._ref() is other._ref()
