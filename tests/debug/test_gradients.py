"""Gradients that a debugger keeps, while they are computed and in dumps."""

import pytest

import everflow as tf
from everflow.debug.dump import DebugDumpDir
from everflow.debug.gradients import GradientsDebugger, clear_gradient_debuggers, gradient_values_from_dump
from everflow.debug.watches import watch_graph


@pytest.fixture(autouse=True)
def no_debuggers():
    clear_gradient_debuggers()
    yield
    clear_gradient_debuggers()


@pytest.fixture
def product():
    u = tf.Variable(2.0, name="u")
    v = tf.Variable(3.0, name="v")
    return u, v, tf.multiply(u, v, name="w")


def test_the_gradient_of_a_tensor_that_goes_through_the_debugger(session, product):
    u, v, w = product
    debugger = GradientsDebugger()
    seen = debugger.identify_gradient(w)
    assert seen.op.name.startswith("w_0/gradient_debug_") and seen.op.type == "DebugGradientIdentity"
    du, dv = tf.gradients(tf.square(seen), [u, v])
    session.run(tf.global_variables_initializer())
    assert session.run([debugger.gradient_tensor(w), debugger.gradient_tensor("w:0"), du, dv]) == [12, 12, 36, 24]
    with pytest.raises(ValueError, match="The graph already contains an op named w_0/gradient_debug_"):
        debugger.identify_gradient(w)


def test_a_finished_graph_can_be_watched(session, product):
    u, v, w = product
    loss = tf.square(w, name="loss")
    debugger = GradientsDebugger()
    with debugger.watch_gradients_by_tensors(session.graph, [w, u]):
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    session.run(tf.global_variables_initializer())
    assert sorted(debugger.gradient_tensors()) == ["u:0", "w:0"]
    assert session.run([debugger.gradient_tensor(w), debugger.gradient_tensor(u)]) == [12, 36]
    session.run(train)
    assert session.run(v) == pytest.approx(3 - 2.4)


def test_names_choose_what_is_watched(session, product):
    u, v, w = product
    y = tf.negative(w)
    debugger = GradientsDebugger()
    with debugger.watch_gradients_by_tensor_names(session.graph, "w:0$"):
        tf.gradients(y, [u])
    session.run(tf.global_variables_initializer())
    assert session.run(debugger.gradient_tensor("w:0")) == -1


def test_of_several_debuggers_the_active_one_is_told(session, product):
    _, _, w = product
    first, second = GradientsDebugger(), GradientsDebugger()
    a, b = tf.square(first.identify_gradient(w)), tf.sqrt(second.identify_gradient(w))
    tf.gradients(a, w)
    with pytest.raises(LookupError, match="This GradientsDebugger has not received any gradient tensor for x-tensor w:0"):
        first.gradient_tensor(w)
    with first:
        tf.gradients(a, w)
    with second:
        tf.gradients(b, w)
    session.run(tf.global_variables_initializer())
    assert session.run(first.gradient_tensor(w)) == 12
    assert session.run(second.gradient_tensor(w)) == pytest.approx(0.5 * 6**-0.5)


def test_gradients_in_a_dump(session, product, tmp_path):
    u, v, w = product
    loss = tf.square(w)
    debugger = GradientsDebugger()
    with debugger.watch_gradients_by_tensors(session.graph, [w]):
        gradient = tf.gradients(loss, [u])[0]
    session.run(tf.global_variables_initializer())
    options = tf.RunOptions()
    watch_graph(options, session.graph, debug_urls=f"file://{tmp_path}")
    session.run(gradient, options=options)
    dump = DebugDumpDir(str(tmp_path))
    dump.set_python_graph(session.graph)
    assert gradient_values_from_dump(debugger, w, dump) == [12]
    with pytest.raises(LookupError, match="x-tensor v:0"):
        gradient_values_from_dump(debugger, v, dump)
    dump.set_python_graph(tf.Graph())
    with pytest.raises(ValueError, match="has a graph that differs"):
        gradient_values_from_dump(debugger, w, dump)


def test_tensors_are_told_by_themselves_or_by_name():
    with pytest.raises(TypeError, match=r"x_tensor must be a str or tf\.Tensor or tf\.Variable, but instead has type .*Operation"):
        GradientsDebugger().gradient_tensor(tf.no_op())
