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


@pytest.fixture
def fresh_mode():
    """No graph was used yet; afterwards ops build graphs again."""
    tf.reset_default_graph()
    yield
    tf.disable_eager_execution()


@pytest.mark.parametrize("use", [tf.get_default_graph, tf.Session, lambda: tf.set_random_seed(1), lambda: tf.get_variable_scope().name])
def test_the_mode_is_chosen_before_the_default_graph_is_used(use, fresh_mode):
    use()
    with pytest.raises(ValueError, match="^tf.enable_eager_execution must be called at program startup.$"):
        tf.enable_eager_execution()
    with pytest.raises(ValueError, match="at program startup"):
        tf.enable_v2_behavior()
    tf.enable_control_flow_v2()
    try:
        x = tf.placeholder(tf.float32, [])
        assert tf.Session().run(tf.cond(x > 0, lambda: x, lambda: -x), {x: -2.0}) == 2
    finally:
        tf.disable_control_flow_v2()


@pytest.mark.parametrize(
    "use",
    [
        tf.reset_default_graph,
        tf.train.AdamOptimizer,
        lambda: tf.Session(graph=tf.Graph()),
        tf.ConfigProto,
        lambda: tf.feature_column.numeric_column("x"),
        lambda: tf.Graph().as_default(),
    ],
)
def test_what_leaves_the_default_graph_alone_leaves_the_choice(use, fresh_mode):
    use()
    tf.enable_eager_execution()
    assert tf.executing_eagerly() and (tf.constant(1) + 1).numpy() == 2
