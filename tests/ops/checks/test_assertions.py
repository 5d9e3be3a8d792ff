"""tf.assert_*: found while the graph is built where possible, when it runs otherwise."""

import numpy as np
import pytest

import everflow as tf
from everflow import errors
from running import run

COMPARISONS = {
    tf.assert_equal: ("==", 1, 1, 2),
    tf.assert_none_equal: ("!=", 1, 2, 1),
    tf.assert_less: ("<", 1, 2, 1),
    tf.assert_less_equal: ("<=", 1, 1, 0),
    tf.assert_greater: (">", 2, 1, 2),
    tf.assert_greater_equal: (">=", 1, 1, 2),
}


@pytest.mark.parametrize("check", COMPARISONS, ids=lambda f: f.__name__)
def test_comparisons(check):
    symbol, x, good, bad = COMPARISONS[check]
    run(check(x, good))
    with pytest.raises(errors.InvalidArgumentError) as caught:
        check(tf.constant([x], name="a"), tf.constant([bad], name="b"), message="because")
    assert str(caught.value) == f"because\nCondition x {symbol} y did not hold element-wise:\nx (a:0) = \n[{x}]\ny (b:0) = \n[{bad}]"
    fed = tf.placeholder(tf.int32, name="fed")
    dynamic = check(x, fed, message="later")
    run(dynamic, {fed: [good, good]})
    with pytest.raises(errors.InvalidArgumentError, match=rf"\[later\] \[Condition x {symbol} y did not hold element-wise:\]"):
        run(dynamic, {fed: [good, bad]})


@pytest.mark.parametrize(
    "check, good, bad, text",
    [
        (tf.assert_negative, -1, 0, "Condition x < 0"),
        (tf.assert_positive, 1, 0, "Condition x > 0"),
        (tf.assert_non_negative, 0, -1, "Condition x >= 0"),
        (tf.assert_non_positive, 0, 1, "Condition x <= 0"),
    ],
)
def test_signs(check, good, bad, text):
    run(check([good, good]))
    with pytest.raises(errors.InvalidArgumentError, match=text):
        check([good, bad])


def test_empty_tensors_pass():
    run(tf.assert_positive(tf.zeros([0])))


def test_a_tensor_equals_itself_at_once():
    x = tf.placeholder(tf.float32)
    assert tf.assert_equal(x, x).type == "NoOp"


def test_near():
    fed = tf.placeholder(tf.float32)
    check = tf.assert_near(fed, 1.0)
    run(check, {fed: 1.0 + 1e-7})
    with pytest.raises(errors.InvalidArgumentError, match="x and y not equal to tolerance"):
        run(check, {fed: 1.1})
    run(tf.assert_near(fed, 1.0, atol=0.2), {fed: 1.1})


def test_ranks_that_are_known():
    x = tf.zeros([2, 3], name="x")
    run([tf.assert_rank(x, 2), tf.assert_rank_at_least(x, 1), tf.assert_rank_in(x, (2, 3))])
    for check, text in (
        (lambda: tf.assert_rank(x, 1, message="m"), r"m.  Tensor x:0 must have rank 1.  Received rank 2, shape \(2, 3\)"),
        (lambda: tf.assert_rank_at_least(x, 3), r".  Tensor x:0 must have rank at least 3.  Received rank 2"),
        (lambda: tf.assert_rank_in(x, (0, 1)), r".  Tensor x:0 must have rank in .*0.*1.*  Received rank 2"),
        (lambda: tf.assert_rank(x, [1, 2]), "Rank must be a scalar."),
    ):
        with pytest.raises(ValueError, match=text):
            check()
    with pytest.raises(TypeError, match="must be of type <dtype: 'int32'>"):
        tf.assert_rank(x, 0.5)


