"""Rewrites as tables: a rule is a pattern and what replaces the nodes that match it.

    fuse_biases = Rules(
        "fuse_biases", "Matrix products and the bias added to their result.",
        (P("addition", P("matrix product", name="product", once=True), V("bias", rank=1), swaps=True),
         lambda node, product, bias: fused("_MatMulBias", node, [*product.inputs, bias], **product.attrs)),
    )

What a pattern names, the replacement gets as an argument of that name: a node for `P`, a value for `V`; `node` is the one that matched
the whole. A replacement returns

- a node, or a list of nodes of which the last gives the results;
- a value that was there before;
- {node that matched: its replacement}, where others than `node` are replaced too: each stands where the replaced one stood;
- None to leave all as it is.

Rows are tried in order, and again on what they put in a node's place. A pass tells whether it changed the plan; what only replaced
nodes needed is left out afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from everflow.ops.core.node import Node, Value
from everflow.runtime.plan import Plan

FLOATS = frozenset(("float32", "float64", "bfloat16"))

Replacement = Node | Value | list[Node] | dict[Node, "Node | Value"]


class Match:
    """What has been found so far."""

    __slots__ = ("found", "uses")

    def __init__(self, uses: Counter[Value]) -> None:
        self.uses = uses
        self.found: dict[str, Any] = {}

    def bind(self, name: str, thing: Any) -> bool:
        """Gives a thing a name; False where that is the name of another."""
        return not name or self.found.setdefault(name, thing) is thing


class V:
    """Any value.

    once      it is used nowhere else.
    dtype     the names of types that it may have.
    rank      how many axes it has.
    number    it is a constant without axes; or which.
    fresh     it comes from an op that gives it memory of its own.
    spare     a name for whether it may be overwritten: it is used nowhere else and in memory of its own.
    where     a function that tells whether the value will do.
    """

    def __init__(
        self,
        name: str = "",
        *,
        once: bool = False,
        dtype: Any = None,
        rank: int | None = None,
        number: Any = None,
        fresh: bool = False,
        spare: str = "",
        where: Callable[[Any], bool] | None = None,
    ) -> None:
        self.name, self.once, self.dtype, self.rank, self.number = name, once, dtype, rank, number
        self.fresh, self.spare, self.where = fresh, spare, where

    def matches(self, value: Value, match: Match) -> bool:
        if not self._fits(value, match) or self.where is not None and not self.where(value):
            return False
        if self.spare:
            match.bind(self.spare, match.uses[value] == 1 and value.node.is_fresh)
        return match.bind(self.name, value)

    def _fits(self, value: Value, match: Match) -> bool:
        if self.once and match.uses[value] != 1 or self.dtype is not None and value.dtype.name not in self.dtype:
            return False
        if self.fresh and not value.node.is_fresh or self.rank is not None and (value.dims is None or len(value.dims) != self.rank):
            return False
        if self.number is None:
            return True
        constant = value.constant
        return constant is not None and value.dims == () and (self.number is True or bool(constant == self.number))


class P(V):
    """A value that a node gives which does not read reference variables.

    ops       of which ops the node may be: their names, or what `kind` they are; see everflow.ops.core.registry.Meaning.
    inputs    patterns of its first inputs.
    has       a fact that must be known of the op, instead of its name.
    every     a pattern of all inputs.
    least     how many inputs it has at least; `most`: at most.
    swaps     its first two inputs may come in either order.
    alone     no output but the first is used.
    output    which output the value is; None for any.
    attrs     what some of its attributes are.
    where     a function that tells whether the node will do.
    """

    def __init__(
        self,
        ops: str | tuple[str, ...] = (),
        *inputs: V,
        has: str = "",
        every: V | None = None,
        least: int = 0,
        most: int | None = None,
        swaps: bool = False,
        alone: bool = False,
        output: int | None = 0,
        attrs: dict[str, Any] | None = None,
        **facts: Any,
    ) -> None:
        super().__init__(**facts)
        self.ops = frozenset((ops,) if isinstance(ops, str) else ops)
        self.inputs, self.has, self.every, self.swaps, self.alone, self.output = inputs, has, every, swaps, alone, output
        self.least, self.most, self.attrs = max(least, len(inputs)), most, attrs or {}
        self._accepted: dict[str, bool] = {}

    def accepts(self, node: Node) -> bool:
        """Whether a node is of one of the ops."""
        known = self._accepted.get(node.type)
        if known is None:
            meaning = node.meaning
            known = (
                node.type in self.ops
                or meaning is not None
                and (meaning.kind in self.ops or bool(self.has) and bool(getattr(meaning, self.has)))
            )
            self._accepted[node.type] = known
        return known

    def matches(self, value: Value, match: Match) -> bool:
        return (
            self.accepts(value.node)
            and self.output in (value.index, None)
            and self._fits(value, match)
            and self.matches_node(value.node, match)
        )

    def matches_node(self, node: Node, match: Match) -> bool:
        """The same for a node that is accepted, whichever of its outputs is used."""
        count = len(node.inputs)
        if node.reads or count < self.least or self.most is not None and count > self.most:
            return False
        if self.alone and any(match.uses[v] for v in node.outputs[1:]):
            return False
        if any(node.attr(name) != wanted for name, wanted in self.attrs.items()):
            return False
        if self.where is not None and not self.where(node):
            return False
        if self.every is not None and not all(self.every.matches(v, match) for v in node.inputs):
            return False
        return match.bind(self.name, node) and self._inputs_match(node.inputs, match)

    def _inputs_match(self, inputs: list[Value], match: Match) -> bool:
        before = dict(match.found) if self.swaps else {}
        if all(p.matches(v, match) for p, v in zip(self.inputs, inputs)):
            return True
        if not self.swaps:
            return False
        match.found = before
        return all(p.matches(v, match) for p, v in zip(self.inputs, [inputs[1], inputs[0], *inputs[2:]]))


class Rules:
    """A pass: rows of (pattern, replacement)."""

    def __init__(self, name: str, doc: str, *rows: tuple[P, Callable[..., Replacement | None]]) -> None:
        self.__name__, self.__doc__ = name, doc
        self.rows = rows
        self._by_type: dict[str, tuple[Any, ...]] = {}

    def __call__(self, plan: Plan) -> bool:
        kinds = {node.type: node for node in plan.nodes}
        return any(map(self._rows, kinds.values())) and rewrite(plan, self._replacement)

    def _rows(self, node: Node) -> tuple[Any, ...]:
        found = self._by_type.get(node.type)
        if found is None:
            found = self._by_type[node.type] = tuple(row for row in self.rows if row[0].accepts(node))
        return found

    def _replacement(self, node: Node, uses: Counter[Value]) -> Replacement | None:
        for pattern, make in self._rows(node):
            match = Match(uses)
            if node.outputs and not pattern._fits(node.outputs[0], match) or not pattern.matches_node(node, match):
                continue
            found = make(node, **match.found)
            if found is not None:
                return found
        return None


def rewrite(plan: Plan, replacement: Callable[[Node, Counter[Value]], Replacement | None]) -> bool:
    """Puts what `replacement(node, uses)` returns in the place of each node for which it is not None; tells whether there is any."""
    uses = plan.uses()
    table: dict[Value, Value] = {}
    # What stands in the place of a node of the plan, and in whose place a new node stands.
    made: dict[Node, list[Node]] = {}
    place: dict[Node, Node] = {}
    for node in plan.nodes:
        if table:
            inputs = node.inputs
            for i, v in enumerate(inputs):
                while v in table:
                    v = inputs[i] = table[v]
        current: Node | None = node
        while current is not None and (found := replacement(current, uses)) is not None:
            changes = found if isinstance(found, dict) else {current: found}
            for old, new in changes.items():
                at = place.get(old, old)
                here = made.setdefault(at, [at])
                nodes = new if isinstance(new, list) else [new] if isinstance(new, Node) else []
                here[here.index(old) : here.index(old) + 1] = nodes
                place.update((n, at) for n in nodes)
                if isinstance(new, Value):
                    # The replaced node used the value itself.
                    uses[new] += uses[old.outputs[0]] - 1
                    table[old.outputs[0]] = new
                    continue
                for before, after in zip(old.outputs, nodes[-1].outputs):
                    uses[after] = uses[before]
                    table[before] = after
            last = changes.get(current)
            current = last if isinstance(last, Node) else None
    if made:
        plan.nodes = [n for node in plan.nodes for n in made.get(node, (node,))]
        plan.replace(table)
    return bool(made)
