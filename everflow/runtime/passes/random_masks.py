"""Masks of random zeros and ones, as dropout makes them."""

from __future__ import annotations

from typing import Any

from everflow.ops.core.node import Node, Value
from everflow.runtime.passes.patterns import P, Rules, V
from everflow.runtime.plan import fused


def _mask(node: Node, numbers: Node, least: Value) -> dict[Node, Any]:
    # It stands where the numbers were drawn, with their generator.
    mask = fused("_RandomMask", numbers, numbers.inputs, least=float(least.constant))  # type: ignore[arg-type]
    return {numbers: mask, node: mask.outputs[0]}


NUMBERS = P("RandomUniform", name="numbers", once=True, dtype=("float32",))

draw_masks = Rules(
    "draw_masks",
    "Uniform random numbers that are only compared with a number, and the truths made floats.",
    (P("conversion", P("GreaterEqual", NUMBERS, V("least", number=True), once=True), dtype=("float32",)), _mask),
)
