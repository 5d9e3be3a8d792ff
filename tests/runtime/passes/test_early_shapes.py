"""Shapes that are asked of the first value that has them."""

from planning import compiled, random, same, types

import everflow as tf
from everflow.runtime.passes.early_shapes import measure_early


def test_a_shape_is_asked_once_of_the_first_value_that_has_it():
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.tanh(tf.square(x))
    fetched = [tf.zeros(tf.shape(y)) + 1.0, tf.ones(tf.shape(tf.square(x)))]
    after = same(fetched, [x], measure_early, random(4, 3))
    assert after[0] == "Shape" and after.count("Shape") == 1
    assert not {"Tanh", "Square"} & set(after)


def test_shapes_of_other_types_and_of_other_values_are_asked_for_themselves():
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 3])
    fetched = [tf.shape(tf.tanh(x)), tf.shape(tf.sigmoid(x), out_type=tf.int64), tf.shape(tf.tanh(y))]
    assert same(fetched, [x, y], measure_early, random(4, 3), random(5, 3)) == ["Shape"] * 3


def test_what_changes_a_size_has_a_shape_of_its_own():
    x, n = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [])
    fetched = [tf.shape(tf.boolean_mask(x, x > 0)), tf.shape(x[:n]), tf.shape(tf.unique(x)[0])]
    same(fetched, [x, n], measure_early, random(9), 4)


def test_the_shape_of_a_variable_is_what_it_is_then():
    v = tf.Variable([1.0, 2.0], validate_shape=False)
    before = tf.shape(v)
    with tf.control_dependencies([before]):
        grown = tf.assign(v, [1.0, 2.0, 3.0], validate_shape=False)
    with tf.control_dependencies([grown]):
        after = tf.shape(v * 1.0)
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert [found.tolist() for found in sess.run([before, after])] == [[2], [3]]


def test_nothing_is_done_where_sizes_are_known():
    x = tf.placeholder(tf.float32, [2, 3])
    assert types(compiled([tf.shape(tf.tanh(x))], [x], (measure_early,))) == types(compiled([tf.shape(tf.tanh(x))], [x], ()))
