"""Functions that run on whole batches give what they give for each element."""
import numpy as np
import pytest

import everflow as tf

D = tf.data.Dataset

FUNCTIONS = {
    "math": lambda x, y: (tf.exp(x) * 2.0 + 1.0, tf.cast(y, tf.float32) / 3.0),
    "ranks": lambda x, y: x * tf.cast(y, tf.float32) - tf.constant([[1.0], [2.0]]),
    "shapes": lambda x, y: (tf.reshape(x, [1, 3]), tf.expand_dims(y, 0), tf.transpose(tf.reshape(x, [3, 1]))),
    "one_hot": lambda x, y: tf.one_hot(y % 4, 4),
    "reductions": lambda x, y: (tf.reduce_max(x), tf.reduce_min(x, 0, keepdims=True)),
    "stack": lambda x, y: tf.stack([x, x + 1.0], axis=1),
    "constant": lambda x, y: (x, tf.constant([5.0])),
}


def batches(function):
    with tf.Graph().as_default(), tf.Session() as session:
        x = np.random.RandomState(0).randn(10, 3).astype(np.float32)
        dataset = D.from_tensor_slices((x, np.arange(10)))
        following = dataset.map(function).batch(4).make_one_shot_iterator().get_next()
        return [tf.contrib.framework.nest.flatten(session.run(following)) for _ in range(3)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_batches_are_those_of_single_elements(name):
    from everflow.data import element_ops

    function = FUNCTIONS[name]
    found = batches(function)
    original = element_ops.MapCursor.rows
    try:
        element_ops.MapCursor.rows = element_ops.Cursor.rows
        wanted = batches(function)
    finally:
        element_ops.MapCursor.rows = original
    for got, want in zip(found, wanted):
        for a, b in zip(got, want):
            np.testing.assert_array_equal(a, b)


def test_functions_without_effects_run_once_for_a_batch():
    from everflow.data import vectorizing

    runs = []
    original = vectorizing._Program.run
    try:
        vectorizing._Program.run = lambda self, arguments: runs.append(1) or original(self, arguments)
        batches(FUNCTIONS["math"])
    finally:
        vectorizing._Program.run = original
    assert len(runs) == 3


def test_an_error_names_what_is_wrong_with_an_element():
    dataset = D.from_tensor_slices(["1", "x", "3"]).map(lambda s: tf.string_to_number(s)).batch(3)
    following = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="StringToNumberOp could not correctly convert"):
        session.run(following)
