"""tf.xla: parts of a graph that a program wants compiled. Marks say so; everflow.runtime.passes.compiled_parts looks at them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal, public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import control_dependencies
from everflow.graph.stacks import get_default_graph, in_eager_mode
from everflow.ops.arrays.reshaping import handed_on
from everflow.ops.control_flow.calls import call_function
from everflow.ops.control_flow.contexts import XLAControlFlowContext
from everflow.ops.core.registry import apply, op
from everflow.ops.core.shape_rules import same_as_input
from everflow.proto import attr_value_pb2

op("XlaClusterOutput", kernel=handed_on, shape=same_as_input, gradient=lambda o, dy: dy, view=True, folds=False, forwards=True)

op(
    "XlaLaunch",
    kernel=lambda node: call_function(node, node.attr("function").name),
    shape=lambda o: [None] * len(o.outputs),
    view=True,
    writes=True,
)


@internal("compiler.xla.xla.XLACompileContext")
class XLACompileContext(XLAControlFlowContext):
    """What `tf.xla.experimental.compile` builds; its ops say so in an attribute."""

    def __init__(self, name: str, pivot: Operation) -> None:
        super().__init__()
        self._name = name
        self._name_as_bytes = name.encode()
        self._pivot = pivot

    def AddOp(self, op: Operation) -> None:
        if "_xla_compile_id" in op.attrs:
            raise ValueError(f"XLA compiled computations cannot be nested, (operator name: {op.name})")
        op._set_attr("_xla_compile_id", attr_value_pb2.AttrValue(s=self._name_as_bytes))

    def GetControlPivot(self) -> Operation:
        return self._pivot


@public("xla.experimental.compile", "contrib.compiler.xla.compile")
def compile(computation: Callable[..., Any], inputs: Sequence[Any] | None = None) -> Any:
    """Calls a function: a list of its tensors, or its structure where that is not flat; an operation where it returns no tensors."""
    if in_eager_mode():
        return tf.function(lambda: _compiled(computation, inputs))()
    return _compiled(computation, inputs)


def _compiled(computation: Callable[..., Any], inputs: Sequence[Any] | None) -> Any:
    inputs = [] if inputs is None else inputs
    if not isinstance(inputs, Sequence):
        raise TypeError("inputs must be a list")
    given = [convert_to_tensor(x) for x in nest.flatten(inputs)]
    cluster = get_default_graph().unique_name("cluster")
    context = XLACompileContext(cluster, tf.no_op(name=cluster + "/pivot"))
    scope = tf.get_variable_scope()
    use_resource = scope.use_resource
    context.Enter()
    try:
        handed = [tf.identity(x, name=f"input_{i}") for i, x in enumerate(given)]
        scope.set_use_resource(True)
        outputs = computation(*nest.pack_sequence_as(inputs, handed))
        flat = is_flat(outputs)
        tensors, operations = _found(outputs, flat)
        context.ExitResult(tensors)
    finally:
        scope.set_use_resource(use_resource)
        context.Exit()
    if not tensors:
        return tf.group(operations, name="output_0")
    tensors = [apply("XlaClusterOutput", t, name=f"output{i}") for i, t in enumerate(tensors)]
    with control_dependencies(operations):
        tensors = [tf.identity(t, name=f"output_{i}") for i, t in enumerate(tensors)]
    return tensors if flat else nest.pack_sequence_as(outputs, tensors)


@internal("compiler.xla.xla.is_flat")
def is_flat(outputs: Any) -> bool:
    """Whether outputs are one value, or a sequence in which no sequence stands."""
    if isinstance(outputs, dict):
        return False
    if isinstance(outputs, Sequence) and not isinstance(outputs, (str, bytes)):
        return not any(nest.is_nested(o) for o in outputs)
    return not hasattr(outputs, "__attrs_attrs__")


def _found(outputs: Any, flat: bool) -> tuple[list[Any], list[Operation]]:
    """The tensors of a computation, and the operations that run with them."""
    if flat:
        outputs = [] if outputs is None else list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        outputs = [*outputs, tf.no_op()]
    else:
        outputs = nest.flatten(outputs)
        for o in outputs:
            if isinstance(o, Operation):
                raise ValueError(
                    "xla.compile does not support Operation as return value in non-flat output structure. You can set returned Operations "
                    "as control dependencies of returned Tensors so Operations are triggered when Tensors are evaluated. "
                    f'Operation found: "{o.name}"'
                )
    try:
        outputs = [o if isinstance(o, Operation) else convert_to_tensor(o) for o in outputs]
    except Exception as error:
        raise ValueError(
            f'XLA computation function return values must all either be Operations or convertible to Tensors. Got error: "{error}"'
        ) from error
    is_operation = [isinstance(o, Operation) for o in outputs]
    if is_operation != sorted(is_operation):
        raise ValueError("XLA computation function must return zero or more Tensor values followed by zero or more Operations.")
    count = is_operation.count(False)
    return [tf.identity(t) for t in outputs[:count]], outputs[count:]


_SCOPES = "__xla_scope"


class _Scopes:
    """How many outermost scopes a graph has had, and how deep in them it is."""

    def __init__(self) -> None:
        self.count = 0
        self.depth = 0


@public("xla.experimental.jit_scope", "contrib.compiler.jit.experimental_jit_scope")
@contextlib.contextmanager
def jit_scope(compile_ops: Any = True, separate_compiled_gradients: bool = False) -> Iterator[None]:
    """Marks ops as ones to compile, or not to; `compile_ops` may be a function that decides by an op's NodeDef."""
    if in_eager_mode():
        raise RuntimeError("xla.experimental.jit_scope is not supported when eager execution is enabled. Try use it inside tf.function.")
    value = attr_value_pb2.AttrValue
    attrs: dict[str, Any] = {
        "_XlaCompile": (lambda node_def: value(b=compile_ops(node_def))) if callable(compile_ops) else value(b=compile_ops),
        "_XlaSeparateCompiledGradients": value(b=bool(separate_compiled_gradients)),
    }
    graph = get_default_graph()
    scopes = graph.get_collection_ref(_SCOPES)
    if not scopes:
        scopes.append(_Scopes())
    found = scopes[0]
    if found.depth == 0:
        attrs["_XlaScope"] = value(s=f"jit_scope_{found.count}".encode())
        found.count += 1
    found.depth += 1
    try:
        with graph._attr_scope(attrs):
            yield
    finally:
        found.depth -= 1
