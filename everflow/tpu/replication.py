"""Computations for TPUs: rewrite, replicate, shard and batch_parallel build them once a replica, on the devices that are there."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import control_dependencies, name_scope
from everflow.ops.core.registry import apply, op
from everflow.platform import logging


@internal("tpu.tpu_function.TpuContext")
class TpuContext(threading.local):
    """How many shards the computation being built has; None outside of one."""

    number_of_shards: int | None = None
    # The sums across replicas, replica by replica, and the replica being built.
    sums: list[list[Operation]] | None = None

    def set_number_of_shards(self, number_of_shards: int | None) -> None:
        """Says how many shards there are."""
        self.number_of_shards = number_of_shards


_context = TpuContext()


@internal("tpu.tpu_function.get_tpu_context")
def get_tpu_context() -> TpuContext:
    """The context of the computation being built."""
    return _context


@internal("tpu.tpu_function.tpu_shard_context")
@contextlib.contextmanager
def tpu_shard_context(number_of_shards: int) -> Iterator[None]:
    """Within the block, a computation of so many shards is built."""
    if _context.number_of_shards is not None:
        raise NotImplementedError("tpu_shard_context cannot be nested.")
    _context.number_of_shards = number_of_shards
    try:
        yield
    finally:
        _context.number_of_shards = None


op(
    "CrossReplicaSum",
    kernel=lambda node: lambda value, groups: value,
    shape=lambda o: o.inputs[0].dims,
    gradient=lambda o, dy: [cross_replica_sum(dy, o.inputs[1]), None],
    view=True,
)


@public("tpu.cross_replica_sum", "contrib.tpu.cross_replica_sum")
def cross_replica_sum(x: Any, group_assignment: Any = None, name: str | None = None) -> Any:
    """The sum of what all replicas (of a group) have here; x itself where there is one."""
    if group_assignment is None:
        shards = _context.number_of_shards
        if shards is None:
            logging.warning("cross_replica_sum should be used within a tpu_shard_context, but got unset number_of_shards. Assuming 1.")
            shards = 1
        group_assignment = [list(range(shards))]
    found = apply("CrossReplicaSum", x, group_assignment, name=name)
    if _context.sums is not None:
        _context.sums[-1].append(found.op)
    return found


def _join_sums(sums: list[list[Operation]]) -> None:
    """Has the sums of all replicas take what each of them has."""
    if len({len(own) for own in sums}) > 1:
        raise ValueError("Replicas differ in how often they sum across replicas.")
    for alike in zip(*sums):
        groups = tf.contrib.util.constant_value(alike[0].inputs[1])
        if groups is None:
            raise ValueError("group_assignment of cross_replica_sum must be a constant.")
        terms = [one.inputs[0] for one in alike]
        for group in groups.tolist():
            total = tf.add_n([terms[replica] for replica in group])
            for replica in group:
                alike[replica]._update_input(0, total)


@public("tpu.core", "contrib.tpu.core")
def core(num: int) -> str:
    """The name of a logical core of a replica, for tf.device."""
    return f"device:TPU_REPLICATED_CORE:{num}"


@public("tpu.outside_compilation", "contrib.tpu.outside_compilation")
def outside_compilation(computation: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Part of a computation that a TPU leaves to its host: here, a plain call."""
    return computation(*args, **kwargs)


def _host_part(job: str | None) -> str:
    return f"/job:{job}/device:TPU_SYSTEM:0" if job else "/device:TPU_SYSTEM:0"


@public("tpu.initialize_system", "contrib.tpu.initialize_system")
def initialize_system(embedding_config: Any = None, job: str | None = None) -> Any:
    """An op that starts a TPU system and gives its topology, serialized; it needs a TPU to run."""
    config = "" if embedding_config is None else embedding_config.SerializeToString()
    with tf.device(_host_part(job)):
        return apply("ConfigureDistributedTPU", embedding_config=config)


