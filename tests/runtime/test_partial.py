"""Partial runs: one step, whose feeds come and whose fetches go piece by piece."""

import pytest

import everflow as tf
from everflow import errors


@pytest.fixture
def graph():
    """Three placeholders, their sum in two steps, and a session."""
    with tf.Graph().as_default(), tf.Session() as session:
        a, b, c = (tf.placeholder(tf.float32, [], name=n) for n in "abc")
        first = tf.add(a, b, name="first")
        yield session, (a, b, c), (first, tf.multiply(first, c, name="second"))


def test_fetches_in_turn(graph):
    session, (a, b, c), (first, second) = graph
    for factor in (17, 18):
        handle = session.partial_run_setup([first, second], [a, b, c])
        assert session.partial_run(handle, first, {a: 1, b: 2}) == 3
        assert session.partial_run(handle, second, {c: factor}) == 3 * factor


def test_runs_at_the_same_time_do_not_mix(graph):
    session, (a, b, c), (first, second) = graph
    one, two = (session.partial_run_setup([first, second], [a, b, c]) for _ in range(2))
    assert session.partial_run(one, first, {a: 1, b: 2}) == 3
    assert session.partial_run(two, first, {a: 10, b: 20}) == 30
    assert session.partial_run(one, second, {c: 2}) == 6
    assert session.partial_run(two, second, {c: 2}) == 60


def test_each_node_runs_once(graph):
    session, (a, *_), _ = graph
    v = tf.Variable(0.0)
    session.run(v.initializer)
    added = v.assign_add(a)
    after = tf.identity(added) * 10
    handle = session.partial_run_setup([added.op, after], [a])
    assert session.partial_run(handle, added.op, {a: 1}) is None
    assert session.partial_run(handle, [after]) == [10]
    assert session.run(v) == 1


def test_feeds_alone(graph):
    session, (a, b, _), (first, _) = graph
    handle = session.partial_run_setup([first], [a, b])
    assert session.partial_run(handle, [], {a: 1}) == []
    assert session.partial_run(handle, {"sum": first}, {b: 5}) == {"sum": 6}


def test_what_was_not_announced_or_comes_twice(graph):
    session, (a, b, c), (first, second) = graph
    handle = session.partial_run_setup([first], [a, b])
    with pytest.raises(errors.InvalidArgumentError, match="The feed c:0 was not specified in partial_run_setup.$"):
        session.partial_run(handle, first, {a: 1, b: 2, c: 3})
    handle = session.partial_run_setup([first], [a, b, c])
    with pytest.raises(errors.InvalidArgumentError, match="The fetch second:0 was not specified in partial_run_setup.$"):
        session.partial_run(handle, second, {a: 1, b: 2, c: 3})
    handle = session.partial_run_setup([first, second], [a, b, c])
    session.partial_run(handle, first, {a: 1, b: 2})
    with pytest.raises(errors.InvalidArgumentError, match="The feed a:0 has already been fed.$"):
        session.partial_run(handle, second, {a: 1, c: 3})
    with pytest.raises(errors.InvalidArgumentError, match="The fetch first:0 has already been fetched.$"):
        session.partial_run(handle, first)


def test_what_is_missing(graph):
    session, (a, b, c), (first, second) = graph
    handle = session.partial_run_setup([second], [a, b, c])
    with pytest.raises(errors.InvalidArgumentError, match="Must provide the feed"):
        session.partial_run(handle, second, {a: 1, b: 2})
    handle = session.partial_run_setup([first], [])
    with pytest.raises(errors.InvalidArgumentError, match="You must feed a value for placeholder"):
        session.partial_run(handle, first)
    with pytest.raises(errors.InvalidArgumentError, match="Must specify at least one target to fetch or execute"):
        session.partial_run_setup([], [a])
    with pytest.raises(errors.InvalidArgumentError, match="Must run 'setup' before performing partial runs"):
        session.partial_run("unknown", first)
