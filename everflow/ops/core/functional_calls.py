"""functional_ops: If, While, For, Gradient and partitioned_call over functions that Defun made."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.errors import invalid_argument
from everflow.graph import dtypes, opdefs
from everflow.graph.convert import convert_list, convert_to_tensor
from everflow.graph.defun import Defun, call
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.ops.core.node import Node
from everflow.ops.core.registry import add_op, apply, op


def _output_types(function: Any) -> list[dtypes.DType]:
    return [dtypes.as_dtype(a.type) for a in function.definition.signature.output_arg]


def _is_stateful(*functions: Any) -> bool:
    return any(f.definition.signature.is_stateful for f in functions)


@internal("ops.functional_ops.If")
def If(cond: Any, inputs: Any, then_branch: Any, else_branch: Any, name: str | None = None) -> list[Tensor]:
    """The results of one of two functions of `inputs`."""
    kind = "If" if _is_stateful(then_branch, else_branch) else "StatelessIf"
    return apply(kind, cond, inputs, Tout=_output_types(then_branch), then_branch=then_branch, else_branch=else_branch, name=name)


@internal("ops.functional_ops.Gradient")
def Gradient(inputs: Any, f: Any, name: str | None = None) -> list[Tensor]:
    """The gradients of function `f`; `inputs` holds its arguments and then its output gradients."""
    types = [dtypes.as_dtype(a.type) for a in f.definition.signature.input_arg]
    return apply("SymbolicGradient", inputs, Tout=types, f=f, name=name)


@internal("ops.functional_ops.partitioned_call")
def partitioned_call(
    args: Any, f: Any, tout: Any = None, executing_eagerly: Any = None, config: Any = None, executor_type: Any = None
) -> Any:
    """The results of function `f`, or the operation that calls it where it has none."""
    kind = opdefs.find("StatefulPartitionedCall" if _is_stateful(f) else "PartitionedCall")
    assert kind is not None
    attrs = {
        "Tout": _output_types(f) if tout is None else tout,
        "f": f,
        "config": _serialized(config),
        "executor_type": executor_type or "",
    }
    operation = add_op(kind, [convert_list(list(args))], attrs, None)
    return list(operation.outputs) or operation


def _serialized(config: Any) -> str | bytes:
    return config.SerializeToString() if hasattr(config, "SerializeToString") else config or ""


@internal("ops.functional_ops.While")
def While(input_: Any, cond: Any, body: Any, name: str | None = None, hostmem: Any = None) -> list[Tensor]:
    """What the inputs become when `body` is applied as long as `cond` holds."""
    if cond.captured_inputs:
        raise ValueError("While op 'cond' argument must be a function without implicitly captured inputs.")
    if cond.declared_input_types != body.declared_input_types:
        raise ValueError(f"While op 'cond' and 'body' signatures do not match. {cond.declared_input_types} vs {body.declared_input_types}")
    inputs = convert_list(list(input_))
    count = len(inputs)
    captured = body.captured_inputs
    if captured:
        # The loop hands what the body captures on from one iteration to the next.
        types = [*body.declared_input_types, *(t.dtype.base_dtype for t in captured)]
        original_cond, original_body = cond, body
        cond = Defun(*types, func_name=f"{cond.name}_Wrapper")(lambda *args: original_cond(*args[:count]))
        body = Defun(*types, func_name=f"{body.name}_Wrapper")(
            lambda *args: [*_called(original_body, args[:count], args[count:]), *args[count:]]
        )
    kind = "While" if _is_stateful(cond, body) else "StatelessWhile"
    return apply(kind, [*inputs, *captured], cond=cond, body=body, name=name)[:count]


def _called(function: Any, arguments: Any, captured: Any) -> list[Tensor]:
    """A call in which these tensors stand for what the function captures."""
    function.add_to_graph(get_default_graph())
    return list(call(function.op_def, [*convert_list(list(arguments)), *captured], function.name, {}).outputs)


@internal("ops.functional_ops.For")
def For(
    start: Any, limit: Any, delta: Any, inputs: Any, body: Any, name: str | None = None, hostmem: Any = None, rewrite_with_while: Any = None
) -> list[Tensor]:
    """What the inputs become when `body(i, *inputs)` is applied for i from start to limit."""
    if rewrite_with_while:
        return _for_as_while(start, limit, delta, inputs, body, name)
    inputs = convert_list(list(inputs))
    count = len(inputs)
    captured = body.captured_inputs
    if captured:
        types = [*body.declared_input_types, *(t.dtype.base_dtype for t in captured)]
        original = body
        body = Defun(*types, func_name=f"{body.name}_Wrapper")(
            lambda *args: [*_called(original, args[: count + 1], args[count + 1 :]), *args[count + 1 :]]
        )
    found = apply("For", start, limit, delta, [*inputs, *captured], body=body, name=name)
    return found[:count]


def _for_as_while(start: Any, limit: Any, delta: Any, inputs: Any, body: Any, name: str | None) -> list[Tensor]:
    inputs = convert_list(list(inputs))
    captured = body.captured_inputs
    count = len(inputs)
    types = [dtypes.int32] * 4 + [t.dtype.base_dtype for t in [*inputs, *captured]]
    steps = apply("FloorDiv", apply("AddV2", apply("Sub", limit, start), apply("Sub", delta, apply("Sign", delta))), delta)

    @Defun(*types, func_name=f"{body.name}_Cond")
    def condition(i: Tensor, n: Tensor, *rest: Tensor) -> Tensor:
        return apply("Less", i, n)

    @Defun(*types, func_name=f"{body.name}_Body")
    def step(i: Tensor, n: Tensor, first: Tensor, by: Tensor, *rest: Tensor) -> list[Tensor]:
        results = _called(body, [apply("AddV2", first, apply("Mul", i, by)), *rest[:count]], rest[count:])
        return [apply("AddV2", i, convert_to_tensor(1)), n, first, by, *results, *rest[count:]]

    scalars = [convert_to_tensor(v) for v in (0, steps, start, delta)]
    found = While([*scalars, *inputs, *captured], condition, step, name=name)
    return found[4 : 4 + count]


def _for_kernel(node: Node) -> Any:
    call = node.context.function(node.attr("body").name)
    count = len(node.outputs)

    def run(start: Any, limit: Any, delta: Any, *values: Any) -> Any:
        for label, number in (("start", start), ("limit", limit), ("delta", delta)):
            if number.ndim:
                raise invalid_argument(f"{label} must be a scalar")
        first, last, by = int(start), int(limit), int(delta)
        if not (first == last or (by > 0 and first <= last) or (by < 0 and first >= last)):
            raise invalid_argument(f"Invalid start/limit/delta: {first} {last} {by}")
        for i in range(first, last, by or 1):
            values = call(start.new_tensor(i), *values)
            if len(values) != count:
                raise invalid_argument(f"For loop body returned {len(values)} arguments. Expected: {count}")
        return values[0] if count == 1 else values

    return run


op("For", kernel=_for_kernel, view=True, writes=True, first_argument=2)
