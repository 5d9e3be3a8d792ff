"""What notes on sessions, scopes and training say, held to the letter."""

import numpy as np
import pytest

import everflow as tf


def test_names_in_a_scope_are_made_once_and_shared_on_request():
    with tf.variable_scope("outer"), tf.variable_scope("inner"):
        first = tf.get_variable("w", [1])
        tf.get_variable_scope().reuse_variables()
        assert tf.get_variable("w", [1]) is first
    assert first.name == "outer/inner/w:0"
    with pytest.raises(ValueError, match="outer/inner/w already exists, disallowed"), tf.variable_scope("outer/inner"):
        tf.get_variable("w", [1])


def test_a_rate_grows_with_the_steps():
    steps, weight = tf.Variable(0, trainable=False), tf.Variable(1.0)
    rate = tf.train.exponential_decay(0.1, steps, 10, 2, staircase=False)
    train = tf.train.GradientDescentOptimizer(rate).minimize(tf.square(weight), global_step=steps)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(10):
            session.run(train)
        assert session.run(steps) == 10
        assert session.run(rate) == pytest.approx(0.2)


def test_labels_get_a_gradient_only_in_the_second_version():
    logits, labels = tf.constant([[1.0, 2.0]]), tf.constant([[0.0, 1.0]])
    old = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    new = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    assert tf.gradients(old, [labels]) == [None]
    with tf.Session() as session:
        a, b, slope = session.run([old, new, tf.gradients(new, [labels])[0]])
    np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(slope, [[1.3132617, 0.3132617]], rtol=1e-5)


def test_batches_of_a_generator_may_end_small():
    def batches():
        for size in (4, 4, 1):
            yield np.zeros([size, 2], np.float32), np.zeros([size], np.uint8)

    shapes = tf.TensorShape([None, 2]), tf.TensorShape([None])
    item = tf.data.Dataset.from_generator(batches, (tf.float32, tf.uint8), shapes).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert [session.run(item)[0].shape[0] for _ in range(3)] == [4, 4, 1]
        with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
            session.run(item)


def test_training_goes_on_from_the_last_checkpoint(tmp_path):
    weight, step = tf.Variable(1.0), tf.Variable(0, trainable=False, name="global_step")
    train = tf.train.GradientDescentOptimizer(0.25).minimize(tf.square(weight), global_step=step)
    saver = tf.train.Saver()
    for expected in (2, 4):
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            state = tf.train.get_checkpoint_state(str(tmp_path))
            if state and state.model_checkpoint_path:
                saver.restore(session, state.model_checkpoint_path)
            session.run(train)
            session.run(train)
            saver.save(session, str(tmp_path / "model"), global_step=step)
            assert session.run([step, weight]) == [expected, 0.5**expected]
