"""The largest elements: top_k, nth_element, in_top_k."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow._native import largest
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.constants import known
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.core.families import widened
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.values.tensors import torch_dtype

# So few are found in one pass; more are looked for by torch.
FEW = 128


def _largest(x: Any, k: int) -> tuple[Any, Any]:
    """The k largest of each row; of equal ones the first comes first, which torch's topk does not promise."""
    if k == 1:
        return torch.max(x, -1, keepdim=True)
    if k <= FEW and x.dtype is torch.float32 and x.is_cpu:
        x = x.contiguous()
        dims = (*x.shape[:-1], k)
        values, positions = torch.empty(dims), torch.empty(dims, dtype=torch.int32)
        rows = x.numel() // x.shape[-1]
        if largest(x.data_ptr(), rows, x.shape[-1], k, values.data_ptr(), positions.data_ptr(), torch.get_num_threads()):
            return values, positions
    values, positions = torch.topk(x, k)
    tied = (values[..., 1:] == values[..., :-1]).any(-1) | (x == values[..., -1:]).sum(-1).gt(1)
    if bool(tied.any()):
        # Few rows hold equal ones; only these are sorted.
        values[tied], positions[tied] = (found[..., :k] for found in torch.sort(x[tied], dim=-1, descending=True, stable=True))
    return values, positions


def _top_k(node: Node) -> Callable[..., Any]:
    dtype = node.inputs[0].dtype.base_dtype
    result, wide = torch_dtype(dtype), None
    if dtype.name in ("uint16", "uint32", "uint64"):
        wide = torch.int64

    def run(x: Any, k: Any) -> Any:
        if not isinstance(k, int):
            if k.ndim:
                raise invalid_argument(f"k must be scalar, got shape {shapes.describe(k.shape)}")
            k = int(k)
        if k < 0:
            raise invalid_argument(f"Need k >= 0, got {k}")
        if x.dim() < 1:
            raise invalid_argument(f"input must be >= 1-D, got shape {shapes.describe(x.shape)}")
        if x.shape[-1] < k:
            raise invalid_argument(f"input must have at least k columns. Had {x.shape[-1]}, needed {k}")
        if not k or not x.numel():
            empty = x[..., :k]
            return empty.clone(), empty.to(torch.int32)
        values, positions = _largest(x if wide is None else x.to(wide), k)
        return values.to(result), positions.to(torch.int32)

    if node.type == "TopK":
        k = node.attr("k")
        return lambda x: run(x, k)
    value = node.constant(1)
    if value is not None:
        k = int(value)
        return lambda x, _: run(x, k)
    return run


def _top_k_shape(o: Operation) -> Any:
    dims = shapes.with_rank_at_least(o.inputs[0].dims, 1)
    if o.type == "TopK":
        k: int | None = o.attr("k")
    else:
        if o.inputs[1].dims:
            raise ValueError(f"Input must be scalar but has rank {len(o.inputs[1].dims)}")
        value = known(o.inputs[1])
        k = None if value is None else int(value)
        if k is not None and k < 0:
            raise ValueError(f"Dimension size, given by scalar input 1, must be non-negative but is {k}")
    if dims is None:
        return [None, None]
    if dims[-1] is not None and k is not None and dims[-1] < k:
        raise ValueError(f"input must have last dimension >= k = {k} but is {dims[-1]}")
    return [(*dims[:-1], k)] * 2


def _top_k_gradient(o: Operation, dy: Any, _: Any) -> Any:
    """Puts each value's gradient where the value came from."""
    in_shape, index_shape = tf.shape(o.inputs[0]), tf.shape(o.outputs[1])
    # The sizes of rows are gathered as int64: long inputs have more elements than int32 can count.
    last_index = tf.gather(tf.cast(index_shape, tf.int64), tf.size(index_shape) - 1)
    positions = tf.reshape(o.outputs[1], tf.stack([-1, last_index]))
    last_in = tf.gather(tf.cast(in_shape, tf.int64), tf.size(in_shape) - 1)
    rows = tf.shape(positions)[0]
    starts = tf.range(0, tf.cast(rows, tf.int64) * last_in, last_in)
    flat = tf.reshape(positions + tf.cast(tf.expand_dims(starts, -1), tf.int32), [-1])
    scattered = tf.scatter_nd(tf.expand_dims(flat, -1), tf.reshape(dy, [-1]), [tf.reduce_prod(in_shape)])
    return [tf.reshape(scattered, in_shape), tf.zeros([], dtype=tf.int32)][: len(o.inputs)]


