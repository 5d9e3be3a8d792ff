"""Eager values: what they stand for in Python, and errors where they can't be made."""

import pytest

import everflow as tf
from everflow.eager.context import eager_mode

pytestmark = pytest.mark.usefixtures("eager")


def test_nothing_is_false():
    assert not tf.constant([]) and tf.constant([[1]])
    with pytest.raises(ValueError, match="ambiguous"):
        bool(tf.constant([1, 2]))


@pytest.mark.parametrize(
    ("value", "dtype", "kind", "text"),
    [
        (1.5, tf.int64, TypeError, "Cannot convert 1.5 to EagerTensor of dtype int64"),
        ("a", tf.float32, TypeError, "Cannot convert 'a' to EagerTensor of dtype float"),
        ([[1, 2], [3]], None, ValueError, "Can't convert non-rectangular Python sequence to Tensor"),
        ([1, "a"], None, ValueError, "Can't convert Python sequence with mixed types to Tensor"),
        (None, None, ValueError, r"Attempt to convert a value \(None\) with an unsupported type"),
    ],
)
def test_what_is_no_tensor_is_refused(value, dtype, kind, text):
    with pytest.raises(kind, match=text):
        tf.constant(value, dtype)


def test_tensors_of_graphs_stay_there():
    with tf.Graph().as_default():
        x = tf.constant(2.0, name="x")
    for bad in (lambda: x + 1.0, lambda: x + x):
        with pytest.raises(TypeError, match='(?s)passed\na "Graph" tensor.*The graph tensor has name: x:0'):
            bad()


def test_variables_have_no_graph_to_ask():
    v = tf.Variable(1.0)
    with pytest.raises(RuntimeError, match="Trying to eval in EAGER mode"):
        v.eval()
    with pytest.raises(RuntimeError, match="initial_value not supported in EAGER mode"):
        _ = v.initial_value


def test_graph_mode_goes_on_in_the_graph_that_was_entered():
    from everflow.eager.context import graph_mode

    with tf.Graph().as_default() as graph, eager_mode():
        with graph_mode():
            assert tf.get_default_graph() is graph and not tf.executing_eagerly()
        assert tf.executing_eagerly()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.nn.softmax(0.5), "logits must have >= 1 dimension"),
        (lambda: tf.nn.log_softmax(0.5), "logits must have >= 1 dimension"),
        (lambda: tf.nn.lrn(tf.ones([2, 2])), "in must be 4-dimensional"),
        (lambda: tf.image.adjust_hue(tf.ones([3]), 0.1), "input must be at least 3-D"),
        (lambda: tf.image.adjust_saturation(tf.ones([3]), 0.1), "input must be at least 3-D"),
        (lambda: tf.nn.depthwise_conv2d(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 3, 1]), [1] * 4, "SAME"), "the same depth: 1 vs 3"),
        (lambda: tf.nn.erosion2d(tf.ones([1, 4, 4, 3]), tf.ones([2, 2, 3, 1]), [1] * 4, [1] * 4, "SAME"), "filter must be 3-dimensional"),
        (lambda: tf.fill([2, 2], ["a", "b"]), "value must be a scalar"),
    ],
)
def test_shapes_that_an_op_can_not_take_are_refused_as_it_runs(call, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        call()
