"""Queues that steps share: tf.queue."""

from __future__ import annotations

import hashlib
import uuid
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes as dtypes_lib
from everflow.graph.constants import known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import TensorShape, as_shape
from everflow.graph.stacks import in_eager_mode
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply


def as_type_list(dtypes: Any) -> list[dtypes_lib.DType]:
    """One or several types as a list."""
    return [dtypes_lib.as_dtype(d) for d in (dtypes if isinstance(dtypes, (list, tuple)) else [dtypes])]


def as_shape_list(shapes: Any, dtypes: list[Any], unknown_dims_allowed: bool = False, unknown_rank_allowed: bool = False) -> Any:
    """One or several shapes as a list; None stays None."""
    if unknown_dims_allowed and (shapes is None or (len(dtypes) > 1 and not isinstance(shapes, (list, tuple)))):
        raise ValueError("When providing partial shapes, a list of shapes must be provided.")
    if shapes is None:
        return None
    if isinstance(shapes, TensorShape):
        shapes = [shapes]
    if not isinstance(shapes, (list, tuple)):
        raise TypeError("shapes must be a TensorShape or a list or tuple of TensorShapes.")
    if all(s is None or isinstance(s, int) for s in shapes):
        if unknown_dims_allowed:
            raise ValueError("When providing partial shapes, a list of shapes must be provided.")
        shapes = [shapes]
    found = [as_shape(s) for s in shapes]
    if not unknown_dims_allowed and not all(s.is_fully_defined() for s in found):
        raise ValueError(f"All shapes must be fully defined: {found}")
    if not unknown_rank_allowed and any(s.dims is None for s in found):
        raise ValueError(f"All shapes must have a defined rank: {found}")
    return found


def _shared_name(shared_name: str | None) -> str:
    """A queue that is made at once is nobody else's."""
    if in_eager_mode() and shared_name is None:
        return f"queue_{uuid.uuid4()}"
    return shared_name or ""


def as_name_list(names: Any, dtypes: list[Any]) -> Any:
    """One or several names as a list; None stays None."""
    found = [*names] if isinstance(names, (list, tuple)) else [names]
    if names is not None and len(found) != len(dtypes):
        raise ValueError("List of names must have the same length as the list of dtypes")
    return None if names is None else found


