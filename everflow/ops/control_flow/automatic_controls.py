"""Effects in the order in which they are written, in a graph: `with AutomaticControlDependencies() as c:`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal
from everflow.graph import effect_order
from everflow.graph.stacks import get_default_graph, in_eager_mode
from everflow.graph.tensor import Tensor


@internal("framework.auto_control_deps.AutomaticControlDependencies")
class AutomaticControlDependencies:
    """Ops made inside that use the same resource wait for each other, and what is marked as returned waits for all effects."""

    def __init__(self) -> None:
        self._returned: list[Tensor] = []

    def mark_as_return(self, tensor: Any) -> Any:
        """A copy of a tensor, or of the tensors of a composite, which is computed after all effects."""

        def copied(t: Any) -> Any:
            found = tf.identity(t)
            self._returned.append(found)
            return found

        return nest.map_structure(copied, tensor, expand_composites=True)

    def __enter__(self) -> AutomaticControlDependencies:
        if not in_eager_mode():
            self._graph: Any = get_default_graph()
            self._before = len(self._graph.get_operations())
            # What branches and loops do happens too, whoever uses their results.
            self._ordered, self._graph.orders_effects = self._graph.orders_effects, True
        return self

    def __exit__(self, *exception: Any) -> None:
        if in_eager_mode():
            return
        if self._graph is not get_default_graph():
            raise RuntimeError("Graph changed while trying to add control dependencies.")
        self._graph.orders_effects = self._ordered
        before, always = effect_order.edges(self._graph.get_operations()[self._before :])
        for op, earlier in before.items():
            op._add_control_inputs(earlier)
        for t in self._returned:
            t.op._add_control_inputs([op for op in always if op is not t.op])


@internal("framework.auto_control_deps.automatic_control_dependencies")
def automatic_control_dependencies(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose effects happen in order before what it returns is used."""

    @functools.wraps(f)
    def ordered(*args: Any, **kwargs: Any) -> Any:
        with AutomaticControlDependencies() as controls:
            return nest.map_structure(controls.mark_as_return, f(*args, **kwargs))

    return ordered


@internal("framework.auto_control_deps.op_is_stateful")
def op_is_stateful(op: Any) -> bool:
    """Whether an op, given by its definition, has effects that must not be lost or done twice."""
    return op._is_stateful and op.type not in effect_order.WITHOUT_EFFECT
