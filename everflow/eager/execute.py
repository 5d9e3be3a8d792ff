"""Running one op at once: the same kernels as in steps, made once for each op, attributes and input types."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

from everflow import errors
from everflow.autodiff.tape import ACTIVE, Recorded
from everflow.eager.devices import CHOOSERS
from everflow.eager.tensor import EagerTensor, integers
from everflow.errors import MISTAKES, invalid_argument
from everflow.graph import attrs as attr_values
from everflow.graph import dtypes, opdefs
from everflow.graph.functions import LIBRARY
from everflow.graph.stacks import eager_scope
from everflow.graph.tensor import Tensor
from everflow.graph.wire import output_types_of
from everflow.lazy import torch
from everflow.ops.core import registry
from everflow.ops.core.node import FEED, kernel_of
from everflow.ops.random.eager_seeds import SEEDS
from everflow.runtime.context import Context
from everflow.runtime.plan import Node
from everflow.values.resources import Storage


class Kernel:
    """What an op with certain attributes and input types does."""

    __slots__ = ("attrs", "definition", "gives_one", "is_read", "node", "run", "takes_piece", "types", "variable_type", "writes")

    def __init__(self, definition: opdefs.OpDef, attrs: dict[str, Any], input_types: list[dtypes.DType]) -> None:
        source = Node(FEED, "", {}, [], None, CONTEXT)
        inputs = [source.add_output(t, None) for t in input_types]
        self.node = Node(definition.name, definition.name, attrs, inputs, None, CONTEXT)
        self.types = output_types_of(definition, attrs)
        for t in self.types:
            self.node.add_output(t, None)
        self.attrs = attrs
        self.definition = definition
        self.gives_one = len(definition.outputs) == 1 and not definition.outputs[0].is_list
        self.is_read = definition.name == "ReadVariableOp"
        self.takes_piece = definition.name in ("StridedSlice", "Slice")
        meaning = self.node.meaning
        self.writes = meaning is not None and meaning.writes
        # The dtype that the variable must have, for ops that leave their check to shape rules, which know graphs.
        self.variable_type = attrs["dtype"] if definition.name in _TYPED else None
        try:
            self.run: Callable[..., Any] = kernel_of(self.node)
        except Exception as error:
            raise explain(error, definition.name, None) from None


CONTEXT = Context(LIBRARY)
# From how many bytes on a small piece does not share memory with what it was taken of.
LARGE = 1 << 16
_kernels: dict[Any, Kernel] = {}
# The same by what a call looks like, before its attributes are completed and checked.
_calls: dict[Any, Kernel] = {}
# Functions that see each op after it ran; see everflow.eager.callbacks.
CALLBACKS: list[Callable[..., Any]] = []
# Functions that are told of each op and function that ran: its type, its name, when it began and ended; see everflow.eager.profiler.
TRACES: list[Callable[[str, str | None, int, int], None]] = []


def forget_kernels() -> None:
    """Makes kernels anew, with what they remember (where random numbers go on)."""
    _kernels.clear()
    _calls.clear()
    CONTEXT._op_state.clear()


SEEDS.when_set.append(forget_kernels)


_OUT_OF_PLACE = """An op outside of the function building code is being passed
a "Graph" tensor. It is possible to have Graph tensors
leak out of the function building context by including a
tf.init_scope in your function building code.
For example, the following function will fail:
  @tf.function
  def has_init_scope():
    my_constant = tf.constant(1.)
    with tf.init_scope():
      added = my_constant * 2