@public("QueueBase", "queue.QueueBase", "io.QueueBase")
class QueueBase:
    """A queue of tuples of tensors. `names` makes the tuples dictionaries."""

    def __init__(self, dtypes: Any, shapes: Any, names: Any, queue_ref: Any) -> None:
        for what, given in (("shapes", shapes), ("names", names)):
            if given is not None and len(given) != len(dtypes):
                raise ValueError(f"Queue {what} must have the same length as dtypes")
        self._dtypes, self._names, self._queue_ref = dtypes, names, queue_ref
        self._shapes = [TensorShape(shape) for shape in ([None] * len(dtypes) if shapes is None else shapes)]
        # Ops that run at once have no names to build on.
        self._full_name = "queue" if in_eager_mode() else queue_ref.op.name
        self._name = self._full_name.split("/")[-1]

    def _begin(self, kind: str, dtypes: Any, shapes: Any, names: Any, shared_name: str | None, name: str | None, **attrs: Any) -> None:
        """What constructors do: adds the op that makes a queue of a kind."""
        shared = _shared_name(shared_name)
        ref = apply(kind, component_types=dtypes, shapes=shapes, shared_name=shared, name=name, **attrs)
        QueueBase.__init__(self, dtypes, shapes, names, ref)

    @staticmethod
    def from_list(index: Any, queues: Any) -> QueueBase:
        """The queue at a place in a list; the place may be known only at run time."""
        if not queues or not isinstance(queues, list) or not all(isinstance(q, QueueBase) for q in queues):
            raise TypeError("A list of queues expected")
        dtypes, names = queues[0].dtypes, queues[0].names
        if not all(dtypes == q.dtypes for q in queues[1:]):
            raise TypeError("Queues do not have matching component dtypes.")
        if not all(names == q.names for q in queues[1:]):
            raise TypeError("Queues do not have matching component names.")
        shapes = [_common_shape(each) for each in zip(*(q.shapes for q in queues))]
        refs = [q.queue_ref for q in queues]
        return QueueBase(dtypes=dtypes, shapes=shapes, names=names, queue_ref=tf.gather(tf.stack(refs), index))

    @property
    def queue_ref(self) -> Tensor:
        """The handle."""
        return self._queue_ref

    @property
    def name(self) -> str:
        return self._full_name

    @property
    def dtypes(self) -> Any:
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        return self._shapes

    @property
    def names(self) -> Any:
        return self._names

    def _components(self, vals: Any) -> list[Tensor]:
        """What is enqueued, in the order of the components."""
        names, is_named = self._names, isinstance(vals, dict)
        if is_named and not names:
            raise ValueError("Queue must have names to enqueue a dictionary")
        if names and not is_named:
            raise ValueError("You must enqueue a dictionary in a Queue with names")
        if is_named:
            if sorted(names, key=str) != sorted(vals, key=str):
                raise ValueError(
                    f"Keys in dictionary to enqueue do not match names of Queue.  Dictionary: ({sorted(vals)}), Queue: ({sorted(names)})"
                )
            vals = [vals[name] for name in names]
        parts = vals if isinstance(vals, (list, tuple)) else [vals]
        return [convert_to_tensor(part, dtype, name=f"component_{i}") for i, (part, dtype) in enumerate(zip(parts, self._dtypes))]

    @staticmethod
    def _values_of(vals: Any) -> list[Any]:
        if isinstance(vals, (list, tuple)):
            return list(vals)
        return list(vals.values()) if isinstance(vals, dict) else [vals]

    def enqueue(self, vals: Any, name: str | None = None) -> Any:
        """An op that adds one element, and waits while the queue is full."""
        with name_scope(name, f"{self._name}_enqueue", self._values_of(vals)) as scope:
            components = self._components(vals)
            for value, shape in zip(components, self._shapes):
                value.get_shape().assert_is_compatible_with(shape)
            return apply(self._op("QueueEnqueue"), self._queue_ref, components, name=scope)

    def enqueue_many(self, vals: Any, name: str | None = None) -> Any:
        """An op that adds an element for each row of the components."""
        with name_scope(name, f"{self._name}_EnqueueMany", self._values_of(vals)) as scope:
            components = self._components(vals)
            batch = components[0].get_shape().with_rank_at_least(1)[:1]
            for value, shape in zip(components, self._shapes):
                batch = batch.merge_with(value.get_shape().with_rank_at_least(1)[:1])
                value.get_shape()[1:].assert_is_compatible_with(shape)
            return apply(self._op("QueueEnqueueMany"), self._queue_ref, components, name=scope)

    def _op(self, op_type: str) -> str:
        """The form of an op that takes this queue: a handle or a reference."""
        return op_type + "V2" if self._queue_ref.dtype == dtypes_lib.resource else op_type

    def _taken(self, tensors: Any) -> Any:
        if self._names:
            return dict(zip(self._names, tensors))
        return tensors[0] if len(tensors) == 1 else tensors

    def dequeue(self, name: str | None = None) -> Any:
        """One element; waits while the queue is empty."""
        found = apply(self._op("QueueDequeue"), self._queue_ref, component_types=self._dtypes, name=name or f"{self._name}_Dequeue")
        for tensor, shape in zip(found, self._shapes):
            tensor.set_shape(shape)
        return self._taken(found)

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """`n` elements, stacked; waits until there are so many."""
        found = apply(
            self._op("QueueDequeueMany"), self._queue_ref, n, component_types=self._dtypes, name=name or f"{self._name}_DequeueMany"
        )
        count = n if in_eager_mode() else known(found[0].op.inputs[1])
        batch = TensorShape([None if count is None else int(count)])
        for tensor, shape in zip(found, self._shapes):
            tensor.set_shape(batch.concatenate(shape))
        return self._taken(found)

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """`n` elements, stacked; fewer where the queue is closed and has no more."""
        found = apply(
            self._op("QueueDequeueUpTo"), self._queue_ref, n, component_types=self._dtypes, name=name or f"{self._name}_DequeueUpTo"
        )
        for tensor, shape in zip(found, self._shapes):
            tensor.set_shape(TensorShape([None]).concatenate(shape))
        return self._taken(found)

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Any:
        """An op after which nothing more can be enqueued."""
        return apply(
            self._op("QueueClose"), self._queue_ref, cancel_pending_enqueues=cancel_pending_enqueues, name=name or f"{self._name}_Close"
        )

    def is_closed(self, name: str | None = None) -> Tensor:
        """Whether the queue is closed."""
        return apply(self._op("QueueIsClosed"), self._queue_ref, name=name or f"{self._name}_Is_Closed")

    def size(self, name: str | None = None) -> Tensor:
        """How many elements the queue holds."""
        return apply(self._op("QueueSize"), self._queue_ref, name=name or f"{self._name}_Size")


