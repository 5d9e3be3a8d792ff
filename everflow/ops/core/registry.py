"""What each op means: `op("Tanh", kernel=..., shape=..., gradient=...)`, and how ops are added to graphs.

kernel(node)     looks at the node once (attributes, dtypes, static shapes, constant inputs) and returns a plain function of
                 run-time values: one value for one output, a tuple for several. See everflow.ops.core.node.Node.
shape(op)        returns the dims (tuple of int or None, or None) of the output, or a list of dims for several outputs. It
                 raises ValueError for shapes that can't be.
gradient(op, *dys)  returns the gradients with respect to the inputs, built with the public functions.

`fused_op("_MatMulBias", kernel=..., fresh=True)` says the same of nodes that passes make of several ops.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import inspect
import keyword
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from everflow.graph import attrs as attr_values
from everflow.graph import dtypes, graph, opdefs
from everflow.graph.convert import convert_to_tensor, internal_convert_to_tensor
from everflow.graph.func_graph import check_in_reach
from everflow.graph.graph import VALID_OP_NAME, Graph
from everflow.graph.operation import Operation
from everflow.graph.stacks import TAPES, get_default_graph, in_eager_mode
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_proto import as_array
from everflow.graph.wire import output_types_of
from everflow.index import FUSED, GRADIENTS, OPS
from everflow.ops.core.input_ranks import RANKS
from everflow.ops.core.shape_rules import ranked

if TYPE_CHECKING:
    from everflow.ops.core.node import Node


@dataclasses.dataclass(slots=True, eq=False)
class Meaning:
    """What is known of an op, or of a node that does the work of several: how it is computed and what planner and passes may assume."""

    name: str
    module: str
    kernel: Callable[[Node], Any] | None = None
    shape: Callable[[Operation], Any] | None = None
    gradient: Any = None
    # Where the gradient is, if not beside the op: differentiating calls, branches and loops is up to autodiff.
    gradient_module: str = ""
    # Whether it is no op, but what passes make of several.
    fused: bool = False
    # What sort of op it is to rules that take several alike, such as "convolution"; see everflow.runtime.passes.patterns.
    kind: str = ""

    # It has no kernel because the runtime itself knows what to do.
    by_runtime: bool = False

    # -- memory
    # An output may share memory with an input.
    view: bool = False
    # The op changes the variable or resource that is its first input.
    writes: bool = False
    # What it writes may be read by another input, but not element by element: `x[::-1] = x`.
    rearranges: bool = False
    # The result is always in memory of its own.
    fresh: bool = False
    # {input: a kernel that writes the result over that input}; a factory returns None where that can't be.
    over: dict[int, Callable[[Node], Any]] = dataclasses.field(default_factory=dict)
    # It takes many inputs at once where they lie in memory one below the other.
    stacks: bool = False
    # The results come from a file, and nobody else has them.
    restored: bool = False
    # The results may be held by a dataset.
    hands_out: bool = False

    # -- forms: the names of fused nodes that do more, or do the same in another way; None where a node can't be had so
    # added(node): adds the result to a tensor that nothing else needs, which comes first.
    added: Callable[[Node], str | None] | None = None
    # surrounded(node): has another output, the first one with zeros around it; the attribute `border` says how many.
    surrounded: Callable[[Node], str | None] | None = None
    # Keeps the value that it is given, which nobody else has.
    taking: str = ""
    # The same where it is the variable's first value.
    beginning: str = ""
    # Takes many such steps at once; `batch(node)` is what they must have in common.
    together: str = ""
    batch: Callable[[Node], Any] | None = None

    # -- effects
    # The definition calls it stateful, but it only hands out a reference or a value.
    pure: bool = False
    # It is run for the error that it may raise.
    checks: bool = False
    # It waits for elements, or brings them. In one step, those that bring come first.
    waits: bool = False
    brings: bool = False
    # begins(node) returns a kernel that does not wait: it returns what the rest of the step may wait for later, or None.
    begins: Callable[[Node], Any] | None = None
    # meets(attributes): ops of a step for which this is the same wait for each other; None where an op waits for nobody here. A fused node
    # named `meeting` does what they do; its attribute `members` are their nodes, in the order of their devices.
    meets: Callable[[dict[str, Any]], Any] | None = None
    meeting: str = ""
    # It adds its second input, times this, to the variable that is its first.
    adds: float = 0.0
    # The input whose only element, if it has but one, fills the result.
    fills: int | None = None
    # It hands its input on as it is; there is nothing to do at run time.
    forwards: bool = False
    # Its value is meant to be fed.
    fed: bool = False
    # fetched(tensor, session) returns what turns its value into what a run returns.
    fetched: Callable[[Tensor, Any], Callable[[Node], Any]] | None = None
    # It is never computed while a plan is made.
    folds: bool = True
    # It hands out a variable's storage. `bound`: this is found once, when a step is made.
    variable: bool = False
    bound: bool = False
    # It hands out the value of the variable that is its first input, in the variable's own memory.
    views_variable: bool = False
    # It runs bodies of functions; `first_argument`: the input that the bodies get first.
    bodies: bool = False
    loops: bool = False
    # chosen(node, index): the name of the function that it calls where its first input is this.
    chosen: Callable[[Node, Any], str] | None = None
    first_argument: int = 0

    # -- pictures
    # border(node): how many zeros it puts around the pictures that it is given first, where it needs a copy of them for that; else None.
    border: Callable[[Node], Any] | None = None
    # It takes pictures that are part of larger ones as well as others.
    strided: bool = False

    # -- loops
    # It reads or writes an array, its first input. The fused node of this name does what it does in many iterations of a loop: it takes
    # lists where inputs change, except for the flow, which comes last.
    many: str = ""

    # -- rows
    # rows(node): instructions that compute each row of a matrix from that row of the inputs, or None; see everflow.ops.core.rows.
    rows: Callable[[Node], Any] | None = None

    # -- sizes
    # Inputs that the kernel takes with `.tolist()`: sizes may come as Python's numbers.
    sizes: tuple[int, ...] = ()
    # host(node) returns a function of Python's numbers that does what the kernel does, or None; see host_sizes. `measures`: it takes
    # tensors, and tells their shapes.
    host: Callable[[Node], Any] | None = None
    measures: bool = False
    # The sizes of an output by tokens for those that are not known, and the sizes that an output holds; see symbolic.
    symbolic: Callable[..., Any] | None = None
    holds: Callable[..., Any] | None = None
    # known(node) returns the results, as arrays, where they follow from static shapes; else None.
    known: Callable[[Node], Any] | None = None


MEANINGS: dict[str, Meaning] = {}


def not_differentiable(op: Operation, *_: Any) -> Any:
    """The gradient of an op that has none: it stops differentiation without an error."""
    return [None] * len(op.inputs)


def op(
    name: str,
    *,
    kernel: Callable[[Node], Any] | None = None,
    shape: Callable[[Operation], Any] | None = None,
    gradient: Any = None,
    owner: str | None = None,
    **facts: Any,
) -> None:
    """Says what an op means; `facts` are the other fields of `Meaning`. `owner`: the module that says so, where that is not the caller.

    What several calls say of one op is added up.
    """
    if opdefs.find(name) is None:
        raise ValueError(f"there is no op named {name}")
    module = owner or sys._getframe(1).f_globals["__name__"]
    meaning = MEANINGS.get(name)
    if meaning is None:
        meaning = MEANINGS[name] = Meaning(name, module, gradient_module=module)
    if kernel is not None and meaning.kernel is not None and meaning.module != module:
        raise ValueError(f"{name} has a kernel in {meaning.module} and another in {module}")
    meaning.kernel = kernel or meaning.kernel
    if shape is not None:
        meaning.shape = ranked(shape, *RANKS[name]) if name in RANKS else shape
    if gradient is not None:
        meaning.gradient, meaning.gradient_module = gradient, module
    for fact, value in facts.items():
        setattr(meaning, fact, value)


def fused_op(name: str, *, kernel: Callable[[Node], Any], **facts: Any) -> None:
    """Says what a node means that does the work of several: it is made by a pass, and no graph has it. Its name begins with `_`.

    What the kernel must know of the ops it stands for are the node's attributes; see everflow.runtime.plan.fused.
    """
    if opdefs.find(name) is not None or name[0] != "_":
        raise ValueError(f"{name} is no name for a fused node")
    module = sys._getframe(1).f_globals["__name__"]
    MEANINGS[name] = Meaning(name, module, kernel, gradient_module=module, fused=True, **facts)


def meaning(name: str) -> Meaning | None:
    """The meaning of an op, or of a fused node, loading the module that defines it; None where Everflow has none yet."""
    found = MEANINGS.get(name)
    if found is None:
        module = OPS.get(name) or FUSED.get(name)
        if module is None:
            return None
        importlib.import_module(module)
        found = MEANINGS.get(name)
    return found


def kind_of(name: str) -> str:
    """What sort of op it is; see `Meaning`."""
    found = MEANINGS.get(name) or meaning(name)
    return "" if found is None else found.kind


def gradient_of(name: str) -> Any:
    """The function that differentiates an op; None where there is none."""
    found = meaning(name)
    if found is None:
        return None
    if found.gradient is None:
        if name in GRADIENTS:
            importlib.import_module(GRADIENTS[name])
    return found.gradient


def _shape_rule(name: str) -> Callable[..., Any] | None:
    found = MEANINGS.get(name) or meaning(name)
    return found.shape if found is not None else None


graph.shape_rule_of = _shape_rule


def apply(op_type: str, *inputs: Any, name: str | None = None, **attrs: Any) -> Any:
    """Adds an op to the graph of its inputs and returns its output(s), or the operation where it has none. In eager mode, runs it.

    Inputs are in the order of the op definition; a list input is a list. Attributes that follow from the inputs are inferred.
    """
    definition = opdefs.find(op_type)
    if definition is None:
        raise RuntimeError(f"Unrecognized Op name {op_type}")
    if in_eager_mode():
        return (_execute or _load_execute())(definition, inputs, attrs, name)
    operation = add_op(definition, inputs, attrs, name)
    if TAPES:
        TAPES[-1].record(operation)
    return results(definition, operation)


# What runs an op in eager mode; see everflow.eager.execute.
_execute: Callable[..., Any] | None = None


def _load_execute() -> Callable[..., Any]:
    global _execute
    from everflow.eager.execute import execute

    _execute = execute
    return execute


def results(definition: opdefs.OpDef, operation: Operation) -> Any:
    """An operation's outputs as TensorFlow's generated functions return them."""
    if not operation.outputs and (not definition.outputs or definition.is_stateful):
        return operation
    return arranged(definition, operation.attrs, operation.outputs)


def arranged(definition: opdefs.OpDef, attrs: dict[str, Any], outputs: list[Any]) -> Any:
    """Outputs by the arguments that the definition declares: one, a list, or a tuple of these."""
    declared = definition.outputs
    if len(declared) == 1:
        return list(outputs) if declared[0].is_list else outputs[0]
    found: list[Any] = []
    position = 0
    for arg in declared:
        if arg.is_list:
            n = attrs[arg.number_attr] if arg.number_attr else len(attrs[arg.type_list_attr or ""])
            found.append(list(outputs[position : position + n]))
            position += n
        else:
            found.append(outputs[position])
            position += 1
    return definition.result_type._make(found)


def add_op(definition: opdefs.OpDef, inputs: Any, attrs: dict[str, Any], name: str | None) -> Operation:
    """The operation itself; see `apply`."""
    op_type = definition.name
    g = _graph_for(inputs, op_type)
    if name is None:
        name = g.unique_name(op_type)
    elif name[-1:] == "/":
        name = name[:-1]
    else:
        if not VALID_OP_NAME.match(name) and not (g._name_stack and graph.VALID_SCOPE_NAME.match(name)):
            raise ValueError(f"'{name}' is not a valid scope name")
        name = g.unique_name(name)
    known: dict[str, Any] = {}
    for attr_name in definition.inferred:
        if attrs.get(attr_name) is not None:
            known[attr_name] = attr_values.normalized(attrs[attr_name], definition.attrs[attr_name].type, attr_name)
    given = tuple(known)
    flat: list[Tensor] = []
    state = g._stacks()
    outer_scope = state.name_stack
    state.name_stack = name
    entered = None
    try:
        if g is not get_default_graph():
            entered = g.as_default()
            entered.__enter__()
        for arg, value in zip(definition.inputs, inputs):
            if arg.is_list:
                convert_list_input(definition, arg, value, known, given, flat)
            else:
                flat.append(converted(definition, arg, value, known))
        for i, t in enumerate(flat):
            if t.op.graph is not g:
                flat[i] = g.own(t)
    finally:
        state.name_stack = outer_scope
        if entered is not None:
            entered.__exit__(None, None, None)
    values = completed(definition, known, attrs)
    types = output_types_of(definition, values)
    if not definition.takes_refs:
        return g.add(definition, name, tuple(flat), values, types, depth=3)
    # What changes a variable stands beside it.
    with contextlib.ExitStack() as beside:
        for arg, value in zip(definition.inputs, _by_argument(definition, flat, values)):
            if arg.is_ref:
                for t in value:
                    beside.enter_context(g.colocate_with(t))
        return g.add(definition, name, tuple(flat), values, types, depth=3)


def completed(definition: opdefs.OpDef, values: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    """An op's attributes: to those that follow from the inputs come the given ones and defaults. All are checked."""
    for attr_name in definition.explicit:
        attr = definition.attrs[attr_name]
        value = attrs.get(attr_name)
        if value is None:
            if attr.has_default:
                values[attr_name] = attr.default
            elif attr_name in attrs:
                values[attr_name] = attr_values.normalized(None, attr.type, attr_name)
            else:
                raise TypeError(f"No argument for attr {attr_name}")
        else:
            values[attr_name] = attr_values.normalized(value, attr.type, attr_name)
    for attr_name, value in values.items():
        attr = definition.attrs[attr_name]
        if attr.allowed is not None or attr.minimum is not None:
            _check_attr(definition, attr, value)
    return values


