"""The global step: the variable that counts training steps, one for each graph."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.eager.context import executing_eagerly
from everflow.graph import dtypes
from everflow.graph.graph import Graph
from everflow.graph.keys import GraphKeys
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.ops.variables import assigning
from everflow.ops.variables.initializers import Zeros
from everflow.ops.variables.variables import Variable, VariableAggregation
from everflow.platform import logging

READ_KEY = internal("training.training_util.GLOBAL_STEP_READ_KEY")("global_step_read_op_cache")


@public("train.get_global_step", "contrib.framework.get_global_step", "contrib.slim.get_global_step")
def get_global_step(graph: Graph | None = None) -> Any:
    """The global step of a graph (the default one unless given), or None."""
    graph = graph or get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) == 1:
        step = found[0]
    elif found:
        logging.error("Multiple tensors in global_step collection.")
        return None
    else:
        try:
            step = graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
    assert_global_step(step)
    return step


@public("train.create_global_step", "contrib.framework.create_global_step", "contrib.slim.create_global_step")
def create_global_step(graph: Graph | None = None) -> Any:
    """Makes the global step of a graph."""
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    if executing_eagerly():
        step = _step_variable()
        if not graph.get_collection(GraphKeys.GLOBAL_STEP):
            graph.add_to_collection(GraphKeys.GLOBAL_STEP, step)
        return step
    with graph.as_default(), graph.name_scope(None):
        return _step_variable()


def _step_variable() -> Any:
    return tf.get_variable(
        GraphKeys.GLOBAL_STEP,
        shape=[],
        dtype=dtypes.int64,
        initializer=Zeros(),
        trainable=False,
        aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
        collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
    )


@public("train.get_or_create_global_step", "contrib.framework.get_or_create_global_step", "contrib.slim.get_or_create_global_step")
def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """The global step of a graph, made where there is none."""
    graph = graph or get_default_graph()
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


@public("train.global_step")
def global_step(sess: Any, global_step_tensor: Any) -> int:
    """The value of a global step in a session."""
    # A variable of one element counts as well.
    return int(sess.run(global_step_tensor).item())


@public("train.assert_global_step", "contrib.framework.assert_global_step", "contrib.slim.assert_global_step")
def assert_global_step(global_step_tensor: Any) -> None:
    """Raises unless this is a scalar integer variable or tensor."""
    if not isinstance(global_step_tensor, (Variable, Tensor)):
        raise TypeError(f'Existing "global_step" must be a Variable or Tensor: {global_step_tensor}.')
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError(f'Existing "global_step" does not have integer type: {global_step_tensor.dtype}')
    if global_step_tensor.get_shape().ndims not in (0, None):
        raise TypeError(f'Existing "global_step" is not scalar: {global_step_tensor.get_shape()}')


@public("contrib.framework.assert_or_get_global_step", "contrib.slim.assert_or_get_global_step")
def assert_or_get_global_step(graph: Graph | None = None, global_step_tensor: Any = None) -> Any:
    """The given global step after a check, or the graph's own."""
    if global_step_tensor is None:
        return get_global_step(graph)
    assert_global_step(global_step_tensor)
    return global_step_tensor


@internal("training.training_util._get_global_step_read")
def cached_read(graph: Graph | None = None) -> Any:
    """The read of the global step that this module has made for a graph, or None."""
    found = (graph or get_default_graph()).get_collection(READ_KEY)
    if len(found) > 1:
        raise RuntimeError(f"There are multiple items in collection {READ_KEY}. There should be only one.")
    return found[0] if found else None


@internal("training.training_util._get_or_create_global_step_read")
def get_or_create_read(graph: Graph | None = None) -> Any:
    """A read of the global step that comes before all increments made with `increment`; one for each graph."""
    graph = graph or get_default_graph()
    found = cached_read(graph)
    if found is not None:
        return found
    step = get_global_step(graph)
    if step is None:
        return None
    with graph.as_default(), graph.name_scope(None), graph.name_scope(step.op.name + "/"):
        value: Any = step.initialized_value() if isinstance(step, Variable) else step
        # Adding zero makes it a value of its own, not a view of the variable.
        read = value + 0
        graph.add_to_collection(READ_KEY, read)
    return cached_read(graph)


@internal("training.training_util._increment_global_step")
def increment(increment: Any, graph: Graph | None = None) -> Any:
    """An op that adds to the global step, after the read of `get_or_create_read`."""
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    if step is None:
        raise ValueError("Global step tensor should be created by tf.train.get_or_create_global_step before calling increment.")
    read = get_or_create_read(graph)
    with graph.as_default(), graph.name_scope(None), graph.name_scope(step.op.name + "/"):
        with graph.control_dependencies([read]):
            return assigning.assign_add(step, increment)
