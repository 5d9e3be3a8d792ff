"""tf.import_graph_def: the nodes of a GraphDef become operations of the default graph."""

from __future__ import annotations

import contextlib
import heapq
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from everflow import errors, versions
from everflow._native import split_node
from everflow.api import internal, public
from everflow.cycles import uncollected
from everflow.graph import attrs as attr_values
from everflow.graph import describe, opdefs, shapes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.functions import add_library
from everflow.graph.graph import VALID_OP_NAME, VALID_SCOPE_NAME, Graph, set_shapes
from everflow.graph.malformed import well_formed
from everflow.graph.operation import InputList, Operation, call_site
from everflow.graph.places import apply_devices
from everflow.graph.scopes import name_scope
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.graph.wire import complete_attrs, input_types_of, output_types_of
from everflow.proto import graph_pb2

# Ops whose producers once wrote wrong shapes; a contradiction is not an error for them.
_LENIENT_SHAPES = frozenset(
    """
    RandomShuffleQueue PaddingFIFOQueue FIFOQueue PriorityQueue QueueSize Stack Barrier BarrierReadySize
    BarrierIncompleteSize
    HashTable MutableHashTable MutableHashTableOfTensors Mutex CuckooTable IndexTable WholeFileReader TextLineReader
    FixedLengthRecordReader TFRecordReader IdentityReader LMDBReader RefSwitch RefEnter RefNextIteration RefMerge
    RefIdentity LRNGrad
""".split()
)
_FIELD_KINDS = {"s": "string", "i": "int", "f": "float", "b": "bool", "type": "type", "shape": "shape", "tensor": "tensor", "func": "func"}
_OUTPUT = re.compile(r"^(.*):(\d+)$", re.DOTALL)

Source = "tuple[str, int]"
# Writers before this version gave placeholders of unknown shape that of a scalar.
_TELLS_SCALARS = 24
# What later versions note about nodes; it changes nothing.
_DESCRIPTIONS = {"VarHandleOp": ("debug_name",), "MatMul": ("grad_a", "grad_b"), "BatchMatMulV2": ("grad_x", "grad_y")}


