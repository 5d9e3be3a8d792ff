"""A linear model the way tf.contrib.learn had it."""

import numpy as np

import everflow as tf


def test_a_custom_model_fits_a_line(tmp_path):
    def model(features, labels, mode):
        slope = tf.get_variable("slope", [1], dtype=tf.float64)
        offset = tf.get_variable("offset", [1], dtype=tf.float64)
        guess = slope * features["x"] + offset
        loss = tf.reduce_sum(tf.square(guess - labels))
        step = tf.train.get_global_step()
        train = tf.group(tf.train.GradientDescentOptimizer(0.02).minimize(loss), tf.assign_add(step, 1))
        return tf.contrib.learn.ModelFnOps(mode=mode, predictions=guess, loss=loss, train_op=train)

    x = np.array([1.0, 2.0, 3.0, 4.0])
    estimator = tf.contrib.learn.Estimator(model_fn=model, model_dir=str(tmp_path))
    data = tf.contrib.learn.io.numpy_input_fn({"x": x}, 1 - x, 4, num_epochs=400)
    estimator.fit(input_fn=data, steps=300)
    found = estimator.evaluate(input_fn=data, steps=2)
    assert found["global_step"] == 300 and found["loss"] < 1e-2
