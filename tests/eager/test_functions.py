"""tf.function and defun: traced, differentiated, with variables and effects."""

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("eager")


def test_a_function_is_traced_once_for_each_kind_of_arguments():
    traced = []

    @tf.function
    def twice(x):
        traced.append(x)
        return 2 * x

    assert float(twice(tf.constant(1.0))) == 2.0 and float(twice(tf.constant(3.0))) == 6.0
    assert len(traced) == 1
    assert twice(tf.constant([1, 2])).numpy().tolist() == [2, 4]
    assert len(traced) == 2


def test_gradients_go_through_a_function():
    v = tf.Variable(3.0)
    cube = tf.function(lambda x: x * x * v)
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = cube(x)
        first = inner.gradient(y, x)
    assert float(first) == 12.0
    assert float(outer.gradient(first, x)) == 6.0 and float(outer.gradient(y, v)) == 4.0


def test_a_training_step_is_one_function():
    v = tf.Variable(3.0)
    optimizer = tf.train.GradientDescentOptimizer(0.1)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = v * v
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])
        return loss

    assert [round(float(step()), 4) for _ in range(3)] == [9.0, 5.76, 3.6864]


def test_effects_happen_once_also_where_the_function_is_differentiated():
    count, w = tf.Variable(0.0, trainable=False), tf.Variable(2.0)

    @tf.function
    def counted(x):
        count.assign_add(1.0)
        return w * x

    @tf.function
    def outer(x):
        with tf.GradientTape() as tape:
            y = counted(x)
        return tape.gradient(y, w)

    with tf.GradientTape() as tape:
        y = counted(tf.constant(5.0))
    assert float(tape.gradient(y, w)) == 5.0 and count.numpy() == 1.0
    assert float(outer(tf.constant(7.0))) == 7.0 and count.numpy() == 2.0


def test_variables_are_made_at_the_first_call_only():
    class Scaled:
        weight = None

        @tf.function
        def __call__(self, x):
            if self.weight is None:
                self.weight = tf.Variable(tf.fill([2], 3.0))
            return self.weight * x

    scaled = Scaled()
    assert scaled(tf.constant([1.0, 2.0])).numpy().tolist() == [3.0, 6.0]
    assert scaled.weight.numpy().tolist() == [3.0, 3.0]
    with pytest.raises(ValueError, match="tried to create variables on non-first call"):
        tf.function(lambda x: tf.Variable(1.0) * x)(tf.constant(1.0))


def test_loops_inside_are_differentiated():
    v = tf.Variable(2.0)

    @tf.function
    def power(n):
        return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * v), [tf.constant(0), tf.constant(1.0)])[1]

    with tf.GradientTape() as tape:
        y = power(tf.constant(3))
    assert float(y) == 8.0 and float(tape.gradient(y, v)) == 12.0


def test_a_signature_is_checked():
    doubled = tf.function(lambda x: 2 * x, input_signature=[tf.TensorSpec([None], tf.float32)])
    assert doubled(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
    with pytest.raises(ValueError, match="incompatible with input_signature"):
        doubled(tf.constant([[1.0]]))


def test_functions_are_called_in_graphs():
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.get_variable("w", [], initializer=tf.ones_initializer(), use_resource=True)
        x = tf.placeholder(tf.float32, [2])
        y = tf.contrib.eager.defun(lambda a: a * w)(x)
        gradients = tf.gradients(y, [x, w])
        sess.run(tf.global_variables_initializer())
        found = sess.run([y, *gradients], {x: [1.0, 2.0]})
        np.testing.assert_array_equal(found[0], [1, 2])
        np.testing.assert_array_equal(found[1], [1, 1])
        assert found[2] == 3.0


def test_gradients_by_a_variable_that_is_an_argument():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=[1.0, 2.0, 3.0], use_resource=True)

        @tf.function
        def gradient(variable):
            total = tf.while_loop(lambda i, _: i < 2, lambda i, x: (i + 1, x + variable.sparse_read([2])[0] ** 2), [0, 0.0])[1]
            return tf.convert_to_tensor(tf.gradients(total, variable)[0])

        found = gradient(v)
        session.run(v.initializer)
        assert session.run(found).tolist() == [0, 0, 12]


def test_what_makes_variables_outside_makes_those_of_bodies():
    made = []

    def noting(next_creator, **arguments):
        made.append(arguments["name"])
        return next_creator(**arguments)

    kept = []

    @tf.function
    def counted(x):
        if not kept:
            kept.append(tf.Variable(1.0, name="within"))
        return x + kept[0]

    with tf.variable_creator_scope(noting):
        assert float(counted(tf.constant(1.0))) == 2
        tf.keras.layers.Dense(1)(tf.keras.Input((2,)))
    tf.keras.layers.Dense(1)(tf.keras.Input((2,)))
    assert made == ["within", "kernel", "bias"]


@pytest.mark.parametrize(("size", "known"), [(1, True), (128, True), (129, False)])
def test_shapes_follow_from_captured_values_that_are_small(size, known):
    numbers = tf.constant(np.full(size, 3))
    made = tf.function(lambda: tf.ones(numbers[:1])).get_concrete_function()
    assert made.output_shapes.as_list() == [3 if known else None]
    assert len(made.captured_inputs) == 1


def test_captured_handles_and_texts_say_nothing_of_shapes():
    variable, text = tf.Variable([2]), tf.constant("ab")
    assert tf.function(lambda: tf.ones(variable + 0)).get_concrete_function().output_shapes.as_list() == [None]
    assert tf.function(lambda: text + "c")().numpy() == b"abc"


def test_datasets_of_other_elements_are_traced_anew(eager):
    @tf.function
    def total(dataset):
        found = tf.constant(0, tf.int64)
        for value in dataset:
            found += value["a"] * 10 if isinstance(value, dict) else value
        return found

    numbers = tf.data.Dataset.range
    assert int(total(numbers(4))) == 6 and int(total(numbers(5))) == 10
    assert int(total(numbers(4).map(lambda x: {"a": x}))) == 60
    assert total.get_concrete_function(numbers(4)) is total.get_concrete_function(numbers(5))
