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
    return fused("_Part", node, [x], axis=at, start=sum(size or 0 for size in before), length=length)


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
    (
        P("_Part", P("matrix product", name="product", once=True, dtype=FLOATS), attrs={"axis": 1}),
        lambda node, product: fused("_PartOfProduct", node, list(product.inputs), **product.attrs),
    ),
)
