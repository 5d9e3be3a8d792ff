"""tf.while_loop: While nodes over a condition and a body."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from everflow import nest
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.attrs import FunctionName
from everflow.graph.convert import convert_to_tensor
from everflow.graph.func_graph import FuncGraph, check_in_reach
from everflow.graph.functions import add_body
from everflow.graph.indexed_slices import IndexedSlices, IndexedSlicesSpec
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.graph.sparse_tensor import SparseTensor
from everflow.graph.stacks import get_default_graph, in_eager_mode
from everflow.graph.tensor import Tensor
from everflow.graph.type_spec import CompositeTensor, TypeSpec, type_spec_from_value
from everflow.ops.control_flow import bodies
from everflow.ops.control_flow.toggles import enabled_in
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op


def _while(node: Node) -> Callable[..., Any]:
    context = node.context
    _check_results(node, context)
    condition, body = (context.library(node.attr(part).name).graph for part in ("cond", "body"))
    count = len(node.outputs)
    kept = needed_variables(condition, body, node.attrs.get("_used", range(count)))
    if len(kept) == count:
        run = context.loop(condition, body)
        return run if count != 1 else lambda *values: run(*values)[0]
    # What no result depends on does not go through the loop, and its effects do not happen.
    fewer = body.variant([body.outputs[k] for k in kept], [body.inputs[k] for k in kept])
    decides = condition.variant(condition.outputs, [condition.inputs[k] for k in kept])
    run = context.loop(decides, fewer, key=(body, tuple(kept)))

    def run_kept(*values: Any) -> tuple[Any, ...]:
        found: list[Any] = [None] * count
        for k, value in zip(kept, run(*[values[k] for k in kept])):
            found[k] = value
        return tuple(found)

    return run_kept


def needed_variables(condition: FuncGraph, body: FuncGraph, used: Iterable[int]) -> list[int]:
    """The loop variables on which some results depend, the condition and effects that always happen included."""
    needed = {*used, *bodies.inputs_behind(condition, condition.outputs), *bodies.inputs_behind(body, [])}
    while True:
        more = set(bodies.inputs_behind(body, [body.outputs[k] for k in needed])) - needed
        if not more:
            return sorted(needed)
        needed |= more


def _check_results(node: Node, context: Any) -> None:
    """A loop from outside may not fit together."""
    condition, body = context.library(node.attr("cond").name), context.library(node.attr("body").name)
    if condition is not None and len(condition.graph.outputs) != 1:
        raise invalid_argument(f"Expected a single scalar return value from While cond, got {len(condition.graph.outputs)} tensors.")
    if body is not None and len(body.graph.outputs) != len(node.outputs):
        raise invalid_argument(f"While loop body returned {len(body.graph.outputs)} arguments. Expected: {len(node.outputs)}")


def _while_shapes(operation: Operation) -> list[Any]:
    body = operation.graph._get_function(operation.attr("body").name)
    if body is None:
        given = operation.attrs.get("output_shapes") or []
        return given if len(given) == len(operation.outputs) else [None] * len(operation.outputs)
    for outside, t in zip(operation.outputs, body.graph.inputs):
        outside.handle_data = t.handle_data
    return [t.dims for t in body.graph.inputs]


for _name in ("While", "StatelessWhile", "_While"):
    op(_name, kernel=_while, shape=_while_shapes, view=True, writes=True, bodies=True, loops=True)
op("_While", shape=lambda o: [t.dims for t in o.inputs])


def add_while(condition: FuncGraph, body: FuncGraph, inputs: list[Tensor], name: str | None, parallel_iterations: int = 10) -> list[Tensor]:
    """Adds a While node over finished bodies, whose first inputs are the loop variables; returns their last values."""
    graph = get_default_graph()
    count = len(inputs)
    captured = bodies.share_captures([condition, body], keep=count)
    body.outputs = body.outputs + body.inputs[count:]
    kind = "While" if bodies.is_stateful([condition, body]) else "StatelessWhile"
    with graph.control_dependencies(bodies.control_captures([condition, body])):
        outputs = apply(
            kind,
            [*inputs, *captured],
            cond=FunctionName(add_body(graph, condition, condition.name).name),
            body=FunctionName(add_body(graph, body, body.name).name),
            output_shapes=[t.dims for t in body.inputs],
            parallel_iterations=parallel_iterations,
            name=name,
        )
    operation = outputs[0].op
    # Readers that know only Enter, Exit and NextIteration lower the node to these.
    operation.attrs["_lower_using_switch_merge"] = True
    return outputs[:count]


@public("while_loop")
@internal("ops.control_flow_ops.while_loop")
def while_loop(
    cond: Any,
    body: Any,
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:
    """Calls `body` on the loop variables as long as `cond` of them is true; returns what they are then."""
    if not loop_vars:
        raise ValueError("No loop variables provided")
    for what, function in (("cond", cond), ("body", body)):
        if not callable(function):
            raise TypeError(f"{what} must be callable.")
    if parallel_iterations < 1:
        raise TypeError("parallel_iterations must be a positive integer.")
    if in_eager_mode():
        return _loop_at_once(cond, body, loop_vars, maximum_iterations, return_same_structure)
    if enabled_in(get_default_graph()):
        from everflow.ops.control_flow import version2 as control_flow_v2

        return control_flow_v2.while_loop(
            cond, body, loop_vars, shape_invariants, parallel_iterations, maximum_iterations, name, return_same_structure, back_prop
        )
    with name_scope(name, "while", loop_vars):
        if maximum_iterations is None:
            found = _loop(cond, body, loop_vars, shape_invariants, parallel_iterations, back_prop)
            return found[0] if len(bodies.flatten(found)) == 1 and not return_same_structure else found
        single = len(loop_vars) == 1 and not return_same_structure
        if single:
            # One variable goes through the loop bare, as it is returned.
            loop_vars, shape_invariants = loop_vars[0], None if shape_invariants is None else shape_invariants[0]
        limited = _limited(cond, body, maximum_iterations, single)
        if shape_invariants is not None:
            shape_invariants = (shapes.scalar(), shape_invariants)
        return _loop(*limited[:2], (limited[2], loop_vars), shape_invariants, parallel_iterations, back_prop)[1]


def _loop_at_once(cond: Any, body: Any, loop_vars: Any, maximum_iterations: Any, return_same_structure: bool) -> Any:
    """The loop in Python."""
    packs = len(loop_vars) == 1 and not return_same_structure
    remaining = None if maximum_iterations is None else int(maximum_iterations)
    single = False
    while (remaining is None or remaining > 0) and cond(*loop_vars):
        found = body(*loop_vars)
        if packs and not isinstance(found, (list, tuple)):
            single, found = True, (found,)
        nest.assert_same_structure(list(loop_vars), list(found), expand_composites=True)
        loop_vars = found
        if remaining is not None:
            remaining -= 1

    def as_value(v: Any) -> Any:
        return v if bodies.is_tensor_array(v) else convert_to_tensor(v)

    loop_vars = nest.map_structure(as_value, loop_vars, expand_composites=True)
    return loop_vars[0] if single or (packs and maximum_iterations is not None) else loop_vars


def _limited(cond: Any, body: Any, maximum_iterations: Any, single: bool) -> tuple[Any, Any, Tensor]:
    """The condition and body of a loop with one more variable, which counts, and where it starts."""
    limit = convert_to_tensor(maximum_iterations, name="maximum_iterations")
    if limit.dims is not None and limit.dims != ():
        raise ValueError(f"maximum_iterations must be a scalar, saw shape: {limit.get_shape()}")
    counter = convert_to_tensor(0, dtype=limit.dtype, name="iteration_counter")

    def call(function: Any, variables: Any) -> Any:
        return function(variables) if single else function(*variables)

    def condition(i: Tensor, variables: Any) -> Tensor:
        return apply("LogicalAnd", apply("Less", i, limit), _checked_condition(call(cond, variables)))

    def step(i: Tensor, variables: Any) -> tuple[Tensor, Any]:
        return apply("AddV2", i, convert_to_tensor(1, dtype=limit.dtype)), call(body, variables)

    return condition, step, counter


def _checked_condition(value: Any) -> Tensor:
    t = convert_to_tensor(value)
    if t.dtype.base_dtype is not dtypes.bool:
        raise TypeError(f"Input 'input' of 'LoopCond' Op has type {t.dtype.base_dtype.name} that does not match expected type of bool.")
    if t.dims is not None and t.dims != ():
        scope = get_default_graph().get_name_scope()
        raise ValueError(
            f"Shape must be rank 0 but is rank {len(t.dims)} for '{scope}/LoopCond' (op: 'LoopCond') with input "
            "shapes: "
            f"{shapes.describe(t.dims)}."
        )
    return t


def _loop(cond: Any, body: Any, loop_vars: Any, shape_invariants: Any, parallel_iterations: int, back_prop: bool) -> Any:
    graph = get_default_graph()
    loop_vars = nest.map_structure(as_loop_variable, loop_vars)
    initial = loop_values(loop_vars)
    dims = invariant_shapes(loop_vars, initial, shape_invariants)
    scope = graph.get_name_scope()

    # TensorFlow's loops are made of Enter, Merge, LoopCond, Switch, Identity, NextIteration and Exit.
    count = len(initial)
    condition_body = FuncGraph.body_of(graph, f"{scope}_cond", is_loop=True)
    with condition_body.as_default():
        arguments = loop_arguments(condition_body, initial, dims, "Merge")
        condition_body._op_count = graph._op_count + 2 * count
        found = cond(*bodies.packed(loop_vars, arguments))
        condition_body.outputs = [_checked_condition(found)]

    loop_body = FuncGraph.body_of(graph, f"{scope}_body", is_loop=True)
    with loop_body.as_default():
        arguments = loop_arguments(loop_body, initial, dims, "Identity")
        loop_body._op_count = condition_body._op_count + 1 + 2 * count
        loop_body.counted = condition_body.captures
        given = bodies.packed(loop_vars, arguments)
        result = bodies.and_its_summaries(body, *given)
        if not nest.is_nested(result):
            result = [result]
        nest.assert_same_structure(list(given), list(result), expand_composites=True)
        loop_body.outputs = [next_value(v, t, d, start) for v, t, d, start in zip(bodies.flatten(result), arguments, dims, initial)]
    made = loop_body._op_count + 2 * count
    bodies.finish([condition_body, loop_body], graph, keeps_effects=graph.orders_effects)

    outputs = add_while(condition_body, loop_body, initial, "While", parallel_iterations)
    outputs[0].op.__dict__["back_prop"] = back_prop
    exits = []
    for t, d in zip(outputs, dims):
        last = apply("Identity", t, name="Exit")
        last.dims, last.handle_data = d, t.handle_data
        exits.append(last)
    graph._op_count = made
    return bodies.packed(result, exits)


def as_loop_variable(value: Any) -> Any:
    """A loop variable as a tensor, a composite of tensors or a TensorArray."""
    flat = bodies.flatten(value)
    is_composite = len(flat) != 1 or flat[0] is not value
    return value if is_composite or bodies.is_tensor_array(value) else convert_to_tensor(value)


def loop_values(loop_vars: Any) -> list[Tensor]:
    """The tensors that loop variables start with: of TensorArrays the flow, of references the value."""
    found = [v.flow if bodies.is_tensor_array(v) else v for v in bodies.flatten(loop_vars)]
    return [apply("Identity", t) if t.dtype._is_ref_dtype else t for t in found]


def loop_arguments(body: FuncGraph, initial: list[Tensor], dims: list[Any], name: str) -> list[Tensor]:
    return [body.add_input(t.dtype.base_dtype, d, name, t.handle_data) for t, d in zip(initial, dims)]


def next_value(value: Any, argument: Tensor, dims: shapes.Dims, start: Tensor) -> Tensor:
    """What the body returns for a loop variable, as a tensor of its dtype and shape."""
    if value is None:
        raise ValueError("None values not supported.")
    if bodies.is_tensor_array(value):
        value = value.flow
    if isinstance(value, Tensor):
        graph = get_default_graph()
        check_in_reach(value, graph, f"{graph.get_name_scope()}/NextIteration")
    has_type = hasattr(value, "dtype") or isinstance(value, Operation)
    t = convert_to_tensor(value) if has_type else convert_to_tensor(value, argument.dtype)
    if t.dtype._is_ref_dtype:
        t = apply("Identity", t)
    if t.dtype.base_dtype is not argument.dtype.base_dtype:
        raise TypeError(
            f"The loop variable {start.name} enters the loop with type {argument.dtype.base_dtype.name}, but has type "
            f"{t.dtype.base_dtype.name} after one iteration."
        )
    if not bodies.is_within(t.dims, dims):
        raise ValueError(
            f"Input tensor '{start.name}' enters the loop with shape {shapes.TensorShape.from_dims(dims)}, but has shape {t.get_shape()} "
            "after one iteration. To allow the shape to vary across iterations, use the `shape_invariants` argument of tf.while_loop "
            "to specify a less-specific shape."
        )
    return t


def invariant_shapes(loop_vars: Any, initial: list[Tensor], shape_invariants: Any) -> list[Any]:
    """The static shape of each loop variable, in every iteration."""
    if shape_invariants is None:
        left = iter(initial)
        dims: list[Any] = []
        for v in nest.flatten(loop_vars):
            own = [next(left).dims for _ in bodies.flatten(v)]
            # How many values a composite has may change.
            dims.extend(_invariant_dims(v, type_spec_from_value(v)) if isinstance(v, CompositeTensor) else own)
        return dims
    nest.assert_same_structure(loop_vars, shape_invariants, expand_composites=False)
    found: list[Any] = []
    for variable, invariant in zip(nest.flatten(loop_vars), nest.flatten(shape_invariants)):
        found.extend(_invariant_dims(variable, invariant))
    for t, d in zip(initial, found):
        if not bodies.is_within(t.dims, d):
            raise ValueError(
                f"The shape invariant specified for {t.name} is not compatible with the initial shape of the loop "
                "variable. It enters the "
                f"loop with shape {t.get_shape()}, but the specified shape invariant is "
                f"{shapes.TensorShape.from_dims(d)}."
            )
    return found


def _invariant_dims(variable: Any, invariant: Any) -> list[Any]:
    """The static shapes of the tensors that make up a loop variable, given the shape or type that it keeps."""
    if isinstance(invariant, TypeSpec):
        if not invariant.is_compatible_with(variable):
            raise TypeError(f"TypeSpec {invariant!r} is not compatible with {variable!r}")
        return [spec.shape.as_dims() for spec in nest.flatten(invariant, expand_composites=True)]
    if not isinstance(invariant, shapes.TensorShape):
        raise ValueError("`shapes` must be a (possibly nested) list of shapes.")
    dims = invariant.as_dims()
    if isinstance(variable, IndexedSlices):
        spec = IndexedSlicesSpec(invariant, indices_shape=None if dims is None else dims[:1])
        found = [s.shape.as_dims() for s in spec._component_specs]
        return found if variable.dense_shape is None else [*found, (None if dims is None else len(dims),)]
    if isinstance(variable, SparseTensor):
        # The shape says how many axes the tensor has: it is that of `dense_shape`.
        rank = (None,) if dims is None else dims
        if not bodies.is_within(variable.dense_shape.dims, rank):
            raise ValueError(
                f"The shape invariant specified for {variable.values.name} is not compatible with the initial shape of the loop "
                f"variable. It enters the loop with shape {variable.get_shape()}, but the specified shape invariant is {invariant}."
            )
        return [(None, *rank), (None,), rank]
    if isinstance(variable, CompositeTensor):
        return [spec.shape.as_dims() for spec in nest.flatten(variable._shape_invariant_to_type_spec(invariant), expand_composites=True)]
    return [dims]
