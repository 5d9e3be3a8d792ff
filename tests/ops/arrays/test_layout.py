"""The order of dimensions and elements; padding, tiling, blocks, patches and diagonals."""

import numpy as np
import pytest

import everflow as tf
from running import run

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def value_and_gradient(x, build, static):
    """What `build` makes of x, and the gradient of its sum weighted by 1, 2, 3, ..."""
    with tf.Graph().as_default(), tf.Session() as session:
        t = tf.placeholder(tf.float32, static)
        y = build(t)
        found = session.run(y, {t: x})
        weights = np.arange(1, found.size + 1, dtype=np.float32).reshape(found.shape)
        return found, session.run(tf.gradients(y * weights, t)[0], {t: x}), weights


def check(x, build, expected, back):
    """Values, and gradients as `back` has them: it puts weights in the output's shape back to the input's."""
    for static in (x.shape, None):
        found, dx, weights = value_and_gradient(x, build, static)
        assert found.shape == expected.shape and (found == expected).all()
        assert (dx == back(weights)).all()


@pytest.mark.parametrize("perm", [[0, 2, 1], [2, 0, 1], None])
def test_transpose(perm):
    back = None if perm is None else np.argsort(perm)
    check(X, lambda t: tf.transpose(t, perm), X.transpose(perm), lambda w: w.transpose(back))


def test_transpose_of_complex_numbers_may_conjugate():
    z = np.array([[1 + 2j, 3.0]])
    assert run(tf.transpose(z, conjugate=True)).tolist() == z.conj().T.tolist()
    assert run(tf.matrix_transpose(z)).tolist() == z.T.tolist()


def test_matrix_transpose_exchanges_the_last_two_dimensions():
    check(X, tf.matrix_transpose, X.transpose(0, 2, 1), lambda w: w.transpose(0, 2, 1))


def test_transpose_says_what_is_wrong_with_a_permutation():
    with tf.Graph().as_default(), tf.Session() as session:
        perm = tf.placeholder(tf.int32)
        for value, message in (
            ([0, 1], "vector of size 3"),
            ([0, 1, 3], r"3 is out of range \[0 .. 3\)"),
            ([0, 0, 1], "2 is missing from {0,0,1}"),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(tf.transpose(X, perm), {perm: value})


def test_reverse():
    check(X, lambda t: tf.reverse(t, [0, -1]), X[::-1, :, ::-1], lambda w: w[::-1, :, ::-1])
    with pytest.raises(ValueError, match="axis 0 specified more than once"):
        run(tf.reverse(X, [0, -3]))


def test_reverse_sequence():
    lengths = [3, 1]
    expected = X.copy()
    expected[0, :3] = X[0, 2::-1]

    def back(w):
        found = w.copy()
        found[0, :3] = w[0, 2::-1]
        return found

    check(X, lambda t: tf.reverse_sequence(t, lengths, 1, 0), expected, back)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"seq_lens\(1\) > input.dims\(1\)"):
        run(tf.reverse_sequence(X, [1, 4], seq_axis=1))


def test_roll():
    check(X, lambda t: tf.roll(t, [1, -2], [0, 2]), np.roll(X, [1, -2], [0, 2]), lambda w: np.roll(w, [-1, 2], [0, 2]))


@pytest.mark.parametrize("mode", ["CONSTANT", "REFLECT", "symmetric"])
def test_pad(mode):
    paddings = [[1, 0], [2, 1], [0, 0]]
    expected = np.pad(X, paddings, mode.lower())

    def back(w):
        places = np.pad(
            np.arange(X.size).reshape(X.shape), paddings, mode.lower(), **({"constant_values": -1} if mode == "CONSTANT" else {})
        )
        found = np.zeros(X.size, np.float32)
        np.add.at(found, places[places >= 0], w[places >= 0])
        return found.reshape(X.shape)

    check(X, lambda t: tf.pad(t, paddings, mode), expected, back)


def test_pad_with_a_value_of_any_type():
    assert run(tf.pad([1], [[1, 2]], constant_values=7)).tolist() == [7, 1, 7, 7]
    big = 2**62 + 1
    assert run(tf.pad(np.array([1]), [[1, 0]], constant_values=big)).tolist() == [big, 1]
    assert run(tf.pad([True], [[0, 1]], constant_values=True)).tolist() == [True, True]