for _name in ("TopK", "TopKV2"):
    op(_name, kernel=_top_k, shape=_top_k_shape, gradient=_top_k_gradient)


@public("nn.top_k", "math.top_k")
def top_k(input: Any, k: Any = 1, sorted: bool = True, name: str | None = None) -> Any:
    """(values, indices) of the k largest elements of each row."""
    return apply("TopKV2", input, k, sorted=sorted, name=name)


def _nth_element(node: Node) -> Callable[..., Any]:
    reverse = node.attr("reverse")

    def run(x: Any, n: Any) -> Any:
        n = int(n)
        if n < 0:
            raise invalid_argument(f"Need n >= 0, got {n}")
        if x.dim() < 1:
            raise invalid_argument(f"Input must be >= 1-D, got shape {shapes.describe(x.shape)}")
        if x.shape[-1] <= n:
            raise invalid_argument("Input must have at least n+1 columns")
        return torch.kthvalue(x, x.shape[-1] - n if reverse else n + 1).values

    return run


def _nth_element_shape(o: Operation) -> Any:
    dims = shapes.with_rank_at_least(o.inputs[0].dims, 1)
    if o.inputs[1].dims:
        raise ValueError(f"Input must be scalar but has rank {len(o.inputs[1].dims)}")
    n = known(o.inputs[1])
    if n is not None and int(n) < 0:
        raise ValueError(f"Dimension size, given by scalar input 1, must be non-negative but is {int(n)}")
    if dims is None:
        return None
    if dims[-1] is not None and n is not None and dims[-1] <= int(n):
        raise ValueError(f"Input must have last dimension > n = {int(n)} but is {dims[-1]}")
    return dims[:-1]


def _nth_element_gradient(o: Operation, dy: Any) -> Any:
    """Elements that are equal share the gradient."""
    x, output = o.inputs[0], o.outputs[0]
    chosen = tf.cast(tf.equal(tf.expand_dims(output, -1), x), dy.dtype)
    dy = tf.expand_dims(dy, -1)
    count = tf.expand_dims(tf.reduce_sum(chosen, -1), -1)
    return [tf.div(chosen, count) * dy, None]


op("NthElement", kernel=widened(_nth_element), shape=_nth_element_shape, gradient=_nth_element_gradient)


@public("contrib.nn.nth_element")
@internal("ops.nn_ops.nth_element")
def nth_element(input: Any, n: Any, reverse: bool = False, name: str | None = None) -> Any:
    """The n-th smallest (or largest) element of each row."""
    return apply("NthElement", input, n, reverse=reverse, name=name)


def _in_top_k(node: Node) -> Callable[..., Any]:
    def run(predictions: Any, targets: Any, k: Any) -> Any:
        if predictions.dim() != 2:
            raise invalid_argument("predictions must be 2-dimensional")
        if targets.dim() != 1:
            raise invalid_argument("targets must be 1-dimensional")
        rows, classes = predictions.shape
        if rows != targets.shape[0]:
            raise invalid_argument(f"First dimension of predictions {rows} must match length of targets {targets.shape[0]}")
        targets = targets.long()
        valid = (targets >= 0) & (targets < classes)
        if not predictions.numel():
            return valid
        chosen = predictions.gather(1, targets.clamp(0, classes - 1).unsqueeze(1))
        return valid & torch.isfinite(predictions).all(1) & ((predictions > chosen).sum(1) < int(k))

    if node.type == "InTopK":
        k = node.attr("k")
        return lambda predictions, targets: run(predictions, targets, k)
    return run


def _in_top_k_shape(o: Operation) -> Any:
    predictions, targets = shapes.with_rank(o.inputs[0].dims, 2), shapes.with_rank(o.inputs[1].dims, 1)
    return (shapes.merge_size(predictions[0], targets[0]),)


for _name in ("InTopK", "InTopKV2"):
    op(_name, kernel=_in_top_k, shape=_in_top_k_shape, gradient=not_differentiable)


@public("nn.in_top_k", "math.in_top_k")
def in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> Any:
    """Whether each target is among the k best predictions of its row."""
    with name_scope(name, "in_top_k"):
        return apply("InTopKV2", predictions, targets, k)
