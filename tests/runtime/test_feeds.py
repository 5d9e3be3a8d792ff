"""What may be fed: values become arrays of the tensor's type, by numpy's rules and TensorFlow's checks."""

import numpy as np
import pytest

import everflow as tf
from everflow import errors


def fed(dtype, value, shape=None):
    """What the graph sees of a fed value."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(dtype, shape)
        return session.run(tf.identity(x), {x: value})


@pytest.mark.parametrize("dtype, value, expected", [
    (tf.float32, 3, 3.0), (tf.float32, True, 1.0), (tf.float32, "1.5", 1.5), (tf.float32, [[1], [2]], [[1.0], [2.0]]),
    (tf.float32, np.array([1 + 2j]).real, [1.0]),
    (tf.int32, 1.5, 1), (tf.int32, np.array([1.7, -1.7]), [1, -1]), (tf.int64, 2**40, 2**40), (tf.bool, [0, 2], [False, True]),
    (tf.uint8, [-1, 300], [255, 44]), (tf.int32, [2**40 + 1], [1]), (tf.float16, 1.0, 1.0), (tf.bfloat16, [1.0, 2.5], [1.0, 2.5]),
    (tf.uint16, [65535], [65535]), (tf.uint64, [2**64 - 1], [2**64 - 1]), (tf.complex64, 1 + 2j, 1 + 2j),
])  # fmt: skip
def test_values_become_arrays_of_the_type(dtype, value, expected):
    found = fed(dtype, value)
    assert np.asarray(found).dtype == dtype.as_numpy_dtype
    np.testing.assert_array_equal(np.asarray(found, np.asarray(expected).dtype), expected)


def test_arrays_of_any_layout():
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    for value in (array.T, array[:, ::2], array[::-1], np.broadcast_to(array[0], (2, 4)), array.astype(">f4"), np.asfortranarray(array)):
        assert fed(tf.float32, value).tolist() == value.tolist()
    array.flags.writeable = False
    assert fed(tf.float32, array).tolist() == array.tolist()
    assert fed(tf.float32, np.zeros([0, 3], np.float32)).shape == (0, 3)


@pytest.mark.parametrize("value, expected", [
    ("é", "é".encode()), (b"\x00\xff", b"\x00\xff"), (["a", b"b"], [b"a", b"b"]), (np.array(["ab", "c"]), [b"ab", b"c"]),
    (np.array([b"ab", "⚣"], dtype=object), [b"ab", "⚣".encode()]), ([["a"], ["b"]], [[b"a"], [b"b"]]), ([], []),
])  # fmt: skip
def test_strings_become_bytes(value, expected):
    found = fed(tf.string, value)
    assert (found if isinstance(found, bytes) else found.tolist()) == expected


@pytest.mark.parametrize("dtype, value, error, text", [
    (tf.int32, 2**40, TypeError, "Type of feed value 1099511627776 with type <class 'int'> is not compatible with Tensor type "
                                 "<class 'numpy.int32'>. Try explicitly setting the type of the feed tensor to a larger type"),
    (tf.uint8, -1, TypeError, "Type of feed value -1"), (tf.float32, 16777217, TypeError, "Type of feed value 16777217"),
    (tf.bool, 2, TypeError, "Type of feed value 2"), (tf.string, 1, TypeError, "Type of feed value 1 with type <class 'int'> is not"),
    (tf.float32, "abc", ValueError, "could not convert string to float"), (tf.int32, "a", ValueError, "invalid literal for int"),
    (tf.float32, [[1, 2], [3]], ValueError, "setting an array element with a sequence"),
    (tf.float32, 1 + 2j, TypeError, "complex"), (tf.int32, [None], TypeError, "NoneType"),
    (tf.string, None, errors.InternalError, "Unsupported object type NoneType"),
    (tf.string, [1, "a"], errors.InternalError, "Unsupported object type int"),
])  # fmt: skip
def test_values_that_do_not_fit_the_type(dtype, value, error, text):
    with pytest.raises(error, match=text):
        fed(dtype, value)


@pytest.mark.parametrize("shape, value", [([None, 3], np.zeros([3, 3, 3])), ([None, 3], np.zeros([3])), ([2], [1, 2, 3]), ([], [1])])
def test_values_that_do_not_fit_the_shape(shape, value):
    with pytest.raises(ValueError, match="Cannot feed value of shape .* for Tensor 'Placeholder:0', which has shape"):
        fed(tf.float32, value, shape)


def test_the_message_for_a_wrong_shape():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        with pytest.raises(ValueError) as raised:
            session.run(x, {x: np.zeros([3, 3, 3])})
    assert str(raised.value) == "Cannot feed value of shape (3, 3, 3) for Tensor 'x:0', which has shape '(?, 3)'"


def test_keys_that_are_no_tensors():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, name="x")
        for key in ("x", "nope:0", x.op, session, 3):
            with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor"):
                session.run(tf.identity(x), {key: 1.0})
        with tf.Graph().as_default():
            stranger = tf.placeholder(tf.float32)
        with pytest.raises(TypeError, match="is not an element of this graph"):
            session.run(tf.identity(x), {stranger: 1.0})
        with pytest.raises(TypeError, match="The value of a feed cannot be a tf.Tensor object"):
            session.run(tf.identity(x), {x: tf.constant(1.0)})
        with pytest.raises(TypeError, match="input must be a dictionary"):
            session.run(tf.identity(x), [x])
