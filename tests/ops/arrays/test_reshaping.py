"""Tensors handed on, fed, measured and given another shape."""

import numpy as np
import pytest

import everflow as tf
from running import run


def fed(value, build, shape=None, dtype=tf.float32):
    """What `build` makes of a placeholder of this static shape, run on a value."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(dtype, shape)
        return session.run(build(x), {x: value})


def names(build):
    with tf.Graph().as_default() as graph:
        build()
        return [(op.name, op.type) for op in graph.get_operations()]


def test_shape_size_and_rank_of_what_is_fed():
    x = np.zeros((2, 0, 3), np.float32)
    assert fed(x, tf.shape).tolist() == [2, 0, 3]
    assert fed(x, lambda t: tf.shape(t, out_type=tf.int64)).dtype == np.int64
    assert fed(x, tf.size) == 0 and fed(x, tf.rank) == 3
    assert [s.tolist() for s in fed(x, lambda t: tf.shape_n([t, t[0]]))] == [[2, 0, 3], [0, 3]]


def test_shape_of_a_known_shape_is_a_constant_and_of_an_unknown_one_an_op():
    assert names(lambda: tf.shape(tf.zeros([2, 3]))) == [("zeros", "Const"), ("Shape", "Const")]
    with tf.Graph().as_default():
        assert tf.shape(tf.placeholder(tf.float32)).op.type == "Shape"
        assert tf.rank(tf.placeholder(tf.float32, [None, 2])).op.type == "Const"


@pytest.mark.parametrize(
    "given, wanted, found",
    [
        ((2, 3), [3, 2], (3, 2)),
        ((2, 3), [-1], (6,)),
        ((2, 3), [3, -1], (3, 2)),
        ((), [1, 1], (1, 1)),
        ((0, 2, 3), [0, -1, 3], (0, 2, 3)),
        ((0,), [0, -1], (0, 1)),
        ((5, 0, 7), [0, -1, 7], (0, 5, 7)),
    ],
)
def test_reshape(given, wanted, found):
    x = np.arange(np.prod(given), dtype=np.float32).reshape(given)
    for shape in (given, None):
        y = fed(x, lambda t: tf.reshape(t, wanted), shape)
        assert y.shape == found and y.ravel().tolist() == x.ravel().tolist()
    with tf.Graph().as_default(), tf.Session() as session:
        t, s = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
        assert session.run(tf.reshape(t, s), {t: x, s: wanted}).shape == found


def test_reshape_infers_the_size_left_open_from_the_static_shape():
    with tf.Graph().as_default():
        assert tf.reshape(tf.placeholder(tf.float32, [4, 6]), [3, -1]).shape.as_list() == [3, 8]
        assert tf.reshape(tf.placeholder(tf.float32, [None, 6]), [-1, 3]).shape.as_list() == [None, 3]
        x = tf.placeholder(tf.float32, [None, 6])
        assert tf.reshape(x, [tf.shape(x)[0], 2, 3]).shape.as_list() == [None, 2, 3]


def test_reshape_says_what_does_not_fit():
    with pytest.raises(ValueError, match=r"Cannot reshape a tensor with 6 elements to shape \[5\] \(5 elements\)"):
        run(tf.reshape(tf.zeros([6]), [5]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="6 values, but the requested shape has 5"):
        fed(np.zeros(6), lambda t: tf.reshape(t, [5]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="requires a multiple of 4"):
        fed(np.zeros(6), lambda t: tf.reshape(t, [4, -1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Only one input size may be -1, not both 0 and 1"):
        fed(np.zeros(6), lambda t: tf.reshape(t, [-1, -1]))


@pytest.mark.parametrize("axis, shape", [(0, (1, 2, 3)), (-1, (2, 3, 1)), (1, (2, 1, 3)), (-3, (1, 2, 3))])
def test_expand_dims_and_squeeze_undo_each_other(axis, shape):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for static in ((2, 3), None):
        assert fed(x, lambda t: tf.expand_dims(t, axis), static).shape == shape
        assert (fed(x, lambda t: tf.squeeze(tf.expand_dims(t, axis), [axis]), static) == x).all()


def test_squeeze_takes_all_dimensions_of_size_one_unless_told_which():
    x = np.zeros((1, 2, 1))
    assert fed(x, tf.squeeze).shape == (2,)
    assert fed(x, lambda t: tf.squeeze(t, 0)).shape == (2, 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Can not squeeze dim\[1\], expected a dimension of 1, got 2"):
        fed(x, lambda t: tf.squeeze(t, 1))
    with pytest.raises(ValueError, match="Can not squeeze dim"):
        fed(x, lambda t: tf.squeeze(t, 1), (1, 2, 1))
    with pytest.raises(ValueError, match="Cannot specify both"):
        tf.squeeze([1], 0, squeeze_dims=0)


def test_a_placeholder_must_be_fed_and_says_so():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"'hole' with dtype float and shape \[\?,3\]"):
        run(tf.identity(tf.placeholder(tf.float32, [None, 3], name="hole")))
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder_with_default([1, 2], [None])
        assert session.run(x + 1).tolist() == [2, 3]
        assert session.run(x + 1, {x: [5]}).tolist() == [6]
        assert x.shape.as_list() == [None]


def test_stop_gradient_makes_a_constant_and_prevent_gradient_an_error():
    from everflow.ops.core.registry import apply

    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(3.0)
        assert session.run(tf.gradients(x * tf.stop_gradient(x), x)) == [3.0]
        with pytest.raises(LookupError, match="Gradient explicitly disabled.*no way"):
            tf.gradients(apply("PreventGradient", x, message="no way"), x)


def test_identity_of_several_tensors_and_of_indexed_slices():
    assert [v.tolist() for v in run(tf.identity_n([tf.constant([1]), tf.constant([2.0])]))] == [[1], [2.0]]
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.identity(tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([3])))
        assert isinstance(rows, tf.IndexedSlices) and session.run(rows.indices).tolist() == [3]


def test_check_numerics_names_what_it_found():
    assert run(tf.check_numerics([1.0], "m")).tolist() == [1.0]
    for values, what in (([np.nan], "NaN"), ([np.inf], "Inf"), ([np.nan, -np.inf], "Inf and NaN")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"m : Tensor had {what} values"):
            fed(values, lambda t: tf.check_numerics(t, "m"))


def test_ensure_shape():
    with tf.Graph().as_default():
        assert tf.ensure_shape(tf.placeholder(tf.float32), [None, 3]).shape.as_list() == [None, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[2,3\] is not compatible with expected shape \[\?,4\]"):
        fed(np.zeros((2, 3)), lambda t: tf.ensure_shape(t, [None, 4]))


@pytest.mark.parametrize(
    "source, target, shape",
    [("float32", "int32", (2,)), ("float64", "int32", (2, 2)), ("uint8", "uint32", ()), ("bfloat16", "uint16", (2,))],
)
def test_bitcast(source, target, shape):
    source, target = tf.as_dtype(source), tf.as_dtype(target)
    value = np.array([1, 2, 3, 4][: 4 if source == tf.uint8 else 2]).astype(source.as_numpy_dtype)
    found = run(tf.bitcast(tf.constant(value, source), target))
    assert found.shape == shape and found.tobytes() == value.tobytes()


@pytest.mark.parametrize(
    "dtype",
    [
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "bool",
        "complex64",
        "complex128",
        "string",
    ],
)
def test_elements_of_every_type_can_be_moved(dtype):
    kind = tf.as_dtype(dtype)
    numbers = np.array([[0, 1, 2], [1, 1, 0]])
    x = numbers.astype(str).astype(object) if dtype == "string" else numbers.astype(kind.as_numpy_dtype)

    def check(found, expected):
        if dtype == "string":
            found = np.vectorize(bytes.decode, otypes=[object])(found)
        assert found.tolist() == np.asarray(expected).tolist()

    movements = {
        "reshape": (lambda t: tf.reshape(t, [3, 2]), x.reshape(3, 2)),
        "transpose": (tf.transpose, x.T),
        "expand": (lambda t: tf.expand_dims(t, 1), x[:, None]),
        "slice": (lambda t: t[:, ::-1], x[:, ::-1]),
        "single": (lambda t: t[1, 0], x[1, 0]),
        "concat": (lambda t: tf.concat([t, t], 1), np.concatenate([x, x], 1)),
        "stack": (lambda t: tf.stack([t, t], 1), np.stack([x, x], 1)),
        "split": (lambda t: tf.split(t, 3, 1)[2], x[:, 2:]),
        "unstack": (lambda t: tf.unstack(t)[1], x[1]),
        "tile": (lambda t: tf.tile(t, [2, 1]), np.tile(x, (2, 1))),
        "gather": (lambda t: tf.gather(t, [2, 0], axis=1), x[:, [2, 0]]),
        "gather_nd": (lambda t: tf.gather_nd(t, [[1, 0], [0, 2]]), x[[1, 0], [0, 2]]),
        "reverse": (lambda t: tf.reverse(t, [1]), x[:, ::-1]),
        "roll": (lambda t: tf.roll(t, 1, 1), np.roll(x, 1, 1)),
        "partition": (lambda t: tf.dynamic_partition(t, [1, 0], 2)[0], x[1:]),
        "stitch": (lambda t: tf.dynamic_stitch([[1], [0]], [t[:1], t[1:]]), x[::-1]),
        "broadcast": (lambda t: tf.broadcast_to(t, [2, 2, 3]), np.broadcast_to(x, (2, 2, 3))),
    }
    if dtype in ("uint32", "uint64"):
        del movements["reverse"]  # its definition does not take them
    with tf.Graph().as_default(), tf.Session() as session:
        t = tf.constant(x, kind)
        for name, (build, expected) in movements.items():
            built = build(t)
            assert built.dtype == kind, name
            check(session.run(built), expected)
