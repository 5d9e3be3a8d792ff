"""Functions of graph programs: they keep their variables, run only what is needed, and can be cut."""

import threading

import pytest

import everflow as tf
from everflow.eager.wrap_function import VariableHolder, WrappedGraph, function_from_graph_def

pytestmark = pytest.mark.usefixtures("eager")


SCALAR = tf.TensorSpec([], tf.float32)


def test_a_wrapped_function_keeps_its_variables():
    def running_maximum(x):
        best = tf.get_variable("best", [], initializer=tf.zeros_initializer())
        return best.assign(tf.maximum(best, x))

    one, other = tf.wrap_function(running_maximum, [SCALAR]), tf.wrap_function(running_maximum, [SCALAR])
    assert [one(x).numpy() for x in (2.0, 9.0, 4.0)] == [2.0, 9.0, 9.0]
    assert other(1.0).numpy() == 1.0
    assert list(one._variable_holder.variables) == ["best"]


def test_variables_are_in_the_collections_of_the_graph():
    wrapped = tf.wrap_function(lambda: [tf.Variable(float(i), name="w", trainable=i > 0) for i in range(3)], [])
    assert list(wrapped._variable_holder.variables) == ["w", "w_1", "w_2"]
    assert [v.numpy() for v in wrapped.graph.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES)] == [1.0, 2.0]


def test_effects_that_nothing_needs_do_not_happen():
    log = tf.Variable([0, 0])

    def f():
        log.assign([1, 1], name="mark", read_value=False)
        return tf.size(log)

    wrapped = tf.wrap_function(f, [])
    assert wrapped().numpy() == 2 and log.numpy().tolist() == [0, 0]
    assert wrapped.prune([], "mark")() is None and log.numpy().tolist() == [1, 1]


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

    def halve():
        level = tf.get_variable("level", [], initializer=tf.constant_initializer(8.0))
        return level.assign(level / 2.0, read_value=False)

    wrapped = graph.wrap_function(halve, [])
    assert wrapped() is None and wrapped() is None
    assert graph.variables["level"].numpy() == 2.0
