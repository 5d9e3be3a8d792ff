"""Checks of tensors' shapes, and small helps around graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.graph.graph import Graph
from everflow.graph.scopes import name_scope, prepend_name_scope, strip_name_scope
from everflow.graph.stacks import get_default_graph
from everflow.ops.math.confusion_matrix import remove_squeezable_dimensions as squeezed


@public("contrib.framework.assert_scalar_int")
def assert_scalar_int(tensor: Any, name: str | None = None) -> Any:
    """Refuses what is not one integer."""
    with name_scope(name, "assert_scalar_int", [tensor]) as scope:
        tensor = tf.convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError(f"Expected integer type for {tensor.name}, received type: {tensor.dtype}.")
        return tf.assert_scalar(tensor, name=scope)


@public("contrib.framework.reduce_sum_n")
def reduce_sum_n(tensors: Any, name: str | None = None) -> Any:
    """The sum of all elements of several tensors."""
    if not tensors:
        raise ValueError("No tensors provided.")
    with name_scope(name, "reduce_sum_n", tensors) as scope:
        sums = [tf.reduce_sum(t, name=f"{t.op.name}/sum") for t in tensors]
        return sums[0] if len(sums) == 1 else tf.add_n(sums, name=scope)


@public("contrib.framework.remove_squeezable_dimensions")
def remove_squeezable_dimensions(predictions: Any, labels: Any, name: str | None = None) -> Any:
    """(predictions, labels) without a last dimension of 1 that one has and the other has not."""
    labels, predictions = squeezed(labels, predictions, name=name)
    return predictions, labels


def _shape_check(sizes: Any, tensor: Any) -> Any:
    """An op that fails unless a tensor has these sizes; the ops that TensorFlow has for it, for the seeds of later ones count them."""
    with name_scope("assert_shape"):
        actual = tf.shape(tensor, name="actual")
        with name_scope("is_shape") as scope:
            rank = tf.size(sizes)
            with name_scope("is_rank") as rank_scope:
                same_rank = tf.equal(rank, tf.rank(tensor, name="actual"), name=rank_scope)
            with name_scope("shape_tensor_equal") as sizes_scope:
                any_size, same = tf.equal(sizes, -1), tf.equal(sizes, actual, name="equal")
                same_sizes = tf.reduce_all(tf.logical_or(any_size, same, name="exclude_partial_shape"), name=sizes_scope)
            fits = tf.logical_and(same_rank, same_sizes, name=scope)
        return tf.Assert(fits, [f"Wrong shape for {tensor.name} [expected] [actual].", sizes, actual])


def _sizes(expected_shape: Any, tensor: Any) -> Any:
    """A shape as whole numbers, -1 where any will do; or the tensor that holds them."""
    if isinstance(expected_shape, tf.TensorShape):
        return [-1 if n is None else n for n in expected_shape.as_list()]
    sizes = expected_shape if isinstance(expected_shape, tf.Tensor) else np.array(expected_shape)
    whole = sizes.dtype.is_integer if isinstance(sizes, tf.Tensor) else np.issubdtype(sizes.dtype, np.integer) or not sizes.size
    if not whole:
        raise ValueError(f"Invalid dtype {sizes.dtype} for shape {expected_shape} expected of tensor {tensor.name}.")
    if isinstance(sizes, tf.Tensor):
        return sizes
    if sizes.ndim != 1:
        raise ValueError(f"Invalid rank {sizes.ndim} for shape {expected_shape} expected of tensor {tensor.name}.")
    return [int(n) for n in sizes]


@public("contrib.framework.with_shape")
def with_shape(expected_shape: Any, tensor: Any) -> Any:
    """The tensor with a static shape: checked now where its own is known, else when it is computed; -1 is any size."""
    sizes = _sizes(expected_shape, tensor)
    static = None if isinstance(sizes, tf.Tensor) else tf.TensorShape([None if n == -1 else n for n in sizes])
    shape = tensor.get_shape()
    if static is not None and shape.is_fully_defined():
        if not static.is_compatible_with(shape):
            raise ValueError(f"Wrong shape for {tensor.name} [expected] [actual]. {static.as_list()} {shape.as_list()}")
        return tensor
    with name_scope(f"{tensor.op.name}/", values=[tensor]), tf.control_dependencies([_shape_check(sizes, tensor)]):
        found = tf.identity(tensor)
    if static is not None:
        found.set_shape(static)
    return found


@public("contrib.framework.with_same_shape")
def with_same_shape(expected_tensor: Any, tensor: Any) -> Any:
    """The tensor with the shape of another; checked as in with_shape."""
    with name_scope(f"{tensor.op.name}/", values=[expected_tensor, tensor]):
        expected = expected_tensor.get_shape()
        return with_shape(expected.as_list() if expected.is_fully_defined() else tf.shape(expected_tensor, name="expected_shape"), tensor)


@public("contrib.framework.get_graph_from_inputs")
def get_graph_from_inputs(op_input_list: Any, graph: Graph | None = None) -> Any:
    """The graph of tensors, which must be one."""
    first = None
    for value in op_input_list:
        found = getattr(value, "graph", None)
        if found is None:
            continue
        if graph is not None and found is not graph:
            raise ValueError(f"{value} is not from the passed-in graph.")
        if first is not None and found is not first.graph:
            raise ValueError(f"{value} must be from the same graph as {first}.")
        first = value
    return graph or (get_default_graph() if first is None else first.graph)


@public("contrib.framework.get_name_scope")
def get_name_scope() -> str:
    """The name scope that is in force."""
    return get_default_graph().get_name_scope()


@public("contrib.framework.get_placeholders")
def get_placeholders(graph: Graph) -> list[Any]:
    """The placeholders of a graph."""
    return [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]


public("contrib.framework.prepend_name_scope")(prepend_name_scope)
public("contrib.framework.strip_name_scope")(strip_name_scope)
for _name in ("argsort", "assert_scalar", "convert_to_tensor_or_sparse_tensor", "sort"):
    public(f"contrib.framework.{_name}")(getattr(tf, _name))
