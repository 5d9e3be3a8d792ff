"""Each pass changes nothing but speed: the same values with and without it, and fewer nodes."""
import numpy as np
import pytest

import everflow as tf
from everflow.runtime import codegen, passes
from everflow.runtime.context import Context
from everflow.runtime.passes.broadcast_gradients import sum_to_shape
from everflow.runtime.passes.constants import fold_constants
from everflow.runtime.passes.identities import drop_default_scales, drop_identities
from everflow.runtime.passes.overwritten_inputs import overwrite_inputs
from everflow.runtime.passes.subexpressions import share_subexpressions
from everflow.runtime.passes.variable_updates import scale_updates
from everflow.runtime.plan import make_plan


def compiled(fetches, feeds, rewrites):
    plan = make_plan(Context(tf.get_default_graph()), fetches, [], feeds)
    passes.run(plan, rewrites)
    return codegen.generate(plan)


def types(step):
    return sorted(call.node.type for call in step.calls)


def values(step, *arguments):
    import torch

    return [np.asarray(v) for v in step.call(*[torch.tensor(a) for a in arguments])]


def same_with_and_without(fetches, feeds, rewrite, *arguments):
    plain, rewritten = compiled(fetches, feeds, ()), compiled(fetches, feeds, (rewrite,))
    for a, b in zip(values(plain, *arguments), values(rewritten, *arguments)):
        np.testing.assert_array_equal(a, b)
    return plain, rewritten


def test_identities_go():
    x = tf.placeholder(tf.float32, [2])
    y = tf.identity(tf.stop_gradient(tf.identity(x) * 2.0))
    plain, rewritten = same_with_and_without([y], [x], drop_identities, [1.0, 2.0])
    assert "Identity" in types(plain) and types(rewritten) == ["Mul"]


def test_random_numbers_are_not_scaled_by_one():
    plain, rewritten = same_with_and_without([tf.random_normal([3], seed=1)], [], drop_default_scales)
    assert len(types(plain)) == 3 and types(rewritten) == ["RandomStandardNormal"]
    plain, rewritten = same_with_and_without([tf.random_normal([3], mean=1.0, seed=1)], [], drop_default_scales)
    assert len(types(rewritten)) == 2


def test_an_identity_that_reads_a_variable_stays():
    v = tf.Variable([1.0, 2.0])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = tf.identity(v._ref())
        with tf.control_dependencies([before]):
            change = tf.assign_add(v, [1.0, 1.0])
        old, _ = sess.run([before, change])
        np.testing.assert_array_equal(old, [1.0, 2.0])


def test_constants_fold_through_chains_and_shapes():
    x = tf.placeholder(tf.float32, [2, 3])
    y = tf.reshape(x, tf.concat([tf.shape(x)[1:], [tf.constant(1) + 1]], 0))
    plain, rewritten = same_with_and_without([y], [x], fold_constants, np.arange(6, dtype=np.float32).reshape(2, 3))
    assert len(plain.calls) > 2 and types(rewritten) == ["Reshape"]


def test_an_error_in_a_constant_is_raised_when_it_runs():
    x = tf.constant(1) // tf.constant(0)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="[Dd]ivision by zero"):
        sess.run(x)


def test_equal_subexpressions_are_computed_once():
    x = tf.placeholder(tf.float32, [2])
    y = tf.exp(x) * tf.exp(x)
    plain, rewritten = same_with_and_without([y], [x], share_subexpressions, [0.5, 1.5])
    assert types(plain).count("Exp") == 2 and types(rewritten).count("Exp") == 1


def test_random_ops_are_not_shared():
    a, b = tf.random_uniform([4]), tf.random_uniform([4])
    with tf.Session() as sess:
        x, y = sess.run([a, b])
    assert (x != y).any()


def test_what_nothing_needs_is_left_out_but_effects_stay():
    v = tf.Variable(0.0)
    x = tf.constant(2.0)
    with tf.control_dependencies([tf.assign_add(v, 1.0), tf.exp(x)]):
        y = tf.identity(x)
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(y)
        assert sess.run(v) == 1.0
        step = sess._runner(y, None).step
        assert "Exp" not in types(step) and "AssignAdd" in types(step)


