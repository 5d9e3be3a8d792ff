"""Ops for k-means."""

import numpy as np
import pytest

import everflow as tf
from running import run

POINTS = np.array([[0, 0], [0.1, 0], [10, 10], [10, 10.1], [-20, 5]], np.float32)


def test_nearest_centers_come_first():
    indices, distances = run(tf.raw_ops.NearestNeighbors(points=POINTS[:2], centers=POINTS[2:], k=2))
    assert indices.tolist() == [[0, 1], [0, 1]]
    np.testing.assert_allclose(distances[0], [200, 202.01], rtol=1e-5)


def test_starting_centers_lie_far_apart():
    for seed in range(1, 6):
        found = run(tf.raw_ops.KmeansPlusPlusInitialization(points=POINTS, num_to_sample=3, seed=seed, num_retries_per_sample=3))
        assert sorted(found[:, 0].round(-1).tolist()) == [-20, 0, 10]
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot be larger than number of points: 5"):
        run(tf.raw_ops.KmeansPlusPlusInitialization(points=POINTS, num_to_sample=6, seed=1, num_retries_per_sample=0))


def test_a_chain_prefers_what_is_far():
    assert run(tf.raw_ops.KMC2ChainInitialization(distances=[0.0, 0.0, 7.0, 0.0], seed=3)) == 2
