"""Traced functions: bodies that run as one step, and their gradients."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from everflow import _native, nest
from everflow.api import internal
from everflow.autodiff import tape as tapes
from everflow.autodiff.bodies import GradientBody, differentiate, is_differentiable
from everflow.autodiff.branches import slice_parts
from everflow.autodiff.calls import gradient_function
from everflow.eager import arguments
from everflow.eager.devices import CHOOSERS
from everflow.eager.execute import CONTEXT, TRACES, explain, keep_reads, traced
from everflow.eager.tensor import EagerTensor
from everflow.graph import dtypes
from everflow.graph.attrs import FunctionName
from everflow.graph.convert import convert_to_tensor
from everflow.graph.func_graph import FuncGraph
from everflow.graph.functions import LIBRARY, LibraryFunction, with_called
from everflow.graph.graph import Graph
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.keys import GraphKeys
from everflow.graph.operation import Operation
from everflow.graph.scopes import is_eager_outside
from everflow.graph.shapes import is_within
from everflow.graph.stacks import TAPES, get_default_graph, in_eager_mode
from everflow.graph.tensor import Tensor
from everflow.graph.type_spec import CompositeTensor
from everflow.ops.core.registry import apply
from everflow.ops.random.eager_seeds import SEEDS
from everflow.ops.variables.resource_variables import variable_accessed
from everflow.ops.variables.store import STORE_KEY
from everflow.ops.variables.variable_scope import SCOPES_KEY
from everflow.runtime import effects
from everflow.values.resources import Storage

_serial = itertools.count()
# Who is told of each function that runs for the first time.
FIRST_RUNS: list[Callable[[Any], None]] = []
_ATTRIBUTES = ("api_implements", "api_preferred_device", "forward_function_name", "backward_function_name")
# Variables, and what finds them by their names: a function's are those of the graph around it.
_OF_VARIABLES = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES, STORE_KEY, SCOPES_KEY)


def is_variable(value: Any) -> bool:
    """Whether a value is a variable with a handle."""
    return isinstance(getattr(value, "handle", None), Tensor) and hasattr(value, "assign")


class TracedGraph(FuncGraph):
    """The body of a traced function."""

    orders_effects = True

    def __init__(self, name: str, capture_by_value: bool | None = None, collections: Any = None) -> None:
        super().__init__(name, collections, capture_by_value)
        self.eager_outside = eager = is_eager_outside()
        self._functions = LIBRARY._functions if eager else get_default_graph()._functions
        if collections is None:
            outer = get_default_graph()._collections
            self._collections = {key: list(values) for key, values in outer.items() if key not in _OF_VARIABLES}
            self._collections |= {key: outer.setdefault(key, []) for key in _OF_VARIABLES}
        if eager:
            self.outer_graph = LIBRARY
            self.seed = SEEDS.seed
        # Summaries that nobody wrote when they were made, where somebody may later: (tag, tensor, metadata).
        self.unwritten: list[tuple[Any, Any, Any]] | None = None
        self._watched: dict[int, Any] = {}
        # The handles of variables that are arguments, and the inputs that stand for them.
        self.given: dict[Tensor, Tensor] = {}
        # What is asked for at each call: the inputs, what gives their values, and what these must be.
        self.deferred: dict[Any, tuple[Any, list[Tensor], Callable[[], Any], Any]] = {}

    def own(self, tensor: Tensor) -> Tensor:
        """As for any body; a variable that is an argument is that argument."""
        found = self.given.get(tensor) if self.given else None
        return super().own(tensor) if found is None else found

    def capture_call_time_value(self, closure: Callable[[], Any], spec: Any, key: Any = None) -> Any:
        """A value that `closure` gives anew whenever the function is called."""
        key = object() if key is None else key
        if key not in self.deferred:
            specs = nest.flatten(spec, expand_composites=True)
            inputs = [self.placeholder(s.dtype, s.shape.as_dims(), "deferred") for s in specs]
            self.deferred[key] = nest.pack_sequence_as(spec, inputs, expand_composites=True), inputs, closure, spec
        return self.deferred[key][0]

    def watch_variable(self, variable: Any) -> None:
        """Notes a variable that the body uses."""
        if id(variable) not in self._watched:
            self._watched[id(variable)] = variable
            self.variables.append(variable)

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The trainable variables that the body uses."""
        return tuple(v for v in self.variables if v.trainable)


