"""Max and average pooling in two and three dimensions: kernels, shapes and gradients of their ops."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import _native
from everflow.errors import UnimplementedError, invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.constants import dims_of, known
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core import symbolic
from everflow.ops.core.families import widened
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, fused_op, op
from everflow.ops.core.shape_rules import same_as
from everflow.ops.nn.windows import Layout, pads_of, window_output

# Native kernels compute so many channels side by side.
GROUP = 16


class Pool:
    """Pooling windows with their attributes, and what follows for given sizes. Tensors are in torch's axis order."""

    def __init__(self, layout: Layout, ksize: Any, strides: Any, padding: str) -> None:
        self.layout = layout
        if ksize[layout.batch] != 1 or strides[layout.batch] != 1:
            raise UnimplementedError(None, None, "Pooling is not yet supported on the batch dimension.")
        self.window, self.strides = layout.window(ksize), layout.window(strides)
        self.depth, self.depth_stride = ksize[layout.channel], strides[layout.channel]
        self.padding = padding
        n = len(self.window)
        self.ones = [1] * n
        self.max_pool = getattr(torch._C._nn, f"max_pool{n}d_with_indices")
        self.max_pool_backward = getattr(torch.ops.aten, f"max_pool{n}d_with_indices_backward").default
        self.avg_pool = getattr(torch._C._nn, f"avg_pool{n}d")
        self.avg_pool_backward = getattr(torch.ops.aten, f"avg_pool{n}d_backward").default
        self.fit = functools.lru_cache(maxsize=64)(self._fit)

    def _fit(self, shape: Any) -> tuple[list[int], bool, list[int] | None, tuple[int, ...], bool]:
        """For an input's shape: (padding, ceil_mode, what else to pad, output shape, whether nothing is computed)."""
        rank = self.layout.rank
        if len(shape) != rank:
            raise invalid_argument(f"tensor_in must be {rank}-dimensional")
        sizes = shape[2:]
        pads = pads_of(self.padding, sizes, self.window, self.strides, self.ones)
        counts = []
        for size, window, stride, pad in zip(sizes, self.window, self.strides, pads):
            count = (size + sum(pad) - window + stride) // stride
            if count < 0:
                raise invalid_argument(
                    f"Computed output size would be negative: {count} [input_size: {size}, "
                    f"effective_filter_size: {window}, stride: {stride}]"
                )
            counts.append(count)
        output = (*shape[:2], *counts)
        if 0 in output:
            return [], False, None, output, True
        before = [pad[0] for pad in pads]
        # torch can pad and round up by itself, but not where a window is larger than the image.
        fits = all(size >= window for size, window in zip(sizes, self.window))
        for ceil_mode in (False, True):
            if fits and all(
                _torch_count(size, window, stride, pad, ceil_mode) == count
                for size, window, stride, pad, count in zip(sizes, self.window, self.strides, before, counts)
            ):
                return before, ceil_mode, None, output, False
        return [0] * len(sizes), False, [side for pad in reversed(pads) for side in pad], output, False

    def maxima(self, x: Any) -> tuple[Any, Any]:
        """The maxima and where they are: positions in the plane (or volume) of the padded input."""
        padding, ceil_mode, extra, output, nothing = self.fit(x.shape)
        if nothing:
            return x.new_zeros(output), torch.zeros(output, dtype=torch.int64, device=x.device)
        if extra is not None:
            lowest = -torch.inf if x.is_floating_point() else torch.iinfo(x.dtype).min
            x = torch.nn.functional.pad(x, extra, value=lowest)
        return self.max_pool(x, self.window, self.strides, padding, self.ones, ceil_mode)

    def max_gradient(self, x: Any, dy: Any, positions: Any = None) -> Any:
        """The gradient of `maxima` with respect to x."""
        padding, ceil_mode, extra, _, nothing = self.fit(x.shape)
        if nothing:
            return torch.zeros_like(x)
        padded = x if extra is None else torch.nn.functional.pad(x, extra, value=-torch.inf)
        if positions is None:
            positions = self.max_pool(padded, self.window, self.strides, padding, self.ones, ceil_mode)[1]
        dx = self.max_pool_backward(dy, padded, self.window, self.strides, padding, self.ones, ceil_mode, positions)
        return dx if extra is None else _trimmed(dx, x.shape, extra)

    def plane_positions(self, x: Any, positions: Any) -> Any:
        """Positions in the plane (or volume) of x itself."""
        extra = self.fit(x.shape)[2]
        if extra is None:
            return positions
        found, scale = torch.zeros_like(positions), 1
        for axis in range(len(self.window) - 1, -1, -1):
            before, after = extra[2 * (len(self.window) - 1 - axis) :][:2]
            size = x.shape[2 + axis]
            padded = size + before + after
            found += (positions % padded - before) * scale
            positions, scale = positions // padded, scale * size
        return found

    def averages(self, x: Any) -> Any:
        """The averages of what lies inside the input."""
        padding, ceil_mode, extra, output, nothing = self.fit(x.shape)
        if nothing:
            return x.new_zeros(output)
        if extra is None:
            return self.avg_pool(x, self.window, self.strides, padding, ceil_mode, False)
        sums = self.avg_pool(torch.nn.functional.pad(x, extra), self.window, self.strides, padding, False, True, 1)
        return sums / self.counts(x, extra)

    def counts(self, x: Any, extra: list[int]) -> Any:
        """How many elements of the input each window covers."""
        ones = torch.nn.functional.pad(torch.ones((1, 1, *x.shape[2:]), dtype=x.dtype, device=x.device), extra)
        return self.avg_pool(ones, self.window, self.strides, [0] * len(self.window), False, True, 1)

    def average_gradient(self, shape: Any, dy: Any) -> Any:
        """The gradient of `averages` with respect to an input of this shape."""
        padding, ceil_mode, extra, output, nothing = self.fit(tuple(shape))
        if tuple(dy.shape) != output:
            raise invalid_argument(f"Expected grad shape to be {shapes.describe(output)}, but got {shapes.describe(dy.shape)}")
        if nothing:
            return dy.new_zeros(shape)
        like = torch.empty([shape[i] for i in self.layout.from_torch], dtype=dy.dtype, device=dy.device).permute(self.layout.to_torch)
        if extra is None:
            return self.avg_pool_backward(dy, like, self.window, self.strides, padding, ceil_mode, False, None)
        padded = torch.nn.functional.pad(like, extra)
        dx = self.avg_pool_backward(dy / self.counts(like, extra), padded, self.window, self.strides, padding, False, True, 1)
        return _trimmed(dx, shape, extra)


