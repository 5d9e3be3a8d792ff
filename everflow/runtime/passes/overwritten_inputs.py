"""Results are written over an input that nothing needs any more: large tensors cost most by the memory they touch."""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

from everflow.ops.core.node import Node, Value
from everflow.runtime.passes.patterns import FLOATS, rewrite
from everflow.runtime.plan import Plan, variant
from everflow.runtime.symbols import Symbols


def _given(kernel: Any, node: Node) -> Any:
    return kernel


def overwrite_inputs(plan: Plan) -> bool:
    """Overwrites inputs that were computed by an op with memory of its own, are used once, and have the shape of the result."""
    symbols = Symbols()

    def replacement(node: Node, uses: Counter[Value]) -> Node | None:
        output = symbols.of(node.outputs[0]) if node.outputs else None
        meaning = node.meaning
        if meaning is None or not meaning.over or node.reads or output is None:
            return None
        for i, factory in meaning.over.items():
            if i >= len(node.inputs):
                continue
            value = node.inputs[i]
            if (
                value.node.is_fresh
                and uses[value] == 1
                and value.dtype is node.outputs[0].dtype
                and value.dtype.name in FLOATS
                and symbols.of(value) == output
                and (kernel := factory(node)) is not None
            ):
                return variant(
                    f"_{node.type.removeprefix('_')}Over",
                    node,
                    node.inputs,
                    functools.partial(_given, kernel),
                    fresh=True,
                    shape=meaning.shape,
                    symbolic=meaning.symbolic,
                )
        return None

    return rewrite(plan, replacement)
