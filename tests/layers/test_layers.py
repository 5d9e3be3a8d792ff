"""tf.layers: names, sharing, values, collections."""

import numpy as np
import pytest

import everflow as tf
from running import run


def names(collection=tf.GraphKeys.GLOBAL_VARIABLES):
    return [v.name for v in tf.get_collection(collection)]


def test_layers_are_named_by_their_scopes():
    x = tf.ones([2, 3])
    tf.layers.dense(x, 4)
    y = tf.layers.dense(x, 4)
    with tf.variable_scope("outer"):
        tf.layers.dense(x, 4, name="own")
    assert names() == ["dense/kernel:0", "dense/bias:0", "dense_1/kernel:0", "dense_1/bias:0", "outer/own/kernel:0", "outer/own/bias:0"]
    assert y.name == "dense_1/BiasAdd:0"


def test_variables_are_shared_where_asked():
    x = tf.ones([2, 3])
    a = tf.layers.dense(x, 4, name="shared")
    b = tf.layers.dense(x, 4, name="shared", reuse=True)
    with pytest.raises(ValueError, match="already exists"):
        tf.layers.dense(x, 4, name="shared")
    layer = tf.layers.Dense(4)
    c, d = layer(x), layer(x)
    assert len(names()) == 4
    a, b, c, d = run([a, b, c, d])
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(c, d)
    assert layer.scope_name == "dense"


def test_dense_is_a_matrix_product_in_any_rank():
    x = np.random.RandomState(0).randn(2, 5, 3).astype(np.float32)
    kernel = np.arange(12, dtype=np.float32).reshape(3, 4)
    y = tf.layers.dense(x, 4, tf.nn.relu, kernel_initializer=tf.constant_initializer(kernel), bias_initializer=tf.ones_initializer())
    np.testing.assert_allclose(run(y), np.maximum(x @ kernel + 1, 0), rtol=1e-5)
    assert y.shape.as_list() == [2, 5, 4]


def test_penalties_go_to_their_collection():
    x = tf.ones([2, 3])
    tf.layers.dense(
        x,
        4,
        name="d",
        kernel_regularizer=tf.keras.regularizers.l1(1.0),
        kernel_initializer=tf.ones_initializer(),
        activity_regularizer=lambda y: tf.reduce_sum(y),
    )
    tf.layers.dense(x, 4, name="d", kernel_regularizer=tf.keras.regularizers.l1(1.0), reuse=True)
    losses = tf.losses.get_regularization_losses()
    assert [v.name for v in losses] == ["d/kernel/Regularizer/add:0", "d/ActivityRegularizer/truediv:0"]
    np.testing.assert_allclose(run(losses), [12.0, 12.0])


