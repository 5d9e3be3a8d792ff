"""What writes variables."""

import numpy as np
import pytest
import torch
from planning import compiled, types

import everflow as tf
from everflow.ops.core.registry import meaning
from everflow.runtime.passes.identities import drop_identities
from everflow.runtime.passes.variable_updates import batch_optimizer_steps, scale_updates, take_counted_powers, take_values


@pytest.mark.parametrize(
    "optimizer", [lambda: tf.train.AdamOptimizer(0.1), lambda: tf.train.MomentumOptimizer(0.1, 0.9), lambda: tf.train.AdagradOptimizer(0.1)]
)
def test_updates_of_many_variables_are_one_call(optimizer):
    variables = [tf.Variable(np.full(shape, 1.5, np.float32)) for shape in ([2], [3, 2], [])]
    loss = tf.add_n([tf.reduce_sum(tf.square(v)) for v in variables])
    train = optimizer().minimize(loss)
    alone = optimizer()
    copies = [tf.Variable(np.full(shape, 1.5, np.float32)) for shape in ([2], [3, 2], [])]
    each = [alone.apply_gradients([(2.0 * v, v)]) for v in copies[:1]]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(train)
            sess.run(each)
        step = sess._runner(train, None).step
        assert sum("Together" in t for t in types(step)) == 1 and not any(t.startswith("Apply") for t in types(step))
        np.testing.assert_allclose(sess.run(variables[0]), sess.run(copies[0]), rtol=1e-6)
        np.testing.assert_allclose(sess.run(variables[1])[0, 0], sess.run(copies[0])[0], rtol=1e-6)


def test_a_scaled_update_needs_no_product():
    x = tf.placeholder(tf.float32, [2])
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    with tf.control_dependencies([v.assign_sub(0.5 * tf.reshape(tf.square(x), [2]))]):
        after = v.read_value()
    step = compiled([after], [x], (scale_updates,))
    assert "Mul" not in types(step) and "_AssignScaled" in types(step)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        np.testing.assert_allclose(sess.run(after, {x: [2.0, 4.0]}), [-1.0, -6.0])


def test_a_product_that_is_used_otherwise_is_computed():
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    x = tf.placeholder(tf.float32, [2])
    product = tf.exp(x) * 0.5
    with tf.control_dependencies([v.assign_sub(product)]):
        after = v.read_value()
    assert "_AssignScaled" in types(compiled([after], [x], (scale_updates,)))
    assert "_AssignScaled" not in types(compiled([after, product], [x], (scale_updates,)))


def test_a_product_of_two_tensors_is_computed():
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    x = tf.placeholder(tf.float32, [2])
    with tf.control_dependencies([v.assign_add(tf.exp(x) * tf.constant([1.0, 2.0]))]):
        after = v.read_value()
    assert "_AssignScaled" not in types(compiled([after], [x], (scale_updates,)))


def test_a_scaled_read_is_taken_before_what_changes_it():
    a = tf.get_variable("a", initializer=[1.0], use_resource=True)
    b = tf.get_variable("b", initializer=[10.0], use_resource=True)
    product = 0.5 * a.read_value()
    with tf.control_dependencies([product]), tf.control_dependencies([a.assign([100.0])]):
        change = b.assign_sub(product)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        np.testing.assert_allclose(sess.run(change), [9.5])


def test_a_read_between_updates_keeps_its_place():
    a, b = tf.Variable(1.0), tf.Variable(1.0)
    optimizer = tf.train.AdagradOptimizer(0.5, initial_accumulator_value=1.0)
    first = optimizer.apply_gradients([(tf.constant(1.0), a)])
    with tf.control_dependencies([first]):
        seen = tf.identity(a._ref())
        second = optimizer.apply_gradients([(seen, b)])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(second)
        updated = 1.0 - 0.5 / np.sqrt(2.0)
        np.testing.assert_allclose(sess.run(a), updated, rtol=1e-6)
        np.testing.assert_allclose(sess.run(b), 1.0 - 0.5 * updated / np.sqrt(1.0 + updated**2), rtol=1e-6)


def test_steps_with_other_numbers_are_taken_apart():
    variables = [tf.get_variable(name, initializer=[1.0]) for name in "abc"]
    trains = [tf.train.AdagradOptimizer(rate).apply_gradients([(tf.constant([1.0]), v)]) for rate, v in zip((0.1, 0.1, 0.5), variables)]
    with tf.control_dependencies(trains):
        after = [tf.identity(v._ref()) for v in variables]
    assert "_ApplyAdagradTogether" not in types(compiled(after, [], (batch_optimizer_steps,)))