def _torch_count(size: int, window: int, stride: int, pad: int, ceil_mode: bool) -> int:
    """How many windows torch makes along an axis; -1 for a padding that it does not take."""
    if pad > window // 2:
        return -1
    count = (size + 2 * pad - window + (stride - 1 if ceil_mode else 0)) // stride + 1
    return count - 1 if ceil_mode and (count - 1) * stride >= size + pad else count


def _trimmed(dx: Any, shape: Any, extra: list[int]) -> Any:
    for axis, before in zip(range(2, len(shape)), extra[-2::-2]):
        dx = dx.narrow(axis, before, shape[axis])
    return dx


def _layout(o: Node | Operation) -> Layout:
    return Layout(
        o.attr("data_format") if o.type not in ("MaxPoolWithArgmax", "MaxPoolGradWithArgmax", "MaxPoolGradGradWithArgmax") else "NHWC"
    )


def pooling(body: Callable[[Pool, Any], Callable[..., Any]]) -> Callable[[Any], Callable[..., Any]]:
    """A kernel from `body(pool, node)`. The V2 ops have their windows as inputs: these may differ at each run."""

    def make(node: Node) -> Callable[..., Any]:
        layout, padding = _layout(node), node.attr("padding")
        if not node.type.endswith("V2"):
            return body(Pool(layout, node.attr("ksize"), node.attr("strides"), padding), node)
        ksize, strides = (node.constant(len(node.inputs) + i) for i in (-2, -1))
        if ksize is not None and strides is not None:
            fixed = body(Pool(layout, ksize.tolist(), strides.tolist(), padding), node)
            return lambda *inputs: fixed(*inputs[:-2])
        made = functools.lru_cache(maxsize=16)(lambda ksize, strides: body(Pool(layout, ksize, strides, padding), node))
        return lambda *inputs: made(tuple(inputs[-2].tolist()), tuple(inputs[-1].tolist()))(*inputs[:-2])

    return make


