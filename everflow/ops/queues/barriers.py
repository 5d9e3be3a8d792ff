"""Barriers: elements whose components come one by one, by key, and that leave when they are complete."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import internal
from everflow.errors import cancelled, invalid_argument, out_of_range
from everflow.graph import shapes
from everflow.graph.constants import known
from everflow.graph.operation import Operation
from everflow.graph.shapes import TensorShape
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.core.shape_rules import scalar
from everflow.ops.queues.queue_functions import as_shape_list, as_type_list
from everflow.ops.queues.queue_objects import copy_of, empty_batch, item_of, stacked
from everflow.ops.queues.queue_ops import unique_name
from everflow.values.texts import text_array
from everflow.values.waiting import Waited

Kernel = Callable[..., Any]


class BarrierKind(Waited):
    """A barrier at run time. The keys of one insertion have one index, and smaller indices leave first."""

    def __init__(self, context: Any, name: str, types: list[Any], dims: list[Any]) -> None:
        super().__init__(context)
        self.name, self.types, self.dims = name, types, dims
        self.closed = self.is_cancelled = False
        self.incomplete: dict[bytes, tuple[int, list[Any]]] = {}
        self.ready: list[tuple[int, int, bytes, list[Any]]] = []
        self._order = itertools.count()
        self._next_index = -(1 << 63)

    def read(self) -> Any:
        """What a fetch of the reference shows."""
        return text_array([b"localhost", self.name.encode()], (2,))

    def insert(self, keys: list[bytes], values: Any, component: int) -> None:
        expected = self.dims[component]
        shape = tuple(values.shape)
        if shape[:1] != (len(keys),) or (expected is not None and not shapes.is_compatible(shape[1:], expected)):
            wanted = (len(keys), *(expected or ()))
            raise invalid_argument(
                f"Shape mismatch in tuple component {component}. Expected {shapes.describe(wanted)}, got {shapes.describe(shape)}"
            )
        if keys and int(np.prod(shape[1:])) == 0:
            raise invalid_argument(f"Tensors with no elements are not supported: component {component} has shape {shapes.describe(shape)}")
        kept = copy_of(values)
        rows = list(kept.unbind(0)) if hasattr(kept, "unbind") else [item_of(kept, k) for k in range(len(keys))]
        with self.condition:
            self._check_open(keys, component)
            index = self._next_index
            if any(key not in self.incomplete for key in keys):
                self._next_index += 1
            for key, row in zip(keys, rows):
                self._add(key, row, component, index)
            self.condition.notify_all()

    def _check_open(self, keys: list[bytes], component: int) -> None:
        state = f"Pending enqueues cancelled: {int(self.is_cancelled)}."
        if self.is_cancelled:
            raise cancelled(
                f"Barrier {self.name} is closed.  {state}  Number of new insertions: {len(keys)}.  Number of incomplete keys: "
                f"{len(self.incomplete)}."
            )
        for key in keys if self.closed else ():
            if key not in self.incomplete:
                raise cancelled(
                    f"Barrier {self.name} is closed, but attempted to insert a brand new key: {key.decode(errors='replace')}.  "
                    f"{state}  Insertion index: {component}.  Number of incomplete keys: {len(self.incomplete)}."
                )

    def _add(self, key: bytes, row: Any, component: int, index: int) -> None:
        entry = self.incomplete.get(key)
        if entry is None:
            entry = self.incomplete[key] = (index, [None] * len(self.types))
        if entry[1][component] is not None:
            shown = key.decode(errors="replace")
            raise invalid_argument(f"Key {shown} already has a value for component {component} in barrier {self.name}")
        entry[1][component] = row
        if all(part is not None for part in entry[1]):
            del self.incomplete[key]
            heapq.heappush(self.ready, (entry[0], next(self._order), key, entry[1]))

    def take(self, count: int, is_smaller_allowed: bool) -> Any:
        with self.condition:
            self.wait(lambda: len(self.ready) >= count or self._cannot_fill(count, is_smaller_allowed), "Barrier take was cancelled")
            total = len(self.ready) + len(self.incomplete)
            if len(self.ready) < count and (not is_smaller_allowed or not self.ready):
                raise out_of_range(f"Barrier '{self.name}' is closed and has insufficient elements (requested {count}, total size {total})")
            found = [heapq.heappop(self.ready) for _ in range(min(count, len(self.ready)))]
            self.condition.notify_all()
        columns: Any = zip(*(values for _, _, _, values in found))
        found_columns = (
            [stacked(column, dtype) for column, dtype in zip(columns, self.types)]
            if found
            else [empty_batch(dims or (), dtype) for dims, dtype in zip(self.dims, self.types)]
        )
        return (
            torch.tensor([index for index, *_ in found], dtype=torch.int64),
            text_array([key for _, _, key, _ in found], (len(found),)),
            *found_columns,
        )

    def _cannot_fill(self, count: int, is_smaller_allowed: bool) -> bool:
        """Whether a closed barrier has nothing to wait for: what is ready is enough, or will never be."""
        if not self.closed:
            return False
        if is_smaller_allowed:
            return bool(self.ready) or not self.incomplete
        return len(self.ready) + len(self.incomplete) < count

    def close(self, cancels: bool) -> None:
        with self.condition:
            self.closed = True
            if cancels:
                self.is_cancelled = True
                self.incomplete.clear()
            self.condition.notify_all()


def _make(node: Node) -> Kernel:
    types = list(node.attr("component_types"))
    given = [None if s is None else tuple(s) for s in node.attr("shapes") or []]
    key = node.attr("container"), "barrier", node.attr("shared_name") or node.name
    if given and len(given) != len(types):
        raise invalid_argument("All of the component shapes must be specified")
    dims = given or [None] * len(types)

    def run() -> Any:
        barrier = node.context.resources.get(*key, lambda: BarrierKind(node.context, unique_name(node, "barrier"), types, dims))
        if barrier.types != types:
            raise invalid_argument(
                f"Shared barrier '{key[2]}' has component types {_names(barrier.types)} but requested component types were {_names(types)}"
            )
        if barrier.dims != dims:
            raise invalid_argument(
                f"Shared barrier '{key[2]}' has component shapes {_shapes(barrier.dims)} but requested component shapes "
                f"were {_shapes(dims)}"
            )
        return barrier

    return run


def _names(types: list[Any]) -> str:
    return ", ".join(t.name for t in types)


def _shapes(dims: list[Any]) -> str:
    return "[" + ",".join(shapes.describe(d) for d in dims if d is not None) + "]"


def _insert(node: Node) -> Kernel:
    component = node.attr("component_index")

    def run(barrier: Any, keys: Any, values: Any) -> None:
        if not 0 <= component < len(barrier.types):
            raise invalid_argument(f"The component ID is out of range {component} > num_components (= {len(barrier.types)})")
        barrier.insert(keys.reshape(-1).tolist(), values, component)

    return run


def _take(node: Node) -> Kernel:
    is_smaller_allowed = node.attr("allow_small_batch")
    return lambda barrier, count: barrier.take(int(count), is_smaller_allowed)


def _take_shape(o: Operation) -> Any:
    count = None if o.attr("allow_small_batch") else known(o.inputs[1])
    batch = (None if count is None else int(count),)
    return [batch, batch, *[None] * len(o.attr("component_types"))]


def _close(node: Node) -> Kernel:
    cancels = node.attr("cancel_pending_enqueues")
    return lambda barrier: barrier.close(cancels)


def _number(value: int) -> Any:
    return torch.tensor(value, dtype=torch.int32)


op("Barrier", kernel=_make, shape=lambda o: (2,), gradient=not_differentiable)
op("BarrierInsertMany", kernel=_insert, shape=lambda o: [], gradient=not_differentiable, writes=True, brings=True)
op("BarrierTakeMany", kernel=_take, shape=_take_shape, gradient=not_differentiable, writes=True, waits=True)
op("BarrierClose", kernel=_close, shape=lambda o: [], gradient=not_differentiable, writes=True)
op("BarrierReadySize", kernel=lambda node: lambda barrier: _number(len(barrier.ready)), shape=scalar, gradient=not_differentiable)
op("BarrierIncompleteSize", kernel=lambda node: lambda barrier: _number(len(barrier.incomplete)), shape=scalar, gradient=not_differentiable)


@internal("ops.data_flow_ops.Barrier")
class Barrier:
    """Elements of several components, by key: complete when all components of a key were inserted."""

    def __init__(self, types: Any, shapes: Any = None, shared_name: str | None = None, name: str = "barrier") -> None:
        self._types = as_type_list(types)
        given = None if shapes is None else as_shape_list(shapes, self._types)
        self._shapes = [TensorShape(shape) for shape in ([None] * len(self._types) if given is None else given)]
        for i, shape in enumerate(self._shapes):
            if shape.num_elements() == 0:
                raise ValueError(f"Empty tensors are not supported, but received shape '{shape}' at index {i}")
        self._barrier_ref = apply("Barrier", component_types=self._types, shapes=given, shared_name=shared_name or "", name=name)
        self._name = self._barrier_ref.op.name.split("/")[-1]

    @property
    def barrier_ref(self) -> Any:
        """The reference."""
        return self._barrier_ref

    @property
    def name(self) -> str:
        return self._barrier_ref.op.name

    def insert_many(self, component_index: int, keys: Any, values: Any, name: str | None = None) -> Any:
        """An op that adds one component for each key."""
        return apply(
            "BarrierInsertMany",
            self._barrier_ref,
            keys,
            values,
            component_index=component_index,
            name=name or f"{self._name}_BarrierInsertMany",
        )

    def take_many(self, num_elements: Any, allow_small_batch: bool = False, timeout: int | None = None, name: str | None = None) -> Any:
        """Complete elements: their indices, keys and components."""
        found = apply(
            "BarrierTakeMany",
            self._barrier_ref,
            num_elements,
            component_types=self._types,
            allow_small_batch=allow_small_batch,
            timeout_ms=timeout,
            name=name or f"{self._name}_BarrierTakeMany",
        )
        operation = found[0].op
        count = None if allow_small_batch else known(operation.inputs[1])
        batch = TensorShape([None if count is None else int(count)])
        for tensor, shape in zip(operation.outputs[2:], self._shapes):
            tensor.set_shape(batch.concatenate(shape))
        return found

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Any:
        """An op after which no new keys can be inserted."""
        return apply(
            "BarrierClose", self._barrier_ref, cancel_pending_enqueues=cancel_pending_enqueues, name=name or f"{self._name}_BarrierClose"
        )

    def ready_size(self, name: str | None = None) -> Any:
        """How many elements are complete."""
        return apply("BarrierReadySize", self._barrier_ref, name=name or f"{self._name}_BarrierReadySize")

    def incomplete_size(self, name: str | None = None) -> Any:
        """How many elements lack components."""
        return apply("BarrierIncompleteSize", self._barrier_ref, name=name or f"{self._name}_BarrierIncompleteSize")
