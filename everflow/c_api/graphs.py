"""TF_Graph: operations that are added one by one, and found again."""

from __future__ import annotations

import ctypes
import weakref
from ctypes import POINTER, c_int64, c_size_t
from typing import Any

import everflow as tf
from everflow.c_api.boundary import (
    STATUS,
    I,
    Output,
    P,
    S,
    c_function,
    drop,
    fill,
    handle,
    held,
    output,
    outputs,
    put_outputs,
    tensor,
    text,
)
from everflow.errors import invalid_argument, not_found
from everflow.graph import opdefs
from everflow.graph.constants import known
from everflow.graph.graph import Graph
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.graph.wire import op_def_proto

_graphs: weakref.WeakKeyDictionary[Graph, CGraph] = weakref.WeakKeyDictionary()


class COperation:
    """What the handle of an operation stands for."""

    def __init__(self, op: Operation) -> None:
        self.op = op


class CGraph:
    """A graph, and the handles of its operations."""

    def __init__(self, graph: Graph | None = None) -> None:
        self.graph = Graph() if graph is None else graph
        # No line of Python made its operations, and errors name none.
        self.graph.from_elsewhere = True
        self.operations: dict[Operation, int] = {}
        _graphs[self.graph] = self

    def operation(self, op: Operation) -> int:
        """The handle of an operation, which stays the same."""
        found = self.operations.get(op)
        if found is None:
            found = self.operations[op] = handle(COperation(op))
        return found

    def drop(self) -> None:
        """Forgets the operations."""
        for number in self.operations.values():
            drop(number)
        self.operations.clear()


def operation_handle(op: Operation) -> int:
    """The handle of an operation of any graph that C knows."""
    return _graphs[op.graph].operation(op)


def output_of(found: Tensor) -> Output:
    """The TF_Output of a tensor."""
    return Output(operation_handle(found.op), found.value_index)


@c_function("TF_NewGraph", result=P)
def new_graph() -> int:
    """An empty graph."""
    return handle(CGraph())


@c_function("TF_DeleteGraph", P)
def delete_graph(graph: Any) -> None:
    """Forgets a graph; sessions that run it go on."""
    if graph:
        held(graph).drop()
        drop(graph)


@c_function("TF_GraphSetTensorShape", P, Output, P, I, STATUS)
def set_tensor_shape(graph: Any, of: Output, dims: Any, count: int) -> None:
    """Narrows a static shape."""
    sizes = None if count < 0 else [None if size < 0 else size for size in (ctypes.cast(dims, POINTER(c_int64))[:count] if count else [])]
    output(of).set_shape(tf.TensorShape(sizes))


@c_function("TF_GraphGetTensorNumDims", P, Output, STATUS, result=I)
def tensor_rank(graph: Any, of: Output) -> int:
    """How many dimensions a tensor has; -1 where that is not known."""
    dims = output(of).dims
    return -1 if dims is None else len(dims)


@c_function("TF_GraphGetTensorShape", P, Output, P, I, STATUS)
def tensor_shape(graph: Any, of: Output, into: Any, count: int) -> None:
    """The static shape; -1 for sizes that are not known."""
    dims = output(of).dims
    if dims is None:
        return
    if len(dims) != count:
        raise invalid_argument(f"Expected rank is {count} but actual rank is {len(dims)}")
    sizes = ctypes.cast(into, POINTER(c_int64))
    for i, size in enumerate(dims):
        sizes[i] = -1 if size is None else size


@c_function("TF_GraphOperationByName", P, S, result=P)
def by_name(graph: Any, name: bytes) -> int | None:
    """The operation of a name, or null."""
    found: CGraph = held(graph)
    op = found.graph._by_name.get(text(name))
    return None if op is None else found.operation(op)


@c_function("TF_GraphNextOperation", P, P, result=P)
def next_operation(graph: Any, position: Any) -> int | None:
    """The operation at a position, which moves on; null after the last."""
    found: CGraph = held(graph)
    at = c_size_t.from_address(position)
    ops = found.graph.get_operations()
    if at.value >= len(ops):
        return None
    at.value += 1
    return found.operation(ops[at.value - 1])


@c_function("TF_GraphToGraphDef", P, P, STATUS)
def to_graph_def(graph: Any, into: Any) -> None:
    """The GraphDef."""
    fill(into, held(graph).graph.as_graph_def())


@c_function("TF_GraphVersions", P, P, STATUS)
def versions(graph: Any, into: Any) -> None:
    """The VersionDef."""
    fill(into, held(graph).graph.graph_def_versions)


@c_function("TF_GraphGetOpDef", P, S, P, STATUS)
def op_definition(graph: Any, name: bytes, into: Any) -> None:
    """The OpDef of an op or a function that the graph knows."""
    definition = held(graph).graph.op_definition(text(name)) or opdefs.find(text(name))
    if definition is None:
        raise not_found(f"Op type not registered '{text(name)}' in binary running on localhost.")
    fill(into, op_def_proto(definition))


_OF_LOOPS = {"Enter", "Exit", "Merge", "NextIteration", "Switch", "RefEnter", "RefExit", "RefMerge", "RefNextIteration", "RefSwitch"}


def _is_constant(of: Tensor) -> bool:
    """Whether a tensor is computed from constants alone, by ops that give the same each time."""
    pending, seen = [of.op], set()
    while pending:
        op = pending.pop()
        if op in seen:
            continue
        seen.add(op)
        if op.type != "Const" and (not op.inputs or op.op_def_.is_stateful or op.type in _OF_LOOPS):
            return False
        pending += [t.op for t in op.inputs]
    return True


@c_function("TF_TryEvaluateConstant", P, Output, P, STATUS, result=ctypes.c_ubyte)
def try_evaluate(graph: Any, of: Output, into: Any) -> int:
    """Whether an output is known without running."""
    found = output(of)
    value = known(found)
    if value is None and _is_constant(found):
        with tf.Session(graph=found.graph) as session:
            value = session.run(found)
    P.from_address(into).value = None if value is None else tensor(value, found.dtype)
    return int(value is not None)


@c_function("TF_AddGradients", P, P, I, P, I, P, STATUS, P)
def add_gradients(graph: Any, y: Any, ny: int, x: Any, nx: int, dx: Any, into: Any) -> None:
    """The gradients of outputs with respect to others."""
    gradients(graph, None, y, ny, x, nx, dx, into)


@c_function("TF_AddGradientsWithPrefix", P, S, P, I, P, I, P, STATUS, P)
def add_gradients_with_prefix(graph: Any, prefix: Any, y: Any, ny: int, x: Any, nx: int, dx: Any, into: Any) -> None:
    """The same below a name scope, which must be new."""
    taken = [name for name in held(graph).graph._by_name if prefix is not None and name.startswith(text(prefix) + "/")]
    if taken:
        raise invalid_argument(f"prefix [{text(prefix)}] conflicts with existing node in the graph named [{taken[0]}]")
    gradients(graph, prefix, y, ny, x, nx, dx, into)


def gradients(graph: Any, prefix: bytes | None, y: Any, ny: int, x: Any, nx: int, dx: Any, into: Any) -> None:
    """Adds gradients and writes their TF_Outputs; null where an x has none."""
    with held(graph).graph.as_default():
        weights = outputs(dx, ny) if dx else None
        found = tf.gradients(outputs(y, ny), outputs(x, nx), weights, name="gradients" if prefix is None else text(prefix))
        put_outputs(into, [Output(None, -1) if t is None else output_of(tf.convert_to_tensor(t)) for t in found])
