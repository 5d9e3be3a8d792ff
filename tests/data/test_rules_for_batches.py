"""Ops that compute a whole batch at once do so, and give what they give for each element."""

import numpy as np
import pytest

import everflow as tf
from everflow.data import map_ops, vectorizing

D = tf.data.Dataset
TABLE = np.arange(12, dtype=np.float32).reshape(4, 3)

# x is of shape [2, 3], y a number, s a string, i of shape [3].
AT_ONCE = {
    "broadcast_number": lambda x, y, s, i: x + tf.cast(y, tf.float32),
    "broadcast_row": lambda x, y, s, i: (x * tf.cast(i, tf.float32), tf.cast(i, tf.float32) - x),
    "broadcast_constant": lambda x, y, s, i: tf.maximum(x, tf.constant([[0.1], [0.2]])),
    "broadcast_higher_constant": lambda x, y, s, i: tf.cast(y, tf.float32) + tf.constant([[1.0, 2.0]]),
    "reshape": lambda x, y, s, i: (tf.reshape(x, [3, 2]), tf.reshape(x, [-1]), tf.expand_dims(x, 1), tf.expand_dims(x, -1)),
    "squeeze": lambda x, y, s, i: tf.squeeze(tf.reshape(x, [1, 6, 1])),
    "one_hot": lambda x, y, s, i: (tf.one_hot(i, 4), tf.one_hot(i, 4, on_value=5, off_value=-1, dtype=tf.int32)),
    "transpose": lambda x, y, s, i: (tf.transpose(x), tf.transpose(tf.reshape(x, [1, 2, 3]), [2, 0, 1])),
    "reduce_first": lambda x, y, s, i: (tf.reduce_max(x, 0), tf.reduce_min(x, [0]), tf.reduce_any(x > 0, 0)),
    "reduce_last": lambda x, y, s, i: (tf.reduce_max(x, -1), tf.reduce_all(x > -1, 1, keepdims=True), tf.reduce_max(x, [0, 1])),
    "sums": lambda x, y, s, i: (tf.reduce_sum(x, -1), tf.reduce_mean(x, 1), tf.reduce_prod(x), tf.reduce_sum(i), tf.reduce_prod(i, 0)),
    "arguments": lambda x, y, s, i: (tf.argmax(x, 0), tf.argmin(x, -1)),
    "stack": lambda x, y, s, i: (tf.stack([x, x + 1.0]), tf.stack([x, x], axis=-1), tf.stack([s, s]), tf.stack([i, i], 1)),
    "unstack": lambda x, y, s, i: (*tf.unstack(x), *tf.unstack(x, axis=-1)),
    "concat": lambda x, y, s, i: (tf.concat([x, x], 0), tf.concat([x, x + 1.0], -1), tf.concat([tf.constant([[9.0]] * 2), x], 1)),
    "concat_strings": lambda x, y, s, i: tf.concat([tf.stack([s, s]), tf.constant(["z"])], 0),
    "gather": lambda x, y, s, i: (tf.gather(tf.constant(TABLE), i), tf.gather(tf.constant(TABLE), y % 4)),
    "fill": lambda x, y, s, i: (tf.fill([2, 3], y), tf.fill([], y)),
    "select": lambda x, y, s, i: tf.where(x > 0, x, -x),
    "clip": lambda x, y, s, i: tf.clip_by_value(x, -0.5, 0.25),
    "clip_op": lambda x, y, s, i: tf.raw_ops.ClipByValue(t=x, clip_value_min=-0.5, clip_value_max=0.25),
    "add_n": lambda x, y, s, i: tf.add_n([x, x, x * 2.0]),
    "softmax": lambda x, y, s, i: (tf.nn.softmax(x), tf.nn.log_softmax(x), tf.nn.bias_add(x, tf.constant([1.0, 2.0, 3.0]))),
    "pad": lambda x, y, s, i: (tf.pad(x, [[1, 0], [2, 3]]), tf.pad(i, [[1, 2]], constant_values=7)),
    "reverse": lambda x, y, s, i: (tf.reverse(x, [0]), tf.reverse(x, [-1]), tf.reverse(x, [0, 1])),
    "slice": lambda x, y, s, i: (tf.slice(x, [1, 0], [1, 2]), tf.slice(x, [0, 1], [-1, -1])),
    "split": lambda x, y, s, i: (*tf.split(x, 3, axis=1), *tf.split(x, 2), *tf.split(x, [1, 2], -1)),
    "strided": lambda x, y, s, i: (x[1], x[:, 1], x[::-1, ::2], x[..., -1], x[tf.newaxis, :, 1:], x[:1, tf.newaxis]),
    "join": lambda x, y, s, i: tf.string_join([s, s], separator="-"),
    "tile": lambda x, y, s, i: (tf.tile(x, [2, 1]), tf.tile(i, [3])),
    "texts": lambda x, y, s, i: (tf.strings.length(s), tf.strings.strip(s), tf.string_to_hash_bucket_strong(s, 10, [1, 2])),
    "parse": lambda x, y, s, i: tf.parse_single_example(_example(s), {"a": tf.FixedLenFeature([2], tf.float32, [1.0, 2.0])}),
}


