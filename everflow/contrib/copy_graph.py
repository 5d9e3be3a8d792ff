"""tf.contrib.copy_graph: ops and variables copied from one graph to another."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.graph import Graph
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.ops.variables.variables import VariableV1


def _placed(name: str, scope: str) -> str:
    return f"{scope}/{name}" if scope else name


@public("contrib.copy_graph.copy_variable_to_graph")
def copy_variable_to_graph(org_instance: Any, to_graph: Graph, scope: str = "") -> Any:
    """A variable of another graph with the value that this one starts with, in the same collections."""
    if not isinstance(org_instance, VariableV1):
        raise TypeError(str(org_instance) + " is not a Variable")
    with tf.Session(graph=org_instance.graph) as session:
        value = session.run(org_instance.initialized_value())
    graph = org_instance.graph
    held_by = [key for key in graph.collections if any(item is org_instance for item in graph.get_collection(key))]
    trainable = tf.GraphKeys.TRAINABLE_VARIABLES in held_by
    names = [_placed(key, scope) if scope and not key.startswith(tuple(_standard_keys())) else key for key in held_by]
    with to_graph.as_default():
        name = _placed(org_instance.op.name, scope)
        keys = [key for key in names if key != tf.GraphKeys.TRAINABLE_VARIABLES]
        return tf.Variable(value, trainable, name=name, collections=keys, validate_shape=bool(org_instance.get_shape()))


def _standard_keys() -> list[str]:
    return [value for key, value in vars(tf.GraphKeys).items() if isinstance(value, str) and not key.startswith("_")]


@public("contrib.copy_graph.copy_op_to_graph")
def copy_op_to_graph(org_instance: Any, to_graph: Graph, variables: Any, scope: str = "") -> Any:
    """An op or tensor with all that it needs, in another graph; what is copied already, and `variables`, are used as they are."""
    if isinstance(org_instance, VariableV1):
        return copy_variable_to_graph(org_instance, to_graph, scope)
    if not isinstance(org_instance, (Operation, Tensor)):
        raise TypeError(f"Could not copy instance: {org_instance}")
    copied = {variable.op.name: variable for variable in variables}
    name = _placed(org_instance.name, scope)
    if name.partition(":")[0] in copied:
        return to_graph.get_tensor_by_name(copied[name.partition(":")[0]].name)
    if name.partition(":")[0] in to_graph._nodes_by_name:
        return to_graph.as_graph_element(name, allow_tensor=True, allow_operation=True)
    if isinstance(org_instance, Tensor):
        op = copy_op_to_graph(org_instance.op, to_graph, variables, scope)
        if isinstance(op, Tensor):
            return op
        new = op.outputs[org_instance.value_index]
        for key in org_instance.graph.collections:
            if any(item is org_instance for item in org_instance.graph.get_collection(key)):
                to_graph.add_to_collection(_placed(key, scope) if scope else key, new)
        return new
    inputs = [copy_op_to_graph(tensor, to_graph, variables, scope) for tensor in org_instance.inputs]
    controls = [copy_op_to_graph(op, to_graph, variables, scope) for op in org_instance.control_inputs]
    with to_graph.as_default(), tf.control_dependencies(controls):
        return to_graph.create_op(
            org_instance.type,
            inputs,
            [tensor.dtype for tensor in org_instance.outputs],
            name=_placed(org_instance.name, scope),
            attrs=dict(org_instance.node_def.attr),
            op_def=org_instance.op_def,
        )


@public("contrib.copy_graph.get_copied_op")
def get_copied_op(org_instance: Any, graph: Graph, scope: str = "") -> Any:
    """What was made of an op, tensor or variable by a copy to a graph."""
    return graph.as_graph_element(_placed(org_instance.name, scope), allow_tensor=True, allow_operation=True)
