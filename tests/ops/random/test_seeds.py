"""Seeds: which pair of seeds a random op is given."""

import pytest

import everflow as tf
from everflow.ops.core.registry import apply


@pytest.mark.parametrize(
    "graph_seed, op_seed, expected",
    [
        (None, None, (None, None)),
        (None, 1, (87654321, 1)),
        (1, 1, (1, 1)),
        (0, 0, (0, 2**31 - 1)),
        (2**31 - 1, 0, (0, 2**31 - 1)),
        (2**31, 2**31, (1, 1)),
        (-1, -1, (2**31 - 2, 2**31 - 2)),
    ],
)
def test_seeds_of_graph_and_op(graph_seed, op_seed, expected):
    with tf.Graph().as_default():
        tf.set_random_seed(graph_seed)
        assert tf.get_seed(op_seed) == expected


def test_without_an_op_seed_the_number_of_ops_so_far_is_taken():
    with tf.Graph().as_default():
        tf.set_random_seed(5)
        assert tf.get_seed(None) == (5, 0)
        tf.constant(1)
        tf.constant(2)
        assert tf.get_seed(None) == (5, 2)


def test_poisson_numbers_of_older_graphs_are_todays(session):
    older = apply("RandomPoisson", [5], [0.5, 20.0], seed=1, seed2=2)
    assert older.shape == (5, 2) and session.run(older).tolist() == [[0, 22], [1, 24], [0, 14], [0, 21], [0, 22]]
