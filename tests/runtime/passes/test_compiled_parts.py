"""Compilation on request. Most tests stop before the compiler: the traced part runs as torch's ops one by one."""

import shutil

import numpy as np
import pytest

import everflow as tf
from everflow.graph.opdefs import find
from everflow.ops.core.compilable import ELEMENTS
from everflow.ops.core.registry import apply
from everflow.runtime import compilation

XS = np.random.RandomState(0).randn(6, 300).astype(np.float32)


def config(level=tf.OptimizerOptions.ON_1):
    options = tf.OptimizerOptions(global_jit_level=level)
    return tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=options))


@pytest.fixture
def warnings(monkeypatch):
    found = []
    monkeypatch.setattr(compilation.logging, "warning", lambda text, *values: found.append(text % values))
    return found


@pytest.fixture
def asked(monkeypatch):
    """The shapes for which something would have been compiled, where nothing is."""
    found = []

    def interpreted(graph, examples):
        found.append([tuple(x.shape) for x in examples])
        return lambda xs: graph(*xs)

    monkeypatch.setattr("everflow.runtime.inductor.compiled", interpreted)
    monkeypatch.setattr(compilation, "is_possible", lambda: True)
    return found


@pytest.fixture
def made(asked, monkeypatch):
    """The same, and native loops are no reason not to compile."""
    monkeypatch.setattr(compilation.Part, "is_one_loop", False)
    return asked


def types(session, fetches, feed):
    return [call.node.type for call in session._runner(fetches, feed).step.calls]


def both(fetches, feed, level=tf.OptimizerOptions.ON_1):
    """What a session computes that was not asked to compile, and one that was, of the same variables."""
    results = []
    for options in (None, config(level)):
        with tf.Session(config=options) as session:
            session.run(tf.global_variables_initializer())
            results.append([session.run(fetches, feed) for _ in range(2)])
    return results


def normalized(x):
    mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
    return (x - mean) * tf.rsqrt(variance + 1e-6)


