"""All-reduce between devices as ops of a graph: rings, recursive halving and doubling, and shuffles, alone or in two levels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph.devices import DeviceSpec
from everflow.graph.scopes import colocate_with, device

ALL_REDUCE = "distribute.all_reduce."


@internal(ALL_REDUCE + "_flatten_tensors")
def flattened(tensors: Sequence[Any]) -> tuple[list[Any], Any]:
    """Tensors of one known shape as vectors, and that shape."""
    if not tensors:
        raise ValueError("tensors cannot be empty")
    shape = tensors[0].shape
    for tensor in tensors:
        shape = shape.merge_with(tensor.shape)
    if not shape.is_fully_defined():
        raise ValueError("Tensors must have statically known shape.")
    if len(shape) == 1:
        return list(tensors), shape
    vectors = []
    for tensor in tensors:
        with colocate_with(tensor):
            vectors.append(tf.reshape(tensor, [-1]))
    return vectors, shape


@internal(ALL_REDUCE + "_reshape_tensors")
def reshaped(tensors: Sequence[Any], shape: Any) -> list[Any]:
    """The vectors in their shape again."""
    found = []
    for tensor in tensors:
        with colocate_with(tensor):
            found.append(tf.reshape(tensor, shape))
    return found


@internal(ALL_REDUCE + "_padded_split")
def padded_split(tensor: Any, pieces: int) -> tuple[list[Any], int]:
    """A vector in pieces of one size, with zeros at the end of the last; also how many."""
    if len(tensor.shape) != 1:
        raise ValueError("input tensor must be 1D")
    with colocate_with(tensor):
        length = tensor.shape.as_list()[0]
        size = -(-length // pieces)
        padding = size * pieces - length
        if not padding:
            return tf.split(tensor, pieces), 0
        # Where pieces are few and padding is much, some of them hold nothing but zeros.
        return tf.split(_lengthened(tensor, padding), pieces), padding


def _lengthened(vector: Any, padding: int) -> Any:
    with colocate_with(vector):
        return tf.concat([vector, tf.zeros([padding], vector.dtype)], 0)


@internal(ALL_REDUCE + "_strip_padding")
def stripped(tensors: Sequence[Any], pad_len: int) -> list[Any]:
    """Vectors without the zeros at their ends."""
    if not tensors:
        raise ValueError("tensors cannot be empty")
    if len(tensors[0].shape) > 1:
        raise ValueError("tensors must be 1D")
    kept = tensors[0].shape.as_list()[0] - pad_len
    found = []
    for tensor in tensors:
        with colocate_with(tensor):
            found.append(tensor[:kept])
    return found


@internal(ALL_REDUCE + "_ragged_split")
def ragged_split(tensor: Any, pieces: int) -> list[Any]:
    """A vector in pieces whose sizes differ by at most one."""
    if len(tensor.shape) != 1:
        raise ValueError("input tensor must be 1D")
    length = tensor.shape.as_list()[0]
    ends = [length * (i + 1) // pieces for i in range(pieces)]
    with colocate_with(tensor):
        return tf.split(tensor, [end - start for start, end in zip([0, *ends], ends)])


@internal(ALL_REDUCE + "_ring_permutations")
def ring_permutations(num_workers: int, num_subchunks: int, gpu_perm: Sequence[int]) -> tuple[list[list[int]], list[list[int]]]:
    """For each part of a chunk, who comes before each device in its ring, and which place a device has there."""
    gpus = len(gpu_perm)
    if not gpus:
        return [], []
    if num_subchunks > gpus:
        raise ValueError(f"num_subchunks {num_subchunks} must be <= num_gpus {gpus}")
    rings = []
    for part in range(num_subchunks):
        start = part * (gpus // num_subchunks)
        local = [gpu_perm[(start + i) % gpus] for i in range(gpus)]
        rings.append([worker * gpus + gpu for worker in range(num_workers) for gpu in local])
    before, places = [], []
    for ring in rings:
        predecessor, place = [0] * len(ring), [0] * len(ring)
        for i, member in enumerate(ring):
            predecessor[member], place[member] = ring[i - 1], i
        before.append(predecessor)
        places.append(place)
    return before, places


def _on_chunks(change: Callable[[Any], Any], chunks_by_dev: Sequence[Sequence[Any]]) -> list[list[Any]]:
    found = []
    for chunks in chunks_by_dev:
        with colocate_with(chunks[0]):
            found.append([change(chunk) for chunk in chunks])
    return found


@internal(ALL_REDUCE + "_build_ring_gather")
def ring_gather(
    input_tensors: Sequence[Any], devices: Sequence[str], num_subchunks: int, pred_by_s_d: Any, rank_by_s_d: Any, red_op: Any
) -> Any:
    """The first trip around the ring: afterwards each device has one chunk of the total."""
    count = len(input_tensors)
    if count == 0:
        return []
    if count == 1:
        return input_tensors
    if len(input_tensors[0].shape) > 1:
        raise ValueError("input tensors must be 1D")
    pieces, pad_len = [], 0
    for tensor, where in zip(input_tensors, devices):
        with device(where):
            found, pad_len = padded_split(tensor, count * num_subchunks)
        pieces.append(found)
    for tick in range(count - 1):
        after = [list(found) for found in pieces]
        for d in range(count):
            with device(devices[d]):
                for part in range(num_subchunks):
                    place = (rank_by_s_d[part][d] + count - 2 - tick) % count
                    at = place * num_subchunks + part
                    after[d][at] = red_op(pieces[pred_by_s_d[part][d]][at], pieces[d][at])
        pieces = after
    return pieces, pad_len


@internal(ALL_REDUCE + "_build_ring_scatter")
def ring_scatter(pred_by_s_d: Any, rank_by_s_d: Any, chunks_by_dev: Sequence[Sequence[Any]]) -> list[Any]:
    """The second trip: every device gets the chunks of the total that it lacks."""
    count = len(chunks_by_dev)
    chunks = len(chunks_by_dev[0])
    if chunks % count:
        raise ValueError("Expect number of chunks per device to be divisible by num_devices")
    parts = chunks // count
    pieces = [list(found) for found in chunks_by_dev]
    for tick in range(count - 1):
        after = [list(found) for found in pieces]
        for d in range(count):
            with colocate_with(pieces[d][0]):
                for part in range(parts):
                    place = (rank_by_s_d[part][d] + count - 1 - tick) % count
                    at = place * parts + part
                    after[d][at] = tf.identity(pieces[pred_by_s_d[part][d]][at])
        pieces = after
    found = []
    for own in pieces:
        with colocate_with(own[0]):
            found.append(tf.concat(own, 0))
    return found


@internal(ALL_REDUCE + "build_ring_all_reduce")
def build_ring_all_reduce(
    input_tensors: Sequence[Any], num_workers: int, num_subchunks: int, gpu_perm: Sequence[int], red_op: Any, un_op: Any = None
) -> list[Any]:
    """Each device talks only to the one before it in a ring: 2(n-1)/n of the data passes through each."""
    if len(input_tensors) < 2:
        raise ValueError("input_tensors must be length 2 or longer")
    vectors, shape = flattened(input_tensors)
    devices = [tensor.device for tensor in vectors]
    before, places = ring_permutations(num_workers, num_subchunks, gpu_perm)
    chunks, pad_len = ring_gather(vectors, devices, num_subchunks, before, places, red_op)
    if un_op:
        chunks = _on_chunks(un_op, chunks)
    totals = ring_scatter(before, places, chunks)
    if pad_len:
        totals = stripped(totals, pad_len)
    return reshaped(totals, shape) if len(shape) != 1 else totals


@internal(ALL_REDUCE + "_build_recursive_hd_gather")
def halved(input_tensors: Sequence[Any], devices: Sequence[str], red_op: Any) -> list[Any]:
    """Pairs at growing distance exchange halves and reduce them, until each device has its part of the total."""
    count = len(devices)
    if count & (count - 1):
        raise ValueError("num_devices must be a power of 2")
    chunks = list(input_tensors)
    span = 1
    while span < count:
        for left in range(count):
            right = left ^ span
            if right < left:
                continue
            halves = [tf.split(chunks[left], 2), tf.split(chunks[right], 2)]
            with device(devices[left]):
                chunks[left] = red_op(halves[0][0], halves[1][0])
            with device(devices[right]):
                chunks[right] = red_op(halves[0][1], halves[1][1])
        span *= 2
    return chunks


@internal(ALL_REDUCE + "_build_recursive_hd_scatter")
def doubled(input_tensors: Sequence[Any], devices: Sequence[str]) -> list[Any]:
    """The way back: pairs put their parts together."""
    chunks = list(input_tensors)
    span = len(devices) // 2
    while span:
        for left in range(len(devices)):
            right = left ^ span
            if right < left:
                continue
            both = [chunks[left], chunks[right]]
            for at in (left, right):
                with device(devices[at]):
                    chunks[at] = tf.concat(both, 0)
        span //= 2
    return chunks


@internal(ALL_REDUCE + "build_recursive_hd_all_reduce")
def build_recursive_hd_all_reduce(input_tensors: Sequence[Any], red_op: Any, un_op: Any = None) -> list[Any]:
    """Recursive halving and doubling, for a power of two of devices."""
    devices = [tensor.device for tensor in input_tensors]
    vectors, shape = flattened(input_tensors)
    # Every halving needs an even number of elements.
    padding = -vectors[0].shape.as_list()[0] % len(devices)
    if padding:
        vectors = [_lengthened(vector, padding) for vector in vectors]
    found = halved(vectors, devices, red_op)
    if un_op:
        found = [_on_chunks(un_op, [[chunk]])[0][0] for chunk in found]
    totals = doubled(found, devices)
    if padding:
        totals = stripped(totals, padding)
    return reshaped(totals, shape) if len(shape) != 1 else totals


@internal(ALL_REDUCE + "_build_shuffle_gather")
def shuffle_gather(input_tensors: Sequence[Any], gather_devices: Sequence[str], red_op: Any, un_op: Any = None) -> list[Any]:
    """Each of some devices reduces one shard of all tensors."""
    shards = len(gather_devices)
    split = [ragged_split(tensor, shards) for tensor in input_tensors]
    found = []
    for i, where in enumerate(gather_devices):
        with device(where):
            total = red_op([pieces[i] for pieces in split])
            found.append(un_op(total) if un_op else total)
    return found


@internal(ALL_REDUCE + "_build_shuffle_scatter")
def shuffle_scatter(reduced_shards: Sequence[Any], dst_devices: Sequence[str]) -> list[Any]:
    """Every device puts the reduced shards together."""
    found = []
    for where in dst_devices:
        with device(where):
            found.append(tf.concat(list(reduced_shards), 0))
    return found


@internal(ALL_REDUCE + "build_shuffle_all_reduce")
def build_shuffle_all_reduce(input_tensors: Sequence[Any], gather_devices: Sequence[str], red_op: Any, un_op: Any = None) -> list[Any]:
    """The all-reduce of parameter servers: some devices reduce a shard each, all fetch them."""
    vectors, shape = flattened(input_tensors)
    devices = [tensor.device for tensor in input_tensors]
    totals = shuffle_scatter(shuffle_gather(vectors, gather_devices, red_op, un_op), devices)
    return reshaped(totals, shape) if len(shape) != 1 else totals


@internal(ALL_REDUCE + "_split_by_task")
def split_by_task(devices: Sequence[str], values: Sequence[Any]) -> tuple[list[list[str]], list[list[Any]]]:
    """Devices and values in groups, one for each task."""
    if len(devices) != len(values):
        raise ValueError("len(devices) must equal len(values)")
    groups: dict[tuple[int, int], tuple[list[str], list[Any]]] = {}
    for where, value in zip(devices, values):
        spec = DeviceSpec.from_string(where)
        if spec.task is None:
            raise AssertionError(f"failed to parse device {where}")
        names, held = groups.setdefault((spec.replica or 0, spec.task), ([], []))
        names.append(where)
        held.append(value)
    in_order = [groups[key] for key in sorted(groups)]
    return [names for names, _ in in_order], [held for _, held in in_order]


@internal(ALL_REDUCE + "build_nccl_all_reduce")
def build_nccl_all_reduce(input_tensors: Sequence[Any], red_op: Any, un_op: Any = None) -> list[Any]:
    """The sum on every device, made by each of them."""
    if red_op is not tf.add:
        raise ValueError(f"red_op not supported by NCCL all-reduce: {red_op}")
    found = []
    for tensor in input_tensors:
        with device(tensor.device):
            total = tf.add_n(list(input_tensors))
            found.append(un_op(total) if un_op else total)
    return found


def _in_two_levels(
    input_tensors: Sequence[Any], within: Callable[[list[Any]], list[Any]], between: Callable[[list[Any]], list[Any]]
) -> list[Any]:
    """Reduces in each task, then between the first devices of tasks, whose totals the others of their task copy."""
    vectors, shape = flattened(input_tensors)
    by_task, groups = split_by_task([tensor.device for tensor in input_tensors], vectors)
    partial = [within(group)[0] for group in groups]
    totals = between(partial) if len(partial) > 1 else between([partial[0]])
    copies: dict[str, list[Any]] = {}
    for names, total in zip(by_task, totals):
        for where in names:
            with device(where):
                copies.setdefault(where, []).append(tf.identity(total))
    found = [copies[tensor.device].pop(0) for tensor in input_tensors]
    return reshaped(found, shape) if len(shape) != 1 else found


def _alone(between: Callable[[list[Any]], list[Any]], un_op: Any) -> Callable[[list[Any]], list[Any]]:
    """A single task has nobody to reduce with."""
    return lambda values: between(values) if len(values) > 1 else [un_op(v) if un_op else v for v in values]


@internal(ALL_REDUCE + "build_nccl_then_ring")
def build_nccl_then_ring(input_tensors: Sequence[Any], subdiv: int, red_op: Any, un_op: Any = None) -> list[Any]:
    """Within tasks at once, between them in a ring."""

    def between(values: list[Any]) -> list[Any]:
        return build_ring_all_reduce(values, len(values), subdiv, [0], red_op, un_op)

    return _in_two_levels(input_tensors, lambda group: build_nccl_all_reduce(group, red_op), _alone(between, un_op))


@internal(ALL_REDUCE + "build_nccl_then_recursive_hd")
def build_nccl_then_recursive_hd(input_tensors: Sequence[Any], red_op: Any, un_op: Any = None) -> list[Any]:
    """Within tasks at once, between them by halving and doubling."""

    def between(values: list[Any]) -> list[Any]:
        return build_recursive_hd_all_reduce(values, red_op, un_op)

    return _in_two_levels(input_tensors, lambda group: build_nccl_all_reduce(group, red_op), _alone(between, un_op))


@internal(ALL_REDUCE + "build_nccl_then_shuffle")
def build_nccl_then_shuffle(
    input_tensors: Sequence[Any], gather_devices: Sequence[str], nccl_red_op: Any, shuffle_red_op: Any, un_op: Any = None
) -> list[Any]:
    """Within tasks at once, between them over some devices."""

    def between(values: list[Any]) -> list[Any]:
        return build_shuffle_all_reduce(values, gather_devices, shuffle_red_op, un_op)

    return _in_two_levels(input_tensors, lambda group: build_nccl_all_reduce(group, nccl_red_op), between)


def _to_first(group: list[Any], gather_devices: Sequence[str], red_op: Any) -> list[Any]:
    """The total of a task on its gathering devices, put together on the first device of the group."""
    shards = shuffle_gather(group, gather_devices, red_op)
    return shuffle_scatter(shards, [group[0].device])


def _gathering(group: list[Any], gather_devices: Sequence[str]) -> list[str]:
    """Those of the gathering devices that belong to a group's task; the group's first device where there are none."""
    task = DeviceSpec.from_string(group[0].device).task
    return [d for d in gather_devices if DeviceSpec.from_string(d).task == task] or [group[0].device]


@internal(ALL_REDUCE + "build_shuffle_then_ring")
def build_shuffle_then_ring(
    input_tensors: Sequence[Any], gather_devices: Sequence[str], subdiv: int, red_n_op: Any, red_op: Any, un_op: Any = None
) -> list[Any]:
    """Within tasks over some of their devices, between tasks in a ring."""

    def between(values: list[Any]) -> list[Any]:
        return build_ring_all_reduce(values, len(values), subdiv, [0], red_op, un_op)

    return _in_two_levels(
        input_tensors, lambda group: _to_first(group, _gathering(group, gather_devices), red_n_op), _alone(between, un_op)
    )


@internal(ALL_REDUCE + "build_shuffle_then_shuffle")
def build_shuffle_then_shuffle(
    input_tensors: Sequence[Any], first_gather_devices: Sequence[str], second_gather_devices: Sequence[str], red_op: Any, un_op: Any = None
) -> list[Any]:
    """Over some devices of each task, then over some devices of all."""

    def between(values: list[Any]) -> list[Any]:
        return build_shuffle_all_reduce(values, second_gather_devices, red_op, un_op)

    return _in_two_levels(input_tensors, lambda group: _to_first(group, _gathering(group, first_gather_devices), red_op), between)
