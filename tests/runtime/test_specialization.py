"""Steps for shapes and truths that are fed again and again."""

import numpy as np
import pytest

import everflow as tf
from everflow.runtime import specialization


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(specialization, "RUNS", 3)


def made(session, fetches, feeds):
    """The steps that were made for certain arguments."""
    special = session._runner(fetches, feeds).step.special
    return [] if special is None else special.steps()


def test_sizes_that_come_again_are_constants(session):
    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.reduce_sum(tf.reshape(x, [tf.shape(x)[0] * 2, 2]), 1) / tf.cast(tf.size(x), tf.float32)
    feeds = {x: np.arange(12, dtype=np.float32).reshape(3, 4)}
    found = [session.run(y, feeds) for _ in range(5)]
    for values in found:
        np.testing.assert_allclose(values, np.array([1, 5, 9, 13, 17, 21]) / 12, rtol=1e-6)
    (step,) = made(session, y, feeds)
    assert len(step.calls) < len(session._runner(y, feeds).step.calls)
    assert not any("Shape" in call.node.type or call.node.type == "Size" for call in step.calls)


def test_other_shapes_are_served_meanwhile(session):
    x = tf.placeholder(tf.float32, [None])
    y = x / tf.cast(tf.size(x), tf.float32)
    for size in (4, 4, 4, 4, 3, 4, 2, 4):
        np.testing.assert_allclose(session.run(y, {x: np.ones(size)}), np.full(size, 1 / size), rtol=1e-6)
    assert len(made(session, y, {x: None})) == 1


def test_what_is_fetched_is_the_programs_own(session):
    x = tf.placeholder(tf.float32, [None, 2])
    fetches = [tf.shape(x), tf.reshape(x * 1.0, tf.shape(x)), tf.size(x), tf.shape(x)]
    for _ in range(6):
        found = session.run(fetches, {x: np.ones((3, 2))})
        assert found[0].tolist() == found[3].tolist() == [3, 2] and found[1].tolist() == [[1, 1]] * 3 and found[2] == 6
        for value in (found[0], found[1], found[3]):
            value[:] = 7
    assert made(session, fetches, {x: None})


def test_only_some_shapes_have_steps_of_their_own(session, monkeypatch):
    monkeypatch.setattr(specialization, "MOST_STEPS", 2)
    x = tf.placeholder(tf.float32, [None])
    y = tf.size(x) * 2
    for size in (1, 2, 3) * 5:
        assert session.run(y, {x: np.ones(size)}) == 2 * size
    assert len(made(session, y, {x: None})) == 2


def test_shapes_that_change_all_the_time_are_watched_no_longer(session, monkeypatch):
    monkeypatch.setattr(specialization, "MOST_SHAPES", 5)
    x = tf.placeholder(tf.float32, [None])
    y = tf.size(x) * 2
    for size in range(8):
        assert session.run(y, {x: np.ones(size)}) == 2 * size
    assert session._runner(y, {x: None}).step.special is None


def test_known_shapes_are_not_watched(session):
    x = tf.placeholder(tf.float32, [2, 2])
    assert session._runner(x @ x, {x: None}).step.special is None


def test_of_a_fed_truth_only_the_branch_is_there(session):
    training = tf.placeholder_with_default(False, [])
    x = tf.placeholder(tf.float32, [None, 2])
    count = tf.get_variable("count", initializer=0.0, use_resource=True)

    def train():
        with tf.control_dependencies([count.assign_add(1.0)]):
            return tf.cond(tf.shape(x)[0] > 1, lambda: x * 2.0, lambda: x * 3.0)

    y = tf.cond(training, train, lambda: x - 1.0)
    slope = tf.gradients(y, x)[0]
    session.run(tf.global_variables_initializer())
    for truth in [True, False] * 5:
        value, gradient = session.run([y, slope], {training: truth, x: [[1.0, 5.0], [2.0, 6.0]]})
        assert value.tolist() == ([[2, 10], [4, 12]] if truth else [[0, 4], [1, 5]])
        assert (gradient == (2 if truth else 1)).all()
    assert session.run(count) == 5
    of_truth, of_lie = made(session, [y, slope], {training: None, x: None})
    # The inner one is left: of shapes, it is not known when branches are taken.
    assert sum(call.node.type in ("If", "StatelessIf") for call in of_truth.calls) == 2
    assert not any(call.node.type in ("If", "StatelessIf") for call in of_lie.calls)


def test_random_numbers_go_on(monkeypatch):
    def numbers(runs):
        monkeypatch.setattr(specialization, "RUNS", runs)
        with tf.Graph().as_default(), tf.Session() as session:
            tf.set_random_seed(1)
            x, training = tf.placeholder(tf.float32, [None, 8]), tf.placeholder(tf.bool, [])
            y = tf.cond(training, lambda: tf.nn.dropout(x, rate=0.5), lambda: x)
            return [session.run(y, {x: np.ones((2, 8)), training: True}) for _ in range(8)], made(session, y, {x: None, training: None})

    (plain, none), (special, steps) = numbers(100), numbers(3)
    assert not none and len(steps) == 1
    np.testing.assert_array_equal(plain, special)


def test_failures_name_the_op(session):
    x, i = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [])
    y = tf.gather(x, i, name="taken") / tf.cast(tf.size(x), tf.float32)
    for _ in range(5):
        assert session.run(y, {x: [2.0, 4.0], i: 1}) == 2
    assert made(session, y, {x: None, i: None})
    with pytest.raises(tf.errors.InvalidArgumentError, match="taken"):
        session.run(y, {x: [2.0, 4.0], i: 7})


@pytest.mark.parametrize(
    ("function", "fed", "dims"),
    [
        (lambda x: tf.argmax(x, 1), (3, 4, 5), (3, 5)),
        (lambda x: tf.argmin(x, -2), (3, 4, 5), (3, 5)),
        (lambda x: tf.squeeze(x, [-2]), (3, 1, 5), (3, 5)),
        (lambda x: tf.squeeze(x, [0]), (1, 4, 5), (4, 5)),
        (tf.squeeze, (3, 1, 5), (3, 5)),
        (lambda x: tf.expand_dims(x, 1), (3, 4), (3, 1, 4)),
        (lambda x: tf.expand_dims(x, -1), (3, 4), (3, 4, 1)),
        (lambda x: tf.reshape(x, [-1, 10]), (3, 4, 5), (6, 10)),
        (lambda x: tf.equal(x, tf.reduce_sum(x, 1, keepdims=True)), (3, 4), (3, 4)),
    ],
)
def test_what_follows_from_the_sizes_of_a_feed_is_known(session, function, fed, dims):
    x = tf.placeholder(tf.float32, [None] * len(fed))
    shape = tf.shape(function(x))
    assert all(tuple(session.run(shape, {x: np.ones(fed)})) == dims for _ in range(5))
    (step,) = made(session, shape, {x: None})
    assert not step.calls
