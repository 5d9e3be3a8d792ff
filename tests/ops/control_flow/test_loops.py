"""tf.while_loop and its gradients."""

import numpy as np
import pytest

import everflow as tf
from everflow import errors
from running import run


def repeat(times, body, start):
    """`body` applied `times` times to a value."""
    return tf.while_loop(lambda i, x: i < times, lambda i, x: (i + 1, body(x)), [0, start])[1]


def slope(function, x, step=1e-5):
    return (function(x + step) - function(x - step)) / (2 * step)


def test_the_body_runs_while_the_condition_holds():
    n = tf.placeholder(tf.int32, [])
    y = repeat(n, lambda x: x * 2.0, tf.constant(1.0))
    assert [run(y, {n: times}) for times in (0, 1, 10)] == [1.0, 2.0, 1024.0]


def test_results_are_named_and_structured_as_in_tensorflow_1():
    i, pair = tf.while_loop(lambda i, p: i < 3, lambda i, p: (i + 1, {"a": p["a"] * 2, "b": p["b"]}), (0, {"a": 1, "b": 2.0}), name="loop")
    assert (i.name, pair["a"].name, pair["b"].name) == ("loop/Exit:0", "loop/Exit_1:0", "loop/Exit_2:0")
    assert run(pair) == {"a": 8, "b": 2.0}


def test_one_variable_comes_back_alone_unless_the_structure_is_to_be_kept():
    assert isinstance(tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0]), tf.Tensor)
    assert isinstance(tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], return_same_structure=True), list)


def test_python_values_that_the_body_returns_take_the_variables_type():
    _, x = tf.while_loop(lambda i, x: i < 1, lambda i, x: (i + 1, 3), [0, 1.0])
    assert run(x) == 3.0


def test_shapes_may_vary_where_the_invariant_says_so():
    _, x = tf.while_loop(
        lambda i, x: i < 3,
        lambda i, x: (i + 1, tf.concat([x, x], 0)),
        [0, tf.ones([2])],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )
    assert x.shape.as_list() == [None]
    assert run(x).shape == (16,)


def test_maximum_iterations():
    assert run(tf.while_loop(lambda i: True, lambda i: i + 1, [0], maximum_iterations=7)) == 7
    i, x = tf.while_loop(lambda i, x: i < 3, lambda i, x: [i + 1, x * 2], [0, 1], maximum_iterations=100)
    assert run([i, x]) == [3, 8]


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ((lambda: True, lambda: None, []), ValueError, "No loop variables provided"),
        ((3, lambda i: i, [0]), TypeError, "cond must be callable."),
        ((lambda i: True, 3, [0]), TypeError, "body must be callable."),
        ((lambda i: i, lambda i: i, [0]), TypeError, "Input 'input' of 'LoopCond' Op has type int32"),
        ((lambda i: [True], lambda i: i, [0]), ValueError, "Shape must be rank 0 but is rank 1 for 'while/LoopCond'"),
        ((lambda i, x: True, lambda i, x: [i], [0, 1]), ValueError, "The two structures don't have the same nested structure."),
        ((lambda i: True, lambda i: None, [0]), ValueError, "None values not supported."),
        (
            (lambda i: True, lambda i: tf.stack([i, i]), [0]),
            ValueError,
            "enters the loop with shape (), but has shape (2,) after one iteration",
        ),
        (
            (lambda i: True, lambda i: i, [np.zeros(2)], [tf.TensorShape([3])]),
            ValueError,
            "is not compatible with the initial shape of the loop variable. It enters the loop with shape (2,), but the specified",
        ),
        ((lambda i: True, lambda i: i, [0], ["foo"]), ValueError, "`shapes` must be a (possibly nested) list of shapes."),
    ],
)
def test_mistakes(arguments, error, message):
    with pytest.raises(error) as caught:
        tf.while_loop(*arguments)
    assert message in str(caught.value)


def test_gradients_with_respect_to_the_start_and_to_what_is_captured():
    a, w = tf.constant(2.0), tf.constant(3.0)
    y = repeat(4, lambda x: x * w * a, a)
    assert run([y, *tf.gradients(y, [a, w])]) == [2592.0, 6480.0, 3456.0]


