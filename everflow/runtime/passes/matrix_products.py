"""Sums of many matrix products or of the rows of many matrices, and matrices that many products take transposed."""

from __future__ import annotations

from everflow.ops.core.node import Node, Value
from everflow.ops.core.registry import kind_of
from everflow.runtime.passes.patterns import FLOATS, P, Rules
from everflow.runtime.plan import Plan, fused


def _sum(node: Node) -> Node:
    products = [v.node for v in node.inputs]
    return fused("_SumOfProducts", node, [p.inputs[0] for p in products] + [p.inputs[1] for p in products])


def _sum_rows(node: Node) -> Node | None:
    matrices = [v.node.inputs[0] for v in node.inputs]
    return fused("_SumOfRows", node, matrices) if len({v.dims[1] for v in matrices if v.dims}) == 1 else None


def _sums_rows(node: Node) -> bool:
    """Whether a node sums up the rows of a matrix."""
    rows = node.inputs[0].dims
    if rows is None or len(rows) != 2 or rows[1] is None or node.outputs[0].dtype.name not in ("float32", "float64"):
        return False
    if kind_of(node.type) == "gradient of bias":
        return node.attr("data_format") in ("NHWC", b"NHWC")
    axes = node.constant(1)
    return axes is not None and axes.reshape(-1).tolist() in ([0], [-2]) and not node.attr("keep_dims")


sum_products = Rules(
    "sum_products",
    "Sums of products a'b or of rows, such as gradients of weights used at each step of a recurrent network, are added up in place.",
    (
        P("sum of tensors", every=P("matrix product", once=True, attrs={"transpose_a": True, "transpose_b": False}), least=3, dtype=FLOATS),
        _sum,
    ),
    (P("sum of tensors", every=P(("sum over axes", "gradient of bias"), once=True, where=_sums_rows), least=3), _sum_rows),
)


def _two(node: Node, first: Node, second: Node) -> Node | None:
    columns = [v.dims[1] if v.dims is not None else None for v in node.inputs]
    if None in columns or columns[0] != columns[1]:
        return None
    broadcasts = kind_of(node.type) == "addition"
    return fused("_TwoProducts", node, [*first.inputs, *second.inputs], first=first, second=second, broadcasts=broadcasts)


add_products = Rules(
    "add_products",
    "Of two products that are added, the second is added to the first as it is computed.",
    (
        P(
            ("addition", "sum of tensors"),
            P("matrix product", name="first", once=True),
            P("matrix product", name="second", once=True),
            most=2,
            dtype=FLOATS,
        ),
        _two,
    ),
)


def transpose_matrices_once(plan: Plan) -> bool:
    """A matrix that several products take transposed is laid out transposed once: products read it faster that way."""
    takers: dict[Value, list[Node]] = {}
    for node in plan.nodes:
        if kind_of(node.type) == "matrix product" and node.attr("transpose_b") and not node.reads and node.inputs[1].dtype.name in FLOATS:
            takers.setdefault(node.inputs[1], []).append(node)
    table: dict[Value, Value] = {}
    before: dict[Node, Node] = {}
    after: dict[Node, Node] = {}
    for matrix, nodes in takers.items():
        if len(nodes) < 3:
            continue
        dims = matrix.dims[::-1] if matrix.dims is not None else None
        turned = fused("_Transposed", nodes[0], [matrix])
        turned.outputs = [Value(turned, 0, matrix.dtype, dims)]
        before[nodes[0]] = turned
        for node in nodes:
            new = fused("_MatMulTurned", node, [node.inputs[0], turned.outputs[0]])
            table[node.outputs[0]] = new.outputs[0]
            after[node] = new
    if table:
        plan.nodes = [n for node in plan.nodes for n in (before.get(node), after.get(node, node)) if n is not None]
        plan.replace(table)
    return bool(table)
