"""The ops on queues: making them, enqueueing, dequeueing, closing, and asking for their size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.constants import known
from everflow.graph.dtypes import int64
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import fused_op, not_differentiable, op
from everflow.ops.core.shape_rules import scalar
from everflow.ops.queues.queue_objects import PaddingQueue, PrioritizedQueue, Queue, RandomQueue

Kernel = Callable[..., Any]
KIND = "queue"


def unique_name(node: Node, kind: str) -> str:
    """What messages call a resource that has no shared name."""
    return node.attr("shared_name") or f"_{len(node.context.resources.of_kind(kind))}_{node.name}"


def _shown(items: Any) -> str:
    return "[" + ",".join(items) + "]"


def _check_shared(queue: Any, kind: type[Queue], node: Node, types: list[Any], dims: list[Any], capacity: int) -> None:
    """Refuses a queue of this name that is of another kind."""
    name = node.attr("shared_name")
    if type(queue) is not kind:
        raise invalid_argument(f"Expected {queue.kind}, found {node.type}")
    if capacity >= 0 and queue.capacity != capacity:
        raise invalid_argument(f"Shared queue '{name}' has capacity {queue.capacity} but requested capacity was {capacity}")
    if queue.types != types:
        had, wanted = (", ".join(t.name for t in some) for some in (queue.types, types))
        raise invalid_argument(f"Shared queue '{name}' has component types {had} but requested component types were {wanted}")
    if queue.dims != dims:
        had, wanted = (_shown(shapes.describe(d) for d in some if d is not None) for some in (queue.dims, dims))
        raise invalid_argument(f"Shared queue '{name}' has component shapes {had} but requested component shapes were {wanted}")


def _maker(kind: type[Queue]) -> Callable[[Any], Kernel]:
    def factory(node: Node) -> Kernel:
        types, capacity = list(node.attr("component_types")), node.attr("capacity")
        given = [None if s is None else tuple(s) for s in node.attr("shapes") or []]
        dims: list[Any] = given or [None] * len(types)
        if kind is PrioritizedQueue:
            types, dims = [int64, *types], [(), *dims]
        more: list[int] = []
        if kind is RandomQueue:
            stay = node.attr("min_after_dequeue")
            if stay < 0:
                raise invalid_argument(f"min_after_dequeue {stay} must be >= 0")
            if 0 <= capacity <= stay:
                raise invalid_argument(f"min_after_dequeue {stay} must be < capacity {capacity}")
            more = [stay, node.attr("seed"), node.attr("seed2")]
        if kind is PaddingQueue:
            if len(given) != len(types):
                raise invalid_argument(
                    f"Shapes must be provided for all components, but received {len(given)} shapes for {len(types)} components"
                )

        def make() -> Queue:
            return kind(node.context, unique_name(node, KIND), types, dims, capacity, *more)

        get, shared_name = node.context.resources.get, node.attr("shared_name")
        key = node.attr("container"), KIND, shared_name or node.name, make
        if not shared_name:
            return lambda: get(*key)

        def run() -> Any:
            queue = get(*key)
            _check_shared(queue, kind, node, types, dims, capacity)
            if kind is RandomQueue:
                _check_random(queue, node)
            return queue

        return run

    return factory


def _check_random(queue: Any, node: Node) -> None:
    name, stay = node.attr("shared_name"), node.attr("min_after_dequeue")
    if queue.stay != stay:
        raise invalid_argument(f"Shared queue '{name}' has min_after_dequeue {queue.stay} but requested min_after_dequeue was {stay}.")
    if queue.seeds != (node.attr("seed"), node.attr("seed2")):
        raise invalid_argument(
            f"Shared queue '{name}' has random seeds {queue.seeds} but requested seeds are ({node.attr('seed')}, {node.attr('seed2')})."
        )


for _type, _kind in (
    ("FIFOQueue", Queue),
    ("RandomShuffleQueue", RandomQueue),
    ("PaddingFIFOQueue", PaddingQueue),
    ("PriorityQueue", PrioritizedQueue),
):
    op(_type, kernel=_maker(_kind), shape=lambda o: (2,), gradient=not_differentiable)
    op(_type + "V2", kernel=_maker(_kind), shape=scalar, gradient=not_differentiable)


def queue_of(handle: Any) -> Any:
    """The queue itself; handles that were stacked and selected from arrive in an array."""
    return handle.item() if isinstance(handle, np.ndarray) else handle


def _both(name: str, kernel: Callable[[Any], Kernel], shape: Callable[[Any], Any], **facts: Any) -> None:
    """An op for queues that are handles (V2), and for queues that are references."""
    for op_type in (name, name + "V2"):
        op(op_type, kernel=kernel, shape=shape, gradient=not_differentiable, **facts)


def _check_timeout(node: Node) -> None:
    if node.attr("timeout_ms") != -1:
        raise invalid_argument("Timeout not supported yet.")


def _check_components(queue: Any, given: list[Any]) -> None:
    if queue.types != given:
        wanted, have = (", ".join(t.name for t in some) for some in (queue.types, given))
        raise invalid_argument(f"Signature mismatch, have: resource, {have} expected: resource, {wanted}")


def _begin_enqueue(node: Node) -> Kernel:
    _check_timeout(node)
    types = list(node.attr("Tcomponents"))

    def run(handle: Any, *components: Any) -> Any:
        queue = queue_of(handle)
        _check_components(queue, types)
        return queue.begin_enqueue(queue.element_of(components))

    return run


def _begin_enqueue_many(node: Node) -> Kernel:
    _check_timeout(node)
    types = list(node.attr("Tcomponents"))

    def run(handle: Any, *components: Any) -> Any:
        queue = queue_of(handle)
        _check_components(queue, types)
        if not all(len(value.shape) for value in components):
            raise invalid_argument("All components must have at least one dimension.")
        return queue.begin_enqueue(queue.elements_of(components))

    return run


def _finish(pending: Any) -> None:
    if pending is not None:
        pending.finish()


def _whole(begins: Callable[[Any], Kernel]) -> Callable[[Any], Kernel]:
    """An enqueue that waits for room before anything else is done."""

    def factory(node: Node) -> Kernel:
        begin = begins(node)
        return lambda *values: _finish(begin(*values))

    return factory


_both("QueueEnqueue", _whole(_begin_enqueue), lambda o: [], brings=True, begins=_begin_enqueue)
_both("QueueEnqueueMany", _whole(_begin_enqueue_many), lambda o: [], brings=True, begins=_begin_enqueue_many)
fused_op("_Begin", kernel=lambda node: node.attrs["begins"](node), writes=True)
fused_op("_Finish", kernel=lambda node: _finish, writes=True)


def _dequeue(node: Node) -> Kernel:
    _check_timeout(node)
    types = list(node.attr("component_types"))

    def run(handle: Any) -> Any:
        queue = queue_of(handle)
        _check_components(queue, types)
        element = queue.dequeue(1)[0]
        return element[0] if len(element) == 1 else element

    return run


def _dequeue_many(is_up_to: bool) -> Callable[[Any], Kernel]:
    def factory(node: Node) -> Kernel:
        _check_timeout(node)
        types = list(node.attr("component_types"))

        def run(handle: Any, n: Any) -> Any:
            queue = queue_of(handle)
            _check_components(queue, types)
            count = int(n)
            if count < 0:
                raise invalid_argument(f"{'DequeueUpToOp' if is_up_to else 'DequeueManyOp'} requested {count} < 0 elements")
            if not queue.can_batch:
                raise invalid_argument(f"{queue.kind}'s DequeueMany and DequeueUpTo require the components to have specified shapes.")
            found = queue.batch_of(queue.dequeue(count, is_up_to) if count else [])
            return found[0] if len(found) == 1 else found

        return run

    return factory


def _dims_of_components(o: Operation, batch: tuple[Any, ...]) -> Any:
    """The shapes of a queue's components, as far as the op that makes the queue tells."""
    made = o.inputs[0].op
    count = len(o.outputs) or len(o.attr("component_types"))
    dims = made.attrs.get("shapes") or []
    if made.type.startswith("PriorityQueue"):
        dims = [(), *dims]
    if not o.type.endswith("V2") or len(dims) != count or not made.type.endswith("QueueV2"):
        return [None] * count
    return [None if d is None else (*batch, *d) for d in dims]


def _many_shape(o: Operation) -> Any:
    n = known(o.inputs[1])
    if n is not None and int(n) < 0:
        raise ValueError(f"Input 'n' must be >= 0, but is {int(n)}")
    return _dims_of_components(o, (None if n is None else int(n),))


_both("QueueDequeue", _dequeue, lambda o: _dims_of_components(o, ()), waits=True)
_both("QueueDequeueMany", _dequeue_many(False), _many_shape, waits=True)
_both("QueueDequeueUpTo", _dequeue_many(True), lambda o: _dims_of_components(o, (None,)), waits=True)


def _close(node: Node) -> Kernel:
    cancels = node.attr("cancel_pending_enqueues")
    return lambda handle: queue_of(handle).close(cancels)


_both("QueueClose", _close, lambda o: [])
_both("QueueIsClosed", lambda node: lambda handle: torch.tensor(queue_of(handle).closed), scalar)
_both("QueueSize", lambda node: lambda handle: torch.tensor(queue_of(handle).size(), dtype=torch.int32), scalar)