def in_floats(factory: Callable[[Any], Callable[..., Any]], *halves: str) -> Callable[[Any], Callable[..., Any]]:
    """A kernel that computes integers in float64, and the named types in float32. What comes after three inputs are sizes."""

    def make(node: Node) -> Callable[..., Any]:
        inner = factory(node)
        dtype = node.outputs[0].dtype.base_dtype
        if dtype.is_floating and dtype.name not in halves:
            return inner
        compute, result = torch.float32 if dtype.is_floating else torch.float64, getattr(torch, dtype.name)
        kept = [i > 2 or v.dtype.base_dtype != dtype for i, v in enumerate(node.inputs)]
        return lambda *xs: inner(*[x if keep else x.to(compute) for x, keep in zip(xs, kept)]).to(result)

    return make


def _max_pool(pool: Pool, node: Node) -> Callable[..., Any]:
    to_torch, from_torch, maxima = pool.layout.to_torch, pool.layout.from_torch, pool.maxima
    if pool.depth != 1 or pool.depth_stride != 1:
        return _depth_max_pool(pool)

    def run(x: Any) -> Any:
        if x.dim() != len(to_torch):
            raise invalid_argument(f"tensor_in_shape must have {len(to_torch) - 2} spatial dimensions. {x.dim()} 0")
        return maxima(x.permute(to_torch))[0].permute(from_torch)

    if pool.window == [2, 2] == pool.strides and pool.layout.channel == 3 and node.outputs[0].dtype.is_floating:
        return _halves(run)
    return run


def _halves(general: Callable[..., Any]) -> Callable[..., Any]:
    """Windows of 2 × 2 side by side: the maximum of rows, then of columns, without looking for positions."""

    def run(x: Any) -> Any:
        if x.dim() != 4 or x.shape[1] % 2 or x.shape[2] % 2 or not x.numel():
            return general(x)
        rows = torch.maximum(x[:, ::2], x[:, 1::2])
        return torch.maximum(rows[:, :, ::2], rows[:, :, 1::2])

    return run


def _depth_max_pool(pool: Pool) -> Callable[..., Any]:
    """Pooling over groups of channels."""
    channel, depth = pool.layout.channel, pool.depth
    if any(n != 1 for n in pool.window):
        raise UnimplementedError(None, None, "MaxPooling supports exactly one of pooling across depth or pooling across width/height.")
    if depth != pool.depth_stride:
        raise UnimplementedError(None, None, "Depthwise max pooling requires the depth window to equal the depth stride")

    def run(x: Any) -> Any:
        if x.shape[channel] % depth:
            raise UnimplementedError(None, None, "Depthwise max pooling requires the depth window to evenly divide the input depth")
        return x.unflatten(channel, (-1, depth)).amax(channel + 1)

    return run


def _no_depth(pool: Pool, what: str) -> None:
    if pool.depth != 1 or pool.depth_stride != 1:
        raise UnimplementedError(None, None, what)


def _max_pool_grad(pool: Pool, node: Node) -> Callable[..., Any]:
    _no_depth(pool, "MaxPoolingGrad is not yet supported on the depth dimension.")
    to_torch, from_torch, gradient = pool.layout.to_torch, pool.layout.from_torch, pool.max_gradient
    return lambda x, y, dy: gradient(x.permute(to_torch), dy.permute(to_torch)).permute(from_torch)


def pools_planes(node: Node) -> bool:
    """Whether a MaxPool node pools floats over height and width alone: its gradient can use the positions it found."""
    layout = _layout(node)
    return node.outputs[0].dtype.is_floating and all(
        node.attr(a)[i] == 1 for a in ("ksize", "strides") for i in (layout.batch, layout.channel)
    )


def _max_pool_with_positions(node: Node) -> Callable[..., Any]:
    """MaxPool that also hands on where the maxima are: in windows of 2 × 2 side by side as bytes, else as torch says it."""
    pool = Pool(_layout(node), node.attr("ksize"), node.attr("strides"), node.attr("padding"))
    to_torch, from_torch, maxima = pool.layout.to_torch, pool.layout.from_torch, pool.maxima
    halves = pool.window == [2, 2] == pool.strides and pool.layout.channel == 3 and node.outputs[0].dtype is dtypes.float32

    def run(x: Any) -> Any:
        if halves and x.is_cpu and x.dim() == 4 and x.numel() and not (x.shape[1] % 2 or x.shape[2] % 2 or x.shape[3] % GROUP):
            return _halved(x.contiguous())
        values, positions = maxima(x.permute(to_torch))
        return values.permute(from_torch), positions

    return run


