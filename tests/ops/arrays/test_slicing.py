"""Parts of tensors: slice, strided_slice and `tensor[...]`."""

import numpy as np
import pytest

import everflow as tf
from running import run

X = np.arange(2 * 5 * 4, dtype=np.float32).reshape(2, 5, 4)

SPECS = {
    "int": np.s_[1],
    "negative int": np.s_[-1],
    "range": np.s_[:, 1:3],
    "open": np.s_[:, 2:],
    "steps": np.s_[:, ::2],
    "backwards": np.s_[::-1],
    "backwards in steps": np.s_[:, 4:0:-2],
    "backwards to the start": np.s_[:, 3::-1],
    "beyond the end": np.s_[:, 3:99],
    "before the start": np.s_[:, -99:2],
    "empty": np.s_[:, 3:1],
    "empty backwards": np.s_[:, 1:3:-1],
    "ellipsis": np.s_[..., 1],
    "ellipsis between": np.s_[0, ..., 2:],
    "new axis": np.s_[None],
    "new axis after": np.s_[..., None],
    "new axis between": np.s_[:, None, 1, None, ::-1],
    "all ints": np.s_[1, 2, 3],
    "mixed": np.s_[1, ::-2, None, -2:],
    "nothing": np.s_[()],
}


@pytest.mark.parametrize("name", SPECS)
def test_indexing_is_that_of_numpy(name):
    spec = SPECS[name]
    for static in ((2, 5, 4), (None, None, 4), None):
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, static)
            part = x[spec]
            found = session.run(part, {x: X})
        assert found.shape == X[spec].shape and (found == X[spec]).all()
        assert part.shape.is_compatible_with(X[spec].shape)
        if static == (2, 5, 4):
            assert part.shape.as_list() == list(X[spec].shape)


@pytest.mark.parametrize("name", SPECS)
def test_the_gradient_goes_back_to_where_the_part_was(name):
    spec = SPECS[name]
    for static in ((2, 5, 4), None):
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, static)
            dx = tf.gradients(x[spec] * 3.0, x)[0]
            expected = np.zeros_like(X)
            expected[spec] = 3
            assert (session.run(dx, {x: X}) == expected).all()


def test_the_second_derivative_of_a_part():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([1.0, 2.0, 3.0])
        first = tf.gradients(x[::-2] ** 3, x)[0]
        assert session.run(tf.gradients(first, x)[0]).tolist() == [6.0, 0.0, 18.0]


def test_indices_may_be_tensors():
    with tf.Graph().as_default(), tf.Session() as session:
        x, i = tf.constant(X), tf.placeholder(tf.int32, [])
        at, upto, wide = session.run([x[:, i], x[:, :i, 0], x[:, tf.cast(i, tf.int64) :]], {i: 2})
    assert (at == X[:, 2]).all() and (upto == X[:, :2, 0]).all() and (wide == X[:, 2:]).all()


def test_a_mask_chooses_elements():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(X)
        assert session.run(x[x > 20]).tolist() == X[X > 20].tolist()
        assert session.run(x[np.array([True, False])]).tolist() == X[:1].tolist()


def test_what_cannot_be_an_index_is_refused():
    x = tf.placeholder(tf.float32, [3, 3])
    for wrong in (1.5, "a", np.array([1, 2]), tf.constant([0, 1])):
        with pytest.raises(TypeError, match="Only integers, slices"):
            x[wrong]
    with pytest.raises(ValueError, match="slice index 3 of dimension 1 out of bounds"):
        x[0, 3]
    with pytest.raises(ValueError, match="Index out of range using input dim 2; input has only 2 dims"):
        x[0, 0, 0]
    with pytest.raises(ValueError, match="Multiple ellipses"):
        x[..., ...]
    with pytest.raises(ValueError, match=r"strides\[0\] must be non-zero"):
        x[::0]


def test_an_index_outside_is_found_when_the_size_is():
    with tf.Graph().as_default(), tf.Session() as session:
        x, i = tf.placeholder(tf.float32), tf.placeholder(tf.int32, [])
        with pytest.raises(tf.errors.InvalidArgumentError, match="slice index 7 of dimension 0 out of bounds"):
            session.run(x[7], {x: X})
        with pytest.raises(tf.errors.InvalidArgumentError, match="slice index -2 of dimension 0 out of bounds"):
            session.run(x[i], {x: X, i: -4})


def test_indexing_names_its_ops_as_tensorflow_does():
    with tf.Graph().as_default() as graph:
        tf.placeholder(tf.float32, [3], name="p")[0]
        assert [(op.name, op.type) for op in graph.get_operations()][1:] == [
            ("strided_slice/stack", "Const"),
            ("strided_slice/stack_1", "Const"),
            ("strided_slice/stack_2", "Const"),
            ("strided_slice", "StridedSlice"),
        ]


@pytest.mark.parametrize("begin, size", [([0, 1, 2], [1, 2, 2]), ([1, 0, 0], [-1, 5, -1]), ([0, 5, 0], [2, 0, 4])])
def test_slice(begin, size):
    spec = tuple(slice(b, None if s == -1 else b + s) for b, s in zip(begin, size))
    for static in ((2, 5, 4), None):
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, static)
            part = tf.slice(x, begin, size)
            found, dx = session.run([part, tf.gradients(part, x)[0]], {x: X})
        expected = np.zeros_like(X)
        expected[spec] = 1
        assert (found == X[spec]).all() and (dx == expected).all()


def test_slice_outside_is_refused():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected begin\[0\] in \[0, 5\], but got 6"):
            session.run(tf.slice(x, [6], [1]), {x: np.zeros(5)})
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected size\[0\] in \[0, 1\], but got 3"):
            session.run(tf.slice(tf.zeros([5]), [4], [3]))


def test_a_part_of_a_variable_can_be_assigned():
    with tf.Graph().as_default(), tf.Session() as session:
        for use_resource in (False, True):
            v = tf.Variable(np.zeros((2, 3), np.float32), use_resource=use_resource)
            session.run(v.initializer)
            session.run(v[1, ::-1].assign([1.0, 2.0, 3.0]))
            session.run(v[0, :2].assign([9.0, 9.0]))
            assert session.run(v).tolist() == [[9.0, 9.0, 0.0], [3.0, 2.0, 1.0]]
    with pytest.raises(ValueError, match="Sliced assignment is only supported for variables"):
        tf.constant([1.0])[0].assign(2.0)


def test_rows_and_slices_of_texts_are_replaced():
    texts = tf.constant([[b"a", b"b"], [b"c", b"d"]])
    assert run(tf.raw_ops.InplaceUpdate(x=texts, i=[1], v=[[b"x", b"y"]])).tolist() == [[b"a", b"b"], [b"x", b"y"]]
    replaced = tf.raw_ops.TensorStridedSliceUpdate(input=texts, begin=[0, 1], end=[2, 2], strides=[1, 1], value=[[b"x"], [b"y"]])
    assert run(replaced).tolist() == [[b"a", b"x"], [b"c", b"y"]]


def test_a_scalar_is_its_own_reverse_and_its_own_diagonal_where_nobody_knows_its_rank():
    x = tf.placeholder(tf.float32)
    with tf.Session() as session:
        assert session.run([tf.reverse(x, [0]), tf.linalg.tensor_diag_part(x)], {x: 3.0}) == [3.0, 3.0]
