"""Effects in the order in which they are written."""

import pytest

import everflow as tf
from everflow.ops.control_flow.automatic_controls import AutomaticControlDependencies, automatic_control_dependencies, op_is_stateful


@pytest.fixture
def v(session):
    found = tf.get_variable("v", initializer=1.0, use_resource=True)
    session.run(found.initializer)
    return found


def test_what_is_returned_sees_all_that_was_written_before(session, v):
    with AutomaticControlDependencies() as controls:
        v.assign(v + 1)
        v.assign(2 * v)
        value = controls.mark_as_return(v.read_value())
    assert session.run(value) == 4


def test_branches_have_their_effects_whoever_uses_their_results(session, v):
    p = tf.placeholder(tf.bool)

    def add(amount):
        v.assign(v + amount)
        return 0.0

    with AutomaticControlDependencies() as controls:
        v.assign(v * 2)
        tf.cond(p, lambda: 0.0, lambda: tf.cond(p, lambda: 1.0, lambda: add(4)))
        one = controls.mark_as_return(tf.constant(1.0))
    session.run(one, {p: False})
    assert session.run(v) == 6
    session.run(one, {p: True})
    assert session.run(v) == 12


def test_outside_branches_drop_effects_that_nothing_needs(session, v):
    result = tf.cond(tf.constant(True), lambda: [v.assign(5.0), 2.0][1], lambda: 1.0)
    assert session.run(result) == 2 and session.run(v) == 1


def test_functions_may_be_decorated(session, v):
    @automatic_control_dependencies
    def twice():
        v.assign_add(1.0)
        v.assign_add(1.0)
        return {"value": v.read_value()}

    assert session.run(twice()) == {"value": 3}


def test_where_ops_run_at_once_nothing_needs_to_be_done(eager):
    v = tf.Variable(1.0)
    with AutomaticControlDependencies() as controls:
        v.assign(2.0)
        assert float(controls.mark_as_return(v.read_value())) == 2


def test_random_numbers_are_no_effects():
    assert not op_is_stateful(tf.random.uniform([], maxval=2.0).op.inputs[0].op)
    assert op_is_stateful(tf.Print(1, [1]).op)


def test_traced_functions_return_no_operations(eager):
    with pytest.raises(TypeError, match="must return zero or more Tensors; in compilation of .* found return value of type .*Operation"):
        tf.function(lambda: tf.no_op())()
