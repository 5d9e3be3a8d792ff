"""Ops applied by name, as programs that import TensorFlow's internals do."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.ops.registry import generated


@internal("framework.op_def_library.OpDefLibrary")
class OpDefLibrary:
    """`apply_op("Add", x=1, y=2)` adds an op by its name."""

    def add_op_list(self, op_list: Any) -> None:
        """All ops are known already."""

    def apply_op(self, op_type_name: str, name: str | None = None, **keywords: Any) -> Any:
        """Adds an op whose inputs and attributes are given by name."""
        try:
            function = generated(op_type_name)
        except KeyError:
            raise RuntimeError(f"Unrecognized Op name {op_type_name}") from None
        return function(name=name, **keywords)


LIBRARY = internal("framework.test_ops._op_def_lib", "framework.op_def_library._apply_op_library")(OpDefLibrary())