def test_gradients_hold_for_any_number_of_iterations():
    n, x = tf.placeholder(tf.int32, []), tf.constant(0.7)
    (dx,) = tf.gradients(repeat(n, tf.sin, x), x)

    def times(count):
        def function(value):
            for _ in range(count):
                value = np.sin(value)
            return value

        return function

    for count in (0, 1, 5):
        np.testing.assert_allclose(run(dx, {n: count}), slope(times(count), 0.7), rtol=1e-4)


def test_a_conditional_in_a_loop_differentiates():
    a, r = tf.constant(2.0), tf.get_variable("r", initializer=3.0, use_resource=True)

    def body(i, z):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: z * r, lambda: tf.sin(z) + a)

    y = tf.while_loop(lambda i, z: i < 4, body, [0, a])[1]

    def same(a, r):
        z = a
        for i in range(4):
            z = z * r if i % 2 == 0 else np.sin(z) + a
        return z

    expected = [same(2, 3), slope(lambda v: same(v, 3), 2), slope(lambda v: same(2, v), 3)]
    np.testing.assert_allclose(run([y, *tf.gradients(y, [a, r])]), expected, rtol=1e-4)


def test_a_loop_in_a_conditional_differentiates():
    x = tf.constant(1.5)
    y = tf.cond(tf.constant(True), lambda: repeat(3, lambda z: z * x, x), lambda: x)
    assert run(tf.gradients(y, x)) == [4 * 1.5**3]


def test_a_loop_in_a_loop_differentiates():
    w = tf.constant(1.1)
    y = repeat(4, lambda z: repeat(3, lambda x: x * w + tf.tanh(x), z), tf.constant(0.5))

    def same(w):
        z = 0.5
        for _ in range(12):
            z = z * w + np.tanh(z)
        return z

    np.testing.assert_allclose(run([y, tf.gradients(y, w)[0]]), [same(1.1), slope(same, 1.1)], rtol=1e-4)


def test_gradients_of_matrices_through_a_loop():
    w = tf.constant(np.random.RandomState(0).uniform(-1, 1, [3, 3]).astype(np.float32))
    x = tf.constant([[1.0, 2.0, 3.0]])
    looped = tf.reduce_sum(repeat(3, lambda h: tf.tanh(tf.matmul(h, w)), x))
    h = x
    for _ in range(3):
        h = tf.tanh(tf.matmul(h, w))
    a, b = run([tf.gradients(looped, [w, x]), tf.gradients(tf.reduce_sum(h), [w, x])])
    for mine, unrolled in zip(a, b):
        np.testing.assert_allclose(mine, unrolled, rtol=1e-5, atol=1e-6)


def test_what_a_loop_does_not_change_has_the_gradient_that_came_in():
    x, y = tf.constant(2.0), tf.constant(5.0)
    _, a, b = tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * 2.0, b), [0, x, y])
    assert run(tf.gradients(a + 7.0 * b, [x, y])) == [8.0, 7.0]


def test_no_gradient_passes_where_none_is_wanted():
    x = tf.constant(2.0)
    y = tf.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, z * z), [0, x], back_prop=False)[1]
    assert tf.gradients(y, x) == [None]


def test_gradients_may_be_added_after_a_run():
    x = tf.constant(2.0)
    y = repeat(2, lambda z: z * z, x)
    with tf.Session() as session:
        assert session.run(y) == 16.0
        assert session.run([y, tf.gradients(y, x)[0]]) == [16.0, 32.0]


