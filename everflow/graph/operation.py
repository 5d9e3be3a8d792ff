"""Operation: a node of a graph."""

from __future__ import annotations

import linecache
import sys
from typing import TYPE_CHECKING, Any

from everflow import errors  # type: ignore[no-redef]
from everflow.api import PACKAGE, internal, public
from everflow.graph import attrs as attr_values
from everflow.graph import dtypes, opdefs, shapes
from everflow.graph.devices import canonical_name
from everflow.graph.tensor import Tensor, default_session

if TYPE_CHECKING:
    from everflow.graph.graph import Graph

TRACE_DEPTH = 40
_LAUNCHER = str(PACKAGE / "cli" / "run.py")


def call_site(skip: int) -> tuple[tuple[Any, int], ...]:
    """Where we are, as (code, instruction) pairs, innermost first: cheap to take, turned into lines when asked for."""
    frame = sys._getframe(skip)
    found = []
    depth = TRACE_DEPTH
    while frame is not None and depth:
        found.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back  # type: ignore[assignment]
        depth -= 1
    return tuple(found)


def _line(code: Any, instruction: int) -> int:
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= instruction < end and number is not None:
            return number
    return line


class InputList(tuple[Any, ...]):
    """What an op takes. Parts of it are lists, to which gradient functions add theirs: `op.inputs[1:] + [None]`."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return list(found) if type(index) is slice else found


# Its name is in the errors of those who try to change it.
InputList.__name__ = "_InputList"


@public("Operation")
@internal("framework.ops.Operation")
class Operation:
    """A node of a graph. `attrs` holds its attributes as plain values (see everflow.graph.attrs)."""

    # The inputs whose gradients nobody asked for; tapes tell so of the ops that they recorded.
    skip_input_indices: tuple[int, ...] = ()

    __slots__ = (
        "__weakref__",
        "_control_flow_context",
        "_control_outputs",
        "_device",
        "_id",
        "_original_op",
        "_site",
        "attrs",
        "control_inputs",
        "graph",
        "inputs",
        "name",
        "op_def_",
        "outputs",
        "type",
        "__dict__",
    )

    def __init__(
        self,
        node_def: Any,
        g: Graph,
        inputs: Any = None,
        output_types: Any = None,
        control_inputs: Any = None,
        input_types: Any = None,
        original_op: Operation | None = None,
        op_def: Any = None,
    ) -> None:
        from everflow.graph.wire import add_node

        add_node(self, node_def, g, inputs, control_inputs)
        self._original_op: Operation | None = original_op

    @classmethod
    def make(
        cls,
        graph: Graph,
        op_def: opdefs.OpDef,
        name: str,
        inputs: tuple[Tensor, ...],
        attrs: dict[str, Any],
        output_types: list[dtypes.DType],
        control_inputs: list[Operation],
    ) -> Operation:
        """An operation from parts that are already in order; the graph does not hold it yet."""
        op = cls.__new__(cls)
        op.fill(graph, op_def, name, inputs, attrs, output_types, control_inputs)
        return op

    def fill(
        self,
        graph: Graph,
        op_def: opdefs.OpDef,
        name: str,
        inputs: tuple[Tensor, ...],
        attrs: dict[str, Any],
        output_types: list[dtypes.DType],
        control_inputs: list[Operation],
    ) -> None:
        """Sets all parts."""
        self.graph = graph
        self.op_def_ = op_def
        self.type = op_def.name
        self.name = name
        # A copy of a tensor stands for the output that it was copied from.
        self.inputs = InputList([t.op.outputs[t.value_index] for t in inputs])
        self.attrs = attrs
        self.control_inputs = control_inputs
        self._control_outputs: list[Operation] = []
        self._device = ""
        self._original_op = None
        self._control_flow_context: Any = None
        self._site: tuple[Any, ...] = ()
        self._id = -1
        outputs = []
        for i, dtype in enumerate(output_types):
            t = Tensor.__new__(Tensor)
            t.op = self
            t.value_index = i
            t.dtype = dtype
            t.dims = None
            t._consumers = []
            t.handle_data = None
            outputs.append(t)
        self.outputs: list[Tensor] = outputs

    def attr(self, name: str) -> Any:
        """An attribute as a plain value; the op definition's default where it was not set."""
        try:
            return self.attrs[name]
        except KeyError:
            definition = self.op_def_.attrs.get(name)
            if definition is not None and definition.has_default:
                return definition.default
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.") from None

    def get_attr(self, name: str) -> Any:
        """An attribute as TensorFlow hands it out: bytes for strings, protos for shapes, tensors and functions."""
        definition = self.op_def_.attrs.get(name)
        if name not in self.attrs and (definition is None or not definition.has_default):
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")
        return attr_values.as_user_value(self.attr(name), definition.type if definition else None)

    def _clear_attr(self, attr_name: str) -> None:
        """Takes an attribute away: the op has its default again."""
        definition = self.op_def_.attrs.get(attr_name)
        if definition is not None and definition.has_default:
            self.attrs[attr_name] = definition.default
        else:
            self.attrs.pop(attr_name, None)
        self.graph._changed()

    def _set_attr(self, name: str, value: Any) -> None:
        """Sets an attribute from an AttrValue."""
        definition = self.op_def_.attrs.get(name)
        self.attrs[name] = attr_values.from_proto(value, definition.type if definition else None)
        self.graph._changed()

    @property
    def _device_assignments(self) -> list[Any]:
        from everflow.graph.places import device_assignments

        return device_assignments(self)

    @property
    def _colocation_dict(self) -> dict[str, Any]:
        from everflow.graph.places import colocations

        return colocations(self)

    @property
    def device(self) -> str:
        """The device string given to this operation, or an empty string."""
        return self._device

    def _set_device(self, device: Any) -> None:
        self._device = canonical_name(device)
        self.graph._changed()

    def _set_device_from_string(self, device: str) -> None:
        self._device = device
        self.graph._changed()

    @property
    def _graph(self) -> Any:
        return self.graph

    @property
    def _id_value(self) -> int:
        return self._id

    @property
    def _op_def(self) -> Any:
        return self.op_def

    @property
    def op_def(self) -> Any:
        """The OpDef proto."""
        from everflow.graph.wire import op_def_proto

        return op_def_proto(self.op_def_)

    @property
    def node_def(self) -> Any:
        """The NodeDef proto."""
        from everflow.graph.wire import node_def_proto

        return node_def_proto(self)

    @property
    def _node_def(self) -> Any:
        return self.node_def

    @property
    def traceback(self) -> list[tuple[str, int, str, str]]:
        """Where the operation was created: (file, line, function, text), outermost first."""
        found = []
        for code, instruction in self._calls():
            line = _line(code, instruction)
            found.append((code.co_filename, line, code.co_name, linecache.getline(code.co_filename, line).strip()))
        return found

    @property
    def _traceback(self) -> list[tuple[str, int, str, str]]:
        return self.traceback

    @property
    def _is_stateful(self) -> bool:
        return self.op_def_.is_stateful

    @property
    def traceback_with_start_lines(self) -> list[tuple[str, int, str, str, int]]:
        """The same, with the first line of each function."""
        starts = [code.co_firstlineno for code, _ in self._calls()]
        return [(*entry, start) for entry, start in zip(self.traceback, starts)]

    def _calls(self) -> list[tuple[Any, int]]:
        """The calls that led to this operation, outermost first; the program begins after `everflow run`."""
        calls = list(reversed(self._site))
        launcher = max((i for i, (code, _) in enumerate(calls) if code.co_filename == _LAUNCHER), default=-1)
        return calls[launcher + 1 :]

    @property
    def _control_inputs(self) -> list[Operation]:
        return self.control_inputs

    @property
    def _inputs(self) -> list[Tensor]:
        return list(self.inputs)

    @property
    def _outputs(self) -> list[Tensor]:
        return self.outputs

    @property
    def _input_types(self) -> list[dtypes.DType]:
        """The dtypes that the op asks for: a reference only where it writes to it."""
        from everflow.graph.wire import input_types_of

        return input_types_of(self.op_def_, self.attrs)

    @property
    def _output_types(self) -> list[dtypes.DType]:
        return [t.dtype for t in self.outputs]

    @property
    def _input_dtypes(self) -> list[dtypes.DType]:
        return self._input_types

    @property
    def _output_types_list(self) -> list[dtypes.DType]:
        return self._output_types

    def values(self) -> tuple[Tensor, ...]:
        """The outputs."""
        return tuple(self.outputs)

    def colocation_groups(self) -> list[bytes]:
        """The groups of operations that share this one's device."""
        groups = self.attrs.get("_class")
        if not groups:
            return [b"loc:@" + self.name.encode()]
        found = [g.encode() for g in groups if g.startswith("loc:@")]
        return found or [b"loc:@" + self.name.encode()]

    def _update_input(self, index: int, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"tensor must be a Tensor: {tensor}")
        if tensor.graph is not self.graph:
            raise ValueError(f"{tensor} must be from the same graph as {self}.")
        self.graph._check_not_finalized()
        if index >= len(self.inputs):
            raise errors.OutOfRangeError(
                None, None, f"Cannot update edge. Input index [{index}] is greater than the number of total inputs [{len(self.inputs)}]."
            )
        from everflow.graph.wire import input_types_of

        old, wanted = self.inputs[index], input_types_of(self.op_def_, self.attrs)[index]
        if tensor.dtype.base_dtype is not wanted.base_dtype:
            # As in TensorFlow, the graph is found to be invalid when it is run.
            self.graph._invalid[self] = (
                f"Input {index} of node {self.name} was passed {tensor.dtype.name} from {tensor.name} incompatible with expected "
                f"{wanted.name}."
            )
        elif not shapes.is_compatible(old.dims, tensor.dims):
            raise errors.InvalidArgumentError(
                None, None, f"Cannot update edge, incompatible shapes: {shapes.describe(tensor.dims)} and {shapes.describe(old.dims)}."
            )
        else:
            self.graph._invalid.pop(self, None)
        old._consumers.remove(self)
        inputs = list(self.inputs)
        inputs[index] = tensor
        self.inputs = InputList(inputs)
        tensor._consumers.append(self)
        self.graph._changed()

    def _add_control_inputs(self, ops: Any) -> None:
        for op in ops:
            if not isinstance(op, Operation):
                raise TypeError(f"op must be an Operation: {op}")
            if op.graph is not self.graph:
                raise ValueError(f"{op} must be from the same graph as {self}.")
            if op not in self.control_inputs:
                self.control_inputs.append(op)
                op._control_outputs.append(self)
        self.graph._changed()

    def _add_control_input(self, op: Operation) -> None:
        self._add_control_inputs([op])

    def _remove_all_control_inputs(self) -> None:
        for op in self.control_inputs:
            op._control_outputs.remove(self)
        self.control_inputs = []
        self.graph._changed()

    def _get_control_flow_context(self) -> Any:
        return self._control_flow_context

    def _set_control_flow_context(self, context: Any) -> None:
        self._control_flow_context = context

    def _as_graph_element(self) -> Operation:
        return self

    def run(self, feed_dict: dict[Any, Any] | None = None, session: Any = None) -> None:
        """Runs this operation in a session (the default one unless given)."""
        default_session(self.graph, session, "execute operation", "run").run(self, feed_dict)

    def _get_attr_type(self, name: str) -> dtypes.DType:
        return self.attr(name)

    def __str__(self) -> str:
        return str(self.node_def)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"


def describe_shapes(op: Operation) -> str:
    """The tail that TensorFlow adds to a shape error: which op it was and what it was given."""
    given = ", ".join("?" if t.dims is None else shapes.describe(t.dims) for t in op.inputs)
    return f" for '{op.name}' (op: '{op.type}') with input shapes: {given}."
