"""Control flow as version 2 has it: nodes have the names of scopes; in functions, effects in branches and bodies always happen."""

from __future__ import annotations

from typing import Any

from everflow import nest
from everflow.api import internal
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.func_graph import FuncGraph
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.ops.control_flow import bodies
from everflow.ops.control_flow.conditionals import add_choice, branch_names, with_same_indices
from everflow.ops.control_flow.context_queries import in_defun
from everflow.ops.control_flow.loops import add_while, as_loop_variable, invariant_shapes, loop_arguments, loop_values, next_value
from everflow.ops.core.registry import apply


def _branch(function: Any, scope: str, label: str, pred: Tensor) -> tuple[FuncGraph, Any]:
    """Builds a branch; returns it with what the function returned, in which the predicate stands for operations."""
    body = FuncGraph.body_of(get_default_graph(), scope + label.removesuffix("_fn"))
    body.branch = (scope, label)
    with body.as_default():
        found = function()
        leaves = [_after(v, pred) if isinstance(v, Operation) else v for v in nest.flatten(found, expand_composites=True)]
        # A sparse tensor is made of its parts where they are.
        return body, nest.pack_sequence_as(found, leaves, expand_composites=True)


def _after(operation: Operation, pred: Tensor) -> Tensor:
    with get_default_graph().control_dependencies([operation]):
        return apply("Identity", pred)


def _return(body: FuncGraph, found: Any) -> None:
    """Makes what a branch's function returned the branch's outputs."""
    with body.as_default():
        leaves = nest.flatten(found, expand_composites=True)
        body.outputs = [bodies.as_output(v, _no_operation) for v in leaves if v is not None]
    bodies.finish([body], get_default_graph(), keeps_effects=in_defun())


def _no_operation(operation: Operation) -> Tensor:
    raise TypeError(f"Operation {operation.name} can't be the value of a tensor.")


def _results(found: Any, outputs: list[Tensor], operation: Operation) -> Any:
    """What a function returned, with a node's outputs in the place of what it computed."""
    if not outputs:
        return operation if found is None else found
    left = iter([_handed_on(t) for t in outputs])
    leaves = []
    for leaf in nest.flatten(found, expand_composites=True):
        value: Any = None if leaf is None else next(left)
        leaves.append(bodies.with_flow(leaf, value) if bodies.is_tensor_array(leaf) else value)
    return nest.pack_sequence_as(found, leaves, expand_composites=True)


def _handed_on(t: Tensor) -> Tensor:
    found = apply("Identity", t)
    found.handle_data = t.handle_data
    return found


@internal("ops.cond_v2.cond_v2")
def cond_v2(pred: Any, true_fn: Any, false_fn: Any, name: str = "cond") -> Any:
    """Like `tf.cond`."""
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool", pred)
    with name_scope(name or "cond") as scope:
        pred = convert_to_tensor(pred)
        if pred.dims != ():
            pred = apply("Squeeze", pred)
        then_body, found = _branch(true_fn, scope, "true_fn", pred)
        else_body, other = _branch(false_fn, scope, "false_fn", pred)
        found, other = with_same_indices([then_body, else_body], [found, other])
        _return(then_body, found)
        _return(else_body, other)
        _check_alike(found, other, then_body, else_body)
        outputs = add_choice(pred, [else_body, then_body], "If", scope)
        return _results(found, outputs, get_default_graph().get_operation_by_name(scope[:-1]))


def _check_alike(found: Any, other: Any, then_body: FuncGraph, else_body: FuncGraph) -> None:
    for i, (x, y) in enumerate(zip(nest.flatten(found), nest.flatten(other))):
        if isinstance(x, IndexedSlices) is not isinstance(y, IndexedSlices):
            raise TypeError(f"Cannot reconcile tf.cond {i}-th outputs:\n  branches returned: {(x, y)}")
    try:
        nest.assert_same_structure(found, other, expand_composites=True)
    except (ValueError, TypeError):
        raise TypeError(
            "true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure of "
            f"return values.\n\ntrue_fn output:  {found}\nfalse_fn output: {other}"
        ) from None
    for i, (x, y) in enumerate(zip(then_body.outputs, else_body.outputs)):
        if x.dtype.base_dtype is not y.dtype.base_dtype:
            raise TypeError(
                "true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure of "
                f"return values. Output {i} has type {x.dtype.name} in one and {y.dtype.name} in the other."
            )


