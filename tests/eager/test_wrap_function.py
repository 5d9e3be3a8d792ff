"""Functions of graph programs: they keep their variables, run only what is needed, and can be cut."""
import threading

import pytest

import everflow as tf
from everflow.eager.context import eager_mode
from everflow.eager.wrap_function import VariableHolder, WrappedGraph, function_from_graph_def


@pytest.fixture(autouse=True)
def at_once():
    with tf.Graph().as_default(), eager_mode():
        yield


SCALAR = tf.TensorSpec([], tf.float32)


def test_a_wrapped_function_keeps_its_variables():
    def add(x, sign):
        v = tf.Variable(5.0, name="total")
        with tf.control_dependencies([v.assign_add(sign * x)]):
            return v.read_value()

    up, down = tf.wrap_function(add, [SCALAR, 1.0]), tf.wrap_function(add, [SCALAR, -1.0])
    assert [up(1.0).numpy(), up(1.0).numpy(), down(1.0).numpy()] == [6.0, 7.0, 4.0]
    assert list(up._variable_holder.variables) == ["total"]


def test_variables_are_in_the_collections_of_the_graph():
    wrapped = tf.wrap_function(lambda: (tf.Variable(0, name="v"), tf.Variable(1, name="v")), [])
    assert {v.name: v.numpy() for v in wrapped._variable_holder.variables.values()} == {"v:0": 0, "v_1:0": 1}
    assert len(wrapped.graph.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES)) == 2


def test_effects_that_nothing_needs_do_not_happen():
    v = tf.Variable(0)

    def f():
        v.assign_add(1, name="increment", read_value=False)
        return tf.constant(7, name="other")

    wrapped = tf.wrap_function(f, [])
    assert wrapped().numpy() == 7 and v.numpy() == 0
    increment = wrapped.prune([], "increment")
    assert increment() is None and v.numpy() == 1


def test_parts_of_the_graph_are_functions_with_gradients():
    v = tf.Variable(3.0)
    wrapped = tf.wrap_function(lambda x, y: (tf.identity(v * x, "product"), y * y), [SCALAR, SCALAR])
    part = wrapped.prune(wrapped.inputs[0], {"found": "product:0"})
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        found = part(x)["found"]
    assert found.numpy() == 6.0
    assert [g.numpy() for g in tape.gradient(found, [x, v])] == [3.0, 2.0]
    with pytest.raises(ValueError, match="depend on placeholders that are not fed"):
        wrapped.prune([], wrapped.outputs[1])


def test_functions_of_one_graph_share_variables():
    def scaled(x):
        with tf.variable_scope("shared", reuse=tf.AUTO_REUSE):
            return x * tf.get_variable("scale", [], initializer=tf.constant_initializer(3.0))

    graph = WrappedGraph()
    first, second = graph.wrap_function(scaled, [SCALAR]), graph.wrap_function(scaled, [SCALAR])
    graph.variables["shared/scale"].assign(4.0)
    assert first(2.0).numpy() == second(2.0).numpy() == 8.0


def test_graphs_share_variables_through_a_holder():
    holder = VariableHolder(share_variables=True)
    read = WrappedGraph(holder).wrap_function(lambda: tf.Variable(1.0, name="v").read_value(), [])
    write = WrappedGraph(holder).wrap_function(lambda x: tf.Variable(2.0, name="v").assign_add(x), [SCALAR])
    assert write(5.0).numpy() == 6.0 and read().numpy() == 6.0


def test_a_graph_def_becomes_a_function():
    with tf.Graph().as_default() as graph:
        tf.add(tf.placeholder(tf.float32, [], name="x"), 1.0, name="y")
    assert function_from_graph_def(graph.as_graph_def(), "x:0", "y:0")(tf.constant(1.0)).numpy() == 2.0


def test_other_threads_make_variables_of_the_function_too():
    made = []

    def f():
        graph = tf.get_default_graph()

        def make():
            with graph.as_default():
                made.append(tf.get_variable("v", [], initializer=tf.ones_initializer()))

        thread = threading.Thread(target=make)
        thread.start()
        thread.join()
        return made[0] + 1.0

    assert tf.wrap_function(f, [])().numpy() == 2.0 and made[0].numpy() == 1.0


def test_ops_that_a_function_of_a_graph_returns_are_run():
    graph = WrappedGraph()
    update = graph.wrap_function(lambda x: tf.Variable(3.0, name="v").assign(x, read_value=False), [SCALAR])
    assert graph.variables["v"].numpy() == 3.0
    assert update(12.0) is None and graph.variables["v"].numpy() == 12.0
