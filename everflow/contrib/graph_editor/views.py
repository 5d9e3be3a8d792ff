"""Views of parts of a graph: ops, with the tensors that go in and come out in an order of choice."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from everflow.contrib.graph_editor.elements import ListView
from everflow.contrib.graph_editor.publish import editor
from everflow.contrib.graph_editor.selecting import compute_boundary_ts, get_name_scope_ops, get_walks_union_ops, select_ops_and_ts
from everflow.graph.graph import Graph
from everflow.graph.operation import Operation
from everflow.graph.selection import concatenate_unique, get_unique_graph, make_list_of_op, make_list_of_t
from everflow.graph.tensor import Tensor


def _places(chosen: Any, ts: list[Tensor]) -> list[int]:
    """Tensors, or their places, as places."""
    return [c if isinstance(c, int) else ts.index(c) for c in chosen]


def _check_places(places: list[int], count: int) -> None:
    for i in places:
        if not 0 <= i < count:
            raise ValueError(f"Out of [0, {count}[ range: {i}")


@editor("subgraph")
class SubGraphView:
    """Some ops of a graph, and tensors that pass by. Inputs and outputs can be put in another order, left out, or repeated."""

    def __init__(self, inside_ops: Any = (), passthrough_ts: Any = ()) -> None:
        ops, passing = make_list_of_op(inside_ops), make_list_of_t(passthrough_ts)
        self._graph = get_unique_graph([*ops, *passing]) if ops or passing else None
        inputs, outputs, inside = compute_boundary_ts(ops)
        touched = frozenset([*inputs, *outputs, *inside])
        self._ops = ops
        self._passthrough_ts = [t for t in passing if t not in touched]
        self._input_ts = inputs + self._passthrough_ts
        self._output_ts = outputs + self._passthrough_ts

    # -- what it holds

    @property
    def graph(self) -> Any:
        """The graph, or None if the view is empty."""
        return self._graph

    @property
    def ops(self) -> list[Operation]:
        """The ops."""
        return self._ops

    @property
    def inputs(self) -> ListView:
        """The tensors that go in."""
        return ListView(self._input_ts)

    @property
    def outputs(self) -> ListView:
        """The tensors that come out."""
        return ListView(self._output_ts)

    @property
    def passthroughs(self) -> ListView:
        """The tensors that pass by."""
        return ListView(self._passthrough_ts)

    @property
    def connected_inputs(self) -> list[Tensor]:
        """The inputs that ops take."""
        return [t for t in self._input_ts if t not in self._passthrough_ts]

    @property
    def connected_outputs(self) -> list[Tensor]:
        """The outputs that ops make."""
        return [t for t in self._output_ts if t not in self._passthrough_ts]

    def op(self, op_id: int) -> Operation:
        """The op at a place."""
        return self._ops[op_id]

    def is_passthrough(self, t: Tensor) -> bool:
        """Whether a tensor passes by."""
        return t in self._passthrough_ts

    def find_op_by_name(self, op_name: str) -> Operation:
        """The op of this name."""
        found = [op for op in self._ops if op.name == op_name]
        if not found:
            raise ValueError(f"{op_name} not in subgraph.")
        if len(found) > 1:
            raise AssertionError(f"More than 1 op named: {op_name}!")
        return found[0]

    def input_index(self, t: Tensor) -> int:
        """The place of an input."""
        if t not in self._input_ts:
            raise ValueError(f"Can't find {t.name} in inputs of subgraph.")
        return self._input_ts.index(t)

    def output_index(self, t: Tensor) -> int:
        """The place of an output."""
        if t not in self._output_ts:
            raise ValueError(f"Can't find {t.name} in outputs of subgraph.")
        return self._output_ts.index(t)

    def consumers(self) -> list[Operation]:
        """The ops outside that take outputs."""
        inside = frozenset(self._ops)
        return list(dict.fromkeys(op for t in self._output_ts for op in t.consumers() if op not in inside))

    def __bool__(self) -> bool:
        return self._graph is not None

    def __str__(self) -> str:
        if not self:
            return "SubGraphView: empty"

        def listed(name: str, things: list[Any], shown: Callable[[Any], str]) -> list[str]:
            return [f"** {name}[{len(things)}]:", *(f"  {shown(t)}" for t in things)] if things else [f"** {name}: empty"]

        def of_tensor(t: Tensor) -> str:
            return f"{t.name} *" if t in self._passthrough_ts else t.name

        lines = [
            f"SubGraphView (graphid={id(self.graph)}):",
            *listed("ops", self._ops, lambda op: op.name),
            *listed("inputs", self._input_ts, of_tensor),
            *listed("outputs", self._output_ts, of_tensor),
        ]
        return "\n".join(lines) + "\n"

    def __enter__(self) -> SubGraphView:
        return self

    def __exit__(self, *exc: Any) -> None:
        pass

    # -- views like it

    def __copy__(self) -> SubGraphView:
        made = type(self).__new__(type(self))
        made.__dict__.update({k: v if k == "_graph" else list(v) for k, v in self.__dict__.items()})
        return made

    def copy(self) -> SubGraphView:
        """A view of the same."""
        return copy.copy(self)

    def become(self, other: SubGraphView) -> None:
        """Shows what another view shows, from now on."""
        self.__dict__.update(other.copy().__dict__)

    def remap_default(self, remove_input_map: bool = True, remove_output_map: bool = True) -> SubGraphView:
        """A view with all inputs or outputs, in their own order."""
        made = self.copy()
        inputs, outputs, _ = compute_boundary_ts(self._ops)
        if remove_input_map:
            made._input_ts = inputs + self._passthrough_ts
        if remove_output_map:
            made._output_ts = outputs + self._passthrough_ts
        return made

    def remap(self, new_input_indices: Any = None, new_output_indices: Any = None) -> SubGraphView:
        """A view with these inputs (each at most once) and outputs, given by place or themselves."""
        made = self.copy()
        if new_input_indices is not None:
            places = _places(new_input_indices, self._input_ts)
            _check_places(places, len(self._input_ts))
            if len(set(places)) != len(places):
                raise ValueError(f"Found repetition in mapping: {places}")
            made._input_ts = [self._input_ts[i] for i in places]
        if new_output_indices is not None:
            places = _places(new_output_indices, self._output_ts)
            _check_places(places, len(self._output_ts))
            made._output_ts = [self._output_ts[i] for i in places]
        return made

    def remap_inputs(self, new_input_indices: Any) -> SubGraphView:
        """A view with these inputs, each at most once."""
        return self.remap(new_input_indices=new_input_indices)

    def remap_outputs(self, new_output_indices: Any) -> SubGraphView:
        """A view with these outputs."""
        return self.remap(new_output_indices=new_output_indices)

    def remap_outputs_make_unique(self) -> SubGraphView:
        """A view with each output once."""
        made = self.copy()
        made._output_ts = concatenate_unique([], self._output_ts)
        return made

    def remap_outputs_to_consumers(self) -> SubGraphView:
        """A view with each output as often as there are ops that take it."""
        made = self.remap_outputs_make_unique()
        made._output_ts = [t for t in made._output_ts for _ in t.consumers()]
        return made

    def remove_unused_ops(self, control_inputs: bool = True) -> SubGraphView:
        """A view without ops that neither depend on inputs nor lead to outputs."""
        made = self.copy()
        used = frozenset(
            get_walks_union_ops(self.connected_inputs, self.connected_outputs, within_ops=self._ops, control_inputs=control_inputs)
        )
        made._ops = [op for op in self._ops if op in used]
        return made


def _of_graph(view: SubGraphView, graph: Any) -> SubGraphView:
    if graph is not None and view.graph is not None:
        if not isinstance(graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
        if view.graph is not graph:
            raise ValueError("Graph mismatch.")
    return view


@editor("subgraph", "sgv")
def make_view(*args: Any, **kwargs: Any) -> SubGraphView:
    """A view of what arguments select, as in `select_ops_and_ts`; tensors pass by. A view is itself."""
    graph = kwargs.get("graph")
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        return _of_graph(args[0], graph)
    return _of_graph(SubGraphView(*select_ops_and_ts(*args, **kwargs)), graph)


@editor("subgraph", "sgv_scope")
def make_view_from_scope(scope: str, graph: Graph) -> SubGraphView:
    """A view of the ops in a scope."""
    return SubGraphView(get_name_scope_ops(graph, scope))
