"""Tensors made from a shape or a range."""

import numpy as np
import pytest

import everflow as tf
from running import run


def types(build):
    with tf.Graph().as_default() as graph:
        build()
        return [(op.name, op.type) for op in graph.get_operations()]


def test_small_known_shapes_make_a_constant_and_large_ones_a_fill():
    assert types(lambda: tf.zeros([9, 111])) == [("zeros", "Const")]
    assert types(lambda: tf.zeros([10, 100])) == [("zeros/shape_as_tensor", "Const"), ("zeros/Const", "Const"), ("zeros", "Fill")]
    assert types(lambda: tf.ones(tf.TensorShape([2, 3]), name="one")) == [("one", "Const")]


def test_zeros_of_a_shape_that_holds_tensors_names_its_ops_as_tensorflow_does():
    def build():
        tf.zeros([tf.size(tf.placeholder(tf.float32)), 2])

    assert [name for name, _ in types(build)][2:] == [
        "zeros/mul/y",
        "zeros/mul",
        "zeros/Less/y",
        "zeros/Less",
        "zeros/packed/1",
        "zeros/packed",
        "zeros/Const",
        "zeros",
    ]


@pytest.mark.parametrize(
    "dtype, zero, one", [(tf.float32, 0.0, 1.0), (tf.int64, 0, 1), (tf.bool, False, True), (tf.complex64, 0, 1), (tf.uint16, 0, 1)]
)
def test_zeros_and_ones_have_the_dtype_that_is_asked_for(dtype, zero, one):
    for shape in ([2], [2000]):
        zeros, ones = run([tf.zeros(shape, dtype), tf.ones(shape, dtype)])
        assert zeros.dtype == ones.dtype == dtype.as_numpy_dtype
        assert (zeros == zero).all() and (ones == one).all()
    assert run(tf.zeros([2], tf.string)).tolist() == [b"", b""]


def test_zeros_like_and_ones_like_follow_what_is_fed():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32)
        value = np.full((2, 3), 7.0)
        assert session.run(tf.zeros_like(x), {x: value}).tolist() == [[0.0] * 3] * 2
        assert session.run(tf.ones_like(x, dtype=tf.int32), {x: value}).dtype == np.int32
        assert tf.zeros_like(x).op.type == "ZerosLike"
        assert tf.zeros_like(tf.placeholder(tf.float32, [2])).op.type == "Const"


def test_fill():
    assert run(tf.fill([2, 2], 7)).tolist() == [[7, 7], [7, 7]]
    assert run(tf.fill([2], "a")).tolist() == [b"a", b"a"]
    with tf.Graph().as_default(), tf.Session() as session:
        value, dims = tf.placeholder(tf.float32, []), tf.placeholder(tf.int32, [2])
        assert session.run(tf.fill(dims, value), {value: 3.0, dims: [1, 2]}).tolist() == [[3.0, 3.0]]
        assert session.run(tf.gradients(tf.fill([2, 3], value), value), {value: 1.0}) == [6.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Dimension -1 must be >= 0"):
            session.run(tf.fill(dims, value), {value: 3.0, dims: [1, -1]})
    with pytest.raises(ValueError, match="Fill dimensions must be >= 0"):
        run(tf.fill([-1], 1))


@pytest.mark.parametrize(
    "arguments, expected",
    [
        ((5,), [0, 1, 2, 3, 4]),
        ((2, 5), [2, 3, 4]),
        ((5, 0, -2), [5, 3, 1]),
        ((0, 5, 2), [0, 2, 4]),
        ((3, 3), []),
        ((0.0, 1.0, 0.5), [0.0, 0.5]),
        ((1, 3.0), [1.0, 2.0]),
    ],
)
def test_range(arguments, expected):
    found = run(tf.range(*arguments))
    assert found.tolist() == expected
    with tf.Graph().as_default():
        assert tf.range(*arguments).shape.as_list() == [len(expected)]


def test_range_of_floats_adds_up_rounded_steps():
    steps = run(tf.range(0.0, 100.0, 0.1))
    value, expected = np.float32(0), []
    for _ in range(1000):
        expected.append(value)
        value = value + np.float32(0.1)
    assert steps.tolist() == [float(v) for v in expected]


def test_range_takes_the_widest_type_unless_told():
    assert run(tf.range(np.int64(3))).dtype == np.int64
    assert run(tf.range(3, dtype=tf.float64)).dtype == np.float64


def test_range_refuses_what_never_ends():
    with pytest.raises(ValueError, match="Requires start <= limit when delta > 0: 5/3"):
        run(tf.range(5, 3))
    with tf.Graph().as_default(), tf.Session() as session:
        delta = tf.placeholder(tf.int32, [])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Requires delta != 0: 0"):
            session.run(tf.range(0, 3, delta), {delta: 0})


def test_linspace_ends_exactly():
    found = run(tf.linspace(0.1, 0.7, 4))
    np.testing.assert_allclose(found, [0.1, 0.3, 0.5, 0.7], rtol=1e-6)
    assert found[-1] == np.float32(0.7)
    assert run(tf.linspace(2.0, 3.0, 1)).tolist() == [2.0]
    with pytest.raises(ValueError, match="Requires num > 0"):
        run(tf.linspace(0.0, 1.0, 0))


def test_sizes_may_be_small_integers_of_numpys():
    classes = np.uint8(200)
    assert tf.random_normal([classes, 3]).shape == tf.truncated_normal([classes, 3]).shape == (200, 3)
    assert tf.random_uniform([classes]).shape == (200,)
    assert tf.zeros([classes, classes]).shape == (200, 200) and tf.ones((classes,)).shape == (200,)


def test_a_line_begins_where_it_should_even_if_it_never_ends():
    assert run(tf.linspace(1.0, np.inf, 3)).tolist() == [1, np.inf, np.inf]
