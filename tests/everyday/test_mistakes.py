"""Mistakes that everybody makes once, and what they are told."""
import numpy as np
import pytest

import everflow as tf


@pytest.mark.parametrize("name", ["bad name!", "_x", "", "/a", "a:0", "ü", "-a", "a>b"])
def test_names_that_nodes_cannot_have(name):
    with pytest.raises(ValueError, match=f"^'{name}' is not a valid node name$"):
        tf.constant(1, name=name)
    assert tf.get_default_graph().get_operations() == []


def test_names_that_scopes_cannot_have():
    for make in (lambda **kwargs: tf.placeholder(tf.float32, **kwargs), lambda **kwargs: tf.Variable(1, **kwargs), tf.no_op):
        with pytest.raises(ValueError, match="^'a b' is not a valid scope name$"):
            make(name="a b")


def test_a_name_is_given_once():
    assert tf.constant(1, name=None).name == "Const:0" and tf.constant(1, name="a/b").name == "a/b:0"
    with pytest.raises(ValueError, match="^Duplicate node name in graph: 'a/b'$"):
        tf.constant(1, name="a/b/")


@pytest.mark.parametrize("draw", [tf.truncated_normal, tf.random_normal, tf.random_uniform, tf.truncated_normal_initializer()])
def test_shapes_of_floats(draw):
    with pytest.raises(TypeError, match="'shape' has DataType float32 not in list of allowed values: int32, int64"):
        draw((-1.0, 1.0))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
def test_labels_that_are_no_numbers_of_classes(dtype):
    with pytest.raises(TypeError, match=f"'labels' has DataType {dtype} not in list of allowed values: int32, int64"):
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=np.array([1, 0], dtype), logits=np.ones((2, 3), "float32"))