@public("import_graph_def", "graph_util.import_graph_def")
@internal("framework.importer.import_graph_def")
def import_graph_def(
    graph_def: Any,
    input_map: Any = None,
    return_elements: Any = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> list[Any] | None:
    """Adds the nodes of a GraphDef to the default graph, below the scope `name`.

    `input_map` puts existing tensors in the place of imported ones; `return_elements` names the operations and tensors
    of the GraphDef that the caller wants back.
    """
    with well_formed():
        return _import(graph_def, input_map, return_elements, name=name, producer_op_list=producer_op_list)


@internal("framework.importer.import_graph_def_for_function")
def import_graph_def_for_function(graph_def: Any, name: str | None = None) -> list[Any] | None:
    """The same for the body of a function, whose nodes may be colocated with nodes that are not in it."""
    return _import(graph_def, validate_colocation_constraints=False, name=name)


def extend_graph(graph: Graph, graph_def: Any, any_name: bool = False) -> None:
    """Adds nodes under their own names, whose inputs may be operations that the graph has already. With `any_name`, a name that is
    none for a node makes only runs of the graph fail."""
    if graph_def.library.function or graph_def.library.gradient:
        add_library(graph, graph_def.library)
    with graph._lock, _all_or_nothing(graph):
        graph.takes_any_name = any_name
        extension = _Extension(graph, graph_def, any_name)
        extension.run()
        for op in extension.ops.values() if any_name else ():
            if not VALID_OP_NAME.match(op.name):
                graph._invalid[op] = _bad_name(op.name)


def _import(
    graph_def: Any,
    input_map: Any = None,
    return_elements: Any = None,
    validate_colocation_constraints: bool = True,
    name: str | None = None,
    producer_op_list: Any = None,
) -> list[Any] | None:
    graph_def = _checked_graph_def(graph_def)
    if input_map is not None and not hasattr(input_map, "keys"):
        raise TypeError("input_map must be a dictionary mapping strings to Tensor objects.")
    input_map = {attr_values.text(k): v for k, v in (input_map or {}).items()}
    wanted = _checked_return_elements(return_elements)
    dropped = _future_defaults(graph_def, producer_op_list) if producer_op_list is not None else {}
    graph = get_default_graph()
    with name_scope(name, "import", list(input_map.values())) as scope:
        prefix = scope[:-1] if scope else ""
        mapped = _mapped_tensors(name, input_map)
        if graph_def.library.function or graph_def.library.gradient:
            add_library(graph, graph_def.library)
        found = _Import(graph, graph_def, prefix, mapped, dropped, validate_colocation_constraints)
        with graph._lock, _outer_devices_aside(graph) as devices, _all_or_nothing(graph), uncollected():
            found.run()
            found.place(devices)
    unused = found.unknown_map_keys()
    if unused:
        raise ValueError(f"Attempted to map inputs that were not found in graph_def: [{', '.join(unused)}]")
    return None if wanted is None else [found.element(w) for w in wanted]


def _checked_graph_def(graph_def: Any) -> Any:
    if isinstance(graph_def, graph_pb2.GraphDef):
        return graph_def
    try:
        copied = graph_pb2.GraphDef()
        copied.MergeFrom(graph_def)
        return copied
    except TypeError:
        raise TypeError("graph_def must be a GraphDef proto.") from None


def _checked_return_elements(return_elements: Any) -> list[str] | None:
    if return_elements is None:
        return None
    wanted = tuple(return_elements)
    if not all(isinstance(w, (str, bytes)) for w in wanted):
        raise TypeError("return_elements must be a list of strings.")
    return [attr_values.text(w) for w in wanted]


def _tensor_name(name: str) -> tuple[str, int]:
    """`A` and `A:0` are the first output of A."""
    parts = name.split(":")
    if len(parts) == 1:
        return name, 0
    if len(parts) == 2 and parts[1].isdigit():
        return parts[0], int(parts[1])
    raise ValueError(f"Cannot convert {name!r} to a tensor name.")


def _mapped_tensors(name: str | None, input_map: dict[str, Any]) -> dict[str, Tensor]:
    if all(isinstance(v, Tensor) for v in input_map.values()):
        return input_map
    if name == "":
        raise ValueError(
            "tf.import_graph_def() requires a non-empty `name` if `input_map` contains non-Tensor values. Try calling "
            "tf.convert_to_tensor() on `input_map` values before calling tf.import_graph_def()."
        )
    with name_scope("_inputs"):
        return {k: convert_to_tensor(v) for k, v in input_map.items()}


def _future_defaults(graph_def: Any, producer_op_list: Any) -> dict[str, dict[str, Any]]:
    """By op: the attributes that only the graph's producer knows, with its defaults. Nodes may drop these."""
    found: dict[str, dict[str, Any]] = {}
    used = {node.op for node in graph_def.node}
    for op in producer_op_list.op:
        definition = opdefs.find(op.name) if op.name in used else None
        if definition is not None:
            found[op.name] = {a.name: a.default_value for a in op.attr if a.HasField("default_value") and a.name not in definition.attrs}
    return found


@contextlib.contextmanager
def _outer_devices_aside(graph: Graph) -> Iterator[list[Any]]:
    """Takes the device scopes off while nodes are made; they are applied when all nodes are there."""
    devices = graph._devices
    graph._devices = []
    try:
        yield devices
    finally:
        graph._devices = devices


@contextlib.contextmanager
def _all_or_nothing(graph: Graph) -> Iterator[None]:
    """Takes the new operations out again where one of them turns out to be wrong."""
    count = len(graph._ops)
    try:
        yield
    except BaseException:
        for op in graph._ops[count:]:
            del graph._by_name[op.name]
            for t in op.inputs:
                t._consumers = [c for c in t._consumers if c is not op]
            for c in op.control_inputs:
                c._control_outputs.remove(op)
        del graph._ops[count:]
        graph._changed()
        raise


class _Description(NamedTuple):
    """What nodes with the same op and attributes have in common."""

    definition: opdefs.OpDef
    attrs: dict[str, Any]
    input_types: list[Any]
    output_types: list[Any]
    shapes: list[Any]


class _Import:
    """One import under way: which name each node got, and which operation each became."""

    def __init__(
        self,
        graph: Graph,
        graph_def: Any,
        prefix: str,
        mapped: dict[str, Tensor],
        dropped: dict[str, dict[str, Any]],
        validate_colocation: bool,
    ) -> None:
        self.graph = graph
        self.nodes = list(graph_def.node)
        # Of each node its name, op, inputs, device, and bytes that are the same for the same attributes.
        self.parts: list[tuple[str, str, list[str], str, bytes | None]] = [
            split_node(node.SerializePartialToString()) for node in self.nodes
        ]
        # What a node's op and attributes come to, by the op and those bytes.
        self.known: dict[tuple[str, bytes], _Description] = {}
        self.versions = graph_def.versions
        self.prefix = prefix + "/" if prefix else ""
        self.dropped = dropped
        self.validate_colocation = validate_colocation
        self.map: dict[tuple[str, int], Tensor] = {}
        self.control_map: dict[str, Operation] = {}
        for key, tensor in mapped.items():
            if key.startswith("^"):
                self.control_map[key[1:]] = tensor.op
            else:
                self.map[_tensor_name(key)] = tensor
        self.used_keys: set[tuple[str, int]] = set()
        self.index: dict[str, int] = {}
        self.ops: dict[str, Operation] = {}
        self.names: dict[str, str] = {}
        self.definitions: dict[str, opdefs.OpDef] = {}
        self.site: tuple[Any, ...] = ()
        self.valid_name = VALID_OP_NAME

    def run(self) -> None:
        self._check_versions()
        for i, (name, *_) in enumerate(self.parts):
            if not self.valid_name.match(name):
                raise ValueError(_bad_name(name))
            if self.index.setdefault(name, i) != i:
                raise ValueError(f"Node '{name}' is not unique")
        sources = [self._sources(name, inputs) for name, _, inputs, _, _ in self.parts]
        self._choose_names()
        self.site = call_site(3)
        back_edges: list[tuple[Operation, list[Any]]] = []
        for i in self._order(sources):
            self._add(i, *sources[i], back_edges)
        for op, inputs in back_edges:
            op.inputs = InputList(self._output(op.name, *s) if isinstance(s, tuple) else s for s in inputs)
            _check_types(op)
            for t in op.inputs:
                t._consumers.append(op)
        for op in self.ops.values():
            self.graph._names_in_use.setdefault(op.name.lower(), 1)

    # -- before any node is made

    def _check_versions(self) -> None:
        given = self.versions
        name = f"TensorFlow {versions.VERSION}"
        if given.producer < versions.GRAPH_DEF_VERSION_MIN_PRODUCER:
            raise ValueError(
                f"GraphDef producer version {given.producer} below min producer "
                f"{versions.GRAPH_DEF_VERSION_MIN_PRODUCER} supported by "
                f"{name}.  Please regenerate your graph."
            )
        if given.min_consumer > versions.GRAPH_DEF_VERSION:
            raise ValueError(
                f"GraphDef min consumer version {given.min_consumer} above current version "
                f"{versions.GRAPH_DEF_VERSION} for {name}.  "
                "Please upgrade TensorFlow."
            )
        if versions.GRAPH_DEF_VERSION in given.bad_consumers:
            raise ValueError(
                f"GraphDef disallows consumer version {versions.GRAPH_DEF_VERSION}.  Please upgrade TensorFlow: this "
                "version is likely buggy."
            )
        mine = self.graph.graph_def_versions
        merged = type(given)(
            producer=min(mine.producer, given.producer),
            min_consumer=max(mine.min_consumer, given.min_consumer),
            bad_consumers=sorted({*mine.bad_consumers, *given.bad_consumers}),
        )
        self.graph._graph_def_versions = merged

    def _sources(self, node: str, names: list[str]) -> tuple[list[Any], list[str]]:
        """A node's inputs as (node, output) or mapped tensors, and the names of its control inputs."""
        inputs: list[Any] = []
        controls: list[str] = []
        for name in names:
            if name.startswith("^"):
                if name[1:] not in self.index and name[1:] not in self.control_map:
                    raise ValueError(f"Node '{node}': Unknown input node '{name}'")
                controls.append(name[1:])
                continue
            match = _OUTPUT.match(name) if ":" in name else None
            source = (match[1], int(match[2])) if match else (name, 0)
            tensor = self.map.get(source)
            if tensor is not None:
                self.used_keys.add(source)
            elif source[0] not in self.index:
                raise ValueError(f"Node '{node}': Unknown input node '{name}'")
            if controls:
                raise ValueError(f"Node '{node}': Control dependencies must come after regular dependencies")
            inputs.append(tensor if tensor is not None else source)
        return inputs, controls

    def _choose_names(self) -> None:
        """The name of each node's operation; where one is taken, the name with the first free number."""
        taken = self._taken_names()
        for given in self.index:
            name = self.prefix + given
            if name in taken:
                i = 1
                while f"{name}_{i}" in taken or f"{given}_{i}" in self.index:
                    i += 1
                name = f"{name}_{i}"
            self.names[given] = name

    def _taken_names(self) -> set[str]:
        """The names of the graph's operations and of the scopes they are in."""
        found: set[str] = set()
        for name in self.graph._by_name:
            if name.startswith(self.prefix):
                while name and name not in found:
                    found.add(name)
                    name = name.rpartition("/")[0]
        return found

    def _order(self, sources: list[tuple[list[Any], list[str]]]) -> Iterable[int]:
        """Nodes after what they need, otherwise in the order of the GraphDef; loops' back edges are not waited for."""
        needs: list[set[int]] = []
        in_order = True
        for i, (inputs, controls) in enumerate(sources):
            needed = {self.index[s[0]] for s in inputs if isinstance(s, tuple)}
            needed.update(self.index[c] for c in controls if c not in self.control_map)
            if needed and max(needed) >= i:
                if self.parts[i][1] in ("Merge", "RefMerge"):
                    needed = {n for n in needed if self.parts[n][1] not in ("NextIteration", "RefNextIteration")}
                in_order = in_order and max(needed, default=-1) < i
            needs.append(needed)
        return range(len(needs)) if in_order else self._sorted(needs)

    def _sorted(self, needs: list[set[int]]) -> Iterator[int]:
        waiting = [len(needed) for needed in needs]
        after: dict[int, list[int]] = {}
        for i, needed in enumerate(needs):
            for n in needed:
                after.setdefault(n, []).append(i)
        ready = [i for i, needed in enumerate(needs) if not needed]
        count = 0
        while ready:
            i = heapq.heappop(ready)
            count += 1
            yield i
            for j in after.get(i, ()):
                waiting[j] -= 1
                if not waiting[j]:
                    heapq.heappush(ready, j)
        if count < len(needs):
            raise ValueError(f"{len(needs) - count} nodes in a cycle")

    # -- each node

    def _add(self, i: int, sources: list[Any], controls: list[str], back_edges: list[Any]) -> None:
        given, op_type, _, device, _ = self.parts[i]
        ops = self.ops
        inputs = [s if isinstance(s, Tensor) else self._output(given, *s) if s[0] in ops else s for s in sources]
        node = self._described(i, inputs)
        is_loop_start = tuple in map(type, inputs)
        op = self.graph.add(
            node.definition,
            self.names[given],
            () if is_loop_start else tuple(inputs),
            node.attrs.copy(),
            node.output_types,
            infer_shapes=False,
            site=self.site,
        )
        op._device = device
        if is_loop_start:
            back_edges.append((op, inputs))
            op.outputs[1].dims = ()
        else:
            if [t.dtype for t in inputs] != node.input_types:
                _check_types(op)
            set_shapes(op)
            if op_type == "Placeholder" and self.versions.producer < _TELLS_SCALARS and op.outputs[0].dims == ():
                op.outputs[0].dims = None
        if node.shapes:
            self._narrow(op, node.shapes)
        if controls:
            explicit = [self.control_map[c] if c in self.control_map else ops[c] for c in controls]
            for c in dict.fromkeys(explicit):
                if c not in op.control_inputs:
                    op.control_inputs.insert(explicit.index(c), c)
                    c._control_outputs.append(op)
        ops[given] = op

    def _described(self, i: int, inputs: list[Any]) -> _Description:
        """What the node's op and attributes come to: worked out once for all nodes that agree in them."""
        name, op_type, _, _, key = self.parts[i]
        found = self.known.get((op_type, key)) if key is not None else None
        if found is None or len(inputs) != len(found.input_types):
            node = self.nodes[i]
            definition = self._definition(node)
            name = self.names[name]
            attrs = self._attrs(node, definition, name)
            complete_attrs(definition, attrs, inputs, name)
            dims = [shapes.from_proto(s) for s in node.attr["_output_shapes"].list.shape] if "_output_shapes" in node.attr else []
            found = _Description(definition, attrs, input_types_of(definition, attrs), output_types_of(definition, attrs), dims)
            if key is not None:
                self.known[op_type, key] = found
        return found

    def _definition(self, node: Any) -> opdefs.OpDef:
        found = self.definitions.get(node.op)
        if found is None:
            found = self.graph.op_definition(node.op)
            if found is None:
                raise errors.NotFoundError(
                    None,
                    None,
                    (
                        f"Op type not registered '{node.op}' in binary running on localhost. Make sure the Op and "
                        "Kernel are registered in "
                        "the binary running in this process. Note that if you are loading a saved graph which used "
                        "ops from tf.contrib, "
                        "accessing (e.g.) `tf.contrib.resampler` should be done before importing the graph, as "
                        "contrib ops are lazily "
                        "registered when the module is first accessed."
                    ),
                )
            self._check_not_removed(found)
            self.definitions[node.op] = found
        return found

    def _check_not_removed(self, definition: opdefs.OpDef) -> None:
        since = definition.fact.get("deprecated_since")
        if since is not None and self.versions.producer >= since:
            raise errors.UnimplementedError(
                None,
                None,
                (
                    f"Op {definition.name} is not available in GraphDef version {self.versions.producer}. It has been "
                    "removed in version "
                    f"{since}."
                ),
            )

    def _output(self, node: str, source: str, index: int) -> Tensor:
        outputs = self.ops[source].outputs
        if index >= len(outputs):
            raise ValueError(
                f"Node '{node}': Connecting to invalid output {index} of source node {source} which has {len(outputs)} outputs."
            )
        return outputs[index]

    def _attrs(self, node: Any, definition: opdefs.OpDef, name: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        dropped = self.dropped.get(node.op)
        known = definition.attrs
        given = node.attr
        for key in given:
            attr, value = known.get(key), given[key]
            if attr is None:
                if key == "_output_shapes" or key in _DESCRIPTIONS.get(node.op, ()) or (dropped and dropped.get(key) == value):
                    continue
                if not key.startswith("_"):
                    raise ValueError(
                        f"NodeDef mentions attr '{key}' not in {describe.definition(definition)}; NodeDef: "
                        f"{{{{node {name}}}}}. (Check "
                        "whether your GraphDef-interpreting binary is up to date with your GraphDef-generating "
                        "binary.)."
                    )
                found[key] = self._colocation(node, value) if key == "_class" else attr_values.from_proto(value)
                continue
            field = value.WhichOneof("value")
            if _FIELD_KINDS.get(field) == attr.type:
                plain = attr_values.taken(field, getattr(value, field))
            else:
                _check_kind(value, attr, definition, name)
                plain = attr_values.from_proto(value, attr.type)
            if attr.allowed is not None or attr.minimum is not None:
                _check_limits(plain, attr, definition, name)
            found[key] = plain
        missing = [a.name for a in known.values() if a.name not in found and not a.has_default] if len(found) < len(known) else []
        if missing:
            shown = ", ".join(f"'{m}'" for m in missing)
            raise ValueError(
                f"NodeDef missing attr{'s' if len(missing) > 1 else ''} {shown} from "
                f"{describe.definition(definition)}; NodeDef: "
                f"{{{{node {name}}}}}"
            )
        return found

    def _colocation(self, node: Any, value: Any) -> Any:
        groups = []
        for raw in value.list.s:
            group = attr_values.text(raw)
            other = group.removeprefix("loc:@")
            if other != group:
                if other in self.names:
                    group = "loc:@" + self.names[other]
                elif self.validate_colocation:
                    raise ValueError(f"Node '{node.name}' expects to be colocated with unknown node '{other}'")
                else:
                    group = "loc:@" + self.prefix + other
            groups.append(group)
        return groups

    def _narrow(self, op: Operation, given: list[Any]) -> None:
        for i, (t, dims) in enumerate(zip(op.outputs, given)):
            try:
                t.dims = shapes.merge(t.dims, dims)
            except ValueError:
                if op.type in _LENIENT_SHAPES or self.versions.producer < 21:
                    continue
                raise ValueError(
                    f"Node '{op.name}' has an _output_shapes attribute inconsistent with the GraphDef for output "
                    f"#{i}: Shapes "
                    f"{shapes.TensorShape.from_dims(t.dims)} and {shapes.TensorShape.from_dims(dims)} are not "
                    "compatible"
                ) from None

    # -- after all nodes are made

    def place(self, devices: list[Any]) -> None:
        """Gives each operation its device: its own within the scopes around, or that of what it is colocated with."""
        colocated = []
        for op in self.ops.values():
            others = [g[5:] for g in op.attrs.get("_class") or () if g.startswith("loc:@")]
            others = [n for n in others if n != op.name]
            if others:
                colocated.append((op, others))
                op._device = ""
            elif op._device or devices:
                op._set_device(op._device)
                apply_devices(devices, op)
        for op, others in colocated:
            for name in others:
                other = self.graph._by_name.get(name)
                if other is None:
                    if not self.validate_colocation:
                        continue
                    raise ValueError(f"Specified colocation to an op that does not exist during import: {name} in {op.name}")
                if other._device:
                    op._device = other._device
                    break

    def unknown_map_keys(self) -> list[str]:
        """The keys of the input map that no node of the GraphDef could mean."""
        found = []
        for node, index in self.map:
            op = self.ops.get(node)
            if (node, index) not in self.used_keys and (op is None or index >= len(op.outputs)):
                found.append(f"{node}:{index}")
        return found

    def element(self, wanted: str) -> Any:
        """The operation or tensor that was asked for."""
        if ":" not in wanted:
            if wanted not in self.ops:
                raise ValueError(f"Requested return node '{wanted}' not found in graph def")
            return self.ops[wanted]
        source = _tensor_name(wanted)
        if source in self.map:
            return self.map[source]
        op = self.ops.get(source[0])
        if op is None:
            raise ValueError(f"Requested return tensor '{source[0]}:{source[1]}' not found in graph def")
        if source[1] >= len(op.outputs):
            raise ValueError(f"Invalid return output {source[1]} of node '{source[0]}', which has {len(op.outputs)} output(s)")
        return op.outputs[source[1]]


# What the C API lets operations be called before they run.
_ANY_NAME = re.compile("")


def _bad_name(name: str) -> str:
    return f"Node '{name}': Node name contains invalid characters"


class _Extension(_Import):
    """More nodes of one and the same program."""

    def __init__(self, graph: Graph, graph_def: Any, any_name: bool = False) -> None:
        super().__init__(graph, graph_def, "", {}, {}, False)
        # Of a large graph that grows op by op, only what is asked for is looked up.
        taken = dict.fromkeys(name.removeprefix("^").partition(":")[0] for node in graph_def.node for name in node.input)
        known = [graph._by_name[name] for name in taken if name in graph._by_name]
        self.map = {(op.name, i): t for op in known for i, t in enumerate(op.outputs)}
        self.control_map = {op.name: op for op in known}
        # What a master adds to the part of a task begins with an underscore.
        self.valid_name = _ANY_NAME if any_name else VALID_SCOPE_NAME

    def _choose_names(self) -> None:
        for name in self.index:
            if name in self.graph._by_name:
                raise errors.AlreadyExistsError(None, None, f"There is already a node named '{name}' in the graph")
            self.names[name] = name


def _check_types(op: Operation) -> None:
    for i, (t, wanted) in enumerate(zip(op.inputs, input_types_of(op.op_def_, op.attrs))):
        if t.dtype is wanted or (wanted is not None and not wanted._is_ref_dtype and t.dtype.base_dtype is wanted):
            continue
        raise ValueError(
            f"Input {i} of node {op.name} was passed {describe.type_name(t.dtype)} from {t.name} incompatible with "
            "expected "
            f"{describe.type_name(wanted)}."
        )


def _check_kind(value: Any, attr: opdefs.Attr, definition: opdefs.OpDef, name: str) -> None:
    which = value.WhichOneof("value")
    kind = attr.type
    if which == "list":
        fields = value.list.ListFields()
        given = f"list({_FIELD_KINDS[fields[0][0].name]})" if fields else kind if kind.startswith("list(") else "list(any)"
    elif which is None:
        given = kind if kind.startswith("list(") else "none"
    else:
        given = _FIELD_KINDS.get(which, kind)
    if given != kind:
        raise ValueError(
            f"AttrValue had value with type '{given}' when '{kind}' expected\n\t for attr '{attr.name}'\n\t; NodeDef: "
            f"{{{{node {name}}}}}; "
            f"{describe.definition(definition)}"
        )


def _check_limits(value: Any, attr: opdefs.Attr, definition: opdefs.OpDef, name: str) -> None:
    is_list = attr.type.startswith("list(")
    problem = None
    if attr.minimum is not None and (len(value) if is_list else value) < attr.minimum:
        what, shown = ("Length", len(value)) if is_list else ("Value", value)
        problem = f"{what} for attr '{attr.name}' of {shown} must be at least minimum {attr.minimum}"
    for v in value if is_list else [value]:
        if attr.allowed is not None and v not in attr.allowed:
            allowed = ", ".join(describe.attr_value(a, constant=False) for a in attr.allowed)
            given = describe.attr_value(v, constant=False)
            problem = f"Value for attr '{attr.name}' of {given} is not in the list of allowed values: {allowed}"
    if problem is not None:
        raise ValueError(f"{problem}\n\t; NodeDef: {{{{node {name}}}}}; {describe.definition(definition)}")
