"""The gradient of one input of a concatenation: a slice, whose place is known where the sizes along the axis are."""

from __future__ import annotations

from everflow.ops.core.node import Node, Value
from everflow.runtime.passes.patterns import FLOATS, P, Rules, V
from everflow.runtime.plan import fused


def _part(node: Node, x: Value, offsets: Node) -> Node | None:
    index, axis = node.inputs[1].index, offsets.constant(0)
    if axis is None or x.dims is None or node.inputs[2] is not offsets.inputs[1 + index]:
        return None
    at = int(axis.reshape(-1)[0]) % len(x.dims)
    sizes = [_size(shape, at) for shape in offsets.inputs[1 : 2 + index]]
    if any(size is None for size in sizes):
        return None
    *before, length = sizes
    return _made(node, x, at, sum(size or 0 for size in before), length)


def _known_part(node: Node, x: Value) -> Node | None:
    """A slice whose place is known as a whole, along one axis."""
    begin, size = node.constant(1), node.constant(2)
    if x.dims is None or begin is None or size is None or len(x.dims) != begin.size:
        return None
    cut = [
        (axis, start, n)
        for axis, (start, n, whole) in enumerate(zip(begin.tolist(), size.tolist(), x.dims))
        if start or n not in (-1, whole)
    ]
    if len(cut) != 1:
        return None
    axis, start, length = cut[0]
    whole = x.dims[axis]
    if whole is None or start < 0 or start + max(length, 0) > whole:
        return None
    return _made(node, x, axis, start, whole - start if length < 0 else length)


def _made(node: Node, x: Value, axis: int, start: int, length: int | None) -> Node:
    part = fused("_Part", node, [x], axis=axis, start=start, length=length)
    assert x.dims is not None
    part.outputs[0].dims = (*x.dims[:axis], length, *x.dims[axis + 1 :])
    return part


def _size(shape: Value, axis: int) -> int | None:
    """A size that a vector of sizes holds, as far as it is known before running."""
    if shape.constant is not None:
        return int(shape.constant[axis])
    meaning = shape.node.meaning
    dims = shape.node.inputs[shape.index].dims if meaning is not None and meaning.measures else None
    return None if dims is None else dims[axis]


slice_concat_gradients = Rules(
    "slice_concat_gradients",
    "A part of what was joined is found without its offset; of a product, only its columns are computed.",
    (P("Slice", V("x"), P("ConcatOffset", name="offsets", output=None), least=3), _part),
    (P("Slice", V("x"), dtype=FLOATS), _known_part),
    (
        P("_Part", P("matrix product", name="product", once=True, dtype=FLOATS), attrs={"axis": 1}),
        lambda node, product: fused("_PartOfProduct", node, list(product.inputs), **product.attrs),
    ),
)
