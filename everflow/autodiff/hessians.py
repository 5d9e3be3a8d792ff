"""Second derivatives: tf.hessians, and the product of a Hessian with a vector."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.autodiff.gradients import gradients
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply


@public("hessians")
@internal("ops.gradients_impl.hessians")
def hessians(
    ys: Any,
    xs: Any,
    name: str = "hessians",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
) -> list[Any]:
    """The matrix of second derivatives of sum(ys) with respect to each of xs."""
    xs = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    first = gradients(
        ys,
        xs,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
    )
    return [_hessian(gradient, x) for gradient, x in zip(first, xs)]


def _hessian(gradient: Any, x: Any) -> Tensor:
    """The derivatives of each element of a gradient, in a loop."""
    flat = tf.reshape(gradient, [-1])
    value = convert_to_tensor(x)
    count, dtype = tf.size(value), value.dtype.base_dtype

    def body(i: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        row = gradients(flat[i], x)[0]
        if row is None:
            raise ValueError(f"The gradient with respect to {x} does not depend on it: its Hessian is zero.")
        return i + 1, apply("TensorListPushBack", rows, tf.convert_to_tensor(row))

    anything = tf.constant(-1, dtypes.int32)
    rows = apply("EmptyTensorList", anything, anything, element_dtype=dtype)
    _, rows = tf.while_loop(lambda i, _: i < count, body, [tf.constant(0), rows])
    shape = tf.shape(value)
    stacked = apply("TensorListStack", rows, shape, element_dtype=dtype)
    return tf.reshape(stacked, tf.concat([shape, shape], 0))


@internal("ops.gradients_impl._hessian_vector_product")
def hessian_vector_product(ys: Any, xs: list[Any], v: list[Any]) -> list[Any]:
    """The Hessian of ys with respect to xs, multiplied by v, without building the Hessian."""
    if len(v) != len(xs):
        raise ValueError("xs and v must have the same length.")
    products = [tf.multiply(g, tf.stop_gradient(w)) for g, w in zip(gradients(ys, xs), v) if g is not None]
    return gradients(products, xs)
