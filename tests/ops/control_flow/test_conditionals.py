"""tf.cond, tf.case, tf.switch_case and their gradients."""

import collections

import numpy as np
import pytest

import everflow as tf
from everflow import errors, internals
from running import run


def both(build, more=()):
    """What a conditional gives for a true and for a false predicate."""
    pred = tf.placeholder(tf.bool, [], name="p")
    fetches = build(pred)
    return [run(fetches, {pred: value}) for value in (True, False)]


def test_the_predicate_chooses():
    x = tf.constant([1.0, 2.0])
    taken, other = both(lambda p: tf.cond(p, lambda: x + 1.0, lambda: x * 10.0))
    np.testing.assert_array_equal(taken, [2, 3])
    np.testing.assert_array_equal(other, [10, 20])


def test_only_the_chosen_branch_runs():
    def fails():
        with tf.control_dependencies([tf.Assert(False, ["not this one"])]):
            return tf.constant(1)

    pred = tf.placeholder(tf.bool, [])
    y = tf.cond(pred, fails, lambda: 2)
    assert run(y, {pred: False}) == 2
    with pytest.raises(errors.InvalidArgumentError, match="not this one"):
        run(y, {pred: True})


def test_what_no_result_needs_does_not_run():
    def branch():
        tf.Assert(False, ["never"])
        return tf.constant(1)

    assert run(tf.cond(tf.constant(True), branch, lambda: 2)) == 1


def test_results_are_named_and_shaped_as_in_tensorflow_1():
    p = tf.placeholder(tf.bool, [])
    a, b = tf.cond(p, lambda: (tf.zeros([2, 3]), 1), lambda: (tf.zeros([2, 4]), 2), name="choice")
    assert (a.name, b.name) == ("choice/Merge:0", "choice/Merge_1:0")
    assert a.shape.as_list() == [2, None]
    assert tf.cond(p, lambda: tf.zeros([2]), lambda: tf.zeros([])).shape.ndims is None


def test_structures_come_back_as_the_branches_return_them():
    Pair = collections.namedtuple("Pair", "a b")
    taken, other = both(lambda p: tf.cond(p, lambda: {"x": Pair(1, [2.0, 3.0])}, lambda: {"x": Pair(4, [5.0, 6.0])}))
    assert taken == {"x": Pair(1, [2.0, 3.0])}
    assert other == {"x": Pair(4, [5.0, 6.0])}


def test_a_list_of_one_is_unpacked_unless_strict():
    p = tf.placeholder(tf.bool, [])
    assert isinstance(tf.cond(p, lambda: [1], lambda: [2]), tf.Tensor)
    assert isinstance(tf.cond(p, lambda: [1], lambda: [2], strict=True), list)


def test_operations_become_which_branch_ran():
    taken, other = both(lambda p: tf.cond(p, lambda: tf.no_op(), lambda: tf.group()))
    assert (taken, other) == (True, False)


def test_slices_of_different_index_types_meet_at_64_bits():
    def slices(dtype):
        return tf.IndexedSlices(tf.constant([1.0]), tf.constant([0], dtype))

    found = tf.cond(tf.constant(True), lambda: slices(tf.int32), lambda: slices(tf.int64))
    assert found.indices.dtype == tf.int64


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ((True, lambda: 1, lambda: 2), TypeError, "pred must not be a Python bool"),
        ((1, lambda: 1, lambda: 2), TypeError, "Input 'pred' of 'Switch' Op has type int32 that does not match expected type of bool."),
        (([True], lambda: 1, lambda: 2), ValueError, "Shape must be rank 0 but is rank 1 for 'cond/Switch'"),
        (("p", 1, lambda: 2), TypeError, "true_fn must be callable."),
        (("p", lambda: 1, 2), TypeError, "false_fn must be callable."),
        (("p", lambda: 1), TypeError, "false_fn argument required"),
        (("p", lambda: None, lambda: 1), ValueError, "true_fn must have a return value."),
        (("p", lambda: 1, lambda: 1.0), ValueError, "Outputs of true_fn and false_fn must have the same type: int32, float32"),
        (("p", lambda: (1, 2), lambda: 1), ValueError, "The two structures don't have the same nested structure"),
        (("p", lambda: (1, 2), lambda: [1, 2]), TypeError, "don't have the same sequence type"),
    ],
)
def test_mistakes(arguments, error, message):
    pred, *functions = arguments
    pred = tf.placeholder(tf.bool, []) if pred == "p" else pred
    with pytest.raises(error) as caught:
        tf.cond(pred, *functions)
    assert message in str(caught.value)


def test_gradients_are_those_of_the_chosen_branch():
    x = tf.constant([1.0, 2.0])
    taken, other = both(lambda p: tf.gradients(tf.cond(p, lambda: x * x, lambda: tf.exp(x) * 3.0), x)[0])
    np.testing.assert_allclose(taken, [2, 4])
    np.testing.assert_allclose(other, 3 * np.exp([1, 2]), rtol=1e-6)