@internal("eager.function.ConcreteFunction")
class ConcreteFunction:
    """A traced function: a body whose inputs are the arguments' tensors and what it captured."""

    # SavedModels keep attributes that are functions.
    _everflow_function = True

    def __init__(
        self, graph: FuncGraph, structure: Any = None, signature: Any = None, name: str | None = None, attrs: dict[str, Any] | None = None
    ) -> None:
        self.graph = self._func_graph = graph
        self.function_name = name or f"__inference_{graph.name}_{next(_serial)}"
        self.structured_outputs = structure
        self.structured_input_signature = signature
        self._entry = LibraryFunction(self.function_name, graph=graph, attrs=_checked_attributes(attrs or {}))
        graph._functions.setdefault(self.function_name, self._entry)
        self._captured = graph.external_captures
        self._step = CONTEXT.compile(graph)
        # Whether it was called with shapes that its inputs don't have.
        self.any_shape = False
        self._types = [t.dtype.base_dtype for t in graph.outputs]
        self._gives_one = isinstance(structure, Tensor)
        self._writes: list[int] | None = None
        self._pair: _Pair | None = None
        # How callers name the arguments' tensors, and how many of them may come by position.
        self._asks = sum(len(inputs) for _, inputs, _, _ in getattr(graph, "deferred", {}).values())
        self._arg_keywords = [t.op.name for t in graph.inputs[: len(graph.inputs) - len(self._captured) - self._asks]]
        self._num_positional_args = len(self._arg_keywords)

    # -- what it is

    @property
    def name(self) -> bytes:
        """The name in libraries, as programs get it."""
        return self.function_name.encode()

    @property
    def inputs(self) -> list[Tensor]:
        """The tensors of the body that stand for arguments and captures."""
        return self.graph.inputs

    @property
    def outputs(self) -> list[Tensor]:
        """The tensors that the body returns."""
        return self.graph.outputs

    @property
    def captured_inputs(self) -> list[Tensor]:
        """The tensors from outside that the body uses."""
        return self._captured

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that the body uses."""
        return tuple(self.graph.variables)

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The trainable ones of them."""
        return tuple(v for v in self.graph.variables if v.trainable)

    @property
    def output_shapes(self) -> Any:
        """The static shapes of what is returned."""
        return nest.map_structure(lambda t: getattr(t, "shape", None), self.structured_outputs)

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of what is returned."""
        return nest.map_structure(lambda t: None if t is None else t.dtype, self.structured_outputs)

    @property
    def function_def(self) -> Any:
        """The FunctionDef."""
        return self._entry.definition

    def add_to_graph(self, g: Graph | None = None) -> None:
        """Makes the function known to a graph."""
        (LIBRARY if g is None and in_eager_mode() else g or get_default_graph())._add_function(self._entry)

    def add_gradient_functions_to_graph(self, g: Graph | None = None) -> None:
        """Makes known the function that hands out what its gradient needs, and the gradient."""
        for entry in self._differentiable().entries():
            (LIBRARY if g is None and in_eager_mode() else g or get_default_graph())._add_function(entry)

    def _differentiable(self) -> _Pair:
        if self._pair is None:
            self._pair = _Pair(self)
        return self._pair

    # -- calling

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = arguments.in_order(args, kwargs, self._arg_keywords, self._num_positional_args)
        tensors = [self._tensor(i, value) for i, value in enumerate(given)]
        if not self.any_shape and in_eager_mode():
            self._check_shapes(tensors)
        return self.call_flat(tensors)

    def _check_shapes(self, tensors: list[Any]) -> None:
        """Makes the function take any shapes where the tensors have others than its inputs: TensorFlow runs such calls, too."""
        for t, inside in zip(tensors, self.graph.inputs):
            if not is_within(t.dims, inside.dims) and inside.dtype is not dtypes.resource:
                self.any_shape, self._pair = True, None
                self._step = CONTEXT.compile(self.graph, any_shape=True)
                return

    def _tensor(self, i: int, value: Any) -> Any:
        if isinstance(value, Tensor):
            return value
        if is_variable(value):
            return value.handle if self.graph.inputs[i].dtype is dtypes.resource else convert_to_tensor(value)
        raise ValueError(
            f"All inputs to `ConcreteFunction`s must be Tensors; on invocation of {self.graph.name}, the {i}-th input "
            f"({value}) was not a Tensor."
        )

    def call_flat(self, arguments: Any) -> Any:
        """The function's results for the tensors of its arguments."""
        if TAPES:
            for v in self.graph.variables:
                if v.trainable:
                    TAPES[-1].variable_read(v)
        inputs = [*arguments, *self._captured, *self._deferred()] if self._asks else [*arguments, *self._captured]
        outputs = self.run(inputs) if in_eager_mode() else self._add_call(inputs)
        if isinstance(outputs, Operation):
            # Of a function without results there is only the call itself to run.
            return outputs if self.structured_outputs is None else self._packed([])
        return outputs[0] if self._gives_one else self._packed(outputs)

    def _deferred(self) -> list[Any]:
        """The values that are asked for at each call."""
        found: list[Any] = []
        for _, _, closure, spec in self.graph.deferred.values():  # type: ignore[attr-defined]
            value = closure()
            nest.assert_same_structure(spec, value, expand_composites=True)
            for one, part in zip(nest.flatten(spec), nest.flatten(value)):
                if isinstance(part, CompositeTensor) and not one.is_compatible_with(part):
                    raise ValueError(f"Value {part} is not compatible with {one}.")
            for s, part in zip(nest.flatten(spec, expand_composites=True), nest.flatten(value, expand_composites=True)):
                t = convert_to_tensor(part)
                if t.dtype.base_dtype is not s.dtype or not s.shape.is_compatible_with(t.shape):
                    raise ValueError(f"Value {part} is not convertible to a tensor with dtype {s.dtype} and shape {s.shape}.")
                found.append(t)
        return found

    def run(self, inputs: list[Any]) -> list[Any]:
        """The results, computed at once."""
        if CHOOSERS and CHOOSERS[0](self.function_name, inputs) is not None:
            return self._run_elsewhere(inputs)
        values = [t.value for t in inputs]
        for i in self._writes if self._writes is not None else self._written():
            if type(values[i]) is Storage:
                keep_reads(values[i])
        for tape in tapes.ACTIVE.tapes:
            if tape.watches(inputs):
                return self._recorded(inputs, values)
        return self._wrapped(self._run(self._step, values))

    def _run_elsewhere(self, inputs: list[Any]) -> list[Any]:
        """The same in another process."""
        if not any(tape.watches(inputs) for tape in tapes.ACTIVE.tapes):
            return _call_elsewhere(self._entry, inputs, self._types)
        pair = self._differentiable()
        forward, gradient = pair.entries()
        found = _call_elsewhere(forward, inputs, [t.dtype.base_dtype for t in forward.graph.outputs])
        outputs, kept = found[: len(self._types)], found[len(self._types) :]

        def backward(*given: Any) -> list[Any]:
            if tapes.ACTIVE.tapes or not in_eager_mode():
                return pair.again(inputs, given)
            return pair._arranged(_call_elsewhere(gradient, pair.arguments(inputs, kept, given), pair.types))

        tapes.record_custom(self.function_name, inputs, outputs, backward)
        return outputs

    def _wrapped(self, values: Any) -> list[Any]:
        """The results as tensors: the constructor would only ask what is known here."""
        outputs = []
        for value, dtype in zip(values, self._types):
            t = EagerTensor.__new__(EagerTensor)
            t.value = value
            t.dtype = dtype
            outputs.append(t)
        return outputs

    def _run(self, step: Callable[..., Any], values: list[Any]) -> Any:
        flushing = _native.Flushing()
        try:
            return traced(step, values, self.function_name, "FunctionRun") if TRACES else step(*values)
        except Exception as error:
            explained = explain(error, self.function_name, None)
            raise explained from (None if explained is error or error.__cause__ is None else error.__cause__)
        finally:
            del flushing

    def _written(self) -> list[int]:
        if self._writes is None:
            for note in FIRST_RUNS:
                note(self)
            self._writes = sorted(effects.of_function(CONTEXT, self.function_name).arguments)
        return self._writes

    def _add_call(self, inputs: list[Any]) -> list[Any] | Operation:
        """The results of a call as a node of the graph that is being built; the node itself if there are none."""
        graph = get_default_graph()
        if graph._functions is not self.graph._functions:
            for name, inner in with_called([self._entry]).items():
                graph._functions.setdefault(name, inner)
        for v in self.graph.variables:
            variable_accessed(v)
        stateful = any(o.op_def_.is_stateful and o.type != "Placeholder" for o in self.graph.get_operations())
        tensors = [graph.own(t) if graph.building_function else t for t in inputs]
        with graph.control_dependencies(list(self.graph.control_captures)):
            found = apply(
                "StatefulPartitionedCall" if stateful else "PartitionedCall",
                tensors,
                Tout=self._types,
                f=FunctionName(self.function_name),
                # TensorFlow calls what has no results otherwise.
                name=None if self._types else "PartitionedFunctionCall",
            )
        if isinstance(found, Operation):
            return found
        for t, inside in zip(found, self.graph.outputs):
            t.handle_data = inside.handle_data
        return found

    def _packed(self, outputs: list[Any]) -> Any:
        rest = iter(outputs)
        flat = [None if t is None else next(rest) for t in nest.flatten(self.structured_outputs, expand_composites=True)]
        return nest.pack_sequence_as(self.structured_outputs, flat, expand_composites=True)

    # -- gradients

    def _recorded(self, inputs: list[Any], values: list[Any]) -> list[Any]:
        pair = self._differentiable()
        found = self._run(pair.forward, values)
        outputs = self._wrapped(found)
        kept = found[len(outputs) :]

        def backward(*given: Any) -> list[Any]:
            if tapes.ACTIVE.tapes or not in_eager_mode():
                return pair.again(inputs, given)
            return pair.backward(inputs, kept, given)

        tapes.record_custom(self.function_name, inputs, outputs, backward)
        return outputs


