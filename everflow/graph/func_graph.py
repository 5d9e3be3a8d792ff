"""Function bodies as graphs: what comes from outside is captured."""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from everflow.api import internal
from everflow.graph import opdefs
from everflow.graph.dtypes import DTypeLike, resource, variant
from everflow.graph.graph import Graph
from everflow.graph.operation import InputList, Operation
from everflow.graph.places import colocation_target
from everflow.graph.shapes import Dims
from everflow.graph.stacks import TAPES, get_default_graph
from everflow.graph.tensor import Tensor

if TYPE_CHECKING:
    from typing import Self

# How many elements a captured value may have that counts as a constant.
SMALL = 128
VARIABLE_OPS = ("VariableV2", "Variable", "AutoReloadVariable")


@internal("framework.func_graph.FuncGraph")
class FuncGraph(Graph):
    """The body of a function. Tensors from outside that it uses become further inputs: it captures them."""

    building_function = True
    # Whether branches and loops inside are those of version 2.
    control_flow_v2 = True
    # Whether ops inside may wait for ops outside: then the whole function does.
    captures_controls = True
    # Whether this is the condition or the body of a loop.
    is_loop = False
    # What is captured but was counted with another part of the same loop.
    counted: Any = ()
    # Whether a reference variable that the body writes is read anew where the body uses it.
    rereads_variables = False
    # Whether effects that no output needs do not happen, as in a graph.
    prunes_effects = False
    # Whether this is a branch that may not be taken: no static shape follows there from what is computed of outer constants.
    is_uncertain = False
    # The conditional of which this is a branch, and how errors call the branch.
    branch: tuple[str, str] | None = None

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
        self._stacks().variable_reads = self.outer_graph._auto_cast_variable_read_dtype
        self.variables: list[Any] = []
        self.extra_vars: list[Any] = []
        self.capture_by_value = bool(capture_by_value)
        self.whitelisted_stateful_ops: set[Operation] = set()
        self._captures: dict[Tensor, Tensor] = {}
        self._copies: dict[Tensor, Tensor] = {}
        # By captured input: values that were there already and are small enough to follow shapes from, as from constants.
        self.small_values: dict[Tensor, Any] = {}
        # By captured input: the reads inside that are used in its place.
        self.reads: dict[Tensor, list[Tensor]] = {}
        self._home: FuncGraph | None = None
        # Why SavedModels can't hold this body.
        self.saving_errors: set[str] = set()
        if collections is not None:
            self._collections = collections

    def __str__(self) -> str:
        return f"FuncGraph(name={self.name}, id={id(self)})"

    @contextlib.contextmanager
    def as_default(self) -> Iterator[Any]:
        """Makes this the default graph within a `with` block. What makes variables outside of it makes those of the body, too."""
        before, outside = self._variable_creator_stack, get_default_graph()._variable_creator_stack
        with super().as_default() as entered:
            self._variable_creator_stack = outside
            try:
                yield entered
            finally:
                self._variable_creator_stack = before

    @property
    def saveable(self) -> bool:
        """Whether SavedModels can hold this body."""
        return not self.saving_errors

    def mark_as_unsaveable(self, error_message: str) -> None:
        """Says why SavedModels can't hold this body."""
        self.saving_errors.add(error_message)

    # -- captures

    @property
    def captures(self) -> dict[Tensor, Tensor]:
        """What is captured: the tensor outside, and the input that stands for it."""
        return self._captures

    def place_of(self, tensor: Tensor) -> int | None:
        """Which of the inputs a tensor is: the tensor itself, for `==` may compare elements."""
        return next((i for i, t in enumerate(self.inputs) if t is tensor), None)

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
        if not tensor.is_eager and tensor.op.graph is self:
            return tensor
        found = self._own(tensor)
        if TAPES:
            TAPES[-1].captured(tensor, found)
        return found

    def _own(self, tensor: Tensor) -> Tensor:
        if tensor.is_eager:
            # A value that is there already: the outermost body captures it for all that are inside.
            if isinstance(self.outer_graph, FuncGraph):
                return self.own(self.outer_graph.own(tensor))
            found = self._captures.get(tensor)
            return self.add_capture(tensor) if found is None else found
        if self.rereads_variables and is_variable_read(tensor):
            return self._read_again(tensor)
        found = self._copies.get(tensor)
        if found is None:
            found = self._captures.get(tensor)
        return self._take(tensor) if found is None else found

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """The same as `own`."""
        return self.own(tensor)

    def _take(self, tensor: Tensor) -> Tensor:
        check_in_reach(tensor, self, self._name_stack)
        if tensor.dtype._is_ref_dtype and tensor.op.type in VARIABLE_OPS and not self.capture_by_value:
            found = self._same_variable(tensor)
            self._copies[tensor] = found
        elif self.capture_by_value:
            found = self._copy(tensor.op).outputs[tensor.value_index]
        else:
            found = self.add_capture(tensor)
            if _is_guaranteed(tensor):
                found = self._copies[tensor] = self._guaranteed(found)
        return found

    def add_capture(self, tensor: Tensor) -> Tensor:
        """A further input, which stands for a tensor from outside."""
        if tensor in self.counted:
            self._uncounted -= 1
        found = self.add_input(tensor.dtype.base_dtype, tensor.dims, "Placeholder", tensor.handle_data)
        self._captures[tensor] = found
        if tensor.is_eager and tensor.dtype.base_dtype not in (resource, variant) and math.prod(d or 0 for d in tensor.dims or ()) <= SMALL:
            self.small_values[found] = tensor
        return found

    def outside(self, tensor: Tensor) -> Tensor:
        """The tensor outside that an input or a variable of this body stands for; other tensors are themselves."""
        if tensor.is_eager or tensor.op.type != "Placeholder" and tensor.op.type not in VARIABLE_OPS:
            return tensor
        for table in (self._captures, self._copies):
            for given, inside in table.items():
                if inside is tensor:
                    return given
        return tensor

    def _read_again(self, tensor: Tensor) -> Tensor:
        """A read of the variable that a tensor from outside is a read of."""
        if tensor not in self._captures:
            self.add_capture(tensor)
        counted = self._op_count
        ref = self.own(tensor.op.inputs[0])
        found = self.add(tensor.op.op_def_, self.unique_name("read"), (ref,), {"T": tensor.dtype}, [tensor.dtype]).outputs[0]
        # Where TensorFlow takes what was read outside, there is only the input that stands for it.
        self._op_count = counted
        self.reads.setdefault(self._captures[tensor], []).append(found)
        return found

    def settle_reads(self, is_written: Callable[[Operation], bool]) -> None:
        """Once the body is built: variables that it does not write are read outside, once."""
        here = set(self._ops)
        # Reads that came after effects went with them where those were dropped.
        self.reads = {argument: left for argument, reads in self.reads.items() if (left := [r for r in reads if r.op in here])}
        for argument, reads in list(self.reads.items()):
            if is_written(reads[0].op.inputs[0].op):
                continue
            for read in reads:
                self.substitute(read, argument)
            del self.reads[argument]
        self._remove({op for op in self._ops if op.type in VARIABLE_OPS and not op.outputs[0]._consumers})

    def substitute(self, old: Tensor, new: Tensor) -> None:
        """Uses one tensor of the body in the place of another, and takes the op of that one out."""
        for consumer in old._consumers:
            consumer.inputs = InputList(new if t is old else t for t in consumer.inputs)
            new._consumers.append(consumer)
        old._consumers = []
        self.outputs = [new if t is old else t for t in self.outputs]
        for op in old.op._control_outputs:
            op.control_inputs.remove(old.op)
        self._remove({old.op})

    def _remove(self, gone: set[Operation]) -> None:
        """Takes ops out that no other op uses."""
        self._ops = [op for op in self._ops if op not in gone]
        for op in gone:
            del self._by_name[op.name]
            for t in op.inputs:
                if t.op not in gone:
                    t._consumers = [c for c in t._consumers if c is not op]
            for c in op.control_inputs:
                if c not in gone:
                    c._control_outputs.remove(op)
        self._copies = {given: inside for given, inside in self._copies.items() if inside.op not in gone}

    def _guaranteed(self, argument: Tensor) -> Tensor:
        definition = opdefs.find("GuaranteeConst")
        assert definition is not None
        with self.aside():
            op = self.add(definition, self.unique_name("GuaranteeConst"), (argument,), {"T": argument.dtype}, [argument.dtype])
        return op.outputs[0]

    def add_input(self, dtype: DTypeLike, dims: Dims, name: str, handle_data: Any = None) -> Tensor:
        """A further argument of the function, as a Placeholder."""
        found = self.placeholder(dtype, dims, name, handle_data)
        self.inputs.append(found)
        return found

    def placeholder(self, dtype: Any, dims: Any, name: str, handle_data: Any = None) -> Tensor:
        """A Placeholder that is not yet an argument."""
        definition = opdefs.find("Placeholder")
        assert definition is not None
        with self.aside():
            op = self.add(definition, self.unique_name(name), (), {"dtype": dtype, "shape": dims}, [dtype], infer_shapes=False)
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
            copied = self.add(op.op_def_, self.unique_name(op.name.rpartition("/")[2]), (), attrs, [tensor.dtype], infer_shapes=False)
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
                op.op_def_, self.unique_name(op.name), inputs, dict(op.attrs), [t.dtype for t in op.outputs], infer_shapes=False
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
        """As for any graph; the function as a whole waits for what comes from outside. None leaves the loops of a graph."""
        if control_inputs is None:
            return self._free_of_loops()
        inside = []
        for c in control_inputs:
            # A variable object stands for its op: its handle, or the assignment that it is the result of.
            op = c if isinstance(c, Operation) else getattr(c, "op", c)
            if isinstance(op, Operation) and op.graph is not self and self.captures_controls:
                self.control_captures[op] = None
            else:
                inside.append(c)
        return super().control_dependencies(inside)

    @contextlib.contextmanager
    def _free_of_loops(self) -> Iterator[None]:
        """Ops made inside wait for nothing and are outside of loops: how a body makes what is computed once.

        Loops of version 2 are functions, which nothing leaves.
        """
        home: Graph = self
        here: Graph | None = self
        while isinstance(here, FuncGraph) and here.rereads_variables and not here.control_flow_v2:
            if here.is_loop and here.outer_graph is not None:
                home = here.outer_graph
            here = here.outer_graph
        with contextlib.nullcontext() if home is self else home.as_default(), home.waiting_for_nothing():
            yield

    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Any:
        """As for any graph; what is outside has no place in the body."""
        target = colocation_target(op)
        is_outside = target.graph is not self if target is not None else op is not None
        if is_outside:
            return contextlib.nullcontext()
        return super().colocate_with(target, ignore_existing)

    # -- as a body of the graph around it

    @classmethod
    def body_of(cls, outer: Graph, name: str, is_loop: bool = False) -> Self:
        """A branch or loop body: it shares names, collections, functions and scopes with the graph around it."""
        body = cls(name, collections=outer._collections)
        body.outer_graph = outer
        body.control_flow_v2 = getattr(outer, "control_flow_v2", False)
        body.orders_effects = outer.orders_effects
        body.seed = outer.seed
        body.rereads_variables = True
        body.is_loop = is_loop
        body._functions = outer._functions
        body._names_in_use = outer._names_in_use
        body._name_stack = outer._name_stack
        body._devices = outer._devices
        body._container = outer._container
        body._gradient_override_map = outer._gradient_override_map
        body._attr_scopes = outer._attr_scopes
        body._kernel_labels = outer._kernel_labels
        # Random ops without a seed of their own take it from how many ops there are.
        body._version, body._uncounted = outer._version, outer._uncounted
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

    def _needed(self) -> set[Operation]:
        """The ops that the outputs and control outputs need."""
        needed: set[Operation] = set()
        stack = [t.op for t in self.outputs] + list(self.control_outputs)
        while stack:
            op = stack.pop()
            if op not in needed:
                needed.add(op)
                stack.extend(t.op for t in op.inputs)
                stack.extend(op.control_inputs)
        return needed

    def prune(self) -> None:
        """Takes out all ops that are not needed, and captures that nothing uses."""
        needed = self._needed()
        captured = {inside.op for inside in self._captures.values()}
        arguments = {t.op for t in self.inputs} - captured
        self._remove({op for op in self._ops if op not in needed and op not in arguments})
        self._captures = {given: inside for given, inside in self._captures.items() if inside.op in needed}
        self.inputs = [t for t in self.inputs if t.op.name in self._by_name]
        self.reads = {inside: reads for inside, reads in self.reads.items() if inside.op.name in self._by_name}

    def drop_unused(self) -> None:
        """Takes out the ops with effects that neither an output nor a control output needs, as pruning does outside."""
        needed = self._needed()
        gone: set[Operation] = set()
        stack = [op for op in self._ops if op not in needed and _has_effect(op)]
        while stack:
            op = stack.pop()
            if op not in gone:
                gone.add(op)
                stack.extend(c for t in op.outputs for c in t._consumers)
                stack.extend(op._control_outputs)
        self._remove(gone)