def test_an_input_that_only_one_branch_uses_has_a_zero_gradient_in_the_other():
    x, y = tf.constant(3.0), tf.constant(5.0)
    taken, other = both(lambda p: tf.gradients(tf.cond(p, lambda: x * 2.0, lambda: y * y), [x, y]))
    assert taken == [2.0, 0.0]
    assert other == [0.0, 10.0]


def test_gradients_use_the_random_values_of_the_forward_run():
    x = tf.ones([20])
    y = tf.cond(tf.constant(True), lambda: tf.random_uniform([20]) * x, lambda: x)
    forward, gradient = run([y, tf.gradients(y, x)[0]])
    np.testing.assert_array_equal(forward, gradient)


def test_second_derivatives():
    x = tf.constant(3.0)
    y = tf.cond(tf.constant(True), lambda: x * x * x, lambda: x)
    (dx,) = tf.gradients(y, x)
    assert run([dx, tf.gradients(dx, x)[0]]) == [27.0, 18.0]


def test_conditionals_inside_conditionals_differentiate():
    x = tf.constant(2.0)
    p, q = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: tf.cond(q, lambda: x * x, lambda: x * 5.0) * x, lambda: x)
    (dx,) = tf.gradients(y, x)
    assert [run(dx, {p: a, q: b}) for a, b in ((True, True), (True, False), (False, True))] == [12.0, 20.0, 1.0]


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_are_read_written_and_differentiated(use_resource):
    v = tf.get_variable("v", initializer=[3.0, 4.0], use_resource=use_resource)
    y = tf.cond(tf.constant(True), lambda: tf.reduce_sum(v * v), lambda: 0.0)
    np.testing.assert_array_equal(run(tf.gradients(y, v)[0]), [6, 8])
    assigned = tf.cond(tf.constant(True), lambda: tf.assign(v, [1.0, 1.0]), lambda: tf.zeros([2]))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(assigned)
        np.testing.assert_array_equal(session.run(v), [1, 1])


def test_variables_made_in_a_branch_are_made_outside():
    y = tf.cond(tf.constant(True), lambda: tf.Variable(1.5, name="v"), lambda: tf.get_variable("w", []))
    assert [v.name for v in tf.global_variables()] == ["cond/v:0", "w:0"]
    assert run(y) == 1.5


def test_a_value_read_in_a_branch_does_not_change_with_the_variable():
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    y = tf.cond(tf.constant(True), v.read_value, lambda: tf.zeros([2]))
    with tf.control_dependencies([y]):
        after = tf.assign_add(v, [10.0, 10.0])
    before, after = run([y, after])
    np.testing.assert_array_equal(before, [1, 2])
    np.testing.assert_array_equal(after, [11, 12])


def test_a_value_read_before_does_not_change_when_a_branch_writes():
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    read = v.read_value()
    with tf.control_dependencies([read]):
        written = tf.cond(tf.constant(True), lambda: tf.assign_add(v, [10.0, 10.0]), lambda: tf.zeros([2]))
    with tf.control_dependencies([written]):
        later = read * 1.0
    np.testing.assert_array_equal(run(later), [1, 2])


def test_control_dependencies_on_ops_outside_hold_for_the_whole():
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    change = tf.assign_add(v, 1.0)

    def branch():
        with tf.control_dependencies([change]):
            return v.read_value()

    assert run(tf.cond(tf.constant(True), branch, lambda: 0.0)) == 2.0


def test_collections_are_those_of_the_graph():
    tf.cond(tf.constant(True), lambda: [tf.add_to_collection("things", 7), 1][1], lambda: 2)
    assert tf.get_collection("things") == [7]


def test_an_exported_conditional_runs_where_it_is_imported(graph):
    p = tf.placeholder(tf.bool, [], name="p")
    x = tf.constant(3.0)
    y = tf.cond(p, lambda: x * 2.0, lambda: x - 1.0)
    dx = tf.gradients(y, x)[0]
    exported = graph.as_graph_def()
    with tf.Graph().as_default():
        found = tf.import_graph_def(exported, return_elements=[y.name, dx.name])
        with tf.Session() as session:
            assert session.run(found, {"import/p:0": True}) == [6.0, 2.0]
            assert session.run(found, {"import/p:0": False}) == [2.0, 1.0]


def test_an_imported_conditional_differentiates(graph):
    p = tf.placeholder(tf.bool, [], name="p")
    y = tf.cond(p, lambda x=tf.constant(3.0, name="x"): x * x, lambda: 0.0)
    exported = graph.as_graph_def()
    with tf.Graph().as_default():
        x, y = tf.import_graph_def(exported, return_elements=["x:0", y.name])
        with tf.Session() as session:
            assert session.run(tf.gradients(y, x), {"import/p:0": True}) == [6.0]


def test_case_takes_the_first_that_is_true():
    x = tf.placeholder(tf.int32, [])
    y = tf.case([(x < 1, lambda: 10), (x < 3, lambda: 20)], default=lambda: 30)
    assert [run(y, {x: i}) for i in (0, 2, 5)] == [10, 20, 30]


def test_case_without_a_default_needs_one_that_is_true():
    x = tf.placeholder(tf.int32, [])
    y = tf.case([(x < 1, lambda: x * 10), (x < 3, lambda: x * 10)])
    assert run(y, {x: 2}) == 20
    with pytest.raises(errors.InvalidArgumentError, match="Input error: None of conditions evaluated as True:"):
        run(y, {x: 7})