@public("tpu.shutdown_system", "contrib.tpu.shutdown_system")
def shutdown_system(job: str | None = None) -> Any:
    """An op that stops a TPU system; it needs a TPU to run."""
    with tf.device(_host_part(job)):
        return apply("ShutdownDistributedTPU")


@public("tpu.experimental.initialize_tpu_system")
def initialize_tpu_system(cluster_resolver: Any = None) -> Any:
    """Starts the TPU system of a cluster; NotFoundError where there is none."""
    job = cluster_resolver.get_job_name() if cluster_resolver is not None else None
    raise tf.errors.NotFoundError(None, None, f"There is no TPU system{f' in job {job}' if job else ''}: Everflow runs on CPUs and GPUs.")


@public("tpu.replicate", "contrib.tpu.replicate")
def replicate(
    computation: Callable[..., Any],
    inputs: Any = None,
    infeed_queue: Any = None,
    device_assignment: Any = None,
    name: str | None = None,
    maximum_shapes: Any = None,
) -> list[Any]:
    """Builds a computation once for each list of inputs; sums across replicas join them. Returns what each replica gives."""
    inputs = [[]] if inputs is None else inputs
    if not isinstance(inputs, (list, tuple)) or any(not isinstance(own, (list, tuple)) for own in inputs):
        raise TypeError("tpu.replicate() inputs must be a list of lists/tuples")
    for own in inputs[1:]:
        tf.nest.assert_same_structure(inputs[0], own)
    flat = [[convert_to_tensor(value) for value in tf.nest.flatten(own)] for own in inputs]
    for replica, own in enumerate(flat[1:], 1):
        if [t.dtype for t in own] != [t.dtype for t in flat[0]]:
            raise ValueError(
                f"Replicas must have matching input types. Replica 0 had input types {[t.dtype for t in flat[0]]}, replica {replica} had "
                f"input types {[t.dtype for t in own]}"
            )
    results: list[Any] = []
    outer = _context.sums
    with tpu_shard_context(len(inputs)):
        _context.sums = []
        try:
            for replica, own in enumerate(flat):
                _context.sums.append([])
                given = tf.nest.pack_sequence_as(inputs[0], own)
                if infeed_queue is not None:
                    given = [*given, *infeed_queue.generate_dequeue_op()]
                with tf.variable_scope(tf.get_variable_scope(), reuse=True if replica else None):
                    results.append(_outputs(computation(*given), replica))
            _join_sums(_context.sums)
        finally:
            _context.sums = outer
    return results


def _outputs(found: Any, replica: int) -> Any:
    """What a replica gives: its tensors, which wait for its operations, or one operation that does."""
    flat = tf.nest.flatten(found)
    if not tf.nest.is_nested(found):
        found = [found]
    operations = [value for value in flat if isinstance(value, Operation)]
    values = [value for value in flat if value is not None and not isinstance(value, Operation)]
    with control_dependencies(operations):
        if not values:
            return tf.no_op(name=f"shard_{replica}")
        tensors = iter([tf.identity(convert_to_tensor(value), name=f"output_{i}_shard_{replica}") for i, value in enumerate(values)])
    if operations or None in flat:
        return list(tensors)
    return tf.nest.map_structure(lambda value: next(tensors), found)


@public("tpu.rewrite", "contrib.tpu.rewrite")
def rewrite(
    computation: Callable[..., Any], inputs: Any = None, infeed_queue: Any = None, device_assignment: Any = None, name: str | None = None
) -> Any:
    """Builds a computation with one replica."""
    return replicate(computation, None if inputs is None else [inputs], infeed_queue, device_assignment, name)[0]


