"""How many elements a mean was taken of, by which its gradient divides, is known as soon as the sizes of the axes that went are: those
that stayed are in both of the counts that are divided."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from everflow.ops.core.node import Node, constant_node
from everflow.runtime.passes.patterns import P, Rules, V
from everflow.runtime.symbols import Symbols


def _quotient(node: Node, before: Node, after: Node) -> Node | None:
    symbols = Symbols()
    count, divisor = _factors(before, symbols), _factors(after, symbols)
    if count is None or divisor is None:
        return None
    # Where a size that both have is zero, there is nothing to divide.
    left, right = Counter(count) - Counter(divisor), Counter(divisor) - Counter(count)
    if not all(isinstance(size, int) for size in (*left, *right)) or 0 in (*left, *right):
        return None
    found = int(np.prod([*left.elements()], dtype=np.int64) // np.prod([*right.elements()], dtype=np.int64))
    return constant_node(node.context, node.name, np.array(found), node.outputs[0].dtype)


def _factors(product: Node, symbols: Symbols) -> list[Any] | None:
    """The sizes that are multiplied; None where one of them is not known to be some axis' size."""
    sizes, axes = symbols.held(product.inputs[0]), product.constant(1)
    if sizes is None or None in sizes or axes is None or product.outputs[0].dims != () or product.inputs[0].dims != (len(sizes),):
        return None
    return [*sizes]


find_known_quotients = Rules(
    "find_known_quotients",
    "A number of elements divided by another, of which the sizes that are not known before running are in both.",
    (P("FloorDiv", P("Prod", name="before"), P("Maximum", P("Prod", name="after"), V(number=1), swaps=True)), _quotient),
)
