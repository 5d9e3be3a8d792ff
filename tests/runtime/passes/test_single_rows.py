"""Rows of tensors by number."""

import numpy as np
import pytest
from planning import same

import everflow as tf
from everflow.runtime.passes.single_rows import take_rows


def test_a_row_is_taken_without_vectors_of_bounds():
    x, i = tf.placeholder(tf.float32, [3, 2]), tf.placeholder(tf.int32, [])
    given = np.arange(6, dtype=np.float32).reshape(3, 2)
    for at in (0, 2, -1):
        found = same([x[i]], [x, i], take_rows, given, np.int32(at))
        assert found == ["_Row"]


@pytest.mark.parametrize(
    "part", [lambda x, i: x[i:], lambda x, i: x[:, i], lambda x, i: x[i : i + 1], lambda x, i: x[i : i + 2], lambda x, i: x[i, 1:]]
)
def test_other_parts_are_slices(part):
    x, i = tf.placeholder(tf.float32, [3, 3]), tf.placeholder(tf.int32, [])
    given = np.arange(9, dtype=np.float32).reshape(3, 3)
    found = same([part(x, i)], [x, i], take_rows, given, np.int32(1))
    assert "_Row" not in found


def test_a_row_that_is_not_there_is_named(session):
    x, i = tf.placeholder(tf.float32, [3, 2]), tf.placeholder(tf.int32, [])
    with pytest.raises(tf.errors.InvalidArgumentError, match="slice index 3 of dimension 0 out of bounds"):
        session.run(x[i], {x: np.zeros((3, 2)), i: 3})


def test_a_tensor_of_unknown_rank_may_have_no_rows():
    x, i = tf.placeholder(tf.float32), tf.placeholder(tf.int32, [])
    assert "_Row" not in same([x[i]], [x, i], take_rows, np.ones((2, 2), "f"), np.int32(1))


def test_a_string_of_a_vector_is_a_tensor_for_the_ops_that_take_it(session):
    texts, i = tf.placeholder(tf.string, [None]), tf.placeholder(tf.int32, [])
    summary = tf.Summary.FromString(session.run(tf.summary.text("words", texts[i]), {texts: ["a", "b"], i: 1}))
    assert list(summary.value[0].tensor.string_val) == [b"b"] and not summary.value[0].tensor.tensor_shape.dim
    assert session.run(tf.stack([texts[i], "c"]), {texts: ["a", "b"], i: 0}).tolist() == [b"a", b"c"]
