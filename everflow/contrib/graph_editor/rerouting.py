"""Rewiring: ops take other tensors than before."""

from __future__ import annotations

from typing import Any

from everflow.contrib.graph_editor.elements import check_graphs
from everflow.contrib.graph_editor.publish import editor
from everflow.contrib.graph_editor.views import SubGraphView, make_view
from everflow.graph.operation import Operation
from everflow.graph.selection import get_consuming_ops, make_list_of_op, make_list_of_t
from everflow.graph.tensor import Tensor


def _fitting(ts0: Any, ts1: Any) -> list[tuple[Tensor, Tensor]]:
    """Pairs of tensors of which one may stand for the other."""
    ts0, ts1 = make_list_of_t(ts0), make_list_of_t(ts1)
    if len(ts0) != len(ts1):
        raise ValueError(f"ts0 and ts1 have different sizes: {len(ts0)} != {len(ts1)}")
    for t0, t1 in zip(ts0, ts1):
        if not t0.dtype.is_compatible_with(t1.dtype):
            raise ValueError(f"Dtypes {t0.dtype} and {t1.dtype} are not compatible.")
        if not t0.get_shape().is_compatible_with(t1.get_shape()):
            raise ValueError(f"Shapes {t0.get_shape()} and {t1.get_shape()} are not compatible.")
    return list(zip(ts0, ts1))


def _rerouted(ts0: Any, ts1: Any, both_ways: bool, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Gives the consumers of the second tensors the first ones, and the other way round too; returns how many edges changed."""
    allowed = None if can_modify is None else frozenset(make_list_of_op(can_modify))
    kept = frozenset() if cannot_modify is None else frozenset(make_list_of_op(cannot_modify))
    edges: list[tuple[Operation, int, Tensor]] = []
    for t0, t1 in _fitting(ts0, ts1):
        if t0 is t1:
            continue
        for given, taken in [(t0, t1), (t1, t0)] if both_ways else [(t0, t1)]:
            for op in dict.fromkeys(taken.consumers()):
                if (allowed is None or op in allowed) and op not in kept:
                    edges += [(op, i, given) for i, t in enumerate(op.inputs) if t is taken]
    # All edges are found before the first one changes.
    for op, i, given in edges:
        op._update_input(i, given)
    return len(edges)


@editor("reroute")
def swap_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Exchanges the consumers of tensors, as far as these may be changed; returns how many edges changed."""
    return _rerouted(ts0, ts1, True, can_modify, cannot_modify)


@editor("reroute")
def reroute_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Gives the consumers of the second tensors the first ones; returns how many edges changed."""
    return _rerouted(ts0, ts1, False, can_modify, cannot_modify)


def _rerouted_inputs(sgv0: Any, sgv1: Any, both_ways: bool) -> tuple[SubGraphView, SubGraphView]:
    sgv0, sgv1 = make_view(sgv0), make_view(sgv1)
    check_graphs(sgv0, sgv1)
    may = [*sgv0.ops, *sgv1.ops, *get_consuming_ops(sgv0.passthroughs), *get_consuming_ops(sgv1.passthroughs)]
    _rerouted(sgv0.inputs, sgv1.inputs, both_ways, can_modify=may)
    # The views follow: each shows the inputs that it has now, and outputs that only pass by are those that pass by now.
    before = [(view, view.copy()) for view in (sgv0, sgv1)]
    moves = [(before[0][1], before[1][0]), (before[1][1], before[0][0])] if both_ways else [(before[0][1], before[1][0])]
    for source, target in moves:
        target._input_ts = list(source._input_ts)
        target._passthrough_ts = list(source._passthrough_ts)
    for source, target in moves:
        for i, t in enumerate(target._output_ts):
            if t in source._passthrough_ts:
                target._output_ts[i] = target._input_ts[source._input_ts.index(t)]
    return sgv0, sgv1


def _rerouted_outputs(sgv0: Any, sgv1: Any, both_ways: bool) -> tuple[SubGraphView, SubGraphView]:
    sgv0, sgv1 = make_view(sgv0), make_view(sgv1)
    check_graphs(sgv0, sgv1)
    _rerouted(sgv0.outputs, sgv1.outputs, both_ways, cannot_modify=[*sgv0.ops, *sgv1.ops])
    return sgv0, sgv1


@editor("reroute")
def swap_inputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Exchanges the inputs of two subgraphs."""
    return _rerouted_inputs(sgv0, sgv1, True)


@editor("reroute")
def reroute_inputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Gives the second subgraph the inputs of the first."""
    return _rerouted_inputs(sgv0, sgv1, False)


@editor("reroute")
def swap_outputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Exchanges what two subgraphs give to ops outside."""
    return _rerouted_outputs(sgv0, sgv1, True)


@editor("reroute")
def reroute_outputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Has the first subgraph give what the second gave."""
    return _rerouted_outputs(sgv0, sgv1, False)


@editor("reroute")
def swap_ios(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Exchanges inputs and outputs of two subgraphs: each takes the other's place."""
    sgv0, sgv1 = _rerouted_outputs(sgv0, sgv1, True)
    return _rerouted_inputs(sgv0, sgv1, True)


@editor("reroute")
def reroute_ios(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Both `reroute_outputs` and `reroute_inputs`."""
    sgv0, sgv1 = _rerouted_outputs(sgv0, sgv1, False)
    return _rerouted_inputs(sgv0, sgv1, False)


def _op(op: Any) -> Operation:
    if not isinstance(op, Operation):
        raise TypeError(f"Expected a tf.Operation, got: {type(op)}")
    return op


@editor("reroute")
def remove_control_inputs(op: Operation, cops: Any) -> None:
    """An op no longer waits for these."""
    removed = make_list_of_op(cops, allow_graph=False)
    for awaited in removed:
        if awaited not in _op(op).control_inputs:
            raise ValueError(f"{op.name} is not a control_input of {awaited.name}")
    kept = [awaited for awaited in _op(op).control_inputs if awaited not in removed]
    op._remove_all_control_inputs()
    op._add_control_inputs(kept)


@editor("reroute")
def add_control_inputs(op: Operation, cops: Any) -> None:
    """An op waits for these too."""
    added = make_list_of_op(cops, allow_graph=False)
    for awaited in added:
        if awaited in _op(op).control_inputs:
            raise ValueError(f"{awaited.name} is already a control_input of {op.name}")
    _op(op)._add_control_inputs(added)
