"""What Keras takes for a tensor of a graph: tensors, composites of them, variables in graphs, and what programs declare to be one."""

from __future__ import annotations

from typing import Any

from everflow import nest
from everflow.api import internal
from everflow.eager.context import executing_eagerly
from everflow.graph.convert import convert_to_tensor
from everflow.graph.tensor import Tensor
from everflow.graph.type_spec import CompositeTensor
from everflow.ops.variables.variables import Variable

_declared: tuple[type, ...] = ()


@internal("keras.utils.tf_utils.register_symbolic_tensor_type")
def register_symbolic_tensor_type(cls: type) -> None:
    """Declares objects that tf.convert_to_tensor converts to be fit for layers."""
    global _declared
    _declared = (*_declared, cls)


@internal("keras.utils.tf_utils.is_symbolic_tensor")
def is_symbolic_tensor(tensor: Any) -> bool:
    """Whether the value is one of a graph, not one that is known already."""
    if isinstance(tensor, Tensor):
        return not tensor.is_eager
    if isinstance(tensor, CompositeTensor):
        return any(is_symbolic_tensor(part) for part in nest.flatten(tensor, expand_composites=True))
    if isinstance(tensor, Variable):
        # A layer's result may be a variable; in a functional model it stands for a tensor.
        return hasattr(tensor, "_keras_history") or not executing_eagerly()
    return isinstance(tensor, _declared) and is_symbolic_tensor(convert_to_tensor(tensor))


def graph_of_any(values: Any) -> Any:
    """The graph of a tensor among these, or of a part of one; None where there is none that waits for a run."""
    for x in nest.flatten(values):
        if isinstance(x, Tensor):
            if not x.is_eager:
                return x.graph
        elif isinstance(x, CompositeTensor) and (found := graph_of_any(nest.flatten(x, expand_composites=True))) is not None:
            return found
    return None


@internal("keras.utils.tf_utils.are_all_symbolic_tensors")
def are_all_symbolic_tensors(tensors: Any) -> bool:
    return all(map(is_symbolic_tensor, tensors))
