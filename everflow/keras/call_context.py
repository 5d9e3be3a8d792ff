"""What a layer's call knows of the calls around it, and which tensors follow from which."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from everflow import nest
from everflow.api import internal
from everflow.eager.context import executing_eagerly
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.keras.backend.graph import model_graph_around
from everflow.keras.symbolic import graph_of_any
from everflow.ops.variables.variables import Variable


@internal("keras.engine.base_layer_utils.CallContext")
class CallContext(threading.local):
    """The innermost layer that is being called in this thread, with its inputs."""

    def __init__(self) -> None:
        self.layer: Any = None
        self.inputs: Any = None
        self.frozen = False
        self.in_call = False
        self.training: Any = None
        self.saving = False
        # Who is told of calls: a function of the layer, its inputs and further arguments.
        self.on_call: Any = None

    @contextlib.contextmanager
    def enter(self, layer: Any, inputs: Any, build_graph: bool, training: Any, saving: bool = False) -> Iterator[None]:
        """Makes a layer the innermost one within a `with` block."""
        before = (self.layer, self.inputs, self.frozen, self.in_call, self.training, self.saving)
        self.layer, self.inputs = layer, inputs
        self.frozen = self.frozen or not layer.trainable
        self.in_call = True
        self.training, self.saving = training, saving
        try:
            yield
        finally:
            self.layer, self.inputs, self.frozen, self.in_call, self.training, self.saving = before

    @property
    def in_keras_graph(self) -> bool:
        """Whether the graph is one that Keras builds for models while ops run at once elsewhere."""
        return not executing_eagerly() and model_graph_around() is not None


_context = CallContext()


@internal("keras.engine.base_layer_utils.call_context")
def call_context() -> CallContext:
    """The context of this thread's layer calls."""
    return _context


@internal("keras.engine.base_layer_utils.is_in_keras_graph")
def is_in_keras_graph() -> bool:
    """Whether the graph is one that Keras builds."""
    return _context.in_keras_graph


@internal("keras.utils.tf_utils.get_reachable_from_inputs")
def get_reachable_from_inputs(inputs: Any, targets: Any = None) -> set[Any]:
    """The operations and tensors that follow from the inputs; the search ends when it has met all targets."""
    found: set[Any] = set(_elements(nest.flatten(inputs)))
    wanted = None if not targets else set(nest.flatten(targets))
    queue = list(found)
    while queue:
        x = queue.pop()
        if isinstance(x, Operation):
            following: Any = x.outputs or x._control_outputs
        elif isinstance(x, Variable):
            following = [x.handle] if hasattr(x, "handle") else [x.op]
        else:
            following = x.consumers()
        for y in following:
            if y in found:
                continue
            found.add(y)
            if isinstance(y, Tensor):
                found.add(y.op)
            queue.append(y)
        if wanted is not None and wanted <= found:
            break
    return found


def _elements(values: list[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (Operation, Tensor, Variable)):
            yield value


@internal("keras.engine.base_layer_utils.have_all_keras_metadata")
def have_all_keras_metadata(values: Any) -> bool:
    """Whether all tensors come from layers of a functional model."""
    return all(hasattr(x, "_keras_history") for x in nest.flatten(values))


@contextlib.contextmanager
def graph_of_symbolic(*values: Any) -> Iterator[None]:
    """The graph of symbolic tensors among the values as the default one, where ops run at once otherwise."""
    graph = graph_of_any(values) if executing_eagerly() else None
    with contextlib.nullcontext() if graph is None else graph.as_default():
        yield
