"""Batching across steps."""

import threading

import numpy as np
import pytest

import everflow as tf
from everflow.ops.core.registry import apply
from everflow.ops.queues.batching import batch_function_v1


def at_once(session, fetch, feeds):
    """What each of several runs at the same time gets."""
    found = [None] * len(feeds)

    def work(i):
        found[i] = session.run(fetch, feeds[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(feeds))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    return found


def test_calls_at_the_same_time_are_one_batch(session):
    sizes = []

    def counted(x):
        sizes.append(len(x))
        return x * 10

    @tf.nondifferentiable_batch_function(num_batch_threads=1, max_batch_size=4, batch_timeout_micros=300_000_000)
    def times_ten(x):
        return tf.py_func(counted, [x], tf.int64)

    x = tf.placeholder(tf.int64, [None])
    found = at_once(session, times_ten(x), [{x: [1, 2]}, {x: [3]}, {x: [4]}])
    assert [f.tolist() for f in found] == [[10, 20], [30], [40]] and sizes == [4]


def test_batches_are_filled_up_to_allowed_sizes(session):
    x = tf.placeholder(tf.int32, [None])
    (batched,), index, number = tf.raw_ops.Batch(
        in_tensors=[x], num_batch_threads=1, max_batch_size=8, batch_timeout_micros=0, allowed_batch_sizes=[4, 8], grad_timeout_micros=0
    )
    found, rows, own = session.run([batched, index, number], {x: [7, 8, 9]})
    assert found.tolist() == [7, 8, 9, 7] and rows.tolist() == [[own, 0, 3]]


def test_rows_find_their_runs(session):
    x = tf.placeholder(tf.float32, [None, 2])
    (batched,), index, number = tf.raw_ops.Batch(
        in_tensors=[x], num_batch_threads=1, max_batch_size=2, batch_timeout_micros=300_000_000, grad_timeout_micros=0
    )
    y = tf.raw_ops.Unbatch(batched_tensor=batched + 1, batch_index=index, id=number, timeout_micros=300_000_000)
    found = at_once(session, y, [{x: np.full((1, 2), v)} for v in (1, 2)])
    assert [f.tolist() for f in found] == [[[2, 2]], [[3, 3]]]


def test_inputs_have_as_many_rows(session):
    x, y = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    (batched, _), _, _ = tf.raw_ops.Batch(
        in_tensors=[x, y], num_batch_threads=1, max_batch_size=2, batch_timeout_micros=0, grad_timeout_micros=0
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have equal 0th-dimension size"):
        session.run(batched, {x: [1.0], y: [1.0, 2.0]})


def test_gradients_find_their_way_back_through_a_batch(session):
    x = tf.placeholder(tf.float32, [None, 2])
    (batched,), index, number = apply(
        "Batch", [x], num_batch_threads=1, max_batch_size=4, batch_timeout_micros=300_000_000, grad_timeout_micros=300_000_000
    )
    y = apply("Unbatch", tf.square(batched), index, number, timeout_micros=300_000_000)
    (gradient,) = tf.gradients(y * [[1.0, 10.0]], [x])
    found = at_once(session, [y, gradient], [{x: [[1, 2], [3, 4]]}, {x: [[5, 6], [7, 8]]}])
    assert [y.tolist() for y, _ in found] == [[[1, 4], [9, 16]], [[25, 36], [49, 64]]]
    assert [dx.tolist() for _, dx in found] == [[[2, 40], [6, 80]], [[10, 120], [14, 160]]]


def test_functions_with_gradients_are_batched_in_the_graph(session):
    @batch_function_v1(1, 2, 300_000_000)
    def squared_and_added(a, b):
        return a * a, a + b

    a, b = tf.placeholder(tf.float32, [1]), tf.placeholder(tf.float32, [1])
    square, total = squared_and_added(a, b)
    assert square.op.name == "batch/unbatch/Unbatch" and square.op.get_attr("shared_name") == b"batch/unbatch//batch/mul:0"
    feeds = [{a: [3], b: [1]}, {a: [5], b: [2]}]
    found = at_once(session, [square, total, tf.gradients(square, a)[0]], feeds)
    assert [[part.tolist() for part in parts] for parts in found] == [[[9], [4], [6]], [[25], [7], [10]]]
    with pytest.raises(ValueError, match="are supposed to be Tensors; found 3"):
        squared_and_added(a, 3)
