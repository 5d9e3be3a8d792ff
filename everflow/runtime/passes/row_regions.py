"""Nodes that compute each row of a batch from that row alone and multiply by the same matrix again and again, as the cells of a recurrent
network that is written out do: one program takes the rows through all of them."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence

from everflow.graph import dtypes
from everflow.ops.core.node import Node, Value
from everflow.ops.core.rows import Apply, Choose, Copy, Fill, Instruction, Product, columns, fixed_operands, operands, row_operands
from everflow.ops.linalg.row_programs import Region
from everflow.ops.math.elementwise_chains import alone
from everflow.runtime.passes.elementwise_groups import group_elementwise
from everflow.runtime.passes.identities import begins_again
from everflow.runtime.passes.matrix_products import add_products
from everflow.runtime.plan import Plan, fused

# A matrix is laid out for a program once: so many products must gain from that.
FEWEST_PRODUCTS = 3
# Longer ones are cut: what a program takes and gives stays in memory until it ends.
MOST_PRODUCTS = 8

Found = dict[Node, list[Instruction]]


def join_rows(plan: Plan) -> bool:
    """Puts one node in the place of nodes that compute rows from each other, where they multiply by one matrix several times."""
    products = {node: known for node in plan.nodes if (known := _by_rows(node)) and any(isinstance(one, Product) for one in known)}
    times = Counter(one.matrix for known in products.values() for one in known if isinstance(one, Product))
    often = {matrix for matrix, count in times.items() if count >= FEWEST_PRODUCTS}
    if not often:
        return False
    found: Found = {}
    for node in plan.nodes:
        instructions = products.get(node) or _by_rows(node, with_single_ops=True)
        if instructions and all(one.matrix in often for one in instructions if isinstance(one, Product)):
            found[node] = instructions
    parts = [part for part in _connected(plan, found) if _gains(part, found)]
    uses, stacked = plan.uses(), [v for node in plan.nodes if node.meaning is not None and node.meaning.stacks for v in node.inputs]
    units: dict[Node, Node] = {}
    table: dict[Value, Value] = {}
    order = {v: i for i, v in enumerate(dict.fromkeys(stacked))}
    for part in parts:
        pieces = _pieces(plan, part, found)
        takers: dict[Value, set[int]] = {}
        for i, piece in enumerate(pieces):
            for node in piece:
                for v in node.inputs:
                    takers.setdefault(v, set()).add(i)
        for i, piece in enumerate(pieces):
            # Element-wise ops look through parts of a tensor at the whole.
            copies = [one for node in piece for one in found[node] if isinstance(one, Copy)]
            wholes = {one.source for one in copies if takers.get(one.to, set()) - {i}}
            new = _program(plan, piece, uses, wholes, order, table)
            units.update((node, new) for node in piece)
    if parts:
        _put(plan, units, table)
    return bool(parts)


def _by_rows(node: Node, with_single_ops: bool = False) -> list[Instruction]:
    """The instructions that compute a node row by row; none where that can't be."""
    if node.is_feed or node.is_constant or node.reads or node.has_effects or not node.outputs:
        return []
    if any(v.dtype is not dtypes.float32 or not columns(v) for v in node.outputs):
        return []
    meaning = node.meaning
    found: list[Instruction] | None = None
    if meaning is not None and meaning.rows is not None:
        found = meaning.rows(node)
    elif with_single_ops and len(node.outputs) == 1 and (chain := alone(node)) is not None:
        found = [Apply(chain, chain.inputs, node.outputs)]
    return found if found and all(map(_is_possible, found)) else []


def _is_possible(one: Instruction) -> bool:
    if isinstance(one, Apply):
        return len(one.chain.dims) == 2 and isinstance(one.chain.dims[1], int)
    if isinstance(one, Product):
        dims = one.matrix.dims
        if dims is None or None in dims or len(dims) != 2 or dims[one.turned] != columns(one.a):
            return False
        return one.bias is None or one.bias.dims == (columns(one.c),)
    if isinstance(one, Choose) and len(one.condition.dims or ()) != 1:
        return False
    takes = [] if isinstance(one, Fill) else row_operands(one)
    return all(columns(v) for v in takes)


def _connected(plan: Plan, found: Found) -> list[list[Node]]:
    """The nodes in parts that hang together by rows, and that can run at once: nothing that a part needs needs the part.

    Parts have numbers. A node is in one that comes no sooner than those that its inputs are in, and after all that these need otherwise.
    """
    number: dict[Node, int] = {}
    # The first part that may use what a node computes.
    level: dict[Node, int] = {}
    acted = highest = 0
    homes: dict[Node, list[Node]] = {}
    for node in plan.nodes:
        first = max([level.get(v.node, 0) for v in node.inputs], default=0)
        if node in found:
            whole = [v.node for one in found[node] for v in fixed_operands(one)]
            first = max([first, *(number[n] + 1 for n in whole if n in number)])
            number[node] = first
            highest = max(highest, first)
            home = [node]
            for other in dict.fromkeys(v.node for one in found[node] for v in row_operands(one)):
                if number.get(other) == first and homes[other] is not home:
                    small, home = sorted((home, homes[other]), key=len)
                    home.extend(small)
                    homes.update((n, home) for n in small)
            homes[node] = home
        else:
            first = max([first, *(number[v.node] + 1 for v in node.inputs if v.node in number)])
            if begins_again(node):
                first = max(first, highest + 1)
            if _acts(node):
                first = acted = max(first, acted)
        level[node] = first
    return list({id(home): home for home in homes.values()}.values())