The graph tensor has name: """


def _prepared_run(definition: opdefs.OpDef, inputs: Any, attrs: dict[str, Any], name: str | None) -> Any:
    """Runs an op whose inputs have to become tensors first; one of symbolic tensors joins their graph."""
    for value in inputs:
        for t in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(t, Tensor) and not t.is_eager:
                if not t.graph.building_function:
                    raise TypeError(_OUT_OF_PLACE + t.name)
                # A scope of ops that run at once reserves no names in a graph.
                name = name.rsplit("/", 2)[-2] if name and name[-1] == "/" and name[:-1] in t.graph._by_name else name
                with t.graph.as_default():
                    return registry.apply(definition.name, *inputs, name=name, **attrs)
    return _run(*_prepared(definition, inputs, attrs, name), name)


def execute(definition: opdefs.OpDef, inputs: Any, attrs: dict[str, Any], name: str | None) -> Any:
    """Runs an op and returns its outputs as tensors; None where it has none."""
    key: list[Any] = [definition]
    flat: list[Any] = []
    for i, value in enumerate(inputs):
        if type(value) is EagerTensor:
            key.append(value.dtype._type_enum)
            flat.append(value)
        elif (type(value) is list or type(value) is tuple) and definition.inputs[i].is_list:
            for t in value:
                if type(t) is not EagerTensor:
                    return _prepared_run(definition, inputs, attrs, name)
                key.append(t.dtype._type_enum)
            flat.extend(value)
            key.append(len(value))
        elif i in _integer_inputs(definition) and (t := integers(value)) is not None:
            key.append(t.dtype._type_enum)
            flat.append(t)
        else:
            return _prepared_run(definition, inputs, attrs, name)
    if attrs:
        key.extend(attrs.items())
    call = tuple(key)
    try:
        found = _calls.get(call)
    except TypeError:
        # An attribute that is a list.
        call = _frozen(call)
        try:
            found = _calls.get(call)
        except TypeError:
            return _prepared_run(definition, inputs, attrs, name)
    if found is None:
        found = _prepared(definition, inputs, attrs, name)[0]
        _calls[call] = found
    return _run(found, flat, name)


@functools.cache
def _integer_inputs(definition: opdefs.OpDef) -> frozenset[int]:
    """The inputs that take shapes, axes and the like: integers, whose type no other input depends on."""
    found = set()
    for i, arg in enumerate(definition.inputs):
        attr = definition.attrs.get(arg.type_attr or "")
        sharing = [a for a in (*definition.inputs, *definition.outputs) if a.type_attr == arg.type_attr]
        is_own = attr is not None and attr.default is dtypes.int32 and len(sharing) == 1
        if not arg.is_list and (arg.type is dtypes.int32 or is_own):
            found.add(i)
    return frozenset(found)


def _prepared(definition: opdefs.OpDef, inputs: Any, attrs: dict[str, Any], name: str | None) -> tuple[Kernel, list[Any]]:
    """The kernel for a call, and its inputs as tensors."""
    known: dict[str, Any] = {}
    for attr_name in definition.inferred:
        if attrs.get(attr_name) is not None:
            known[attr_name] = attr_values.normalized(attrs[attr_name], definition.attrs[attr_name].type, attr_name)
    given = tuple(known)
    flat: list[Any] = []
    for arg, value in zip(definition.inputs, inputs):
        if arg.is_list:
            registry.convert_list_input(definition, arg, value, known, given, flat)
            continue
        type_attr = arg.type_attr
        wanted = arg.type if type_attr is None else known.get(type_attr)
        if type(value) is not EagerTensor:
            value = _converted(definition, arg, value, known, len(flat))
        elif wanted is None:
            registry.converted(definition, arg, value, known)
        elif value.dtype is not wanted:
            raise _mismatch(definition, len(flat), wanted, value.dtype, name)
        flat.append(value)
    return _kernel(definition, registry.completed(definition, known, attrs), flat), flat


def _kernel(definition: opdefs.OpDef, attrs: dict[str, Any], inputs: list[Any]) -> Kernel:
    types = [t.dtype for t in inputs]
    key = (definition.name, *types, *map(_frozen, attrs.values()))
    kernel = _kernels.get(key)
    if kernel is None:
        kernel = _kernels[key] = Kernel(definition, attrs, types)
    return kernel


def run(definition: opdefs.OpDef, attrs: dict[str, Any], inputs: list[Any], name: str | None = None) -> Any:
    """Runs an op whose attributes and inputs are complete."""
    return _run(_kernel(definition, attrs, inputs), inputs, name)


def _run(kernel: Kernel, inputs: list[Any], name: str | None) -> Any:
    kinds = kernel.types
    try:
        if CHOOSERS and (place := CHOOSERS[0](kernel.definition.name, inputs)) is not None:
            outputs = place.run(kernel, inputs)
        else:
            arguments = [t.value for t in inputs]
            if kernel.writes:
                for value in arguments:
                    if type(value) is Storage:
                        keep_reads(value)
            if kernel.variable_type is not None:
                _check_variable(arguments[0], kernel)
            found = traced(kernel.run, arguments, kernel.definition.name, name) if TRACES else kernel.run(*arguments)
            if kernel.gives_one:
                if kernel.is_read and type(found) is torch.Tensor:
                    found = found.detach()
                elif kernel.takes_piece and type(found) is torch.Tensor:
                    found = _piece(found)
                outputs = [EagerTensor(found, kinds[0])]
            elif len(kinds) == 1:
                outputs = [EagerTensor(found, kinds[0])]
            else:
                outputs = [EagerTensor(v, t) for v, t in zip(found, kinds)] if kinds else []
    except Exception as error:
        explained = explain(error, kernel.definition.name, name)
        raise explained from (None if isinstance(error, errors.OpError) else error)
    if ACTIVE.tapes:
        record(kernel.definition, kernel.attrs, inputs, outputs)
    if CALLBACKS:
        for callback in CALLBACKS:
            callback(kernel.definition.name, tuple(inputs), kernel.attrs, outputs, name)
    if kernel.gives_one:
        return outputs[0]
    return registry.arranged(kernel.definition, kernel.attrs, outputs) if kinds or kernel.definition.outputs else None


def _piece(value: torch.Tensor) -> torch.Tensor:
    """A small piece of much as a copy: else it would keep all of that, and have a variable be copied when it is written."""
    whole = value.untyped_storage().nbytes()
    return value.clone() if whole >= LARGE and value.nbytes * 16 <= whole else value


def traced(function: Callable[..., Any], arguments: list[Any], kind: str, name: str | None) -> Any:
    """Calls what runs an op or function, and tells those who trace when that was."""
    began = time.time_ns()
    found = function(*arguments)
    ended = time.time_ns()
    for trace in TRACES:
        trace(kind, name, began, ended)
    return found


def record(definition: opdefs.OpDef, attrs: dict[str, Any], inputs: list[Any], outputs: list[Any]) -> None:
    """Puts an op that ran on the tapes that watch one of its inputs."""
    operation: Recorded | None = None
    for tape in ACTIVE.tapes:
        if tape.watches(inputs):
            if operation is None:
                operation = Recorded(definition, attrs, inputs, outputs)
            tape.add(operation)


_TYPED = ("AssignAddVariableOp", "AssignSubVariableOp", "AssignVariableOp", "ReadVariableOp")


def _check_variable(slot: Any, kernel: Kernel) -> None:
    wanted: Any = kernel.variable_type
    if type(slot) is not Storage or slot.dtype is wanted or slot.value is None:
        return
    names = {t: _SHOWN.get(t.name, t.name) for t in (wanted, slot.dtype)}
    if kernel.writes:
        raise invalid_argument(f"Trying to assign variable with wrong dtype. Expected {names[slot.dtype]} got {names[wanted]}")
    raise invalid_argument(f"Trying to read variable with wrong dtype. Expected {names[wanted]} got {names[slot.dtype]}")


def keep_reads(slot: Storage) -> None:
    """Before a variable is written in place: what was read of it and is still in use keeps its value."""
    value = slot.value
    if type(value) is not torch.Tensor:
        return
    storage = value.untyped_storage()
    # One for the variable itself, one for the object just made.
    if torch._C._storage_Use_Count(storage._cdata) > 2:
        slot.value = value.clone()


def _frozen(value: Any) -> Any:
    if type(value) is list or type(value) is tuple:
        return tuple(_frozen(v) for v in value)
    return value.tobytes() if hasattr(value, "tobytes") else value


def _converted(definition: opdefs.OpDef, arg: opdefs.Arg, value: Any, known: dict[str, Any], position: int) -> Any:
    """Another value than a tensor as one; an op that changes a variable takes the variable's handle."""
    try:
        found = registry.converted(definition, arg, value, known)
    except TypeError:
        # Where the types of tensors differ, the op is what fails.
        actual = getattr(value, "dtype", None)
        wanted = known.get(arg.type_attr) if arg.type_attr is not None else arg.type
        if actual is None or wanted is None or not isinstance(value, EagerTensor):
            raise
        raise _mismatch(definition, position, wanted, dtypes.as_dtype(actual), None) from None
    return found