def test_pad_says_what_is_wrong():
    with pytest.raises(ValueError, match="Paddings must be non-negative"):
        run(tf.pad([1], [[-1, 0]]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="paddings must be less than the dimension size: 3, 0 not less than 3"):
        run(tf.pad([1, 2, 3], [[3, 0]], "REFLECT"))
    with pytest.raises(ValueError, match="Unknown padding mode: ROUND"):
        tf.pad([1], [[0, 0]], "round")


@pytest.mark.parametrize("multiples", [[1, 2, 1], [2, 1, 3], [0, 1, 1]])
def test_tile(multiples):
    def back(w):
        pairs = [n for m, d in zip(multiples, X.shape) for n in (m, d)]
        return w.reshape(pairs).sum((0, 2, 4))

    check(X, lambda t: tf.tile(t, multiples), np.tile(X, multiples), back)


def test_broadcast_to():
    x = np.arange(3, dtype=np.float32).reshape(3, 1)
    check(x, lambda t: tf.broadcast_to(t, [2, 3, 4]), np.broadcast_to(x, (2, 3, 4)).copy(), lambda w: w.sum((0, 2))[:, None])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[3,1\] vs. \[2,4\]"):
        with tf.Graph().as_default(), tf.Session() as session:
            t = tf.placeholder(tf.float32)
            session.run(tf.broadcast_to(t, [2, 4]), {t: x})


def test_the_shape_that_shapes_broadcast_to():
    assert run(tf.broadcast_dynamic_shape([1, 3], [2, 1])).tolist() == [2, 3]
    assert tf.broadcast_static_shape(tf.TensorShape([1, 3]), tf.TensorShape([None, 1])).as_list() == [None, 3]


@pytest.mark.parametrize("indexing", ["xy", "ij"])
def test_meshgrid(indexing):
    vectors = [[1, 2], [3, 4, 5], [6]]
    for found, expected in zip(run(tf.meshgrid(*vectors, indexing=indexing)), np.meshgrid(*vectors, indexing=indexing)):
        assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("repeats, axis", [(2, None), (3, 1), ([1, 0, 2], 1), ([2, 1], 0), ([2, 0, 1], -2)])
def test_repeat(repeats, axis):
    assert (run(tf.repeat(X, repeats, axis)) == np.repeat(X, repeats, axis)).all()
    if axis is None or axis >= 0:
        data, times = tf.placeholder_with_default(X, None), tf.placeholder_with_default(repeats, None)
        assert (run(tf.repeat(data, times, axis)) == np.repeat(X, repeats, axis)).all()


def test_repeat_wants_a_number_for_each_slice():
    with pytest.raises(ValueError, match="Dimensions 2 and 3 are not compatible"):
        tf.repeat(tf.zeros([2, 3]), [1, 2, 3], axis=0)


def test_blocks_of_space_go_to_the_batch_and_back():
    x = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    expected = np.stack([x[0, i::2, j::2] for i in range(2) for j in range(2)])
    with tf.Graph().as_default(), tf.Session() as session:
        t = tf.constant(x)
        moved = tf.space_to_batch(t, [[0, 0], [0, 0]], 2)
        back = tf.batch_to_space(moved, [[1, 0], [0, 2]], 2)
        found, cropped, dx = session.run([moved, back, tf.gradients(back * back, t)[0]])
    assert (found == expected).all() and (cropped == x[:, 1:, :2]).all()
    assert (dx[:, 1:, :2] == 2 * x[:, 1:, :2]).all() and dx[:, 0].sum() == 0


def test_space_to_batch_pads_first_and_wants_whole_blocks():
    x = np.arange(6, dtype=np.float32).reshape(1, 3, 2)
    found = run(tf.space_to_batch_nd(x, [2], [[0, 1]]))
    padded = np.pad(x, [[0, 0], [0, 1], [0, 0]])
    assert (found == np.stack([padded[0, 0::2], padded[0, 1::2]])).all()
    with pytest.raises(ValueError, match="Dimension size must be evenly divisible by 2 but is 3"):
        run(tf.space_to_batch_nd(x, [2], [[0, 0]]))


def test_required_space_to_batch_paddings():
    paddings, crops = run(tf.required_space_to_batch_paddings([5, 11], [4, 3], [[1, 1], [0, 0]]))
    assert paddings.tolist() == [[1, 2], [0, 1]] and crops.tolist() == [[0, 1], [0, 1]]
    with tf.Graph().as_default(), tf.Session() as session:
        sizes = tf.placeholder(tf.int32, [2])
        found = session.run(tf.required_space_to_batch_paddings(sizes, [4, 3], [[1, 1], [0, 0]]), {sizes: [5, 11]})
    assert found[0].tolist() == paddings.tolist() and found[1].tolist() == crops.tolist()


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_blocks_of_space_go_to_the_depth_and_back(data_format):
    x = np.arange(32, dtype=np.float32).reshape(1, 4, 4, 2)
    expected = np.concatenate([x[:, i::2, j::2] for i in range(2) for j in range(2)], -1)
    if data_format == "NCHW":
        x, expected = x.transpose(0, 3, 1, 2), expected.transpose(0, 3, 1, 2)
    with tf.Graph().as_default(), tf.Session() as session:
        t = tf.constant(x)
        moved = tf.space_to_depth(t, 2, data_format=data_format)
        found, back, dx = session.run([moved, tf.depth_to_space(moved, 2, data_format=data_format), tf.gradients(moved * moved, t)[0]])
    assert (found == expected).all() and (back == x).all() and (dx == 2 * x).all()


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
@pytest.mark.parametrize("stride, rate", [(1, 1), (2, 1), (1, 2)])
def test_image_patches(padding, stride, rate):
    x = np.random.RandomState(0).rand(2, 5, 6, 3)
    with tf.Graph().as_default(), tf.Session() as session:
        t = tf.constant(x)
        patches = tf.image.extract_image_patches(t, [1, 3, 2, 1], [1, stride, stride, 1], [1, rate, rate, 1], padding)
        # A convolution with a filter for each place in the window computes the same.
        filters = np.eye(18).reshape(3, 2, 3, 18)
        same = tf.nn.conv2d(t, filters, [1, stride, stride, 1], padding, dilations=[1, rate, rate, 1])
        found, expected, dx, expected_dx = session.run([patches, same, tf.gradients(patches**2, t)[0], tf.gradients(same**2, t)[0]])
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(dx, expected_dx)


def test_volume_patches():
    x = np.arange(27, dtype=np.float64).reshape(1, 3, 3, 3, 1)
    with tf.Graph().as_default(), tf.Session() as session:
        t = tf.constant(x)
        y = tf.extract_volume_patches(t, [1, 2, 2, 2, 1], [1, 1, 1, 1, 1], "VALID")
        found, dx = session.run([y, tf.gradients(y, t)[0]])
    assert found[0, 0, 0, 0].tolist() == x[0, :2, :2, :2].ravel().tolist()
    assert dx[0, 1, 1, 1, 0] == 8 and dx[0, 0, 0, 0, 0] == 1


def test_diagonals_of_tensors_and_matrices():
    with tf.Graph().as_default(), tf.Session() as session:
        d, m = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant(X)
        whole, part, matrices, diagonal = session.run([tf.diag(d), tf.diag_part(tf.diag(d)), tf.matrix_diag(d), tf.matrix_diag_part(m)])
        changed = tf.matrix_set_diag(m, tf.ones([2, 3]))
        dm, written = session.run([tf.gradients(changed * m, m)[0], changed])
    assert whole.shape == (2, 2, 2, 2) and whole[1, 0, 1, 0] == 3 and whole.sum() == 10 and part.tolist() == [[1, 2], [3, 4]]
    assert matrices.tolist() == [np.diag([1.0, 2.0]).tolist(), np.diag([3.0, 4.0]).tolist()]
    assert diagonal.tolist() == np.diagonal(X, 0, 1, 2).tolist()
    expected = X.copy()
    expected[:, range(3), range(3)] = 1
    gradient = 2 * X
    gradient[:, range(3), range(3)] = 1
    assert (written == expected).all() and (dm == gradient).all()


@pytest.mark.parametrize("lower, upper", [(0, 0), (1, 0), (-1, 1), (0, -1), (2, 2)])
def test_band_part(lower, upper):
    i, j = np.indices((3, 4))
    inside = ((lower < 0) | (i - j <= lower)) & ((upper < 0) | (j - i <= upper))
    check(X, lambda t: tf.matrix_band_part(t, lower, upper), np.where(inside, X, 0), lambda w: np.where(inside, w, 0))


@pytest.mark.parametrize("k", [0, 1, -2, (-1, 1), (0, 2)])
def test_bands_are_set_and_read_back(k):
    from everflow.ops.core.registry import apply

    with tf.Graph().as_default(), tf.Session() as session:
        band = apply("MatrixDiagPartV2", X, k, -1.0)
        rebuilt = apply("MatrixSetDiagV2", tf.zeros_like(X), band, k)
        found, whole = session.run([band, rebuilt])
    low, high = (k, k) if isinstance(k, int) else k
    i, j = np.indices((3, 4))
    assert (whole == np.where((j - i >= low) & (j - i <= high), X, 0)).all()
    first = np.diagonal(X, high, 1, 2)
    top = found if low == high else found[:, 0]
    assert (top[:, : first.shape[1]] == first).all() and (top[:, first.shape[1] :] == -1).all()


def test_eye():
    assert run(tf.eye(2, 3, dtype=tf.int32)).tolist() == np.eye(2, 3, dtype=int).tolist()
    assert run(tf.eye(2, batch_shape=[3])).shape == (3, 2, 2)
    with tf.Graph().as_default(), tf.Session() as session:
        n = tf.placeholder(tf.int32, [])
        assert session.run(tf.eye(n, n + 1), {n: 2}).tolist() == np.eye(2, 3).tolist()


def test_texts_move_as_numbers_do():
    texts = np.array([b"%d" % i for i in range(16)], object).reshape(1, 4, 4, 1)
    numbers = np.arange(16).reshape(1, 4, 4, 1)
    for move in (
        lambda x: tf.space_to_depth(x, 2),
        lambda x: tf.space_to_batch_nd(x, [2, 2], [[0, 0], [0, 0]]),
        lambda x: tf.raw_ops.MatrixDiagPartV2(input=x, k=[-1, 0], padding_value=tf.cast(0, x.dtype) if x.dtype != tf.string else "0"),
    ):
        assert (
            run(move(tf.constant(texts, shape=texts.shape))).tolist()
            == np.vectorize(lambda i: b"%d" % i, otypes=[object])(run(move(tf.constant(numbers)))).tolist()
        )
    padded = run(tf.space_to_batch_nd(tf.constant([[["a"]]]), [2], [[1, 0]]))
    assert padded.tolist() == [[[b""]], [[b"a"]]]
