"""Scaled losses: tf.train.experimental, tf.contrib.mixed_precision and tf.keras.mixed_precision."""

import numpy as np
import pytest

import everflow as tf

scales = tf.train.experimental
contrib = tf.contrib.mixed_precision


def tiny_loss(x):
    """A loss whose gradient, 1e-4, vanishes in half precision on its way."""
    c = [tf.constant(v, tf.float16) for v in (1e4, 1e-4, 1e-4)]
    return tf.cast(x, tf.float16) * c[0] * c[1] * c[2]


@pytest.mark.parametrize(
    ("wrapped", "moved"),
    [
        (lambda plain: plain, 0),
        (lambda plain: scales.MixedPrecisionLossScaleOptimizer(plain, 1e4), 1e-4),
        (lambda plain: scales.enable_mixed_precision_graph_rewrite(plain, 1e4), 1e-4),
        (lambda plain: contrib.LossScaleOptimizer(plain, contrib.FixedLossScaleManager(1e4)), 1e-4),
    ],
)
def test_scaled_losses_keep_small_gradients(wrapped, moved):
    x = tf.get_variable("x", initializer=1.0)
    train = wrapped(tf.train.GradientDescentOptimizer(1.0)).minimize(tiny_loss(x))
    scales.disable_mixed_precision_graph_rewrite()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        np.testing.assert_allclose(session.run(x), 1 - moved, rtol=0, atol=2e-6)


def test_dynamic_scales_grow_and_shrink_and_bad_steps_are_left_out():
    x = tf.get_variable("x", initializer=1.0)
    scale = scales.DynamicLossScale(8, increment_period=2)
    gradient = tf.placeholder(tf.float32, [])
    train = scales.MixedPrecisionLossScaleOptimizer(tf.train.MomentumOptimizer(1.0, 0.0), scale).apply_gradients([(gradient, x)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = []
        for value in (0.5, 0.5, np.nan, 0.25, np.inf, np.nan, np.nan, np.nan, np.nan):
            session.run(train, {gradient: value})
            found.append(session.run([x, scale()]))
    expected = [[0.5, 8], [0, 16], [0, 8], [-0.25, 8], [-0.25, 4], [-0.25, 2], [-0.25, 1], [-0.25, 1], [-0.25, 1]]
    np.testing.assert_allclose(found, expected)


def test_scales_are_saved_with_their_optimizer(tmp_path, eager):
    x = tf.Variable(1.0)
    scaled = scales.MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(1.0), scales.DynamicLossScale(8, 1))
    scaled.minimize(lambda: x * 2.0, var_list=[x])
    assert x.numpy() == -1 and scaled._loss_scale().numpy() == 16
    path = tf.train.Checkpoint(optimizer=scaled).save(str(tmp_path / "m"))
    assert "optimizer/loss_scale/current_loss_scale/.ATTRIBUTES/VARIABLE_VALUE" in dict(tf.train.list_variables(path))
    fresh = scales.MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(1.0), "dynamic")
    tf.train.Checkpoint(optimizer=fresh).restore(path)
    assert fresh._loss_scale().numpy() == 16
    assert repr(scales.FixedLossScale(8)) == "FixedLossScale(8.0)"
    assert scales.DynamicLossScale.from_config(scales.DynamicLossScale(2, 3, 4).get_config()).multiplier == 4


def test_what_is_no_scale_or_optimizer_is_refused():
    with pytest.raises(ValueError, match="loss_scale_value must be at least 1"):
        scales.FixedLossScale(0.5)
    with pytest.raises(ValueError, match="must be a Python int or float"):
        scales.FixedLossScale("a")
    plain = tf.train.GradientDescentOptimizer(1.0)
    with pytest.raises(ValueError, match="Could not interpret loss scale identifier: x"):
        scales.MixedPrecisionLossScaleOptimizer(plain, "x")
    with pytest.raises(ValueError, match='"opt" must be an instance of Optimizer'):
        scales.MixedPrecisionLossScaleOptimizer(3, "dynamic")
    with pytest.raises(ValueError, match="must not already be an instance"):
        scales.enable_mixed_precision_graph_rewrite(scales.MixedPrecisionLossScaleOptimizer(plain, 2))
    with pytest.raises(ValueError, match=r"tf\.train\.Optimizer or a tf\.keras\.optimizers\.Optimizer"):
        scales.enable_mixed_precision_graph_rewrite(3)


@pytest.mark.parametrize(
    ("finite", "expected"), [([True] * 4, [1, 2, 2, 4]), ([True, True, False, True, False], [1, 2, 2, 2, 1]), ([False] * 4, [1, 1, 1, 1])]
)
def test_managers_of_contrib_count_good_and_bad_steps(finite, expected):
    manager = contrib.ExponentialUpdateLossScaleManager(1, incr_every_n_steps=2, decr_ratio=0.5)
    is_finite = tf.placeholder(tf.bool, [])
    update = manager.update_loss_scale(is_finite)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = []
        for value in finite:
            session.run(update, {is_finite: value})
            found.append(session.run(manager.get_loss_scale()))
    assert found == expected


def test_keras_models_train_with_scaled_losses():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
    scaled = tf.keras.mixed_precision.experimental.LossScaleOptimizer(tf.keras.optimizers.SGD(0.1), 16)
    model.compile(scaled, "mse")
    x, y = np.ones((4, 2), np.float32), np.zeros((4, 1), np.float32)
    model.fit(x, y, verbose=0, batch_size=4)
    # The gradient of the mean of (w·x + b)² is 2·2·x.
    np.testing.assert_allclose(model.get_weights()[0], [[0.6], [0.6]], rtol=1e-5)
    again = type(scaled).from_config(scaled.get_config())
    assert again.loss_scale.get_config() == {"loss_scale_value": 16.0}
    with pytest.raises(ValueError, match="does not support wrapping optimizers with a clipnorm"):
        type(scaled)(tf.keras.optimizers.SGD(0.1, clipnorm=1.0), 2)