def _call_elsewhere(function: LibraryFunction, inputs: list[Any], types: list[Any]) -> list[Any]:
    """Calls a function as an op of another process, which is told of it as of any that an op calls; tapes don't see it."""
    for name, entry in with_called([function]).items():
        LIBRARY._functions.setdefault(name, entry)
    with tapes.stop_recording():
        return apply("StatefulPartitionedCall", inputs, Tout=types, f=FunctionName(function.name)) or []


def _checked_attributes(attrs: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a function, as its definition has them."""
    for key, value in attrs.items():
        if key != "func_name" and not key.startswith("experimental_") and key not in _ATTRIBUTES:
            raise ValueError(f"Attribute name is not whitelisted. Whitelisted: prefix experimental_, got: {key}")
        if not isinstance(value, (bool, int, float, str, bytes)):
            raise ValueError(f"Unsupported attribute type for {key} with type {type(value)}")
    return {key: value for key, value in attrs.items() if key != "func_name"}


class _Pair:
    """A function that hands out what its gradient needs, and the gradient."""

    def __init__(self, function: ConcreteFunction) -> None:
        self.function = function
        graph = function.graph
        outside = Graph()
        outside._functions = graph._functions
        self.sources: dict[Tensor, tuple[str, int]] = {}
        kept: list[Tensor] = []
        stand_ins: dict[Tensor, Tensor] = {}

        def bring_out(t: Tensor) -> Tensor:
            if t not in stand_ins:
                with outside.as_default():
                    stand_ins[t] = apply("Placeholder", dtype=t.dtype.base_dtype, shape=t.dims)
                stand_ins[t].handle_data = t.handle_data
                place = graph.place_of(t)
                if place is not None:
                    self.sources[stand_ins[t]] = ("input", place)
                else:
                    self.sources[stand_ins[t]] = ("kept", len(kept))
                    kept.append(t)
            return stand_ins[t]

        with tapes.stop_recording():
            body = GradientBody.of(graph, outside, bring_out)
            with body.as_default():
                self.trainable = [i for i, y in enumerate(graph.outputs) if is_differentiable(y)]
                given = [body.add_input(graph.outputs[i].dtype.base_dtype, graph.outputs[i].dims, "dy") for i in self.trainable]
                found = differentiate(graph, [graph.outputs[i] for i in self.trainable], graph.inputs, list(given))
                self.kinds = [None if dx is None else IndexedSlices if isinstance(dx, IndexedSlices) else Tensor for dx in found]
                for x, dx in zip(graph.inputs, found):
                    if isinstance(dx, IndexedSlices):
                        body.outputs.extend(slice_parts(x, dx))
                    elif dx is not None:
                        body.outputs.append(convert_to_tensor(dx))
            body.settle()
        self.captured = list(body.captures)
        body.inputs = [*given, *(body.captures[t] for t in self.captured)]
        self.types = [t.dtype.base_dtype for t in body.outputs]
        self._graphs = graph.variant([*graph.outputs, *kept]), body
        self.forward, self._backward = (CONTEXT.compile(g, function.any_shape) for g in self._graphs)
        self._again: Any = None

    def entries(self) -> list[LibraryFunction]:
        """Both as functions for libraries, which tell of each other."""
        base = self.function.function_name.removeprefix("__inference_")
        forward, backward = f"__forward_{base}", f"__inference___backward_{base}"
        return [
            LibraryFunction(forward, graph=self._graphs[0], attrs={"backward_function_name": backward}),
            LibraryFunction(backward, graph=self._graphs[1], attrs={"forward_function_name": forward}),
        ]

    def backward(self, inputs: list[Any], kept: Any, given: Any) -> list[Any]:
        """The inputs' gradients, on what the forward run kept."""
        dys: list[Any] = [given[i] if isinstance(given[i], Tensor) else convert_to_tensor(given[i]) for i in self.trainable]
        values = [dy.value for dy in dys]
        for t in self.captured:
            if t.is_eager:
                # A value that only the gradient uses.
                values.append(t.value)  # type: ignore[attr-defined]
                continue
            kind, i = self.sources[t]
            values.append(inputs[i].value if kind == "input" else kept[i])
        found = self.function._run(self._backward, values)
        return self._arranged([EagerTensor(v, t) for v, t in zip(found, self.types)])

    def arguments(self, inputs: list[Any], kept: list[Any], given: Any) -> list[Any]:
        """What the gradient's function takes, as tensors."""
        found: list[Any] = [convert_to_tensor(given[i]) for i in self.trainable]
        for t in self.captured:
            kind, i = self.sources.get(t, ("own", 0))
            found.append(t if kind == "own" else inputs[i] if kind == "input" else kept[i])
        return found

    def _arranged(self, flat: list[Any]) -> list[Any]:
        rest = iter(flat)
        return [
            None if kind is None else next(rest) if kind is Tensor else IndexedSlices(next(rest), next(rest), next(rest))
            for kind in self.kinds
        ]

    def again(self, inputs: list[Any], given: Any) -> list[Any]:
        """The same as a function of its own, which can be differentiated in turn."""
        if self._again is None:
            entry = gradient_function(LIBRARY, self.function.function_name)
            structure = list(entry.graph.outputs)
            self._again = ConcreteFunction(entry.graph, structure, name=entry.name + f"_{next(_serial)}")
        found = self._again.call_flat([*inputs, *(convert_to_tensor(g) for g in given)])
        return [g if kind is not None else None for g, kind in zip(found, self.kinds)]