def _halved(x: Any) -> tuple[Any, Any]:
    batch, height, width, channels = x.shape
    sizes = batch, height // 2, width // 2, channels
    values, places = torch.empty(sizes), torch.empty(sizes, dtype=torch.uint8)
    _native.pool_halves(x.data_ptr(), values.data_ptr(), places.data_ptr(), sizes, torch.get_num_threads())
    return values, places


def _spread(dy: Any, places: Any) -> Any:
    """The gradient of `_halved`."""
    batch, height, width, channels = sizes = tuple(dy.shape)
    dx = torch.empty((batch, 2 * height, 2 * width, channels))
    _native.spread_halves(dy.data_ptr(), places.data_ptr(), dx.data_ptr(), sizes, torch.get_num_threads())
    return dx


def _max_pool_from_positions(node: Node) -> Callable[..., Any]:
    """MaxPoolGrad for maxima whose positions are known."""
    pool = Pool(_layout(node), node.attr("ksize"), node.attr("strides"), node.attr("padding"))
    to_torch, from_torch, gradient = pool.layout.to_torch, pool.layout.from_torch, pool.max_gradient

    def run(x: Any, dy: Any, positions: Any) -> Any:
        if positions.dtype is torch.uint8 and dy.shape == positions.shape:
            return _spread(dy.contiguous(), positions)
        return gradient(x.permute(to_torch), dy.permute(to_torch), positions).permute(from_torch)

    return run


fused_op("_MaxPoolWithPositions", kernel=_max_pool_with_positions)
fused_op("_MaxPoolGradFromPositions", kernel=_max_pool_from_positions, fresh=True)


def _max_pool_grad_grad(pool: Pool, node: Node) -> Callable[..., Any]:
    _no_depth(pool, "MaxPoolingGradGrad is not yet supported on the depth dimension.")
    to_torch, from_torch = pool.layout.to_torch, pool.layout.from_torch

    def run(x: Any, y: Any, ddx: Any) -> Any:
        x, ddx = x.permute(to_torch), ddx.permute(to_torch)
        values, positions = pool.maxima(x)
        positions = pool.plane_positions(x, positions)
        return ddx.flatten(2).gather(2, positions.flatten(2)).view(values.shape).permute(from_torch)

    return run


def _avg_pool(pool: Pool, node: Node) -> Callable[..., Any]:
    _no_depth(pool, "Non-spatial pooling is not yet supported. Volunteers? :)")
    to_torch, from_torch, averages = pool.layout.to_torch, pool.layout.from_torch, pool.averages

    def run(x: Any) -> Any:
        if x.dim() != len(to_torch):
            raise invalid_argument(f"tensor_in must be {len(to_torch)}-dimensional")
        return averages(x.permute(to_torch)).permute(from_torch)

    return run


def _avg_pool_grad(pool: Pool, node: Node) -> Callable[..., Any]:
    _no_depth(pool, "Non-spatial pooling is not yet supported. Volunteers? :)")
    to_torch, from_torch, gradient = pool.layout.to_torch, pool.layout.from_torch, pool.average_gradient

    def run(shape: Any, dy: Any) -> Any:
        sizes = shape.tolist()
        return gradient([sizes[i] for i in to_torch], dy.permute(to_torch)).permute(from_torch)

    return run


def pool_shape(o: Operation) -> Any:
    """The shape of what pooling makes of its first input."""
    layout = _layout(o)
    dims = shapes.with_rank(o.inputs[0].dims, layout.rank)
    if o.type.endswith("V2"):
        ksize, strides = (known(t) for t in o.inputs[-2:])
        if ksize is None or strides is None:
            return layout.dims(dims[layout.batch], dims[layout.channel], [None] * len(layout.spatial))
        ksize, strides = ksize.tolist(), strides.tolist()
    else:
        ksize, strides = o.attr("ksize"), o.attr("strides")
    for name, values in (("ksize", ksize), ("stride", strides)):
        if len(values) != layout.rank:
            raise ValueError(f"{o.type} requires the {name} attribute to contain {layout.rank} values, but got {len(values)}")
    sizes = [window_output(dims[i], ksize[i], strides[i], o.attr("padding")) for i in layout.spatial]
    depth = dims[layout.channel]
    # Averages are never taken over channels; what asks for that is refused when it runs.
    if "MaxPool" in o.type and layout.rank == 4:
        depth = window_output(depth, ksize[layout.channel], strides[layout.channel], o.attr("padding"))
    return layout.dims(dims[layout.batch], depth, sizes)


