"""Ops that take an optimizer's step: what they check, duplicates among rows, memory shared with the variable."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.core.registry import apply


def run(op, *variables, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(op if isinstance(op, tf.Operation) else op.op, feed)
        return session.run(list(variables))


def variables(*values, resource=False):
    found = [tf.Variable(np.asarray(v, np.float32), use_resource=resource) for v in values]
    return (*found, *(v.handle for v in found)) if resource else found


def test_rows_that_are_named_twice_change_twice():
    var, accum = variables([[1.0], [2.0], [3.0]], [[1.0], [1.0], [1.0]])
    step = apply("SparseApplyAdagrad", var, accum, 1.0, [[1.0], [2.0], [1.0]], [2, 0, 2])
    changed, sums = run(step, var, accum)
    np.testing.assert_allclose(sums, [[5.0], [1.0], [3.0]])
    np.testing.assert_allclose(changed, [[1 - 2 / np.sqrt(5)], [2.0], [3 - 1 / np.sqrt(2) - 1 / np.sqrt(3)]], rtol=1e-6)


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("width", [(), (1,), (16,), (3, 5)])
def test_some_rows_of_many_change(width, kind):
    random = np.random.RandomState(0)
    before, gradient = random.rand(2, 500, *width).astype(np.float32), random.randn(70, *width).astype(np.float32)
    rows = random.permutation(500)[:70]
    var, accum = variables(*before)
    changed, sums = run(apply("SparseApplyAdagrad", var, accum, 0.5, gradient, rows.astype(kind)), var, accum)
    after = before.copy()
    after[1, rows] += gradient**2
    after[0, rows] -= 0.5 * gradient / np.sqrt(after[1, rows])
    np.testing.assert_allclose([changed, sums], after, rtol=1e-5, atol=1e-6)


def test_no_rows_change_nothing():
    var, accum = variables([[1.0]], [[1.0]])
    step = apply("SparseApplyMomentum", var, accum, 1.0, np.zeros((0, 1), np.float32), np.zeros(0, np.int64), 0.9)
    np.testing.assert_allclose(run(step, var, accum), [[[1.0]], [[1.0]]])


def test_keras_momentum_keeps_the_learning_rate_in_its_slot():
    var, accum, var_handle, accum_handle = variables([1.0], [0.5], resource=True)
    step = apply("ResourceApplyKerasMomentum", var_handle, accum_handle, 0.1, [2.0], 0.9, use_nesterov=True)
    changed, moment = run(step, var, accum)
    np.testing.assert_allclose(moment, [0.25], rtol=1e-6)
    np.testing.assert_allclose(changed, [1 + 0.9 * 0.25 - 0.2], rtol=1e-6)


def test_amsgrad_divides_by_the_largest_mean_so_far():
    var, m, v, largest, *handles = variables([1.0, 1.0], [0.0, 0.0], [0.0, 0.0], [9.0, 0.0], resource=True)
    step = apply("ResourceApplyAdamWithAmsgrad", *handles, 0.5, 0.75, 0.1, 0.5, 0.75, 0.0, [2.0, 2.0])
    changed, maxima = run(step, var, largest)
    np.testing.assert_allclose(maxima, [9.0, 1.0])
    # The rate is 0.1 * sqrt(0.25) / 0.5, the mean gradient 1.
    np.testing.assert_allclose(changed, [1 - 0.1 / 3, 1 - 0.1], rtol=1e-6)


def test_adam_without_decay_of_the_squares():
    var, m, v = variables([1.0], [0.0], [4.0])
    changed, mean = run(apply("ApplyAdam", var, m, v, 0.5, 0.75, 0.1, 0.5, 1.0, 0.0, [2.0]), var, v)
    np.testing.assert_allclose(mean, [4.0])
    np.testing.assert_allclose(changed, [1 - 0.1 * 0.5 / 0.5 * 1.0 / 2.0], rtol=1e-6)


@pytest.mark.parametrize("family, expected", [("ApplyAddSign", 1 - 0.1 * (1 + 0.5 * 1) * 2), ("ApplyPowerSign", 1 - 0.1 * np.exp(0.5) * 2)])
def test_sign_updates_grow_where_gradient_and_mean_agree(family, expected):
    var, m = variables([1.0], [1.0])
    np.testing.assert_allclose(run(apply(family, var, m, 0.1, 1.0, 0.5, 0.9, [2.0]), var)[0], [expected], rtol=1e-6)


def test_adamax_uses_the_largest_gradient():
    var, m, v = variables([1.0], [0.0], [4.0])
    changed, bound = run(apply("ApplyAdaMax", var, m, v, 0.5, 0.1, 0.5, 0.25, 0.0, [-2.0]), var, v)
    np.testing.assert_allclose(bound, [2.0])
    np.testing.assert_allclose(changed, [1 + 0.1 / 0.5 * 1.0 / 2.0], rtol=1e-6)


def test_slots_may_stay_as_they_are():
    var, accum = variables([1.0], [4.0])
    changed, sums = run(apply("ApplyAdagrad", var, accum, 1.0, [1.0], update_slots=False), var, accum)
    np.testing.assert_allclose(sums, [4.0])
    np.testing.assert_allclose(changed, [0.5])


def test_ftrl_leaves_untouched_weights_at_zero():
    var, accum, linear = variables([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    step = apply("ApplyFtrl", var, accum, linear, [0.0, 1.0], 0.1, 0.0, 0.0, -0.5)
    np.testing.assert_allclose(run(step, var)[0], [0.0, -0.1], rtol=1e-6)


@pytest.mark.parametrize("family, slots, numbers", [("Adagrad", 1, (0.5,)), ("Adam", 2, (0.5, 0.5, 0.1, 0.5, 0.5, 0.1))])
def test_the_gradient_may_be_the_variable_turned_round(family, slots, numbers):
    start = np.arange(9, dtype=np.float32).reshape(3, 3)
    results = []
    for gradient in (lambda var: tf.transpose(var), lambda var: tf.constant(start.T)):
        with tf.Graph().as_default():
            var, *others = variables(start, *[np.ones((3, 3))] * slots)
            results.append(run(apply("Apply" + family, var, *others, *numbers, gradient(var)), var)[0])
    np.testing.assert_array_equal(*results)


def test_a_slot_read_before_the_step_keeps_its_value():
    var, accum = variables([1.0], [4.0])
    before = 1.0 * tf.identity(accum)
    with tf.control_dependencies([before]):
        step = apply("ApplyAdagrad", var, accum, 1.0, [1.0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run([before, step])[0] == [4.0]


def test_static_shapes_are_checked():
    var, accum = variables(np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(ValueError, match="Dimension 0 in both shapes must be equal, but are 2 and 3"):
        apply("ApplyAdagrad", var, accum, 0.1, np.ones((3, 2), np.float32))
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
        apply("ApplyAdagrad", var, accum, [0.1], np.ones((2, 3), np.float32))
    with pytest.raises(ValueError, match="Dimension 1 in both shapes must be equal, but are 3 and 2"):
        apply("SparseApplyAdagrad", var, accum, 0.1, np.ones((1, 2), np.float32), [0])


@pytest.mark.parametrize(
    "gradient, rate, message",
    [
        ((3, 2), (), r"var and grad do not have the same shape\[2,3\] \[3,2\]"),
        ((2, 3), (2,), r"lr is not a scalar: \[2\]"),
        ((2, 3), (1,), r"lr is not a scalar: \[1\]"),
    ],
)
def test_shapes_are_checked_when_they_become_known(gradient, rate, message):
    var, accum = variables(np.ones((2, 3)), np.ones((2, 3)))
    fed, fed_rate = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    step = apply("ApplyAdagrad", var, accum, fed_rate, fed)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(step, feed={fed: np.ones(gradient), fed_rate: np.ones(rate)})


@pytest.mark.parametrize(
    "numbers, message",
    [
        ((0.0, 0.0, 0.0, -0.5), r"lr is not a positive scalar: \[\]"),
        ((0.1, -1.0, 0.0, -0.5), r"l1 regularization strength is not a non-negative scalar: \[\]"),
        ((0.1, 0.0, -1.0, -0.5), r"l2 regularization strength is not a non-negative scalar: \[\]"),
        ((0.1, 0.0, 0.0, 0.5), r"lr_power is not a non-positive scalar: \[\]"),
        ((0.1, 0.0, [0.0], -0.5), r"l2 regularization strength is not a non-negative scalar: \[1\]"),
    ],
)
def test_ftrl_refuses_numbers_of_the_wrong_sign(numbers, message):
    step = apply("ApplyFtrl", *variables([1.0], [1.0], [1.0]), [1.0], *(tf.placeholder_with_default(x, None) for x in numbers))
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(step)


@pytest.mark.parametrize(
    "gradient, indices, message",
    [
        ((2, 2), [0, 1], "var and grad must match in dimension 1"),
        ((2, 3), [0], "grad must be the same size as indices in the first dimension."),
        ((2, 3), [0, 7], "Index 7 at offset 1 in indices is out of range"),
        ((2, 3), [-1, 0], "Index -1 at offset 0 in indices is out of range"),
        ((2, 3), [[0, 1]], "indices must be one-dimensional"),
    ],
)
def test_rows_are_checked(gradient, indices, message):
    var, accum = variables(np.ones((2, 3)), np.ones((2, 3)))
    fed, rows = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    step = apply("SparseApplyAdagrad", var, accum, 0.1, fed, rows)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(step, feed={fed: np.ones(gradient), rows: indices})


def test_variables_must_be_initialized():
    var, accum = variables([1.0], [1.0])
    step = apply("ApplyAdagrad", var, accum, 0.1, [1.0])
    with tf.Session() as session:
        session.run(var.initializer)
        with pytest.raises(tf.errors.FailedPreconditionError, match="Attempting to use uninitialized value Variable_1"):
            session.run(step)


def test_locked_steps_of_many_threads_all_count():
    import threading

    (var,) = variables(np.zeros(1000))
    step = apply("ApplyGradientDescent", var, -1.0, np.ones(1000, np.float32), use_locking=True).op
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        threads = [threading.Thread(target=lambda: [session.run(step) for _ in range(50)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        np.testing.assert_array_equal(session.run(var), np.full(1000, 200.0))


@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_momentum_reaches_all_elements_of_short_floats(kind, nesterov):
    """Torch's fused step loses most of them."""
    var, accum = (tf.Variable(tf.fill([54], tf.constant(v, kind)), use_resource=False) for v in (1.0, 0.5))
    gradient = tf.fill([54], tf.constant(2.0, kind))
    step = apply("ApplyMomentum", var, accum, tf.constant(0.5, kind), gradient, tf.constant(0.5, kind), use_nesterov=nesterov)
    changed, moment = run(step, var, accum)
    assert set(moment.astype(np.float32)) == {2.25}
    assert set(changed.astype(np.float32)) == {1 - (0.5 * 2 + 0.25 * 2.25 if nesterov else 0.5 * 2.25)}


def test_words_without_sign_are_added_and_subtracted():
    var = tf.Variable(np.array([1, 2], np.uint64), use_resource=True)
    with tf.Session() as session:
        session.run(var.initializer)
        session.run(apply("AssignSubVariableOp", var.handle, np.array([2, 1], np.uint64)))
        assert session.run(var).tolist() == [2**64 - 1, 1]
