"""Queues of tf.contrib.training: buckets, samples and sequences in pieces."""

import contextlib

import numpy as np
import pytest

import everflow as tf

training = tf.contrib.training


@contextlib.contextmanager
def running():
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        yield sess
        coord.request_stop()
        coord.join(threads, ignore_live_threads=True)


def test_a_batch_holds_one_bucket():
    number = tf.train.range_input_producer(40, shuffle=False, num_epochs=None).dequeue()
    which, batch = training.bucket([number], tf.mod(number, 2), batch_size=4, num_buckets=2)
    with running() as sess:
        for _ in range(4):
            bucket, found = sess.run([which, batch])
            assert len(found) == 4 and set(found % 2) == {bucket}
    with pytest.raises(ValueError, match="must have exactly num_buckets"):
        training.bucket([number], 0, batch_size=[1, 2, 3], num_buckets=2)


def test_sequences_in_a_batch_are_about_equally_long():
    length = tf.train.range_input_producer(12, shuffle=False).dequeue() + 1
    lengths, found = training.bucket_by_sequence_length(length, {"x": tf.ones([length])}, 3, [4, 8], dynamic_pad=True)
    with running() as sess:
        for _ in range(4):
            n, x = sess.run([lengths, found["x"]])
            assert x.shape == (3, n.max()) and np.array_equal(x.sum(1), n)
            assert len({np.digitize(k, [4, 8]) for k in n}) == 1
    with pytest.raises(ValueError, match="sequential increasing"):
        training.bucket_by_sequence_length(length, [length], 3, [8, 4])


def test_rows_are_repeated_at_their_rates():
    tf.set_random_seed(1)
    values, rates = tf.range(3000), np.repeat([0.0, 0.5, 2.0], 1000).astype(np.float32)
    with tf.Session() as sess:
        (found,) = sess.run(training.resample_at_rate([values], rates))
        counts = np.bincount(found // 1000, minlength=3)
        assert counts[0] == 0 and abs(counts[1] - 500) < 100 and abs(counts[2] - 2000) < 200
        assert np.array_equal(found, np.sort(found))
        (resampled,), new_rates = training.weighted_resample([values], tf.constant(rates), 0.5)
        sess.run(tf.global_variables_initializer())
        found, kept = sess.run([resampled, new_rates])
        assert abs(len(found) - 1500) < 200
        np.testing.assert_allclose(kept, rates[found] * 0.5 / rates.mean(), rtol=1e-4)


def test_what_is_rejected_does_not_come():
    number = tf.train.range_input_producer(10, shuffle=False).dequeue()
    (found,) = training.rejection_sample([number], lambda x: tf.cast(tf.equal(x[0] % 2, 0), tf.float32), 5)
    with running() as sess:
        assert all((sess.run(found) % 2 == 0).all() for _ in range(3))


def test_classes_are_as_frequent_as_asked_for():
    tf.set_random_seed(2)
    label = tf.cast(tf.random_uniform([]) < 0.2, tf.int32)
    (data,), labels = training.stratified_sample([tf.cast(label, tf.float32)], label, [0.5, 0.5], 100, init_probs=[0.8, 0.2])
    with running() as sess:
        found, classes = zip(*[sess.run([data, labels]) for _ in range(4)])
    assert np.array_equal(np.concatenate(found), np.concatenate(classes))
    assert abs(np.concatenate(classes).mean() - 0.5) < 0.12
    with pytest.raises(ValueError, match="nonzero target"):
        training.stratified_sample([label], label, [0.5, 0.5], 4, init_probs=[0.0, 1.0])
    with pytest.raises(TypeError, match="must be a list"):
        training.stratified_sample(label, label, [0.5, 0.5], 4)


def test_states_pass_from_piece_to_piece():
    number = tf.train.range_input_producer(100, shuffle=False).dequeue()
    steps = tf.range(5) + 10 * number
    batch = training.batch_sequences_with_states(
        tf.as_string(number),
        {"x": steps},
        {"number": number},
        5,
        {"sum": tf.constant(0)},
        num_unroll=2,
        batch_size=1,
        num_threads=1,
        capacity=1,
    )
    new = batch.state("sum") + tf.reduce_sum(batch.sequences["x"], 1)
    with tf.control_dependencies([batch.save_state("sum", new)]):
        total = tf.identity(new)
    seen = {}
    with running() as sess:
        for _ in range(6):
            key, last, length, found, which = sess.run([batch.key, batch.next_key, batch.length, total, batch.context["number"]])
            seen.setdefault(which[0], []).append((key[0], last[0], length[0], found[0]))
    first = seen[0]
    assert [(length, total) for _, _, length, total in first] == [(2, 1), (2, 6), (1, 10)]
    assert first[0][0] == b"00000_of_00003:0" and first[-1][1] == b"STOP:0"
    with pytest.raises(KeyError, match="state was not declared"):
        batch.save_state("other", new)


def test_a_state_that_is_fed_in_a_wrong_shape_is_refused():
    x, state = tf.constant([1, 2]), tf.placeholder(tf.int32)
    saver = training.SequenceQueueingStateSaver(1, 2, 2, tf.constant("a"), {"x": x}, {}, {"sum": tf.constant(0)}, name="saver")
    batch = saver.next_batch
    assert batch.key.name.startswith("saver/")
    with pytest.raises(ValueError, match="Rank check failed for tensor .* labeled sum"):
        batch.save_state("sum", [[1]])
    with tf.control_dependencies([saver.prefetch_op]):
        save = batch.save_state("sum", state)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=r"should be: 1, shape received:\] \[1 1\]"):
        session.run(save, {state: [[1]]})


def test_where_variables_go():
    a, b = tf.zeros([10, 10]), tf.zeros([2], tf.float64)
    strategy = training.GreedyLoadBalancingStrategy(2, training.byte_size_load_fn)
    assert [strategy(x.op) for x in (a, b, b, a)] == [0, 1, 1, 1]
    assert training.byte_size_load_fn(a.op) == 400
    random = training.RandomStrategy(1000, seed=0)
    assert random(tf.no_op(name="a")) == 31
