"""tf.contrib.optimizer_v2: the same steps as those of tf.train, and classes that are handed their state."""

import numpy as np
import pytest

import everflow as tf

v2 = tf.contrib.optimizer_v2

PAIRS = {
    "sgd": (lambda: v2.GradientDescentOptimizer(0.1), lambda: tf.train.GradientDescentOptimizer(0.1)),
    "momentum": (
        lambda: v2.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
        lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    ),
    "adagrad": (lambda: v2.AdagradOptimizer(0.1), lambda: tf.train.AdagradOptimizer(0.1)),
    "adadelta": (lambda: v2.AdadeltaOptimizer(0.1), lambda: tf.train.AdadeltaOptimizer(0.1)),
    "adam": (lambda: v2.AdamOptimizer(0.1), lambda: tf.train.AdamOptimizer(0.1)),
}


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", PAIRS)
def test_steps_are_those_of_tf_train(kind, sparse, resource):
    found = []
    for scope, make in zip(("a", "b"), PAIRS[kind]):
        with tf.variable_scope(scope):
            w = tf.get_variable("w", initializer=[[1.0, 2.0], [3.0, 4.0]], use_resource=resource)
        gradient = tf.constant([[0.1, -0.2], [0.3, 2.0]])
        if sparse:
            gradient = tf.IndexedSlices(gradient, tf.constant([1, 1]), tf.constant([2, 2]))
        optimizer, step = make(), tf.Variable(0, trainable=False, name=scope + "_step")
        found.append((w, optimizer.apply_gradients([(gradient, w)], global_step=step), step, optimizer))
    assert found[0][3].get_slot_names() == found[1][3].get_slot_names()
    assert [v.name.replace("a/", "b/") for v in found[0][3].variables() if "power" not in v.name] == [
        v.name for v in found[1][3].variables() if "power" not in v.name
    ]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run([found[0][1], found[1][1]])
        np.testing.assert_allclose(session.run(found[0][0]), session.run(found[1][0]), rtol=1e-5)
        assert session.run(found[0][2]) == 3


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("centered", [False, True])
def test_rmsprop_starts_its_mean_with_epsilon(centered, resource):
    w = tf.get_variable("w", initializer=[1.0, 2.0], use_resource=resource)
    train = v2.RMSPropOptimizer(0.1, decay=0.9, momentum=0.5, epsilon=0.5, centered=centered).apply_gradients(
        [(tf.constant([0.1, -2.0]), w)]
    )
    expected, g, rms, mg, momentum = np.array([1.0, 2.0]), np.array([0.1, -2.0]), 0.5, 0.0, 0.0
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            session.run(train)
            rms, mg = 0.9 * rms + 0.1 * g * g, 0.9 * mg + 0.1 * g if centered else 0.0
            momentum = 0.5 * momentum + 0.1 * g / np.sqrt(rms - np.square(mg))
            expected = expected - momentum
        np.testing.assert_allclose(session.run(w), expected, rtol=1e-5)


def test_hyperparameters_may_be_functions_that_change(eager):
    rate = tf.Variable(1.0)
    w = tf.Variable(0.0)
    optimizer = v2.GradientDescentOptimizer(lambda: rate)
    optimizer.minimize(lambda: w * 1.0, var_list=[w])
    rate.assign(10.0)
    optimizer.minimize(lambda: w * 1.0, var_list=[w])
    assert w.numpy() == -11


class Counting(v2.OptimizerV2):
    """Counts its steps, and moves by the count."""

    def __init__(self):
        super().__init__(False, "Counting")
        self._set_hyper("rate", 2.0)

    def _create_vars(self, var_list, state):
        state.create_non_slot(0.0, "count", colocate_with=var_list[0])

    def _apply_dense(self, grad, var, state):
        return tf.assign_sub(var, state.get_hyper("rate", var.dtype.base_dtype) * (state.get_non_slot("count") + 1))

    def _finish(self, state):
        return tf.assign_add(state.get_non_slot("count"), 1.0)


def test_classes_of_programs_are_handed_their_state():
    w = tf.get_variable("w", initializer=0.0)
    train = Counting().minimize(w * 1.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        session.run(train)
        assert session.run(w) == -6


def test_what_can_not_be_is_refused():
    class Old(v2.OptimizerV2):
        def _create_slots(self, var_list):
            return var_list

    with pytest.raises(RuntimeError, match="Override _create_vars instead of _create_slots"):
        Old(False, "old")
    w = tf.get_variable("w", initializer=0.0)
    sgd = v2.GradientDescentOptimizer(1.0)
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        sgd.minimize(tf.constant(1.0), var_list=[w])
    with pytest.raises(ValueError, match="initial_accumulator_value must be positive"):
        v2.AdagradOptimizer(1.0, initial_accumulator_value=0.0)
    with pytest.raises(NotImplementedError, match="Trying to update a Tensor"):
        sgd.apply_gradients([(tf.constant(1.0), tf.constant(1.0))])


def test_gradients_stop_where_they_are_told_to():
    w, b = tf.get_variable("w", initializer=1.0), tf.get_variable("b", initializer=1.0)
    held = tf.identity(w)
    pairs = v2.GradientDescentOptimizer(1.0).compute_gradients(2 * held + 3 * b, [w, b], stop_gradients=[held])
    assert pairs[0][0] is None and pairs[1][0] is not None


def test_checkpoints_hold_slots_and_powers(tmp_path, eager):
    w = tf.Variable(1.0)
    adam = v2.AdamOptimizer(0.1)
    adam.minimize(lambda: w * 2.0, var_list=[w])
    path = tf.train.Checkpoint(w=w, adam=adam).save(str(tmp_path / "m"))
    names = [name for name, _ in tf.train.list_variables(path)]
    assert "w/.OPTIMIZER_SLOT/adam/m/.ATTRIBUTES/VARIABLE_VALUE" in names and "adam/beta1_power/.ATTRIBUTES/VARIABLE_VALUE" in names
    again, other = tf.Variable(0.0), v2.AdamOptimizer(0.1)
    tf.train.Checkpoint(w=again, adam=other).restore(path)
    other.minimize(lambda: again * 2.0, var_list=[again])
    adam.minimize(lambda: w * 2.0, var_list=[w])
    np.testing.assert_allclose(again.numpy(), w.numpy(), rtol=1e-6)
