"""Selecting ops and tensors: by name, by walks along the edges, by what lies between."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from everflow.contrib.graph_editor.elements import ControlOutputs
from everflow.contrib.graph_editor.publish import editor
from everflow.graph.graph import Graph
from everflow.graph.operation import Operation
from everflow.graph.selection import (
    concatenate_unique,
    get_backward_walk_ops,
    get_consuming_ops,
    get_tensors,
    is_iterable,
    make_list_of_op,
    make_list_of_t,
)
from everflow.graph.tensor import Tensor


@editor("select")
def can_be_regex(obj: Any) -> bool:
    """Whether an object is a regular expression, or a string to make one of."""
    return isinstance(obj, str | re.Pattern)


@editor("select")
def make_regex(obj: Any) -> re.Pattern[str]:
    """The regular expression that an object is or says."""
    if not can_be_regex(obj):
        raise ValueError(f"Expected a string or a regex, got: {type(obj)}")
    return re.compile(obj)


@editor("select", shown=False)
def _get_input_ts(ops: Any) -> list[Tensor]:
    """The inputs of ops, each once."""
    return list(dict.fromkeys(t for op in make_list_of_op(ops) for t in op.inputs))


@editor("select", shown=False)
def _get_output_ts(ops: Any) -> list[Tensor]:
    """The outputs of ops."""
    return [t for op in make_list_of_op(ops) for t in op.outputs]


@editor("select")
def filter_ts(ops: Any, positive_filter: Any) -> list[Tensor]:
    """The inputs and outputs of ops that pass a filter, or all if that is True."""
    ops = make_list_of_op(ops)
    found = concatenate_unique(_get_input_ts(ops), _get_output_ts(ops))
    return found if positive_filter is True else [t for t in found if positive_filter(t)]


@editor("select")
def filter_ts_from_regex(ops: Any, regex: Any) -> list[Tensor]:
    """The inputs and outputs of ops whose names fit a regular expression."""
    pattern = make_regex(regex)
    return filter_ts(make_list_of_op(ops), lambda t: pattern.search(t.name))


@editor("select")
def filter_ops(ops: Any, positive_filter: Any) -> list[Operation]:
    """The ops that pass a filter, or all if that is True."""
    ops = make_list_of_op(ops)
    return ops if positive_filter is True else [op for op in ops if positive_filter(op)]


@editor("select")
def filter_ops_from_regex(ops: Any, regex: Any) -> list[Operation]:
    """The ops whose names fit a regular expression."""
    pattern = make_regex(regex)
    return filter_ops(ops, lambda op: pattern.search(op.name))


@editor("select")
def get_name_scope_ops(ops: Any, scope: str) -> list[Operation]:
    """The ops in a scope."""
    return filter_ops_from_regex(ops, f"^{scope.removesuffix('/')}(/.*)?$")


@editor("select")
def check_cios(control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None) -> tuple[bool, Any]:
    """Whether to follow control inputs, and the control outputs to follow; `control_ios` says both."""
    for given in (control_ios, control_outputs):
        if given is not None and not isinstance(given, ControlOutputs):
            raise TypeError(f"Expected a util.ControlOutputs, got: {type(given)}")
    if control_ios is not None:
        if control_outputs is not None:
            raise ValueError("control_outputs should be None when using control_ios.")
        control_inputs, control_outputs = True, control_ios
    if control_outputs is not None:
        control_outputs.update()
    return control_inputs, control_outputs


@editor("select")
def get_ops_ios(ops: Any, control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None) -> list[Operation]:
    """The ops right before and right after these, each once."""
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    found: list[Operation] = []
    for op in make_list_of_op(ops):
        near = [t.op for t in op.inputs] + [c for t in op.outputs for c in t.consumers()]
        near += control_outputs.get(op) if control_outputs is not None else ()
        concatenate_unique(found, near + (list(op.control_inputs) if control_inputs else []))
    return found


@editor("select")
def compute_boundary_ts(ops: Any) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """The tensors that go into a set of ops, those that may be used outside, and those that one gives another."""
    ops = make_list_of_op(ops)
    members = frozenset(ops)
    taken, made = _get_input_ts(ops), _get_output_ts(ops)
    inside = [t for t in taken if t.op in members]
    hidden = {t for t in inside if members.issuperset(t.consumers())}
    return [t for t in taken if t.op not in members], [t for t in made if t not in hidden], inside


@editor("select")
def get_within_boundary_ops(
    ops: Any,
    seed_ops: Any,
    boundary_ops: Any = (),
    inclusive: bool = True,
    control_inputs: bool = False,
    control_outputs: Any = None,
    control_ios: Any = None,
) -> list[Operation]:
    """The ops that can be reached from seeds, along edges either way, without crossing a boundary."""
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    seeds = make_list_of_op(seed_ops, allow_graph=False)
    boundary = set(make_list_of_op(boundary_ops))
    if boundary.intersection(seeds):
        raise ValueError("Boundary is intersecting with the seeds.")
    reached, wave = set(seeds), list(seeds)
    while wave:
        near = [op for op in get_ops_ios(wave, control_inputs, control_outputs) if op not in reached]
        wave = [op for op in near if op not in boundary]
        reached.update(near if inclusive else wave)
    return [op for op in make_list_of_op(ops) if op in reached]


@editor("select")
def get_forward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[..., bool] | None = None,
    stop_at_ts: Any = (),
    control_outputs: Any = None,
) -> list[Operation]:
    """All ops that depend on the seeds, as far as they are inside the given limits."""
    control_outputs = check_cios(False, control_outputs)[1]
    given = list(seed_ops) if is_iterable(seed_ops) else [seed_ops]
    if not given:
        return []
    seeds = get_consuming_ops(given) if isinstance(given[0], Tensor) else make_list_of_op(given, allow_graph=False)
    stops = frozenset(make_list_of_t(stop_at_ts))
    allowed = frozenset(make_list_of_op(within_ops, allow_graph=False)) if within_ops else None
    if allowed is not None:
        seeds = [op for op in seeds if op in allowed]

    def after(op: Operation) -> Iterable[Operation]:
        for t in op.outputs:
            if t not in stops:
                yield from t.consumers()
        if control_outputs is not None:
            yield from control_outputs.get(op)

    found = dict.fromkeys(seeds)
    wave = list(found)
    while wave:
        following = dict.fromkeys(
            op
            for before in wave
            for op in after(before)
            if op not in found and (allowed is None or op in allowed) and (within_ops_fn is None or within_ops_fn(op))
        )
        found.update(following)
        wave = list(following)
    return list(found) if inclusive else [op for op in found if op not in seeds]


def _walks(
    first: tuple[Any, bool], second: tuple[Any, bool], limits: tuple[Any, Any], control: tuple[bool, Any, Any]
) -> tuple[list[Operation], list[Operation]]:
    """The ops after some seeds, and those before others; seeds come with whether they count themselves."""
    control_inputs, control_outputs = check_cios(*control)
    after = get_forward_walk_ops(*first, *limits, control_outputs=control_outputs)
    return after, get_backward_walk_ops(*second, *limits, control_inputs=control_inputs)


@editor("select")
def get_walks_intersection_ops(
    forward_seed_ops: Any,
    backward_seed_ops: Any,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[..., bool] | None = None,
    control_inputs: bool = False,
    control_outputs: Any = None,
    control_ios: Any = None,
) -> list[Operation]:
    """The ops on ways from the first seeds to the second."""
    ends = (forward_seed_ops, forward_inclusive), (backward_seed_ops, backward_inclusive)
    after, before = _walks(*ends, (within_ops, within_ops_fn), (control_inputs, control_outputs, control_ios))
    both = frozenset(before)
    return [op for op in after if op in both]


@editor("select")
def get_walks_union_ops(
    forward_seed_ops: Any,
    backward_seed_ops: Any,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[..., bool] | None = None,
    control_inputs: bool = False,
    control_outputs: Any = None,
    control_ios: Any = None,
) -> list[Operation]:
    """The ops after the first seeds, and those before the second."""
    ends = (forward_seed_ops, forward_inclusive), (backward_seed_ops, backward_inclusive)
    return concatenate_unique(*_walks(*ends, (within_ops, within_ops_fn), (control_inputs, control_outputs, control_ios)))


def _selected(args: Any, kwargs: dict[str, Any], mine: str, other: str, every: Callable[..., Any], listed: Callable[..., Any]) -> list[Any]:
    """What arguments say: things, lists of them, graphs, or expressions, which a comment at their start keeps for ops or tensors."""
    graph, keep = kwargs.pop("graph", None), kwargs.pop("positive_filter", None)
    only_marked = kwargs.pop(f"restrict_{mine}_regex", False)
    kwargs.pop(f"restrict_{other}_regex", None)
    if kwargs:
        raise ValueError(f"Wrong keywords argument: {next(iter(kwargs))}.")
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
    found: dict[Any, None] = {}
    for arg in args:
        if can_be_regex(arg):
            if graph is None:
                raise ValueError("Use the keyword argument 'graph' to use regex.")
            pattern = make_regex(arg)
            marked = pattern.pattern.startswith(f"(?#{mine})")
            if pattern.pattern.startswith(f"(?#{other})") or (only_marked and not marked):
                continue
            chosen = [thing for thing in every(graph) if pattern.search(thing.name)]
        else:
            chosen = listed(arg)
        found.update((thing, None) for thing in chosen if keep is None or keep(thing))
    return list(found)


@editor("select")
def select_ops(*args: Any, **kwargs: Any) -> list[Operation]:
    """Ops by name or from lists. Keywords: graph, positive_filter, restrict_ops_regex (only expressions marked with (?#ops))."""
    return _selected(args, kwargs, "ops", "ts", lambda g: g.get_operations(), lambda a: make_list_of_op(a, ignore_ts=True))


@editor("select")
def select_ts(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Tensors by name or from lists. Keywords: graph, positive_filter, restrict_ts_regex (only expressions marked with (?#ts))."""
    return _selected(args, kwargs, "ts", "ops", get_tensors, lambda a: make_list_of_t(a, ignore_ops=True))


@editor("select")
def select_ops_and_ts(*args: Any, **kwargs: Any) -> tuple[list[Operation], list[Tensor]]:
    """Ops and tensors; expressions mean ops unless they are marked with (?#ts)."""
    return select_ops(*args, restrict_ops_regex=False, **kwargs), select_ts(*args, restrict_ts_regex=True, **kwargs)
