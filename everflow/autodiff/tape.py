"""Tapes: what ran, so that it can be differentiated."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.autodiff.aggregation import aggregate
from everflow.autodiff.calls import gradient_of_call
from everflow.autodiff.registry import REGISTERED, AggregationMethod
from everflow.autodiff.search import KNOWS_NONE, TRAINABLE, is_trainable
from everflow.graph import dtypes, opdefs
from everflow.graph.convert import convert_to_tensor
from everflow.graph.functions import LIBRARY
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.operation import InputList
from everflow.graph.stacks import TAPES, eager_scope
from everflow.graph.tensor import Tensor
from everflow.ops.core import registry
from everflow.ops.variables.handles import variable_shape


class _Active(threading.local):
    """The tapes that record what a thread does."""

    def __init__(self) -> None:
        self.tapes: list[Tape] = []


ACTIVE = _Active()
_TRAINABLE = frozenset(t._type_enum for t in TRAINABLE)


class Recorded:
    """An op that ran, as gradient functions see operations."""

    __slots__ = ("__dict__", "attrs", "inputs", "op_def_", "outputs", "skip_input_indices", "type")
    control_inputs: tuple[Any, ...] = ()
    device = ""

    def __init__(self, definition: opdefs.OpDef, attrs: dict[str, Any], inputs: list[Any], outputs: list[Any]) -> None:
        self.op_def_ = definition
        self.type = definition.name
        self.attrs = attrs
        self.inputs = InputList(inputs)
        self.outputs = outputs
        # The inputs whose gradients nobody asked for.
        self.skip_input_indices: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """A name for scopes and messages."""
        return eager_scope.name + self.type

    @property
    def graph(self) -> Any:
        """The graph whose library has the functions that ops call."""
        return LIBRARY

    def attr(self, name: str) -> Any:
        """An attribute's value."""
        return self.attrs[name]

    def get_attr(self, name: str) -> Any:
        """An attribute's value, as programs see it."""
        value = self.attrs[name]
        return value.encode() if isinstance(value, str) else value


class Custom:
    """Something that ran with a gradient of its own: `backward(*output gradients)` gives the inputs' gradients."""

    __slots__ = ("backward", "inputs", "outputs", "type")
    type: str

    def __init__(self, name: str, inputs: list[Any], outputs: list[Any], backward: Callable[..., Any]) -> None:
        self.type = name
        self.inputs = tuple(inputs)
        self.outputs = outputs
        self.backward = backward


@internal("eager.tape.record_operation")
def record_operation(op_type: str, output_tensors: Any, input_tensors: Any, backward_function: Callable[..., Any]) -> None:
    """The same, as TensorFlow orders its arguments."""
    record_custom(op_type, list(input_tensors), list(output_tensors), backward_function)


def record_custom(name: str, inputs: list[Any], outputs: list[Any], backward: Callable[..., Any]) -> None:
    """Puts it on the tapes that watch one of the inputs."""
    operation = None
    for tape in ACTIVE.tapes:
        if tape.watches(inputs):
            operation = operation or Custom(name, inputs, outputs, backward)
            tape.add(operation)


class Tape:
    """A list of what ran on watched values."""

    def __init__(self, watch_accessed_variables: bool = True) -> None:
        self.watch_accessed_variables = watch_accessed_variables
        self.operations: list[Any] = []
        self.watched: dict[int, Any] = {}
        self.variables: dict[int, Any] = {}
        # Those of the operations that are a graph's.
        self.nodes: set[Any] = set()
        # By tensor: the places of the operations that made it, of the first so many; kept once a tape is asked again.
        self._makers: dict[int, list[int]] = {}
        self._indexed = -1

    def watch(self, tensor: Any) -> None:
        """Makes what is computed from a tensor be recorded."""
        self.watched[id(tensor)] = tensor

    def watch_variable(self, variable: Any) -> None:
        """The same, for a variable."""
        handle = variable.handle
        self.variables.setdefault(id(handle), variable)
        self.watched[id(handle)] = handle

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables that were read or watched, in the order in which they were made."""
        return tuple(sorted(self.variables.values(), key=lambda v: getattr(v, "_creation_order", 0)))

    def watches(self, inputs: Any) -> bool:
        """Whether one of these is watched or was computed from what is."""
        watched = self.watched
        for t in inputs:
            if id(t) in watched:
                return True
        return False

    def add(self, operation: Any) -> None:
        """Notes an op: its outputs are watched from now on."""
        self.operations.append(operation)
        watched = self.watched
        for t in operation.outputs:
            if t.dtype._type_enum in _TRAINABLE:
                watched[id(t)] = t

    def record(self, operation: Any) -> None:
        """Notes an op that was added to a graph, on each tape of this thread that watches one of its inputs."""
        for tape in ACTIVE.tapes:
            if tape.watches(operation.inputs) or tape.has_source(operation):
                tape.add(operation)
                tape.nodes.add(operation)

    def has_source(self, operation: Any) -> bool:
        """Whether one of an op's inputs comes from an op that was noted: calls get further outputs when they are differentiated."""
        return any(not t.is_eager and t.op in self.nodes and t.dtype._type_enum in _TRAINABLE for t in operation.inputs)

    def captured(self, outside: Any, inside: Any) -> None:
        """A function that is being built uses a tensor from outside: what stands for it inside is watched as that is."""
        for tape in ACTIVE.tapes:
            if tape.watches([outside]) and not tape.watches([inside]):
                tape.add(Custom("captured_value", [outside], [inside], lambda dy: [dy]))

    def variable_read(self, variable: Any) -> None:
        """Watches a trainable variable that is about to be read, on each tape of this thread that wants it."""
        for tape in ACTIVE.tapes:
            if tape.watch_accessed_variables:
                tape.watch_variable(variable)

    def gradients(self, targets: list[Any], sources: list[Any], given: list[Any]) -> list[Any]:
        """The gradients of the targets' sum with respect to the sources; None where there is no way between them."""
        found: dict[int, list[Any]] = {}
        kept = {id(s) for s in sources}
        for target, gradient in zip(targets, given):
            known = id(target) in self.watched or id(target) in kept
            if known and (is_trainable(target) or gradient is not None):
                found.setdefault(id(target), []).append(_ones_like(target) if gradient is None else gradient)
        needed, reached = self._on_the_way(kept, self._before(targets))
        for operation in reversed(needed):
            given_here = [_total(found, t, kept) for t in operation.outputs]
            if all(g is None for g in given_here):
                continue
            inputs = operation.inputs
            if type(operation) is Recorded:
                operation.skip_input_indices = tuple([i for i, t in enumerate(inputs) if id(t) not in reached])
            for t, g in zip(inputs, backward(operation, given_here)):
                if g is not None and id(t) in reached:
                    found.setdefault(id(t), []).append(g if isinstance(g, (Tensor, IndexedSlices)) else convert_to_tensor(g))
        return [_sum(found.get(id(s))) for s in sources]

    def _before(self, targets: list[Any]) -> list[Any]:
        """Ops among which are all that lead to the targets; a tape that is asked often finds them without looking at all of its ops."""
        if self._indexed < 0:
            self._indexed = 0
            return self.operations
        for place in range(self._indexed, len(self.operations)):
            for t in self.operations[place].outputs:
                self._makers.setdefault(id(t), []).append(place)
        self._indexed = len(self.operations)
        places: set[int] = set()
        tensors = list(targets)
        while tensors:
            for place in self._makers.get(id(tensors.pop()), ()):
                if place not in places:
                    places.add(place)
                    tensors += self.operations[place].inputs
        return [self.operations[place] for place in sorted(places)]

    def _on_the_way(self, sources: set[int], operations: list[Any]) -> tuple[list[Any], set[int]]:
        """The ops that the sources lead to, and the tensors: others need not be differentiated."""
        reached = set(sources)
        needed = []
        for operation in operations:
            for t in operation.inputs:
                if id(t) in reached:
                    needed.append(operation)
                    reached.update([id(y) for y in operation.outputs])
                    break
        return needed, reached


