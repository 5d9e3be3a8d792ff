"""Python's operators on ragged tensors: `a + b`, `-a`, `a < b`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.ragged.tensor import RaggedTensor


def _overload(symbol: str, function: Callable[[], Callable[..., Any]]) -> None:
    setattr(RaggedTensor, f"__{symbol}__", lambda x, y: function()(x, y))
    setattr(RaggedTensor, f"__r{symbol}__", lambda y, x: function()(x, y))


for _symbol, _name in {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "truediv",
    "floordiv": "floordiv",
    "mod": "floormod",
    "pow": "pow",
    "and": "logical_and",
    "or": "logical_or",
    "xor": "logical_xor",
}.items():
    _overload(_symbol, lambda name=_name: getattr(tf.math, name))  # type: ignore[misc]
for _symbol, _name in {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}.items():
    setattr(RaggedTensor, f"__{_symbol}__", lambda x, y, name=_name: getattr(tf.math, name)(x, y))
for _symbol, _name in {"neg": "negative", "abs": "abs", "invert": "logical_not"}.items():
    setattr(RaggedTensor, f"__{_symbol}__", lambda x, name=_name: getattr(tf.math, name)(x))
