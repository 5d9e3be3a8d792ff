"""Softmax and cross-entropies as programs call them."""

from __future__ import annotations

import math
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.errors import InvalidArgumentError
from everflow.graph import shapes
from everflow.graph.constants import known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply
from everflow.platform.deprecation import deprecated_argument_lookup as either


def _swapped(x: Any, axis: Any, last: Any, name: str | None = None) -> Any:
    """x with two axes exchanged."""
    order = tf.concat([tf.range(axis), [last], tf.range(axis + 1, last), [axis]], 0)
    return tf.transpose(x, order, name=name)  # type: ignore[arg-type]


def _along(op_type: str, logits: Any, axis: Any, name: str | None) -> Any:
    """An op that works along the last axis, applied along another."""
    logits = convert_to_tensor(logits)
    rank = logits.get_shape().ndims
    if not isinstance(axis, Tensor) and (axis == -1 or (rank is not None and axis == rank - 1)):
        return apply(op_type, logits, name=name)
    value = known(axis) if isinstance(axis, Tensor) else axis
    if value is not None and rank is not None and not -rank <= value < rank:
        raise InvalidArgumentError(
            None, None, f"Dimension ({value}) must be in the range [{-rank}, {rank}) where {rank} is the number of dimensions in the input."
        )
    ndims = tf.rank(logits)
    if isinstance(axis, Tensor):
        axis = tf.where(tf.less(axis, 0), axis + ndims, axis)
    elif axis < 0:
        axis = axis + ndims
    input_rank = tf.rank(logits)
    axis = axis % rank
    swapped = _swapped(logits, axis, tf.subtract(input_rank, 1))
    output = _swapped(apply(op_type, swapped), axis, tf.subtract(input_rank, 1), name=name)
    output.set_shape(logits.get_shape())
    return output


@public("nn.softmax", "math.softmax")
def softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """exp(logits), scaled to a sum of one along an axis."""
    axis = either("axis", axis, "dim", dim)
    return _along("Softmax", logits, -1 if axis is None else axis, name)


@public("nn.log_softmax", "math.log_softmax")
def log_softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """The logarithm of the softmax."""
    axis = either("axis", axis, "dim", dim)
    return _along("LogSoftmax", logits, -1 if axis is None else axis, name)


@internal("ops.nn_ops._ensure_xent_args")
def checked_arguments(name: str, sentinel: Any, labels: Any, logits: Any) -> None:
    """Labels and logits must be named: their order has changed once."""
    if sentinel is not None:
        raise ValueError(f"Only call `{name}` with named arguments (labels=..., logits=..., ...)")
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")


@internal("ops.nn_ops._flatten_outer_dims")
def rows_of(logits: Any) -> Any:
    """All axes but the last as one."""
    rank = tf.rank(logits)
    last = tf.slice(tf.shape(logits), [tf.subtract(rank, 1)], [1])
    output = tf.reshape(logits, tf.concat([[-1], last], 0))
    dims = logits.dims
    if dims is not None:
        outer = dims[:-1]
        output.set_shape([math.prod(outer) if None not in outer else None, dims[-1]])
    return output


def _is_short(tensor: Any) -> bool:
    return tensor.dtype.base_dtype in (tf.float16, tf.bfloat16)


def _moved_to_end(x: Any, axis: Any, rank: Any) -> Any:
    return tf.transpose(x, tf.concat([tf.range(axis), tf.range(axis + 1, rank), [axis]], 0))


def _softmax_cross_entropy(labels: Any, logits: Any, axis: Any, name: str | None) -> Any:
    with name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        precise = tf.cast(logits, tf.float32) if _is_short(logits) else logits
        labels = tf.cast(labels, precise.dtype)
        input_rank = tf.rank(precise)
        dims = logits.dims
        if axis != -1:
            precise, labels = (_moved_to_end(x, axis, input_rank) for x in (precise, labels))
        input_shape = tf.shape(precise)
        cost = apply("SoftmaxCrossEntropyWithLogits", rows_of(precise), rows_of(labels), name=scope)[0]
        cost = tf.reshape(cost, tf.slice(input_shape, [0], [tf.subtract(input_rank, 1)]))
        if dims is not None:
            remaining = list(dims)
            del remaining[axis]
            cost.set_shape(remaining)
        return tf.cast(cost, logits.dtype) if _is_short(logits) else cost


