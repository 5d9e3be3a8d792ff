"""What datasets give, element by element."""

import gc
import threading

import numpy as np
import pytest

import everflow as tf

D = tf.data.Dataset


def elements(dataset, most=1000):
    """All elements, read in a session of their own."""
    with tf.Session() as session:
        iterator = dataset.make_initializable_iterator()
        session.run(iterator.initializer)
        following = iterator.get_next()
        found = []
        with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
            while len(found) < most:
                found.append(session.run(following))
        return found


def test_slices_keep_their_structure():
    dataset = D.from_tensor_slices(({"a": [1, 2]}, [[3.0], [4.0]]))
    assert dataset.output_types == ({"a": tf.int32}, tf.float32)
    assert [(x["a"], y.tolist()) for x, y in elements(dataset)] == [(1, [3.0]), (2, [4.0])]


def test_batches_hold_what_is_left_unless_it_is_dropped():
    assert [b.tolist() for b in elements(D.range(5).batch(2))] == [[0, 1], [2, 3], [4]]
    assert [b.tolist() for b in elements(D.range(5).batch(2, drop_remainder=True))] == [[0, 1], [2, 3]]


def test_a_batch_of_different_shapes_names_them():
    dataset = D.from_generator(lambda: iter([[1], [2, 3]]), tf.int32, [None]).batch(2)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"First element had shape \[1\] and element 1 had shape \[2\]"):
        elements(dataset)


def test_padded_batches_are_as_wide_as_their_widest_element():
    dataset = D.range(1, 4).map(lambda n: tf.fill([n], n)).padded_batch(3, [None], padding_values=np.int64(9))
    assert elements(dataset)[0].tolist() == [[1, 9, 9], [2, 2, 9], [3, 3, 3]]


@pytest.mark.parametrize("calls", [None, 3])
def test_map_goes_on_after_an_error(calls):
    dataset = D.from_tensor_slices([1.0, 0.0, 2.0]).map(lambda x: tf.check_numerics(1 / x, "bad"), num_parallel_calls=calls)
    with tf.Session() as session:
        following = dataset.make_one_shot_iterator().get_next()
        assert session.run(following) == 1.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
            session.run(following)
        assert session.run(following) == 0.5


def test_functions_capture_tensors_and_variables():
    factor = tf.Variable(3, dtype=tf.int64)
    limit = tf.placeholder(tf.int64, [])
    iterator = D.range(6).map(lambda x: x * factor).filter(lambda x: x < limit).make_initializable_iterator()
    following = iterator.get_next()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(iterator.initializer, {limit: 7})
        assert [session.run(following) for _ in range(3)] == [0, 3, 6]


def test_interleave_takes_turns():
    dataset = D.range(3).interleave(lambda x: D.from_tensors(x).repeat(x + 1), cycle_length=2, block_length=1)
    assert elements(dataset) == [0, 1, 1, 2, 2, 2]


def test_windows_are_datasets():
    dataset = D.range(7).window(3, shift=2, drop_remainder=True).flat_map(lambda w: w.batch(3))
    assert [w.tolist() for w in elements(dataset)] == [[0, 1, 2], [2, 3, 4], [4, 5, 6]]


def test_groups_are_flushed_when_they_are_full_and_at_the_end():
    group = tf.data.experimental.group_by_window(lambda x: x % 2, lambda key, w: w.batch(2), window_size=2)
    assert [g.tolist() for g in elements(D.range(5).apply(group))] == [[0, 2], [1, 3], [4]]


def test_shuffle_with_a_seed_gives_tensorflows_order():
    tf.set_random_seed(1)
    assert elements(D.range(10).shuffle(3, seed=2)) == [1, 3, 2, 4, 6, 5, 7, 8, 0, 9]


def test_shuffled_batches_hold_the_shuffled_elements():
    tf.set_random_seed(1)
    one = elements(D.range(500).shuffle(20, seed=2, reshuffle_each_iteration=False))
    rows = elements(D.from_tensor_slices(np.arange(500)).shuffle(20, seed=2, reshuffle_each_iteration=False).batch(7))
    assert sorted(one) == list(range(500))
    assert sorted(np.concatenate(rows)) == list(range(500))
    assert one != sorted(one)


def test_cache_reads_its_input_once():
    calls = []
    dataset = D.range(3).map(lambda x: tf.py_func(lambda v: calls.append(v) or v, [x], tf.int64)).cache().repeat(3)
    assert elements(dataset) == [0, 1, 2] * 3
    assert len(calls) == 3


def test_generators_are_checked():
    dataset = D.from_generator(lambda: iter([[1, 2], [3]]), tf.int32, [2])
    following = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(following).tolist() == [1, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"yielded an element of shape \(1,\)"):
            session.run(following)


def test_an_iterator_must_be_initialized():
    following = D.range(3).make_initializable_iterator().get_next()
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError, match="has not been initialized"):
        session.run(following)


def test_a_handle_chooses_the_iterator():
    handle = tf.placeholder(tf.string, [])
    following = tf.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
    one, two = D.range(3).make_one_shot_iterator(), D.range(10, 13).make_one_shot_iterator()
    with tf.Session() as session:
        handles = session.run([one.string_handle(), two.string_handle()])
        assert [session.run(following, {handle: h}) for h in (*handles, *handles)] == [0, 10, 1, 11]


def test_one_shot_iterators_refuse_variables():
    dataset = D.from_tensors(tf.Variable(1))
    with pytest.raises(ValueError, match="Failed to create a one-shot iterator"):
        dataset.make_one_shot_iterator()


def test_optionals_tell_the_end():
    iterator = D.range(1).make_initializable_iterator()
    optional = tf.data.experimental.get_next_as_optional(iterator)
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert session.run([optional.has_value(), optional.get_value()]) == [True, 0]
        assert not session.run(optional.has_value())


def test_prefetching_threads_end_with_their_iterator():
    before = threading.active_count()
    dataset = D.range(1000).map(lambda x: tf.py_func(lambda v: (threading.Event().wait(0.001), v)[1], [x], tf.int64)).prefetch(2)
    with tf.Session() as session:
        following = dataset.make_one_shot_iterator().get_next()
        for _ in range(8):
            session.run(following)
    gc.collect()
    deadline = threading.Event()
    for _ in range(100):
        if threading.active_count() <= before:
            break
        deadline.wait(0.02)
    assert threading.active_count() <= before


def test_fetched_elements_belong_to_the_program():
    data = np.zeros((2, 3))
    following = D.from_tensors(data).repeat().make_one_shot_iterator().get_next()
    with tf.Session() as session:
        session.run(following)[:] = 7
        assert session.run(following).sum() == 0
