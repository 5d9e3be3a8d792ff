"""SparseTensors on their way through queues: queues hold handles, and the tensors wait in maps."""

from __future__ import annotations

from typing import Any, NamedTuple

import everflow as tf
from everflow.graph import dtypes
from everflow.graph.convert import constant, convert_to_tensor
from everflow.graph.scopes import control_dependencies
from everflow.graph.sparse_tensor import SparseTensor
from everflow.graph.stacks import get_default_graph
from everflow.ops.core.registry import apply
from everflow.runtime.smart_conditionals import smart_cond, smart_constant_value


class Stored(NamedTuple):
    """Where a component of a queue waits: in a map of this name, or (None) in the queue itself."""

    map_name: str | None
    dtype: Any
    rank: int | None


PLAIN = Stored(None, None, None)


def _kept(tensor: SparseTensor, keep_input: Any) -> SparseTensor:
    """The entries in the rows that are kept."""
    rows = tensor.indices[:, 0]
    chosen = tf.reshape(tf.where(tf.gather(keep_input, rows)), [-1])
    return SparseTensor(tf.gather(tensor.indices, chosen), tf.gather(tensor.values, chosen), tf.identity(tensor.dense_shape))


def _stored(tensor: SparseTensor, enqueue_many: bool, keep_input: Any, map_name: str | None) -> tuple[Any, str]:
    """The handle of a tensor, and the name of the map that holds it."""
    op_type = "AddManySparseToTensorsMap" if enqueue_many else "AddSparseToTensorsMap"

    def store(shared_name: str | None) -> Any:
        return apply(op_type, tensor.indices, tensor.values, tensor.dense_shape, shared_name=shared_name or "")

    if enqueue_many and keep_input.shape.ndims == 1:
        tensor = _kept(tensor, keep_input)
    elif smart_constant_value(keep_input) is not True:
        # Which branch stores the tensor is known only at run time; the name of the map must be known now.
        name = map_name or get_default_graph().unique_name(f"{op_type}_map")
        nothing = (
            (lambda: tf.fill(tensor.dense_shape[:1], constant(-1, dtypes.int64))) if enqueue_many else (lambda: constant(-1, dtypes.int64))
        )
        return smart_cond(keep_input, lambda: store(name), nothing), name
    handle = store(map_name)
    return handle, map_name or handle.op.name


def store_sparse(
    tensors: list[Any], enqueue_many: bool, keep_input: Any, like: list[Stored] | None = None
) -> tuple[list[Any], list[Stored]]:
    """The tensors with handles for those that are sparse, and where these wait: in the maps of `like`, where it is given."""
    components, places = [], []
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, SparseTensor):
            components.append(tensor)
            places.append(PLAIN)
            continue
        handle, name = _stored(tensor, enqueue_many, keep_input, like[i].map_name if like else None)
        # A dimension of its own: queues pad and batch vectors of handles like all other components.
        components.append(tf.expand_dims(handle, [-1]))
        rank = tensor.dense_shape.shape.with_rank(1)[0].value
        places.append(Stored(name, tensor.values.dtype, None if rank is None else rank - (1 if enqueue_many else 0)))
    return components, places


def restore_sparse(tensors: list[Any], places: list[Stored]) -> list[Any]:
    """What `store_sparse` stored, of what a queue gave."""
    if all(place.map_name is None for place in places):
        return list(tensors)
    found: list[Any] = []
    takes = []
    for tensor, place in zip(tensors, places):
        if place.map_name is None:
            found.append(tensor)
            continue
        handles = tf.squeeze(tensor, [1])
        indices, values, shape = apply("TakeManySparseFromTensorsMap", handles, dtype=place.dtype, shared_name=place.map_name)
        takes.append(indices.op)
        if place.rank is not None:
            indices.set_shape([None, place.rank + 1])
            shape.set_shape([place.rank + 1])
        found.append(SparseTensor(indices, values, shape))
    return _together(found, takes, tensors[0].op) if len(found) > 1 else found


def _together(tensors: list[Any], takes: list[Any], dequeue: Any) -> list[Any]:
    """The tensors such that whoever uses one of them takes all of them from their maps."""

    def after(tensor: Any, own: Any) -> Any:
        with control_dependencies([op for op in (dequeue, *takes) if op is not own]):
            return tf.identity(tensor, name="control_dependency")

    found: list[Any] = []
    for tensor in tensors:
        if isinstance(tensor, SparseTensor):
            own = tensor.values.op
            found.append(SparseTensor(*(after(part, own) for part in (tensor.indices, tensor.values, tensor.dense_shape))))
        else:
            found.append(after(convert_to_tensor(tensor), dequeue))
    return found