def test_an_exclusive_case_allows_only_one():
    x = tf.placeholder(tf.int32, [])
    y = tf.case([(x < 1, lambda: 10), (x < 3, lambda: 20)], default=lambda: 30, exclusive=True)
    assert run(y, {x: 2}) == 20
    with pytest.raises(errors.InvalidArgumentError, match="exclusive=True: more than 1 conditions .* evaluated as True"):
        run(y, {x: 0})


@pytest.mark.parametrize(
    "pairs, message",
    [
        (3, "fns must be a list, tuple, or dict"),
        ([3], "Each entry in pred_fn_pairs must be a 2-tuple"),
        ([(True, lambda: 1)], "pred must be a Tensor, got: True"),
    ],
)
def test_case_says_what_is_wrong(pairs, message):
    with pytest.raises(TypeError, match=message):
        tf.case(pairs)


def test_switch_case_chooses_by_number():
    i = tf.placeholder(tf.int32, [])
    x = tf.constant(2.0)
    y = tf.switch_case(i, [lambda: x, lambda: x * x, lambda: x * x * x])
    dx = tf.gradients(y, x)[0]
    assert [run([y, dx], {i: n}) for n in (0, 1, 2, 9, -1)] == [[2, 1], [4, 4], [8, 12], [8, 12], [8, 12]]


@pytest.mark.parametrize(
    "branches, error, message",
    [
        ({0: lambda: 1, 2: lambda: 2}, ValueError, r"must form contiguous range of \[0 to 2\) but found \{0,2\}"),
        ([3, lambda: 1], TypeError, "Each entry in branch_fns must be a 2-tuple"),
        (3, TypeError, "branch_fns must be a list, tuple, or dict"),
    ],
)
def test_switch_case_says_what_is_wrong(branches, error, message):
    with pytest.raises(error, match=message):
        tf.switch_case(tf.constant(0), branches)


def test_a_known_predicate_is_decided_at_once(graph):
    from everflow.runtime.smart_conditionals import smart_case, smart_cond, smart_constant_value

    assert smart_cond(True, lambda: "yes", lambda: "no") == "yes"
    assert smart_cond(tf.constant(False), lambda: "yes", lambda: "no") == "no"
    assert smart_cond(tf.logical_and(tf.constant(True), tf.less(1, 2)), lambda: "yes", lambda: "no") == "yes"
    assert isinstance(smart_cond(tf.placeholder(tf.bool, []), lambda: 1, lambda: 2), tf.Tensor)
    assert smart_constant_value(tf.placeholder_with_default(True, [])) is None
    assert smart_case([(False, lambda: 1), (True, lambda: 2)], default=lambda: 3) == 2
    with pytest.raises(TypeError, match="`pred` must be a Tensor, or a Python bool, or 1 or 0"):
        smart_cond(3, lambda: 1, lambda: 2)


def test_what_only_unused_results_need_does_not_happen():
    one, other = tf.Variable(0.0), tf.Variable(0.0)
    found = tf.cond(tf.constant(True), lambda: [tf.assign_add(one, 1.0) + 0.0, tf.assign_add(other, 1.0) + 0.0], lambda: [0.0, 0.0])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(found[1]) == 1
        assert sess.run([one, other]) == [0, 1]
        assert sess.run(found) == [1, 2]


def test_a_branch_that_returns_a_variable_can_be_exported():
    with tf.Graph().as_default() as graph:
        v = tf.Variable([1.0, 2.0])
        pred = tf.placeholder(tf.bool)
        found = tf.cond(pred, lambda: v + 1.0, lambda: v)
        definition = graph.as_graph_def()
        with tf.Session() as session:
            session.run(v.initializer)
            assert session.run(found, {pred: False}).tolist() == [1.0, 2.0]
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(definition, name="")
        assert graph.get_operation_by_name(found.op.name)


def test_a_moving_average_that_no_output_needs_may_stand_in_a_branch(session):
    average = tf.get_variable("average", [2], initializer=tf.ones_initializer())

    def branch():
        tf.python.training.moving_averages.assign_moving_average(average, tf.zeros([2]), 0.5, zero_debias=False)
        return tf.zeros([2])

    found = tf.cond(tf.constant(True), branch, lambda: tf.ones([2]))
    session.run(average.initializer)
    assert session.run(found).tolist() == [0, 0]
    assert session.run(average).tolist() == [1, 1]


def test_cases_of_another_conditional_may_have_python_predicates(graph):
    helper = internals.module("python.ops.control_flow_ops")._case_helper
    seen = []

    def chosen(pred, true_fn, false_fn):
        seen.append(pred)
        return true_fn() if pred else false_fn()

    assert helper(chosen, [(False, lambda: 1), (True, lambda: 2)], lambda: 3, False, None, allow_python_preds=True) == 2
    assert seen == [False, True]
    with pytest.raises(TypeError, match="pred must be a Tensor"):
        helper(chosen, [(True, lambda: 1)], lambda: 3, False, None)
