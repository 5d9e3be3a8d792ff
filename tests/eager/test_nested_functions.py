"""Traced functions that call each other, in graphs, with gradients of their own."""

import pytest

import everflow as tf
from everflow.eager import functions


def test_second_derivatives_by_a_variable_that_a_function_reads(eager):
    v = tf.Variable(2.0)
    cube = tf.function(lambda: v**3)

    def second():
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = cube()
            dv = inner.gradient(y, v)
        return outer.gradient(dv, v)

    assert float(second()) == pytest.approx(12.0)
    assert float(tf.function(second)()) == pytest.approx(12.0)


def test_a_gradient_of_its_own_gets_the_variables_that_were_read(eager):
    v = tf.Variable(3.0)

    @tf.function
    def call(x):
        @tf.custom_gradient
        def scaled(x):
            return v * x, lambda dy, variables: (dy * v, [100.0 * dy * x for _ in variables])

        return scaled(x)

    with tf.GradientTape() as tape:
        x = tf.constant(2.0)
        tape.watch(x)
        y = call(x)
    assert [float(g) for g in tape.gradient(y, [x, v])] == [3.0, 200.0]


def test_what_is_returned_is_handed_on_by_an_op_of_its_own(eager):
    concrete = tf.function(lambda x: (x * 2.0, x)).get_concrete_function(tf.TensorSpec([], tf.float32))
    assert [t.op.type for t in concrete.outputs] == ["Identity", "Identity"]
    assert concrete.name.startswith(b"__inference_")


def test_shapes_are_inferred_through_calls():
    with tf.Graph().as_default():
        rows = tf.function(lambda x: tf.reshape(x, [-1, 3]), input_signature=[tf.TensorSpec(None, tf.float32)])
        assert rows(tf.zeros([4, 6])).shape.as_list() == [8, 3]
        assert rows(tf.placeholder(tf.float32)).shape.as_list() == [None, 3]


def test_calls_wait_for_what_the_body_waits_for():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(1.0)
        session.run(v.initializer)
        add = v.assign_add(1.0)

        @tf.contrib.eager.defun
        def after():
            with tf.control_dependencies([add]):
                return tf.constant(5.0)

        session.run(after())
        assert session.run(v) == 2.0


def test_variables_made_in_functions_of_graphs_have_handles_outside():
    with tf.Graph().as_default(), tf.Session() as session:

        @tf.contrib.eager.defun
        def product(x):
            return tf.matmul(x, tf.get_variable("w", [2, 2], initializer=tf.ones_initializer()))

        y = product(tf.ones([1, 2]))
        session.run(tf.global_variables_initializer())
        assert session.run(y).tolist() == [[2.0, 2.0]]
        assert tf.get_default_graph().get_operation_by_name("w").type == "VarHandleOp"


def test_registered_functions_are_in_the_library_with_their_gradients():
    with tf.Graph().as_default() as graph:
        multiply = tf.contrib.eager.defun(lambda x, y: tf.matmul(x, y))
        x = tf.ones([2, 2])
        functions.register(multiply, x, x)
        names = list(graph._functions)
        assert len(names) == 3 and [name.split("_")[2] for name in names] == ["inference", "forward", "inference"]
        multiply(x, x)
        assert list(graph._functions) == names
    with pytest.raises(ValueError, match="Only defun function is allowed"):
        functions.register(lambda x: x, 1.0)


def test_sizes_that_vary_are_left_open_in_nested_calls_too():
    seen = []

    @tf.function(experimental_relax_shapes=True)
    def inner(x):
        seen.append(x.shape.as_list())
        return x

    outer = tf.function(lambda x: inner(tf.shape(x)))
    with tf.Graph().as_default():
        for rank in range(1, 5):
            outer(tf.ones([1] * rank))
    assert seen == [[1], [2], [None]]


def test_a_training_loop_over_a_dataset_runs_within_a_function(eager):
    w, steps = tf.Variable([[1.0], [1.0]]), tf.Variable(0)
    dataset = tf.data.Dataset.from_tensor_slices((tf.ones([6, 2]), tf.zeros([6, 1]))).batch(2)
    optimizer = tf.train.GradientDescentOptimizer(0.1)

    @tf.function
    def train():
        for x, y in dataset:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
            optimizer.apply_gradients([(tape.gradient(loss, w), w)])
            steps.assign_add(1)

    train()
    assert steps.numpy() == 3
    assert w.numpy().ravel().tolist() == pytest.approx([0.216, 0.216])
