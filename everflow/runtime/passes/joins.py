"""Gradients of concatenations, and sums of many matrix products."""
from __future__ import annotations

from typing import Any

from everflow.lazy import torch
from everflow.runtime.passes.fusion import FLOATS, rewrite_nodes
from everflow.runtime.plan import Node, Plan, Value, fused


def narrow_parts(plan: Plan) -> None:
    """The gradient of one input of a concatenation is a slice whose place is known where the sizes along the axis are. Of a product,
    only the columns are computed that such a slice keeps."""
    rewrite_nodes(plan, _part)
    rewrite_nodes(plan, _part_of_product)


def _part(node: Node, uses: Any) -> Node | None:
    if node.type != "Slice" or node.reads or node.inputs[1].node.type != "ConcatOffset":
        return None
    offsets, index = node.inputs[1].node, node.inputs[1].index
    axis_value = offsets.constant(0)
    if axis_value is None or node.inputs[0].dims is None or node.inputs[2] is not offsets.inputs[1 + index]:
        return None
    axis = int(axis_value.reshape(-1)[0]) % len(node.inputs[0].dims)
    sizes: list[Any] = [_size(v, axis) for v in offsets.inputs[1:]]
    if any(s is None for s in sizes[: index + 1]):
        return None
    start, length = sum(sizes[:index]), sizes[index]
    new = fused("_Part", lambda n: lambda x: x.narrow(axis, start, length), node, [node.inputs[0]], view=True)
    new.attrs = {"axis": axis, "start": start, "length": length}
    return new


def _part_of_product(node: Node, uses: Any) -> Node | None:
    if node.type != "_Part" or node.attrs["axis"] != 1 or uses[node.inputs[0]] != 1:
        return None
    product = node.inputs[0].node
    if product.type != "MatMul" or product.reads or product.inputs[0].dtype.name not in FLOATS:
        return None
    start, length = node.attrs["start"], node.attrs["length"]
    turn_a, turn_b = product.attr("transpose_a"), product.attr("transpose_b")

    def run(a: Any, b: Any) -> Any:
        part = b.narrow(0, start, length).t() if turn_b else b.narrow(1, start, length)
        return torch.mm(a.t() if turn_a else a, part)

    return fused("_PartOfProduct", lambda n: run, node, list(product.inputs))


def _size(shape: Value, axis: int) -> int | None:
    node = shape.node
    if node.type == "Const":
        return int(node.attrs["value"][axis])
    if node.type in ("Shape", "ShapeN"):
        dims = node.inputs[shape.index].dims
        return None if dims is None else dims[axis]
    return None


def join_products(plan: Plan) -> None:
    """A sum of products a'b, such as the gradient of weights used at each step of a recurrent network, is added up in place."""
    rewrite_nodes(plan, _sum_of_products)


def _sum_of_products(node: Node, uses: Any) -> Node | None:
    if node.type != "AddN" or len(node.inputs) < 3 or node.outputs[0].dtype.name not in FLOATS:
        return None
    products = [v.node for v in node.inputs]
    if not all(p.type == "MatMul" and p.attr("transpose_a") and not p.attr("transpose_b") and not p.reads and uses[v] == 1
               for p, v in zip(products, node.inputs)):
        return None
    count = len(products)
    inputs = [p.inputs[0] for p in products] + [p.inputs[1] for p in products]

    def kernel(_: Node) -> Any:
        def run(*xs: Any) -> Any:
            total = torch.mm(xs[0].t(), xs[count])
            for a, b in zip(xs[1:count], xs[count + 1:]):
                total.addmm_(a.t(), b)
            return total

        return run

    return fused("_SumOfProducts", kernel, node, inputs, fresh=True)


def add_products(plan: Plan) -> None:
    """Of two products that are added, the second is added to the first as it is computed."""
    rewrite_nodes(plan, _two_products)


def _two_products(node: Node, uses: Any) -> Node | None:
    if node.type not in ("AddV2", "Add", "AddN") or len(node.inputs) != 2 or node.reads or node.outputs[0].dtype.name not in FLOATS:
        return None
    first, second = (v.node for v in node.inputs)
    if not all(p.type == "MatMul" and not p.reads and uses[v] == 1 for p, v in zip((first, second), node.inputs)) or first is second:
        return None
    columns = [v.dims[1] if v.dims is not None else None for v in node.inputs]
    if None in columns or columns[0] != columns[1]:
        return None
    turns = [p.attr(name) for p in (first, second) for name in ("transpose_a", "transpose_b")]

    def run(*xs: Any) -> Any:
        a, b, c, d = (x.t() if turn else x for x, turn in zip(xs, turns))
        total = torch.mm(c, d)
        return total.addmm_(a, b) if total.shape[0] == a.shape[0] else total + torch.mm(a, b)

    def run_straight(a: Any, b: Any, c: Any, d: Any) -> Any:
        total = torch.mm(c, d)
        return total.addmm_(a, b) if total.shape[0] == a.shape[0] else total + torch.mm(a, b)

    return fused("_TwoProducts", lambda _: run if any(turns) else run_straight, node, [*first.inputs, *second.inputs], fresh=True)


def transpose_once(plan: Plan) -> None:
    """A matrix that several products take transposed is laid out transposed once: products read it faster that way."""
    takers: dict[Value, list[Node]] = {}
    for node in plan.nodes:
        if node.type == "MatMul" and node.attr("transpose_b") and not node.reads and node.inputs[1].dtype.name in FLOATS:
            takers.setdefault(node.inputs[1], []).append(node)
    table: dict[Value, Value] = {}
    before: dict[Node, Node] = {}
    after: dict[Node, Node] = {}
    for matrix, nodes in takers.items():
        if len(nodes) < 3:
            continue
        dims = matrix.dims[::-1] if matrix.dims is not None else None
        turned = fused("_Transposed", lambda n: lambda x: x.t().contiguous(), nodes[0], [matrix])
        turned.outputs = [Value(turned, 0, matrix.dtype, dims)]
        before[nodes[0]] = turned
        for node in nodes:
            new = fused("_MatMulTurned", _turned(node), node, [node.inputs[0], turned.outputs[0]])
            table[node.outputs[0]] = new.outputs[0]
            after[node] = new
    if table:
        plan.nodes = [n for node in plan.nodes for n in (before.get(node), after.get(node, node)) if n is not None]
        plan.replace(table)


def _turned(node: Node) -> Any:
    flip = node.attr("transpose_a")
    return lambda n: (lambda a, b: torch.mm(a.t(), b)) if flip else torch.mm
