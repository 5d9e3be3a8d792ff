"""Sizes of results by tokens that stand for unknown sizes: what `op(..., symbolic=...)` and `op(..., holds=...)` say.

A symbolic rule takes (symbols, node, value) and returns a size, a token or None for each axis of the value, or None where nothing can
be said. `symbols.of(value)` are the sizes of an input, `symbols.held(value)` those that a vector of sizes holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

from everflow.ops.core.node import Node, Value

Sizes = tuple[Any, ...] | None


class Symbols(Protocol):
    """What rules may ask; see everflow.runtime.symbols."""

    def of(self, value: Value) -> Sizes: ...
    def held(self, shape: Value) -> Sizes: ...


Rule = Callable[[Symbols, Node, Value], Sizes]


def agreed(found: list[Sizes]) -> Sizes:
    """The sizes of values that have the same shape: what is known of one holds for all."""
    known = [sizes for sizes in found if sizes is not None]
    if not known or any(len(sizes) != len(known[0]) for sizes in known):
        return None
    return tuple(next((s for s in sizes if isinstance(s, int)), sizes[0]) for sizes in zip(*known))


def all_alike(symbols: Symbols, node: Node, value: Value) -> Sizes:
    """All inputs and the output have one shape."""
    return agreed([symbols.of(v) for v in node.inputs])


def like_first(symbols: Symbols, node: Node, value: Value) -> Sizes:
    """The first output has the shape of the first input."""
    return symbols.of(node.inputs[0]) if value.index == 0 else None


def sized_by(index: int) -> Rule:
    """An input holds the sizes."""
    return lambda symbols, node, value: symbols.held(node.inputs[index])


def keeps_batch(symbols: Symbols, node: Node, value: Value) -> Sizes:
    """The op works on each element of a batch by itself."""
    dims = symbols.of(node.inputs[0])
    return None if not dims or value.dims is None else (dims[0], *[None] * (len(value.dims) - 1))


def product(symbols: Symbols, node: Node, value: Value) -> Sizes:
    """Of two matrices."""
    a, b = symbols.of(node.inputs[0]), symbols.of(node.inputs[1])
    if a is None or b is None or len(a) != 2 or len(b) != 2:
        return None
    return a[1 if node.attr("transpose_a") else 0], b[0 if node.attr("transpose_b") else 1]


def columns_of_product(symbols: Symbols, node: Node, value: Value) -> Sizes:
    """Some columns of the product of two matrices."""
    sizes = product(symbols, node, value)
    return None if sizes is None else (sizes[0], None)


def broadcast(a: Sizes, b: Sizes) -> Sizes:
    """Of two shapes."""
    if a is None or b is None:
        return None
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    found = []
    for m, n in zip(a, b):
        if m == n or n == 1:
            found.append(m)
        elif m == 1:
            found.append(n)
        else:
            found.append(m if isinstance(m, int) else n if isinstance(n, int) else None)
    return tuple(found)


def _without(dims: Sizes, axis: Any) -> Sizes:
    if not dims or axis is None:
        return None
    at = int(axis.reshape(-1)[0]) % len(dims)
    return tuple(None if i == at else s for i, s in enumerate(dims))


def split(source: int, axis: int) -> Rule:
    """Parts of an input along an axis, which is another input."""
    return lambda symbols, node, value: _without(symbols.of(node.inputs[source]), node.constant(axis))


def part(symbols: Symbols, node: Node, value: Value) -> Sizes:
    """A part of an input along the axis that the node names."""
    dims, axis = symbols.of(node.inputs[0]), node.attr("axis")
    return None if dims is None else tuple(None if i == axis else s for i, s in enumerate(dims))


def joined(symbols: Symbols, node: Node, value: Value) -> Sizes:
    """But for the axis, which comes last, all parts have the same sizes."""
    return agreed([_without(symbols.of(v), node.constant(len(node.inputs) - 1)) for v in node.inputs[:-1]])


def unpacked(symbols: Symbols, node: Node, value: Value) -> Sizes:
    """Without the axis that the node takes apart."""
    dims = symbols.of(node.inputs[0])
    return None if dims is None else tuple(s for i, s in enumerate(dims) if i != node.attr("axis") % len(dims))


def reduced(symbols: Symbols, node: Node, value: Value) -> Sizes:
    """Without the axes that the second input names."""
    dims, axes = symbols.of(node.inputs[0]), node.constant(1)
    if dims is None or axes is None:
        return None
    gone = {int(a) % len(dims) for a in axes.reshape(-1)} if dims else set()
    if node.attr("keep_dims"):
        return tuple(1 if i in gone else s for i, s in enumerate(dims))
    return tuple(s for i, s in enumerate(dims) if i not in gone)


def without_axis(symbols: Symbols, node: Node, value: Value) -> Sizes:
    """Without the axis that the second input is."""
    dims, axis = symbols.of(node.inputs[0]), node.constant(1)
    return None if not dims or axis is None else tuple(s for i, s in enumerate(dims) if i != int(axis.reshape(-1)[0]) % len(dims))


def with_axis(symbols: Symbols, node: Node, value: Value) -> Sizes:
    """With another axis, of size one, where the second input says."""
    dims, axis = symbols.of(node.inputs[0]), node.constant(1)
    if dims is None or axis is None:
        return None
    at = int(axis.reshape(-1)[0]) % (len(dims) + 1)
    return (*dims[:at], 1, *dims[at:])


def squeezed(symbols: Symbols, node: Node, value: Value) -> Sizes:
    """Without the axes that the node names, or without all of size one."""
    dims, axes = symbols.of(node.inputs[0]), node.attr("squeeze_dims")
    if dims is None or not axes and not all(isinstance(s, int) for s in dims):
        return None
    gone = {a % len(dims) for a in axes} if dims else set()
    return tuple(s for i, s in enumerate(dims) if (i not in gone if axes else s != 1))


def reshaped(symbols: Symbols, node: Node, value: Value) -> Sizes:
    """The sizes that are asked for; the one that is not known stays the same where the others have the same product."""
    held = symbols.held(node.inputs[1])
    if held is not None and None not in held:
        return held
    before, after = symbols.of(node.inputs[0]), value.dims
    if before is None or after is None or after.count(None) != 1:
        return held
    if all(isinstance(s, int) for s in before):
        rest = math.prod(d for d in after if d is not None)
        return tuple(math.prod(before) // rest if d is None else d for d in after) if rest else held
    unknown = [s for s in before if not isinstance(s, int)]
    if len(unknown) != 1 or math.prod(s for s in before if isinstance(s, int)) != math.prod(d for d in after if d is not None):
        return held
    return tuple(unknown[0] if d is None else d for d in after)


def loss_of_rows(symbols: Symbols, node: Node, value: Value) -> Sizes:
    """A number for each row of the first input, and a gradient of its shape."""
    dims = symbols.of(node.inputs[0])
    return dims[:1] if dims is not None and value.index == 0 else dims


# -- what vectors of sizes hold


def holds_shape(symbols: Symbols, node: Node, value: Value) -> Sizes:
    """The shape of an input."""
    return symbols.of(node.inputs[value.index])


def holds_numbers(symbols: Symbols, node: Node, value: Value) -> Sizes:
    """The numbers that are the inputs."""
    found = [symbols.held(v) for v in node.inputs]
    return tuple(sizes[0] if sizes is not None and len(sizes) == 1 else None for sizes in found)


def holds_number(symbols: Symbols, node: Node, value: Value) -> Sizes:
    """The number that is the first input."""
    return symbols.held(node.inputs[0]) if node.inputs[0].dims == () else None


def holds_joined(symbols: Symbols, node: Node, value: Value) -> Sizes:
    """Vectors one after another; the axis comes last."""
    found: list[Any] = []
    for v in node.inputs[:-1]:
        if v.dims is None or len(v.dims) != 1 or v.dims[0] is None:
            return None
        sizes = symbols.held(v)
        found.extend([None] * v.dims[0] if sizes is None else sizes)
    return tuple(found)


def holds_broadcast(symbols: Symbols, node: Node, value: Value) -> Sizes:
    """The shape to which two shapes broadcast."""
    return broadcast(symbols.held(node.inputs[0]), symbols.held(node.inputs[1]))


def holds_element(symbols: Symbols, node: Node, value: Value) -> Sizes:
    """One element of a vector of sizes."""
    at, sizes = node.constant(1), symbols.held(node.inputs[0])
    if node.attr("shrink_axis_mask") != 1 or at is None or sizes is None or not -len(sizes) <= at.reshape(-1)[0] < len(sizes):
        return None
    return (sizes[int(at.reshape(-1)[0])],)


def holds_stitched(symbols: Symbols, node: Node, value: Value) -> Sizes:
    """Sizes of several vectors, each at its place."""
    count = node.attr("N")
    places = [node.constant(i) for i in range(count)]
    found: dict[int, Any] = {}
    for at, part in zip(places, node.inputs[count:]):
        sizes = symbols.held(part)
        if at is None or sizes is None or at.size != len(sizes):
            return None
        found.update(zip(at.reshape(-1).tolist(), sizes))
    return tuple(found[i] for i in range(len(found))) if set(found) == set(range(len(found))) else None