def test_a_read_is_a_snapshot_when_a_write_follows():
    v = tf.Variable([1.0, 2.0], use_resource=True)
    before = v.read_value()
    with tf.control_dependencies([before]):
        change = v.assign_add([10.0, 10.0])
    with tf.control_dependencies([change]):
        twice = before * 2.0
    with tf.Session() as sess:
        sess.run(v.initializer)
        np.testing.assert_array_equal(sess.run(twice), [2.0, 4.0])


def test_fetched_arrays_never_change():
    v = tf.Variable([1.0, 2.0])
    c = tf.constant([5.0, 6.0])
    change = tf.assign_add(v, [1.0, 1.0])
    with tf.Session() as sess:
        sess.run(v.initializer)
        first, constant = sess.run([v, c])
        sess.run(change)
        np.testing.assert_array_equal(first, [1.0, 2.0])
        constant[:] = 0.0
        np.testing.assert_array_equal(sess.run(c), [5.0, 6.0])


def gradients_of_a_network():
    """A little network with everything that passes look for: its fetches and feeds."""
    tf.set_random_seed(3)
    x = tf.placeholder(tf.float32, [None, 8, 8, 1])
    y = tf.placeholder(tf.int64, [None])
    kernel = tf.constant(np.random.RandomState(0).randn(3, 3, 1, 4).astype(np.float32))
    h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, kernel, [1, 1, 1, 1], "SAME"), tf.constant([0.1, -0.1, 0.2, 0.0])))
    h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    h = tf.reshape(h, [-1, 64])
    w = tf.constant(np.random.RandomState(1).randn(64 + 5, 5).astype(np.float32))
    b = tf.constant([0.1, 0.2, 0.3, 0.4, 0.5])
    state = tf.zeros(tf.stack([tf.shape(x)[0], 5]))
    both_w, both_b = tf.concat([w, w], 1), tf.concat([b, b], 0)
    for _ in range(4):
        gate, out = tf.split(tf.matmul(tf.concat([h, state], 1), both_w) + both_b, 2, axis=1)
        state = state * tf.sigmoid(gate) + tf.tanh(out)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=state))
    return [loss, *tf.gradients(loss, [kernel, w, b, x])], [x, y]


@pytest.mark.parametrize("rewrite", passes.PASSES, ids=lambda f: f.__name__)
def test_a_network_is_the_same_with_each_pass(rewrite):
    fetches, feeds = gradients_of_a_network()
    data = np.random.RandomState(2).rand(3, 8, 8, 1).astype(np.float32), np.array([0, 3, 4])
    for a, b in zip(values(compiled(fetches, feeds, ()), *data), values(compiled(fetches, feeds, (rewrite,)), *data)):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_a_network_is_the_same_with_all_passes_and_much_shorter():
    fetches, feeds = gradients_of_a_network()
    data = np.random.RandomState(2).rand(3, 8, 8, 1).astype(np.float32), np.array([0, 3, 4])
    plain, rewritten = compiled(fetches, feeds, ()), compiled(fetches, feeds, passes.PASSES)
    for a, b in zip(values(plain, *data), values(rewritten, *data)):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    assert len(rewritten.calls) < 0.6 * len(plain.calls)
    found = types(rewritten)
    fused = {"_MatMulBias", "_ConvBias", "_MaxPoolWithPositions", "_MaxPoolGradFromPositions", "_Part", "_SumOfProducts", "_DivideBySize"}
    assert fused <= set(found)
    assert "BroadcastGradientArgs" not in found


def test_unknown_sizes_that_may_differ_are_broadcast_at_run_time():
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 3])
    grads = tf.gradients(x * y, [x, y])
    a, b = np.ones((1, 3), np.float32), np.full((4, 3), 2.0, np.float32)
    with tf.Session() as sess:
        dx, dy = sess.run(grads, {x: a, y: b})
        np.testing.assert_array_equal(dx, np.full((1, 3), 8.0))
        np.testing.assert_array_equal(dy, np.ones((4, 3)))
        dx, dy = sess.run(grads, {x: b, y: a})
        np.testing.assert_array_equal(dx, np.ones((4, 3)))
        np.testing.assert_array_equal(dy, np.full((1, 3), 8.0))


@pytest.mark.parametrize("optimizer", [lambda: tf.train.AdamOptimizer(0.1), lambda: tf.train.MomentumOptimizer(0.1, 0.9),
                                       lambda: tf.train.AdagradOptimizer(0.1)])
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