@pytest.mark.parametrize("use_resource", [False, True])
def test_effects_happen_in_each_iteration(use_resource):
    v = tf.get_variable("v", initializer=0.0, use_resource=use_resource)

    def body(i):
        with tf.control_dependencies([tf.assign_add(v, 1.0)]):
            return i + 1

    i = tf.while_loop(lambda i: i < 10, body, [0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(i)
        assert session.run(v) == 10.0


def test_values_read_in_one_iteration_outlive_writes_of_the_next():
    v = tf.get_variable("v", initializer=[1.0], use_resource=True)

    def body(i, seen):
        read = v.read_value()
        with tf.control_dependencies([read]):
            written = tf.assign_add(v, [1.0])
        with tf.control_dependencies([written]):
            return i + 1, tf.concat([seen, read], 0)

    _, seen = tf.while_loop(lambda i, _: i < 3, body, [0, tf.zeros([0])], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])
    np.testing.assert_array_equal(run(seen), [1, 2, 3])


def test_an_exported_loop_with_gradients_runs_where_it_is_imported(graph):
    x = tf.constant(1.5)
    y = repeat(3, lambda z: z * x, x)
    dx = tf.gradients(y, x)[0]
    expected = run([y, dx])
    exported = graph.as_graph_def()
    with tf.Graph().as_default():
        found = tf.import_graph_def(exported, return_elements=[y.name, dx.name])
        with tf.Session() as session:
            assert session.run(found) == expected


def test_an_endless_loop_ends_with_its_deadline():
    from everflow.proto import config_pb2

    y = tf.while_loop(lambda i: i >= 0, lambda i: tf.maximum(i, 0), [0])
    with tf.Session() as session, pytest.raises(errors.DeadlineExceededError, match="Timed out waiting for notification"):
        session.run(y, options=config_pb2.RunOptions(timeout_in_ms=50))


def test_a_loop_keeps_only_what_its_gradient_needs(graph):
    x = tf.constant(1.5)
    y = repeat(3, lambda z: z * 2.0, x)
    assert run(tf.gradients(y, x)) == [8.0]
    (loop,) = [op for op in graph.get_operations() if op.name == "while/While"]
    assert not any(t.dtype == tf.variant for t in loop.outputs)


def test_a_reference_variable_that_the_loop_trains_is_read_in_each_step():
    v = tf.Variable([2.0, 3.0])

    def step(i):
        (gradient,) = tf.gradients(tf.reduce_sum(tf.square(v - 1.0)), [v])
        with tf.control_dependencies([tf.assign_sub(v, 0.25 * gradient)]):
            return i + 1

    trained = tf.while_loop(lambda i: i < 2, step, [0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(trained)
        np.testing.assert_array_equal(session.run(v), [1.25, 1.5])


def test_a_tensor_of_a_loop_is_of_no_use_outside():
    inside = []
    tf.while_loop(lambda i: i < 3, lambda i: inside.append(i * 2) or i + 1, [0])
    with pytest.raises(ValueError, match="Cannot use 'while/mul' as input to 'Neg' because 'while/mul' is in a while loop"):
        tf.negative(inside[0])


def test_what_only_unused_results_need_does_not_happen():
    v = tf.Variable(0.0)
    i, _ = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.assign_add(v, 1.0) + 0.0), [0, 0.0])
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(i) == 3
        assert sess.run(v) == 0


def test_values_are_kept_for_gradients_only_where_these_are_computed():
    x = tf.constant(2.0)
    y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x])[1]
    dx = tf.gradients(y, x)[0]
    with tf.Session() as sess:
        assert sess.run(y) == 16
        (loop,) = sess._context.loops.values()
        assert not loop.pushed
        assert sess.run(dx) == 32


def test_a_sparse_variable_may_grow():
    def body(i, x):
        more = tf.SparseTensor(tf.cast(tf.fill([1, 1], i), tf.int64), tf.fill([1], 1.0), x.dense_shape)
        return [i + 1, tf.sparse.add(x, more)]

    start = tf.SparseTensor([[7]], [5.0], [10])
    _, found = tf.while_loop(lambda i, x: i < 3, body, [0, start])
    with tf.Session() as sess:
        value = sess.run(found)
    assert value.indices.tolist() == [[0], [1], [2], [7]]
    assert value.values.tolist() == [1, 1, 1, 5]


