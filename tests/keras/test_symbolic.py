"""What Keras takes for a tensor of a graph."""

import everflow as tf
from everflow import internals
from everflow.eager.context import eager_mode

tf_utils = internals.module("python.keras.utils.tf_utils")


def test_tensors_of_graphs_and_values():
    assert tf_utils.is_symbolic_tensor(tf.constant(1)) and tf_utils.is_symbolic_tensor(tf.Variable(1))
    assert tf_utils.is_symbolic_tensor(tf.SparseTensor([[0]], [1], [2])) and not tf_utils.is_symbolic_tensor(3)
    assert not tf_utils.are_all_symbolic_tensors([tf.constant(1), 3])
    with eager_mode():
        assert not tf_utils.is_symbolic_tensor(tf.constant(1))


def test_what_programs_declare():
    class Length:
        """Converts to a tensor."""

    assert not tf_utils.is_symbolic_tensor(Length())
    tf.register_tensor_conversion_function(Length, lambda value, *args, **kwargs: tf.constant(3.0))
    tf_utils.register_symbolic_tensor_type(Length)
    assert tf_utils.is_symbolic_tensor(Length())
    with eager_mode():
        assert not tf_utils.is_symbolic_tensor(Length())
