"""tf.raw_ops: keyword arguments only."""

import pytest

import everflow as tf


def test_an_op_is_called_by_its_name():
    with tf.Graph().as_default(), tf.Session() as sess:
        total = tf.raw_ops.Sum(input=[1.0, 2.0], axis=0, name="total")
        assert total.op.name == "total" and sess.run(total) == 3.0


def test_positions_and_unknown_keywords_are_refused():
    with pytest.raises(TypeError, match=r"Add only takes keyword args \(possible keys: \['x', 'y', 'name'\]\)"):
        tf.raw_ops.Add(1, 2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        tf.raw_ops.Add(x=1, z=2)


def test_an_op_without_a_kernel_fails_when_it_runs_with_its_name():
    with tf.Graph().as_default(), tf.Session() as sess:
        unused = tf.raw_ops.TPUReplicatedInput(inputs=[1.0], name="replica")
        assert sess.run(tf.constant(2.0)) == 2.0
        with pytest.raises(tf.errors.UnimplementedError, match="TPUReplicatedInput"):
            sess.run(unused)
