"""Version 1 control flow, built by hand: what Switch, Merge and frames do when a session runs them."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.control_flow import frames
from everflow.ops.core.registry import apply


def v1_cond(pred, true_fn, false_fn, *captured):
    """What tf.cond of version 1 builds: captured tensors through a Switch each, results through a Merge."""
    pairs = [frames.switch(t, pred) for t in captured]
    pivots = [tf.identity(t) for t in frames.switch(pred, pred)]
    with tf.control_dependencies([pivots[1]]):
        true = true_fn(*(p[1] for p in pairs))
    with tf.control_dependencies([pivots[0]]):
        false = false_fn(*(p[0] for p in pairs))
    return frames.merge([false, true])


def v1_while(cond, body, start, *constants, name="loop", keeps_shape=True):
    """What tf.while_loop of version 1 builds for one variable."""
    entered = [frames.enter(t, name, is_constant=True) for t in constants]
    first = frames.enter(start, name, use_input_shape=keeps_shape)
    merged = frames.merge([first, first])[0]
    # What has no inputs belongs to the frame by what it waits for.
    with tf.control_dependencies([merged]):
        holds = apply("LoopCond", cond(merged, *entered))
    leaving, staying = frames.switch(merged, holds)
    pivot = tf.identity(staying)
    with tf.control_dependencies([pivot]):
        back = frames.next_iteration(body(pivot, *entered))
    merged.op._update_input(1, back)
    return frames.exit(leaving)


def test_a_merge_takes_the_branch_that_is_alive():
    pred, x = tf.placeholder(tf.bool, []), tf.constant([1.0, 2.0])
    value, index = v1_cond(pred, lambda x: x * 10, lambda x: tf.constant([7.0, 7.0]), x)
    with tf.Session() as sess:
        assert sess.run([value, index], {pred: True})[0].tolist() == [10, 20]
        assert sess.run([value, index], {pred: True})[1] == 1
        assert sess.run(value + 1, {pred: False}).tolist() == [8, 8]
        assert sess.run(index, {pred: False}) == 0


def test_only_the_branch_that_is_alive_runs():
    pred = tf.placeholder(tf.bool, [])
    v = tf.Variable(1.0)
    bad = tf.constant([1.0, 2.0])

    def failing(x):
        return tf.reshape(x, tf.fill([1], tf.cast(x[0] * 3, tf.int32)))[0]

    value, _ = v1_cond(pred, lambda x: tf.identity(tf.assign_add(v, 1.0)), failing, bad)
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(value, {pred: True}) == 2
        with pytest.raises(tf.errors.InvalidArgumentError, match="but the requested shape has 3"):
            sess.run(value, {pred: False})
        assert sess.run(v) == 2


def test_conditionals_nest():
    p, q, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, []), tf.constant(3.0)
    value = v1_cond(p, lambda x, q: v1_cond(q, lambda x: x * x, lambda x: -x, x)[0], lambda x, q: x + 100, x, q)[0]
    with tf.Session() as sess:
        assert [sess.run(value, {p: a, q: b}) for a in (True, False) for b in (True, False)] == [9, -3, 103, 103]


def test_a_dead_tensor_can_not_be_fetched():
    pred = tf.placeholder(tf.bool, [])
    no, yes = frames.switch(tf.constant(1.0), pred)
    with tf.Session() as sess:
        assert sess.run(yes + 1, {pred: True}) == 2
        for dead in (no, no + 1):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"Retval\[0\] does not have value"):
                sess.run(dead, {pred: True})


def test_a_merge_of_dead_tensors_is_dead():
    p, q = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, [])
    x = tf.constant(1.0)
    value = frames.merge([frames.switch(x, p)[1] * 2, frames.switch(x, q)[1] * 3])[0]
    with tf.Session() as sess:
        assert sess.run(value, {p: True, q: False}) == 2
        assert sess.run(value, {p: False, q: True}) == 3
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not have value"):
            sess.run(value, {p: False, q: False})


def test_a_control_trigger_runs_after_dead_ops():
    pred = tf.placeholder(tf.bool, [])
    with tf.control_dependencies([frames.switch(tf.constant(1.0), pred)[1] + 1]):
        trigger, waits = apply("ControlTrigger"), tf.constant(5.0) + 0.0
    with tf.control_dependencies([trigger]):
        alive = tf.constant(6.0) + 0.0
    with tf.Session() as sess:
        assert sess.run(alive, {pred: False}) == 6
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not have value"):
            sess.run(waits, {pred: False})


def test_a_frame_loops():
    n = tf.placeholder(tf.int32, [])
    last = v1_while(lambda i, n: i < n, lambda i, n: i * 2 + 1, tf.constant(0), n)
    with tf.Session() as sess:
        assert [sess.run(last, {n: k}) for k in (0, 1, 5, 100)] == [0, 1, 7, 127]


def test_frames_nest():
    n = tf.constant(4)

    def body(i, n):
        inner = v1_while(lambda j, i: j < i, lambda j, i: j + 1, i * 0, i, name="inner")
        return inner + 1

    last = v1_while(lambda i, n: i < n, body, tf.constant(0), n, name="outer")
    with tf.Session() as sess:
        assert sess.run(last) == 4


def test_a_loop_on_a_branch_runs_only_there():
    pred, x = tf.placeholder(tf.bool, []), tf.constant(1)
    value = v1_cond(pred, lambda x: v1_while(lambda i: i < 9, lambda i: i * 2, x), lambda x: -x, x)[0]
    with tf.Session() as sess:
        assert [sess.run(value, {pred: p}) for p in (True, False)] == [16, -1]


def test_a_conditional_in_a_loop():
    n = tf.constant(20)
    last = v1_while(lambda i, n: i < n, lambda i, n: v1_cond(tf.equal(i % 2, 0), lambda i: i + 1, lambda i: i * 3, i)[0], tf.constant(0), n)
    with tf.Session() as sess:
        assert sess.run(last) == 27


def test_any_frame_runs_in_rounds():
    # Not a loop: the frame has no condition of its own.
    a, b = frames.enter(tf.constant([1, 2]), "frame"), frames.enter(tf.constant(5), "frame")
    with tf.Session() as sess:
        assert sess.run(frames.exit(a * b)).tolist() == [5, 10]


def test_what_enters_once_is_dead_in_the_second_round():
    never, n = frames.enter(tf.constant(False), "frame"), frames.enter(tf.constant(10), "frame")
    merged = frames.merge([n, n])[0]
    leaving = frames.switch(merged, never)[0]
    merged.op._update_input(1, frames.next_iteration(leaving))
    with tf.Session() as sess:
        assert sess.run(frames.exit(leaving)) == 10


def test_inputs_must_be_of_one_frame():
    total = frames.enter(tf.constant(1), "one") + frames.enter(tf.constant(1), "other")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="has inputs from different frames"):
        sess.run(total)


def test_references_go_through_frames():
    v = tf.Variable(7)
    entered = frames.enter(v, "frame", is_constant=True)
    assert entered.dtype == tf.int32._as_ref
    with tf.control_dependencies([tf.assign(entered, frames.enter(tf.constant(9), "frame"))]):
        out = frames.exit(frames.identity(entered))
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(out) == 9
        assert sess.run(v) == 9


def test_slices_switch_and_merge():
    pred = tf.placeholder(tf.bool, [])
    data = tf.IndexedSlices(tf.constant([1, 2]), tf.constant([3, 4]))
    zero, one = frames.switch(data, pred)
    merged = frames.merge([zero, one])[0]
    with tf.Session() as sess:
        values, indices = sess.run([merged.values, merged.indices], {pred: True})
    assert (values.tolist(), indices.tolist()) == ([1, 2], [3, 4])


def test_stacks_give_back_what_was_pushed_last():
    stack = apply("StackV2", -1, elem_type=tf.float32)
    first = apply("StackPushV2", stack, tf.constant([1.0]))
    with tf.control_dependencies([first]):
        second = apply("StackPushV2", stack, tf.constant([2.0]))
    with tf.control_dependencies([second]):
        top = apply("StackPopV2", stack, elem_type=tf.float32)
    with tf.control_dependencies([top]):
        below = apply("StackPopV2", stack, elem_type=tf.float32)
    with tf.control_dependencies([below]):
        none = apply("StackPopV2", stack, elem_type=tf.float32)
    with tf.Session() as sess:
        assert np.concatenate(sess.run([top, below])).tolist() == [2, 1]
        with pytest.raises(tf.errors.InvalidArgumentError, match="is empty when calling Pop"):
            sess.run(none)


def test_full_stacks_take_no_more():
    stack = apply("StackV2", 0, elem_type=tf.float32)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="overflowed its max_size"):
        sess.run(apply("StackPushV2", stack, 1.0))


# -- gradients


def derivatives(y, x, order=2):
    found = [y]
    for _ in range(order):
        found.append(tf.gradients(found[-1], x)[0])
    return found


def test_conditionals_are_differentiated():
    p, x = tf.placeholder(tf.bool, []), tf.constant(3.0)
    orders = derivatives(v1_cond(p, lambda x: x * x * x, lambda x: tf.constant(2.0) * x, x)[0], x)
    with tf.Session() as sess:
        assert sess.run(orders, {p: True}) == [27, 27, 18]
        assert sess.run(orders[:2], {p: False}) == [6, 2]


def test_frames_are_differentiated():
    x, n = tf.constant(2.0), tf.placeholder(tf.float32, [])
    y = v1_while(lambda y, n, x: y < n, lambda y, n, x: y * x, x, n, x)
    orders = derivatives(y, x)
    with tf.Session() as sess:
        assert sess.run(orders, {n: 7.0}) == [8, 12, 12]
        assert sess.run(orders[:2], {n: 0.0}) == [2, 1]


def test_the_names_of_a_graph_stay_when_it_is_differentiated():
    x = tf.constant(2.0)
    y = v1_while(lambda y, x: y < 10.0, lambda y, x: y * x, x, x)
    with tf.Session() as sess:
        before = sess.run(y)
        tf.gradients(y, x)
        assert sess.run(y.name) == before == 16


def test_nested_control_flow_is_differentiated():
    p, x = tf.placeholder(tf.bool, []), tf.constant(2.0)

    def loop(x):
        def body(y, x):
            return v1_cond(y < 3.0, lambda y, x: y * x, lambda y, x: y * y, y, x)[0]

        return v1_while(lambda y, x: y < 10.0, body, x, x)

    y = v1_cond(p, loop, lambda x: v1_cond(x > 1.0, lambda x: x * x, lambda x: x, x)[0], x)[0]
    (dx,) = tf.gradients(y, x)
    with tf.Session() as sess:
        # (x * x) ** 2, and x * x
        assert sess.run([y, dx], {p: True}) == [16, 32]
        assert sess.run([y, dx], {p: False}) == [4, 4]


def test_the_output_of_a_switch_that_is_alive_has_a_gradient():
    p, x = tf.placeholder(tf.bool, []), tf.constant(2.0)
    no, yes = frames.switch(x, p)
    found = [tf.gradients(yes * 3.0, x)[0], tf.gradients(no * 5.0, x)[0]]
    with tf.Session() as sess:
        assert sess.run(found, {p: True}) == [3, 0]
        assert sess.run(found, {p: False}) == [0, 5]


def test_ops_know_their_part():
    from everflow.ops.control_flow import context_queries as queries

    x = tf.constant(1.0)
    y = v1_while(lambda y: y < 10.0, lambda y: v1_cond(y < 5.0, lambda y: y * 2.0, lambda y: y + 1.0, y)[0], x)
    assert queries.is_loop_exit(y.op)
    ops = tf.get_default_graph().get_operations()
    assert sum(map(queries.is_loop_enter, ops)) == 1
    assert [sum(map(q, ops)) for q in (queries.is_switch, queries.is_cond_switch, queries.is_loop_switch)] == [3, 2, 1]
    assert [sum(map(q, ops)) for q in (queries.is_merge, queries.is_cond_merge, queries.is_loop_merge)] == [2, 1, 1]


def test_variables_of_frames_may_change_their_shape():
    y = v1_while(lambda y: tf.size(y) < 8, lambda y: tf.concat([y, y], 0), tf.constant([1.0, 2.0]), keeps_shape=False)
    with tf.Session() as sess:
        assert sess.run(y).tolist() == [1, 2] * 4


def test_frames_know_the_shapes_that_stay():
    i = v1_while(lambda i: i < 5, lambda i: i + 1, tf.constant(0), keeps_shape=False)
    with tf.Session() as sess:
        assert sess.run(i) == 5
        (loop,) = sess._context.loops.values()
        (steps,) = loop.compiled.values()
    assert loop.counted == [0] and steps.truth is bool


@pytest.mark.parametrize("index, alive", [(0, 0), (1, 1), (2, 2), (3, 2), (-1, 2)])
def test_of_many_ways_one_is_alive(session, index, alive):
    ways = apply("_SwitchN", 1.0, index, num_outs=3, name="ways")
    value, which = frames.merge([way + 10 * i for i, way in enumerate(ways)])
    assert session.run([value, which]) == [1 + 10 * alive, alive]
    assert session.run(ways[alive]) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Retval\[0\] does not have value"):
        session.run(ways[alive - 1])
