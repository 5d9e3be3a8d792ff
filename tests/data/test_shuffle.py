"""Shuffled datasets draw as TensorFlow draws."""

import everflow as tf


def test_a_single_round_is_no_repetition():
    """TensorFlow draws shuffle and repeat together, unless there is nothing to repeat."""
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(1)
        once = tf.data.Dataset.range(5).shuffle(5, seed=2).repeat(1).make_one_shot_iterator().get_next()
        twice = tf.data.Dataset.range(5).shuffle(5, seed=2).repeat(2).make_one_shot_iterator().get_next()
        assert [int(sess.run(once)) for _ in range(5)] == [2, 0, 1, 3, 4]
        assert [int(sess.run(twice)) for _ in range(5)] == [4, 0, 2, 1, 3]