def _windows(o: Operation) -> dict[str, Any]:
    names = ["ksize", "strides", "padding"] + ([] if "WithArgmax" in o.type else ["data_format"])
    return {name: o.attr(name) for name in names}


def _zeros_of(x: Any) -> Any:
    return tf.zeros(tf.shape(x), dtype=x.dtype)


def _max_pooling(name: str) -> None:
    """An op that pools maxima, with its gradient ops."""
    grad, grad_grad = name + "Grad", name + "GradGrad"
    op(
        name,
        kernel=widened(pooling(_max_pool)),
        shape=pool_shape,
        gradient=lambda o, dy: apply(grad, o.inputs[0], o.outputs[0], dy, **_windows(o)),
        fresh=True,
        symbolic=symbolic.keeps_batch,
    )
    op(
        grad,
        kernel=in_floats(pooling(_max_pool_grad)),
        shape=same_as(0),
        gradient=lambda o, dy: (
            _zeros_of(o.inputs[0]),
            _zeros_of(o.inputs[1]),
            apply(grad_grad, o.inputs[0], o.inputs[1], dy, **_windows(o)),
        ),
    )
    op(
        grad_grad,
        kernel=in_floats(pooling(_max_pool_grad_grad)),
        shape=same_as(1),
        gradient=lambda o, dy: (_zeros_of(o.inputs[0]), _zeros_of(o.inputs[1]), apply(grad, o.inputs[0], o.inputs[1], dy, **_windows(o))),
    )


_max_pooling("MaxPool")
_max_pooling("MaxPool3D")


def _window_inputs(o: Operation) -> dict[str, Any]:
    return {"padding": o.attr("padding"), "data_format": o.attr("data_format")}


def _with_windows(rule: Callable[[Operation], Any]) -> Callable[[Operation], Any]:
    """A shape rule of an op whose last two inputs are the sizes and steps of windows."""

    def checked(o: Operation) -> Any:
        shapes.with_rank(o.inputs[0].dims, 4)
        for t in o.inputs[-2:]:
            shapes.with_rank(t.dims, 1)
        return rule(o)

    return checked


op(
    "MaxPoolV2",
    kernel=widened(pooling(_max_pool)),
    shape=_with_windows(pool_shape),
    gradient=lambda o, dy: (apply("MaxPoolGradV2", o.inputs[0], o.outputs[0], dy, *o.inputs[1:], **_window_inputs(o)), None, None),
)
op(
    "MaxPoolGradV2",
    kernel=in_floats(pooling(_max_pool_grad)),
    shape=_with_windows(same_as(0)),
    gradient=lambda o, dy: (
        _zeros_of(o.inputs[0]),
        _zeros_of(o.inputs[1]),
        apply("MaxPoolGradGradV2", o.inputs[0], o.inputs[1], dy, *o.inputs[3:], **_window_inputs(o)),
        None,
        None,
    ),
)
op(
    "MaxPoolGradGradV2",
    kernel=in_floats(pooling(_max_pool_grad_grad)),
    shape=_with_windows(same_as(1)),
    gradient=lambda o, dy: (
        _zeros_of(o.inputs[0]),
        _zeros_of(o.inputs[1]),
        apply("MaxPoolGradV2", o.inputs[0], o.inputs[1], dy, *o.inputs[3:], **_window_inputs(o)),
        None,
        None,
    ),
)


def _avg_grad_shape(o: Operation) -> Any:
    return shapes.with_rank(dims_of(o.inputs[0]), _layout(o).rank)


