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


# Which of 200 points TensorFlow 1.15.5 starts from, by seed and retries.
STARTS = {
    (0, 0): [29, 132, 3, 157],
    (1, 2): [48, 131, 27, 80],
    (3, -1): [145, 178, 17, 192],
    (7, 2): [3, 189, 106, 13],
    (12345678901, 0): [36, 152, 33, 106],
}


@pytest.mark.parametrize(("seed", "retries"), STARTS)
def test_a_seed_gives_the_starting_centers_of_tensorflow(seed, retries):
    points = np.random.RandomState(3).rand(200, 3).astype(np.float32)
    found = run(tf.raw_ops.KmeansPlusPlusInitialization(points=points, num_to_sample=4, seed=seed, num_retries_per_sample=retries))
    np.testing.assert_array_equal(found, points[STARTS[seed, retries]])


def test_a_seed_gives_the_chain_of_tensorflow():
    distances = np.random.RandomState(5).rand(50).astype(np.float32)
    found = [run(tf.raw_ops.KMC2ChainInitialization(distances=distances, seed=seed)) for seed in range(8)]
    assert found == [46, 48, 48, 49, 49, 49, 49, 46]


def test_equal_points_give_centers_too():
    found = run(
        tf.raw_ops.KmeansPlusPlusInitialization(points=np.ones([4, 2], np.float32), num_to_sample=3, seed=1, num_retries_per_sample=1)
    )
    np.testing.assert_array_equal(found, np.ones([3, 2]))