def _by_argument(definition: opdefs.OpDef, flat: list[Tensor], attrs: dict[str, Any]) -> Iterator[list[Tensor]]:
    """The input tensors of each of an op's arguments."""
    position = 0
    for arg in definition.inputs:
        count = attrs[arg.number_attr] if arg.number_attr else len(attrs[arg.type_list_attr]) if arg.type_list_attr else 1
        yield flat[position : position + count]
        position += count


def _graph_for(inputs: Any, op_type: str) -> Graph:
    current = get_default_graph()
    if current.building_function:
        return current
    found: Any = None
    first: Any = None
    for value in inputs:
        for item in value if type(value) in (list, tuple) else (value,):
            if type(item) is not Tensor:
                convert = getattr(item, "_as_graph_element", None)
                if convert is None:
                    continue
                item = convert()
                if item is None:
                    continue
            g = item.op.graph
            if found is None:
                found, first = g, item
            elif g is not found:
                raise ValueError(f"{item} must be from the same graph as {first}.")
    if found is not None and found.building_function:
        # A body that is finished takes no more ops.
        check_in_reach(first, current, op_type)
        raise ValueError(f"{first} is not from this graph.")
    return found or current


def _not_allowed(arg: opdefs.Arg, dtype: dtypes.DType, allowed: Any) -> TypeError:
    names = ", ".join(t.name for t in allowed)
    return TypeError(f"Value passed to parameter '{arg.name}' has DataType {dtype.name} not in list of allowed values: {names}")


