"""Tensors put together and taken apart."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.core.registry import apply
from running import run

A = np.arange(6, dtype=np.float32).reshape(2, 3)
B = np.arange(4, dtype=np.float32).reshape(2, 2) + 10


def test_concat_along_any_axis():
    for axis in (1, -1):
        assert (run(tf.concat([A, B], axis)) == np.concatenate([A, B], 1)).all()
    with tf.Graph().as_default(), tf.Session() as session:
        axis = tf.placeholder(tf.int32, [])
        assert session.run(tf.concat([A, A, A], axis), {axis: 0}).shape == (6, 3)


def test_concat_of_one_tensor_is_that_tensor():
    with tf.Graph().as_default() as graph:
        tf.concat([tf.constant([1])], 0)
        assert [op.type for op in graph.get_operations()] == ["Const", "Const", "Identity"]


def test_concat_learns_static_shapes_and_refuses_what_does_not_fit():
    with tf.Graph().as_default():
        x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [2, None])
        assert tf.concat([x, y], 0).shape.as_list() == [None, 3]
        assert tf.concat([x, y], 1).shape.as_list() == [2, None]
        with pytest.raises(ValueError, match="Dimension 0 in both shapes must be equal, but are 3 and 2"):
            tf.concat([A, B], 0)
        with pytest.raises(ValueError, match="Shape must be rank 2 but is rank 1"):
            tf.concat([A, B[0]], 0)
        with pytest.raises(ValueError, match="Can't concatenate scalars"):
            tf.concat([tf.constant(1), tf.constant(2)], 0)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32)
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"Dimensions of inputs should match: shape\[0\] = \[2,3\] vs. shape\[1\] = \[2,2\]"
        ):
            session.run(tf.concat([A, x], 0), {x: B})


@pytest.mark.parametrize("count", [2, 20])
@pytest.mark.parametrize("static", [True, False])
def test_each_input_of_concat_gets_its_part_of_the_gradient(count, static):
    values = [np.full((2, i % 3 + 1), float(i), np.float32) for i in range(count)]
    with tf.Graph().as_default(), tf.Session() as session:
        xs = [tf.placeholder(tf.float32, v.shape if static else None) for v in values]
        found = session.run(tf.gradients(tf.concat(xs, -1) ** 2, xs), dict(zip(xs, values)))
    assert all((g == 2 * v).all() for g, v in zip(found, values))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_rows_gathered_from_a_concatenation_differentiate_to_rows_of_its_inputs(axis):
    other = A + 1
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.constant(A), tf.constant(other)
        gradients = tf.gradients(tf.gather(tf.concat([x, y], axis), [1, 1]), [x, y])
        assert all(isinstance(g, tf.IndexedSlices) for g in gradients)
        dx, dy = session.run([tf.convert_to_tensor(g) for g in gradients])
    whole = np.zeros_like(np.concatenate([A, other], axis))
    whole[1] = 2
    expected = np.split(whole, 2, axis)
    assert (dx == expected[0]).all() and (dy == expected[1]).all()


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_stack_and_unstack_undo_each_other(axis):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32)
        stacked = tf.stack([x, x + 1], axis)
        found, parts = session.run([stacked, tf.unstack(stacked, 2, axis)], {x: A})
        assert (found == np.stack([A, A + 1], axis)).all() and (parts[1] == A + 1).all()
        assert (session.run(tf.gradients(stacked * found, x)[0], {x: A}) == A + A + 1).all()


def test_numbers_are_stacked_to_a_constant_and_tensors_to_a_pack():
    with tf.Graph().as_default() as graph:
        tf.stack([1, 2])
        tf.stack([tf.constant(1), 2])
        assert [(op.name, op.type) for op in graph.get_operations()] == [
            ("stack", "Const"),
            ("Const", "Const"),
            ("stack_1/1", "Const"),
            ("stack_1", "Pack"),
        ]


def test_lists_that_hold_tensors_become_tensors():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(5)
        assert session.run(tf.convert_to_tensor([[x, 1], [2, 3]])).tolist() == [[5, 1], [2, 3]]
        assert session.run(tf.convert_to_tensor([x, 1.5], tf.float32)).tolist() == [5.0, 1.5]
        assert session.run(tf.reshape([1, 2, 3, 4, 5], [x, 1])).shape == (5, 1)


def test_stack_and_unstack_refuse_what_does_not_fit():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match=r"axis = 4 not in \[-3, 3\)"):
            tf.stack([A, A], axis=4)
        with pytest.raises(ValueError, match="Cannot infer num from shape <unknown>"):
            tf.unstack(tf.placeholder(tf.float32))
        with pytest.raises(ValueError, match="Dimension 0 in both shapes must be equal"):
            tf.stack([tf.constant([1]), tf.constant([1, 2])])


@pytest.mark.parametrize("sizes, axis", [(3, 1), (2, 0), ([1, 2], 1), ([2, -1], -1), ([0, 3], 1)])
def test_split_and_its_gradient(sizes, axis):
    cuts = sizes if isinstance(sizes, int) else np.cumsum([3 - sum(s for s in sizes if s > 0) if s == -1 else s for s in sizes])[:-1]
    expected = np.split(A, cuts, axis)
    for static in ((2, 3), (None, None), None):
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, static)
            parts = tf.split(x, sizes, axis)
            found, dx = session.run([parts, tf.gradients([p * p for p in parts], x)[0]], {x: A})
        assert all((f == e).all() and f.shape == e.shape for f, e in zip(found, expected)) and len(found) == len(expected)
        assert (dx == 2 * A).all()


def test_split_refuses_what_does_not_come_out_even():
    with pytest.raises(ValueError, match="Number of ways to split should evenly divide the split dimension"):
        run(tf.split(A, 2, 1))
    with pytest.raises(ValueError, match=r"can't split axis of size 3 into pieces of size \[1,1\]"):
        run(tf.split(A, [1, 1], 1))
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"got split_dim 1 \(size = 3\) and num_split 2"):
            session.run(tf.split(x, 2, 1), {x: A})


def test_parallel_stack():
    assert run(tf.parallel_stack([tf.constant([1, 2]), tf.constant([3, 4])])).tolist() == [[1, 2], [3, 4]]


def test_rows_are_written_into_memory_that_others_fill_too(session):
    whole = apply("_ParallelConcatStart", shape=[2, 2], dtype=tf.float32, name="whole")
    rows = [apply("_ParallelConcatUpdate", whole, [[10.0 * i, 1.0]], loc=i, name="row") for i in (0, -1)]
    with tf.control_dependencies(rows):
        assert session.run(tf.identity(whole)).tolist() == [[0, 1], [-10, 1]]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"value and update shape doesn't match \[2,2\] vs. \[1,3\]"):
        session.run(apply("_ParallelConcatUpdate", whole, [[1.0, 2.0, 3.0]], loc=0, name="row"))
