"""What gast dropped since 0.2: classes of literals, which are all Constant now."""

from __future__ import annotations

import functools
from typing import Any

from everflow.years.shims import methods, names

KINDS: dict[str, tuple[str, tuple[type, ...]]] = {
    "Num": ("n", (int, float, complex)),
    "Str": ("s", (str,)),
    "Bytes": ("s", (bytes,)),
    "NameConstant": ("value", (bool, type(None))),
    "Ellipsis": ("value", (type(...),)),
}


@functools.cache
def literal(name: str) -> Any:
    """A class whose instances are the Constants with such a value; calling it makes one."""
    import gast

    attribute, types = KINDS[name]

    class Literal(type(gast.Constant)):  # type: ignore[misc]
        def __instancecheck__(cls, node: Any) -> bool:
            # To Python, True is a number.
            return isinstance(node, gast.Constant) and isinstance(node.value, types) and (name != "Num" or not isinstance(node.value, bool))

        def __call__(cls, value: Any = ..., **others: Any) -> Any:
            return gast.Constant(others.pop(attribute, value), None, **others)

    return Literal(name, (gast.Constant,), {"_fields": (attribute,)})


names("gast", "gast 0.3", {name: functools.partial(literal, name) for name in KINDS})
methods("gast", "Constant", "gast 0.3", n=property(lambda node: node.value), s=property(lambda node: node.value))
