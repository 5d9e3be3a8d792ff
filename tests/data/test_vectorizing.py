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
    "sums": lambda x, y: (tf.reduce_sum(x), tf.reduce_mean(x, keepdims=True), tf.reduce_prod(tf.stack([x, x]), 0), tf.reduce_sum(y)),
    "parts": lambda x, y: (x[1:], x[::-1], x[1], x[tf.newaxis, ..., :2], tf.slice(x, [1], [2]), tf.split(x, 3)[1], tf.unstack(x)[2]),
    "joins": lambda x, y: (tf.concat([x, tf.constant([7.0]), x[:1]], 0), tf.pad(x, [[1, 2]]), tf.tile(x, [2]), tf.reverse(x, [0])),
    "choices": lambda x, y: (
        tf.gather(tf.constant([[1.0], [2.0], [3.0]]), y % 3),
        tf.where(x > 0, x, -x),
        tf.argmax(x),
        tf.clip_by_value(x, -0.5, 0.5),
        tf.nn.softmax(x),
        tf.add_n([x, x, x]),
    ),
    "fills": lambda x, y: (tf.fill([2, 3], y), tf.fill([], y), tf.fill([2], tf.constant(1.5)) * x[0]),
    "mostly": lambda x, y: (tf.reshape(tf.matmul(tf.reshape(x, [1, 3]), tf.reshape(x, [3, 1])), []) * 2.0 + 1.0, tf.exp(x)),
    "texts": lambda x, y: (tf.string_to_hash_bucket_fast(tf.as_string(y), 100), tf.string_join([tf.as_string(y), tf.as_string(y)])),
}


def batches(function):
    with tf.Graph().as_default(), tf.Session() as session:
        x = np.random.RandomState(0).randn(10, 3).astype(np.float32)
        dataset = D.from_tensor_slices((x, np.arange(10)))
        following = dataset.map(function).batch(4).make_one_shot_iterator().get_next()
        return [tf.contrib.framework.nest.flatten(session.run(following)) for _ in range(3)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_batches_are_those_of_single_elements(name):
    from everflow.data import map_ops

    function = FUNCTIONS[name]
    found = batches(function)
    original = map_ops.MapCursor.rows
    try:
        map_ops.MapCursor.rows = map_ops.Cursor.rows
        wanted = batches(function)
    finally:
        map_ops.MapCursor.rows = original
    for got, want in zip(found, wanted):
        for a, b in zip(got, want):
            # Many numbers at once may be rounded otherwise than a few.
            if a.dtype == np.float32:
                np.testing.assert_array_max_ulp(a, b, 2)
            else:
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


@pytest.mark.parametrize("size", [1, 2, 7, 8, 15, 31, 33, 64, 100, 127, 513, 1000, 4099])
def test_sums_of_rows_are_those_of_each_row_to_the_last_bit(size):
    x = np.random.RandomState(size).randn(9, size).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        mapped = D.from_tensor_slices(x).map(lambda row: (tf.reduce_sum(row), tf.reduce_mean(row)))
        single, together = (d.make_one_shot_iterator().get_next() for d in (mapped, mapped.batch(9)))
        one_by_one = np.array([session.run(single) for _ in range(9)]).T
        np.testing.assert_array_equal(session.run(together), one_by_one)


def test_what_follows_a_bad_element_is_not_lost():
    dataset = D.from_tensor_slices(["1", "x", "3", "4", "5"]).map(lambda s: tf.string_to_number(s))
    following = dataset.take(9).batch(3).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="StringToNumberOp could not correctly convert"):
            session.run(following)
        np.testing.assert_array_equal(session.run(following), [3, 4, 5])


def test_a_bad_element_takes_its_batch_along_in_map_and_batch():
    dataset = D.from_tensor_slices(["1", "x", "3", "4", "5"])
    dataset = dataset.apply(tf.data.experimental.map_and_batch(lambda s: tf.string_to_number(s), 3))
    following = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert string: x"):
            session.run(following)
        np.testing.assert_array_equal(session.run(following), [4, 5])


def test_a_bad_element_is_an_error_when_a_shuffle_reads_it():
    dataset = D.from_tensor_slices(["1", "2", "3", "4", "x"]).map(lambda s: tf.string_to_number(s)).shuffle(5, seed=1)
    following = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert string: x"):
        session.run(following)


def test_an_error_names_what_is_wrong_with_an_element():
    dataset = D.from_tensor_slices(["1", "x", "3"]).map(lambda s: tf.string_to_number(s)).batch(3)
    following = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="StringToNumberOp could not correctly convert"):
        session.run(following)


def test_rules_are_for_ops_that_exist():
    from everflow.data import batch_rules, rewriting, tuning_ops

    named = set()
    for module in (batch_rules, rewriting, tuning_ops):
        for variable, table in vars(module).items():
            if isinstance(table, (frozenset, set, dict)) and not variable.startswith("__"):
                named |= {name for name in table if isinstance(name, str) and name[:1].isupper()}
    assert {"Abs", "AddV2", "Reshape"} <= named
    assert [name for name in sorted(named) if not hasattr(tf.raw_ops, name)] == []