def perceptron(x):
    w = tf.get_variable("w", [300, 40], initializer=tf.random_normal_initializer(stddev=0.1, seed=1))
    v = tf.get_variable("v", [40, 1], initializer=tf.random_normal_initializer(stddev=0.1, seed=2))
    h = tf.tanh(normalized(tf.matmul(x, w)))
    return tf.reduce_mean(tf.square(tf.matmul(h, v) - tf.reduce_sum(x, 1, keepdims=True)))


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
def test_compiled_code_computes_the_same_and_what_stays_outside_is_as_before():
    x = tf.placeholder(tf.float32, [None, 300])
    y = tf.nn.softmax(normalized(x) * 2.0 + tf.tanh(x)) * tf.where(x > 0, tf.exp(x), tf.log1p(tf.abs(x)))
    plain, compiled = both([y, tf.gradients(y * y, x)[0]], {x: XS})
    np.testing.assert_allclose(compiled[1][0], plain[1][0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(compiled[1][1], plain[1][1], rtol=1e-4, atol=1e-5)


def test_what_one_native_loop_computes_is_left_to_it(asked):
    x = tf.placeholder(tf.float32, [None, 300])
    one, several = normalized(x) * 2.0, tf.transpose(normalized(x)) * 2.0 + tf.reduce_sum(x)
    with tf.Session(config=config()) as session, tf.Session() as plain:
        np.testing.assert_array_equal(session.run(one, {x: XS}), plain.run(one, {x: XS}))
        assert not asked
        np.testing.assert_allclose(session.run(several, {x: XS}), plain.run(several, {x: XS}), rtol=1e-5, atol=1e-5)
        assert len(asked) == 1


def test_products_and_updates_stay_outside(made):
    x = tf.placeholder(tf.float32, [None, 300])
    loss = perceptron(x)
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    plain, compiled = both([train, loss], {x: XS})
    np.testing.assert_allclose([loss for _, loss in compiled], [loss for _, loss in plain], rtol=1e-5)
    with tf.Session(config=config()) as session:
        found = types(session, [train, loss], {x: XS})
    assert found.count("_Compiled") == len(made) and "MatMul" in found and "_ApplyAdamTogether" in found
    assert "Tanh" not in found and "Mean" not in found


def test_sizes_of_batches_are_part_of_the_code(made):
    x = tf.placeholder(tf.float32, [None, 300])
    loss = tf.reduce_mean(tf.reduce_sum(tf.square(x) * tf.sigmoid(x), -1))
    plain, compiled = both([loss, tf.gradients(loss, x)[0]], {x: XS})
    np.testing.assert_allclose(compiled[0][1], plain[0][1], rtol=1e-5, atol=1e-6)
    with tf.Session(config=config()) as session:
        assert types(session, [loss, tf.gradients(loss, x)[0]], {x: XS}) == ["_Compiled"]


@pytest.mark.parametrize("dims", [[300], [6, 300]])
def test_what_is_filled_is_part_of_the_code(dims, made, warnings):
    x = tf.placeholder(tf.float32, dims)
    scale = tf.div_no_nan(tf.reduce_sum(x), tf.reduce_sum(x * x))
    y = tf.where(x > 0.0, tf.pow(tf.abs(x) + 1.0, 1.5), tf.expm1(x)) * scale + tf.fill([300], 0.5)
    z = tf.reduce_sum(tf.maximum(y, tf.fill([300], tf.reduce_sum(x))))
    plain, compiled = both([y, tf.gradients(z, x)[0]], {x: XS[0] if len(dims) == 1 else XS})
    for one, other in zip(plain[0], compiled[0]):
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-5)
    assert made and not warnings


def test_a_second_shape_makes_code_for_any_batch(made):
    x = tf.placeholder(tf.float32, [None, 300])
    y = normalized(x) * 2.0
    with tf.Session(config=config()) as session, tf.Session() as plain:
        for rows in (6, 4, 5, 3, 6):
            np.testing.assert_allclose(session.run(y, {x: XS[:rows]}), plain.run(y, {x: XS[:rows]}), rtol=1e-5, atol=1e-6)
    assert len(made) == 2 and made[0] == [(6, 300)]


@pytest.mark.parametrize("seconds", [(2.0, 1.0), (1.0, 2.0)])
def test_the_faster_of_what_is_compiled_and_what_is_not_stays(seconds, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(compilation.time, "perf_counter", lambda: now[0])

    def rival(i):
        def run(xs):
            now[0] += seconds[i]
            return i

        return run

    rivals = [rival(0), rival(1)]
    ready = {}
    contest = compilation.Contest(ready, "key", *rivals)
    assert {contest.run([]) for _ in range(2 * compilation.TURNS)} == {0, 1}
    assert ready["key"] is rivals[seconds.index(min(seconds))]


def test_shapes_that_stay_are_computed_the_same_whatever_wins(made):
    x = tf.placeholder(tf.float32, [None, 300])
    y = normalized(x) * 2.0
    with tf.Session(config=config()) as session, tf.Session() as plain:
        expected = plain.run(y, {x: XS})
        for _ in range(3 * compilation.TURNS):
            np.testing.assert_allclose(session.run(y, {x: XS}), expected, rtol=1e-5, atol=1e-6)
    assert len(made) == 1


def test_what_comes_in_ever_other_shapes_ends_up_as_usual(made):
    x = tf.placeholder(tf.float32, [None, None])
    y = tf.reshape(x, [3, -1]) * 2.0 + 1.0
    y = tf.reduce_sum(y * y, 1)
    with tf.Session(config=config()) as session:
        for n in range(1, 12):
            np.testing.assert_allclose(session.run(y, {x: np.ones([n, 3], np.float32)}), [9.0 * n] * 3)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(y, {x: np.ones([1, 1], np.float32)})
    assert len(made) <= compilation.MOST_VERSIONS


def test_errors_name_the_op_as_they_do_without_compilation(made):
    x, y = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    total = tf.reduce_sum(tf.tanh(x + y) * 2.0)
    with tf.Session() as plain, tf.Session(config=config()) as session:
        errors = []
        for s in (plain, session):
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                s.run(total, {x: [1.0, 2.0], y: [1.0, 2.0, 3.0]})
            errors.append((caught.value.message, caught.value.op.name))
        assert errors[0] == errors[1]
        assert session.run(total, {x: [0.0], y: [0.0]}) == 0 and len(made) == 1


def test_what_the_compiler_refuses_runs_as_usual_and_says_so(made, monkeypatch, warnings):
    def refuse(graph, examples):
        raise RuntimeError("no such luck")

    monkeypatch.setattr("everflow.runtime.inductor.compiled", refuse)
    x = tf.placeholder(tf.float32, [6, 300])
    y = normalized(x)
    with tf.Session(config=config()) as session, tf.Session() as plain:
        for _ in range(2):
            np.testing.assert_array_equal(session.run(y, {x: XS}), plain.run(y, {x: XS}))
    assert warnings == ["moments/mean and 6 more ops run as usual: no such luck"]


def test_without_a_compiler_steps_are_as_usual(monkeypatch, warnings):
    monkeypatch.setattr("torch._inductor.cpp_builder.get_cpp_compiler", lambda: "no-such-compiler")
    compilation.is_possible.cache_clear()
    x = tf.placeholder(tf.float32, [6, 300])
    y = normalized(x)
    try:
        with tf.Session(config=config()) as session, tf.Session() as plain:
            np.testing.assert_array_equal(session.run(y, {x: XS}), plain.run(y, {x: XS}))
            session.run(y * 2.0, {x: XS})
    finally:
        compilation.is_possible.cache_clear()
    assert len(warnings) == 1 and "no C++ compiler" in warnings[0]


def test_a_scope_marks_its_ops_and_their_gradients(made):
    x = tf.placeholder(tf.float32, [6, 300])
    with tf.xla.experimental.jit_scope():
        y = normalized(x)
    z = tf.tanh(tf.reduce_sum(y * y, 0))
    with tf.Session() as session:
        assert types(session, z, {x: XS}).count("_Compiled") == 1
        assert types(session, z, {x: XS})[0] == "_Compiled" and "_TanhOver" in types(session, z, {x: XS})
    gradient = tf.gradients(y, x)[0].op.inputs[0]
    assert gradient.op.get_attr("_XlaCompile") and gradient.op.get_attr("_XlaScope") == b"jit_scope_0"


def test_gradients_may_be_in_a_scope_of_their_own():
    x = tf.placeholder(tf.float32, [3])
    with tf.xla.experimental.jit_scope(separate_compiled_gradients=True):
        y = tf.tanh(x)
    assert tf.gradients(y, x)[0].op.get_attr("_XlaScope") == b"jit_scope_0_grad_gradients"


def test_computations_to_compile_are_compiled(made):
    x = tf.placeholder(tf.float32, [6, 300])
    (y,) = tf.xla.experimental.compile(normalized, [x])
    with tf.Session() as session:
        assert "_Compiled" in types(session, y, {x: XS})
        np.testing.assert_allclose(session.run(y, {x: XS}), session.run(normalized(x), {x: XS}), rtol=1e-5, atol=1e-6)


def test_flags_ask_for_all_sessions_but_those_that_say_no(made, monkeypatch):
    monkeypatch.setenv("TF_XLA_FLAGS", "--tf_xla_cpu_global_jit --tf_xla_auto_jit=2")
    x = tf.placeholder(tf.float32, [6, 300])
    y = normalized(x)
    assert types(tf.Session(), y, {x: XS}) == ["_Compiled"]
    assert "_Compiled" not in types(tf.Session(config=config(tf.OptimizerOptions.OFF)), y, {x: XS})


def test_functions_are_compiled_on_request(made, eager):
    f = tf.function(normalized, experimental_compile=True)
    g = tf.function(normalized)
    np.testing.assert_allclose(f(tf.constant(XS)), g(tf.constant(XS)), rtol=1e-5, atol=1e-6)
    assert len(made) == 1
    tf.config.optimizer.set_jit(True)
    try:
        tf.function(lambda x: normalized(x) * 2.0)(tf.constant(XS))
    finally:
        tf.config.optimizer.set_jit(False)
    assert len(made) == 2


def test_what_is_written_between_keeps_its_place(made):
    v = tf.Variable(np.ones([2, 300], np.float32))
    before = normalized(v * XS[:2]) + v
    with tf.control_dependencies([before]):
        assign = tf.assign_add(v, tf.ones([2, 300]))
    with tf.control_dependencies([assign]):
        after = normalized(v.read_value() * XS[:2]) + v.read_value()
    plain, compiled = both([before, after], {})
    np.testing.assert_allclose(compiled, plain, rtol=1e-5, atol=1e-5)


def test_results_share_no_memory(made):
    x = tf.placeholder(tf.float32, [300, 6])
    y = tf.reduce_max(tf.tanh(x), 0) * 2.0
    turned, same = tf.transpose(x), tf.reshape(y, [2, 3])
    with tf.Session(config=config()) as session:
        fed = XS.reshape(300, 6).copy()
        first, second, third = session.run([turned, same, y], {x: fed})
    first[:], second[:] = 0, 0
    assert fed.any() and third.any()


@pytest.mark.parametrize("name", sorted(ELEMENTS - {"Cast", "ClipByValue", "Fill"}))
def test_element_wise_ops_are_traced(name, made, warnings):
    kinds = ["bool" if arg.type == "bool" else "float32" for arg in find(name).inputs]
    xs = [tf.placeholder(kind, [5, 1000]) for kind in kinds]
    y = apply(name, xs) if name == "AddN" else apply(name, *xs)
    y = tf.reduce_sum(tf.cast(y, tf.float32) * 2.0)
    rng = np.random.RandomState(1)
    feed = {x: rng.rand(5, 1000) > 0.5 if kind == "bool" else rng.rand(5, 1000) for x, kind in zip(xs, kinds)}
    plain, compiled = both(y, feed)
    np.testing.assert_allclose(compiled, plain, rtol=1e-4)
    assert len(made) == 1 and not warnings
