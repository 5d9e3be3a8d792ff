"""tf.contrib.framework's print_op: tensors that say what they are when they are computed."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal


@internal("contrib.framework.python.ops.prettyprint_ops.print_op")
def print_op(
    input_: Any,
    data: Any = None,
    message: str | None = None,
    first_n: int | None = None,
    summarize: int = 20,
    print_tensor_name: bool = True,
    print_tensor_type: bool = True,
    print_shape: bool = True,
    summarize_indicator_vector: bool = True,
    name: str | None = None,
) -> Any:
    """What is given, printed with its name, type, shape and value when it is computed, and with others in `data`."""
    shown = [
        part
        for thing in [input_, *(data or ())]
        for part in _said(thing, print_tensor_name, print_tensor_type, print_shape, summarize_indicator_vector)
    ]

    def printed(tensor: Any) -> Any:
        return tf.Print(tensor, shown, message, first_n, summarize, name)

    if isinstance(input_, tf.SparseTensor):
        with tf.control_dependencies([printed(input_.values)]):
            return tf.SparseTensor(tf.identity(input_.indices), tf.identity(input_.values), tf.identity(input_.dense_shape))
    if isinstance(input_, tf.TensorArray):
        with tf.control_dependencies([printed(input_.flow)]):
            return input_.identity()
    return printed(input_)


def _said(thing: Any, with_name: bool, with_type: bool, with_shape: bool, first_true: bool) -> list[Any]:
    """What is printed of one thing: texts and tensors."""
    if isinstance(thing, tf.SparseTensor):
        shape = ["Shape:", thing.dense_shape] if with_shape else []
        return [*_kind("SparseTensor", thing, with_type), *shape, "Sparse indices:", thing.indices, "Sparse values:", thing.values]
    if isinstance(thing, tf.TensorArray):
        return [*_kind("TensorArray", thing, with_type), "Size:", thing.size(), "Value:", thing.stack()]
    if isinstance(thing, tf.Variable):
        return [*_kind("Variable", thing, with_type), "Value:", thing.read_value()]
    if not isinstance(thing, tf.Tensor):
        raise ValueError("t must be a Tensor, SparseTensor, TensorArray or Variable.")
    said: list[Any] = [f"Name: {thing.name}"] if with_name else []
    said += _kind("Tensor", thing, with_type)
    said += [f"Shape: {thing.get_shape().dims}"] if with_shape else []
    if thing.dtype.base_dtype == tf.bool and first_true:
        said += ["First True in Boolean tensor at:", tf.argmax(tf.cast(thing, tf.int64), axis=0)]
    return [*said, "Value:", thing]


def _kind(kind: str, thing: Any, with_type: bool) -> list[str]:
    return [f"Type: {kind} ({thing.dtype.name})"] if with_type else []
