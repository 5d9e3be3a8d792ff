"""Masks of random zeros and ones."""

import numpy as np
import pytest
from planning import random, same

import everflow as tf
from everflow.runtime.passes.random_masks import draw_masks


def drawn(shape, seed=7):
    return tf.raw_ops.RandomUniform(shape=shape, dtype=tf.float32, seed=seed, seed2=1)


def truths(numbers, least=0.3):
    return tf.cast(numbers >= least, tf.float32)


def test_random_numbers_that_are_only_compared_are_drawn_as_a_mask():
    x = tf.placeholder(tf.float32, [None, 3])
    y = x * truths(drawn(tf.shape(x)))
    assert "_RandomMask" in same([y], [x], draw_masks, random(40, 3))


def test_dropout_draws_the_numbers_of_its_seed(session):
    x = tf.placeholder(tf.float32, [None, 3])
    y, numbers = tf.nn.dropout(x, rate=0.4, seed=3), tf.random_uniform([50, 3], seed=3)
    kinds = [call.node.type for call in session._runner(y, {x: None}).step.calls]
    assert "_RandomMask" in kinds and "RandomUniform" not in kinds
    found, drawn = session.run([y, numbers], {x: np.ones([50, 3])})
    np.testing.assert_allclose(found, (drawn >= 0.4) / 0.6, rtol=1e-6)


@pytest.mark.parametrize(
    "results",
    [
        lambda u: [truths(u), u],
        lambda u: [tf.cast(u >= 0.3, tf.float32), u >= 0.3],
        lambda u: [truths(u, drawn(tf.zeros([0], tf.int32), 4))],
        lambda u: [tf.cast(u >= 0.3, tf.int32)],
        lambda u: [tf.cast(u > 0.3, tf.float32)],
    ],
)
def test_numbers_that_are_wanted_otherwise_are_drawn_themselves(results):
    u = drawn([4, 3])
    assert "_RandomMask" not in same(results(u), [], draw_masks)


def test_masks_go_on_where_they_left_off(session):
    mask, numbers = truths(drawn([6])), drawn([6])
    for _ in range(3):
        found, wanted = session.run([mask, numbers])
        assert found.tolist() == (wanted >= 0.3).tolist()
