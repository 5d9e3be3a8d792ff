"""Contexts that a program enters while it builds a graph: each op that is made is shown to them."""

from __future__ import annotations

import abc
from typing import Any

from everflow.api import internal
from everflow.graph.graph import Graph
from everflow.graph.operation import Operation
from everflow.graph.stacks import get_default_graph


@internal("ops.control_flow_ops.ControlFlowContext")
class ControlFlowContext(abc.ABC):
    """A part of a graph; nests, and hears of each op that is made in it."""

    def __init__(self, values_def: Any = None, import_scope: str | None = None) -> None:
        self._nested_contexts: list[ControlFlowContext] = []
        self._outer_context = get_default_graph()._get_control_flow_context()
        if self._outer_context is not None:
            self._outer_context._nested_contexts.append(self)
        self._context_stack: list[Any] = []
        self._values: set[str] = set()
        self._external_values: dict[str, Any] = {}
        if values_def is not None:
            below = f"{import_scope}/" if import_scope else ""
            self._values = {below + name for name in values_def.values}
            graph = get_default_graph()
            self._external_values = {
                below + name: graph.as_graph_element(below + value) for name, value in values_def.external_values.items()
            }

    @property
    def name(self) -> str:
        return self._name  # type: ignore[attr-defined, no-any-return]

    @property
    def outer_context(self) -> Any:
        """The context around this one, or None."""
        return self._outer_context

    @property
    def grad_state(self) -> Any:
        raise NotImplementedError("Abstract method")

    @property
    def back_prop(self) -> Any:
        raise NotImplementedError("Abstract method")

    @abc.abstractmethod
    def to_control_flow_context_def(self, context_def: Any, export_scope: str | None = None) -> Any:
        """Writes this context and those in it into a message."""
        for nested in self._nested_contexts:
            nested.to_control_flow_context_def(context_def.nested_contexts.add(), export_scope)

    def AddName(self, name: str) -> None:
        """Says that a value is known in this context."""
        self._values.add(name)

    def Enter(self) -> None:
        """Makes this the context of what is built from here on."""
        graph = get_default_graph()
        self._context_stack.append(graph._get_control_flow_context())
        graph._set_control_flow_context(self)

    def Exit(self) -> None:
        """Goes back to the context that was there before `Enter`."""
        get_default_graph()._set_control_flow_context(self._context_stack.pop())

    def EnterGradientColocation(self, op: Operation, gradient_uid: str) -> None:
        """Hears that gradients are to stand beside an op."""
        if self._outer_context is not None:
            self._outer_context.EnterGradientColocation(op, gradient_uid)

    def ExitGradientColocation(self, op: Operation, gradient_uid: str) -> None:
        """Hears that gradients stand beside an op no longer."""
        if self._outer_context is not None:
            self._outer_context.ExitGradientColocation(op, gradient_uid)

    def ExitResult(self, result: Any) -> None:
        """Makes tensors known in the context around this one."""
        if self._outer_context is not None:
            for tensor in result:
                self._outer_context.AddName(tensor.name)

    def GetWhileContext(self) -> Any:
        """The loop around this context, or None."""
        return self._outer_context.GetWhileContext() if self._outer_context is not None else None

    def AddInnerOp(self, op: Operation) -> None:
        """Hears of an op that was made in a context below this one."""
        if self._outer_context is not None:
            self._outer_context.AddInnerOp(op)

    def GetControlPivot(self) -> Any:
        return None

    def IsWhileContext(self) -> bool:
        return False

    def IsCondContext(self) -> bool:
        return False

    def IsXLAContext(self) -> bool:
        return False

    def __str__(self) -> str:
        return str(getattr(self, "_name", type(self).__name__))


@internal("ops.control_flow_ops.XLAControlFlowContext")
class XLAControlFlowContext(ControlFlowContext):
    """A part of a graph that a program wants compiled as a whole."""

    def __init__(self) -> None:
        super().__init__()
        self._name = "XLAControlFlowContext"

    def to_control_flow_context_def(self, context_def: Any, export_scope: str | None = None) -> Any:
        super().to_control_flow_context_def(context_def, export_scope)

    def IsXLAContext(self) -> bool:
        return True

    def AddOp(self, op: Operation) -> None:
        """Hears of an op that was made in this context."""

    def AddValue(self, x: Any) -> Any:
        """What stands in this context for a tensor from outside."""
        return x


@internal("ops.control_flow_util.GetContainingXLAContext")
def containing_xla_context(ctxt: Any) -> Any:
    """The first context from here outwards that is to be compiled, or None."""
    while ctxt is not None and not ctxt.IsXLAContext():
        ctxt = ctxt.outer_context
    return ctxt


@internal("ops.control_flow_util.InXlaContext")
def in_xla_context(graph: Graph) -> bool:
    """Whether what is built now in a graph is to be compiled."""
    return containing_xla_context(graph._get_control_flow_context()) is not None


@internal("ops.control_flow_util.GraphOrParentsInXlaContext")
def in_xla_context_with_parents(graph: Any) -> bool:
    """Whether what is built now in a graph, or in one around it, is to be compiled."""
    while graph is not None:
        if in_xla_context(graph):
            return True
        graph = getattr(graph, "outer_graph", None)
    return False