def _check_attr(definition: opdefs.OpDef, attr: opdefs.Attr, value: Any) -> None:
    if attr.allowed is not None and attr.type in ("type", "list(type)"):
        for arg in definition.inputs:
            if attr.name in (arg.type_attr, arg.type_list_attr):
                for kind in value if attr.type == "list(type)" else (value,):
                    if kind not in attr.allowed:
                        raise _not_allowed(arg, kind, attr.allowed)
    attr_values.check(value, attr, definition.name)


def converted(definition: opdefs.OpDef, arg: opdefs.Arg, value: Any, known: dict[str, Any]) -> Tensor:
    """An argument as a tensor of the type that the definition, or an earlier argument, asks for."""
    type_attr = arg.type_attr
    dtype = arg.type if type_attr is None else known.get(type_attr)
    if type(value) is Tensor and not arg.is_ref:
        base = value.dtype.base_dtype
        if dtype is None:
            allowed = definition.attrs[type_attr].allowed  # type: ignore[index]
            if allowed is not None and base not in allowed:
                raise _not_allowed(arg, base, allowed)
            known[type_attr] = base  # type: ignore[index]
            return value
        if dtype is base:
            return value
        raise _type_mismatch(definition, arg, base, dtype)
    preferred = None
    if dtype is None and type_attr is not None:
        preferred = definition.attrs[type_attr].default
    try:
        tensor = internal_convert_to_tensor(value, dtype, arg.name, arg.is_ref, preferred)
        if dtype is None and type_attr is not None and preferred is None:
            allowed = definition.attrs[type_attr].allowed
            if allowed is not None and tensor.dtype.base_dtype not in allowed:
                raise _not_allowed(arg, tensor.dtype.base_dtype, allowed)
    except TypeError as e:
        if dtype is None:
            raise
        raise TypeError(
            f"Expected {dtype.name} passed to parameter '{arg.name}' of op '{definition.name}', got {value!r} of type "
            f"'{type(value).__name__}' instead. Error: {e}"
        ) from None
    except ValueError:
        actual = getattr(value, "dtype", None)
        if dtype is None or actual is None:
            raise
        raise _type_mismatch(definition, arg, dtypes.as_dtype(actual).base_dtype, dtype) from None
    base = tensor.dtype.base_dtype
    if type_attr is not None and dtype is None:
        known[type_attr] = base
    if arg.is_ref and not tensor.dtype._is_ref_dtype:
        raise TypeError(f"'{definition.name}' Op requires that input '{arg.name}' be a mutable tensor (e.g.: a tf.Variable)")
    return tensor


