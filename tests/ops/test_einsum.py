"""The ops Einsum, CompareAndBitpack and BatchNormWithGlobalNormalization."""
import numpy as np
import pytest

import everflow as tf

RANDOM = np.random.RandomState(2)


def run(build):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build())


@pytest.mark.parametrize(("equation", "dims"), [
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("aab->b", [(2, 2, 3)]), ("...ij,...jk->...ik", [(5, 1, 2, 3), (4, 3, 2)]), ("->", [()])])
def test_equations_mean_what_they_mean_to_numpy(equation, dims):
    inputs = [RANDOM.randn(*d) for d in dims]
    np.testing.assert_allclose(run(lambda: tf.raw_ops.Einsum(inputs=inputs, equation=equation)), np.einsum(equation, *inputs))


def test_labels_twice_in_the_output_fill_a_diagonal():
    assert run(lambda: tf.raw_ops.Einsum(inputs=[[1.0, 2.0]], equation="a->aa")).tolist() == [[1, 0], [0, 2]]


def test_shapes_follow_from_equations():
    with tf.Graph().as_default():
        x, y = tf.placeholder(tf.float32, [None, 2, 3]), tf.placeholder(tf.float32, [3, 4])
        assert tf.raw_ops.Einsum(inputs=[x, y], equation="...ij,jk->...ik").shape.as_list() == [None, 2, 4]
        with pytest.raises(ValueError, match="must be equal, but are 2 and 3"):
            tf.raw_ops.Einsum(inputs=[x, y], equation="bji,jk->bik")


def test_comparisons_are_packed_with_the_first_in_the_highest_bit():
    assert run(lambda: tf.raw_ops.CompareAndBitpack(input=[3.0, 0, 0, 5, 0, 0, 0, 2], threshold=1.0)).tolist() == [0b10010001]
    with pytest.raises(ValueError, match="evenly divisible by 8 but is 7"):
        run(lambda: tf.raw_ops.CompareAndBitpack(input=[0.0] * 7, threshold=1.0))


def test_global_normalization_has_gradients():
    random = np.random.RandomState(0)
    x = random.randn(2, 3, 2, 2)
    with tf.Graph().as_default() as graph, tf.Session():
        graph.graph_def_versions.producer = 8
        values = [tf.constant(v) for v in (x, random.randn(2), 1 + random.rand(2), random.randn(2), random.randn(2))]
        y = tf.raw_ops.BatchNormWithGlobalNormalization(**dict(zip(("t", "m", "v", "beta", "gamma"), values)), variance_epsilon=0.01,
                                                        scale_after_normalization=True)
        for t in values:
            assert tf.test.compute_gradient_error(t, t.shape.as_list(), y, x.shape, delta=1e-5) < 1e-4
