"""Transforms of convolutions: resizing and padding done by them, and dilated ones made plain."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.tools.graph_transforms.table import Told, const, consumers, made, node_of, said, transform, value_of, with_nodes


def is_plain(node: Any, *, strided: bool = True) -> bool:
    """Whether a convolution is of images with channels last, without holes in its filter."""
    return (
        said(node, "data_format").s in (b"", b"NHWC")
        and set(said(node, "dilations").list.i) <= {1}
        and said(node, "padding").s in (b"", b"SAME", b"VALID")
        and (strided or set(said(node, "strides").list.i) <= {1})
    )


class _Chains:
    """Finds nodes that only the next one in a chain uses."""

    def __init__(self, graph: Any, told: Told) -> None:
        self.by_name = {node.name: node for node in graph.node}
        self._uses, self._kept = consumers(graph), told.kept

    def of(self, node: Any, *ops: str) -> list[Any] | None:
        """The node's first input, that one's and so on, where they are of these ops and used nowhere else."""
        found: list[Any] = []
        for op in ops:
            node = self.by_name.get(node.input[0]) if node.input else None
            if node is None or node.op != op or self._uses[node.name] != 1 or node.name in self._kept:
                return None
            found.append(node)
        return found

    def is_alone(self, name: str) -> bool:
        return self._uses[name] == 1 and name not in self._kept

    def constant(self, name: str) -> np.ndarray | None:
        node = self.by_name.get(node_of(name))
        return value_of(node) if node is not None and node.op == "Const" else None


def _fused(graph: Any, told: Told, *ops: str) -> Any:
    """Has convolutions do what these ops did before them: resize, pad or both."""
    chains = _Chains(graph, told)
    changed: dict[str, list[Any]] = {}
    for conv in graph.node:
        before = chains.of(conv, *ops) if conv.op == "Conv2D" and is_plain(conv) else None
        if before is None:
            continue
        by_op = {node.op: node for node in before}
        pad, resize = by_op.get("MirrorPad"), by_op.get("ResizeBilinear")
        if resize is not None and said(resize, "half_pixel_centers").b:
            continue
        changed.update((node.name, []) for node in before)
        nodes: list[Any] = []
        paddings = pad.input[1] if pad is not None else conv.name + "_dummy_paddings"
        if pad is None:
            nodes.append(const(paddings, np.zeros((4, 2), np.int32)))
        inputs = [before[-1].input[0], *([] if resize is None else [resize.input[1]]), paddings, *conv.input[1:]]
        fused = made(
            "FusedPadConv2D" if resize is None else "FusedResizeAndPadConv2D", conv.name, inputs, conv, ("T", "padding", "strides")
        )
        fused.attr["mode"].s = b"REFLECT" if pad is None else said(pad, "mode").s
        if resize is not None:
            fused.attr["resize_align_corners"].b = said(resize, "align_corners").b
        changed[conv.name] = [*nodes, fused]
    return with_nodes(graph, [made for node in graph.node for made in changed.get(node.name, [node])])


@transform
def fuse_resize_pad_and_conv(graph: Any, told: Told) -> Any:
    """Resizes and pads while convolving."""
    return _fused(graph, told, "MirrorPad", "ResizeBilinear")


@transform
def fuse_resize_and_conv(graph: Any, told: Told) -> Any:
    """Resizes while convolving."""
    return _fused(graph, told, "ResizeBilinear")


@transform
def fuse_pad_and_conv(graph: Any, told: Told) -> Any:
    """Mirrors edges while convolving."""
    return _fused(graph, told, "MirrorPad")


@transform
def flatten_atrous_conv(graph: Any, told: Told) -> Any:
    """Makes one convolution, with zeros between the weights, of one on pictures that were taken apart and are put together again."""
    chains = _Chains(graph, told)
    changed: dict[str, list[Any]] = {}
    for joined in graph.node:
        for op in ("Conv2D", "DepthwiseConv2dNative"):
            parts = chains.of(joined, op, "SpaceToBatchND") if joined.op == "BatchToSpaceND" else None
            if parts is None:
                continue
            conv, split = parts
            given: list[Any] = [chains.constant(name) for name in (conv.input[1], *split.input[1:3], *joined.input[1:3])]
            if not is_plain(conv, strided=False) or any(v is None for v in given):
                continue
            weights, rates, pads, rates_again, crops = given
            padding = _padding(conv, weights, rates, pads, crops) if np.array_equal(rates, rates_again) else None
            if padding is None:
                continue
            alone = chains.is_alone(conv.input[1])
            wide = const(conv.input[1] if alone else joined.name + "/weights", _spread(weights, rates))
            flat = made(
                op, joined.name, [split.input[0], wide.name], conv, ("T", "data_format", "strides", "use_cudnn_on_gpu"), padding=padding
            )
            changed[joined.name] = [flat] if alone else [wide, flat]
            if alone:
                changed[wide.name] = [wide]
            gone = [conv.name, split.name, *(name for name in (*split.input[1:3], *joined.input[1:3]) if chains.is_alone(name))]
            changed.update((name, []) for name in gone)
    return with_nodes(graph, [made for node in graph.node for made in changed.get(node.name, [node])])


def _padding(conv: Any, weights: Any, rates: Any, pads: Any, crops: Any) -> str | None:
    """How the flat convolution pads, or None where neither way is what the parts did."""
    reach = (np.asarray(weights.shape[:2]) - 1) * rates
    before, after = (pads - crops).T
    if said(conv, "padding").s == b"SAME":
        inner = (np.asarray(weights.shape[:2]) - 1) // 2 * rates
        before, after = before + inner, after + reach - inner
    if not before.any() and not after.any():
        return "VALID"
    return "SAME" if np.array_equal(before, reach // 2) and np.array_equal(before + after, reach) else None


def _spread(weights: Any, rates: Any) -> Any:
    """Weights with zeros between them."""
    rows, columns = (np.asarray(weights.shape[:2]) - 1) * rates + 1
    wide = np.zeros((rows, columns, *weights.shape[2:]), weights.dtype)
    wide[:: rates[0], :: rates[1]] = weights
    return wide
