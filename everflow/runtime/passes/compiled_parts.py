"""What a program asks to have compiled, by its session's configuration or by marks on ops, in parts that torch's compiler takes."""

from __future__ import annotations

import math
from collections.abc import Iterator

from everflow.ops.core.compilable import is_compilable
from everflow.ops.core.node import Node, Value
from everflow.ops.math.elementwise_chains import is_static, may_be_elementwise
from everflow.runtime import compilation
from everflow.runtime.compilation import Part
from everflow.runtime.passes.host_sizes import host_kernel
from everflow.runtime.passes.identities import begins_again
from everflow.runtime.plan import Plan, variant

FEWEST_OPS = 3
# Element-wise ops on tensors of so many elements are left to native loops.
SMALL = 1 << 12


def compile_parts(plan: Plan) -> bool:
    """Puts one node, compiled by torch, in the place of nodes that are to be compiled and between which nothing else must run."""
    everywhere = plan.context.compiles
    candidates = {node for node in plan.nodes if (everywhere or _is_marked(node)) and is_compilable(node)}
    if len(candidates) < FEWEST_OPS or not compilation.is_possible():
        return False
    parts = _Parts(plan, candidates)
    plan.nodes = parts.arranged()
    plan.replace(parts.table)
    return bool(parts.table)


def _is_marked(node: Node) -> bool:
    """Whether `tf.xla.experimental` marked the op: by its scope, or as part of a computation to compile."""
    attrs = node.attrs
    return ("_XlaCompile" in attrs and bool(attrs["_XlaCompile"])) or "_xla_compile_id" in attrs


class _Parts:
    """Finds parts, and makes nodes of them. Sizes that are computed in Python are in every part that needs them, and outside where
    something else does."""

    def __init__(self, plan: Plan, candidates: set[Node]) -> None:
        self._plan, self._sizes = plan, _sizes(plan)
        self._candidates = candidates - self._sizes
        self.table: dict[Value, Value] = {}
        stretches = list(_stretches(plan.nodes))
        groups = [members for stretch in stretches for members in self._groups(stretch)]
        parts = [members for members in groups if len(members) >= FEWEST_OPS and not _is_small(members)]
        inside = {node for members in parts for node in members}
        outside = {v.node for v in plan.fetches}
        for node in reversed(plan.nodes):
            if node not in inside and (node not in self._sizes or node in outside):
                outside.update(v.node for v in node.inputs)
        units = {node: _Unit([node], node.inputs) for node in plan.nodes if node not in self._sizes or node in outside}
        for members in parts:
            units.update(dict.fromkeys(members, self._unit(members)))
        self._stretches = [{node: units[node] for node in stretch if node in units} for stretch in stretches]
        self._needed = {v for unit in units.values() for v in unit.inputs} | set(plan.fetches)

    def arranged(self) -> list[Node]:
        """The plan's nodes, parts as one node each, in an order in which they can run."""
        found: list[Node] = []
        for units in self._stretches:
            done: set[_Unit] = set()
            for first in dict.fromkeys(units.values()):
                stack = [first]
                while stack:
                    unit = stack[-1]
                    needed = dict.fromkeys(units[v.node] for v in unit.inputs if v.node in units)
                    waiting = [] if unit in done else [other for other in needed if other not in done]
                    if waiting:
                        stack.extend(reversed(waiting))
                        continue
                    stack.pop()
                    if unit not in done:
                        done.add(unit)
                        found.append(unit.members[0] if len(unit.members) == 1 else self._joined(unit))
        return found

    def _groups(self, nodes: list[Node]) -> list[list[Node]]:
        """Candidates that are connected, and such that what lies outside comes before or after a group as a whole.

        A node's level is how often the longest way to it leaves candidates: of one level, none waits for another by way of
        something else."""
        levels: dict[Node, int] = {}
        home: dict[Node, list[Node]] = {}
        for node in nodes:
            inside = node in self._candidates or node in self._sizes
            before = [v.node for v in node.inputs if v.node in levels]
            levels[node] = max([levels[b] + (b in home and not inside) for b in before], default=0)
            if inside:
                own = [node]
                for b in before:
                    other = home.get(b)
                    if other is not None and other is not own and levels[b] == levels[node]:
                        small, own = sorted((own, other), key=len)
                        own.extend(small)
                        home.update(dict.fromkeys(small, own))
                home[node] = own
        order = {node: i for i, node in enumerate(nodes)}
        unique = {id(group): group for group in home.values()}
        return [sorted(self._candidates.intersection(group), key=order.__getitem__) for group in unique.values()]

    def _unit(self, members: list[Node]) -> _Unit:
        """A part with the sizes that it needs."""
        own = set(members)
        needed = [v.node for node in members for v in node.inputs]
        while needed:
            node = needed.pop()
            if node in self._sizes and node not in own:
                own.add(node)
                needed += [v.node for v in node.inputs]
        if len(own) > len(members):
            members = [node for node in self._plan.nodes if node in own]
        inputs = dict.fromkeys(v for node in members for v in node.inputs)
        return _Unit(members, [v for v in inputs if v.node not in own and not v.node.is_constant])

    def _joined(self, unit: _Unit) -> Node:
        from everflow.runtime.passes import PASSES

        results = [v for node in unit.members if node not in self._sizes for v in node.outputs if v in self._needed]
        part = Part(self._plan.context, unit.members, unit.inputs, results, PASSES[PASSES.index(compile_parts) + 1 :])
        new = variant("_Compiled", unit.members[-1], list(unit.inputs), lambda node: part.kernel(), fresh=True)
        new.outputs = []
        for v in results:
            self.table[v] = new.add_output(v.dtype, v.dims)
        return new


class _Unit:
    """What runs at once: the members of a part, or a single node."""

    def __init__(self, members: list[Node], inputs: list[Value]) -> None:
        self.members, self.inputs = members, inputs


def _stretches(nodes: list[Node]) -> Iterator[list[Node]]:
    """The nodes between those with effects or where something is computed again, and these by themselves."""
    stretch: list[Node] = []
    for node in nodes:
        if node.has_effects or begins_again(node):
            yield stretch
            yield [node]
            stretch = []
        else:
            stretch.append(node)
    yield stretch


def _is_small(members: list[Node]) -> bool:
    """Whether a native loop takes no longer than the compiled one would."""
    return all(
        may_be_elementwise(node) and all(is_static(v.dims or (None,)) and math.prod(v.dims) <= SMALL for v in node.outputs)  # type: ignore[arg-type]
        for node in members
    )


def _sizes(plan: Plan) -> set[Node]:
    """The nodes that compute sizes from shapes, in Python."""
    host: set[Value] = set()
    found = set()
    for node in plan.nodes:
        if not node.has_effects and host_kernel(node, host) is not None:
            host.update(node.outputs)
            found.add(node)
    return found
