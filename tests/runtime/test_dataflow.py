"""What steps give op by op is what they give compiled, and every op is seen as often as it runs."""

import collections

import numpy as np
import pytest

import everflow as tf
from everflow import errors
from everflow.runtime import feeds as feeding
from everflow.runtime.dataflow import Dataflow
from everflow.runtime.executed_graphs import executed_graphs
from everflow.runtime.frames import DEAD
from everflow.runtime.lowering import Lowered


def flow(session, fetches, feed_dict=None, targets=()):
    """What is fetched, and how often each output was seen alive."""
    feeds = feed_dict or {}
    lowered = Lowered(session._context, list(fetches), list(targets), list(feeds))
    seen = collections.Counter()

    def observe(unit, began, ended, outputs):
        assert began <= ended
        seen.update(f"{unit.name}:{slot}" for slot, value in enumerate(outputs) if value is not DEAD)

    arguments = [feeding.feed_converter(t)(value) for t, value in feeds.items()]
    found = Dataflow(lowered).run(arguments, observe)
    return [value.numpy() if hasattr(value, "numpy") else value for value in found], seen


def test_ops_of_a_loop_run_once_an_iteration(session):
    loop = tf.while_loop(lambda i: i < 16, lambda i: i + 2, [tf.constant(10, name="i")])
    (found,), seen = flow(session, [loop])
    assert found == 16
    # As TensorFlow's own tests have it for this loop.
    assert (seen["while/Enter:0"], seen["while/Merge:0"], seen["while/Merge:1"], seen["while/LoopCond:0"]) == (1, 4, 4, 4)
    assert (seen["while/Switch:0"], seen["while/Switch:1"], seen["while/add/y:0"], seen["while/NextIteration:0"]) == (1, 3, 3, 3)
    assert seen["while/Exit:0"] == 1


@pytest.mark.parametrize("taken", [True, False])
def test_only_the_branch_that_is_taken_runs(session, taken):
    p = tf.placeholder(tf.bool, [], name="p")
    c = tf.cond(p, lambda: tf.constant(1.0, name="yes"), lambda: tf.constant(2.0, name="no"))
    (found,), seen = flow(session, [c], {p: taken})
    assert found == (1 if taken else 2)
    assert (seen["cond/yes:0"], seen["cond/no:0"]) == ((1, 0) if taken else (0, 1))


def test_loops_in_loops_and_branches_in_them(session):
    def body(i, total):
        def inner(j, t):
            return j + 1, tf.cond(tf.equal(j, 1), lambda: t + 10, lambda: t + 1)

        _, total = tf.while_loop(lambda j, t: j < i, inner, [0, total])
        return i + 1, total

    _, total = tf.while_loop(lambda i, t: i < 4, body, [0, 0])
    (found,), seen = flow(session, [total])
    assert found == session.run(total) == 24
    assert seen["while/while/cond/Merge:0"] == 6


@pytest.mark.parametrize("taken", [True, False])
def test_a_loop_in_a_branch_that_is_not_taken_is_dead(session, taken):
    p = tf.placeholder(tf.bool, [], name="p")
    c = tf.cond(p, lambda: tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0]), lambda: tf.constant(7))
    (found,), seen = flow(session, [c], {p: taken})
    assert found == (3 if taken else 7)
    assert seen["cond/while/add:0"] == (3 if taken else 0)


def test_gradients_of_loops(session):
    x = tf.placeholder(tf.float32, [2], name="x")
    _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, tf.ones([2])])
    (value, gradient), _ = flow(session, [y, tf.gradients(y, x)[0]], {x: [2.0, 3.0]})
    np.testing.assert_allclose(value, [8, 27])
    np.testing.assert_allclose(gradient, [12, 27])


def test_a_recurrent_network_gives_the_same_as_its_compiled_step(session):
    inputs = tf.constant(np.random.RandomState(0).randn(2, 4, 3), tf.float32)
    cell = tf.nn.rnn_cell.LSTMCell(3, initializer=tf.random_uniform_initializer(seed=1))
    outputs, _ = tf.nn.dynamic_rnn(cell, inputs, sequence_length=[2, 4], dtype=tf.float32)
    loss = tf.reduce_sum(outputs * outputs)
    fetches = [loss, *tf.gradients(loss, tf.trainable_variables())]
    session.run(tf.global_variables_initializer())
    found, _ = flow(session, fetches)
    for one, other in zip(found, session.run(fetches)):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_reads_of_variables_see_what_they_see_in_other_steps(session):
    v = tf.Variable(1.0, name="v")
    before = v * 10.0
    add = tf.assign_add(v, 2.0)
    with tf.control_dependencies([add]):
        after = v * 100.0
    session.run(v.initializer)
    found, _ = flow(session, [before, add, after, v.value()])
    assert found == [10, 3, 300, 3]
    session.run(v.initializer)
    assert session.run([before, add, after, v.value()]) == [10, 3, 300, 3]


def test_effects_of_a_branch_come_before_what_follows_it(session):
    v = tf.Variable(1.0, name="v")
    p = tf.placeholder(tf.bool, [])
    c = tf.cond(p, lambda: tf.assign_add(v, 2.0) + 1.0, lambda: v * 5.0)
    with tf.control_dependencies([c]):
        after = v * 10.0
    session.run(v.initializer)
    assert flow(session, [c, after], {p: True})[0] == [4, 30]
    assert flow(session, [c, after], {p: False})[0] == [15, 30]


def test_graphs_with_frames_of_their_own_run_too(session):
    # A graph that was written by TensorFlow has Enter and Exit ops itself.
    loop = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0, name="start")])
    (graph_def,) = executed_graphs(Lowered(session._context, [loop], [], [])).values()
    plain = tf.GraphDef()
    for node in graph_def.node:
        if not node.op.startswith("_"):
            plain.node.add().CopyFrom(node)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(plain, name="")
        with tf.Session(graph=graph) as other:
            (found,), seen = flow(other, [graph.get_tensor_by_name("while/Exit:0")])
    assert found == 3
    assert seen["while/NextIteration:0"] == 3


def test_errors_name_the_op(session):
    x = tf.placeholder(tf.float32, name="x")
    y = tf.matmul(tf.constant([[1.0, 2.0]]), x, name="y")
    with pytest.raises(errors.InvalidArgumentError, match="y") as problem:
        flow(session, [y], {x: [[1.0]]})
    assert problem.value.op is y.op


def test_what_is_dead_can_not_be_fetched(session):
    data, _ = tf.raw_ops.Switch(data=1.0, pred=True)
    with pytest.raises(errors.InvalidArgumentError, match=r"Retval\[0\] does not have value"):
        flow(session, [data])