def test_convolutions_agree_with_their_ops():
    x = np.random.RandomState(0).randn(2, 6, 6, 3).astype(np.float32)
    layer = tf.layers.Conv2D(4, 3, strides=2, padding="same")
    y = layer(x)
    expected = tf.nn.conv2d(x, layer.kernel, [1, 2, 2, 1], "SAME")
    transposed = tf.layers.Conv2DTranspose(4, 3, strides=2)
    z = transposed(x)
    separable = tf.layers.SeparableConv2D(4, 3)
    s = separable(x)
    by_op = tf.nn.separable_conv2d(x, separable.depthwise_kernel, separable.pointwise_kernel, [1, 1, 1, 1], "VALID")
    first = tf.layers.conv2d(
        np.moveaxis(x, -1, 1), 4, 3, strides=2, padding="same", data_format="channels_first", kernel_initializer=tf.ones_initializer()
    )
    last = tf.layers.conv2d(x, 4, 3, strides=2, padding="same", kernel_initializer=tf.ones_initializer())
    y, expected, z, s, by_op, first, last = run([y, expected, z, s, by_op, first, last])
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(s, by_op, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(np.moveaxis(first, 1, -1), last, rtol=1e-4, atol=1e-4)
    assert z.shape == (2, 13, 13, 4)
    assert layer.compute_output_shape([None, 6, 6, 3]).as_list() == [None, 3, 3, 4]


@pytest.mark.parametrize(
    ("kwargs", "problem"),
    [
        ({"kernel_size": (1, 2, 3)}, "kernel_size"),
        ({"kernel_size": 3, "strides": (1, 1, 1)}, "strides"),
        ({"kernel_size": 3, "padding": "other"}, "padding"),
        ({"kernel_size": 3, "data_format": "other"}, "data_format"),
    ],
)
def test_arguments_of_convolutions_are_checked(kwargs, problem):
    with pytest.raises(ValueError, match=f"`{problem}` argument"):
        tf.layers.conv2d(tf.ones([1, 5, 5, 1]), 2, **kwargs)


def test_pooling_takes_windows():
    x = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    largest, mean = run([tf.layers.max_pooling2d(x, 2, 2), tf.layers.average_pooling2d(x, 2, 2)])
    np.testing.assert_array_equal(largest.reshape(2, 2), [[5, 7], [13, 15]])
    np.testing.assert_array_equal(mean.reshape(2, 2), [[2.5, 4.5], [10.5, 12.5]])
    line = run(tf.layers.max_pooling1d(x.reshape(1, 16, 1), 4, 4))
    np.testing.assert_array_equal(line.ravel(), [3, 7, 11, 15])


@pytest.mark.parametrize("fused", [True, False])
def test_batch_normalization_learns_averages_by_its_update_ops(fused):
    x = np.random.RandomState(0).randn(16, 3, 3, 2).astype(np.float32) * 3 + 5
    training = tf.placeholder_with_default(False, [])
    y = tf.layers.batch_normalization(x, training=training, momentum=0.5, fused=fused)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    assert len(updates) == 2
    assert names(tf.GraphKeys.TRAINABLE_VARIABLES) == ["batch_normalization/gamma:0", "batch_normalization/beta:0"]
    mean = next(v for v in tf.global_variables() if "moving_mean" in v.name)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, _ = session.run([y, updates], {training: True})
        np.testing.assert_allclose(found.mean((0, 1, 2)), 0, atol=1e-4)
        np.testing.assert_allclose(found.std((0, 1, 2)), 1, atol=1e-3)
        np.testing.assert_allclose(session.run(mean), x.mean((0, 1, 2)) / 2, rtol=1e-4)
        session.run(updates)
        np.testing.assert_allclose(session.run(mean), x.mean((0, 1, 2)) / 2, rtol=1e-4)


def test_batch_renormalization_starts_as_batch_normalization():
    x = np.random.RandomState(0).randn(32, 4).astype(np.float32)
    plain = tf.layers.batch_normalization(x, training=True)
    corrected = tf.layers.batch_normalization(x, training=True, renorm=True, renorm_clipping={"rmax": 1.0, "rmin": 1.0, "dmax": 0.0})
    virtual = tf.layers.batch_normalization(x, training=True, virtual_batch_size=32)
    a, b, c = run([plain, corrected, virtual])
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
    assert c.shape == (32, 4)
    with pytest.raises(ValueError, match="contains keys not in"):
        tf.layers.batch_normalization(x, renorm=True, renorm_clipping={"other": 1})


def test_dropout_drops_while_training_only():
    x = tf.ones([1000])
    kept, dropped = run([tf.layers.dropout(x, 0.5), tf.layers.dropout(x, 0.5, training=True, seed=1)])
    np.testing.assert_array_equal(kept, np.ones(1000))
    assert set(dropped) == {0.0, 2.0}


def test_flatten_keeps_the_batch():
    x = tf.placeholder(tf.float32, [None, 2, 3])
    assert tf.layers.flatten(x).shape.as_list() == [None, 6]
    assert tf.layers.flatten(tf.placeholder(tf.float32, [None, None, 3])).shape.as_list() == [None, None]


def test_a_custom_getter_decides_what_is_trained():
    def frozen(getter, *args, **kwargs):
        kwargs["trainable"] = False
        return getter(*args, **kwargs)

    with tf.variable_scope("s", custom_getter=frozen):
        layer = tf.layers.Dense(2)
        layer(tf.ones([1, 2]))
    assert layer.trainable_weights == []
    assert len(layer.non_trainable_weights) == 2


def test_templates_share_what_they_make():
    scale = tf.make_template("scale", lambda x: x * tf.get_variable("factor", [], initializer=tf.ones_initializer()))
    a, b = scale(2.0), scale(3.0)
    assert [v.name for v in scale.variables] == ["scale/factor:0"]
    assert run([a, b]) == [2.0, 3.0]
    count = iter(range(9))
    broken = tf.make_template("broken", lambda: tf.Variable(1.0, name=f"v{next(count)}"))
    broken()
    with pytest.raises(ValueError, match="^Trainable variable created(.|\n)*originally defined at"):
        broken()
