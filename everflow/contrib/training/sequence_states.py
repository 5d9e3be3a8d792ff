"""Long sequences in pieces: the state at the end of a piece is that at the beginning of the next."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.errors import CancelledError, OutOfRangeError
from everflow.graph import dtypes
from everflow.graph.constants import constant_value
from everflow.graph.scopes import name_scope
from everflow.graph.sparse_tensor import SparseTensor
from everflow.ops.core.registry import apply
from everflow.ops.queues.barriers import Barrier
from everflow.ops.queues.queue_functions import FIFOQueue
from everflow.train.queue_runners import QueueRunner, add_queue_runner

_STOP = "STOP:"
_MODULE = "contrib.training.python.training.sequence_queueing_state_saver"


def _check_rank(tensor: Any, label: str, rank: int) -> None:
    try:
        tensor.get_shape().with_rank(rank)
    except ValueError as e:
        raise ValueError(f"Rank check failed for tensor {tensor.name} labeled {label}: {e}") from None


@internal(f"{_MODULE}._SequenceInputWrapper")
class SequenceInput:
    """What one sequence consists of, as tensors: its length, its key, steps and what stays the same for all steps."""

    def __init__(self, length: Any, key: Any, sequences: dict[str, Any], context: dict[str, Any]) -> None:
        for what, values in (("sequences", sequences), ("context", context)):
            if not isinstance(values, dict):
                raise TypeError(f"{what} must be a dict")
        if not sequences:
            raise ValueError("must have at least one sequence tensor")
        for name in (*sequences, *context):
            if not isinstance(name, str):
                raise TypeError(f"keys must be strings, got {name!r}")
            if ":" in name:
                raise ValueError(f"name must not contain ':': {name}")
        self.length = tf.convert_to_tensor(length, name="length", dtype=dtypes.int32)
        self.key = tf.convert_to_tensor(key, name="key", dtype=dtypes.string)
        self.sequences = {name: tf.convert_to_tensor(value, name=f"sequence_{name}") for name, value in sequences.items()}
        self.context = {name: tf.convert_to_tensor(value, name=f"context_{name}") for name, value in context.items()}


@public("contrib.training.SequenceQueueingStateSaver")
class SequenceQueueingStateSaver:
    """Keeps the pieces of sequences until their states are known. A piece is an element of a barrier: it is complete when the state was
    saved with which the piece before it ended."""

    def __init__(
        self,
        batch_size: Any,
        num_unroll: Any,
        input_length: Any,
        input_key: Any,
        input_sequences: dict[str, Any],
        input_context: dict[str, Any],
        initial_states: dict[str, Any],
        capacity: Any = None,
        allow_small_batch: bool = False,
        name: str | None = None,
    ) -> None:
        if not isinstance(initial_states, dict):
            raise TypeError("initial_states must be a dict")
        if not initial_states:
            raise ValueError(
                "initial_states may not be empty: at least one state variable is required to properly enqueue split "
                "sequences to run in separate iterations"
            )
        values = [input_length, input_key, *input_sequences.values(), *input_context.values(), *initial_states.values()]
        with name_scope(name, "InputQueueingStateSaver", values) as scope:
            given = SequenceInput(input_length, input_key, input_sequences, input_context)
            self._scope = scope
            self._allow_small_batch = allow_small_batch
            self._num_unroll = tf.convert_to_tensor(num_unroll, dtype=dtypes.int32, name="num_unroll")
            self._batch_size = tf.convert_to_tensor(batch_size, dtype=dtypes.int32, name="batch_size")
            self._states = {name: tf.convert_to_tensor(value, name=f"state_{name}") for name, value in sorted(initial_states.items())}
            self._sequences, self._context = dict(sorted(given.sequences.items())), dict(sorted(given.context.items()))
            self._key, self._length = given.key, given.length
            self._tickets = self._ticket_queue(batch_size, capacity)
            self._make_barrier()
            self._prefetch_op: Any = None
            self._next_batch: Any = None
            self._prefetch_op = self._prefetch()

    def _ticket_queue(self, batch_size: Any, capacity: Any) -> Any:
        """A queue that holds one ticket for each sequence that is on its way: when it is full, the next sequence waits."""
        self._capacity_check: list[Any] = []
        if capacity is None:
            return None
        if isinstance(batch_size, int) and isinstance(capacity, int) and capacity < batch_size:
            raise ValueError(f"capacity {capacity} needs to be >= batch_size {batch_size}")
        self._capacity_check = [
            tf.assert_greater_equal(
                tf.convert_to_tensor(capacity, dtype=dtypes.int32), self._batch_size, data=["capacity needs to be >= batch_size."]
            )
        ]
        return FIFOQueue(capacity=capacity, dtypes=[dtypes.int32], shapes=[[]], name="prefetch_capacity")

    def _make_barrier(self) -> None:
        unrolled = constant_value(self._num_unroll)
        unrolled = None if unrolled is None else int(unrolled)
        types: list[Any] = [dtypes.int32, dtypes.int32, dtypes.string, dtypes.int32, dtypes.int32]
        # Barriers check whole shapes only where they know them.
        shapes: list[Any] = [tf.TensorShape([])] * 5
        self._component: dict[tuple[str, str], int] = {}
        for kind, tensors in (("sequence", self._sequences), ("context", self._context), ("state", self._states)):
            for name, tensor in tensors.items():
                self._component[kind, name] = len(types)
                types.append(tensor.dtype.base_dtype)
                shape = tensor.get_shape()
                shapes.append(tf.TensorShape([unrolled]).concatenate(shape[1:]) if kind == "sequence" else shape)
        known = all(shape.is_fully_defined() for shape in shapes)
        self._shapes = shapes
        self._barrier = Barrier(types=types, shapes=shapes if known else None)

    def _prefetch(self) -> Any:
        sequences = list(self._sequences.items())
        with tf.control_dependencies(self._capacity_check):
            padded = tf.identity(tf.shape(sequences[0][1])[0], name="padded_length")
        texts = tf.string_join(
            [
                "Dimension 0 of the sequences should be a multiple of: ",
                tf.as_string(self._num_unroll),
                ", but saw value: ",
                tf.as_string(padded),
                ". Consider setting pad=True.",
            ]
        )
        fits = tf.Assert(tf.equal(tf.mod(padded, self._num_unroll), 0), [texts])
        with tf.control_dependencies([fits]):
            count = tf.div(padded, self._num_unroll, name="sequence_count")
        checks = []
        for name, tensor in sequences[1:]:
            message = tf.string_join(
                [
                    f"Dimension 0 of tensor labeled sorted_sequences_{name} should be: ",
                    tf.as_string(padded),
                    ", shape received: ",
                    tf.as_string(tf.shape(tensor)[0]),
                ]
            )
            checks.append(tf.Assert(tf.equal(tf.shape(tensor)[0], padded), [message]))
        places = tf.range(count)
        digits: dict[str, Any] = {"width": 5, "fill": "0"}
        of_count = tf.string_join(["_of_", tf.as_string(count, **digits), ":", self._key])
        keys = tf.string_join([tf.as_string(places, **digits), tf.tile(tf.expand_dims(of_count, 0), tf.expand_dims(count, 0))])
        keys.set_shape([None])
        next_keys = tf.concat([keys[1:], tf.expand_dims(tf.string_join([_STOP, self._key]), 0)], 0)
        lengths = tf.minimum(self._num_unroll, tf.maximum(0, self._length - places * self._num_unroll))

        def repeated(tensor: Any) -> Any:
            shape = tf.concat([tf.expand_dims(count, 0), tf.shape(tensor)], 0)
            return (
                tf.broadcast_to(tensor, shape)
                if tensor.dtype != dtypes.string
                else tf.tile(tf.expand_dims(tensor, 0), tf.concat([tf.expand_dims(count, 0), tf.ones_like(tf.shape(tensor))], 0))
            )

        def cut(tensor: Any) -> Any:
            return tf.reshape(tensor, tf.concat([[count, self._num_unroll], tf.shape(tensor)[1:]], 0))

        before = list(checks)
        if self._tickets is not None:
            with tf.control_dependencies(before):
                before = [self._tickets.enqueue(0)]
        with tf.control_dependencies(before):
            inserted = [
                self._barrier.insert_many(i, keys, values)
                for i, values in enumerate((lengths, repeated(self._length), next_keys, places, repeated(count)))
            ]
            inserted += [self._barrier.insert_many(self._component["sequence", name], keys, cut(tensor)) for name, tensor in sequences]
            inserted += [
                self._barrier.insert_many(self._component["context", name], keys, repeated(tensor))
                for name, tensor in self._context.items()
            ]
        # The first piece starts with the states that were given: with these it is complete.
        with tf.control_dependencies(inserted):
            started = [
                self._barrier.insert_many(self._component["state", name], keys[:1], tf.expand_dims(value, 0))
                for name, value in self._states.items()
            ]
        return tf.group(*started, name="StateSaverPrefetchGroup")

    @property
    def name(self) -> str:
        """The scope of its ops."""
        return self._scope

    @property
    def barrier(self) -> Any:
        """What keeps the pieces."""
        return self._barrier

    @property
    def batch_size(self) -> Any:
        """How many pieces a batch has."""
        return self._batch_size

    @property
    def num_unroll(self) -> Any:
        """How many steps a piece has."""
        return self._num_unroll

    @property
    def prefetch_op(self) -> Any:
        """An op that takes in the next sequence."""
        return self._prefetch_op

    @property
    def next_batch(self) -> NextQueuedSequenceBatch:
        """The next pieces whose states are known."""
        if self._next_batch is None:
            with name_scope(self._scope):
                self._next_batch = NextQueuedSequenceBatch(self)
        return self._next_batch

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Any:
        """An op after which no more sequences come."""
        with name_scope(name, "SQSSClose") as scope:
            closed = [self._barrier.close(cancel_pending_enqueues)]
            if self._tickets is not None:
                closed.append(self._tickets.close(cancel_pending_enqueues))
            return tf.group(*closed, name=scope)

    def _taken(self) -> tuple[Any, Any, dict[str, Any], dict[str, dict[str, Any]]]:
        """Indices, keys and the parts of the next pieces; a ticket comes back for each sequence that ends with one of them."""
        with tf.control_dependencies(self._capacity_check):
            size = tf.identity(self._batch_size)
        indices, keys, values = self._barrier.take_many(size, allow_small_batch=self._allow_small_batch)
        values = values if isinstance(values, (list, tuple)) else [values]
        batch = tf.TensorShape([None if self._allow_small_batch else constant_value(self._batch_size)])
        for value, shape in zip(values, self._shapes):
            value.set_shape(batch.concatenate(shape))
        after: list[Any] = []
        if self._tickets is not None:
            ended = tf.reduce_sum(tf.cast(_is_last(values[2]), dtypes.int32))
            after = [tf.cond(ended > 0, lambda: tf.group(self._tickets.dequeue_many(ended)), tf.no_op)]
        with tf.control_dependencies(after):
            indices, keys = tf.identity(indices), tf.identity(keys)
            values = [tf.identity(value) for value in values]
        fixed = dict(zip(("length", "total_length", "next_key", "sequence", "sequence_count"), values))
        parts: dict[str, dict[str, Any]] = {"sequence": {}, "context": {}, "state": {}}
        for (kind, name), place in self._component.items():
            parts[kind][name] = values[place]
        return indices, keys, fixed, parts


def _is_last(next_keys: Any) -> Any:
    return tf.equal(tf.substr(next_keys, tf.zeros_like(next_keys, dtypes.int32), tf.fill(tf.shape(next_keys), len(_STOP))), _STOP)


@public("contrib.training.NextQueuedSequenceBatch")
class NextQueuedSequenceBatch:
    """Pieces of sequences, and the way to save the states that their next pieces start with."""

    def __init__(self, state_saver: SequenceQueueingStateSaver) -> None:
        self._state_saver = state_saver
        self._indices, self._keys, self._fixed, self._parts = state_saver._taken()

    @property
    def total_length(self) -> Any:
        """The lengths of the whole sequences."""
        return self._fixed["total_length"]

    @property
    def length(self) -> Any:
        """How many steps of each piece belong to the sequence: the last piece may be padded."""
        return self._fixed["length"]

    @property
    def batch_size(self) -> Any:
        """How many pieces there are."""
        return tf.size(self._keys)

    @property
    def insertion_index(self) -> Any:
        """Numbers that grow in the order in which pieces came."""
        return self._indices

    @property
    def key(self) -> Any:
        """Keys of the pieces: which of how many, and the key of the sequence."""
        return self._keys

    @property
    def next_key(self) -> Any:
        """Keys of the pieces that follow; after the last comes STOP."""
        return self._fixed["next_key"]

    @property
    def sequence(self) -> Any:
        """Which piece of its sequence each is."""
        return self._fixed["sequence"]

    @property
    def sequence_count(self) -> Any:
        """How many pieces each sequence has."""
        return self._fixed["sequence_count"]

    @property
    def context(self) -> dict[str, Any]:
        """What is the same for all steps."""
        return self._parts["context"]

    @property
    def sequences(self) -> dict[str, Any]:
        """The steps, [batch, num_unroll, ...]."""
        return self._parts["sequence"]

    def state(self, state_name: str) -> Any:
        """The state with which each piece starts."""
        return self._parts["state"][state_name]

    def save_state(self, state_name: str, value: Any, name: str | None = None) -> Any:
        """An op that saves the state at the end of each piece."""
        saver = self._state_saver
        if state_name not in self._parts["state"]:
            raise KeyError(f"state was not declared: {state_name}")
        with name_scope(name, "InputQueueingStateSaver_SaveState", [value]):
            value = tf.convert_to_tensor(value, name=f"convert_{state_name}")
            rank = self._parts["state"][state_name].get_shape().ndims
            if rank is not None:
                _check_rank(value, state_name, rank)
            size, found = tf.expand_dims(tf.size(self._keys), 0), tf.shape(value)
            if rank is not None and saver._shapes[saver._component["state", state_name]].is_fully_defined():
                wanted = tf.concat([size, saver._shapes[saver._component["state", state_name]].as_list()], 0)
            else:
                wanted = tf.concat([size, found[1:]], 0)
            is_right = tf.cond(
                tf.equal(tf.size(found), tf.size(wanted)), lambda: tf.reduce_all(tf.equal(found, wanted)), lambda: tf.constant(False)
            )
            check = tf.Assert(
                is_right,
                [
                    tf.string_join(
                        [
                            f"Shape of tensor labeled convert_{state_name}:0 should be: ",
                            tf.reduce_join(tf.as_string(wanted), separator=" "),
                            ", shape received:",
                        ]
                    ),
                    found,
                ],
            )
            with tf.control_dependencies([check]):
                goes_on = tf.reshape(tf.where(tf.logical_not(_is_last(self.next_key))), [-1])
                keys, kept = tf.gather(self.next_key, goes_on), tf.gather(value, goes_on)
            place = saver._component["state", state_name]
            return saver.barrier.insert_many(place, keys, kept)


@internal(f"{_MODULE}._padding")
def padding(sequences: dict[str, Any], num_unroll: Any) -> tuple[Any, dict[str, Any]]:
    """The length of the sequences, which must be the same, and the sequences made longer to a whole number of pieces."""
    if not isinstance(sequences, dict):
        raise TypeError("sequences must be a dict")
    if not sequences:
        return 0, {}
    dense = {name: tf.convert_to_tensor(value) for name, value in sequences.items() if not isinstance(value, SparseTensor)}
    sparse = {name: value for name, value in sequences.items() if isinstance(value, SparseTensor)}
    lengths = [tf.shape(value)[0] for value in dense.values()]
    if lengths:
        checks = [
            tf.Assert(
                tf.reduce_all(tf.equal(lengths[0], tf.stack(lengths))),
                ["All sequence lengths must match, but received lengths: ", *lengths],
            )
        ]
        with tf.control_dependencies(checks):
            length = tf.identity(lengths[0])
    else:
        length = tf.reduce_max(tf.stack([tf.cast(value.dense_shape[0], dtypes.int32) for value in sparse.values()]))
    unroll = tf.cast(num_unroll, dtypes.int32)
    padded = unroll * tf.cast(tf.floordiv(length + unroll - 1, unroll), dtypes.int32)
    found: dict[str, Any] = {}
    for name, value in dense.items():
        missing = tf.concat([tf.expand_dims(padded - length, 0), tf.shape(value)[1:]], 0)
        filler = tf.fill(missing, "") if value.dtype == dtypes.string else tf.zeros(missing, value.dtype)
        found[name] = tf.concat([value, filler], 0)
        found[name].set_shape(tf.TensorShape([None]).concatenate(value.get_shape()[1:]))
    for name, value in sparse.items():  # type: ignore[assignment]
        shape = tf.concat([tf.expand_dims(tf.cast(padded, dtypes.int64), 0), value.dense_shape[1:]], 0)  # type: ignore[attr-defined]
        found[name] = SparseTensor(value.indices, value.values, shape)  # type: ignore[attr-defined]
    return length, found


@internal(f"{_MODULE}._deconstruct_sparse_tensor_seq")
def deconstruct_sparse_tensor_seq(input_sequence: dict[str, Any], shared_name: str | None = None) -> tuple[dict[str, Any], Any, Any]:
    """Sequences with a handle a step in the place of sparse ones, the names of these, and what is needed to find their steps again."""
    names = [name for name, value in input_sequence.items() if isinstance(value, SparseTensor)]
    found, tensors = dict(input_sequence), [input_sequence[name] for name in names]
    places = []
    for name, value in zip(names, tensors):
        handles = apply(
            "AddManySparseToTensorsMap",
            value.indices,
            value.values,
            value.dense_shape,
            shared_name="" if shared_name is None else f"{shared_name}_{name}",
        )
        handles.set_shape([None])
        found[name] = handles
        places.append((shared_name and f"{shared_name}_{name}" or handles.op.name, value.dtype, value.get_shape().ndims))
    return found, names, places


@internal(f"{_MODULE}._reconstruct_sparse_tensor_seq")
def reconstruct_sparse_tensor_seq(
    sequence: dict[str, Any], sparse_tensor_keys: Any, tensor_list: Any, batch_size: Any, num_unroll: Any
) -> None:
    """Puts sparse tensors [batch, num_unroll, ...] in the place of handles."""
    for name, (map_name, dtype, rank) in zip(sparse_tensor_keys, tensor_list):
        handles = tf.reshape(sequence[name], [-1])
        indices, values, shape = apply("TakeManySparseFromTensorsMap", handles, dtype=dtype, shared_name=map_name)
        batch, steps = (tf.cast(tf.reshape(n, [1]), dtypes.int64) for n in (batch_size, num_unroll))
        whole = tf.concat([batch, steps, shape[1:]], 0)
        found = tf.sparse_reshape(SparseTensor(indices, values, shape), whole)
        found.indices.set_shape([None, None if rank is None else rank + 1])
        sequence[name] = found


@public("contrib.training.batch_sequences_with_states")
def batch_sequences_with_states(
    input_key: Any,
    input_sequences: dict[str, Any],
    input_context: dict[str, Any],
    input_length: Any,
    initial_states: dict[str, Any],
    num_unroll: int,
    batch_size: Any,
    num_threads: int = 3,
    capacity: int = 1000,
    allow_small_batch: bool = True,
    pad: bool = True,
    make_keys_unique: bool = False,
    make_keys_unique_seed: int | None = None,
    name: str | None = None,
) -> NextQueuedSequenceBatch:
    """Batches of pieces of sequences, which threads take in; states are saved from one piece to the next."""
    values = [input_key, input_length, *input_context.values(), *initial_states.values()]
    with name_scope(name, "batch_sequences_with_states", values) as scope:
        if pad:
            length, input_sequences = padding(input_sequences, num_unroll)
            input_length = input_length if input_length is not None else length
        elif input_length is None:
            first = next(iter(input_sequences.values()))
            input_length = tf.shape(first)[0]
        input_sequences, sparse_names, places = deconstruct_sparse_tensor_seq(input_sequences)
        # What is the same for all pieces is read several times: it goes along as text.
        sparse_context = {name: value for name, value in input_context.items() if isinstance(value, SparseTensor)}
        input_context = {name: tf.serialize_sparse(value) if name in sparse_context else value for name, value in input_context.items()}
        if make_keys_unique:
            number = tf.random_uniform([], minval=0, maxval=2**60, dtype=dtypes.int64, seed=make_keys_unique_seed)
            input_key = tf.string_join([input_key, tf.as_string(number)], ":", name="unique_key")
        saver = SequenceQueueingStateSaver(
            batch_size=batch_size,
            num_unroll=num_unroll,
            input_length=input_length,
            input_key=input_key,
            input_sequences=input_sequences,
            input_context=input_context,
            initial_states=initial_states,
            capacity=capacity,
            allow_small_batch=allow_small_batch,
        )
        runner = QueueRunner(
            saver,
            [saver.prefetch_op] * num_threads,
            close_op=saver.close(),
            cancel_op=saver.close(cancel_pending_enqueues=True),
            queue_closed_exception_types=(OutOfRangeError, CancelledError),
        )
        add_queue_runner(runner)
        tf.summary.scalar(f"{scope}queue_size", tf.cast(saver.barrier.ready_size(), dtypes.float32))
        found = saver.next_batch
        if sparse_names:
            reconstruct_sparse_tensor_seq(found.sequences, sparse_names, places, found.batch_size, saver.num_unroll)
        for name, value in sparse_context.items():
            found.context[name] = tf.deserialize_many_sparse(found.context[name], value.dtype, rank=value.get_shape().ndims)
        return found
