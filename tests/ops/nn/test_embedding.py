"""Embedding lookups."""

import numpy as np
import pytest

import everflow as tf
from running import run

TABLE = np.arange(20.0).reshape(5, 4)


@pytest.mark.parametrize("ids", [[0, 4, 4], [[1, 2], [3, 0]], np.array([2], np.int64)])
def test_one_table_is_gathered_from(ids):
    np.testing.assert_array_equal(run(tf.nn.embedding_lookup(TABLE, ids)), TABLE[np.asarray(ids)])


@pytest.mark.parametrize("strategy", ["mod", "div"])
@pytest.mark.parametrize("known", [True, False])
def test_shards_are_found_by_either_strategy(strategy, known):
    shards = [TABLE[i::2] for i in range(2)] if strategy == "mod" else [TABLE[:3], TABLE[3:]]

    def build():
        parts = [tf.constant(s) if known else tf.placeholder_with_default(s, [None, 4]) for s in shards]
        return tf.nn.embedding_lookup(parts, [[0, 1], [4, 3], [2, 2]], partition_strategy=strategy)

    np.testing.assert_array_equal(run(build()), TABLE[[[0, 1], [4, 3], [2, 2]]])


def test_rows_are_clipped_to_a_norm():
    found = run(tf.nn.embedding_lookup(TABLE, [0, 3], max_norm=6.0))
    np.testing.assert_allclose(found[0], TABLE[0])
    assert np.linalg.norm(found[1]) == pytest.approx(6.0)


def test_gradients_are_rows():
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.constant(TABLE)
        slices = tf.gradients(tf.nn.embedding_lookup(table, [1, 1, 3]), table)[0]
        assert isinstance(slices, tf.IndexedSlices)
        assert session.run(tf.convert_to_tensor(slices)).tolist() == [[0.0] * 4, [2.0] * 4, [0.0] * 4, [1.0] * 4, [0.0] * 4]


def sparse():
    return tf.SparseTensor([[0, 0], [0, 1], [2, 0]], np.array([1, 3, 4], np.int64), [3, 2])


@pytest.mark.parametrize(("combiner", "scale"), [("sum", 1), ("mean", 1 / 2), ("sqrtn", 1 / np.sqrt(2))])
def test_sparse_ids_are_combined(combiner, scale):
    found = run(tf.nn.embedding_lookup_sparse(TABLE, sparse(), None, combiner=combiner))
    np.testing.assert_allclose(found, [(TABLE[1] + TABLE[3]) * scale, np.zeros(4), TABLE[4]])


@pytest.mark.parametrize(("combiner", "divisor"), [("sum", 1), ("mean", 6), ("sqrtn", np.sqrt(20))])
def test_sparse_weights_scale_rows(combiner, divisor):
    def build():
        weights = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], np.array([2.0, 4.0, 3.0]), [3, 2])
        return tf.nn.embedding_lookup_sparse(TABLE, sparse(), weights, combiner=combiner)

    np.testing.assert_allclose(run(build())[0], (2 * TABLE[1] + 4 * TABLE[3]) / divisor)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((None, [1]), ValueError, "params must be specified"),
        (([], [1]), ValueError, "Need at least one param"),
        (([TABLE, TABLE], [1], "other"), ValueError, "Unrecognized partition strategy: other"),
    ],
)
def test_mistakes_are_found_when_the_graph_is_built(arguments, error, message):
    with tf.Graph().as_default(), pytest.raises(error, match=message):
        tf.nn.embedding_lookup(*arguments)