_SHOWN = {"float32": "float", "float64": "double", "float16": "half"}


def _mismatch(definition: opdefs.OpDef, position: int, wanted: Any, actual: Any, name: str | None) -> errors.OpError:
    names = [_SHOWN.get(t.name, t.name) for t in (wanted, actual)]
    text = (
        f"cannot compute {definition.name} as input #{position}(zero-based) was expected to be a {names[0]} tensor but is a "
        f"{names[1]} tensor"
    )
    return errors.InvalidArgumentError(None, None, text + _tail(definition.name, name))


def _tail(op_type: str, name: str | None) -> str:
    full = name if name is None or name.endswith("/") else f"{eager_scope.name}{name}"
    return f" [Op:{op_type}]" + (f" name: {full}" if full else "")


def explain(error: Exception, op_type: str, name: str | None) -> Exception:
    """What to raise for an exception inside a kernel: an error of `tf.errors` that names the op."""
    if isinstance(error, errors.OpError):
        if "[Op:" in error.message or type(error) is errors.OpError:
            return error
        return type(error)(None, None, error.message + _tail(op_type, name))  # type: ignore[call-arg]
    text = str(error).split("\n")[0]
    if isinstance(error, MemoryError) or "not enough memory" in text or "out of memory" in text:
        return errors.ResourceExhaustedError(None, None, f"OOM when allocating tensor: {text}{_tail(op_type, name)}")
    if isinstance(error, (RuntimeError, ValueError, *MISTAKES)):
        unsupported = "not implemented for" in text or "not supported" in text
        kind = errors.UnimplementedError if unsupported else errors.InvalidArgumentError
        return kind(None, None, text + _tail(op_type, name))
    return error