def test_results_are_written_over_what_nothing_needs():
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.tanh(tf.nn.relu(x * 2.0) + x)
    plain, rewritten = same_with_and_without([y], [x], passes.overwrite_inputs, [[1.0, -2.0, 3.0]])
    assert types(plain) == ["AddV2", "Mul", "Relu", "Tanh"] and types(rewritten) == ["Mul", "_AddV2Over", "_ReluOver", "_TanhOver"]


def test_what_is_fed_fetched_or_used_twice_is_never_overwritten():
    x = tf.placeholder(tf.float32, [None, 3])
    doubled = x * 2.0
    y, z = tf.nn.relu(doubled), tf.tanh(doubled)
    fed = np.array([[1.0, -2.0, 3.0]], np.float32)
    with tf.Session() as sess:
        a, b, c = sess.run([doubled, y, z], {x: fed})
        np.testing.assert_array_equal(a, fed * 2)
        np.testing.assert_array_equal(b, np.maximum(fed * 2, 0))
        np.testing.assert_allclose(c, np.tanh(fed * 2), rtol=1e-6)
        sess.run(tf.nn.relu(x), {x: fed})
        np.testing.assert_array_equal(fed, [[1.0, -2.0, 3.0]])


def test_a_smaller_operand_is_not_overwritten():
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 3])
    z = x * 2.0 + y * 3.0
    with tf.Session() as sess:
        found = sess.run(z, {x: np.ones((1, 3)), y: np.ones((2, 3))})
    np.testing.assert_array_equal(found, np.full((2, 3), 5.0))


def test_a_relu_works_on_what_pooling_leaves():
    x = tf.placeholder(tf.float32, [None, 5, 5, 2])
    y = tf.nn.max_pool(tf.nn.relu(x), [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    data = np.random.RandomState(0).randn(3, 5, 5, 2).astype(np.float32)
    plain, rewritten = same_with_and_without([y], [x], passes.pool_before_relu, data)
    assert [c.node.type for c in plain.calls] == ["Relu", "MaxPool"] and [c.node.type for c in rewritten.calls] == ["MaxPool", "Relu"]


def test_a_relu_that_is_needed_by_itself_stays_before_pooling():
    x = tf.placeholder(tf.float32, [None, 4, 4, 1])
    h = tf.nn.relu(x)
    y = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    data = np.random.RandomState(0).randn(2, 4, 4, 1).astype(np.float32)
    _, rewritten = same_with_and_without([y, h], [x], passes.pool_before_relu, data)
    assert [c.node.type for c in rewritten.calls] == ["Relu", "MaxPool"]


def test_gradients_of_sizes_known_only_at_run_time_are_summed_by_one_node():
    x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 2])
    found = tf.gradients(x * y, [x, y])
    a, b, row = [[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]], [[5.0, 6.0]]
    for other in (b, row):
        _, rewritten = same_with_and_without(found, [x, y], sum_to_shape, a, other)
    assert types(rewritten).count("_SumToShape") == 2
    assert "Sum" not in types(rewritten)


def test_two_terms_are_added_in_place():
    x, y = tf.placeholder(tf.float32, [2, 2]), tf.placeholder(tf.float32, [2, 2])
    a, b = np.eye(2, dtype="f"), np.ones((2, 2), "f")
    _, rewritten = same_with_and_without([tf.add_n([x, tf.matmul(x, y)])], [x, y], overwrite_inputs, a, b)
    assert types(rewritten) == ["MatMul", "_AddNOver"]


def test_counters_of_loops_and_their_conditions_are_plain_numbers():
    n, x = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [3])
    i, total, last = tf.while_loop(
        lambda i, t, _: i < n, lambda i, t, _: (i + 2, t + x[tf.minimum(i, 2)], tf.cast(i, tf.float32)), [0, 0.0, 0.0])
    with tf.Session() as sess:
        assert sess.run([i, total, last], {n: 5, x: [1, 10, 100]}) == [6, 201, 4]
        assert sess.run([i, total, last], {n: 0, x: [1, 10, 100]}) == [0, 0, 0]
        assert sess.run(i, {n: 3, x: [0, 0, 0]}).dtype == np.int32
        loops = [steps for loop in sess._context.loops.values() for steps in loop.compiled.values()]
    # One with all variables, and one that only counts.
    assert [loop.decides_on_host for loop in loops] == [True, True]
    assert [[c.node.type for c in loop.condition.calls] for loop in loops] == [["_HostLess"]] * 2
