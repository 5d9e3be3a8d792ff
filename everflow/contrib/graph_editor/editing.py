"""Taking subgraphs out of their place, and putting them to others."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.graph_editor.elements import ControlOutputs, check_graphs, make_placeholder_from_tensor, placeholder_name
from everflow.contrib.graph_editor.publish import editor
from everflow.contrib.graph_editor.rerouting import remove_control_inputs, reroute_inputs, reroute_ts, swap_inputs, swap_outputs
from everflow.contrib.graph_editor.selecting import check_cios
from everflow.contrib.graph_editor.views import SubGraphView, make_view
from everflow.graph.tensor import Tensor


@editor("edit")
def detach_control_inputs(sgv: Any) -> None:
    """Ops of a subgraph no longer wait for ops outside."""
    sgv = make_view(sgv)
    inside = frozenset(sgv.ops)
    for op in sgv.ops:
        remove_control_inputs(op, [awaited for awaited in op.control_inputs if awaited not in inside])


@editor("edit")
def detach_control_outputs(sgv: Any, control_outputs: ControlOutputs) -> None:
    """Ops outside no longer wait for those of a subgraph."""
    if not isinstance(control_outputs, ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(control_outputs)}")
    control_outputs.update()
    inside = dict.fromkeys(make_view(sgv).ops)
    outside = dict.fromkeys(w for op in inside for w in control_outputs.get(op) if w not in inside)
    for waiting in outside:
        remove_control_inputs(waiting, [awaited for awaited in waiting.control_inputs if awaited in inside])


@editor("edit")
def detach_inputs(sgv: Any, control_inputs: bool = False) -> tuple[SubGraphView, list[Tensor]]:
    """Puts placeholders before a subgraph; returns it and them."""
    sgv = make_view(sgv)
    with sgv.graph.as_default():
        placeholders = [tf.placeholder(dtype=t.dtype, name=placeholder_name(t)) for t in sgv.inputs]
    swap_inputs(sgv, placeholders)
    if control_inputs:
        detach_control_inputs(sgv)
    return sgv, placeholders


@editor("edit")
def detach_outputs(sgv: Any, control_outputs: ControlOutputs | None = None) -> tuple[SubGraphView, list[Tensor]]:
    """Gives what a subgraph gave to others placeholders in its stead; returns it, with the outputs that were used, and them."""
    sgv = make_view(sgv)
    used = sgv.remap_outputs([i for i, t in enumerate(sgv.outputs) if t.consumers()])
    outputs = frozenset(used.outputs)
    others = SubGraphView(used.consumers())
    taken = [t for t in others.inputs if t in outputs]
    with used.graph.as_default():
        placeholders = [make_placeholder_from_tensor(t) for t in taken]
    swap_outputs(used, placeholders)
    if control_outputs is not None:
        detach_control_outputs(used, control_outputs)
    return used, placeholders


@editor("edit")
def detach(
    sgv: Any, control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None
) -> tuple[Any, list[Tensor], list[Tensor]]:
    """Both `detach_inputs` and `detach_outputs`; returns the subgraph and the placeholders of each."""
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    _, inputs = detach_inputs(sgv, control_inputs)
    _, outputs = detach_outputs(sgv, control_outputs)
    return sgv, inputs, outputs


@editor("edit")
def connect(sgv0: Any, sgv1: Any, disconnect_first: bool = False) -> tuple[SubGraphView, SubGraphView]:
    """Gives the second subgraph the outputs of the first."""
    sgv0, sgv1 = make_view(sgv0), make_view(sgv1)
    check_graphs(sgv0, sgv1)
    if disconnect_first:
        detach_outputs(sgv0)
    reroute_inputs(SubGraphView(passthrough_ts=sgv0.outputs), sgv1)
    return sgv0, sgv1


@editor("edit")
def bypass(sgv: Any) -> tuple[SubGraphView, list[Tensor]]:
    """Gives what took the outputs of a subgraph its inputs; returns it and the placeholders before it."""
    sgv = make_view(sgv)
    inputs = list(sgv.inputs)
    sgv, placeholders = detach_inputs(sgv)
    reroute_ts(inputs, sgv.outputs)
    return sgv, placeholders