@public("nn.softmax_cross_entropy_with_logits_v2")
def softmax_cross_entropy_with_logits_v2(labels: Any, logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """The cross-entropy of the softmax of logits against a distribution; gradients flow to both."""
    axis = either("axis", axis, "dim", dim)
    return _softmax_cross_entropy(labels, logits, -1 if axis is None else axis, name)


@internal("ops.nn_ops.softmax_cross_entropy_with_logits_v2")
def _softmax_cross_entropy_of_2(labels: Any, logits: Any, axis: Any = -1, name: str | None = None) -> Any:
    return _softmax_cross_entropy(labels, logits, axis, name)


@public("nn.softmax_cross_entropy_with_logits")
def softmax_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, dim: Any = -1, name: str | None = None, axis: Any = None
) -> Any:
    """The cross-entropy of the softmax of logits against a distribution; gradients flow only to the logits."""
    dim = axis if axis is not None else dim
    checked_arguments("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as scope:
        labels = tf.stop_gradient(labels, name="labels_stop_gradient")
        return _softmax_cross_entropy(labels, logits, dim, scope)


@public("nn.sparse_softmax_cross_entropy_with_logits")
def sparse_softmax_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None) -> Any:
    """The cross-entropy of the softmax of logits against one class an example."""
    checked_arguments("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels = convert_to_tensor(labels)
        logits = convert_to_tensor(logits)
        precise = tf.cast(logits, tf.float32) if logits.dtype.base_dtype == tf.float16 else logits
        labels_shape = tf.shape(labels)
        labels_static, logits_static = labels.get_shape(), logits.get_shape()
        known_shapes = labels_static.is_fully_defined() and logits_static[:-1].is_fully_defined()
        if logits_static.ndims == 0:
            raise ValueError(f"Logits cannot be scalars - received shape {logits_static}.")
        if logits_static.ndims is not None and labels_static.ndims is not None and labels_static.ndims != logits_static.ndims - 1:
            raise ValueError(
                f"Rank mismatch: Rank of labels (received {labels_static.ndims}) should equal rank of logits minus 1 "
                f"(received {logits_static.ndims})."
            )
        if known_shapes and labels_static != logits_static[:-1]:
            raise ValueError(
                f"Shape mismatch: The shape of labels (received {labels_static}) should equal the shape of "
                "logits except for the "
                f"last dimension (received {logits_static})."
            )
        if logits_static.ndims == 2:
            cost = apply("SparseSoftmaxCrossEntropyWithLogits", precise, labels, name=name)[0]
            return tf.cast(cost, tf.float16) if logits.dtype == tf.float16 else cost
        checks = [] if known_shapes else [tf.debugging.assert_equal(tf.shape(labels), tf.shape(logits)[:-1])]
        with tf.control_dependencies(checks):
            classes = tf.shape(logits)[tf.rank(logits) - 1]
            precise = tf.reshape(precise, [-1, classes])
            labels = tf.reshape(labels, [-1])
            cost = apply("SparseSoftmaxCrossEntropyWithLogits", precise, labels, name=name)[0]
            cost = tf.reshape(cost, labels_shape)
            cost.set_shape(labels_static)
            return tf.cast(cost, tf.float16) if logits.dtype == tf.float16 else cost


def _same_shape(logits: Any, labels: Any, names: str) -> None:
    try:
        shapes.merge(labels.dims, logits.dims)
    except ValueError:
        raise ValueError(f"{names} must have the same shape ({logits.get_shape()} vs {labels.get_shape()})") from None


@public("nn.sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None) -> Any:
    """The cross-entropy of independent yes-or-no predictions, computed so that it never overflows."""
    checked_arguments("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        _same_shape(logits, labels, "logits and labels")
        zeros = tf.zeros_like(logits, dtype=logits.dtype)
        positive = logits >= zeros
        relu_logits = tf.where(positive, logits, zeros)
        negative_magnitude = tf.where(positive, -logits, logits)
        return tf.add(relu_logits - logits * labels, tf.log1p(tf.exp(negative_magnitude)), name=scope)


@public("nn.weighted_cross_entropy_with_logits")
def weighted_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, pos_weight: Any = None, name: str | None = None, targets: Any = None
) -> Any:
    """The cross-entropy of yes-or-no predictions, with the positive ones weighted."""
    labels = either("labels", labels, "targets", targets)
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        _same_shape(logits, labels, "logits and labels")
        weight = 1 + (pos_weight - 1) * labels
        return tf.add((1 - labels) * logits, weight * (tf.log1p(tf.exp(-tf.abs(logits))) + tf.nn.relu(-logits)), name=scope)


@public("nn.log_poisson_loss")
def log_poisson_loss(targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None) -> Any:
    """The loss of Poisson rates given as logarithms; in full, with Stirling's approximation of the constant part."""
    with name_scope(name, "log_poisson_loss", [log_input, targets]):
        log_input = convert_to_tensor(log_input, name="log_input")
        targets = convert_to_tensor(targets, name="targets")
        _same_shape(log_input, targets, "log_input and targets")
        result = tf.exp(log_input) - log_input * targets
        if compute_full_loss:
            half, circle = tf.constant(0.5, dtype=targets.dtype), tf.constant(2 * math.pi, dtype=targets.dtype)
            stirling = (targets * tf.log(targets)) - targets + half * tf.log(circle * targets)
            zeros, ones = tf.zeros_like(targets, dtype=targets.dtype), tf.ones_like(targets, dtype=targets.dtype)
            small = tf.logical_and(targets >= zeros, targets <= ones)
            result += tf.where(small, zeros, stirling)
        return result
