"""Selecting ops and tensors of graphs: lists of them, what makes and takes them, and walks backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.api import internal, public
from everflow.graph.graph import Graph
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor

_EDITOR = "contrib.graph_editor."


def is_iterable(obj: Any) -> bool:
    """Whether one can loop over an object; a tensor counts as one thing."""
    if isinstance(obj, Tensor):
        return False
    try:
        iter(obj)
    except TypeError:
        return False
    return True


def get_unique_graph(tops: Any, check_types: Any = None, none_if_empty: bool = False) -> Any:
    """The graph that all these ops and tensors belong to."""
    if isinstance(tops, Graph):
        return tops
    if not is_iterable(tops):
        raise TypeError(f"{type(tops)} is not iterable")
    allowed: Any = (Operation, Tensor) if check_types is None else check_types if is_iterable(check_types) else (check_types,)
    found: Any = None
    for item in tops:
        if not any(isinstance(item, kind) for kind in allowed):
            raise TypeError(f"Expected a type in ({', '.join(str(t) for t in allowed)}), got: {type(item)}")
        if found is None:
            found = item.graph
        elif found._graph_key != item.graph._graph_key:
            raise ValueError(f"Operation {item} does not belong to given graph")
    if found is None and not none_if_empty:
        raise ValueError("Can't find the unique graph of an empty list")
    return found


def check_graphs(*args: Any) -> None:
    """Raises unless all arguments are of one graph."""
    graph = None
    for i, item in enumerate(args):
        if graph is None and item.graph is not None:
            graph = item.graph
        elif item.graph is not None and item.graph is not graph:
            raise ValueError(f"args[{i}] does not belong to the same graph as the others.")


def make_list_of_op(ops: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ts: bool = False) -> list[Operation]:
    """Ops as a list: those of a graph, of an iterable, or a single one."""
    if isinstance(ops, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return list(ops.get_operations())
    ops = list(ops) if is_iterable(ops) else [ops]
    if not ops:
        return []
    if check_graph:
        get_unique_graph(ops, None if ignore_ts else Operation)
    return [o for o in ops if isinstance(o, Operation)]


def make_list_of_t(ts: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ops: bool = False) -> list[Tensor]:
    """Tensors as a list: those of a graph, of an iterable, or a single one."""
    if isinstance(ts, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return get_tensors(ts)
    ts = list(ts) if is_iterable(ts) else [ts]
    if not ts:
        return []
    if check_graph:
        get_unique_graph(ts, None if ignore_ops else Tensor)
    return [t for t in ts if isinstance(t, Tensor)]


def get_tensors(graph: Graph) -> list[Tensor]:
    """All tensors of a graph."""
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a graph, got: {type(graph)}")
    return [t for o in graph.get_operations() for t in o.outputs]


def get_generating_ops(ts: Any) -> list[Operation]:
    """The ops that make these tensors."""
    return [t.op for t in make_list_of_t(ts, allow_graph=False)]


def get_consuming_ops(ts: Any) -> list[Operation]:
    """The ops that take these tensors, each once."""
    return list(dict.fromkeys(o for t in make_list_of_t(ts, allow_graph=False) for o in t.consumers()))


def concatenate_unique(la: list[Any], lb: Any) -> list[Any]:
    """Adds to a list what is not in it yet."""
    seen = set(la)
    la += [item for item in dict.fromkeys(lb) if item not in seen]
    return la


def get_backward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[..., bool] | None = None,
    stop_at_ts: Any = (),
    control_inputs: bool = False,
) -> list[Operation]:
    """All ops that the seeds depend on, as far as they are inside the given limits."""
    seeds = list(seed_ops) if is_iterable(seed_ops) else [seed_ops]
    if seeds and isinstance(seeds[0], Tensor):
        starts = get_generating_ops(seeds)
    else:
        starts = make_list_of_op(seeds, allow_graph=False)
    stops = frozenset(id(t) for t in make_list_of_t(stop_at_ts))
    allowed = None if within_ops is None else frozenset(make_list_of_op(within_ops, allow_graph=False))

    def inside(o: Operation) -> bool:
        return (allowed is None or o in allowed) and (within_ops_fn is None or within_ops_fn(o))

    found: dict[Operation, None] = {}
    wave = [o for o in starts if inside(o)]
    while wave:
        following: dict[Operation, None] = {}
        for o in wave:
            if o in found:
                continue
            found[o] = None
            before = [t.op for t in o.inputs if id(t) not in stops]
            before += o.control_inputs if control_inputs else []
            following.update((b, None) for b in before if b not in found and inside(b))
        wave = list(following)
    return list(found) if inclusive else [o for o in found if o not in starts]


for _function in (
    is_iterable,
    check_graphs,
    get_unique_graph,
    make_list_of_op,
    make_list_of_t,
    get_tensors,
    get_generating_ops,
    get_consuming_ops,
    concatenate_unique,
):
    internal(f"ops.op_selector.{_function.__name__}")(_function)
internal("ops.op_selector.get_backward_walk_ops")(get_backward_walk_ops)
public(_EDITOR + "get_backward_walk_ops", _EDITOR + "select.get_backward_walk_ops")(get_backward_walk_ops)
public(_EDITOR + "make_list_of_op", _EDITOR + "util.make_list_of_op")(make_list_of_op)
public(_EDITOR + "make_list_of_t", _EDITOR + "util.make_list_of_t")(make_list_of_t)
public(_EDITOR + "get_generating_ops", _EDITOR + "util.get_generating_ops")(get_generating_ops)
public(_EDITOR + "get_consuming_ops", _EDITOR + "util.get_consuming_ops")(get_consuming_ops)
