"""Copying subgraphs, with handlers that say what becomes of each op and of each tensor from outside."""

from __future__ import annotations

import copy as copying
import dataclasses
import functools
import operator
from collections.abc import Callable
from typing import Any

from everflow.contrib.graph_editor.elements import (
    ControlOutputs,
    flatten_tree,
    get_predefined_collection_names,
    make_placeholder_from_tensor,
    scope_finalize,
    transform_tree,
)
from everflow.contrib.graph_editor.publish import editor
from everflow.contrib.graph_editor.rerouting import add_control_inputs
from everflow.contrib.graph_editor.selecting import get_walks_intersection_ops
from everflow.contrib.graph_editor.views import SubGraphView, make_view
from everflow.graph.functions import copy_called_functions
from everflow.graph.graph import Graph
from everflow.graph.operation import Operation
from everflow.graph.selection import get_unique_graph
from everflow.graph.tensor import Tensor


@editor("transform")
def replace_t_with_placeholder_handler(info: Any, t: Tensor) -> Tensor:
    """A placeholder for a tensor from outside."""
    with info.graph_.as_default():
        return make_placeholder_from_tensor(t, scope=info.scope_)


@editor("transform")
def keep_t_if_possible_handler(info: Any, t: Tensor) -> Tensor:
    """The tensor itself within one graph, else a placeholder."""
    return t if info.graph is info.graph_ else replace_t_with_placeholder_handler(info, t)


@editor("transform")
def assign_renamed_collections_handler(info: Any, elem: Any, elem_: Any) -> None:
    """Adds a copy to the collections of the original; those that TensorFlow does not know are renamed as ops are."""
    known = get_predefined_collection_names()
    for name, collection in info.collections.items():
        if elem in collection:
            info.graph_.add_to_collection(name if name in known else info.new_name(name), elem_)


@editor("transform")
def transform_op_if_inside_handler(info: Any, op: Operation, keep_if_possible: bool = True) -> Operation | None:
    """The copy of an op, or itself within one graph, or None."""
    if op in info.ops:
        return info.transformed_ops[op]
    return op if keep_if_possible and info.graph is info.graph_ else None


@editor("transform")
def copy_op_handler(
    info: Any, op: Operation, new_inputs: Any, copy_shape: bool = False, nodedef_fn: Callable[[Any], Any] | None = None
) -> tuple[Operation, list[Tensor]]:
    """A copy of an op with other inputs, and its outputs; `nodedef_fn` may change its definition."""
    if isinstance(new_inputs, bool):
        raise TypeError("the `new_inputs` argument must be an iterable.")
    node = copying.deepcopy(op.node_def)
    node.name = info.graph_.unique_name(info.new_name(op.name))
    node = node if nodedef_fn is None else nodedef_fn(node)
    if info.graph_ is not info.graph:
        copy_called_functions(op, info.graph, info.graph_)
    made = Operation(node, info.graph_, list(new_inputs), list(op._output_types), [], list(op._input_types), None, op.op_def)
    if copy_shape:
        for t, t_ in zip(op.outputs, made.outputs):
            t_.set_shape(t.get_shape())
    if op._original_op:
        made._original_op = op._original_op
    return made, made.outputs


@dataclasses.dataclass
class _Progress:
    """What handlers are told: the two graphs and scopes (those with _ are where copies go), and what is copied already."""

    sgv: SubGraphView
    graph_: Graph
    scope_: str
    scope: str
    transformed_ops: dict[Operation, Operation] = dataclasses.field(default_factory=dict)
    transformed_ts: dict[Tensor, Tensor] = dataclasses.field(default_factory=dict)
    # Inputs of loops that are not copied yet: the tensor, its place among the inputs, and the op that takes it.
    open_edges: list[tuple[Tensor, int, Operation]] = dataclasses.field(default_factory=list)

    def __post_init__(self) -> None:
        # As they are before copies are added to them.
        self.collections = {key: self.graph.get_collection(key) for key in self.graph.get_all_collection_keys()}

    @property
    def graph(self) -> Graph:
        """Where the originals are."""
        return self.sgv.graph

    @functools.cached_property
    def ops(self) -> frozenset[Operation]:
        """The originals."""
        return frozenset(self.sgv.ops)

    @functools.cached_property
    def sgv_inputs_set(self) -> frozenset[Tensor]:
        """What they are given from outside."""
        return frozenset(self.sgv.inputs)

    @functools.cached_property
    def control_outputs(self) -> ControlOutputs:
        """The ops that wait for each op of their graph."""
        return ControlOutputs(self.graph)

    def new_name(self, name: str) -> str:
        """The name of a copy."""
        if not name.startswith(self.scope):
            raise ValueError(f"{name} does not belong to source scope: {self.scope}.")
        return self.scope_ + name[len(self.scope) :]


