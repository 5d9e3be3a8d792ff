"""The orders in which shuffled datasets give their elements; values are those of TensorFlow 1.15.5."""

import itertools

import pytest

import everflow as tf

D = tf.data.Dataset
SOURCES = {"table": lambda n: D.range(n), "stream": lambda n: D.range(n).filter(lambda x: x > -1)}


ORDERS = [
    [0, 9, 5, 1, 2, 7, 3, 8, 6, 4],
    [1, 3, 0, 5, 2, 6, 7, 8, 9, 4],
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    [3, 1, 2, 0, 1, 2, 3, 0, 2, 1, 3, 0],
    [1, 0, 2, 3, 1, 0, 2, 3, 1, 0, 2, 3],
    [1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1],
    [3, 2, 1, 0, 1, 4, 0, 2, 3, 4],
    [[1, 4, 5, 6], [2, 7, 8, 0], [3]],
    [0, 2, 1, 2, 1, 0, 2, 1, 0, 0, 1, 2],
]
OF_GRAPH = [[4, 2, 3, 5, 0, 1], [5, 3, 1, 4, 2, 0]]
ENDLESS = [1, 2, 0, 0, 2, 1, 0, 1, 2, 1, 0]


def everything(dataset, most=100):
    """The elements of a dataset, as plain numbers and lists."""
    following = dataset.make_one_shot_iterator().get_next()
    found = []
    with tf.Session() as session:
        for _ in itertools.repeat(None, most):
            try:
                found.append(session.run(following).tolist())
            except tf.errors.OutOfRangeError:
                break
    return found


@pytest.mark.parametrize("source", sorted(SOURCES))
@pytest.mark.parametrize("place", range(9))
def test_seeds_decide_the_order(source, place):
    data = SOURCES[source]
    make = [
        lambda: data(10).shuffle(10, seed=1),
        lambda: data(10).shuffle(3, seed=1),
        lambda: data(10).shuffle(1, seed=1),
        lambda: data(4).shuffle(100, seed=2).repeat(3),
        lambda: data(4).shuffle(2, seed=2, reshuffle_each_iteration=False).repeat(3),
        lambda: data(2).shuffle(20, seed=3).repeat(6),
        lambda: data(5).repeat(2).shuffle(4, seed=4),
        lambda: data(9).shuffle(4, seed=5).batch(4),
        lambda: data(3).apply(tf.data.experimental.shuffle_and_repeat(5, 4, seed=6)),
    ][place]
    assert everything(make()) == ORDERS[place]


def test_seeds_of_the_graph_and_of_the_op():
    tf.set_random_seed(7)
    assert everything(D.range(6).shuffle(6)) == OF_GRAPH[0]
    tf.reset_default_graph()
    tf.set_random_seed(7)
    assert everything(D.range(6).shuffle(6, seed=1)) == OF_GRAPH[1]


@pytest.mark.parametrize("source", sorted(SOURCES))
def test_shuffling_without_end(source):
    assert everything(SOURCES[source](3).shuffle(2, seed=3).repeat(), 11) == ENDLESS
    assert everything(SOURCES[source](0).shuffle(2, seed=3).repeat(), 3) == []
    assert everything(SOURCES[source](0).apply(tf.data.experimental.shuffle_and_repeat(5, seed=6)), 3) == []


@pytest.mark.parametrize("source", sorted(SOURCES))
@pytest.mark.parametrize("buffer", [2, 8])
@pytest.mark.parametrize("before", [1, 5, 11])
def test_an_iterator_is_saved_in_the_middle(tmp_path, source, buffer, before):
    def made():
        return SOURCES[source](6).shuffle(buffer, seed=3).repeat(2)

    whole = everything(made())
    tf.reset_default_graph()
    iterator = made().make_initializable_iterator()
    following = iterator.get_next()
    saver = tf.train.Saver({"i": tf.data.experimental.make_saveable_from_iterator(iterator)})
    path = str(tmp_path / "model")
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert [int(session.run(following)) for _ in range(before)] == whole[:before]
        saver.save(session, path)
    with tf.Session() as session:
        session.run(iterator.initializer)
        saver.restore(session, path)
        assert [int(session.run(following)) for _ in range(12 - before)] == whole[before:]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(following)


def test_how_many_elements_a_shuffled_dataset_has():
    count = tf.data.experimental.cardinality
    found = [
        count(D.range(5).shuffle(3)),
        count(D.range(5).shuffle(3).repeat(2)),
        count(D.range(5).shuffle(3).repeat()),
        count(D.range(0).shuffle(3).repeat()),
        count(D.range(5).apply(tf.data.experimental.shuffle_and_repeat(3, 4))),
        count(D.range(5).apply(tf.data.experimental.shuffle_and_repeat(3))),
        count(D.range(5).filter(lambda x: x > 2).shuffle(3)),
    ]
    with tf.Session() as session:
        assert session.run(found) == [5, 10, -1, 0, 20, -1, -2]


def refused(dataset):
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(dataset.make_initializable_iterator().initializer)
    return str(caught.value)


def test_buffers_and_counts_are_checked():
    assert "buffer_size must be greater than zero." in refused(
        D.range(5).shuffle(tf.placeholder_with_default(tf.constant(0, tf.int64), []))
    )
    assert "buffer_size must be greater than zero." in refused(D.range(5).apply(tf.data.experimental.shuffle_and_repeat(-1)))
    assert "count must be greater than zero or equal to -1." in refused(D.range(5).apply(tf.data.experimental.shuffle_and_repeat(2, 0)))


@pytest.mark.parametrize("again", [True, False])
def test_an_iterator_that_starts_over_gives_the_same_order(again):
    iterator = D.range(20).shuffle(20, seed=9, reshuffle_each_iteration=again).make_initializable_iterator()
    following = iterator.get_next()
    with tf.Session() as session:
        passes = []
        for _ in range(2):
            session.run(iterator.initializer)
            passes.append([int(session.run(following)) for _ in range(20)])
    assert passes[0] == passes[1]
    assert passes[0] != sorted(passes[0])