def _average_pooling(name: str) -> None:
    """An op that pools averages, with its gradient op."""
    grad = name + "Grad"
    op(
        name,
        kernel=in_floats(pooling(_avg_pool), *_HALVES[name]),
        shape=pool_shape,
        gradient=lambda o, dy: apply(grad, tf.shape(o.inputs[0]), dy, **_windows(o)),
        symbolic=symbolic.keeps_batch,
    )
    op(
        grad,
        kernel=in_floats(pooling(_avg_pool_grad), *_HALVES[name]),
        shape=_avg_grad_shape,
        gradient=lambda o, dy: (tf.stop_gradient(o.inputs[0]), apply(name, dy, **_windows(o))),
    )


# torch averages these only in two dimensions.
_HALVES = {"AvgPool": (), "AvgPool3D": ("float16", "bfloat16")}
_average_pooling("AvgPool")
_average_pooling("AvgPool3D")


def _flat_positions(pool: Pool, node: Node, x: Any, positions: Any) -> Any:
    """From positions in planes to positions in the whole NHWC image, or in the whole batch."""
    batch, channels, height, width = x.shape
    found = pool.plane_positions(x, positions) * channels + torch.arange(channels, device=x.device).view(1, -1, 1, 1)
    if node.attr("include_batch_in_index"):
        found += torch.arange(batch, device=x.device).view(-1, 1, 1, 1) * (height * width * channels)
    return found


def _max_pool_with_argmax(pool: Pool, node: Node) -> Callable[..., Any]:
    _no_depth(pool, "Pooling is not yet supported on the depth dimension.")
    to_torch, from_torch = pool.layout.to_torch, pool.layout.from_torch
    result = getattr(torch, node.attr("Targmax").name)
    wide = torch.int32 if node.inputs[0].dtype.base_dtype.name == "uint16" else None

    def run(x: Any) -> Any:
        x = x.permute(to_torch)
        values, positions = pool.maxima(x if wide is None else x.to(wide))
        if values.dtype != x.dtype:
            values = values.to(x.dtype)
        return values.permute(from_torch), _flat_positions(pool, node, x, positions).to(result).permute(from_torch)

    return run


def _argmax_axes(node: Node, x: Any, argmax: Any) -> tuple[Any, int]:
    """Positions in the flattened batch, a row an image unless they hold the batch already."""
    return (argmax.reshape(1, -1), 1) if node.attr("include_batch_in_index") else (argmax.flatten(1), x.shape[0])


def _max_pool_grad_with_argmax(node: Node) -> Callable[..., Any]:
    def run(x: Any, dy: Any, argmax: Any) -> Any:
        index, rows = _argmax_axes(node, x, argmax)
        dx = dy.new_zeros(x.shape)
        _checked(index, x.numel() // max(rows, 1))
        dx.view(rows, -1).scatter_add_(1, index.long(), dy.reshape(rows, -1))
        return dx

    return run


def _max_pool_grad_grad_with_argmax(node: Node) -> Callable[..., Any]:
    def run(x: Any, ddx: Any, argmax: Any) -> Any:
        index, rows = _argmax_axes(node, x, argmax)
        _checked(index, x.numel() // max(rows, 1))
        return ddx.reshape(rows, -1).gather(1, index.long()).view(argmax.shape)

    return run


def _checked(index: Any, size: int) -> None:
    if index.numel() and not 0 <= int(index.min()) <= int(index.max()) < size:
        raise invalid_argument(f"Invalid input index in argmax: not in [0, {size})")


def _argmax_windows(o: Operation) -> dict[str, Any]:
    return {**_windows(o), "include_batch_in_index": o.attr("include_batch_in_index")}


op(
    "MaxPoolWithArgmax",
    kernel=pooling(_max_pool_with_argmax),
    shape=lambda o: [pool_shape(o)] * 2,
    gradient=lambda o, dy, _: apply("MaxPoolGradWithArgmax", o.inputs[0], dy, o.outputs[1], **_argmax_windows(o)),
)
op(
    "MaxPoolGradWithArgmax",
    kernel=in_floats(_max_pool_grad_with_argmax),
    shape=same_as(0),
    gradient=lambda o, dy: (
        _zeros_of(o.inputs[0]),
        apply("MaxPoolGradGradWithArgmax", o.inputs[0], dy, o.inputs[2], **_argmax_windows(o)),
        None,
    ),
)
op("MaxPoolGradGradWithArgmax", kernel=in_floats(_max_pool_grad_grad_with_argmax), shape=same_as(2))
