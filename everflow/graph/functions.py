"""Function bodies as graphs, and the functions of a graph's library."""

from __future__ import annotations

import contextlib
import copy
import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from everflow import errors
from everflow.api import internal
from everflow.graph import opdefs
from everflow.graph.graph import Graph
from everflow.graph.keys import GraphKeys
from everflow.graph.operation import Operation
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.graph.wire import op_def_from_proto

VARIABLE_OPS = ("VariableV2", "Variable", "AutoReloadVariable")
# Collections by which variables are shared between a function and the graph around it.
VARIABLE_COLLECTIONS = (*GraphKeys._VARIABLE_COLLECTIONS, ("__variable_store",), ("__varscope",))


@internal("framework.func_graph.FuncGraph")
class FuncGraph(Graph):
    """The body of a function. Tensors from outside that it uses become further inputs: it captures them."""

    building_function = True
    # Whether branches and loops inside are those of version 2.
    control_flow_v2 = True

    def __init__(self, name: str, collections: Any = None, capture_by_value: bool | None = None) -> None:
        super().__init__()
        self.name = name
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.control_outputs: list[Operation] = []
        self.control_captures: dict[Operation, None] = {}
        self.structured_outputs: Any = None
        self.structured_input_signature: Any = None
        self.outer_graph: Graph | None = get_default_graph()
        self.seed = self.outer_graph.seed
        self.variables: list[Any] = []
        self.extra_vars: list[Any] = []
        self.capture_by_value = bool(capture_by_value)
        self.whitelisted_stateful_ops: set[Operation] = set()
        self._captures: dict[Tensor, Tensor] = {}
        self._copies: dict[Tensor, Tensor] = {}
        self._home: FuncGraph | None = None
        if collections is not None:
            self._collections = collections

    def __str__(self) -> str:
        return f"FuncGraph(name={self.name}, id={id(self)})"

    # -- captures

    @property
    def captures(self) -> dict[Tensor, Tensor]:
        """What is captured: the tensor outside, and the input that stands for it."""
        return self._captures

    @property
    def external_captures(self) -> list[Tensor]:
        """The captured tensors, in the order of the inputs that stand for them."""
        return list(self._captures)

    @property
    def captured_inputs(self) -> list[Tensor]:
        """The same as `external_captures`."""
        return list(self._captures)

    @property
    def internal_captures(self) -> list[Tensor]:
        """The inputs that stand for captured tensors."""
        return list(self._captures.values())

    def own(self, tensor: Tensor) -> Tensor:
        """The tensor to use in this body for one that may come from outside."""
        if tensor.op.graph is self:
            return tensor
        found = self._copies.get(tensor)
        if found is None:
            found = self._captures.get(tensor)
        return self._take(tensor) if found is None else found

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """The same as `own`."""
        return self.own(tensor)

    def _take(self, tensor: Tensor) -> Tensor:
        outside = tensor.op.graph
        if isinstance(outside, FuncGraph) and _is_inside(outside, self):
            raise ValueError(
                "Trying to capture a tensor from an inner function. This can be caused by accessing a tensor defined "
                "inside a loop or "
                "conditional body, or a subfunction, from a calling function, without going through the proper "
                "return value mechanism. "
                "Consider using TensorFlow mechanisms such as TensorArrays to return tensors from inner functions or "
                "loop / conditional "
                f"bodies. Tensor: {tensor}; tensor graph: {outside}; this graph: {self}"
            )
        if tensor.dtype._is_ref_dtype and tensor.op.type in VARIABLE_OPS:
            found = self._same_variable(tensor)
            self._copies[tensor] = found
        elif self.capture_by_value:
            found = self._copy(tensor.op).outputs[tensor.value_index]
        else:
            argument = self.add_input(tensor.dtype.base_dtype, tensor.dims, "Placeholder", tensor.handle_data)
            self._captures[tensor] = found = argument
            if _is_guaranteed(tensor):
                found = self._copies[tensor] = self._guaranteed(argument)
        return found

    def _guaranteed(self, argument: Tensor) -> Tensor:
        definition = opdefs.find("GuaranteeConst")
        assert definition is not None
        with self.aside():
            op = self.add(
                definition, self.unique_name("GuaranteeConst"), (argument,), {"T": argument.dtype}, [argument.dtype]
            )
        return op.outputs[0]

    def add_input(self, dtype: Any, dims: Any, name: str, handle_data: Any = None) -> Tensor:
        """A further argument of the function, as a Placeholder."""
        found = self.placeholder(dtype, dims, name, handle_data)
        self.inputs.append(found)
        return found

    def placeholder(self, dtype: Any, dims: Any, name: str, handle_data: Any = None) -> Tensor:
        """A Placeholder that is not yet an argument."""
        definition = opdefs.find("Placeholder")
        assert definition is not None
        with self.aside():
            op = self.add(
                definition, self.unique_name(name), (), {"dtype": dtype, "shape": dims}, [dtype], infer_shapes=False
            )
        found = op.outputs[0]
        found.dims = dims
        found.handle_data = handle_data
        return found

    def _same_variable(self, tensor: Tensor) -> Tensor:
        """A node of this body that stands for the very same variable: found by its name at run time."""
        op = tensor.op
        attrs = {**op.attrs, "shared_name": op.attrs.get("shared_name") or op.name}
        attrs.pop("_class", None)
        with self.aside():
            copied = self.add(
                op.op_def_, self.unique_name(op.name.rpartition("/")[2]), (), attrs, [tensor.dtype], infer_shapes=False
            )
        copied._device = op._device
        copied.outputs[0].dims = tensor.dims
        return copied.outputs[0]

    def _copy(self, op: Operation) -> Operation:
        """Captures by value: the op that computes the tensor, and all it needs, copied into the body."""
        if op.op_def_.is_stateful and op not in self.whitelisted_stateful_ops:
            raise ValueError(f"Cannot capture a stateful node (name:{op.name}, type:{op.type}) by value.")
        if op.type in ("Placeholder", "PlaceholderV2"):
            raise ValueError(f"Cannot capture a placeholder (name:{op.name}, type:{op.type}) by value.")
        inputs = tuple(self.own(t) for t in op.inputs)
        with self.aside():
            copied = self.add(
                op.op_def_,
                self.unique_name(op.name),
                inputs,
                dict(op.attrs),
                [t.dtype for t in op.outputs],
                infer_shapes=False,
            )
        for t, c in zip(op.outputs, copied.outputs):
            c.dims, c.handle_data = t.dims, t.handle_data
            self._copies[t] = c
        return copied

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Ops made inside wait for nothing and have no device of their own."""
        controls, devices, colocation = self._controls, self._devices, self._colocation
        self._controls, self._devices, self._colocation = [], [], []
        with self.as_default():
            try:
                yield
            finally:
                self._controls, self._devices, self._colocation = controls, devices, colocation

    # -- scopes that may speak of what is outside

    def control_dependencies(self, control_inputs: Any) -> Any:
        """As for any graph; the function as a whole waits for what comes from outside."""
        if control_inputs is None:
            return super().control_dependencies(None)
        inside = []
        for c in control_inputs:
            # A variable object stands for its op: its handle, or the assignment that it is the result of.
            op = c if isinstance(c, Operation) else getattr(c, "op", c)
            if isinstance(op, Operation) and op.graph is not self and self.captures_controls:
                self.control_captures[op] = None
            else:
                inside.append(c)
        return super().control_dependencies(inside)

    captures_controls = True

    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Any:
        """As for any graph; what is outside has no place in the body."""
        from everflow.graph.places import colocation_target

        target = colocation_target(op)
        if target is not None and target.graph is not self:
            return contextlib.nullcontext()
        return super().colocate_with(target, ignore_existing)

    # -- as a body of the graph around it

    @classmethod
    def body_of(cls, outer: Graph, name: str) -> FuncGraph:
        """A branch or loop body: it shares names, collections, functions and scopes with the graph around it."""
        body = cls(name, collections=outer._collections)
        body.outer_graph = outer
        body.control_flow_v2 = getattr(outer, "control_flow_v2", False)
        body.seed = outer.seed
        body._functions = outer._functions
        body._names_in_use = outer._names_in_use
        body._name_stack = outer._name_stack
        body._devices = outer._devices
        body._container = outer._container
        body._gradient_override_map = outer._gradient_override_map
        body._attr_scopes = outer._attr_scopes
        body._kernel_labels = outer._kernel_labels
        # Random ops without a seed of their own take it from how many ops there are.
        body._version = outer._version
        return body

    @property
    def home(self) -> FuncGraph:
        """The graph to which the operations of this body belong: itself, or the one it is a variant of."""
        return self._home or self

    def variant(self, outputs: list[Tensor], inputs: list[Tensor] | None = None) -> FuncGraph:
        """The same body with other outputs and, where given, other inputs."""
        found = copy.copy(self)
        found._home = self.home
        found.outputs = outputs
        found.inputs = list(self.inputs if inputs is None else inputs)
        return found

    def drop_unused(self) -> None:
        """Takes out the ops that neither an output nor a control output needs, as pruning does around the body."""
        needed: set[Operation] = set()
        stack = [t.op for t in self.outputs] + list(self.control_outputs) + [t.op for t in self.inputs]
        while stack:
            op = stack.pop()
            if op not in needed:
                needed.add(op)
                stack.extend(t.op for t in op.inputs)
                stack.extend(op.control_inputs)
        dropped = [op for op in self._ops if op not in needed and _has_effect(op)]
        while dropped:
            op = dropped.pop()
            if op.name not in self._by_name:
                continue
            del self._by_name[op.name]
            for t in op.inputs:
                t._consumers = [c for c in t._consumers if c is not op]
            for t in op.outputs:
                dropped.extend(t._consumers)
            dropped.extend(op._control_outputs)
        self._ops = [op for op in self._ops if op.name in self._by_name]


def _has_effect(op: Operation) -> bool:
    return op.op_def_.is_stateful or any(a.is_ref for a in op.op_def_.inputs)


def _is_guaranteed(tensor: Tensor) -> bool:
    op = tensor.op
    while op.type == "Identity":
        op = op.inputs[0].op
    return op.type == "GuaranteeConst"


def _is_inside(body: Graph, graph: Graph) -> bool:
    """Whether a body is being built somewhere inside a graph."""
    outer = body.outer_graph
    while outer is not None and outer is not graph:
        outer = outer.outer_graph
    return outer is not None


class LibraryFunction:
    """A function of a graph's library: made of a body or of a FunctionDef, it makes the other when it is asked for."""

    def __init__(
        self,
        name: str,
        graph: FuncGraph | None = None,
        definition: Any = None,
        outer_graph: Graph | None = None,
        grad_func_name: str | None = None,
        out_names: list[str] | None = None,
        attrs: dict[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.grad_func_name = grad_func_name
        self.python_grad_func: Any = None
        self.gradient: LibraryFunction | None = None
        self.attrs = attrs or {}
        self._out_names = out_names
        self._graph = graph
        self._definition = definition
        self._outer_graph = outer_graph
        self._op_def: opdefs.OpDef | None = None

    @property
    def graph(self) -> FuncGraph:
        """The body."""
        if self._graph is None:
            from everflow.graph.function_defs import function_def_to_graph

            with (self._outer_graph or get_default_graph()).as_default():
                self._graph = function_def_to_graph(self._definition, copy_functions=False)
            self._graph._functions = self._graph.outer_graph._functions
        return self._graph

    @property
    def definition(self) -> Any:
        """The FunctionDef."""
        if self._definition is None:
            from everflow.graph.attrs import to_proto
            from everflow.graph.function_defs import function_def

            body = self._graph
            assert body is not None
            self._definition = function_def(
                self.name, body.get_operations(), body.inputs, body.outputs, self._out_names, body.control_outputs
            )
            for key, value in self.attrs.items():
                self._definition.attr[key].CopyFrom(to_proto(value, None))
        return self._definition

    @property
    def op_def(self) -> opdefs.OpDef:
        """The signature, as the definition of an op that calls the function."""
        if self._op_def is None:
            self._op_def = op_def_from_proto(self.definition.signature)
        return self._op_def

    @property
    def captured_inputs(self) -> list[Tensor]:
        """What a call gives the function besides its arguments."""
        return self._graph.external_captures if self._graph is not None else []

    @property
    def declared_input_types(self) -> tuple[Any, ...]:
        """The dtypes of the arguments, without captures."""
        from everflow.graph import dtypes

        if self._graph is None:
            return tuple(dtypes.as_dtype(a.type) for a in self.definition.signature.input_arg)
        captured = set(self._graph.internal_captures)
        return tuple(t.dtype for t in self._graph.inputs if t not in captured)

    def add_to_graph(self, graph: Graph) -> None:
        """Makes the function known to a graph."""
        graph._add_function(self)

    def __repr__(self) -> str:
        return f"<function {self.name}>"


def fingerprint(body: FuncGraph) -> str:
    """Eight characters that tell bodies apart by what they do, the same in every run of a program."""
    digest = hashlib.sha1()

    def add(*items: Any) -> None:
        digest.update("\0".join(map(str, items)).encode("utf-8", "surrogateescape"))

    for op in body._ops:
        add(op.name, op.type, op._device, *(t.name for t in op.inputs), *sorted(c.name for c in op.control_inputs))
        for key, value in op.attrs.items():
            if isinstance(value, np.ndarray):
                add(key, value.shape, value.dtype)
                digest.update(
                    repr(value.tolist()).encode() if value.dtype == object else np.ascontiguousarray(value).tobytes()
                )
            else:
                add(key, value)
    add(
        "inputs",
        *(t.name for t in body.inputs),
        "outputs",
        *(t.name for t in body.outputs),
        *(o.name for o in body.control_outputs),
    )
    return short_hash(digest.digest())[:8]


def short_hash(digest: bytes) -> str:
    """Eleven letters and digits of a digest."""
    alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    number = int.from_bytes(digest[:9], "big")
    found = ""
    for _ in range(11):
        number, i = divmod(number, len(alphabet))
        found += alphabet[i]
    return found


def add_body(graph: Graph, body: FuncGraph, base_name: str) -> LibraryFunction:
    """Puts a finished branch or loop body into the library, under a name that its content determines."""
    function = LibraryFunction(f"{base_name.replace('/', '_')}_{fingerprint(body)}", graph=body)
    graph._functions.setdefault(function.name, function)
    return graph._functions[function.name]


def check_same(old: Any, new: Any) -> None:
    """Two functions of a library may have the same name only where they are the same."""
    if old is not new and old.definition != new.definition:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Cannot add function '{new.name}' because a different function with the same name already exists.",
        )


def functions_from_library(library: Any, outer_graph: Graph) -> list[LibraryFunction]:
    """The functions of a FunctionDefLibrary, gradients after what they belong to only where they must."""
    gradients = {g.function_name: g.gradient_func for g in library.gradient}
    found = {f.signature.name: f for f in library.function}
    for name, gradient in gradients.items():
        for wanted in (name, gradient):
            if wanted not in found:
                raise ValueError(f"FunctionDefLibrary missing '{wanted}' FunctionDef\n{library}")
    _check_gradients_end(gradients)
    return [
        LibraryFunction(name, definition=f, outer_graph=outer_graph, grad_func_name=gradients.get(name))
        for name, f in found.items()
    ]


def _check_gradients_end(gradients: dict[str, str]) -> None:
    for name in gradients:
        seen = {name}
        while name in gradients:
            name = gradients[name]
            if name in seen:
                raise ValueError(f"FunctionDefLibrary contains cyclic gradient functions!\n{gradients}")
            seen.add(name)


def add_library(graph: Graph, library: Any) -> None:
    """Adds the functions of an imported GraphDef."""
    for function in functions_from_library(library, graph):
        graph._add_function(function)


def written_variables(graph: Any, functions: Iterable[str], seen: set[str] | None = None) -> Iterator[tuple[str, str]]:
    """The reference variables (container, name) that functions may write, in themselves or in what they call."""
    seen = set() if seen is None else seen
    for name in functions:
        entry = graph._get_function(name)
        if entry is None or name in seen:
            continue
        seen.add(name)
        for op in entry.graph.get_operations():
            if op.type in VARIABLE_OPS:
                yield op.attrs.get("container") or "", op.attrs.get("shared_name") or op.name
            yield from written_variables(graph, called_functions(op), seen)


def called_functions(op: Operation) -> list[str]:
    """The names of the functions that an op may call."""
    from everflow.graph.attrs import FunctionName

    found = [op.type] if op.graph._is_function(op.type) else []
    for value in op.attrs.values():
        for v in value if isinstance(value, list) else (value,):
            if isinstance(v, FunctionName):
                found.append(v.name)
    return found


def inline(body: FuncGraph, arguments: list[Tensor]) -> list[Tensor]:
    """Copies a body's operations into the default graph, with these tensors as arguments; returns its outputs there."""
    graph = get_default_graph()
    tensors = {inside: graph.own(given) for inside, given in zip(body.inputs, arguments)}
    copies: dict[Operation, Operation] = {t.op: tensors[t].op for t in body.inputs}
    for op in body.get_operations():
        if op in copies:
            continue
        inputs = tuple(tensors[t] for t in op.inputs)
        copied = graph.add(
            op.op_def_, graph.unique_name(op.name), inputs, dict(op.attrs), [t.dtype for t in op.outputs]
        )
        copied._device = op._device or copied._device
        copied._add_control_inputs([copies[c] for c in op.control_inputs if copies[c].graph is graph])
        copied.__dict__.update(op.__dict__)
        copies[op] = copied
        for t, c in zip(op.outputs, copied.outputs):
            tensors[t] = c
            c.handle_data = c.handle_data or t.handle_data
            if c.dims is None:
                c.dims = t.dims
    return [tensors[t] for t in body.outputs]
