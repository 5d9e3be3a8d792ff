"""Graph: a program as data. Names, scopes, control edges and collections are made exactly as TensorFlow makes them."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

from everflow.api import internal, public
from everflow.errors import MISTAKES
from everflow.graph import attrs as attr_values
from everflow.graph import dtypes, opdefs, stacks
from everflow.graph.collections import Collections
from everflow.graph.constants import computing
from everflow.graph.controls import Controls, control_inputs_for
from everflow.graph.keys import GraphKeys
from everflow.graph.operation import Operation, call_site, describe_shapes
from everflow.graph.places import apply_colocation, apply_devices, colocation_scope, device_scope
from everflow.graph.tensor import Tensor
from everflow.graph.traceable import TraceableObject, TraceableStack
from everflow.graph.wire import complete_attrs, graph_def_proto, output_types_of, versions_proto

VALID_OP_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\-/]*$")
VALID_SCOPE_NAME = re.compile(r"^[A-Za-z0-9_.\-/]*$")


def _load_shape_rules(op_type: str) -> Callable[[Operation], Any] | None:
    """Until the ops are loaded: loads them (they stand above graph/), which sets `shape_rule_of`."""
    importlib.import_module("everflow.ops.core.registry")
    return shape_rule_of(op_type)


# How to find the shapes of an op's outputs, or None; set by everflow.ops.core.registry.
shape_rule_of: Callable[[str], Callable[[Operation], Any] | None] = _load_shape_rules

_graph_numbers = itertools.count()


class NameScope:
    """A block of `name_scope`."""

    __slots__ = ("_graph", "_name", "_old")

    def __init__(self, graph: Graph, name: str | None) -> None:
        self._graph = graph
        self._name = name

    def __enter__(self) -> str:
        name, state = self._name, self._graph._stacks()
        self._old = state.name_stack
        if not name:
            state.name_stack = ""
            return ""
        if not isinstance(name, str):
            raise TypeError(f"name for name_scope must be a string, got {name!r}")
        if not (VALID_SCOPE_NAME if self._old else VALID_OP_NAME).match(name):
            raise ValueError(f"'{name}' is not a valid scope name")
        state.name_stack = new = name[:-1] if name[-1] == "/" else self._graph.unique_name(name)
        return new + "/"

    def __exit__(self, *_: Any) -> None:
        self._graph._name_stack = self._old


@public("Graph")
@internal("framework.ops.Graph")
class Graph(Collections):
    """A set of operations and the tensors between them."""

    building_function = False
    # Whether effects happen in the order in which they were written, and no branch drops any.
    orders_effects = False
    outer_graph: Graph | None = None
    # Whether another process made the graph: errors leave it to that one to say where ops were made.
    from_elsewhere = False
    # Whether ops may be called anything until they run, as in graphs that are built through the C API.
    takes_any_name = False

    @property
    def _building_function(self) -> bool:
        return self.building_function

    @_building_function.setter
    def _building_function(self, value: bool) -> None:
        self.building_function = value

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._ops: list[Operation] = []
        self._by_name: dict[str, Operation] = {}
        self._names_in_use: dict[str, int] = {}
        self._state = threading.local()
        self._version = 0
        # How many more ops TensorFlow would have made by now: seeds follow from how many there are.
        self._uncounted = 0
        self._edits = 0
        # Programs set this to say that graphs belong together.
        self._graph_key = f"graph-key-{next(_graph_numbers)}/"
        self._seed: int | None = None
        # Whether an op without a seed of its own took one that follows from the graph's.
        self._seed_used = False
        self._finalized = False
        self._written: Any = None
        self._collections: dict[Any, list[Any]] = {}
        self._functions: dict[str, Any] = {}
        self._unfeedable_tensors: set[Operation | Tensor] = set()
        self._unfetchable_ops: set[Operation] = set()
        # What is wrong with ops that were edited: an error when the graph runs.
        self._invalid: dict[Operation, str] = {}
        self._control_flow_context: Any = None
        self._attr_scopes: dict[str, Any] = {}
        self._gradient_override_map: dict[str, str] = {}
        self._kernel_labels: dict[str, str] = {}
        self._container = ""
        self._last_loss_reduction: Any = None
        self._is_loss_scaled_by_optimizer = False
        self._graph_def_versions: Any = None
        self._stacks()

    # Scopes belong to a thread; each thread starts where the graph's first thread stands at the top.
    def _stacks(self) -> Any:
        state = self._state
        if not hasattr(state, "controls"):
            state.controls = []
            state.devices = []
            state.colocation = []
            state.original_op = None
            state.name_stack = ""
            state.variable_reads = None
        return state

    @property
    def _auto_cast_variable_read_dtype(self) -> dtypes.DType | None:
        """What variables of layers with a policy are read as; None for what they are kept in."""
        return self._stacks().variable_reads

    @contextlib.contextmanager
    def _enable_auto_casting_variables(self, dtype: Any) -> Iterator[None]:
        """Has variables of layers with a policy be read as another type."""
        stacks = self._stacks()
        before, stacks.variable_reads = stacks.variable_reads, None if dtype is None else dtypes.as_dtype(dtype)
        try:
            yield
        finally:
            stacks.variable_reads = before

    @property
    def _controls(self) -> list[Controls]:
        return self._stacks().controls

    @_controls.setter
    def _controls(self, value: list[Controls]) -> None:
        self._stacks().controls = value

    @property
    def _devices(self) -> list[TraceableObject]:
        return self._stacks().devices

    @_devices.setter
    def _devices(self, value: list[TraceableObject]) -> None:
        self._stacks().devices = value

    @property
    def _device_function_stack(self) -> TraceableStack:
        """The device blocks that new ops are in, for programs that keep them and put them back elsewhere."""
        return TraceableStack(self._devices)

    @_device_function_stack.setter
    def _device_function_stack(self, stack: TraceableStack) -> None:
        self._devices = [*stack.peek_traceable_objs()][::-1]

    def _apply_device_functions(self, op: Any) -> None:
        """Gives an op, or something like one, the device that a new op would get."""
        apply_devices(self._devices, op)

    @property
    def _colocation(self) -> list[Any]:
        return self._stacks().colocation

    @_colocation.setter
    def _colocation(self, value: list[Any]) -> None:
        self._stacks().colocation = value

    @property
    def _name_stack(self) -> str:
        return self._stacks().name_stack

    @_name_stack.setter
    def _name_stack(self, value: str) -> None:
        self._stacks().name_stack = value

    # -- what is in it

    @property
    def version(self) -> int:
        """Grows with each operation."""
        return self._version

    @property
    def _last_id(self) -> int:
        return self._version

    @property
    def _op_count(self) -> int:
        """How many ops there would be if branches and loops were made of Switch, Merge, Enter and their kin."""
        return self._version + self._uncounted

    @_op_count.setter
    def _op_count(self, count: int) -> None:
        self._uncounted = count - self._version

    @property
    def _next_id_counter(self) -> int:
        return self._version

    @property
    def _nodes_by_name(self) -> dict[str, Operation]:
        return self._by_name

    @property
    def _c_graph(self) -> Graph:
        # What programs hand to pywrap_tensorflow.
        return self

    @property
    def _nodes_by_id(self) -> dict[int, Operation]:
        return {op._id: op for op in self._ops}

    @property
    def seed(self) -> int | None:
        """The graph-level random seed."""
        return self._seed

    @seed.setter
    def seed(self, value: int | None) -> None:
        self._seed = value

    @property
    def finalized(self) -> bool:
        """Whether nothing may be added any more."""
        return self._finalized

    def finalize(self) -> None:
        """Makes the graph read-only."""
        self._finalized, self._written = True, None

    def _unsafe_unfinalize(self) -> None:
        self._finalized = False

    def _check_not_finalized(self) -> None:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    def _changed(self) -> None:
        """Says that an existing operation was edited, so that plans made for the graph are made anew."""
        self._edits += 1

    def get_operations(self) -> list[Operation]:
        """The operations, in the order in which they were added."""
        return list(self._ops)

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation with this name; KeyError where there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False, allow_operation=True)

    def _get_operation_by_name_unsafe(self, name: str) -> Operation:
        return self._by_name[name]

    def get_tensor_by_name(self, name: str) -> Tensor:
        """The tensor `<op name>:<index>`."""
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=True, allow_operation=False)

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """The tensor or operation that `obj` names or stands for in this graph."""
        if allow_tensor and allow_operation:
            kinds = "Tensor or Operation"
        elif allow_tensor:
            kinds = "Tensor"
        elif allow_operation:
            kinds = "Operation"
        else:
            raise ValueError("allow_tensor and allow_operation can't both be False.")
        convert = getattr(obj, "_as_graph_element", None)
        if convert is not None:
            obj = convert()
        if isinstance(obj, (str, bytes)):
            return self._element_by_name(attr_values.text(obj), allow_tensor, allow_operation)
        if isinstance(obj, Tensor) and allow_tensor:
            if obj.graph is not self:
                raise ValueError(f"Tensor {obj} is not an element of this graph.")
            return obj.op.outputs[obj.value_index]
        if isinstance(obj, Operation) and allow_operation:
            if obj.graph is not self:
                raise ValueError(f"Operation {obj!r} is not an element of this graph.")
            return obj
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {kinds}.")

    def _element_by_name(self, name: str, allow_tensor: bool, allow_operation: bool) -> Any:
        if ":" in name and allow_tensor:
            try:
                op_name, index = name.split(":")
                position = int(index)
            except ValueError:
                raise ValueError(
                    f"The name {name!r} looks a like a Tensor name, but is not a valid one. Tensor names must be of the form "
                    '"<op_name>:<output_index>".'
                ) from None
            op = self._by_name.get(op_name)
            if op is None:
                raise KeyError(
                    f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, does not exist in the graph."
                )
            if not 0 <= position < len(op.outputs):
                raise KeyError(
                    f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, exists but only has "
                    f"{len(op.outputs)} outputs."
                )
            return op.outputs[position]
        if ":" in name:
            raise ValueError(f"Name {name!r} appears to refer to a Tensor, not a Operation.")
        op = self._by_name.get(name)
        if allow_operation:
            if op is None:
                raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")
            return op
        if op is not None:
            problem = 'refers to an Operation, not a Tensor. Tensor names must be of the form "<op_name>:<output_index>".'
            raise ValueError(f"The name {name!r} {problem}")
        raise ValueError(
            f"The name {name!r} looks like an (invalid) Operation name, not a Tensor. Tensor names must be of the form "
            '"<op_name>:<output_index>".'
        )

    # -- adding operations

    def add(
        self,
        op_def: opdefs.OpDef,
        name: str,
        inputs: tuple[Tensor, ...],
        attrs: dict[str, Any],
        output_types: list[dtypes.DType],
        *,
        infer_shapes: bool = True,
        depth: int = 2,
        site: tuple[Any, ...] | None = None,
    ) -> Operation:
        """Adds a node whose name is final and whose inputs and attributes are already in order."""
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")
        if not VALID_OP_NAME.match(name) and not (self.from_elsewhere and VALID_SCOPE_NAME.match(name)) and not self.takes_any_name:
            raise ValueError(f"'{name}' is not a valid node name")
        if name in self._by_name:
            raise ValueError(f"Duplicate node name in graph: '{name}'")
        state = self._stacks()
        controls = control_inputs_for(state.controls, inputs) if state.controls else []
        op = Operation.make(self, op_def, name, inputs, attrs, output_types, controls)
        if infer_shapes:
            set_shapes(op)
        op._site = call_site(depth) if site is None else site
        with self._lock:
            self._register(op)
        if state.controls:
            for block in state.controls:
                block.seen.add(op)
        if self._attr_scopes or self._kernel_labels or self._gradient_override_map:
            self._apply_scoped_attrs(op)
        if state.original_op is not None:
            op._original_op = state.original_op
        if self._control_flow_context is not None:
            context = self._control_flow_context
            op._control_flow_context = context
            context.AddOp(op)
        if state.devices:
            apply_devices(state.devices, op)
        if state.colocation:
            apply_colocation(state.colocation, op)
        if self._container and op_def.is_stateful and "container" in op_def.attrs and not attrs.get("container"):
            attrs["container"] = self._container
        return op

    def _register(self, op: Operation) -> None:
        self._version += 1
        op._id = self._version
        self._ops.append(op)
        self._by_name[op.name] = op
        for t in op.inputs:
            t._consumers.append(op)
        for c in op.control_inputs:
            c._control_outputs.append(op)

    def create_op(
        self,
        op_type: str,
        inputs: Any,
        dtypes: Any = None,
        input_types: Any = None,
        name: str | None = None,
        attrs: Any = None,
        op_def: Any = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Operation:
        """Adds an operation from its parts (attributes as AttrValue protos), as TensorFlow's method of this name does."""
        return self._create_op_internal(op_type, inputs, dtypes, input_types, name, attrs, op_def, compute_device)

    def _create_op_internal(
        self,
        op_type: str,
        inputs: Any,
        output_types: Any = None,
        input_types: Any = None,
        name: str | None = None,
        attrs: Any = None,
        op_def: Any = None,
        compute_device: bool = True,
    ) -> Operation:
        self._check_not_finalized()
        for i, t in enumerate(inputs):
            if not isinstance(t, Tensor):
                raise TypeError(f"Input #{i} is not a tensor: {t}")
        inputs = tuple(self.own(t) for t in inputs)
        name = op_type if name is None else name
        name = name[:-1] if name.endswith("/") else self.unique_name(name)
        definition = self.op_definition(op_type)
        if definition is None:
            raise RuntimeError(
                f"Op type not registered '{op_type}' in binary running on localhost. Make sure the Op and Kernel are registered in the "
                "binary running in this process."
            )
        plain = {}
        for k, v in (attrs or {}).items():
            known = definition.attrs.get(k)
            plain[k] = attr_values.from_proto(v, known.type if known else None)
        complete_attrs(definition, plain, inputs, name)
        types = output_types_of(definition, plain)
        return self.add(definition, name, inputs, plain, types, depth=3)

    def op_definition(self, op_type: str) -> opdefs.OpDef | None:
        """The definition of an op, or of a function of this graph's library called like one."""
        found = opdefs.find(op_type)
        if found is None and op_type in self._functions:
            found = self._functions[op_type].op_def
        if found is None and self.outer_graph is not None:
            found = self.outer_graph.op_definition(op_type)
        return found

    def own(self, tensor: Tensor) -> Tensor:
        """The tensor to use in this graph for `tensor`; function graphs capture what comes from outside."""
        if tensor.op.graph is not self:
            raise ValueError(f"{tensor} is not from this graph.")
        return tensor

    def _apply_scoped_attrs(self, op: Operation) -> None:
        for key, value in self._attr_scopes.items():
            if callable(value):
                value = value(op.node_def)
            if isinstance(value, list):
                op.attrs.setdefault(key, list(value))
            elif value is not None and key not in op.attrs:
                definition = op.op_def_.attrs.get(key)
                op.attrs[key] = attr_values.from_proto(value, definition.type if definition else None)
        if op.type in self._kernel_labels:
            op.attrs.setdefault("_kernel", self._kernel_labels[op.type])
        if op.type in self._gradient_override_map:
            op.attrs.setdefault("_gradient_op_type", self._gradient_override_map[op.type])

    # -- names

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """The name, under the current scope, with `_1`, `_2`, ... where it is taken already (whatever its case)."""
        if type(name) is bytes:
            name = name.decode()
        stack = self._stacks().name_stack
        if stack:
            name = f"{stack}/{name}"
        key = name.lower()
        used = self._names_in_use
        with self._lock:
            i = used.get(key, 0)
            if mark_as_used:
                used[key] = i + 1
            if i > 0:
                base = key
                while key in used:
                    key = f"{base}_{i}"
                    i += 1
                if mark_as_used:
                    used[key] = 1
                name = f"{name}_{i - 1}"
        return name

    def get_name_scope(self) -> str:
        """The current name scope, without a slash at its end."""
        return self._name_stack

    def name_scope(self, name: str | None) -> NameScope:
        """Puts `name/` before the names made inside; `name` ending in a slash enters that very scope; None or "" is the top."""
        return NameScope(self, name)

    # -- scopes of other kinds

    def as_default(self) -> Any:
        """Makes this the default graph within a `with` block."""
        return stacks.graphs.get_controller(self)

    def control_dependencies(self, control_inputs: Any) -> Controls:
        """Ops made inside run after `control_inputs`; None forgets the blocks around."""
        if control_inputs is None:
            return self.waiting_for_nothing()
        found: list[Operation] = []
        for c in control_inputs:
            # A resource variable stands for the op that made or changed it: waiting for it reads nothing.
            if hasattr(c, "_handle") and hasattr(c, "op"):
                c = c.op
            elif (
                not isinstance(c, (Tensor, Operation))
                and not hasattr(c, "_as_graph_element")
                and isinstance(getattr(c, "op", None), Operation)
            ):
                c = c.op
            c = self._control_element(c)
            if isinstance(c, Tensor):
                c = c.op
            elif not isinstance(c, Operation):
                raise TypeError(f"Control input must be Operation or Tensor: {c}")
            if c not in found:
                found.append(c)
        return Controls(self, found)

    def waiting_for_nothing(self) -> Controls:
        """Forgets the blocks around; ops made inside are of this graph still, where it is a loop's body too."""
        return Controls(self, None)

    def _control_element(self, element: Any) -> Any:
        return self.as_graph_element(element)

    def device(self, device_name_or_function: Any) -> Any:
        """Ops made inside get this device (a string, a DeviceSpec, or a function of the op)."""
        return device_scope(self, device_name_or_function)

    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Any:
        """Ops made inside share the device of `op`."""
        return colocation_scope(self, op, ignore_existing)

    _colocate_with_for_gradient = lambda self, op, gradient_uid=None, ignore_existing=False: self.colocate_with(op, ignore_existing)

    @contextlib.contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """Stateful ops made inside keep their resources in this container."""
        old = self._container
        self._container = container_name
        try:
            yield container_name
        finally:
            self._container = old

    @property
    def _variable_creator_stack(self) -> list[tuple[int, Any]]:
        """(priority, creator) of what makes this thread's variables; the last one is asked first."""
        return self._stacks().__dict__.get("variable_creators", [])

    @_variable_creator_stack.setter
    def _variable_creator_stack(self, stack: list[tuple[int, Any]]) -> None:
        self._stacks().variable_creators = stack

    @contextlib.contextmanager
    def _variable_creator_scope(self, creator: Any, priority: int = 100) -> Iterator[None]:
        old = self._variable_creator_stack
        new = sorted([*old, (priority, creator)], key=lambda entry: -entry[0])
        self._variable_creator_stack = new
        try:
            yield
        finally:
            if self._variable_creator_stack is not new:
                raise RuntimeError("Exiting variable_creator_scope without proper nesting.")
            self._variable_creator_stack = old

    @contextlib.contextmanager
    def gradient_override_map(self, op_type_map: dict[str, str]) -> Iterator[None]:
        """Ops made inside use another registered gradient."""
        if not isinstance(op_type_map, dict):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        for k, v in op_type_map.items():
            if not isinstance(k, str) or not isinstance(v, str):
                raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        old = self._gradient_override_map
        self._gradient_override_map = {**old, **op_type_map}
        try:
            yield
        finally:
            self._gradient_override_map = old

    @contextlib.contextmanager
    def _kernel_label_map(self, op_to_kernel_label_map: dict[str, str]) -> Iterator[None]:
        if not isinstance(op_to_kernel_label_map, dict):
            raise TypeError("op_to_kernel_label_map must be a dictionary mapping strings to strings")
        old = self._kernel_labels
        self._kernel_labels = {**old, **op_to_kernel_label_map}
        try:
            yield
        finally:
            self._kernel_labels = old

    @contextlib.contextmanager
    def _attr_scope(self, attr_map: dict[str, Any]) -> Iterator[None]:
        if not isinstance(attr_map, dict):
            raise TypeError("attr_map must be a dictionary mapping strings to Callables or AttrValue protocol buffers")
        old = self._attr_scopes
        self._attr_scopes = {k: v for k, v in {**old, **attr_map}.items() if v is not None}
        try:
            yield
        finally:
            self._attr_scopes = old

    @contextlib.contextmanager
    def _original_op(self, op: Operation) -> Iterator[None]:
        state = self._stacks()
        old, state.original_op = state.original_op, op
        try:
            yield
        finally:
            state.original_op = old

    def _get_control_flow_context(self) -> Any:
        return self._control_flow_context

    def _set_control_flow_context(self, context: Any) -> None:
        self._control_flow_context = context

    def switch_to_thread_local(self) -> None:
        """Scopes are always a thread's own here."""

    # -- feeding and fetching

    def prevent_feeding(self, tensor: Any) -> None:
        """Marks a tensor as one that can't be fed."""
        self._unfeedable_tensors.add(tensor)

    def is_feedable(self, tensor: Any) -> bool:
        """Whether a tensor may be fed."""
        return tensor not in self._unfeedable_tensors

    def prevent_fetching(self, op: Operation) -> None:
        """Marks an operation as one that can't be fetched."""
        self._unfetchable_ops.add(op)

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        """Whether a tensor or operation may be fetched."""
        return (tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op) not in self._unfetchable_ops

    # -- functions and wire form

    def _add_function(self, function: Any) -> None:
        if function.grad_func_name is not None and function.python_grad_func is not None:
            raise ValueError(f"Gradient defined twice for function {function.name}")
        known = self._functions.get(function.name)
        if known is not None:
            from everflow.graph.functions import check_same

            check_same(known, function)
            return
        self._functions[function.name] = function

    def _get_function(self, name: Any) -> Any:
        name, graph = attr_values.text(name), self
        while graph is not None:
            if name in graph._functions:
                return graph._functions[name]
            graph = graph.outer_graph  # type: ignore[assignment]
        return None

    def _is_function(self, name: str | None) -> bool:
        return self._get_function(name) is not None

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> Any:
        """The graph as a GraphDef proto."""
        return self._as_graph_def(from_version, add_shapes)[0]

    def _as_graph_def(self, from_version: int | None = None, add_shapes: bool = False, use_pybind11_instance_cache: Any = None) -> Any:
        with self._lock:
            if not self._finalized:
                return graph_def_proto(self, from_version, add_shapes), self._version
            # A graph that stays as it is gets written several times in a training: in events, and with each checkpoint.
            key = (from_version, add_shapes, self._edits)
            if self._written is None or self._written[0] != key:
                self._written = (key, graph_def_proto(self, from_version, add_shapes))
            copy = type(self._written[1])()
            copy.CopyFrom(self._written[1])
            return copy, self._version

    @property
    def graph_def_versions(self) -> Any:
        """The versions proto of the GraphDef."""
        return versions_proto(self)

    def _copy_functions_to_graph_def(self, graph_def: Any, starting_bytesize: int) -> None:
        from everflow.graph.functions import exported_functions

        for function in exported_functions(self) if self._functions else ():
            graph_def.library.function.append(function.definition)
            if function.grad_func_name:
                graph_def.library.gradient.add(function_name=function.name, gradient_func=function.grad_func_name)


@internal("framework.ops._as_graph_element")
def stands_for(obj: Any) -> Any:
    """The tensor that an object such as a variable stands for; None for tensors themselves and for all else."""
    convert = None if isinstance(obj, (Tensor, Operation)) else getattr(obj, "_as_graph_element", None)
    return None if convert is None else convert()


def set_shapes(op: Operation) -> None:
    """Runs the op's shape rule and stores the static shapes of its outputs."""
    rule = shape_rule_of(op.type)
    if rule is None:
        return
    try:
        result = computing(rule, op)
    except ValueError as e:
        raise ValueError(f"{e}{describe_shapes(op)}") from None
    except MISTAKES as e:
        raise ValueError(f"{e}{describe_shapes(op)}") from e
    if type(result) is list:
        for t, dims in zip(op.outputs, result):
            t.dims = dims
    elif op.outputs:
        op.outputs[0].dims = result


public("GraphKeys")(GraphKeys)
internal("framework.ops.GraphKeys")(GraphKeys)
