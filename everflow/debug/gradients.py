"""Looking at the gradients that flow back through tensors, while they are computed or in a dump."""

from __future__ import annotations

import re
import uuid
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply

_TAG = "gradient_debug_"

_debuggers: dict[str, GradientsDebugger] = {}


def _op_name(tensor: Tensor, debugger: str) -> str:
    """The name of the op through which a debugger sees a tensor's gradient."""
    return f"{tensor.op.name}_{tensor.value_index}/{_TAG}{debugger}"


def _parsed(op_name: str) -> tuple[str, int, str]:
    """The node, the output slot and the debugger in such a name."""
    name, _, last = op_name.rpartition("/")
    # A name that was taken already ends in a number.
    debugger = last.removeprefix(_TAG).partition("_")[0]
    node, _, slot = name.rpartition("_")
    return node, int(slot), debugger


def _is_variable(thing: Any) -> bool:
    return isinstance(thing, tf.Variable)


@internal("debug.lib.debug_gradients.GradientsDebugger")
class GradientsDebugger:
    """Keeps the gradients of tensors: those that `identify_gradient` gives to be used, or those of a finished graph that are watched.

    While gradients are computed it must be the only debugger, or the one whose `with` block is entered.
    """

    def __init__(self, y_tensor: Any = None) -> None:
        self._uuid = uuid.uuid4().hex
        _debuggers[self._uuid] = self
        self._gradients: dict[str, Tensor] = {}
        self._y_tensor = y_tensor
        self._graph = y_tensor.graph if y_tensor is not None else None
        self._is_active = False

    @property
    def y_tensor(self) -> Any:
        """The tensor whose gradients are looked at, if it was said."""
        return self._y_tensor

    @property
    def graph(self) -> Any:
        """The graph of that tensor."""
        return self._graph

    @property
    def is_active_context(self) -> bool:
        """Whether its `with` block is entered."""
        return self._is_active

    def __enter__(self) -> GradientsDebugger:
        self._is_active = True
        return self

    def __exit__(self, unused_type: Any, unused_value: Any, unused_traceback: Any) -> None:
        self._is_active = False

    def identify_gradient(self, input_tensor: Any) -> Tensor:
        """The same tensor through an op of its own, whose gradient is kept."""
        tensor = tf.convert_to_tensor(input_tensor) if _is_variable(input_tensor) else input_tensor
        self._check_same_graph(tensor)
        name = _op_name(tensor, self._uuid)
        if name in tensor.graph._nodes_by_name:
            raise ValueError(f"The graph already contains an op named {name}")
        kind = "DebugGradientRefIdentity" if tensor.dtype._is_ref_dtype else "DebugGradientIdentity"
        with tensor.graph.as_default(), tf.name_scope(None), tf.control_dependencies(None):
            return apply(kind, tensor, name=name)

    def watch_gradients_by_tensors(self, graph: Any, tensors: Any) -> GradientsDebugger:
        """Keeps the gradients of tensors of a finished graph; best used in a `with` block."""
        given = tensors if isinstance(tensors, (list, tuple)) else [tensors]
        names = [tensor.name for tensor in given]
        return self.watch_gradients_by_tensor_names(graph, "^(" + "|".join(map(re.escape, names)) + ")$")

    def watch_gradients_by_tensor_names(self, graph: Any, tensor_name_regex: str) -> GradientsDebugger:
        """The same for the tensors whose names match an expression."""
        pattern = re.compile(tensor_name_regex)
        watched = [t for op in graph.get_operations() for t in op.outputs if pattern.match(t.name)]
        with graph.as_default():
            for tensor in watched:
                takers = [(op, i) for op in dict.fromkeys(tensor.consumers()) for i, t in enumerate(op.inputs) if t is tensor]
                seen = self.identify_gradient(tensor)
                for op, place in takers:
                    # What makes a variable has no gradient.
                    if op.type not in ("Assign", "AssignVariableOp"):
                        op._update_input(place, seen)
        return self

    def _check_same_graph(self, tensor: Any) -> None:
        if self._graph is None:
            self._graph = tensor.graph
        elif tensor.graph is not self._graph:
            raise ValueError(f"The graph of the tensor ({tensor.name}) does not match the GradientsDebugger's graph ({self._graph})")

    def register_gradient_tensor(self, x_tensor_name: str, gradient_tensor: Tensor) -> None:
        """Keeps the gradient of a tensor, if it is this debugger's turn."""
        if len(_debuggers) == 1 or self._is_active:
            self._check_same_graph(gradient_tensor)
            self._gradients[x_tensor_name] = gradient_tensor

    def gradient_tensor(self, x_tensor: Any) -> Tensor:
        """The gradient of a tensor, a variable or what a name stands for."""
        name = _tensor_name(x_tensor)
        if name not in self._gradients:
            raise LookupError(f"This GradientsDebugger has not received any gradient tensor for x-tensor {name}")
        return self._gradients[name]

    def gradient_tensors(self) -> dict[str, Tensor]:
        """All gradients, by the names of the tensors."""
        return self._gradients


def _tensor_name(tensor: Any) -> str:
    if isinstance(tensor, str):
        return tensor
    if isinstance(tensor, Tensor) or _is_variable(tensor):
        return tensor.name
    raise TypeError(f"x_tensor must be a str or tf.Tensor or tf.Variable, but instead has type {type(tensor)}")


@internal("debug.lib.debug_gradients.clear_gradient_debuggers")
def clear_gradient_debuggers() -> None:
    """Forgets all debuggers."""
    _debuggers.clear()


@tf.RegisterGradient("DebugGradientIdentity")
def _identity_grad(op: Any, dy: Any) -> Any:
    """Hands the gradient on, and tells the debugger."""
    node, slot, debugger = _parsed(op.name)
    if debugger in _debuggers:
        _debuggers[debugger].register_gradient_tensor(f"{node}:{slot}", dy)
    return dy


@tf.RegisterGradient("DebugGradientRefIdentity")
def _ref_identity_grad(op: Any, dy: Any) -> Any:
    return _identity_grad(op, dy)


@internal("debug.lib.debug_gradients.gradient_values_from_dump")
def gradient_values_from_dump(grad_debugger: GradientsDebugger, x_tensor: Any, dump: Any) -> list[Any]:
    """The gradients of a tensor that a dump holds."""
    if dump.python_graph is not None and grad_debugger.graph is not None and dump.python_graph is not grad_debugger.graph:
        raise ValueError(
            "This GradientsDebugger instance has a graph that differs from the graph of the DebugDumpDir object "
            f"({grad_debugger.graph} != {dump.python_graph})."
        )
    gradient = grad_debugger.gradient_tensor(x_tensor)
    return dump.get_tensors(gradient.op.name, gradient.value_index, "DebugIdentity")