def _acts(node: Node) -> bool:
    """Whether a node must stay in its place among those with effects, and those that read what these change."""
    return node.has_effects or bool(node.reads) or any(v.dtype._is_ref_dtype or v.dtype is dtypes.resource for v in node.inputs)


def _gains(part: Sequence[Node], found: Found) -> bool:
    """Whether nodes multiply by one matrix often enough, and have one number of rows, which an input tells."""
    instructions = [one for node in part for one in found[node]]
    products = Counter(one.matrix for one in instructions if isinstance(one, Product))
    given = {v for one in instructions for v in operands(one)[1]}
    taken = {v for one in instructions for v in row_operands(one)}
    rows = {v.dims[0] for v in given | taken if v.dims}
    return max(products.values(), default=0) >= FEWEST_PRODUCTS and len(rows - {None}) <= 1 and _is_told(part, found)


def _is_told(part: Sequence[Node], found: Found) -> bool:
    """Whether an input tells how many rows there are."""
    given = {v for node in part for v in node.outputs}
    return any(v not in given and not v.node.is_constant for node in part for one in found[node] for v in row_operands(one))


def _pieces(plan: Plan, part: Sequence[Node], found: Found) -> list[list[Node]]:
    """Nodes in pieces of about as many products each, where there are many."""
    inside = set(part)
    ordered = [node for node in plan.nodes if node in inside]
    count = sum(isinstance(one, Product) for node in part for one in found[node])
    wanted = -(-count // MOST_PRODUCTS)
    pieces: list[list[Node]] = [[]]
    done = 0
    for node in ordered:
        if len(pieces) < wanted and done >= -(-count * len(pieces) // wanted):
            pieces.append([])
        pieces[-1].append(node)
        done += sum(isinstance(one, Product) for one in found[node])
    return pieces if all(_is_told(piece, found) for piece in pieces) else [ordered]


def _program(
    plan: Plan, part: Sequence[Node], uses: Counter[Value], wholes: set[Value], stacked: dict[Value, int], table: dict[Value, Value]
) -> Node:
    """One node for all these, which come in order; notes in the table what its outputs stand for: what is used elsewhere, and `wholes`.
    What a sum takes of many comes to lie in memory in the order of the sum, which is of one matrix then."""
    inner = Plan(plan.context)
    inner.nodes = list(part)
    last, used = inner.nodes[-1], Counter(v for node in inner.nodes for v in node.inputs)
    results = [v for node in inner.nodes for v in node.outputs if v in wholes or uses[v] > used[v]]
    piles: dict[object, list[Value]] = {}
    for v in sorted(results, key=lambda v: stacked.get(v, -1)):
        # What is fetched outlives the others.
        piles.setdefault(v if v in plan.fetches else (columns(v), v in stacked), []).append(v)
    results = inner.fetches = [v for pile in piles.values() for v in pile]
    for rewrite in (group_elementwise, add_products):
        if rewrite(inner):
            inner.drop_unused()
    now = dict(zip(results, inner.fetches))
    instructions = [one for node in inner.nodes for one in _by_rows(node, with_single_ops=True)]
    region = Region(inner.nodes, instructions, [[now[v] for v in pile] for pile in piles.values()])
    new = fused("_RowProgram", last, list(region.inputs), region=region)
    new.outputs = []
    table.update((v, new.add_output(v.dtype, v.dims)) for v in results)
    return new


def _put(plan: Plan, units: dict[Node, Node], table: dict[Value, Value]) -> None:
    """Puts nodes in the places of those that they are made of, and those that use their results after them."""
    first: dict[Node, int] = {}
    for i, node in enumerate(plan.nodes):
        first.setdefault(units.get(node, node), i)
    plan.nodes = list(first)
    plan.replace(table)
    waiting: dict[Node, int] = {}
    after: dict[Node, list[Node]] = {}
    acted: Node | None = None
    for node in plan.nodes:
        before = {v.node for v in node.inputs if v.node in first}
        if _acts(node):
            if acted is not None:
                before.add(acted)
            acted = node
        waiting[node] = len(before)
        for other in before:
            after.setdefault(other, []).append(node)
    ready = [(first[node], node) for node, count in waiting.items() if not count]
    heapq.heapify(ready)
    plan.nodes = []
    while ready:
        node = heapq.heappop(ready)[1]
        plan.nodes.append(node)
        for other in after.get(node, ()):
            waiting[other] -= 1
            if not waiting[other]:
                heapq.heappush(ready, (first[other], other))