@public("tpu.shard", "contrib.tpu.shard")
def shard(
    computation: Callable[..., Any],
    inputs: Any = None,
    num_shards: int = 1,
    input_shard_axes: Any = None,
    outputs_from_all_shards: Any = True,
    output_shard_axes: Any = None,
    infeed_queue: Any = None,
    device_assignment: Any = None,
    name: str | None = None,
) -> list[Any]:
    """Splits inputs along axes among shards, and joins what the shards give; an axis of None gives all shards the whole input."""
    if num_shards <= 0:
        raise ValueError("num_shards must be a positive integer.")
    tensors = [convert_to_tensor(value) for value in inputs or []]
    axes = [0] * len(tensors) if input_shard_axes is None else input_shard_axes
    if len(axes) != len(tensors):
        raise ValueError("Length of input_shard_axes must be equal to the number of inputs.")
    split = [[t] * num_shards if axis is None else tf.split(t, num_shards, axis=axis) for t, axis in zip(tensors, axes)]
    given = [list(own) for own in zip(*split)] if split else [[]] * num_shards
    found = replicate(computation, given, infeed_queue, device_assignment, name)
    if isinstance(found[0], Operation):
        return [found[0]]
    found = [tf.nest.flatten(own) for own in found]
    count = len(found[0])
    joins = [0] * count if output_shard_axes is None else output_shard_axes
    if len(joins) != count:
        raise ValueError("Length of output_shard_axes must be equal to the number of outputs.")
    everyone = [outputs_from_all_shards] * count if isinstance(outputs_from_all_shards, bool) else outputs_from_all_shards
    if len(everyone) != count:
        raise ValueError("Length of outputs_from_all_shards must be equal to the number of outputs.")
    return [tf.concat(list(own), axis) if every else own[0] for own, axis, every in zip(zip(*found), joins, everyone)]


@public("tpu.batch_parallel", "contrib.tpu.batch_parallel")
def batch_parallel(
    computation: Callable[..., Any],
    inputs: Any = None,
    num_shards: int = 1,
    infeed_queue: Any = None,
    device_assignment: Any = None,
    name: str | None = None,
) -> list[Any]:
    """Splits inputs and joins outputs along their first axis."""
    return shard(computation, inputs, num_shards=num_shards, infeed_queue=infeed_queue, device_assignment=device_assignment, name=name)


@public("contrib.tpu.while_loop")
def while_loop(
    condition: Callable[..., Any], body: Callable[..., Any], inputs: Any = None, infeed_queue: Any = None, name: str | None = None
) -> Any:
    """A loop of a TPU computation; what the body gives beside loop variables, operations, runs with each iteration."""
    given = [convert_to_tensor(value) for value in inputs or []]
    # A loop needs a variable, even if the body has none.
    start = given or [tf.constant(0)]

    def step(*values: Any) -> Any:
        arguments = list(values) if given else []
        if infeed_queue is not None:
            arguments += infeed_queue.generate_dequeue_op()
        found = body(*arguments)
        flat = [] if found is None else list(found) if isinstance(found, (list, tuple)) else [found]
        operations = [value for value in flat if isinstance(value, Operation)]
        results = [value for value in flat if not isinstance(value, Operation)]
        if given and len(results) != len(given):
            raise ValueError(f"Loop body must return as many values as there are loop inputs: {len(given)}, but returned {len(results)}.")
        with control_dependencies(operations):
            return [tf.identity(value) for value in (results if given else values)]

    with name_scope(name or "while"):
        found = tf.while_loop(lambda *values: condition(*(values if given else ())), step, start, name="")
    return found


@public("contrib.tpu.repeat")
def repeat(n: Any, body: Callable[..., Any], inputs: Any = None, infeed_queue: Any = None, name: str | None = None) -> Any:
    """A loop of n iterations."""
    given = [convert_to_tensor(value) for value in inputs or []]

    def step(i: Any, *values: Any) -> list[Any]:
        found = body(*values)
        flat = [] if found is None else list(found) if isinstance(found, (list, tuple)) else [found]
        return [i + 1, *flat]

    found = while_loop(lambda i, *values: i < n, step, [0, *given], infeed_queue, name)
    return list(found[1:]) if given else found[0].op
