"""Input by queues: producers, batches, shuffles, filters."""

import numpy as np
import pytest

import everflow as tf


def _all(fetches):
    """What the fetches give until they run out."""
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        found = []
        try:
            while True:
                found.append(sess.run(fetches))
        except tf.errors.OutOfRangeError:
            pass
        finally:
            coord.request_stop()
            coord.join(threads)
        return found


def _numbers(count, **more):
    return tf.train.range_input_producer(count, num_epochs=1, shuffle=False, **more).dequeue()


def test_a_producer_gives_each_epoch_in_order():
    names = tf.train.string_input_producer(["a", "b"], num_epochs=2, shuffle=False)
    assert _all(names.dequeue()) == [b"a", b"b"] * 2


def test_a_producer_shuffles_each_epoch():
    found = _all(tf.train.range_input_producer(20, num_epochs=2, seed=1).dequeue())
    assert sorted(found[:20]) == sorted(found[20:]) == list(range(20))
    assert found[:20] != found[20:]


def test_slices_belong_together():
    found = _all(tf.train.slice_input_producer([tf.constant([1, 2, 3]), tf.constant(["a", "b", "c"])], num_epochs=1))
    assert sorted(tuple(x) for x in found) == [(1, b"a"), (2, b"b"), (3, b"c")]


def test_an_empty_producer_is_refused():
    with pytest.raises(ValueError, match="requires a non-null input tensor"):
        tf.train.string_input_producer([])


def test_batches_hold_elements_in_order():
    x = _numbers(5)
    found = _all(tf.train.batch([x, tf.as_string(x)], 2))
    assert [(a.tolist(), b.tolist()) for a, b in found] == [([0, 1], [b"0", b"1"]), ([2, 3], [b"2", b"3"])]


def test_the_last_batch_may_be_smaller():
    found = _all(tf.train.batch({"x": _numbers(5)}, 2, allow_smaller_final_batch=True))
    assert [f["x"].tolist() for f in found] == [[0, 1], [2, 3], [4]]


def test_batches_pad_to_their_longest_element():
    x = _numbers(4)
    found = _all(tf.train.batch([tf.range(x)], 4, dynamic_pad=True))
    assert found[0].tolist() == [[0, 0, 0], [0, 0, 0], [0, 1, 0], [0, 1, 2]]


def test_rows_may_be_elements():
    x = _numbers(3)
    assert [f.tolist() for f in _all(tf.train.batch([tf.stack([x, x + 10])], 3, enqueue_many=True))] == [[0, 10, 1], [11, 2, 12]]


def test_shuffled_batches_hold_all_elements():
    found = np.concatenate(_all(tf.train.shuffle_batch([_numbers(20)], 4, 20, 10, num_threads=2, seed=3)))
    assert sorted(found) == list(range(20)) and found.tolist() != list(range(20))


def test_sources_are_joined():
    found = np.concatenate(_all(tf.train.batch_join([[_numbers(6)], [_numbers(6) + 10]], 3)))
    assert sorted(found) == [0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15]


def test_a_filter_keeps_elements():
    x = _numbers(8)
    found = np.concatenate(_all(tf.train.maybe_batch([x], tf.equal(x % 2, 0), 2)))
    assert found.tolist() == [0, 2, 4, 6]


def test_a_filter_keeps_rows():
    x = _numbers(4)
    rows = tf.stack([x, x + 10])
    found = np.concatenate(_all(tf.train.maybe_batch([rows], [False, True], 2, enqueue_many=True)))
    assert found.tolist() == [10, 11, 12, 13]


def test_sparse_tensors_pass_through_queues():
    x = _numbers(4)
    sparse = tf.SparseTensor([[0], [2]], tf.stack([x, x + 1]), [3])
    found = _all(tf.train.batch([sparse, x], 2))
    assert found[1][0].indices.tolist() == [[0, 0], [0, 2], [1, 0], [1, 2]]
    assert found[1][0].values.tolist() == [2, 3, 3, 4]
    assert found[1][1].tolist() == [2, 3]


def test_shapes_must_be_known():
    with pytest.raises(ValueError, match="Cannot infer Tensor's rank"):
        tf.train.batch([tf.placeholder(tf.int32)], 2)
    with pytest.raises(ValueError, match="All shapes must be fully defined"):
        tf.train.batch([tf.placeholder(tf.int32, [None])], 2)
    with pytest.raises(ValueError, match="capacity 2 must be bigger than min_after_dequeue 4"):
        tf.train.shuffle_batch([tf.constant(1)], 2, 2, 4)