@editor("transform")
class TransformerInfo:
    """Which copy belongs to which original."""

    def __init__(self, info: Any) -> None:
        self._graph, self._scope = info.graph, info.scope
        self._graph_, self._scope_ = info.graph_, info.scope_
        self._transformed_ops = info.transformed_ops
        self._transformed_ts = info.transformed_ts

    def _table(self, thing: Any) -> dict[Any, Any]:
        if isinstance(thing, Operation):
            return self._transformed_ops
        if isinstance(thing, Tensor):
            return self._transformed_ts
        raise TypeError(f"Expected a tf.Tensor or a tf.Operation, got a {type(thing)}")

    def transformed(self, original: Any, missing_fn: Callable[[Any], Any] | None = None) -> Any:
        """The copies of a tree of ops and tensors; of those without one, what a function says, or None."""

        def of_one(thing: Any) -> Any:
            found = self._table(thing).get(thing)
            return missing_fn(thing) if found is None and missing_fn is not None else found

        return transform_tree(original, of_one)

    def original(self, transformed: Any, missing_fn: Callable[[Any], Any] | None = None) -> Any:
        """The originals of a tree of copies; of those without one, what a function says, or None."""

        def of_one(thing: Any) -> Any:
            found = next((o for o, t in self._table(thing).items() if t is thing), None)
            return missing_fn(thing) if found is None and missing_fn is not None else found

        return transform_tree(transformed, of_one)

    def __str__(self) -> str:
        lines = ["Transform result info:"]
        if self._graph is self._graph_:
            lines.append(f"  Within graph[{id(self._graph)}]{'' if self._scope_ else ' IN-PLACE'}")
        else:
            lines.append(f"  graph[{id(self._graph)}] => graph[{id(self._graph_)}]")
        if self._scope:
            lines.append(f"  Relative to source scope: {self._scope}")
        if self._scope_:
            lines.append(f"  Scope destination: {self._scope_}")
        lines += ["Operations mapping:", *(f"  {op.name} => {op_.name}" for op, op_ in self._transformed_ops.items())]
        return "\n".join(lines) + "\n"


