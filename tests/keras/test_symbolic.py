"""What Keras takes for a tensor of a graph."""

import numpy as np

import everflow as tf
from everflow import internals
from everflow.eager.context import eager_mode
from everflow.keras.backend.graph import forget_graph

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


def test_operators_may_be_used_again_and_again_where_ops_run_at_once(eager):
    # Ops are counted from where the last test left off.
    forget_graph()
    x = tf.keras.Input((2,))
    y = 2.0 * x + 3.0 * x
    with tf.name_scope("scope"):
        y = 2.0 * y + 3.0 * y
    model = tf.keras.Model(x, y)
    assert model.predict(np.ones((1, 2))).tolist() == [[25, 25]]
    names = [layer.name for layer in model.layers[1:]]
    assert names == [
        "tf_op_layer_mul",
        "tf_op_layer_mul_1",
        "tf_op_layer_add",
        "tf_op_layer_mul_2",
        "tf_op_layer_mul_3",
        "tf_op_layer_add_1",
    ]
