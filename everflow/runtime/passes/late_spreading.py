"""Numbers that are repeated along axes, as the gradients of sums and means are, stay few as long as they can: element-wise ops broadcast
them without writing them down, and most end in one that has a tensor of the whole shape beside them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from everflow.ops.core.node import Node, Value
from everflow.ops.core.registry import kind_of
from everflow.ops.core.shape_rules import broadcast
from everflow.ops.math.elementwise_chains import may_be_elementwise
from everflow.runtime.passes.patterns import Replacement, rewrite
from everflow.runtime.plan import Plan, fused, remade
from everflow.runtime.symbols import Symbols


def spread_late(plan: Plan) -> bool:
    """Takes element-wise ops before repetitions, and repetitions away where an op broadcasts; reshapes that change nothing, or put back
    axes that were summed over, go too."""
    symbols = Symbols()

    def later(node: Node, uses: Counter[Value]) -> Replacement | None:
        if node.reads or node.asked_for or node.meaning is None:
            return None
        kind = kind_of(node.type)
        if kind == "reshaping":
            sizes = _known(symbols, node.inputs[0])
            return node.inputs[0] if sizes is not None and sizes == symbols.of(node.outputs[0]) else _kept(node, symbols, uses)
        if kind == "sum of tensors":
            return _added_apart(node, symbols)
        if kind == "choice":
            return _chosen(node, symbols)
        if len(node.inputs) == 1 and may_be_elementwise(node):
            source = _source(node.inputs[0], symbols)
            return None if source is None else _before(node.inputs[0].node, node, [source], source)
        return _broadcast(node, symbols) if node.meaning.shape is broadcast and len(node.outputs) == 1 else None

    return rewrite(plan, later)


def _known(symbols: Symbols, value: Value) -> Any:
    """The sizes of a value, which are as they say; None where some are not known."""
    found = symbols.of(value)
    return None if found is None or None in found else found


def _kept(node: Node, symbols: Symbols, uses: Counter[Value]) -> Replacement | None:
    """A sum whose axes a reshape puts back, as size one: it can keep them itself."""
    total = node.inputs[0].node
    if kind_of(total.type) != "sum over axes" or total.reads or total.asked_for or uses[node.inputs[0]] > 1 or total.attr("keep_dims"):
        return None
    sizes, axes = _known(symbols, total.inputs[0]), total.constant(1)
    if sizes is None or axes is None:
        return None
    summed = {int(axis) % len(sizes) for axis in axes.reshape(-1)}
    kept = tuple(1 if i in summed else size for i, size in enumerate(sizes))
    return remade(total, total.inputs, like=node, keep_dims=True) if kept == symbols.of(node.outputs[0]) else None


def _source(value: Value, symbols: Symbols) -> Value | None:
    """What a value repeats along axes of size one."""
    if kind_of(value.node.type) != "repetition" or value.node.reads:
        return None
    before, after = _known(symbols, value.node.inputs[0]), _known(symbols, value)
    if before is None or after is None or len(before) != len(after) or before == after:
        return None
    return value.node.inputs[0] if all(b in (a, 1) for b, a in zip(before, after)) else None


def _broadcast(node: Node, symbols: Symbols) -> Replacement | None:
    """An op of two values of which one or both are repeated."""
    sources = [_source(v, symbols) for v in node.inputs]
    for i, source in enumerate(sources):
        other = node.inputs[1 - i]
        if source is None:
            continue
        if symbols.of(other) == symbols.of(node.inputs[i]):
            # The other one has the whole shape; or both are repeated, and one of them still is.
            return remade(node, [source, other] if i == 0 else [other, source])
        own = _known(symbols, other)
        if own is not None and len(own) <= len(_known(symbols, source)) and all(size == 1 for size in own):
            return _before(node.inputs[i].node, node, [source, other] if i == 0 else [other, source], source)
    return None


def _before(repetition: Node, node: Node, inputs: list[Value], source: Value) -> Replacement:
    """A node that computes what a repetition of this source then repeats."""
    first = remade(node, inputs)
    first.outputs = []
    first.add_output(node.outputs[0].dtype, source.dims)
    return [first, remade(repetition, [first.outputs[0], *repetition.inputs[1:]], like=node)]


def _chosen(node: Node, symbols: Symbols) -> Replacement | None:
    """A choice for each element, where repeated numbers may be chosen: one that broadcasts needs them but once."""
    condition, *given = node.inputs
    sizes = _known(symbols, condition)
    if sizes is None or len(sizes) < 2 or any(symbols.of(v) != sizes for v in given):
        return None
    sources = [_source(v, symbols) for v in given]
    return fused("SelectV2", node, [condition, *[s or v for s, v in zip(sources, given)]]) if any(sources) else None


def _added_apart(node: Node, symbols: Symbols) -> Replacement | None:
    """A sum of tensors of one shape, of which some are repeated: these are added to the sum of the others, or summed before."""
    wanted = symbols.of(node.outputs[0])
    sources = {v: source for v in node.inputs if symbols.of(v) == wanted and (source := _source(v, symbols)) is not None}
    whole = [v for v in node.inputs if v not in sources]
    if sources and not whole and len({symbols.of(source) for source in sources.values()}) == 1:
        return _before(node.inputs[0].node, node, [sources[v] for v in node.inputs], sources[node.inputs[0]])
    if not sources or not any(symbols.of(v) == wanted for v in whole):
        return None
    made = [remade(node, whole, N=len(whole))] if len(whole) > 1 else []
    total = made[-1].outputs[0] if made else whole[0]
    for v in node.inputs:
        if v in sources:
            made.append(fused("AddV2", node, [total, sources[v]]))
            total = made[-1].outputs[0]
    return made
