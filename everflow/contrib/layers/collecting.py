"""Outputs and variables of layers in collections, and variables under the names that tf.contrib.layers gives them."""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.contrib.framework.variables import model_variable
from everflow.graph.dtypes import DTypeLike
from everflow.layers.arguments import smart_cond
from everflow.ops.variables.partitioned import PartitionedVariable


@public("contrib.layers.python.layers.utils.append_tensor_alias")
def append_tensor_alias(tensor: Any, alias: str) -> Any:
    """Gives a tensor another name, under which a dictionary of outputs has it."""
    alias = alias.rstrip("/")
    tensor.aliases = [*getattr(tensor, "aliases", []), alias]
    return tensor


@public("contrib.layers.python.layers.utils.gather_tensors_aliases")
def gather_tensors_aliases(tensors: Any) -> list[str]:
    """The names of all tensors."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


@public("contrib.layers.python.layers.utils.get_tensor_aliases")
def get_tensor_aliases(tensor: Any) -> list[str]:
    """The names of a tensor: those that it was given, else that of its op (and the number of its output)."""
    found = getattr(tensor, "aliases", None)
    if found is not None:
        return list(found)
    return [tensor.name[:-2] if tensor.name.endswith(":0") else tensor.name]


@public("contrib.layers.python.layers.utils.collect_named_outputs", "contrib.slim.utils.collect_named_outputs")
def collect_named_outputs(collections: Any, alias: str, outputs: Any) -> Any:
    """Puts an output into collections under a name; the output."""
    if collections:
        append_tensor_alias(outputs, alias)
        tf.add_to_collections(collections, outputs)
    return outputs


@public("contrib.layers.python.layers.utils.convert_collection_to_dict", "contrib.slim.utils.convert_collection_to_dict")
def convert_collection_to_dict(collection: Any, clear_collection: bool = False) -> Any:
    """The outputs in a collection by their names."""
    found = collections.OrderedDict(
        (alias, tensor) for tensor in set_of(tf.get_collection(collection)) for alias in get_tensor_aliases(tensor)
    )
    if clear_collection:
        tf.get_default_graph().clear_collection(collection)
    return found


def set_of(tensors: Any) -> list[Any]:
    """Each tensor once, in order."""
    return list({id(t): t for t in tensors}.values())


@public("contrib.layers.python.layers.utils.get_variable_collections")
def get_variable_collections(variables_collections: Any, name: str) -> Any:
    """The collections of one of a layer's variables: `variables_collections` may be a dictionary by their names."""
    return variables_collections.get(name, None) if isinstance(variables_collections, dict) else variables_collections


def add_to_collections(variable: Any, variables_collections: Any, name: str) -> None:
    """Puts a layer's variable, or all its parts, into collections, each once."""
    parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
    for collection in get_variable_collections(variables_collections, name) or []:
        held = tf.get_default_graph().get_collection_ref(collection)
        for part in parts:
            if not any(part is other for other in held):
                tf.add_to_collection(collection, part)


def _renamed(
    getter: Any,
    name: str,
    rename: dict[str, str],
    shape: Any = None,
    dtype: DTypeLike | None = None,
    initializer: Any = None,
    regularizer: Callable[..., Any] | None = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Callable[..., Any] | None = None,
    use_resource: bool | None = None,
    synchronization: Any = tf.VariableSynchronization.AUTO,
    aggregation: Any = tf.VariableAggregation.NONE,
    **_: Any,
) -> Any:
    *outer, last = name.split("/")
    return model_variable(
        "/".join([*outer, rename.get(last, last)]),
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        collections=collections,
        trainable=trainable,
        caching_device=caching_device,
        partitioner=partitioner,
        custom_getter=getter,
        use_resource=use_resource,
        synchronization=synchronization,
        aggregation=aggregation,
    )


def variable_getter(rename: dict[str, str] | None = None) -> Callable[..., Any]:
    """A custom getter for scopes of layers: it makes variables of the model, under other names."""
    return functools.partial(_renamed, rename=rename or {})


