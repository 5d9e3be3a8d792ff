"""Gradients of what ran, and of functions."""

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("eager")


def test_variables_are_watched_and_tensors_on_request():
    v, x = tf.Variable(3.0), tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = v * v * x
    assert float(tape.gradient(y, v)) == 12.0 and float(tape.gradient(y, x)) == 9.0
    assert tape.watched_variables() == (v,)
    assert tape.gradient(y, tf.constant(1.0)) is None


def test_a_tape_is_used_once():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
    tape.gradient(y, v)
    with pytest.raises(RuntimeError, match="can only be called once on non-persistent tapes"):
        tape.gradient(y, v)


def test_higher_orders_by_tapes_inside_tapes():
    v = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = v**3
        first = inner.gradient(y, v)
    assert float(first) == 12.0 and float(outer.gradient(first, v)) == 12.0


def test_recording_can_be_stopped():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * v
        with tape.stop_recording():
            z = v * 5.0
        total = y + z
    assert float(tape.gradient(total, v)) == 4.0


def test_jacobians():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    full = tape.jacobian(y, x).numpy()
    assert full.shape == (2, 2, 2, 2) and full[1, 0, 1, 0] == 6.0 and full[1, 0, 0, 0] == 0.0
    np.testing.assert_array_equal(tape.batch_jacobian(y, x).numpy(), [[[2, 0], [0, 4]], [[6, 0], [0, 8]]])


def test_rows_of_an_embedding():
    table = tf.Variable(tf.ones([5, 2]))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 1, 3]))
    gradient = tape.gradient(y, table)
    assert isinstance(gradient, tf.IndexedSlices) and gradient.indices.numpy().tolist() == [1, 1, 3]


def test_gradients_of_functions():
    tfe = tf.contrib.eager
    assert float(tfe.gradients_function(lambda x: x * x)(3.0)[0]) == 6.0
    value, (gradient,) = tfe.value_and_gradients_function(lambda x: x * x)(3.0)
    assert float(value) == 9.0 and float(gradient) == 6.0
    v = tf.Variable(4.0)
    ((found, variable),) = tfe.implicit_gradients(lambda x: v * x)(2.0)
    assert float(found) == 2.0 and variable is v


def test_tapes_work_in_graphs():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        assert sess.run(tape.gradient(y, x)) == 6.0


def test_a_gradient_of_ones_own():
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def scaled(x):
        def gradient(dy, variables):
            return dy * 10.0, [dy * 20.0 for _ in variables]

        return x * v, gradient

    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = scaled(x)
    assert float(y) == 6.0
    assert float(tape.gradient(y, x)) == 10.0 and float(tape.gradient(y, v)) == 20.0


def test_callbacks_find_what_is_not_a_number():
    tfe = tf.contrib.eager
    with tfe.errstate(inf_or_nan="raise"), pytest.raises(Exception, match=r"TFE operation Log .* contains 1 nan\(s\)"):
        tf.log(-1.0)
    assert np.isnan(tf.log(-1.0).numpy())


def test_watched_variables_come_in_the_order_in_which_they_were_made():
    first, second = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = second * first
    assert [v is first for v in tape.watched_variables()] == [True, False]
    tape.gradient(y, first)
    assert len(tape.watched_variables()) == 2


def test_a_target_that_is_a_source_has_the_gradient_one():
    v, x = tf.Variable([1.0, 2.0]), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(tf.constant("text"))
    assert tape.gradient(v, v).numpy().tolist() == [1.0, 1.0] and float(tape.gradient(x, x)) == 1.0
    assert tape.gradient(tf.constant("text"), x) is None and tape.gradient(v, x) is None


def test_jacobians_row_by_row_need_a_persistent_tape():
    with tf.GradientTape() as tape:
        x = tf.constant([[1.0, 2.0]])
        tape.watch(x)
        y = x * x
    with pytest.raises(RuntimeError, match="persistent=True to compute the jacobian"):
        tape.jacobian(y, x, experimental_use_pfor=False)
    with pytest.raises(ValueError, match="must have rank at least 2"):
        tape.batch_jacobian(y[0], x)
    with tf.GradientTape() as tape:
        empty = tf.zeros([1, 0])
        tape.watch(empty)
        y = empty**2
    assert tape.batch_jacobian(y, empty).shape.as_list() == [1, 0, 0]


def test_unconnected_gradients_must_be_known():
    with tf.GradientTape() as tape:
        x = tf.constant(1.0)
        tape.watch(x)
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'nonsense'"):
        tape.gradient(x, x, unconnected_gradients="nonsense")


def test_the_same_variable_twice_is_two_arguments():
    v = tf.Variable(3.0)
    dx, dy = tf.contrib.eager.gradients_function(lambda x, y: x * x * y)(v, v)
    assert (float(dx), float(dy)) == (18.0, 9.0)


def test_params_are_all_names_or_all_positions():
    with pytest.raises(ValueError, match="must be all strings or all integers"):
        tf.contrib.eager.gradients_function(lambda x, y: x * y, params=[0, "y"])(1.0, 2.0)


def test_what_is_recomputed_has_derivatives_of_any_order():
    f = tf.recompute_grad(lambda x: x**3)
    with tf.GradientTape() as outer:
        x = tf.constant(2.0)
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        dx = inner.gradient(y, x)
    assert float(dx) == 12.0 and float(outer.gradient(dx, x)) == 12.0


def test_a_tape_that_is_asked_often_looks_only_at_what_leads_to_the_target(eager):
    v, w = tf.Variable(3.0), tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        shared = v * w
        for n in range(1, 30):
            y = shared * float(n) + v
            with tape.stop_recording():
                assert [g.numpy() for g in tape.gradient(y, [v, w])] == [2 * n + 1, 3 * n]
                assert [g.numpy() for g in tape.gradient([y, shared], [shared, w])] == [n + 1, 3 * n + 3]
                assert tape.gradient(shared, y) is None
    assert len(tape._tape.operations) >= 90
    assert len(tape._tape._before([y])) < 10