def _type_mismatch(definition: opdefs.OpDef, arg: opdefs.Arg, got: dtypes.DType, want: dtypes.DType) -> TypeError:
    prefix = f"Input '{arg.name}' of '{definition.name}' Op has type {got.name} that"
    if arg.type is not None:
        return TypeError(f"{prefix} does not match expected type of {want.name}.")
    first = next(a.name for a in definition.inputs if a.type_attr == arg.type_attr)
    return TypeError(f"{prefix} does not match type {want.name} of argument '{first}'.")


def convert_list_input(
    definition: opdefs.OpDef, arg: opdefs.Arg, value: Any, known: dict[str, Any], given: Any, flat: list[Tensor]
) -> None:
    """The same for an argument that is a list: its tensors are added to `flat`."""
    if not isinstance(value, (list, tuple)):
        if not hasattr(value, "__iter__") or isinstance(value, (Tensor, str, bytes)):
            raise TypeError(f"Expected list for '{arg.name}' argument to '{definition.name}' Op, not {value}.")
        value = list(value)
    if arg.type_list_attr is not None:
        tensors = _typed_list(definition, arg, value, known, arg.type_list_attr in given)
        known[arg.type_list_attr] = [t.dtype.base_dtype for t in tensors]
        flat.extend(tensors)
        return
    dtype = arg.type if arg.type_attr is None else known.get(arg.type_attr)
    if dtype is None:
        for v in value:
            if isinstance(v, Tensor) or hasattr(v, "dtype") and hasattr(v, "_as_graph_element"):
                dtype = v.dtype.base_dtype
                break
    try:
        tensors = []
        for i, v in enumerate(value):
            if type(v) is Tensor and (dtype is None or v.dtype.base_dtype is dtype) and not arg.is_ref:
                tensors.append(v)
            else:
                tensors.append(internal_convert_to_tensor(v, dtype, f"{arg.name}_{i}", arg.is_ref))
            if dtype is None:
                dtype = tensors[0].dtype.base_dtype
    except (TypeError, ValueError):
        prefix = f"Tensors in list passed to '{arg.name}' of '{definition.name}' Op have types [{_shown_types(value)}]"
        if arg.type is not None:
            raise TypeError(f"{prefix} that do not match expected type {arg.type.name}.") from None
        if arg.type_attr in known and known[arg.type_attr] is not None:
            raise TypeError(f"{prefix} that do not match type {known[arg.type_attr].name} inferred from earlier arguments.") from None
        raise TypeError(f"{prefix} that don't all match.") from None
    if arg.number_attr is not None:
        n = known.get(arg.number_attr)
        if n is not None and n != len(tensors):
            raise ValueError(
                f"List argument '{arg.name}' to '{definition.name}' Op with length {len(tensors)} must match length {n} of argument "
                f"'{next(a.name for a in definition.inputs if a.number_attr == arg.number_attr)}'."
            )
        minimum = definition.attrs[arg.number_attr].minimum
        if minimum is not None and len(tensors) < minimum:
            raise ValueError(
                f"List argument '{arg.name}' to '{definition.name}' Op with length {len(tensors)} shorter than minimum length {minimum}."
            )
        known[arg.number_attr] = len(tensors)
    if arg.type_attr is not None:
        if dtype is None:
            default = definition.attrs[arg.type_attr].default
            if default is None:
                raise TypeError(
                    f"Don't know how to infer type variable from empty input list passed to input '{arg.name}' of '{definition.name}' Op."
                )
            dtype = default
        known[arg.type_attr] = dtype
    flat.extend(tensors)