def _common_shape(shapes: Any) -> TensorShape:
    """The most exact shape that all have."""
    first = shapes[0]
    if any(s.dims is None or len(s.dims) != len(first.dims or ()) for s in shapes) or first.dims is None:
        return TensorShape(None)
    rows = zip(*(s.as_list() for s in shapes))
    return TensorShape([row[0] if all(d == row[0] for d in row) else None for row in rows])


@public("FIFOQueue", "queue.FIFOQueue")
class FIFOQueue(QueueBase):
    """Elements leave in the order in which they came."""

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str | None = "fifo_queue",
    ) -> None:
        types = as_type_list(dtypes)
        parts = (types, as_shape_list(shapes, types), as_name_list(names, types))
        self._begin("FIFOQueueV2", *parts, shared_name, name, capacity=capacity)


@public("RandomShuffleQueue", "queue.RandomShuffleQueue", "io.RandomShuffleQueue")
class RandomShuffleQueue(QueueBase):
    """Elements leave in random order; at least `min_after_dequeue` stay to choose from."""

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str | None = "random_shuffle_queue",
    ) -> None:
        types = as_type_list(dtypes)
        parts = (types, as_shape_list(shapes, types), as_name_list(names, types))
        first, second = tf.get_seed(seed)
        if first is None and second is None:
            first = second = 0
        elif seed is None and shared_name is not None:
            # All who share the queue must come to the same seed, however many ops their graphs have.
            second = int(hashlib.md5((str(first) + shared_name).encode()).hexdigest()[:8], 16) & 0x7FFFFFFF
        sizes = {"capacity": capacity, "min_after_dequeue": min_after_dequeue}
        self._begin("RandomShuffleQueueV2", *parts, shared_name, name, seed=first, seed2=second, **sizes)


@public("PaddingFIFOQueue", "queue.PaddingFIFOQueue", "io.PaddingFIFOQueue")
class PaddingFIFOQueue(QueueBase):
    """First in, first out, for elements of different sizes: `dequeue_many` pads them."""

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any,
        names: Any = None,
        shared_name: str | None = None,
        name: str | None = "padding_fifo_queue",
    ) -> None:
        types = as_type_list(dtypes)
        sizes = as_shape_list(shapes, types, unknown_dims_allowed=True)
        labels = as_name_list(names, types)
        if len(sizes) != len(types):
            raise ValueError(f"Shapes must be provided for all components, but received {len(types)} dtypes and {len(sizes)} shapes.")
        self._begin("PaddingFIFOQueueV2", types, sizes, labels, shared_name, name, capacity=capacity)


@public("PriorityQueue", "queue.PriorityQueue", "io.PriorityQueue")
class PriorityQueue(QueueBase):
    """The element with the smallest priority, an int64 in front of its components, leaves first."""

    def __init__(
        self,
        capacity: int,
        types: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str | None = "priority_queue",
    ) -> None:
        types = as_type_list(types)
        shapes = as_shape_list(shapes, types)
        ref = apply(
            "PriorityQueueV2", component_types=types, shapes=shapes, capacity=capacity, shared_name=_shared_name(shared_name), name=name
        )
        super().__init__([dtypes_lib.int64, *types], [(), *shapes] if shapes else shapes, names, ref)


internal("ops.data_flow_ops._as_shape_list")(as_shape_list)
