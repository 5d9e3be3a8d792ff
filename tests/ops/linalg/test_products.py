"""Products of matrices."""

import numpy as np
import pytest

import everflow as tf
from running import run

RNG = np.random.RandomState(0)


def matrix(*shape, dtype="float64"):
    x = RNG.randint(-4, 5, shape).astype("float64")
    return (x + 1j * RNG.randint(-4, 5, shape)).astype(dtype) if dtype.startswith("complex") else x.astype(dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64", "complex64"])
@pytest.mark.parametrize("batch_a, batch_b", [((), ()), ((5,), (5,)), ((2, 1), (3,)), ((4,), ())])
@pytest.mark.parametrize("flip_a", [None, "transpose", "adjoint"])
@pytest.mark.parametrize("flip_b", [None, "transpose", "adjoint"])
def test_products_are_numpys(dtype, batch_a, batch_b, flip_a, flip_b):
    a, b = matrix(*batch_a, 2, 3, dtype=dtype), matrix(*batch_b, 3, 4, dtype=dtype)
    flips = {}
    given = []
    for value, flip, which in ((a, flip_a, "a"), (b, flip_b, "b")):
        if flip:
            flips[f"{flip}_{which}"] = True
            value = np.swapaxes(value, -1, -2)
            value = value.conj() if flip == "adjoint" else value
        given.append(value)
    found = run(tf.matmul(*given, **flips))
    assert found.dtype == dtype
    np.testing.assert_allclose(found, a @ b, rtol=1e-3 if dtype == "float16" else 1e-6)


@pytest.mark.parametrize(
    "shape_a, shape_b, flips",
    [
        ((2, 3), (3, 4), {}),
        ((3, 2), (3, 4), {"transpose_a": True}),
        ((2, 3), (4, 3), {"transpose_b": True}),
        ((3, 2), (4, 3), {"transpose_a": True, "transpose_b": True}),
        ((5, 2, 3), (3, 4), {}),
        ((2, 1, 2, 3), (3, 4, 3), {"adjoint_b": True}),
        ((5, 3, 2), (5, 3, 4), {"adjoint_a": True}),
        ((2, 3), (3, 4), {"a_is_sparse": True}),
        ((2, 3), (4, 3), {"b_is_sparse": True, "transpose_b": True}),
    ],
)
def test_gradients_are_those_of_finite_differences(shape_a, shape_b, flips):
    kind = "float32" if "a_is_sparse" in flips or "b_is_sparse" in flips else "float64"
    a, b = RNG.randn(*shape_a).astype(kind), RNG.randn(*shape_b).astype(kind)
    with tf.Graph().as_default(), tf.Session():
        x, y = tf.constant(a), tf.constant(b)
        z = tf.matmul(x, y, **flips)
        for t, value in ((x, a), (y, b)):
            error = tf.test.compute_gradient_error(t, value.shape, z, z.shape.as_list(), x_init_value=value)
            assert error < (1e-2 if kind == "float32" else 1e-6)


def test_matrices_that_do_not_fit():
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 1 for 'MatMul'"):
        tf.matmul([[1.0, 2.0]], [[2.0]])
    with pytest.raises(ValueError, match="Shape must be rank 2 but is rank 1"):
        tf.matmul([1.0], [[2.0]])
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, None])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Matrix size-incompatible: In\[0\]: \[1,2\], In\[1\]: \[1,2\]"):
            session.run(tf.matmul(x, x), {x: [[1, 2]]})
    with pytest.raises(ValueError, match="Only one of transpose_a and adjoint_a can be True"):
        tf.matmul([[1.0]], [[1.0]], transpose_a=True, adjoint_a=True)


def test_unknown_ranks_use_the_batched_op():
    assert tf.matmul(tf.placeholder(tf.float32), tf.placeholder(tf.float32)).op.type == "BatchMatMulV2"
    assert (tf.zeros([2, 3]) @ tf.zeros([3, 4])).op.type == "MatMul"


def test_bfloat16_times_float32_is_float32():
    with tf.Graph().as_default(), tf.Session() as session:
        product = tf.matmul(tf.constant([[2.0]], tf.bfloat16), tf.constant([[1.5]]))
        assert product.dtype == tf.float32 and session.run(product).tolist() == [[3]]


def test_empty_products_are_zero():
    assert run(tf.matmul(np.zeros((2, 0)), np.zeros((0, 3)))).tolist() == [[0] * 3] * 2


def test_matrix_times_vector_trace_and_cross_product():
    a = np.arange(6.0).reshape(2, 3)
    assert run(tf.linalg.matvec(a, np.array([1.0, 0.0, 2.0]))).tolist() == (a @ [1, 0, 2]).tolist()
    assert run(tf.linalg.matvec(a, np.array([1.0, 2.0]), transpose_a=True)).tolist() == (a.T @ [1, 2]).tolist()
    assert run(tf.trace([[1, 2], [3, 4]])) == 5
    assert run(tf.cross([[1, 0, 0]], [[0, 1, 0]])).tolist() == [[0, 0, 1]]
    with pytest.raises(ValueError, match="Dimension must be 3 but is 2"):
        tf.cross([1.0, 2.0], [1.0, 2.0])


def test_the_cost_of_a_product_is_known():
    from everflow.graph.statistics import get_stats_for_node_def

    product = tf.matmul(tf.zeros([16, 25]), tf.zeros([16, 9]), transpose_a=True)
    assert get_stats_for_node_def(product.graph, product.op.node_def, "flops").value == 2 * 25 * 16 * 9