def _example(s):
    # The empty message: all features have their defaults.
    return tf.substr(s, 0, 0)


BY_ROWS = {
    "one_hot_first": lambda x, y, s, i: tf.one_hot(i, 4, axis=0),
    "gather_columns": lambda x, y, s, i: tf.gather(tf.constant(TABLE), i % 3, axis=1),
    "gather_from_elements": lambda x, y, s, i: tf.gather(x, [1, 0]),
    "fill_strings": lambda x, y, s, i: tf.fill([2], s),
    "select_by_constant": lambda x, y, s, i: tf.where(tf.constant([[True, False, True]] * 2), x, -x),
    "select_rows": lambda x, y, s, i: tf.where(tf.constant([True, False]), x, -x),
    "add_constant": lambda x, y, s, i: tf.add_n([x, tf.constant(np.ones((2, 3), np.float32))]),
    "stack_constant": lambda x, y, s, i: tf.stack([x, tf.constant(np.ones((2, 3), np.float32))]),
    "join_constant": lambda x, y, s, i: tf.string_join([s, tf.constant("z")]),
    "sums_of_first": lambda x, y, s, i: (tf.reduce_sum(x, 0), tf.reduce_mean(x, [0], keepdims=True)),
    "mean_of_integers": lambda x, y, s, i: tf.reduce_mean(i),
    "clip_by_elements": lambda x, y, s, i: tf.raw_ops.ClipByValue(t=x, clip_value_min=x * x, clip_value_max=x * x + 1.0),
    "reverse_by_elements": lambda x, y, s, i: tf.reverse(x, [y % 2]),
    "slice_constant_by_elements": lambda x, y, s, i: tf.slice(tf.constant(TABLE), [y % 3, 0], [1, 2]),
    "depth_of_elements": lambda x, y, s, i: tf.one_hot(tf.constant([0, 1]), 3, on_value=y, off_value=y - 1),
}

ONE_BY_ONE = {
    "transpose_by_elements": lambda x, y, s, i: tf.transpose(x[:, :2], tf.stack([y % 2, 1 - y % 2])),
    "transpose_constant_by_elements": lambda x, y, s, i: tf.transpose(tf.constant(TABLE[:3]), tf.stack([y % 2, 1 - y % 2])),
}


def batches(function):
    with tf.Graph().as_default(), tf.Session() as session:
        random = np.random.RandomState(0)
        x = random.randn(10, 2, 3).astype(np.float32)
        s = np.array([" " * (k % 2) + chr(97 + k) for k in range(10)])
        dataset = D.from_tensor_slices((x, np.arange(10), s, random.randint(0, 4, (10, 3))))
        following = dataset.map(function).batch(4).make_one_shot_iterator().get_next()
        return [tf.nest.flatten(session.run(following)) for _ in range(3)]


