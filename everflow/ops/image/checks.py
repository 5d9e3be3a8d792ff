"""What the image functions ask of their inputs: dimensions, and errors at construction where shapes are known, at run time where not."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph import shapes
from everflow.graph.scopes import control_dependencies
from everflow.graph.tensor import Tensor


@internal("ops.image_ops_impl._CheckAtLeast3DImage")
def check_at_least_3d(image: Any, require_static: bool = True) -> list[Any]:
    """Assertions, none where shapes say enough, that a tensor is an image or a batch of them."""
    dims = image.dims
    if dims is not None and len(dims) < 3:
        raise ValueError("'image' must be at least three-dimensional.")
    if require_static and (dims is None or None in dims):
        raise ValueError("'image' must be fully defined.")
    if dims is not None and 0 in dims:
        raise ValueError(f"all dims of 'image.shape' must be > 0: {shapes.TensorShape(dims)}")
    if dims is None or None in dims:
        return [
            tf.assert_positive(tf.shape(image), ["all dims of 'image.shape' must be > 0."]),
            tf.assert_greater_equal(tf.rank(image), 3, message="'image' must be at least three-dimensional."),
        ]
    return []


@internal("ops.image_ops_impl._Check3DImage")
def check_3d(image: Any, require_static: bool = True) -> list[Any]:
    """The same for a single image."""
    dims = image.dims
    if dims is not None and len(dims) != 3:
        raise ValueError(f"'image' (shape {shapes.TensorShape(dims)}) must be three-dimensional.")
    if require_static and (dims is None or None in dims):
        raise ValueError("'image' (shape {}) must be fully defined.".format("<unknown>" if dims is None else shapes.TensorShape(dims)))
    if dims is not None and 0 in dims:
        raise ValueError(f"all dims of 'image.shape' must be > 0: {shapes.TensorShape(dims)}")
    if dims is None or None in dims:
        return [tf.assert_positive(tf.shape(image), ["all dims of 'image.shape' must be > 0."])]
    return []


def after(assertions: list[Any], image: Any) -> Any:
    """The image, once the assertions hold."""
    with control_dependencies(assertions):
        return tf.identity(image, name="control_dependency")


def required(condition: Any, message: str) -> list[Any]:
    """An assertion; an error at once where the answer is known."""
    if isinstance(condition, Tensor):
        return [tf.Assert(condition, [message])]
    if not condition:
        raise ValueError(message)
    return []


@internal("ops.image_ops_impl._ImageDimensions")
def image_dimensions(image: Any, rank: int) -> list[Any]:
    """The dimensions as numbers where they are known, as scalar tensors where not."""
    dims = image.dims
    if dims is not None and len(dims) == rank and None not in dims:
        return list(dims)
    known = shapes.with_rank(dims, rank)
    found = tf.unstack(tf.shape(image), rank)
    return [f if k is None else k for k, f in zip(known, found)]


def exactly(size: int | None, wanted: int) -> None:
    """Raises unless a dimension is of a size, or unknown."""
    if size not in (None, wanted):
        raise ValueError(f"Dimension must be {wanted} but is {size}")


def is_dynamic(value: Any) -> bool:
    """Whether a size is known only at run time."""
    return isinstance(value, Tensor)