def test_sums_of_products_are_settled_in_parts(monkeypatch):
    from everflow.runtime import loop_sums

    x = np.random.RandomState(0).randn(7, 3).astype(np.float32)

    def gradients():
        with tf.Graph().as_default(), tf.Session() as session:
            w, b = tf.constant(np.eye(3, dtype=np.float32)), tf.constant(np.ones(3, np.float32))
            _, y = tf.while_loop(lambda i, h: i < 5, lambda i, h: (i + 1, tf.tanh(tf.nn.bias_add(tf.matmul(h, w), b))), [0, tf.constant(x)])
            return session.run(tf.gradients(tf.reduce_sum(y), [w, b]))

    at_once = gradients()
    monkeypatch.setattr(loop_sums, "MOST_BYTES", 100)
    for a, b in zip(at_once, gradients()):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    h, hs = x, []
    for _ in range(5):
        hs.append(h)
        h = np.tanh(h + 1)
    dh, dw, db = np.ones_like(h), 0, 0
    for before, after in zip(reversed(hs), [h, *reversed(hs)]):
        dz = dh * (1 - after**2)
        dw, db, dh = dw + before.T @ dz, db + dz.sum(0), dz
    np.testing.assert_allclose(at_once[0], dw, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(at_once[1], db, rtol=1e-4, atol=1e-5)


def test_random_ops_in_loops_draw_as_tensorflow_counts():
    """Without an op seed, the number of ops made before says where a random op starts; these are TensorFlow's."""
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        a = tf.constant(1.0)
        seeds = []

        def drawn():
            t = tf.random_shuffle([1.0, 2.0])
            seeds.append(t.op.get_attr("seed2"))
            return t

        def body(i, y):
            drawn()
            drawn()
            return i + 1, y + a

        tf.while_loop(lambda i, y: i < 5, body, [tf.constant(0), tf.constant(0.0)])
        drawn()
        tf.while_loop(lambda i: [i + 1, drawn()][0] < 5, lambda i: [i + 1, drawn()][0], [tf.constant(0)], maximum_iterations=3)
        drawn()
        tf.cond(tf.constant(True), lambda: drawn() + a, lambda: drawn() + a)
        drawn()
    assert seeds == [14, 16, 26, 39, 53, 59, 66, 70, 75]


def test_the_gradient_of_a_vector_added_in_each_iteration_is_one_sum(session):
    x, b = tf.constant(np.linspace(-1, 1, 6).reshape(3, 2), tf.float32), tf.Variable([0.1, -0.2])
    _, h = tf.while_loop(lambda i, h: i < 5, lambda i, h: (i + 1, tf.tanh(h + b)), [0, x])
    written_out = x
    for _ in range(5):
        written_out = tf.tanh(written_out + b)
    session.run(tf.global_variables_initializer())
    found, expected = session.run([tf.gradients(h, b)[0], tf.gradients(written_out, b)[0]])
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert any(loop.sums.terms for loop in session._context.loops.values())


@pytest.mark.parametrize("rows", [3, 0])
def test_what_is_added_in_each_iteration_gets_the_sum_of_its_gradients(session, rows):
    x, w = tf.placeholder(tf.float32, [None, 2]), tf.Variable([[0.5, -0.2], [0.1, 0.3]])
    _, h = tf.while_loop(lambda i, h: i < 4, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w) + x)), [0, x])
    written_out = x
    for _ in range(4):
        written_out = tf.tanh(tf.matmul(written_out, w) + x)
    session.run(tf.global_variables_initializer())
    given = {x: np.linspace(-1, 1, 2 * rows).reshape(rows, 2)}
    found, expected = session.run([tf.gradients(h, [x, w]), tf.gradients(written_out, [x, w])], given)
    for a, b in zip(found, expected):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


def test_what_waits_for_nothing_is_computed_once():
    """`control_dependencies(None)` leaves the loop, as in TensorFlow: weights drawn so are the same in each step, and can be fetched."""
    drawn = []

    def step(i, outputs):
        with tf.control_dependencies(None):
            drawn.append(tf.random_normal([2]))
        return i + 1, outputs.write(i, drawn[-1] * 2)

    _, outputs = tf.while_loop(lambda i, _: i < 3, step, [0, tf.TensorArray(tf.float32, 3)])
    (weights,) = drawn
    assert weights.graph is tf.get_default_graph() and weights.op.name.startswith("while/")
    found, rows = run((weights, outputs.stack()))
    assert rows.tolist() == [(found * 2).tolist()] * 3


def test_what_waits_for_nothing_leaves_loops_in_loops():
    def inner(j, total):
        with tf.control_dependencies(None):
            once = tf.random_uniform([])
        return j + 1, total + tf.cond(j > 0, lambda: once, lambda: once)

    def outer(i, totals):
        return i + 1, totals.write(i, tf.while_loop(lambda j, _: j < 2, inner, [0, 0.0])[1])

    totals = tf.while_loop(lambda i, _: i < 2, outer, [0, tf.TensorArray(tf.float32, 2)])[1].stack()
    first, second = run(totals)
    assert first == second > 0
