"""Constructors of op families: one line makes an elementwise op with kernel, shape rule, gradient and public function."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import public
from everflow.graph import opdefs
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.sparse_tensor import SparseTensor
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.lazy import torch
from everflow.ops.core.broadcasting import checked, needed_sums_to_inputs, sums_to_inputs
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, generated, not_differentiable, op
from everflow.ops.core.shape_rules import broadcast, same_as_input
from everflow.values.tensors import torch_dtype

Factory = Callable[[Node], Callable[..., Any]]

# Unsigned types that torch holds but hardly computes with, and signed types with room for what they hold.
WIDER = {"uint16": "int32", "quint16": "int32", "uint32": "int64", "uint64": "int64"}


def widened(factory: Factory) -> Factory:
    """A kernel that computes in the next signed type where torch can't compute in the inputs' own."""

    def make(node: Node) -> Callable[..., Any]:
        inner = factory(node)
        wide = WIDER.get(node.inputs[0].dtype.base_dtype.name)
        if wide is None:
            return inner
        compute, result = getattr(torch, wide), torch_dtype(node.outputs[0].dtype)
        return lambda *xs: inner(*[x.to(compute) for x in xs]).to(result)

    return make


def moving(factory: Factory, *texts: int) -> Factory:
    """A kernel that only moves elements. Of texts it moves the places, 0 standing for the empty text that borders are made of; `texts` says
    which inputs hold them, if not just the first."""

    def make(node: Node) -> Callable[..., Any]:
        inner = factory(node)
        if node.inputs[0].dtype.base_dtype.name != "string":
            return inner

        def run(*values: Any) -> Any:
            given, known, places = list(values), [b""], 1
            for i in texts or (0,):
                given[i] = torch.arange(places, places + values[i].size).reshape(values[i].shape)
                known += values[i].reshape(-1).tolist()
                places += values[i].size
            held = np.empty(places, object)
            held[:] = known
            found = inner(*given)
            return held[found.numpy().reshape(-1)].reshape(found.shape)

        return run

    return make


def unary(
    name: str, kernel: Factory, gradient: Any, *names: str, sparse: bool = False, ragged: bool = True, **facts: Any
) -> Callable[..., Any]:
    """An op of one tensor with its public function; `gradient(x, y, dy)` gives dx. `sparse`: it keeps zeros, so that it may
    be applied to the values of a SparseTensor. `ragged`: the function takes ragged tensors."""
    owner = sys._getframe(1).f_globals["__name__"]
    differentiate = gradient
    if gradient is not None and gradient is not not_differentiable:

        def differentiate(o: Operation, dy: Any) -> Any:
            return gradient(o.inputs[0], o.outputs[0], dy)

    op(name, kernel=widened(kernel), shape=same_as_input, gradient=differentiate, owner=owner, **facts)
    return published(name, names, owner, "elements" if ragged else "", sparse)


def binary(
    name: str, kernel: Factory, gradient: Any, *names: str, widen: bool = True, ragged: bool = True, **facts: Any
) -> Callable[..., Any]:
    """An op of two tensors that broadcast; `gradient` is a pair of functions (x, y, dz) → dx and dy, which are summed to the
    inputs' shapes. `widen`: the kernel needs help with unsigned words. `ragged`: the function takes ragged tensors."""
    owner = sys._getframe(1).f_globals["__name__"]
    differentiate = summed_gradient(*gradient) if isinstance(gradient, tuple) else gradient

    def make(node: Node) -> Callable[..., Any]:
        return checked(node, kernel(node))

    op(name, kernel=widened(make) if widen else make, shape=broadcast, gradient=differentiate, owner=owner, **facts)
    return published(name, names, owner, "pairs" if ragged else "")


def summed_gradient(of_x: Any, of_y: Any) -> Callable[..., Any]:
    """The gradient of a broadcasting op from the gradients of its elements, which get complex inputs conjugated; None stands
    for an input that has no gradient."""

    def differentiate(o: Operation, dz: Any) -> Any:
        x, y = o.inputs
        to_x, to_y = sums_to_inputs(x, y)
        x, y = conj(x), conj(y)
        dx = None if of_x is None else to_x(of_x(x, y, dz))
        return dx, None if of_y is None else to_y(of_y(x, y, dz))

    return differentiate


def conj(x: Any) -> Any:
    """The complex conjugate where the numbers are complex."""
    return apply("Conj", x) if x.dtype.is_complex else x


def needed_gradient(of_x: Any, of_y: Any) -> Callable[..., Any]:
    """The same for the common arithmetic, where equal static shapes need no sums at all."""

    def differentiate(o: Operation, dz: Any) -> Any:
        x, y = o.inputs
        if not isinstance(dz, Tensor):
            dz = convert_to_tensor(dz)
        dims, skipped = x.dims, o.skip_input_indices
        if dims == y.dims == dz.dims and dims is not None and None not in dims:
            return None if 0 in skipped else of_x(x, y, dz), None if 1 in skipped else of_y(x, y, dz)
        to_x, to_y = needed_sums_to_inputs(x, y, dz)
        return None if 0 in skipped else to_x(of_x(x, y, dz)), None if 1 in skipped else to_y(of_y(x, y, dz))

    return differentiate


def published(op_type: str, names: tuple[str, ...], owner: str, ragged: str = "", sparse: bool = False) -> Callable[..., Any]:
    """The public function of an op that takes nothing but its inputs."""
    definition = opdefs.find(op_type)
    assert definition is not None
    inputs = [a.name for a in definition.inputs]
    if len(definition.parameters) > len(inputs):
        function = generated(op_type)
    elif sparse:

        def function(x: Any, name: str | None = None) -> Any:
            return of_values(function, op_type, x, name) if is_sparse(x) else apply(op_type, x, name=name)
    elif inputs == ["x"]:

        def function(x: Any, name: str | None = None) -> Any:
            return apply(op_type, x, name=name)
    elif inputs == ["x", "y"]:

        def function(x: Any, y: Any, name: str | None = None) -> Any:
            return apply(op_type, x, y, name=name)
    else:
        function = generated(op_type)
    function.__name__ = function.__qualname__ = names[0].rpartition(".")[2] if names else op_type
    function.__doc__ = f"{op_type} of each element." if len(inputs) == 1 else f"{op_type} of corresponding elements; shapes broadcast."
    function.__module__ = owner
    return public(*names, owner=owner, ragged=ragged)(function) if names else function


def is_sparse(x: Any) -> bool:
    """Whether a value is a SparseTensor."""
    return isinstance(x, SparseTensor)


def of_values(function: Callable[..., Any], op_type: str, x: SparseTensor, name: str | None) -> SparseTensor:
    """A function of the values of a sparse tensor."""
    # TensorFlow first tries the sparse tensor itself, which takes up a name.
    get_default_graph().unique_name(name or op_type)
    return SparseTensor(x.indices, function(x.values, name=name), x.dense_shape)