@internal("ops.while_v2.while_loop")
def while_loop(
    cond: Any,
    body: Any,
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    maximum_iterations: Any = None,
    name: str | None = None,
    return_same_structure: bool = True,
    back_prop: bool = True,
) -> Any:
    """Like `tf.while_loop`; what comes back is nested as `loop_vars` are."""
    graph = get_default_graph()
    loop_vars = nest.map_structure(as_loop_variable, loop_vars)
    with name_scope(name or "while") as scope:
        limit = None if maximum_iterations is None else _limit(maximum_iterations)
        initial = loop_values(loop_vars)
        dims = invariant_shapes(loop_vars, initial, shape_invariants)
        # The node counts its iterations; a limit below zero is none.
        starts = [convert_to_tensor(0, name="loop_counter"), _limit(-1) if limit is None else limit, *initial]
        dims = [(), (), *dims]

        condition_body = FuncGraph.body_of(graph, scope + "cond", is_loop=True)
        with condition_body.as_default():
            counter, most, *arguments = loop_arguments(condition_body, starts, dims, "Merge")
            holds = convert_to_tensor(cond(*bodies.packed(loop_vars, arguments)))
            if holds.dims != ():
                holds = apply("Squeeze", holds)
            if limit is not None:
                holds = apply("LogicalAnd", apply("Less", counter, most), holds)
            condition_body.outputs = [holds]

        loop_body = FuncGraph.body_of(graph, scope + "body", is_loop=True)
        with loop_body.as_default():
            counter, most, *arguments = loop_arguments(loop_body, starts, dims, "Identity")
            given = bodies.packed(loop_vars, arguments)
            result = body(*given)
            if not nest.is_nested(result):
                result = [result]
            nest.assert_same_structure(given, result, check_types=False, expand_composites=True)
            _check_types(bodies.flatten(result), arguments, initial)
            values = zip(bodies.flatten(result), arguments, dims[2:], initial)
            following = [next_value(*parts) for parts in values]
            loop_body.outputs = [apply("AddV2", counter, convert_to_tensor(1)), most, *following]
        bodies.finish([condition_body, loop_body], graph, keeps_effects=in_defun())

        outputs = add_while(condition_body, loop_body, starts, scope, parallel_iterations)
        outputs[0].op.__dict__.update(back_prop=back_prop, counter=0)
        exits = []
        for t, d in zip(outputs[2:], dims[2:]):
            last = _handed_on(t)
            last.dims = d
            exits.append(last)
        packed = bodies.packed(loop_vars, exits)
    if return_same_structure:
        return packed
    flat = nest.flatten(packed, expand_composites=True)
    return flat[0] if len(flat) == 1 else packed


def _check_types(results: list[Any], arguments: list[Tensor], initial: list[Tensor]) -> None:
    for value, argument, start in zip(results, arguments, initial):
        if isinstance(value, Tensor) and value.dtype.base_dtype is not argument.dtype.base_dtype:
            raise TypeError(
                f"Loop var {start.name} enters the loop with type {argument.dtype} but has type {value.dtype} after 1 iteration."
            )


@internal("ops.while_v2._get_graph")
def body_of_while(operation: Operation, part: str) -> FuncGraph:
    """The body or the condition (`part`) of a While node."""
    return operation.graph._get_function(operation.attr(part).name).graph


@internal("ops.cond_v2.get_func_graphs")
def branches_of(operation: Operation) -> tuple[FuncGraph, ...]:
    """The branches of an If node, that for true first, or those of a Case node."""
    names = branch_names(operation)
    return tuple(operation.graph._get_function(n).graph for n in (names if operation.type == "Case" else reversed(names)))


def _limit(value: Any) -> Tensor:
    found = convert_to_tensor(value, name="maximum_iterations")
    return found if found.dtype is dtypes.int32 else apply("Cast", found, DstT=dtypes.int32)
