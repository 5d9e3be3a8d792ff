"""tf.contrib.opt: optimizers around others, averages of workers, external optimizers, Shampoo, GGT; worked out by hand or with numpy."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.opt import matrix_functions, sign_decays
from running import run

opt = tf.contrib.opt


def variable(value, name="w", resource=False):
    return tf.get_variable(name, initializer=np.asarray(value, np.float32), use_resource=resource)


def steps(train, fetches, count=1, hooks=()):
    """What is fetched after each step of a monitored session."""
    with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(), hooks=hooks) as session:
        found = []
        for _ in range(count):
            session.run(train)
            found.append(session.run(fetches))
        return found


@pytest.mark.parametrize("resource", [False, True])
def test_clipped_variables_stay_within_their_norm(resource):
    w = variable([[0.0, 1.0], [2.0, 3.0]], resource=resource)
    train = opt.VariableClippingOptimizer(tf.train.GradientDescentOptimizer(3.0), {w: [1]}, 2.0).apply_gradients(
        [(tf.fill([2, 2], 0.1), w)]
    )
    found = steps(train, w)[0]
    np.testing.assert_allclose(found[0], [-0.3, 0.7], rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(found[1]), 2.0, rtol=1e-5)


@pytest.mark.parametrize("resource", [False, True])
def test_only_rows_with_a_gradient_are_clipped(resource):
    w = variable([[3.0, 4.0], [30.0, 40.0]], resource=resource)
    rows = tf.IndexedSlices(tf.zeros([1, 2]), tf.constant([0]), tf.constant([2, 2]))
    train = opt.VariableClippingOptimizer(tf.train.GradientDescentOptimizer(1.0), {w: [1]}, 1.0).apply_gradients([(rows, w)])
    np.testing.assert_allclose(steps(train, w)[0], [[0.6, 0.8], [30, 40]], rtol=1e-5)


@pytest.mark.parametrize(("staleness", "expected"), [(0, (0.0, 1, 0.0)), (-1, (1.0, 0, 1.0))])
def test_stale_gradients_are_counted_and_dropped(staleness, expected):
    step, w = tf.train.get_or_create_global_step(), variable(1.0)
    stale = opt.DropStaleGradientOptimizer(tf.train.GradientDescentOptimizer(1.0), staleness)
    train = stale.apply_gradients(stale.compute_gradients(w * 1.0), step)
    with tf.variable_scope("", reuse=True):
        count = tf.get_variable("stale_counter", [])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert tuple(session.run([w, step, count])) == expected


def test_variables_whose_gradient_is_zero_keep_their_slots():
    w, b = variable([1.0]), variable([1.0], "b")
    inner = tf.train.MomentumOptimizer(1.0, 0.5)
    wrapped = opt.MultitaskOptimizerWrapper(inner)
    gradients = tf.placeholder(tf.float32, [2])
    train = wrapped.apply_gradients([(gradients[:1], w), (gradients[1:], b)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train, {gradients: [1.0, 1.0]})
        session.run(train, {gradients: [0.0, 1.0]})
        assert session.run([wrapped.get_slot(w, "momentum"), wrapped.get_slot(b, "momentum")]) == [[1.0], [1.5]]
        assert session.run([w, b]) == [[0.0], [-1.5]]
    with pytest.raises(TypeError, match=r"must be an instance of tf\.train\.Optimizer"):
        opt.MultitaskOptimizerWrapper(3)


def test_gradients_are_clipped_by_their_norm_and_none_stays():
    pairs, norm = opt.clip_gradients_by_global_norm([(tf.constant([3.0]), "a"), (tf.constant([4.0]), "b"), (None, "c")], clip_norm=1.0)
    assert run(norm) == 5
    np.testing.assert_allclose([run(g) for g, _ in pairs[:2]], [[0.6], [0.8]], rtol=1e-6)
    assert pairs[2] == (None, "c")


def test_savers_of_moving_averages_swap(tmp_path):
    w = variable([1.0, 2.0])
    averaging = opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(2.0), average_decay=0.5)
    with pytest.raises(RuntimeError, match="before creating the swapping_saver"):
        averaging.swapping_saver()
    train = averaging.minimize(tf.reduce_sum(0.1 * w))
    with pytest.raises(ValueError, match="Variable to swap"):
        averaging.swapping_saver(var_list=[w])
    swapping, plain = averaging.swapping_saver(), tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        path = swapping.save(session, str(tmp_path / "m"))
        np.testing.assert_allclose(session.run(w), [0.8, 1.8], rtol=1e-6)
        plain.restore(session, path)
        np.testing.assert_allclose(session.run(w), [0.9, 1.9], rtol=1e-6)
        swapping.restore(session, path)
        np.testing.assert_allclose(session.run(w), [0.8, 1.8], rtol=1e-6)


def test_workers_of_elastic_averages_and_the_centre_draw_near_each_other(tmp_path):
    # Measured on 1.15.5.
    getter, step = opt.ElasticAverageCustomGetter("/cpu:0"), tf.train.get_or_create_global_step()
    with tf.variable_scope("", custom_getter=getter):
        v = tf.get_variable("v", initializer=1.0)
    elastic = opt.ElasticAverageOptimizer(tf.train.GradientDescentOptimizer(1.0), 2, getter, communication_period=3)
    train = elastic.apply_gradients(elastic.compute_gradients(v * 2.0), step)
    saver, hook = elastic.swapping_saver(), elastic.make_session_run_hook(True, 0)
    centre = tf.get_default_graph().get_tensor_by_name("global_center_variable/v:0")
    found = steps(train, [v, centre, step], 6, [hook])
    np.testing.assert_allclose(found[:3], [[-1, 1, 0], [-2.7, 1, 0], [-3.37325, 0.22825, 1]], rtol=1e-5)
    np.testing.assert_allclose(found[5], [-5.771876, -0.8305959, 2], rtol=1e-5)
    assert [v.name for v in tf.local_variables()] == ["v:0", "local_center_variable/v:0", "local_step:0"]
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        path = saver.save(session, str(tmp_path / "m"))
    assert [name for name, _ in tf.train.list_variables(path)] == ["v"]


def test_means_of_a_workers_gradients_change_what_all_share():
    # Measured on 1.15.5.
    getter, step = opt.AGNCustomGetter("/cpu:0"), tf.train.get_or_create_global_step()
    with tf.variable_scope("", custom_getter=getter):
        v = tf.get_variable("v", initializer=0.0)
    agn = opt.AGNOptimizer(tf.train.MomentumOptimizer(1.0, 0.5), 3, getter, communication_period=2)
    train = agn.apply_gradients([(tf.constant(-1.0), v)], step)
    shared = tf.get_default_graph().get_tensor_by_name("global_center_variable/v:0")
    found = steps(train, [v, shared, step], 5, [agn.make_session_run_hook(True, 0)])
    np.testing.assert_allclose(found, [[1, 0, 0], [1, 1, 1], [2.75, 1, 1], [2.5, 2.5, 2], [4.4375, 2.5, 2]])
    assert {v.name for v in tf.global_variables()} == {"global_step:0", "global_center_variable/v:0", "global_center_variable/v/Momentum:0"}


def test_models_are_averaged_every_so_many_steps():
    getter, step = opt.ModelAverageCustomGetter("/cpu:0"), tf.train.get_or_create_global_step()
    with tf.variable_scope("", custom_getter=getter):
        v = tf.get_variable("v", initializer=1.0)
    average = opt.ModelAverageOptimizer(tf.train.GradientDescentOptimizer(1.0), 1, True, getter, interval_steps=2)
    train = average.apply_gradients(average.compute_gradients(v * 2.0), step)
    shared = tf.get_default_graph().get_tensor_by_name("global_center_variable/v:0")
    found = steps(train, [v, shared, step], 4, [average.make_session_run_hook()])
    np.testing.assert_allclose(found, [[-1, 1, 0], [-3, -3, 1], [-5, -3, 1], [-7, -7, 2]])
    with pytest.raises(ValueError, match="Must supply at least one variable"):
        average.apply_gradients([])
    with pytest.raises(ValueError, match="Global step is required"):
        average.apply_gradients([(tf.constant(1.0), v)])


def test_scipy_finds_minima_within_constraints_and_bounds():
    w = variable([7.0, 7.0])
    loss = tf.reduce_sum(tf.square(w))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = []
        opt.ScipyOptimizerInterface(loss).minimize(session, fetches=[loss], loss_callback=seen.append)
        np.testing.assert_allclose(session.run(w), [0, 0], atol=1e-5)
        assert seen[0] == 98
        session.run(tf.global_variables_initializer())
        opt.ScipyOptimizerInterface(loss, equalities=[w[0] - 3.0], inequalities=[w[1] - 1.0], method="SLSQP").minimize(session)
        np.testing.assert_allclose(session.run(w), [3, 1], atol=1e-4)
        session.run(tf.global_variables_initializer())
        opt.ScipyOptimizerInterface(loss, var_to_bounds={w: ([1.0, -np.inf], [np.inf, -2.0])}).minimize(session)
        np.testing.assert_allclose(session.run(w), [1, -2], atol=1e-5)
        session.run(tf.global_variables_initializer())
        opt.ScipyOptimizerInterface(tf.reduce_sum(w**4), method="TNC", options={"maxiter": 2}).minimize(session)
        assert session.run(w)[0] > 1
    with pytest.raises(NotImplementedError, match="implement the _minimize"), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        opt.ExternalOptimizerInterface(loss).minimize(session)


def power(matrix, exponent):
    u, d, v = np.linalg.svd(matrix)
    return u @ np.diag(d**exponent) @ v


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("iterative", [False, True])
def test_shampoo_evens_out_both_sides_of_a_matrix(resource, iterative):
    step, w = tf.train.get_or_create_global_step(), variable(np.zeros((4, 3)), resource=resource)
    g = np.random.RandomState(0).rand(4, 3)
    train = opt.ShampooOptimizer(step, use_iterative_root=iterative).apply_gradients([(tf.constant(g, tf.float32), w)], step)
    left, right = power(g @ g.T / 4 + 1e-4 * np.eye(4), -0.25), power(g.T @ g / 3 + 1e-4 * np.eye(3), -0.25)
    np.testing.assert_allclose(steps(train, w)[0], -left @ g @ right, rtol=1e-2, atol=1e-3)


def test_shampoo_knows_but_the_diagonal_of_large_dimensions():
    step, w = tf.train.get_or_create_global_step(), variable(np.zeros((6, 2)))
    g = np.random.RandomState(0).rand(6, 2)
    train = opt.ShampooOptimizer(step, max_matrix_size=3).apply_gradients([(tf.constant(g, tf.float32), w)], step)
    left = ((g * g).sum(1, keepdims=True) / 6) ** -0.25
    np.testing.assert_allclose(steps(train, w)[0], -(left * g) @ power(g.T @ g / 2 + 1e-4 * np.eye(2), -0.25), rtol=1e-3)


def test_ggt_takes_the_step_of_its_window():
    w = variable([1.0, 2.0])
    g = np.array([0.1, 0.3])
    train = opt.GGTOptimizer(0.1, window=2).apply_gradients([(tf.constant(g, tf.float32), w)])
    m = 0.1 * g
    columns = np.stack([m, np.zeros(2)], axis=1)
    u, sigma, _ = np.linalg.svd(columns.T @ columns + 1e-6 * np.eye(2))
    change = columns @ u @ np.diag((np.sqrt(sigma) + 0.01) ** -3.0) @ u.T @ columns.T @ m
    rest = (m - columns @ u @ np.diag(1 / sigma) @ u.T @ columns.T @ m) / np.sqrt(sigma).min()
    np.testing.assert_allclose(steps(train, w)[0], [1.0, 2.0] - 0.1 * (change + rest), rtol=1e-4)


def test_roots_of_matrices():
    a = np.random.RandomState(0).rand(5, 5)
    a = a @ a.T + 0.1 * np.eye(5)
    np.testing.assert_allclose(run(matrix_functions.matrix_square_root(a, 5, ridge_epsilon=0.0)), power(a, 0.5), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(run(matrix_functions.matrix_inverse_pth_root(a, 5, -0.25)), power(a, -0.25), rtol=1e-3, atol=1e-4)
    with pytest.raises(ValueError, match="whole number"):
        matrix_functions.matrix_inverse_pth_root(a, 5, -0.3)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("resource", [False, True])
def test_adam_by_the_global_step_corrects_as_adam_does(lazy, resource):
    step, w, b = tf.train.get_or_create_global_step(), variable([1.0, 2.0], resource=resource), variable([1.0, 2.0], "b")
    kind = opt.LazyAdamGSOptimizer if lazy else opt.AdamGSOptimizer
    train = kind(global_step=step, learning_rate=0.1).apply_gradients([(tf.constant([0.1, -2.0]), w)], global_step=step)
    plain = tf.train.AdamOptimizer(0.1).apply_gradients([(tf.constant([0.1, -2.0]), b)])
    found = steps([train, plain], [w, b], 3)[-1]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)
    assert [v.name for v in tf.global_variables() if v.name.startswith("w")] == ["w:0", "w/Adam:0", "w/Adam_1:0"]


def test_decays_of_signs():
    assert [run(sign_decays.get_linear_decay_fn(10)(k)) for k in (0, 5, 20)] == [1, 0.5, 0]
    np.testing.assert_allclose([run(sign_decays.get_cosine_decay_fn(10)(k)) for k in (0, 5, 10)], [1, 0.5, 0], atol=1e-6)
    assert run(sign_decays.get_cosine_decay_fn(10, num_periods=5, zero_after=2)(4)) == 0
    np.testing.assert_allclose(run(sign_decays.get_restart_decay_fn(10, num_periods=2)(5)), 1)
    with pytest.raises(ValueError, match="step is required"):
        sign_decays.get_linear_decay_fn(10)(None)
