"""Initial values that depend on other variables: made to use what those variables will be initialized with."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.graph.keys import GraphKeys
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.graph.wire import output_types_of

VARIABLES = ("Variable", "VariableV2")
# Handles, reads of them and questions about a variable are left as they are.
LEAVES = ("IsVariableInitialized", "VarIsInitializedOp", "ReadVariableOp", "VarHandleOp")


@internal("ops.variables._try_guard_against_uninitialized_dependencies")
def guarded(name: str, initial_value: Tensor) -> Tensor:
    """The initial value of the variable `name`, computed from the *initialized* values of the variables it depends on.

    The ops on the way are copied as `<op>_<name>`. A value that comes out of a loop is left alone.
    """
    if not isinstance(initial_value, Tensor):
        raise TypeError(f"initial_value needs to be a Tensor: {initial_value}")
    if _in_a_cycle(initial_value.op):
        return initial_value
    return _rewritten(name, initial_value, {})


def check_origin(initial_value: Any, name: str | None) -> None:
    """Raises for a tensor of a branch, loop or function body: it has no value where variables are initialized."""
    if not isinstance(initial_value, Tensor):
        return
    graph = initial_value.graph
    if graph.building_function and graph._names_in_use is not getattr(graph.outer_graph, "_names_in_use", None):
        raise ValueError(
            "Tensor-typed variable initializers must either be wrapped in an init_scope or callable (e.g., "
            "`tf.Variable(lambda : tf.truncated_normal([10, 40]))`) when building functions. Please file a feature "
            "request if this restriction inconveniences you."
        )
    if graph.building_function or initial_value.op._get_control_flow_context() is not None:
        raise ValueError(
            f"Initializer for variable {name or 'Variable'}/ is from inside a control-flow construct, such as a loop "
            "or conditional. When creating a variable inside a loop or conditional, use a lambda as the initializer."
        )


def _in_a_cycle(start: Operation) -> bool:
    """Whether what an operation depends on leads back to itself."""
    under_way, done = {start}, set()
    stack = [(start, iter(_before(start)))]
    while stack:
        op, following = stack[-1]
        for previous in following:
            if previous in under_way:
                return True
            if previous not in done:
                under_way.add(previous)
                stack.append((previous, iter(_before(previous))))
                break
        else:
            stack.pop()
            under_way.discard(op)
            done.add(op)
    return False


def _before(op: Operation) -> list[Operation]:
    return [t.op for t in op.inputs] + list(op.control_inputs)


def _rewritten(name: str, tensor: Tensor, seen: dict[Operation, Any]) -> Tensor:
    op = tensor.op
    if op not in seen:
        seen[op] = _rewritten_op(name, op, seen)
    found = seen[op]
    return found if isinstance(found, Tensor) else found.outputs[tensor.value_index]


def _rewritten_op(name: str, op: Operation, seen: dict[Operation, Any]) -> Operation | Tensor:
    if op.type in LEAVES:
        return op
    if op.type in VARIABLES:
        variable = _variable_of(op)
        return op if variable is None else variable.initialized_value()
    inputs = tuple(_rewritten(name, t, seen) for t in op.inputs)
    if all(new is old for new, old in zip(inputs, op.inputs)):
        return op
    graph = op.graph
    definition = op.op_def_
    attrs = dict(op.attrs)
    if op.type.startswith("Ref") and not inputs[0].dtype._is_ref_dtype:
        plain = graph.op_definition(op.type[len("Ref") :])
        definition = plain if plain is not None else definition
    with graph.name_scope(None):
        new_name = graph.unique_name(f"{op.name}_{name}".replace(":", "_"))
        return graph.add(definition, new_name, inputs, attrs, output_types_of(definition, attrs))


def _variable_of(op: Operation) -> Any:
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for variable in op.graph.get_collection(key):
            if variable.name in (op.name, op.name + ":0"):
                return variable
    return None
