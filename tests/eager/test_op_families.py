"""Ops of several families as they behave on values: gradients that look at what is known, and what ops say of bad shapes."""

import pickle

import numpy as np
import pytest

import everflow as tf
from everflow.eager.statuses import error_of
from everflow.eager.tensor import EagerTensor, shape_slice
from everflow.ops.core.registry import apply

pytestmark = pytest.mark.usefixtures("eager")


def gradient(f, *values):
    xs = [tf.constant(v) for v in values]
    with tf.GradientTape() as tape:
        for x in xs:
            tape.watch(x)
        y = f(*xs)
    return [g.numpy().tolist() for g in tape.gradient(y, xs)]


def test_the_gradient_of_concat_is_cut_as_its_parts_are():
    weights = tf.constant([[1.0, 2.0, 3.0]])
    assert gradient(lambda a, b: tf.concat([a, b], 1) * weights, [[1.0]], [[2.0, 3.0]]) == [[[1.0]], [[2.0, 3.0]]]


def test_cross_entropy_has_second_derivatives():
    x = tf.constant([[0.0, 0.0]])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.nn.softmax_cross_entropy_with_logits_v2([[1.0, 0.0]], x)
        dx = inner.gradient(y, x)
        first = dx[0, 0]
    assert outer.gradient(first, x).numpy() == pytest.approx(np.array([[0.25, -0.25]]))


def test_products_of_sparse_matrices_have_gradients():
    assert gradient(lambda a, b: tf.matmul(a, b, a_is_sparse=True), [[2.0]], [[3.0]]) == [[[3.0]], [[2.0]]]


@pytest.mark.parametrize(
    "check", [tf.assert_equal, tf.assert_none_equal, tf.assert_less, tf.assert_less_equal, tf.assert_greater, tf.assert_greater_equal]
)
def test_checks_of_shapes_that_do_not_go_together_name_the_shapes(check):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[3\] vs. \[2\]"):
        check([1, 2, 3], [1, 2])


def test_broadcast_to_says_whether_shapes_go_together():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Unable to broadcast tensor of shape \[2\] to tensor of shape \[2,1\]"):
        tf.broadcast_to([1, 2], [2, 1])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[3\] vs. \[2\]"):
        tf.broadcast_to([1, 2, 3], [2])


def test_expand_dims_takes_one_axis():
    with pytest.raises(tf.errors.InvalidArgumentError, match="'dim' must be a tensor with a single value"):
        tf.expand_dims([1, 2], [0, 1])


def test_variables_are_loaded_at_once():
    v = tf.Variable(1.0)
    v.load(2.0)
    assert v.numpy() == 2.0


def test_variables_are_pickled_with_their_values():
    v = tf.Variable([1.5, 2.5], dtype=tf.float16, name="kept")
    found = pickle.loads(pickle.dumps(v))
    assert found.numpy().tolist() == [1.5, 2.5] and found.dtype is tf.float16 and found.name == "kept:0"


def test_variables_are_read_and_written_with_their_own_type():
    handle = tf.Variable([1]).handle
    with pytest.raises(tf.errors.InvalidArgumentError, match="Trying to assign variable with wrong dtype. Expected int32 got float"):
        apply("AssignVariableOp", handle, [1.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Trying to read variable with wrong dtype. Expected float got int32"):
        apply("ReadVariableOp", handle, dtype=tf.float32)


def test_functions_do_not_read_what_they_only_write():
    v = tf.Variable(1.0)

    @tf.function
    def write():
        v.assign(3.0)

    assert "ReadVariableOp" not in [o.type for o in write.get_concrete_function().graph.get_operations()]
    write()
    assert v.numpy() == 3.0
    assert tf.function(lambda: v.assign_add(1.0))().numpy() == 4.0


def test_tensors_are_made_of_python_values_on_a_device():
    assert EagerTensor([[1.0, 2.0]], device="").dtype is tf.float32
    assert EagerTensor(3, device="", dtype=tf.int64.as_datatype_enum).dtype is tf.int64
    with pytest.raises(TypeError, match=r"argument 'device' \(pos 2\)"):
        EagerTensor(1)
    with pytest.raises(TypeError, match="Expecting a DataType value for dtype"):
        EagerTensor(1, device="", dtype="1")
    with pytest.raises(TypeError, match="Invalid dtype argument value"):
        EagerTensor(1, device="", dtype=12345)


def test_sizes_along_an_axis_are_gathered():
    tensors = [tf.zeros([2, 3]), tf.zeros([4])]
    assert shape_slice(tensors, 0).numpy().tolist() == [2, 4]
    with pytest.raises(IndexError, match=r"Slice dimension \(1\) must be smaller than rank of all tensors, but tensor at index 1 has"):
        shape_slice(tensors, 1)


def test_codes_stand_for_errors():
    assert isinstance(error_of(5, "gone"), tf.errors.NotFoundError) and error_of(5, "gone").message == "gone"
    assert isinstance(error_of(77, "what"), tf.errors.UnknownError)


def test_assertions_take_eager_tensors_while_a_graph_is_built():
    tensor = tf.constant([1.0, 2.0])
    with tf.Graph().as_default():
        tf.test.TestCase().assertAllEqual(tensor, [1.0, 2.0])
        with pytest.raises(AssertionError, match="Arrays are not equal"):
            tf.test.TestCase().assertAllEqual(tensor, [1.0, 3.0])
