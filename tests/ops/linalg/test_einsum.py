"""tensordot and einsum."""

import string

import numpy as np
import pytest

import everflow as tf
from running import run

RNG = np.random.RandomState(0)
SIZES = {c: 2 + i % 4 for i, c in enumerate(string.ascii_letters)}


@pytest.mark.parametrize("axes", [0, 1, 2, [[1], [0]], [[2, 1], [1, 0]], [1, 0], [[-1, -2], [1, 0]], [[], []]])
@pytest.mark.parametrize("known", ["all", "rank", "nothing"])
def test_tensordot_is_numpys(axes, known):
    a, b = RNG.randn(2, 3, 3), RNG.randn(3, 3, 2)
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = (tf.placeholder(tf.float64, {"all": v.shape, "rank": [None] * 3, "nothing": None}[known]) for v in (a, b))
        found = session.run(tf.tensordot(x, y, axes), {x: a, y: b})
    np.testing.assert_allclose(found, np.tensordot(a, b, axes))


def test_tensordot_takes_axes_that_are_known_only_when_it_runs():
    a, b = RNG.randn(2, 3), RNG.randn(2, 3)
    with tf.Graph().as_default(), tf.Session() as session:
        axes = tf.placeholder(tf.int32)
        np.testing.assert_allclose(session.run(tf.tensordot(a, b, axes), {axes: [[0], [0]]}), a.T @ b)


@pytest.mark.parametrize(
    "axes, message",
    [
        (-1, "'axes' must be at least 0"),
        (3, "'axes' must not be larger than the number of dimensions"),
        ([[0, 1], [0]], "Different number of contraction axes 'a' and 'b', 2 != 1"),
        ([1], "must be an integer or have length 2"),
    ],
)
def test_axes_that_make_no_sense(axes, message):
    with pytest.raises(ValueError, match=message):
        tf.tensordot(tf.zeros([2, 2]), tf.zeros([2, 2]), axes)


@pytest.mark.parametrize(
    "equation",
    [
        "ij,jk->ik",
        "ij,jk",
        "bij,bjk->bik",
        "ij->ji",
        "ijk->k",
        "ij->",
        "i,j->ij",
        "ij,ij->ij",
        "ab,ab->a",
        "abc,cd->abd",
        "abcd,cd->abc",
        "ij,jk,kl->il",
        "ijk,ijl,ikl->i",
        "a,ab,abc->abc",
        "ab,ab,cd,cd->ac",
        "ba",
        "i j , j k -> i k",
        "iJ,Ki->JK",
        "ij,ij,ij->i",
        "ii",
    ],
)
def test_einsum_is_numpys(equation):
    values = [RNG.randn(*[SIZES[c] for c in term.strip() if c != " "]) for term in equation.split("->")[0].split(",")]
    np.testing.assert_allclose(run(tf.einsum(equation, *map(tf.constant, values))), np.einsum(equation, *values))


@pytest.mark.parametrize(
    "equation, shapes",
    [
        ("...ij,...jk->...ik", [(4, 2, 3), (4, 3, 5)]),
        ("...ij,...jk->...ik", [(4, 2, 3), (3, 5)]),
        ("...ij->...ji", [(6, 4, 2, 3)]),
        ("i...,j...->...ij", [(2, 4), (3, 4)]),
        ("...,...->...", [(2, 3), (2, 3)]),
        ("ab...,b->ab...", [(2, 3, 4), (3,)]),
    ],
)
def test_einsum_knows_ellipses(equation, shapes):
    values = [RNG.randn(*s) for s in shapes]
    np.testing.assert_allclose(run(tf.einsum(equation, *map(tf.constant, values))), np.einsum(equation, *values))


def test_einsum_with_sizes_that_are_not_known():
    a, b = RNG.randn(2, 3, 4), RNG.randn(4, 5)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float64, [None, 3, 4])
        np.testing.assert_allclose(session.run(tf.einsum("abc,cd->abd", x, tf.constant(b)), {x: a}), a @ b)


def test_einsum_has_gradients():
    a, b = RNG.randn(2, 3, 4), RNG.randn(3, 5, 2)
    with tf.Graph().as_default(), tf.Session():
        x, y = tf.constant(a), tf.constant(b)
        z = tf.einsum("abc,bda->dc", x, y)
        assert tf.test.compute_gradient_error(x, a.shape, z, (5, 4), x_init_value=a, delta=1e-5) < 1e-6
        assert tf.test.compute_gradient_error(y, b.shape, z, (5, 4), x_init_value=b, delta=1e-5) < 1e-6


@pytest.mark.parametrize(
    "equation, message",
    [
        ("ij,jk->iz", "Invalid equation"),
        ("ij.jk->ik", "Subscript not supported|expecting"),
        ("ij,jk>ik", "Indices have incorrect format"),
        ("iij,jk->ik", "an axis appears more than once: iij"),
        ("ijk,jk->ik", "does not match einsum reduction of length 3"),
        ("ij->ji", 'Got 2 arguments for equation "ij->ji", expecting 1'),
    ],
)
def test_equations_that_make_no_sense(equation, message):
    with pytest.raises(ValueError, match=message):
        tf.einsum(equation, tf.zeros([2, 2]), tf.zeros([2, 2]))


@pytest.mark.parametrize(
    ("equation", "dims"),
    [("ij,jk->ik", [(2, 3), (3, 4)]), ("aab->b", [(2, 2, 3)]), ("...ij,...jk->...ik", [(5, 1, 2, 3), (4, 3, 2)]), ("->", [()])],
)
def test_equations_of_the_op_mean_what_they_mean_to_numpy(equation, dims):
    inputs = [RNG.randn(*d) for d in dims]
    np.testing.assert_allclose(run(tf.raw_ops.Einsum(inputs=inputs, equation=equation)), np.einsum(equation, *inputs))


def test_labels_twice_in_the_output_fill_a_diagonal():
    assert run(tf.raw_ops.Einsum(inputs=[[1.0, 2.0]], equation="a->aa")).tolist() == [[1, 0], [0, 2]]


def test_shapes_follow_from_equations():
    with tf.Graph().as_default():
        x, y = tf.placeholder(tf.float32, [None, 2, 3]), tf.placeholder(tf.float32, [3, 4])
        assert tf.raw_ops.Einsum(inputs=[x, y], equation="...ij,jk->...ik").shape.as_list() == [None, 2, 4]
        with pytest.raises(ValueError, match="must be equal, but are 2 and 3"):
            tf.raw_ops.Einsum(inputs=[x, y], equation="bji,jk->bik")