def _typed_list(definition: opdefs.OpDef, arg: opdefs.Arg, value: Any, known: dict[str, Any], is_given: bool) -> list[Tensor]:
    """The tensors of an input whose elements have types of their own: as the caller gives them, or as values have them."""
    attr = arg.type_list_attr
    wanted = known.get(attr)  # type: ignore[arg-type]
    if is_given and wanted is not None and len(wanted) != len(value):
        raise TypeError(f"Length of '{arg.name}' does not match attr '{attr}' of '{definition.name}' Op.")
    try:
        tensors = [
            v if type(v) is Tensor and not is_given else convert_to_tensor(v, wanted[i] if is_given and wanted else None, f"{arg.name}_{i}")
            for i, v in enumerate(value)
        ]
    except (TypeError, ValueError) as e:
        if is_given:
            raise
        shown = _shown_types(value)
        raise TypeError(
            f"Tensors in list passed to '{arg.name}' of '{definition.name}' Op have types [{shown}] that are invalid. Tensors: {value}"
        ) from e
    types = [t.dtype.base_dtype for t in tensors]
    if wanted is not None and types != wanted:
        first = next(a.name for a in definition.inputs if a.type_list_attr == attr)
        raise TypeError(
            f"Input '{arg.name}' of '{definition.name}' Op has type list of {', '.join(t.name for t in types)} that does not match type "
            f"list {', '.join(t.name for t in wanted)} of argument '{first}'."
        )
    return tensors