def _total(found: dict[int, list[Any]], tensor: Any, kept: set[int]) -> Any:
    if id(tensor) in kept:
        total = _sum(found.get(id(tensor)))
        if total is not None:
            found[id(tensor)] = [total]
        return total
    return _sum(found.pop(id(tensor), None))


def _sum(gradients: list[Any] | None) -> Any:
    if not gradients:
        return None
    return gradients[0] if len(gradients) == 1 else aggregate(gradients, AggregationMethod.ADD_N, "tape")


def backward(operation: Any, given: list[Any]) -> Any:
    """The gradients of an op's inputs for those of its outputs."""
    if type(operation) is Custom:
        found = operation.backward(*[_zeros_like(t) if g is None and is_trainable(t) else g for t, g in zip(operation.outputs, given)])
        return found if isinstance(found, (list, tuple)) else [found]
    function = _gradient_function(operation)
    if function is None:
        return [None] * len(operation.inputs)
    if operation.type not in KNOWS_NONE:
        given = [_zeros_like(t) if g is None and is_trainable(t) else g for t, g in zip(operation.outputs, given)]
    found = function(operation, *given)
    return found if isinstance(found, (list, tuple)) else [found]


def _gradient_function(operation: Any) -> Any:
    try:
        return REGISTERED.lookup(operation.attrs.get("_gradient_op_type") or operation.type)
    except LookupError:
        if operation.graph._is_function(operation.type):
            return gradient_of_call
        raise LookupError(f"No gradient defined for operation '{operation.name}' (op type: {operation.type})") from None


def _ones_like(tensor: Any) -> Any:
    if tensor.dtype.base_dtype is dtypes.resource:
        return tf.ones_like(_zeros_like(tensor))
    return registry.apply("OnesLike", tensor) if tensor.is_eager else tf.ones_like(tensor)


def _zeros_like(tensor: Any) -> Any:
    if tensor.dtype.base_dtype is dtypes.resource:
        return tf.zeros(variable_shape(tensor), tensor.handle_data[1] if tensor.handle_data else dtypes.float32)
    return registry.apply("ZerosLike", tensor)


def push(tape: Tape) -> None:
    """Starts recording."""
    ACTIVE.tapes.append(tape)
    TAPES.append(tape)


def pop(tape: Tape) -> None:
    """Ends recording."""
    ACTIVE.tapes.remove(tape)
    TAPES.remove(tape)


@internal("eager.tape.should_record")
def should_record(tensors: Any) -> bool:
    """Whether a tape watches one of the tensors."""
    return any(tape.watches(tensors) for tape in ACTIVE.tapes)


@internal("eager.tape.could_possibly_record")
def could_possibly_record() -> bool:
    """Whether a tape is recording."""
    return bool(ACTIVE.tapes)


@internal("eager.tape.variable_accessed")
def variable_accessed(variable: Any) -> None:
    """A variable is read."""
    for tape in ACTIVE.tapes:
        if tape.watch_accessed_variables and variable.trainable:
            tape.watch_variable(variable)


@internal("eager.tape.stop_recording")
class stop_recording:
    """`with stop_recording():` what runs inside is on no tape."""

    def __enter__(self) -> None:
        self._tapes = ACTIVE.tapes
        ACTIVE.tapes = []

    def __exit__(self, *_: Any) -> None:
        ACTIVE.tapes = self._tapes