def test_ranks_that_are_not():
    x, rank = tf.placeholder(tf.float32, name="x"), tf.placeholder(tf.int32)
    for check, good, bad in (
        (tf.assert_rank(x, 1), [1], 1),
        (tf.assert_rank_at_least(x, 1), [[1]], 1),
        (tf.assert_rank_in(x, (0, 1)), 1, [[1]]),
    ):
        run(check, {x: good})
        with pytest.raises(errors.InvalidArgumentError, match="Tensor x:0 must have rank"):
            run(check, {x: bad})
    with pytest.raises(errors.InvalidArgumentError, match="Rank must be a scalar"):
        run(tf.assert_rank(x, rank), {x: 1, rank: [1, 2]})


def test_shapes_by_name():
    x, y = tf.zeros([3, 2], name="x"), tf.zeros([2, 3], name="y")
    run(tf.debugging.assert_shapes([(x, ("N", "Q")), (y, ("Q", "N")), (x, (3, None)), (x, "*Q"), (tf.constant(1), ())]))
    for shapes, text in (
        ([(x, "NQ"), (y, "ND")], r"Specified by tensor x:0 dimension 0.  Tensor y:0 dimension 0 must have size 3.  Received size 2"),
        ([(x, (3, "Q")), (y, (3, "D"))], r"Specified explicitly.  Tensor y:0 dimension 0 must have size 3.  Received size 2"),
        ([(x, (..., 3, "D")), (y, (..., 3, "D"))], r"Tensor y:0 dimension -2 must have size 3"),
        ([(x, "N")], r"Tensor x:0 must have rank 1.  Received rank 2"),
        ([(x, 2)], r"Specified shape must be an iterable."),
        ([(x, ("N", ..., "Q"))], r"is only allowed as the first entry"),
    ):
        with pytest.raises(ValueError, match=text):
            tf.debugging.assert_shapes(shapes)


def test_shapes_that_are_not_known():
    x, y = tf.placeholder(tf.float32, [None, 2], name="x"), tf.placeholder(tf.float32, [None, 3], name="y")
    check = tf.debugging.assert_shapes({x: ("N", 2), y: ("N", 3)})
    run(check, {x: np.ones([4, 2]), y: np.ones([4, 3])})
    with pytest.raises(
        errors.InvalidArgumentError,
        match=r"\[Specified by tensor x:0 dimension 0\] \[Tensor y:0 dimension\] \[0\] \[must have size\] \[4\]",
    ):
        run(check, {x: np.ones([4, 2]), y: np.ones([5, 3])})


def test_types():
    with pytest.raises(TypeError, match="Expected \"x\" to be integer type.  Found: a:0 of dtype <dtype: 'float32'>"):
        tf.assert_integer(tf.constant(1.0, name="a"))
    with pytest.raises(TypeError, match="must be of type <dtype: 'float32'>"):
        tf.assert_type(tf.constant(1), tf.float32)
    with pytest.raises(ValueError, match=r"Expected scalar shape for b:0, saw shape: \(1,\)."):
        tf.assert_scalar(tf.constant([1], name="b"))
    with pytest.raises(TypeError, match="proper"):
        tf.assert_proper_iterable("abc")
    assert tf.assert_same_float_dtype([tf.constant(1.0), None]) == tf.float32
    assert tf.assert_same_float_dtype() == tf.float32
    with pytest.raises(ValueError, match="must be of the same type"):
        tf.assert_same_float_dtype([tf.constant(1.0)], tf.float16)
    with pytest.raises(ValueError, match="Expected floating point type"):
        tf.assert_same_float_dtype([tf.constant(1)])


def test_order():
    with tf.Session() as session:

        def holds(function, values):
            return session.run(function(tf.constant(values, tf.float32)))

        assert holds(tf.is_strictly_increasing, [1, 2, 3])
        assert not holds(tf.is_strictly_increasing, [1, 2, 2])
        assert holds(tf.is_non_decreasing, [[1, 2], [2, 5]])
        assert not holds(tf.is_non_decreasing, [1, 0])
        assert holds(tf.is_strictly_increasing, [1])
        assert holds(tf.is_strictly_increasing, [])
    with pytest.raises(TypeError, match="Expected x to be numeric"):
        tf.is_non_decreasing(tf.constant(["a"]))
