"""Softmax along the last axis, and cross-entropies computed together with their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import _native
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core import symbolic
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.run_time_checks import checked
from everflow.values import large_blocks


def _last_axis(o: Operation) -> Any:
    return shapes.with_rank_at_least(o.inputs[0].dims, 1)


def _softmax_gradient(o: Operation, dy: Any) -> Any:
    y = o.outputs[0]
    return (dy - tf.reduce_sum(dy * y, -1, keepdims=True)) * y


def _log_softmax_gradient(o: Operation, dy: Any) -> Any:
    softmax = tf.exp(o.outputs[0])
    return dy - tf.reduce_sum(dy, -1, keepdims=True) * softmax


def _no_scalar(logits: Any) -> str | None:
    return None if logits.ndim else "logits must have >= 1 dimension, got []"


def _is_plain(x: Any) -> bool:
    """Whether native code may read a tensor, row after row."""
    return x.dtype is torch.float32 and x.is_cpu and x.is_contiguous() and x.numel() > 0


def _softmax(x: Any) -> Any:
    if not _is_plain(x):
        return torch.softmax(x, -1)
    y, columns = large_blocks.empty_like(x), x.shape[-1]
    _native.softmax(x.data_ptr(), x.numel() // columns, columns, y.data_ptr(), torch.get_num_threads())
    return y


op("Softmax", kernel=checked(lambda n: _softmax, _no_scalar), shape=_last_axis, gradient=_softmax_gradient, symbolic=symbolic.like_first)
op(
    "LogSoftmax",
    kernel=checked(lambda n: lambda x: torch.log_softmax(x, -1), _no_scalar),
    shape=_last_axis,
    gradient=_log_softmax_gradient,
    symbolic=symbolic.like_first,
)


def _cross_entropy(node: Node) -> Callable[..., Any]:
    log_softmax = torch.log_softmax

    def run(logits: Any, labels: Any) -> Any:
        if logits.shape != labels.shape:
            logits, labels = _alike(logits, labels)
        logs = log_softmax(logits, 1)
        loss = (labels * logs).sum(1).neg_()
        return loss, logs.exp_().sub_(labels)

    return run


def _alike(logits: Any, labels: Any) -> Any:
    try:
        if logits.dim() != 2 or labels.dim() != 2:
            raise RuntimeError
        return torch.broadcast_tensors(logits, labels)
    except RuntimeError:
        raise invalid_argument(
            f"logits and labels must be broadcastable: logits_size={shapes.describe(logits.shape)} "
            f"labels_size={shapes.describe(labels.shape)}"
        ) from None


def _cross_entropy_shape(o: Operation) -> Any:
    logits, labels = (t.dims for t in o.inputs)
    if logits is None or labels is None:
        return [(None,), (None, None)]
    try:
        dims: Any = shapes.merge(logits, labels)
    except ValueError:
        dims = shapes.broadcast(logits, labels)
    if len(dims) != 2:
        raise ValueError(f"Shape must be broadcasted with rank 2, but is rank {len(dims)}")
    return [dims[:1], dims]


def _cross_entropy_gradient(o: Operation, loss_dy: Any, backprop_dy: Any) -> Any:
    logits = o.inputs[0]
    dx = _scaled_rows(loss_dy, o.outputs[1])
    if backprop_dy is not None and not _is_zero(backprop_dy):
        softmax = tf.nn.softmax(logits)
        dx += (backprop_dy - tf.squeeze(tf.matmul(tf.expand_dims(backprop_dy, 1), tf.expand_dims(softmax, 2)), axis=1)) * softmax
    return dx, _scaled_rows(loss_dy, -tf.nn.log_softmax(logits))


def _scaled_rows(vector: Any, matrix: Any) -> Any:
    return tf.expand_dims(vector, -1) * matrix


def _is_zero(gradient: Any) -> bool:
    """Whether no gradient came to this output: differentiation puts zeros in its place."""
    if not gradient.is_eager and gradient.op.type in ("ZerosLike", "Zeros"):
        return True
    value = tf.get_static_value(gradient)
    return value is not None and bool((value == 0).all())


op("SoftmaxCrossEntropyWithLogits", kernel=_cross_entropy, shape=_cross_entropy_shape, gradient=_cross_entropy_gradient)


# Below this many classes torch's kernel goes element by element along a row, but not along a column.
FEW_CLASSES = 32


def _log_softmax(logits: Any) -> Any:
    if logits.shape[1] < FEW_CLASSES:
        return torch.log_softmax(logits.t().contiguous(), 0).t()
    return torch.log_softmax(logits, 1)


def _sparse_cross_entropy(node: Node) -> Callable[..., Any]:
    def run(logits: Any, labels: Any) -> Any:
        if logits.dim() != 2 or labels.dim() != 1 or labels.shape[0] != logits.shape[0] or not logits.shape[1]:
            raise _sparse_shape_error(logits, labels)
        if _is_plain(logits) and labels.is_cpu:
            return _plain_sparse_cross_entropy(logits, labels)
        index = labels.long().unsqueeze(1)
        logs = _log_softmax(logits)
        try:
            loss = logs.gather(1, index).squeeze(1).neg_()
        except (RuntimeError, IndexError):
            raise _label_error(labels, logits.shape[1]) from None
        return loss, logs.exp_().scatter_add_(1, index, torch.full_like(logs[:, :1], -1))

    return run


def _plain_sparse_cross_entropy(logits: Any, labels: Any) -> Any:
    classes = labels.to(torch.int64, memory_format=torch.contiguous_format)
    rows, columns = logits.shape
    loss, gradient = torch.empty(rows), large_blocks.empty_like(logits)
    places = logits.data_ptr(), classes.data_ptr(), rows, columns, loss.data_ptr(), gradient.data_ptr()
    if not _native.cross_entropy_of_classes(*places, torch.get_num_threads()):
        raise _label_error(labels, columns)
    return loss, gradient


def _sparse_shape_error(logits: Any, labels: Any) -> Exception:
    if logits.dim() != 2:
        return invalid_argument(f"logits must be 2-D, but got shape {shapes.describe(logits.shape)}")
    if labels.dim() != 1:
        return invalid_argument(f"labels must be 1-D, but got shape {shapes.describe(labels.shape)}")
    if logits.shape[0] != labels.shape[0]:
        return invalid_argument(
            "logits and labels must have the same first dimension, got logits shape "
            f"{shapes.describe(logits.shape)} and labels "
            f"shape {shapes.describe(labels.shape)}"
        )
    return invalid_argument(f"Must have at least one class, but got logits shape {shapes.describe(logits.shape)}")


def _label_error(labels: Any, classes: int) -> Exception:
    values = labels.tolist()
    worst = next(v for v in values if not 0 <= v < classes)
    return invalid_argument(
        f"Received a label value of {worst} which is outside the valid range of [0, {classes}).  Label values: {' '.join(map(str, values))}"
    )


def _sparse_cross_entropy_shape(o: Operation) -> Any:
    logits = shapes.with_rank(o.inputs[0].dims, 2)
    labels = shapes.with_rank(o.inputs[1].dims, 1)
    batch = shapes.merge_size(logits[0], labels[0])
    return [(batch,), (batch, logits[1])]


def _sparse_cross_entropy_gradient(o: Operation, loss_dy: Any, _: Any) -> Any:
    message = (
        "Currently there is no way to take the second derivative of sparse_softmax_cross_entropy_with_logits "
        "due to the fused "
        "implementation's interaction with tf.gradients()"
    )
    return _scaled_rows(loss_dy, apply("PreventGradient", o.outputs[1], message=message)), None


op(
    "SparseSoftmaxCrossEntropyWithLogits",
    kernel=_sparse_cross_entropy,
    shape=_sparse_cross_entropy_shape,
    gradient=_sparse_cross_entropy_gradient,
    symbolic=symbolic.loss_of_rows,
    fresh=True,
)