@pytest.mark.parametrize("use_resource,form", [(False, "_AssignRestored"), (True, "_AssignVariableOpRestored")])
def test_restored_values_are_kept_as_they_are(use_resource, form, tmp_path, session):
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=use_resource)
    session.run(v.initializer)
    saver = tf.train.Saver()
    path = saver.save(session, str(tmp_path / "model"))
    session.run(v.assign([5.0, 6.0]))
    saver.restore(session, path)
    assert session.run(v).tolist() == [1.0, 2.0]
    restore = session.graph.get_operation_by_name(saver.saver_def.restore_op_name)
    assert form in types(compiled([], [], (drop_identities, take_values), [restore]))


def test_restored_values_that_others_have_too_are_copied(tmp_path, session):
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    session.run(v.initializer)
    path = tf.train.Saver().save(session, str(tmp_path / "model"))
    (restored,) = tf.raw_ops.RestoreV2(prefix=path, tensor_names=["v"], shape_and_slices=[""], dtypes=[tf.float32])
    written = tf.assign(v, restored)
    step = compiled([written, restored], [], (take_values,))
    assert "Assign" in types(step) and "_AssignRestored" not in types(step)


@pytest.mark.parametrize("use_resource,form", [(False, "_AssignComputed"), (True, "_AssignVariableOpComputed")])
def test_first_values_are_kept_where_they_were_computed(use_resource, form, session):
    v = tf.get_variable("v", [3], initializer=tf.random_normal_initializer(seed=1), use_resource=use_resource)
    session.run(v.initializer)
    step = session._runner(v.initializer, None).step
    assert form in [call.node.type for call in step.calls]
    again, read = session._runner(v.initializer, None).step, session._runner(v, None).step
    before = read.call()[0].data_ptr()
    session._call(again, [])
    assert read.call()[0].data_ptr() == before, "who holds a reference sees later values"


def test_values_that_others_have_too_are_copied(session):
    v = tf.get_variable("v", [3], initializer=tf.zeros_initializer())
    drawn = tf.random_normal([3])
    written = tf.assign(v, drawn)
    assert "_AssignComputed" not in types(compiled([written, drawn], [], (take_values,)))
    both = session.run([drawn, written])
    session.run(v.assign_add([1.0, 1.0, 1.0]))
    assert (session.run(v) - both[0]).round(5).tolist() == [1, 1, 1]


@pytest.mark.parametrize("base", [0.9, 0.0, -0.5, 3.0])
def test_powers_of_a_count_that_only_steps_need_are_numbers(base):
    count = tf.get_variable("count", initializer=np.int64(99), use_resource=True)
    beta, v = tf.get_variable("beta", initializer=base, use_resource=True), tf.get_variable("v", initializer=1.0, use_resource=True)
    power = tf.pow(beta, tf.cast(count + 1, tf.float32))
    slots = [tf.get_variable(name, initializer=0.0, use_resource=True).handle for name in "ma"]
    step = tf.raw_ops.ResourceApplyAdam(
        var=v.handle, m=slots[0], v=slots[1], beta1_power=power, beta2_power=0.5, lr=0.1, beta1=0.9, beta2=0.99, epsilon=1e-7, grad=2.0
    )
    found = compiled([], [], (take_counted_powers,), [step])
    assert "_CountedPower" in types(found) and not {"Pow", "Cast", "AddV2"} & {*types(found)}
    number = next(call for call in found.calls if call.node.type == "_CountedPower").kernel
    expected = torch.pow(torch.tensor(base), torch.tensor(100.0)).item()
    assert number(torch.tensor(base), torch.tensor(99)).item() == pytest.approx(expected, rel=1e-6)
    with tf.Session() as sess:
        assert "Pow" in types(sess._runner([power, step], None).step)


def test_a_power_beyond_all_numbers_is_infinite():
    node = type("Node", (), {"attr": lambda self, name: 1})()
    power = meaning("_CountedPower").kernel(node)
    assert power(torch.tensor(2.0), torch.tensor(5000)).item() == float("inf")
    assert power(torch.tensor(0.0), torch.tensor(-3)).item() == float("inf")