@public("contrib.layers.python.layers.utils.last_dimension", "contrib.slim.utils.last_dimension")
def last_dimension(shape: Any, min_rank: int = 1) -> Any:
    """The size of the last dimension, which must be known."""
    return _known_size(shape, -1, min_rank)


@public("contrib.layers.python.layers.utils.channel_dimension", "contrib.slim.utils.channel_dimension")
def channel_dimension(shape: Any, data_format: str, min_rank: int = 1) -> Any:
    """The size of the dimension of channels, which must be known."""
    return _known_size(shape, 1 if data_format.startswith("NC") else -1, min_rank)


def _known_size(shape: Any, axis: int, min_rank: int) -> int:
    sizes = shape.as_list() if shape.ndims is not None else None
    if sizes is None:
        raise ValueError("dims of shape must be known but is None")
    if len(sizes) < min_rank:
        raise ValueError(f"rank of shape must be at least {min_rank} not: {len(sizes)}")
    if sizes[axis] is None:
        raise ValueError(f"last dimension shape must be known but is {sizes[axis]}")
    return sizes[axis]


@public("contrib.layers.python.layers.utils.two_element_tuple", "contrib.slim.utils.two_element_tuple")
def two_element_tuple(int_or_tuple: Any) -> tuple[int, int]:
    """(height, width) of one number for both, or of two."""
    if isinstance(int_or_tuple, int):
        return int_or_tuple, int_or_tuple
    is_listed = isinstance(int_or_tuple, (list, tuple))
    if not is_listed and not isinstance(int_or_tuple, tf.TensorShape) or len(int_or_tuple) != 2:
        raise ValueError(
            f"Must be a list with 2 elements: {int_or_tuple}"
            if is_listed
            else "Must be an int, a list with 2 elements or a TensorShape of length 2"
        )
    height, width = int_or_tuple
    return (int(height), int(width)) if is_listed else (height, width)


@public("contrib.layers.python.layers.utils.n_positive_integers", "contrib.slim.utils.n_positive_integers")
def n_positive_integers(n: int, value: Any) -> tuple[int, ...]:
    """n sizes of one number for all, or of n."""
    if not isinstance(n, int) or n < 1:
        raise ValueError("n must be a positive integer")
    if not hasattr(value, "__len__"):
        values = [int(value)] * n
    else:
        values = [getattr(size, "value", size) for size in value]
        if len(values) != n or not all(isinstance(size, (int, np.integer)) for size in values):
            raise ValueError(f"Expected sequence of {n} positive integers, but received {value!r}")
    for size in values:
        if size <= 0:
            raise ValueError(f"expected positive integer, but received {size}")
    return tuple(int(size) for size in values)


@public("contrib.layers.python.layers.utils.smart_cond", "contrib.slim.utils.smart_cond")
def branch(pred: Any, fn1: Any, fn2: Any, name: str | None = None) -> Any:
    """One of two functions, chosen now where the predicate is known."""
    return smart_cond(pred, fn1, fn2, name)


@public("contrib.layers.python.layers.utils.static_cond", "contrib.slim.utils.static_cond")
def static_cond(pred: Any, fn1: Any, fn2: Any) -> Any:
    """One of two functions, chosen now."""
    if not callable(fn1):
        raise TypeError("fn1 must be callable.")
    if not callable(fn2):
        raise TypeError("fn2 must be callable.")
    return fn1() if pred else fn2()


@public("contrib.layers.python.layers.utils.constant_value", "contrib.slim.utils.constant_value")
def constant_value(value_or_tensor_or_var: Any, dtype: Any = None) -> Any:
    """The value where it is known, else None."""
    if value_or_tensor_or_var is None:
        raise ValueError("value_or_tensor_or_var cannot be None")
    if isinstance(value_or_tensor_or_var, (tf.Tensor, tf.Variable)):
        return tf.get_static_value(tf.convert_to_tensor(value_or_tensor_or_var))
    if dtype is not None and not isinstance(value_or_tensor_or_var, dtype):
        raise ValueError(f"It has not the required type {dtype}")
    return value_or_tensor_or_var
