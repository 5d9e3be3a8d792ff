"""tf.contrib.nearest_neighbor: the buckets where neighbours may lie, in order."""

import itertools

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.nearest_neighbor import hyperplane_lsh_probes
from running import run

PRODUCTS = np.random.RandomState(0).randn(5, 12).astype(np.float32)


def by_hand(products, tables, planes):
    """All buckets of a point: its own in each table, then the others by the squared distances that are crossed."""
    own, others = [], []
    for table, distances in enumerate(np.asarray(products, np.float64).reshape(tables, planes)):
        sides = distances >= 0
        for crossed in itertools.product([False, True], repeat=planes):
            bucket = int("".join(str(int(side != cross)) for side, cross in zip(sides, crossed)), 2)
            if any(crossed):
                others.append((np.square(distances)[list(crossed)].sum(), bucket, table))
            else:
                own.append((bucket, table))
    return own + [(bucket, table) for _, bucket, table in sorted(others)]


@pytest.mark.parametrize(("tables", "planes", "probes"), [(3, 4, 2), (3, 4, 3), (3, 4, 20), (2, 6, 128), (12, 1, 24), (1, 12, 500)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_buckets_come_in_the_order_of_their_distance(tables, planes, probes, dtype):
    buckets, places = run(list(hyperplane_lsh_probes(PRODUCTS.astype(dtype), tables, planes, probes)))
    assert buckets.dtype == places.dtype == np.int32 and buckets.shape == (5, probes)
    for products, found in zip(PRODUCTS, np.stack([buckets, places], -1)):
        assert [tuple(row) for row in found] == by_hand(products, tables, planes)[:probes]


def test_no_points_have_no_buckets():
    buckets, places = run(list(hyperplane_lsh_probes(np.zeros([0, 4]), 2, 2, 100)))
    assert buckets.shape == places.shape == (0, 100)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((PRODUCTS[0], 3, 4, 7), "Need a two-dimensional products tensor, got 1 dimensions"),
        ((PRODUCTS, [3], 4, 7), "Need a scalar num_tables tensor, got 1 dimensions"),
        ((PRODUCTS, 0, 4, 7), "num_tables must be at least 1 but got 0"),
        ((PRODUCTS, 1001, 4, 7), "Need num_tables <= 1000, got 1001"),
        ((PRODUCTS, 3, 0, 7), "num_hyperplanes_per_table must be at least 1 but got 0"),
        ((PRODUCTS, 3, 31, 7), "Need num_hyperplanes_per_table <= 30, got 31"),
        ((PRODUCTS, 3, 4, 0), "num_probes must be at least 1"),
        ((PRODUCTS, 3, 5, 7), "Expected number of hyperplanes is 15 but received 12 inner products per point"),
    ],
)
def test_sizes_must_fit(arguments, error):
    with pytest.raises(tf.errors.InvalidArgumentError, match=error):
        run(list(hyperplane_lsh_probes(*arguments)))


def test_there_are_only_so_many_buckets():
    with pytest.raises(tf.errors.InternalError, match="Failed to get probe number 24 for point number 0"):
        run(list(hyperplane_lsh_probes(PRODUCTS, 6, 2, 25)))
