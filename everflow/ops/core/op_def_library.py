"""Ops applied by name, as programs that import TensorFlow's internals do."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.graph import opdefs
from everflow.ops.core.registry import add_op, results


@internal("framework.op_def_library.OpDefLibrary")
class OpDefLibrary:
    """`apply_op("Add", x=1, y=2)` adds an op by its name."""

    def add_op_list(self, op_list: Any) -> None:
        """All ops are known already."""

    def apply_op(self, op_type_name: str, name: str | None = None, **keywords: Any) -> Any:
        """Adds an op whose inputs and attributes are given by name; Python's own words have an underscore behind them."""
        definition = opdefs.find(op_type_name)
        if definition is None:
            raise RuntimeError(f"Unrecognized Op name {op_type_name}")

        def take(what: str, key: str) -> Any:
            for spelled in (key, key + "_"):
                if spelled in keywords:
                    return keywords.pop(spelled)
            raise TypeError(f"No argument for {what} {key}")

        inputs = [take("input", arg.name) for arg in definition.inputs]
        for key in definition.inferred:
            if key in keywords:
                raise TypeError(f"Should not specify value for inferred attr '{key}'.")
        attrs = {}
        for key in definition.explicit:
            if not definition.attrs[key].has_default or {key, key + "_"} & set(keywords):
                attrs[key] = take("attr", key)
        if keywords:
            raise TypeError("apply_op() got unexpected keyword arguments: " + ", ".join(sorted(keywords)))
        return results(definition, add_op(definition, inputs, attrs, name))


LIBRARY = internal("framework.test_ops._op_def_lib", "framework.op_def_library._apply_op_library")(OpDefLibrary())