def one_by_one(function, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(map_ops.MapCursor, "rows", map_ops.Cursor.rows)
        return batches(function)


def assert_same(found, wanted):
    for got, want in zip(found, wanted):
        assert len(got) == len(want)
        for a, b in zip(got, want):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            if a.dtype == np.float32:
                np.testing.assert_array_max_ulp(a, b, 2)
            else:
                np.testing.assert_array_equal(a, b)


def counted(function, monkeypatch):
    """What batches hold, how many were computed at once, and the ops that were not."""
    runs, slow = [], []
    run, by_rows = vectorizing._Program.run, vectorizing.by_rows
    with monkeypatch.context() as patch:
        # A run that fails is done again element by element: it does not count.
        patch.setattr(vectorizing._Program, "run", lambda self, arguments: (run(self, arguments), runs.append(1))[0])
        patch.setattr(vectorizing, "by_rows", lambda context, op, batched: slow.append(op.type) or by_rows(context, op, batched))
        patch.setattr(vectorizing, "MOST_BY_ROWS", 1.0)
        return batches(function), len(runs), slow


@pytest.mark.parametrize("name", AT_ONCE)
def test_ops_with_a_rule_compute_a_batch_at_once(name, monkeypatch):
    found, runs, slow = counted(AT_ONCE[name], monkeypatch)
    assert (runs, [kind for kind in slow if kind != "Substr"]) == (3, [])
    assert_same(found, one_by_one(AT_ONCE[name], monkeypatch))


@pytest.mark.parametrize("name", BY_ROWS)
def test_what_no_rule_covers_is_computed_row_by_row(name, monkeypatch):
    found, runs, slow = counted(BY_ROWS[name], monkeypatch)
    # Sums have a rule, which goes through the rows itself.
    assert (runs, bool(slow)) == (3, name not in ("sums_of_first", "mean_of_integers"))
    assert_same(found, one_by_one(BY_ROWS[name], monkeypatch))


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_what_has_shapes_that_hang_on_elements_is_left_to_them(name, monkeypatch):
    found, runs, _ = counted(ONE_BY_ONE[name], monkeypatch)
    assert runs == 0
    assert_same(found, one_by_one(ONE_BY_ONE[name], monkeypatch))


def test_large_elements_are_summed_each_by_itself():
    x = np.random.RandomState(1).randn(3, 20000).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        mapped = D.from_tensor_slices(x).map(lambda row: tf.reduce_sum(row) * 1.0)
        single, together = (d.make_one_shot_iterator().get_next() for d in (mapped, mapped.batch(3)))
        alone = [session.run(single) for _ in range(3)]
        np.testing.assert_array_equal(session.run(together), alone)


@pytest.mark.parametrize(
    ("function", "fails"),
    [
        (lambda y: y // 2, True),
        (lambda y: tf.cast(y, tf.float32) / 2.0, False),
        (lambda y: tf.gather(tf.constant([1, 2]), y), True),
        (lambda y: y + 1, False),
        (lambda y: tf.string_to_number(tf.as_string(y)), True),
        (lambda y: tf.pow(y, 2), True),
        (lambda y: tf.pow(tf.cast(y, tf.float32), 2.0), False),
    ],
)
def test_it_is_known_which_functions_may_fail(function, fails, monkeypatch):
    made = []
    batched = vectorizing.Batched.__init__
    monkeypatch.setattr(vectorizing.Batched, "__init__", lambda self, *a: batched(self, *a) or made.append(self))
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(D.range(2).map(function).batch(2).make_one_shot_iterator().get_next())
    assert [one.never_fails for one in made] == [not fails] * len(made)
    assert made