@editor("transform")
class Transformer:
    """Copies subgraphs. Its handlers can be replaced before it is called."""

    def __init__(self) -> None:
        self.transform_op_handler: Callable[..., Any] = copy_op_handler
        self.transform_control_input_handler: Callable[..., Any] = transform_op_if_inside_handler
        self.assign_collections_handler: Callable[..., Any] = assign_renamed_collections_handler
        self.transform_external_input_handler: Callable[..., Any] = replace_t_with_placeholder_handler
        self.transform_external_hidden_input_handler: Callable[..., Any] = keep_t_if_possible_handler
        self.transform_original_op_handler: Callable[..., Any] = transform_op_if_inside_handler

    def __call__(
        self, sgv: Any, dst_graph: Graph, dst_scope: str, src_scope: str = "", reuse_dst_scope: bool = False
    ) -> tuple[SubGraphView, TransformerInfo]:
        """Copies a subgraph to a graph and scope; returns the copy and what became of what."""
        sgv = make_view(sgv)
        if not isinstance(dst_graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(dst_graph)}")
        dst_scope = scope_finalize(dst_scope)
        if dst_scope and not reuse_dst_scope:
            dst_scope = scope_finalize(dst_graph.unique_name(dst_scope[:-1]))
        info = _Progress(sgv, dst_graph, dst_scope, scope_finalize(src_scope))
        self._copy_ops(info)
        for t, i, consumer in info.open_edges:
            if t not in info.transformed_ts:
                raise ValueError(f"The tensor {t.name} should be transformed by now.")
            info.transformed_ops[consumer]._update_input(i, info.transformed_ts[t])
        self._connect_control_inputs(info)
        return self._view_of_copy(info), TransformerInfo(info)

    def _copy_ops(self, info: _Progress) -> None:
        # In the order in which they were made, what an op takes is there before it, but for loops.
        for op in sorted(info.sgv.ops, key=operator.attrgetter("_id")):
            made, results = self.transform_op_handler(info, op, [self._input(info, t, op, i) for i, t in enumerate(op.inputs)])
            if made is op:
                raise ValueError("In-place transformation not allowed.")
            copies = dict(zip(op.outputs, results))
            info.transformed_ops[op] = made
            info.transformed_ts |= copies
            for pair in ((op, made), *copies.items()):
                self.assign_collections_handler(info, *pair)

    def _input(self, info: _Progress, t: Tensor, consumer: Operation, i: int) -> Tensor:
        known = info.transformed_ts.get(t)
        if known is not None:
            return known
        is_given = t in info.sgv_inputs_set
        if is_given or t.op not in info.ops:
            return (self.transform_external_input_handler if is_given else self.transform_external_hidden_input_handler)(info, t)
        # A back edge of a loop: another tensor of the same kind stands for it until it is there.
        info.open_edges.append((t, i, consumer))
        if consumer.type == "Merge" and i:
            return self._input(info, consumer.inputs[0], consumer, 0)
        if t.op.type == "Enter":
            return self._input(info, t.op.inputs[0], consumer, i)
        with info.graph_.as_default():
            return make_placeholder_from_tensor(t, scope=info.scope_, prefix="geph_tmp")

    def _connect_control_inputs(self, info: _Progress) -> None:
        for op in info.sgv.ops:
            op_ = info.transformed_ops[op]
            if op._original_op:
                original = self.transform_original_op_handler(info, op._original_op)
                if original is not None:
                    op_._original_op = original
            awaited = [self.transform_control_input_handler(info, c) for c in op.control_inputs]
            add_control_inputs(op_, [c for c in awaited if c is not None])

    @staticmethod
    def _view_of_copy(info: _Progress) -> SubGraphView:
        view = SubGraphView(list(info.transformed_ops.values()))

        def kept(ts: Any, present: Any) -> list[Tensor]:
            copies = (info.transformed_ts.get(t) for t in ts)
            return [t for t in copies if t is not None and t in present]

        return view.remap(kept(info.sgv.inputs, list(view.inputs)), kept(info.sgv.outputs, list(view.outputs)))


def _destination(sgv: SubGraphView, dst_graph: Any) -> Graph:
    graph = sgv.graph if dst_graph is None else dst_graph
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
    return graph


@editor("transform")
def copy(
    sgv: Any, dst_graph: Graph | None = None, dst_scope: str = "", src_scope: str = "", reuse_dst_scope: bool = False
) -> tuple[SubGraphView, TransformerInfo]:
    """A copy of a subgraph with placeholders for its inputs, and what became of what."""
    sgv = make_view(sgv)
    return Transformer()(sgv, _destination(sgv, dst_graph), dst_scope, src_scope, reuse_dst_scope=reuse_dst_scope)


@editor("transform")
def copy_with_input_replacements(
    sgv: Any,
    replacement_ts: dict[Any, Any],
    dst_graph: Graph | None = None,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:
    """A copy of a subgraph with other tensors for its inputs, and what became of what."""
    sgv = make_view(sgv)
    copier = Transformer()
    copier.transform_external_input_handler = lambda info, t: (
        replacement_ts[t] if t in replacement_ts else keep_t_if_possible_handler(info, t)
    )
    return copier(sgv, _destination(sgv, dst_graph), dst_scope, src_scope, reuse_dst_scope=reuse_dst_scope)


@editor("transform")
def graph_replace(
    target_ts: Any, replacement_ts: dict[Any, Any], dst_scope: str = "", src_scope: str = "", reuse_dst_scope: bool = False
) -> Any:
    """The targets as they would be with other tensors in the place of some that they depend on."""
    targets = flatten_tree(target_ts)
    control_ios = ControlOutputs(get_unique_graph(targets, check_types=Tensor))
    ops = get_walks_intersection_ops(list(replacement_ts), targets, control_ios=control_ios)
    if not ops:
        raise ValueError("Targets and replacements are not connected!")
    # A loop is copied whole, or not at all.
    for context in dict.fromkeys(op._control_flow_context for op in ops):
        if context is not None and context.IsWhileContext():
            enters, exits = ([t.op for t in ts] for ts in (context.loop_enters, context.loop_exits))
            present = frozenset(ops)
            ops += [op for op in get_walks_intersection_ops(enters, exits, control_ios=control_ios) if op not in present]
    _, info = copy_with_input_replacements(ops, replacement_ts, None, dst_scope, src_scope, reuse_dst_scope)
    return info.transformed(target_ts, lambda original: original)