def is_variable_read(tensor: Tensor) -> bool:
    """Whether this is the value of a reference variable, as reading it gives it."""
    op = tensor.op
    return op.type == "Identity" and op.inputs[0].dtype._is_ref_dtype and op.inputs[0].op.type in VARIABLE_OPS


def _has_effect(op: Operation) -> bool:
    return op.op_def_.is_stateful or any(a.is_ref for a in op.op_def_.inputs)


def _is_guaranteed(tensor: Tensor) -> bool:
    op = tensor.op
    while op.type == "Identity":
        op = op.inputs[0].op
    return op.type == "GuaranteeConst"


def check_in_reach(tensor: Tensor, graph: Graph, user: str) -> None:
    """Raises ValueError where a tensor of a body is used outside of the body (`user` names the op that would use it)."""
    home = tensor.op.graph
    if not isinstance(home, FuncGraph) or home is graph or _surrounds(home, graph):
        return
    if home.is_loop:
        around: Graph | None = graph
        while around is not None and not getattr(around, "is_loop", False):
            around = around.outer_graph
        reason = f"'{tensor.op.name}' is in a while loop" if around is None else "they are in different while loops"
        raise ValueError(f"Cannot use '{tensor.op.name}' as input to '{user}' because {reason}. See info log for more details.")
    here: Any = graph
    while here is not None:
        if home.branch is not None and getattr(here, "branch", None) and here.branch[0] == home.branch[0]:
            name = tensor.name.removeprefix(home.branch[0].rstrip("/") + "/")
            raise ValueError(f"Tensor {name} in {home.branch[1]} is accessed from {here.branch[1]}.")
        here = here.outer_graph
    if _surrounds(graph, home):
        raise ValueError(
            "Trying to capture a tensor from an inner function. This can be caused by accessing a tensor defined inside a loop or "
            "conditional body, or a subfunction, from a calling function, without going through the proper return value mechanism. "
            "Consider using TensorFlow mechanisms such as TensorArrays to return tensors from inner functions or loop / conditional "
            f"bodies. Tensor: {tensor}; tensor graph: {home}; this graph: {graph}"
        )


def _surrounds(outer: Graph, graph: Graph | None) -> bool:
    """Whether a graph is, or is being built inside, another one; a body of gradients is inside what it differentiates."""
    stack = [graph]
    while stack:
        graph = stack.pop()
        if graph is outer:
            return True
        if graph is not None:
            stack += [graph.outer_graph, getattr(graph, "forward", None)]
    return False


def function_targets(body: Any) -> list[Operation]:
    """The ops of a function body that must run although no output needs them: its stateful ones."""
    named = list(getattr(body, "control_outputs", None) or [])
    if getattr(body, "prunes_effects", False):
        return named
    stateful = (op for op in body.get_operations() if op.op_def_.is_stateful and op.type not in ("Placeholder", "VarHandleOp"))
    return named + [op for op in stateful if op not in named]
