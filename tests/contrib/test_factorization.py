import numpy as np
import pytest

import everflow as tf
from everflow.ops.core.registry import apply
from running import run

factorization = tf.contrib.factorization


def test_products_at_some_places_are_those_of_the_whole_product():
    random = np.random.RandomState(0)
    a, b = random.rand(3, 4).astype(np.float32), random.rand(5, 4).astype(np.float32)
    places = [[0, 0], [2, 4], [1, 3]]
    found = run(apply("MaskedMatmul", a, b, tf.constant(places, tf.int64), False, True))
    assert np.allclose(found, [(a @ b.T)[i, j] for i, j in places], atol=1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError, match="column index 5 is out of bounds"):
        run(apply("MaskedMatmul", a, b, tf.constant([[0, 5]], tf.int64), False, True))


def test_normal_equations_add_up_by_row():
    factors = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    left, right = run(
        apply(
            "WALSComputePartialLhsAndRhs",
            factors,
            tf.constant([0.5, 2.0]),
            0.1,
            tf.constant([1.0, 3.0]),
            tf.constant([[0, 0], [0, 1], [1, 1]], tf.int64),
            tf.constant([1.0, -1.0, 2.0]),
            tf.zeros([0]),
            tf.constant(2, tf.int64),
            False,
        )
    )
    f, g = factors
    assert np.allclose(left, [0.5 * np.outer(f, f) + 2 * np.outer(g, g), 6 * np.outer(g, g)])
    assert np.allclose(right, [0.6 * f - 2.1 * g, 2 * 6.1 * g], atol=1e-5)


def test_alternating_least_squares_finds_a_matrix_of_low_rank(session):
    random = np.random.RandomState(0)
    matrix = random.rand(6, 2) @ random.rand(2, 5)
    i, j = np.indices(matrix.shape).reshape(2, -1)
    entries = tf.SparseTensor(np.stack([i, j], 1), matrix.reshape(-1).astype(np.float32), matrix.shape)
    model = factorization.WALSModel(6, 5, 2, unobserved_weight=0, regularization=1e-4, row_weights=1, col_weights=1)
    rows, columns = model.update_row_factors(entries)[1], model.update_col_factors(entries)[1]
    session.run(model.initialize_op)
    session.run(model.worker_init)
    for _ in range(20):
        for step in (model.row_update_prep_gramian_op, model.initialize_row_update_op, rows):
            session.run(step)
        for step in (model.col_update_prep_gramian_op, model.initialize_col_update_op, columns):
            session.run(step)
    u, v = session.run([model.row_factors[0], model.col_factors[0]])
    assert np.allclose(u @ v.T, matrix, atol=0.02)


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_a_mixture_finds_two_clouds(session, kind):
    random = np.random.RandomState(0)
    clouds = np.concatenate([random.randn(100, 2) * 0.3, random.randn(50, 2) * 0.3 + 5]).astype(np.float32)
    _, scores, assignments, train, init, is_initialized = factorization.gmm(tf.constant(clouds), clouds[[0, 120]], 2, 0, kind)
    session.run(tf.global_variables_initializer())
    session.run(init)
    assert session.run(is_initialized)
    for _ in range(10):
        session.run(train)
    found = session.run(assignments[0][0])
    assert len(set(found[:100])) == len(set(found[100:])) == 1
    assert found[0] != found[-1]
    assert session.run(scores).shape == (150, 1)


def rounds_until_chosen(session, initial, size):
    """How many batches it takes to choose five centers."""
    points = tf.placeholder(tf.float32, [None, 2])
    graph = tf.contrib.factorization.KMeans(points, 5, initial, kmc2_chain_length=4).training_graph()
    session.run(tf.global_variables_initializer())
    rng = np.random.RandomState(0)
    for count in range(1, 10):
        session.run(graph[4], {points: rng.rand(size, 2)})
        if session.run(graph[3]):
            return count
    raise AssertionError("no centers")


def test_batches_that_are_too_small_do_for_random_centers_and_chains_but_not_at_once(session):
    assert rounds_until_chosen(session, "random", 3) == 2
    assert rounds_until_chosen(session, "kmc2", 3) == 5
    assert rounds_until_chosen(session, "kmc2", 8) == 3
    assert rounds_until_chosen(session, "kmeans_plus_plus", 8) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="x >= y"):
        rounds_until_chosen(session, "kmeans_plus_plus", 3)


MOVED = np.random.RandomState(3).rand(12, 2).astype(np.float32)


def moved_by_batches(session, steps_per_iteration, steps, **options):
    """What each variable of k-means is after each step on the same points, starting from the first two."""
    graph = tf.contrib.factorization.KMeans(
        tf.constant(MOVED), 2, MOVED[:2], use_mini_batch=True, mini_batch_steps_per_iteration=steps_per_iteration, **options
    ).training_graph()
    session.run(tf.global_variables_initializer())
    session.run(graph[4])
    found = []
    for _ in range(steps):
        session.run(graph[5])
        found.append({v.op.name: v.eval(session) for v in tf.global_variables()})
    return found


def test_batches_move_a_copy_of_the_centers_that_takes_over_after_some_steps(session):
    found = moved_by_batches(session, 2, 5)
    near = np.square(MOVED[:, None] - MOVED[None, :2]).sum(2).argmin(1)
    means = np.stack([MOVED[near == i].mean(0) for i in range(2)])
    counts = np.bincount(near)
    np.testing.assert_allclose(found[0]["clusters_updated"], means, rtol=1e-5)
    for state in found[:2]:
        np.testing.assert_array_equal(state["clusters"], MOVED[:2])
    np.testing.assert_allclose(found[2]["clusters"], means, rtol=1e-5)
    assert [state["update_in_steps"] for state in found] == [1, 0, 1, 0, 1]
    assert [state["Variable"].tolist() for state in found] == [(n * counts).tolist() for n in (1, 2, 1, 2, 1)]


def test_batches_that_move_the_centers_themselves_count_these_as_a_point(session):
    (found,) = moved_by_batches(session, 1, 1)
    # Measured with TensorFlow 1.15.5.
    np.testing.assert_allclose(found["clusters"], [[0.6677, 0.72586], [0.24451, 0.4229]], atol=1e-5)
    assert found["Variable"].tolist() == [4, 10]
    assert "clusters_updated" not in found


def test_centers_that_take_over_have_length_one_for_cosines(session):
    found = moved_by_batches(session, 2, 3, distance_metric="cosine")[-1]
    np.testing.assert_allclose(np.linalg.norm(found["clusters"], axis=1), 1, rtol=1e-6)
    assert (np.linalg.norm(found["clusters_updated"], axis=1) < 0.999).all()


def test_a_seed_draws_the_random_centers_of_tensorflow(session):
    inputs = [tf.constant(MOVED), tf.constant(MOVED + 1)]
    graph = tf.contrib.factorization.KMeans(inputs, 5, "random", random_seed=5).training_graph()
    session.run(tf.global_variables_initializer())
    session.run(graph[4])
    # Measured with TensorFlow 1.15.5: points are drawn one by one, and may come twice.
    expected = [[1.1255853, 1.2072428], [0.0239819, 0.5588541], [0.5507979, 0.7081478], [0.2592525, 0.4151012], [0.0239819, 0.5588541]]
    np.testing.assert_allclose(tf.global_variables()[0].eval(session), expected, rtol=1e-5)