def _shown_types(values: Any) -> str:
    types = [_value_type(v) for v in values]
    return ", ".join(t.name if t is not None else "<NOT CONVERTIBLE TO TENSOR>" for t in types)


def _value_type(value: Any) -> dtypes.DType | None:
    if hasattr(value, "dtype"):
        return dtypes.as_dtype(value.dtype).base_dtype
    try:
        return dtypes.as_dtype(as_array(value).dtype)
    except (TypeError, ValueError):
        return None


# Parameters that TensorFlow's generated functions call otherwise than the op definition.
RENAMED = {
    **{name: {"reduction_indices": "axis"} for name in ("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum")},
    "ExpandDims": {"dim": "axis"},
    "Split": {"split_dim": "axis"},
    "SplitV": {"split_dim": "axis"},
    "Squeeze": {"squeeze_dims": "axis"},
    "Select": {"t": "x", "e": "y"},
    "Where": {"input": "condition"},
}
_generated: dict[str, Callable[..., Any]] = {}


# Attributes that have another default in Python than in the op's definition.
DEFAULTS = {"SdcaOptimizer": {"adaptative": True}, "SdcaOptimizerV2": {"adaptive": True}}


def generated(op_type: str) -> Callable[..., Any]:
    """The function that TensorFlow generates for an op: inputs, then attributes, then `name`."""
    function = _generated.get(op_type)
    if function is None:
        function = _generated[op_type] = _make_function(op_type)
    return function


def _shown_default(value: Any) -> Any:
    """A default as TensorFlow's generated functions have it: with the digits that a float32 needs, whole numbers without a point."""
    if not isinstance(value, float):
        return value
    short = float(str(np.float32(value)))
    return int(short) if short.is_integer() else short


def _make_function(op_type: str) -> Callable[..., Any]:
    definition = opdefs.find(op_type)
    if definition is None:
        raise KeyError(op_type)
    # Words of Python's own get an underscore.
    words = {name: f"{name}_" for name, _ in definition.parameters if keyword.iskeyword(name)}
    shown, told = {**words, **RENAMED.get(op_type, {})}, DEFAULTS.get(op_type, {})
    inputs = [shown.get(a.name, a.name) for a in definition.inputs]
    attr_names = {shown.get(n, n): n for n in definition.attrs}
    parameters = []
    for parameter, optional in definition.parameters:
        default = _shown_default(told.get(parameter, definition.attrs[parameter].default)) if optional else inspect.Parameter.empty
        parameters.append(inspect.Parameter(shown.get(parameter, parameter), inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default))
    parameters.append(inspect.Parameter("name", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None))
    signature = inspect.Signature(parameters)

    def function(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs).arguments
        name = bound.pop("name", None)
        values = [bound.pop(i) for i in inputs]
        return apply(op_type, *values, name=name, **{**told, **{attr_names[k]: v for k, v in bound.items()}})

    function.__name__ = function.__qualname__ = op_type
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__doc__ = f"The op {op_type}, as its definition has it."
    return function
