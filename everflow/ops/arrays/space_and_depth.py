"""Blocks of space moved to the batch or to the depth, and back: space_to_batch, space_to_depth, ..."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.constants import known
from everflow.graph.convert import constant, convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.core.families import moving
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op

Kernel = Callable[..., Any]


def _divided(x: Any, blocks: list[int], paddings: list[list[int]]) -> Any:
    """Space to batch: each block's elements become entries of the batch."""
    count = len(blocks)
    if x.ndim < 1 + count:
        raise invalid_argument(f"input rank should be >= {1 + count} instead of {x.ndim}")
    for i, (block, (before, after)) in enumerate(zip(blocks, paddings)):
        if block < 1:
            raise invalid_argument(f"All values in block_shape must be positive, got value, {block} at index {i}.")
        if before < 0 or after < 0:
            raise invalid_argument("Paddings must be non-negative")
        size = x.shape[i + 1] + before + after
        if size % block:
            raise invalid_argument(f"padded_shape[{i}]={size} is not divisible by block_shape[{i}]={block}")
    rest = tuple(x.shape[1 + count :])
    flat = [0, 0] * len(rest) + [n for pair in reversed(paddings) for n in pair]
    if any(flat):
        x = torch.nn.functional.pad(x, flat)
    split = [n for size, block in zip(x.shape[1:], blocks) for n in (size // block, block)]
    x = x.reshape((x.shape[0], *split, *rest))
    inner = range(2, 2 * count + 1, 2)
    outer = range(1, 2 * count, 2)
    x = x.permute((*inner, 0, *outer, *range(1 + 2 * count, x.ndim)))
    return x.reshape((-1 if x.numel() else int(np.prod(x.shape[: count + 1])), *x.shape[count + 1 :]))


def _assembled(x: Any, blocks: list[int], crops: list[list[int]]) -> Any:
    """Batch to space: the reverse."""
    count = len(blocks)
    if x.ndim < 1 + count:
        raise invalid_argument(f"input rank should be >= {1 + count} instead of {x.ndim}")
    product = int(np.prod(blocks))
    for i, block in enumerate(blocks):
        if block < 1:
            raise invalid_argument(f"All values in block_shape must be positive, got value, {block} at index {i}.")
    if x.shape[0] % product:
        raise invalid_argument(f"Input batch dimension ({x.shape[0]}) is not divisible by product of block sizes ({product})")
    batch, space, rest = x.shape[0] // product, tuple(x.shape[1 : 1 + count]), tuple(x.shape[1 + count :])
    for i, (size, block, (before, after)) in enumerate(zip(space, blocks, crops)):
        if before < 0 or after < 0:
            raise invalid_argument("Crops must be non-negative")
        if size * block - before - after < 0:
            raise invalid_argument(f"cropped_shape[{i}]={size * block - before - after} must be non-negative")
    x = x.reshape((*blocks, batch, *space, *rest))
    order = [count, *(n for i in range(count) for n in (count + 1 + i, i)), *range(2 * count + 1, x.ndim)]
    x = x.permute(order).reshape((batch, *(size * block for size, block in zip(space, blocks)), *rest))
    return x[(slice(None), *(slice(before, size * block - after) for size, block, (before, after) in zip(space, blocks, crops)))]


def _nd(compute: Callable[..., Any]) -> Callable[[Any], Kernel]:
    return lambda node: lambda x, blocks, pairs: compute(x, blocks.tolist(), pairs.tolist())


def _square(compute: Callable[..., Any]) -> Callable[[Any], Kernel]:
    def make(node: Node) -> Kernel:
        blocks = [node.attr("block_size")] * 2
        return lambda x, pairs: compute(x, blocks, pairs.tolist())

    return make


def _exactly(size: Any, divisor: int) -> Any:
    if size is not None and size % divisor:
        raise ValueError(f"Dimension size must be evenly divisible by {divisor} but is {size}")
    return None if size is None else size // divisor


def _blocks_of(o: Operation, attr: bool) -> tuple[Any, Any, int | None]:
    """What is known of the block shape, of the paddings or crops, and of their number."""
    pairs = known(o.inputs[-1])
    if attr:
        return [o.attr("block_size")] * 2, pairs, 2
    blocks = known(o.inputs[1])
    given = o.inputs[1].dims
    shapes.with_rank(given, 1)
    count = None if given is None else given[0]
    if pairs is not None:
        shapes.with_rank(pairs.shape, 2)
    if pairs is not None and (pairs.shape[1] != 2 or count is not None and len(pairs) != count):
        raise ValueError(
            f"Dimension 0 in both shapes must be equal, but are {len(pairs)} and {count}. Shapes are "
            f"{shapes.describe(pairs.shape)} and [{count},2]."
        )
    if blocks is not None and (blocks < 1).any():
        raise ValueError("block_shape must be positive")
    return None if blocks is None else blocks.tolist(), pairs, count


def _divided_dims(attr: bool) -> Callable[[Any], Any]:
    def rule(o: Operation) -> Any:
        dims = o.inputs[0].dims
        blocks, paddings, count = _blocks_of(o, attr)
        if attr:
            dims = shapes.with_rank(dims, 4)
        if count is None or dims is None:
            return None
        shapes.with_rank_at_least(dims, count + 1)
        if paddings is not None and (paddings < 0).any():
            raise ValueError("paddings cannot be negative")
        if blocks is None:
            return (None,) * (count + 1) + dims[count + 1 :]
        batch = None if dims[0] is None else dims[0] * int(np.prod(blocks))
        space = [
            None if size is None or paddings is None else _exactly(size + int(paddings[i].sum()), block)
            for i, (size, block) in enumerate(zip(dims[1:], blocks))
        ]
        return (batch, *space, *dims[count + 1 :])

    return rule


def _assembled_dims(attr: bool) -> Callable[[Any], Any]:
    def rule(o: Operation) -> Any:
        dims = o.inputs[0].dims
        blocks, crops, count = _blocks_of(o, attr)
        if attr:
            dims = shapes.with_rank(dims, 4)
        if count is None or dims is None:
            return None
        shapes.with_rank_at_least(dims, count + 1)
        if crops is not None and (crops < 0).any():
            raise ValueError("crops cannot be negative")
        if blocks is None:
            return (None,) * (count + 1) + dims[count + 1 :]
        space: list[int | None] = []
        for i, (size, block) in enumerate(zip(dims[1:], blocks)):
            if size is None or crops is None:
                space.append(None)
                continue
            rest = size * block
            for cut in crops[i].tolist():
                if cut > rest:
                    raise ValueError(f"Negative dimension size caused by subtracting {cut} from {rest}")
                rest -= cut
            space.append(rest)
        batch = dims[0]
        for block in blocks:
            batch = _exactly(batch, block)
        return (batch, *space, *dims[count + 1 :])

    return rule


op(
    "SpaceToBatchND",
    kernel=moving(_nd(_divided)),
    shape=_divided_dims(False),
    view=True,
    gradient=lambda o, dy: [batch_to_space_nd(dy, o.inputs[1], o.inputs[2]), None, None],
)
op(
    "BatchToSpaceND",
    kernel=moving(_nd(_assembled)),
    shape=_assembled_dims(False),
    view=True,
    gradient=lambda o, dy: [space_to_batch_nd(dy, o.inputs[1], o.inputs[2]), None, None],
)
op(
    "SpaceToBatch",
    kernel=moving(_square(_divided)),
    shape=_divided_dims(True),
    view=True,
    gradient=lambda o, dy: [apply("BatchToSpace", dy, o.inputs[1], block_size=o.attr("block_size")), None],
)
op(
    "BatchToSpace",
    kernel=moving(_square(_assembled)),
    shape=_assembled_dims(True),
    view=True,
    gradient=lambda o, dy: [apply("SpaceToBatch", dy, o.inputs[1], block_size=o.attr("block_size")), None],
)


@public("space_to_batch_nd", "manip.space_to_batch_nd")
def space_to_batch_nd(input: Any, block_shape: Any, paddings: Any, name: str | None = None) -> Any:
    """Pads the space dimensions, cuts them into blocks, and puts the places within a block into the batch."""
    return apply("SpaceToBatchND", input, block_shape, paddings, name=name)


@public("batch_to_space_nd", "manip.batch_to_space_nd")
def batch_to_space_nd(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Any:
    """Puts blocks together again from the batch, and crops the space dimensions."""
    return apply("BatchToSpaceND", input, block_shape, crops, name=name)


def _block_shape(block_size: Any, block_shape: Any) -> Any:
    if block_shape is not None:
        if block_size is not None:
            raise ValueError("Cannot specify both 'block_size' and 'block_shape'")
        block_size = block_shape
    return block_size


@public("space_to_batch", "nn.space_to_batch")
def space_to_batch(input: Any, paddings: Any, block_size: Any = None, name: str | None = None, block_shape: Any = None) -> Any:
    """space_to_batch_nd over height and width with one block size."""
    size = _block_shape(block_size, block_shape)
    found = space_to_batch_nd(input, np.array([size, size], np.int64), paddings, name=name)
    found.set_shape(found.get_shape().with_rank(4))
    return found


@public("batch_to_space")
def batch_to_space(input: Any, crops: Any, block_size: Any, name: str | None = None, block_shape: Any = None) -> Any:
    """batch_to_space_nd over height and width with one block size."""
    size = block_size if block_shape is None else block_shape
    found = batch_to_space_nd(input, np.array([size, size], np.int64), crops, name=name)
    found.set_shape(found.get_shape().with_rank(4))
    return found


@public("required_space_to_batch_paddings")
def required_space_to_batch_paddings(input_shape: Any, block_shape: Any, base_paddings: Any = None, name: str | None = None) -> Any:
    """The least paddings that make sizes multiples of a block shape, and the crops that undo them."""
    with name_scope(name, "required_space_to_batch_paddings", [input_shape, block_shape]):
        sizes = convert_to_tensor(input_shape, dtype=dtypes.int32, name="input_shape")
        blocks = convert_to_tensor(block_shape, dtype=dtypes.int32, name="block_shape")
        blocks.get_shape().assert_is_fully_defined()
        blocks.get_shape().assert_has_rank(1)
        count: Any = blocks.get_shape().as_list()[0]
        if count == 0:
            return tf.zeros([0, 2], dtypes.int32), tf.zeros([0, 2], dtypes.int32)
        sizes.get_shape().assert_is_compatible_with([count])
        if base_paddings is not None:
            base = convert_to_tensor(base_paddings, dtype=dtypes.int32, name="base_paddings")
            base.get_shape().assert_is_compatible_with([count, 2])
        else:
            base = tf.zeros([count, 2], dtypes.int32)
        fixed = [known(t) for t in (sizes, blocks, base)]
        if all(v is not None for v in fixed):
            s, b, p = fixed
            extra = (b - (s + p[:, 0] + p[:, 1]) % b) % b  # type: ignore[index, operator]
            paddings = np.stack([p[:, 0], p[:, 1] + extra], 1)  # type: ignore[index]
            crops = np.stack([np.zeros_like(extra), extra], 1)
            return constant(paddings.astype(np.int32), name="paddings"), constant(crops.astype(np.int32), name="crops")
        before, after = base[:, 0], base[:, 1]
        full = sizes + before + after
        extra = (blocks - full % blocks) % blocks
        after = after + extra
        paddings = tf.stack([[before[i], after[i]] for i in range(count)], name="paddings")
        crops = tf.stack([[0, extra[i]] for i in range(count)], name="crops")
        return paddings, crops


def _format(node: Node | Operation) -> str:
    value = node.attr("data_format")
    return value.decode() if isinstance(value, bytes) else value


def _space_to_depth(node: Node) -> Kernel:
    block, layout = node.attr("block_size"), _format(node)

    def run(x: Any) -> Any:
        if layout == "NCHW_VECT_C":
            batch, outer, height, width, inner = x.shape
            flat = x.permute(0, 1, 4, 2, 3).reshape(batch, outer * inner, height, width)
            found = _packed_depth(flat, block)
            return found.reshape(batch, -1, inner, height // block, width // block).permute(0, 1, 3, 4, 2)
        if layout == "NCHW":
            return _packed_depth(x, block)
        return _packed_depth(x.permute(0, 3, 1, 2), block).permute(0, 2, 3, 1)

    return run


def _packed_depth(x: Any, block: int) -> Any:
    batch, depth, height, width = x.shape
    if height % block or width % block:
        raise invalid_argument(f"Image width {width} and height {height} should be divisible by block_size: {block}")
    x = x.reshape(batch, depth, height // block, block, width // block, block).permute(0, 3, 5, 1, 2, 4)
    return x.reshape(batch, block * block * depth, height // block, width // block)


def _unpacked_depth(x: Any, block: int) -> Any:
    batch, depth, height, width = x.shape
    if depth % (block * block):
        raise invalid_argument(f"Input depth dimension {depth} should be divisible by: {block * block}")
    x = x.reshape(batch, block, block, depth // (block * block), height, width).permute(0, 3, 4, 1, 5, 2)
    return x.reshape(batch, depth // (block * block), height * block, width * block)


def _depth_to_space(node: Node) -> Kernel:
    block, layout = node.attr("block_size"), _format(node)

    def run(x: Any) -> Any:
        if layout == "NCHW_VECT_C":
            batch, outer, height, width, inner = x.shape
            flat = x.permute(0, 1, 4, 2, 3).reshape(batch, outer * inner, height, width)
            found = _unpacked_depth(flat, block)
            return found.reshape(batch, -1, inner, height * block, width * block).permute(0, 1, 3, 4, 2)
        if layout == "NCHW":
            return _unpacked_depth(x, block)
        return _unpacked_depth(x.permute(0, 3, 1, 2), block).permute(0, 2, 3, 1)

    return run


def _times(size: Any, n: int) -> Any:
    return None if size is None else size * n


def _depth_rule(change: Callable[[Any, Any, Any, int], Any]) -> Callable[[Any], Any]:
    """A shape rule from one that is given depth, height, width and block size."""

    def rule(o: Operation) -> Any:
        layout, block = _format(o), o.attr("block_size")
        dims = shapes.with_rank(o.inputs[0].dims, 5 if layout == "NCHW_VECT_C" else 4)
        if layout == "NHWC":
            batch, height, width, depth = dims
            depth, height, width = change(depth, height, width, block)
            return batch, height, width, depth
        depth, height, width = change(dims[1], dims[2], dims[3], block)
        return (dims[0], depth, height, width, *dims[4:])

    return rule


op(
    "SpaceToDepth",
    kernel=moving(_space_to_depth),
    view=True,
    shape=_depth_rule(lambda d, h, w, b: (_times(d, b * b), _exactly(h, b), _exactly(w, b))),
    gradient=lambda o, dy: apply("DepthToSpace", dy, block_size=o.attr("block_size"), data_format=o.attr("data_format")),
)
op(
    "DepthToSpace",
    kernel=moving(_depth_to_space),
    view=True,
    shape=_depth_rule(lambda d, h, w, b: (_exactly(d, b * b), _times(h, b), _times(w, b))),
    gradient=lambda o, dy: apply("SpaceToDepth", dy, block_size=o.attr("block_size"), data_format=o.attr("data_format")),
)


@public("space_to_depth", "nn.space_to_depth")
def space_to_depth(input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Any:
    """Moves the places within square blocks of an image into its depth."""
    return apply("SpaceToDepth", input, block_size=block_size, data_format=data_format, name=name)


@public("depth_to_space", "nn.depth_to_space")
def depth_to_space(input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Any:
    """Spreads the depth of an image over square blocks."""
    return apply("DepthToSpace", input, block_size=block_size, data_format=data_format, name=name)
